# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on ONNX Runtime, with all of its graph optimizations."""
import os

import onnxruntime

from runner import Files, Runner, Text

VERSION = onnxruntime.__version__


def make(row, option, threads, directory):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    suffix = ".int8.onnx" if row.mode == "int8" else ".onnx"
    session = onnxruntime.InferenceSession(os.path.join(directory, row.name + suffix), options,
                                           providers=["CPUExecutionProvider"])
    files = Files(row, directory)
    if row.mode == "generate":
        return Runner(Text(lambda: session.run(None, files.inputs), files.caches).step)
    return Runner(lambda: session.run(None, files.inputs)[0])

# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on OpenVINO, which is told to minimise latency and to compute in float32."""
import os

import openvino

from runner import Files, Runner

VERSION = openvino.__version__.split("-")[0]


def make(row, option, threads, directory):
    core = openvino.Core()
    config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    net = core.compile_model(core.read_model(os.path.join(directory, row.name + ".onnx")), "CPU", config)
    request, data = net.create_infer_request(), Files(row, directory).data
    return Runner(lambda: request.infer({0: data})[0])

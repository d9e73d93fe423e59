# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on ncnn: with its defaults, or with option "float32" without 16-bit storage and arithmetic."""
import os

import ncnn
import numpy as np

from runner import Files, Runner

VERSION = ncnn.__version__


def make(row, option, threads, directory):
    net, files = ncnn.Net(), Files(row, directory)
    net.opt.num_threads = threads
    if option == "float32":
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    path = os.path.join(directory, row.name + "_one.ncnn")
    net.load_param(path + ".param")
    net.load_model(path + ".bin")

    def infer(image):
        with net.create_extractor() as extractor:
            extractor.input("in0", ncnn.Mat(image))
            return np.array(extractor.extract("out0")[1])

    return Runner(lambda: np.stack([infer(image) for image in files.data]))

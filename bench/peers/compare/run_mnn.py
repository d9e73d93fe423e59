# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on MNN, in float32."""
import os

import MNN
import numpy as np

from runner import Files, Runner

VERSION = MNN.version()


def make(row, option, threads, directory):
    net = MNN.Interpreter(os.path.join(directory, row.name + ".mnn"))
    session = net.createSession({"numThread": threads, "backend": "CPU", "precision": "high"})
    given, files = net.getSessionInput(session), Files(row, directory)
    made = net.getSessionOutput(session)
    shape = tuple(made.getShape())
    host = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)

    def step():
        given.copyFrom(MNN.Tensor(row.shape, MNN.Halide_Type_Float, files.data, MNN.Tensor_DimensionType_Caffe))
        net.runSession(session)
        made.copyToHostTensor(host)
        return np.array(host.getData(), np.float32).reshape(shape)

    return Runner(step)

# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on MXNet 1.9.1: symbols and executors. Inference fuses nodes for oneDNN."""
import mxnet as mx
import numpy as np

from graphs import MxnetSymbols
from runner import Files, Runner, cross_entropy

VERSION = mx.__version__


def fill(executor, files):
    given = {"data": files.data, "softmax_label": files.label}
    for arrays in (executor.arg_dict, executor.aux_dict):
        for name, array in arrays.items():
            if name == "causal_mask":
                array[:] = np.triu(np.full(array.shape[1:], -1e30), 1)[None]
            else:
                array[:] = given[name] if name in given else files[name]


def trainer(row, files):
    net = mx.sym.SoftmaxOutput(row.net(MxnetSymbols(mx, {"data": row.shape})), name="softmax")
    fixed = ("data", "softmax_label", "causal_mask")
    executor = net.simple_bind(mx.cpu(), data=row.shape, softmax_label=files.label.shape,
                               grad_req={name: "null" if name in fixed else "write" for name in net.list_arguments()})
    fill(executor, files)
    update = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.01, rescale_grad=1 / len(files.label)))
    parameters = [(i, grad, executor.arg_dict[name]) for i, (name, grad) in enumerate(executor.grad_dict.items())
                  if grad is not None]

    def step():
        executor.forward(is_train=True)
        executor.backward()
        for i, grad, weight in parameters:
            update(i, grad, weight)
        mx.nd.waitall()
        return executor.outputs[0]

    return Runner(step, lambda output: cross_entropy(output.asnumpy(), files.label))


def predictor(row, files):
    net = row.net(MxnetSymbols(mx, {"data": row.shape}))
    executor = net.simple_bind(mx.cpu(), grad_req="null", data=row.shape)  # fuses by MXNET_SUBGRAPH_BACKEND
    fill(executor, files)
    data = executor.arg_dict["data"]

    def step():
        data[:] = files.data
        return executor.forward(is_train=False)[0].asnumpy()

    return Runner(step)


def make(row, option, threads, directory):
    files = Files(row, directory)
    return (trainer if row.mode == "train" else predictor)(row, files)

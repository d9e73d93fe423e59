# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on PyTorch."""
import numpy as np
import torch
import torch.nn.functional as F

from graph_torch import Graph
from runner import Files, Runner, Text

VERSION = torch.__version__.split("+")[0]


def trainer(row, files, option):
    x, label = torch.from_numpy(files.data), torch.from_numpy(files.label).long()
    net = Graph(row.net, files, {"data": x}, True)
    if option == "channels last":
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    if option == "compiled":
        net = torch.compile(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(x), label)
        loss.backward()
        optimizer.step()
        return loss

    return Runner(step, lambda loss: np.array(loss.item()))


def predictor(row, files, option):
    data = torch.from_numpy(files.data)
    net = Graph(row.net, files, {"data": data}, False)
    last = option.endswith("channels last")
    if last:
        net, data = net.to(memory_format=torch.channels_last), data.contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        if option.startswith("frozen"):
            net = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(net, data)))
        elif option == "compiled":
            net = torch.compile(net)

    def step():
        with torch.inference_mode():
            x = torch.from_numpy(files.data)
            return net(x.contiguous(memory_format=torch.channels_last) if last else x).numpy()

    return Runner(step)


def writer(row, files, option):
    """The caches are tensors over NumPy's arrays."""
    inputs = {name: torch.from_numpy(array) for name, array in files.inputs.items()}
    net = Graph(row.net, files, inputs, False)
    given = tuple(inputs.values())
    with torch.no_grad():
        if option == "frozen":
            net = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(net, given)))

    def run():
        with torch.inference_mode():
            return [output.numpy() for output in net(*given)]

    return Runner(Text(run, files.caches).step)


def make(row, option, threads, directory):
    torch.set_num_threads(threads)
    files = Files(row, directory)
    return {"train": trainer, "generate": writer}.get(row.mode, predictor)(row, files, option)

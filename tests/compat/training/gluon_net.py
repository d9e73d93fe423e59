# SPDX-License-Identifier: Apache-2.0
"""Gluon: a hybridized network trained with Trainer, recurrent cells, a network of the model zoo, saving and loading."""
import os
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

from common import random, report, stripes


def fill(block, name):
    """Weights by their order, since names count the blocks that a process made."""
    for i, parameter in enumerate(block.collect_params().values()):
        if parameter.grad_req != "null" and not parameter.name.endswith(("gamma", "beta")):
            fan_in = max(1, int(np.prod(parameter.shape[1:])))
            value = random("%s%d" % (name, i)).standard_normal(parameter.shape) * np.sqrt(2.0 / fan_in)
            parameter.set_data(mx.nd.array(value * (0.1 if len(parameter.shape) == 1 else 1)))


def train(name, net, data, labels, steps, hybrid, optimizer="sgd", params=None):
    if hybrid:
        net.hybridize(**({} if hybrid is True else hybrid))
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), optimizer, params or {"learning_rate": 0.05, "momentum": 0.9})
    batch = 16
    for step in range(steps):
        rows = slice(batch * step % len(data), batch * step % len(data) + batch)
        with autograd.record():
            value = loss(net(mx.nd.array(data[rows])), mx.nd.array(labels[rows]))
        value.backward()
        trainer.step(batch)
        report("%s.%d" % (name, step), value.mean().asscalar())
    for i, parameter in enumerate(net.collect_params().values()):
        report("%s.param%d" % (name, i), np.abs(parameter.data().asnumpy()).mean())


def convnet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(2), nn.Conv2D(16, 3), nn.LeakyReLU(0.1),
            nn.GroupNorm(4), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(12, activation="tanh"), nn.LayerNorm(), nn.Dense(4))
    net.initialize()
    net(mx.nd.zeros((1, 1, 15, 15)))
    fill(net, "conv")
    return net


data, labels = stripes(64, 15, 4)
train("eager", convnet(), data, labels, 8, False)
train("hybrid", convnet(), data, labels, 8, True)
train("static", convnet(), data, labels, 8, {"static_alloc": True, "static_shape": True})
train("adam", convnet(), data, labels, 6, True, "adam", {"learning_rate": 0.01})

with tempfile.TemporaryDirectory() as folder:
    net = convnet()
    net.hybridize()
    before = net(mx.nd.array(data[:4])).asnumpy()
    net.save_parameters(os.path.join(folder, "net.params"))
    net.export(os.path.join(folder, "net"), 1)
    other = convnet()
    other.load_parameters(os.path.join(folder, "net.params"))
    imported = gluon.SymbolBlock.imports(os.path.join(folder, "net-symbol.json"), ["data"],
                                         os.path.join(folder, "net-0001.params"))
    report("saved", before.std())
    report("loaded", np.abs(other(mx.nd.array(data[:4])).asnumpy() - before).max() < 1e-5)
    report("imported", np.abs(imported(mx.nd.array(data[:4])).asnumpy() - before).max() < 1e-5)

sequence = mx.nd.array(random("sequence").standard_normal((6, 3, 5)))
for name, layer in (("lstm", rnn.LSTM(7, num_layers=2)), ("gru", rnn.GRU(7, bidirectional=True)), ("rnn", rnn.RNN(7))):
    layer.initialize()
    layer(sequence)
    fill(layer, name)
    with autograd.record():
        output, states = layer(sequence, layer.begin_state(3))
        total = (output * output).sum()
    total.backward()
    report(name + ".output", output.asnumpy().std())
    for i, parameter in enumerate(layer.collect_params().values()):
        report("%s.grad%d" % (name, i), np.abs(parameter.grad().asnumpy()).mean())

cell = rnn.LSTMCell(4)
cell.initialize()
cell(mx.nd.zeros((2, 5)), cell.begin_state(2))
fill(cell, "cell")
outputs, _ = cell.unroll(3, mx.nd.array(random("unrolled").standard_normal((2, 3, 5))), merge_outputs=True)
report("cell", outputs.asnumpy().std())

zoo = gluon.model_zoo.vision.resnet18_v1(classes=4, thumbnail=True)
zoo.initialize()
zoo(mx.nd.zeros((1, 3, 16, 16)))
fill(zoo, "zoo")
images = np.repeat(stripes(16, 16, 4, "zoo")[0], 3, axis=1)
train("zoo", zoo, images, stripes(16, 16, 4, "zoo")[1], 2, True)

# SPDX-License-Identifier: Apache-2.0
"""Module with LeNet, and a monitor that sees the inner outputs."""
import mxnet as mx
import numpy as np

from common import report, stripes, train_module


def lenet(n_classes):
    net = mx.sym.Variable("data")
    for i, filters in enumerate((8, 16)):
        net = mx.sym.Convolution(net, kernel=(5, 5), num_filter=filters, name="conv%d" % i)
        net = mx.sym.Activation(net, act_type="tanh", name="tanh%d" % i)
        net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool%d" % i)
    net = mx.sym.Flatten(net)
    net = mx.sym.FullyConnected(net, num_hidden=64, name="fc0")
    net = mx.sym.Activation(net, act_type="tanh", name="tanh2")
    net = mx.sym.FullyConnected(net, num_hidden=n_classes, name="fc1")
    return mx.sym.SoftmaxOutput(net, name="softmax")


data, labels = stripes(160, 28, 5)
module = mx.mod.Module(lenet(5))
train_module("lenet", module, data, labels, 16, 20, params={"learning_rate": 0.05, "momentum": 0.9})

monitor = mx.mon.Monitor(1, stat_func=lambda array: mx.nd.norm(array), pattern=".*(conv|pool|fc).*output", sort=True)
watched = mx.mod.Module(lenet(5))
iterator = mx.io.NDArrayIter(data[:32], labels[:32], 16)
watched.bind(iterator.provide_data, iterator.provide_label)
watched.set_params(*module.get_params())
watched.install_monitor(monitor)
for batch in iterator:
    monitor.tic()
    watched.forward(batch, is_train=False)
    for step, name, value in monitor.toc():
        if name.startswith(("conv", "pool", "fc")):
            report("monitor.%d.%s" % (step, name), value.split()[0])
report("grouped", np.abs(watched.get_outputs()[0].asnumpy()).sum())

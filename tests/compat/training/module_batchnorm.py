# SPDX-License-Identifier: Apache-2.0
"""Module with batch normalization, dropped-in residual connections and average pooling; weights that are frozen."""
import mxnet as mx

from common import report, stripes, train_module


def block(net, filters, name):
    shortcut = net
    net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, no_bias=True, name=name + "_conv")
    net = mx.sym.BatchNorm(net, fix_gamma=False, momentum=0.8, eps=1e-4, name=name + "_bn")
    return mx.sym.Activation(net + shortcut, act_type="relu", name=name + "_relu")


net = mx.sym.Variable("data")
net = mx.sym.Convolution(net, kernel=(3, 3), stride=(2, 2), num_filter=8, name="stem")
net = mx.sym.BatchNorm(net, name="stem_bn")
net = block(block(net, 8, "a"), 8, "b")
net = mx.sym.Pooling(net, global_pool=True, pool_type="avg", kernel=(1, 1))
net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=4, name="fc")
net = mx.sym.SoftmaxOutput(net, name="softmax")

data, labels = stripes(96, 15, 4)
module = mx.mod.Module(net, fixed_param_names=["stem_weight"])
train_module("bn", module, data, labels, 12, 24, params={"learning_rate": 0.1, "momentum": 0.9})
report("accuracy", dict(module.score(mx.io.NDArrayIter(data, labels, 12), "acc"))["accuracy"])

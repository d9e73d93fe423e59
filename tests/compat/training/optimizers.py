# SPDX-License-Identifier: Apache-2.0
"""Every optimizer of the front end, a few steps of the same network each; learning-rate schedules and multipliers."""
import mxnet as mx

from common import IS_OLD, blobs, mlp, train_module

data, labels = blobs(60, 6, 3)
OPTIMIZERS = [
    ("sgd", {"learning_rate": 0.1}),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01, "clip_gradient": 0.02}),
    ("nag", {"learning_rate": 0.05, "momentum": 0.9}),
    ("adam", {"learning_rate": 0.01}),
    ("adagrad", {"learning_rate": 0.05}),
    ("rmsprop", {"learning_rate": 0.01, "epsilon": 1e-12}),  # 0.9.5 adds epsilon behind the root
    ("rmsprop", {"learning_rate": 0.01, "epsilon": 1e-12, "centered": True}),
    ("adadelta", {"rho": 0.9, "epsilon": 1e-4}),
    ("dcasgd", {"learning_rate": 0.05}),
]
NEWER = [
    ("ftrl", {"learning_rate": 0.1}),
    ("adamax", {"learning_rate": 0.01}),
    ("nadam", {"learning_rate": 0.01}),
    ("signum", {"learning_rate": 0.01, "momentum": 0.9}),
    ("ftml", {"learning_rate": 0.05}),
    ("lamb", {"learning_rate": 0.02}),
    ("lars", {"learning_rate": 0.1, "momentum": 0.9}),
]
for i, (name, params) in enumerate(OPTIMIZERS + ([] if IS_OLD else NEWER)):
    train_module("%s%d" % (name, i), mx.mod.Module(mlp(3)), data, labels, 20, 6, optimizer=name, params=params)

schedule = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5)
net = mx.sym.Variable("data")
weight = mx.sym.Variable("fc1_weight", lr_mult=0.1, wd_mult=2.0)
net = mx.sym.FullyConnected(data=net, weight=weight, num_hidden=3, name="fc1")
net = mx.sym.SoftmaxOutput(net, name="softmax")
train_module("schedule", mx.mod.Module(net), data, labels, 20, 8,
             params={"learning_rate": 0.5, "wd": 0.1, "lr_scheduler": schedule})

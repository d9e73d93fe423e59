# SPDX-License-Identifier: Apache-2.0
"""What the training programs share: data and weights that do not depend on the library, and the lines that they print.

A program prints "NAME NUMBER" for each number that has to be the same on both libraries.
"""
import os
import sys
import zlib

import mxnet as mx
import numpy as np


IS_OLD = mx.__version__.startswith("0.")


def check_library():
    """Without the library that it is told to load, the front end takes the one of its own package and goes on."""
    wanted = os.environ.get("MXNET_EXPECTED_LIBRARY")
    with open("/proc/self/maps") as maps:
        loaded = set(line.split()[-1] for line in maps if "libmxnet.so" in line)
    if wanted and loaded != set([wanted]):
        sys.exit("expected the library %s, found %s" % (wanted, sorted(loaded)))


check_library()


def report(name, value):
    print("%s %.9g" % (name, float(value)))


def random(name):
    """A generator of its own for each name, so that the order of creation does not matter."""
    return np.random.RandomState(zlib.crc32(name.encode()) & 0x7fffffff)


class Seeded(mx.init.Initializer):
    """Weights of He's size, from the name of the parameter."""

    def _init_weight(self, name, arr):
        shape = arr.shape
        fan_in = max(1, int(np.prod(shape[1:])))
        arr[:] = (random(str(name)).standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype("float32")

    def _init_default(self, name, arr):
        self._init_weight(name, arr)


def blobs(n, n_features, n_classes, name="blobs"):
    """Points around one centre for each class."""
    rng = random(name)
    centres = rng.standard_normal((n_classes, n_features))
    labels = rng.randint(0, n_classes, n)
    data = centres[labels] + 0.7 * rng.standard_normal((n, n_features))
    return data.astype("float32"), labels.astype("float32")


def stripes(n, size, n_classes, name="stripes"):
    """Images (N,1,H,W) with stripes whose distance is the class."""
    rng = random(name)
    labels = rng.randint(0, n_classes, n)
    rows = np.arange(size)
    data = np.sin(rows[None, None, :, None] * (0.4 + 0.5 * labels[:, None, None, None]))
    data = data + 0.3 * rng.standard_normal((n, 1, size, size))
    return data.astype("float32"), labels.astype("float32")


def cross_entropy(probabilities, labels):
    rows = np.arange(len(labels))
    return -np.log(np.maximum(probabilities[rows, labels.astype(int)], 1e-12)).mean()


def train_module(name, module, data, labels, batch, steps, optimizer="sgd", params=(("learning_rate", 0.1),),
                 kvstore="local"):
    """Train for some steps, and report the loss of each and the weights at the end."""
    iterator = mx.io.NDArrayIter(data, labels, batch)
    module.bind(iterator.provide_data, iterator.provide_label)
    module.init_params(Seeded())
    module.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=params)
    done = 0
    while done < steps:
        iterator.reset()
        for each in iterator:
            module.forward(each, is_train=True)
            report("%s.loss%d" % (name, done), cross_entropy(module.get_outputs()[0].asnumpy(), each.label[0].asnumpy()))
            module.backward()
            module.update()
            done += 1
            if done == steps:
                break
    report_params(name, *module.get_params())


def report_params(name, args, states):
    for kind, params in (("arg", args), ("aux", states)):
        if kind == "aux" and IS_OLD:
            continue  # version 0.9.5 updates moving averages in backward, and not always by the time that they are read
        for key in sorted(params):
            value = params[key].asnumpy()
            report("%s.%s.%s.mean" % (name, kind, key), value.mean())
            report("%s.%s.%s.size" % (name, kind, key), np.abs(value).mean())


def mlp(n_classes, activation="relu"):
    net = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(net, num_hidden=32, name="fc1")
    net = mx.sym.Activation(net, act_type=activation, name="act1")
    net = mx.sym.FullyConnected(net, num_hidden=n_classes, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")

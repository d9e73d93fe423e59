# SPDX-License-Identifier: Apache-2.0
"""Key-value stores: values of several devices, updaters, both kinds of keys, and Module on two devices."""
import mxnet as mx
import numpy as np

from common import IS_OLD, blobs, mlp, random, report, train_module

for kind in ("local",) if IS_OLD else ("local", "device"):  # 0.9.5 crashes on device without GPUs
    store = mx.kv.create(kind)
    report(kind + ".rank", store.rank)
    report(kind + ".workers", store.num_workers)
    shape = (3, 4)
    values = [mx.nd.array(random("%s%d" % (kind, i)).standard_normal(shape)) for i in range(3)]
    store.init(3, values[0])
    out = mx.nd.zeros(shape)
    store.push(3, values)
    store.pull(3, out=out)
    report(kind + ".sum", (out.asnumpy() * np.arange(12).reshape(shape)).sum())

    store.init([5, 7], [mx.nd.ones(shape)] * 2)
    store._set_updater(lambda key, pushed, stored: stored.__iadd__(key * 0.1 * pushed))
    for step in range(3):
        store.push([5, 7], [[values[0], values[1]], [values[2], values[2]]])
    outs = [[mx.nd.zeros(shape), mx.nd.zeros(shape)], [mx.nd.zeros(shape), mx.nd.zeros(shape)]]
    store.pull([5, 7], out=outs)
    for i, pair in enumerate(outs):
        for k, array in enumerate(pair):
            report("%s.updated%d.%d" % (kind, i, k), (array.asnumpy() * np.arange(12).reshape(shape)).sum())

    contexts = [mx.cpu(0), mx.cpu(1)]
    data, labels = blobs(120, 6, 3, kind)
    train_module(kind + ".two", mx.mod.Module(mlp(3), context=contexts), data, labels, 24, 10, kvstore=kind,
                 params={"learning_rate": 0.1, "momentum": 0.9})

if hasattr(mx.kvstore.KVStore, "set_gradient_compression"):  # since 1.0 keys may be strings
    store = mx.kv.create("local")
    store.init("weight", mx.nd.ones((2, 2)))
    store.set_optimizer(mx.optimizer.create("adam", learning_rate=0.1))
    for step in range(4):
        store.push("weight", mx.nd.array([[1, -2], [3, -4]]) * (step + 1))
    out = mx.nd.zeros((2, 2))
    store.pull("weight", out=out)
    for i, value in enumerate(out.asnumpy().ravel()):
        report("adam%d" % i, value)
    store.pushpull("weight", mx.nd.ones((2, 2)), out=out)
    report("pushpull", out.asnumpy().sum())

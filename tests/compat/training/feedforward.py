# SPDX-License-Identifier: Apache-2.0
"""The oldest interface: FeedForward, simple_bind, bind with all requests, and imperative updates."""
import mxnet as mx
import numpy as np

from common import Seeded, blobs, mlp, random, report, report_params

data, labels = blobs(120, 8, 3)
np.random.seed(3)
model = mx.model.FeedForward(mlp(3), ctx=mx.cpu(), num_epoch=4, optimizer="sgd", initializer=Seeded(),
                             numpy_batch_size=20, learning_rate=0.1, momentum=0.9)
model.fit(mx.io.NDArrayIter(data, labels, 20), kvstore=None)
report_params("model", model.arg_params, model.aux_params)
report("predicted", model.predict(mx.io.NDArrayIter(data, batch_size=20)).std())
report("score", model.score(mx.io.NDArrayIter(data, labels, 20)))

executor = mlp(3).simple_bind(mx.cpu(), data=(20, 8), softmax_label=(20,), grad_req="write")
for name, array in sorted(executor.arg_dict.items()):
    if name.endswith("weight"):
        Seeded()._init_weight(name, array)
for step in range(6):
    rows = slice(20 * step, 20 * step + 20)
    outputs = executor.forward(is_train=True, data=mx.nd.array(data[rows]), softmax_label=mx.nd.array(labels[rows]))
    executor.backward()
    for name in sorted(executor.arg_dict):
        if name not in ("data", "softmax_label"):
            executor.arg_dict[name][:] -= 0.01 * executor.grad_dict[name]
    report("bound.%d" % step, outputs[0].asnumpy()[:, 1].sum())
smaller = executor.reshape(data=(10, 8), softmax_label=(10,))
smaller.arg_dict["data"][:] = data[:10]
report("reshaped", smaller.forward()[0].asnumpy().std())

a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
c = mx.sym.Group([a * b + 2, mx.sym.exp(a) / (1 + b * b)])
arrays = {"a": mx.nd.array(random("a").standard_normal((3, 4))), "b": mx.nd.array(random("b").standard_normal((3, 4)))}
grads = {"a": mx.nd.ones((3, 4)), "b": mx.nd.zeros((3, 4))}
bound = c.bind(mx.cpu(), arrays, args_grad=grads, grad_req={"a": "add", "b": "write"})
for is_train in (True, False):
    bound.forward(is_train=is_train)
    bound.backward([mx.nd.ones((3, 4)), mx.nd.ones((3, 4)) * 2])
    for name in ("a", "b"):
        report("bind.%d.%s" % (is_train, name), grads[name].asnumpy().std())

# SPDX-License-Identifier: Apache-2.0
"""Operators that the front end defines in the way before Custom: NumpyOp and NDArrayOp; and MXNet's random numbers."""
import mxnet as mx
import numpy as np

from common import Seeded, blobs, random, report


class Softmax(mx.operator.NumpyOp):
    """A loss, which needs no gradient of its output."""

    def __init__(self):
        super(Softmax, self).__init__(False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]]

    def forward(self, in_data, out_data):
        powers = np.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
        out_data[0][:] = powers / powers.sum(axis=1, keepdims=True)

    def backward(self, out_grad, in_data, out_data, in_grad):
        labels = in_data[1].astype(int)
        in_grad[0][:] = out_data[0]
        in_grad[0][np.arange(len(labels)), labels] -= 1


class Pair(mx.operator.NDArrayOp):
    """Product and sum."""

    def list_arguments(self):
        return ["a", "b"]

    def list_outputs(self):
        return ["product", "total"]

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0]], [in_shape[0], in_shape[0]]

    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * in_data[1]
        out_data[1][:] = in_data[0] + in_data[1]

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0] * in_data[1] + out_grad[1]
        in_grad[1][:] = out_grad[0] * in_data[0] + out_grad[1]


x, y = blobs(64, 6, 3)
net = Softmax()(data=mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc"), name="softmax")
module = mx.mod.Module(net)
module.fit(mx.io.NDArrayIter(x, y, batch_size=16), num_epoch=3, initializer=Seeded(),
           optimizer_params={"learning_rate": 0.05})
for name, value in sorted(module.get_params()[0].items()):
    for i, number in enumerate(value.asnumpy().ravel()[:6]):
        report("%s%d" % (name, i), number)

pair = Pair()(a=mx.sym.Variable("x") * 2, b=mx.sym.Variable("y"), name="pair")
report("names", pair.list_outputs() == ["pair_product", "pair_total"])
bound = pair.simple_bind(mx.cpu(), x=(2, 3), y=(2, 3))
for name in ("x", "y"):
    bound.arg_dict[name][:] = random(name).uniform(-1, 1, (2, 3))
bound.forward(is_train=True)
bound.backward([mx.nd.array(random("heads%d" % i).uniform(-1, 1, (2, 3))) for i in range(2)])
for name, array in [("out%d" % i, out) for i, out in enumerate(bound.outputs)] + sorted(bound.grad_dict.items()):
    for i, number in enumerate(array.asnumpy().ravel()):
        report("pair_%s%d" % (name, i), number)

numbers = mx.random.uniform(-1, 3, (10000,)).asnumpy()
report("uniform", numbers.min() >= -1 and numbers.max() < 3 and abs(numbers.mean() - 1) < 0.1)
numbers = mx.random.normal(2, 3, (10000,)).asnumpy()
report("normal", abs(numbers.mean() - 2) < 0.2 and abs(numbers.std() - 3) < 0.2)

# SPDX-License-Identifier: Apache-2.0
"""Gradients and operators in Python, of MXNet 1.9.1's front end."""
import threading

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

from front import close, fails, main


def variable(values, req="write"):
    x = nd.array(values)
    x.attach_grad(req)
    return x


def test_backward():
    x = variable([1.0, 2, 3])
    with autograd.record():
        y = (x * x + nd.exp(x)).sum()
    y.backward()
    close(x.grad, 2 * x.asnumpy() + np.exp(x.asnumpy()))


def test_gradients_add_up():
    x = variable([1.0, 1], "add")
    for _ in range(3):
        with autograd.record():
            y = x * 2
        y.backward()
    close(x.grad, [6, 6])


def test_of_views():
    x = variable(np.arange(12).reshape(3, 4))
    with autograd.record():
        z = x[1].sum() + x[:, 1].sum() + x[[0, 2], [1, 1]].sum() + x.reshape((4, 3))[0].sum()
    z.backward()
    close(x.grad, [[1, 3, 1, 0], [1, 2, 1, 1], [0, 2, 0, 0]])


def test_heads():
    x = variable(np.ones((3, 5)))
    with autograd.record():
        a, b, c = nd.split(x, axis=0, num_outputs=3, squeeze_axis=True)
        autograd.backward([a, b, c], [None, nd.array([1, 2, 3, 4, 5]), nd.array([5, 4, 3, 2, 1])])
    close(x.grad, [[1] * 5, [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])


def test_retain_and_again():
    x = variable([1.0, 2])
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    close(x.grad, [2, 4])
    fails(y.backward, "")


def test_detach():
    x = variable([3.0])
    with autograd.record():
        y = x.detach() * x
    y.backward()
    close(x.grad, [3])


def test_variable_inside_a_graph():
    x = variable([1.0])
    with autograd.record():
        y = x * 2
        y.attach_grad()
        z = y * 3
    z.backward()
    close(y.grad, [3])
    close(x.grad, [0])


def test_arrays_that_change_before_backward():
    x, w = variable([1.0, 2]), nd.array([3, 4])
    with autograd.record():
        y = x * w
    w[:] = 5
    y.backward()
    close(x.grad, [5, 5])  # as in MXNet: of what w holds now


def test_modes():
    x = variable(np.ones((50, 50)))
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        assert (nd.Dropout(x, p=.5).asnumpy() == 0).any()
        with autograd.predict_mode():
            close(nd.Dropout(x, p=.5), np.ones((50, 50)))
        with autograd.pause():
            assert not autograd.is_recording()
    assert not autograd.is_recording()


def test_gradients_as_arrays():
    x = variable([1.0, 2])
    with autograd.record():
        y = x * x
    close(autograd.grad(y, [x])[0], [2, 4])
    with autograd.record():
        y = x * x
    fails(lambda: autograd.grad(y, [x], create_graph=True), "gradients of gradients")


def test_function_in_python():
    class Product(autograd.Function):
        def forward(self, x, y):
            self.save_for_backward(x, y)
            return x * y, x + y

        def backward(self, first, second):
            x, y = self.saved_tensors
            return first * y + second, first * x + second

    x, y = variable([1.0, 2]), variable([3.0, 4])
    with autograd.record():
        a, b = Product()(x, y)
        z = a + b
    z.backward()
    close(x.grad, [4, 5])
    close(y.grad, [2, 3])


class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        aux[0][:] = aux[0] + 1
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


@mx.operator.register("square_in_python")
class SquareProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["calls"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [(1,)]

    def create_operator(self, ctx, shapes, dtypes):
        return Square()


def test_operator_in_python():
    x, calls = variable(np.arange(6).reshape(2, 3)), nd.zeros((1,))
    for n in range(2):
        with autograd.record():
            y = nd.Custom(x, calls, op_type="square_in_python")
        y.backward()
        close(y, x.asnumpy() ** 2)
        close(x.grad, 2 * x.asnumpy())
        close(calls, [n + 1])


def test_operator_in_a_network():
    data, calls = mx.sym.Variable("data"), mx.sym.Variable("calls")
    net = mx.sym.Custom(data=data * 2, calls=calls, op_type="square_in_python", name="square")
    assert net.list_auxiliary_states() == ["calls"]
    executor = mx.sym.load_json(net.tojson()).simple_bind(mx.cpu(), data=(2, 3))
    executor.arg_dict["data"][:] = 3
    close(executor.forward(is_train=True)[0], np.full((2, 3), 36))
    executor.backward(nd.ones((2, 3)))
    close(executor.grad_dict["data"], np.full((2, 3), 24))


class Failing(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        raise ValueError("meant to fail")


@mx.operator.register("failing_in_python")
class FailingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Failing()


def test_operator_that_fails():
    fails(nd.Custom(nd.ones((2,)), op_type="failing_in_python").asnumpy, "failing_in_python: forward failed")
    nd.waitall()  # the error has been reported


def test_threads():
    found = []

    def run():
        x = variable([1.0, 1])
        with autograd.record():
            y = x * 3
        y.backward()
        found.append(float(x.grad.asnumpy().sum()))

    threads = [threading.Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [6.0] * 16


main(globals())

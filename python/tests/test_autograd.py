# SPDX-License-Identifier: Apache-2.0
"""Gradients of calls on arrays."""

import gc
import weakref

import numpy as np
import pytest

import mxc


def test_backward():
    x = mxc.array([1, 2, 3])
    assert x.grad is None
    x.attach_grad()
    with mxc.record():
        assert mxc.is_recording() and mxc.is_training()
        y = (x * x + 2 * x).sum()
        with mxc.pause():
            assert not mxc.is_recording()
            (x * 100).asnumpy()
    y.backward()
    assert x.grad.tolist() == [4, 6, 8]
    with pytest.raises(mxc.Error, match="graph"):
        y.backward()


def test_add_and_retain():
    x = mxc.ones(2)
    x.attach_grad("add")
    with mxc.record():
        y = x * 3
    y.backward(mxc.array([1, 2]), retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [6, 9]


def test_heads_and_grad():
    x, w = mxc.ones(2), mxc.array([2, 3])
    x.attach_grad()
    w.attach_grad()
    with mxc.record():
        a, b = x * w, x + w
    mxc.backward([a, b], [mxc.ones(2), None])
    assert x.grad.tolist() == [3, 4] and w.grad.tolist() == [2, 2]
    with mxc.record():
        y = x * w * w
    gx, gw = mxc.grad(y, [x, w], retain_graph=True)
    assert gx.tolist() == [4, 9] and gw.tolist() == [4, 6] and x.grad.tolist() == [3, 4]
    assert mxc.grad([y], x, [mxc.zeros(2)]).tolist() == [0, 0]
    with pytest.raises(ValueError, match="2 heads"):
        mxc.backward([a, b], [None])


def test_views_and_in_place():
    x = mxc.array(np.arange(6.0).reshape(2, 3))
    x.attach_grad()
    with mxc.record():
        y = x[1] * 2
        before = y
        y += 1  # a new array
        z = y[0:2].reshape(2, 1).sum() + x[:, ::2].sum() + x[[0, 0]].sum()
    assert before is not y
    z.backward()
    assert x.grad.tolist() == [[3, 2, 3], [3, 2, 1]]
    with mxc.record():
        y = x * 2
        for key in ([0], 0, (slice(None), 1)):
            with pytest.raises(ValueError, match="recording"):
                y[key] = 1


def test_modes():
    x = mxc.ones((100,))
    with mxc.record(train_mode=False):
        assert mxc.op.Dropout(x, p=0.5).asnumpy().min() == 1
        with mxc.train_mode():
            assert mxc.is_training() and mxc.op.Dropout(x, p=0.5).asnumpy().min() == 0
            with mxc.predict_mode():
                assert not mxc.is_training()
    try:
        with mxc.record():
            raise KeyError
    except KeyError:
        pass
    assert not mxc.is_recording() and not mxc.is_training()


class Scale(mxc.Function):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, x, y):
        assert not mxc.is_recording()
        self.save_for_backward(x)
        return x * self.factor, y

    def backward(self, dx, dy):
        assert not mxc.is_recording() and self.saved_tensors[0].shape == (2,)
        return dx * self.factor, None if self.factor == 4 else dy


def test_function():
    x, y = mxc.ones(2), mxc.ones(2)
    x.attach_grad()
    y.attach_grad()
    function = Scale(3)
    with mxc.record():
        a, b = function(x, y)
        loss = a.sum() + (b * 2).sum()
    alive = weakref.ref(function)
    del function
    loss.backward(retain_graph=True)
    assert x.grad.tolist() == [3, 3] and y.grad.tolist() == [2, 2]
    loss.backward()
    del loss, a, b
    mxc.waitall()
    gc.collect()
    assert alive() is None  # the graph has freed it
    with mxc.record():
        loss = sum(item.sum() for item in Scale(4)(x, y))
    loss.backward()
    assert y.grad.tolist() == [0, 0]
    assert Scale(2)(x, y)[0].tolist() == [2, 2]  # without recording


def test_function_errors():
    class Wrong(Scale):
        def backward(self, dx, dy):
            raise ZeroDivisionError("in backward")

    x = mxc.ones(2)
    x.attach_grad()
    with mxc.record():
        y = Wrong(2)(x, x)[0]
    with pytest.raises(ZeroDivisionError, match="in backward"):
        y.backward()
    Wrong.backward = lambda self, dx, dy: dx
    with mxc.record():
        y = Wrong(2)(x, x)[0]
    with pytest.raises(ValueError, match="1 gradients for 2 inputs"):
        y.backward()


def test_detach_and_symbol():
    x = mxc.ones(2)
    x.attach_grad()
    with mxc.record():
        y = x * 2
        z = y.detach() * y
    symbol = mxc.get_symbol(z, {"x": x})
    assert "x" in symbol.list_arguments()
    z.backward()
    assert x.grad.tolist() == [4, 4]


def test_training_loop():
    """A linear model finds its weights."""
    rng = np.random.RandomState(0)
    data, true = rng.randn(64, 3).astype("float32"), np.array([[1, -2, 3]], "float32")
    x, y = mxc.array(data), mxc.array(data @ true.T)
    w = mxc.zeros((1, 3))
    w.attach_grad()
    optimizer = mxc.Optimizer("adam", learning_rate=0.1)
    for _ in range(200):
        with mxc.record():
            loss = mxc.op.square(mxc.op.FullyConnected(x, w, num_hidden=1, no_bias=True) - y).mean()
        loss.backward()
        optimizer.update("w", w, w.grad)
    np.testing.assert_allclose(w.asnumpy(), true, atol=0.02)

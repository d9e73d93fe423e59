# SPDX-License-Identifier: Apache-2.0
"""Operators as functions, on arrays and on symbols."""

import concurrent.futures
import inspect

import numpy as np
import pytest

import mxc


def test_arrays():
    x, w, b = mxc.ones((2, 3)), mxc.ones((4, 3)), mxc.zeros(4)
    for out in (mxc.op.FullyConnected(x, w, b, num_hidden=4), mxc.op.FullyConnected(data=x, weight=w, bias=b, num_hidden=4),
                mxc.op.FullyConnected(x, w, num_hidden=4, no_bias=True)):
        np.testing.assert_array_equal(out.asnumpy(), np.full((2, 4), 3))
    for _ in range(2):  # the second call finds a prepared operator
        assert mxc.op.Concat(x, x, dim=0).shape == (4, 3)
        assert mxc.op.Concat([x, x], dim=1).shape == (2, 6)
        assert mxc.op.clip(x, 0, 0.5).asnumpy().max() == 0.5
        assert mxc.op.transpose(x, (1, 0)).shape == (3, 2)
        assert [part.shape for part in mxc.op.split(x, num_outputs=3, axis=1)] == [(2, 1)] * 3
        assert mxc.op.Cast(x, dtype=np.int32).dtype == mxc.op.Cast(x, dtype="int32").dtype == "int32"
        assert mxc.op.sum(x, axis=(0, 1)).asnumpy() == 6 and mxc.op.sum(x, axis=None).asnumpy() == 6
    out = mxc.zeros((2, 3))
    assert mxc.op.exp(x, out=out) is out and out[0, 0].item() == pytest.approx(np.e)
    parts = [mxc.zeros((2, 1)) for _ in range(3)]
    mxc.op.split(x, num_outputs=3, axis=1, out=parts)
    assert parts[2].asnumpy().sum() == 2
    assert mxc.op._zeros(shape=(2, 2)).shape == (2, 2)
    assert mxc.op.broadcast_add(x, np.ones((2, 3), "float32")).asnumpy().sum() == 12
    mean, var = mxc.zeros(3), mxc.ones(3)
    y = mxc.op.BatchNorm(x, mxc.ones(3), mxc.zeros(3), mean, var, fix_gamma=False)
    assert y.shape == (2, 3)


def test_equal_parameters():
    """0.0 and -0.0 are equal, as 1, 1.0 and True are, but not the same parameters."""
    a = mxc.array([1.0, 2.0])
    for zero in (0.0, -0.0, 0, 0.0, -0.0):
        expected = -np.inf if np.signbit(zero) else np.inf
        assert (a / zero).tolist() == [expected] * 2
        assert mxc.op._div_scalar(a, scalar=zero).tolist() == [expected] * 2
        assert (a * zero + zero).tolist() == [0.0] * 2
    for _ in range(2):
        assert mxc.op.sum(mxc.ones((2, 3)), axis=1).tolist() == [3.0, 3.0]
        with pytest.raises(ValueError):
            mxc.op.sum(mxc.ones((2, 3)), axis=1.0)


def test_calls_from_threads():
    """Each call gets its own result."""
    arrays = [mxc.array([float(i)] * 4) for i in range(8)]

    def add(i):
        return all((arrays[i] + arrays[i]).tolist() == [2.0 * i] * 4 for _ in range(200))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(add, range(8)))


def test_mistakes():
    x = mxc.ones((2, 3))
    with pytest.raises(AttributeError, match="no operator 'Nothing'"):
        mxc.op.Nothing
    with pytest.raises(ValueError, match="num_hidden"):
        mxc.op.FullyConnected(x, x)
    with pytest.raises(ValueError, match="wrong_name"):
        mxc.op.exp(x, wrong_name=1)
    with pytest.raises(TypeError, match="two values for data"):
        mxc.op.exp(x, data=x)
    with pytest.raises(TypeError, match="at most"):
        mxc.op.exp(x, 1, 2)
    with pytest.raises(TypeError, match="expected a Symbol"):
        mxc.op.broadcast_add(mxc.var("a"), x)


def test_documentation():
    signature = inspect.signature(mxc.op.FullyConnected)
    assert list(signature.parameters) == ["data", "weight", "bias", "num_hidden", "no_bias", "flatten", "out", "name"]
    assert signature.parameters["num_hidden"].default is inspect.Parameter.empty
    assert signature.parameters["flatten"].default is True
    assert "(N,H) = data (N,K)" in mxc.op.FullyConnected.__doc__
    assert str(inspect.signature(mxc.op.clip)) == "(data, a_min, a_max, *, out=None, name=None)"
    assert "FullyConnected" in dir(mxc.op)
    for name in mxc.op.names():  # each can be made
        function = getattr(mxc.op, name)
        assert callable(function) and function.__doc__ and inspect.signature(function)


def test_symbols():
    x = mxc.var("data")
    net = mxc.op.FullyConnected(x, num_hidden=3, name="fc")
    assert net.list_arguments() == ["data", "fc_weight", "fc_bias"] and net.name == "fc"
    assert mxc.op.FullyConnected(weight=mxc.var("w"), data=x, num_hidden=3).list_arguments()[:2] == ["data", "w"]
    assert mxc.op.Concat(x, net, dim=1).list_outputs()[0].startswith("concat")
    assert mxc.op._zeros(shape=(2,), name="z").list_outputs() == ["z_output"]

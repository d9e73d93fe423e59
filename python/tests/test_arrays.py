# SPDX-License-Identifier: Apache-2.0
"""Arrays against NumPy: creation, protocols, operators, indexing, files."""

import copy
import operator
import pickle

import numpy as np
import pytest

import mxc

DTYPES = ["float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool"]


def same(array, expected, dtype=None):
    got = array.asnumpy()
    expected = np.asarray(expected)
    assert got.shape == expected.shape
    assert dtype is None or got.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip(dtype):
    host = (np.arange(24).reshape(2, 3, 4) % 2).astype(dtype)
    array = mxc.array(host)
    assert array.dtype == dtype and array.shape == (2, 3, 4) and array.ndim == 3 and array.size == 24
    assert array.nbytes == host.nbytes
    same(array, host, dtype)
    same(mxc.array(host.transpose(2, 0, 1)), host.transpose(2, 0, 1), dtype)
    same(pickle.loads(pickle.dumps(array)), host, dtype)
    same(copy.deepcopy(array), host, dtype)


def test_creation():
    same(mxc.zeros((2, 3)), np.zeros((2, 3)), "float32")
    same(mxc.ones(4, "int32"), np.ones(4), "int32")
    same(mxc.full((2,), 2.5, "float64"), [2.5, 2.5], "float64")
    same(mxc.arange(2, 8, 2), [2, 4, 6])
    same(mxc.array([1, 2]), [1, 2], "float32")
    same(mxc.array(3), 3)
    same(mxc.array([[]]), np.zeros((1, 0)))
    same(mxc.array(mxc.ones(2), "int8"), [1, 1], "int8")
    assert mxc.empty((0, 3)).shape == (0, 3)
    assert mxc.zeros(2).context == mxc.cpu(0) and str(mxc.cpu(1)) == "cpu(1)"
    with pytest.raises(TypeError, match="complex"):
        mxc.array(np.zeros(2, "complex64"))


def test_bfloat16():
    array = mxc.array([1, 2.5, -3], mxc.bfloat16)
    assert array.dtype == mxc.bfloat16 and array.asnumpy().dtype == "float32"
    same(pickle.loads(pickle.dumps(array)), [1, 2.5, -3])
    assert pickle.loads(pickle.dumps(array)).dtype == mxc.bfloat16
    same((array + array).astype("float32"), [2, 5, -6])
    array.set([4, 5, 6])
    same(array, [4, 5, 6])


def test_numpy_shares_memory():
    array = mxc.zeros((2, 3))
    view = np.asarray(array)
    view[0, 1] = 5
    same(array, [[0, 5, 0], [0, 0, 0]])
    array += 1
    array.wait_to_read()
    assert view[0, 1] == 6
    copied = array.__array__(copy=True)
    copied[:] = 9
    assert array[0, 0].item() == 1
    assert np.array(array, dtype="int32").dtype == "int32"
    with pytest.raises(ValueError, match="without a copy"):
        array.__array__("int32", copy=False)
    assert array.__array__(copy=False).flags.writeable
    del array
    assert view[0, 1] == 6  # the view owns the memory, too
    assert np.asarray(mxc.zeros((0, 2))).shape == (0, 2)


def test_dlpack():
    array = mxc.array(np.arange(6, dtype="float32").reshape(2, 3))
    assert array.__dlpack_device__() == (1, 0)
    view = np.from_dlpack(array)
    assert view.ctypes.data == np.asarray(array).ctypes.data
    same(array, view)
    host = np.arange(12, dtype="int64").reshape(3, 4)
    shared = mxc.from_dlpack(host)
    shared += 1
    shared.wait_to_read()
    assert host[0, 0] == 1 and shared.dtype == "int64"
    same(mxc.from_dlpack(host[:, ::2]), host[:, ::2])  # strides: a copy
    del host
    assert shared[2, 3].item() == 12
    for kwargs, name in (({}, "dltensor"), ({"max_version": (1, 0)}, "dltensor_versioned")):
        capsule = array.__dlpack__(**kwargs)
        assert f'"{name}"' in repr(capsule)
        del capsule  # not consumed: frees the tensor
        capsule = array.__dlpack__(**kwargs)
        again = mxc.from_dlpack(capsule)
        with pytest.raises(TypeError, match="used before"):
            mxc.from_dlpack(capsule)
        again += 1
    same(array, np.arange(6).reshape(2, 3) + 2)
    assert array.__dlpack__(copy=True) is not None


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow, operator.lt,
          operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("function", BINARY, ids=lambda function: function.__name__)
def test_operators(function):
    a, b = np.array([[1, 2, 3], [4, 5, 6]], "float32"), np.array([[2, 2, 2]], "float32")
    x, y = mxc.array(a), mxc.array(b)
    for left, right, p, q in ((x, y, a, b), (y, x, b, a), (x, 2.0, a, 2.0), (3, x, 3, a), (x, b, a, b), (b, x, b, a),
                              (x, np.float32(2), a, 2), (x, True, a, 1), (x, [[1, 2, 3]], a, [[1, 2, 3]])):
        expected = function(np.asarray(p, "float32"), np.asarray(q, "float32"))
        same(function(left, right), expected.astype("float32"), "float32")
    with pytest.raises(TypeError) if function not in (operator.eq, operator.ne) else pytest.raises(AttributeError):
        function(x, "text").asnumpy()


IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod, operator.ipow]


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
def test_in_place(function):
    for other in (np.array([[3, 2, 1], [1, 2, 3]], "float32"), 2.0):
        host = np.array([[1, 2, 3], [4, 5, 6]], "float32")
        array = mxc.array(host)
        before, alias = array, array[0:2]
        array = function(array, mxc.array(other) if isinstance(other, np.ndarray) else other)
        assert array is before
        same(alias, function(host, other))


def test_unary_and_methods():
    host = np.array([[1, -2, 3], [4, 5, -6]], "float32")
    array = mxc.array(host)
    same(-array, -host)
    same(+array, host)
    same(abs(array), abs(host))
    same(array.T, host.T)
    same(array @ array.T, host @ host.T)
    same(host @ array.T, host @ host.T)
    same(array.dot(mxc.ones(3)), host.sum(1))
    for name in ("sum", "mean", "max", "min", "prod"):
        same(getattr(array, name)(), getattr(host, name)())
        same(getattr(array, name)(axis=1, keepdims=True), getattr(host, name)(axis=1, keepdims=True))
    same(array.argmax(1), host.argmax(1))
    same(array.argmin(0), host.argmin(0))
    same(array.clip(-1, 2), host.clip(-1, 2))
    same(array.reshape(3, 2), host.reshape(3, 2))
    same(array.reshape((3, -1)), host.reshape(3, 2))
    same(array.flatten(), host.ravel())
    same(array.expand_dims(0).squeeze(0), host)
    same(array.transpose(1, 0), host.T)
    with pytest.raises(ValueError, match="reshape"):
        array.reshape(2, 2)
    assert float(array[0, 0]) == 1 and int(array[0, 2]) == 3 and bool(array[0, 0])
    assert [1, 2, 3][mxc.array(1, "int32")] == 2
    assert len(array) == 2 and [row.shape for row in array] == [(3,), (3,)]
    assert array.tolist() == host.tolist() and hash(array) == hash(array)
    assert "float32 @cpu(0)" in repr(array)
    with pytest.raises(TypeError):
        len(mxc.array(1))
    with pytest.raises(ValueError):
        bool(array)


KEYS = [0, -1, slice(None), slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2), Ellipsis, None,
        (1, 2), (1, 2, 3), (Ellipsis, 1), (slice(None), 1), (slice(None), slice(0, 2)), (1, slice(1, 3)),
        (slice(1, 2), 2), (None, 1, Ellipsis, None), (slice(None), slice(None), slice(None, None, -2)), (slice(2, 2),),
        (Ellipsis, slice(3, 1)), (-1, Ellipsis, -1), (),
        [0, 2], [[0, 1], [2, 3]], [-1, -4], (slice(None), [0, 2]), ([0, 1], [1, 2]), ([[0], [1]], [1, 2]), (1, [0, 2]),
        np.array([True, False, True, True]), (Ellipsis, [4, 0]), [],
        (slice(0, 2), [0]), (slice(None, None, -2), [2, 0], slice(1, 4)), ([3, 1], slice(1, None)),
        ([0, 1], [1, 2], slice(0, 4, 2)), (slice(3, 0, -1), Ellipsis, [[0], [-1]]), (slice(2, 2), [0, 1]),
        (slice(0, 2), []), (None, [0, 2]), (slice(1, 3), None, [0, 1], None), (1, [0, 2], slice(1, 3)),
        (slice(1, 4), np.array([True, False, True]), None)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_index(key):
    host = np.arange(60, dtype="float32").reshape(4, 3, 5)
    same(mxc.array(host)[key], host[key])
    array = mxc.array(host)
    for value in (7.0, (host[key] * 2)):
        array[key] = mxc.array(value) if isinstance(value, np.ndarray) and value.size else value
        host[key] = value
        same(array, host)
    if host[key].size:
        array[key] = host[key] - 1
        host[key] -= 1
        same(array, host)


def test_index_by_arrays():
    host = np.arange(12, dtype="float32").reshape(4, 3)
    array = mxc.array(host)
    same(array[mxc.array([1, 3])], host[[1, 3]])
    same(array[mxc.array([1, 3], "int32"), mxc.array([0, 2], "int64")], host[[1, 3], [0, 2]])
    mask = (array > 4).astype("bool")
    same(array[mask], host[host > 4])
    array[mask] = 0
    host[host > 4] = 0
    same(array, host)
    array[mxc.array([0, 1])] = mxc.ones((2, 3))
    host[[0, 1]] = 1
    same(array, host)
    view = array[1]
    view[:] = 9  # writes through
    assert array[1, 0].item() == 9
    array[:] = [1, 2, 3]
    same(array, np.broadcast_to([1, 2, 3], (4, 3)))
    for key in (4, -5, (0, 3), [4], (0, 0, 0), "a", 1.5, (slice(0, 2), [3]), ([0], None, [0]), ([0, 1], [0, 1, 2]),
                np.array([True])):
        with pytest.raises(IndexError):
            array[key]
    with pytest.raises((ValueError, mxc.Error)):
        array[0:2] = mxc.ones((3, 3))


def test_gradient_of_mixed_index():
    array = mxc.array(np.arange(12, dtype="float32").reshape(4, 3))
    array.attach_grad()
    with mxc.record():
        out = (array[1:3, [0, 0, 2]] * 3).sum()
    out.backward()
    same(array.grad, np.array([[0, 0, 0], [6, 0, 3], [6, 0, 3], [0, 0, 0]], "float32"))


def test_errors():
    with pytest.raises(mxc.Error, match="broadcast_add.*") as caught:
        mxc.ones(2) + mxc.ones(3)
    assert caught.value.status == mxc.Error.ESHAPE and caught.value.name == "MXC_ESHAPE" and ".c:" in caught.value.place
    assert isinstance(caught.value, ValueError)
    with pytest.raises(TypeError):
        mxc.ones(2) + mxc.ones(2, "int32")
    with pytest.raises(mxc.Error, match="gpu"):
        mxc.zeros(2, ctx="gpu(7)").asnumpy()
    with pytest.raises(TypeError, match="expected an array"):
        mxc.op.exp(object())
    # An error of a kernel is raised by the wait for its result.
    late = mxc.op.take(mxc.ones((2, 2)), mxc.array([5]), mode="raise")
    with pytest.raises(mxc.Error):
        late.asnumpy()
    with pytest.raises(mxc.Error):
        mxc.waitall()
    mxc.waitall()


def test_files(tmp_path):
    a, b = mxc.ones((2, 2)), mxc.arange(3, dtype="int32")
    for end in ("params", "npz"):
        path = tmp_path / f"file.{end}"
        mxc.save(path, {"a": a, "b": b})
        loaded = mxc.load(path)
        same(loaded["a"], np.ones((2, 2)))
        same(loaded["b"], [0, 1, 2], "int32")
    mxc.save(tmp_path / "list.params", [a, b])
    assert [item.shape for item in mxc.load(tmp_path / "list.params")] == [(2, 2), (3,)]
    mxc.save(tmp_path / "one.npy", b)
    same(mxc.load(tmp_path / "one.npy"), np.load(tmp_path / "one.npy"))
    with pytest.raises(LookupError, match="none.params"):
        mxc.load(tmp_path / "none.params")


def test_copies():
    a, b = mxc.ones((2, 2)), mxc.zeros((2, 2), "float64")
    assert a.copyto(b) is b
    same(b, np.ones((2, 2)), "float64")
    assert a.astype("float32", copy=False) is a and a.as_in_context("cpu(0)") is a
    assert a.as_in_context(mxc.cpu(1)).context == mxc.cpu(1)
    a.set(np.full((2, 2), 3.0))
    same(a, np.full((2, 2), 3))
    with pytest.raises(ValueError, match="set"):
        a.set([1, 2])
    a.wait_to_write()

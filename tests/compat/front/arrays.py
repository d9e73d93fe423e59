# SPDX-License-Identifier: Apache-2.0
"""Arrays of MXNet 1.9.1's front end."""
import os
import pickle
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

from front import close, fails, main


def test_arithmetic():
    a = nd.array(np.arange(6).reshape(2, 3))
    close(a * 2 + 1, [[1, 3, 5], [7, 9, 11]])
    a[0] = 5
    a[1, 2] = 7
    a += nd.ones((2, 3))
    close(a, [[6, 6, 6], [4, 5, 8]])
    close(3 - a, [[-3, -3, -3], [-1, -2, -5]])
    assert (a == 6).asnumpy().sum() == 3
    assert nd.zeros((2, 2), ctx=mx.cpu(1)).context == mx.cpu(1)


def test_types():
    for name in ["float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"]:
        a = nd.ones((2, 3), dtype=name)
        assert a.dtype == np.dtype(name).type
        close(a.astype("float32"), np.ones((2, 3)))


def test_indexing():
    a = nd.arange(24).reshape((2, 3, 4))
    n = a.asnumpy()
    for key in [0, slice(0, 1), (0, 1), (slice(None), 1), (slice(None), slice(0, 3, 2)), (Ellipsis, 1), ([0, 1], [1, 2]),
                (slice(None), [0, 2]), (None, 0), (0, slice(None, None, -1)), np.array([1, 0])]:
        close(a[key], n[key])
    a[:, [0, 2]] = 9
    n[:, [0, 2]] = 9
    close(a, n)


def test_reshape():
    a = nd.arange(24).reshape((2, 3, 4))
    for shape, made in [((0, -1), (2, 12)), ((-2,), (2, 3, 4)), ((-3, 0), (6, 4)), ((-4, 1, 2, -2), (1, 2, 3, 4))]:
        assert a.reshape(shape).shape == made
    assert a.reshape((-1, 0), reverse=True).shape == (6, 4)
    try:
        a.reshape((5, -1))
        raise AssertionError("24 elements in rows of 5")
    except ValueError as error:
        assert "size 24" in str(error)
    fails(lambda: a.reshape((5, 5)), "24 elements")


def test_files_and_pickles():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.params")
        nd.save(path, {"a": nd.ones((2, 3)), "b": nd.zeros((1,), dtype="int32")})
        assert nd.load(path)["b"].dtype == np.int32
        with open(path, "rb") as file:
            close(nd.load_frombuffer(file.read())["a"], np.ones((2, 3)))
        nd.save(path, [nd.ones((4,))])
        assert nd.load(path)[0].shape == (4,)
    close(pickle.loads(pickle.dumps(nd.arange(5))), np.arange(5))


def test_numpy_shapes():
    with mx.util.np_shape(True):
        one = nd.ones(())
        assert one.shape == () and (one + one).asnumpy() == 2
        assert nd.zeros((0, 3)).shape == (0, 3)
        assert nd.concat(nd.ones((0, 3)), nd.ones((2, 3)), dim=0).shape == (2, 3)
        assert nd.ones((3,))[0].shape == ()
    assert nd.ones((2, 2)).sum().shape == (1,)


def test_numbers_that_are_not_finite():
    a = nd.array([1, 2])
    assert np.isinf((a * float("inf")).asnumpy()).all()
    assert np.isnan((a + float("nan")).asnumpy()).all()
    close(nd.clip(a, -float("inf"), 1), [1, 1])


def test_outputs_that_are_given():
    out = nd.zeros((2, 2))
    nd.elemwise_add(nd.ones((2, 2)), nd.ones((2, 2)), out=out)
    nd.broadcast_add(out, nd.ones((1, 2)), out=out)
    close(out, np.full((2, 2), 3))
    fails(lambda: nd.elemwise_add(out, out, out=nd.zeros((3, 2))), "expected shape (2,2)")


def test_parameters_by_place():
    a = nd.array([[1, 2], [3, 4]])
    close(nd.clip(a, 2, 3), [[2, 2], [3, 3]])
    close(nd.one_hot(nd.array([1]), 3), [[0, 1, 0]])
    close(nd.norm(a, 1, 0), [4, 6])
    close(nd.log_softmax(a, -1), a.asnumpy() - np.log(np.exp(a.asnumpy()).sum(1, keepdims=True)))


def test_sums():
    close(nd.op.cumsum(nd.array([[1, 2], [3, 4]]), axis=0), [[1, 2], [4, 6]])
    ints = nd.array([1, 2, 5], dtype="int32")
    assert ints.mean().dtype == np.int32 and ints.mean().asscalar() == 2


def test_integers_and_bool():
    x = nd.array([[1, 0, 1], [0, 0, 0]], dtype="bool")
    assert [x.sum(axis=1).asnumpy().tolist(), x.min(axis=1).asnumpy().tolist()] == [[True, False], [False, False]]
    assert nd.nansum(nd.array([100, 100], dtype="int8")).asscalar() == -56
    x = nd.array([0, 1, 2, 3], dtype="int32")
    assert (x**2).asnumpy().tolist() == [0, 1, 4, 9] and (x**2).dtype == np.int32
    assert (2**x).asnumpy().tolist() == [1, 2, 4, 8]
    assert (x**x).asnumpy().tolist() == [1, 1, 4, 27]
    assert (x**1.5).asnumpy().tolist() == [0, 1, 2, 3]


def test_random_numbers():
    mx.random.seed(3)
    a = nd.random.uniform(shape=(5,))
    mx.random.seed(3)
    close(nd.random.uniform(shape=(5,)), a.asnumpy())
    for made in [nd.random.normal(0, 1, (3,)), nd.random.randint(0, 5, (3,)), nd.random.gamma(shape=(3,)),
                 nd.random.poisson(shape=(3,)), nd.random.exponential(shape=(3,))]:
        assert made.shape == (3,)


def test_dlpack():
    a = nd.arange(6).reshape((2, 3))
    close(nd.from_dlpack(a.to_dlpack_for_read()), a.asnumpy())
    shared = np.ones((2, 3), dtype="float32")
    b = nd.from_numpy(shared, zero_copy=True)
    b += 1
    b.wait_to_read()
    assert (shared == 2).all()


def test_bool():
    a = nd.array([True, False], dtype="bool")
    for made, values in [(a + 1, [2, 1]), (a * 3, [3, 0]), (-a, [-1, 0])]:
        assert made.dtype == np.int64
        close(made, values)
    assert nd.from_numpy(np.array([True, False])).dtype == np.bool_


def test_rounding_of_integers():
    a = nd.array([-3, 0, 2], dtype="int32")
    for function in [nd.round, nd.rint, nd.ceil, nd.floor, nd.fix, nd.trunc]:
        assert function(a).dtype == np.int32
        close(function(a), [-3, 0, 2])


def test_types_of_weights():
    for name in ["float16", "float64"]:
        made = nd.Embedding(nd.array([1]), nd.array([[1, 2], [3, 4]], dtype=name), input_dim=2, output_dim=2)
        assert made.dtype == np.dtype(name).type
        close(made, [[3, 4]])


def test_pinned_memory():
    close(nd.ones((2, 3), ctx=mx.cpu_pinned()) + nd.array([[1, 2, 3]], ctx=mx.cpu_pinned()), [[2, 3, 4], [2, 3, 4]])


def test_places():
    for name in ["float16", "float64", "int32", "uint8"]:
        a = nd.array([[0, 3, 1], [5, 2, 4]], dtype=name)
        for found, places in [(a.argmax(axis=1), [1, 0]), (a.argmin(axis=0), [0, 1, 0]), (nd.argmax_channel(a), [1, 0])]:
            assert found.dtype == np.dtype(name).type
            close(found, places)


def test_bool_and_scalars():
    a = nd.array([1, 0]).astype("bool")
    for found, values in [(a == 1, [1, 0]), (a < 1, [0, 1]), (a**2, [1, 0]), (nd.maximum(a, 2), [2, 2])]:
        assert found.dtype == np.int64
        close(found, values)


def test_writing_while_recording():
    a = nd.ones((3,))
    a.attach_grad()
    with autograd.record():
        b = a * 2
        for written in (a, b):
            fails(lambda to=written: nd.ones((3,)).copyto(to), "while recording")
            fails(lambda to=written: nd.zeros((3,), out=to), "while recording")
        c = b * a
    c.backward()
    close(a.grad, [4, 4, 4])


def test_errors_are_reported_once():
    for place in (3, 4):
        fails(lambda at=place: nd.take(nd.ones((2,)), nd.array([at]), mode="raise").asnumpy(), "element 0 is %d" % place)
    nd.waitall()


def test_indices_outside():
    try:
        nd.gather_nd(nd.ones((2, 3)), nd.array([[0, 1], [0, 3]])).asnumpy()
        raise AssertionError("row 1, column 3 of (2, 3)")
    except IndexError as error:
        assert "element 3 is 3" in str(error)


def test_rows_outside():
    made = nd.Embedding(nd.array([-1, 1, 7]), nd.array([[1, 2], [3, 4]]), input_dim=2, output_dim=2)
    close(made, [[1, 2], [3, 4], [3, 4]])


def test_labels_that_are_the_blank():
    found = nd.CTCLoss(nd.ones((20, 2, 4)), nd.array([[2, 1, 2, 2], [3, 2, 2, 2]]), nd.array([18, 18]), nd.array([2, 3]),
                       use_data_lengths=True, use_label_lengths=True, blank_label="last")
    close(found, [16.467596, 14.388154])  # MXNet's


def test_statistics_of_batch_norm():
    x = nd.array([[1, 2], [3, 6]])
    _, mean, factor = nd.BatchNorm(x, nd.ones(2), nd.zeros(2), nd.array([2, 4]), nd.array([1, 4]), eps=1, output_mean_var=True)
    close(mean, [2, 4])
    close(factor, [2**-.5, 5**-.5])


def test_inputs_that_are_counted():
    assert nd.Crop(nd.ones((1, 1, 5, 5)), h_w=(3, 3)).shape == (1, 1, 3, 3)


def test_softmax_of_instances():
    close(nd.SoftmaxActivation(nd.ones((2, 3, 4))), np.full((2, 3, 4), .25))


def test_what_is_refused():
    fails(lambda: nd.cast_storage(nd.ones((2, 2)), stype="coo"), "coo")
    assert nd.cast_storage(nd.ones((2, 2)), stype="default").stype == "default"


main(globals())

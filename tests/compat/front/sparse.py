# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays of MXNet 1.9.1's front end, which are dense behind their handles."""
import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd, sym

from front import close, fails, main

DENSE = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 5]], dtype="float32")


def test_creation():
    csr = nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 2, 2, 3]), shape=(4, 3))
    close(csr, [[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 0, 3]])
    close(csr.indptr, [0, 1, 2, 2, 3])
    close(csr.indices, [1, 0, 2])
    close(csr.data, [1, 2, 3])
    rows = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))
    close(rows.indices, [1, 4])
    close(rows.data, [[1, 2], [3, 4]])
    assert rows.asnumpy()[4, 1] == 4
    for kind in ["csr", "row_sparse"]:
        made = nd.array(DENSE).tostype(kind)
        assert made.stype == kind and made.tostype("default").stype == "default"
        close(made, DENSE)
        close(made.copyto(nd.sparse.zeros(kind, (3, 4))), DENSE)
        assert made.astype("float64").stype == kind
        made.check_format()
    wrong = nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 9], [0, 1, 2, 2, 3]), shape=(4, 3))
    fails(wrong.check_format, "out of range")


def test_indexing():
    csr = nd.array(DENSE).tostype("csr")
    close(csr[0:2], DENSE[0:2])
    close(csr[2], DENSE[2:3])
    rows = nd.sparse.zeros("row_sparse", (3, 4))
    rows[:] = nd.array(DENSE)
    close(rows, DENSE)
    close(nd.sparse.retain(rows, nd.array([0])), DENSE * [[1], [0], [0]])


def test_arithmetic():
    for kind in ["csr", "row_sparse"]:
        a = nd.array(DENSE).tostype(kind)
        for made, values, stored in [(a + a, 2 * DENSE, kind), (a * 2, 2 * DENSE, kind), (a + 1, DENSE + 1, "default"),
                                     (nd.sparse.sqrt(a), np.sqrt(DENSE), kind), (nd.exp(a), np.exp(DENSE), "default")]:
            assert made.stype == stored
            close(made, values)
    csr, dense = nd.array(DENSE).tostype("csr"), nd.array(np.arange(8).reshape(4, 2))
    close(nd.sparse.dot(csr, dense), DENSE.dot(dense.asnumpy()))
    made = nd.sparse.dot(csr, nd.ones((3, 2)), transpose_a=True)
    assert made.stype == "row_sparse"
    close(made, DENSE.T.dot(np.ones((3, 2))))


def test_gradients():
    layer = gluon.nn.Embedding(5, 3, sparse_grad=True)
    layer.initialize(mx.init.One())
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.5, "wd": 0.1})
    with autograd.record():
        loss = layer(nd.array([1, 3])).sum()
    loss.backward()
    assert layer.weight.grad().stype == "row_sparse"
    close(layer.weight.grad().indices, [1, 3])
    trainer.step(1)
    close(layer.weight.data()[:, 0], [1, 0.45, 1, 0.45, 1])


def test_stores():
    store = mx.kv.create("local")
    store.init("w", nd.array(DENSE).tostype("row_sparse"))
    out = nd.sparse.zeros("row_sparse", (3, 4))
    store.row_sparse_pull("w", out=out, row_ids=nd.array([2, 1]))
    close(out, DENSE * [[0], [1], [1]])


def test_networks():
    data, weight = sym.var("data", stype="csr"), sym.var("weight", stype="row_sparse", shape=(4, 2))
    net = sym.SoftmaxOutput(sym.sparse.dot(data, weight), name="softmax")
    batches = mx.io.NDArrayIter({"data": nd.array(np.tile(DENSE, (4, 1))).tostype("csr")},
                                {"softmax_label": np.tile([0, 0, 1], 4)}, 3, last_batch_handle="discard")
    module = mx.mod.Module(net)
    module.fit(batches, num_epoch=5, initializer=mx.init.Zero(), optimizer_params={"learning_rate": 0.5})
    assert module.score(batches, "acc")[0][1] == 1


main(globals())

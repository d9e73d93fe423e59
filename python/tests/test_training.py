# SPDX-License-Identifier: Apache-2.0
"""Iterators in both directions, optimizers, key-value stores, metrics, and the training loop."""

import json
import math
import pickle
import sys
import types

import numpy as np
import pytest

import mxc

RNG = np.random.RandomState(0)
DATA = RNG.randn(96, 4).astype("float32")
LABEL = (DATA[:, 0] > 0).astype("float32") + (DATA[:, 1] > 0)


def mlp():
    net = mxc.op.FullyConnected(mxc.var("data"), num_hidden=16, name="fc1")
    net = mxc.op.FullyConnected(mxc.op.Activation(net, act_type="tanh"), num_hidden=3, name="fc2")
    return mxc.op.SoftmaxOutput(net, name="softmax")


def test_from_arrays():
    batches = mxc.DataIter.from_arrays(DATA[:10], LABEL[:10], batch_size=4)
    assert batches.provide_data == [("data", (4, 4), np.dtype("float32"))]
    assert batches.provide_label[0].name == "softmax_label"
    for _ in range(2):  # each loop is an epoch
        epoch = [(batch.data[0].asnumpy(), batch.pad, batch.indices) for batch in batches]
        assert [item[1] for item in epoch] == [0, 0, 2]
        np.testing.assert_array_equal(np.concatenate([item[0] for item in epoch])[:10], DATA[:10])
    assert epoch[0][2] in (None, [0, 1, 2, 3])
    batches.reset()
    next(batches)
    position = batches.state
    second = next(batches).data[0].asnumpy()
    batches.state = position
    np.testing.assert_array_equal(next(batches).data[0].asnumpy(), second)
    assert len(list(mxc.DataIter.from_arrays(DATA[:10], batch_size=4, last_batch="discard"))) == 2
    named = mxc.DataIter.from_arrays({"x": DATA, "y": DATA}, {"z": LABEL}, batch_size=8)
    assert [item.name for item in named.provide_data + named.provide_label] == ["x", "y", "z"]
    assert len(list(named.resize(3))) == 3
    assert len(list(mxc.DataIter.from_arrays(DATA, batch_size=32).prefetch())) == 3


def test_from_python():
    epochs = []

    class Source:
        def __iter__(self):
            epochs.append(0)
            for i in range(3):
                yield np.full((2, 4), i, "float32"), np.zeros(2, "float32")

    for batches in (mxc.DataIter.from_python(Source()), mxc.DataIter.from_python(Source()).prefetch(2)):
        for _ in range(2):
            assert [batch.data[0][0, 0].item() for batch in batches] == [0, 1, 2]
        batches.close()
    assert len(epochs) >= 4
    batches = mxc.DataIter.from_python([mxc.Batch([mxc.ones((2, 1))], [], pad=1, bucket=7, indices=[5, 6])])
    batch = next(batches)
    assert (batch.pad, batch.bucket, batch.indices) == (1, 7, [5, 6])

    def broken():
        yield np.zeros((2, 4), "float32")
        raise KeyError("no more")

    class Broken:
        __iter__ = staticmethod(broken)

    batches = mxc.DataIter.from_python(Broken())
    next(batches)
    with pytest.raises(KeyError, match="no more"):
        next(batches)
    with pytest.raises(ValueError, match="iter"):
        mxc.DataIter.from_python([])
    prefetched = mxc.DataIter.from_python(Broken()).prefetch()
    with pytest.raises(mxc.Error, match="KeyError"):  # of another thread
        list(prefetched)


def test_named_iterators(tmp_path):
    assert "CSVIter" in mxc.DataIter.names() and "batch_size" in mxc.DataIter.describe("CSVIter")
    np.savetxt(tmp_path / "data.csv", DATA[:6], delimiter=",")
    batches = mxc.DataIter("CSVIter", data_csv=tmp_path / "data.csv", data_shape=(4,), batch_size=3)
    got = np.concatenate([batch.data[0].asnumpy() for batch in batches])
    np.testing.assert_allclose(got, DATA[:6], rtol=1e-6)
    with pytest.raises(LookupError, match="CSVIter"):
        mxc.DataIter("NothingIter")


def test_optimizer():
    optimizer = mxc.Optimizer("sgd", learning_rate=0.5, momentum=0.9)
    weight, grad = mxc.ones(2), mxc.ones(2)
    optimizer.update(0, weight, grad)
    assert weight.tolist() == [0.5, 0.5] and optimizer.learning_rate == 0.5
    again = pickle.loads(pickle.dumps(optimizer))
    other = weight.copy()
    optimizer.update(0, weight, grad)
    again.update(0, other, grad)
    assert weight.tolist() == other.tolist()
    optimizer.learning_rate = 0
    optimizer.set_mult("0", lr_mult=2)
    assert set(optimizer.states) == {"0:momentum"} and again.learning_rate == 0.5
    assert "adam" in mxc.Optimizer.names() and "beta1" in mxc.Optimizer.describe("adam")
    with pytest.raises(ValueError, match="wrong"):
        mxc.Optimizer("sgd", wrong=1)


def test_kvstore():
    store = mxc.KVStore()
    assert (store.type, store.rank, store.num_workers) == ("local", 0, 1)
    store.init(["a", 3], [mxc.zeros(2), mxc.ones(2)])
    store.push("a", [mxc.ones(2), mxc.ones(2)])
    out = mxc.zeros(2)
    store.pull("a", out)
    assert out.tolist() == [2, 2]
    store.set_updater(lambda key, change, stored: stored.__iadd__(change * 10))
    store.pushpull(3, mxc.ones(2), out)
    assert out.tolist() == [11, 11]

    def fail(key, change, stored):
        raise ZeroDivisionError(key)
    store.set_updater(fail)
    with pytest.raises(ZeroDivisionError, match="a"):
        store.push("a", mxc.ones(2))
    store.set_updater(None)
    store.set_optimizer(mxc.Optimizer("sgd", learning_rate=1))
    store.push(["a"], [mxc.ones(2)])
    store.pull(["a"], [out])
    assert out.tolist() == [1, 1]
    store.barrier()
    with pytest.raises(ValueError, match="2 keys"):
        store.push(["a", "b"], [out])


def test_metrics():
    metric = mxc.Metric("top_k_accuracy", top_k=2)
    assert math.isnan(metric.value)
    metric.update(mxc.array([0, 2]), mxc.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]))
    assert metric.value == 0.5 and "top_k" in metric.name
    metric.reset()
    assert math.isnan(metric.value)
    assert "accuracy" in mxc.Metric.names() and "top_k" in mxc.Metric.describe("top_k_accuracy")


def test_fit(tmp_path):
    calls = []
    result = mxc.fit(mlp(), (DATA, LABEL), (DATA, LABEL), epochs=12, batch_size=16, optimizer="adam", learning_rate=0.05,
                     metrics=["accuracy", mxc.Metric("cross-entropy", name="ce")], checkpoint=tmp_path / "net", clip_norm=5.0,
                     schedule={"kind": "multi_factor", "steps": [40, 60], "factor": 0.5}, frozen=["fc1_b*"],
                     optimizer_params={"beta1": 0.9}, initializer="uniform", initializer_params={"scale": 0.1},
                     callbacks=[lambda progress, end: calls.append((progress.epoch, progress.batch, end))])
    progress = result.progress
    assert progress.updates == 72 and progress.accuracy > 0.8 and progress.valid["accuracy"] > 0.8
    assert progress.train["ce"] < 0.6 and progress.lr == pytest.approx(0.0125) and not progress.interrupted
    assert sum(1 for item in calls if item[2]) == 12 and sum(1 for item in calls if not item[2]) == 72
    assert set(result.params) == {"arg:fc1_weight", "arg:fc1_bias", "arg:fc2_weight", "arg:fc2_bias"}
    scores = mxc.evaluate(mlp(), result.params, (DATA, LABEL), ["accuracy"])
    assert scores["accuracy"] == pytest.approx(progress.valid["accuracy"])
    predictor = mxc.Predictor.load(tmp_path / "net", {"data": (96, 4)})
    assert (predictor(DATA).argmax(1) == LABEL).mean() == pytest.approx(scores["accuracy"])
    more = mxc.fit(mlp(), (DATA, LABEL), batch_size=16, initial_params=result.params, contexts=["cpu(0)", "cpu(1)"],
                   store=mxc.KVStore("device"), learning_rate=0.001)
    assert more.progress.accuracy > 0.7


def test_fit_from_python():
    class Source:
        def __iter__(self):
            return iter([(DATA[:32], LABEL[:32]), (DATA[32:64], LABEL[32:64])])

    result = mxc.fit(mlp(), Source(), epochs=2)
    assert result.progress.updates == 4


def test_fit_callbacks(tmp_path):
    result = mxc.fit(mlp(), (DATA, LABEL), epochs=100, callbacks=[lambda progress, end: progress.updates < 5])
    assert result.progress.interrupted and result.progress.updates == 5

    def fail(progress, end):
        raise ZeroDivisionError("in a callback")
    with pytest.raises(ZeroDivisionError, match="in a callback"):
        mxc.fit(mlp(), (DATA, LABEL), callbacks=[fail])

    def interrupt(progress, end):
        if progress.updates == 4:
            raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        mxc.fit(mlp(), (DATA, LABEL), epochs=3, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        mxc.fit(mlp(), (DATA, LABEL), epochs=3, callbacks=[interrupt], checkpoint=tmp_path / "net")
    resumed = mxc.fit(mlp(), (DATA, LABEL), epochs=3, checkpoint=tmp_path / "net", resume=True)
    assert resumed.progress.updates == 9  # the rest of the nine
    with pytest.raises(AttributeError):
        mxc.fit(mlp(), (DATA, LABEL), no_such_option=1)
    with pytest.raises(mxc.Error, match="softmax_label"):
        mxc.fit(mlp(), [DATA[:32]])


def test_progress_bar(monkeypatch):
    """With tqdm, or with something that is called like it."""
    shown = []

    class Bar:
        def __init__(self, total=None, desc="", unit=""):
            self.n = 0
            shown.append(desc)

        def update(self, n):
            self.n += n

        def set_postfix(self, values, refresh):
            shown.append(dict(values))

        def close(self):
            shown.append(self.n)

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    mxc.fit(mlp(), (DATA, LABEL), (DATA, LABEL), epochs=2, progress_bar=True)
    assert shown[0] == "epoch 1/2" and shown.count(3) == 2 and "valid accuracy" in shown[-2]


def test_rest(tmp_path):
    mxc.seed(3)
    first = mxc.op.random_uniform(shape=(4,)).tolist()
    mxc.seed(3)
    assert mxc.op.random_uniform(shape=(4,)).tolist() == first
    array = mxc.initialize(mxc.zeros((8, 8)), "fc_weight", "xavier", magnitude=2)
    assert array.asnumpy().std() > 0 and mxc.initialize(mxc.ones(3), "fc_bias").tolist() == [0, 0, 0]
    arrays = [mxc.full(2, 3), mxc.full(2, 4)]
    mxc.clip_global_norm(arrays, 1)
    assert sum((item * item).sum().item() for item in arrays) == pytest.approx(1, rel=1e-4)
    with mxc.trace(tmp_path / "trace.json"):
        mxc.ones(3) + 1
    assert "_plus_scalar" in json.dumps(json.loads((tmp_path / "trace.json").read_text()))
    assert mxc.device_count("cpu") >= 1 and mxc.__version__.count(".") == 2

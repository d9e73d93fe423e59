# SPDX-License-Identifier: Apache-2.0
"""Symbols, executors, cached operators, predictors."""

import copy
import pickle
import threading

import numpy as np
import pytest

import mxc


def mlp():
    net = mxc.op.FullyConnected(mxc.var("data"), num_hidden=8, name="fc1")
    net = mxc.op.Activation(net, act_type="relu", name="relu1")
    net = mxc.op.FullyConnected(net, num_hidden=3, name="fc2")
    return mxc.op.SoftmaxOutput(net, name="softmax")


def parameters(net, **shapes):
    rng = np.random.RandomState(0)
    args, _, _ = net.infer_shape(**shapes)
    return {"arg:" + name: mxc.array(rng.randn(*shape).astype("float32"))
            for name, shape in zip(net.list_arguments(), args) if name not in ("data", "softmax_label")}


def test_names_and_inference(tmp_path):
    net = mlp()
    assert net.list_arguments() == ["data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "softmax_label"]
    assert net.list_outputs() == ["softmax_output"] and net.name == "softmax" and len(net) == 1
    args, outs, aux = net.infer_shape(data=(5, 4))
    assert args[1] == (8, 4) and args[5] == (5,) and outs == [(5, 3)] and aux == []
    assert net.infer_shape()[1] == [None] or -1 in net.infer_shape()[1][0]
    assert net.infer_type(data="float64")[1] == [np.dtype("float64")]
    with pytest.raises(mxc.Error, match="fc1"):
        net.infer_shape(data=(5, 4), fc1_weight=(8, 5))
    internals = net.get_internals()
    assert "relu1_output" in internals.list_outputs()
    assert internals["relu1_output"].list_arguments() == ["data", "fc1_weight", "fc1_bias"]
    assert net.get_children().list_outputs() == ["fc2_output", "softmax_label"] and mxc.var("a").get_children() is None
    with pytest.raises(IndexError):
        net[1]
    net.save(tmp_path / "net.json")
    for other in (mxc.load_symbol(tmp_path / "net.json"), mxc.fromjson(net.tojson()), pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert other.tojson() == net.tojson()
    assert "fc1" in net.debug_str() and "digraph" in net.to_dot(data=(5, 4)) and "softmax" in repr(net)
    assert [output.name for output in net] == ["softmax"]


def test_attributes():
    with mxc.AttrScope(ctx_group="dev1"):
        net = mxc.op.FullyConnected(mxc.var("data"), num_hidden=2, name="fc")
    assert net.attr("ctx_group") == "dev1" and net.attr("num_hidden") == "2" and net.attr("nothing") is None
    net.set_attr(mood="calm")
    assert net.list_attr()["__mood__"] == "calm" and net.attr_dict()["fc"]["num_hidden"] == "2"
    weight = mxc.var("w", shape=(3, 4), dtype="float64", lr_mult=0.5)
    assert weight.attr("lr_mult") == "0.5"
    assert mxc.op.exp(weight).infer_shape()[1] == [(3, 4)] and mxc.op.exp(weight).infer_type()[1] == [np.dtype("float64")]


def test_compose_and_operators():
    a, b = mxc.var("a"), mxc.var("b")
    both = mxc.Group([a + b, (2 - a) / 2, -a, a ** 2, a > b])
    assert len(both) == 5
    executor = both.bind({"a": mxc.array([1, 2]), "b": mxc.array([3, 1])})
    values = [out.tolist() for out in executor.forward()]
    assert values == [[4, 3], [0.5, 0], [-1, -2], [1, 4], [0, 1]]
    square = mxc.op.square(mxc.var("x"), name="square")
    composed = square(x=a + b)
    assert composed.list_arguments() == ["a", "b"] and square.list_arguments() == ["x"]
    with pytest.raises(ValueError, match="no variable"):
        square(y=a)
    with pytest.raises(TypeError):
        a + "b"
    assert a.__eq__(b).list_arguments() == ["a", "b"]


def test_executor():
    net = mlp()
    data, label = np.random.RandomState(1).randn(6, 4).astype("float32"), np.arange(6) % 3
    executor = net.simple_bind(data=(6, 4))
    for name, array in executor.arg_dict.items():
        if name.endswith("weight"):
            mxc.initialize(array, name, "uniform", scale=0.5)
    out = executor.forward(is_train=True, data=data, softmax_label=label)[0]
    np.testing.assert_allclose(out.asnumpy().sum(1), np.ones(6), rtol=1e-5)
    executor.backward()
    expected = out.asnumpy()
    expected[np.arange(6), label] -= 1
    np.testing.assert_allclose(executor.grad_dict["fc2_bias"].asnumpy(), expected.sum(0), rtol=1e-4, atol=1e-6)
    assert set(executor.grad_dict) == {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}
    seen = []
    executor.set_monitor(lambda name, array: seen.append((name, array.shape)))
    executor.forward()
    mxc.waitall()
    assert ("relu1_output", (6, 8)) in seen
    executor.set_monitor(None)
    wider = executor.reshape(data=(2, 4), softmax_label=(2,))
    assert wider.forward(data=data[:2])[0].shape == (2, 3)
    assert wider.arg_dict["fc1_weight"].asnumpy().tolist() == executor.arg_dict["fc1_weight"].asnumpy().tolist()
    assert executor.memory_report()["n_nodes"] >= 3 and "fc1" in executor.debug_str()
    with pytest.raises(LookupError, match="wrong"):
        executor.forward(wrong=data)
    with pytest.raises(LookupError, match="fc1_weight"):
        net.bind({"data": mxc.ones((1, 4))})
    outputs = executor.outputs
    del executor
    assert outputs[0].shape == (6, 3)


def test_bind_gradients():
    x, y = mxc.var("x"), mxc.var("y")
    arrays = {"x": mxc.array([1, 2]), "y": mxc.array([3, 4])}
    grads = {"x": mxc.ones(2)}
    executor = (x * y).bind(arrays, args_grad=grads, grad_req={"x": "add"})
    executor.forward(is_train=True)
    executor.backward(mxc.array([1, 10]))
    assert grads["x"].tolist() == [4, 41]
    gradient = (x * y).grad(["x"])
    assert gradient.list_arguments()


def test_cached_op():
    x, w = mxc.var("x"), mxc.var("w")
    cached = mxc.CachedOp(mxc.op.square(x) * w)
    a, b = mxc.array([1, 2]), mxc.array([3, 4])
    a.attach_grad()
    with mxc.record():
        out = cached(a, b)
    out.backward()
    assert out.tolist() == [3, 16] and a.grad.tolist() == [6, 16]
    assert len(mxc.CachedOp(mxc.Group([x, w]), static_alloc=True)(a, b)) == 2


def test_control_flow():
    x = mxc.var("x")
    body = mxc.Group([x * 2, mxc.var("s") + x])
    loop = mxc.foreach(body, {"x": mxc.var("data")}, {"s": mxc.var("start")})
    outs = loop.bind({"data": mxc.array([[1], [2], [3]]), "start": mxc.array([0])}).forward()
    assert outs[0].tolist() == [[2], [4], [6]] and outs[1].tolist() == [6]
    i = mxc.var("i")
    loop = mxc.while_loop(i < 3, mxc.Group([i * 10, i + 1]), {"i": mxc.var("begin")}, 5)
    outs = loop.bind({"begin": mxc.array([0])}).forward()
    assert outs[1].tolist() == [3]
    a = mxc.var("a")
    either = mxc.cond(mxc.var("c"), a * 2, a * 3)
    assert either.bind({"c": mxc.array([0]), "a": mxc.array([1])}).forward()[0].tolist() == [3]


def test_predictor(tmp_path):
    net = mlp()
    params = parameters(net, data=(2, 4))
    mxc.save_model(tmp_path / "net", 1, net, params)
    symbol, loaded = mxc.load_model(tmp_path / "net", 1)
    assert symbol.tojson() == net.tojson() and set(loaded) == set(params)
    data = np.random.RandomState(1).randn(2, 4).astype("float32")
    shapes = {"data": (2, 4)}
    json, raw = (tmp_path / "net-symbol.json").read_bytes(), (tmp_path / "net-0001.params").read_bytes()
    predictors = [mxc.Predictor.load(tmp_path / "net", shapes), mxc.Predictor.load_memory(json, raw, shapes),
                  mxc.Predictor.load_files(tmp_path / "net-symbol.json", tmp_path / "net-0001.params", shapes),
                  mxc.Predictor.create(net, params, {"data": ((2, 4), "float32")})]
    predictors.append(predictors[0].clone())
    expected = predictors[0](data)
    assert expected.shape == (2, 3)
    for predictor in predictors:
        np.testing.assert_array_equal(predictor(data=data), expected)
    assert predictor.output_names == ["softmax_output"] and list(predictor.inputs) == ["data"]
    np.testing.assert_allclose(predictor(np.concatenate([data, data]))[2:], expected, rtol=1e-6)  # another batch size
    inner = mxc.Predictor.load(tmp_path / "net", shapes, outputs=["relu1"])
    assert inner(data).shape == (2, 8)
    best = mxc.top_classes(predictor.outputs[0], 2)
    assert best[0][0] == int(expected[0].argmax()) and best[0][1] >= best[1][1]
    with pytest.raises(LookupError, match="fc1_weight"):
        mxc.Predictor.create(net, {}, shapes)
    with pytest.raises(LookupError, match="wrong"):
        predictor(wrong=data)
    results = []

    def work():
        mine = predictors[0].clone()
        results.extend(float(abs(mine(data) - expected).max()) for _ in range(20))
    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 320 and max(results) == 0

# SPDX-License-Identifier: Apache-2.0
"""Symbols: names, attributes, inference, JSON, pickling, composition; loops in MXNet 1.9.1."""
import json
import pickle

import mxnet as mx
import numpy as np

from common import mlp, random, report


def same(name, condition):
    report(name, bool(condition))


net = mlp(3)
same("arguments", net.list_arguments() == ["data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "softmax_label"])
same("outputs", net.list_outputs() == ["softmax_output"])
same("internals", "fc1_output" in net.get_internals().list_outputs())
same("children", net.get_children().list_outputs() == ["fc2_output", "softmax_label"])
same("leaf", mx.sym.Variable("x").get_children() is None)
same("json", mx.sym.load_json(net.tojson()).list_arguments() == net.list_arguments())
same("nodes", len(json.loads(net.tojson())["nodes"]) == 9)
same("pickled", pickle.loads(pickle.dumps(net)).tojson() == net.tojson())
args, outs, states = net.infer_shape(data=(5, 7))
report("shapes", sum(int(np.prod(shape)) for shape in args + outs))
same("partial", net.infer_shape_partial()[1] is not None)
same("types", net.infer_type(data="float32")[1] == [np.float32])

data = mx.sym.Variable("data", attr={"mood": "angry"}, lr_mult=2.0, shape=(4, 5))
conv = mx.sym.FullyConnected(data, num_hidden=2, name="fc", attr={"__kind__": "x"})
report("lr_mult", data.attr("__lr_mult__"))
same("mood", data.attr("mood") == "angry" and conv.attr("__kind__") == "x" and conv.attr("none") is None)
same("attributes", conv.attr_dict()["fc"]["num_hidden"] == "2" and conv.attr_dict()["fc_weight"]["__kind__"] == "x")
with mx.AttrScope(ctx_group="stage1"):
    same("scope", mx.sym.Variable("scoped").attr("ctx_group") == "stage1")
report("known", conv.infer_shape()[1][0][0])

first = mx.sym.FullyConnected(mx.sym.Variable("in"), num_hidden=4, name="one")
second = mx.sym.FullyConnected(name="two", num_hidden=3)
composed = second(two_data=first, name="composed")
same("composed", composed.list_arguments()[:2] == ["in", "one_weight"])
same("grouped", mx.sym.Group([first, composed]).list_outputs() == ["one_output", "composed_output"])
parts = mx.sym.SliceChannel(mx.sym.Variable("whole"), num_outputs=3, name="cut")
same("several", len(parts.list_outputs()) == 3 and parts[1].list_outputs() == ["cut_output1"])
try:
    mx.sym.FullyConnected(mx.sym.Variable("x"), name="wrong")
    same("required", False)
except mx.base.MXNetError as error:
    same("required", "num_hidden" in str(error))
try:
    net.infer_shape(data=(5, 7), fc1_weight=(3, 3))
    same("conflict", False)
except mx.base.MXNetError:
    same("conflict", True)

if hasattr(getattr(mx.sym, "contrib", None), "foreach"):
    steps = mx.nd.array(random("steps").standard_normal((4, 3)))
    weight = mx.sym.Variable("w")

    def body(row, state):
        new = mx.sym.broadcast_mul(state[0], weight) + row
        return mx.sym.tanh(new), [new]

    outputs, final = mx.sym.contrib.foreach(body, mx.sym.Variable("rows"), [mx.sym.Variable("state")])
    loop = mx.sym.Group([outputs, final[0]])
    arrays = {"rows": steps, "state": mx.nd.ones((3,)), "w": mx.nd.array([0.5, -1.0, 2.0])}
    grads = {name: mx.nd.zeros(array.shape) for name, array in arrays.items()}
    bound = loop.bind(mx.cpu(), arrays, args_grad=grads)
    results = bound.forward(is_train=True)
    bound.backward([mx.nd.ones((4, 3)), mx.nd.ones((3,))])
    report("loop.outputs", results[0].asnumpy().sum())
    report("loop.state", results[1].asnumpy().sum())
    for name in sorted(grads):
        report("loop." + name, grads[name].asnumpy().sum())
    again = mx.sym.load_json(loop.tojson()).bind(mx.cpu(), arrays).forward()
    report("loop.loaded", again[0].asnumpy().sum())

    count, value = mx.sym.contrib.while_loop(lambda i, x: i < 3, lambda i, x: ([x * 2], [i + 1, x + i]),
                                             [mx.sym.Variable("i"), mx.sym.Variable("x")], max_iterations=5)
    ran = mx.sym.Group([count[0], value[1]]).bind(mx.cpu(), {"i": mx.nd.array([0]), "x": mx.nd.array([1.5])}).forward()
    report("while.outputs", ran[0].asnumpy()[:3].sum())
    report("while.value", ran[1].asnumpy().sum())
    chosen = mx.sym.contrib.cond(mx.sym.Variable("p") > 0, lambda: mx.sym.Variable("a") * 2,
                                 lambda: mx.sym.Variable("a") - 1)
    for p in (-1, 1):
        report("cond%d" % p, chosen.bind(mx.cpu(), {"p": mx.nd.array([p]), "a": mx.nd.array([3])}).forward()[0].asscalar())

# SPDX-License-Identifier: Apache-2.0
"""Writes small networks that MXNet 1.9.1 quantized to 8 bits for oneDNN, and what it computes of each node:
make_quantized.py OUT, by a Python with mxnet 1.9.1 and numpy below 1.24; OUT is this folder.

OUT/quantized/NAME.json are the symbols without blanks. OUT/quantized.txt has, for each graph, lines "graph NAME",
"input NAME SIZES", "array NAME DTYPE SIZES : NUMBERS" (parameters that MXNet computed) and, for each node,
"node NAME DTYPE SIZES UNIT : NUMBERS", where UNIT is what a code of 1 stands for and 8-bit codes are two hexadecimal
digits each; "net SIZES : NUMBERS" is the output of the network of floats. Other parameters and inputs are those of
make.py, but for weights (see weights).

A CPU without VNNI instructions quantizes weights by half of the steps where data is int8, and saturates sums of two
products of uint8 data at 16 bits. Neither makes a difference to these weights (but behind BatchNorm, which rounds
them): the largest of a filter is a negative power of two, the others are even multiples of a 63.75th of it, and small,
and that of the channel beside the largest is 0.
"""
import json
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx
import numpy as np
from mxnet.contrib.quantization import quantize_model_mkldnn

from make import array, numbers

UNSIGNED = {"int8": 127.5, "uint8": 255.5, "int32": 2147483647.0}
S = mx.sym


def conv(x, name, filters, kernel=3, stride=1, groups=1, bias=False):
    return S.Convolution(x, name=name, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride),
                         pad=(kernel // 2, kernel // 2), num_group=groups, no_bias=not bias)


def norm(x, name):
    return S.BatchNorm(x, name=name, fix_gamma=False, eps=1e-5)


def relu(x, name):
    return S.Activation(x, act_type="relu", name=name)


def pool(x, name, kind, kernel=2, stride=2, pad=0, whole=False):
    return S.Pooling(x, name=name, pool_type=kind, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                     global_pool=whole)


def head(x):
    x = S.Flatten(pool(x, "pool", "avg", whole=True), name="flat")
    x = relu(S.FullyConnected(x, num_hidden=10, name="fc0"), "fc0_relu")
    return S.FullyConnected(x, num_hidden=6, name="fc1")


def resnet(norm=norm):
    """Sums with uint8, behind them relu; with int8, without."""
    x = relu(conv(S.var("data"), "c0", 8, bias=True), "r0")
    y = relu(norm(conv(x, "c1", 8), "n1"), "r1")
    x = relu(norm(conv(y, "c2", 8), "n2") + x, "r2")
    x = norm(conv(x, "c3", 12, stride=2), "n3")
    y = relu(conv(x, "c4", 12), "r4")
    x = norm(conv(y, "c5", 12), "n5") + x
    return head(relu(conv(x, "c6", 12, bias=True), "r6"))


def plain():
    """The same without BatchNorm."""
    return resnet(lambda x, name: x)


def mobilenet():
    """Convolutions of each channel, limited relu, LeakyReLU."""
    x = S.clip(conv(S.var("data"), "c0", 8, stride=2, bias=True), 0, 6, name="r0")
    x = S.clip(norm(conv(x, "d1", 8, groups=8), "n1"), 0, 1, name="r1")
    x = norm(conv(x, "c1", 6, 1), "n2")
    y = S.clip(conv(x, "c2", 18, 1, bias=True), 0, 6, name="r2")
    y = S.clip(norm(conv(y, "d2", 18, groups=18), "n4"), 0, 6, name="r3")
    x = norm(conv(y, "c3", 6, 1), "n5") + x
    x = S.LeakyReLU(conv(x, "c4", 8, 1, bias=True), act_type="leaky", slope=0.1, name="r4")
    return head(relu(conv(x, "c5", 12, 1), "r5"))


def densenet():
    """Concatenation, pooling, and sums, relu and normalization that are not fused."""
    x = relu(conv(S.var("data"), "c0", 6, bias=True), "r0")
    a, b = relu(norm(conv(x, "c1", 4), "n1"), "r1"), norm(conv(x, "c2", 4, 1), "n2")
    x = pool(S.Concat(S.Concat(a, x, dim=1, name="k0"), b, dim=1, name="k1"), "p0", "max")
    y = pool(conv(x, "c3", 14), "p1", "avg", 3, 1, 1)
    x = relu(S.elemwise_add(x, y, name="s0"), "r2")
    x = relu(conv(relu(conv(x, "c4", 8, bias=True), "r4"), "c5", 12, 1), "r5")
    return head(norm(x, "n5"))


def sum_relu():
    """A sum with int8 that is uint8: MXNet saturates it at 127."""
    x = relu(conv(S.var("data"), "c0", 8), "r0")
    return relu(conv(x, "c1", 8) + norm(conv(x, "c2", 8, 1), "n2"), "r1")


def sum_signed():
    """A sum with uint8 that is int8: MXNet has no negative numbers."""
    x = relu(conv(S.var("data"), "c0", 8), "r0")
    return conv(x, "c1", 8) + x


def weights(name, shape):
    n = int(np.prod(shape))
    each, plane = n // shape[0], int(np.prod(shape[2:]))
    f, k = np.arange(n) // each, np.arange(n) % each
    largest, channel = f % each, k // plane
    beside = (k % plane == largest % plane) & ((channel ^ 1) == largest // plane)
    steps = np.where(k == largest, -63.75, np.where(beside, 0, 2 * np.round(31 * numbers(name, n))))
    w = steps / 63.75 * 2.0 ** (f % 2 - np.floor(np.log2(each) / 2))
    return mx.nd.array(w.reshape(shape).astype(np.float32))


def parameters(names, shapes):
    return {k: weights(k, s) if k.endswith("weight") else array(k, s) for k, s in zip(names, shapes) if k != "data"}


def dump(value):
    if value.dtype.itemsize == 1:
        return value.tobytes().hex()
    return " ".join("%.7g" % v for v in value.ravel())


def describe(value, unit):
    return "%s %s %.9g : %s\n" % (value.dtype, " ".join(map(str, value.shape)), unit, dump(value))


def is_quantized(node):
    attrs = node.get("attrs", {})
    if node["op"].startswith("_sg_"):
        return attrs.get("quantized", "").lower() == "true" and "enable_float_output" not in attrs
    return "quantize" in node["op"] and node["op"] != "_contrib_dequantize"


def write_nodes(file, symbol, args, aux):
    internals = symbol.get_internals()
    values = internals.bind(mx.cpu(), args, aux_states=aux, grad_req="null").forward(is_train=False)
    values = [v.asnumpy() for v in values]
    for node in json.loads(symbol.tojson())["nodes"]:
        value = values.pop(0)
        unit = 1
        if node["op"] != "null" and is_quantized(node):
            unit = max(abs(float(values.pop(0)[0])), abs(float(values.pop(0)[0]))) / UNSIGNED[str(value.dtype)]
        if node["op"] != "null":
            file.write("node %s %s" % (node["name"], describe(value, unit)))
    assert not values


def write(out, file, name, net, shape, mode, granularity="tensor-wise"):
    symbol = net()
    arg_shapes, _, aux_shapes = symbol.infer_shape(data=shape)
    args = parameters(symbol.list_arguments(), arg_shapes)
    aux = parameters(symbol.list_auxiliary_states(), aux_shapes)
    data = array("data", shape, 0)
    floats = symbol.bind(mx.cpu(), dict(args, data=data), aux_states=aux, grad_req="null").forward(is_train=False)[0]
    calibration = dict(calib_data=mx.io.NDArrayIter(data, batch_size=shape[0]), num_calib_examples=shape[0])
    quantized, found, aux = quantize_model_mkldnn(
        symbol.get_backend_symbol("MKLDNN_QUANTIZE"), args, aux, calib_mode=mode, quantized_dtype="auto",
        quantize_mode="full", quantize_granularity=granularity, **(calibration if mode != "none" else {}))
    file.write("graph %s\ninput data %s\n" % (name, " ".join(map(str, shape))))
    for k in sorted(set(found) - set(args)):
        value = found[k].asnumpy()
        file.write("array %s %s %s : %s\n" % (k, value.dtype, " ".join(map(str, value.shape)), dump(value)))
    write_nodes(file, quantized, dict(found, data=data), aux)
    file.write("net " + describe(floats.asnumpy(), 1))
    with open(os.path.join(out, "quantized", name + ".json"), "w") as text:
        json.dump(json.loads(quantized.tojson()), text, separators=(",", ":"))


def main(out):
    os.makedirs(os.path.join(out, "quantized"), exist_ok=True)
    with open(os.path.join(out, "quantized.txt"), "w") as file:
        image = (2, 3, 8, 8)
        write(out, file, "resnet", resnet, image, "naive")
        write(out, file, "mobilenet", mobilenet, (2, 3, 12, 12), "naive")
        write(out, file, "densenet", densenet, image, "naive")
        write(out, file, "uncalibrated", plain, image, "none")
        write(out, file, "resnet_channels", resnet, image, "naive", "channel-wise")
        write(out, file, "sum_relu", sum_relu, image, "naive")
        write(out, file, "sum_signed", sum_signed, image, "naive")


if __name__ == "__main__":
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Writes graphs of MXNet 1.9.1's model zoo, of Gluon's layers, cells and losses, and of control flow, and what MXNet
computes of them:
make.py OUT, by a Python with mxnet 1.9.1 and numpy below 1.24; OUT is this folder.

OUT/graphs/NAME.json are the symbols without blanks. Weights and inputs are not stored: number i of the array NAME
follows from both (see numbers). OUT/answers.txt has, for each graph, lines "graph NAME", "input NAME LIMIT SIZES"
(LIMIT above 0: whole numbers below it) and "output SIZES : SUM SUM_OF_ABSOLUTES VALUES", some values evenly spread over
the output; "gradient NAME SIZES : ..." is the same of some arguments' gradients in training, where the array "headI" is
the gradient of output I, behind "gradients_in float64" computed in that from the same numbers. Graphs that draw random
numbers in training have none, nor those that MXNet has none of.
"""
import json
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx
import numpy as np
from mxnet.gluon import loss, nn, rnn
from mxnet.gluon.contrib import cnn, nn as more
from mxnet.gluon.model_zoo import vision

VALUES = 20
GRADIENTS = 4  # of parameters, evenly spread over the list; and all of inputs
NO_GRADIENTS = {"layer_SELU"}  # MXNet's is not that of its output
# Tens of batch norms of one image's few pixels multiply differences of rounding by thousands, and one sum near zero that a
# relu reads with another sign changes many gradients by a percent.
FLOAT64_GRADIENTS = {"zoo_densenet121", "zoo_mobilenet0.25", "zoo_mobilenetv2_0.25", "zoo_resnet18_v1", "zoo_resnet18_v2",
                     "zoo_resnet50_v1", "zoo_resnet50_v2"}


def numbers(name, n):
    """n numbers of [-0.5, 0.5)."""
    seed = 2166136261
    for c in name.encode():
        seed = (seed ^ c) * 16777619 & 0xffffffff
    x = (np.arange(n, dtype=np.uint64) * 2654435761 + seed) & 0xffffffff
    x ^= x >> np.uint64(15)
    x = x * 2246822519 & 0xffffffff
    x ^= x >> np.uint64(13)
    x = x * 3266489917 & 0xffffffff
    x ^= x >> np.uint64(16)
    return x / 4294967296.0 - 0.5


def array(name, shape, limit=None):
    n = int(np.prod(shape))
    u = numbers(name, n)
    if limit is not None:
        u = np.floor((u + 0.5) * limit) if limit > 0 else 2 * u
    elif name.endswith("gamma"):
        u = 1 + 0.2 * u
    elif name.endswith("var"):
        u = 1 + 0.5 * (u + 0.5)
    elif name.endswith(("beta", "bias", "mean")):
        u = 0.2 * u
    else:
        u = u * np.sqrt(24.0 * shape[0] / n)
    return mx.nd.array(u.reshape(shape).astype(np.float32))


def describe(y):
    y = y.asnumpy()
    flat = y.ravel().astype(np.float64)
    some = flat[np.arange(min(VALUES, flat.size)) * flat.size // min(VALUES, flat.size)]
    return "%s : %.7g %.7g %s\n" % (" ".join(map(str, y.shape)), flat.sum(), np.abs(flat).sum(),
                                    " ".join("%.7g" % v for v in some))


def is_random(text):
    """Whether a graph draws random numbers in training."""
    nodes = json.loads(text)["nodes"]
    return any(node["op"] == "Dropout" or float(node.get("attrs", {}).get("p", 0)) > 0 for node in nodes)


def write_gradients(answers, symbol, args, aux, given, dtype="float32"):
    args, aux = ({k: v.astype(dtype) for k, v in arrays.items()} for arrays in (args, aux))
    wanted = [k for k in args if k in given and given[k][1] == 0]
    params = [k for k in args if k not in given]
    wanted += [params[i * len(params) // GRADIENTS] for i in range(min(GRADIENTS, len(params)))]
    grads = {k: mx.nd.zeros_like(v) for k, v in args.items() if k in wanted}
    executor = symbol.bind(mx.cpu(), args, args_grad=grads, aux_states=aux)
    outputs = executor.forward(is_train=True)
    executor.backward([array("head%d" % i, y.shape, 0).astype(dtype) for i, y in enumerate(outputs)])
    for k in sorted(set(wanted)):
        answers.write("gradient %s %s" % (k, describe(grads[k])))


def write(out, answers, name, symbol, **inputs):
    """inputs: NAME=shape or NAME=(shape, limit)."""
    if isinstance(symbol, (list, tuple)):
        symbol = mx.sym.Group([s for part in symbol for s in (part if isinstance(part, (list, tuple)) else [part])])
    given = {k: v if isinstance(v[0], tuple) else (v, 0) for k, v in inputs.items()}
    shapes = {k: v[0] for k, v in given.items()}
    arg_shapes, _, aux_shapes = symbol.infer_shape_partial(**shapes)  # outputs of loops have no shape before they run
    args = {k: array(k, s, given[k][1] if k in given else None) for k, s in zip(symbol.list_arguments(), arg_shapes)}
    aux = {k: array(k, s) for k, s in zip(symbol.list_auxiliary_states(), aux_shapes)}
    outputs = symbol.bind(mx.cpu(), args, aux_states=aux, grad_req="null").forward(is_train=False)
    answers.write("graph %s\n" % name)
    for k, (shape, limit) in given.items():
        answers.write("input %s %d %s\n" % (k, limit, " ".join(map(str, shape))))
    mx.nd.waitall()
    for y in outputs:
        answers.write("output " + describe(y))
    if name in FLOAT64_GRADIENTS:
        answers.write("gradients_in float64\n")
        write_gradients(answers, symbol, args, aux, given, "float64")
    elif name not in NO_GRADIENTS and not is_random(symbol.tojson()):
        try:
            write_gradients(answers, symbol, args, aux, given)
        except mx.MXNetError as error:  # its _while_loop
            print("%s: no gradients: %s" % (name, str(error).split("\n")[0]))
    with open(os.path.join(out, "graphs", name + ".json"), "w") as file:
        json.dump(json.loads(symbol.tojson()), file, separators=(",", ":"))


def networks(put):
    sizes = {"squeezenet1.0": 224, "squeezenet1.1": 224, "densenet121": 224, "inceptionv3": 299}
    for name in ("alexnet", "densenet121", "inceptionv3", "mobilenet0.25", "mobilenetv2_0.25", "resnet18_v1",
                 "resnet18_v2", "resnet50_v1", "resnet50_v2", "squeezenet1.0", "squeezenet1.1", "vgg11", "vgg11_bn"):
        size = sizes.get(name, 64)
        put("zoo_" + name, vision.get_model(name, prefix=name.replace(".", "_") + "_")(mx.sym.var("data")),
            data=(1, 3, size, size))


def layers(put):
    data = mx.sym.var("data")
    images = {1: (2, 3, 9), 2: (2, 3, 9, 8), 3: (2, 3, 7, 6, 8)}
    for n in 1, 2, 3:
        for name in "Conv%dD", "Conv%dDTranspose":
            put("layer_" + name % n, getattr(nn, name % n)(4, 3, in_channels=3, prefix="conv_")(data), data=images[n])
        for kind in "Max", "Avg":
            pool, whole = getattr(nn, "%sPool%dD" % (kind, n)), getattr(nn, "Global%sPool%dD" % (kind, n))
            put("layer_%sPool%dD" % (kind, n), pool()(data), data=images[n])
            put("layer_%sPool%dD_ceil" % (kind, n), pool(3, 2, ceil_mode=True)(data), data=images[n])
            put("layer_Global%sPool%dD" % (kind, n), whole()(data), data=images[n])
        put("layer_AvgPool%dD_nopad" % n, getattr(nn, "AvgPool%dD" % n)(3, 2, 1, count_include_pad=False)(data),
            data=images[n])
        put("layer_PixelShuffle%dD" % n, getattr(more, "PixelShuffle%dD" % n)(2)(data), data=(2, 8) + images[n][2:])
    table = (4, 6)
    for name, layer, shape in (
            ("Dense", nn.Dense(3, activation="relu", prefix="fc_"), table), ("Dropout", nn.Dropout(0.5), table),
            ("Dropout_axes", nn.Dropout(0.5, axes=(1,)), table), ("BatchNorm", nn.BatchNorm(prefix="n_"), images[2]),
            ("SyncBatchNorm", more.SyncBatchNorm(in_channels=3, prefix="n_"), images[2]),
            ("InstanceNorm", nn.InstanceNorm(prefix="n_"), images[2]), ("LayerNorm", nn.LayerNorm(prefix="n_"), table),
            ("GroupNorm", nn.GroupNorm(3, prefix="n_"), images[2]), ("Flatten", nn.Flatten(), images[2]),
            ("HybridLambda", nn.HybridLambda("tanh"), table), ("LeakyReLU", nn.LeakyReLU(0.1), table),
            ("PReLU", nn.PReLU(prefix="p_"), images[2]), ("ELU", nn.ELU(), table), ("SELU", nn.SELU(), table),
            ("GELU", nn.GELU(), table), ("Swish", nn.Swish(), table), ("Activation", nn.Activation("softsign"), table),
            ("ReflectionPad2D", nn.ReflectionPad2D(1), images[2])):
        put("layer_" + name, layer(data), data=shape)
    for name in "DeformableConvolution", "ModulatedDeformableConvolution":
        layer = getattr(cnn, name)(4, (3, 3), padding=(1, 1), num_deformable_group=1, in_channels=3, prefix="d_")
        put("layer_" + name, layer(data), data=images[2])
    put("layer_Embedding", nn.Embedding(7, 3, prefix="e_")(data), data=((4, 5), 7))


def cells(put):
    data = mx.sym.var("data")
    for kind, n in ("LSTM", 2), ("GRU", 1), ("RNN", 1):
        for both in False, True:
            layer = getattr(rnn, kind)(5, 2, bidirectional=both, input_size=3, dropout=0.1, prefix="r_")
            name, states = "rnn_%s%s" % (kind, "_both" if both else ""), ["state%d" % i for i in range(n)]
            shape = (4 if both else 2, 2, 5)
            put(name, layer(data, [mx.sym.var(s) for s in states]), data=(4, 2, 3), **{s: shape for s in states})
    stack = rnn.HybridSequentialRNNCell(prefix="s_")
    with stack.name_scope():
        stack.add(rnn.LSTMCell(4, input_size=3))
        stack.add(rnn.DropoutCell(0.3))
        stack.add(rnn.ResidualCell(rnn.GRUCell(4, input_size=4)))
    for name, cell in (("rnn", rnn.RNNCell(4, input_size=3, prefix="c_")), ("stack", stack),
                       ("lstm", rnn.LSTMCell(4, input_size=3, prefix="c_")),
                       ("gru", rnn.GRUCell(4, input_size=3, prefix="c_")),
                       ("both", rnn.BidirectionalCell(rnn.LSTMCell(4, input_size=3, prefix="l_"),
                                                      rnn.GRUCell(4, input_size=3, prefix="g_"))),
                       ("zoneout", rnn.ZoneoutCell(rnn.RNNCell(4, input_size=3, prefix="c_"), 0.1, 0.1))):
        put("cell_" + name, cell.unroll(3, data, layout="NTC", merge_outputs=True), data=(2, 3, 3))


def losses(put):
    data, label = mx.sym.var("data"), mx.sym.var("label")
    table, column = (4, 5), (4, 1)
    for name, its_loss, target in (
            ("l2", loss.L2Loss(), table), ("l1", loss.L1Loss(), table), ("bce", loss.SigmoidBCELoss(), table),
            ("softmax", loss.SoftmaxCELoss(), ((4,), 5)),
            ("softmax_dense", loss.SoftmaxCELoss(sparse_label=False), table),
            ("kl", loss.KLDivLoss(from_logits=False), (table, 3)), ("huber", loss.HuberLoss(), table),
            ("hinge", loss.HingeLoss(), table), ("squared_hinge", loss.SquaredHingeLoss(), table),
            ("logistic", loss.LogisticLoss(), table), ("poisson", loss.PoissonNLLLoss(), table)):
        put("loss_" + name, its_loss(data, label), data=table, label=target)
    put("loss_l2_weighted", loss.L2Loss()(data, label, mx.sym.var("share")), data=table, label=table, share=column)
    put("loss_ctc", loss.CTCLoss()(data, label), data=(2, 6, 4), label=((2, 2), 3))
    put("loss_triplet", loss.TripletLoss()(data, mx.sym.var("near"), mx.sym.var("far")), data=table, near=table,
        far=table)
    put("loss_cosine", loss.CosineEmbeddingLoss()(data, mx.sym.var("other"), label), data=table, other=table,
        label=((4,), 2))


def control_flow(put):
    x, s, w, v = (mx.sym.var(name) for name in ("x", "s", "w", "v"))

    def cell(row, states):
        h = mx.sym.tanh(mx.sym.FullyConnected(row, weight=w, num_hidden=3, no_bias=True, name="fc") + states[0])
        return h * 2, [h]

    def step(loop_vars):
        n, a = loop_vars
        return mx.sym.broadcast_mul(a, w), [n + 1, mx.sym.broadcast_add(mx.sym.tanh(a), n)]

    put("control_foreach", mx.sym.contrib.foreach(cell, x, [s], name="loop"), x=(4, 2, 3), s=(2, 3))
    put("control_foreach_nested", mx.sym.contrib.foreach(
        lambda row, states: mx.sym.contrib.foreach(cell, row, states, name="inner"), x, [s], name="outer"),
        x=(2, 4, 2, 3), s=(2, 3))
    put("control_while", mx.sym.contrib.while_loop(
        lambda n, a: mx.sym.broadcast_lesser(n, s + 10), lambda n, a: step((n, a)), [v, x], 3, name="loop"),
        v=((1,), 1), x=(2, 3), w=(1, 3), s=((1,), 1))
    for name, limit in ("then", 1e9), ("else", -1e9):
        put("control_cond_" + name, mx.sym.contrib.cond(mx.sym.sum(x) < limit, lambda: x * v + w, lambda: x - v,
                                                        name="choice"), x=(2, 3), v=(2, 3), w=(2, 3))


def main(out):
    os.makedirs(os.path.join(out, "graphs"), exist_ok=True)
    with open(os.path.join(out, "answers.txt"), "w") as answers:
        for family in networks, layers, cells, losses, control_flow:
            family(lambda name, symbol, **inputs: write(out, answers, name, symbol, **inputs))


if __name__ == "__main__":
    main(sys.argv[1])

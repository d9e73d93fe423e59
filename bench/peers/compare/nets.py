# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/compare, each defined once for all libraries.

A network is a function of a graph `g` whose methods are layers (graphs.py): g makes shapes and counts multiply-adds, or
symbols of libmxc or MXNet, or tensors of PyTorch, or nodes of ONNX. Parameters have the same names and shapes everywhere.
Images are (batch, channels, height, width).
"""


# ---- small networks that are trained -----------------------------------------------------------------------------------

def mlp(g):
    x = g.input("data")
    for i, hidden in enumerate((128, 64)):
        x = g.act(g.dense(x, f"fc{i}", hidden), "relu")
    return g.dense(x, "fc", 10)


def lenet(g):
    x = g.input("data")
    for i, filters in enumerate((20, 50)):
        x = g.pool(g.act(g.conv(x, f"conv{i}", filters, 5, bias=True), "tanh"), "max", 2, 2)
    x = g.act(g.dense(g.flatten(x), "fc1", 500), "tanh")
    return g.dense(x, "fc2", 10)


def conv_bn(g, x, name, filters, kernel, stride=1, act="relu", pad=None, groups=1, dilate=1):
    same = tuple(k // 2 for k in kernel) if isinstance(kernel, tuple) else kernel // 2 * dilate
    x = g.bn(g.conv(x, name, filters, kernel, stride, same if pad is None else pad, dilate, groups), name + "_bn")
    return g.act(x, act) if act else x


def basic_block(g, x, name, filters, stride, project):
    y = conv_bn(g, x, name + "a", filters, 3, stride)
    y = conv_bn(g, y, name + "b", filters, 3, act=None)
    return g.act(g.add(y, conv_bn(g, x, name + "s", filters, 1, stride, act=None) if project else x), "relu")


def resnet20(g):
    x = conv_bn(g, g.input("data"), "first", 16, 3)
    for stage in range(3):
        for i in range(3):
            project = stage > 0 and i == 0
            x = basic_block(g, x, f"s{stage}{i}", 16 << stage, 1 + project, project)
    return g.dense(g.global_avg(x), "fc", 10)


def stem(g, x, filters=64):
    return g.pool(conv_bn(g, x, "first", filters, 7, 2), "max", 3, 2, 1)


def resnet18(g):
    x = stem(g, g.input("data"))
    for stage in range(4):
        for i in range(2):
            project = stage > 0 and i == 0
            x = basic_block(g, x, f"s{stage}{i}", 64 << stage, 1 + project, project)
    return g.dense(g.global_avg(x), "fc", 1000)


def lstm(g):
    x = g.rnn(g.embedding(g.input("data"), "embed", 96, 200), "lstm", "lstm", 200, 2)  # (T,B,200)
    return g.dense(g.reshape(x, (-1, 200)), "next", 96)


def gru(g):
    x = g.rnn(g.embedding(g.input("data"), "embed", 96, 200), "gru", "gru", 200, 2)
    return g.dense(g.reshape(x, (-1, 200)), "next", 96)


def heads_of(g, x, batch, length, heads, width):
    return g.transpose(g.reshape(x, (batch, length, heads, width // heads)), (0, 2, 1, 3))


def transformer_block(g, x, name, batch, length, heads, width, causal, new=None):
    """new: a list of keys and values, to which those of this block are added; it attends to cached ones, too."""
    qkv = g.split(g.dense(g.layer_norm(x, name + "ln1"), name + "qkv", 3 * width, rows=True), 3, 2)
    q, k, v = (heads_of(g, part, batch, length, heads, width) for part in qkv)
    if new is not None:
        new += [k, v]
        k, v = g.concat([g.input(name + "k"), k], 2), g.concat([g.input(name + "v"), v], 2)
    a = g.transpose(g.attention(q, k, v, causal, (batch, heads, length, width // heads)), (0, 2, 1, 3))
    x = g.add(x, g.dense(g.reshape(a, (batch, length, width)), name + "proj", width, rows=True))
    y = g.act(g.dense(g.layer_norm(x, name + "ln2"), name + "fc1", 4 * width, rows=True), "gelu")
    return g.add(x, g.dense(y, name + "fc2", width, rows=True))


def gpt(g, batch=16, length=64, layers=4, heads=4, width=128, vocabulary=256):
    x = g.embedding(g.input("data"), "token", vocabulary, width)
    x = g.add_positions(x, "position_weight", (1, length, width))
    for i in range(layers):
        x = transformer_block(g, x, f"b{i}", batch, length, heads, width, True)
    return g.dense(g.reshape(g.layer_norm(x, "last"), (-1, width)), "head", vocabulary, bias=False)


def bert(g, batch=1, length=128, layers=6, heads=8, width=512, vocabulary=1000):
    x = g.embedding(g.input("data"), "token", vocabulary, width)
    x = g.add_positions(x, "position_weight", (1, length, width))
    for i in range(layers):
        x = transformer_block(g, x, f"b{i}", batch, length, heads, width, False)
    return g.dense(g.reshape(g.layer_norm(x, "last"), (-1, width)), "head", 64)


CACHED, BLOCKS, HEADS, WIDTH = 128, 12, 12, 768  # keys; of the network that writes text


def caches():
    """The inputs of generate() besides the token."""
    return {f"b{i}{part}": (1, HEADS, CACHED, WIDTH // HEADS) for i in range(BLOCKS) for part in "kv"}


def generate(g):
    """The scores of the next token, and the keys and values of this one, which belong into the caches."""
    x, new = g.add_positions(g.embedding(g.input("data"), "token", 1000, WIDTH), "position_weight", (1, 1, WIDTH)), []
    for i in range(BLOCKS):
        x = transformer_block(g, x, f"b{i}", 1, 1, HEADS, WIDTH, False, new)
    return [g.dense(g.reshape(g.layer_norm(x, "last"), (-1, WIDTH)), "head", 1000, bias=False)] + new


def vgg_small(g):
    x = g.input("data")
    for stage, (filters, n) in enumerate(((64, 2), (128, 2), (256, 3))):
        for i in range(n):
            x = g.act(g.conv(x, f"c{stage}{i}", filters, 3, 1, 1, bias=True), "relu")
        x = g.pool(x, "max", 2, 2)
    x = g.act(g.dense(g.flatten(x), "fc1", 512), "relu")
    return g.dense(x, "fc2", 10)


def conv1d(g):
    x = g.input("data")
    for i, filters in enumerate((32, 64, 128)):
        x = conv_bn(g, x, f"c{i}", filters, (7,), (1,))
        x = g.pool(x, "max", (2,), (2,))
    return g.dense(g.global_avg(x), "fc", 10)


def unet(g):
    x, skips = g.input("data"), []
    for i in range(4):
        x = conv_bn(g, conv_bn(g, x, f"d{i}a", 32 << i, 3), f"d{i}b", 32 << i, 3)
        skips.append(x)
        x = g.pool(x, "max", 2, 2)
    x = conv_bn(g, conv_bn(g, x, "ma", 512, 3), "mb", 512, 3)
    for i in reversed(range(4)):
        x = g.concat([skips[i], g.deconv(x, f"u{i}", 32 << i, 2, 2)])
        x = conv_bn(g, conv_bn(g, x, f"u{i}a", 32 << i, 3), f"u{i}b", 32 << i, 3)
    return g.conv(x, "out", 2, 1, bias=True)


# ---- networks of the model zoo, inference ------------------------------------------------------------------------------

def mobilenet_v2(g):
    x = conv_bn(g, g.input("data"), "first", 32, 3, 2, "relu6")
    width, n = 32, 0
    for t, filters, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                        (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeats):
            y = conv_bn(g, x, f"b{n}e", width * t, 1, act="relu6") if t > 1 else x
            y = conv_bn(g, y, f"b{n}d", width * t, 3, stride if i == 0 else 1, "relu6", groups=width * t)
            y = conv_bn(g, y, f"b{n}p", filters, 1, act=None)
            x = g.add(x, y) if i > 0 else y
            width, n = filters, n + 1
    return g.dense(g.global_avg(conv_bn(g, x, "last", 1280, 1, act="relu6")), "fc", 1000)


def efficientnet_b0(g):
    x = conv_bn(g, g.input("data"), "first", 32, 3, 2, "swish")
    width, n = 32, 0
    for t, filters, repeats, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(repeats):
            inner = width * t
            y = conv_bn(g, x, f"b{n}e", inner, 1, act="swish") if t > 1 else x
            y = conv_bn(g, y, f"b{n}d", inner, kernel, stride if i == 0 else 1, "swish", groups=inner)
            s = g.act(g.conv(g.global_avg(y, keep=True), f"b{n}s1", max(1, width // 4), 1, bias=True), "swish")
            y = g.mul(y, g.act(g.conv(s, f"b{n}s2", inner, 1, bias=True), "sigmoid"))
            y = conv_bn(g, y, f"b{n}p", filters, 1, act=None)
            x = g.add(x, y) if i > 0 else y
            width, n = filters, n + 1
    return g.dense(g.global_avg(conv_bn(g, x, "last", 1280, 1, act="swish")), "fc", 1000)


def separable(g, x, name, filters, width, act=None):
    x = g.conv(x, name + "d", width, 3, 1, 1, groups=width)
    return conv_bn(g, x, name, filters, 1, act=act)


def xception(g):
    x = conv_bn(g, conv_bn(g, g.input("data"), "first", 32, 3, 2), "second", 64, 3)
    width = 64
    for i, filters in enumerate((128, 256, 728)):
        y = x if i == 0 else g.act(x, "relu")
        y = separable(g, y, f"e{i}a", filters, width, "relu")
        y = g.pool(separable(g, y, f"e{i}b", filters, filters), "max", 3, 2, 1)
        x, width = g.add(y, conv_bn(g, x, f"e{i}s", filters, 1, 2, act=None)), filters
    for i in range(8):
        y = x
        for j in range(3):
            y = separable(g, g.act(y, "relu"), f"m{i}{j}", 728, 728)
        x = g.add(x, y)
    y = separable(g, g.act(x, "relu"), "xa", 728, 728, "relu")
    y = g.pool(separable(g, y, "xb", 1024, 728), "max", 3, 2, 1)
    x = g.add(y, conv_bn(g, x, "xs", 1024, 1, 2, act=None))
    x = separable(g, separable(g, x, "xc", 1536, 1024, "relu"), "xd", 2048, 1536, "relu")
    return g.dense(g.global_avg(x), "fc", 1000)


def densenet121(g):
    x, width = stem(g, g.input("data")), 64
    for stage, n in enumerate((6, 12, 24, 16)):
        for i in range(n):
            y = g.act(g.bn(x, f"d{stage}_{i}n"), "relu")
            y = conv_bn(g, y, f"d{stage}_{i}a", 128, 1)
            x, width = g.concat([x, g.conv(y, f"d{stage}_{i}b", 32, 3, 1, 1)]), width + 32
        x = g.act(g.bn(x, f"t{stage}n"), "relu")
        if stage < 3:
            width //= 2
            x = g.pool(g.conv(x, f"t{stage}", width, 1), "avg", 2, 2)
    return g.dense(g.global_avg(x), "fc", 1000)


def resnext50(g):
    x = stem(g, g.input("data"))
    for stage, n in enumerate((3, 4, 6, 3)):
        for i in range(n):
            stride, name = 2 if stage and not i else 1, f"s{stage}{i}"
            y = conv_bn(g, x, name + "a", 128 << stage, 1)
            y = conv_bn(g, y, name + "b", 128 << stage, 3, stride, groups=32)
            y = conv_bn(g, y, name + "c", 256 << stage, 1, act=None)
            x = g.act(g.add(y, x if i else conv_bn(g, x, name + "s", 256 << stage, 1, stride, act=None)), "relu")
    return g.dense(g.global_avg(x), "fc", 1000)


def inception_block(g, x, name, widths, stride, pool, tail):
    """Branches: 1x1; 1x1, 3x3; 1x1, 3x3, 3x3; pool, 1x1. A width of 0 leaves the convolution out."""
    one, r3, n3, r33, n33, proj = widths
    parts = [conv_bn(g, x, name + "_1", one, 1)] if one else []
    parts.append(conv_bn(g, conv_bn(g, x, name + "_3r", r3, 1), name + "_3", n3, 3, stride))
    y = conv_bn(g, conv_bn(g, x, name + "_33r", r33, 1), name + "_33a", n33, tail)
    parts.append(conv_bn(g, y, name + "_33b", n33, 3, stride))
    y = g.pool(x, pool, 3, stride, 1)
    parts.append(conv_bn(g, y, name + "_p", proj, 1) if proj else y)
    return g.concat(parts)


def bn_inception(g):
    x = stem(g, g.input("data"))
    x = g.pool(conv_bn(g, conv_bn(g, x, "c2r", 64, 1), "c2", 192, 3), "max", 3, 2, 1)
    for name, widths, stride, pool in (
            ("3a", (64, 64, 64, 64, 96, 32), 1, "avg"), ("3b", (64, 64, 96, 64, 96, 64), 1, "avg"),
            ("3c", (0, 128, 160, 64, 96, 0), 2, "max"), ("4a", (224, 64, 96, 96, 128, 128), 1, "avg"),
            ("4b", (192, 96, 128, 96, 128, 128), 1, "avg"), ("4c", (160, 128, 160, 128, 160, 128), 1, "avg"),
            ("4d", (96, 128, 192, 160, 192, 128), 1, "avg"), ("4e", (0, 128, 192, 192, 256, 0), 2, "max"),
            ("5a", (352, 192, 320, 160, 224, 128), 1, "avg"), ("5b", (352, 192, 320, 192, 224, 128), 1, "max")):
        x = inception_block(g, x, name, widths, stride, pool, 3)
    return g.dense(g.global_avg(x), "fc", 1000)


def yolo3(g):
    """Darknet-53 and the three heads, without decoding of boxes."""
    def leaky(x, name, filters, kernel, stride=1):
        return conv_bn(g, x, name, filters, kernel, stride, "leaky")
    x, routes = leaky(g.input("data"), "first", 32, 3), []
    for stage, n in enumerate((1, 2, 8, 8, 4)):
        x = leaky(x, f"s{stage}", 64 << stage, 3, 2)
        for i in range(n):
            x = g.add(x, leaky(leaky(x, f"s{stage}{i}a", 32 << stage, 1), f"s{stage}{i}b", 64 << stage, 3))
        routes.append(x)
    outs = []
    for i, filters in enumerate((512, 256, 128)):
        for j in range(2):
            x = leaky(leaky(x, f"h{i}{j}a", filters, 1), f"h{i}{j}b", 2 * filters, 3)
        x = leaky(x, f"h{i}", filters, 1)
        y = g.conv(leaky(x, f"o{i}a", 2 * filters, 3), f"o{i}", 255, 1, bias=True)
        outs.append(g.reshape(y, (1, 255, -1)))
        if i < 2:
            x = g.concat([g.upsample(leaky(x, f"r{i}", filters // 2, 1), 2), routes[3 - i]])
    return g.concat(outs, 2)


def bottleneck(g, x, name, filters, stride, dilate, project):
    y = conv_bn(g, x, name + "a", filters, 1)
    y = conv_bn(g, y, name + "b", filters, 3, stride, dilate=dilate)
    y = conv_bn(g, y, name + "c", 4 * filters, 1, act=None)
    return g.act(g.add(y, conv_bn(g, x, name + "s", 4 * filters, 1, stride, act=None) if project else x), "relu")


def deeplab(g):
    """DeepLab v3 on ResNet-50 with output stride 8; 256x256 pixels, 21 classes."""
    x = stem(g, g.input("data"))
    for stage, (n, stride, dilate) in enumerate(((3, 1, 1), (4, 2, 1), (6, 1, 2), (3, 1, 4))):
        for i in range(n):
            x = bottleneck(g, x, f"s{stage}{i}", 64 << stage, 1 if i else stride, dilate, i == 0)
    parts = [conv_bn(g, x, "a0", 256, 1)]
    parts += [conv_bn(g, x, f"a{rate}", 256, 3, dilate=rate) for rate in (12, 24, 36)]
    pooled = g.act(g.conv(g.global_avg(x, keep=True), "ap", 256, 1, bias=True), "relu")
    parts.append(g.resize(pooled, 32, 32))
    x = conv_bn(g, conv_bn(g, g.concat(parts), "aj", 256, 1), "last", 256, 3)
    return g.resize(g.conv(x, "out", 21, 1, bias=True), 256, 256)


def hrnet(g):
    """HRNet-W18 with four parallel resolutions, small: one module a stage."""
    widths = (18, 36, 72, 144)
    x = conv_bn(g, conv_bn(g, g.input("data"), "first", 64, 3, 2), "second", 64, 3, 2)
    for i in range(4):
        x = bottleneck(g, x, f"s{i}", 64, 1, 1, i == 0)
    xs = [conv_bn(g, x, "t10", widths[0], 3)]
    for stage in range(1, 4):
        xs.append(conv_bn(g, xs[-1] if stage > 1 else x, f"t{stage}{stage}", widths[stage], 3, 2))
        for b in range(stage + 1):
            for i in range(4):
                xs[b] = basic_block(g, xs[b], f"m{stage}{b}{i}", widths[b], 1, False)
        xs = [fused(g, xs, f"f{stage}{to}", to, widths) for to in range(stage + 1)]
    high = [xs[0]] + [g.upsample(x, 1 << i) for i, x in enumerate(xs) if i]
    return g.conv(conv_bn(g, g.concat(high), "last", sum(widths), 1), "out", 19, 1, bias=True)


def fused(g, xs, name, to, widths):
    """The sum of all resolutions at that number `to`."""
    total = xs[to]
    for i, x in enumerate(xs):
        for step in range(to - i):
            last = step == to - i - 1
            x = conv_bn(g, x, f"{name}{i}{step}", widths[to if last else i], 3, 2, None if last else "relu")
        if i > to:
            x = g.upsample(conv_bn(g, x, f"{name}{i}", widths[to], 1, act=None), 1 << (i - to))
        if i != to:
            total = g.add(total, x)
    return g.act(total, "relu")


def i3d(g):
    """Inception in three dimensions, (1,3,16,112,112): frames, height, width."""
    cube = (3, 3, 3)
    x = conv_bn(g, g.input("data"), "first", 64, (7, 7, 7), (2, 2, 2))
    x = g.pool(x, "max", (1, 3, 3), (1, 2, 2), (0, 1, 1))
    x = conv_bn(g, conv_bn(g, x, "c2r", 64, (1, 1, 1)), "c2", 192, cube)
    x = g.pool(x, "max", (1, 3, 3), (1, 2, 2), (0, 1, 1))
    for name, (one, r3, n3, r5, n5, proj), pool in (
            ("3a", (64, 96, 128, 16, 32, 32), None), ("3b", (128, 128, 192, 32, 96, 64), cube),
            ("4a", (192, 96, 208, 16, 48, 64), None), ("4b", (160, 112, 224, 24, 64, 64), None),
            ("4c", (128, 128, 256, 24, 64, 64), None), ("4d", (112, 144, 288, 32, 64, 64), None),
            ("4e", (256, 160, 320, 32, 128, 128), (2, 2, 2)), ("5a", (256, 160, 320, 32, 128, 128), None),
            ("5b", (384, 192, 384, 48, 128, 128), None)):
        point = (1, 1, 1)
        x = g.concat([conv_bn(g, x, name + "_1", one, point),
                      conv_bn(g, conv_bn(g, x, name + "_3r", r3, point), name + "_3", n3, cube),
                      conv_bn(g, conv_bn(g, x, name + "_5r", r5, point), name + "_5", n5, cube),
                      conv_bn(g, g.pool(x, "max", cube, (1, 1, 1), (1, 1, 1)), name + "_p", proj, point)])
        if pool:
            x = g.pool(x, "max", pool, (2, 2, 2), tuple(k // 2 for k in pool) if pool == cube else 0)
    return g.dense(g.global_avg(x), "fc", 400)

# SPDX-License-Identifier: Apache-2.0
"""Graphs that networks are built of (nets.py): shapes with parameters and work, and symbols of libmxc or MXNet.

Methods take and return values of the graph. Kernels, strides and paddings are numbers for images, else tuples.
"""
import numpy as np


def tuple_of(value, n):
    return value if isinstance(value, tuple) else (value,) * n


def spatial(kernel):
    """Number of axes that a kernel has."""
    return len(kernel) if isinstance(kernel, tuple) else 2


class Shape(tuple):
    given = False  # an input: its gradient is not computed


class Shapes:
    """Values are shapes. Collects parameters as {name: shape}, and floating-point operations."""

    def __init__(self, inputs):
        self.inputs, self.parameters, self.aux, self.flops, self.first_flops = inputs, {}, {}, 0, 0

    def _count(self, x, flops):
        self.flops += flops
        if getattr(x, "given", False):
            self.first_flops += flops

    def work(self, train):
        """Operations of one call: backward takes those of forward twice, less the gradients of inputs."""
        return 3 * self.flops - self.first_flops if train else self.flops

    def input(self, name):
        x = Shape(self.inputs[name])
        x.given = True
        return x

    def parameter(self, name, shape):
        self.parameters[name] = shape
        return Shape(shape)

    def add_positions(self, x, name, shape):
        self.parameter(name, shape)
        return Shape(x)

    def conv(self, x, name, filters, kernel, stride=1, pad=0, dilate=1, groups=1, bias=False):
        n = spatial(kernel)
        k, s, p, d = (tuple_of(value, n) for value in (kernel, stride, pad, dilate))
        out = tuple((x[2 + i] + 2 * p[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in range(n))
        weight = self.parameter(name + "_weight", (filters, x[1] // groups, *k))
        if bias:
            self.parameter(name + "_bias", (filters,))
        self._count(x, 2 * x[0] * int(np.prod(out)) * int(np.prod(weight)))
        return Shape((x[0], filters, *out))

    def deconv(self, x, name, filters, kernel, stride):
        self.parameter(name + "_weight", (x[1], filters, kernel, kernel))
        self._count(x, 2 * int(np.prod(x)) * filters * kernel * kernel)
        return Shape((x[0], filters, *((size - 1) * stride + kernel for size in x[2:])))

    def bn(self, x, name):
        for part in ("gamma", "beta"):
            self.parameter(f"{name}_{part}", (x[1],))
        for part in ("moving_mean", "moving_var"):
            self.aux[f"{name}_{part}"] = (x[1],)
        return Shape(x)

    def layer_norm(self, x, name):
        for part in ("gamma", "beta"):
            self.parameter(f"{name}_{part}", (x[-1],))
        return Shape(x)

    def act(self, x, kind):
        return Shape(x)

    def pool(self, x, kind, kernel, stride, pad=0):
        n = spatial(kernel)
        k, s, p = (tuple_of(value, n) for value in (kernel, stride, pad))
        return Shape((*x[:2], *((x[2 + i] + 2 * p[i] - k[i]) // s[i] + 1 for i in range(n))))

    def global_avg(self, x, keep=False):
        return Shape((*x[:2], *((1,) * (len(x) - 2) if keep else ())))

    def dense(self, x, name, n, bias=True, rows=False):
        self.parameter(name + "_weight", (n, x[-1]))
        if bias:
            self.parameter(name + "_bias", (n,))
        self._count(x, 2 * int(np.prod(x)) * n)
        return Shape((*x[:-1], n))

    def flatten(self, x):
        out = Shape((x[0], int(np.prod(x[1:]))))
        out.given = getattr(x, "given", False)
        return out

    def add(self, a, b):
        return Shape(np.broadcast_shapes(a, b))

    mul = add

    def concat(self, xs, axis=1):
        out = list(xs[0])
        out[axis] = sum(x[axis] for x in xs)
        return Shape(out)

    def split(self, x, n, axis):
        out = list(x)
        out[axis] //= n
        return [Shape(out)] * n

    def reshape(self, x, shape):
        known = -int(np.prod(shape)) or 1
        return Shape(int(np.prod(x)) // known if size == -1 else size for size in shape)

    def transpose(self, x, axes):
        return Shape(x[axis] for axis in axes)

    def embedding(self, x, name, n, width):
        self.parameter(name + "_weight", (n, width))
        return Shape((*x, width))

    def attention(self, q, k, v, causal, shape):
        self._count(q, 4 * int(np.prod(q[:-1])) * k[-2] * q[-1])
        return Shape(q)

    def rnn(self, x, name, mode, hidden, layers):
        gates, n = {"lstm": 4, "gru": 3}[mode], 0
        for layer in range(layers):
            width = x[-1] if layer == 0 else hidden
            n += gates * hidden * (width + hidden + 2)
            self._count(x, 2 * x[0] * x[1] * gates * hidden * (width + hidden))
        self.parameter(name + "_parameters", (n,))
        return Shape((*x[:-1], hidden))

    def upsample(self, x, scale):
        return Shape((*x[:2], *(size * scale for size in x[2:])))

    def resize(self, x, height, width):
        return Shape((*x[:2], height, width))


class Symbols:
    """Values are symbols of S, which is mxc.op, or mxnet.symbol: both have MXNet's operators."""

    def __init__(self, S, variable, inputs, norm_momentum=0.9):
        self.S, self.variable, self.inputs, self.norm_momentum = S, variable, inputs, norm_momentum

    def input(self, name):
        return self.variable(name)

    def add_positions(self, x, name, shape):
        return self.S.broadcast_add(x, self.variable(name, shape=shape))

    def conv(self, x, name, filters, kernel, stride=1, pad=0, dilate=1, groups=1, bias=False):
        n = spatial(kernel)
        return self.S.Convolution(x, name=name, num_filter=filters, kernel=tuple_of(kernel, n), stride=tuple_of(stride, n),
                                  pad=tuple_of(pad, n), dilate=tuple_of(dilate, n), num_group=groups, no_bias=not bias)

    def deconv(self, x, name, filters, kernel, stride):
        return self.S.Deconvolution(x, name=name, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride),
                                    no_bias=True)

    def bn(self, x, name):
        return self.S.BatchNorm(x, name=name, fix_gamma=False, eps=1e-5, momentum=self.norm_momentum)

    def layer_norm(self, x, name):
        return self.S.LayerNorm(x, self.variable(name + "_gamma"), self.variable(name + "_beta"), name=name, eps=1e-5)

    def act(self, x, kind):
        if kind == "relu6":
            return self.S.clip(x, a_min=0, a_max=6)
        if kind == "swish":
            return x * self.S.Activation(x, act_type="sigmoid")
        if kind == "gelu":
            return self.S.LeakyReLU(x, act_type="gelu")
        if kind == "leaky":
            return self.S.LeakyReLU(x, act_type="leaky", slope=0.1)
        return self.S.Activation(x, act_type=kind)

    def pool(self, x, kind, kernel, stride, pad=0):
        n = spatial(kernel)
        return self.S.Pooling(x, pool_type=kind, kernel=tuple_of(kernel, n), stride=tuple_of(stride, n),
                              pad=tuple_of(pad, n))

    def global_avg(self, x, keep=False):
        x = self.S.Pooling(x, pool_type="avg", kernel=(1,) * (len(self.inputs["data"]) - 2), global_pool=True)
        return x if keep else self.S.Flatten(x)

    def dense(self, x, name, n, bias=True, rows=False):
        return self.S.FullyConnected(x, name=name, num_hidden=n, no_bias=not bias, flatten=not rows)

    def flatten(self, x):
        return self.S.Flatten(x)

    def add(self, a, b):
        return a + b

    def mul(self, a, b):
        return self.S.broadcast_mul(a, b)

    def concat(self, xs, axis=1):
        return self.S.Concat(*xs, dim=axis)

    def split(self, x, n, axis):
        return list(self.S.SliceChannel(x, num_outputs=n, axis=axis))

    def reshape(self, x, shape):
        return self.S.Reshape(x, shape=shape)

    def transpose(self, x, axes):
        return self.S.transpose(x, axes=axes)

    def embedding(self, x, name, n, width):
        return self.S.Embedding(x, name=name, input_dim=n, output_dim=width)

    def attention(self, q, k, v, causal, shape):
        return self.S.scaled_dot_product_attention(q, k, v, causal=causal)

    def rnn(self, x, name, mode, hidden, layers):
        states = ("h0", "c0") if mode == "lstm" else ("h0",)
        state = [self.zeros((layers, self.inputs["data"][1], hidden), f"{name}_{part}") for part in states]
        return self.S.RNN(x, self.variable(name + "_parameters"), *state, mode=mode, state_size=hidden, num_layers=layers,
                          name=name)

    def upsample(self, x, scale):
        return self.S.UpSampling(x, scale=scale, sample_type="nearest")

    def resize(self, x, height, width):
        return self.bilinear(x, height=height, width=width)


class LibmxcSymbols(Symbols):
    def __init__(self, mxc, *rest):
        super().__init__(mxc.op, mxc.var, *rest)
        self.bilinear = self.S._contrib_BilinearResize2D

    def zeros(self, shape, name):
        return self.S._zeros(shape=shape, name=name)


class MxnetSymbols(Symbols):
    """MXNet has no attention on the CPU: products, a mask and softmax."""

    def __init__(self, mx, *rest):
        super().__init__(mx.sym, mx.sym.var, *rest)
        self.bilinear, self.mask = self.S.contrib.BilinearResize2D, None

    def zeros(self, shape, name):
        return self.S.zeros(shape, name=name)

    def attention(self, q, k, v, causal, shape):
        _, _, length, width = shape
        flat = [self.S.reshape(x, shape=(-1, length, width)) for x in (q, k, v)]
        scores = self.S.batch_dot(flat[0], flat[1], transpose_b=True) * width ** -0.5
        if causal:
            self.mask = self.variable("causal_mask", shape=(1, length, length)) if self.mask is None else self.mask
            scores = self.S.broadcast_add(scores, self.mask)
        out = self.S.batch_dot(self.S.softmax(scores, axis=-1), flat[2])
        return self.S.reshape(out, shape=shape)

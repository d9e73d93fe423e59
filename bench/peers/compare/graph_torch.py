# SPDX-License-Identifier: Apache-2.0
"""Networks of nets.py as a module of PyTorch."""
import torch
import torch.nn.functional as F

from graphs import spatial


class Graph(torch.nn.Module):
    """Values are tensors; forward runs the function of the network."""

    def __init__(self, net, files, inputs, train):
        super().__init__()
        self.net, self.files, self.rnns, self.given = net, files, {}, inputs
        for name in files.names:
            if name.endswith(("moving_mean", "moving_var")):
                self.register_buffer(name, torch.from_numpy(files[name]))
            elif not name.endswith("_parameters"):
                self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(files[name])))
        self.train(train)
        if any(name.endswith("_parameters") for name in files.names):  # their sizes are known after a first run
            net(self)

    def forward(self, *inputs):
        self.given = dict(zip(self.given, inputs))
        out = self.net(self)
        return tuple(out) if isinstance(out, list) else out

    def input(self, name):
        return self.given[name]

    def add_positions(self, x, name, shape):
        return x + getattr(self, name)

    def conv(self, x, name, filters, kernel, stride=1, pad=0, dilate=1, groups=1, bias=False):
        function = (None, F.conv1d, F.conv2d, F.conv3d)[spatial(kernel)]
        return function(x, getattr(self, name + "_weight"), getattr(self, name + "_bias") if bias else None, stride, pad,
                        dilate, groups)

    def deconv(self, x, name, filters, kernel, stride):
        return F.conv_transpose2d(x, getattr(self, name + "_weight"), None, stride)

    def bn(self, x, name):
        mean, var, gamma, beta = (getattr(self, f"{name}_{part}") for part in ("moving_mean", "moving_var", "gamma", "beta"))
        return F.batch_norm(x, mean, var, gamma, beta, self.training, 0.1, 1e-5)

    def layer_norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], getattr(self, name + "_gamma"), getattr(self, name + "_beta"), 1e-5)

    def act(self, x, kind):
        return ACTIVATIONS[kind](x)

    def pool(self, x, kind, kernel, stride, pad=0):
        n = spatial(kernel)
        functions = (F.max_pool1d, F.max_pool2d, F.max_pool3d) if kind == "max" else (F.avg_pool1d, F.avg_pool2d,
                                                                                      F.avg_pool3d)
        return functions[n - 1](x, kernel, stride, pad)

    def global_avg(self, x, keep=False):
        return x.mean(tuple(range(2, x.dim())), keepdim=keep)

    def dense(self, x, name, n, bias=True, rows=False):
        return F.linear(x, getattr(self, name + "_weight"), getattr(self, name + "_bias") if bias else None)

    def flatten(self, x):
        return x.flatten(1)

    def add(self, a, b):
        return a + b

    def mul(self, a, b):
        return a * b

    def concat(self, xs, axis=1):
        return torch.cat(xs, axis)

    def split(self, x, n, axis):
        return x.chunk(n, axis)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def transpose(self, x, axes):
        return x.permute(axes)

    def embedding(self, x, name, n, width):
        return F.embedding(x, getattr(self, name + "_weight"))

    def attention(self, q, k, v, causal, shape):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def rnn(self, x, name, mode, hidden, layers):
        if name not in self.rnns:
            self.rnns[name] = self.make_rnn(name, mode, x.shape[-1], hidden, layers)
        return self.rnns[name](x)[0]

    def make_rnn(self, name, mode, width, hidden, layers):
        """MXNet packs the weights of all layers, then the biases."""
        made = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[mode](width, hidden, layers)
        at, packed = 0, torch.from_numpy(self.files[name + "_parameters"])
        for kind in ("weight", "bias"):
            for layer in range(layers):
                for side in ("ih", "hh"):
                    part = getattr(made, f"{kind}_{side}_l{layer}")
                    part.data.copy_(packed[at:at + part.numel()].view(part.shape))
                    at += part.numel()
        self.add_module(name, made)
        return made

    def upsample(self, x, scale):
        return F.interpolate(x, scale_factor=scale, mode="nearest")

    def resize(self, x, height, width):
        return F.interpolate(x, size=(height, width), mode="bilinear", align_corners=True)


ACTIVATIONS = {"relu": F.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "swish": F.silu, "relu6": F.relu6,
               "gelu": F.gelu, "leaky": lambda x: F.leaky_relu(x, 0.1)}

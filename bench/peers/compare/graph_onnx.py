# SPDX-License-Identifier: Apache-2.0
"""Networks of nets.py as ONNX files."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from graphs import spatial, tuple_of


class Graph:
    """Values are names of tensors."""

    def __init__(self, files):
        self.files, self.nodes, self.constants, self.n = files, [], {}, 0

    def node(self, op, inputs, n_out=1, **attributes):
        self.n += 1
        outputs = [f"t{self.n}" if i == 0 else f"t{self.n}_{i}" for i in range(n_out)]
        self.nodes.append(helper.make_node(op, list(inputs), outputs, name=f"n{self.n}", **attributes))
        return outputs[0] if n_out == 1 else outputs

    def constant(self, value, dtype=None):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def weight(self, name, change=None):
        self.constants[name] = np.ascontiguousarray(change(self.files[name])) if change else self.files[name]
        return name

    def input(self, name):
        return name

    def add_positions(self, x, name, shape):
        return self.node("Add", [x, self.weight(name)])

    def conv(self, x, name, filters, kernel, stride=1, pad=0, dilate=1, groups=1, bias=False):
        n = spatial(kernel)
        inputs = [x, self.weight(name + "_weight")] + ([self.weight(name + "_bias")] if bias else [])
        return self.node("Conv", inputs, kernel_shape=tuple_of(kernel, n), strides=tuple_of(stride, n),
                         pads=tuple_of(pad, n) * 2, dilations=tuple_of(dilate, n), group=groups)

    def deconv(self, x, name, filters, kernel, stride):
        return self.node("ConvTranspose", [x, self.weight(name + "_weight")], kernel_shape=(kernel, kernel),
                         strides=(stride, stride))

    def bn(self, x, name):
        parts = [self.weight(f"{name}_{part}") for part in ("gamma", "beta", "moving_mean", "moving_var")]
        return self.node("BatchNormalization", [x, *parts], epsilon=1e-5)

    def layer_norm(self, x, name):
        return self.node("LayerNormalization", [x, self.weight(name + "_gamma"), self.weight(name + "_beta")], axis=-1,
                         epsilon=1e-5)

    def act(self, x, kind):
        if kind == "relu6":
            return self.node("Clip", [x, self.constant(0, np.float32), self.constant(6, np.float32)])
        if kind == "swish":
            return self.node("Mul", [x, self.node("Sigmoid", [x])])
        if kind == "leaky":
            return self.node("LeakyRelu", [x], alpha=0.1)
        if kind == "gelu":  # of these nodes, which libraries know
            erf = self.node("Erf", [self.node("Div", [x, self.constant(2 ** 0.5, np.float32)])])
            twice = self.node("Mul", [x, self.node("Add", [erf, self.constant(1, np.float32)])])
            return self.node("Mul", [twice, self.constant(0.5, np.float32)])
        return self.node({"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}[kind], [x])

    def pool(self, x, kind, kernel, stride, pad=0):
        n = spatial(kernel)
        more = {} if kind == "max" else {"count_include_pad": 1}
        return self.node("MaxPool" if kind == "max" else "AveragePool", [x], kernel_shape=tuple_of(kernel, n),
                         strides=tuple_of(stride, n), pads=tuple_of(pad, n) * 2, **more)

    def global_avg(self, x, keep=False):
        x = self.node("GlobalAveragePool", [x])
        return x if keep else self.node("Flatten", [x])

    def dense(self, x, name, n, bias=True, rows=False):
        if not rows:
            inputs = [x, self.weight(name + "_weight")] + ([self.weight(name + "_bias")] if bias else [])
            return self.node("Gemm", inputs, transB=1)
        x = self.node("MatMul", [x, self.weight(name + "_weight", np.transpose)])
        return self.node("Add", [x, self.weight(name + "_bias")]) if bias else x

    def flatten(self, x):
        return self.node("Flatten", [x])

    def add(self, a, b):
        return self.node("Add", [a, b])

    def mul(self, a, b):
        return self.node("Mul", [a, b])

    def concat(self, xs, axis=1):
        return self.node("Concat", xs, axis=axis)

    def split(self, x, n, axis):
        return self.node("Split", [x], n, axis=axis, num_outputs=n)

    def reshape(self, x, shape):
        return self.node("Reshape", [x, self.constant(shape, np.int64)])

    def transpose(self, x, axes):
        return self.node("Transpose", [x], perm=axes)

    def embedding(self, x, name, n, width):
        return self.node("Gather", [self.weight(name + "_weight"), x])

    def attention(self, q, k, v, causal, shape):
        _, _, length, width = shape
        scores = self.node("MatMul", [q, self.node("Transpose", [k], perm=(0, 1, 3, 2))])
        scores = self.node("Mul", [scores, self.constant(width ** -0.5, np.float32)])
        if causal:
            scores = self.node("Add", [scores, self.constant(np.triu(np.full((length, length), -1e30), 1), np.float32)])
        return self.node("MatMul", [self.node("Softmax", [scores], axis=-1), v])

    def upsample(self, x, scale):
        return self.node("Resize", [x, "", self.constant([1, 1, scale, scale], np.float32)], mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def resize(self, x, height, width):
        return self.node("Resize", [x, "", "", self.constant([height, width], np.int64)], axes=[2, 3], mode="linear",
                         coordinate_transformation_mode="align_corners")

    def save(self, path, inputs, outputs):
        """inputs: {name: (shape, is it of integers)}; outputs: names."""
        given = [helper.make_tensor_value_info(name, TensorProto.INT64 if integers else TensorProto.FLOAT, shape)
                 for name, (shape, integers) in inputs.items()]
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", given, made,
                                  [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)

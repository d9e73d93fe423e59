# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/compare: a network, its input, and what is measured."""
import collections

import nets

# mode: "train" (forward, cross-entropy, backward, SGD), "infer" (NumPy array in, NumPy array out), "int8" (the same of a
# network quantized to 8 bits) or "generate" (one token with cached keys). high: the input holds numbers below it, 0:
# uniform values. peers: in the order of the table.
Row = collections.namedtuple("Row", "name title mode net shape high peers")

IMAGE_PEERS = ("torch", "onnxruntime", "openvino", "ncnn", "mnn", "mxnet")
TRAINERS = ("torch", "mxnet")
FUSED = ("mxnet", "onnxruntime")
IMAGE = (1, 3, 224, 224)

ROWS = [
    Row("mlp", "MLP 784-128-64-10, batch 64, training", "train", nets.mlp, (64, 784), 0, TRAINERS),
    Row("lenet", "LeNet (tanh), batch 64, training", "train", nets.lenet, (64, 1, 28, 28), 0, TRAINERS),
    Row("resnet20", "ResNet-20, 32x32, batch 32, training", "train", nets.resnet20, (32, 3, 32, 32), 0, TRAINERS),
    Row("resnet18", "ResNet-18, 224x224, batch 4, training", "train", nets.resnet18, (4, 3, 224, 224), 0, TRAINERS),
    Row("lstm", "LSTM 2x200, batch 32, 35 steps, training", "train", nets.lstm, (35, 32), 96, TRAINERS),
    Row("gpt", "GPT 4x128, 4 heads, batch 16, 64 tokens, training", "train", nets.gpt, (16, 64), 256, TRAINERS),
    Row("resnet18_b1", "ResNet-18, batch 1, inference", "infer", nets.resnet18, IMAGE, 0, IMAGE_PEERS),
    Row("resnet18_b8", "ResNet-18, batch 8, inference", "infer", nets.resnet18, (8, *IMAGE[1:]), 0, IMAGE_PEERS),
    Row("mobilenet_v2", "MobileNet-v2, batch 1, inference", "infer", nets.mobilenet_v2, IMAGE, 0, IMAGE_PEERS),
    Row("resnet18_int8", "ResNet-18, batch 1, inference in 8 bits", "int8", nets.resnet18, IMAGE, 0, ("onnxruntime",)),
    Row("generate", "GPT 12x768, one token, cached keys", "generate", nets.generate, (1, 1), 1000, ("torch", "onnxruntime")),
    Row("efficientnet_b0", "EfficientNet-b0, batch 1, inference", "infer", nets.efficientnet_b0, IMAGE, 0, FUSED),
    Row("xception", "Xception, 299x299, batch 1, inference", "infer", nets.xception, (1, 3, 299, 299), 0, FUSED),
    Row("densenet121", "DenseNet-121, batch 1, inference", "infer", nets.densenet121, IMAGE, 0, FUSED),
    Row("resnext50", "ResNeXt-50 32x4d, batch 1, inference", "infer", nets.resnext50, IMAGE, 0, FUSED),
    Row("bn_inception", "BN-Inception, batch 1, inference", "infer", nets.bn_inception, IMAGE, 0, FUSED),
    Row("hrnet", "HRNet-W18, 256x256, batch 1, inference", "infer", nets.hrnet, (1, 3, 256, 256), 0, FUSED),
    Row("yolo3", "YOLOv3, 416x416, batch 1, inference", "infer", nets.yolo3, (1, 3, 416, 416), 0, FUSED),
    Row("deeplab", "DeepLab v3, 256x256, batch 1, inference", "infer", nets.deeplab, (1, 3, 256, 256), 0, FUSED),
    Row("i3d", "I3D, 16 frames of 112x112, inference", "infer", nets.i3d, (1, 3, 16, 112, 112), 0, FUSED),
    Row("vgg", "VGG-like, 32x32, batch 16, training", "train", nets.vgg_small, (16, 3, 32, 32), 0, TRAINERS),
    Row("conv1d", "1-D convolutions, 8x1024, batch 32, training", "train", nets.conv1d, (32, 8, 1024), 0, TRAINERS),
    Row("gru", "GRU 2x200, batch 32, 35 steps, training", "train", nets.gru, (35, 32), 96, TRAINERS),
    Row("unet", "U-Net, 128x128, batch 1, inference", "infer", nets.unet, (1, 3, 128, 128), 0, ("torch", "onnxruntime")),
    Row("bert", "Encoder 6x512, 8 heads, 128 tokens, inference", "infer", nets.bert, (1, 128), 1000,
        ("torch", "onnxruntime", "openvino")),
]

NAMES = {"mxc": "libmxc", "torch": "PyTorch", "mxnet": "MXNet", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO",
         "ncnn": "ncnn", "mnn": "MNN"}


def find(name):
    return next(row for row in ROWS if row.name == name)


def inputs_of(row):
    """The shapes of all inputs."""
    return {"data": row.shape, **(nets.caches() if row.mode == "generate" else {})}


def options(library, row, compiled=False):
    """The options of a library that are tried for a row; "" is the only one there is."""
    images = len(row.shape) == 4
    if library == "torch":
        last = ["channels last"] if images else []
        more = ["compiled"] if compiled else []
        if row.mode == "generate":
            return ["eager", "frozen"]
        if row.mode == "infer":
            return ["eager", "frozen"] + ["frozen, " + name for name in last] + more
        return ["contiguous" if images else ""] + last + more
    if library == "mxnet" and row.mode == "infer":
        return ["fused"]
    if library == "ncnn":
        return ["", "float32"]
    return [""]

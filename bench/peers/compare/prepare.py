# SPDX-License-Identifier: Apache-2.0
"""Write the files of a row that the libraries read: prepare.py KIND ROW DIRECTORY, with KIND onnx, int8, mnn or ncnn."""
import os
import subprocess
import sys

import rows
from runner import Files


def tool(name, *arguments, directory):
    path = os.path.join(os.path.dirname(sys.executable), name)
    done = subprocess.run([path, *arguments], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout)


def write_onnx(row, directory, suffix=".onnx", batch=None):
    from graph_onnx import Graph

    graph = Graph(Files(row, directory))
    out = row.net(graph)
    row = row._replace(shape=(batch or row.shape[0], *row.shape[1:]))
    inputs = {name: (shape, row.high > 0 and name == "data") for name, shape in rows.inputs_of(row).items()}
    graph.save(os.path.join(directory, row.name + suffix), inputs, out if isinstance(out, list) else [out])


def write_int8(row, directory):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = [{"data": Files(row, directory).data}]

        def get_next(self):
            return self.left.pop() if self.left else None

    path = os.path.join(directory, row.name)
    quant_pre_process(path + ".onnx", path + ".folded.onnx")
    quantize_static(path + ".folded.onnx", path + ".int8.onnx", Reader(), quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True)


def write_mnn(row, directory):
    tool("mnnconvert", "-f", "ONNX", "--modelFile", row.name + ".onnx", "--MNNModel", row.name + ".mnn", "--bizCode", "x",
         directory=directory)


def write_ncnn(row, directory):
    """For one image: ncnn has no batches."""
    write_onnx(row, directory, "_one.onnx", 1)
    shape = "[" + ",".join(map(str, (1, *row.shape[1:]))) + "]"
    tool("pnnx", row.name + "_one.onnx", "inputshape=" + shape, "fp16=0", directory=directory)


if __name__ == "__main__":
    kind, name, directory = sys.argv[1:]
    {"onnx": write_onnx, "int8": write_int8, "mnn": write_mnn, "ncnn": write_ncnn}[kind](rows.find(name), directory)

# SPDX-License-Identifier: Apache-2.0
"""Rows of bench/compare on libmxc, through its Python package."""
import os

import numpy as np

import mxc
import rows
from graphs import LibmxcSymbols
from mxc import _api
from mxc.io import as_iter
from mxc.ndarray import from_list, list_struct
from runner import Files, Runner, Text, cross_entropy

VERSION = mxc.__version__ if hasattr(mxc, "__version__") else ""


def bind_training(row, files, **options):
    """With the loss, if there are labels."""
    net, shapes = row.net(LibmxcSymbols(mxc, {"data": row.shape}, *options.values())), {"data": row.shape}
    if files.label is not None:
        net, shapes["softmax_label"] = mxc.op.SoftmaxOutput(net, name="softmax"), files.label.shape
    executor = net.simple_bind(**shapes)
    given = {"data": files.data.astype("float32"), "softmax_label": files.label}
    for name, array in {**executor.arg_dict, **executor.aux_dict}.items():
        array[:] = given[name] if name in given else files[name]
    return executor


def trainer(row, files, directory):
    executor = bind_training(row, files)
    optimizer = mxc.Optimizer("sgd", learning_rate=0.01, rescale_grad=1 / len(files.label))
    parameters = [(name, executor.arg_dict[name], grad) for name, grad in executor.grad_dict.items()]
    parameters.reverse()  # backward computes the gradient of the last one first
    output = executor.outputs[0]

    def step():
        executor.forward(is_train=True)
        executor.backward()
        for name, weight, grad in parameters:
            optimizer.update(name, weight, grad)
        mxc.waitall()
        return output

    return Runner(step, lambda output: cross_entropy(output.asnumpy(), files.label))


# ---- inference -----------------------------------------------------------------------------------------------------------

def prepare(row, files, directory):
    """Write the model that predictors load, and the parameters for the others: the running means of BatchNorm become
    those of the input."""
    values = {name: files[name] for name in files.names}
    net = row.net(LibmxcSymbols(mxc, {"data": row.shape}))
    net = mxc.Group(net) if isinstance(net, list) else net
    aux = net.list_auxiliary_states()
    if aux:
        executor = bind_training(row, files, norm_momentum=0)
        executor.forward(is_train=True)
        values.update((name, array.asnumpy()) for name, array in executor.aux_dict.items())
        np.savez(os.path.join(directory, row.name + ".npz"), **values, **files.inputs)
    params = {("aux:" if name in aux else "arg:") + name: mxc.array(value) for name, value in values.items()}
    if row.mode == "int8":
        net, params = quantize(net, params, files)
    mxc.save_model(os.path.join(directory, row.name), 1, net, params)


def quantize(net, params, files):
    """To 8 bits, with the ranges of the input; the Python package has no function for it."""
    lib, ffi = _api.lib, _api.ffi
    options, symbol, made = ffi.new("mxc_quantize_options *"), ffi.new("mxc_symbol **"), ffi.new("mxc_ndarray_list *")
    lib.mxc_quantize_options_init(options, ffi.sizeof("mxc_quantize_options"))
    block, _alive = list_struct(params)
    data = as_iter((files.data, np.zeros(len(files.data), "float32")), len(files.data))
    options.symbol, options.params, options.data = net._h, block, data._h
    options.calibration = lib.MXC_CALIBRATE_MINMAX
    _api.check(lib.mxc_quantize(options, symbol, made))
    return mxc.Symbol._of(symbol[0]), from_list(made)


def load(row, directory):
    return mxc.Predictor.load(os.path.join(directory, row.name), rows.inputs_of(row), 1, fold_norms=row.mode == "infer")


def predictor(row, files, directory):
    made, data = load(row, directory), files.data.astype("float32")
    return Runner(lambda: made(data))


def writer(row, files, directory):
    """The caches are the arrays of the predictor's inputs, in place."""
    made = load(row, directory)
    for name, array in files.inputs.items():
        made.set_input(name, array.astype("float32"))
    caches = [np.asarray(array) for name, array in made.inputs.items() if name != "data"]
    token = files.data.astype("float32")

    def run():
        made.set_input("data", token)
        return [array.asnumpy() for array in made.forward()]

    return Runner(Text(run, caches).step)


def make(row, option, threads, directory):
    files = Files(row, directory)
    if option == "prepare":
        return prepare(row, files, directory)
    return {"train": trainer, "generate": writer}.get(row.mode, predictor)(row, files, directory)

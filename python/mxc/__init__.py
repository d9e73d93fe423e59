# SPDX-License-Identifier: Apache-2.0
"""libmxc in Python: arrays, gradients, symbols, training and prediction. docs/guide/python.md is a tutorial."""

from . import autograd, op
from ._api import Error, lib as _lib, text as _text, waitall
from .autograd import (Function, backward, get_symbol, grad, is_recording, is_training, pause, predict_mode, record,
                       train_mode)
from .executor import CachedOp, Executor
from .io import Batch, DataDesc, DataIter
from .ndarray import (Context, NDArray, arange, array, bfloat16, cpu, device_count, empty, from_dlpack, full, gpu, load,
                      ones, save, zeros)
from .predict import Predictor, top_classes
from .symbol import AttrScope, Group, Symbol, Variable, cond, foreach, fromjson, load_symbol, var, while_loop
from .train import (FitResult, KVStore, Metric, Optimizer, Progress, ProgressBar, clip_global_norm, evaluate, fit,
                    initialize, load_model, save_model, seed, trace)

__version__ = _text(_lib.mxc_version())

__all__ = [
    "AttrScope", "Batch", "CachedOp", "Context", "DataDesc", "DataIter", "Error", "Executor", "FitResult", "Function",
    "Group", "KVStore", "Metric", "NDArray", "Optimizer", "Predictor", "Progress", "ProgressBar", "Symbol", "Variable",
    "arange", "array", "autograd", "backward", "bfloat16", "clip_global_norm", "cond", "cpu", "device_count", "empty",
    "evaluate", "fit", "foreach", "from_dlpack", "fromjson", "full", "get_symbol", "gpu", "grad", "initialize",
    "is_recording", "is_training", "load", "load_model", "load_symbol", "ones", "op", "pause", "predict_mode", "record",
    "save", "save_model", "seed", "top_classes", "trace", "train_mode", "var", "waitall", "while_loop", "zeros",
]

# SPDX-License-Identifier: Apache-2.0
"""Writes defaults.txt: what MXNet 1.9.1 says of its operators' parameters. defaults.py OUT; see make.sh.

A line for each operator, tab-separated: its name, then name=value for each parameter: the default as MXNet's front ends
write it into a graph, or, marked by a ! before the name, a value for a parameter that is required.
"""
import ast
import ctypes
import re
import sys

from mxnet.base import _LIB, check_call, mx_uint, py_str

# Values of required parameters, by operator and parameter, by parameter, by type.
GIVEN = {
    ("Crop", "num_args"): "2", ("_sample_unique_zipfian", "range_max"): "10",
    ("UpSampling", "sample_type"): "nearest", ("_split_v2", "indices"): "(0, 2)",
    ("_cond", "num_args"): "1", ("_foreach", "num_args"): "2", ("_while_loop", "num_args"): "3",
    ("LRN", "nsize"): "5", ("SpatialTransformer", "transform_type"): "affine",
    ("_arange", "start"): "0", ("_linspace", "start"): "0",
    "kernel": "(3, 3)", "pad_width": "(0, 0, 0, 0, 1, 1, 1, 1)", "pooled_size": "(2, 2)", "output_size": "(8, 8)",
    "begin": "(0,)", "end": "(1,)", "shape": "(2, 2)", "size": "(2, 2)", "lrs": "[0.1]", "wds": "[0.1]",
    "etas": "[0.1]", "learning_rates": "[0.1]", "step_count": "(1,)", "low": "0", "high": "5",
    "alpha": "(0.1, 0.1, 0.1)",
    "mean": "(0.5,)", "std": "(0.5,)", "axis": "1", "reps": "(2,)", "indices": "(1,)", "filename": "a.png",
    "op_type": "softmax", "key": "k", "block_size": "2", "scale": "2", "step": "(1,)",
    "shape_like": "(2, 2)", "target_shape": "(2, 2)", "stop": "4",
}
# Required by the operators, although MXNet states a default.
NEEDED = {
    "target_shape": {"GridGenerator", "SpatialTransformer"},
    "kernel": {"Pooling", "Pooling_v1", "_contrib_quantized_pooling"},
    "min_calib_range": {"_contrib_quantized_batch_norm"}, "max_calib_range": {"_contrib_quantized_batch_norm"},
    "size": {"_image_resize"}, "stop": {"_linspace"},
    "shape": {"_ravel_multi_index", "_unravel_index", "_sample_unique_zipfian", "_zeros_without_dtype"},
}
# MXNet describes _linspace by the parameters of _arange, but takes others.
NOT_TAKEN = {("_linspace", "step"), ("_linspace", "repeat"), ("_linspace", "infer_range")}
SCALARS = {("slice_axis", "begin"): "0", ("slice_axis", "end"): "1", ("DeformablePSROIPooling", "pooled_size"): "2"}


def value_of(op, name, kind):
    if (op, name) in SCALARS:
        return SCALARS[op, name]
    if "PSROIPooling" in op and name == "pooled_size":
        return "2"
    if (op, name) in GIVEN:
        return GIVEN[op, name]
    is_tuple = "Shape" in kind or "tuple" in kind
    if name in GIVEN and is_tuple == GIVEN[name].startswith(("(", "[")):
        return GIVEN[name]
    choice = re.match(r"\{(.*?)\}", kind)
    if choice:
        return [v for v in ast.literal_eval("[%s]" % choice[1]) if v is not None][0]
    if is_tuple:
        return "(1,)"
    if "boolean" in kind:
        return "True"
    if "string" in kind:
        return "text"
    return "1" if "int" in kind or "long" in kind else "0.5"


def spelled(kind, default):
    """A default as a front end in Python writes it."""
    default = default.strip().strip("'")
    if kind.startswith("boolean") and default in ("0", "1"):
        return "True" if default == "1" else "False"
    if "or None" in kind and default == "None":
        return "None"
    if default.startswith("[") and ("Shape" in kind or "tuple" in kind):
        items = [i.strip() for i in default.strip("[]").split(",") if i.strip()]
        return "(%s)" % (items[0] + "," if len(items) == 1 else ", ".join(items))
    return default


def operators():
    handles, n = ctypes.POINTER(ctypes.c_void_p)(), mx_uint()
    check_call(_LIB.MXSymbolListAtomicSymbolCreators(ctypes.byref(n), ctypes.byref(handles)))
    for i in range(n.value):
        name, text, count = ctypes.c_char_p(), ctypes.c_char_p(), mx_uint()
        names, kinds, texts = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(3))
        variadic, returns = ctypes.c_char_p(), ctypes.c_char_p()
        check_call(_LIB.MXSymbolGetAtomicSymbolInfo(
            ctypes.c_void_p(handles[i]), *(ctypes.byref(a) for a in (name, text, count, names, kinds, texts, variadic,
                                                                      returns))))
        arguments = [(py_str(names[j]), py_str(kinds[j])) for j in range(count.value)]
        for needed in filter(None, (py_str(variadic.value), "num" if py_str(name.value) == "_linspace" else "")):
            if needed not in dict(arguments):
                arguments.append((needed, "int, required"))
        yield py_str(name.value), arguments


def main():
    lines = []
    for op, arguments in operators():
        if op.startswith(("_np", "_backward", "_contrib_backward")) or op.endswith("_backward"):
            continue
        fields = [op]
        for name, kind in arguments:
            if "NDArray" in kind or "Symbol" in kind or (op, name) in NOT_TAKEN:
                continue
            default = re.search(r"default=(.*)$", kind)
            if default and op not in NEEDED.get(name, ()):
                fields.append("%s=%s" % (name, spelled(kind, default[1])))
            else:
                fields.append("!%s=%s" % (name, value_of(op, name, kind)))
        lines.append("\t".join(fields))
    with open(sys.argv[1], "w") as f:
        f.write("\n".join(sorted(lines)) + "\n")


main()

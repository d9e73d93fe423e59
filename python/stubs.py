# SPDX-License-Identifier: Apache-2.0
"""stubs.py LIBMXC.SO: writes what an installed package has beside its sources: mxc/op.pyi, the types of operators, and
mxc/_ffi.py, the declarations for cffi, which then need no parsing at import. Neither is kept under version control."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"MXC_PARAM_BOOL": "bool", "MXC_PARAM_INT": "int", "MXC_PARAM_FLOAT": "float", "MXC_PARAM_TUPLE": "_Tuple",
         "MXC_PARAM_FLOATS": "_Floats", "MXC_PARAM_DTYPE": "_Dtype", "MXC_PARAM_STRING": "str"}
HEAD = '''# Written by python/stubs.py from the registry of operators.
from typing import Any, List, Literal, Optional, Sequence, TypeVar, Union

from .ndarray import NDArray
from .symbol import Symbol

_T = TypeVar("_T", NDArray, Symbol)
_Tuple = Union[int, Sequence[Optional[int]]]
_Floats = Union[float, Sequence[float]]
_Dtype = Any

def names() -> List[str]: ...
def describe(name: str) -> str: ...
'''


def annotation(lib, text, param):
    if param.type == lib.MXC_PARAM_ENUM:
        kind = "Literal[" + ", ".join(f'"{choice}"' for choice in text(param.choices).split(",")) + "]"
    else:
        kind = next(name for key, name in TYPES.items() if getattr(lib, key) == param.type)
    return f"Optional[{kind}]" if param.optional else kind


def function(lib, text, definition, name):
    args = ["*inputs: Any"] if definition.takes_list else []
    single, n = len(definition.inputs) == 1, len(definition.inputs)
    args += [f"{item}: _T" if single or n and i == 0 else f"{item}: Optional[_T] = ..."
             for i, item in enumerate(definition.inputs)]
    keyword, defaulted = definition.takes_list, not single
    for item, default, param in definition.params:
        if item == definition.variadic:
            continue
        if not keyword and (item not in definition.positional or default is None and defaulted):
            keyword = True
            args.append("*")
        defaulted = defaulted or default is not None
        args.append(f"{item}: {annotation(lib, text, param)}" + ("" if default is None else " = ..."))
    args += ([] if keyword else ["*"]) + ["out: Any = ...", "name: Optional[str] = ..."]
    args += ["**params: Any"] if definition.open else []
    result = "_T" if definition.inputs and definition.n_outputs == 1 else "NDArray" if not definition.inputs and \
        definition.n_outputs == 1 and not definition.takes_list else "Any"
    return f"def {name}({', '.join(args)}) -> {result}: ...\n"


def main():
    os.environ["LIBMXC_PATH"] = os.path.abspath(sys.argv[1])
    sys.path.insert(0, HERE)
    from mxc import _declare, op
    from mxc._api import lib, text

    with open(os.path.join(HERE, "mxc", "op.pyi"), "w", encoding="utf-8") as file:
        file.write(HEAD)
        written = set()
        for i in range(lib.mxc_op_count()):
            descriptor = lib.mxc_op_at(i)
            if descriptor.flags & lib.MXC_OP_HIDDEN:
                continue
            definition = op.Definition(descriptor)
            for name in [definition.name, *filter(None, text(descriptor.aliases).split(","))]:
                if name.isidentifier() and name not in written:
                    file.write(function(lib, text, definition, name))
                    written.add(name)
    _declare.write_module(os.path.join(HERE, "mxc", "_ffi.py"))


if __name__ == "__main__":
    main()

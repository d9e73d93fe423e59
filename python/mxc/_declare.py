# SPDX-License-Identifier: Apache-2.0
"""C declarations for cffi from docs/reference/api.json."""

from __future__ import annotations

import json
import os
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = (os.path.join(HERE, "api.json"), os.path.join(HERE, "..", "..", "docs", "reference", "api.json"))


def read() -> Any:
    """The description of the interface: beside this file if the package is installed, else that of the source tree."""
    for path in PLACES:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return json.load(file)
    raise ImportError(f"mxc: api.json is at none of {', '.join(PLACES)}")


def _declarator(item: Any, name: str) -> str:
    if "signature" in item:
        return str(item["type"].replace("(*)", f"(*{name})"))
    sizes = "".join(f"[{size}]" for size in item.get("array", ()))
    return f"{item['type'].split('[')[0]} {name}{sizes}"


def _function(item: Any, name: str) -> str:
    params = [_declarator(param, param["name"]) for param in item["params"]] or ["void"]
    if item.get("variadic"):
        params.append("...")
    return f"{_declarator(item['returns'], name)}({', '.join(params)});"


def declarations(api: Any) -> str:
    """Everything that api.json describes, in an order that a C compiler accepts."""
    lines = []
    for enum in api["enums"]:
        values = ", ".join(f"{value['name']} = {value['value']}" for value in enum["values"])
        lines.append(f"typedef enum {{ {values} }} {enum['name']};" if enum["name"] else f"enum {{ {values} }};")
    lines += [f"typedef struct {item['name']} {item['name']};" for item in api["handles"] + api["structs"]]
    lines += ["typedef " + _function(item, f"(*{item['name']})") for item in api["callbacks"]]
    for struct in api["structs"]:
        members = " ".join(_declarator(member, member["name"]) + ";" for member in struct["members"])
        lines.append(f"struct {struct['name']} {{ {members} }};")
    lines += [_function(item, item["name"]) for item in api["functions"]]
    return "\n".join(lines)


def write_module(path: str) -> None:
    """Write the declarations as a Python module, which loads ten times faster than cffi parses them."""
    import cffi

    builder: Any = cffi.FFI()
    builder.cdef(declarations(read()))
    builder.set_source("mxc._ffi", None)
    builder.emit_python_code(path)

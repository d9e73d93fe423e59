# SPDX-License-Identifier: Apache-2.0
"""Operators as functions, for arrays and for symbols: mxc.op.FullyConnected(data, weight, bias, num_hidden=10).

They are made from the library's registry when they are first used; help(mxc.op.FullyConnected) says what one computes.
Inputs are given in order or by name, parameters by name, or behind a single input. Among symbols, missing inputs become
variables. out= takes the array, or list of arrays, to write to; name= is the name of a symbol's node."""

from __future__ import annotations

import ast
import inspect
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ._api import NULL, c_text, check, ffi, lib, spell, take_text, text
from .ndarray import NDArray, call, invoke, operation

_PARAM = inspect.Parameter


class Definition:
    """What a descriptor says of an operator: names of inputs and parameters."""

    def __init__(self, descriptor: Any) -> None:
        self.name = text(descriptor.name)
        self.variadic = text(descriptor.variadic)
        self.open = bool(descriptor.params_open)  # takes parameters of any name
        args = text(descriptor.args) if descriptor.args else "data"
        self.inputs = [] if self.variadic or self.open else [part for part in args.split(",") if part]
        self.n_outputs = (text(descriptor.outputs) or "output").count(",") + 1
        if descriptor.aux and not self.inputs == [] and not descriptor.args_per_output:
            self.inputs += text(descriptor.aux).split(",")
        if descriptor.args_per_output or "..." in self.inputs:
            self.inputs, self.variadic = [], self.variadic or "*"
        self.params: List[Tuple[str, Any, Any]] = []  # name, default as text or None, the mxc_param
        i = 0
        while descriptor.params and descriptor.params[i].type:
            param = descriptor.params[i]
            self.params.append((text(param.name), text(param.initial) if param.initial else None, param))
            i += 1
        self.takes_list = bool(self.variadic) or self.open
        # With one input, parameters may follow it by position; with several that would be a trap.
        names = [name for name, _, _ in self.params] if len(self.inputs) == 1 else []
        self.positional = self.inputs + names

    def signature(self) -> inspect.Signature:
        kind = _PARAM.POSITIONAL_OR_KEYWORD
        taken = [_PARAM("inputs", _PARAM.VAR_POSITIONAL)] if self.takes_list else []
        single = len(self.inputs) == 1
        taken += [_PARAM(name, kind, default=_PARAM.empty if single else None) for name in self.inputs]
        for name, default, _ in self.params:
            if name not in self.positional or default is None and taken[-1].default is not _PARAM.empty:
                kind = _PARAM.KEYWORD_ONLY
            if name != self.variadic:
                taken.append(_PARAM(name, kind, default=_PARAM.empty if default is None else literal(default)))
        taken += [_PARAM("out", _PARAM.KEYWORD_ONLY, default=None), _PARAM("name", _PARAM.KEYWORD_ONLY, default=None)]
        if self.open:
            taken.append(_PARAM("params", _PARAM.VAR_KEYWORD))
        return inspect.Signature(taken)


def literal(value: str) -> Any:
    """A default as the Python value that is spelled so."""
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value


def describe(name: str) -> str:
    """The documentation of an operator: what it computes, its inputs, outputs and parameters."""
    out = ffi.new("char **")
    check(lib.mxc_op_describe(c_text(name), out))
    return take_text(out[0])


def names() -> List[str]:
    """The names of all operators."""
    found = (lib.mxc_op_at(i) for i in range(lib.mxc_op_count()))
    return [text(item.name) for item in found if not item.flags & lib.MXC_OP_HIDDEN]


def _gather(definition: Definition, args: Tuple[Any, ...], params: Dict[str, Any]) -> Dict[str, Any]:
    """The inputs by name, or by number where there may be any number; what is left in params are parameters."""
    if definition.takes_list:
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = tuple(args[0])
        return {str(i): arg for i, arg in enumerate(args)}
    if len(args) > len(definition.positional):
        raise TypeError(f"{definition.name} takes at most {len(definition.positional)} arguments, got {len(args)}")
    for name, arg in zip(definition.positional, args):
        if name in params:
            raise TypeError(f"{definition.name} got two values for {name}")
        params[name] = arg
    return {name: params.pop(name) for name in definition.inputs if params.get(name) is not None}


def apply(definition: Definition, args: Tuple[Any, ...], out: Any, name: Any, params: Dict[str, Any]) -> Any:
    from .symbol import Symbol, compose

    inputs = _gather(definition, args, params)
    given = {key: value for key, value in params.items() if value is not None or key not in definition.inputs}
    if any(isinstance(item, Symbol) for item in inputs.values()) or name is not None and not inputs:
        by_name = None if definition.takes_list else list(inputs)
        return compose(definition.name, name, given, by_name, list(inputs.values()))
    if definition.variadic not in ("", "*") and definition.variadic not in given:
        given[definition.variadic] = len(inputs)
    return call(definition.name, list(inputs.values()), given, out)


def _make(name: str) -> Callable[..., Any]:
    descriptor = lib.mxc_op_find(c_text(name))
    if descriptor == NULL:
        raise AttributeError(f"mxc has no operator {name!r}")
    definition = Definition(descriptor)

    prepared: Dict[Any, Any] = {}  # operators by parameters that calls on arrays alone had
    most = 0 if definition.takes_list else len(definition.inputs)

    def function(*args: Any, out: Any = None, name: Any = None, **params: Any) -> Any:
        plain = out is None and name is None and 0 < len(args) <= most
        for item in args:
            plain = plain and type(item) is NDArray
        if plain:
            try:
                found = prepared[(*params.items(), *map(type, params.values()))]
            except (KeyError, TypeError):
                if not any(key in definition.inputs for key in params):
                    found = operation(definition.name, tuple((key, spell(value)) for key, value in params.items()))
                    # 1 and 1.0 are equal, as 0.0 and -0.0 are, but mean different parameters.
                    kinds = [type(value) if value or type(value) is not float else None for value in params.values()]
                    if {*kinds} <= {str, bool, int, float} and len(prepared) < 100:
                        prepared[(*params.items(), *map(type, params.values()))] = found
                else:
                    plain = False
        return invoke(*found, args) if plain else apply(definition, args, out, name, params)
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = describe(name)
    function.__signature__ = definition.signature()  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    made = globals()[name] = _make(name)
    return made


def __dir__() -> Iterator[str]:
    return iter(sorted([*names(), "describe", "names"]))


__all__ = ["NDArray", "describe", "names"]

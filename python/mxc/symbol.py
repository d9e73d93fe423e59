# SPDX-License-Identifier: Apache-2.0
"""Symbols: a computation that is written down before it runs."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._api import (NULL, Handle, c_params, c_shape, c_text, c_texts, check, ffi, lib, names_of, shape_of, spell,
                   take_text, text)
from .ndarray import _DTYPES, Context, NDArray, bfloat16, dtype_flag

Shapes = Dict[str, Sequence[int]]


def compose(op: str, name: Optional[str], params: Dict[str, Any], arg_names: Optional[List[str]],
            inputs: List[Any]) -> "Symbol":
    """An operator applied to symbols, by argument names or in order."""
    for item in inputs:
        if not isinstance(item, Symbol):
            raise TypeError(f"{op}: expected a Symbol, got {type(item).__name__}")
    n, keys, values = c_params(params)
    out = ffi.new("mxc_symbol **")
    if arg_names and any(len(item) > 1 for item in inputs):
        arg_names = None  # one with several outputs serves several arguments, in order
    names = NULL if arg_names is None else c_texts(arg_names)
    handles = [item._h for item in inputs]
    node = c_text(name) if name else NULL
    check(lib.mxc_symbol_op(c_text(op), node, n, keys, values, len(inputs), names, handles, out))
    return Symbol._of(out[0])


def _binary(op: str, scalar_op: str, reflected: bool = False) -> Callable[["Symbol", Any], "Symbol"]:
    def method(self: Symbol, other: Any) -> Symbol:
        if isinstance(other, Symbol):
            return compose(op, None, {}, None, [other, self] if reflected else [self, other])
        if isinstance(other, (bool, int, float, np.number)):
            return compose(scalar_op, None, {"scalar": float(other)}, None, [self])
        return NotImplemented
    return method


class Symbol(Handle, release="mxc_symbol_release"):
    """Outputs of nodes. Operators of mxc.op applied to symbols make new ones; bind runs them."""

    __slots__ = ()

    @classmethod
    def _of(cls, handle: Any) -> "Symbol":
        symbol = cls.__new__(cls)
        symbol._h = handle
        return symbol

    @classmethod
    def _made(cls, make: Callable[..., int], *args: Any) -> "Symbol":
        out = ffi.new("mxc_symbol **")
        check(make(*args, out))
        return cls._of(out[0])

    # ---- outputs, inner nodes, names

    @property
    def name(self) -> Optional[str]:
        """Name of the node; None for a group."""
        found = lib.mxc_symbol_name(self._h)
        return text(found) if found else None

    def __len__(self) -> int:
        return int(lib.mxc_symbol_n_outputs(self._h))

    def __getitem__(self, key: Union[int, str]) -> "Symbol":
        """An output by number or name; of get_internals() also those of inner nodes."""
        if isinstance(key, str):
            return self._made(lib.mxc_symbol_find_output, self._h, c_text(key))
        index = key + len(self) if key < 0 else key
        if not 0 <= index < len(self):
            raise IndexError(f"output {key} of a symbol with {len(self)}")
        return self._made(lib.mxc_symbol_output, self._h, index)

    def __iter__(self) -> Iterator["Symbol"]:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Symbol {self.name or ', '.join(self.list_outputs())}>"

    def get_internals(self) -> "Symbol":
        """The outputs of all nodes."""
        return self._made(lib.mxc_symbol_internals, self._h)

    def get_children(self) -> "Optional[Symbol]":
        """The inputs of the nodes; None for a variable."""
        out = ffi.new("mxc_symbol **")
        check(lib.mxc_symbol_children(self._h, out))
        return Symbol._of(out[0]) if out[0] else None

    def _list(self, call: Callable[..., int], *args: Any) -> List[str]:
        names = ffi.new("mxc_names *")
        check(call(self._h, *args, names))
        return names_of(names)

    def list_arguments(self) -> List[str]:
        return self._list(lib.mxc_symbol_list_arguments)

    def list_outputs(self) -> List[str]:
        return self._list(lib.mxc_symbol_list_outputs)

    def list_auxiliary_states(self) -> List[str]:
        """Variables that operators change, such as the moving averages of BatchNorm."""
        return self._list(lib.mxc_symbol_list_aux)

    # ---- composing

    def __call__(self, name: Optional[str] = None, **inputs: "Symbol") -> "Symbol":
        """A copy in which other symbols take the place of free variables."""
        result = self.__copy__()
        handles = [item._h for item in inputs.values()]
        check(lib.mxc_symbol_compose(result._h, c_text(name) if name else NULL, len(inputs), c_texts(inputs), handles))
        return result

    def __copy__(self) -> "Symbol":
        return self._made(lib.mxc_symbol_copy, self._h)

    def __deepcopy__(self, memo: Any) -> "Symbol":
        return self.__copy__()

    def grad(self, names: Sequence[str]) -> "Symbol":
        """The gradients of the sum of the outputs with respect to arguments, as a symbol with one output each."""
        return self._made(lib.mxc_symbol_grad, self._h, len(names), c_texts(names))

    def __neg__(self) -> "Symbol":
        return compose("negative", None, {}, None, [self])

    def __matmul__(self, other: "Symbol") -> "Symbol":
        return compose("dot", None, {}, None, [self, other])

    __add__ = __radd__ = _binary("broadcast_add", "_plus_scalar")
    __sub__ = _binary("broadcast_sub", "_minus_scalar")
    __rsub__ = _binary("broadcast_sub", "_rminus_scalar", True)
    __mul__ = __rmul__ = _binary("broadcast_mul", "_mul_scalar")
    __truediv__ = _binary("broadcast_div", "_div_scalar")
    __rtruediv__ = _binary("broadcast_div", "_rdiv_scalar", True)
    __mod__ = _binary("broadcast_mod", "_mod_scalar")
    __rmod__ = _binary("broadcast_mod", "_rmod_scalar", True)
    __pow__ = _binary("broadcast_power", "_power_scalar")
    __rpow__ = _binary("broadcast_power", "_rpower_scalar", True)
    __lt__ = _binary("broadcast_lesser", "_lesser_scalar")
    __le__ = _binary("broadcast_lesser_equal", "_lesser_equal_scalar")
    __gt__ = _binary("broadcast_greater", "_greater_scalar")
    __ge__ = _binary("broadcast_greater_equal", "_greater_equal_scalar")
    __eq__ = _binary("broadcast_equal", "_equal_scalar")  # type: ignore[assignment]
    __ne__ = _binary("broadcast_not_equal", "_not_equal_scalar")  # type: ignore[assignment]

    # ---- attributes

    def attr(self, key: str) -> Optional[str]:
        """An attribute or parameter of the node, or None."""
        found = lib.mxc_symbol_attr(self._h, c_text(key))
        return text(found) if found else None

    def set_attr(self, **attrs: Any) -> "Symbol":
        """Set attributes such as lr_mult on the node; returns the symbol."""
        for key, value in attrs.items():
            check(lib.mxc_symbol_set_attr(self._h, c_text(key), c_text(spell(value))))
        return self

    def list_attr(self) -> Dict[str, str]:
        pairs = self._list(lib.mxc_symbol_list_attrs, 0)
        return dict(zip(pairs[::2], pairs[1::2]))

    def attr_dict(self) -> Dict[str, Dict[str, str]]:
        """Attributes of all nodes by name."""
        pairs = self._list(lib.mxc_symbol_list_attrs, 1)
        result: Dict[str, Dict[str, str]] = {}
        for key, value in zip(pairs[::2], pairs[1::2]):
            node, _, attribute = key.rpartition("$")
            result.setdefault(node, {})[attribute] = value
        return result

    # ---- inference

    def _infer(self, shapes: Dict[str, Any], types: Dict[str, Any]) -> Any:
        names = list(dict.fromkeys([*shapes, *types]))
        known = ffi.new("mxc_shape[]", len(names))
        for i, name in enumerate(names):
            c_shape(shapes.get(name), known + i)
        dtypes = [dtype_flag(types[name]) if name in types else lib.MXC_DTYPE_UNKNOWN for name in names]
        out = ffi.gc(ffi.new("mxc_inferred *"), lib.mxc_inferred_release)
        check(lib.mxc_symbol_infer(self._h, len(names), c_texts(names), known, ffi.new("mxc_dtype[]", dtypes), out))
        return out

    def infer_shape(self, **shapes: Sequence[int]) -> Tuple[List[Any], List[Any], List[Any]]:
        """Shapes of arguments, outputs and auxiliary states from those of some; None, or -1 in a shape, is unknown."""
        out = self._infer(shapes, {})
        return ([shape_of(out.arg_shapes[i]) for i in range(out.n_args)],
                [shape_of(out.output_shapes[i]) for i in range(out.n_outputs)],
                [shape_of(out.aux_shapes[i]) for i in range(out.n_aux)])

    def infer_type(self, **types: Any) -> Tuple[List[Any], List[Any], List[Any]]:
        """The same for dtypes."""
        out = self._infer({}, types)

        def name(flag: int) -> Any:
            return None if flag < 0 else _DTYPES.get(flag, bfloat16)
        return ([name(out.arg_types[i]) for i in range(out.n_args)],
                [name(out.output_types[i]) for i in range(out.n_outputs)],
                [name(out.aux_types[i]) for i in range(out.n_aux)])

    # ---- text

    def tojson(self) -> str:
        out = ffi.new("char **")
        check(lib.mxc_symbol_to_json(self._h, out))
        return take_text(out[0])

    def save(self, path: Any) -> None:
        """Write the JSON of MXNet to a file."""
        check(lib.mxc_symbol_save(self._h, c_text(path)))

    def debug_str(self) -> str:
        """One line per node."""
        out = ffi.new("char **")
        check(lib.mxc_symbol_print(self._h, out))
        return take_text(out[0])

    def to_dot(self, **shapes: Sequence[int]) -> str:
        """The graph in the language of Graphviz."""
        known, out = ffi.new("mxc_shape[]", max(len(shapes), 1)), ffi.new("char **")
        for i, shape in enumerate(shapes.values()):
            c_shape(shape, known + i)
        check(lib.mxc_symbol_to_dot(self._h, len(shapes), c_texts(shapes), known if shapes else NULL, out))
        return take_text(out[0])

    def __reduce__(self) -> Any:
        return fromjson, (self.tojson(),)

    # ---- binding

    def bind(self, args: "Dict[str, NDArray] | Sequence[NDArray]", **options: Any) -> Any:
        """An Executor over given arrays; see Executor.bind."""
        from .executor import Executor

        return Executor.bind(self, args, **options)

    def simple_bind(self, ctx: "str | Context | None" = None, grad_req: str = "write", **shapes: Sequence[int]) -> Any:
        """An Executor with new arrays, from the shapes of the inputs; see Executor.simple_bind."""
        from .executor import Executor

        return Executor.simple_bind(self, shapes, ctx=ctx, grad_req=grad_req)


def var(name: str, shape: Optional[Sequence[int]] = None, dtype: Any = None, init: Any = None, **attrs: Any) -> Symbol:
    """A variable: an argument that is given when the symbol is bound."""
    symbol = Symbol._made(lib.mxc_symbol_variable, c_text(name))
    own = {"__shape__": shape, "__dtype__": None if dtype is None else dtype_flag(dtype), "__init__": init}
    return symbol.set_attr(**{key: value for key, value in own.items() if value is not None}, **attrs)


Variable = var


def Group(symbols: Sequence[Symbol]) -> Symbol:
    """All outputs of several symbols."""
    return Symbol._made(lib.mxc_symbol_group, len(symbols), [symbol._h for symbol in symbols])


def fromjson(json: str) -> Symbol:
    data = json.encode()
    return Symbol._made(lib.mxc_symbol_from_json, data, len(data))


def load_symbol(path: Any) -> Symbol:
    return Symbol._made(lib.mxc_symbol_load, c_text(path))


class AttrScope:
    """with AttrScope(ctx_group="dev1"): nodes that this thread makes have these attributes."""

    def __init__(self, **attrs: Any) -> None:
        self._attrs = attrs

    def __enter__(self) -> "AttrScope":
        check(lib.mxc_attr_scope_enter(*c_params(self._attrs)))
        return self

    def __exit__(self, *_: Any) -> None:
        lib.mxc_attr_scope_leave()


# ---- control flow ----------------------------------------------------------------------------------------------------

def _named(inputs: Dict[str, Symbol]) -> Tuple[int, List[Any], List[Any]]:
    return len(inputs), c_texts(inputs), [symbol._h for symbol in inputs.values()]


def foreach(body: Symbol, data: Dict[str, Symbol], states: Dict[str, Symbol], name: Optional[str] = None) -> Symbol:
    """Run body for each row of data: arguments of body by name. Its last outputs are the new states."""
    return Symbol._made(lib.mxc_symbol_foreach, c_text(name) if name else NULL, body._h, *_named(data), *_named(states))


def while_loop(condition: Symbol, body: Symbol, variables: Dict[str, Symbol], max_iterations: int,
               name: Optional[str] = None) -> Symbol:
    """Run body on its variables as long as condition is not 0."""
    return Symbol._made(lib.mxc_symbol_while_loop, c_text(name) if name else NULL, condition._h, body._h,
                        *_named(variables), max_iterations)


def cond(condition: Symbol, then_branch: Symbol, else_branch: Symbol, name: Optional[str] = None) -> Symbol:
    """One of two symbols, as condition says when it runs."""
    node = c_text(name) if name else NULL
    return Symbol._made(lib.mxc_symbol_cond, node, condition._h, then_branch._h, else_branch._h)

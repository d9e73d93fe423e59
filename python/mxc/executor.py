# SPDX-License-Identifier: Apache-2.0
"""Bound symbols: executors, and symbols that are called like operators."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

from ._api import (NULL, Handle, c_shape, c_text, c_texts, callback, check, close_at_exit, drop, ffi, keep, kept, lib,
                   take_text, text)
from .ndarray import Context, NDArray, as_array, borrow, dtype_flag, request, wrap
from .symbol import Symbol

Monitor = Callable[[str, NDArray], Any]


def _run_monitor(name: Any, array: Any, user: Any) -> None:
    kept(user)(text(name), borrow(array))


_call_monitor = callback("mxc_monitor_fn", _run_monitor)


def _bind_options(ctx: "str | Context | None", groups: Optional[Dict[str, Any]], options: Dict[str, Any]) -> Any:
    block = ffi.new("mxc_bind_options *")
    lib.mxc_bind_options_init(block, ffi.sizeof("mxc_bind_options"))
    where = Context.parse(ctx)
    block.context.device, block.context.id = where.device, where.id
    places = {name: Context.parse(place) for name, place in (groups or {}).items()}
    names = ffi.new("const char *[]", texts := c_texts(places))
    contexts = ffi.new("mxc_context[]", [tuple(place) for place in places.values()])
    block.n_groups, block.group_names, block.group_contexts = len(places), names, contexts
    for key, value in options.items():
        setattr(block, key, value)
    return block, (texts, names, contexts)


class Executor(Handle, release="mxc_executor_destroy"):
    """A symbol with its arrays: forward and backward run it."""

    __slots__ = ("_symbol", "_monitor")

    def __init__(self, handle: Any, symbol: Symbol) -> None:
        self._h, self._symbol, self._monitor = handle, symbol, None

    @classmethod
    def bind(cls, symbol: Symbol, args: "Dict[str, NDArray] | Sequence[NDArray]",
             args_grad: "Dict[str, NDArray] | Sequence[Optional[NDArray]] | None" = None,
             grad_req: "str | Dict[str, str]" = "write",
             aux_states: "Dict[str, NDArray] | Sequence[NDArray] | None" = None, ctx: "str | Context | None" = None,
             group2ctx: Optional[Dict[str, Any]] = None, **options: Any) -> "Executor":
        """Bind to given arrays, by name or in the order of list_arguments. options: members of mxc_bind_options."""
        names = symbol.list_arguments()
        arrays = _in_order("argument", names, args)
        grads = _in_order("", names, args_grad or {})
        states = _in_order("auxiliary state", symbol.list_auxiliary_states(), aux_states or {})
        asked = [grad_req if isinstance(grad_req, str) else grad_req.get(name, "null") for name in names]
        reqs = [request(req) if grad else lib.MXC_REQ_NULL for req, grad in zip(asked, grads)]
        block, _alive = _bind_options(ctx, group2ctx, options)
        out = ffi.new("mxc_executor **")
        check(lib.mxc_executor_bind(symbol._h, block, arrays, grads, ffi.new("mxc_req[]", reqs), states, out))
        return cls(out[0], symbol)

    @classmethod
    def simple_bind(cls, symbol: Symbol, shapes: Dict[str, Sequence[int]], types: Optional[Dict[str, Any]] = None,
                    grad_req: str = "write", no_grad: Sequence[str] = (), ctx: "str | Context | None" = None,
                    group2ctx: Optional[Dict[str, Any]] = None, **options: Any) -> "Executor":
        """Make all arrays from the shapes of the inputs, which get no gradient."""
        known = ffi.new("mxc_shape[]", max(len(shapes), 1))
        for i, shape in enumerate(shapes.values()):
            c_shape(shape, known + i)
        dtypes = [dtype_flag((types or {}).get(name, "float32")) for name in shapes]
        names, without = c_texts(shapes), c_texts(no_grad)
        alive = [ffi.new("const char *[]", names), ffi.new("const char *[]", without), ffi.new("mxc_dtype[]", dtypes)]
        spec = ffi.new("mxc_bind_spec *")
        lib.mxc_bind_spec_init(spec, ffi.sizeof("mxc_bind_spec"))
        spec.n, spec.names, spec.shapes, spec.req = len(shapes), alive[0], known, request(grad_req)
        spec.types = alive[2] if types else NULL
        spec.n_no_grad, spec.no_grad = len(without), alive[1]
        block, _alive = _bind_options(ctx, group2ctx, options)
        out = ffi.new("mxc_executor **")
        check(lib.mxc_executor_simple_bind(symbol._h, block, spec, out))
        return cls(out[0], symbol)

    @property
    def symbol(self) -> Symbol:
        return self._symbol

    def _arrays(self, names: Any, get: Callable[..., Any]) -> Dict[str, NDArray]:
        found = {text(names.items[i]): borrow(get(self._h, i)) for i in range(names.n)}
        return {name: array for name, array in found.items() if array is not None}

    @property
    def arg_dict(self) -> Dict[str, NDArray]:
        return self._arrays(lib.mxc_executor_arg_names(self._h), lib.mxc_executor_arg)

    @property
    def grad_dict(self) -> Dict[str, NDArray]:
        """The gradients of the arguments that have one."""
        return self._arrays(lib.mxc_executor_arg_names(self._h), lib.mxc_executor_grad)

    @property
    def aux_dict(self) -> Dict[str, NDArray]:
        return self._arrays(lib.mxc_executor_aux_names(self._h), lib.mxc_executor_aux)

    @property
    def outputs(self) -> List[NDArray]:
        """The arrays that each run overwrites."""
        found = (borrow(lib.mxc_executor_output(self._h, i)) for i in range(len(self._symbol)))
        return [array for array in found if array is not None]

    def forward(self, is_train: bool = False, **inputs: Any) -> List[NDArray]:
        """Copy the inputs to their arguments, queue a run, and return the outputs."""
        for name, value in inputs.items():
            target = borrow(lib.mxc_executor_find_arg(self._h, c_text(name)))
            if target is None:
                raise LookupError(f"forward: no argument {name!r}; there are {', '.join(self.arg_dict)}")
            as_array(value, target).copyto(target)
        check(lib.mxc_executor_forward(self._h, is_train))
        return self.outputs

    def backward(self, out_grads: "NDArray | Sequence[Optional[NDArray]] | None" = None) -> None:
        """Queue computing the gradients after forward(is_train=True). Losses need no out_grads."""
        grads: List[Optional[NDArray]] = [out_grads] if isinstance(out_grads, NDArray) else list(out_grads or [])
        check(lib.mxc_executor_backward(self._h, len(grads), [NULL if grad is None else grad._h for grad in grads]))

    def set_monitor(self, monitor: Optional[Monitor]) -> None:
        """Have monitor(name, array) called after each node from the next run on, on threads of the library."""
        arg = keep(monitor) if monitor else NULL
        check(lib.mxc_executor_set_monitor(self._h, _call_monitor if monitor else NULL, arg))
        if self._monitor:
            for array in self.outputs:
                array.wait_to_write()
            drop(self._monitor)
        self._monitor = arg
        if monitor:
            close_at_exit(self)

    def close(self) -> None:
        """Wait for runs and free the executor; its arrays stay."""
        handle, self._h = self._h, NULL
        lib.mxc_executor_destroy(handle)

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False,
                **shapes: Sequence[int]) -> "Executor":
        """An executor for other shapes that shares what stays the same."""
        known = ffi.new("mxc_shape[]", max(len(shapes), 1))
        for i, shape in enumerate(shapes.values()):
            c_shape(shape, known + i)
        out, names = ffi.new("mxc_executor **"), c_texts(shapes)
        check(lib.mxc_executor_reshape(self._h, partial_shaping, allow_up_sizing, len(shapes), names, known, out))
        return Executor(out[0], self._symbol)

    def memory_report(self) -> Dict[str, int]:
        """Bytes by class, as mxc_memory_report has them."""
        out = ffi.new("mxc_memory_report *")
        check(lib.mxc_executor_get_report(self._h, out))
        return {name: getattr(out, name) for name, _ in ffi.typeof("mxc_memory_report").fields}

    def debug_str(self) -> str:
        out = ffi.new("char **")
        check(lib.mxc_executor_print(self._h, out))
        return take_text(out[0])


def _in_order(what: str, names: List[str], given: Any) -> List[Any]:
    """Handles in the order of names; where what is "", some may be missing."""
    if not isinstance(given, dict):
        given = dict(zip(names, given))
    missing = [name for name in names if what and given.get(name) is None]
    if missing:
        raise LookupError(f"bind: no array for {what} {', '.join(missing)}")
    return [given[name]._h if given.get(name) is not None else NULL for name in names]


class CachedOp(Handle, release="mxc_cached_op_destroy"):
    """A symbol that is called on arrays like an operator, and recorded as one. options: of mxc_cached_op_options."""

    __slots__ = ("_n_out",)

    def __init__(self, symbol: Symbol, **options: Any) -> None:
        block, out = ffi.new("mxc_cached_op_options *"), ffi.new("mxc_cached_op **")
        lib.mxc_cached_op_options_init(block, ffi.sizeof("mxc_cached_op_options"))
        for key, value in options.items():
            setattr(block, key, value)
        check(lib.mxc_cached_op_create(symbol._h, block, out))
        self._h, self._n_out = out[0], len(symbol)

    def __call__(self, *inputs: NDArray) -> Any:
        """The arguments in order, then the auxiliary states. One array, or a list of several."""
        out = ffi.new("mxc_ndarray *[]", self._n_out)
        check(lib.mxc_cached_op_invoke(self._h, len(inputs), [item._h for item in inputs], self._n_out, out))
        results = [wrap(out[i]) for i in range(self._n_out)]
        return results[0] if self._n_out == 1 else results

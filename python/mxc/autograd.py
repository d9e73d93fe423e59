# SPDX-License-Identifier: Apache-2.0
"""Gradients of computations on arrays: with mxc.record(): loss = ...; loss.backward(); w.grad."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Type, Union

from ._api import NULL, c_text, callback, check, drop_callback, ffi, keep, kept, drop, lib
from .ndarray import NDArray, borrow, wrap


class _Scope:
    """What a thread does with calls, from entering to leaving."""

    def __init__(self, enter: Callable[[], Any], leave: Callable[[Any], Any]) -> None:
        self._enter, self._leave = enter, leave
        self._before: List[Any] = []

    def __enter__(self) -> "_Scope":
        self._before.append(self._enter())
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        self._leave(self._before.pop())


def record(train_mode: bool = True) -> _Scope:
    """with record(): calls are recorded, in training mode."""
    return _Scope(lambda: lib.mxc_autograd_record(train_mode), lib.mxc_autograd_leave)


def pause(train_mode: bool = False) -> _Scope:
    """with pause(): calls inside record() are not recorded."""
    return _Scope(lambda: lib.mxc_autograd_pause(train_mode), lib.mxc_autograd_leave)


def train_mode() -> _Scope:
    """with train_mode(): calls behave as in training; recording stays as it is."""
    return _Scope(lambda: lib.mxc_autograd_set_training(1), lib.mxc_autograd_set_training)


def predict_mode() -> _Scope:
    """with predict_mode(): calls behave as in inference; recording stays as it is."""
    return _Scope(lambda: lib.mxc_autograd_set_training(0), lib.mxc_autograd_set_training)


def is_recording() -> bool:
    return bool(lib.mxc_autograd_is_recording())


def is_training() -> bool:
    return bool(lib.mxc_autograd_is_training())


Heads = Union[NDArray, Sequence[NDArray]]


def _heads(heads: Heads, head_grads: Any) -> Tuple[List[Any], Any]:
    several = [heads] if isinstance(heads, NDArray) else list(heads)
    grads = [head_grads] if isinstance(head_grads, NDArray) else head_grads
    if grads is not None and len(grads) != len(several):
        raise ValueError(f"{len(several)} heads, but {len(grads)} gradients of heads")
    handles = NULL if grads is None else [NULL if grad is None else grad._h for grad in grads]
    return [head._h for head in several], handles


def _options(retain_graph: bool) -> Any:
    options = ffi.new("mxc_backward_options *")
    lib.mxc_backward_options_init(options, ffi.sizeof("mxc_backward_options"))
    options.retain_graph = retain_graph
    return options


def backward(heads: Heads, head_grads: Any = None, retain_graph: bool = False) -> None:
    """Compute the attached gradients of the arrays that the heads depend on. head_grads: ones."""
    handles, grads = _heads(heads, head_grads)
    check(lib.mxc_autograd_backward(len(handles), handles, grads, _options(retain_graph)))


def grad(heads: Heads, variables: Heads, head_grads: Any = None, retain_graph: bool = False) -> Any:
    """The gradients of the heads with respect to some arrays, as new arrays; attached ones are left alone."""
    handles, grads = _heads(heads, head_grads)
    of, _ = _heads(variables, None)
    out = ffi.new("mxc_ndarray *[]", len(of))
    check(lib.mxc_autograd_gradients(len(handles), handles, grads, len(of), of, _options(retain_graph), out))
    results = [wrap(out[i]) for i in range(len(of))]
    return results[0] if isinstance(variables, NDArray) else results


def get_symbol(heads: Heads, inputs: "dict[str, NDArray] | None" = None) -> Any:
    """The recorded graph of the heads as a symbol; inputs are arrays that become variables of these names."""
    from .symbol import Symbol

    handles, _ = _heads(heads, None)
    named = inputs or {}
    out, texts = ffi.new("mxc_symbol **"), [c_text(name) for name in named]
    arrays = [array._h for array in named.values()]
    check(lib.mxc_autograd_symbol(len(handles), handles, len(named), arrays, texts, out))
    return Symbol._of(out[0])


class Function:
    """A function with a backward of its own. Derive from it; an instance is called once.

        class Double(mxc.Function):
            def forward(self, x): return x * 2
            def backward(self, dy): return dy * 2
        y = Double()(x)
    """

    saved_tensors: Tuple[NDArray, ...] = ()

    def save_for_backward(self, *arrays: NDArray) -> None:
        self.saved_tensors = arrays

    def forward(self, *inputs: NDArray) -> Any:
        raise NotImplementedError

    def backward(self, *output_grads: Any) -> Any:
        raise NotImplementedError

    def __call__(self, *inputs: NDArray) -> Any:
        with pause(is_training()):
            outputs = self.forward(*inputs)
        several = [outputs] if isinstance(outputs, NDArray) else list(outputs)
        for i, item in enumerate(several):
            if item._in_graph() or any(item is given for given in inputs):
                several[i] = item.detach()
        return _record(self, inputs, several, isinstance(outputs, NDArray))


def _record(function: Function, inputs: Sequence[NDArray], outputs: List[NDArray], single: bool) -> Any:
    arg = keep(function)
    ins, outs = [item._h for item in inputs], [item._h for item in outputs]
    name = c_text(type(function).__name__)
    status = lib.mxc_autograd_function(name, len(ins), ins, len(outs), outs, _call_backward, drop_callback, arg)
    if status:
        drop(arg)
        check(status)
    return outputs[0] if single else outputs


def _run_backward(n_out: int, out_grads: Any, n_in: int, in_grads: Any, arg: Any) -> None:
    function: Function = kept(arg)
    results = function.backward(*[borrow(out_grads[i]) for i in range(n_out)])
    several = [results] if isinstance(results, NDArray) or results is None else list(results)
    if len(several) != n_in:
        raise ValueError(f"backward of {type(function).__name__} returned {len(several)} gradients for {n_in} inputs")
    for i, result in enumerate(several):
        target = borrow(in_grads[i])
        if target is not None:
            target.fill(0) if result is None else result.copyto(target)


_call_backward = callback("mxc_autograd_fn", _run_backward)

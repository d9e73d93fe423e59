# SPDX-License-Identifier: Apache-2.0
"""Arrays: creation, NumPy's protocols, operators, indexing."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._api import (NULL, Handle, _immortal, _owners, c_text, c_texts, check, fail, ffi, lib, shape_of, spell, take_text,
                   text, wait_var, wait_var_to_write)

Shape = Union[int, Sequence[int]]
Axis = Union[None, int, Sequence[int]]

# ---- dtypes and contexts ---------------------------------------------------------------------------------------------

bfloat16 = "bfloat16"  # which NumPy does not have
_FLAGS: Dict[Any, int] = {np.dtype(text(lib.mxc_dtype_name(flag))): flag for flag in range(8)}
_DTYPES = {flag: dtype for dtype, flag in _FLAGS.items()}


def dtype_flag(dtype: Any) -> int:
    """The mxc_dtype of a NumPy dtype, a Python type or a name."""
    if isinstance(dtype, str) and dtype == bfloat16:
        return int(lib.MXC_BF16)
    if dtype is float:  # what a float literal becomes
        return int(lib.MXC_F32)
    flag = _FLAGS.get(np.dtype(dtype))
    if flag is None:
        raise TypeError(f"dtype {dtype} is none of {', '.join(map(str, _FLAGS))}, bfloat16")
    return flag


class Context(NamedTuple):
    """Where the memory of an array is, and its operators run."""

    device: int
    id: int = 0

    def __str__(self) -> str:
        out = ffi.new("char[32]")
        return text(lib.mxc_context_format_on(self.device, self.id, out, 32))

    def __repr__(self) -> str:
        return str(self)

    @staticmethod
    def parse(value: "str | Context | None") -> "Context":
        """cpu(0) for None; of texts such as "gpu(1)"."""
        if not isinstance(value, str):
            return value or cpu()
        out = ffi.new("mxc_context *")
        check(lib.mxc_context_parse(c_text(value), out))
        return Context(out.device, out.id)


def cpu(number: int = 0) -> Context:
    return Context(lib.MXC_CPU, number)


def gpu(number: int = 0) -> Context:
    return Context(lib.MXC_GPU, number)


def device_count(kind: str = "gpu") -> int:
    """Number of devices of a kind; mxc.Error says why there are none."""
    out = ffi.new("int *")
    check(lib.mxc_device_count(Context.parse(kind).device, out))
    return int(out[0])


# ---- calls of operators ----------------------------------------------------------------------------------------------

_OUT, _OUTS = ffi.typeof("mxc_ndarray *[1]"), ffi.typeof("mxc_ndarray *[]")
_new, _invoke, _apply, _create = ffi.new, lib.mxc_op_invoke, lib.mxc_op_apply, object.__new__
_cells = [ffi.new(_OUT)]  # memory for results, of calls that are not going on
_ops: Dict[Any, Tuple[Any, int]] = {}


def operation(name: str, params: Tuple[Tuple[str, str], ...]) -> Tuple[Any, int]:
    """An mxc_op with its number of visible outputs. They are kept, since the same ones are called again and again."""
    found = _ops.get((name, params))
    if found is None:
        out = ffi.new("mxc_op **")
        keys, values = c_texts(key for key, _ in params), c_texts(value for _, value in params)
        check(lib.mxc_op_create(c_text(name), len(params), keys, values, out))
        found = ffi.gc(out[0], lib.mxc_op_release), lib.mxc_op_n_visible(out[0])
        if len(_ops) > 4000:
            _ops.clear()
        _ops[name, params] = found
    return found


def call(name: str, inputs: Sequence[Any], params: Dict[str, Any], out: Any = None) -> Any:
    """Call an operator on arrays: one array, or a list where it has several outputs."""
    op, n_out = operation(name, tuple((key, spell(value)) for key, value in params.items()))
    first = next((item for item in inputs if isinstance(item, NDArray)), None)
    arrays = [item if isinstance(item, NDArray) else as_array(item, first) for item in inputs]
    given = [] if out is None else list(out) if isinstance(out, (list, tuple)) else [out]
    n_out = max(n_out, len(given))
    handles = ffi.new("mxc_ndarray *[]", [array._h for array in given] + [NULL] * (n_out - len(given)))
    check(_invoke(op, len(arrays), [array._h for array in arrays], n_out, handles, NULL, 0))
    results = given + [wrap(handles[i]) for i in range(len(given), n_out)]
    return results[0] if n_out == 1 else results


def invoke(op: Any, n_out: int, arrays: Sequence["NDArray"]) -> Any:
    """Call a prepared operator that makes new arrays."""
    if n_out == 1 and len(arrays) <= 2:
        return apply(op, arrays[0]._h, arrays[1]._h if len(arrays) == 2 else NULL)
    out = ffi.new(_OUTS, n_out)
    check(_invoke(op, len(arrays), [array._h for array in arrays], n_out, out, NULL, 0))
    return wrap(out[0]) if n_out == 1 else [wrap(out[i]) for i in range(n_out)]


def apply(op: Any, first: Any, second: Any) -> "NDArray":
    """Call a prepared operator that makes one new array of one handle, or of two."""
    try:
        out = _cells.pop()  # no other thread gets it until it is back
    except IndexError:
        out = _new(_OUT)
    if status := _apply(op, first, second, out):
        _cells.append(out)
        fail(status)
    array = _create(NDArray)
    array._h = out[0]
    _cells.append(out)
    return array


def wrap(handle: Any) -> "NDArray":
    """An NDArray that owns the reference."""
    array = _create(NDArray)
    array._h = handle
    return array


def borrow(handle: Any) -> "Optional[NDArray]":
    """An NDArray of a handle that is lent, or None."""
    return wrap(lib.mxc_ndarray_retain(handle)) if handle else None


_Method = Callable[["NDArray", Any], "NDArray"]


def _binary(name: str, with_scalar: str, reflected: bool = False) -> _Method:
    op, _ = operation(name, ())
    with_number: Dict[Any, Any] = {}  # the latest numbers, with operators that have them as a parameter

    def method(self: NDArray, other: Any) -> NDArray:
        kind = type(other)
        if kind is NDArray:  # never reflected
            try:  # as apply, whose frame would take time
                out = _cells.pop()
            except IndexError:
                out = _new(_OUT)
            if status := _apply(op, self._h, other._h, out):
                _cells.append(out)
                fail(status)
            array = _create(NDArray)
            array._h = out[0]
            _cells.append(out)
            return array
        if kind is float or kind is int:
            key = kind, other or repr(other)  # 0.0 and -0.0 are equal, and different numbers
            found = with_number.get(key)
            if found is None:
                if len(with_number) > 200:
                    with_number.clear()
                params = ("scalar", repr(float(other))), ("is_int", str(kind is int))
                found = with_number[key] = operation(with_scalar, params)[0]
            return apply(found, self._h, NULL)
        result: NDArray = _mixed(name, with_scalar, self, other, reflected)
        return result
    return method


def _mixed(name: str, with_scalar: str, self: "NDArray", other: Any, reflected: bool, out: Any = None) -> Any:
    """An array with something else than an array."""
    if isinstance(other, (bool, int, float, np.number, np.bool_)):
        whole = isinstance(other, (bool, int, np.integer, np.bool_))
        return call(with_scalar, [self], {"scalar": float(other), "is_int": whole}, out)
    if isinstance(other, (np.ndarray, list, tuple)):
        array = as_array(other, self)
        return call(name, [array, self] if reflected else [self, array], {}, out)
    return NotImplemented


def _in_place(name: str, with_scalar: str, plain: _Method) -> _Method:
    op, _ = operation(name, ())

    def method(self: NDArray, other: Any) -> NDArray:
        if lib.mxc_autograd_is_recording() and (self._in_graph() or isinstance(other, NDArray) and other._in_graph()):
            return plain(self, other)  # recorded calls do not change arrays of the graph
        if isinstance(other, NDArray):
            check(_invoke(op, 2, [self._h, other._h], 1, ffi.new(_OUT, [self._h]), NULL, 0))
            return self
        result: NDArray = _mixed(name, with_scalar, self, other, False, self)
        return result
    return method


class _Memory:
    """What NumPy holds on to as the owner of memory that it shares with an array."""

    def __init__(self, array: "NDArray", address: int, shape: Tuple[int, ...], dtype: Any) -> None:
        self.array = array
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": dtype.str, "version": 3}


class NDArray(Handle):
    """A dense array in C order. Calls queue work and return at once; asnumpy, item and the like wait for it."""

    __slots__ = ()
    __array_priority__ = 1000.0  # NumPy's arrays leave mixed operations to this class

    def __init__(self, source: Any, dtype: Any = None, ctx: "str | Context | None" = None) -> None:
        made = array(source, dtype, ctx)
        self._h, made._h = made._h, NULL

    # ---- properties

    @property
    def shape(self) -> Tuple[int, ...]:
        shape = lib.mxc_ndarray_shape(self._h)
        return tuple(shape.dim[0:shape.ndim])

    @property
    def dtype(self) -> Any:
        """A numpy.dtype, or mxc.bfloat16."""
        return _DTYPES.get(lib.mxc_ndarray_dtype(self._h), bfloat16)

    @property
    def context(self) -> Context:
        kind, number = ffi.new("int *"), ffi.new("int *")
        lib.mxc_ndarray_device(self._h, kind, number)
        return Context(kind[0], number[0])

    ctx = context

    @property
    def ndim(self) -> int:
        return int(lib.mxc_ndarray_shape(self._h).ndim)

    @property
    def size(self) -> int:
        return int(lib.mxc_ndarray_size(self._h))

    @property
    def nbytes(self) -> int:
        return int(lib.mxc_ndarray_bytes(self._h))

    @property
    def T(self) -> "NDArray":
        return self.transpose()

    # ---- contents

    def wait_to_read(self) -> None:
        """Wait for queued writes; raises their error."""
        wait_var(lib.mxc_ndarray_var(self._h))

    def wait_to_write(self) -> None:
        """Wait for all queued work that uses the array."""
        wait_var_to_write(lib.mxc_ndarray_var(self._h))

    def asnumpy(self) -> "np.ndarray[Any, Any]":
        """A copy as a NumPy array, after waiting. bfloat16 becomes float32."""
        if self.dtype == bfloat16:
            return self.astype(np.float32).asnumpy()
        self.wait_to_read()
        result = np.empty(self.shape, self.dtype)
        check(lib.mxc_ndarray_get(self._h, ffi.cast("void *", result.ctypes.data), result.nbytes))
        return result

    def set(self, source: Any) -> None:
        """Copy host data of the array's shape to it."""
        if self.dtype == bfloat16:
            array(source, np.float32).copyto(self)
            return
        data = np.ascontiguousarray(source, self.dtype)
        if data.size != self.size:
            raise ValueError(f"set: {data.shape} given for an array of shape {self.shape}")
        self.wait_to_write()
        check(lib.mxc_ndarray_set(self._h, ffi.cast("void *", data.ctypes.data), data.nbytes))

    def _shared(self) -> "np.ndarray[Any, Any]":
        """The memory itself, on the CPU."""
        self.wait_to_write()
        out = ffi.new("void **")
        check(lib.mxc_ndarray_data(self._h, out))
        if not self.size:
            return np.empty(self.shape, self.dtype)
        return np.asarray(_Memory(self, int(ffi.cast("uintptr_t", out[0])), self.shape, self.dtype))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> "np.ndarray[Any, Any]":
        """Shares the memory where it can: work that is queued later is not ordered with its use."""
        kept = self.dtype != bfloat16 and self.context.device != lib.MXC_GPU
        if copy is False and not (kept and (dtype is None or np.dtype(dtype) == self.dtype)):
            raise ValueError("an array on a GPU, of bfloat16 or with another dtype cannot be shared without a copy")
        result = self._shared() if kept and not copy else self.asnumpy()
        return result if dtype is None else result.astype(dtype, copy=False)

    def __dlpack_device__(self) -> Tuple[int, int]:
        """As DLPack numbers devices: 1 CPU, 2 CUDA, 3 CUDA host memory, which are mxc's numbers too."""
        return tuple(self.context)  # type: ignore[return-value]

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        source = self.copy() if copy else self
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            if copy is False:
                raise BufferError(f"the array is on {self.context}: another device needs a copy")
            source = self.as_in_context(Context(*dl_device))
        source.wait_to_write()
        if max_version is not None and max_version[0] >= 1:
            versioned = ffi.new("struct DLManagedTensorVersioned **")
            check(lib.mxc_ndarray_to_dlpack_versioned(source._h, 0, versioned))
            return _capsule(versioned[0], b"dltensor_versioned")
        plain = ffi.new("struct DLManagedTensor **")
        check(lib.mxc_ndarray_to_dlpack(source._h, plain))
        return _capsule(plain[0], b"dltensor")

    def astype(self, dtype: Any, copy: bool = True) -> "NDArray":
        same = dtype_flag(dtype) == lib.mxc_ndarray_dtype(self._h)
        return self if same and not copy else self._convert(self.context, dtype)

    def as_in_context(self, ctx: "str | Context") -> "NDArray":
        """Itself, or a copy on another device."""
        return self if Context.parse(ctx) == self.context else self._convert(Context.parse(ctx), self.dtype)

    def copy(self) -> "NDArray":
        return self._convert(self.context, self.dtype)

    def _convert(self, ctx: Context, dtype: Any) -> "NDArray":
        out = ffi.new(_OUT)
        check(lib.mxc_ndarray_copy_on(self._h, ctx.device, ctx.id, dtype_flag(dtype), out))
        return wrap(out[0])

    def copyto(self, other: "NDArray") -> "NDArray":
        check(lib.mxc_ndarray_copy_to(self._h, other._h, 0))
        return other

    def fill(self, value: float) -> "NDArray":
        check(lib.mxc_ndarray_fill(self._h, value))
        return self

    def item(self) -> Any:
        return self.asnumpy().item()

    def tolist(self) -> Any:
        return self.asnumpy().tolist()

    def __repr__(self) -> str:
        self.wait_to_read()
        out = ffi.new("char **")
        check(lib.mxc_ndarray_print(self._h, out))
        return take_text(out[0])

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        if self.size != 1 or self.dtype.kind not in "iu":
            raise TypeError("only an integer array of one element can be an index")
        return operator.index(self.item())

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator["NDArray"]:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> "NDArray":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "NDArray":
        return self.copy()

    def __reduce__(self) -> Any:
        raw = self.dtype == bfloat16
        data = self.astype(np.float32).asnumpy() if raw else self.asnumpy()  # which is exact
        return _rebuild, (data, bfloat16 if raw else self.dtype.name, tuple(self.context))

    # ---- shapes

    def reshape(self, *shape: Any) -> "NDArray":
        """A view with another shape, in which -1 stands for what remains."""
        dims = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        if -1 not in dims and int(np.prod(dims)) != self.size:
            raise ValueError(f"reshape: {tuple(dims)} has not the size of {self.shape}")
        return self._view(dims)

    def _view(self, dims: Sequence[int]) -> "NDArray":
        out = ffi.new(_OUT)
        check(lib.mxc_ndarray_reshape(self._h, len(dims), [int(dim) for dim in dims], out))
        return wrap(out[0])

    def _rows(self, begin: int, end: int) -> "NDArray":
        out = ffi.new(_OUT)
        check(lib.mxc_ndarray_slice(self._h, begin, end, out))
        return wrap(out[0])

    def transpose(self, *axes: Any) -> "NDArray":
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return _call("transpose", self, **({"axes": tuple(order)} if order else {}))

    def flatten(self) -> "NDArray":
        return self.reshape(-1)

    def expand_dims(self, axis: int) -> "NDArray":
        return _call("expand_dims", self, axis=axis)

    def squeeze(self, axis: Axis = None) -> "NDArray":
        return _call("squeeze", self, axis=axis)

    # ---- frequent operators

    def dot(self, other: "NDArray") -> "NDArray":
        return _call("dot", self, other)

    def sum(self, axis: Axis = None, keepdims: bool = False) -> "NDArray":
        return self._reduce("sum", axis, keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> "NDArray":
        return self._reduce("mean", axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> "NDArray":
        return self._reduce("max", axis, keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> "NDArray":
        return self._reduce("min", axis, keepdims)

    def prod(self, axis: Axis = None, keepdims: bool = False) -> "NDArray":
        return self._reduce("prod", axis, keepdims)

    def _reduce(self, name: str, axis: Axis, keepdims: bool) -> "NDArray":
        result = _call(name, self, keepdims=keepdims, **({} if axis is None else {"axis": axis}))
        return result.reshape(()) if axis is None and not keepdims else result

    def argmax(self, axis: Optional[int] = None) -> "NDArray":
        return _call("argmax", self, axis=axis)

    def argmin(self, axis: Optional[int] = None) -> "NDArray":
        return _call("argmin", self, axis=axis)

    def clip(self, a_min: float, a_max: float) -> "NDArray":
        return _call("clip", self, a_min=a_min, a_max=a_max)

    def abs(self) -> "NDArray":
        return _call("abs", self)

    def exp(self) -> "NDArray":
        return _call("exp", self)

    def log(self) -> "NDArray":
        return _call("log", self)

    def sqrt(self) -> "NDArray":
        return _call("sqrt", self)

    def __matmul__(self, other: Any) -> "NDArray":
        if not isinstance(other, (NDArray, np.ndarray)):
            return NotImplemented
        return _call("dot", self, other)

    def __rmatmul__(self, other: Any) -> "NDArray":
        if not isinstance(other, np.ndarray):
            return NotImplemented
        return _call("dot", other, self)

    def __neg__(self) -> "NDArray":
        return _call("negative", self)

    def __pos__(self) -> "NDArray":
        return self

    __abs__ = abs
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
    __iadd__ = _in_place("broadcast_add", "_plus_scalar", __add__)
    __isub__ = _in_place("broadcast_sub", "_minus_scalar", __sub__)
    __imul__ = _in_place("broadcast_mul", "_mul_scalar", __mul__)
    __itruediv__ = _in_place("broadcast_div", "_div_scalar", __truediv__)
    __imod__ = _in_place("broadcast_mod", "_mod_scalar", __mod__)
    __ipow__ = _in_place("broadcast_power", "_power_scalar", __pow__)

    # ---- gradients; mxc.autograd has the rest

    def _in_graph(self) -> bool:
        return bool(lib.mxc_autograd_in_graph(self._h))

    def attach_grad(self, grad_req: str = "write", grad: "Optional[NDArray]" = None) -> None:
        """Give the array a gradient, which backward overwrites ("write") or adds to ("add")."""
        check(lib.mxc_autograd_attach(self._h, request(grad_req), NULL if grad is None else grad._h))

    @property
    def grad(self) -> "Optional[NDArray]":
        """The gradient that attach_grad made."""
        return borrow(lib.mxc_autograd_grad(self._h))

    def detach(self) -> "NDArray":
        """The same memory as an array through which no gradient flows."""
        out = ffi.new(_OUT)
        check(lib.mxc_autograd_detach(self._h, out))
        return wrap(out[0])

    def backward(self, out_grad: "Optional[NDArray]" = None, retain_graph: bool = False) -> None:
        from .autograd import backward

        backward([self], [out_grad], retain_graph)

    # ---- indexing

    def __getitem__(self, key: Any) -> "NDArray":
        return _index.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _index.put(self, key, value)


def _finalizer(release: Callable[[Any], None]) -> Callable[[NDArray], None]:
    def __del__(self: NDArray) -> None:
        release(self._h)
    return __del__


def _call(name: str, *inputs: Any, **params: Any) -> NDArray:
    result: NDArray = call(name, inputs, params)
    return result


def request(name: Any) -> int:
    """An mxc_req: "write", "add" or "null"."""
    return int({"null": lib.MXC_REQ_NULL, "write": lib.MXC_REQ_WRITE, "add": lib.MXC_REQ_ADD}[name])


# ---- creation --------------------------------------------------------------------------------------------------------

def empty(shape: Shape, dtype: Any = np.float32, ctx: "str | Context | None" = None) -> NDArray:
    """An array whose contents are undefined."""
    dims = [int(shape)] if isinstance(shape, (int, np.integer)) else [int(dim) for dim in shape]
    where, out = Context.parse(ctx), ffi.new(_OUT)
    check(lib.mxc_ndarray_create_on(len(dims), dims, dtype_flag(dtype), where.device, where.id, out))
    return wrap(out[0])


def full(shape: Shape, value: float, dtype: Any = np.float32, ctx: "str | Context | None" = None) -> NDArray:
    return empty(shape, dtype, ctx).fill(value)


def zeros(shape: Shape, dtype: Any = np.float32, ctx: "str | Context | None" = None) -> NDArray:
    return full(shape, 0, dtype, ctx)


def ones(shape: Shape, dtype: Any = np.float32, ctx: "str | Context | None" = None) -> NDArray:
    return full(shape, 1, dtype, ctx)


def arange(start: float, stop: Optional[float] = None, step: float = 1, dtype: Any = np.float32) -> NDArray:
    return array(np.arange(start, stop, step) if stop is not None else np.arange(0, start, step), dtype)


def array(source: Any, dtype: Any = None, ctx: "str | Context | None" = None) -> NDArray:
    """A copy of anything that NumPy understands. The dtype is that of arrays; lists and numbers become float32."""
    if isinstance(source, NDArray):
        return source._convert(Context.parse(ctx) if ctx else source.context, dtype or source.dtype)
    plain = np.asarray(source)
    if dtype is None:
        dtype = plain.dtype if hasattr(source, "dtype") else np.float32
    if dtype_flag(dtype) == lib.MXC_BF16:
        return array(plain, np.float32, ctx).astype(bfloat16)
    data = np.asarray(plain, np.float32 if dtype is float else dtype, order="C")
    result = empty(data.shape, data.dtype, ctx)
    check(lib.mxc_ndarray_set(result._h, ffi.cast("void *", data.ctypes.data), data.nbytes))
    return result


def as_array(source: Any, like: Optional[NDArray] = None) -> NDArray:
    """The array itself, or host data as an array, of the dtype and context of another."""
    if isinstance(source, NDArray):
        return source
    if not isinstance(source, (np.ndarray, np.generic, list, tuple, int, float)):
        raise TypeError(f"expected an array, got {type(source).__name__}")
    return array(source) if like is None else array(source, like.dtype, like.context)


def _rebuild(data: Any, dtype: str, ctx: Tuple[int, int]) -> NDArray:
    return array(data, dtype, Context(*ctx))


# ---- DLPack ----------------------------------------------------------------------------------------------------------

_python = ctypes.pythonapi
_get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", _python))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_SetName", _python))
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", _python))
# Capsules refer to these, possibly until the process ends.
_KINDS = {name: (*(_immortal(ctypes.create_string_buffer(item)) for item in (name, b"used_" + name)), kind)
          for name, kind in ((b"dltensor", "DLManagedTensor *"), (b"dltensor_versioned", "DLManagedTensorVersioned *"))}


def _free_unconsumed(capsule: int) -> None:
    """A capsule that nobody has taken the tensor of ends."""
    name = _get_name(capsule)
    if name in _KINDS:
        tensor = ffi.cast(_KINDS[name][2], _get_pointer(capsule, name))
        tensor.deleter(tensor)


_unconsumed = _immortal(ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_free_unconsumed))
_DESTRUCTOR = ctypes.cast(_unconsumed, ctypes.c_void_p)


def _capsule(tensor: Any, name: bytes) -> Any:
    return _new_capsule(int(ffi.cast("uintptr_t", tensor)), ctypes.cast(_KINDS[name][0], ctypes.c_char_p), _DESTRUCTOR)


def from_dlpack(source: Any) -> NDArray:
    """The memory of another library's array, without a copy where it is dense and writable."""
    capsule = source
    if hasattr(source, "__dlpack__"):
        try:
            capsule = source.__dlpack__(max_version=(1, 0))
        except TypeError:  # a producer of DLPack 0.8
            capsule = source.__dlpack__()
    name, out = _get_name(id(capsule)), ffi.new(_OUT)
    if name not in _KINDS:
        raise TypeError("from_dlpack: expected an array with __dlpack__, or a capsule that was not used before")
    tensor = ffi.cast(_KINDS[name][2], _get_pointer(id(capsule), name))
    take = lib.mxc_ndarray_from_dlpack if name == b"dltensor" else lib.mxc_ndarray_from_dlpack_versioned
    check(take(tensor, out))
    _set_name(id(capsule), ctypes.cast(_KINDS[name][1], ctypes.c_char_p))
    return wrap(out[0])


# ---- files -----------------------------------------------------------------------------------------------------------

def list_struct(arrays: "Dict[str, NDArray] | List[NDArray]") -> Any:
    """An mxc_ndarray_list with what keeps its members alive."""
    named = isinstance(arrays, dict)
    members = list(arrays.values()) if isinstance(arrays, dict) else list(arrays)
    handles = ffi.new("mxc_ndarray *[]", [member._h for member in members])
    texts = c_texts(arrays) if isinstance(arrays, dict) else []
    names = ffi.new("char *[]", texts) if named else NULL
    block = ffi.new("mxc_ndarray_list *", {"n": len(members), "arrays": handles, "names": names})
    return block, (handles, texts, names, members)


def from_list(arrays: Any) -> Any:
    """The arrays of an mxc_ndarray_list, which is released: a dict if they have names, else a list."""
    members = [borrow(arrays.arrays[i]) for i in range(arrays.n)]
    result: Any = {text(arrays.names[i]): members[i] for i in range(arrays.n)} if arrays.names else members
    lib.mxc_ndarray_list_release(arrays)
    return result


def save(path: Any, arrays: "NDArray | Dict[str, NDArray] | List[NDArray]") -> None:
    """Write a .params file as MXNet does, or .npz or .npy by the path's end."""
    where = str(path)
    if isinstance(arrays, NDArray):
        arrays.wait_to_read()
        if where.endswith(".npy"):
            return check(lib.mxc_ndarray_save_npy(c_text(path), arrays._h))
        arrays = [arrays]
    for member in arrays.values() if isinstance(arrays, dict) else arrays:
        member.wait_to_read()
    block, _alive = list_struct(arrays)
    write = lib.mxc_ndarray_save_npz if where.endswith(".npz") else lib.mxc_ndarray_save
    check(write(c_text(path), block.n, block.arrays, block.names))


def load(path: Any) -> Any:
    """Read what save wrote: a dict or a list, or an array from .npy."""
    where = str(path)
    if where.endswith(".npy"):
        out = ffi.new(_OUT)
        check(lib.mxc_ndarray_load_npy(c_text(path), out))
        return wrap(out[0])
    block = ffi.new("mxc_ndarray_list *")
    check((lib.mxc_ndarray_load_npz if where.endswith(".npz") else lib.mxc_ndarray_load)(c_text(path), block))
    return from_list(block)


from . import _index  # noqa: E402  # which needs the class

NDArray.__del__ = _finalizer(lib.mxc_ndarray_release)  # type: ignore[attr-defined]
_owners.append(NDArray)

# SPDX-License-Identifier: Apache-2.0
"""Data iterators: those of the library in Python, and Python's for the library."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._api import (NULL, Handle, c_params, c_shape, c_text, c_texts, callback, check, close_at_exit, drop, ffi, keep,
                   kept, lib, shape_of, take_text, text)
from .ndarray import _DTYPES, Context, NDArray, as_array, bfloat16, borrow, dtype_flag, wrap

Arrays = Union[None, Any, Sequence[Any], Dict[str, Any]]


class DataDesc(NamedTuple):
    """What one array of each batch is called, its shape and its dtype."""

    name: str
    shape: Optional[Tuple[int, ...]]
    dtype: Any = None


def c_descs(descs: Iterable[Any]) -> Tuple[int, Any, Any]:
    """Count, an array of mxc_data_desc, and what keeps it alive, from (name, shape[, dtype])."""
    items = [DataDesc(*desc) for desc in descs]
    block, names = ffi.new("mxc_data_desc[]", max(len(items), 1)), c_texts(item.name for item in items)
    for i, item in enumerate(items):
        block[i].name = names[i]
        block[i].dtype = lib.MXC_DTYPE_UNKNOWN if item.dtype is None else dtype_flag(item.dtype)
        c_shape(item.shape, ffi.addressof(block[i], "shape"))
    return len(items), block, names


class Batch(NamedTuple):
    """Arrays of one batch. Those of the library's iterators are valid until the next one: copy() what is to be kept."""

    data: List[NDArray]
    label: List[NDArray]
    pad: int = 0  # rows at the end that only fill up the batch
    bucket: int = 0  # sequence length, if batches differ in length
    indices: Optional[List[int]] = None  # number of the sample in each row


def _list(arrays: Arrays) -> List[Any]:
    if arrays is None:
        return []
    if isinstance(arrays, dict):
        return list(arrays.values())
    return list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]


class DataIter(Handle, release="mxc_iter_destroy"):
    """An iterator of the library. `for batch in iterator` is one epoch; the next loop is the next epoch.

    DataIter(name, **params) makes one by name, such as DataIter("MNISTIter", image=..., batch_size=64);
    help: DataIter.describe(name).
    """

    __slots__ = ("_ended", "_begun")

    def __init__(self, name: str, /, **params: Any) -> None:
        self._make(lib.mxc_iter_create, c_text(name), *c_params(params))

    def _make(self, call: Any, *args: Any) -> None:
        out = ffi.new("mxc_iter **")
        check(call(*args, out))
        self._h, self._ended, self._begun = out[0], False, False
        close_at_exit(self)

    @classmethod
    def _of(cls, call: Any, *args: Any) -> "DataIter":
        result = cls.__new__(cls)
        result._make(call, *args)
        return result

    @staticmethod
    def names() -> List[str]:
        found, i = [], 0
        while lib.mxc_iter_name_at(i):
            found.append(text(lib.mxc_iter_name_at(i)))
            i += 1
        return found

    @staticmethod
    def describe(name: str) -> str:
        """The parameters of an iterator."""
        out = ffi.new("char **")
        check(lib.mxc_iter_describe(c_text(name), out))
        return take_text(out[0])

    @classmethod
    def from_arrays(cls, data: Arrays, label: Arrays = None, batch_size: int = 1, shuffle: bool = False, seed: int = 0,
                    last_batch: str = "pad") -> "DataIter":
        """Batches of rows of arrays; last_batch is pad, discard, roll_over or wrap. Dicts give the arrays names."""
        arrays = [as_array(item) for item in _list(data) + _list(label)]
        for item in arrays:
            item.wait_to_read()
        options = ffi.new("mxc_array_iter_options *")
        lib.mxc_array_iter_options_init(options, ffi.sizeof("mxc_array_iter_options"))
        options.batch_size, options.shuffle, options.seed = batch_size, shuffle, seed
        options.last_batch = getattr(lib, "MXC_LAST_" + last_batch.upper())
        names = [*data, *(label if isinstance(label, dict) else ["softmax_label"] * len(_list(label)))] \
            if isinstance(data, dict) else None
        n = len(_list(data))
        handles = [item._h for item in arrays]
        return cls._of(lib.mxc_iter_from_arrays, options, n, handles[:n], len(arrays) - n, handles[n:],
                       NULL if names is None else c_texts(names))

    @classmethod
    def from_python(cls, batches: Iterable[Any]) -> "DataIter":
        """An iterator for the library from anything that `for` accepts again for each epoch, such as a list, a
        DataLoader or an object whose __iter__ is a generator. Batches are Batch, (data, label) or data, of arrays or
        lists of them."""
        arg = keep(_Source(batches))
        try:
            return cls._of(lib.mxc_iter_from_methods, _methods, arg)
        except BaseException:
            drop(arg)
            raise

    @classmethod
    def _wrapping(cls, inner: "DataIter", call: Any, *args: Any) -> "DataIter":
        result = cls._of(call, inner._h, *args)
        inner._h = NULL
        return result

    def prefetch(self, depth: int = 2, ctx: "str | Context | None" = None) -> "DataIter":
        """An iterator that prepares batches on a thread of its own, in place of this one, which is used up."""
        return self._wrapping(self, lib.mxc_iter_prefetch_on, depth, *Context.parse(ctx))

    def resize(self, batches: int, restart: bool = True) -> "DataIter":
        """One whose epochs have so many batches, in place of this one, which is used up."""
        return self._wrapping(self, lib.mxc_iter_resize, batches, restart)

    def close(self) -> None:
        """End its threads and free it."""
        handle, self._h = self._h, NULL
        lib.mxc_iter_destroy(handle)

    def _descs(self, begin: int, end: int) -> List[DataDesc]:
        found = [lib.mxc_iter_desc(self._h, i) for i in range(begin, end)]
        return [DataDesc(text(item.name), shape_of(item.shape), _DTYPES.get(item.dtype, bfloat16)) for item in found]

    @property
    def provide_data(self) -> List[DataDesc]:
        return self._descs(0, lib.mxc_iter_n_data(self._h))

    @property
    def provide_label(self) -> List[DataDesc]:
        n = lib.mxc_iter_n_data(self._h)
        return self._descs(n, n + lib.mxc_iter_n_label(self._h))

    def reset(self) -> None:
        """Go to the start of the next epoch."""
        check(lib.mxc_iter_reset(self._h))
        self._ended = self._begun = False

    def __iter__(self) -> "DataIter":
        if self._ended:
            self.reset()
        return self

    def __next__(self) -> Batch:
        out = ffi.new("mxc_batch *")
        check(lib.mxc_iter_next(self._h, out))
        if not out.n_data:
            self._ended = True
            raise StopIteration
        self._begun = True
        return Batch([wrap(lib.mxc_ndarray_retain(out.data[i])) for i in range(out.n_data)],
                     [wrap(lib.mxc_ndarray_retain(out.label[i])) for i in range(out.n_label)], out.pad, out.bucket,
                     [out.index[i] for i in range(out.n_index)] or None)

    @property
    def state(self) -> Tuple[int, int]:
        """Epoch and number of batches returned in it; set it to continue from there."""
        out = ffi.new("mxc_iter_state *")
        check(lib.mxc_iter_get_state(self._h, out))
        return out.epoch, out.position

    @state.setter
    def state(self, value: Tuple[int, int]) -> None:
        check(lib.mxc_iter_set_state(self._h, ffi.new("mxc_iter_state *", value)))
        self._ended = False


def as_iter(data: Any, batch_size: int = 32, shuffle: bool = True) -> Any:
    """A DataIter of one, of arrays (data, label), or of any iterable of batches."""
    if data is None or isinstance(data, DataIter):
        return data
    if isinstance(data, tuple) and len(data) == 2 and all(hasattr(item, "shape") for item in data):
        return DataIter.from_arrays(data[0], data[1], batch_size, shuffle)
    return DataIter.from_python(data)


class _Source:
    """A Python iterable behind the methods of an mxc_iter."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self.batches = batches
        self.iterator: Optional[Iterator[Any]] = None
        self.alive: Any = None  # of the latest batch

    def next(self, out: Any) -> None:
        if self.iterator is None:
            self.iterator = iter(self.batches)
        try:
            batch = next(self.iterator)
        except StopIteration:
            self.iterator = None
            return
        if not isinstance(batch, Batch):
            data, label = batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
            batch = Batch(_list(data), _list(label))
        arrays = [as_array(item) for item in _list(batch.data) + _list(batch.label)]
        for item in arrays:
            item.wait_to_read()
        n = len(_list(batch.data))
        handles = ffi.new("mxc_ndarray *[]", [item._h for item in arrays] + [NULL])
        out.n_data, out.n_label, out.data, out.label = n, len(arrays) - n, handles, handles + n
        out.pad, out.bucket = batch.pad, batch.bucket
        if batch.indices:
            index = ffi.new("uint64_t[]", list(batch.indices))
            out.n_index, out.index = len(batch.indices), index
            handles = (handles, index)
        self.alive = arrays, handles


_methods = ffi.new("mxc_iter_methods *", {"size": ffi.sizeof("mxc_iter_methods")})
_next = callback("mxc_status(*)(void *, mxc_batch *)", lambda arg, out: kept(arg).next(out))
_destroy = callback("void(*)(void *)", drop)
_methods.next, _methods.destroy = _next, _destroy

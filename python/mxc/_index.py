# SPDX-License-Identifier: Apache-2.0
"""Reading and writing parts of arrays: views where the part is contiguous, operators otherwise."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from ._api import lib
from .ndarray import NDArray, array, call, empty


class Part(NamedTuple):
    """Basic indexing: of each axis begin, end and step; the shape of the result."""

    slices: List[Tuple[int, int, int]]
    shape: Tuple[int, ...]


def _tuple(key: Any, ndim: int) -> Tuple[Any, ...]:
    """One entry for each axis, and None for new axes."""
    keys = key if isinstance(key, tuple) else (key,)
    used = sum(1 for item in keys if item is not None and item is not Ellipsis)
    if used > ndim:
        raise IndexError(f"{used} indices for an array of {ndim} axes")
    at = next((i for i, item in enumerate(keys) if item is Ellipsis), len(keys))
    return keys[:at] + (slice(None),) * (ndim - used) + keys[at + 1:]


def _is_basic(keys: Tuple[Any, ...]) -> bool:
    return all(item is None or isinstance(item, slice) or _is_int(item) for item in keys)


def _is_int(item: Any) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))


def _part(keys: Tuple[Any, ...], shape: Tuple[int, ...]) -> Part:
    slices, result, axis = [], [], 0
    for item in keys:
        if item is None:
            result.append(1)
            continue
        size = shape[axis]
        if isinstance(item, slice):
            begin, end, step = item.indices(size)
            count = len(range(begin, end, step))
            slices.append((begin, begin + count * step, step))
            result.append(count)
        else:
            index = int(item)
            if not -size <= index < size:
                raise IndexError(f"index {index} is out of range for axis {axis} of size {size}")
            slices.append((index % size, index % size + 1, 1))
        axis += 1
    return Part(slices, tuple(result))


def _view(source: NDArray, part: Part) -> Optional[NDArray]:
    """The part as a view, or None if it is not contiguous: single indices, then one range, then whole axes."""
    shape, offset, rows = source.shape, 0, 1
    axis = 0
    while axis < len(shape) and part.slices[axis][1] - part.slices[axis][0] == 1 and part.slices[axis][2] == 1:
        offset = offset * shape[axis] + part.slices[axis][0]
        axis += 1
    if axis < len(shape):
        begin, end, step = part.slices[axis]
        if step != 1 or any(part.slices[i] != (0, shape[i], 1) for i in range(axis + 1, len(shape))):
            return None
        offset, rows = offset * shape[axis] + begin, end - begin
        axis += 1
    if 0 in shape or not rows:
        return None
    flat = source if axis == 1 else source._view((-1,) + shape[axis:])
    whole = rows == flat.shape[0] if flat.ndim else True
    return (flat if whole else flat._rows(offset, offset + rows))._view(part.shape)


def _slice_params(part: Part) -> Any:
    """begin, end and step; None stands for the end before the first element."""
    ends = tuple(None if end < 0 else end for _, end, _ in part.slices)
    return {"begin": tuple(s[0] for s in part.slices), "end": ends, "step": tuple(s[2] for s in part.slices)}


def _host_indices(item: Any, size: int, axis: int) -> Any:
    """An array of indices or a mask as int64 indices from 0, checked; a mask gives several."""
    host = item.asnumpy() if isinstance(item, NDArray) else np.asarray(item)
    if host.size == 0:
        host = host.astype(np.int64)
    if host.dtype != np.bool_ and host.dtype.kind not in ("iuf" if isinstance(item, NDArray) else "iu"):
        raise IndexError(f"arrays of {host.dtype} are no indices")
    host = host.astype(np.int64)
    if host.size and not (-size <= host.min() and host.max() < size):
        raise IndexError(f"an index is out of range for axis {axis} of size {size}")
    return np.where(host < 0, host + size, host)


def _advanced(keys: Tuple[Any, ...], shape: Tuple[int, ...]) -> Tuple[int, List[Any]]:
    """First axis and index arrays of adjacent axes, all others being slices; raises IndexError for other mixtures."""
    arrays: List[Any] = []
    first = axis = 0
    ended = False
    for item in keys:
        if item is None or isinstance(item, slice):
            ended = bool(arrays)
        elif ended:
            raise IndexError("arrays as indices belong to adjacent axes: index by one of them first, then by the other")
        else:
            first = first if arrays else axis
            arrays.append(_host_indices(item, shape[axis], axis))
        axis += item is not None
    try:
        return first, list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(str(item.shape) for item in arrays)
        raise IndexError(f"arrays as indices have shapes that do not fit each other: {shapes}") from None


def _gather(source: NDArray, keys: Tuple[Any, ...]) -> NDArray:
    """Slices first, then what arrays select from that, then new axes."""
    first, indices = _advanced(keys, source.shape)
    if len(indices) > 1 and first:
        raise IndexError("several arrays as indices go with the first axes only: transpose the array")
    sliced = tuple(item if isinstance(item, slice) else slice(None) for item in keys if item is not None)
    if any(item != slice(None) for item in sliced):
        source = get(source, sliced)
    rest = source.shape[first + len(indices):]
    shape = source.shape[:first] + indices[0].shape + rest
    if 0 in shape:
        result = empty(shape, source.dtype, source.context)
    elif len(indices) == 1:
        result = call("take", [source, array(indices[0], np.int64, source.context)], {"axis": first})
    else:
        result = call("gather_nd", [source, array(np.stack(indices), np.int64, source.context)], {})
    if all(item is not None for item in keys):
        return result
    at = next(i for i, item in enumerate(keys) if item is not None and not isinstance(item, slice))
    dims, axes = iter(source.shape[:first]), iter(rest)
    before = tuple(1 if item is None else next(dims) for item in keys[:at])
    after = tuple(1 if item is None else next(axes) for item in keys[at + len(indices):])
    return result._view(before + indices[0].shape + after)


def _expand_masks(key: Any, shape: Tuple[int, ...]) -> Tuple[Any, ...]:
    keys: List[Any] = []
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, (NDArray, np.ndarray, list, bool, np.bool_)):
            host = item.asnumpy() if isinstance(item, NDArray) and item.dtype == np.bool_ else item
            if not isinstance(host, NDArray) and np.asarray(host).dtype == np.bool_:
                mask = np.asarray(host)
                if mask.shape != shape[len(keys):len(keys) + mask.ndim] or not mask.ndim:
                    raise IndexError(f"a mask of shape {mask.shape} does not fit an array of shape {shape}")
                keys.extend(np.nonzero(mask))
                continue
        keys.append(item)
    return tuple(keys)


def get(source: NDArray, key: Any) -> NDArray:
    shape = source.shape
    if shape and type(key) is slice and (key.step is None or key.step == 1):  # the frequent cases
        begin, end, _ = key.indices(shape[0])
        if begin < end:
            return source._rows(begin, end)
    elif len(shape) > 1 and type(key) is int and 0 <= key < shape[0]:
        return source._rows(key, key + 1)._view(shape[1:])
    keys = _tuple(key, len(shape)) if _is_basic(key if isinstance(key, tuple) else (key,)) or Ellipsis is key else None
    if keys is None:
        keys = _tuple(_expand_masks(key, shape), len(shape))
    if _is_basic(keys):
        part = _part(keys, shape)
        view = _view(source, part)
        if view is not None:
            return view
        if 0 in part.shape or 0 in shape:
            return empty(part.shape, source.dtype, source.context)
        result: NDArray = call("slice", [source], _slice_params(part))
        return result._view(part.shape)
    return _gather(source, keys)


def put(target: NDArray, key: Any, value: Any) -> None:
    if lib.mxc_autograd_is_recording() and target._in_graph():
        raise ValueError("while recording, an array of the graph cannot be written: use where, or concatenate parts")
    shape = target.shape
    simple = key if isinstance(key, tuple) else (key,)
    if all(item is Ellipsis or _is_basic((item,)) for item in simple):
        part = _part(_tuple(key, len(shape)), shape)
        if 0 in part.shape:
            return
        view = _view(target, part)
        if view is not None:
            _assign(view, value)
        elif isinstance(value, (bool, int, float, np.number)):
            call("_slice_assign_scalar", [target], dict(_slice_params(part), scalar=float(value)), target)
        else:
            kept = tuple(len(range(*piece)) for piece in part.slices)
            parts = _broadcast(value, part.shape, target)._view(kept)
            call("_slice_assign", [target, parts], _slice_params(part), target)
        return
    host = target.asnumpy()
    plain = tuple(item.asnumpy() if isinstance(item, NDArray) else item for item in simple)
    plain = tuple(item.astype(np.int64) if getattr(item, "dtype", None) == np.float32 else item for item in plain)
    host[plain] = value.asnumpy() if isinstance(value, NDArray) else value
    target.set(host)


def _broadcast(value: Any, shape: Tuple[int, ...], like: NDArray) -> NDArray:
    if not isinstance(value, NDArray):
        return array(np.broadcast_to(np.asarray(value), shape), like.dtype, like.context)
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value._view(value.shape[1:])
    if value.shape != shape:
        if value.ndim > len(shape):
            raise ValueError(f"an array of shape {value.shape} does not fit {shape}")
        value = call("broadcast_to", [value._view((1,) * (len(shape) - value.ndim) + value.shape)], {"shape": shape})
    if value.context != like.context or value.dtype != like.dtype:
        value = value._convert(like.context, like.dtype)
    result: NDArray = value
    return result


def _assign(view: NDArray, value: Any) -> None:
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        view.fill(float(value))
    elif isinstance(value, NDArray) and value.shape == view.shape:
        value.copyto(view)
    else:
        _broadcast(value, view.shape, view).copyto(view)

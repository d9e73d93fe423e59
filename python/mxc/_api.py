# SPDX-License-Identifier: Apache-2.0
"""The loaded library, and what all calls of it have in common: texts, parameters, errors, callbacks, and the end."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import itertools
import os
import sys
import threading
import weakref
from _thread import interrupt_main
from typing import Any, Callable, Dict, Iterable, List, NoReturn, Optional, Sequence, Tuple

from . import _declare


def _declared() -> Any:
    try:
        return importlib.import_module("mxc._ffi").ffi  # written when the package is built
    except ImportError:
        import cffi

        made = cffi.FFI()
        made.cdef(_declare.declarations(_declare.read()))
        return made


ffi: Any = _declared()
NULL = ffi.NULL


def _load() -> Any:
    """LIBMXC_PATH, or the library inside the package, or that of the source tree, or the system's."""
    named = os.environ.get("LIBMXC_PATH")
    tree = os.path.join(_declare.HERE, "..", "..", "build", "release", "libmxc.so")
    places = [named] if named else [os.path.join(_declare.HERE, "lib", "libmxc.so.0"), tree, "libmxc.so.0"]
    for path in places[:-1]:
        if os.path.exists(path):
            return ffi.dlopen(os.path.abspath(path))
    try:
        return ffi.dlopen(places[-1])
    except OSError as problem:
        raise ImportError(f"mxc: cannot load libmxc ({problem}); set LIBMXC_PATH to the path of libmxc.so") from None


lib: Any = _load()


# ---- texts and parameters --------------------------------------------------------------------------------------------

def text(pointer: Any) -> str:
    return str(ffi.string(pointer).decode("utf-8", "replace")) if pointer else ""


def take_text(pointer: Any) -> str:
    """A text that the caller owns, such as *out of mxc_ndarray_print."""
    result = text(pointer)
    lib.mxc_free(pointer)
    return result


def c_text(value: "str | bytes | os.PathLike[str]") -> Any:
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError("a text for the library must not contain NUL")
    return ffi.new("char[]", data)


def c_texts(values: Iterable[str]) -> List[Any]:
    return [c_text(value) for value in values]


def spell(value: Any) -> str:
    """A parameter as the library parses it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):
        inner = [spell(item) for item in value]
        return "(" + ",".join(inner) + ("," if len(inner) == 1 else "") + ")"
    if isinstance(value, (bool, int)) or value is None:
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, type) or hasattr(value, "newbyteorder") and hasattr(value, "kind"):
        from .ndarray import dtype_flag  # a dtype
        return text(lib.mxc_dtype_name(dtype_flag(value)))
    if hasattr(value, "item"):
        return spell(value.item() if not getattr(value, "ndim", 0) else value.tolist())
    return str(value)


def c_params(params: Dict[str, Any]) -> Tuple[int, List[Any], List[Any]]:
    """Count, keys and values for the calls that take parameters as texts."""
    return len(params), c_texts(params), [c_text(spell(value)) for value in params.values()]


def names_of(names: Any) -> List[str]:
    """The texts of an mxc_names, which is released."""
    result = [text(names.items[i]) for i in range(names.n)]
    lib.mxc_names_release(ffi.addressof(names) if ffi.typeof(names).kind == "struct" else names)
    return result


def c_shape(dims: Optional[Sequence[int]], out: Any = None) -> Any:
    """An mxc_shape; None: unknown rank, -1 or None: unknown axis."""
    shape = ffi.new("mxc_shape *") if out is None else out
    known = None if dims is None else [-1 if dim is None else int(dim) for dim in dims]
    check(lib.mxc_shape_set(shape, -1 if known is None else len(known), NULL if known is None else known))
    return shape


def shape_of(shape: Any) -> Optional[Tuple[int, ...]]:
    return tuple(shape.dim[0:shape.ndim]) if shape.ndim >= 0 else None


# ---- errors ----------------------------------------------------------------------------------------------------------

class Error(RuntimeError):
    """A call of the library failed. status is its code (such as mxc.Error.ESHAPE), name that of the code, place
    the line of the library's sources. Derived classes are also ValueError, TypeError and the like."""

    status = 0
    place = ""

    @property
    def name(self) -> str:
        return text(lib.mxc_status_name(self.status))


def _derive(name: str, other: type) -> type:
    doc = f"An mxc.Error that is also a {other.__name__}."
    return type(name, (Error, other), {"__doc__": doc, "__module__": "mxc"})


_CLASSES: Dict[int, Callable[[str], Error]] = {
    lib.MXC_EINVAL: _derive("InvalidError", ValueError), lib.MXC_ESHAPE: _derive("ShapeError", ValueError),
    lib.MXC_EDTYPE: _derive("DtypeError", TypeError), lib.MXC_ENOMEM: _derive("NoMemoryError", MemoryError),
    lib.MXC_ENOTFOUND: _derive("NotFoundError", LookupError),
    lib.MXC_EUNSUPPORTED: _derive("UnsupportedError", NotImplementedError),
}
for _i in range(1, 15):
    setattr(Error, text(lib.mxc_status_name(_i))[4:], _i)

_thread = threading.local()


def forget() -> None:
    """Before a call whose message does not repeat that of a callback: see fail."""
    _thread.__dict__.pop("raised", None)


def fail(status: int, from_callback: bool = False) -> NoReturn:
    """Raise what a status says, or the exception of a callback that caused it on this thread, as the message shows."""
    message = text(lib.mxc_last_error())
    raised = _thread.__dict__.pop("raised", None)
    if raised and status == lib.MXC_EUSER and (from_callback or raised[0] in message):
        raise raised[1]
    error = _CLASSES.get(status, Error)(message)
    error.status, error.place = status, text(lib.mxc_last_error_place())
    raise error


def check(status: int) -> None:
    if status:
        fail(status)


# ---- callbacks -------------------------------------------------------------------------------------------------------

_objects: Dict[int, Any] = {}
_numbers = itertools.count(1)


def keep(thing: Any) -> Any:
    """A void * under which callbacks find an object, until drop."""
    number = next(_numbers)
    _objects[number] = thing
    return ffi.cast("void *", number)


def kept(pointer: Any) -> Any:
    return _objects[int(ffi.cast("uintptr_t", pointer))]


def drop(pointer: Any) -> None:
    _objects.pop(int(ffi.cast("uintptr_t", pointer)), None)


def _immortal(thing: Any) -> Any:
    """Threads of the library may call a callback until the process ends, so it is never freed."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing


def callback(kind: str, function: Callable[..., Any]) -> Any:
    """A C function. One that returns a status returns MXC_OK, or what the exception says that function raises."""
    returns = ffi.typeof(kind).result

    def run(*args: Any) -> Any:
        try:
            return function(*args)
        except BaseException as problem:
            if returns.kind != "enum":
                raise  # reported, since nobody can be told
            message = f"{type(problem).__name__}: {problem}"
            _thread.raised = (message.encode()[:200].decode("utf-8", "ignore"), problem)
            code, line = ffi.cast("mxc_status", lib.MXC_EUSER), ffi.cast("int", 0)
            return lib.mxc_fail_at(c_text("python"), line, code, c_text("%s"), c_text(message.replace("\0", "")))

    def run_status(*args: Any) -> int:
        return run(*args) or 0

    def late(kind: Any, problem: BaseException, trace: Any) -> None:
        """Of a signal that came between this function and the try above."""
        _thread.raised = ("", problem)

    def unwanted(kind: Any, problem: BaseException, trace: Any) -> None:
        if isinstance(problem, KeyboardInterrupt):
            return interrupt_main()  # again, behind the call that led here
        sys.excepthook(kind, problem, trace)

    if returns.kind == "enum":
        return _immortal(ffi.callback(kind, run_status, error=lib.MXC_EUSER, onerror=late))
    return _immortal(ffi.callback(kind, run, onerror=unwanted))


drop_callback = callback("void(*)(void *)", drop)


# ---- waiting ---------------------------------------------------------------------------------------------------------

SLICE_MS = 50  # how long a wait on the main thread keeps Python from handling a signal such as Ctrl-C


_main_thread: Optional[int] = None


def _find_main_thread() -> None:
    global _main_thread
    _main_thread = threading.main_thread().ident


_find_main_thread()


def wait_var(var: Any) -> None:
    """Wait for the writes of a variable. On the main thread in slices, so that signal handlers run in between."""
    if lib.mxc_var_idle(var) or threading.get_ident() != _main_thread:
        return check(lib.mxc_wait_to_read(var))
    done = ffi.new("int *")
    while not done[0]:
        check(lib.mxc_wait_to_read_for(var, SLICE_MS, done))


def wait_var_to_write(var: Any) -> None:
    """Wait for the writes and the reads of a variable, as wait_var."""
    wait_var(var)
    done = ffi.new("int *")
    while not lib.mxc_var_idle(var) and not done[0]:
        check(lib.mxc_wait_all_for(engine(), 5, done))
    check(lib.mxc_wait_to_write(var))


def engine() -> Any:
    out = ffi.new("mxc_engine **")
    check(lib.mxc_engine_default(out))
    return out[0]


def waitall() -> None:
    """Wait for all work that was queued; raises the first error since the last call."""
    done = ffi.new("int *")
    while not done[0]:
        check(lib.mxc_wait_all_for(engine(), SLICE_MS, done))


# ---- the end ---------------------------------------------------------------------------------------------------------

class Handle:
    """Owns one reference of an object of the library. Subclasses name the function that gives it back."""

    __slots__ = ("_h", "__weakref__")
    _h: Any
    _release: Callable[[Any], None]

    def __init_subclass__(cls, release: str = "") -> None:
        if release:
            give_back = getattr(lib, release)

            def __del__(self: Handle) -> None:
                try:
                    handle, self._h = self._h, None
                except AttributeError:  # __init__ failed
                    return
                if handle:
                    give_back(handle)
            cls.__del__ = __del__  # type: ignore[attr-defined]
            _owners.append(cls)


_owners: List[type] = []
_closed_at_exit: "weakref.WeakSet[Any]" = weakref.WeakSet()
_foreign_threads = 0  # how many objects have threads of the library call Python


def close_at_exit(thing: Any) -> None:
    """Threads of the library may run Python for this object: close it before the interpreter ends."""
    global _foreign_threads
    _foreign_threads += 1
    _closed_at_exit.add(thing)


def _before_fork() -> None:
    """fork() waits for running functions with the GIL held, which they may need: let those end that call Python."""
    if _foreign_threads:
        try:
            waitall()
        except Error:
            pass  # the arrays keep it


def _end() -> None:
    """Wait for queued work while the interpreter can still run callbacks, and from now on give nothing back: the memory
    belongs to a process that ends, and what the library would call may be gone."""
    for thing in list(_closed_at_exit):
        thing.close()
    try:
        waitall()
    except Error as problem:
        sys.stderr.write(f"mxc: at exit: {problem}\n")
    for owner in _owners:
        del owner.__del__  # type: ignore[attr-defined]


atexit.register(_end)
os.register_at_fork(before=_before_fork, after_in_child=_find_main_thread)

# SPDX-License-Identifier: Apache-2.0
"""Training: optimizers, key-value stores, metrics, initialisers, models on disk, and the training loop."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._api import (NULL, Handle, c_params, c_text, c_texts, callback, check, close_at_exit, drop, engine, fail, ffi,
                   forget, keep, kept, lib, spell, take_text, text)
from .io import as_iter
from .ndarray import Context, NDArray, borrow, from_list, list_struct
from .symbol import Symbol

# ---- random numbers, initialisers ------------------------------------------------------------------------------------

def seed(number: int) -> None:
    """Seed the random streams of all contexts."""
    lib.mxc_random_seed(number)


def initialize(array: NDArray, name: str = "weight", rule: str = "xavier", /, **params: Any) -> NDArray:
    """Fill an array as a parameter of this name is initialised: xavier, msraprelu, uniform, normal, constant..."""
    check(lib.mxc_init_array(c_text(rule), *c_params(params), c_text(name), array._h))
    return array


# ---- optimizers ------------------------------------------------------------------------------------------------------

class Optimizer(Handle, release="mxc_optimizer_destroy"):
    """An update rule: Optimizer("sgd", learning_rate=0.1, momentum=0.9). help: Optimizer.describe(name)."""

    __slots__ = ("_description",)

    def __init__(self, name: str, /, **params: Any) -> None:
        out = ffi.new("mxc_optimizer **")
        check(lib.mxc_optimizer_create(c_text(name), *c_params(params), out))
        self._h, self._description = out[0], (name, params)

    @staticmethod
    def names() -> List[str]:
        return _names(lib.mxc_optimizer_name_at)

    @staticmethod
    def describe(name: str) -> str:
        return _describe(lib.mxc_optimizer_describe, name)

    @property
    def learning_rate(self) -> float:
        return float(lib.mxc_optimizer_get_lr(self._h))

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        lib.mxc_optimizer_set_lr(self._h, value)

    def set_mult(self, key: str, lr_mult: float = 1.0, wd_mult: float = 1.0) -> None:
        """Factors on the learning rate and weight decay of one parameter."""
        check(lib.mxc_optimizer_set_mult(self._h, c_text(key), lr_mult, wd_mult))

    def update(self, key: "str | int", weight: NDArray, grad: NDArray) -> None:
        """Queue one update; key is the name of the parameter."""
        check(lib.mxc_optimizer_update(self._h, c_text(str(key)), weight._h, grad._h))

    @property
    def states(self) -> Dict[str, NDArray]:
        """The states of all parameters by "<key>:<state>"; set them to continue a training."""
        block = ffi.new("mxc_ndarray_list *")
        check(lib.mxc_optimizer_get_states(self._h, block))
        return dict(from_list(block) or {})

    @states.setter
    def states(self, states: Dict[str, NDArray]) -> None:
        block, _alive = list_struct(states)
        check(lib.mxc_optimizer_set_states(self._h, block))

    def __reduce__(self) -> Any:
        return _optimizer, (*self._description, self.learning_rate, self.states)


def _optimizer(name: str, params: Dict[str, Any], rate: float, states: Dict[str, NDArray]) -> Optimizer:
    result = Optimizer(name, **params)
    result.learning_rate, result.states = rate, states
    return result


def _names(at: Callable[[int], Any]) -> List[str]:
    found: List[str] = []
    while at(len(found)):
        found.append(text(at(len(found))))
    return found


def _describe(describe: Callable[..., int], name: str) -> str:
    out = ffi.new("char **")
    check(describe(c_text(name), out))
    return take_text(out[0])


# ---- key-value stores ------------------------------------------------------------------------------------------------

Keys = Union[str, int, Sequence[Union[str, int]]]
Updater = Callable[[str, NDArray, NDArray], Any]


def _run_updater(key: Any, change: Any, stored: Any, user: Any) -> None:
    kept(user)(text(key), borrow(change), borrow(stored))


_call_updater = callback("mxc_updater_fn", _run_updater)


class KVStore(Handle, release="mxc_kvstore_destroy"):
    """The master copy of parameters: sums what devices and workers push. Types: local, device, dist_sync..."""

    __slots__ = ("_updater", "_optimizer")

    def __init__(self, type: str = "local", /, **params: Any) -> None:
        out = ffi.new("mxc_kvstore **")
        check(lib.mxc_kvstore_create_with(c_text(type), *c_params(params), out))
        self._h, self._updater = out[0], NULL
        self._optimizer: Optional[Optimizer] = None
        if type.startswith("dist"):
            close_at_exit(self)

    def close(self) -> None:
        handle, self._h = self._h, NULL
        lib.mxc_kvstore_destroy(handle)

    @staticmethod
    def _pairs(keys: Keys, values: Any) -> Tuple[int, List[Any], List[Any]]:
        several = [keys] if isinstance(keys, (str, int)) else list(keys)
        lists = [values] if isinstance(keys, (str, int)) else list(values)
        if len(several) != len(lists):
            raise ValueError(f"{len(several)} keys, but {len(lists)} values")
        pairs = [(str(key), array) for key, item in zip(several, lists)
                 for array in ([item] if isinstance(item, NDArray) else item)]
        return len(pairs), c_texts(key for key, _ in pairs), [array._h for _, array in pairs]

    def init(self, keys: Keys, values: Any) -> None:
        """Set initial values."""
        check(lib.mxc_kvstore_init(self._h, *self._pairs(keys, values)))

    def push(self, keys: Keys, values: Any, priority: int = 0) -> None:
        """Sum values, one array or a list for each key, and update the stored one, or replace it."""
        check(lib.mxc_kvstore_push(self._h, *self._pairs(keys, values), priority))

    def pull(self, keys: Keys, out: Any, priority: int = 0) -> None:
        """Copy stored values to arrays."""
        check(lib.mxc_kvstore_pull(self._h, *self._pairs(keys, out), priority))

    def pushpull(self, keys: Keys, values: Any, out: Any, priority: int = 0) -> None:
        self.push(keys, values, priority)
        self.pull(keys, out, priority)

    def set_updater(self, updater: Optional[Updater]) -> None:
        """Have updater(key, sum, stored) queue what changes stored."""
        before, self._updater = self._updater, keep(updater) if updater else NULL
        lib.mxc_kvstore_set_updater(self._h, _call_updater if updater else NULL, self._updater)
        drop(before)

    def set_optimizer(self, optimizer: Optional[Optimizer]) -> None:
        check(lib.mxc_kvstore_set_optimizer(self._h, optimizer._h if optimizer else NULL))
        self._optimizer = optimizer

    @property
    def type(self) -> str:
        return text(lib.mxc_kvstore_type(self._h))

    @property
    def rank(self) -> int:
        return int(lib.mxc_kvstore_rank(self._h))

    @property
    def num_workers(self) -> int:
        return int(lib.mxc_kvstore_group_size(self._h))

    def barrier(self) -> None:
        check(lib.mxc_kvstore_barrier(self._h))


# ---- metrics ---------------------------------------------------------------------------------------------------------

class Metric(Handle, release="mxc_metric_destroy"):
    """Metric("accuracy"), Metric("top_k_accuracy", top_k=3)... help: Metric.describe(name)."""

    __slots__ = ()

    def __init__(self, name: str, /, **params: Any) -> None:
        out = ffi.new("mxc_metric **")
        check(lib.mxc_metric_create(c_text(name), *c_params(params), out))
        self._h = out[0]

    @staticmethod
    def names() -> List[str]:
        return _names(lib.mxc_metric_name_at)

    @staticmethod
    def describe(name: str) -> str:
        return _describe(lib.mxc_metric_describe, name)

    @property
    def name(self) -> str:
        return text(lib.mxc_metric_name(self._h))

    @property
    def value(self) -> float:
        """NaN before the first sample."""
        return float(lib.mxc_metric_value(self._h))

    def update(self, label: NDArray, prediction: NDArray, pad: int = 0) -> None:
        prediction.wait_to_read()
        check(lib.mxc_metric_update(self._h, label._h, prediction._h, pad))

    def reset(self) -> None:
        lib.mxc_metric_reset(self._h)


# ---- models on disk --------------------------------------------------------------------------------------------------

def save_model(prefix: Any, epoch: int, symbol: Symbol, params: Dict[str, NDArray]) -> None:
    """Write <prefix>-symbol.json and <prefix>-0001.params; params by "arg:<name>" and "aux:<name>"."""
    block, _alive = list_struct(params)
    check(lib.mxc_model_save(c_text(prefix), epoch, symbol._h, block.n, block.arrays, block.names))


def load_model(prefix: Any, epoch: int) -> Tuple[Symbol, Dict[str, NDArray]]:
    """Symbol and parameters that save_model wrote."""
    out, block = ffi.new("mxc_symbol **"), ffi.new("mxc_ndarray_list *")
    check(lib.mxc_model_load(c_text(prefix), epoch, out, block))
    return Symbol._of(out[0]), from_list(block)


# ---- the training loop -----------------------------------------------------------------------------------------------

class Progress(NamedTuple):
    """The state of a training, for callbacks and as its result: the members of mxc_fit_progress."""

    epoch: int
    epochs: int
    batch: int
    batches: int
    updates: int
    samples_per_second: float
    loss: float
    accuracy: float
    valid_loss: float
    valid_accuracy: float
    lr: float
    interrupted: bool
    stopped_early: bool
    best: float
    best_epoch: int
    train: Dict[str, float]
    valid: Dict[str, float]


class FitResult(NamedTuple):
    """progress at the end, and the trained parameters "arg:..." and "aux:..."."""

    progress: Progress
    params: Dict[str, NDArray]


def _progress(state: Any) -> Progress:
    metrics = [state.metrics[i] for i in range(state.n_metrics)]
    more = {"train": {text(metric.name): metric.train for metric in metrics},
            "valid": {text(metric.name): metric.valid for metric in metrics}}
    plain: Dict[str, Any] = {name: getattr(state, name) for name in Progress._fields if name not in more}
    plain.update(interrupted=bool(state.interrupted), stopped_early=bool(state.stopped_early))
    return Progress(**{**plain, **more})


class ProgressBar:
    """A callback for fit that shows a tqdm bar per epoch, in terminals and notebooks."""

    def __init__(self) -> None:
        self._tqdm: Any = importlib.import_module("tqdm.auto").tqdm
        self._bar: Any = None

    def __call__(self, progress: Progress, epoch_end: bool) -> None:
        if self._bar is None:
            title = f"epoch {progress.epoch + 1}/{progress.epochs}"
            self._bar = self._tqdm(total=progress.batches or None, desc=title, unit="batch")
        self._bar.update(progress.batch - self._bar.n)
        shown = {name: f"{value:.4f}" for name, value in progress.train.items()}
        if epoch_end:
            shown.update({f"valid {name}": f"{value:.4f}" for name, value in progress.valid.items() if value == value})
        self._bar.set_postfix(shown, refresh=epoch_end)
        if epoch_end:
            self.close()

    def close(self) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()


class _Callbacks:
    def __init__(self, callbacks: List[Any], stop: Any, saves: bool) -> None:
        self.callbacks, self.stop, self.saves = callbacks, stop, saves
        self.raised: Optional[BaseException] = None

    def __call__(self, state: Any, epoch_end: int) -> None:
        if self.raised:
            return
        try:
            progress = _progress(state)
            for function in self.callbacks:
                if function(progress, bool(epoch_end)) is False:
                    self.stop[0] = 1
        except BaseException as problem:
            self.raised = problem
            if not self.saves or not isinstance(problem, KeyboardInterrupt):
                raise
            self.stop[0] = 1  # the training writes a checkpoint before it ends


def _run_fit_callback(progress: Any, epoch_end: int, user: Any) -> None:
    kept(user)(progress, epoch_end)


_call_fit = callback("mxc_fit_callback", _run_fit_callback)


def _strings(block: Any, count: str, name: str, values: Sequence[Any]) -> Any:
    texts = c_texts(spell(value) for value in values)
    array = ffi.new("const char *[]", texts)
    setattr(block, count, len(texts))
    setattr(block, name, array)
    return texts, array


def fit(symbol: Symbol, train: Any, valid: Any = None, *, epochs: int = 1, batch_size: int = 32, optimizer: str = "sgd",
        optimizer_params: Optional[Dict[str, Any]] = None, learning_rate: float = 0.01,
        schedule: Optional[Dict[str, Any]] = None,
        initializer: str = "xavier", initializer_params: Optional[Dict[str, Any]] = None,
        initial_params: Optional[Dict[str, NDArray]] = None, contexts: Sequence[Any] = (), metrics: Sequence[Any] = (),
        frozen: Sequence[str] = (), store: Optional[KVStore] = None, progress_bar: bool = False,
        callbacks: Sequence[Callable[[Progress, bool], Any]] = (), **options: Any) -> FitResult:
    """Train a network.

    train, valid: a DataIter, (data, label) as arrays, or anything that gives batches (DataIter.from_python).
    metrics: Metric objects or names. callbacks: called with a Progress and whether an epoch has ended, after each batch
    and each epoch; False stops the training. progress_bar: a tqdm bar. schedule: members of mxc_schedule, such as
    {"kind": "cosine", "total": 1000}. options: the other members of mxc_fit_options, such as checkpoint="net",
    resume=True, clip_norm=1.0, ema=0.999, dtype="bfloat16", patience=3, save_best=True.
    Ctrl-C writes a checkpoint, if there are checkpoints, and raises KeyboardInterrupt.
    """
    block, stop = ffi.new("mxc_fit_options *"), ffi.new("int *")
    lib.mxc_fit_options_init(block, ffi.sizeof("mxc_fit_options"))
    data = [as_iter(train, batch_size), as_iter(valid, batch_size, False)]
    block.symbol, block.train, block.valid = symbol._h, data[0]._h, data[1]._h if data[1] is not None else NULL
    block.epochs, block.learning_rate, block.stop = epochs, learning_rate, stop
    rules = {"optimizer": optimizer_params or {}, "initializer": initializer_params or {}}
    alive: List[Any] = [_strings(block, "n_" + kind + "_params", kind + "_" + part, values)
                        for kind, params in rules.items()
                        for part, values in (("keys", list(params)), ("values", list(params.values())))]
    alive.append(_strings(block, "n_frozen", "frozen", frozen))
    members: Dict[str, Any] = {"optimizer": optimizer, "initializer": initializer, **options}
    for name, value in members.items():
        if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
            alive.append(value := c_text(value))
        setattr(block, name, value)
    for name, value in (schedule or {}).items():
        if name == "steps":
            alive.append(value := ffi.new("int64_t[]", list(value)))
            block.schedule.n_steps = len(value)
        setattr(block.schedule, name, getattr(lib, "MXC_SCHEDULE_" + value.upper()) if name == "kind" else value)
    if initial_params:
        owner, more = list_struct(initial_params)
        block.initial_params = owner
        alive += [owner, more]
    objects = [metric if isinstance(metric, Metric) else Metric(metric) for metric in metrics]
    places = ffi.new("mxc_context[]", [tuple(Context.parse(ctx)) for ctx in contexts])
    handles = ffi.new("mxc_metric *[]", [metric._h for metric in objects])
    block.n_metrics, block.metrics = len(objects), handles
    block.n_contexts, block.contexts = len(contexts), places
    block.store = store._h if store is not None else NULL
    bar = [ProgressBar()] if progress_bar else []
    hooks = _Callbacks([*bar, *callbacks], stop, bool(options.get("checkpoint")))
    block.callback, block.user = _call_fit, keep(hooks)
    result, params = ffi.new("mxc_fit_progress *"), ffi.new("mxc_ndarray_list *")
    forget()
    try:
        status = lib.mxc_fit(block, result, params)
    finally:
        drop(block.user)
        for item in bar:
            item.close()
    trained = from_list(params)
    if hooks.raised:
        raise hooks.raised
    if status:
        fail(status, True)
    return FitResult(_progress(result), trained)


def evaluate(symbol: Symbol, params: Dict[str, NDArray], data: Any, metrics: Sequence[Any] = ("accuracy",),
             ctx: "str | Context | None" = None, batch_size: int = 32) -> Dict[str, float]:
    """Run a network over data; the values of the metrics by name."""
    objects = [metric if isinstance(metric, Metric) else Metric(metric) for metric in metrics]
    block, _alive = list_struct(params)
    source = as_iter(data, batch_size, False)
    handles = [item._h for item in objects]
    check(lib.mxc_evaluate_on(symbol._h, block, source._h, *Context.parse(ctx), len(objects), handles))
    return {metric.name: metric.value for metric in objects}


def clip_global_norm(arrays: Sequence[NDArray], max_norm: float) -> None:
    """Queue scaling arrays so that their norm together is at most max_norm."""
    check(lib.mxc_clip_global_norm(len(arrays), [array._h for array in arrays], max_norm, NULL))


# ---- tracing ---------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def trace(path: Any) -> Iterator[None]:
    """with mxc.trace("run.json"): records what runs when, for chrome://tracing or ui.perfetto.dev."""
    check(lib.mxc_trace_start())
    try:
        yield
        check(lib.mxc_wait_all(engine()))
    finally:
        lib.mxc_trace_stop()
    check(lib.mxc_trace_write(c_text(path)))

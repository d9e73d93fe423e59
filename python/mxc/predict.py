# SPDX-License-Identifier: Apache-2.0
"""Predictors: saved networks for inference."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from ._api import Handle, c_shape, c_text, c_texts, check, ffi, lib, shape_of, text
from .io import c_descs
from .ndarray import Context, NDArray, as_array, borrow, dtype_flag, list_struct
from .symbol import Symbol

Inputs = Dict[str, Any]


def _options(ctx: Any, outputs: Optional[Sequence[str]], dtype: Any, fold_norms: bool, allow_missing: bool,
             allow_extra: bool, release_params: bool) -> Any:
    block = ffi.new("mxc_predictor_options *")
    lib.mxc_predictor_options_init(block, ffi.sizeof("mxc_predictor_options"))
    where = Context.parse(ctx)
    block.context.device, block.context.id = where.device, where.id
    texts = c_texts(outputs or ())
    names = ffi.new("const char *[]", texts)
    block.n_outputs, block.outputs, block.fold_norms = len(texts), names, fold_norms
    block.release_params = release_params
    block.params_flags |= allow_missing * lib.MXC_PARAMS_ALLOW_MISSING | allow_extra * lib.MXC_PARAMS_ALLOW_EXTRA
    if dtype is not None:
        block.dtype = dtype_flag(dtype)
    return block, (texts, names)


class Predictor(Handle, release="mxc_predictor_destroy"):
    """A network for inference.

    Predictor.load("net", {"data": (1, 1, 28, 28)}) reads net-symbol.json and its parameters; call it with the inputs.
    A thread uses a predictor of its own: clone() shares the parameters.
    """

    __slots__ = ()

    @classmethod
    def _made(cls, call: Any, args: Sequence[Any], inputs: Inputs, ctx: Any = None,
              outputs: Optional[Sequence[str]] = None, dtype: Any = None, fold_norms: bool = False,
              allow_missing: bool = False, allow_extra: bool = False, release_params: bool = False) -> "Predictor":
        options, _alive = _options(ctx, outputs, dtype, fold_norms, allow_missing, allow_extra, release_params)
        descs = [(name, *shape) if shape and isinstance(shape[0], (tuple, list)) else (name, shape)
                 for name, shape in inputs.items()]  # shape, or (shape, dtype)
        n, block, _names = c_descs(descs)
        out = ffi.new("mxc_predictor **")
        check(call(*args, n, block, options, out))
        result = cls.__new__(cls)
        result._h = out[0]
        return result

    @classmethod
    def load(cls, where: Any, inputs: Inputs, epoch: int = -1, **options: Any) -> "Predictor":
        """From a directory or the prefix of a saved model. inputs: shape, or (shape, dtype), of each; epoch -1: the
        best or last parameters. options: ctx, outputs (names of nodes to compute), dtype, fold_norms, allow_missing,
        allow_extra, release_params."""
        return cls._made(lib.mxc_predictor_load, (c_text(where), epoch), inputs, **options)

    @classmethod
    def load_files(cls, symbol: Any, params: Any, inputs: Inputs, **options: Any) -> "Predictor":
        return cls._made(lib.mxc_predictor_load_files, (c_text(symbol), c_text(params)), inputs, **options)

    @classmethod
    def load_memory(cls, json: "str | bytes", params: bytes, inputs: Inputs, **options: Any) -> "Predictor":
        """From the contents of both files."""
        data = json.encode() if isinstance(json, str) else json
        return cls._made(lib.mxc_predictor_load_memory, (data, len(data), params, len(params)), inputs, **options)

    @classmethod
    def create(cls, symbol: Symbol, params: Dict[str, NDArray], inputs: Inputs, **options: Any) -> "Predictor":
        """From a symbol and its parameters, such as those that fit returns."""
        block, _alive = list_struct(params)
        return cls._made(lib.mxc_predictor_create, (symbol._h, block), inputs, **options)

    def clone(self) -> "Predictor":
        """Another one with the same parameters, for another thread."""
        out = ffi.new("mxc_predictor **")
        check(lib.mxc_predictor_clone(self._h, out))
        result = Predictor.__new__(Predictor)
        result._h = out[0]
        return result

    @property
    def inputs(self) -> Dict[str, NDArray]:
        found = {text(lib.mxc_predictor_input_name(self._h, i)): borrow(lib.mxc_predictor_input(self._h, i))
                 for i in range(lib.mxc_predictor_n_inputs(self._h))}
        return {name: array for name, array in found.items() if array is not None}

    @property
    def output_names(self) -> List[str]:
        return [text(lib.mxc_predictor_output_name(self._h, i)) for i in range(lib.mxc_predictor_n_outputs(self._h))]

    @property
    def outputs(self) -> List[NDArray]:
        """The arrays that each run overwrites."""
        found = (borrow(lib.mxc_predictor_output(self._h, i)) for i in range(lib.mxc_predictor_n_outputs(self._h)))
        return [array for array in found if array is not None]

    def set_input(self, key: "str | int", value: Any) -> None:
        """Copy an input, by name or position; reshapes the predictor if its shape is another one."""
        names = [text(lib.mxc_predictor_input_name(self._h, i)) for i in range(lib.mxc_predictor_n_inputs(self._h))]
        name = names[key] if isinstance(key, int) else key
        target = lib.mxc_predictor_find_input(self._h, c_text(name))
        array = as_array(value, borrow(target))
        if target and shape_of(lib.mxc_ndarray_shape(target)) != array.shape:
            self.reshape(**{name: array.shape})
        check(lib.mxc_predictor_set_input_array(self._h, c_text(name), array._h))

    def reshape(self, **shapes: Sequence[int]) -> None:
        """Change the shapes of inputs, such as the batch size."""
        known = ffi.new("mxc_shape[]", max(len(shapes), 1))
        for i, shape in enumerate(shapes.values()):
            c_shape(shape, known + i)
        check(lib.mxc_predictor_reshape(self._h, len(shapes), c_texts(shapes), known))

    def forward(self, *inputs: Any, **named: Any) -> List[NDArray]:
        """Set inputs by position or name, queue a run, and return the outputs."""
        for position, value in enumerate(inputs):
            self.set_input(position, value)
        for name, value in named.items():
            self.set_input(name, value)
        check(lib.mxc_predictor_forward(self._h))
        return self.outputs

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run, and return a copy of the output as a NumPy array, or a list of several."""
        results = [array.asnumpy() for array in self.forward(*inputs, **named)]
        return results[0] if len(results) == 1 else results


def top_classes(scores: NDArray, k: int = 5, row: int = 0) -> "list[tuple[int, float]]":
    """The classes of the highest scores, best first, with the scores."""
    scores.wait_to_read()
    classes, values = ffi.new("int64_t[]", max(k, 1)), ffi.new("float[]", max(k, 1))
    check(lib.mxc_top_classes(scores._h, row, k, classes, values))
    return [(int(classes[i]), float(values[i])) for i in range(k)]

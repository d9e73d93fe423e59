/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inference of shapes and types, and MXNet's ways to write lists of shapes: numbers of 32 or 64 bits, with or without a
 * sign. Unless the thread has NumPy's shapes, 0 stands for what is unknown: a rank, or the length of an axis.
 */
#include <string.h>

#include "compat/shapes.h"

static int64_t number_at(const void *numbers, mxnet_number kind, int64_t i) {
    if (kind == MXNET_U32)
        return ((const uint32_t *)numbers)[i];
    return kind == MXNET_I32 ? ((const int32_t *)numbers)[i] : ((const int64_t *)numbers)[i];
}

int mxnet_shapes_read(const mxnet_shape_list *list, mxc_shape **out) {
    int is_np = mxnet_is_np_shape();
    mxc_shape *shapes = mxnet_buffer(MXNET_SLOT_SCRATCH, (size_t)list->n, sizeof *shapes);
    if (!shapes)
        return -1;
    if (list->n > 0 && !list->offsets)
        return mxnet_fail("the offsets of %lld shapes are NULL", (long long)list->n);
    for (int64_t i = 0; i < list->n; i++) {
        int64_t begin = number_at(list->offsets, list->offset_kind, i);
        int64_t ndim = number_at(list->offsets, list->offset_kind, i + 1) - begin, dims[MXC_MAX_NDIM];
        if (ndim < 0 || ndim > MXC_MAX_NDIM)
            return mxnet_fail("shape %lld has %lld axes, expected at most %d", (long long)i, (long long)ndim,
                              MXC_MAX_NDIM);
        for (int64_t k = 0; k < ndim; k++) {
            dims[k] = number_at(list->dims, list->dim_kind, begin + k);
            if (!is_np && dims[k] == 0)
                dims[k] = -1;
        }
        MXNET_TRY(mxc_shape_set(&shapes[i], ndim == 0 && !is_np ? -1 : (int)ndim, dims));
    }
    *out = shapes;
    return 0;
}

/* The rank and the pointer to the lengths of each shape, in three slots from first on. */
static int return_shapes(mxnet_slot first, int64_t n, const mxc_shape *shapes, int is_wide, const int **out_ndim,
                         const void **out_shapes) {
    int is_np = mxnet_is_np_shape();
    int *ndim = mxnet_buffer(first, (size_t)n, sizeof *ndim);
    const void **pointers = mxnet_buffer(first + 1, (size_t)n, sizeof *pointers);
    char *dims = mxnet_buffer(first + 2, (size_t)n * MXC_MAX_NDIM, sizeof(int64_t));
    if (!ndim || !pointers || !dims)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        ndim[i] = shapes[i].ndim < 0 && !is_np ? 0 : shapes[i].ndim;
        pointers[i] = dims;
        for (int k = 0; k < shapes[i].ndim; k++) {
            int64_t length = shapes[i].dim[k] < 0 && !is_np ? 0 : shapes[i].dim[k];
            int32_t narrow = (int32_t)length;
            memcpy(dims, is_wide ? (const void *)&length : &narrow, is_wide ? sizeof length : sizeof narrow);
            dims += is_wide ? sizeof length : sizeof narrow;
        }
    }
    *out_ndim = ndim;
    *out_shapes = pointers;
    return 0;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* What the six functions give back: arguments, outputs, auxiliary states. */
typedef struct shape_results {
    int64_t n[3];
    const int *ndim[3];
    const void *shapes[3];
    int complete;
} shape_results;

static int all_known(int64_t n, const mxc_shape *shapes) {
    int known = 1;
    for (int64_t i = 0; i < n; i++)
        known &= mxc_shape_known(&shapes[i]);
    return known;
}

/* The names of variables that shapes or types are given for, in order where there are no keys. */
static int read_names(const mxc_symbol *symbol, int64_t n, const char *const *keys, mxc_names *made,
                      const char *const **out) {
    *made = (mxc_names){0, NULL};
    *out = keys;
    if (n == 0 || (keys && keys[0]))
        return 0;
    MXNET_TRY(mxc_symbol_list_arguments(symbol, made));
    *out = (const char *const *)made->items;
    if (n <= made->n)
        return 0;
    mxnet_fail("%lld shapes or types are given, but the symbol has %lld arguments", (long long)n, (long long)made->n);
    mxc_names_release(made);
    return -1;
}

static int infer_shapes(SymbolHandle handle, const mxnet_shape_list *given, const char *const *keys, int is_wide,
                        int is_partial, shape_results *out) {
    const mxc_symbol *symbol = mxnet_symbol_of(handle);
    const char *const *names;
    mxc_names made;
    mxc_shape *shapes;
    mxc_inferred inferred;
    if (!symbol)
        return -1;
    MXNET_CALL(mxnet_shapes_read(given, &shapes));
    MXNET_CALL(read_names(symbol, given->n, keys, &made, &names));
    mxc_status status = mxc_symbol_infer(symbol, given->n, names, shapes, NULL, &inferred);
    mxc_names_release(&made);
    MXNET_TRY(status);
    const int64_t n[3] = {inferred.n_args, inferred.n_outputs, inferred.n_aux};
    const mxc_shape *lists[3] = {inferred.arg_shapes, inferred.output_shapes, inferred.aux_shapes};
    const mxnet_slot slots[3] = {MXNET_SLOT_IN_NDIM, MXNET_SLOT_OUT_NDIM, MXNET_SLOT_AUX_NDIM};
    int result = 0;
    out->complete = 1;
    for (int i = 0; i < 3 && !result; i++) {
        out->n[i] = n[i];
        out->complete &= all_known(n[i], lists[i]);
        result = return_shapes(slots[i], n[i], lists[i], is_wide, &out->ndim[i], &out->shapes[i]);
    }
    out->complete |= is_partial;
    mxc_inferred_release(&inferred);
    return result;
}

/* The functions differ in the types of the numbers that they take and give. */
#define size_type uint32_t
#define ndim_type uint32_t
#define offset_type uint32_t
#define OFFSETS MXNET_U32
#define dim_type uint32_t
#define DIMS MXNET_U32
#define FUNCTION MXSymbolInferShape
#define IS_PARTIAL 0
#include "compat/infer_shape.inc"
#define FUNCTION MXSymbolInferShapePartial
#define IS_PARTIAL 1
#include "compat/infer_shape.inc"
#undef size_type
#undef ndim_type
#undef offset_type
#undef OFFSETS
#undef dim_type
#undef DIMS

#define size_type uint32_t
#define ndim_type int
#define offset_type uint32_t
#define OFFSETS MXNET_U32
#define dim_type int
#define DIMS MXNET_I32
#define FUNCTION MXSymbolInferShapeEx
#define IS_PARTIAL 0
#include "compat/infer_shape.inc"
#define FUNCTION MXSymbolInferShapePartialEx
#define IS_PARTIAL 1
#include "compat/infer_shape.inc"
#undef size_type
#undef ndim_type
#undef offset_type
#undef OFFSETS
#undef dim_type
#undef DIMS

#define size_type size_t
#define ndim_type int
#define offset_type int64_t
#define OFFSETS MXNET_I64
#define dim_type int64_t
#define DIMS MXNET_I64
#define FUNCTION MXSymbolInferShapeEx64
#define IS_PARTIAL 0
#include "compat/infer_shape.inc"
#define FUNCTION MXSymbolInferShapePartialEx64
#define IS_PARTIAL 1
#include "compat/infer_shape.inc"
#undef size_type
#undef ndim_type
#undef offset_type
#undef OFFSETS
#undef dim_type
#undef DIMS

/* ---- types ------------------------------------------------------------------------------------------------------- */

static int return_types(mxnet_slot slot, int64_t n, const mxc_dtype *types, uint32_t *out_n, const int **out,
                        int *complete) {
    int *list = mxnet_buffer(slot, (size_t)n, sizeof *list);
    if (!list)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        list[i] = (int)types[i];
        *complete &= types[i] != MXC_DTYPE_UNKNOWN;
    }
    *out_n = (uint32_t)n;
    *out = list;
    return 0;
}

int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char *const *keys, const int *arg_type_data,
                      uint32_t *in_type_size, const int **in_type_data, uint32_t *out_type_size,
                      const int **out_type_data, uint32_t *aux_type_size, const int **aux_type_data, int *complete) {
    const mxc_symbol *symbol = mxnet_symbol_of(sym);
    const char *const *names;
    mxc_names made;
    mxc_inferred inferred;
    mxc_dtype *types = mxnet_buffer(MXNET_SLOT_SCRATCH, num_args, sizeof *types);
    if (!symbol || !types)
        return -1;
    for (uint32_t i = 0; i < num_args; i++) {
        types[i] = MXC_DTYPE_UNKNOWN;
        if (arg_type_data[i] != -1)
            MXNET_CALL(mxnet_dtype(arg_type_data[i], &types[i]));
    }
    MXNET_CALL(read_names(symbol, num_args, keys, &made, &names));
    mxc_status status = mxc_symbol_infer(symbol, num_args, names, NULL, types, &inferred);
    mxc_names_release(&made);
    MXNET_TRY(status);
    *complete = 1;
    int result =
        return_types(MXNET_SLOT_IN_NDIM, inferred.n_args, inferred.arg_types, in_type_size, in_type_data, complete);
    if (!result)
        result = return_types(MXNET_SLOT_OUT_NDIM, inferred.n_outputs, inferred.output_types, out_type_size,
                              out_type_data, complete);
    if (!result)
        result = return_types(MXNET_SLOT_AUX_NDIM, inferred.n_aux, inferred.aux_types, aux_type_size, aux_type_data,
                              complete);
    mxc_inferred_release(&inferred);
    return result;
}

int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char *const *keys, const int *arg_type_data,
                             uint32_t *in_type_size, const int **in_type_data, uint32_t *out_type_size,
                             const int **out_type_data, uint32_t *aux_type_size, const int **aux_type_data,
                             int *complete) {
    MXNET_CALL(MXSymbolInferType(sym, num_args, keys, arg_type_data, in_type_size, in_type_data, out_type_size,
                                 out_type_data, aux_type_size, aux_type_data, complete));
    *complete = 1;
    return 0;
}

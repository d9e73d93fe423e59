/* SPDX-License-Identifier: Apache-2.0 */
/* The library's means for computing operators, for those of the program: mxc/kernel.h. */
#include <mxc/kernel.h>

#include "base/error.h"
#include "math/assign.h"
#include "math/map.h"
#include "resource/temp.h"

mxc_dtype mxc_compute_dtype(mxc_dtype dtype) {
    return mxc_dtype_size(dtype) ? mxci_compute_type(dtype) : MXC_DTYPE_UNKNOWN;
}

/* ---- element by element ------------------------------------------------------------------------------------------ */

/* 1 if the array's axes, aligned at the last, equal the output's or are 1. */
static int is_broadcastable(const mxc_shape *array, const mxc_shape *space) {
    if (array->ndim > space->ndim)
        return 0;
    for (int i = 0; i < array->ndim; i++)
        if (mxci_axis_from_end(array, i) != 1 && mxci_axis_from_end(array, i) != mxci_axis_from_end(space, i))
            return 0;
    return 1;
}

/* Input number k as an operand. strides: room for how it is broadcast. */
static mxc_status map_input(int k, const mxc_tensor *in, const mxc_tensor *out, mxci_strided *strides,
                            mxci_operand *operand) {
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    if (!in)
        return MXC_FAIL(MXC_EINVAL, "mxc_map: in[%d] must not be NULL", k);
    if (in->dtype != out->dtype)
        return MXC_FAIL(MXC_EDTYPE, "mxc_map: input %d: expected dtype %s, that of the output, found %s", k,
                        mxc_dtype_name(out->dtype), mxc_dtype_name(in->dtype));
    if (!is_broadcastable(&in->shape, &out->shape))
        return MXC_FAIL(MXC_ESHAPE, "mxc_map: input %d of shape %s cannot be broadcast to %s, the output's", k,
                        mxc_shape_format(&in->shape, have, sizeof have),
                        mxc_shape_format(&out->shape, want, sizeof want));
    if (!in->data)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_map: input %d has no data; backward has that of arrays that the descriptor's "
                        "needs ask for",
                        k);
    operand->data = in->data;
    if (mxci_is_broadcast(&in->shape, &out->shape)) {
        mxci_broadcast_strides(&in->shape, &out->shape, strides);
        operand->strides = strides;
    }
    return MXC_OK;
}

mxc_status mxc_map(const mxc_run *run, const mxc_map_kernels *kernels, const void *params, int n_in,
                   const mxc_tensor *const *in, mxc_req req, const mxc_tensor *out) {
    MXC_TRY(MXCI_NON_NULL(kernels));
    MXC_TRY(MXCI_NON_NULL(in));
    MXC_TRY(MXCI_NON_NULL(out));
    mxci_strided strides[MXC_MAP_INPUTS];
    mxci_mapping map = {.dtype = out->dtype, .n = mxci_tensor_size(out), .n_in = n_in};
    mxc_dtype compute = mxc_compute_dtype(out->dtype);
    mxc_map_fn fn = compute == MXC_F32   ? kernels->f32
                    : compute == MXC_F64 ? kernels->f64
                    : compute == MXC_I64 ? kernels->i64
                                         : NULL;
    if (n_in < 1 || n_in > MXC_MAP_INPUTS)
        return MXC_FAIL(MXC_EINVAL, "mxc_map: n_in is %d, expected 1 to %d", n_in, MXC_MAP_INPUTS);
    if (!fn)
        return MXC_FAIL(MXC_EDTYPE, "mxc_map: has no kernel for dtype %s", mxc_dtype_name(out->dtype));
    if (!mxci_is_wanted(req, out))
        return MXC_OK;
    for (int k = 0; k < n_in; k++)
        MXC_TRY(map_input(k, in[k], out, &strides[k], &map.in[k]));
    map.result[0] = (mxci_result){.fn_params = fn, .params = params, .req = req, .data = out->data};
    return mxci_mapping_run(run, &map);
}

/* ---- rows and arrays --------------------------------------------------------------------------------------------- */

static mxc_status check_dtypes(const char *caller, mxc_dtype from, mxc_dtype to) {
    if (mxc_dtype_size(from) && mxc_dtype_size(to))
        return MXC_OK;
    return MXC_FAIL(MXC_EDTYPE, "%s: dtypes %d and %d, one of which does not exist", caller, (int)from, (int)to);
}

mxc_status mxc_store_row(mxc_req req, mxc_dtype from_dtype, const void *from, mxc_dtype to_dtype, void *to, int64_t n) {
    if (req == MXC_REQ_NULL || n <= 0)
        return MXC_OK;
    MXC_TRY(MXCI_NON_NULL(from));
    MXC_TRY(MXCI_NON_NULL(to));
    MXC_TRY(check_dtypes("mxc_store_row", from_dtype, to_dtype));
    mxci_assign_cast_row(req, from_dtype, from, to_dtype, to, n);
    return MXC_OK;
}

typedef struct store_args {
    mxc_req req;
    const mxc_tensor *from, *to;
} store_args;

static void store_range(void *arg, int64_t begin, int64_t end, int part) {
    const store_args *a = arg;
    (void)part;
    mxci_assign_cast_row(a->req, a->from->dtype, mxci_at(a->from, begin), a->to->dtype, mxci_at(a->to, begin),
                         end - begin);
}

mxc_status mxc_store(const mxc_run *run, mxc_req req, const mxc_tensor *from, const mxc_tensor *to) {
    MXC_TRY(MXCI_NON_NULL(from));
    MXC_TRY(MXCI_NON_NULL(to));
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    store_args args = {req, from, to};
    MXC_TRY(check_dtypes("mxc_store", from->dtype, to->dtype));
    if (mxci_tensor_size(from) != mxci_tensor_size(to))
        return MXC_FAIL(MXC_ESHAPE, "mxc_store: from %s to %s, which have different numbers of elements",
                        mxc_shape_format(&from->shape, have, sizeof have),
                        mxc_shape_format(&to->shape, want, sizeof want));
    if (!mxci_is_wanted(req, to))
        return MXC_OK;
    if (!from->data || !to->data)
        return MXC_FAIL(MXC_EINVAL, "mxc_store: %s has no data", from->data ? "to" : "from");
    mxc_parallel_for(run, mxci_tensor_size(to), MXCI_GRAIN, store_range, &args);
    return MXC_OK;
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

mxc_status mxc_run_scratch(const mxc_run *run, size_t bytes, void **out) {
    MXC_TRY(MXCI_OUT(out));
    if (!run)
        return MXC_FAIL(MXC_EINVAL, "mxc_run_scratch: run is NULL; a function of MXC_OP_CALLBACK allocates for itself");
    if (!mxci_size_fits(bytes))
        return MXC_FAIL(MXC_ENOMEM, "mxc_run_scratch: %zu bytes are more than memory can have", bytes);
    return mxci_temp_get_for_program(run, bytes, out);
}

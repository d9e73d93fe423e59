/* SPDX-License-Identifier: Apache-2.0 */
/* Calling operators on arrays. */
#include <stdio.h>
#include <string.h>

#include "compat/mxnet.h"
#include "compat/sparse.h"

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static int is_given(int n, const char *const *keys, const char *key) {
    for (int i = 0; i < n; i++)
        if (!strcmp(keys[i], key))
            return 1;
    return 0;
}

/* The operator with its parameters. Where it counts its inputs in a parameter that is not given, that is set. */
static int make_op(const mxnet_op *op, int n_in, int n, const char *const *keys, const char *const *values,
                   mxc_op **out) {
    mxnet_params params;
    const char **longer, *count;
    char number[16];
    MXNET_CALL(mxnet_params_read(op, n, keys, values, &params));
    count = mxnet_op_count_key(op);
    n = params.n;
    if (!*count || is_given(n, keys, count))
        return mxnet_result(mxc_op_create(op->mxc_name, n, params.keys, params.values, out));
    longer = mxnet_buffer(MXNET_SLOT_SCRATCH2, 2 * ((size_t)n + 1), sizeof *longer);
    if (!longer)
        return -1;
    snprintf(number, sizeof number, "%d", n_in);
    for (int i = 0; i < n; i++) {
        longer[i] = params.keys[i];
        longer[n + 1 + i] = params.values[i];
    }
    longer[n] = count;
    longer[2 * n + 1] = number;
    return mxnet_result(mxc_op_create(op->mxc_name, n + 1, longer, longer + n + 1, out));
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int shares_memory(int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray *const *out) {
    for (int i = 0; i < n_out; i++)
        for (int k = 0; out[i] && k < n_in; k++)
            if (in[k] && mxc_ndarray_var(in[k]) == mxc_ndarray_var(out[i]))
                return 1;
    return 0;
}

/* Computes to new arrays, which are copied to those given, where an output lies in the memory of an input and the
 * operator cannot compute in place. */
static mxc_status invoke_by_copy(mxc_op *op, int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray **out) {
    mxc_ndarray **made = mxnet_buffer(MXNET_SLOT_SCRATCH2, (size_t)n_out, sizeof *made);
    mxc_status status;
    if (!made)
        return MXC_FAIL(MXC_ENOMEM, "%s: out of memory", mxc_op_name(op));
    for (int i = 0; i < n_out; i++)
        made[i] = NULL;
    MXC_TRY(mxc_op_invoke(op, n_in, in, n_out, made, NULL, 0));
    status = MXC_OK;
    for (int i = 0; i < n_out; i++) {
        if (status == MXC_OK && out[i])
            status = mxc_ndarray_copy_to(made[i], out[i], 0);
        if (status == MXC_OK && !out[i])
            out[i] = made[i];
        else
            mxc_ndarray_release(made[i]);
    }
    return status;
}

static mxc_status invoke(mxc_op *op, int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray **out) {
    mxc_status status = mxc_op_invoke(op, n_in, in, n_out, out, NULL, 0);
    if (status == MXC_EINVAL && shares_memory(n_in, in, n_out, out))
        return invoke_by_copy(op, n_in, in, n_out, out);
    return status;
}

/* Outputs that the caller gave: handles without array get theirs now. */
static int invoke_into(mxc_op *op, int n_in, mxc_ndarray *const *in, int n_out, NDArrayHandle *handles) {
    mxc_ndarray **out = mxnet_buffer(MXNET_SLOT_ARGS, (size_t)n_out, sizeof *out);
    if (!out)
        return -1;
    for (int i = 0; i < n_out; i++) {
        MXNET_NEED(handles[i]);
        out[i] = ((mxnet_ndarray *)handles[i])->array;
    }
    MXNET_TRY(invoke(op, n_in, in, n_out, out));
    for (int i = 0; i < n_out; i++)
        ((mxnet_ndarray *)handles[i])->array = out[i];
    return 0;
}

/* While recording, no array that is in a graph may be written, whatever it is written with. */
static int check_outputs(const char *op, int n, NDArrayHandle const *handles) {
    for (int i = 0; mxc_autograd_is_recording() && i < n; i++) {
        const mxnet_ndarray *to = handles[i];
        if (to && to->array && mxc_autograd_in_graph(to->array))
            return mxnet_fail("%s: output %d is written while recording, but belongs to a recorded graph or has a "
                              "gradient; write to a new array, or in autograd.pause()",
                              op, i);
    }
    return 0;
}

/* A copy to an array of another type or on another device, which operators do not make. */
static int copy_to(mxc_ndarray *from, NDArrayHandle handle) {
    mxnet_ndarray *to = handle;
    MXNET_NEED(from);
    MXNET_NEED(to);
    if (to->array)
        return mxnet_result(mxc_ndarray_copy_to(from, to->array, 0));
    return mxnet_result(mxc_ndarray_copy(from, mxc_ndarray_context(from), mxc_ndarray_dtype(from), &to->array));
}

/* reset_arrays: fills its inputs with zeros, and has no outputs. libmxc's operators do not change their arguments. */
static int reset_arrays(int n, mxc_ndarray *const *in, int *num_outputs) {
    for (int i = 0; i < n; i++) {
        if (!in[i])
            return mxnet_fail("reset_arrays: input %d is NULL", i);
        MXNET_TRY(mxc_ndarray_fill(in[i], 0));
    }
    *num_outputs = 0;
    return 0;
}

/* _sparse_retain(data, indices): data with other rows 0. */
static int retain_rows(int n, mxc_ndarray *const *in, int *num_outputs, NDArrayHandle **outputs) {
    mxc_ndarray *made = NULL;
    if (n != 2 || !in[0] || !in[1])
        return mxnet_fail("_sparse_retain: expected 2 arrays, found %d", n);
    if (*outputs && *num_outputs == 1) {
        mxc_ndarray *to = mxnet_array((*outputs)[0]);
        return to ? mxnet_sparse_retain(in[0], in[1], to) : -1;
    }
    MXNET_TRY(mxc_ndarray_copy(in[0], mxc_ndarray_context(in[0]), mxc_ndarray_dtype(in[0]), &made));
    if (mxnet_sparse_retain(in[0], in[1], made)) {
        mxc_ndarray_release(made);
        return -1;
    }
    *num_outputs = 1;
    return mxnet_return_arrays(MXNET_SLOT_HANDLES, 1, &made, outputs);
}

/* Arithmetic of an array of bool and a scalar is that of 64-bit integers. */
static int widens_bool(const mxnet_op *op, int n_in, mxc_ndarray *const *in) {
    static const char *const names[] = {"_plus_scalar",        "_minus_scalar",         "_rminus_scalar",
                                        "_mul_scalar",         "_div_scalar",           "_rdiv_scalar",
                                        "_mod_scalar",         "_rmod_scalar",          "_power_scalar",
                                        "_rpower_scalar",      "_maximum_scalar",       "_minimum_scalar",
                                        "_equal_scalar",       "_not_equal_scalar",     "_greater_scalar",
                                        "_lesser_scalar",      "_logical_or_scalar",    "_logical_and_scalar",
                                        "_logical_xor_scalar", "_greater_equal_scalar", "_lesser_equal_scalar"};
    if (n_in != 1 || !in[0] || mxc_ndarray_dtype(in[0]) != MXC_BOOL)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(op->mxc_name, names[i]))
            return 1;
    return 0;
}

/* In NumPy's shapes, () is a scalar and a length of 0 is known, where the operators read both as unknown: the output of
 * an operator without inputs is then made before. */
static int make_output(mxc_op *op, mxc_ndarray **out) {
    mxc_shape shape = {.ndim = -1};
    mxc_context context = mxc_cpu(0);
    mxc_dtype dtype = MXC_F32;
    mxc_tuple tuple;
    for (int i = 0; i < mxc_op_n_given(op); i++) {
        const char *key, *value;
        mxc_op_given(op, i, &key, &value);
        if (!strcmp(key, "shape") && mxc_tuple_parse(value, &tuple) == MXC_OK)
            MXNET_TRY(mxc_shape_set(&shape, tuple.n, tuple.value));
        else if (!strcmp(key, "dtype") && mxc_dtype_from_name(value) != MXC_DTYPE_UNKNOWN)
            dtype = mxc_dtype_from_name(value);
        else if (!strcmp(key, "ctx") && *value)
            MXNET_TRY(mxc_context_parse(value, &context));
    }
    if (!mxc_shape_known(&shape) || (shape.ndim && mxc_shape_size(&shape)))
        return 0;
    return mxnet_result(mxc_ndarray_create(shape.ndim, shape.dim, dtype, context, out));
}

static int invoke_new(mxc_op *op, int n_in, mxc_ndarray *const *in, int *num_outputs, NDArrayHandle **outputs) {
    const int n_out = mxc_op_n_visible(op);
    mxc_ndarray **out = mxnet_buffer(MXNET_SLOT_ARGS, (size_t)n_out, sizeof *out);
    mxc_status status;
    if (!out)
        return -1;
    for (int i = 0; i < n_out; i++)
        out[i] = NULL;
    if (!n_in && n_out == 1 && mxnet_is_np_shape())
        MXNET_CALL(make_output(op, out));
    status = invoke(op, n_in, in, n_out, out);
    if (status != MXC_OK)
        mxc_ndarray_release(out[0]); /* what was made before */
    MXNET_TRY(status);
    *num_outputs = n_out;
    return mxnet_return_arrays(MXNET_SLOT_HANDLES, n_out, out, outputs);
}

static int invoke_op(const mxnet_op *op, int n_in, mxc_ndarray *const *in, int *num_outputs, NDArrayHandle **outputs,
                     int n, const char *const *keys, const char *const *values) {
    mxc_op *made;
    int result;
    MXNET_CALL(make_op(op, n_in, n, keys, values, &made));
    if (*outputs && *num_outputs > 0)
        result = invoke_into(made, n_in, in, *num_outputs, *outputs);
    else
        result = invoke_new(made, n_in, in, num_outputs, outputs);
    mxc_op_release(made);
    return result;
}

/* An update of the rows that a sparse gradient has. The arrays in scratch memory are gone after the call. */
static int update_rows(const mxnet_op *op, int n_in, mxc_ndarray *const *in, int *num_outputs, NDArrayHandle **outputs,
                       int n, const char *const *keys, const char *const *values) {
    mxc_ndarray *arrays[MXNET_MAX_UPDATED], *before[MXNET_MAX_UPDATED];
    for (int i = 0; i < n_in; i++) {
        arrays[i] = in[i];
        if (!in[i])
            return mxnet_fail("%s: input %d has no array", op->name, i);
    }
    int result = mxnet_update_begin(n_in, arrays, before);
    if (!result)
        result = invoke_op(op, n_in, arrays, num_outputs, outputs, n, keys, values);
    return mxnet_update_end(result, n_in, arrays, before);
}

/* 1 for an update of weights that lie on several CPU contexts, as those of networks whose layers do. */
static int spans_contexts(const mxnet_op *op, int n_in, mxc_ndarray *const *in) {
    int differ = 0;
    if (strncmp(op->mxc_name, "multi_", strlen("multi_")) != 0)
        return 0;
    for (int i = 0; i < n_in; i++) {
        if (!in[i] || mxc_ndarray_context(in[i]).device != MXC_CPU)
            return 0;
        differ |= mxc_ndarray_context(in[i]).id != mxc_ndarray_context(in[0]).id;
    }
    return differ;
}

/* Such an update on copies beside the first weight. What it changes are inputs, among them those given as outputs. */
static int update_across(const mxnet_op *op, int n_in, mxc_ndarray *const *in, int n_out, NDArrayHandle *outputs, int n,
                         const char *const *keys, const char *const *values) {
    mxc_ndarray **kept = mxnet_alloc(2 * (size_t)n_in, sizeof *kept), **copies = kept ? kept + n_in : NULL;
    mxnet_ndarray *given = mxnet_alloc((size_t)n_out, sizeof *given);
    NDArrayHandle *handles = mxnet_alloc((size_t)n_out, sizeof *handles), *list = handles;
    int result = kept && given && handles ? 0 : -1;
    for (int i = 0; i < n_in && !result; i++) {
        kept[i] = in[i];
        result =
            mxnet_result(mxc_ndarray_copy(in[i], mxc_ndarray_context(in[0]), mxc_ndarray_dtype(in[i]), &copies[i]));
    }
    for (int i = 0; i < n_out && !result; i++) {
        handles[i] = &given[i];
        for (int k = 0; k < n_in; k++)
            if (outputs[i] && ((mxnet_ndarray *)outputs[i])->array == kept[k])
                given[i].array = copies[k];
        if (!given[i].array)
            result = mxnet_fail("%s: output %d is none of the inputs, which lie on several devices", op->name, i);
    }
    if (!result)
        result = invoke_op(op, n_in, copies, &n_out, &list, n, keys, values);
    for (int i = 0; i < n_in && kept; i++) {
        if (!result && copies[i])
            result = mxnet_result(mxc_ndarray_copy_to(copies[i], kept[i], 0));
        mxc_ndarray_release(copies[i]);
    }
    mxnet_free(kept);
    mxnet_free(given);
    mxnet_free(handles);
    return result;
}

int mxnet_invoke(const mxnet_op *op, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                 NDArrayHandle **outputs, int num_params, const char *const *keys, const char *const *values) {
    mxc_ndarray **in, *wide;
    int result;
    MXNET_NEED(op);
    if (num_inputs < 0 || num_params < 0)
        return mxnet_fail("%s: %d inputs, %d parameters", op->name, num_inputs, num_params);
    in = mxnet_buffer(MXNET_SLOT_SCRATCH, (size_t)num_inputs, sizeof *in);
    if (!in)
        return -1;
    MXNET_CALL(mxnet_arrays(num_inputs, inputs, in));
    if (*outputs)
        MXNET_CALL(check_outputs(op->name, *num_outputs, *outputs));
    if (*outputs && *num_outputs == 1 && num_inputs == 1 && !strcmp(op->name, "_copyto"))
        return copy_to(in[0], (*outputs)[0]);
    if (!strcmp(op->name, "reset_arrays"))
        return reset_arrays(num_inputs, in, num_outputs);
    if (!strcmp(op->name, "_sparse_retain"))
        return retain_rows(num_inputs, in, num_outputs, outputs);
    if (mxnet_updates_rows(op, num_inputs, inputs, num_params, keys, values))
        return update_rows(op, num_inputs, in, num_outputs, outputs, num_params, keys, values);
    if (*outputs && *num_outputs > 0 && spans_contexts(op, num_inputs, in))
        return update_across(op, num_inputs, in, *num_outputs, *outputs, num_params, keys, values);
    if (!widens_bool(op, num_inputs, in))
        return invoke_op(op, num_inputs, in, num_outputs, outputs, num_params, keys, values);
    MXNET_TRY(mxc_ndarray_copy(in[0], mxc_ndarray_context(in[0]), MXC_I64, &wide));
    result = invoke_op(op, 1, &wide, num_outputs, outputs, num_params, keys, values);
    mxc_ndarray_release(wide);
    return result;
}

int mxnet_return_dense(int n, const int **out_stypes) {
    int *types = mxnet_buffer(MXNET_SLOT_STYPES, (size_t)n, sizeof *types);
    if (!types)
        return -1;
    memset(types, 0, (size_t)n * sizeof *types);
    *out_stypes = types;
    return 0;
}

int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                       NDArrayHandle **outputs, int num_params, const char *const *param_keys,
                       const char *const *param_vals) {
    MXNET_NEED(num_outputs);
    MXNET_NEED(outputs);
    return mxnet_invoke(creator, num_inputs, inputs, num_outputs, outputs, num_params, param_keys, param_vals);
}

int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                         NDArrayHandle **outputs, int num_params, const char *const *param_keys,
                         const char *const *param_vals, const int **out_stypes) {
    const mxnet_op *op = creator;
    int *types, is_given_output;
    MXNET_NEED(out_stypes);
    MXNET_NEED(outputs);
    is_given_output = *outputs != NULL;
    MXNET_CALL(
        MXImperativeInvoke(creator, num_inputs, inputs, num_outputs, outputs, num_params, param_keys, param_vals));
    types = mxnet_buffer(MXNET_SLOT_STYPES, (size_t)*num_outputs, sizeof *types);
    if (!types)
        return -1;
    for (int i = 0; i < *num_outputs; i++) {
        mxnet_ndarray *made = (*outputs)[i];
        if (made && !is_given_output)
            made->storage = mxnet_storage_of_result(op, num_inputs, inputs, num_params, param_keys, param_vals);
        types[i] = made ? made->storage : MXNET_DENSE;
    }
    *out_stypes = types;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumpyOp and NDArrayOp of the front end, which are older than Custom: operators _Native and _NDArray with the address
 * of a struct of functions, as hexadecimal digits. They become types of Custom, whose functions call those. Only
 * addresses that the front end has given to this process are used: a symbol may have been read from a file.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compat/custom_op.h"

/* As the front end lays them out. The last arguments of the functions are the pointers at the end. */
typedef struct numpy_info {
    void (*forward)(int n, float **data, int *ndims, unsigned **shapes, int *tags, void *context);
    void (*backward)(int n, float **data, int *ndims, unsigned **shapes, int *tags, void *context);
    void (*infer_shape)(int n, int *ndims, int **shapes, void *context);
    void (*list_outputs)(char ***out, void *context);
    void (*list_arguments)(char ***out, void *context);
    void *p_forward, *p_backward, *p_infer_shape, *p_list_outputs, *p_list_arguments;
} numpy_info;

typedef struct ndarray_info {
    bool (*forward)(int n, void **arrays, int *tags, void *context);
    bool (*backward)(int n, void **arrays, int *tags, void *context);
    bool (*infer_shape)(int n, int *ndims, int **shapes, void *context);
    bool (*list_outputs)(char ***out, void *context);
    bool (*list_arguments)(char ***out, void *context);
    bool (*needs)(const int *out_grad, const int *in, const int *out, int *n, int **needed, void *context);
    void *p_forward, *p_backward, *p_infer_shape, *p_list_outputs, *p_list_arguments, *p_needs;
} ndarray_info;

/* One operator of the front end. It stays, since the front end keeps it, too. */
typedef struct python_op {
    const numpy_info *numpy; /* one of the two, the other is NULL */
    const ndarray_info *ndarray;
    int needs_top_grad;
    int needed[64];
    void *contexts[PROP_TYPE + 1]; /* this struct, for each function */
    struct python_op *next;
} python_op;

static python_op *known;

/* ---- description ------------------------------------------------------------------------------------------------- */

static int list_arguments(char ***out, void *context) {
    const python_op *op = context;
    if (op->ndarray)
        return op->ndarray->list_arguments(out, op->ndarray->p_list_arguments);
    op->numpy->list_arguments(out, op->numpy->p_list_arguments);
    return 1;
}

static int list_outputs(char ***out, void *context) {
    const python_op *op = context;
    if (op->ndarray)
        return op->ndarray->list_outputs(out, op->ndarray->p_list_outputs);
    op->numpy->list_outputs(out, op->numpy->p_list_outputs);
    return 1;
}

static int list_aux(char ***out, void *context) {
    static char *none[] = {NULL};
    (void)context;
    *out = none;
    return 1;
}

/* A function of NumpyOp that raised leaves the lists as they were, which shows as a shape of no axes. */
static int infer_shape(int n, int *ndims, int **shapes, void *context) {
    const python_op *op = context;
    if (op->ndarray)
        return op->ndarray->infer_shape(n, ndims, shapes, op->ndarray->p_infer_shape);
    op->numpy->infer_shape(n, ndims, shapes, op->numpy->p_infer_shape);
    return ndims[n - 1] > 0;
}

/* Arrays of NumPy are of float32. */
static int infer_type(int n, int *types, void *context) {
    const python_op *op = context;
    for (int i = op->numpy ? 0 : 1; i < n; i++)
        types[i] = op->numpy ? (int)MXC_F32 : types[0];
    return 1;
}

/* All arrays are numbered in order: gradients of outputs, inputs, outputs, as many as gradients. */
static int find_needs(const int *out_grad, const int *in, const int *out, int *n, int **needed, void *context) {
    python_op *op = context;
    const int end = out[0] + in[0] - out_grad[0];
    if (op->ndarray)
        return op->ndarray->needs(out_grad, in, out, n, needed, op->ndarray->p_needs);
    *n = 0;
    for (int i = op->needs_top_grad ? out_grad[0] : in[0]; i < end && *n < 64; i++)
        op->needed[(*n)++] = i;
    *needed = op->needed;
    return 1;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The functions overwrite; where a request is to add, this is what was there. */
typedef struct added {
    mxc_ndarray *array, *before;
} added;

static mxc_status keep_added(int n, void **handles, const int *tags, int written, const int *reqs, added *kept) {
    for (int i = 0, at = 0; i < n; i++) {
        if (tags[i] != written || reqs[at++] != MXC_REQ_ADD)
            continue;
        kept[i].array = mxc_ndarray_retain(mxnet_array(handles[i]));
        MXC_TRY(mxc_ndarray_copy(kept[i].array, mxc_cpu(0), mxc_ndarray_dtype(kept[i].array), &kept[i].before));
    }
    return MXC_OK;
}

static mxc_status add_kept(int n, const added *kept) {
    for (int i = 0; i < n; i++)
        if (kept[i].before)
            MXC_TRY(mxc_invoke_into("elemwise_add", 2, (mxc_ndarray *[]){kept[i].array, kept[i].before}, 0, NULL, NULL,
                                    1, &kept[i].array));
    return MXC_OK;
}

static void free_kept(int n, added *kept) {
    for (int i = 0; kept && i < n; i++) {
        mxc_ndarray_release(kept[i].array);
        mxc_ndarray_release(kept[i].before);
    }
    mxnet_free(kept);
}

/* The arrays of a run as memory and shapes. */
typedef struct numpy_run {
    float **data;
    int *ndims;
    unsigned **shapes, (*dims)[MXC_MAX_NDIM];
} numpy_run;

static mxc_status describe_run(int n, void **handles, const numpy_run *run) {
    for (int i = 0; i < n; i++) {
        mxc_ndarray *array = mxnet_array(handles[i]);
        const mxc_shape *shape = mxc_ndarray_shape(array);
        void *data;
        MXC_TRY(mxc_ndarray_data(array, &data));
        run->data[i] = data;
        run->ndims[i] = shape->ndim;
        run->shapes[i] = run->dims[i];
        for (int k = 0; k < shape->ndim; k++)
            run->dims[i][k] = (unsigned)shape->dim[k];
    }
    return MXC_OK;
}

/* The handles are the front end's, which NumpyOp does not see. */
static int run_numpy(const numpy_info *info, int n, void **handles, int *tags, int is_backward) {
    const numpy_run run = {mxnet_alloc((size_t)n, sizeof *run.data), mxnet_alloc((size_t)n, sizeof *run.ndims),
                           mxnet_alloc((size_t)n, sizeof *run.shapes), mxnet_alloc((size_t)n, sizeof *run.dims)};
    const int ok = run.data && run.ndims && run.shapes && run.dims && describe_run(n, handles, &run) == MXC_OK;
    if (ok && is_backward)
        info->backward(n, run.data, run.ndims, run.shapes, tags, info->p_backward);
    else if (ok)
        info->forward(n, run.data, run.ndims, run.shapes, tags, info->p_forward);
    for (int i = 0; i < n; i++)
        MXNDArrayFree(handles[i]);
    mxnet_free(run.data);
    mxnet_free(run.ndims);
    mxnet_free(run.shapes);
    mxnet_free(run.dims);
    return ok;
}

static int run_python(const python_op *op, int n, void **handles, int *tags, const int *reqs, int is_backward) {
    enum { TAG_OUT = 1, TAG_IN_GRAD = 2 };
    added *kept = mxnet_alloc((size_t)n, sizeof *kept);
    int ok = kept && keep_added(n, handles, tags, is_backward ? TAG_IN_GRAD : TAG_OUT, reqs, kept) == MXC_OK;
    if (!ok)
        for (int i = 0; i < n; i++)
            MXNDArrayFree(handles[i]);
    else if (op->numpy)
        ok = run_numpy(op->numpy, n, handles, tags, is_backward);
    else if (is_backward)
        ok = op->ndarray->backward(n, handles, tags, op->ndarray->p_backward);
    else
        ok = op->ndarray->forward(n, handles, tags, op->ndarray->p_forward);
    ok = ok && add_kept(n, kept) == MXC_OK;
    free_kept(n, kept);
    return ok;
}

static int forward(int n, void **handles, int *tags, const int *reqs, int is_train, void *context) {
    (void)is_train;
    return run_python(context, n, handles, tags, reqs, 0);
}

static int backward(int n, void **handles, int *tags, const int *reqs, int is_train, void *context) {
    (void)is_train;
    return run_python(context, n, handles, tags, reqs, 1);
}

/* ---- as types of Custom ------------------------------------------------------------------------------------------ */

typedef void (*any_function)(void);

static int create_operator(const char *context_name, int n, unsigned **shapes, const int *ndims, const int *types,
                           struct MXCallbackList *out, void *context) {
    static any_function functions[] = {
        [OP_DELETE] = NULL, [OP_FORWARD] = (any_function)forward, [OP_BACKWARD] = (any_function)backward};
    python_op *op = context;
    (void)context_name, (void)n, (void)shapes, (void)ndims, (void)types;
    *out = (struct MXCallbackList){sizeof functions / sizeof *functions, functions, op->contexts};
    return 1;
}

static const char *value_of(const char *key, int n, const char **keys, const char **values) {
    for (int i = 0; i < n; i++)
        if (!strcmp(keys[i], key))
            return values[i];
    return NULL;
}

static const void *address_of(const char *digits) {
    return digits ? (const void *)(uintptr_t)strtoull(digits, NULL, 16) : NULL;
}

/* Lock held. */
static python_op *find_op(const char *op_type, const void *info) {
    python_op *op = known;
    while (op && (strcmp(op_type, "_Native") ? (const void *)op->ndarray : (const void *)op->numpy) != info)
        op = op->next;
    return info ? op : NULL;
}

static int create_prop(const char *op_type, int n, const char **keys, const char **values, struct MXCallbackList *out) {
    static any_function functions[] = {
        [PROP_DELETE] = NULL,
        [PROP_ARGS] = (any_function)list_arguments,
        [PROP_OUTPUTS] = (any_function)list_outputs,
        [PROP_AUX] = (any_function)list_aux,
        [PROP_SHAPE] = (any_function)infer_shape,
        [PROP_NEEDS] = (any_function)find_needs,
        [PROP_CREATE] = (any_function)create_operator,
        [PROP_TYPE] = (any_function)infer_type,
    };
    python_op *op;
    mxnet_lock();
    op = find_op(op_type, address_of(value_of("info", n, keys, values)));
    mxnet_unlock();
    if (op)
        *out = (struct MXCallbackList){sizeof functions / sizeof *functions, functions, op->contexts};
    return op != NULL;
}

int mxnet_is_python_op(const char *name) {
    return !strcmp(name, "_NDArray") || !strcmp(name, "_Native");
}

int mxnet_python_op_add(const char *name, int n, const char *const *keys, const char *const *values) {
    const char *top_grad =
        value_of("need_top_grad", n, (const char **)(uintptr_t)keys, (const char **)(uintptr_t)values);
    const void *info =
        address_of(value_of("info", n, (const char **)(uintptr_t)keys, (const char **)(uintptr_t)values));
    const int is_numpy = !strcmp(name, "_Native");
    python_op *op;
    if (!info)
        return mxnet_fail("%s: parameter info is missing", name);
    MXNET_CALL(MXCustomOpRegister(name, create_prop));
    mxnet_lock();
    op = find_op(name, info);
    if (!op && (op = mxnet_alloc(1, sizeof *op)) != NULL) {
        for (size_t i = 0; i < sizeof op->contexts / sizeof *op->contexts; i++)
            op->contexts[i] = op;
        op->numpy = is_numpy ? info : NULL;
        op->ndarray = is_numpy ? NULL : info;
        op->next = known;
        known = op;
    }
    if (op)
        op->needs_top_grad =
            !top_grad || (strcmp(top_grad, "False") && strcmp(top_grad, "0") && strcmp(top_grad, "false"));
    mxnet_unlock();
    return op ? 0 : -1;
}

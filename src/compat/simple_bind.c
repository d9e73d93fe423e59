/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding to new arrays, whose shapes and types follow from some that are given. Arrays may be shared with another
 * executor, or come from a pool that the front end keeps for all executors of a bucketing network.
 */
#include "compat/simple_bind.h"

#include <stdio.h>
#include <string.h>

#include "compat/executor.h"
#include "compat/shapes.h"

/* What the front end asks for. */
typedef struct bind_call {
    mxc_symbol *symbol;
    int dev_type, dev_id;
    uint32_t n_groups;
    const char *const *group_names;
    const int *group_types, *group_ids;
    uint32_t n_reqs; /* 0: reqs[0] is that of all arguments */
    const char *const *req_names, *const *reqs;
    const char *const *shape_names;
    mxnet_shape_list shapes;
    uint32_t n_types;
    const char *const *type_names;
    const int *types;
    uint32_t n_stypes;
    const char *const *stype_names;
    const int *stypes;
    uint32_t n_shared; /* arguments that are those of shared_executor */
    const char *const *shared;
    mxc_executor *shared_executor;
} bind_call;

/* ---- the pool of arrays ------------------------------------------------------------------------------------------ */

typedef struct buffers {
    int is_used;
    int n, capacity;
    char **names;
    mxc_ndarray **arrays;
} buffers;

static int buffers_add(buffers *pool, const char *name, mxc_ndarray *array) {
    if (pool->n == pool->capacity) {
        int capacity = 2 * pool->capacity + 16;
        char **names = mxnet_alloc((size_t)capacity, sizeof *names);
        mxc_ndarray **arrays = mxnet_alloc((size_t)capacity, sizeof *arrays);
        if (!names || !arrays) {
            mxnet_free(names);
            mxnet_free(arrays);
            return -1;
        }
        for (int i = 0; i < pool->n; i++) {
            names[i] = pool->names[i];
            arrays[i] = pool->arrays[i];
        }
        mxnet_free(pool->names);
        mxnet_free(pool->arrays);
        pool->names = names;
        pool->arrays = arrays;
        pool->capacity = capacity;
    }
    pool->names[pool->n] = mxnet_copy_text(name);
    if (!pool->names[pool->n])
        return -1;
    pool->arrays[pool->n++] = mxc_ndarray_retain(array);
    return 0;
}

static int buffers_read(buffers *pool, int n, const char *const *names, NDArrayHandle const *handles) {
    for (int i = 0; i < n; i++) {
        mxc_ndarray *array = mxnet_array(handles[i]);
        if (!array || buffers_add(pool, names[i], array))
            return -1;
    }
    return 0;
}

static int buffers_return(const buffers *pool, int *n, const char ***names, NDArrayHandle **handles) {
    uint32_t count;
    MXNET_CALL(mxnet_return_strings(MXNET_SLOT_NAMES, MXNET_SLOT_NAMES_CHARS, pool->n, (const char *const *)pool->names,
                                    &count, names));
    for (int i = 0; i < pool->n; i++)
        mxc_ndarray_retain(pool->arrays[i]);
    *n = pool->n;
    return mxnet_return_arrays(MXNET_SLOT_HANDLES, pool->n, pool->arrays, handles);
}

static void buffers_release(buffers *pool) {
    for (int i = 0; i < pool->n; i++) {
        mxc_ndarray_release(pool->arrays[i]);
        mxnet_free(pool->names[i]);
    }
    mxnet_free(pool->names);
    mxnet_free(pool->arrays);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* What is known about one array before it exists. */
typedef struct wanted {
    const char *name;
    const mxc_shape *shape;
    mxc_dtype type;
    mxc_context context;
} wanted;

static mxc_status make_array(const wanted *w, mxc_ndarray **out) {
    MXC_TRY(mxc_ndarray_create(w->shape->ndim, w->shape->dim, w->type, w->context, out));
    mxc_status status = mxc_ndarray_fill(*out, 0);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

static int fits(const wanted *w, const mxc_ndarray *array) {
    return mxc_ndarray_dtype(array) == w->type && mxc_context_equal(mxc_ndarray_context(array), w->context) &&
           mxc_ndarray_size(array) >= mxc_shape_size(w->shape);
}

/* A view of the pool's array of that name if it is large enough, else a new array, which takes its place. */
static int array_from_pool(buffers *pool, const wanted *w, mxc_ndarray **out) {
    int at = 0;
    while (at < pool->n && strcmp(pool->names[at], w->name) != 0)
        at++;
    if (at < pool->n && fits(w, pool->arrays[at]))
        return mxnet_result(mxc_ndarray_reshape(pool->arrays[at], w->shape->ndim, w->shape->dim, out));
    MXNET_TRY(make_array(w, out));
    if (at == pool->n)
        return buffers_add(pool, w->name, *out);
    mxc_ndarray_release(pool->arrays[at]);
    pool->arrays[at] = mxc_ndarray_retain(*out);
    return 0;
}

/* An array of the executor to share with, which must be as wanted. */
static int array_from_executor(const wanted *w, mxc_ndarray *array, mxc_ndarray **out) {
    char want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    if (!mxc_shape_equal(mxc_ndarray_shape(array), w->shape) || mxc_ndarray_dtype(array) != w->type)
        return mxnet_fail(
            "simple_bind: %s is shared with another executor, where it has shape %s and type %s, expected "
            "%s and %s",
            w->name, mxc_shape_format(mxc_ndarray_shape(array), have, sizeof have),
            mxc_dtype_name(mxc_ndarray_dtype(array)), mxc_shape_format(w->shape, want, sizeof want),
            mxc_dtype_name(w->type));
    *out = mxc_ndarray_retain(array);
    return 0;
}

static int is_shared(const bind_call *call, const char *name) {
    for (uint32_t i = 0; i < call->n_shared; i++)
        if (strcmp(call->shared[i], name) == 0)
            return 1;
    return 0;
}

static int make_arg(const bind_call *call, buffers *pool, const wanted *w, mxc_req req, mxc_ndarray **arg,
                    mxc_ndarray **grad) {
    int named = is_shared(call, w->name), shared = call->shared_executor && named;
    int from_pool = pool->is_used && !named;
    mxc_ndarray *old = shared ? mxc_executor_find_arg(call->shared_executor, w->name) : NULL;
    mxc_ndarray *old_grad = shared ? mxc_executor_find_grad(call->shared_executor, w->name) : NULL;
    char name[512];
    wanted of_grad = *w;
    MXNET_CALL(old         ? array_from_executor(w, old, arg)
               : from_pool ? array_from_pool(pool, w, arg)
                           : mxnet_result(make_array(w, arg)));
    if (req == MXC_REQ_NULL)
        return 0;
    snprintf(name, sizeof name, "grad of %s", w->name);
    of_grad.name = name;
    if (old_grad)
        return array_from_executor(w, old_grad, grad);
    return from_pool ? array_from_pool(pool, &of_grad, grad) : mxnet_result(make_array(w, grad));
}

static int make_aux(const bind_call *call, const buffers *pool, const wanted *w, mxc_ndarray **out) {
    mxc_ndarray *old =
        call->shared_executor && pool->is_used ? mxc_executor_find_aux(call->shared_executor, w->name) : NULL;
    if (old && mxc_shape_equal(mxc_ndarray_shape(old), w->shape) && mxc_ndarray_dtype(old) == w->type) {
        *out = mxc_ndarray_retain(old);
        return 0;
    }
    return mxnet_result(make_array(w, out));
}

/* ---- shapes, types, requests ------------------------------------------------------------------------------------- */

static int read_req(const char *text, mxc_req *out) {
    static const char *const names[] = {"null", "write", "inplace", "add"};
    static const mxc_req reqs[] = {MXC_REQ_NULL, MXC_REQ_WRITE, MXC_REQ_WRITE, MXC_REQ_ADD};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text && strcmp(text, names[i]) == 0) {
            *out = reqs[i];
            return 0;
        }
    return mxnet_fail("simple_bind: the gradient request is \"%s\", expected null, write or add", text ? text : "");
}

/* One for all arguments, one for each in order, or by name, where those that are left out have none. */
static int read_reqs(const bind_call *call, const mxc_names *args, mxc_req *out) {
    mxc_req all = MXC_REQ_NULL;
    int by_name = call->n_reqs > 0 && call->req_names && call->req_names[0];
    if (call->n_reqs == 0 && call->reqs)
        MXNET_CALL(read_req(call->reqs[0], &all));
    if (call->n_reqs > 0 && !by_name && call->n_reqs != args->n)
        return mxnet_fail("simple_bind: %u gradient requests for %lld arguments", call->n_reqs, (long long)args->n);
    for (int64_t i = 0; i < args->n; i++) {
        out[i] = all;
        if (call->n_reqs > 0 && !by_name)
            MXNET_CALL(read_req(call->reqs[i], &out[i]));
        for (uint32_t k = 0; k < call->n_reqs && by_name; k++)
            if (strcmp(call->req_names[k], args->items[i]) == 0)
                MXNET_CALL(read_req(call->reqs[k], &out[i]));
    }
    return 0;
}

/* What is known of the arguments: names that the symbol does not have are passed over, as those of unused labels. */
static int read_known(const bind_call *call, const mxc_names *args, mxc_shape *shapes, mxc_dtype *types) {
    mxc_shape *given;
    MXNET_CALL(mxnet_shapes_read(&call->shapes, &given));
    for (int64_t i = 0; i < args->n; i++) {
        shapes[i].ndim = -1;
        types[i] = MXC_DTYPE_UNKNOWN;
        for (int64_t k = 0; k < call->shapes.n; k++)
            if (strcmp(call->shape_names[k], args->items[i]) == 0)
                shapes[i] = given[k];
        for (uint32_t k = 0; k < call->n_types; k++)
            if (strcmp(call->type_names[k], args->items[i]) == 0 && call->types[k] != -1)
                MXNET_CALL(mxnet_dtype(call->types[k], &types[i]));
    }
    for (uint32_t k = 0; k < call->n_stypes; k++)
        if (call->stypes[k] > 0 && mxc_names_find(args, call->stype_names[k]) >= 0)
            return mxnet_fail("simple_bind: %s: sparse arrays are not supported", call->stype_names[k]);
    return 0;
}

static int fail_incomplete(const mxc_names *args, const mxc_shape *shapes) {
    char text[384] = "", shape[MXC_SHAPE_TEXT];
    for (int64_t i = 0; i < args->n; i++) {
        size_t length = strlen(text);
        if (!mxc_shape_known(&shapes[i]))
            snprintf(text + length, sizeof text - length, " %s: %s", args->items[i],
                     mxc_shape_format(&shapes[i], shape, sizeof shape));
    }
    return mxnet_fail("simple_bind: these shapes do not follow from what was given:%s", text);
}

/* Infer everything; types that nothing decides are float32. */
static int infer(const bind_call *call, const mxc_names *args, mxc_inferred *out) {
    const char *const *names = (const char *const *)args->items;
    mxc_shape *shapes = mxnet_alloc((size_t)args->n, sizeof *shapes);
    mxc_dtype *types = mxnet_alloc((size_t)args->n, sizeof *types);
    int result = shapes && types ? read_known(call, args, shapes, types) : -1, open = 0;
    if (!result)
        result = mxnet_result(mxc_symbol_infer(call->symbol, args->n, names, shapes, types, out));
    for (int64_t i = 0; i < args->n && !result; i++) {
        open |= out->arg_types[i] == MXC_DTYPE_UNKNOWN;
        types[i] = out->arg_types[i] == MXC_DTYPE_UNKNOWN ? MXC_F32 : out->arg_types[i];
        shapes[i] = out->arg_shapes[i];
    }
    if (!result && open) {
        mxc_inferred_release(out);
        result = mxnet_result(mxc_symbol_infer(call->symbol, args->n, names, shapes, types, out));
    }
    for (int64_t i = 0; i < args->n && !result; i++)
        if (!mxc_shape_known(&out->arg_shapes[i])) {
            result = fail_incomplete(args, out->arg_shapes);
            mxc_inferred_release(out);
        }
    mxnet_free(shapes);
    mxnet_free(types);
    return result;
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

/* Everything that binding needs. */
typedef struct binding {
    mxc_bind_options options;
    mxc_names args, aux;
    mxc_inferred inferred;
    mxc_req *reqs;
    mxc_ndarray **arg, **grad, **state;
    mxc_executor *placed; /* with device groups: tells where the arrays belong */
} binding;

static mxc_context context_of(const binding *b, int64_t index, int is_aux) {
    const mxc_ndarray *array = !b->placed ? NULL
                               : is_aux   ? mxc_executor_aux(b->placed, index)
                                          : mxc_executor_arg(b->placed, index);
    return array ? mxc_ndarray_context(array) : b->options.context;
}

static int make_arrays(const bind_call *call, buffers *pool, binding *b) {
    for (int64_t i = 0; i < b->args.n; i++) {
        wanted w = {b->args.items[i], &b->inferred.arg_shapes[i], b->inferred.arg_types[i], context_of(b, i, 0)};
        MXNET_CALL(make_arg(call, pool, &w, b->reqs[i], &b->arg[i], &b->grad[i]));
    }
    for (int64_t i = 0; i < b->aux.n; i++) {
        mxc_dtype type = b->inferred.aux_types[i] == MXC_DTYPE_UNKNOWN ? MXC_F32 : b->inferred.aux_types[i];
        wanted w = {b->aux.items[i], &b->inferred.aux_shapes[i], type, context_of(b, i, 1)};
        MXNET_CALL(make_aux(call, pool, &w, &b->state[i]));
    }
    return 0;
}

/* Where device groups place arguments is known when they are bound. */
static int place(const bind_call *call, binding *b) {
    mxc_bind_spec spec;
    mxc_bind_spec_init(&spec, sizeof spec);
    spec.n = b->args.n;
    spec.names = (const char *const *)b->args.items;
    spec.shapes = b->inferred.arg_shapes;
    spec.types = b->inferred.arg_types;
    return mxnet_result(mxc_executor_simple_bind(call->symbol, &b->options, &spec, &b->placed));
}

static int prepare(const bind_call *call, binding *b) {
    MXNET_TRY(mxc_symbol_list_arguments(call->symbol, &b->args));
    MXNET_TRY(mxc_symbol_list_aux(call->symbol, &b->aux));
    b->reqs = mxnet_alloc((size_t)b->args.n, sizeof *b->reqs);
    b->arg = mxnet_alloc((size_t)(2 * b->args.n + b->aux.n), sizeof *b->arg);
    if (!b->reqs || !b->arg)
        return -1;
    b->grad = b->arg + b->args.n;
    b->state = b->grad + b->args.n;
    MXNET_CALL(read_reqs(call, &b->args, b->reqs));
    return infer(call, &b->args, &b->inferred);
}

static void release(binding *b) {
    for (int64_t i = 0; b->arg && i < 2 * b->args.n + b->aux.n; i++)
        mxc_ndarray_release(b->arg[i]);
    mxc_executor_destroy(b->placed);
    mxc_inferred_release(&b->inferred);
    mxnet_free(b->arg);
    mxnet_free(b->reqs);
    mxc_names_release(&b->args);
    mxc_names_release(&b->aux);
}

static int simple_bind(const bind_call *call, buffers *pool, mxc_executor **out) {
    binding b = {.reqs = NULL};
    mxc_context *groups = NULL;
    mxnet_bind_options_set(&b.options);
    b.options.shared = NULL;
    MXNET_CALL(mxnet_context(call->dev_type, call->dev_id, &b.options.context));
    MXNET_CALL(
        mxnet_groups_read(call->n_groups, call->group_names, call->group_types, call->group_ids, &b.options, &groups));
    int result = prepare(call, &b);
    if (!result && call->n_groups > 0)
        result = place(call, &b);
    if (!result)
        result = make_arrays(call, pool, &b);
    b.options.shared = call->shared_executor;
    if (!result)
        result = mxnet_result(mxc_executor_bind(call->symbol, &b.options, b.arg, b.grad, b.reqs, b.state, out));
    release(&b);
    mxnet_free(groups);
    return result;
}

#define FUNCTION MXExecutorSimpleBind
#define dim_type uint32_t
#define DIMS MXNET_U32
#include "compat/simple_bind_entry.inc"
#define FUNCTION MXExecutorSimpleBindEx
#define dim_type int
#define DIMS MXNET_I32
#include "compat/simple_bind_entry.inc"
#define FUNCTION MXExecutorSimpleBindEx64
#define dim_type int64_t
#define DIMS MXNET_I64
#include "compat/simple_bind_entry.inc"

/* SPDX-License-Identifier: Apache-2.0 */
/* Binding symbols to arrays that the front end gives, and reshaping. Binding to new arrays is in simple_bind.c. */
#include "compat/executor.h"
#include "compat/shapes.h"
#include "compat/simple_bind.h"

int mxnet_groups_read(uint32_t n, const char *const *names, const int *dev_types, const int *dev_ids,
                      mxc_bind_options *options, mxc_context **out) {
    *out = mxnet_alloc(n, sizeof **out);
    if (!*out)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (mxnet_context(dev_types[i], dev_ids[i], &(*out)[i])) {
            mxnet_free(*out);
            return -1;
        }
    options->n_groups = (int)n;
    options->group_names = names;
    options->group_contexts = *out;
    return 0;
}

void mxnet_bind_options_set(mxc_bind_options *options) {
    mxc_bind_options_init(options, sizeof *options);
    options->backward_after_inference = 1;
}

/* What is bound: lists in one block. */
typedef struct bound_arrays {
    mxc_ndarray **args, **grads, **aux;
    mxc_req *reqs;
} bound_arrays;

/* Requests without an array are dropped, and writing in place is writing. */
static mxc_req read_req(uint32_t req, const mxc_ndarray *grad) {
    if (!grad || req == MXC_REQ_NULL)
        return MXC_REQ_NULL;
    return req == MXC_REQ_ADD ? MXC_REQ_ADD : MXC_REQ_WRITE;
}

static int read_arrays(uint32_t len, NDArrayHandle const *in_args, NDArrayHandle const *grads, const uint32_t *reqs,
                       uint32_t aux_len, NDArrayHandle const *aux, bound_arrays *out) {
    out->args = mxnet_buffer(MXNET_SLOT_SCRATCH, 2 * (size_t)len + aux_len, sizeof *out->args);
    out->reqs = mxnet_buffer(MXNET_SLOT_SCRATCH2, len, sizeof *out->reqs);
    if (!out->args || !out->reqs)
        return -1;
    out->grads = out->args + len;
    out->aux = out->grads + len;
    MXNET_CALL(mxnet_arrays(len, in_args, out->args));
    MXNET_CALL(mxnet_arrays(aux_len, aux, out->aux));
    for (uint32_t i = 0; i < len; i++) {
        const mxnet_ndarray *grad = grads ? grads[i] : NULL;
        out->grads[i] = grad ? grad->array : NULL;
        out->reqs[i] = read_req(reqs ? reqs[i] : MXC_REQ_WRITE, out->grads[i]);
        if (out->reqs[i] == MXC_REQ_NULL)
            out->grads[i] = NULL;
    }
    return 0;
}

/* The symbol has as many arguments and auxiliary states as there are arrays. */
static int check_counts(const mxc_symbol *symbol, uint32_t n_args, uint32_t n_aux) {
    mxc_names args, aux;
    MXNET_TRY(mxc_symbol_list_arguments(symbol, &args));
    mxc_status status = mxc_symbol_list_aux(symbol, &aux);
    int64_t want_args = args.n, want_aux = status == MXC_OK ? aux.n : 0;
    mxc_names_release(&args);
    MXNET_TRY(status);
    mxc_names_release(&aux);
    if (want_args != n_args || want_aux != n_aux)
        return mxnet_fail("bind: expected %lld arguments and %lld auxiliary states, found %u and %u",
                          (long long)want_args, (long long)want_aux, n_args, n_aux);
    return 0;
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                     const char *const *map_keys, const int *map_dev_types, const int *map_dev_ids, uint32_t len,
                     NDArrayHandle const *in_args, NDArrayHandle const *arg_grad_store, const uint32_t *grad_req_type,
                     uint32_t aux_states_len, NDArrayHandle const *aux_states, ExecutorHandle shared_exec,
                     ExecutorHandle *out) {
    mxc_symbol *symbol = mxnet_symbol_of(symbol_handle);
    mxc_bind_options options;
    mxc_context *groups;
    mxc_executor *executor;
    bound_arrays arrays;
    MXNET_NEED(out);
    if (!symbol)
        return -1;
    mxnet_bind_options_set(&options);
    MXNET_CALL(mxnet_context(dev_type, dev_id, &options.context));
    MXNET_CALL(check_counts(symbol, len, aux_states_len));
    MXNET_CALL(read_arrays(len, in_args, arg_grad_store, grad_req_type, aux_states_len, aux_states, &arrays));
    options.shared = shared_exec ? mxnet_executor_of(shared_exec) : NULL;
    MXNET_CALL(mxnet_groups_read(num_map_keys, map_keys, map_dev_types, map_dev_ids, &options, &groups));
    mxc_status status =
        mxc_executor_bind(symbol, &options, arrays.args, arrays.grads, arrays.reqs, arrays.aux, &executor);
    mxnet_free(groups);
    MXNET_TRY(status);
    return mxnet_executor_new(executor, out);
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                    const char *const *map_keys, const int *map_dev_types, const int *map_dev_ids, uint32_t len,
                    NDArrayHandle const *in_args, NDArrayHandle const *arg_grad_store, const uint32_t *grad_req_type,
                    uint32_t aux_states_len, NDArrayHandle const *aux_states, ExecutorHandle *out) {
    return MXExecutorBindEX(symbol_handle, dev_type, dev_id, num_map_keys, map_keys, map_dev_types, map_dev_ids, len,
                            in_args, arg_grad_store, grad_req_type, aux_states_len, aux_states, NULL, out);
}

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len, NDArrayHandle const *in_args,
                   NDArrayHandle const *arg_grad_store, const uint32_t *grad_req_type, uint32_t aux_states_len,
                   NDArrayHandle const *aux_states, ExecutorHandle *out) {
    return MXExecutorBindEX(symbol_handle, dev_type, dev_id, 0, NULL, NULL, NULL, len, in_args, arg_grad_store,
                            grad_req_type, aux_states_len, aux_states, NULL, out);
}

/* ---- what an executor is bound to -------------------------------------------------------------------------------- */

int mxnet_executor_return_arrays(const mxc_executor *executor, uint32_t *n_args, NDArrayHandle **args,
                                 NDArrayHandle **grads, uint32_t *n_aux, NDArrayHandle **aux) {
    int64_t n = mxc_executor_arg_names(executor)->n, n_states = mxc_executor_aux_names(executor)->n;
    mxc_ndarray **list = mxnet_buffer(MXNET_SLOT_SCRATCH, (size_t)(n > n_states ? n : n_states), sizeof *list);
    if (!list)
        return -1;
    for (int64_t i = 0; i < n; i++)
        list[i] = mxc_ndarray_retain(mxc_executor_arg(executor, i));
    MXNET_CALL(mxnet_return_arrays(MXNET_SLOT_ARGS, n, list, args));
    for (int64_t i = 0; i < n; i++)
        list[i] = mxc_ndarray_retain(mxc_executor_grad(executor, i));
    MXNET_CALL(mxnet_return_arrays(MXNET_SLOT_GRADS, n, list, grads));
    for (int64_t i = 0; i < n_states; i++)
        list[i] = mxc_ndarray_retain(mxc_executor_aux(executor, i));
    *n_args = (uint32_t)n;
    *n_aux = (uint32_t)n_states;
    return mxnet_return_arrays(MXNET_SLOT_AUX, n_states, list, aux);
}

static int reshape(int partial_shaping, int allow_up_sizing, const char *const *names, const mxnet_shape_list *given,
                   uint32_t *num_in_args, NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                   NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out) {
    mxc_executor *executor = mxnet_executor_of(shared_exec), *reshaped;
    mxc_shape *shapes;
    if (!executor)
        return -1;
    MXNET_CALL(mxnet_shapes_read(given, &shapes));
    MXNET_TRY(mxc_executor_reshape(executor, partial_shaping, allow_up_sizing, given->n, names, shapes, &reshaped));
    MXNET_CALL(mxnet_executor_new(reshaped, out));
    return mxnet_executor_return_arrays(reshaped, num_in_args, in_args, arg_grads, num_aux_states, aux_states);
}

int MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id, uint32_t num_map_keys,
                        const char *const *map_keys, const int *map_dev_types, const int *map_dev_ids,
                        uint32_t num_provided_arg_shapes, const char *const *provided_arg_shape_names,
                        const int *provided_arg_shape_data, const uint32_t *provided_arg_shape_idx,
                        uint32_t *num_in_args, NDArrayHandle **in_args, NDArrayHandle **arg_grads,
                        uint32_t *num_aux_states, NDArrayHandle **aux_states, ExecutorHandle shared_exec,
                        ExecutorHandle *out) {
    const mxnet_shape_list given = {num_provided_arg_shapes, provided_arg_shape_idx, provided_arg_shape_data, MXNET_U32,
                                    MXNET_I32};
    (void)dev_type, (void)dev_id, (void)num_map_keys; /* those of the executor stay */
    (void)map_keys, (void)map_dev_types, (void)map_dev_ids;
    return reshape(partial_shaping, allow_up_sizing, provided_arg_shape_names, &given, num_in_args, in_args, arg_grads,
                   num_aux_states, aux_states, shared_exec, out);
}

int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id, uint32_t num_map_keys,
                      const char *const *map_keys, const int *map_dev_types, const int *map_dev_ids,
                      uint32_t num_provided_arg_shapes, const char *const *provided_arg_shape_names,
                      const uint32_t *provided_arg_shape_data, const uint32_t *provided_arg_shape_idx,
                      uint32_t *num_in_args, NDArrayHandle **in_args, NDArrayHandle **arg_grads,
                      uint32_t *num_aux_states, NDArrayHandle **aux_states, ExecutorHandle shared_exec,
                      ExecutorHandle *out) {
    const mxnet_shape_list given = {num_provided_arg_shapes, provided_arg_shape_idx, provided_arg_shape_data, MXNET_U32,
                                    MXNET_U32};
    (void)dev_type, (void)dev_id, (void)num_map_keys; /* those of the executor stay */
    (void)map_keys, (void)map_dev_types, (void)map_dev_ids;
    return reshape(partial_shaping, allow_up_sizing, provided_arg_shape_names, &given, num_in_args, in_args, arg_grads,
                   num_aux_states, aux_states, shared_exec, out);
}

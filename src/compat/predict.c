/* SPDX-License-Identifier: Apache-2.0 */
/* The interface for prediction, on libmxc's predictors, and lists of arrays in memory. */
#include <string.h>

#include "compat/executor.h"
#include "compat/shapes.h"

/* PredictorHandle. */
typedef struct predictor {
    mxc_predictor *predictor;
    mxnet_monitor monitor;
} predictor;

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* What a predictor is made of. */
typedef struct pred_call {
    const char *json;
    const void *params;
    int params_bytes, dev_type, dev_id;
    uint32_t n_inputs;
    const char *const *inputs;
    const uint32_t *shape_offsets, *shape_dims;
    uint32_t n_outputs;
    const char *const *outputs;
    uint32_t n_types;
    const char *const *type_names;
    const int *types;
} pred_call;

static int wrap(mxc_predictor *made, PredictorHandle *out) {
    predictor *handle = mxnet_alloc(1, sizeof *handle);
    if (!handle) {
        mxc_predictor_destroy(made);
        return -1;
    }
    handle->predictor = made;
    *out = handle;
    return 0;
}

/* Inputs that the symbol does not have are passed over, as MXNet does. */
static int read_inputs(const pred_call *call, const mxc_names *args, mxc_data_desc **out, int64_t *n) {
    const mxnet_shape_list list = {call->n_inputs, call->shape_offsets, call->shape_dims, MXNET_U32, MXNET_U32};
    mxc_shape *shapes;
    MXNET_CALL(mxnet_shapes_read(&list, &shapes));
    mxc_data_desc *inputs = mxnet_buffer(MXNET_SLOT_SCRATCH2, call->n_inputs, sizeof *inputs);
    if (!inputs)
        return -1;
    *n = 0;
    for (uint32_t i = 0; i < call->n_inputs; i++) {
        mxc_dtype type = MXC_F32;
        if (mxc_names_find(args, call->inputs[i]) < 0)
            continue;
        for (uint32_t k = 0; k < call->n_types; k++)
            if (strcmp(call->type_names[k], call->inputs[i]) == 0)
                MXNET_CALL(mxnet_dtype(call->types[k], &type));
        inputs[(*n)++] = (mxc_data_desc){call->inputs[i], shapes[i], type};
    }
    *out = inputs;
    return 0;
}

static int create(const pred_call *call, mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_predictor **out) {
    mxc_predictor_options options;
    mxc_data_desc *inputs;
    mxc_names args;
    int64_t n;
    mxc_predictor_options_init(&options, sizeof options);
    MXNET_CALL(mxnet_context(call->dev_type, call->dev_id, &options.context));
    options.n_outputs = (int)call->n_outputs;
    options.outputs = call->outputs;
    options.params_flags = MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA;
    MXNET_TRY(mxc_symbol_list_arguments(symbol, &args));
    int result = read_inputs(call, &args, &inputs, &n);
    if (!result)
        result = mxnet_result(mxc_predictor_create(symbol, params, n, inputs, &options, out));
    mxc_names_release(&args);
    return result;
}

static int load(const pred_call *call, mxc_predictor **out) {
    mxc_ndarray_list params = {0};
    mxc_symbol *symbol;
    MXNET_NEED(call->json);
    MXNET_TRY(mxc_symbol_from_json(call->json, strlen(call->json), &symbol));
    int result =
        call->params_bytes > 0
            ? mxnet_result(mxc_ndarray_load_buffer("parameters", call->params, (size_t)call->params_bytes, &params))
            : 0;
    if (!result)
        result = create(call, symbol, &params, out);
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(symbol);
    return result;
}

static int load_one(const pred_call *call, PredictorHandle *out) {
    mxc_predictor *made;
    MXNET_NEED(out);
    MXNET_CALL(load(call, &made));
    return wrap(made, out);
}

int MXPredCreate(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type, int dev_id,
                 uint32_t num_input_nodes, const char *const *input_keys, const uint32_t *input_shape_indptr,
                 const uint32_t *input_shape_data, PredictorHandle *out) {
    const pred_call call = {.json = symbol_json_str,
                            .params = param_bytes,
                            .params_bytes = param_size,
                            .dev_type = dev_type,
                            .dev_id = dev_id,
                            .n_inputs = num_input_nodes,
                            .inputs = input_keys,
                            .shape_offsets = input_shape_indptr,
                            .shape_dims = input_shape_data};
    return load_one(&call, out);
}

int MXPredCreateEx(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type, int dev_id,
                   uint32_t num_input_nodes, const char *const *input_keys, const uint32_t *input_shape_indptr,
                   const uint32_t *input_shape_data, uint32_t num_provided_arg_dtypes,
                   const char *const *provided_arg_dtype_names, const int *provided_arg_dtypes, PredictorHandle *out) {
    const pred_call call = {.json = symbol_json_str,
                            .params = param_bytes,
                            .params_bytes = param_size,
                            .dev_type = dev_type,
                            .dev_id = dev_id,
                            .n_inputs = num_input_nodes,
                            .inputs = input_keys,
                            .shape_offsets = input_shape_indptr,
                            .shape_dims = input_shape_data,
                            .n_types = num_provided_arg_dtypes,
                            .type_names = provided_arg_dtype_names,
                            .types = provided_arg_dtypes};
    return load_one(&call, out);
}

int MXPredCreatePartialOut(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                           int dev_id, uint32_t num_input_nodes, const char *const *input_keys,
                           const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                           uint32_t num_output_nodes, const char *const *output_keys, PredictorHandle *out) {
    const pred_call call = {.json = symbol_json_str,
                            .params = param_bytes,
                            .params_bytes = param_size,
                            .dev_type = dev_type,
                            .dev_id = dev_id,
                            .n_inputs = num_input_nodes,
                            .inputs = input_keys,
                            .shape_offsets = input_shape_indptr,
                            .shape_dims = input_shape_data,
                            .n_outputs = num_output_nodes,
                            .outputs = output_keys};
    return load_one(&call, out);
}

/* The first of several predictors is loaded, the others share its parameters. */
int MXPredCreateMultiThread(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                            int dev_id, uint32_t num_input_nodes, const char *const *input_keys,
                            const uint32_t *input_shape_indptr, const uint32_t *input_shape_data, int num_threads,
                            PredictorHandle *out) {
    int made = 0, result = 0;
    MXNET_NEED(out);
    for (; made < num_threads && !result; made++) {
        mxc_predictor *clone;
        const predictor *first = made > 0 ? out[0] : NULL;
        if (!first) {
            result = MXPredCreate(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes,
                                  input_keys, input_shape_indptr, input_shape_data, &out[0]);
        } else {
            result = mxnet_result(mxc_predictor_clone(first->predictor, &clone));
            if (!result)
                result = wrap(clone, &out[made]);
        }
        if (result)
            break;
    }
    for (int i = 0; i < made && result; i++)
        MXPredFree(out[i]);
    return result;
}

int MXPredFree(PredictorHandle handle) {
    predictor *p = handle;
    if (!p)
        return 0;
    mxc_predictor_destroy(p->predictor);
    mxnet_monitor_clear(&p->monitor);
    mxnet_free(p);
    return 0;
}

int MXPredReshape(uint32_t num_input_nodes, const char *const *input_keys, const uint32_t *input_shape_indptr,
                  const uint32_t *input_shape_data, PredictorHandle handle, PredictorHandle *out) {
    const predictor *p = handle;
    const mxnet_shape_list list = {num_input_nodes, input_shape_indptr, input_shape_data, MXNET_U32, MXNET_U32};
    mxc_predictor *clone;
    mxc_shape *shapes;
    MXNET_NEED(handle);
    MXNET_NEED(out);
    MXNET_CALL(mxnet_shapes_read(&list, &shapes));
    MXNET_TRY(mxc_predictor_clone(p->predictor, &clone));
    if (mxnet_result(mxc_predictor_reshape(clone, num_input_nodes, input_keys, shapes))) {
        mxc_predictor_destroy(clone);
        return -1;
    }
    return wrap(clone, out);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

int MXPredSetInput(PredictorHandle handle, const char *key, const float *data, uint32_t size) {
    const predictor *p = handle;
    MXNET_NEED(handle);
    MXNET_NEED(key);
    const mxc_ndarray *input = mxc_predictor_find_input(p->predictor, key);
    size_t bytes = size * mxc_dtype_size(input ? mxc_ndarray_dtype(input) : MXC_F32);
    return mxnet_result(mxc_predictor_set_input(p->predictor, key, data, bytes));
}

int MXPredForward(PredictorHandle handle) {
    predictor *p = handle;
    MXNET_NEED(handle);
    MXNET_TRY(mxc_predictor_forward(p->predictor));
    return mxnet_monitor_show(&p->monitor, mxc_predictor_executor(p->predictor));
}

int MXPredPartialForward(PredictorHandle handle, int step, int *step_left) {
    predictor *p = handle;
    int64_t left;
    MXNET_NEED(handle);
    MXNET_NEED(step_left);
    MXNET_TRY(mxc_executor_partial_forward(mxc_predictor_executor(p->predictor), 0, step, &left));
    *step_left = (int)left;
    return mxnet_monitor_show(&p->monitor, mxc_predictor_executor(p->predictor));
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback, void *callback_handle,
                             bool monitor_all) {
    predictor *p = handle;
    MXNET_NEED(handle);
    return mxnet_monitor_set(&p->monitor, mxc_predictor_executor(p->predictor), callback, callback_handle, monitor_all);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

static mxc_ndarray *find_output(PredictorHandle handle, uint32_t index) {
    const predictor *p = handle;
    mxc_ndarray *array = p ? mxc_predictor_output(p->predictor, index) : NULL;
    if (!array)
        mxnet_fail(p ? "there is no output %u" : "a predictor's handle is NULL", index);
    return array;
}

static int return_shape(mxnet_slot slot, const mxc_shape *shape, const uint32_t **out, uint32_t *ndim) {
    uint32_t *dims = mxnet_buffer(slot, MXC_MAX_NDIM, sizeof *dims);
    if (!dims)
        return -1;
    for (int i = 0; i < shape->ndim; i++)
        dims[i] = (uint32_t)shape->dim[i];
    *out = dims;
    *ndim = (uint32_t)shape->ndim;
    return 0;
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, const uint32_t **shape_data, uint32_t *shape_ndim) {
    const mxc_ndarray *output = find_output(handle, index);
    MXNET_NEED(shape_data);
    MXNET_NEED(shape_ndim);
    return output ? return_shape(MXNET_SLOT_SHAPE, mxc_ndarray_shape(output), shape_data, shape_ndim) : -1;
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int *out_dtype) {
    const mxc_ndarray *output = find_output(handle, out_index);
    MXNET_NEED(out_dtype);
    if (!output)
        return -1;
    *out_dtype = (int)mxc_ndarray_dtype(output);
    return 0;
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float *data, uint32_t size) {
    mxc_ndarray *output = find_output(handle, index);
    MXNET_NEED(data);
    if (!output)
        return -1;
    if (mxc_ndarray_size(output) != size)
        return mxnet_fail("output %u has %lld elements, found room for %u", index, (long long)mxc_ndarray_size(output),
                          size);
    return mxnet_result(mxc_ndarray_get(output, data, mxc_ndarray_bytes(output)));
}

/* ---- lists of arrays --------------------------------------------------------------------------------------------- */

int MXNDListCreate(const char *nd_file_bytes, int nd_file_size, NDListHandle *out, uint32_t *out_length) {
    MXNET_NEED(nd_file_bytes);
    MXNET_NEED(out);
    MXNET_NEED(out_length);
    mxc_ndarray_list *list = mxnet_alloc(1, sizeof *list);
    if (!list)
        return -1;
    mxc_status status = mxc_ndarray_load_buffer("list of arrays", nd_file_bytes, (size_t)nd_file_size, list);
    for (int64_t i = 0; i < list->n && status == MXC_OK; i++) {
        mxc_ndarray *array = list->arrays[i], *floats;
        if (!array || mxc_ndarray_dtype(array) == MXC_F32)
            continue;
        status = mxc_ndarray_copy(array, mxc_cpu(0), MXC_F32, &floats);
        if (status == MXC_OK) {
            mxc_ndarray_release(array);
            list->arrays[i] = floats;
        }
    }
    if (status != MXC_OK) {
        mxc_ndarray_list_release(list);
        mxnet_free(list);
        return mxnet_result(status);
    }
    *out = list;
    *out_length = (uint32_t)list->n;
    return 0;
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char **out_key, const float **out_data,
                const uint32_t **out_shape, uint32_t *out_ndim) {
    const mxc_ndarray_list *list = handle;
    void *data;
    MXNET_NEED(handle);
    if (index >= list->n || !list->arrays[index])
        return mxnet_fail("the list has no array %u", index);
    MXNET_TRY(mxc_ndarray_data(list->arrays[index], &data));
    *out_key = list->names ? list->names[index] : "";
    *out_data = data;
    return return_shape(MXNET_SLOT_SHAPE, mxc_ndarray_shape(list->arrays[index]), out_shape, out_ndim);
}

int MXNDListFree(NDListHandle handle) {
    mxc_ndarray_list *list = handle;
    if (list)
        mxc_ndarray_list_release(list);
    mxnet_free(list);
    return 0;
}

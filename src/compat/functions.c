/* SPDX-License-Identifier: Apache-2.0 */
/* The functions on arrays that MXNet had before operators: arrays that are read, numbers, and arrays that are written.
 */
#include <stdio.h>
#include <string.h>

#include "compat/mxnet.h"

enum { MAX_ARRAYS = 3, MAX_NUMBERS = 2 };

/* FunctionHandle. numbers names the parameters that take them. */
typedef struct function {
    const char *name, *description;
    uint32_t n_read, n_numbers, n_written;
    const char *numbers[MAX_NUMBERS];
} function;

static const function functions[] = {
    {"_set_value", "Fill an array with a number.", 0, 1, 1, {"src"}},
    {"_copyto", "Copy an array.", 1, 0, 1, {NULL}},
    {"_onehot_encode", "Rows of zeros with a one where the first array says.", 2, 0, 1, {NULL}},
    {"choose_element_0index", "One element of each row.", 2, 0, 1, {NULL}},
    {"fill_element_0index", "Set one element of each row.", 3, 0, 1, {NULL}},
    {"_broadcast", "Repeat an axis of length 1.", 1, 2, 1, {"axis", "size"}},
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* Front ends only pass handles back, so that they may point to constants. */
static FunctionHandle handle_of(const function *f) {
    return (FunctionHandle)(uintptr_t)f;
}

int MXListFunctions(uint32_t *out_size, FunctionHandle **out_array) {
    FunctionHandle *list = mxnet_buffer(MXNET_SLOT_HANDLES, N_FUNCTIONS, sizeof *list);
    MXNET_NEED(out_size);
    MXNET_NEED(out_array);
    if (!list)
        return -1;
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        list[i] = handle_of(&functions[i]);
    *out_size = N_FUNCTIONS;
    *out_array = list;
    return 0;
}

int MXGetFunction(const char *name, FunctionHandle *out) {
    MXNET_NEED(name);
    MXNET_NEED(out);
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (!strcmp(functions[i].name, name)) {
            *out = handle_of(&functions[i]);
            return 0;
        }
    return mxnet_fail("no function is called '%s'", name);
}

int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description, uint32_t *num_args,
                  const char ***arg_names, const char ***arg_type_infos, const char ***arg_descriptions,
                  const char **return_type) {
    const function *f = fun;
    const char **names = mxnet_buffer(MXNET_SLOT_STRINGS, MAX_NUMBERS, sizeof *names);
    const char **types = mxnet_buffer(MXNET_SLOT_NAMES, 2 * (size_t)MAX_NUMBERS, sizeof *types);
    MXNET_NEED(f);
    if (!names || !types)
        return -1;
    for (uint32_t i = 0; i < f->n_numbers; i++) {
        names[i] = f->numbers[i];
        types[i] = "float, required";
        types[MAX_NUMBERS + i] = "";
    }
    *name = f->name;
    *description = f->description;
    *num_args = f->n_numbers;
    *arg_names = names;
    *arg_type_infos = types;
    *arg_descriptions = types + MAX_NUMBERS;
    if (return_type)
        *return_type = "";
    return 0;
}

/* Bits of the mask: arrays come before numbers; an array that has no shape yet is accepted as a target. */
int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars, uint32_t *num_mutate_vars,
                   int *type_mask) {
    enum { ARRAYS_FIRST = 1, ACCEPTS_EMPTY_TARGET = 4 };
    const function *f = fun;
    MXNET_NEED(f);
    *num_use_vars = f->n_read;
    *num_scalars = f->n_numbers;
    *num_mutate_vars = f->n_written;
    *type_mask = ARRAYS_FIRST | ACCEPTS_EMPTY_TARGET;
    return 0;
}

int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle const *use_vars, const float *scalar_args,
                   NDArrayHandle const *mutate_vars, int num_params, const char *const *param_keys,
                   const char *const *param_vals) {
    const function *f = fun;
    const mxnet_op *op;
    const char *keys[MAX_NUMBERS], *values[MAX_NUMBERS];
    char text[MAX_NUMBERS][32];
    NDArrayHandle written;
    NDArrayHandle *outputs = &written;
    int n_out = 1;
    (void)param_keys;
    (void)param_vals;
    MXNET_NEED(f);
    MXNET_NEED(mutate_vars);
    if (num_params > 0)
        return mxnet_fail("%s: takes no parameters, found %d", f->name, num_params);
    op = mxnet_op_find(f->name);
    if (!op)
        return -1;
    for (uint32_t i = 0; i < f->n_numbers; i++) {
        keys[i] = f->numbers[i];
        snprintf(text[i], sizeof text[i], "%.9g", (double)scalar_args[i]);
        values[i] = text[i];
    }
    written = mutate_vars[0];
    return mxnet_invoke(op, (int)f->n_read, use_vars, &n_out, &outputs, (int)f->n_numbers, keys, values);
}

int MXFuncInvoke(FunctionHandle fun, NDArrayHandle const *use_vars, const float *scalar_args,
                 NDArrayHandle const *mutate_vars) {
    return MXFuncInvokeEx(fun, use_vars, scalar_args, mutate_vars, 0, NULL, NULL);
}

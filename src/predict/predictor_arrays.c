/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs and outputs of a predictor, by name and by position. */
#include <string.h>

#include "base/error.h"
#include "predict/predictor.h"
#include "symbol/names.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Position of an output called name, or of the output of the node of that name; -1: none. */
static int64_t find_output(const mxc_names *outputs, const char *name) {
    static const char ending[] = "_output";
    const int64_t at = mxc_names_find(outputs, name);
    const size_t n = name ? strlen(name) : 0;
    for (int64_t i = 0; i < outputs->n && at < 0 && name; i++)
        if (strncmp(outputs->items[i], name, n) == 0 && strcmp(outputs->items[i] + n, ending) == 0)
            return i;
    return at;
}

static mxc_status fail_unknown(const char *caller, const char *what, const mxc_names *names, const char *name) {
    char text[240];
    return MXC_FAIL(MXC_ENOTFOUND, "%s: no %s is called \"%.100s\"%s", caller, what, name,
                    mxci_names_candidates(names, text, sizeof text));
}

mxc_status mxci_predictor_find_input(const char *caller, const mxc_predictor *p, const char *name, int64_t *out) {
    *out = mxc_names_find(&p->network->inputs, name);
    return *out >= 0 ? MXC_OK : fail_unknown(caller, "input", &p->network->inputs, name ? name : "(NULL)");
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

int64_t mxc_predictor_n_inputs(const mxc_predictor *predictor) {
    return predictor ? predictor->network->inputs.n : 0;
}

const char *mxc_predictor_input_name(const mxc_predictor *predictor, int64_t index) {
    return index >= 0 && index < mxc_predictor_n_inputs(predictor) ? predictor->network->inputs.items[index] : NULL;
}

mxc_ndarray *mxc_predictor_input(const mxc_predictor *predictor, int64_t index) {
    return index >= 0 && index < mxc_predictor_n_inputs(predictor) ? predictor->inputs[index] : NULL;
}

mxc_ndarray *mxc_predictor_find_input(const mxc_predictor *predictor, const char *name) {
    return predictor ? mxc_predictor_input(predictor, mxc_names_find(&predictor->network->inputs, name)) : NULL;
}

/* The array of an input that can be set. */
static mxc_status take_input(const char *caller, const mxc_predictor *p, int64_t index, mxc_ndarray **out) {
    *out = mxc_predictor_input(p, index);
    if (index < 0 || index >= p->network->inputs.n)
        return MXC_FAIL(MXC_ENOTFOUND, "%s: there is no input %lld, but %lld from 0 on", caller, (long long)index,
                        (long long)p->network->inputs.n);
    if (!*out)
        return MXC_FAIL(MXC_ENOTFOUND, "%s: the outputs do not depend on input \"%.100s\", whose shape is not known",
                        caller, p->network->inputs.items[index]);
    return MXC_OK;
}

static mxc_status check_size(const char *caller, const char *name, mxc_ndarray *array, size_t bytes) {
    char text[MXC_SHAPE_TEXT];
    if (bytes == mxc_ndarray_bytes(array))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: \"%.100s\" has shape %s of %s: expected %zu bytes, found %zu", caller, name,
                    mxc_shape_format(mxc_ndarray_shape(array), text, sizeof text),
                    mxc_dtype_name(mxc_ndarray_dtype(array)), mxc_ndarray_bytes(array), bytes);
}

static mxc_status set_bytes(const char *caller, const mxc_predictor *p, int64_t index, const void *data, size_t bytes) {
    mxc_ndarray *array;
    MXC_TRY(take_input(caller, p, index, &array));
    MXC_TRY(check_size(caller, p->network->inputs.items[index], array, bytes));
    return mxc_ndarray_set(array, data, bytes);
}

mxc_status mxc_predictor_set_input(mxc_predictor *predictor, const char *name, const void *data, size_t bytes) {
    int64_t index;
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    MXC_TRY(mxci_predictor_find_input(__func__, predictor, name, &index));
    return set_bytes(__func__, predictor, index, data, bytes);
}

mxc_status mxc_predictor_set_input_at(mxc_predictor *predictor, int64_t index, const void *data, size_t bytes) {
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    return set_bytes(__func__, predictor, index, data, bytes);
}

static mxc_status set_array(const char *caller, const mxc_predictor *p, int64_t index, mxc_ndarray *array) {
    char want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    mxc_ndarray *input;
    MXC_TRY(take_input(caller, p, index, &input));
    if (!mxc_shape_equal(mxc_ndarray_shape(input), mxc_ndarray_shape(array)))
        return MXC_FAIL(MXC_ESHAPE, "%s: input \"%.100s\": expected shape %s, found %s", caller,
                        p->network->inputs.items[index], mxc_shape_format(mxc_ndarray_shape(input), want, sizeof want),
                        mxc_shape_format(mxc_ndarray_shape(array), have, sizeof have));
    return mxc_ndarray_copy_to(array, input, 0);
}

mxc_status mxc_predictor_set_input_array(mxc_predictor *predictor, const char *name, mxc_ndarray *array) {
    int64_t index;
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(mxci_predictor_find_input(__func__, predictor, name, &index));
    return set_array(__func__, predictor, index, array);
}

mxc_status mxc_predictor_set_input_array_at(mxc_predictor *predictor, int64_t index, mxc_ndarray *array) {
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL(array));
    return set_array(__func__, predictor, index, array);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

int64_t mxc_predictor_n_outputs(const mxc_predictor *predictor) {
    return predictor ? predictor->network->outputs.n : 0;
}

const char *mxc_predictor_output_name(const mxc_predictor *predictor, int64_t index) {
    return index >= 0 && index < mxc_predictor_n_outputs(predictor) ? predictor->network->outputs.items[index] : NULL;
}

mxc_ndarray *mxc_predictor_output(const mxc_predictor *predictor, int64_t index) {
    return predictor ? mxc_executor_output(predictor->executor, index) : NULL;
}

mxc_ndarray *mxc_predictor_find_output(const mxc_predictor *predictor, const char *name) {
    return predictor ? mxc_predictor_output(predictor, find_output(&predictor->network->outputs, name)) : NULL;
}

static mxc_status get_bytes(const char *caller, const mxc_predictor *p, int64_t index, void *data, size_t bytes) {
    mxc_ndarray *array = mxc_predictor_output(p, index);
    if (!array)
        return MXC_FAIL(MXC_ENOTFOUND, "%s: there is no output %lld, but %lld from 0 on", caller, (long long)index,
                        (long long)p->network->outputs.n);
    MXC_TRY(check_size(caller, p->network->outputs.items[index], array, bytes));
    return mxc_ndarray_get(array, data, bytes);
}

mxc_status mxc_predictor_get_output(mxc_predictor *predictor, const char *name, void *data, size_t bytes) {
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    const int64_t index = find_output(&predictor->network->outputs, name);
    if (index < 0)
        return fail_unknown(__func__, "output", &predictor->network->outputs, name);
    return get_bytes(__func__, predictor, index, data, bytes);
}

mxc_status mxc_predictor_get_output_at(mxc_predictor *predictor, int64_t index, void *data, size_t bytes) {
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    return get_bytes(__func__, predictor, index, data, bytes);
}

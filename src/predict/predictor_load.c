/* SPDX-License-Identifier: Apache-2.0 */
/* Predictors from files and from their contents in memory. What is loaded is released once the predictor is made. */
#include <mxc/predict.h>
#include <mxc/storage.h>
#include <mxc/train.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

static const mxc_context host = {MXC_CPU, 0};

static size_t cached_bytes(void) {
    mxc_storage_stats stats;
    return mxc_storage_get_stats(host, &stats) == MXC_OK ? (size_t)stats.bytes_cached : 0;
}

/* Makes the predictor and releases symbol and params, which status says are there. What lay between the file and what
 * predictions read goes back to the system, since they need no blocks of that size; the pool keeps the bytes that it
 * had cached before. */
static mxc_status finish(mxc_status status, mxc_symbol *symbol, mxc_ndarray_list *params, size_t cached,
                         int64_t n_inputs, const mxc_data_desc *inputs, const mxc_predictor_options *options,
                         mxc_predictor **out) {
    if (status == MXC_OK)
        status = mxc_predictor_create(symbol, params, n_inputs, inputs, options, out);
    mxc_ndarray_list_release(params);
    mxc_symbol_release(symbol);
    if (status == MXC_OK)
        status = mxc_storage_trim(host, cached);
    if (status != MXC_OK) {
        mxc_predictor_destroy(*out);
        *out = NULL;
    }
    return status;
}

mxc_status mxc_predictor_load_files(const char *symbol_path, const char *params_path, int64_t n_inputs,
                                    const mxc_data_desc *inputs, const mxc_predictor_options *options,
                                    mxc_predictor **out) {
    mxc_symbol *symbol;
    mxc_ndarray_list params = {.n = 0};
    const size_t cached = cached_bytes();
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol_path));
    MXC_TRY(MXCI_NON_NULL(params_path));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, inputs));
    MXC_TRY(mxc_symbol_load(symbol_path, &symbol));
    return finish(mxc_ndarray_load(params_path, &params), symbol, &params, cached, n_inputs, inputs, options, out);
}

mxc_status mxc_predictor_load_memory(const char *json, size_t json_bytes, const void *params, size_t params_bytes,
                                     int64_t n_inputs, const mxc_data_desc *inputs,
                                     const mxc_predictor_options *options, mxc_predictor **out) {
    mxc_symbol *symbol;
    mxc_ndarray_list list = {.n = 0};
    const size_t cached = cached_bytes();
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(json));
    MXC_TRY(MXCI_NON_NULL(params));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, inputs));
    MXC_TRY(mxc_symbol_from_json(json, json_bytes, &symbol));
    return finish(mxc_ndarray_load_buffer("parameters", params, params_bytes, &list), symbol, &list, cached, n_inputs,
                  inputs, options, out);
}

mxc_status mxc_predictor_load(const char *where, int epoch, int64_t n_inputs, const mxc_data_desc *inputs,
                              const mxc_predictor_options *options, mxc_predictor **out) {
    char *prefix, *params, *symbol;
    mxci_text text = {0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(where));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, inputs));
    MXC_TRY(mxc_model_find(where, epoch, &prefix, &params));
    mxci_text_printf(&text, "%s-symbol.json", prefix);
    mxc_status status = mxci_text_take(&text, &symbol);
    if (status == MXC_OK)
        status = mxc_predictor_load_files(symbol, params, n_inputs, inputs, options, out);
    mxci_free(symbol);
    mxci_free(params);
    mxci_free(prefix);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Model files as MXNet names them: <prefix>-symbol.json and <prefix>-NNNN.params. */
#include "train/model.h"

#include <stdio.h>
#include <string.h>

#include <mxc/train.h>

#include "base/error.h"

mxc_status mxci_model_path(const char *prefix, const char *format, int number, char *out, size_t size) {
    size_t n = strlen(prefix);
    if (n < size) {
        memcpy(out, prefix, n);
        n += (size_t)snprintf(out + n, size - n, format, number);
    }
    if (n >= size)
        return MXC_FAIL(MXC_EINVAL, "model prefix \"%.64s...\" is longer than %zu bytes", prefix, size - 16);
    return MXC_OK;
}

mxc_status mxc_model_save(const char *prefix, int epoch, mxc_symbol *symbol, int64_t n, mxc_ndarray *const *arrays,
                          const char *const *names) {
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, arrays));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, names));
    char path[MXCI_MODEL_PATH];
    if (!prefix || !symbol || epoch < 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_model_save: prefix and symbol must not be NULL, epoch %d not negative", epoch);
    MXC_TRY(mxci_model_path(prefix, "-symbol.json", 0, path, sizeof path));
    MXC_TRY(mxc_symbol_save(symbol, path));
    MXC_TRY(mxci_model_path(prefix, "-%04d.params", epoch, path, sizeof path));
    return mxc_ndarray_save(path, n, arrays, names);
}

mxc_status mxc_model_load(const char *prefix, int epoch, mxc_symbol **symbol, mxc_ndarray_list *params) {
    char path[MXCI_MODEL_PATH];
    if (symbol)
        *symbol = NULL;
    if (params)
        memset(params, 0, sizeof *params);
    if (!prefix || epoch < 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_model_load: prefix must not be NULL, epoch %d not negative", epoch);
    if (symbol) {
        MXC_TRY(mxci_model_path(prefix, "-symbol.json", 0, path, sizeof path));
        MXC_TRY(mxc_symbol_load(path, symbol));
    }
    if (!params)
        return MXC_OK;
    mxc_status status = mxci_model_path(prefix, "-%04d.params", epoch, path, sizeof path);
    if (status == MXC_OK)
        status = mxc_ndarray_load(path, params);
    if (status != MXC_OK && symbol) {
        mxc_symbol_release(*symbol);
        *symbol = NULL;
    }
    return status;
}

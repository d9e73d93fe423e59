/* SPDX-License-Identifier: Apache-2.0 */
/* Model files as MXNet names them: <prefix>-symbol.json and <prefix>-NNNN.params, written, read and found. */
#include "train/model.h"

#include <stdio.h>
#include <string.h>

#include <mxc/train.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

#define SYMBOL_ENDING "-symbol.json"
#define PARAMS_ENDING ".params"
#define BEST_ENDING "-best.params"

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
    MXC_TRY(mxci_model_path(prefix, SYMBOL_ENDING, 0, path, sizeof path));
    MXC_TRY(mxc_symbol_save(symbol, path));
    MXC_TRY(mxci_model_path(prefix, "-%04d" PARAMS_ENDING, epoch, path, sizeof path));
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
        MXC_TRY(mxci_model_path(prefix, SYMBOL_ENDING, 0, path, sizeof path));
        MXC_TRY(mxc_symbol_load(path, symbol));
    }
    if (!params)
        return MXC_OK;
    mxc_status status = mxci_model_path(prefix, "-%04d" PARAMS_ENDING, epoch, path, sizeof path);
    if (status == MXC_OK)
        status = mxc_ndarray_load(path, params);
    if (status != MXC_OK && symbol) {
        mxc_symbol_release(*symbol);
        *symbol = NULL;
    }
    return status;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* The first n bytes of begin, a slash unless there are none or they end with one, and name; the caller frees it. */
static mxc_status join_path(const char *begin, size_t n, const char *name, size_t name_bytes, char **out) {
    mxci_text text = {0};
    mxci_text_add_bytes(&text, begin, n);
    if (n > 0 && begin[n - 1] != '/')
        mxci_text_add(&text, "/");
    mxci_text_add_bytes(&text, name, name_bytes);
    return mxci_text_take(&text, out);
}

/* The prefix of the only model in a directory; a path that is no directory is a prefix itself. */
static mxc_status find_prefix(const char *where, char **out) {
    char **names, *found = NULL;
    int64_t n, count = 0;
    mxc_status status = mxci_directory_list(where, &names, &n);
    if (status == MXC_ENOTFOUND) {
        *out = mxci_strdup(where);
        return *out ? MXC_OK : MXCI_NO_MEMORY("mxc_model_find", "a path");
    }
    MXC_TRY(status);
    for (int64_t i = 0; i < n; i++)
        if (mxci_ends_with(names[i], SYMBOL_ENDING)) {
            found = names[i];
            count++;
        }
    if (count == 1)
        status = join_path(where, strlen(where), found, strlen(found) - strlen(SYMBOL_ENDING), out);
    else if (count == 0)
        status = MXC_FAIL(MXC_ENOTFOUND, "there is no file *" SYMBOL_ENDING " in %.300s", where);
    else
        status = MXC_FAIL(MXC_EINVAL, "there is more than one model, *" SYMBOL_ENDING ", in %.300s; name one of them",
                          where);
    mxci_free(names);
    return status;
}

/* Order of the files of parameters of a model: by epoch, above all the best one; -1: a file of something else. */
static int64_t rank_of_params(const char *name, const char *base) {
    const size_t n = strlen(base);
    int64_t epoch;
    if (strncmp(name, base, n) != 0)
        return -1;
    if (strcmp(name + n, BEST_ENDING) == 0)
        return INT64_MAX;
    const char *at = name + n + 1;
    return name[n] == '-' && *at >= '0' && *at <= '9' && mxci_read_int(&at, &epoch) && strcmp(at, PARAMS_ENDING) == 0
               ? epoch
               : -1;
}

/* The best parameters, those of the last epoch, or else the only file of parameters in the directory. */
static mxc_status find_last_params(const char *prefix, char **out) {
    const char *slash = strrchr(prefix, '/'), *base = slash ? slash + 1 : prefix, *best = NULL;
    const size_t length = (size_t)(base - prefix);
    char **names, *directory;
    int64_t n, files = 0, best_rank = -1;
    MXC_TRY(join_path(prefix, length, ".", 1, &directory));
    mxc_status status = mxci_directory_list(directory, &names, &n);
    mxci_free(directory);
    MXC_TRY(status);
    for (int64_t i = 0; i < n; i++) {
        const int64_t rank = rank_of_params(names[i], base);
        if (!mxci_ends_with(names[i], PARAMS_ENDING))
            continue;
        files++;
        if (rank > best_rank || !best) {
            best_rank = rank;
            best = names[i];
        }
    }
    if (best && (best_rank >= 0 || files == 1))
        status = join_path(prefix, length, best, strlen(best), out);
    else
        status =
            MXC_FAIL(MXC_ENOTFOUND, "there is no file of parameters, %.300s" BEST_ENDING " or -NNNN.params", prefix);
    mxci_free(names);
    return status;
}

mxc_status mxc_model_find(const char *where, int epoch, char **prefix, char **params) {
    char path[MXCI_MODEL_PATH];
    MXCI_CLEAR(params);
    MXC_TRY(MXCI_OUT(prefix));
    MXC_TRY(MXCI_OUT(params));
    MXC_TRY(MXCI_NON_NULL(where));
    if (epoch < -1)
        return MXC_FAIL(MXC_EINVAL, "mxc_model_find: epoch is %d, expected -1 or more", epoch);
    MXC_TRY(find_prefix(where, prefix));
    mxc_status status;
    if (epoch < 0)
        status = find_last_params(*prefix, params);
    else
        status = mxci_model_path(*prefix, "-%04d" PARAMS_ENDING, epoch, path, sizeof path);
    if (status == MXC_OK && epoch >= 0) {
        *params = mxci_strdup(path);
        status = *params ? MXC_OK : MXCI_NO_MEMORY("mxc_model_find", "a path");
    }
    if (status != MXC_OK) {
        mxci_free(*prefix);
        *prefix = NULL;
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Expands lists of paths: all paths are collected in one text with a NUL behind each, then indexed. */
#include "io/path_list.h"

#include <string.h>

#include "base/sys.h"
#include "base/text.h"

enum { PATH_SIZE = 4096 };

/* The path itself, or, of a directory, those of its files with the ending. */
static mxc_status add_path(const char *path, const char *ending, mxci_text *out) {
    char **names;
    int64_t n;
    mxc_status status = mxci_directory_list(path, &names, &n);
    if (status == MXC_ENOTFOUND) {
        mxci_text_add_bytes(out, path, strlen(path) + 1);
        return MXC_OK;
    }
    for (int64_t i = 0; status == MXC_OK && i < n; i++)
        if (mxci_ends_with(names[i], ending)) {
            mxci_text_printf(out, "%s/%s", path, names[i]);
            mxci_text_add_bytes(out, "", 1);
        }
    mxci_free(names);
    return status;
}

static mxc_status add_paths(const char *owner, const char *text, const char *ending, mxci_text *out) {
    char path[PATH_SIZE];
    for (const char *at = text; *at != '\0'; at += *at == ';') {
        size_t n = strcspn(at, ";");
        if (n >= sizeof path)
            return MXC_FAIL(MXC_EINVAL, "%s: a path of %zu bytes, expected less than %zu", owner, n, sizeof path);
        memcpy(path, at, n);
        path[n] = '\0';
        at += n;
        MXC_TRY(add_path(path, ending, out));
    }
    return MXC_OK;
}

/* Set path to the paths in the n bytes of text. */
static mxc_status index_paths(const char *owner, size_t n, mxci_path_list *out) {
    for (size_t i = 0; i < n; i++)
        out->n += out->text[i] == '\0';
    out->path = mxci_calloc((size_t)out->n + 1, sizeof *out->path);
    if (!out->path)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %lld paths", owner, (long long)out->n);
    const char *at = out->text;
    for (int64_t i = 0; i < out->n; i++, at += strlen(at) + 1)
        out->path[i] = at;
    return MXC_OK;
}

mxc_status mxci_path_list_expand(const char *owner, const char *text, const char *ending, mxci_path_list *out) {
    mxci_text all = {0};
    *out = (mxci_path_list){0};
    mxc_status status = add_paths(owner, text, ending, &all);
    size_t n = all.length;
    if (status == MXC_OK)
        status = mxci_text_take(&all, &out->text);
    if (status == MXC_OK)
        status = index_paths(owner, n, out);
    mxci_text_free(&all);
    if (status != MXC_OK)
        mxci_path_list_free(out);
    return status;
}

void mxci_path_list_free(mxci_path_list *paths) {
    mxci_free(paths->path);
    mxci_free(paths->text);
    *paths = (mxci_path_list){0};
}

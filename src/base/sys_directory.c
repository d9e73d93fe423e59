/* SPDX-License-Identifier: Apache-2.0 */
/* Listing directories: the names are collected in one growing block, then returned sorted in one block with their
 * pointers. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"

/* Names as they are read: strings one after the other. */
typedef struct names {
    char *text;
    size_t used, room;
    int64_t n;
} names;

static mxc_status add_name(names *all, const char *path, const char *name) {
    size_t bytes = strlen(name) + 1;
    if (all->used + bytes > all->room) {
        size_t room = 2 * all->room + bytes + 1024;
        char *more = mxci_realloc(all->text, room);
        if (!more)
            return MXC_FAIL(MXC_ENOMEM, "%.300s: no memory for the names in it", path);
        all->text = more;
        all->room = room;
    }
    memcpy(all->text + all->used, name, bytes);
    all->used += bytes;
    all->n++;
    return MXC_OK;
}

static mxc_status read_names(DIR *dir, const char *path, names *all) {
    const struct dirent *entry;
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0)
        if (entry->d_name[0] != '.')
            MXC_TRY(add_name(all, path, entry->d_name));
    return errno ? MXC_FAIL(MXC_EIO, "%.300s: cannot read the directory: %s", path, strerrordesc_np(errno)) : MXC_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One block: the pointers, sorted, then the names. */
static mxc_status arrange(const names *all, const char *path, char ***out) {
    size_t pointers = ((size_t)all->n + 1) * sizeof(char *);
    char **block = mxci_alloc(pointers + all->used);
    if (!block)
        return MXC_FAIL(MXC_ENOMEM, "%.300s: no memory for the names in it", path);
    char *at = (char *)block + pointers;
    if (all->used)
        memcpy(at, all->text, all->used);
    for (int64_t i = 0; i < all->n; i++, at += strlen(at) + 1)
        block[i] = at;
    block[all->n] = NULL;
    qsort(block, (size_t)all->n, sizeof *block, compare_names);
    *out = block;
    return MXC_OK;
}

mxc_status mxci_directory_list(const char *path, char ***out, int64_t *n) {
    names all = {0};
    DIR *dir = opendir(path);
    *out = NULL;
    *n = 0;
    if (!dir)
        return MXC_FAIL(errno == ENOENT || errno == ENOTDIR ? MXC_ENOTFOUND : MXC_EIO,
                        "%.300s: cannot open as a directory: %s", path, strerrordesc_np(errno));
    mxc_status status = read_names(dir, path, &all);
    closedir(dir);
    if (status == MXC_OK)
        status = arrange(&all, path, out);
    *n = status == MXC_OK ? all.n : 0;
    mxci_free(all.text);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The map keeps names in the order of their numbers, since they are added in this order. */
#include "io/class_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"

enum { CLASSES_LIMIT = 1 << 28 }; /* bytes of a file */

void mxci_class_names_free(mxci_class_names *names) {
    mxci_hash_map_destroy(names->numbers);
    *names = (mxci_class_names){0};
}

int64_t mxci_class_names_find(const mxci_class_names *names, const char *name) {
    return (int64_t)(intptr_t)mxci_hash_map_get(names->numbers, name) - 1;
}

mxc_status mxci_class_names_add(mxci_class_names *names, const char *name, int64_t *out) {
    *out = (int64_t)mxci_hash_map_count(names->numbers);
    return mxci_hash_map_put(names->numbers, name, (void *)(intptr_t)(*out + 1));
}

/* text is cut at the ends of its lines. */
static mxc_status add_lines(const char *owner, const char *path, char *text, mxci_class_names *out) {
    int64_t line = 0, number;
    for (char *at = text, *next; *at; at = next) {
        char *end = strchr(at, '\n');
        next = end ? end + 1 : at + strlen(at);
        end = end ? end : next;
        while (end > at && end[-1] == '\r')
            end--;
        *end = '\0';
        line++;
        if (*at == '\0' || mxci_hash_map_has(out->numbers, at))
            return MXC_FAIL(MXC_EFORMAT, "%s: %s: line %lld: %s", owner, path, (long long)line,
                            *at ? "this class has a line already" : "empty, expected the name of a class");
        MXC_TRY(mxci_class_names_add(out, at, &number));
    }
    if (line == 0)
        return MXC_FAIL(MXC_EFORMAT, "%s: %s is empty, expected the name of one class per line", owner, path);
    return MXC_OK;
}

mxc_status mxci_class_names_open(const char *owner, const char *path, mxci_class_names *out) {
    char *text;
    size_t n;
    *out = (mxci_class_names){0};
    MXC_TRY(mxci_hash_map_create(&out->numbers));
    mxc_status status = mxci_file_read_all(path, CLASSES_LIMIT, &text, &n);
    if (status == MXC_ENOTFOUND)
        return MXC_OK;
    MXC_TRY(status);
    out->is_fixed = 1;
    status = strlen(text) < n ? MXC_FAIL(MXC_EFORMAT, "%s: %s: a byte 0, expected text", owner, path)
                              : add_lines(owner, path, text, out);
    mxci_free(text);
    return status;
}

typedef struct numbered_name {
    const char *name;
    int64_t number; /* so far */
    int is_whole;
    int64_t whole; /* the value of a name that is a whole number */
} numbered_name;

static int compare_names(const void *a, const void *b) {
    const numbered_name *x = a, *y = b;
    if (x->is_whole != y->is_whole)
        return y->is_whole - x->is_whole;
    if (x->is_whole && x->whole != y->whole)
        return x->whole < y->whole ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sort_names(const mxci_class_names *names, numbered_name *out) {
    const char *name;
    void *value;
    size_t n = 0;
    for (size_t cursor = 0; mxci_hash_map_next(names->numbers, &cursor, &name, &value); n++) {
        const char *end = name;
        out[n] = (numbered_name){.name = name, .number = (int64_t)(intptr_t)value - 1};
        out[n].is_whole = mxci_read_int(&end, &out[n].whole) && *end == '\0';
    }
    qsort(out, n, sizeof *out, compare_names);
}

static mxc_status write_names(const numbered_name *sorted, size_t n, const char *path) {
    mxci_writer *writer;
    MXC_TRY(mxci_writer_open(path, &writer));
    mxc_status status = MXC_OK;
    for (size_t i = 0; i < n && status == MXC_OK; i++)
        status = mxci_writer_printf(writer, "%s\n", sorted[i].name);
    if (status == MXC_OK)
        return mxci_writer_commit(writer);
    mxci_writer_abandon(writer);
    return status;
}

mxc_status mxci_class_names_save_sorted(const mxci_class_names *names, const char *owner, const char *path,
                                        int64_t **new_number) {
    const size_t n = mxci_hash_map_count(names->numbers);
    numbered_name *sorted = mxci_calloc(n + 1, sizeof *sorted);
    mxc_status status;
    *new_number = mxci_calloc(n + 1, sizeof **new_number);
    if (sorted && *new_number) {
        sort_names(names, sorted);
        for (size_t i = 0; i < n; i++)
            (*new_number)[sorted[i].number] = (int64_t)i;
        status = write_names(sorted, n, path);
    } else {
        status = MXC_FAIL(MXC_ENOMEM, "%s: no memory to sort %zu classes", owner, n);
    }
    mxci_free(sorted);
    if (status != MXC_OK) {
        mxci_free(*new_number);
        *new_number = NULL;
    }
    return status;
}

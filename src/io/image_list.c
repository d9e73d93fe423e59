/* SPDX-License-Identifier: Apache-2.0 */
/* Image lists: parsed in place, in one copy of the file whose tabs and line ends become terminators. */
#include "io/image_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"

static mxc_status fail_line(const char *path, int64_t line) {
    return MXC_FAIL(MXC_EFORMAT, "%s: line %lld: expected an id, labels and a path, with tabs between", path,
                    (long long)line);
}

/* One line: id, labels, path, separated by tabs. labels: room for one number per tab of the line. */
static mxc_status parse_line(const char *path, int64_t number, char *text, mxci_image_list_line *out, float *labels) {
    char *last = strrchr(text, '\t');
    const char *at = text;
    int64_t id;
    double label;
    *out = (mxci_image_list_line){.labels = labels};
    if (!last || !mxci_read_int(&at, &id) || id < 0)
        return fail_line(path, number);
    *last = '\0';
    out->id = (uint64_t)id;
    out->path = last + 1;
    while (*at == '\t') {
        at++;
        if (!mxci_read_double(&at, &label))
            return fail_line(path, number);
        labels[out->n_labels++] = (float)label;
    }
    return *at == '\0' && *out->path ? MXC_OK : fail_line(path, number);
}

static mxc_status parse_lines(const char *path, mxci_image_list *out) {
    int64_t number = 0;
    float *labels = out->labels;
    for (char *at = out->text; at;) {
        char *end = strchr(at, '\n'), *next = end ? end + 1 : NULL;
        end = end ? end : at + strlen(at);
        number++;
        while (end > at && end[-1] == '\r')
            end--;
        *end = '\0';
        if (*at) {
            MXC_TRY(parse_line(path, number, at, &out->lines[out->n], labels));
            labels += out->lines[out->n++].n_labels;
        }
        at = next;
    }
    return MXC_OK;
}

static int64_t count_char(const char *text, size_t n, char what) {
    int64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += text[i] == what;
    return found;
}

mxc_status mxci_image_list_load(const char *path, mxci_image_list *out) {
    size_t n;
    *out = (mxci_image_list){0};
    MXC_TRY(mxci_file_read_all(path, INT32_MAX, &out->text, &n));
    out->lines = mxci_calloc((size_t)count_char(out->text, n, '\n') + 1, sizeof *out->lines);
    out->labels = mxci_calloc((size_t)count_char(out->text, n, '\t') + 1, sizeof *out->labels);
    mxc_status status = !out->lines || !out->labels  ? MXC_FAIL(MXC_ENOMEM, "%s: no memory for its lines", path)
                        : memchr(out->text, '\0', n) ? MXC_FAIL(MXC_EFORMAT, "%s: a byte 0, expected text", path)
                                                     : parse_lines(path, out);
    if (status != MXC_OK)
        mxci_image_list_free(out);
    return status;
}

void mxci_image_list_free(mxci_image_list *list) {
    mxci_free(list->lines);
    mxci_free(list->labels);
    mxci_free(list->text);
    *list = (mxci_image_list){0};
}

static int compare_ids(const void *a, const void *b) {
    uint64_t x = ((const mxci_image_list_line *)a)->id, y = ((const mxci_image_list_line *)b)->id;
    return (x > y) - (x < y);
}

void mxci_image_list_sort(mxci_image_list *list) {
    if (list->n > 1)
        qsort(list->lines, (size_t)list->n, sizeof *list->lines, compare_ids);
}

const mxci_image_list_line *mxci_image_list_find(const mxci_image_list *sorted, uint64_t id) {
    const mxci_image_list_line key = {.id = id};
    return sorted->n ? bsearch(&key, sorted->lines, (size_t)sorted->n, sizeof key, compare_ids) : NULL;
}

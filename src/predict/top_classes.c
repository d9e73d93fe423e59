/* SPDX-License-Identifier: Apache-2.0 */
/* From scores to the names of classes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/predict.h>

#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"
#include "symbol/names.h"

enum { CLASSES_LIMIT = 1 << 26, CLASSES = 1 << 20 }; /* bytes and lines of a file of names */

/* ---- the highest scores ------------------------------------------------------------------------------------------ */

typedef struct scored_class {
    float score;
    int64_t number;
} scored_class;

static int by_score(const void *a, const void *b) {
    const scored_class *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score))
        return isnan(x->score) ? 1 : -1;
    if (x->score > y->score || x->score < y->score)
        return x->score > y->score ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* A view of the sample's scores. */
static mxc_status take_row(mxc_ndarray *scores, int64_t row, int64_t k, mxc_ndarray **out) {
    char text[MXC_SHAPE_TEXT];
    const mxc_shape *shape = mxc_ndarray_shape(scores);
    const int64_t rows = shape->ndim > 1 ? shape->dim[0] : 1;
    mxc_shape_format(shape, text, sizeof text);
    if (shape->ndim < 1 || row < 0 || row >= rows)
        return MXC_FAIL(MXC_ESHAPE, "mxc_top_classes: scores of shape %s have no row %lld", text, (long long)row);
    if (k > mxc_ndarray_size(scores) / rows)
        return MXC_FAIL(MXC_ESHAPE, "mxc_top_classes: scores of shape %s have fewer than %lld classes", text,
                        (long long)k);
    if (shape->ndim > 1)
        return mxc_ndarray_at(scores, row, out);
    *out = mxc_ndarray_retain(scores);
    return MXC_OK;
}

static mxc_status choose_classes(mxc_ndarray *on_host, int64_t k, int64_t *classes, float *values) {
    const int64_t n = mxc_ndarray_size(on_host);
    const size_t bytes = mxci_size_of(n, sizeof(scored_class));
    void *data;
    MXC_TRY(mxc_ndarray_data(on_host, &data));
    scored_class *all = mxci_size_fits(bytes) ? mxci_alloc(bytes) : NULL;
    if (!all)
        return MXC_FAIL(MXC_ENOMEM, "mxc_top_classes: no memory for %lld classes", (long long)n);
    for (int64_t i = 0; i < n; i++)
        all[i] = (scored_class){((const float *)data)[i], i};
    qsort(all, (size_t)n, sizeof *all, by_score);
    for (int64_t i = 0; i < k; i++) {
        classes[i] = all[i].number;
        if (values)
            values[i] = all[i].score;
    }
    mxci_free(all);
    return MXC_OK;
}

mxc_status mxc_top_classes(mxc_ndarray *scores, int64_t row, int64_t k, int64_t *classes, float *values) {
    mxc_ndarray *of_row, *on_host = NULL;
    MXCI_CLEAR(values);
    MXC_TRY(MXCI_OUT(classes));
    MXC_TRY(MXCI_NON_NULL(scores));
    if (k < 1)
        return MXC_FAIL(MXC_EINVAL, "mxc_top_classes: k is %lld, expected at least 1", (long long)k);
    MXC_TRY(take_row(scores, row, k, &of_row));
    mxc_status status = mxc_ndarray_copy(of_row, mxc_cpu(0), MXC_F32, &on_host);
    if (status == MXC_OK)
        status = choose_classes(on_host, k, classes, values);
    mxc_ndarray_release(of_row);
    mxc_ndarray_release(on_host);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* text, of n bytes, is cut at the ends of its lines. Empty lines at the end are no names. */
static mxc_status add_lines(const char *path, char *text, size_t n, mxc_names *out) {
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = '\0';
    for (char *at = text, *next; at; at = next) {
        char *end = strchr(at, '\n');
        next = end ? end + 1 : NULL;
        end = end ? end : at + strlen(at);
        while (end > at && end[-1] == '\r')
            end--;
        *end = '\0';
        if (end == at || out->n == CLASSES)
            return MXC_FAIL(MXC_EFORMAT, "%s: line %lld: %s", path, (long long)out->n + 1,
                            end == at ? "empty, expected the name of a class" : "too many classes");
        MXC_TRY(mxci_names_add(out, at));
    }
    return MXC_OK;
}

mxc_status mxc_class_names_load(const char *path, mxc_names *out) {
    char *text;
    size_t n;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(mxci_file_read_all(path, CLASSES_LIMIT, &text, &n));
    mxc_status status =
        strlen(text) < n ? MXC_FAIL(MXC_EFORMAT, "%s: a byte 0, expected text", path) : add_lines(path, text, n, out);
    if (status != MXC_OK)
        mxc_names_release(out);
    mxci_free(text);
    return status;
}

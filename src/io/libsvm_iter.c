/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LibSVMIter: sparse samples in text files, one per line as "label index:value ...", indices from 0 and ascending.
 *
 * They are kept sparse in memory, in CSR form, and become dense rows batch by batch, because libmxc has no sparse
 * arrays; MXNet's batches are CSR arrays. Two passes over the file: one counts lines and values, the other reads them.
 * Names and defaults are MXNet's.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/batch_params.h"
#include "io/iter.h"
#include "io/text_reader.h"

static const mxc_param libsvm_schema[] = {
    {MXC_PARAM_FIELD(mxci_text_params, data), .name = "data_libsvm", .type = MXC_PARAM_STRING,
     .doc = "Path of the samples, one per line. Several paths, separated by ;, are read one after the other; a "
            "directory stands for its files."},
    {MXC_PARAM_FIELD(mxci_text_params, data_shape), .name = "data_shape", .type = MXC_PARAM_TUPLE,
     .doc = "Shape of a sample. Indices are less than its number of elements."},
    {MXC_PARAM_FIELD(mxci_text_params, label), .name = "label_libsvm", .type = MXC_PARAM_STRING, .initial = "NULL",
     .doc = "Path of labels in the same format, whose first number per line is ignored. NULL: the first number of each "
            "sample's line is its label."},
    {MXC_PARAM_FIELD(mxci_text_params, label_shape), .name = "label_shape", .type = MXC_PARAM_TUPLE, .initial = "(1,)",
     .doc = "Shape of a label; (1,) gives labels of shape (B,)."},
    {MXC_PARAM_FIELD(mxci_text_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of data and labels; only float32, which is also the meaning of None."},
#define BATCH_PARAMS mxci_text_params
#include "io/batch_params.def"
#undef BATCH_PARAMS
    MXC_PARAM_END,
};

static const mxci_text_format format = {.separator = ' '};

/* The lines of a file. */
typedef struct sparse_lines {
    mxci_text_reader *reader;
    int64_t n, n_values, width;
    mxc_ndarray *label, *value, *begin, *column; /* (n) and (n_values) float32, (n + 1) int64, (n_values) int32 */
    float *to_label, *to_value;
    int64_t *to_begin;
    int32_t *to_column;
} sparse_lines;

/* Count lines, and the fields that are not the first in theirs. */
static mxc_status count_lines(sparse_lines *lines) {
    for (int is_first = 1;; is_first = mxci_text_reader_at_line_end(lines->reader)) {
        const char *field;
        MXC_TRY(mxci_text_reader_next_field(lines->reader, &field));
        if (!field)
            return MXC_OK;
        lines->n += is_first;
        lines->n_values += !is_first;
    }
}

static mxc_status make_array(mxc_ndarray **array, int64_t n, mxc_dtype dtype, void **data) {
    MXC_TRY(mxc_ndarray_create(1, &n, dtype, mxc_cpu(0), array));
    return mxc_ndarray_data(*array, data);
}

static mxc_status libsvm_iter_make_arrays(sparse_lines *lines) {
    void *label, *value, *begin, *column;
    MXC_TRY(make_array(&lines->label, lines->n, MXC_F32, &label));
    MXC_TRY(make_array(&lines->value, lines->n_values, MXC_F32, &value));
    MXC_TRY(make_array(&lines->begin, lines->n + 1, MXC_I64, &begin));
    MXC_TRY(make_array(&lines->column, lines->n_values, MXC_I32, &column));
    lines->to_label = label;
    lines->to_value = value;
    lines->to_begin = begin;
    lines->to_column = column;
    return MXC_OK;
}

/* All of text as a number of float32. */
static mxc_status read_float(mxci_text_reader *reader, const char *text, float *out) {
    const char *at = text;
    double value;
    if (!mxci_read_double(&at, &value) || *at != '\0' || fabs(value) > FLT_MAX)
        return mxci_text_reader_fail(reader, "\"%.60s\" is not a finite decimal number of float32", text);
    *out = (float)value;
    return MXC_OK;
}

/* "index:value", with least <= index < width. */
static mxc_status read_pair(mxci_text_reader *reader, const char *field, int64_t least, int64_t width, int32_t *column,
                            float *value) {
    const char *at = field;
    int64_t index;
    if (!mxci_read_int(&at, &index) || *at != ':')
        return mxci_text_reader_fail(reader, "\"%.60s\": expected index:value", field);
    if (index < 0 || index >= width)
        return mxci_text_reader_fail(reader, "index %lld, expected 0 to %lld as the shape says", (long long)index,
                                     (long long)width - 1);
    if (index < least)
        return mxci_text_reader_fail(reader, "index %lld behind %lld: expected ascending ones", (long long)index,
                                     (long long)least - 1);
    *column = (int32_t)index;
    return read_float(reader, at + 1, value);
}

/* Check a line without storing its numbers. arg: the width. */
static mxc_status check_line(mxci_text_reader *reader, void *arg, int *is_end) {
    const int64_t width = *(const int64_t *)arg;
    const char *field;
    float value;
    MXC_TRY(mxci_text_reader_next_field(reader, &field));
    *is_end = !field;
    if (!field)
        return MXC_OK;
    MXC_TRY(read_float(reader, field, &value));
    for (int32_t column = -1; !mxci_text_reader_at_line_end(reader);) {
        MXC_TRY(mxci_text_reader_next_field(reader, &field));
        if (!field)
            return MXC_OK;
        MXC_TRY(read_pair(reader, field, column + INT64_C(1), width, &column, &value));
    }
    return MXC_OK;
}

/* Fill the arrays. */
static mxc_status read_lines(sparse_lines *lines) {
    int64_t row = 0, k = 0;
    lines->to_begin[0] = 0;
    for (int is_first = 1;; is_first = mxci_text_reader_at_line_end(lines->reader)) {
        const char *field;
        MXC_TRY(mxci_text_reader_next_field(lines->reader, &field));
        if (!field && row == lines->n && k == lines->n_values)
            return MXC_OK;
        if (!field || (is_first ? row == lines->n : k == lines->n_values))
            return mxci_text_reader_fail(lines->reader, "the file changed while it was read");
        if (is_first) {
            MXC_TRY(read_float(lines->reader, field, &lines->to_label[row++]));
        } else {
            int64_t least = k > lines->to_begin[row - 1] ? lines->to_column[k - 1] + INT64_C(1) : 0;
            MXC_TRY(read_pair(lines->reader, field, least, lines->width, &lines->to_column[k], &lines->to_value[k]));
            k++;
        }
        lines->to_begin[row] = k;
    }
}

/* Two passes: count, create the arrays, fill them. On failure sparse_lines_free releases what was made. */
static mxc_status load_lines(const char *paths, int64_t width, const mxci_bad_lines *bad, sparse_lines *lines) {
    lines->width = width;
    MXC_TRY(mxci_text_reader_open("LibSVMIter", paths, format, bad, &lines->reader));
    MXC_TRY(count_lines(lines));
    if (lines->n == 0)
        return MXC_FAIL(MXC_EFORMAT, "LibSVMIter: %s has no lines%s", paths, bad->n > 0 ? " that can be read" : "");
    MXC_TRY(libsvm_iter_make_arrays(lines));
    mxci_text_reader_close(lines->reader);
    MXC_TRY(mxci_text_reader_open("LibSVMIter", paths, format, bad, &lines->reader));
    return read_lines(lines);
}

static void sparse_lines_free(sparse_lines *lines) {
    mxci_text_reader_close(lines->reader);
    mxc_ndarray_release(lines->label);
    mxc_ndarray_release(lines->value);
    mxc_ndarray_release(lines->begin);
    mxc_ndarray_release(lines->column);
}

static void use_sparse(const sparse_lines *lines, mxci_row_array *rows) {
    rows->array = lines->value;
    rows->begin = lines->begin;
    rows->column = lines->column;
}

static mxc_status load_files(const mxci_text_params *p, mxci_bad_lines *bad, sparse_lines lines[2],
                             mxci_row_array rows[2]) {
    const char *paths[2];
    int64_t width[2];
    if (p->dtype != MXC_DTYPE_UNKNOWN && p->dtype != MXC_F32)
        return MXC_FAIL(MXC_EINVAL, "LibSVMIter: dtype %s, expected float32", mxc_dtype_name((mxc_dtype)p->dtype));
    MXC_TRY(mxci_text_params_resolve("LibSVMIter", p, rows, paths, width));
    MXC_TRY(mxci_batch_find_bad_lines("LibSVMIter", &p->batch, paths, format, check_line,
                                      (void *[]){&width[0], &width[1]}, bad));
    MXC_TRY(load_lines(paths[0], width[0], bad, &lines[0]));
    use_sparse(&lines[0], &rows[0]);
    rows[1].array = lines[0].label;
    if (paths[1]) {
        MXC_TRY(load_lines(paths[1], width[1], bad, &lines[1]));
        use_sparse(&lines[1], &rows[1]);
    } else if (width[1] != 1) {
        return MXC_FAIL(MXC_EINVAL,
                        "LibSVMIter: label_shape has %lld elements, but the lines of data_libsvm have one "
                        "label",
                        (long long)width[1]);
    }
    return MXC_OK;
}

static mxc_status libsvm_create(const void *params, mxc_iter **out) {
    const mxci_text_params *p = params;
    sparse_lines lines[2] = {{0}};
    mxci_row_array rows[2] = {{.name = "data", .dtype = MXC_F32}, {.name = "softmax_label", .dtype = MXC_F32}};
    mxci_bad_lines bad = {0};
    mxc_status status = load_files(p, &bad, lines, rows);
    if (status == MXC_OK)
        status = mxci_batch_iter_create("LibSVMIter", &p->batch, rows, out);
    mxci_free(bad.is_bad);
    sparse_lines_free(&lines[0]);
    sparse_lines_free(&lines[1]);
    return status;
}

const mxci_iter_def mxci_iter_LibSVMIter = {
    .name = "LibSVMIter",
    .doc = "Lines \"label index:value ...\": data (B, data_shape...), softmax_label (B, label_shape...). Batches are "
           "dense. Indices start at 0 and ascend; # starts a comment.",
    .params = libsvm_schema,
    .param_size = sizeof(mxci_text_params),
    .create = libsvm_create,
};

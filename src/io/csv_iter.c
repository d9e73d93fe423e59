/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSVIter: rows of numbers in text files, one sample per line, kept in memory.
 *
 * Two passes: one counts the lines, so that the array is created once and at its size, the other reads the numbers into
 * it. With bad_data=skip a pass before these finds the lines to skip. Names and defaults are MXNet's; part_index and
 * num_parts are as in its other iterators. Anything but finite decimal numbers is refused, with its line.
 */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/batch_params.h"
#include "io/iter.h"
#include "io/text_reader.h"

static const mxc_param csv_schema[] = {
    {MXC_PARAM_FIELD(mxci_text_params, data), .name = "data_csv", .type = MXC_PARAM_STRING,
     .doc = "Path of the samples, one per line. Several paths, separated by ;, are read one after the other; a "
            "directory stands for its files."},
    {MXC_PARAM_FIELD(mxci_text_params, data_shape), .name = "data_shape", .type = MXC_PARAM_TUPLE,
     .doc = "Shape of a sample. A line has as many numbers as the shape has elements."},
    {MXC_PARAM_FIELD(mxci_text_params, label), .name = "label_csv", .type = MXC_PARAM_STRING, .initial = "NULL",
     .doc = "Path of the labels, one line per sample. NULL: all labels are 0."},
    {MXC_PARAM_FIELD(mxci_text_params, label_shape), .name = "label_shape", .type = MXC_PARAM_TUPLE, .initial = "(1,)",
     .doc = "Shape of a label; (1,) gives labels of shape (B,)."},
    {MXC_PARAM_FIELD(mxci_text_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of data and labels: float32, float64, int32, int64 or uint8. None: float32."},
#define BATCH_PARAMS mxci_text_params
#include "io/batch_params.def"
#undef BATCH_PARAMS
    MXC_PARAM_END,
};

/* Store value as element i. Returns 0 if the dtype cannot represent it. */
static int store_value(mxc_dtype dtype, void *data, int64_t i, double value) {
    int is_whole = value == floor(value);
    switch (dtype) {
    case MXC_F32:
        ((float *)data)[i] = (float)value;
        return fabs(value) <= FLT_MAX;
    case MXC_F64:
        ((double *)data)[i] = value;
        return 1;
    case MXC_I32:
        if (is_whole && value >= INT32_MIN && value <= INT32_MAX)
            return ((int32_t *)data)[i] = (int32_t)value, 1;
        return 0;
    case MXC_I64:
        if (is_whole && fabs(value) <= 9007199254740992.0) /* 2^53: up to there doubles are exact */
            return ((int64_t *)data)[i] = (int64_t)value, 1;
        return 0;
    default:
        if (is_whole && value >= 0 && value <= UINT8_MAX)
            return ((uint8_t *)data)[i] = (uint8_t)value, 1;
        return 0;
    }
}

static mxc_status count_lines(mxci_text_reader *reader, int64_t *n) {
    const char *field;
    for (*n = 0;; *n += mxci_text_reader_at_line_end(reader)) {
        MXC_TRY(mxci_text_reader_next_field(reader, &field));
        if (!field)
            return MXC_OK;
    }
}

/* Read the next field as element i of data. */
static mxc_status read_value(mxci_text_reader *reader, const char *field, mxc_dtype dtype, void *data, int64_t i) {
    const char *at = field;
    double value;
    if (field[0] == '\0')
        return mxci_text_reader_fail(reader, "a value is missing");
    if (!mxci_read_double(&at, &value) || *at != '\0') {
        int is_header = mxci_text_reader_line(reader) == 1 && (field[0] == '"' || isalpha((unsigned char)field[0]));
        return mxci_text_reader_fail(reader, "\"%.60s\" is not a finite decimal number%s", field,
                                     is_header ? "; header lines must be removed" : "");
    }
    if (!store_value(dtype, data, i, value))
        return mxci_text_reader_fail(reader, "%.60s is not a value of %s", field, mxc_dtype_name(dtype));
    return MXC_OK;
}

/* Where the values of lines are stored: one after another in data or, with step 0, all at its beginning (to check lines
 * without keeping them). */
typedef struct line_target {
    int64_t width, step;
    mxc_dtype dtype;
    void *data;
    int64_t at;
} line_target;

/* Read a line of width values. */
static mxc_status read_line(mxci_text_reader *reader, void *arg, int *is_end) {
    line_target *target = arg;
    for (int64_t column = 0; column < target->width; column++, target->at += target->step) {
        const char *field;
        MXC_TRY(mxci_text_reader_next_field(reader, &field));
        *is_end = !field;
        if (!field)
            return column == 0 ? MXC_OK : mxci_text_reader_fail(reader, "the file changed while it was read");
        MXC_TRY(read_value(reader, field, target->dtype, target->data, target->at));
        if (mxci_text_reader_at_line_end(reader) != (column == target->width - 1))
            return mxci_text_reader_fail(reader, "%s than the %lld values of the shape",
                                         column == target->width - 1 ? "more" : "fewer", (long long)target->width);
    }
    return MXC_OK;
}

/* Exactly n lines; with step 0, as many as there are. */
static mxc_status read_lines(mxci_text_reader *reader, int64_t n, line_target *target) {
    int is_end = 0;
    for (int64_t row = 0; row < n || target->step == 0; row++) {
        MXC_TRY(read_line(reader, target, &is_end));
        if (is_end)
            return row == n ? MXC_OK : mxci_text_reader_fail(reader, "the file changed while it was read");
    }
    return MXC_OK;
}

/* Create the array of rows, (n, tail...), and get its data. */
static mxc_status create_array(int64_t n, mxci_row_array *rows, void **data) {
    int64_t dims[MXC_MAX_NDIM] = {n};
    memcpy(dims + 1, rows->tail, sizeof dims[0] * (size_t)rows->n_tail);
    MXC_TRY(mxc_ndarray_create(1 + rows->n_tail, dims, rows->dtype, mxc_cpu(0), &rows->array));
    return mxc_ndarray_data(rows->array, data);
}

/* Set the array of rows from the lines of paths. */
static mxc_status load_lines(const char *paths, int64_t width, const mxci_bad_lines *bad, mxci_row_array *rows) {
    line_target target = {.width = width, .dtype = rows->dtype};
    mxci_text_reader *reader;
    int64_t n = 0, bytes = 0, one;
    MXC_TRY(mxci_text_reader_open("CSVIter", paths, ',', bad, &reader));
    mxc_status status = count_lines(reader, &n);
    bytes = mxci_text_reader_bytes(reader);
    mxci_text_reader_close(reader);
    MXC_TRY(status);
    if (n == 0)
        return MXC_FAIL(MXC_EFORMAT, "CSVIter: %s has no lines%s", paths, bad->n > 0 ? " that can be read" : "");
    if (n > bytes / width) { /* too few bytes for so many numbers: only find the line that is too short */
        target.data = &one;
    } else {
        MXC_TRY(create_array(n, rows, &target.data));
        target.step = 1;
    }
    MXC_TRY(mxci_text_reader_open("CSVIter", paths, ',', bad, &reader));
    status = read_lines(reader, n, &target);
    mxci_text_reader_close(reader);
    return status;
}

static mxc_status load_files(const mxci_text_params *p, mxci_bad_lines *bad, mxci_row_array rows[2]) {
    const mxc_dtype dtype = rows[0].dtype;
    const char *paths[2];
    int64_t width[2], one;
    if (dtype != MXC_F32 && dtype != MXC_F64 && dtype != MXC_I32 && dtype != MXC_I64 && dtype != MXC_U8)
        return MXC_FAIL(MXC_EINVAL, "CSVIter: dtype %s, expected float32, float64, int32, int64 or uint8",
                        mxc_dtype_name(dtype));
    MXC_TRY(mxci_text_params_resolve("CSVIter", p, rows, paths, width));
    line_target targets[2] = {
        {.width = width[0], .dtype = dtype, .data = &one},
        {.width = width[1], .dtype = dtype, .data = &one},
    };
    MXC_TRY(mxci_batch_find_bad_lines("CSVIter", &p->batch, paths, ',', read_line, (void *[]){&targets[0], &targets[1]},
                                      bad));
    MXC_TRY(load_lines(paths[0], width[0], bad, &rows[0]));
    if (paths[1])
        return load_lines(paths[1], width[1], bad, &rows[1]);
    void *labels;
    MXC_TRY(create_array(mxc_ndarray_shape(rows[0].array)->dim[0], &rows[1], &labels));
    memset(labels, 0, mxc_ndarray_bytes(rows[1].array));
    return MXC_OK;
}

static mxc_status csv_create(const void *params, mxc_iter **out) {
    const mxci_text_params *p = params;
    mxc_dtype dtype = p->dtype == MXC_DTYPE_UNKNOWN ? MXC_F32 : (mxc_dtype)p->dtype;
    mxci_row_array rows[2] = {{.name = "data", .dtype = dtype}, {.name = "softmax_label", .dtype = dtype}};
    mxci_bad_lines bad = {0};
    mxc_status status = load_files(p, &bad, rows);
    if (status == MXC_OK)
        status = mxci_batch_iter_create("CSVIter", &p->batch, rows, out);
    mxci_free(bad.is_bad);
    mxc_ndarray_release(rows[0].array);
    mxc_ndarray_release(rows[1].array);
    return status;
}

const mxci_iter_def mxci_iter_CSVIter = {
    .name = "CSVIter",
    .doc = "Lines of numbers separated by commas: data (B, data_shape...), softmax_label (B, label_shape...). Empty "
           "lines are ignored; header lines and quotes are errors.",
    .params = csv_schema,
    .param_size = sizeof(mxci_text_params),
    .create = csv_create,
};

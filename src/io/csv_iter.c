/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSVIter: rows of numbers in text files, one sample per line, kept in memory.
 *
 * Two passes: one counts the lines, so that the array is created once and at its size, the other reads the numbers into
 * it. With bad_data=skip a pass before these finds the lines to skip. Names and defaults are MXNet's; part_index and
 * num_parts are as in its other iterators, and header, label_column, path_classes, missing, shuffle and seed are ours.
 * Anything but finite decimal numbers is refused, with its line, except for class names and what missing fills.
 *
 * Missing values that become means are NaN until all lines are read: no number in a file is. Class names that are not
 * known beforehand are numbered as they come, and renumbered in sorted order at the end.
 */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/batch_params.h"
#include "io/class_names.h"
#include "io/csv_header.h"
#include "io/iter.h"
#include "io/text_reader.h"

typedef struct csv_params {
    mxci_text_params text; /* first: its schema entries have the offsets of its own fields */
    int32_t header;
    char label_column[256], missing[64], path_classes[MXCI_TEXT_PATH];
} csv_params;
_Static_assert(offsetof(csv_params, text) == 0, "entries of mxci_text_params are parsed into csv_params");

static const char owner[] = "CSVIter";

static const mxc_param csv_schema[] = {
    {MXC_PARAM_FIELD(mxci_text_params, data), .name = "data_csv", .type = MXC_PARAM_STRING,
     .doc = "Path of the samples, one per line. Several paths, separated by ;, are read one after the other; a "
            "directory stands for its files."},
    {MXC_PARAM_FIELD(mxci_text_params, data_shape), .name = "data_shape", .type = MXC_PARAM_TUPLE,
     .doc = "Shape of a sample. A line has as many numbers as the shape has elements, and one more if there is a "
            "label_column."},
    {MXC_PARAM_FIELD(mxci_text_params, label), .name = "label_csv", .type = MXC_PARAM_STRING, .initial = "NULL",
     .doc = "Path of the labels, one line per sample. NULL: those of label_column or, without one, 0."},
    {MXC_PARAM_FIELD(mxci_text_params, label_shape), .name = "label_shape", .type = MXC_PARAM_TUPLE, .initial = "(1,)",
     .doc = "Shape of a label; (1,) gives labels of shape (B,)."},
    {MXC_PARAM_FIELD(mxci_text_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of data and labels: float32, float64, int32, int64 or uint8. None: float32."},
    {MXC_PARAM_FIELD(csv_params, header), .name = "header", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "The first line of each file holds the names of the columns and is skipped."},
    {MXC_PARAM_FIELD(csv_params, label_column), .name = "label_column", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Column of data_csv that is the label and not a part of the data: its name in the header, or its number "
            "from 0; -1 is the last one."},
    {MXC_PARAM_FIELD(csv_params, path_classes), .name = "path_classes", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Labels are names of classes, and this is the path of a file with one name per line, in the order of their "
            "numbers from 0. If the file exists, other names are errors; otherwise it is written with the names of all "
            "labels in sorted order."},
    {MXC_PARAM_FIELD(csv_params, missing), .name = "missing", .type = MXC_PARAM_STRING, .initial = "error",
     .doc = "What a missing value of the data (an empty field, NA, N/A, nan or null in any case) becomes: error: it is "
            "refused; mean: the mean of its column in all files of data_csv; or a number. A missing label is always "
            "refused."},
#define BATCH_PARAMS mxci_text_params
#include "io/batch_params.def"
#undef BATCH_PARAMS
    MXC_PARAM_END,
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

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

static double load_value(mxc_dtype dtype, const void *data, int64_t i) {
    switch (dtype) {
    case MXC_F32:
        return (double)((const float *)data)[i];
    case MXC_F64:
        return ((const double *)data)[i];
    case MXC_I32:
        return ((const int32_t *)data)[i];
    case MXC_I64:
        return (double)((const int64_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

/* What missing says. */
typedef enum csv_missing { MISSING_ERROR, MISSING_MEAN, MISSING_NUMBER } csv_missing;

/* How fields are read. */
typedef struct csv_rules {
    mxc_dtype dtype;
    csv_missing missing;
    double filling; /* MISSING_NUMBER */
    const char *path_classes;
    mxci_class_names *classes; /* NULL: labels are numbers */
} csv_rules;

static int is_missing(const char *field) {
    static const char *const texts[] = {"", "NA", "N/A", "nan", "null"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcasecmp(field, texts[i]) == 0)
            return 1;
    return 0;
}

static mxc_status read_missing_param(const char *text, csv_rules *out) {
    const char *at = text;
    double one;
    if (strcmp(text, "error") == 0)
        return MXC_OK;
    if (strcmp(text, "mean") == 0) {
        out->missing = MISSING_MEAN;
        if (out->dtype == MXC_F32 || out->dtype == MXC_F64)
            return MXC_OK;
        return MXC_FAIL(MXC_EINVAL, "%s: missing=mean for dtype %s, expected float32 or float64", owner,
                        mxc_dtype_name(out->dtype));
    }
    out->missing = MISSING_NUMBER;
    if (!mxci_read_double(&at, &out->filling) || *at != '\0')
        return MXC_FAIL(MXC_EINVAL, "%s: missing is \"%s\", expected error, mean or a number", owner, text);
    if (!store_value(out->dtype, &one, 0, out->filling))
        return MXC_FAIL(MXC_EINVAL, "%s: missing: %s is not a value of %s", owner, text, mxc_dtype_name(out->dtype));
    return MXC_OK;
}

/* Where the values of one array are stored: one after another in data or, with step 0, all at its beginning (to check
 * lines without keeping them). */
typedef struct value_target {
    void *data;
    int64_t at, step;
} value_target;

static void store_missing(const csv_rules *rules, const value_target *to) {
    if (rules->missing == MISSING_NUMBER)
        (void)store_value(rules->dtype, to->data, to->at, rules->filling);
    else if (rules->dtype == MXC_F32)
        ((float *)to->data)[to->at] = NAN;
    else
        ((double *)to->data)[to->at] = (double)NAN;
}

/* The number of a class; names that only are checked get none. */
static mxc_status find_class(mxci_text_reader *reader, const char *field, const csv_rules *rules, int is_kept,
                             double *out) {
    int64_t number = mxci_class_names_find(rules->classes, field);
    if (number < 0 && rules->classes->is_fixed)
        return mxci_text_reader_fail(reader, "\"%.60s\" is not among the classes in %.150s", field,
                                     rules->path_classes);
    if (number < 0 && is_kept)
        MXC_TRY(mxci_class_names_add(rules->classes, field, &number));
    *out = number < 0 ? 0 : (double)number;
    return MXC_OK;
}

static mxc_status read_value(mxci_text_reader *reader, const char *field, const csv_rules *rules, int is_label,
                             value_target *to) {
    const char *at = field;
    double value;
    if (!is_label && rules->missing != MISSING_ERROR && is_missing(field)) {
        store_missing(rules, to);
        return MXC_OK;
    }
    if (is_label ? is_missing(field) : field[0] == '\0')
        return mxci_text_reader_fail(reader, is_label ? "the label is missing" : "a value is missing");
    if (is_label && rules->classes) {
        MXC_TRY(find_class(reader, field, rules, to->step > 0, &value));
    } else if (!mxci_read_double(&at, &value) || *at != '\0') {
        int is_header = mxci_text_reader_line(reader) == 1 && isalpha((unsigned char)field[0]);
        return mxci_text_reader_fail(reader, "\"%.60s\" is not a finite decimal number%s%s", field,
                                     is_header ? "; header=True skips a line with names of columns" : "",
                                     is_label ? "; names of classes need path_classes" : "");
    }
    if (!store_value(rules->dtype, to->data, to->at, value))
        return mxci_text_reader_fail(reader, "%.60s is not a value of %s", field, mxc_dtype_name(rules->dtype));
    return MXC_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* The lines of data_csv, or of label_csv. */
typedef struct csv_lines {
    const csv_rules *rules;
    int64_t columns;
    int64_t label_column; /* -1: none */
    int are_labels;       /* all columns are labels */
    value_target values;  /* of all columns but label_column */
    value_target label;
} csv_lines;

static mxc_status count_lines(mxci_text_reader *reader, int64_t *n) {
    const char *field;
    for (*n = 0;; *n += mxci_text_reader_at_line_end(reader)) {
        MXC_TRY(mxci_text_reader_next_field(reader, &field));
        if (!field)
            return MXC_OK;
    }
}

static mxc_status read_line(mxci_text_reader *reader, void *arg, int *is_end) {
    csv_lines *lines = arg;
    for (int64_t column = 0; column < lines->columns; column++) {
        const int is_label = lines->are_labels || column == lines->label_column;
        value_target *to = column == lines->label_column ? &lines->label : &lines->values;
        const char *field;
        MXC_TRY(mxci_text_reader_next_field(reader, &field));
        *is_end = !field;
        if (!field)
            return column == 0 ? MXC_OK : mxci_text_reader_fail(reader, "the file changed while it was read");
        MXC_TRY(read_value(reader, field, lines->rules, is_label, to));
        to->at += to->step;
        if (mxci_text_reader_at_line_end(reader) != (column == lines->columns - 1))
            return mxci_text_reader_fail(reader, "%s than the %lld values of the shape%s",
                                         column == lines->columns - 1 ? "more" : "fewer", (long long)lines->columns,
                                         lines->label_column >= 0 ? " and the label" : "");
    }
    return MXC_OK;
}

/* Exactly n lines; with step 0, as many as there are. */
static mxc_status read_lines(mxci_text_reader *reader, int64_t n, csv_lines *lines) {
    int is_end = 0;
    for (int64_t row = 0; row < n || lines->values.step == 0; row++) {
        MXC_TRY(read_line(reader, lines, &is_end));
        if (is_end)
            return row == n ? MXC_OK : mxci_text_reader_fail(reader, "the file changed while it was read");
    }
    return MXC_OK;
}

/* Create the array of rows, (n, tail...), as a target. */
static mxc_status create_array(int64_t n, mxci_row_array *rows, value_target *out) {
    int64_t dims[MXC_MAX_NDIM] = {n};
    memcpy(dims + 1, rows->tail, sizeof dims[0] * (size_t)rows->n_tail);
    MXC_TRY(mxc_ndarray_create(1 + rows->n_tail, dims, rows->dtype, mxc_cpu(0), &rows->array));
    out->step = 1;
    return mxc_ndarray_data(rows->array, &out->data);
}

/* Set the array of rows, and that of labels if they are a column, from the lines of paths. */
static mxc_status load_lines(const char *paths, mxci_text_format format, const mxci_bad_lines *bad, csv_lines *lines,
                             mxci_row_array *rows, mxci_row_array *labels) {
    mxci_text_reader *reader;
    int64_t n = 0, bytes = 0;
    MXC_TRY(mxci_text_reader_open(owner, paths, format, bad, &reader));
    mxc_status status = count_lines(reader, &n);
    bytes = mxci_text_reader_bytes(reader);
    mxci_text_reader_close(reader);
    MXC_TRY(status);
    if (n == 0)
        return MXC_FAIL(MXC_EFORMAT, "%s: %s has no lines%s", owner, paths, bad->n > 0 ? " that can be read" : "");
    /* A field takes at least the byte of its separator or line end. With fewer bytes, nothing is created: only find the
     * line that is too short. */
    if (n <= bytes / lines->columns) {
        MXC_TRY(create_array(n, rows, &lines->values));
        if (lines->label_column >= 0)
            MXC_TRY(create_array(n, labels, &lines->label));
    }
    MXC_TRY(mxci_text_reader_open(owner, paths, format, bad, &reader));
    status = read_lines(reader, n, lines);
    mxci_text_reader_close(reader);
    if (status == MXC_OK && !rows->array)
        return MXC_FAIL(MXC_EFORMAT, "%s: %s changed while it was read", owner, paths);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Replace NaN in (n, width) values by the mean of the others in its column. */
static mxc_status fill_means(const mxci_row_array *rows, int64_t width) {
    const int64_t n = mxc_ndarray_shape(rows->array)->dim[0];
    void *data;
    MXC_TRY(mxc_ndarray_data(rows->array, &data));
    for (int64_t column = 0; column < width; column++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t row = 0; row < n; row++) {
            const double value = load_value(rows->dtype, data, row * width + column);
            sum += isnan(value) ? 0 : value;
            count += !isnan(value);
        }
        if (count == 0)
            return MXC_FAIL(MXC_EFORMAT, "%s: all values of column %lld of the data are missing, so it has no mean",
                            owner, (long long)column);
        for (int64_t row = 0; row < n && count < n; row++)
            if (isnan(load_value(rows->dtype, data, row * width + column)))
                (void)store_value(rows->dtype, data, row * width + column, sum / (double)count);
    }
    return MXC_OK;
}

/* Number the classes of the labels in sorted order, and write their names. */
static mxc_status sort_classes(const csv_rules *rules, const mxci_row_array *labels) {
    const int64_t n = mxc_ndarray_size(labels->array);
    int64_t *new_number;
    void *data;
    MXC_TRY(mxc_ndarray_data(labels->array, &data));
    MXC_TRY(mxci_class_names_save_sorted(rules->classes, owner, rules->path_classes, &new_number));
    for (int64_t i = 0; i < n; i++)
        (void)store_value(labels->dtype, data, i, (double)new_number[(int64_t)load_value(labels->dtype, data, i)]);
    mxci_free(new_number);
    return MXC_OK;
}

static mxc_status check_labels(const csv_params *p, const char *label_path) {
    if (p->label_column[0] && label_path)
        return MXC_FAIL(MXC_EINVAL, "%s: label_csv and label_column are both given", owner);
    if (p->label_column[0] && (p->text.label_shape.n != 1 || p->text.label_shape.value[0] != 1))
        return MXC_FAIL(MXC_EINVAL, "%s: label_shape is not (1,), as the label_column \"%s\" needs", owner,
                        p->label_column);
    if (p->path_classes[0] && !p->label_column[0] && !label_path)
        return MXC_FAIL(MXC_EINVAL, "%s: path_classes without label_csv or label_column", owner);
    return MXC_OK;
}

static mxc_status load_all(const csv_params *p, const csv_rules *rules, const char *const paths[2],
                           const int64_t width[2], mxci_bad_lines *bad, mxci_row_array rows[2]) {
    const mxci_text_format format = {.separator = ',', .has_header = p->header};
    const int has_column = p->label_column[0] != 0;
    double one; /* room for any value */
    csv_lines lines[2] = {
        {.rules = rules, .columns = width[0] + has_column, .label_column = -1, .values = {.data = &one}},
        {.rules = rules, .columns = width[1], .label_column = -1, .are_labels = 1, .values = {.data = &one}},
    };
    lines[0].label.data = &one;
    MXC_TRY(
        mxci_csv_label_column(owner, paths[0], p->header, p->label_column, lines[0].columns, &lines[0].label_column));
    MXC_TRY(mxci_batch_find_bad_lines(owner, &p->text.batch, paths, format, read_line, (void *[]){&lines[0], &lines[1]},
                                      bad));
    MXC_TRY(load_lines(paths[0], format, bad, &lines[0], &rows[0], &rows[1]));
    if (rules->missing == MISSING_MEAN)
        MXC_TRY(fill_means(&rows[0], width[0]));
    if (paths[1])
        return load_lines(paths[1], format, bad, &lines[1], &rows[1], NULL);
    if (has_column)
        return MXC_OK;
    MXC_TRY(create_array(mxc_ndarray_shape(rows[0].array)->dim[0], &rows[1], &lines[1].values));
    memset(lines[1].values.data, 0, mxc_ndarray_bytes(rows[1].array));
    return MXC_OK;
}

static mxc_status load_files(const csv_params *p, mxci_class_names *classes, mxci_bad_lines *bad,
                             mxci_row_array rows[2]) {
    csv_rules rules = {.dtype = rows[0].dtype, .path_classes = p->path_classes};
    const char *paths[2];
    int64_t width[2];
    if (rules.dtype != MXC_F32 && rules.dtype != MXC_F64 && rules.dtype != MXC_I32 && rules.dtype != MXC_I64 &&
        rules.dtype != MXC_U8)
        return MXC_FAIL(MXC_EINVAL, "%s: dtype %s, expected float32, float64, int32, int64 or uint8", owner,
                        mxc_dtype_name(rules.dtype));
    MXC_TRY(mxci_text_params_resolve(owner, &p->text, rows, paths, width));
    MXC_TRY(check_labels(p, paths[1]));
    MXC_TRY(read_missing_param(p->missing, &rules));
    if (p->path_classes[0]) {
        MXC_TRY(mxci_class_names_open(owner, p->path_classes, classes));
        rules.classes = classes;
    }
    MXC_TRY(load_all(p, &rules, paths, width, bad, rows));
    return rules.classes && !classes->is_fixed ? sort_classes(&rules, &rows[1]) : MXC_OK;
}

static mxc_status csv_create(const void *params, mxc_iter **out) {
    const csv_params *p = params;
    mxc_dtype dtype = p->text.dtype == MXC_DTYPE_UNKNOWN ? MXC_F32 : (mxc_dtype)p->text.dtype;
    mxci_row_array rows[2] = {{.name = "data", .dtype = dtype}, {.name = "softmax_label", .dtype = dtype}};
    mxci_class_names classes = {0};
    mxci_bad_lines bad = {0};
    mxc_status status = load_files(p, &classes, &bad, rows);
    if (status == MXC_OK)
        status = mxci_batch_iter_create(owner, &p->text.batch, rows, out);
    mxci_class_names_free(&classes);
    mxci_free(bad.is_bad);
    mxc_ndarray_release(rows[0].array);
    mxc_ndarray_release(rows[1].array);
    return status;
}

const mxci_iter_def mxci_iter_CSVIter = {
    .name = owner,
    .doc =
        "Lines of numbers separated by commas: data (B, data_shape...), softmax_label (B, label_shape...). Fields may "
        "be in double quotes, which end in their line. Empty lines are ignored.",
    .params = csv_schema,
    .param_size = sizeof(csv_params),
    .create = csv_create,
};

/*
 * LibSVMIter: sparse samples in text files, one a line as "label index:value ...", indices from 0 and ascending.
 *
 * They stay sparse in memory and become dense rows batch by batch, for there are no sparse arrays here; MXNet gives CSR
 * batches. Two passes over the file: one counts, one reads. Names and defaults are MXNet's.
 */
#include <math.h>
#include <float.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/batch_params.h"
#include "io/fields.h"
#include "io/iter.h"

enum { PATH_SIZE = 4096 };

typedef struct libsvm_params {
    char data_libsvm[PATH_SIZE], label_libsvm[PATH_SIZE];
    mxc_tuple data_shape, label_shape;
    int32_t dtype;
    mxci_batch_params batch;
} libsvm_params;

static const mxc_param libsvm_schema[] = {
    { .name = "data_libsvm", .type = MXC_PARAM_STRING, MXC_PARAM_FIELD(libsvm_params, data_libsvm),
      .doc = "path of the samples, a line each; several paths with ; between follow each other" },
    { .name = "data_shape", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(libsvm_params, data_shape),
      .doc = "shape of a sample; indices are less than its size" },
    { .name = "label_libsvm", .type = MXC_PARAM_STRING, MXC_PARAM_FIELD(libsvm_params, label_libsvm),
      .initial = "NULL", .doc = "path of labels in the same form, whose own first number is passed over; NULL: the "
                                "first number of each sample's line is its label" },
    { .name = "label_shape", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(libsvm_params, label_shape), .initial = "(1,)",
      .doc = "shape of a label; (1,) gives labels (B,)" },
    { .name = "dtype", .type = MXC_PARAM_DTYPE, MXC_PARAM_FIELD(libsvm_params, dtype), .initial = "None",
      .optional = 1, .doc = "of data and labels: float32, which None means" },
#define BATCH_PARAMS libsvm_params
#include "io/batch_params.def"
#undef BATCH_PARAMS
    MXC_PARAM_END,
};

/* The lines of a file. */
typedef struct lines {
    mxci_fields *fields;
    int64_t n, n_values, width;
    mxc_ndarray *label, *value, *begin, *column; /* (n) and (n_values) float32, (n + 1) int64, (n_values) int32 */
    float *to_label, *to_value;
    int64_t *to_begin;
    int32_t *to_column;
} lines;

/* Count lines, and the fields that are not the first in theirs. */
static mxc_status count(lines *l) {
    for (int is_first = 1;; is_first = mxci_fields_ends_line(l->fields)) {
        const char *field;
        MXC_TRY(mxci_fields_next(l->fields, &field));
        if (field == NULL)
            return MXC_OK;
        l->n += is_first;
        l->n_values += !is_first;
    }
}

static mxc_status make(mxc_ndarray **array, int64_t n, mxc_dtype dtype, void **data) {
    MXC_TRY(mxc_ndarray_create(1, &n, dtype, mxc_cpu(0), array));
    return mxc_ndarray_data(*array, data);
}

static mxc_status make_arrays(lines *l) {
    void *label, *value, *begin, *column;
    MXC_TRY(make(&l->label, l->n, MXC_F32, &label));
    MXC_TRY(make(&l->value, l->n_values, MXC_F32, &value));
    MXC_TRY(make(&l->begin, l->n + 1, MXC_I64, &begin));
    MXC_TRY(make(&l->column, l->n_values, MXC_I32, &column));
    l->to_label = label;
    l->to_value = value;
    l->to_begin = begin;
    l->to_column = column;
    return MXC_OK;
}

/* All of text as a number of float32. */
static mxc_status read_float(const lines *l, const char *text, float *out) {
    const char *at = text;
    double value;
    if (!mxci_read_double(&at, &value) || *at != '\0' || fabs(value) > FLT_MAX)
        return mxci_fields_fail(l->fields, "\"%.60s\" is not a finite decimal number of float32", text);
    *out = (float)value;
    return MXC_OK;
}

/* "index:value" as element k, behind index least. */
static mxc_status read_pair(lines *l, const char *field, int64_t k, int64_t least) {
    const char *at = field;
    int64_t index;
    if (!mxci_read_int(&at, &index) || *at != ':')
        return mxci_fields_fail(l->fields, "\"%.60s\": expected index:value", field);
    if (index < 0 || index >= l->width)
        return mxci_fields_fail(l->fields, "index %lld, expected 0 to %lld as the shape says", (long long)index,
                                (long long)l->width - 1);
    if (index < least)
        return mxci_fields_fail(l->fields, "index %lld behind %lld: expected ascending ones", (long long)index,
                                (long long)least - 1);
    l->to_column[k] = (int32_t)index;
    return read_float(l, at + 1, &l->to_value[k]);
}

/* Fill the arrays. */
static mxc_status read(lines *l) {
    int64_t row = 0, k = 0;
    l->to_begin[0] = 0;
    for (int is_first = 1;; is_first = mxci_fields_ends_line(l->fields)) {
        const char *field;
        MXC_TRY(mxci_fields_next(l->fields, &field));
        if (field == NULL && row == l->n && k == l->n_values)
            return MXC_OK;
        if (field == NULL || (is_first ? row == l->n : k == l->n_values))
            return mxci_fields_fail(l->fields, "the file changed while it was read");
        if (is_first) {
            MXC_TRY(read_float(l, field, &l->to_label[row++]));
        } else {
            MXC_TRY(read_pair(l, field, k, k > l->to_begin[row - 1] ? l->to_column[k - 1] + INT64_C(1) : 0));
            k++;
        }
        l->to_begin[row] = k;
    }
}

static mxc_status load(const char *paths, int64_t width, lines *l) {
    l->width = width;
    MXC_TRY(mxci_fields_open("LibSVMIter", paths, ' ', &l->fields));
    MXC_TRY(count(l));
    if (l->n == 0)
        return MXC_FAIL(MXC_EFORMAT, "LibSVMIter: %s has no lines", paths);
    MXC_TRY(make_arrays(l));
    mxci_fields_close(l->fields);
    MXC_TRY(mxci_fields_open("LibSVMIter", paths, ' ', &l->fields));
    return read(l);
}

static void release(lines *l) {
    mxci_fields_close(l->fields);
    mxc_ndarray_release(l->label);
    mxc_ndarray_release(l->value);
    mxc_ndarray_release(l->begin);
    mxc_ndarray_release(l->column);
}

static void use_sparse(const lines *l, mxci_rows *rows) {
    rows->array = l->value;
    rows->begin = l->begin;
    rows->column = l->column;
}

static mxc_status load_both(const libsvm_params *p, lines l[2], mxci_rows rows[2]) {
    int64_t data_width, label_width;
    if (p->dtype != MXC_DTYPE_UNKNOWN && p->dtype != MXC_F32)
        return MXC_FAIL(MXC_EINVAL, "LibSVMIter: dtype %s, expected float32", mxc_dtype_name((mxc_dtype)p->dtype));
    MXC_TRY(mxci_sample_shape("LibSVMIter", "data_shape", &p->data_shape, 0, &rows[0], &data_width));
    MXC_TRY(mxci_sample_shape("LibSVMIter", "label_shape", &p->label_shape, 1, &rows[1], &label_width));
    MXC_TRY(load(p->data_libsvm, data_width, &l[0]));
    use_sparse(&l[0], &rows[0]);
    rows[1].array = l[0].label;
    if (strcmp(p->label_libsvm, "NULL") != 0) {
        MXC_TRY(load(p->label_libsvm, label_width, &l[1]));
        use_sparse(&l[1], &rows[1]);
    } else if (label_width != 1) {
        return MXC_FAIL(MXC_EINVAL, "LibSVMIter: label_shape has %lld elements, but the lines of data_libsvm have one "
                        "label", (long long)label_width);
    }
    return MXC_OK;
}

static mxc_status libsvm_create(const void *params, mxc_iter **out) {
    const libsvm_params *p = params;
    lines l[2] = { { 0 } };
    mxci_rows rows[2] = { { .name = "data", .dtype = MXC_F32 }, { .name = "softmax_label", .dtype = MXC_F32 } };
    mxc_status status = load_both(p, l, rows);
    if (status == MXC_OK)
        status = mxci_batches_of_rows("LibSVMIter", &p->batch, rows, out);
    release(&l[0]);
    release(&l[1]);
    return status;
}

const mxci_iter_def mxci_iter_LibSVMIter = {
    .name = "LibSVMIter",
    .doc = "Lines \"label index:value ...\": data (B, data_shape...), softmax_label (B, label_shape...). Batches are "
           "dense, for there are no sparse arrays here. Indices begin at 0 and ascend; # begins a comment.",
    .params = libsvm_schema,
    .param_size = sizeof(libsvm_params),
    .create = libsvm_create,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* NDArrayIter: batches of the caller's arrays, of their own dtypes. */
#include <stdio.h>

#include <mxc/io.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/sys.h"
#include "io/rows_iter.h"

enum { NAME_SIZE = 32 };

/* "data" or "data0", "data1"...; "softmax_label" likewise. */
static const char *default_name(const char *stem, int index, int count, char *out) {
    if (count == 1)
        snprintf(out, NAME_SIZE, "%s", stem);
    else
        snprintf(out, NAME_SIZE, "%s%d", stem, index);
    return out;
}

static void describe_rows(int n_data, mxc_ndarray *const *data, int n_label, mxc_ndarray *const *label,
                          const char *const *names, mxci_row_array *rows, char (*made)[NAME_SIZE]) {
    for (int i = 0; i < n_data + n_label; i++) {
        int is_label = i >= n_data, at = is_label ? i - n_data : i;
        rows[i].array = is_label ? label[at] : data[at];
        rows[i].dtype = rows[i].array ? mxc_ndarray_dtype(rows[i].array) : MXC_F32;
        rows[i].n_tail = -1;
        rows[i].name = names && names[i] ? names[i]
                       : is_label        ? default_name("softmax_label", at, n_label, made[i])
                                         : default_name("data", at, n_data, made[i]);
    }
}

void mxc_array_iter_options_init(mxc_array_iter_options *options, size_t size) {
    static const mxc_array_iter_options defaults = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

mxc_status mxc_iter_from_arrays(const mxc_array_iter_options *options, int n_data, mxc_ndarray *const *data,
                                int n_label, mxc_ndarray *const *label, const char *const *names, mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL_IF(n_data > 0, data));
    MXC_TRY(MXCI_NON_NULL_IF(n_label > 0, label));
    mxc_array_iter_options read = MXC_ARRAY_ITER_OPTIONS_INIT;
    MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_array_iter_options_init"));
    if (n_data < 1 || n_label < 0 || !data || (n_label > 0 && !label))
        return MXC_FAIL(MXC_EINVAL, "NDArrayIter: %d data and %d label arrays, expected at least one data array",
                        n_data, n_label);
    size_t n = (size_t)n_data + (size_t)n_label;
    mxci_row_array *rows = mxci_calloc(n, sizeof *rows);
    char(*made)[NAME_SIZE] = mxci_calloc(n, sizeof *made);
    mxc_status status;
    if (!rows || !made) {
        status = MXC_FAIL(MXC_ENOMEM, "NDArrayIter: no memory for %zu arrays", n);
    } else {
        describe_rows(n_data, data, n_label, label, names, rows, made);
        status = mxci_rows_iter_create("NDArrayIter", &read, n_data, n_label, rows, out);
    }
    mxci_free(rows);
    mxci_free(made);
    return status;
}

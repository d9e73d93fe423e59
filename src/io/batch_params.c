/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the parameters that iterators with MXNet's names share. */
#include "io/batch_params.h"

#include <string.h>

#include <mxc/recordio.h>

#include "base/log.h"
#include "io/iter.h"

mxc_status mxci_batch_iter_create(const char *owner, const mxci_batch_params *params, const mxci_row_array rows[2],
                                  mxc_iter **out) {
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_iter *iter;
    options.batch_size = params->batch_size;
    options.last_batch = params->round_batch ? MXC_LAST_WRAP : MXC_LAST_PAD;
    options.shuffle = params->shuffle;
    options.seed = (uint64_t)params->seed;
    options.part_index = (int)params->part_index;
    options.num_parts = (int)params->num_parts;
    MXC_TRY(mxci_rows_iter_create(owner, &options, 1, 1, rows, &iter));
    return mxci_iter_prefetched(iter, params->prefetch_buffer, out);
}

mxc_status mxci_batch_find_bad_lines(const char *owner, const mxci_batch_params *params, const char *const *paths,
                                     mxci_text_format format,
                                     mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                     void *const args[2], mxci_bad_lines *bad) {
    for (int i = 0; i < 2 && params->bad_data == MXC_BAD_SKIP && paths[i]; i++)
        MXC_TRY(mxci_text_reader_find_bad_lines(owner, paths[i], format, read_line, args[i], bad));
    if (bad->n > 0)
        mxci_log(MXC_LOG_WARNING, "%s: %lld bad lines left out; the first: %s", owner, (long long)bad->n, bad->first);
    return MXC_OK;
}

mxc_status mxci_batch_sample_shape(const char *owner, const char *name, const mxc_tuple *shape, int flat,
                                   mxci_row_array *rows, int64_t *width) {
    mxc_shape whole = {0};
    *width = -1;
    if (shape->n >= 1 && shape->n < MXC_MAX_NDIM && mxc_shape_set(&whole, shape->n, shape->value) == MXC_OK)
        *width = mxc_shape_size(&whole);
    if (*width < 1 || *width > INT32_MAX)
        return MXC_FAIL(MXC_EINVAL, "%s: %s of %d axes: expected 1 to %d, with at least 1 and less than 2^31 elements",
                        owner, name, (int)shape->n, MXC_MAX_NDIM - 1);
    rows->n_tail = flat && shape->n == 1 && shape->value[0] == 1 ? 0 : shape->n;
    for (int i = 0; i < rows->n_tail; i++)
        rows->tail[i] = shape->value[i];
    return MXC_OK;
}

mxc_status mxci_text_params_resolve(const char *owner, const mxci_text_params *params, mxci_row_array rows[2],
                                    const char *paths[2], int64_t width[2]) {
    paths[0] = params->data;
    paths[1] = strcmp(params->label, "NULL") == 0 ? NULL : params->label;
    MXC_TRY(mxci_batch_sample_shape(owner, "data_shape", &params->data_shape, 0, &rows[0], &width[0]));
    return mxci_batch_sample_shape(owner, "label_shape", &params->label_shape, 1, &rows[1], &width[1]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the file of an iterator of text: refused or read to its end, never more. */
#ifndef MXC_FUZZ_FILE_ITER_H
#define MXC_FUZZ_FILE_ITER_H

#include <mxc/io.h>

#include "file.h"

/* name: the iterator; file_key: its parameter that names the file; then n_more parameters, at most 4. A file that is
 * refused is read again without its bad lines. */
static inline void fuzz_file_iter(const char *name, const char *file_key, int n_more, const char *const *more_keys,
                                  const char *const *more_values, const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file(data, bytes);
    const char *keys[9] = {file_key, "data_shape", "batch_size", "prefetch_buffer", "bad_data"};
    const char *values[9] = {path, "(3,)", "1", "0", "error"};
    for (int i = 0; i < n_more; i++) {
        keys[5 + i] = more_keys[i];
        values[5 + i] = more_values[i];
    }
    mxc_iter *iter;
    mxc_batch batch;
    fuzz_be_silent();
    mxc_status status = mxc_iter_create(name, 5 + n_more, keys, values, &iter);
    if (status != MXC_OK) {
        values[4] = "skip";
        status = mxc_iter_create(name, 5 + n_more, keys, values, &iter);
    }
    if (status == MXC_OK) {
        do {
            if (mxc_iter_next(iter, &batch) != MXC_OK)
                abort();
        } while (batch.n_data > 0);
        mxc_iter_destroy(iter);
    }
    unlink(path);
}

#endif

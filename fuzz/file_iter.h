/* Any bytes as the file of an iterator of text: refused or read to its end, never more. */
#ifndef MXC_FUZZ_FILE_ITER_H
#define MXC_FUZZ_FILE_ITER_H

#include <mxc/io.h>

#include "file.h"

/* name: the iterator; file_key: its parameter that names the file. */
static inline void fuzz_file_iter(const char *name, const char *file_key, const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file(data, bytes);
    const char *keys[] = { file_key, "data_shape", "batch_size", "prefetch_buffer" };
    const char *values[] = { path, "(3,)", "1", "0" };
    mxc_iter *iter;
    mxc_batch batch;
    if (mxc_iter_create(name, 4, keys, values, &iter) == MXC_OK) {
        do {
            if (mxc_iter_next(iter, &batch) != MXC_OK)
                abort();
        } while (batch.n_data > 0);
        mxc_iter_destroy(iter);
    }
    unlink(path);
}

#endif

/* Any bytes as the file of an iterator: refused or read to its end, never more. */
#ifndef MXC_FUZZ_FILE_ITER_H
#define MXC_FUZZ_FILE_ITER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mxc/io.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* name: the iterator; file_key: its parameter that names the file. */
static inline void fuzz_file_iter(const char *name, const char *file_key, const uint8_t *data, size_t bytes) {
    static char path[64];
    const char *keys[] = { file_key, "data_shape", "batch_size", "prefetch_buffer" };
    const char *values[] = { path, "(3,)", "1", "0" };
    mxc_iter *iter;
    mxc_batch batch;
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/tmp/fuzz-%s-%ld", name, (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    close(fd);
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

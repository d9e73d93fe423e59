/* Any bytes as an IDX file, plain or compressed: refused or read, never more. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mxc/io.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static char path[64];
    mxc_ndarray *array;
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/tmp/fuzz-idx-%ld", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    close(fd);
    if (mxc_idx_load(path, &array) == MXC_OK)
        mxc_ndarray_release(array);
    unlink(path);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an IDX file, plain or compressed: refused or read, never more. */
#include <mxc/io.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file(data, bytes);
    mxc_ndarray *array;
    if (mxc_idx_load(path, &array) == MXC_OK)
        mxc_ndarray_release(array);
    unlink(path);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .npy file: refused or read, never more. */
#include <stdint.h>

#include "ndarray/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    mxci_byte_source source;
    mxc_ndarray *array;
    mxci_byte_source_memory("fuzz", data, bytes, &source);
    if (mxci_npy_read(&source, &array) == MXC_OK)
        mxc_ndarray_release(array);
    return 0;
}

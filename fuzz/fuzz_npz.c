/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .npz file: refused or read, never more. */
#include <stdint.h>

#include "ndarray/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    mxci_byte_source source;
    mxc_ndarray_list list;
    mxci_byte_source_memory("fuzz", data, bytes, &source);
    if (mxci_npz_read(&source, &list) == MXC_OK)
        mxc_ndarray_list_release(&list);
    return 0;
}

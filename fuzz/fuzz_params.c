/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .params file: refused or read, never more. */
#include <stdint.h>

#include <mxc/ndarray.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    mxc_ndarray_list list;
    if (mxc_ndarray_load_buffer("fuzz", data, bytes, &list) == MXC_OK)
        mxc_ndarray_list_release(&list);
    return 0;
}

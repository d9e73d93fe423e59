/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a LibSVM file. */
#include "file_iter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_file_iter("LibSVMIter", "data_libsvm", 0, NULL, NULL, data, bytes);
    return 0;
}

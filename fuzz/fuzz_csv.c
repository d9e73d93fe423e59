/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a CSV file: of numbers, and with a header, a label column and missing values. */
#include "file_iter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *const keys[] = {"header", "label_column", "missing"}, *const values[] = {"True", "y", "mean"};
    fuzz_file_iter("CSVIter", "data_csv", 0, NULL, NULL, data, bytes);
    fuzz_file_iter("CSVIter", "data_csv", 3, keys, values, data, bytes);
    return 0;
}

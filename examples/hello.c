/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the rows of an array. */
#include <stdio.h>

#include <mxc/mxc.h>
int main(void) {
    const int64_t dims[] = {2, 3};
    const float values[] = {1, 2, 3, 4, 5, 6};
    const char *key = "axis", *value = "1";
    mxc_ndarray *x = NULL, *sums = NULL;
    char *text = NULL;
    mxc_status status = mxc_ndarray_from_data(2, dims, MXC_F32, values, &x);
    if (status == MXC_OK) /* returns at once; the engine runs the operator when x is ready */
        status = mxc_invoke("sum", 1, &x, 1, &key, &value, 1, &sums);
    if (status == MXC_OK) /* waits for sums */
        status = mxc_ndarray_print(sums, &text);
    puts(status == MXC_OK ? text : mxc_last_error());
    mxc_free(text);
    mxc_ndarray_release(sums);
    mxc_ndarray_release(x);
    return status != MXC_OK;
}

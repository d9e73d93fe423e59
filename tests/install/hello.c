/* SPDX-License-Identifier: Apache-2.0 */
/* Small program against the installed library; compiled as C and as C++. Prints ((1 2) (3 4)) + 0.5, by an operator. */
#include <stdio.h>
#include <string.h>

#include <mxc/mxc.h>

static int complain(void) {
    fprintf(stderr, "%s\n", mxc_last_error());
    return 1;
}

int main(void) {
    const int64_t dims[] = {2, 2};
    const float values[] = {1, 2, 3, 4};
    const char *const keys[] = {"scalar"}, *const texts[] = {"0.5"};
    mxc_ndarray *in = NULL, *out = NULL;
    float sums[4] = {0, 0, 0, 0};
    char *text = NULL;
    if (mxc_ndarray_from_data(2, dims, MXC_F32, values, &in) ||
        mxc_invoke("_plus_scalar", 1, &in, 1, keys, texts, 1, &out) || mxc_ndarray_print(out, &text) ||
        mxc_ndarray_get(out, sums, sizeof sums))
        return complain();
    printf("libmxc %s\n%s\n", mxc_version(), text);
    mxc_free(text);
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
    return strcmp(mxc_version(), MXC_VERSION) != 0 || sums[0] != 1.5f || sums[3] != 4.5f;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Program that asks for a GPU and prints why there is no support for it, if so. */
#include <stdio.h>

#include <mxc/mxc.h>

int main(void) {
    int n;
    return puts(mxc_device_count(MXC_GPU, &n) == MXC_OK ? "loaded" : mxc_last_error()) < 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The running library's version. */
#include <mxc/version.h>

const char *mxc_version(void) {
    return MXC_VERSION;
}

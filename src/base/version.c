/* The running library's version. */
#include <mxc/version.h>

const char *mxc_version(void) {
    return MXC_VERSION;
}

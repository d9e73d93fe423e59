/* Smallest program against the installed library; compiled as C and as C++. */
#include <stdio.h>
#include <string.h>

#include <mxc/status.h>
#include <mxc/version.h>

int main(void) {
    printf("libmxc %s, %s\n", mxc_version(), mxc_status_name(MXC_OK));
    return strcmp(mxc_version(), MXC_VERSION) != 0;
}

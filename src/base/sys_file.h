/* SPDX-License-Identifier: Apache-2.0 */
/* Files, beyond reading and writing, which base/sys.h declares. */
#ifndef MXCI_BASE_SYS_FILE_H
#define MXCI_BASE_SYS_FILE_H

#include <mxc/status.h>

/* Remove a file, which counts as a write for mxci_test_fail_write. MXC_ENOTFOUND if there is none, MXC_EIO. */
mxc_status mxci_file_remove(const char *path);

#endif

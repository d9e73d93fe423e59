/* SPDX-License-Identifier: Apache-2.0 */
/* Path parameters: one path, several separated by ;, or directories, which stand for the files in them. */
#ifndef MXCI_IO_PATH_LIST_H
#define MXCI_IO_PATH_LIST_H

#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_path_list {
    int64_t n;
    const char **path; /* in their order; those of a directory by name */
    char *text;        /* storage of the paths */
} mxci_path_list;

/* Of a directory, only files whose names have this ending are taken; "": all. Files are not opened. owner is for
 * messages. MXC_EINVAL (a path too long), MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_path_list_expand(const char *owner, const char *text, const char *ending, mxci_path_list *out);
void mxci_path_list_free(mxci_path_list *paths);

#endif

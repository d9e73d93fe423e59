/* Paths as parameters give them: one, several with ; between, or folders that stand for files in them. */
#ifndef MXCI_IO_PATH_LIST_H
#define MXCI_IO_PATH_LIST_H

#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_path_list {
    int64_t n;
    const char **path; /* in their order; those of a folder by name */
    char *text;        /* where they are */
} mxci_path_list;

/* Of a folder only files whose names end so are taken, "": all. Whether the files exist shows when they are opened.
 * owner is for messages. MXC_EINVAL (a path too long), MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_path_list_expand(const char *owner, const char *text, const char *ending, mxci_path_list *out);
void mxci_path_list_free(mxci_path_list *paths);

#endif

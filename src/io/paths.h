/* Paths as parameters give them: one, several with ; between, or folders that stand for files in them. */
#ifndef MXCI_IO_PATHS_H
#define MXCI_IO_PATHS_H

#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_paths {
    int64_t n;
    const char **path; /* in their order; those of a folder by name */
    char *text;        /* where they are */
} mxci_paths;

/* Of a folder only files whose names end so are taken, "": all. Whether the files exist shows when they are opened.
 * owner is for messages. MXC_EINVAL (a path too long), MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_paths_expand(const char *owner, const char *text, const char *ending, mxci_paths *out);
void mxci_paths_free(mxci_paths *paths);

#endif

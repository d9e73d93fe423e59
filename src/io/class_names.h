/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes and their numbers; files of class names, one per line in the order of the numbers. */
#ifndef MXCI_IO_CLASS_NAMES_H
#define MXCI_IO_CLASS_NAMES_H

#include <stdint.h>

#include "base/hash_map.h"

typedef struct mxci_class_names {
    mxci_hash_map *numbers; /* name -> number + 1 */
    int is_fixed;           /* read from a file: no more are added */
} mxci_class_names;

/* The names in a file or, if there is no such file, none yet. owner is for messages. MXC_EFORMAT (an empty or repeated
 * name, or a NUL byte), MXC_EIO, MXC_ENOMEM. The caller frees names, also on failure. */
mxc_status mxci_class_names_open(const char *owner, const char *path, mxci_class_names *out);
void mxci_class_names_free(mxci_class_names *names);
int64_t mxci_class_names_find(const mxci_class_names *names, const char *name); /* -1 if absent */
/* The number of a new name: the next one. MXC_ENOMEM. */
mxc_status mxci_class_names_add(mxci_class_names *names, const char *name, int64_t *out);
/* Sort the names, whole numbers by value and before all others, and write them to a file. new_number[i] becomes the
 * number of the class that had number i; the caller frees it with mxci_free. MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_class_names_save_sorted(const mxci_class_names *names, const char *owner, const char *path,
                                        int64_t **new_number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the formats of lists of arrays: names, host copies for writers, arrays for readers. */
#ifndef MXCI_NDARRAY_ARRAY_LIST_H
#define MXCI_NDARRAY_ARRAY_LIST_H

#include <mxc/ndarray.h>

#include "ndarray/byte_source.h"

/* Longest name in bytes. */
#define MXCI_ARRAY_NAME_MAX 65535

/* Why these bytes cannot name an array ("is not UTF-8"...); NULL if they can. */
const char *mxci_array_name_fault(const char *name, size_t bytes);
/* Set *out to a name that occurs twice, or NULL. Status: MXC_ENOMEM. */
mxc_status mxci_array_name_duplicate(int64_t n, char *const *names, const char **out);
/* Check names for a writer; names may be NULL. Status: MXC_EINVAL, MXC_EEXIST, MXC_ENOMEM. */
mxc_status mxci_array_names_check(const char *caller, int64_t n, const char *const *names);

/* A list of n NULL entries, with names or without. MXC_EFORMAT at offset at of source if a file of its size cannot
 * reasonably hold so many arrays; MXC_ENOMEM. */
mxc_status mxci_array_list_create(mxci_byte_source *source, int64_t at, uint64_t n, int named, mxc_ndarray_list *out);

/* The array, or a copy of it on cpu(0) if it is in device memory, with the address of its first element. Waits for its
 * writes. Caller releases *out. */
mxc_status mxci_array_on_host(mxc_ndarray *array, mxc_ndarray **out, void **data);
/* A new cpu(0) array for bytes bytes of a file. Large ones are allocated from the system and not from the pool, whose
 * size classes round up: readers guarantee a limit on their memory. */
mxc_status mxci_array_for_file(mxci_byte_source *source, const mxc_shape *shape, mxc_dtype dtype, size_t bytes,
                               mxc_ndarray **out);
/* Read all elements of a fresh host array from source. */
mxc_status mxci_array_read(mxci_byte_source *source, mxc_ndarray *array);
/* Make every byte of a fresh bool array 0 or 1; other dtypes stay. */
void mxci_array_normalize_bools(mxc_ndarray *array);

/* The array called prefix ("arg:" or "aux:") and name, borrowed; NULL if the list has none. */
mxc_ndarray *mxci_array_list_find(const mxc_ndarray_list *list, const char *prefix, const char *name);

#endif

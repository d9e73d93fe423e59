/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of .npz archives on any source. */
#ifndef MXCI_NDARRAY_NPZ_H
#define MXCI_NDARRAY_NPZ_H

#include <mxc/ndarray.h>

#include "ndarray/byte_source.h"

/* Why an array of this name cannot be a member ("leads out of the archive"...); NULL if it can. */
const char *mxci_npz_name_fault(const char *name);
/* As mxc_ndarray_load_npz. */
mxc_status mxci_npz_read(mxci_byte_source *source, mxc_ndarray_list *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Building lists of names. */
#ifndef MXCI_SYMBOL_NAMES_H
#define MXCI_SYMBOL_NAMES_H

#include <mxc/symbol.h>

/* Append a copy. MXC_ENOMEM. */
mxc_status mxci_names_add(mxc_names *names, const char *name);
/* Append name itself, which is freed on failure. NULL, as a failed allocation gives, is MXC_ENOMEM. */
mxc_status mxci_names_give(mxc_names *names, char *name);
/* "; there are: a, b, c, ..." cut to size, for messages; "" where there are none. */
const char *mxci_names_candidates(const mxc_names *names, char *out, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Building lists of names, and listing candidates in messages. */
#ifndef MXCI_SYMBOL_NAMES_H
#define MXCI_SYMBOL_NAMES_H

#include <mxc/symbol.h>

/* Append a copy. MXC_ENOMEM. */
mxc_status mxci_names_add(mxc_names *names, const char *name);
/* Append name itself, which is freed on failure. NULL, as a failed allocation gives, is MXC_ENOMEM. */
mxc_status mxci_names_give(mxc_names *names, char *name);
/* "; there are: a, b, c, ..." cut to size, for messages; "" where there are none. */
const char *mxci_names_candidates(const mxc_names *names, char *out, size_t size);
/* Fails with the code and '<what> is called "<name>"; there are: ...', which lists the symbol's arguments. */
mxc_status mxci_symbol_fail_unknown(const mxc_symbol *symbol, mxc_status code, const char *what, const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Failing each allocation in turn. */
#ifndef MXC_TESTS_FAIL_EACH_H
#define MXC_TESTS_FAIL_EACH_H

#include <mxc/types.h>

/* In a store of that type: one key, with a value on each of the contexts, pushed, pulled and waited for. */
void fail_each_allocation(const char *type, mxc_context a, mxc_context b);

#endif

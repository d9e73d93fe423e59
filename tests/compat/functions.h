/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of MXNet's interface, with the reason if it is refused. */
#ifndef MXC_TESTS_COMPAT_FUNCTIONS_H
#define MXC_TESTS_COMPAT_FUNCTIONS_H

#include <stddef.h>

typedef struct mxnet_function {
    const char *name;
    int (*address)(void); /* of a type of its own; those that are refused take this one */
    const char *reason;   /* "": it is supported */
} mxnet_function;

extern const mxnet_function mxnet_functions[];
extern const size_t mxnet_n_functions;

#endif

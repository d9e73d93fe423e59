/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that are not supported. They are there, so that the loader finds them, and fail with the reason. Their
 * arguments are not read: the caller of a C function removes them.
 */
int mxnet_refuse(const char *function, const char *reason);

#define PRESENT(name)
#define REFUSED(name, reason)                              \
    __attribute__((visibility("default"))) int name(void); \
    int name(void) {                                       \
        return mxnet_refuse(#name, reason);                \
    }
#include "compat/functions.def"

/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators of programs that leave out methods: the missing ones get defaults. */
#ifndef MXCI_IO_PARTIAL_ITER_H
#define MXCI_IO_PARTIAL_ITER_H

#include <mxc/io.h>

/* 1 if no method is NULL. */
int mxci_iter_methods_complete(const mxc_iter_methods *methods);

/* An iterator with all methods over one with some, at least next; see <mxc/io.h> for the defaults. Takes the first
 * batch of self if desc is NULL. Takes self over, but not if this fails. MXC_EINVAL, MXC_ENOMEM, and errors of next. */
mxc_status mxci_partial_iter_create(const mxc_iter_methods *methods, void *self, mxc_iter **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of options that begin with their size, so that a program and a library of different versions understand each
 * other: a struct grows at its end only, members that a program does not know keep their defaults, and members that the
 * library does not know must be zero.
 */
#ifndef MXCI_BASE_SIZED_H
#define MXCI_BASE_SIZED_H

#include <stddef.h>

#include <mxc/status.h>

/* What each public <struct>_init does: to has size bytes, of which known are the struct that defaults holds; what is
 * behind them becomes zero. Nothing is written behind size. Does nothing where to is NULL or lacks room for its size.
 */
void mxci_sized_init(void *to, size_t size, const void *defaults, size_t known);

/* Copy given, as large as its first member says, over out, which holds the defaults in known bytes. MXC_EINVAL: given
 * is NULL, its size is impossible, or members behind the known ones are not zero. Afterwards out has the size known. */
mxc_status mxci_sized_read(const char *caller, const char *name, const char *init, const void *given, void *out,
                           size_t known);

/* The same in a public function whose parameter is called given; init is the function to start from. */
#define MXCI_READ_SIZED(given, out, init) mxci_sized_read(__func__, #given, init, given, out, sizeof *(out))

#endif

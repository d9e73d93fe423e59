/* SPDX-License-Identifier: Apache-2.0 */
/* The address of every function of MXNet's interface, which links only where all of them are there. */
#include "functions.h"

#define PRESENT(name) int name(void);
#define REFUSED(name, reason) int name(void);
#include "compat/functions.def"
#undef PRESENT
#undef REFUSED

const mxnet_function mxnet_functions[] = {
#define PRESENT(name) {#name, name, ""},
#define REFUSED(name, reason) {#name, name, reason},
#include "compat/functions.def"
};

const size_t mxnet_n_functions = sizeof mxnet_functions / sizeof *mxnet_functions;

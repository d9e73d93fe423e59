/* SPDX-License-Identifier: Apache-2.0 */
/* Enters every built-in operator in the registry: those of operator/ and of control flow, then the element-wise ones of
 * simpleop/. Here, in the highest module that has operators. */
#include "base/sys.h"
#include "operator/registry.h"
#include "simpleop/families.h"
#include "simpleop/simple.h"

#define OP(family, symbol) extern const mxc_op_def mxci_op_##symbol;
#include "operator/op_list.def"
#include "executor/control_flow/op_list.def"
#undef OP

static const struct {
    const mxc_op_def *def;
    const char *family;
} ops[] = {
#define OP(family, symbol) {&mxci_op_##symbol, #family},
#include "operator/op_list.def"
#include "executor/control_flow/op_list.def"
#undef OP
};

static const mxc_simple_def *const simple_ops[] = {
#define SIMPLE(symbol) &mxci_simple_##symbol,
#define UNARY(id, ...) SIMPLE(id)
#define ELEMWISE(symbol, ...) SIMPLE(symbol)
#define BROADCAST(symbol, ...) SIMPLE(symbol)
#define SCALAR(symbol, ...) SIMPLE(symbol)
#include "simpleop/unary.def"
#include "simpleop/binary_names.def"
#include "simpleop/simple_list.def"
#undef SIMPLE
#undef UNARY
};

enum { SIMPLE_COUNT = sizeof simple_ops / sizeof simple_ops[0], OP_COUNT = sizeof ops / sizeof ops[0] };
static mxci_simple_op compiled[SIMPLE_COUNT]; /* filled under the registry's lock */

mxc_status mxci_register_builtin(void) {
    for (int i = 0; i < OP_COUNT; i++)
        MXC_TRY(mxci_registry_add(ops[i].def, ops[i].family));
    for (int i = 0; i < SIMPLE_COUNT; i++) {
        MXC_TRY(mxci_simple_compile(simple_ops[i], &compiled[i]));
        MXC_TRY(mxci_registry_add(&compiled[i].op, "elementwise"));
    }
    return MXC_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Counting blocks of memory where tasks of the engine also hold some. */
#ifndef MXC_TESTS_ALIVE_H
#define MXC_TESTS_ALIVE_H

#include <mxc/engine.h>

#include "base/sys.h"

/* How many are alive once the default engine has nothing left to do. */
static inline int64_t test_alive(void) {
    mxc_engine *engine;
    if (mxc_engine_default(&engine) == MXC_OK)
        MXC_IGNORE(mxc_wait_all(engine)); /* raises what an earlier test let fail */
    return mxci_alloc_live();
}

#endif

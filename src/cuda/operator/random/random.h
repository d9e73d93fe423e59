/* SPDX-License-Identifier: Apache-2.0 */
/* The random numbers of a call, for kernels. Numbers are counted, not drawn in turn (Philox, a counter-based
 * generator): number i of a call is a function of seed, stream and offset + i, so any thread computes any of them, and
 * they equal the CPU's. */
#ifndef MXCI_CUDA_OPERATOR_RANDOM_RANDOM_H
#define MXCI_CUDA_OPERATOR_RANDOM_RANDOM_H

#include <mxc/philox.h>

#include "cuda/runtime/kernel.h"

/* A captured kernel must draw other numbers at each launch of the graph, so it reads the range's start on the device;
 * `given` then counts from there. */
struct mxcu_random {
    mxc_random given;
    const mxc_random *captured; /* on the device, or NULL: not captured */

    MXCU_DEVICE mxc_random range() const {
        return captured ? mxc_random{captured->seed, captured->stream, captured->offset + given.offset} : given;
    }
    /* The bits of number i. */
    MXCU_DEVICE uint32_t operator()(uint64_t i) const {
        const mxc_random r = range();
        return mxc_philox_number(r.seed, r.stream, r.offset + i);
    }
};

/* The random numbers of a call, for its kernels' arguments. */
static inline mxcu_random mxcu_random_of(const mxc_op_call *call) {
    uint64_t begin = 0;
    mxcu_random r = {call->random, mxcu_captured_random(call, &begin)};
    r.given.offset -= begin;
    return r;
}

#endif

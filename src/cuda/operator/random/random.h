/* SPDX-License-Identifier: Apache-2.0 */
/* The random numbers of a call, for kernels. */
#ifndef MXCI_CUDA_OPERATOR_RANDOM_RANDOM_H
#define MXCI_CUDA_OPERATOR_RANDOM_RANDOM_H

#include "cuda/runtime/kernel.h"
#include "math/philox.h"

/* A captured kernel must draw other numbers at each replay, so it reads their offset on the device. */
struct mxcu_random {
    mxc_random given;
    const mxc_random *place; /* not NULL: given.offset counts from there */

    MXCU_DEVICE mxc_random range() const {
        return place ? mxc_random{place->seed, place->stream, place->offset + given.offset} : given;
    }
    /* The bits of number i. */
    MXCU_DEVICE uint32_t operator()(uint64_t i) const {
        const mxc_random r = range();
        return mxci_philox_number(r.seed, r.stream, r.offset + i);
    }
};

static inline mxcu_random mxcu_random_of(const mxc_op_call *call) {
    uint64_t begin = 0;
    mxcu_random r = {call->random, mxcu_random_place(call, &begin)};
    r.given.offset -= begin;
    return r;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finding an invalid element of an argument that only the device can read. The host waits for the device, so an
 * operator that uses this is not captured into a CUDA graph (docs/internals/cuda.md, "Operators that wait"). */
#ifndef MXCI_CUDA_RUNTIME_READBACK_H
#define MXCI_CUDA_RUNTIME_READBACK_H

#include "cuda/runtime/kernel.h"

/* The first invalid element (INT64_MAX: there is none), and two numbers for the error message. */
struct mxcu_invalid_element {
    int64_t at;
    double a, b;
};

/* *out = f.report(i) for the first i below n for which f.is_invalid(i), or at = INT64_MAX. The call's scratch begins
 * with room for an mxcu_invalid_element.
 *
 * One team searches all n elements, each thread from its last element down, so that the minimum over the team is the
 * first invalid element whatever the team's size. One team is enough: the arguments that are checked are small beside
 * the data. */
template <class F> mxc_status mxcu_find_invalid(const mxc_op_call *call, int64_t n, F f, mxcu_invalid_element *out) {
    const mxc_context host = {MXC_CPU, 0};
    mxcu_invalid_element *to = mxcu_pointer<mxcu_invalid_element>(call->temp);
    MXC_TRY(mxcu_rows(call, 1, n, [=] MXCU_LAMBDA(int64_t, mxcu_team team) {
        int64_t least = INT64_MAX;
        for (int64_t i = n - 1 - team.rank; i >= 0; i -= team.size)
            if (f.is_invalid(i))
                least = i;
        least = team.min(least);
        if (team.rank == 0)
            *to = least < INT64_MAX ? f.report(least) : mxcu_invalid_element{least, 0, 0};
    }));
    MXC_TRY(mxcu_gpu.stream_synchronize(call->run->context, call->run->stream));
    return mxcu_gpu.copy_now(host, out, call->run->context, call->temp, sizeof *out);
}

#endif

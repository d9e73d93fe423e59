/* Finding what is wrong with an argument whose elements the host does not see. It waits for the device. */
#ifndef MXCI_CUDA_RUNTIME_READBACK_H
#define MXCI_CUDA_RUNTIME_READBACK_H

#include "cuda/runtime/kernel.h"

/* The first element that is wrong, INT64_MAX if none is, and what there is to tell of it. */
struct mxcu_wrong {
    int64_t at;
    double a, b;
};

/* Find the first i below n that f.is_wrong(i), and put it into out with f.tell(i), which makes an mxcu_wrong. The
 * call's scratch begins with room for an mxcu_wrong. */
template <class F> mxc_status mxcu_find_wrong(const mxc_op_call *call, int64_t n, F f, mxcu_wrong *out) {
    const mxc_context host = {MXC_CPU, 0};
    mxcu_wrong *to = mxcu_pointer<mxcu_wrong>(call->temp);
    MXC_TRY(mxcu_rows(call, 1, n, [=] MXCU_LAMBDA(int64_t, mxcu_team team) {
        int64_t least = INT64_MAX;
        for (int64_t i = n - 1 - team.rank; i >= 0; i -= team.size)
            if (f.is_wrong(i))
                least = i;
        least = team.min(least);
        if (team.rank == 0)
            *to = least < INT64_MAX ? f.tell(least) : mxcu_wrong{least, 0, 0};
    }));
    MXC_TRY(mxcu_gpu.stream_synchronize(call->run->context, call->run->stream));
    return mxcu_gpu.copy(host, out, call->run->context, call->temp, sizeof *out, nullptr);
}

#endif

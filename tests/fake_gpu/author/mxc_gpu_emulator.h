/* SPDX-License-Identifier: Apache-2.0 */
/* What mxc/kernel.cuh takes from the GPU emulator in place of CUDA: it queues loops on the emulator's streams. */
#ifndef MXC_TESTS_FAKE_GPU_AUTHOR_MXC_GPU_EMULATOR_H
#define MXC_TESTS_FAKE_GPU_AUTHOR_MXC_GPU_EMULATOR_H

#include "../stream.h"

namespace mxc {
namespace gpu {

template <class T> T *pointer(const void *data) {
    return static_cast<T *>(fake_gpu_memory(data));
}

template <class F> struct queued_loop {
    int64_t n;
    F body;
    static void run(void *arg) {
        queued_loop *loop = static_cast<queued_loop *>(arg);
        for (int64_t i = loop->n; i-- > 0;) /* backwards, since no order is promised */
            loop->body(i);
        delete loop;
    }
};

template <class F> mxc_status for_each(const mxc_run *run, int64_t n, F body) {
    void *native;
    if (n <= 0)
        return MXC_OK;
    MXC_TRY(mxc_run_stream(run, &native));
    fake_gpu_stream *stream = static_cast<fake_gpu_stream *>(native);
    stream->queue(stream->self, queued_loop<F>::run, new queued_loop<F>{n, body});
    return MXC_OK;
}

} // namespace gpu
} // namespace mxc

#endif

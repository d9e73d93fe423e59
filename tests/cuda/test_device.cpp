/* SPDX-License-Identifier: Apache-2.0 */
/* src/cuda/nvidia/device.cu itself, on a CUDA runtime that is emulated on the host (runtime/cuda_runtime.h). */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

extern "C" {
#include <cmocka.h>
}

#include "cuda/runtime/module.h"
#include "cuda/nvidia/device.cu"

void mxcu_blas_close(struct mxcu_blas *) {
}

namespace {

enum { BYTES = 1000 };
const mxc_context gpu = {MXC_GPU, 0}, cpu = {MXC_CPU, 0};

void *block_of(char first) {
    void *block;
    char bytes[BYTES];
    memset(bytes, first, BYTES);
    assert_int_equal(mxcu_gpu.alloc(gpu, BYTES, &block), MXC_OK);
    memcpy(block, bytes, BYTES);
    return block;
}

/* Copies, and says whether all bytes have the value right after that. */
bool arrives(mxc_context to, void *destination, mxc_context from, const void *source, char value) {
    if (mxcu_gpu.copy_now(to, destination, from, source, BYTES) != MXC_OK)
        return false;
    for (int i = 0; i < BYTES; i++)
        if (static_cast<const char *>(destination)[i] != value)
            return false;
    return true;
}

/* The bytes are there on return, whichever way they go, and no stream is left behind by a thread. */
void test_copy_now(void **) {
    const int streams = emulated_count().streams;
    bool to_gpu = false, within = false, from_gpu = false;
    void *a = block_of(1), *b = block_of(2);
    int during = 0;
    std::thread([&] {
        char host[BYTES];
        memset(host, 3, BYTES);
        to_gpu = arrives(gpu, a, cpu, host, 3);
        within = arrives(gpu, b, gpu, a, 3);
        memset(b, 4, BYTES);
        from_gpu = arrives(cpu, host, gpu, b, 4);
        during = emulated_count().streams;
    }).join();
    assert_true(to_gpu);
    assert_true(within);
    assert_true(from_gpu);
    assert_int_equal(during, streams + 1); /* one for the three */
    assert_int_equal(emulated_count().streams, streams);
    mxcu_gpu.free(gpu, a, BYTES);
    mxcu_gpu.free(gpu, b, BYTES);
}

/* Nobody is told of these errors, and none is left for the check of the next launch. */
void test_errors_are_forgotten(void **) {
    const mxc_context absent = {MXC_GPU, 9};
    char stranger;
    mxcu_gpu.free(gpu, &stranger, 1);
    assert_int_equal(mxcu_launched(nullptr), MXC_OK);
    mxcu_gpu.free(absent, nullptr, 1);
    assert_int_equal(mxcu_launched(nullptr), MXC_OK);
    mxcu_pinned.free({MXC_CPU_PINNED, 0}, nullptr, 1);
    assert_int_equal(mxcu_launched(nullptr), MXC_OK);
}

void test_no_memory(void **) {
    void *block = &block;
    assert_int_equal(mxcu_gpu.alloc(gpu, (size_t)1 << 40, &block), MXC_ENOMEM);
    assert_null(block);
    assert_non_null(strstr(mxc_last_error(), "gpu(0): no memory for 1099511627776 bytes"));
    assert_int_equal(mxcu_launched(nullptr), MXC_OK);
}

/* Events are made when the ring comes to them, and used again from then on; all go with the stream. */
void test_marks(void **) {
    const emulated_counts before = emulated_count();
    uint64_t position;
    void *stream, *other;
    assert_int_equal(mxcu_gpu.stream_create(gpu, &stream), MXC_OK);
    assert_int_equal(mxcu_gpu.stream_create(gpu, &other), MXC_OK);
    assert_int_equal(emulated_count().events, before.events);
    for (int i = 0; i < 3 * MXCU_EVENTS; i++) {
        assert_int_equal(mxcu_gpu.stream_record_event(gpu, stream, &position), MXC_OK);
        assert_int_equal(mxcu_gpu.stream_wait_event(gpu, other, gpu, stream, position), MXC_OK);
        assert_int_equal(mxcu_gpu.event_synchronize(gpu, stream, position), MXC_OK);
        assert_int_equal(emulated_count().events - before.events, i < MXCU_EVENTS ? i + 1 : (int)MXCU_EVENTS);
    }
    mxcu_gpu.stream_destroy(gpu, other);
    mxcu_gpu.stream_destroy(gpu, stream);
    assert_int_equal(emulated_count().events, before.events);
    assert_int_equal(emulated_count().streams, before.streams);
}

/* A program's functions get CUDA's own stream. */
void test_native(void **) {
    void *stream, *native;
    assert_int_equal(mxcu_gpu.stream_create(gpu, &stream), MXC_OK);
    assert_int_equal(mxcu_gpu.stream_native(gpu, stream, &native), MXC_OK);
    assert_ptr_equal(native, static_cast<mxcu_stream *>(stream)->stream);
    mxcu_gpu.stream_destroy(gpu, stream);
}

/* The driver is asked once. */
void test_count(void **) {
    assert_int_equal(mxcu_gpu.count(), 2);
    const int before = emulated_count().device_counts;
    assert_int_equal(mxcu_gpu.count(), 2);
    assert_int_equal(emulated_count().device_counts, before);
}

} // namespace

int main() {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_now),  cmocka_unit_test(test_errors_are_forgotten),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_marks),
        cmocka_unit_test(test_native),    cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}

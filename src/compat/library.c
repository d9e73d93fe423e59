/* SPDX-License-Identifier: Apache-2.0 */
/* What concerns the library as a whole: version, features, random numbers, devices, the engine, NumPy's shapes. */
#include <stdatomic.h>

#include "compat/mxnet.h"

enum { VERSION = 10901 };

int MXGetVersion(int *out) {
    MXNET_NEED(out);
    *out = VERSION;
    return 0;
}

int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size) {
    static const struct LibFeature features[] = {{"CUDA", false},
                                                 {"CUDNN", false},
                                                 {"NCCL", false},
                                                 {"CUDA_RTC", false},
                                                 {"TENSORRT", false},
                                                 {"CPU_SSE", true},
                                                 {"CPU_SSE2", true},
                                                 {"CPU_SSE3", true},
                                                 {"CPU_SSE4_1", true},
                                                 {"CPU_SSE4_2", true},
                                                 {"CPU_SSE4A", false},
                                                 {"CPU_AVX", true},
                                                 {"CPU_AVX2", true},
                                                 {"OPENMP", false},
                                                 {"SSE", true},
                                                 {"F16C", true},
                                                 {"JEMALLOC", false},
                                                 {"BLAS_OPEN", true},
                                                 {"BLAS_ATLAS", false},
                                                 {"BLAS_MKL", false},
                                                 {"BLAS_APPLE", false},
                                                 {"LAPACK", true},
                                                 {"MKLDNN", false},
                                                 {"OPENCV", false},
                                                 {"CAFFE", false},
                                                 {"PROFILER", true},
                                                 {"DIST_KVSTORE", true},
                                                 {"CXX14", false},
                                                 {"INT64_TENSOR_SIZE", false},
                                                 {"SIGNAL_HANDLER", false},
                                                 {"DEBUG", false},
                                                 {"TVM_OP", false}};
    MXNET_NEED(libFeature);
    mxnet_set_version_1();
    MXNET_NEED(size);
    *libFeature = features;
    *size = sizeof features / sizeof *features;
    return 0;
}

/* Programs end in any order, so nothing may be queued when the front end's own objects are gone. */
int MXNotifyShutdown(void) {
    MXNDArrayWaitAll();
    return 0;
}

int MXRandomSeed(int seed) {
    mxc_random_seed((uint64_t)(unsigned)seed);
    return 0;
}

int MXRandomSeedContext(int seed, int dev_type, int dev_id) {
    mxc_context context;
    mxc_random state;
    MXNET_CALL(mxnet_context(dev_type, dev_id, &context));
    MXNET_TRY(mxc_random_get_state(context, &state));
    state.seed = (uint64_t)(unsigned)seed;
    state.offset = 0;
    return mxnet_result(mxc_random_set_state(context, &state));
}

/* libmxc runs a network's operators in bulk by itself; the number is kept for the front end. */
int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size) {
    static atomic_int size = 15;
    int before = atomic_exchange(&size, bulk_size);
    if (prev_bulk_size)
        *prev_bulk_size = before;
    return 0;
}

/* The number of threads is set by MXC_NUM_THREADS before the start. */
int MXSetNumOMPThreads(int thread_num) {
    return thread_num > 0 ? 0 : mxnet_fail("MXSetNumOMPThreads: %d threads", thread_num);
}

/* No device is no failure: front ends ask for the number to choose. */
int MXGetGPUCount(int *out) {
    MXNET_NEED(out);
    if (mxc_device_count(MXC_GPU, out) != MXC_OK)
        *out = 0;
    return 0;
}

int MXStorageEmptyCache(int dev_type, int dev_id) {
    mxc_context context;
    MXNET_CALL(mxnet_context(dev_type, dev_id, &context));
    return mxnet_result(mxc_storage_trim(context, 0));
}

/* ---- NumPy's shapes ---------------------------------------------------------------------------------------------- */

enum { NP_OFF = 0, NP_THREAD = 1, NP_GLOBAL = 2 };

static atomic_int global_np_shape;
static __thread int thread_np_shape;

int mxnet_is_np_shape(void) {
    return thread_np_shape || atomic_load(&global_np_shape);
}

int MXIsNumpyShape(int *curr) {
    MXNET_NEED(curr);
    *curr = atomic_load(&global_np_shape) ? NP_GLOBAL : thread_np_shape ? NP_THREAD : NP_OFF;
    return 0;
}

int MXSetIsNumpyShape(int is_np_shape, int *prev) {
    int before;
    MXIsNumpyShape(&before);
    if (is_np_shape < NP_OFF || is_np_shape > NP_GLOBAL)
        return mxnet_fail("MXSetIsNumpyShape: %d is not 0 (off), 1 (in this thread) or 2 (in all)", is_np_shape);
    atomic_store(&global_np_shape, is_np_shape == NP_GLOBAL);
    thread_np_shape = is_np_shape != NP_OFF;
    if (prev)
        *prev = before;
    return 0;
}

/* ---- environment ------------------------------------------------------------------------------------------------- */

int MXGetEnv(const char *name, const char **value) {
    MXNET_NEED(name);
    MXNET_NEED(value);
    *value = mxnet_environment(name);
    return 0;
}

int MXSetEnv(const char *name, const char *value) {
    MXNET_NEED(name);
    return mxnet_set_environment(name, value);
}

/* ---- which front end calls: 0.9.5 has not the functions that 1.9.1 calls when it is imported ------------------------
 */

static atomic_int version_1;

void mxnet_set_version_1(void) {
    atomic_store(&version_1, 1);
}

int mxnet_is_version_1(void) {
    return atomic_load(&version_1);
}

/* ---- functions of mxnet.np, of which there are none -------------------------------------------------------------- */

int MXNetFuncListGlobalNames(int *out_size, const char ***out_array) {
    MXNET_NEED(out_size);
    MXNET_NEED(out_array);
    mxnet_set_version_1();
    *out_size = 0;
    *out_array = NULL;
    return 0;
}

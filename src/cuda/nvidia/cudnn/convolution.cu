/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution by cuDNN's legacy functions (cudnnConvolution*), for runtime/dnn.h.
 *
 * For each shape, dtype and pass, cuDNN's heuristics name algorithms, of which the first four that are deterministic
 * and fit into the workspace are kept as a plan in a cache per GPU. The first run that overwrites its result and is not
 * being captured measures them, and from then on the fastest is used. A plan holds cuDNN's descriptors, so a later run
 * only passes pointers. The workspace is the call's scratch. */
#include <new>

#include "cuda/runtime/dnn.h"
#include "cuda/runtime/plan_cache.h"
#include "cuda/nvidia/cudnn/handle.h"
#include "cuda/nvidia/measure.h"

const int mxcu_has_dnn = 1;

enum { ALGORITHMS = 4, KEY = 26, SLOTS = 1024, ALIGNED = 256 }; /* ALIGNED: of the workspace, in bytes */

struct conv_algorithm {
    int algorithm; /* of the pass's own type */
    cudnnMathType_t math;
    size_t bytes; /* of scratch */
};

/* Descriptors and algorithms of one pass of one shape. Evicted plans are closed. */
struct plan {
    cudnnTensorDescriptor_t x = nullptr, y = nullptr;
    cudnnFilterDescriptor_t w = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    conv_algorithm algorithms[ALGORITHMS] = {}; /* the best first; n of them. 0: not served */
    int n = 0;
    bool measured = false;

    void close() {
        if (x)
            (void)cudnnDestroyTensorDescriptor(x);
        if (y)
            (void)cudnnDestroyTensorDescriptor(y);
        if (w)
            (void)cudnnDestroyFilterDescriptor(w);
        if (conv)
            (void)cudnnDestroyConvolutionDescriptor(conv);
    }
};

/* One run of a pass: a and b are its operands, `to` its result, in the order of mxcu_dnn_conv. */
struct conv_run {
    mxcu_conv_pass pass;
    mxc_dtype dtype;
    const void *a, *b;
    void *to, *temp;
    size_t temp_bytes;
    int add;
};

using plan_cache = mxcu_plan_cache<plan, KEY, SLOTS>;

static plan_cache *caches[MXCU_DNN_GPUS]; /* under the GPU's lock */

/* ---- making plans ------------------------------------------------------------------------------------------------ */

/* cuDNN has two spatial axes or more. mxci_conv_shape always has three, of which leading ones of size 1 are left out:
 * returns 1 for one or two axes, 0 for three. */
static int first_axis(const mxci_conv_shape &s) {
    return s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.pad[0] == 0;
}

struct tensor_sizes {
    int n, size[5];
    bool fits; /* cuDNN counts elements in 32 bits */
};

/* Sizes as cuDNN counts them: N, C and the spatial axes, for both layouts. `fits` is false for empty arrays, which
 * cuDNN refuses. */
static tensor_sizes tensor_sizes_of(int64_t outer, int64_t channels, const int64_t *axes, int first) {
    tensor_sizes d = {5 - first, {}, true};
    int64_t all[5] = {outer, channels}, product = 1;
    for (int i = first; i < 3; i++)
        all[2 + i - first] = axes[i];
    for (int i = 0; i < d.n; i++) {
        d.fits = d.fits && all[i] > 0 && all[i] < INT32_MAX / product;
        product = d.fits ? product * all[i] : 1;
        d.size[i] = (int)all[i];
    }
    return d;
}

static bool create_array_descriptors(plan *p, const mxcu_conv *c) {
    const int first = first_axis(c->s);
    const tensor_sizes x = tensor_sizes_of(c->batch, c->groups * c->s.channels, c->s.in, first);
    const tensor_sizes y = tensor_sizes_of(c->batch, c->groups * c->s.filters, c->s.out, first);
    const tensor_sizes w = tensor_sizes_of(c->groups * c->s.filters, c->s.channels, c->s.kernel, first);
    const cudnnDataType_t type = mxcu_dnn_type(c->dtype);
    const cudnnTensorFormat_t format =
        c->channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW; /* tensor_sizes are N, C, axes in both */
    return x.fits && y.fits && w.fits && mxcu_dnn_succeeded(cudnnCreateTensorDescriptor(&p->x)) &&
           mxcu_dnn_succeeded(cudnnCreateTensorDescriptor(&p->y)) &&
           mxcu_dnn_succeeded(cudnnCreateFilterDescriptor(&p->w)) &&
           mxcu_dnn_succeeded(cudnnSetTensorNdDescriptorEx(p->x, format, type, x.n, x.size)) &&
           mxcu_dnn_succeeded(cudnnSetTensorNdDescriptorEx(p->y, format, type, y.n, y.size)) &&
           mxcu_dnn_succeeded(cudnnSetFilterNdDescriptor(p->w, type, format, w.n, w.size));
}

/* Cross-correlation is what deep learning calls convolution. The compute type is float32, for float64 data float64. */
static bool create_conv_descriptor(plan *p, const mxcu_conv *c) {
    int pad[3], stride[3], dilate[3];
    const int first = first_axis(c->s);
    for (int i = first; i < 3; i++) {
        pad[i - first] = (int)c->s.pad[i];
        stride[i - first] = (int)c->s.stride[i];
        dilate[i - first] = (int)c->s.dilate[i];
    }
    return mxcu_dnn_succeeded(cudnnCreateConvolutionDescriptor(&p->conv)) &&
           mxcu_dnn_succeeded(
               cudnnSetConvolutionNdDescriptor(p->conv, 3 - first, pad, stride, dilate, CUDNN_CROSS_CORRELATION,
                                               c->dtype == MXC_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)) &&
           mxcu_dnn_succeeded(cudnnSetConvolutionGroupCount(p->conv, (int)c->groups)) &&
           mxcu_dnn_succeeded(cudnnSetConvolutionMathType(p->conv, mxcu_dnn_math(c->dtype)));
}

/* Keep the first algorithms found that are deterministic (no atomics), so that a process gets the same result every
 * time, and whose workspace is allowed. Where TF32 is not allowed, FMA math replaces whatever the heuristics
 * propose. */
template <class Found> static void keep_usable(plan *p, const mxcu_conv *c, const Found *found, int n) {
    const bool is_exact = mxcu_dnn_math(c->dtype) == CUDNN_FMA_MATH;
    for (int i = 0; i < n && p->n < ALGORITHMS; i++)
        if (mxcu_dnn_succeeded(found[i].status) && found[i].determinism == CUDNN_DETERMINISTIC &&
            found[i].memory <= (size_t)c->workspace)
            p->algorithms[p->n++] = {(int)found[i].algo, is_exact ? CUDNN_FMA_MATH : found[i].mathType,
                                     found[i].memory};
}

/* Fill in the plan's algorithms, in the order of the heuristics. The three functions differ only in types. */
static void query_heuristics(cudnnHandle_t handle, plan *p, const mxcu_conv *c, mxcu_conv_pass pass) {
    enum { MOST = 2 * CUDNN_CONVOLUTION_FWD_ALGO_COUNT }; /* with tensor cores and without; no pass has more */
    cudnnConvolutionFwdAlgoPerf_t forward[MOST];
    cudnnConvolutionBwdDataAlgoPerf_t data[MOST];
    cudnnConvolutionBwdFilterAlgoPerf_t weight[MOST];
    int n = 0;
    if (pass == MXCU_CONV_FORWARD && mxcu_dnn_succeeded(cudnnGetConvolutionForwardAlgorithm_v7(
                                         handle, p->x, p->w, p->conv, p->y, MOST, &n, forward)))
        keep_usable(p, c, forward, n);
    if (pass == MXCU_CONV_DATA && mxcu_dnn_succeeded(cudnnGetConvolutionBackwardDataAlgorithm_v7(
                                      handle, p->w, p->y, p->conv, p->x, MOST, &n, data)))
        keep_usable(p, c, data, n);
    if (pass == MXCU_CONV_WEIGHT && mxcu_dnn_succeeded(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                                        handle, p->x, p->y, p->conv, p->w, MOST, &n, weight)))
        keep_usable(p, c, weight, n);
}

/* The plan, made if it is new, under the GPU's lock, which also protects it from eviction until the run is queued. A
 * plan without algorithms is kept too: "not served". NULL: no memory for the cache. */
static plan *plan_of(mxcu_dnn *d, const mxcu_conv *c, mxcu_conv_pass pass) {
    int64_t key[KEY] = {c->batch, c->groups, c->dtype, pass, c->workspace, c->channels_last};
    int known;
    plan *p;
    static_assert(sizeof key == sizeof c->s + 6 * sizeof *key, "a key has room for the shape and six numbers");
    memcpy(key + 6, &c->s, sizeof c->s);
    if (!caches[d->id])
        caches[d->id] = new (std::nothrow) plan_cache;
    if (!caches[d->id])
        return nullptr;
    p = caches[d->id]->find(key, &known);
    if (!known && create_array_descriptors(p, c) && create_conv_descriptor(p, c))
        query_heuristics(d->handle, p, c, pass);
    return p;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Queue the pass: to = result + add * to. Scaling factors are double for float64, else float. */
static cudnnStatus_t run(cudnnHandle_t handle, const plan *p, const conv_algorithm &algo, const conv_run &k) {
    const double one = 1, beta = k.add;
    const float one_f = 1, beta_f = (float)k.add;
    const bool is_double = k.dtype == MXC_F64;
    const void *alpha = is_double ? (const void *)&one : &one_f, *add = is_double ? (const void *)&beta : &beta_f;
    cudnnStatus_t status = cudnnSetConvolutionMathType(p->conv, algo.math);
    if (!mxcu_dnn_succeeded(status))
        return status;
    switch (k.pass) {
    case MXCU_CONV_FORWARD:
        return cudnnConvolutionForward(handle, alpha, p->x, k.a, p->w, k.b, p->conv,
                                       (cudnnConvolutionFwdAlgo_t)algo.algorithm, k.temp, algo.bytes, add, p->y, k.to);
    case MXCU_CONV_DATA:
        return cudnnConvolutionBackwardData(handle, alpha, p->w, k.b, p->y, k.a, p->conv,
                                            (cudnnConvolutionBwdDataAlgo_t)algo.algorithm, k.temp, algo.bytes, add,
                                            p->x, k.to);
    default:
        return cudnnConvolutionBackwardFilter(handle, alpha, p->x, k.a, p->y, k.b, p->conv,
                                              (cudnnConvolutionBwdFilterAlgo_t)algo.algorithm, k.temp, algo.bytes, add,
                                              p->w, k.to);
    }
}

/* Leave in the plan only the fastest algorithm that runs; none: n = 0. Waits for the stream, under the GPU's lock. */
static void measure(cudnnHandle_t handle, cudaStream_t stream, plan *p, const conv_run &k) {
    const int found = mxcu_fastest(stream, p->n, [&](int i) {
        return p->algorithms[i].bytes <= k.temp_bytes && mxcu_dnn_succeeded(run(handle, p, p->algorithms[i], k));
    });
    p->algorithms[0] = p->algorithms[found < 0 ? 0 : found];
    p->n = found >= 0;
    p->measured = true;
}

/* By the first algorithm that has room and runs; 0: none does, and nothing was queued. The scratch may be smaller than
 * the plan's largest workspace where the plan was made anew after the scratch was measured. */
static int run_first(cudnnHandle_t handle, plan *p, const conv_run &k) {
    for (int i = 0; i < p->n; i++)
        if (p->algorithms[i].bytes <= k.temp_bytes && mxcu_dnn_succeeded(run(handle, p, p->algorithms[i], k)))
            return 1;
    (void)cudaGetLastError(); /* of algorithms that failed */
    return 0;
}

/* cuDNN's kernels load 16 bytes at a time; views of arrays may begin anywhere. */
static bool is_aligned(const conv_run &k) {
    return (((uintptr_t)k.a | (uintptr_t)k.b | (uintptr_t)k.to) & 15) == 0;
}

/* The call's scratch may begin anywhere; the workspace is what is left of it behind the first multiple of ALIGNED. */
static conv_run conv_run_of(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a,
                            const void *b, void *to, int add) {
    const uintptr_t temp = (uintptr_t)call->temp, skip = -temp & (ALIGNED - 1);
    const size_t rest = call->temp_bytes > skip ? call->temp_bytes - skip : 0;
    return {pass, c->dtype, a, b, to, rest ? (void *)(temp + skip) : nullptr, rest, add};
}

mxc_status mxcu_dnn_conv(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                         void *to, int add, int *served) {
    std::unique_lock<std::mutex> held;
    cudaStream_t stream;
    mxcu_dnn *d = mxcu_dnn_take_for(call, &held, &stream);
    plan *p = d ? plan_of(d, c, pass) : nullptr;
    const conv_run k = conv_run_of(call, c, pass, a, b, to, add);
    *served = 0;
    if (!p || !is_aligned(k))
        return MXC_OK;
    if (c->library == 2 && !p->measured && p->n > 1 && !add && !mxcu_is_capturing(call))
        measure(d->handle, stream, p, k);
    *served = run_first(d->handle, p, k);
    return MXC_OK;
}

/* The largest workspace of the plan, since the algorithms are still to be measured, and room for its alignment. */
size_t mxcu_dnn_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass) {
    std::unique_lock<std::mutex> held;
    mxcu_dnn *d = mxcu_dnn_take(context.id, &held);
    const plan *p = d ? plan_of(d, c, pass) : nullptr;
    size_t most = 0;
    for (int i = 0; p && i < p->n; i++)
        most = p->algorithms[i].bytes > most ? p->algorithms[i].bytes : most;
    return p && p->n ? most + ALIGNED : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* RNN by cuDNN (runtime/dnn.h). The operator's vector of parameters is cuDNN's weight space: W and R of each layer and
 * direction, then all biases, with the gates in the same order. cuDNN does not document the packing, so a plan is made
 * only if cuDNN reports for every matrix and bias the offset that the operator uses. */
#include <new>
#include <vector>

#include "cuda/runtime/dnn.h"
#include "cuda/runtime/plan_cache.h"
#include "cuda/nvidia/cudnn/handle.h"
#include "operator/nn/rnn.h"

enum { KEY = 8, SLOTS = 64 };

/* Descriptors of an RNN of one shape, and what cuDNN needs for it. close destroys them when the plan is evicted. */
struct plan {
    cudnnDropoutDescriptor_t dropout = nullptr;
    cudnnRNNDescriptor_t rnn = nullptr;
    cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
    cudnnTensorDescriptor_t state = nullptr;
    size_t temp[2] = {}, reserve = 0, weights = 0; /* bytes; temp by cudnnForwardMode_t */
    bool served = false;

    void close() {
        if (dropout)
            (void)cudnnDestroyDropoutDescriptor(dropout);
        if (rnn)
            (void)cudnnDestroyRNNDescriptor(rnn);
        if (x)
            (void)cudnnDestroyRNNDataDescriptor(x);
        if (y)
            (void)cudnnDestroyRNNDataDescriptor(y);
        if (state)
            (void)cudnnDestroyTensorDescriptor(state);
    }
};

using plan_cache = mxcu_plan_cache<plan, KEY, SLOTS>;

static plan_cache *caches[MXCU_DNN_GPUS]; /* under the GPU's lock */

/* ---- making plans ------------------------------------------------------------------------------------------------ */

static cudnnRNNMode_t mode_of(int mode) {
    return mode == MXCI_RNN_LSTM   ? CUDNN_LSTM
           : mode == MXCI_RNN_GRU  ? CUDNN_GRU
           : mode == MXCI_RNN_RELU ? CUDNN_RNN_RELU
                                   : CUDNN_RNN_TANH;
}

static int gates_of(int mode) {
    return mode == MXCI_RNN_LSTM ? 4 : mode == MXCI_RNN_GRU ? 3 : 1;
}

/* Whether all sizes, and the elements of every array, fit into the 32 bits that cuDNN counts in. */
static bool fits(const mxcu_dnn_rnn *r) {
    const double width = (double)(r->inputs > r->h * r->directions ? r->inputs : r->h * r->directions);
    return (double)r->t * (double)r->n * width < INT32_MAX && (double)r->h * gates_of(r->mode) * width < INT32_MAX &&
           (double)r->layers * r->directions * r->n * r->h < INT32_MAX;
}

/* Standard algorithm, two biases (of W and of R) and sequences of one length: what the operator computes. The dropout
 * descriptor is required by cuDNN; it drops nothing. */
static bool create_rnn_descriptor(mxcu_dnn *d, plan *p, const mxcu_dnn_rnn *r) {
    return mxcu_dnn_succeeded(cudnnCreateDropoutDescriptor(&p->dropout)) &&
           mxcu_dnn_succeeded(cudnnSetDropoutDescriptor(p->dropout, d->handle, 0, nullptr, 0, 0)) &&
           mxcu_dnn_succeeded(cudnnCreateRNNDescriptor(&p->rnn)) &&
           mxcu_dnn_succeeded(cudnnSetRNNDescriptor_v8(
               p->rnn, CUDNN_RNN_ALGO_STANDARD, mode_of(r->mode), CUDNN_RNN_DOUBLE_BIAS,
               r->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
               mxcu_dnn_type(r->dtype), r->dtype == MXC_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
               mxcu_dnn_math(r->dtype), (int32_t)r->inputs, (int32_t)r->h, (int32_t)r->h, (int32_t)r->layers,
               p->dropout, CUDNN_RNN_PADDED_IO_DISABLED));
}

/* (T,N,width), T steps of every sequence. */
static bool create_sequence_descriptor(cudnnRNNDataDescriptor_t *to, const mxcu_dnn_rnn *r, int64_t width) {
    const std::vector<int> lengths((size_t)r->n, (int)r->t);
    return mxcu_dnn_succeeded(cudnnCreateRNNDataDescriptor(to)) &&
           mxcu_dnn_succeeded(cudnnSetRNNDataDescriptor(*to, mxcu_dnn_type(r->dtype),
                                                        CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, (int)r->t, (int)r->n,
                                                        (int)width, lengths.data(), nullptr));
}

static bool create_array_descriptors(plan *p, const mxcu_dnn_rnn *r) {
    const int size[3] = {(int)(r->layers * r->directions), (int)r->n, (int)r->h};
    const int step[3] = {size[1] * size[2], size[2], 1};
    return create_sequence_descriptor(&p->x, r, r->inputs) &&
           create_sequence_descriptor(&p->y, r, r->directions * r->h) &&
           mxcu_dnn_succeeded(cudnnCreateTensorDescriptor(&p->state)) &&
           mxcu_dnn_succeeded(cudnnSetTensorNdDescriptor(p->state, mxcu_dnn_type(r->dtype), 3, size, step));
}

/* Bytes of scratch of inference and training, of the reserve space and of the weight space. */
static bool query_sizes(mxcu_dnn *d, plan *p) {
    size_t none;
    return mxcu_dnn_succeeded(cudnnGetRNNTempSpaceSizes(d->handle, p->rnn, CUDNN_FWD_MODE_INFERENCE, p->x,
                                                        &p->temp[CUDNN_FWD_MODE_INFERENCE], &none)) &&
           mxcu_dnn_succeeded(cudnnGetRNNTempSpaceSizes(d->handle, p->rnn, CUDNN_FWD_MODE_TRAINING, p->x,
                                                        &p->temp[CUDNN_FWD_MODE_TRAINING], &p->reserve)) &&
           mxcu_dnn_succeeded(cudnnGetRNNWeightSpaceSize(d->handle, p->rnn, &p->weights));
}

/* Where the operator has the parameters. */
static mxci_rnn_dims dims_of(const mxcu_dnn_rnn *r) {
    mxci_rnn_dims d = {};
    d.i = r->inputs, d.h = d.hidden = r->h;
    d.layers = r->layers, d.directions = r->directions;
    d.gates = gates_of(r->mode);
    d.width = r->directions * r->h;
    return d;
}

/* Whether the matrix and the bias of gate g, of W (which 0) or R (1), have in cuDNN's weight space the offsets that
 * they have in the operator's parameters. */
static bool has_same_offset(mxcu_dnn *d, const plan *p, const mxcu_dnn_rnn *r, int64_t layer, int direction, int which,
                            int64_t g, cudnnTensorDescriptor_t scratch[2]) {
    char *const base =
        reinterpret_cast<char *>((uintptr_t)1 << 32); /* never read: only differences of addresses matter */
    const mxci_rnn_dims dims = dims_of(r);
    const int64_t bytes = r->dtype == MXC_F64 ? 8 : r->dtype == MXC_F32 ? 4 : 2;
    const int64_t row = which ? r->h : mxci_rnn_inputs_of(&dims, layer);
    void *matrix = nullptr, *bias = nullptr;
    return mxcu_dnn_succeeded(cudnnGetRNNWeightParams(d->handle, p->rnn, (int32_t)(layer * r->directions + direction),
                                                      p->weights, base, (int32_t)(which * dims.gates + g), scratch[0],
                                                      &matrix, scratch[1], &bias)) &&
           matrix == base + bytes * (mxci_rnn_weight_at(&dims, layer, direction, which) + g * r->h * row) &&
           bias == base + bytes * (mxci_rnn_bias_at(&dims, layer, direction, which) + g * r->h);
}

/* The same for all layers, directions and gates. all: pseudo-layers (layer and direction) times W and R times gates. */
static bool has_same_packing(mxcu_dnn *d, const plan *p, const mxcu_dnn_rnn *r) {
    cudnnTensorDescriptor_t scratch[2] = {nullptr, nullptr};
    const int64_t gates = gates_of(r->mode), all = r->layers * r->directions * 2 * gates;
    bool alike = mxcu_dnn_succeeded(cudnnCreateTensorDescriptor(&scratch[0])) &&
                 mxcu_dnn_succeeded(cudnnCreateTensorDescriptor(&scratch[1]));
    for (int64_t i = 0; alike && i < all; i++) {
        const int64_t which = i / gates, pseudo = which / 2;
        alike = has_same_offset(d, p, r, pseudo / r->directions, (int)(pseudo % r->directions), (int)(which % 2),
                                i % gates, scratch);
    }
    for (cudnnTensorDescriptor_t descriptor : scratch)
        if (descriptor)
            (void)cudnnDestroyTensorDescriptor(descriptor);
    return alike;
}

/* The plan, made if it is new; NULL: not served. Under the GPU's lock. */
static const plan *plan_of(mxcu_dnn *d, const mxcu_dnn_rnn *r) {
    const int64_t key[KEY] = {r->mode, r->t, r->n, r->inputs, r->h, r->layers, r->directions, r->dtype};
    int known;
    plan *p;
    if (!caches[d->id])
        caches[d->id] = new (std::nothrow) plan_cache;
    if (!caches[d->id])
        return nullptr;
    p = caches[d->id]->find(key, &known);
    if (!known)
        p->served = fits(r) && create_rnn_descriptor(d, p, r) && create_array_descriptors(p, r) && query_sizes(d, p) &&
                    has_same_packing(d, p, r);
    return p->served ? p : nullptr;
}

int mxcu_dnn_rnn_serves(mxc_context context, const mxcu_dnn_rnn *r, size_t *temp, size_t *reserve) {
    std::unique_lock<std::mutex> held;
    mxcu_dnn *d = mxcu_dnn_take(context.id, &held);
    const plan *p = d ? plan_of(d, r) : nullptr;
    if (!p)
        return 0;
    *temp = p->temp[0] > p->temp[1] ? p->temp[0] : p->temp[1];
    *reserve = p->reserve;
    return 1;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static mxc_status check(cudnnStatus_t status, const char *what) {
    return mxcu_dnn_succeeded(status) ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s: %s", what, cudnnGetErrorString(status));
}

/* The handle on the call's stream and the plan, which mxcu_dnn_rnn_serves has found before. */
static mxc_status plan_for(const mxc_op_call *call, const mxcu_dnn_rnn *r, std::unique_lock<std::mutex> *held,
                           mxcu_dnn **d, const plan **p) {
    cudaStream_t stream;
    *d = mxcu_dnn_take_for(call, held, &stream);
    *p = *d ? plan_of(*d, r) : nullptr;
    return *p ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "RNN: cuDNN no longer serves what it served before");
}

mxc_status mxcu_dnn_rnn_forward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a) {
    const cudnnForwardMode_t mode = a->reserve ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
    std::unique_lock<std::mutex> held;
    mxcu_dnn *d;
    const plan *p;
    MXC_TRY(plan_for(call, r, &held, &d, &p));
    return check(cudnnRNNForward(d->handle, p->rnn, mode, nullptr, p->x, a->x, p->y, a->y, p->state, a->hx, a->hy,
                                 p->state, a->cx, a->cy, p->weights, a->weight, p->temp[mode], a->temp,
                                 a->reserve ? p->reserve : 0, a->reserve),
                 "cudnnRNNForward");
}

/* Two calls: the gradients of data and states, which also prepares the reserve space for the second, the gradient of
 * the weights. CUDNN_WGRAD_MODE_ADD is the only mode; the caller has set dweight to 0 or wants a sum. */
mxc_status mxcu_dnn_rnn_backward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a) {
    std::unique_lock<std::mutex> held;
    mxcu_dnn *d;
    const plan *p;
    MXC_TRY(plan_for(call, r, &held, &d, &p));
    MXC_TRY(check(cudnnRNNBackwardData_v8(d->handle, p->rnn, nullptr, p->y, a->y, a->dy, p->x, a->dx, p->state, a->hx,
                                          a->dhy, a->dhx, p->state, a->cx, a->dcy, a->dcx, p->weights, a->weight,
                                          p->temp[CUDNN_FWD_MODE_TRAINING], a->temp, p->reserve, a->reserve),
                  "cudnnRNNBackwardData_v8"));
    if (!a->dweight)
        return MXC_OK;
    return check(cudnnRNNBackwardWeights_v8(d->handle, p->rnn, CUDNN_WGRAD_MODE_ADD, nullptr, p->x, a->x, p->state,
                                            a->hx, p->y, a->y, p->weights, a->dweight, p->temp[CUDNN_FWD_MODE_TRAINING],
                                            a->temp, p->reserve, a->reserve),
                 "cudnnRNNBackwardWeights_v8");
}

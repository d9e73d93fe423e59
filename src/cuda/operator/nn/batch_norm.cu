/* SPDX-License-Identifier: Apache-2.0 */
/* BatchNorm for both layouts. Three parts, all bound by memory: a reduction to the sums of each channel (reduce.h); the
 * coefficients of each channel, computed where the reduction stores its result; and a thread per element for the rest.
 * Scratch: three numbers of the compute type for each channel, then the reduction's. */
#include "operator/nn/batch_norm.h"

#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"

enum { DATA, GAMMA, BETA };
enum { OUT, MEAN, VAR };
enum { MOVING_MEAN, MOVING_VAR };

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static int axis_of(const void *params, const mxc_shape *data) {
    return mxci_bn_axis(static_cast<const mxci_bn_params *>(params), data->ndim);
}

/* The channel of each element of (N, C, D): a stride of 1 along C, else 0. */
static mxcu_strided_iterator channel_iterator(const mxc_shape *data, int axis) {
    const int64_t dim[3] = {mxcu_product(data, 0, axis), data->dim[axis], mxcu_product(data, axis + 1, data->ndim)};
    const int64_t step[3] = {0, 1, 0};
    mxci_strided strides;
    mxci_strided_set(&strides, 3, dim, step);
    return mxcu_iterate(&strides);
}

static size_t coefficient_bytes(const mxc_shape *gamma) {
    return mxci_size_align(mxci_size_of(gamma->dim[0], 3 * sizeof(double)));
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    mxcu_reduction plan = mxcu_plan_channels(data, axis_of(sig->params, data));
    return mxci_size_add(coefficient_bytes(&sig->in_shape[GAMMA]), mxcu_reduction_bytes(&plan, sizeof(mxcu_pair)));
}

static void *reduction_temp(const mxc_op_call *call) {
    return static_cast<char *>(call->temp) + coefficient_bytes(&call->in[GAMMA].shape);
}

/* Statistics of the batch in training, unless use_global_stats. */
static int uses_batch(const mxc_op_call *call) {
    return call->is_train && !static_cast<const mxci_bn_params *>(call->params)->use_global_stats;
}

namespace {

/* The gradient of the norm's output: where a ReLU follows, 0 unless the ReLU's output y is above 0. */
template <class T> struct output_gradient {
    mxcu_in<T> dy, y;
    int relu;
    MXCU_DEVICE mxcu_compute_t<T> operator[](int64_t i) const {
        return relu && y[i] <= 0 ? 0 : dy[i];
    }
};

/* y = scale (x - mean) + offset of each channel, mean as the compute type has it. */
template <class C> struct coefficients { C scale, mean, offset; };

/* The type of statistics: float for 16-bit data. */
template <class T> struct statistic { using type = mxcu_compute_t<T>; };

/* A result that may not be wanted (NULL) or may be added to. */
template <class P> MXCU_DEVICE void put_if(P *to, int add, int64_t i, double value) {
    if (to)
        to[i] = (P)(add ? (double)to[i] + value : value);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* The reduction of forward: sums of x and x^2, relative to the channel's first element, so that no digits are lost
 * where the mean is far from 0. put updates the moving statistics and computes the coefficients; it is called once per
 * channel, by one thread. */
template <class T> struct moments : mxcu_pair_sum {
    using P = typename statistic<T>::type;
    mxcu_in<T> x;
    mxcu_strided_iterator channel;
    int64_t count, inner;
    int by_batch, fix_gamma, add_mean, add_var;
    double eps, keep;
    const P *gamma, *beta;
    P *moving_mean, *moving_var, *mean, *var; /* mean and var NULL where they are not wanted */
    coefficients<P> *to;
    /* About the channel's first element, so that no digits are lost where the mean is far from 0. */
    MXCU_DEVICE double origin(int64_t c) const {
        return (double)x[c * inner];
    }
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        const double v = (double)x[i] - origin(channel(i));
        return {a.a + v, a.b + v * v};
    }
    MXCU_DEVICE void put(int64_t c, sum a) const {
        double m = (double)moving_mean[c], v = (double)moving_var[c];
        if (by_batch) {
            const double apart = a.a / (double)count, spread = a.b / (double)count - apart * apart;
            moving_mean[c] = (P)(keep * m + (1 - keep) * (origin(c) + apart));
            m = origin(c) + apart;
            moving_var[c] = (P)(keep * v + (1 - keep) * (spread < 0 ? 0 : spread));
            v = spread < 0 ? 0 : spread;
        }
        put_if(mean, add_mean, c, m);
        put_if(var, add_var, c, 1 / sqrt(v + eps));
        const double scale = (fix_gamma ? 1 : (double)gamma[c]) / sqrt(v + eps);
        to[c] = {(P)scale, (P)m, (P)((double)beta[c] - scale * (m - (double)(P)m))};
    }
};

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* With s = gamma / sqrt(var + eps), m elements and h = 1 / (var + eps):
 *   batch statistics:   dx = s (dy - sum(dy) / m - (x - mean) h sum(dy (x - mean)) / m)
 *   moving statistics:  dx = s dy
 *   dgamma = sum(dy (x - mean)) sqrt(h), dbeta = sum(dy) */
template <class T> struct gradient_sums : mxcu_pair_sum {
    using P = typename statistic<T>::type;
    mxcu_in<T> x;
    output_gradient<T> dy;
    mxcu_strided_iterator channel;
    int64_t count;
    int by_batch, fix_gamma, add_gamma, add_beta;
    const P *gamma, *mean, *var;
    P *gamma_grad, *beta_grad; /* or NULL */
    coefficients<P> *to;       /* dx = scale dy + mean (x - the mean) + offset */
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        const double g = (double)dy[i];
        return {a.a + g, a.b + g * ((double)x[i] - (double)mean[channel(i)])};
    }
    MXCU_DEVICE void put(int64_t c, sum a) const {
        const double factor = (double)var[c], s = fix_gamma ? factor : (double)gamma[c] * factor;
        const double b = by_batch ? -s * a.b * factor * factor / (double)count : 0;
        to[c] = {(P)s, (P)b, (P)(by_batch ? -s * a.a / (double)count : 0)};
        put_if(gamma_grad, add_gamma, c, fix_gamma ? 0 : a.b * factor);
        put_if(beta_grad, add_beta, c, a.a);
    }
};

} // namespace

/* ---- runs -------------------------------------------------------------------------------------------------------- */

template <class P> static P *wanted(const mxc_op_call *call, const mxc_tensor *t, int i) {
    return call->req[i] == MXC_REQ_NULL ? nullptr : mxcu_pointer<P>(t->data);
}

/* Without a batch the reduction is over nothing: only put is called. */
static mxcu_reduction plan_of(const mxc_op_call *call, int by_batch) {
    const mxc_shape *data = &call->in[DATA].shape;
    mxcu_reduction plan = mxcu_plan_channels(data, axis_of(call->params, data));
    if (!by_batch)
        mxcu_plan_nothing(&plan);
    return plan;
}

/* The reduction (in inference over nothing, only for the coefficients), then y = scale (x - mean) + offset. */
template <class T> static mxc_status forward_run(const mxc_op_call *call, int relu) {
    using P = typename statistic<T>::type;
    const mxci_bn_params *p = static_cast<const mxci_bn_params *>(call->params);
    const mxc_shape *data = &call->in[DATA].shape;
    const int axis = axis_of(p, data);
    const int64_t count = data->dim[axis] ? mxcu_size(&call->in[DATA]) / data->dim[axis] : 0;
    const int by_batch = uses_batch(call) && count > 0;
    mxcu_reduction plan = plan_of(call, by_batch);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_strided_iterator channel = channel_iterator(data, axis);
    moments<T> r = {
        {},
        x,
        channel,
        count,
        mxcu_product(data, axis + 1, data->ndim),
        by_batch,
        p->fix_gamma,
        call->req[MEAN] == MXC_REQ_ADD,
        call->req[VAR] == MXC_REQ_ADD,
        p->eps,
        p->momentum,
        mxcu_pointer<const P>(call->in[GAMMA].data),
        mxcu_pointer<const P>(call->in[BETA].data),
        mxcu_pointer<P>(call->aux[MOVING_MEAN].data),
        mxcu_pointer<P>(call->aux[MOVING_VAR].data),
        wanted<P>(call, &call->out[MEAN], MEAN),
        wanted<P>(call, &call->out[VAR], VAR),
        mxcu_temp<coefficients<P>>(call, 0),
    };
    const coefficients<P> *found = r.to;
    MXC_TRY(mxcu_reduce(call, &plan, r, reduction_temp(call)));
    if (call->req[OUT] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT);
    return mxcu_for(call, mxcu_size(&call->out[OUT]), [=] MXCU_LAMBDA(int64_t i) {
        const coefficients<P> k = found[channel(i)];
        const mxcu_compute_t<T> value = k.scale * (x[i] - k.mean) + k.offset;
        y.put(i, relu && value < 0 ? 0 : value);
    });
}

/* Reduces dy and dy (x - mean) per channel, then computes dx element by element. The sums come first, since dx may take
 * out_grad's memory. */
template <class T> static mxc_status backward_run(const mxc_op_call *call, int relu) {
    using P = typename statistic<T>::type;
    const mxci_bn_params *p = static_cast<const mxci_bn_params *>(call->params);
    const mxc_shape *data = &call->in[DATA].shape;
    const int axis = axis_of(p, data);
    const int64_t count = data->dim[axis] ? mxcu_size(&call->in[DATA]) / data->dim[axis] : 0;
    mxcu_reduction plan = mxcu_plan_channels(data, axis);
    mxcu_strided_iterator channel = channel_iterator(data, axis);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    output_gradient<T> dy = {mxcu_data<T>(&call->out_grad[OUT]), mxcu_data<T>(&call->out[OUT]), relu};
    gradient_sums<T> r = {
        {},
        x,
        dy,
        channel,
        count,
        uses_batch(call) && count > 0,
        p->fix_gamma,
        call->req[GAMMA] == MXC_REQ_ADD,
        call->req[BETA] == MXC_REQ_ADD,
        mxcu_pointer<const P>(call->in[GAMMA].data),
        mxcu_pointer<const P>(call->out[MEAN].data),
        mxcu_pointer<const P>(call->out[VAR].data),
        wanted<P>(call, &call->in_grad[GAMMA], GAMMA),
        wanted<P>(call, &call->in_grad[BETA], BETA),
        mxcu_temp<coefficients<P>>(call, 0),
    };
    const coefficients<P> *found = r.to;
    const P *mean = r.mean;
    MXC_TRY(mxcu_reduce(call, &plan, r, reduction_temp(call)));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t c = channel(i);
        const coefficients<P> k = found[c];
        dx.put(i, k.scale * dy[i] + (k.mean * (x[i] - mean[c]) + k.offset));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, forward_run, call, 0)
}

static mxc_status backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, backward_run, call, 0)
}

static mxc_status relu_forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, forward_run, call, 1)
}

static mxc_status relu_backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, backward_run, call, 1)
}

static mxc_status sync_forward(const mxc_op_call *call) {
    MXC_TRY(mxci_sync_bn_check(call));
    return forward(call);
}

MXCU_OP_IMPLS(batch_norm, {"BatchNorm", forward, backward, temp_bytes},
              {"_contrib_BatchNormWithReLU", relu_forward, relu_backward, temp_bytes},
              {"_contrib_SyncBatchNorm", sync_forward, backward, temp_bytes})

/* SPDX-License-Identifier: Apache-2.0 */
/* softmax, log_softmax and softmin, and the passes of all operators that contain a softmax (nn/softmax.h). A row of
 * neighbouring elements has a team; along another axis each thread has a row, so that neighbouring threads read
 * neighbours. A row is read three times forward (maximum, sum, result), twice backward; the caches serve the
 * repeats. */
#include "cuda/operator/nn/softmax.h"

#include "cuda/runtime/gradient.h"
#include "cuda/runtime/math.h"
#include "operator/nn/softmax.h"

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

namespace {

/* Both passes over row number `row` of outer * inner rows. */
template <class T> struct pass {
    using C = mxcu_compute_t<T>;
    mxcu_softmax s;
    mxcu_in<T> x, dy, y;
    mxcu_out<T> to;

    /* The elements of a row that take part are among the first count; at: where the row begins. */
    MXCU_DEVICE int64_t count_of(int64_t row) const {
        if (s.visible.kind != mxcu_visible::LENGTH)
            return s.k;
        int64_t n = s.visible.by.template as<int64_t>(row);
        return n < 0 ? 0 : n > s.k ? s.k : n;
    }
    /* Whether element i of a row takes part. */
    MXCU_DEVICE bool shows(int64_t i, int64_t count, int64_t element) const {
        return i < count && (s.visible.kind != mxcu_visible::MASK || s.visible.by.truth(s.visible.iterator(element)));
    }

    /* The maximum is subtracted before exp, so that nothing overflows. A NaN makes the whole row NaN. */
    template <class Team> MXCU_DEVICE void forward(int64_t row, const Team &team) const {
        const int64_t at = row / s.inner * s.k * s.inner + row % s.inner, count = count_of(row);
        const C scale = (C)s.scale, lowest = -INFINITY;
        C most = lowest, sum = 0;
        for (int64_t i = team.rank; i < count; i += team.size) {
            C z = shows(i, count, at + i * s.inner) ? x[at + i * s.inner] * scale : lowest;
            most = z > most || z != z ? z : most;
        }
        most = team.max(most);
        for (int64_t i = team.rank; i < count; i += team.size)
            if (shows(i, count, at + i * s.inner))
                sum += mxcu_exp(x[at + i * s.inner] * scale - most);
        sum = team.sum(sum);
        const C factor = 1 / sum, shift = s.is_log ? mxcu_log(sum) : 0;
        for (int64_t i = team.rank; i < s.k; i += team.size) {
            const int64_t element = at + i * s.inner;
            if (!shows(i, count, element)) {
                to.put(element, (C)s.hidden);
                continue;
            }
            C z = x[element] * scale - most;
            to.put(element, s.is_log ? z - shift : mxcu_exp(z) * factor);
        }
    }

    /* softmax: dx = scale y (dy - sum(dy y)); log_softmax: dx = scale (dy - exp(y) sum(dy)). */
    template <class Team> MXCU_DEVICE void backward(int64_t row, const Team &team) const {
        const int64_t at = row / s.inner * s.k * s.inner + row % s.inner, count = count_of(row);
        const C scale = (C)s.scale;
        C sum = 0;
        for (int64_t i = team.rank; i < count; i += team.size) {
            const int64_t element = at + i * s.inner;
            if (shows(i, count, element))
                sum += s.is_log ? dy[element] : dy[element] * y[element];
        }
        sum = team.sum(sum);
        for (int64_t i = team.rank; i < s.k; i += team.size) {
            const int64_t element = at + i * s.inner;
            C g = 0;
            if (shows(i, count, element))
                g = s.is_log ? dy[element] - mxcu_exp(y[element]) * sum : y[element] * (dy[element] - sum);
            to.put(element, scale * g);
        }
    }
};

} // namespace

/* A team per row, or along another axis a thread per row. */
template <class T>
static mxc_status run_forward(const mxc_op_call *call, const mxcu_softmax *s, const mxc_tensor *x, const mxc_tensor *to,
                              mxc_req req) {
    pass<T> p = {*s, mxcu_data<T>(x), {nullptr}, {nullptr}, {mxcu_pointer<T>(to->data), req == MXC_REQ_ADD}};
    if (s->inner == 1)
        return mxcu_rows(call, s->outer, s->k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { p.forward(row, team); });
    return mxcu_for(call, s->outer * s->inner, [=] MXCU_LAMBDA(int64_t row) { p.forward(row, mxcu_single_thread()); });
}

template <class T>
static mxc_status run_backward(const mxc_op_call *call, const mxcu_softmax *s, const mxc_tensor *dy,
                               const mxc_tensor *y, const mxc_tensor *to, mxc_req req) {
    pass<T> p = {*s, {nullptr}, mxcu_data<T>(dy), mxcu_data<T>(y), {mxcu_pointer<T>(to->data), req == MXC_REQ_ADD}};
    if (s->inner == 1)
        return mxcu_rows(call, s->outer, s->k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { p.backward(row, team); });
    return mxcu_for(call, s->outer * s->inner, [=] MXCU_LAMBDA(int64_t row) { p.backward(row, mxcu_single_thread()); });
}

mxc_status mxcu_softmax_put(const mxc_op_call *call, const mxcu_softmax *s, const mxc_tensor *x, const mxc_tensor *to,
                            mxc_req req) {
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, run_forward, call, s, x, to, req)
}

mxc_status mxcu_softmax_put_gradient(const mxc_op_call *call, const mxcu_softmax *s, const mxc_tensor *dy,
                                     const mxc_tensor *y, const mxc_tensor *to, mxc_req req) {
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, run_backward, call, s, dy, y, to, req)
}

mxcu_softmax mxcu_softmax_along(const mxc_shape *data, int64_t axis, double scale, int is_log) {
    int at = (int)(axis < 0 ? axis + data->ndim : axis);
    return {mxcu_product(data, 0, at), data->dim[at], mxcu_product(data, at + 1, data->ndim), scale, is_log, 0, {}};
}

/* ---- softmax, log_softmax, softmin: the dtypes of data and out may differ ---------------------------------------- */

enum { DATA, LENGTH };

static mxcu_softmax softmax_of(const mxc_op_call *call, int sign, int is_log) {
    const mxci_softmax_params *p = static_cast<const mxci_softmax_params *>(call->params);
    mxcu_softmax s = mxcu_softmax_along(&call->in[DATA].shape, p->axis,
                                        p->temperature != p->temperature ? sign : sign / p->temperature, is_log);
    if (call->n_in > LENGTH) {
        s.visible.kind = mxcu_visible::LENGTH;
        s.visible.by = mxcu_any_data(&call->in[LENGTH]);
    }
    return s;
}

/* Where the dtypes of data and out differ, the kernels run in out's: data is converted into scratch before (forward),
 * or its gradient after (backward). */
static mxc_tensor copy_of(const mxc_op_call *call) {
    mxc_tensor copy = call->out[0];
    copy.data = call->temp;
    return copy;
}

template <int sign, int is_log> static mxc_status softmax_forward(const mxc_op_call *call) {
    mxcu_softmax s = softmax_of(call, sign, is_log);
    mxc_tensor data = call->in[DATA];
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (data.dtype != call->out[0].dtype) {
        data = copy_of(call);
        MXC_TRY(mxcu_put_cast(call, &data, MXC_REQ_WRITE, &call->in[DATA]));
    }
    return mxcu_softmax_put(call, &s, &data, &call->out[0], call->req[0]);
}

template <int sign, int is_log> static mxc_status softmax_backward(const mxc_op_call *call) {
    mxcu_softmax s = softmax_of(call, sign, is_log);
    const mxc_tensor *dy = &call->out_grad[0], *y = &call->out[0], *dx = &call->in_grad[DATA];
    mxc_tensor copy = copy_of(call);
    if (call->n_in > LENGTH)
        MXC_TRY(mxcu_no_gradient(call, LENGTH));
    if (call->req[DATA] == MXC_REQ_NULL || call->in[DATA].dtype == y->dtype)
        return mxcu_softmax_put_gradient(call, &s, dy, y, dx, call->req[DATA]);
    MXC_TRY(mxcu_softmax_put_gradient(call, &s, dy, y, &copy, MXC_REQ_WRITE));
    return mxcu_put_cast(call, dx, call->req[DATA], &copy);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    size_t copy = mxci_shape_bytes(data, (size_t)mxcu_element_bytes(sig->out_type[0]));
    return sig->in_type[DATA] == sig->out_type[0] ? 0 : copy;
}

MXCU_OP_IMPLS(softmax, {"softmax", softmax_forward<1, 0>, softmax_backward<1, 0>, temp_bytes},
              {"log_softmax", softmax_forward<1, 1>, softmax_backward<1, 1>, temp_bytes},
              {"softmin", softmax_forward<-1, 0>, softmax_backward<-1, 0>, temp_bytes})

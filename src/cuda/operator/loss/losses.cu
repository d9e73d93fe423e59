/* The operators that end a network: SoftmaxOutput, the regression outputs, SVMOutput, softmax_cross_entropy, MakeLoss,
 * make_loss. What comes from above matters to two of them only. */
#include "operator/loss/losses.h"

#include <cstring>

#include "cuda/runtime/gradient.h"
#include "cuda/runtime/math.h"
#include "cuda/operator/reduce/reduce.h"
#include "cuda/operator/nn/softmax.h"

enum { DATA, LABEL };

static mxc_status pass_through(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[DATA]);
}

/* ---- counting some of an array's elements, into scratch ---------------------------------------------------------- */

namespace {
/* Elements above limit, or, where ignoring, those whose whole part is not limit's. */
struct counting : mxcu_sum {
    mxcu_any x;
    double limit;
    int ignoring;
    double *to;
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        double v = x.as<double>(i);
        return a + (ignoring ? trunc(v) != trunc(limit) : v > limit);
    }
    MXCU_DEVICE void put(int64_t, sum a) const {
        *to = a > 0 ? a : 1;
    }
};
} // namespace

/* Scratch: the count, at least 1, at its beginning. */
static size_t count_bytes(const mxc_shape *shape) {
    mxcu_reduction plan = mxcu_plan_all(mxcu_product(shape, 0, shape->ndim));
    return sizeof(double) + mxcu_reduction_bytes(&plan);
}

static mxc_status count(const mxc_op_call *call, const mxc_tensor *x, double limit, int ignoring) {
    mxcu_reduction plan = mxcu_plan_all(mxcu_size(x));
    counting c = {{}, mxcu_any_data(x), limit, ignoring, mxcu_temp<double>(call, 0)};
    return mxcu_reduce(call, &plan, c, static_cast<char *>(call->temp) + sizeof(double));
}

/* ---- SoftmaxOutput ----------------------------------------------------------------------------------------------- */

static mxcu_softmax softmax_of(const mxc_op_call *call) {
    const mxci_softmax_output_params *p = static_cast<const mxci_softmax_output_params *>(call->params);
    const mxc_shape *data = &call->out[0].shape;
    if (p->multi_output || p->preserve_shape)
        return mxcu_softmax_along(data, p->multi_output ? 1 : -1, 1, 0);
    return {data->dim[0], mxcu_product(data, 1, data->ndim), 1, 1, 0, 0, {}};
}

static mxc_status softmax_forward(const mxc_op_call *call) {
    mxcu_softmax s = softmax_of(call);
    return mxcu_softmax_put(call, &s, &call->in[DATA], &call->out[0], call->req[0]);
}

namespace {
/* The gradient of element i of (outer, k, inner). */
template <class T> struct softmax_loss {
    using C = mxcu_compute_t<T>;
    mxcu_in<T> y, label, dy; /* dy has no data where it does not matter */
    int64_t k, inner;
    int dense, use_ignore;
    double ignore;
    C scale, on, off;      /* on, off: what a class number stands for at its class and at others */
    const double *divisor; /* or NULL */

    MXCU_DEVICE C difference(int64_t i) const {
        if (dense)
            return y[i] - label[i];
        const int64_t row = i / inner, column = i - row * inner, o = row / k;
        const double value = (double)label[o * inner + column];
        const int64_t target = value > -1 && value < (double)k ? (int64_t)value : -1;
        if (use_ignore && trunc(value) == trunc(ignore))
            return 0;
        return y[i] - (row - o * k == target ? on : off);
    }
    MXCU_DEVICE C operator()(int64_t i) const {
        const C factor = divisor ? scale / (C)*divisor : scale, g = factor * difference(i);
        return dy.data ? g * dy[i] : g;
    }
};
} // namespace

/* What the whole gradient is divided by, where shapes say it. */
static double divisor_of(const mxci_softmax_output_params *p, const mxcu_softmax *s) {
    return p->normalization == MXCI_NORM_BATCH  ? (double)s->outer * (double)s->inner
           : p->normalization == MXCI_NORM_NULL ? (double)s->inner
                                                : 1;
}

template <class T> static mxc_status softmax_gradient(const mxc_op_call *call) {
    const mxci_softmax_output_params *p = static_cast<const mxci_softmax_output_params *>(call->params);
    const mxcu_softmax s = softmax_of(call);
    const int dense =
        mxcu_size(&call->in[LABEL]) == mxcu_size(&call->out[0]) &&
        call->in[LABEL].shape.ndim == call->out[0].shape.ndim &&
        !memcmp(call->in[LABEL].shape.dim, call->out[0].shape.dim, (size_t)call->out[0].shape.ndim * sizeof(int64_t));
    const int valid = !dense && p->normalization == MXCI_NORM_VALID;
    const double scale = dense ? p->grad_scale : p->grad_scale / divisor_of(p, &s);
    softmax_loss<T> loss = {
        mxcu_data<T>(&call->out[0]),
        mxcu_data<T>(&call->in[LABEL]),
        {nullptr},
        s.k,
        s.inner,
        dense,
        p->use_ignore,
        p->ignore_label,
        (mxcu_compute_t<T>)scale,
        (mxcu_compute_t<T>)(1 - p->smooth_alpha),
        (mxcu_compute_t<T>)(s.k > 1 ? p->smooth_alpha / (double)(s.k - 1) : 0),
        nullptr,
    };
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    if (p->out_grad)
        loss.dy = mxcu_data<T>(&call->out_grad[0]);
    if (valid) {
        MXC_TRY(count(call, &call->in[LABEL], p->ignore_label, 1));
        loss.divisor = mxcu_temp<double>(call, 0);
    }
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { dx.put(i, loss(i)); });
}

static mxc_status softmax_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, softmax_gradient, call)
}

static size_t softmax_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxci_softmax_output_params *p = static_cast<const mxci_softmax_output_params *>(sig->params);
    return pass == MXC_BACKWARD && p->normalization == MXCI_NORM_VALID ? count_bytes(&sig->in_shape[LABEL]) : 0;
}

/* ---- regression outputs ------------------------------------------------------------------------------------------ */

template <class T> static mxc_status logistic(const mxc_op_call *call) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, mxcu_sigmoid(x[i])); });
}

static mxc_status logistic_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, logistic, call)
}

template <class T> static mxc_status difference(const mxc_op_call *call, int sign) {
    using C = mxcu_compute_t<T>;
    const mxc_shape *label = &call->in[LABEL].shape;
    const double scale = static_cast<const mxci_regression_params *>(call->params)->grad_scale;
    const C factor = (C)(scale / (double)mxcu_product(label, 1, label->ndim));
    mxcu_in<T> y = mxcu_data<T>(&call->out[0]), t = mxcu_data<T>(&call->in[LABEL]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        C d = y[i] - t[i];
        dx.put(i, factor * (!sign ? d : d > 0 ? (C)1 : d < 0 ? (C)-1 : (C)0));
    });
}

template <int sign> static mxc_status regression_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL || mxcu_size(&call->in[LABEL]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, difference, call, sign)
}

/* ---- SVMOutput --------------------------------------------------------------------------------------------------- */

template <class T> static mxc_status hinge(const mxc_op_call *call) {
    const mxci_svm_params p = *static_cast<const mxci_svm_params *>(call->params);
    const int64_t classes = call->out[0].shape.dim[call->out[0].shape.ndim - 1];
    mxcu_in<T> y = mxcu_data<T>(&call->out[0]), label = mxcu_data<T>(&call->in[LABEL]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = i / classes;
        const int is_label = (double)(i - row * classes) == (double)label[row];
        dx.put(i, (mxcu_compute_t<T>)mxci_svm_slope(&p, is_label, (double)y[i]));
    });
}

static mxc_status svm_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, hinge, call)
}

/* ---- softmax_cross_entropy --------------------------------------------------------------------------------------- */

namespace {
/* Row i of data (n, k) by a team: the greatest element and the sum of e^(x - it). */
template <class T> struct entropy {
    using C = mxcu_compute_t<T>;
    mxcu_in<T> x;
    mxcu_any label;
    int64_t k;
    MXCU_DEVICE int64_t target(int64_t row) const {
        int64_t c = label.as<int64_t>(row);
        return c < 0 ? 0 : c >= k ? k - 1 : c;
    }
    MXCU_DEVICE C most(int64_t row, const mxcu_team &team) const {
        C m = -INFINITY;
        for (int64_t i = team.rank; i < k; i += team.size)
            m = x[row * k + i] > m || x[row * k + i] != x[row * k + i] ? x[row * k + i] : m;
        return team.max(m);
    }
    MXCU_DEVICE C sum(int64_t row, C most, const mxcu_team &team) const {
        C s = 0;
        for (int64_t i = team.rank; i < k; i += team.size)
            s += mxcu_exp(x[row * k + i] - most);
        return team.sum(s);
    }
};

struct row_losses {
    const double *loss;
    MXCU_DEVICE double operator()(int64_t i) const {
        return loss[i];
    }
};
} // namespace

static size_t entropy_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t n = sig->in_shape[DATA].dim[0];
    mxcu_reduction plan = mxcu_plan_all(n);
    return pass == MXC_FORWARD ? mxci_size_add(mxci_size_of(n, sizeof(double)), mxcu_reduction_bytes(&plan)) : 0;
}

template <class T> static entropy<T> entropy_of(const mxc_op_call *call) {
    return {mxcu_data<T>(&call->in[DATA]), mxcu_any_data(&call->in[LABEL]), call->in[DATA].shape.dim[1]};
}

template <class T> static mxc_status entropy_sum(const mxc_op_call *call) {
    const int64_t n = call->in[DATA].shape.dim[0];
    const entropy<T> e = entropy_of<T>(call);
    double *loss = mxcu_temp<double>(call, 0);
    mxcu_reduction plan = mxcu_plan_all(n);
    MXC_TRY(mxcu_rows(call, n, e.k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        mxcu_compute_t<T> most = e.most(row, team), sum = e.sum(row, most, team);
        if (team.rank == 0)
            loss[row] = log((double)sum) - (double)(e.x[row * e.k + e.target(row)] - most);
    }));
    return mxcu_reduce(call, &plan, mxcu_summing<T, row_losses>{{loss}, mxcu_result<T>(call, &call->out[0], 0)},
                       static_cast<char *>(call->temp) + (size_t)n * sizeof(double));
}

template <class T> static mxc_status entropy_gradient(const mxc_op_call *call) {
    const entropy<T> e = entropy_of<T>(call);
    mxcu_in<T> dy = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_rows(call, call->in[DATA].shape.dim[0], e.k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        using C = mxcu_compute_t<T>;
        const C most = e.most(row, team), factor = 1 / e.sum(row, most, team), g = dy[0];
        const int64_t target = e.target(row);
        for (int64_t i = team.rank; i < e.k; i += team.size)
            dx.put(row * e.k + i, g * (mxcu_exp(e.x[row * e.k + i] - most) * factor - (C)(i == target)));
    });
}

static mxc_status entropy_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, entropy_sum, call)
}

static mxc_status entropy_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, entropy_gradient, call)
}

/* ---- MakeLoss ---------------------------------------------------------------------------------------------------- */

static mxc_status one_gradient(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->in_grad[0], 0, 1);
}

template <class T> static mxc_status valid_gradient(const mxc_op_call *call, double scale) {
    const double *divisor = mxcu_temp<double>(call, 0);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, (mxcu_compute_t<T>)(scale / *divisor)); });
}

static mxc_status make_loss_backward(const mxc_op_call *call) {
    const mxci_make_loss_params *p = static_cast<const mxci_make_loss_params *>(call->params);
    const mxc_shape *shape = &call->in[0].shape;
    const int64_t batch = p->normalization == MXCI_NORM_BATCH && shape->ndim > 0 ? shape->dim[0] : 1;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (p->normalization != MXCI_NORM_VALID)
        return mxcu_put_constant(call, &call->in_grad[0], 0, p->grad_scale / (double)(batch > 0 ? batch : 1));
    MXC_TRY(count(call, &call->in[0], p->valid_thresh, 0));
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, valid_gradient, call, p->grad_scale)
}

static size_t make_loss_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxci_make_loss_params *p = static_cast<const mxci_make_loss_params *>(sig->params);
    return pass == MXC_BACKWARD && p->normalization == MXCI_NORM_VALID ? count_bytes(&sig->in_shape[0]) : 0;
}

MXCU_OP_IMPLS(losses, {"SoftmaxOutput", softmax_forward, softmax_backward, softmax_temp},
              {"LinearRegressionOutput", pass_through, regression_backward<0>},
              {"LogisticRegressionOutput", logistic_forward, regression_backward<0>},
              {"MAERegressionOutput", pass_through, regression_backward<1>}, {"SVMOutput", pass_through, svm_backward},
              {"softmax_cross_entropy", entropy_forward, entropy_backward, entropy_temp},
              {"make_loss", pass_through, one_gradient}, {"MakeLoss", pass_through, make_loss_backward, make_loss_temp})

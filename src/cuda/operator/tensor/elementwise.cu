/* add_n, where, Cast, and the operators that make arrays: _set_value, _arange. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "operator/tensor/cast.h"
#include "operator/tensor/create.h"

/* ---- add_n: so many arrays at a time, later ones added to what the first made ------------------------------------ */

enum { AT_ONCE = 32 };

namespace {
template <class T> struct addends {
    mxcu_in<T> x[AT_ONCE];
    int n;
    MXCU_DEVICE mxcu_compute_t<T> sum(int64_t i) const {
        mxcu_compute_t<T> total = x[0][i];
        for (int k = 1; k < n; k++)
            total += x[k][i];
        return total;
    }
};
} // namespace

template <class T> static mxc_status add_arrays(const mxc_op_call *call) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    for (int first = 0; first < call->n_in; first += AT_ONCE, y.add = 1) {
        addends<T> a;
        a.n = call->n_in - first < AT_ONCE ? call->n_in - first : AT_ONCE;
        for (int k = 0; k < a.n; k++)
            a.x[k] = mxcu_data<T>(&call->in[first + k]);
        MXC_TRY(mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, a.sum(i)); }));
    }
    return MXC_OK;
}

static mxc_status add_n_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, add_arrays, call)
}

/* The gradient that takes out_grad's memory, which is argument 0's, needs no copy. */
static mxc_status add_n_backward(const mxc_op_call *call) {
    for (int i = call->n_in; i-- > 0;)
        MXC_TRY(mxcu_put(call, &call->in_grad[i], i, &call->out_grad[0]));
    return MXC_OK;
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

enum { CONDITION, X, Y };

/* to = yes or no as the condition of each element says; a NULL stands for zeros. */
template <class T>
static mxc_status choose(const mxc_op_call *call, const mxc_tensor *yes, const mxc_tensor *no, const mxc_tensor *to,
                         int i) {
    const mxc_tensor *condition = &call->in[CONDITION];
    const int64_t size = mxcu_size(to), inner = size ? size / mxcu_size(condition) : 1;
    const T *a = mxcu_pointer<const T>(yes ? yes->data : nullptr), *b = mxcu_pointer<const T>(no ? no->data : nullptr);
    mxcu_any chosen = mxcu_any_data(condition);
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    return mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t at) {
        const T *from = chosen.truth(inner == 1 ? at : at / inner) ? a : b;
        y.put(at, from ? mxcu_widen<T>(from[at]) : 0);
    });
}

static mxc_status where(const mxc_op_call *call, const mxc_tensor *yes, const mxc_tensor *no, const mxc_tensor *to,
                        int i) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, choose, call, yes, no, to, i)
}

static mxc_status where_forward(const mxc_op_call *call) {
    return where(call, &call->in[X], &call->in[Y], &call->out[0], 0);
}

static mxc_status where_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, CONDITION));
    MXC_TRY(where(call, &call->out_grad[0], nullptr, &call->in_grad[X], X));
    return where(call, nullptr, &call->out_grad[0], &call->in_grad[Y], Y);
}

/* ---- Cast -------------------------------------------------------------------------------------------------------- */

template <class T>
static mxc_status convert(const mxc_op_call *call, const mxc_tensor *to, mxc_req req, const mxc_tensor *from) {
    mxcu_any x = mxcu_any_data(from);
    mxcu_out<T> y = {mxcu_pointer<T>(to->data), req == MXC_REQ_ADD};
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x.as<T>(i)); });
}

mxc_status mxcu_put_cast(const mxc_op_call *call, const mxc_tensor *to, mxc_req req, const mxc_tensor *from) {
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, convert, call, to, req, from)
}

static mxc_status cast_forward(const mxc_op_call *call) {
    return mxcu_put_cast(call, &call->out[0], call->req[0], &call->in[0]);
}

static mxc_status cast_backward(const mxc_op_call *call) {
    return mxcu_put_cast(call, &call->in_grad[0], call->req[0], &call->out_grad[0]);
}

/* ---- arrays that are made ---------------------------------------------------------------------------------------- */

static mxc_status set_value(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, static_cast<const mxci_set_params *>(call->params)->src);
}

template <class T> static mxc_status put_range(const mxc_op_call *call) {
    const mxci_arange_params *p = static_cast<const mxci_arange_params *>(call->params);
    const double start = p->start, step = p->step;
    const int64_t repeat = p->repeat;
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]),
                    [=] MXCU_LAMBDA(int64_t i) { y.put(i, mxcu_converted<T>(start + step * (double)(i / repeat))); });
}

static mxc_status arange(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, put_range, call)
}

MXCU_OP_IMPLS(elementwise, {"add_n", add_n_forward, add_n_backward}, {"where", where_forward, where_backward},
              {"Cast", cast_forward, cast_backward}, {"_set_value", set_value}, {"_full", set_value},
              {"_arange", arange})

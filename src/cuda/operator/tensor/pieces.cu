/* An array and what it is side by side along one axis, as operator/tensor/pieces.h: Concat, stack, SliceChannel. A
 * kernel for each piece. */
#include "cuda/operator/tensor/pieces.h"
#include "operator/tensor/concat.h"
#include "operator/tensor/pieces.h"

template <class T>
static mxc_status join_piece(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *piece,
                             mxcu_piece where) {
    mxcu_in<T> x = mxcu_data<T>(piece);
    mxcu_out<T> y = mxcu_result<T>(call, whole, 0);
    return mxcu_for(call, mxcu_size(piece), [=] MXCU_LAMBDA(int64_t at) { y.put(where(at), x[at]); });
}

template <class T>
static mxc_status split_piece(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *piece, int i,
                              mxcu_piece where) {
    mxcu_in<T> x = mxcu_data<T>(whole);
    mxcu_out<T> y = mxcu_result<T>(call, piece, i);
    return mxcu_for(call, mxcu_size(piece), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x[where(at)]); });
}

static mxc_status join_one(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *piece,
                           mxcu_piece where) {
    MXCU_SWITCH_ALL(whole->dtype, join_piece, call, whole, piece, where)
}

static mxc_status split_one(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *piece, int i,
                            mxcu_piece where) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(whole->dtype, split_piece, call, whole, piece, i, where)
}

static mxc_status join(const mxc_op_call *call, const mxc_tensor *whole, int n, const mxc_tensor *pieces, int axis) {
    int64_t outer = mxci_shape_count(&whole->shape, 0, axis), offset = 0;
    for (int i = 0; i < n && call->req[0] != MXC_REQ_NULL; i++) {
        const mxcu_piece where = mxcu_piece_of(whole, &pieces[i], outer, offset);
        MXC_TRY(join_one(call, whole, &pieces[i], where));
        offset += where.n;
    }
    return MXC_OK;
}

static mxc_status split(const mxc_op_call *call, const mxc_tensor *whole, int n, const mxc_tensor *pieces, int axis) {
    int64_t outer = mxci_shape_count(&whole->shape, 0, axis), offset = 0;
    for (int i = 0; i < n; i++) {
        const mxcu_piece where = mxcu_piece_of(whole, &pieces[i], outer, offset);
        MXC_TRY(split_one(call, whole, &pieces[i], i, where));
        offset += where.n;
    }
    return MXC_OK;
}

/* Parameters of Concat and stack begin the same: how many pieces, and the axis. */
static int joined_axis(const mxc_op_call *call) {
    int64_t axis = static_cast<const mxci_concat_params *>(call->params)->dim;
    return (int)(axis < 0 ? axis + call->out[0].shape.ndim : axis);
}

static mxc_status join_forward(const mxc_op_call *call) {
    return join(call, &call->out[0], call->n_in, call->in, joined_axis(call));
}

static mxc_status join_backward(const mxc_op_call *call) {
    return split(call, &call->out_grad[0], call->n_in, call->in_grad, joined_axis(call));
}

static int cut_axis(const mxc_op_call *call) {
    int64_t axis = static_cast<const mxci_split_params *>(call->params)->axis;
    return (int)(axis < 0 ? axis + call->in[0].shape.ndim : axis);
}

static mxc_status cut_forward(const mxc_op_call *call) {
    return split(call, &call->in[0], call->n_out, call->out, cut_axis(call));
}

static mxc_status cut_backward(const mxc_op_call *call) {
    return join(call, &call->in_grad[0], call->n_out, call->out_grad, cut_axis(call));
}

MXCU_OP_IMPLS(pieces, {"Concat", join_forward, join_backward}, {"_rnn_param_concat", join_forward, join_backward},
              {"stack", join_forward, join_backward}, {"SliceChannel", cut_forward, cut_backward})

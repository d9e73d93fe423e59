/* Operators that index: take, Embedding, pick, batch_take, gather_nd, scatter_nd, fill_element_0index, one_hot,
 * _onehot_encode. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"
#include "operator/index/indexing.h"

enum { ARRAY, INDEX };

static int axis_of(int64_t axis, const mxc_shape *shape) {
    return (int)(axis < 0 ? axis + shape->ndim : axis);
}

static int64_t count_of(const mxc_shape *shape) {
    return mxcu_product(shape, 0, shape->ndim);
}

/* ---- take -------------------------------------------------------------------------------------------------------- */

static mxcu_places take_places(const mxc_op_call *call) {
    const mxci_take_params *p = static_cast<const mxci_take_params *>(call->params);
    const mxc_shape *a = &call->in[ARRAY].shape;
    return mxcu_rows_along(a, axis_of(p->axis, a), &call->in[INDEX],
                           p->mode == MXCI_TAKE_WRAP ? MXCI_INDEX_WRAP : MXCI_INDEX_CLIP);
}

static mxc_status take_forward(const mxc_op_call *call) {
    mxcu_places places = take_places(call);
    const mxcu_bounded_rows bounds = {1, places.count, {0}, {places.size}};
    if (static_cast<const mxci_take_params *>(call->params)->mode == MXCI_TAKE_RAISE)
        MXC_TRY(mxcu_check_indices(call, "take", "indices", &call->in[INDEX], &bounds));
    return mxcu_rows_take(call, &call->out[0], 0, &places, &call->in[ARRAY]);
}

static mxc_status take_backward(const mxc_op_call *call) {
    mxcu_places places = take_places(call);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_add(call, &call->in_grad[ARRAY], ARRAY, &places, &call->out_grad[0]);
}

static size_t take_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? (size_t)MXCU_CHECK_BYTES : mxcu_rows_temp(count_of(&sig->in_shape[INDEX]));
}

/* ---- Embedding: data is the index of weight's rows -----------------------------------------------------------------
 */

enum { DATA, WEIGHT };

static mxcu_places embedding_places(const mxc_op_call *call) {
    return mxcu_rows_along(&call->in[WEIGHT].shape, 0, &call->in[DATA], MXCI_INDEX_CLIP);
}

static mxc_status embedding_forward(const mxc_op_call *call) {
    mxcu_places places = embedding_places(call);
    return mxcu_rows_take(call, &call->out[0], 0, &places, &call->in[WEIGHT]);
}

static mxc_status embedding_backward(const mxc_op_call *call) {
    mxcu_places places = embedding_places(call);
    MXC_TRY(mxcu_no_gradient(call, DATA));
    return mxcu_rows_add(call, &call->in_grad[WEIGHT], WEIGHT, &places, &call->out_grad[0]);
}

static size_t embedding_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? 0 : mxcu_rows_temp(count_of(&sig->in_shape[DATA]));
}

/* ---- pick, batch_take ----------------------------------------------------------------------------------------------
 */

static mxcu_places pick_places(const mxc_op_call *call) {
    const mxci_pick_params *p = static_cast<const mxci_pick_params *>(call->params);
    const mxc_shape *data = &call->in[ARRAY].shape;
    return mxcu_rows_picked(data, axis_of(p->axis, data), &call->in[INDEX],
                            p->mode ? MXCI_INDEX_WRAP : MXCI_INDEX_CLIP);
}

static mxcu_places batch_places(const mxc_op_call *call) {
    return mxcu_rows_picked(&call->in[ARRAY].shape, 1, &call->in[INDEX], MXCI_INDEX_CLIP);
}

template <mxcu_places (*places_of)(const mxc_op_call *)> static mxc_status pick_forward(const mxc_op_call *call) {
    mxcu_places places = places_of(call);
    return mxcu_rows_take(call, &call->out[0], 0, &places, &call->in[ARRAY]);
}

template <mxcu_places (*places_of)(const mxc_op_call *)> static mxc_status pick_backward(const mxc_op_call *call) {
    mxcu_places places = places_of(call);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_add(call, &call->in_grad[ARRAY], ARRAY, &places, &call->out_grad[0]);
}

/* ---- gather_nd, scatter_nd -----------------------------------------------------------------------------------------
 */

static mxc_status check_places(const mxc_op_call *call, const char *op, const mxc_shape *named) {
    const mxc_shape *index = &call->in[INDEX].shape;
    mxcu_bounded_rows bounds = {(int)index->dim[0], mxcu_product(index, 1, index->ndim), {}, {}};
    for (int i = 0; i < bounds.count; i++) {
        bounds.low[i] = -named->dim[i];
        bounds.high[i] = named->dim[i];
    }
    return mxcu_check_indices(call, op, "indices", &call->in[INDEX], &bounds);
}

static mxc_status gather_forward(const mxc_op_call *call) {
    mxcu_places places = mxcu_rows_named(&call->in[ARRAY].shape, &call->in[INDEX]);
    MXC_TRY(check_places(call, "gather_nd", &call->in[ARRAY].shape));
    return mxcu_rows_take(call, &call->out[0], 0, &places, &call->in[ARRAY]);
}

static mxc_status gather_backward(const mxc_op_call *call) {
    mxcu_places places = mxcu_rows_named(&call->in[ARRAY].shape, &call->in[INDEX]);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_add(call, &call->in_grad[ARRAY], ARRAY, &places, &call->out_grad[0]);
}

static mxc_status scatter_forward(const mxc_op_call *call) {
    mxcu_places places = mxcu_rows_named(&call->out[0].shape, &call->in[INDEX]);
    MXC_TRY(check_places(call, "scatter_nd", &call->out[0].shape));
    return mxcu_rows_add(call, &call->out[0], 0, &places, &call->in[ARRAY]);
}

static mxc_status scatter_backward(const mxc_op_call *call) {
    mxcu_places places = mxcu_rows_named(&call->out[0].shape, &call->in[INDEX]);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_take(call, &call->in_grad[ARRAY], ARRAY, &places, &call->out_grad[0]);
}

static size_t named_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *index = &sig->in_shape[INDEX];
    (void)pass;
    return mxcu_rows_temp(mxcu_product(index, 1, index->ndim)) + MXCU_CHECK_BYTES;
}

/* ---- fill_element_0index -------------------------------------------------------------------------------------------
 */

enum { LHS, MHS, RHS };

template <class T> static mxc_status fill(const mxc_op_call *call) {
    mxcu_in<T> lhs = mxcu_data<T>(&call->in[LHS]), mhs = mxcu_data<T>(&call->in[MHS]);
    mxcu_numbers rhs = mxcu_numbers_of(&call->in[RHS]);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    const int64_t n = call->in[LHS].shape.dim[1];
    return mxcu_rows(call, call->in[LHS].shape.dim[0], n, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t at = rhs.index(row, n, MXCI_INDEX_CLIP);
        for (int64_t k = team.rank; k < n; k += team.size)
            out.put(row * n + k, k == at ? mhs[row] : lhs[row * n + k]);
    });
}

static mxc_status fill_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[0].dtype, fill, call)
}

/* ---- one_hot, _onehot_encode ---------------------------------------------------------------------------------------
 */

template <class T> static mxc_status encode(const mxc_op_call *call, int64_t depth, double on, double off) {
    const mxcu_numbers index = mxcu_numbers_of(&call->in[0]);
    const mxcu_compute_t<T> yes = mxcu_parameter<T>(on), no = mxcu_parameter<T>(off);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = at / depth, column = at - row * depth;
        const double value = index[row];
        out.put(at, value > -1 && value < (double)depth && (int64_t)value == column ? yes : no);
    });
}

static mxc_status encode_any(const mxc_op_call *call, int64_t depth, double on, double off) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[0].dtype, encode, call, depth, on, off)
}

static mxc_status one_hot(const mxc_op_call *call) {
    const mxci_one_hot_params *p = static_cast<const mxci_one_hot_params *>(call->params);
    return encode_any(call, p->depth, p->on_value, p->off_value);
}

static mxc_status onehot_encode(const mxc_op_call *call) {
    return encode_any(call, call->out[0].shape.dim[1], 1, 0);
}

MXCU_OP_IMPLS(indexing, {"take", take_forward, take_backward, take_temp},
              {"Embedding", embedding_forward, embedding_backward, embedding_temp},
              {"pick", pick_forward<pick_places>, pick_backward<pick_places>},
              {"batch_take", pick_forward<batch_places>, pick_backward<batch_places>},
              {"gather_nd", gather_forward, gather_backward, named_temp},
              {"scatter_nd", scatter_forward, scatter_backward, named_temp}, {"fill_element_0index", fill_forward},
              {"one_hot", one_hot, mxcu_zero_gradient}, {"_onehot_encode", onehot_encode, mxcu_zero_gradient})

/*
 * Views (operator/tensor/views.h): transposing, reversing, cutting out, copying, and the way back; replacing a box; and
 * the operators that only give an array another shape.
 */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"
#include "operator/tensor/views.h"
#include "cuda_platform/tiles.h"

/* ---- moving ------------------------------------------------------------------------------------------------------ */

/* Strides of a transpose: planes whose columns are neighbours in the array, and whose rows are neighbours in the space.
 */
struct transposed_planes {
    int64_t batch, rows, columns;
    mxcu_strided_iterator from, to; /* where plane b begins in the array, and in the space */
    int64_t row, column;            /* from row to row in the array, and from column to column in the space */
};

enum { WORTH_TILES = 8 }; /* rows and columns */

/* Returns whether the strides are such. The last axis of the space gives the rows, another one of step 1 the columns.
 */
static int find_planes(const mxci_strided *strides, transposed_planes *out) {
    const int last = strides->n - 1;
    int64_t dim[MXCI_STRIDED_MAX], from[MXCI_STRIDED_MAX], to[MXCI_STRIDED_MAX], size = 1;
    mxci_strided rest;
    int column = -1, begin = MXCI_STRIDED_MAX;
    for (int i = 0; i < last; i++)
        column = strides->step[i] == 1 ? i : column;
    if (column < 0 || strides->dim[last] < WORTH_TILES || strides->dim[column] < WORTH_TILES)
        return 0;
    for (int i = last; i >= 0; size *= strides->dim[i--]) {
        if (i == column)
            out->column = size;
        if (i == column || i == last)
            continue;
        dim[--begin] = strides->dim[i];
        from[begin] = strides->step[i];
        to[begin] = size;
    }
    out->rows = strides->dim[last], out->columns = strides->dim[column];
    out->row = strides->step[last];
    mxci_strided_set(&rest, MXCI_STRIDED_MAX - begin, dim + begin, from + begin);
    out->from = mxcu_iterate(&rest);
    mxci_strided_set(&rest, MXCI_STRIDED_MAX - begin, dim + begin, to + begin);
    out->to = mxcu_iterate(&rest);
    out->batch = out->to.size;
    return 1;
}

template <class T>
static mxc_status take_planes(const mxc_op_call *call, const transposed_planes *given, const T *from, mxcu_out<T> to) {
    const transposed_planes p = *given;
    return mxcu_tiles<T>(
        call, p.batch, p.rows, p.columns,
        [=] MXCU_LAMBDA(int64_t b, int64_t i, int64_t j) { return from[p.from(b) + i * p.row + j]; },
        [=] MXCU_LAMBDA(int64_t b, int64_t i, int64_t j, T value) {
            to.put(p.to(b) + j * p.column + i, mxcu_widen<T>(value));
        });
}

/* to[at] = from[first + iterator(at)] */
template <class T>
static mxc_status take_elements(const mxc_op_call *call, const mxc_tensor *to, int i, const mxci_view *view,
                                const mxc_tensor *from) {
    mxcu_in<T> x = {mxcu_data<T>(from).data + view->first};
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    mxcu_strided_iterator iterator = mxcu_iterate(&view->walk);
    transposed_planes p;
    if (find_planes(&view->walk, &p))
        return take_planes(call, &p, x.data, y);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x[iterator(at)]); });
}

/* to[first + iterator(at)] = from[at] */
template <class T>
static mxc_status put_elements(const mxc_op_call *call, const mxc_tensor *to, const mxci_view *view,
                               const mxc_tensor *from) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    mxcu_strided_iterator iterator = mxcu_iterate(&view->walk);
    y.data += view->first;
    return mxcu_for(call, mxcu_size(from), [=] MXCU_LAMBDA(int64_t at) { y.put(iterator(at), x[at]); });
}

static mxc_status take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxci_view *view,
                       const mxc_tensor *from) {
    if (call->req[i] == MXC_REQ_NULL || mxcu_size(to) == 0)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, take_elements, call, to, i, view, from)
}

static mxc_status put(const mxc_op_call *call, const mxc_tensor *to, const mxci_view *view, const mxc_tensor *from) {
    if (mxcu_size(from) == 0)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, put_elements, call, to, view, from)
}

/* ---- by an operator's view --------------------------------------------------------------------------------------- */

static mxci_view view_of(const mxc_op_call *call, mxci_view_fn fn) {
    return fn(call->params, &call->in[0].shape, &call->out[0].shape);
}

template <mxci_view_fn fn> static mxc_status view_forward(const mxc_op_call *call) {
    mxci_view view = view_of(call, fn);
    return take(call, &call->out[0], 0, &view, &call->in[0]);
}

/* data's elements are each once in out: by the view of the way back. */
template <mxci_view_fn fn> static mxc_status turn_backward(const mxc_op_call *call) {
    mxci_view view = view_of(call, fn);
    return take(call, &call->in_grad[0], 0, &view, &call->out_grad[0]);
}

/* At most once: the others' gradient is 0. A second argument has none. */
template <mxci_view_fn fn> static mxc_status cut_backward(const mxc_op_call *call) {
    mxci_view view = view_of(call, fn);
    MXC_TRY(mxcu_zero_gradient(call));
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : put(call, &call->in_grad[0], &view, &call->out_grad[0]);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* How out's space is summed: the axes along which data does not vary. */
static mxcu_reduction copies_plan(const mxci_strided *strides) {
    int64_t dim[2][MXCI_STRIDED_MAX], step[2][MXCI_STRIDED_MAX], size = 1;
    int begin[2] = {MXCI_STRIDED_MAX, MXCI_STRIDED_MAX};
    mxci_strided part[2];
    for (int i = strides->n - 1; i >= 0; i--) {
        int which = strides->step[i] == 0;
        dim[which][--begin[which]] = strides->dim[i];
        step[which][begin[which]] = size;
        size *= strides->dim[i];
    }
    for (int which = 0; which < 2; which++)
        mxci_strided_set(&part[which], MXCI_STRIDED_MAX - begin[which], dim[which] + begin[which],
                         step[which] + begin[which]);
    return mxcu_plan_reduction(&part[0], &part[1]);
}

template <mxci_view_fn fn> static size_t copies_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    if (pass == MXC_FORWARD)
        return 0;
    mxci_view view = fn(sig->params, &sig->in_shape[0], &sig->out_shape[0]);
    mxcu_reduction plan = copies_plan(&view.walk);
    return mxcu_reduction_bytes(&plan);
}

template <class T> static mxc_status sum_elements(const mxc_op_call *call, const mxci_view *view) {
    mxcu_in<T> x = mxcu_data<T>(&call->out_grad[0]);
    mxcu_reduction plan = copies_plan(&view->walk);
    mxcu_summing<T, mxcu_element<T>> summing = {{x}, mxcu_result<T>(call, &call->in_grad[0], 0)};
    return mxcu_reduce(call, &plan, summing, call->temp);
}

/* data's elements are often in out. */
template <mxci_view_fn fn> static mxc_status copies_backward(const mxc_op_call *call) {
    mxci_view view = view_of(call, fn);
    mxc_dtype dtype = call->in_grad[0].dtype;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (!(MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype)))
        return MXC_FAIL(MXC_EDTYPE, "no gradient is computed in dtype number %d, expected a float dtype", (int)dtype);
    MXCU_SWITCH_FLOAT(dtype, sum_elements, call, &view)
}

/* ---- replacing a box --------------------------------------------------------------------------------------------- */

enum { LHS, RHS };

struct box {
    int n;
    int64_t dim[MXC_MAX_NDIM];
    mxci_box_axis axis[MXC_MAX_NDIM];

    /* Which element of the box an element of the array is; -1: none. */
    MXCU_DEVICE int64_t inside(int64_t at) const {
        int64_t place = 0, size = 1;
        for (int i = n - 1; i >= 0; i--) {
            const int64_t rest = at / dim[i], offset = at - rest * dim[i] - axis[i].begin, k = offset / axis[i].step;
            if (k * axis[i].step != offset || k < 0 || k >= axis[i].size)
                return -1;
            place += k * size;
            size *= axis[i].size;
            at = rest;
        }
        return place;
    }
};

static box box_of(const mxc_op_call *call, const mxc_shape *shape) {
    mxci_bounds bounds = mxci_box_bounds(&static_cast<const mxci_assign_params *>(call->params)->box);
    box b = {};
    b.n = shape->ndim;
    for (int i = 0; i < shape->ndim; i++) {
        b.dim[i] = shape->dim[i];
        b.axis[i] = mxci_box_axis_of(&bounds, i, shape->dim[i]);
    }
    return b;
}

/* result 0 = from, but in the box rhs, or value where there is no rhs. */
template <class T>
static mxc_status assign_elements(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from,
                                  const mxc_tensor *rhs, double value) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_dense<T> filling = rhs ? mxcu_array<T>(rhs) : mxcu_number<T>(value);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    box b = box_of(call, &to->shape);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t inside = b.inside(at);
        y.put(at, inside < 0 ? x[at] : filling[inside]);
    });
}

static mxc_status assign(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from, const mxc_tensor *rhs,
                         double value) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, assign_elements, call, to, from, rhs, value)
}

static mxc_status slice_assign(const mxc_op_call *call) {
    return assign(call, &call->out[0], &call->in[LHS], &call->in[RHS], 0);
}

static mxc_status slice_assign_scalar(const mxc_op_call *call) {
    return assign(call, &call->out[0], &call->in[LHS], nullptr,
                  static_cast<const mxci_assign_params *>(call->params)->scalar);
}

/* 0 in the box. */
static mxc_status assign_backward(const mxc_op_call *call) {
    return assign(call, &call->in_grad[LHS], &call->out_grad[0], nullptr, 0);
}

/* rhs's first: lhs's may overwrite out's. */
static mxc_status slice_assign_backward(const mxc_op_call *call) {
    mxci_bounds bounds = mxci_box_bounds(&static_cast<const mxci_assign_params *>(call->params)->box);
    mxci_view view = mxci_view_bounds(&bounds, &call->out[0].shape);
    MXC_TRY(take(call, &call->in_grad[RHS], RHS, &view, &call->out_grad[0]));
    return assign_backward(call);
}

/* ---- another shape ----------------------------------------------------------------------------------------------- */

static mxc_status same_forward(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[0]);
}

static mxc_status same_backward(const mxc_op_call *call) {
    for (int i = 1; i < call->n_in; i++)
        MXC_TRY(mxcu_no_gradient(call, i));
    return mxcu_put(call, &call->in_grad[0], 0, &call->out_grad[0]);
}

#define TURN(name, view) \
    { name, view_forward<view>, turn_backward<view##_back> }
#define CUT(name, view) \
    { name, view_forward<view>, cut_backward<view> }
#define COPIES(name, view) \
    { name, view_forward<view>, copies_backward<view>, copies_temp_bytes<view> }

MXCU_OP_IMPLS(views, TURN("transpose", mxci_view_transpose), TURN("SwapAxis", mxci_view_swap),
              TURN("depth_to_space", mxci_view_to_space), TURN("space_to_depth", mxci_view_to_depth),
              {"reverse", view_forward<mxci_view_reverse>, turn_backward<mxci_view_reverse>},
              CUT("slice", mxci_view_slice), CUT("slice_axis", mxci_view_slice_axis),
              CUT("slice_like", mxci_view_slice_like), CUT("Crop", mxci_view_crop), COPIES("tile", mxci_view_tile),
              COPIES("repeat", mxci_view_repeat), {"_slice_assign", slice_assign, slice_assign_backward},
              {"_slice_assign_scalar", slice_assign_scalar, assign_backward}, {"Reshape", same_forward, same_backward},
              {"Flatten", same_forward, same_backward}, {"expand_dims", same_forward, same_backward},
              {"squeeze", same_forward, same_backward}, {"_identity_with_attr_like_rhs", same_forward, same_backward},
              {"reshape_like", same_forward, same_backward})

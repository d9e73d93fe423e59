/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reshape_like: the elements of lhs in their order, with the axes lhs_begin..lhs_end-1 replaced by the axes
 * rhs_begin..rhs_end-1 of rhs, which have as many elements. By default lhs takes all of rhs's shape. rhs is not read.
 */
#include "operator/index/rows.h"

enum { LHS, RHS };

typedef struct like_params {
    int64_t lhs_begin, lhs_end, rhs_begin, rhs_end;
} like_params;

#define BOUND(field, text)                                                                                            \
    {                                                                                                                 \
        .name = #field, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(like_params, field), .initial = "None", .optional = 1, \
        .bounded = 1, .minimum = -MXC_MAX_NDIM, .maximum = MXC_MAX_NDIM, .doc = text                                  \
    }

static const mxc_param schema[] = {
    BOUND(lhs_begin, "First axis of lhs that is replaced. Negative values count from the end. None: 0."),
    BOUND(lhs_end, "End of the axes of lhs that are replaced, exclusive. None: all that follow."),
    BOUND(rhs_begin, "First axis of rhs that is taken. Negative values count from the end. None: 0."),
    BOUND(rhs_end, "End of the axes of rhs that are taken, exclusive. None: all that follow."),
    MXC_PARAM_END,
};

/* Axes *begin..*end-1 of an argument of ndim axes. */
static mxc_status read_range(const mxc_op_sig *sig, const char *arg, int64_t given_begin, int64_t given_end, int ndim,
                             int *begin, int *end) {
    int64_t first = given_begin == MXC_PARAM_UNSET ? 0 : given_begin < 0 ? given_begin + ndim : given_begin;
    int64_t last = given_end == MXC_PARAM_UNSET ? ndim : given_end < 0 ? given_end + ndim : given_end;
    if (first < 0 || first > last || last > ndim)
        return mxc_sig_fail(sig, "argument '%s': axes %lld to %lld of %d axes make no range", arg, (long long)first,
                            (long long)last, ndim);
    *begin = (int)first;
    *end = (int)last;
    return MXC_OK;
}

static mxc_status check_sizes(const mxc_op_sig *sig, const mxc_shape *out) {
    char from[MXC_SHAPE_TEXT], to[MXC_SHAPE_TEXT];
    const mxc_shape *lhs = &sig->in_shape[LHS];
    if (mxc_shape_known(lhs) && mxc_shape_known(out) && mxc_shape_size(lhs) != mxc_shape_size(out))
        return mxc_sig_fail(sig, "argument 'lhs': shape %s has not as many elements as %s, which it takes after 'rhs'",
                            mxc_shape_format(lhs, from, sizeof from), mxc_shape_format(out, to, sizeof to));
    return MXC_OK;
}

/* Axes of lhs before the range, the range of rhs, axes of lhs behind the range. Where lhs is replaced as a whole its
 * own shape need not be known. */
static mxc_status reshape_like_infer_shape(mxc_op_sig *sig) {
    const like_params *p = sig->params;
    const mxc_shape *lhs = &sig->in_shape[LHS], *rhs = &sig->in_shape[RHS];
    int from = 0, to = 0, begin, end, whole = p->lhs_begin == MXC_PARAM_UNSET && p->lhs_end == MXC_PARAM_UNSET;
    mxc_shape out = {.ndim = 0};
    if (rhs->ndim < 0 || (lhs->ndim < 0 && !whole))
        return MXC_OK;
    MXC_TRY(read_range(sig, "rhs", p->rhs_begin, p->rhs_end, rhs->ndim, &begin, &end));
    if (lhs->ndim >= 0)
        MXC_TRY(read_range(sig, "lhs", p->lhs_begin, p->lhs_end, lhs->ndim, &from, &to));
    if (from + end - begin + (whole ? 0 : lhs->ndim - to) > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "the output would have more than %d axes", MXC_MAX_NDIM);
    for (int i = 0; i < from; i++)
        out.dim[out.ndim++] = lhs->dim[i];
    for (int i = begin; i < end; i++)
        out.dim[out.ndim++] = rhs->dim[i];
    for (int i = to; i < lhs->ndim; i++)
        out.dim[out.ndim++] = lhs->dim[i];
    MXC_TRY(check_sizes(sig, &out));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* rhs may be of another type. */
static mxc_status reshape_like_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){LHS, MXC_SLOT_OUT(0)}));
    if (sig->in_type[RHS] != MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    return mxc_sig_set_type(sig, RHS, sig->in_type[LHS]);
}

static mxc_status reshape_like_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[LHS]);
    return MXC_OK;
}

static mxc_status reshape_like_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[LHS], &call->in_grad[LHS], &call->out_grad[0]);
    mxci_assign_zero_gradient(call, RHS);
    return MXC_OK;
}

const mxc_op_def mxci_op_reshape_like = {
    .size = sizeof(mxc_op_def),
    .name = "reshape_like",
    .doc = "out = lhs reshaped to the shape of rhs, or with axes lhs_begin..lhs_end-1 replaced by axes "
           "rhs_begin..rhs_end-1 of rhs",
    .params = schema,
    .param_size = sizeof(like_params),
    .args = "lhs,rhs",
    .infer_shape = reshape_like_infer_shape,
    .infer_type = reshape_like_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(LHS), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), LHS}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = reshape_like_forward},
    .backward = {[MXC_CPU] = reshape_like_backward},
};

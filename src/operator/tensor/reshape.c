/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reshape: the same elements in the same order under another shape.
 *
 * shape is read from the left (reverse: from the right) beside data's axes. A positive number is a size and passes by
 * one axis of data; 0 copies an axis; -1, once, is inferred from the number of elements; -2 copies all axes that are
 * left; -3 merges two axes; -4 a b splits one axis into a and b, one of which may be -1. The older target_shape is
 * taken where shape is empty: 0, once, is inferred, and keep_highest copies data's first axis.
 */
#include <mxc/op.h>

#include "math/assign.h"

typedef struct reshape_params {
    mxc_tuple shape, target_shape;
    int32_t reverse, keep_highest;
} reshape_params;

static const mxc_param reshape_schema[] = {
    {MXC_PARAM_FIELD(reshape_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = -4, .maximum = 9.0e15,
     .doc = "Shape of the output: sizes, or 0 to copy an axis of data, -1 to infer one axis, -2 to copy the remaining "
            "axes, -3 to merge two axes, -4 to split one into the next two entries."},
    {MXC_PARAM_FIELD(reshape_params, reverse), .name = "reverse", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Match shape with the axes of data from the right."},
    {MXC_PARAM_FIELD(reshape_params, target_shape), .name = "target_shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = 0, .maximum = 9.0e15,
     .doc = "Older form, used if shape is empty: sizes, with 0 for one axis that is inferred."},
    {MXC_PARAM_FIELD(reshape_params, keep_highest), .name = "keep_highest", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "With target_shape: keep the first axis of data."},
    MXC_PARAM_END,
};

/* The shape being made, in reading order: data's axes with the next one to read, and the axes of the result so far. */
typedef struct shape_parser {
    mxc_op_sig *sig;
    mxc_shape from, to;
    int at, inferred; /* next axis of from; the axis of to that is inferred (-1 in shape), or -1 */
} shape_parser;

static mxc_status reshape_push(shape_parser *r, int64_t size) {
    if (r->to.ndim == MXC_MAX_NDIM)
        return mxc_sig_fail(r->sig, "shape gives more than %d axes", MXC_MAX_NDIM);
    r->to.dim[r->to.ndim++] = size;
    return MXC_OK;
}

static mxc_status next_axis(shape_parser *r, int64_t *size) {
    *size = -1;
    if (r->at >= r->from.ndim)
        return mxc_sig_fail(r->sig, "shape asks for more axes than the %d that data has", r->from.ndim);
    *size = r->from.dim[r->at++];
    return MXC_OK;
}

static mxc_status push_inferred(shape_parser *r) {
    if (r->inferred >= 0)
        return mxc_sig_fail(r->sig, "shape has more than one -1");
    r->inferred = r->to.ndim;
    r->at++;
    return reshape_push(r, -1);
}

static mxc_status merge(shape_parser *r) {
    int64_t a, b;
    MXC_TRY(next_axis(r, &a));
    MXC_TRY(next_axis(r, &b));
    return reshape_push(r, mxci_dim_mul(a, b));
}

static mxc_status split(shape_parser *r, int64_t a, int64_t b, int reverse) {
    int64_t size;
    MXC_TRY(next_axis(r, &size));
    if (a < -1 || b < -1 || a == 0 || b == 0 || (a == -1 && b == -1))
        return mxc_sig_fail(r->sig, "shape: -4 needs two sizes, one of which may be -1, found %lld and %lld",
                            (long long)a, (long long)b);
    if (size >= 0 && a == -1)
        a = size / b;
    if (size >= 0 && b == -1)
        b = size / a;
    if (size >= 0 && mxci_dim_mul(a, b) != size)
        return mxc_sig_fail(r->sig, "shape: -4 cannot split an axis of %lld elements into %lld x %lld", (long long)size,
                            (long long)a, (long long)b);
    MXC_TRY(reshape_push(r, reverse ? b : a));
    return reshape_push(r, reverse ? a : b);
}

/* Applies the code at *i and moves *i behind it. In reverse the codes are read from the right; a split may then be
 * written -4 a b or, as MXNet reads it, a b -4. */
static mxc_status parse_code(shape_parser *r, const mxc_tuple *codes, int reverse, int *i) {
    const int64_t *code = codes->value;
    int step = reverse ? -1 : 1, at = *i, first = reverse ? at - 2 : at; /* of a split */
    int64_t size;
    *i += step;
    if (reverse && code[at] == -4 && first >= 0) {
        *i += 2 * step;
        return split(r, code[first], code[first + 1], 1);
    }
    if (first >= 0 && first + 2 < codes->n && code[first] == -4) {
        *i += 2 * step;
        return split(r, code[first + 1], code[first + 2], reverse);
    }
    if (code[at] == -4)
        return mxc_sig_fail(r->sig, "shape: -4 needs two sizes behind it");
    if (code[at] == -3)
        return merge(r);
    if (code[at] == -1)
        return push_inferred(r);
    if (code[at] > 0) {
        r->at++;
        return reshape_push(r, code[at]);
    }
    for (int more = code[at] == 0 || r->at < r->from.ndim; more; more = code[at] == -2 && r->at < r->from.ndim) {
        MXC_TRY(next_axis(r, &size));
        MXC_TRY(reshape_push(r, size));
    }
    return MXC_OK;
}

static void reverse_axes(mxc_shape *shape) {
    for (int i = 0; i < shape->ndim / 2; i++) {
        int64_t swap = shape->dim[i];
        shape->dim[i] = shape->dim[shape->ndim - 1 - i];
        shape->dim[shape->ndim - 1 - i] = swap;
    }
}

/*
 * With reverse the codes are matched from the last axis: both shapes are turned round, the codes read from the end, and
 * the result is turned back, with the index of the axis to be inferred.
 */
static mxc_status parse_shape(shape_parser *r, const reshape_params *p) {
    if (p->reverse)
        reverse_axes(&r->from);
    for (int i = p->reverse ? p->shape.n - 1 : 0; i >= 0 && i < p->shape.n;)
        MXC_TRY(parse_code(r, &p->shape, p->reverse, &i));
    if (!p->reverse)
        return MXC_OK;
    reverse_axes(&r->from);
    reverse_axes(&r->to);
    r->inferred = r->inferred < 0 ? -1 : r->to.ndim - 1 - r->inferred;
    return MXC_OK;
}

/* The older parameter: sizes only, 0 for the one that is inferred; keep_highest keeps the first axis of data. */
static mxc_status parse_target_shape(shape_parser *r, const reshape_params *p) {
    for (int i = 0; i < p->target_shape.n; i++) {
        int64_t size = p->target_shape.value[i];
        if (i == 0 && p->keep_highest)
            MXC_TRY(reshape_push(r, r->from.ndim > 0 ? r->from.dim[0] : -1));
        else if (size == 0)
            MXC_TRY(push_inferred(r));
        else
            MXC_TRY(reshape_push(r, size));
    }
    return MXC_OK;
}

/* Product of the axes but one, -1 if it is not known. */
static int64_t size_without(const mxc_shape *shape, int axis) {
    mxc_shape others = *shape;
    if (axis >= 0)
        others.dim[axis] = 1;
    return mxc_shape_size(&others);
}

/* Fill the one unknown axis of shape so that it has size elements. */
static mxc_status fill_axis(mxc_op_sig *sig, mxc_shape *shape, int axis, int64_t size) {
    int64_t others = size_without(shape, axis);
    if (size < 0 || others < 0)
        return MXC_OK;
    if (others == 0 && size == 0)
        shape->dim[axis] = 0;
    else if (others == 0 || size % others != 0)
        return mxc_sig_fail(sig, "%lld elements cannot be divided by the %lld of the other axes", (long long)size,
                            (long long)others);
    else
        shape->dim[axis] = size / others;
    return MXC_OK;
}

/* The unknown axis, if there is just one; else -1. */
static int only_unknown(const mxc_shape *shape) {
    int axis = -1;
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0 && axis >= 0)
            return -1;
        axis = shape->dim[i] < 0 ? i : axis;
    }
    return axis;
}

/* data's one unknown axis from the output; both must have the same number of elements. */
static mxc_status infer_data(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[0], *out = &sig->out_shape[0];
    int axis = data->ndim < 0 ? -1 : only_unknown(data);
    char from[MXC_SHAPE_TEXT], to[MXC_SHAPE_TEXT];
    if (axis >= 0)
        MXC_TRY(fill_axis(sig, data, axis, mxc_shape_size(out)));
    if (mxc_shape_known(data) && mxc_shape_known(out) && mxc_shape_size(data) != mxc_shape_size(out))
        return mxc_sig_fail(sig, "argument 'data': shape %s has not as many elements as the output's %s",
                            mxc_shape_format(data, from, sizeof from), mxc_shape_format(out, to, sizeof to));
    return MXC_OK;
}

/* The codes need only the number of data's axes: where sizes are unknown, so are those that come of them. */
static mxc_status reshape_infer(mxc_op_sig *sig) {
    const reshape_params *p = sig->params;
    shape_parser r = {.sig = sig, .from = sig->in_shape[0], .inferred = -1};
    if (r.from.ndim < 0)
        return MXC_OK;
    MXC_TRY(p->shape.n > 0 ? parse_shape(&r, p) : parse_target_shape(&r, p));
    if (r.inferred >= 0)
        MXC_TRY(fill_axis(sig, &r.to, r.inferred, mxc_shape_size(&r.from)));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &r.to));
    return infer_data(sig);
}

/* Mostly in place (see inplace_forward), then mxci_assign finds the elements already there. */
static mxc_status reshape_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status reshape_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_reshape = {
    .size = sizeof(mxc_op_def),
    .name = "Reshape",
    .aliases = "reshape",
    .doc = "output = data with the same elements in the same order and another shape",
    .params = reshape_schema,
    .param_size = sizeof(reshape_params),
    .infer_shape = reshape_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = reshape_forward},
    .backward = {[MXC_CPU] = reshape_backward},
};

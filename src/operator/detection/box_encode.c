/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes relative to anchors. Of a box with centre x, y and size w, h, and an anchor with centre X, Y and size W, H:
 *
 * box_encode gives ((x - X) / W, (y - Y) / H, log(w / W), log(h / H)), minus means and divided by stds: targets for
 * training. box_decode is the inverse, with means of 0: predicted offsets become boxes (left, top, right, bottom).
 *
 * Computed in double. The gradients are 0, as in MXNet.
 */
#include "math/assign.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

/* The four numbers of row i. */
static void load_row(const mxc_tensor *t, int64_t i, double *row) {
    for (int k = 0; k < 4; k++)
        row[k] = mxci_value_at(t, i * 4 + k);
}

/* ---- box_encode -------------------------------------------------------------------------------------------------- */

enum { SAMPLES, MATCHES, ANCHORS, REFS, MEANS, STDS };
enum { TARGETS, MASKS };

static mxc_status encode_infer_shape(mxc_op_sig *sig) {
    const int pairs[] = {SAMPLES, MATCHES}, rows[] = {ANCHORS, MXC_SLOT_OUT(TARGETS), MXC_SLOT_OUT(MASKS)};
    const mxc_shape four = mxci_shape_of(1, (int64_t[]){4});
    mxc_shape pair = mxci_shape_axes(2), row = mxci_shape_of(3, (int64_t[]){-1, -1, 4}), refs = row;
    MXC_TRY(mxc_sig_set_shape(sig, REFS, &refs));
    pair.dim[0] = row.dim[0] = sig->in_shape[REFS].dim[0];
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, SAMPLES, &pair));
        MXC_TRY(mxci_sig_same_shape(sig, 2, pairs));
        row.dim[0] = sig->in_shape[SAMPLES].dim[0];
        row.dim[1] = sig->in_shape[SAMPLES].dim[1];
        MXC_TRY(mxc_sig_set_shape(sig, ANCHORS, &row));
        MXC_TRY(mxci_sig_same_shape(sig, 3, rows));
        pair.dim[0] = sig->in_shape[ANCHORS].dim[0];
        pair.dim[1] = sig->in_shape[ANCHORS].dim[1];
    }
    refs.dim[0] = pair.dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, REFS, &refs));
    MXC_TRY(mxc_sig_set_shape(sig, MEANS, &four));
    return mxc_sig_set_shape(sig, STDS, &four);
}

/* Samples above 0.5 are positive; the others have targets and masks of 0. */
static int is_positive(const mxc_op_call *call, int64_t i) {
    return mxci_value_at(&call->in[SAMPLES], i) > 0.5;
}

static void encode_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const int64_t n = call->in[SAMPLES].shape.dim[1], m = call->in[REFS].shape.dim[1];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int positive = is_positive(call, i);
        double anchor[4], box[4];
        if (positive) {
            load_row(&call->in[ANCHORS], i, anchor);
            load_row(&call->in[REFS], i / n * m + (int64_t)mxci_value_at(&call->in[MATCHES], i), box);
        }
        for (int k = 0; k < 4; k++) {
            const double value = positive
                                     ? (mxci_box_encode_number(anchor, box, k) - mxci_value_at(&call->in[MEANS], k)) /
                                           mxci_value_at(&call->in[STDS], k)
                                     : 0;
            mxci_assign_value(call->req[TARGETS], &call->out[TARGETS], i * 4 + k, value);
            mxci_assign_value(call->req[MASKS], &call->out[MASKS], i * 4 + k, positive);
        }
    }
}

/* The match of a positive sample must be a row of refs. */
static mxc_status encode_forward(const mxc_op_call *call) {
    const int64_t count = mxci_tensor_size(&call->in[SAMPLES]), m = call->in[REFS].shape.dim[1];
    for (int64_t i = 0; i < count; i++) {
        const double match = is_positive(call, i) ? mxci_value_at(&call->in[MATCHES], i) : 0;
        if (is_positive(call, i) && !(match >= 0 && match < (double)m))
            return MXC_FAIL(MXC_EINVAL,
                            "_contrib_box_encode: argument 'matches': element %lld is %g, expected 0 to %lld",
                            (long long)i, match, (long long)m - 1);
    }
    mxc_parallel_for(call->run, count, MXCI_GRAIN / 64, encode_part, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_box_encode = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_box_encode",
    .aliases = "box_encode",
    .doc =
        "Boxes relative to anchors, as targets for training: output0 (B,N,4) = ((x - X) / W, (y - Y) / H, log(w / W), "
        "log(h / H)), minus means, divided by stds, of the box of refs (B,M,4) that matches (B,N) names and the "
        "anchor of anchors (B,N,4), both given by corners, x, y the centre and w, h the size; output1 (B,N,4) is 1. "
        "Both are 0 where samples (B,N) is not above 0.5",
    .flags = MXC_OP_ZERO_GRADIENT,
    .args = "samples,matches,anchors,refs,means,stds",
    .outputs = "output0,output1",
    .infer_shape = encode_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = encode_forward},
};

/* ---- box_decode -------------------------------------------------------------------------------------------------- */

enum { DATA, DECODE_ANCHORS };

#define STD(i)                                                                                                  \
    {                                                                                                           \
        .name = "std" #i, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(mxci_decode_params, std[i]), .initial = "1", \
        .doc = "Factor of number " #i " of each row of data."                                                   \
    }
static const mxc_param decode_schema[] = {
    STD(0),
    STD(1),
    STD(2),
    STD(3),
    {MXC_PARAM_FIELD(mxci_decode_params, clip), .name = "clip", .type = MXC_PARAM_FLOAT, .initial = "-1",
     .doc = "Upper limit of the logarithms of the sizes. 0 or below: none."},
    {MXC_PARAM_FIELD(mxci_decode_params, format), .name = "format", .type = MXC_PARAM_ENUM, .initial = "center",
     .choices = "corner,center",
     .doc =
         "Format of anchors: corner is (left, top, right, bottom), center is (x, y, width, height) with the centre's "
         "coordinates."},
    MXC_PARAM_END,
};
#undef STD

static mxc_status decode_infer_shape(mxc_op_sig *sig) {
    mxc_shape anchors = mxci_shape_of(3, (int64_t[]){1, -1, 4}), data = mxci_shape_of(3, (int64_t[]){-1, -1, 4});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, DECODE_ANCHORS, &anchors));
        data.dim[1] = sig->in_shape[DECODE_ANCHORS].dim[1];
        MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
        anchors.dim[1] = sig->in_shape[DATA].dim[1];
    }
    return MXC_OK;
}

static void decode_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const int64_t n = call->in[DATA].shape.dim[1];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double data[4], anchor[4];
        load_row(&call->in[DATA], i, data);
        load_row(&call->in[DECODE_ANCHORS], i % n, anchor);
        for (int k = 0; k < 4; k++)
            mxci_assign_value(call->req[0], &call->out[0], i * 4 + k,
                              mxci_box_decode_number(call->params, data, anchor, k));
    }
}

static mxc_status decode_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]) / 4, MXCI_GRAIN / 64, decode_part, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_box_decode = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_box_decode",
    .aliases = "box_decode",
    .doc =
        "Boxes from offsets relative to anchors: output (B,N,4) with rows (left, top, right, bottom), centre X + dx "
        "std0 W, Y + dy std1 H and size W exp(dw std2), H exp(dh std3) for rows (dx, dy, dw, dh) of data (B,N,4) and "
        "anchors (1,N,4) of centre X, Y and size W, H",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = decode_schema,
    .param_size = sizeof(mxci_decode_params),
    .args = "data,anchors",
    .infer_shape = decode_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = decode_forward},
};

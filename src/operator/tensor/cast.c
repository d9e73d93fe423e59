/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions of the dtype, as mxc_ndarray_copy_to converts; gradients are converted back.
 *   Cast           to a dtype that is given
 *   amp_cast       the same for data of float32 and 16 bits; other data keeps its dtype
 *   amp_multicast  arguments of float32 and 16 bits to the widest, or narrowest, dtype of them
 * The latter two are what mixed precision inserts (amp: automatic mixed precision).
 */
#include "operator/tensor/cast.h"

#include <mxc/op.h>

#include "math/assign.h"
#include "operator/infer.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_cast_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .doc = "Dtype of out."},
    MXC_PARAM_END,
};

static mxc_status cast_infer_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_cast_params *)sig->params)->dtype);
}

/* Each argument becomes the output of its number. */
static mxc_status cast_forward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_out; i++)
        mxci_assign_cast(call->run, call->req[i], &call->out[i], &call->in[i]);
    return MXC_OK;
}

/* The gradient is converted the other way: in_grad has data's type. */
static mxc_status cast_backward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in; i++)
        mxci_assign_cast(call->run, call->req[i], &call->in_grad[i], &call->out_grad[i]);
    return MXC_OK;
}

/* ---- Cast ------------------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_cast = {
    .size = sizeof(mxc_op_def),
    .name = "Cast",
    .aliases = "cast",
    .flags = MXC_OP_ELEMENTWISE,
    .doc = "out = data converted to dtype; floats are truncated towards 0 to integers, with saturation",
    .params = schema,
    .param_size = sizeof(mxci_cast_params),
    .infer_type = cast_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = cast_forward},
    .backward = {[MXC_CPU] = cast_backward},
};

/* ---- amp_cast --------------------------------------------------------------------------------------------------- */

/* Dtypes between which mixed precision converts. */
static int is_amp_type(mxc_dtype dtype) {
    return dtype == MXC_F32 || dtype == MXC_F16 || dtype == MXC_BF16;
}

static mxc_status amp_cast_infer_type(mxc_op_sig *sig) {
    const mxc_dtype data = sig->in_type[0], wanted = (mxc_dtype)((const mxci_cast_params *)sig->params)->dtype;
    return data == MXC_DTYPE_UNKNOWN ? MXC_OK
                                     : mxc_sig_set_type(sig, MXC_SLOT_OUT(0), is_amp_type(data) ? wanted : data);
}

const mxc_op_def mxci_op_amp_cast = {
    .size = sizeof(mxc_op_def),
    .name = "amp_cast",
    .flags = MXC_OP_ELEMENTWISE,
    .doc = "out = data converted to dtype where data is float32, float16 or bfloat16; otherwise data",
    .params = schema,
    .param_size = sizeof(mxci_cast_params),
    .infer_type = amp_cast_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = cast_forward},
    .backward = {[MXC_CPU] = cast_backward},
};

/* ---- amp_multicast ---------------------------------------------------------------------------------------------- */

static const mxc_param multicast_schema[] = {
    {MXC_PARAM_FIELD(mxci_multicast_params, num_outputs), .name = "num_outputs", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 65536, .doc = "Number of arguments, and of outputs."},
    {MXC_PARAM_FIELD(mxci_multicast_params, cast_narrow), .name = "cast_narrow", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Convert to the narrowest dtype of the arguments; otherwise to the widest."},
    MXC_PARAM_END,
};

static int multicast_count_outputs(const void *params) {
    return (int)((const mxci_multicast_params *)params)->num_outputs;
}

/* Each argument has the shape of its output. */
static mxc_status multicast_infer_shape(mxc_op_sig *sig) {
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){i, MXC_SLOT_OUT(i)}));
    return MXC_OK;
}

/* Needs all dtypes. The wider of float16 and bfloat16, neither of which holds the other, is float32; the narrower is
 * the first of them. */
static mxc_status multicast_infer_type(mxc_op_sig *sig) {
    const int narrow = ((const mxci_multicast_params *)sig->params)->cast_narrow;
    mxc_dtype common = MXC_DTYPE_UNKNOWN;
    for (int i = 0; i < sig->n_in; i++) {
        const mxc_dtype type = sig->in_type[i];
        if (type == MXC_DTYPE_UNKNOWN)
            return MXC_OK;
        if (!is_amp_type(type) || type == common)
            continue;
        if (common == MXC_DTYPE_UNKNOWN)
            common = type;
        else if (narrow)
            common = common == MXC_F32 ? type : common;
        else
            common = MXC_F32;
    }
    for (int i = 0; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), is_amp_type(sig->in_type[i]) ? common : sig->in_type[i]));
    return MXC_OK;
}

const mxc_op_def mxci_op_amp_multicast = {
    .size = sizeof(mxc_op_def),
    .name = "amp_multicast",
    .doc = "outputs = the arguments of float32, float16 and bfloat16 converted to the widest of their dtypes, or with "
           "cast_narrow to the narrowest; the others as they are",
    .params = multicast_schema,
    .param_size = sizeof(mxci_multicast_params),
    .variadic = "num_outputs",
    .n_outputs = multicast_count_outputs,
    .infer_shape = multicast_infer_shape,
    .infer_type = multicast_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = MXC_NEED_ALL},
    .forward = {[MXC_CPU] = cast_forward},
    .backward = {[MXC_CPU] = cast_backward},
};

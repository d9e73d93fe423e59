/* SPDX-License-Identifier: Apache-2.0 */
/* khatri_rao: the column-wise Kronecker product of matrices (r_i,c): out (r_0 r_1 ...,c), each row of it the product,
 * column by column, of one row of every argument. The row of the last argument varies fastest. No gradient, as in
 * MXNet. */
#include "operator/linalg/khatri_rao.h"

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_khatri_rao_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = MXCI_KHATRI_RAO_MOST, .doc = "Number of matrices."},
    MXC_PARAM_END,
};

/* All have the same columns; out's rows are the product of the arguments' rows. */
static mxc_status khatri_rao_infer_shape(mxc_op_sig *sig) {
    mxc_shape shape = mxci_shape_axes(2), out = mxci_shape_axes(2);
    out.dim[0] = 1;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape.dim[1] = sig->out_shape[0].dim[1];
    for (int i = 0; i < sig->n_in; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, i, &shape));
        shape.dim[1] = sig->in_shape[i].dim[1];
        out.dim[0] = mxci_dim_mul(out.dim[0], sig->in_shape[i].dim[0]);
    }
    for (int i = 0; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &shape));
    out.dim[1] = shape.dim[1];
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* n <= MXCI_TILE columns of a row of out: the products in float64, rounded once. */
static void put_columns(const mxc_op_call *call, int64_t row, int64_t column, int64_t n) {
    const int64_t columns = call->out[0].shape.dim[1];
    double product[MXCI_TILE], factor[MXCI_TILE];
    int64_t rest = row;
    for (int i = call->n_in - 1; i >= 0; i--) {
        const mxc_tensor *a = &call->in[i];
        const int64_t at = rest % a->shape.dim[0];
        rest /= a->shape.dim[0];
        mxci_convert(a->dtype, mxci_at(a, at * columns + column), MXC_F64, factor, n);
        for (int64_t k = 0; k < n; k++)
            product[k] = i == call->n_in - 1 ? factor[k] : product[k] * factor[k];
    }
    mxci_assign_cast_row(call->req[0], MXC_F64, product, call->out[0].dtype,
                         mxci_at(&call->out[0], row * columns + column), n);
}

static void khatri_rao_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const int64_t columns = call->out[0].shape.dim[1];
    (void)part;
    for (int64_t row = begin; row < end; row++)
        for (int64_t at = 0; at < columns; at += MXCI_TILE)
            put_columns(call, row, at, columns - at < MXCI_TILE ? columns - at : MXCI_TILE);
}

static mxc_status khatri_rao_forward(const mxc_op_call *call) {
    const mxc_shape *out = &call->out[0].shape;
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, out->dim[0], MXCI_GRAIN / (out->dim[1] * call->n_in) + 1, khatri_rao_range,
                         (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_khatri_rao = {
    .size = sizeof(mxc_op_def),
    .name = "khatri_rao",
    .doc = "Khatri-Rao product, column by column the Kronecker product, of matrices (r_i,c): out (r_0 r_1 ...,c)",
    .params = schema,
    .param_size = sizeof(mxci_khatri_rao_params),
    .variadic = "num_args",
    .infer_shape = khatri_rao_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = khatri_rao_forward},
};

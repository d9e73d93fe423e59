/* What Pooling and its quantized form share: parameters, shapes, geometry. */
#ifndef MXCI_OPERATOR_POOLING_H
#define MXCI_OPERATOR_POOLING_H

#include "operator/common.h"
#include "operator/kernels/pooling.h"

typedef struct mxci_pooling_params {
    mxc_tuple kernel, stride, pad;
    int32_t global_pool, cudnn_off, pool_type, pooling_convention, count_include_pad, layout;
} mxci_pooling_params;

extern const mxc_param mxci_pooling_schema[];

mxc_status mxci_pooling_check(void *params);
/* Of slots data and output alone. */
mxc_status mxci_pooling_infer(mxc_op_sig *sig);
/* The pooling of one plane. */
mxci_pool_shape mxci_pooling_shape(const mxci_pooling_params *p, const mxc_shape *data, const mxc_shape *out);

#endif

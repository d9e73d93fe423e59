/* SPDX-License-Identifier: Apache-2.0 */
/* What BatchNorm and its quantized form share: the parameters. */
#ifndef MXCI_OPERATOR_NN_BATCH_NORM_H
#define MXCI_OPERATOR_NN_BATCH_NORM_H

#include <mxc/op.h>

typedef struct mxci_bn_params {
    double eps, momentum;
    int64_t axis;
    int32_t fix_gamma, use_global_stats, output_mean_var, cudnn_off;
} mxci_bn_params;

/* BatchNorm's own: the range of the output that a calibration found, which is of use to its quantized form alone. */
typedef struct mxci_bn_ranged_params {
    mxci_bn_params norm;
    double min_calib_range, max_calib_range;
} mxci_bn_ranged_params;

typedef struct mxci_sync_bn_params {
    mxci_bn_params norm;
    int64_t ndev;
    char key[128];
} mxci_sync_bn_params;

/* MXC_EUNSUPPORTED where _contrib_SyncBatchNorm would take its statistics over several devices. */
static inline mxc_status mxci_sync_bn_check(const mxc_op_call *call) {
    const mxci_sync_bn_params *p = (const mxci_sync_bn_params *)call->params;
    if (!call->is_train || p->norm.use_global_stats || p->ndev <= 1)
        return MXC_OK;
    return MXC_FAIL(MXC_EUNSUPPORTED,
                    "_contrib_SyncBatchNorm: in training ndev must be 1, found %lld: statistics over "
                    "several devices are not computed",
                    (long long)p->ndev);
}

/* The channels' axis of an array of ndim axes. */
static inline int mxci_bn_axis(const mxci_bn_params *p, int ndim) {
    return (int)(p->axis < 0 ? p->axis + ndim : p->axis);
}

/* The entries of a schema. at: what stands before the fields' names in the struct type: "norm." or nothing. */
#define MXCI_BN_SCHEMA(type_, at)                                                                               \
    {MXC_PARAM_FIELD(type_, at eps),                                                                            \
     .name = "eps",                                                                                             \
     .type = MXC_PARAM_FLOAT,                                                                                   \
     .initial = "0.001",                                                                                        \
     .bounded = 1,                                                                                              \
     .minimum = 0,                                                                                              \
     .maximum = 1e30,                                                                                           \
     .doc = "Added to the variance, for stability."},                                                           \
        {MXC_PARAM_FIELD(type_, at momentum), .name = "momentum", .type = MXC_PARAM_FLOAT, .initial = "0.9",    \
         .doc = "Share of the moving statistics that is kept in each training pass."},                          \
        {MXC_PARAM_FIELD(type_, at fix_gamma), .name = "fix_gamma", .type = MXC_PARAM_BOOL, .initial = "True",  \
         .doc = "Use 1 in place of gamma, whose gradient is 0."},                                               \
        {MXC_PARAM_FIELD(type_, at use_global_stats), .name = "use_global_stats", .type = MXC_PARAM_BOOL,       \
         .initial = "False", .doc = "Use the moving statistics in training too."},                              \
        {MXC_PARAM_FIELD(type_, at output_mean_var), .name = "output_mean_var", .type = MXC_PARAM_BOOL,         \
         .initial = "False", .doc = "Return the mean, and 1 / sqrt(var + eps), as outputs."},                   \
        {MXC_PARAM_FIELD(type_, at cudnn_off), .name = "cudnn_off", .type = MXC_PARAM_BOOL, .initial = "False", \
         .doc = "Accepted for compatibility with MXNet; has no effect."},                                       \
    {                                                                                                           \
        MXC_PARAM_FIELD(type_, at axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1,   \
                                         .minimum = -MXC_MAX_NDIM, .maximum = MXC_MAX_NDIM - 1,                 \
                                         .doc = "Axis of the channels. Negative values count from the end."     \
    }

#endif

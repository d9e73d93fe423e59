/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _sample_unique_zipfian: for each of B rows, n different classes of 0..range_max-1 from an approximately log-uniform
 * distribution, P(c) = log((c + 2) / (c + 1)) / log(range_max + 1), and how many draws it took to find them. Candidates
 * for a sampled softmax; shape is (B, n). Where n is close to range_max the last classes take many draws, at most 1,000
 * n.
 */
#include "operator/random/zipfian.h"

#include "math/assign.h"
#include "operator/infer.h"

enum { CLASSES, TRIES };

static mxc_status check_zipfian(void *params) {
    const mxci_zipfian_params *p = params;
    if (p->shape.n != 2)
        return MXC_FAIL(MXC_EINVAL, "_sample_unique_zipfian: shape has %d axes, expected (rows, classes)",
                        (int)p->shape.n);
    if (p->shape.value[1] > p->range_max)
        return MXC_FAIL(MXC_EINVAL, "_sample_unique_zipfian: shape asks for %lld different classes of range_max %lld",
                        (long long)p->shape.value[1], (long long)p->range_max);
    return MXC_OK;
}

static mxc_status infer_zipfian_shape(mxc_op_sig *sig) {
    const mxci_zipfian_params *p = sig->params;
    const mxc_shape classes = mxci_shape_of(2, p->shape.value), tries = mxci_shape_of(1, p->shape.value);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(CLASSES), &classes));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(TRIES), &tries);
}

static mxc_status infer_zipfian_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(CLASSES), MXC_I64));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(TRIES), MXC_I64);
}

static uint64_t count_zipfian(const mxc_op_sig *sig) {
    return (uint64_t)((const mxci_zipfian_params *)sig->params)->shape.value[0];
}

/* Scratch: the results of all rows, then a hash table for each. */
typedef struct zipfian_scratch {
    int64_t *classes, *tries, *table;
} zipfian_scratch;

static zipfian_scratch take_zipfian(mxci_scratch *s, const mxci_zipfian_params *p) {
    const int64_t rows = p->shape.value[0], n = p->shape.value[1];
    zipfian_scratch b;
    b.classes = mxci_scratch_array(s, mxci_dim_mul(rows, n), sizeof(int64_t));
    b.tries = mxci_scratch_array(s, rows, sizeof(int64_t));
    b.table = mxci_scratch_array(s, mxci_dim_mul(rows, mxci_zipfian_slots(n)), sizeof(int64_t));
    return b;
}

static size_t zipfian_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_scratch measure = {0};
    (void)pass;
    take_zipfian(&measure, sig->params);
    return measure.bytes;
}

static void zipfian_rows(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_zipfian_params *p = call->params;
    const int64_t n = p->shape.value[1], slots = mxci_zipfian_slots(n);
    const zipfian_scratch b = take_zipfian(&(mxci_scratch){.base = call->temp}, p);
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        mxc_draws draws = {call->random.seed, call->random.stream, call->random.offset + (uint64_t)row, 0};
        b.tries[row] = mxci_zipfian_row(&draws, p->range_max, n, slots, b.table + row * slots, b.classes + row * n);
    }
}

static mxc_status zipfian(const mxc_op_call *call) {
    const mxci_zipfian_params *p = call->params;
    const zipfian_scratch b = take_zipfian(&(mxci_scratch){.base = call->temp}, p);
    mxc_tensor classes = call->out[CLASSES], tries = call->out[TRIES];
    if (p->shape.value[0] == 0)
        return MXC_OK;
    mxc_parallel_for(call->run, p->shape.value[0], 1, zipfian_rows, (void *)call);
    classes.data = b.classes;
    tries.data = b.tries;
    mxci_assign(call->run, call->req[CLASSES], &call->out[CLASSES], &classes);
    mxci_assign(call->run, call->req[TRIES], &call->out[TRIES], &tries);
    return MXC_OK;
}

static const mxc_param zipfian_schema[] = {
    {MXC_PARAM_FIELD(mxci_zipfian_params, range_max), .name = "range_max", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 2147483647, .doc = "Number of classes."},
    {MXC_PARAM_FIELD(mxci_zipfian_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 0,
     .maximum = 2147483647, .doc = "Number of rows, and of different classes in each."},
    MXC_PARAM_END,
};

const mxc_op_def mxci_op_sample_unique_zipfian = {
    .size = sizeof(mxc_op_def),
    .name = "_sample_unique_zipfian",
    .doc = "For each row, different classes of 0..range_max-1 drawn with probability log((c + 2) / (c + 1)) / "
           "log(range_max + 1): samples (rows,classes), and how many draws each row took, num_tries (rows,)",
    .args = "",
    .outputs = "samples,num_tries",
    .params = zipfian_schema,
    .param_size = sizeof(mxci_zipfian_params),
    .params_check = check_zipfian,
    .infer_shape = infer_zipfian_shape,
    .infer_type = infer_zipfian_type,
    .dtypes = MXC_DTYPE_BIT(MXC_I64),
    .flags = MXC_OP_ZERO_GRADIENT,
    .random_count = count_zipfian,
    .temp_bytes = zipfian_bytes,
    .forward = {[MXC_CPU] = zipfian},
};

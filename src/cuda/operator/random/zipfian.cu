/* SPDX-License-Identifier: Apache-2.0 */
/* _sample_unique_zipfian, with the same classes as on the CPU for a seed; a thread per row. */
#include "operator/random/zipfian.h"

#include "cuda/operator/random/random.h"

enum { CLASSES, TRIES };

/* Scratch of each row: its classes, then its hash table. */
static int64_t words_of(const mxci_zipfian_params *p) {
    return p->shape.value[1] + mxci_zipfian_slots(p->shape.value[1]);
}

static size_t zipfian_bytes(const mxc_op_sig *sig, mxc_pass) {
    const mxci_zipfian_params *p = static_cast<const mxci_zipfian_params *>(sig->params);
    return mxci_size_of(mxci_dim_mul(p->shape.value[0], words_of(p)), sizeof(int64_t));
}

static mxc_status zipfian(const mxc_op_call *call) {
    const mxci_zipfian_params *p = static_cast<const mxci_zipfian_params *>(call->params);
    const int64_t range_max = p->range_max, n = p->shape.value[1], slots = mxci_zipfian_slots(n), words = words_of(p);
    const mxcu_random random = mxcu_random_of(call);
    mxcu_out<int64_t> classes = mxcu_wanted<int64_t>(call, &call->out[CLASSES], CLASSES);
    mxcu_out<int64_t> tries = mxcu_wanted<int64_t>(call, &call->out[TRIES], TRIES);
    int64_t *temp = mxcu_temp<int64_t>(call, 0);
    return mxcu_for(call, p->shape.value[0], [=] MXCU_LAMBDA(int64_t row) {
        const mxc_random range = random.range();
        mxc_draws draws = {range.seed, range.stream, range.offset + (uint64_t)row, 0};
        int64_t *found = temp + row * words;
        const int64_t took = mxci_zipfian_row(&draws, range_max, n, slots, found + n, found);
        for (int64_t i = 0; classes.data && i < n; i++)
            classes.put(row * n + i, found[i]);
        if (tries.data)
            tries.put(row, took);
    });
}

MXCU_OP_IMPLS(zipfian, {"_sample_unique_zipfian", zipfian, nullptr, zipfian_bytes})

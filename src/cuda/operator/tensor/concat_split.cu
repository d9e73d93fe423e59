/* SPDX-License-Identifier: Apache-2.0 */
/* Concatenation and splitting (tensor/concat_split.h), with one launch per part, a thread per element of the part. */
#include "cuda/operator/tensor/concat_split.h"

template <class T>
static mxc_status concat_part_as(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *part,
                                 mxcu_concat_part where) {
    mxcu_in<T> x = mxcu_data<T>(part);
    mxcu_out<T> y = mxcu_result<T>(call, whole, 0);
    return mxcu_for(call, mxcu_size(part), [=] MXCU_LAMBDA(int64_t at) { y.put(where(at), x[at]); });
}

template <class T>
static mxc_status split_part_as(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *part, int i,
                                mxcu_concat_part where) {
    mxcu_in<T> x = mxcu_data<T>(whole);
    mxcu_out<T> y = mxcu_result<T>(call, part, i);
    return mxcu_for(call, mxcu_size(part), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x[where(at)]); });
}

static mxc_status concat_part(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *part,
                              mxcu_concat_part where) {
    MXCU_SWITCH_ALL(whole->dtype, concat_part_as, call, whole, part, where)
}

static mxc_status split_part(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *part, int i,
                             mxcu_concat_part where) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(whole->dtype, split_part_as, call, whole, part, i, where)
}

mxc_status mxcu_concat(const mxc_op_call *call, const mxc_tensor *whole, int n, const mxc_tensor *parts, int axis) {
    int64_t outer = mxci_shape_count(&whole->shape, 0, axis), offset = 0;
    for (int i = 0; i < n && call->req[0] != MXC_REQ_NULL; i++) {
        const mxcu_concat_part where = mxcu_concat_part_of(whole, &parts[i], outer, offset);
        MXC_TRY(concat_part(call, whole, &parts[i], where));
        offset += where.n;
    }
    return MXC_OK;
}

mxc_status mxcu_split(const mxc_op_call *call, const mxc_tensor *whole, int n, const mxc_tensor *parts, int axis) {
    int64_t outer = mxci_shape_count(&whole->shape, 0, axis), offset = 0;
    for (int i = 0; i < n; i++) {
        const mxcu_concat_part where = mxcu_concat_part_of(whole, &parts[i], outer, offset);
        MXC_TRY(split_part(call, whole, &parts[i], i, where));
        offset += where.n;
    }
    return MXC_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _CrossDeviceCopy: the same values on another context. The executor inserts it where an array is used on another
 * context than the one that computes it. It runs as a host function on every device and calls the device's own copy
 * where the host cannot address the memory.
 */
#include <mxc/op.h>

#include "engine/device/run_memory.h"
#include "math/assign.h"
#include "ndarray/array.h"
#include "resource/temp.h"

/* *out = t in host memory: t itself where the host can address it, else a copy at `at`. */
static mxc_status cross_device_copy_fetch(const mxc_run *run, const mxc_tensor *t, void *at, mxc_tensor *out) {
    *out = *t;
    if (mxci_on_host(t->context))
        return MXC_OK;
    out->data = at;
    out->context = mxc_cpu(0);
    return mxci_run_copy(run, out->context, at, t->context, t->data, mxci_tensor_bytes(t));
}

/* to += from on the host: copies both to the host, adds, and copies the sum back. */
static mxc_status cross_device_copy_add(const mxc_run *run, const mxc_tensor *to, const mxc_tensor *from) {
    mxc_run host = *run;
    mxc_tensor sum, term;
    size_t room = mxci_size_align(mxci_tensor_bytes(to));
    void *temp;
    host.context = mxc_cpu(0);
    MXC_TRY(mxci_temp_get(&host, mxci_size_mul(2, room), &temp));
    MXC_TRY(cross_device_copy_fetch(run, to, temp, &sum));
    MXC_TRY(cross_device_copy_fetch(run, from, (char *)temp + room, &term));
    mxci_assign(&host, MXC_REQ_ADD, &sum, &term);
    if (sum.data == to->data)
        return MXC_OK;
    return mxci_run_copy(run, to->context, to->data, host.context, sum.data, mxci_tensor_bytes(to));
}

/* The GPU adds nothing itself: an addition across devices is made on the host. */
static mxc_status cross_device_copy(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from) {
    if (mxci_on_host(to->context) && mxci_on_host(from->context))
        mxci_assign(run, req, to, from);
    else if (req == MXC_REQ_ADD)
        return cross_device_copy_add(run, to, from);
    else if (req != MXC_REQ_NULL && to->data != from->data && mxci_tensor_bytes(to) > 0)
        return mxci_run_copy(run, to->context, to->data, from->context, from->data, mxci_tensor_bytes(to));
    return MXC_OK;
}

static mxc_status copy_forward(const mxc_op_call *call) {
    return cross_device_copy(call->run, call->req[0], &call->out[0], &call->in[0]);
}

static mxc_status copy_backward(const mxc_op_call *call) {
    return cross_device_copy(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
}

const mxc_op_def mxci_op_cross_device_copy = {
    .size = sizeof(mxc_op_def),
    .name = "_CrossDeviceCopy",
    .doc = "output = data, copied to another context",
    .flags = MXC_OP_HIDDEN,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = copy_forward, [MXC_GPU] = copy_forward},
    .backward = {[MXC_CPU] = copy_backward, [MXC_GPU] = copy_backward},
};

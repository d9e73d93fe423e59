/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host fallback: computes on the host what a device has no implementation of. The arrays are copied to host
 * scratch, the CPU implementation runs there, and the results are copied back. Correct for every operator, and slow:
 * the device and the host wait for each other. `mxc ops --missing gpu` lists the operators that use it.
 */
#include <string.h>

#include "base/device.h"
#include "base/sys.h"
#include "math/assign.h"
#include "operator/op_impl.h"
#include "resource/temp.h"

/* One run on the host. Slots in order: in, out, aux, and in backward out_grad and in_grad. */
typedef struct fallback_run {
    const mxc_op_call *call;
    const mxc_op_def *def;
    mxc_pass pass;
    mxc_context context; /* of the arrays */
    const mxci_device *device;
    mxc_run run; /* as if the context were the host's */
    int n_slots, n_req;
    mxc_tensor *tensors; /* by slot, with data in scratch where the call has data */
    mxc_req *req;
    mxc_op_sig sig;
    size_t temp_bytes;
    char *temp;
} fallback_run;

/* The call's tensor in a slot. */
static const mxc_tensor *given(const fallback_run *s, int slot) {
    const mxc_op_call *c = s->call;
    const mxc_tensor *const groups[] = {c->in, c->out, c->aux, c->out_grad, c->in_grad};
    const int sizes[] = {c->n_in, c->n_out, c->n_aux, c->n_out, c->n_in};
    int group = 0;
    for (; slot >= sizes[group]; group++)
        slot -= sizes[group];
    return groups[group] + slot;
}

/* The first slot that the run writes: outputs and auxiliary states in forward, gradients of arguments in backward. */
static int first_changed(const fallback_run *s) {
    return s->pass == MXC_FORWARD ? s->call->n_in : s->n_slots - s->call->n_in;
}

static mxc_req request(const fallback_run *s, int slot) {
    int at = slot - first_changed(s);
    if (at < 0)
        return MXC_REQ_NULL;
    return at < s->n_req ? s->call->req[at] : MXC_REQ_ADD; /* auxiliary states are read and changed */
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/* Shapes and types as one group of the signature. */
static void host_fallback_describe(const fallback_run *s, int first, int n, mxc_shape *shapes, mxc_dtype *types) {
    for (int i = 0; i < n; i++) {
        shapes[i] = given(s, first + i)->shape;
        types[i] = given(s, first + i)->dtype;
    }
}

static void make_sig(fallback_run *s, mxc_shape *shapes, mxc_dtype *types) {
    const mxc_op_call *c = s->call;
    host_fallback_describe(s, 0, c->n_in + c->n_out + c->n_aux, shapes, types);
    s->sig = (mxc_op_sig){.op = c->op,
                          .params = c->params,
                          .n_in = c->n_in,
                          .n_out = c->n_out,
                          .n_aux = c->n_aux,
                          .context = s->run.context,
                          .is_train = c->is_train,
                          .parallelism = s->run.engine ? mxc_engine_parallelism(s->run.engine) : 1};
    s->sig.in_shape = shapes;
    s->sig.out_shape = shapes + c->n_in;
    s->sig.aux_shape = s->sig.out_shape + c->n_out;
    s->sig.in_type = types;
    s->sig.out_type = types + c->n_in;
    s->sig.aux_type = s->sig.out_type + c->n_out;
}

/* Hands out the tables by slot, or measures them where `from` has no base. */
static void host_fallback_take_tables(fallback_run *s, mxci_scratch *from) {
    mxc_shape *shapes;
    mxc_dtype *types;
    s->tensors = mxci_scratch_array(from, s->n_slots, sizeof *s->tensors);
    shapes = mxci_scratch_array(from, s->n_slots, sizeof *shapes);
    types = mxci_scratch_array(from, s->n_slots, sizeof *types);
    s->req = mxci_scratch_array(from, s->n_req, sizeof *s->req);
    if (from->base)
        make_sig(s, shapes, types);
}

/* Hands out host memory for the slots that have data; without a base only measures. */
static void take_data(fallback_run *s, mxci_scratch *from) {
    for (int i = 0; i < s->n_slots; i++) {
        void *data = given(s, i)->data ? mxci_scratch_take(from, mxci_tensor_bytes(given(s, i))) : NULL;
        if (!from->base)
            continue;
        s->tensors[i] = *given(s, i);
        s->tensors[i].context = s->run.context;
        s->tensors[i].data = data;
    }
}

/* Two steps, since the bytes of the operator's scratch follow from the signature, which is in scratch itself: first the
 * tables alone, then one block with the tables, the data and the operator's scratch. */
static mxc_status host_fallback_take_scratch(fallback_run *s) {
    mxci_op_impl impl;
    mxci_scratch tables = {0}, all = {0}, use = {0};
    void *block;
    host_fallback_take_tables(s, &tables);
    MXC_TRY(mxci_temp_get(&s->run, tables.bytes, &block));
    host_fallback_take_tables(s, &(mxci_scratch){.base = block});
    mxci_op_impl_get(s->def, MXC_CPU, &impl);
    MXC_TRY(mxci_op_impl_temp(&impl, &s->sig, s->pass, &s->temp_bytes));
    host_fallback_take_tables(s, &all);
    take_data(s, &all);
    mxci_scratch_take(&all, s->temp_bytes);
    MXC_TRY(mxci_temp_get(&s->run, all.bytes, &block));
    use.base = block;
    host_fallback_take_tables(s, &use);
    take_data(s, &use);
    s->temp = s->temp_bytes ? mxci_scratch_take(&use, s->temp_bytes) : NULL;
    return MXC_OK;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Copies what the run reads to the host: inputs, and results that are added to. */
static mxc_status host_fallback_fetch(fallback_run *s) {
    for (int i = 0; i < s->n_slots; i++) {
        mxc_req req = request(s, i);
        size_t bytes = mxci_tensor_bytes(given(s, i));
        int is_read = i < first_changed(s) || req == MXC_REQ_ADD;
        if (is_read && given(s, i)->data && bytes)
            MXC_TRY(s->device->copy_now(s->run.context, s->tensors[i].data, s->context, given(s, i)->data, bytes));
    }
    return MXC_OK;
}

/* Copies the requested results back. */
static mxc_status send(fallback_run *s) {
    for (int i = first_changed(s); i < s->n_slots; i++) {
        size_t bytes = mxci_tensor_bytes(given(s, i));
        if (request(s, i) != MXC_REQ_NULL && given(s, i)->data && bytes)
            MXC_TRY(s->device->copy_now(s->context, given(s, i)->data, s->run.context, s->tensors[i].data, bytes));
    }
    return MXC_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static mxc_status host_fallback_compute(fallback_run *s, mxc_op_compute_fn fn) {
    mxc_op_call call = *s->call;
    for (int i = 0; i < s->n_req; i++) /* outputs have memory of their own here */
        s->req[i] = s->call->req[i] == MXC_REQ_INPLACE ? MXC_REQ_WRITE : s->call->req[i];
    call.run = s->call->run ? &s->run : NULL;
    call.in = s->tensors;
    call.out = call.in + call.n_in;
    call.aux = call.out + call.n_out;
    if (s->pass == MXC_BACKWARD) {
        call.out_grad = call.aux + call.n_aux;
        call.in_grad = call.out_grad + call.n_out;
    }
    call.req = s->req;
    call.temp = s->temp;
    call.temp_bytes = s->temp_bytes;
    return fn(&call);
}

/* Blocks: first until the device's stream has computed the arguments, then for the copies. */
static mxc_status host_fallback_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn fn) {
    fallback_run s = {.call = call, .def = mxc_op_get_def(call->op), .pass = pass};
    s.context = call->run ? call->run->context : call->n_in ? call->in[0].context : call->out[0].context;
    MXC_TRY(mxci_device_get(s.context, &s.device));
    if (call->run) {
        s.run = *call->run;
        MXC_TRY(s.device->stream_synchronize ? s.device->stream_synchronize(s.context, s.run.stream) : MXC_OK);
    }
    s.run.context = mxc_cpu(0);
    s.run.stream = NULL;
    s.n_slots = call->n_in + call->n_out + call->n_aux + (pass == MXC_BACKWARD ? call->n_out + call->n_in : 0);
    s.n_req = pass == MXC_FORWARD ? call->n_out : call->n_in;
    MXC_TRY(host_fallback_take_scratch(&s));
    MXC_TRY(host_fallback_fetch(&s));
    MXC_TRY(host_fallback_compute(&s, fn));
    return send(&s);
}

mxc_status mxci_host_fallback_forward(const mxc_op_call *call) {
    mxci_op_impl host;
    mxci_op_impl_get(mxc_op_get_def(call->op), MXC_CPU, &host);
    return host_fallback_run(call, MXC_FORWARD, host.forward);
}

mxc_status mxci_host_fallback_backward(const mxc_op_call *call) {
    mxci_op_impl host;
    mxci_op_impl_get(mxc_op_get_def(call->op), MXC_CPU, &host);
    return host_fallback_run(call, MXC_BACKWARD, host.backward);
}

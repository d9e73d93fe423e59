/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions compute an operator on a device: the descriptor's, a module's, or the host fallback's. */
#include "operator/op_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/module.h"
#include "base/options.h"
#include "math/assign.h"
#include "operator/converted_call.h"
#include "operator/part.h"

static int by_name(const void *name, const void *impl) {
    return strcmp(name, ((const mxci_op_impl *)impl)->name);
}

/* The module's table is sorted by name. NULL if the module has no entry, or if it is not loaded. */
static const mxci_op_impl *module_impl(const mxc_op_def *def, mxc_device device) {
    const mxci_module *module;
    if (mxci_module_get(device, &module) != MXC_OK)
        return NULL;
    return bsearch(def->name, module->op_impls, (size_t)module->n_op_impls, sizeof(mxci_op_impl), by_name);
}

/* That of a part, else the descriptor's own. */
static mxci_op_impl program_impl(const mxc_op_def *def, mxc_device device) {
    const mxc_op_part *part = mxci_part_find(def, device);
    if (part)
        return (mxci_op_impl){.name = def->name,
                              .forward = part->forward,
                              .backward = part->backward,
                              .temp_bytes = part->temp_bytes,
                              .state_create = part->state_create,
                              .state_destroy = part->state_destroy};
    return (mxci_op_impl){.name = def->name,
                          .forward = def->forward[device],
                          .backward = def->backward[device],
                          .temp_bytes = def->temp_bytes,
                          .state_create = def->state_create,
                          .state_destroy = def->state_destroy};
}

/* Backward of MXC_OP_ZERO_GRADIENT on the host. */
static mxc_status zero_gradient(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in; i++)
        if (call->req[i] != MXC_REQ_ADD)
            mxci_assign_constant(call->run, call->req[i], &call->in_grad[i], 0);
    return MXC_OK;
}

/* The CPU's functions, wrapped by the conversions (converted_call.h) that the descriptor asks for. */
static mxci_op_impl unchecked_impl(const mxc_op_def *def) {
    mxci_op_impl impl = program_impl(def, MXC_CPU);
    if (impl.forward && mxci_is_converted(def) && !mxci_part_find(def, MXC_CPU)) {
        impl.forward = mxci_converted_forward;
        impl.backward = impl.backward ? mxci_converted_backward : NULL;
        impl.temp_bytes = mxci_converted_temp;
    }
    if (!impl.backward && (def->flags & MXC_OP_ZERO_GRADIENT))
        impl.backward = zero_gradient;
    return impl;
}

static mxc_status checked_forward(const mxc_op_call *call) {
    const mxc_op_def *def = mxc_op_get_def(call->op);
    MXC_TRY(def->check_values(call));
    return unchecked_impl(def).forward(call);
}

static mxci_op_impl host_impl(const mxc_op_def *def) {
    mxci_op_impl impl = unchecked_impl(def);
    if (def->check_values && impl.forward && mxci_option_get(MXCI_OPT_MXC_CHECK_VALUES))
        impl.forward = checked_forward;
    return impl;
}

/* For each pass that the device lacks. The state is the CPU implementation's, and scratch is taken on the host by the
 * fallback itself. */
static void fall_back_to_host(const mxc_op_def *def, mxci_op_impl *impl) {
    mxci_op_impl host = host_impl(def);
    if (!impl->forward && host.forward)
        impl->forward = mxci_host_fallback_forward;
    if (!impl->backward && host.backward)
        impl->backward = mxci_host_fallback_backward;
}

/* The program's functions for the device go before the module's, so that a program can replace an operator. Without a
 * forward function of its own the device needs no scratch: the fallback measures the host's. */
void mxci_op_impl_get(const mxc_op_def *def, mxc_device device, mxci_op_impl *out) {
    const mxci_op_impl *own;
    if (device == MXC_CPU || device == MXC_CPU_PINNED) {
        *out = host_impl(def);
        return;
    }
    *out = program_impl(def, device);
    own = out->forward ? NULL : module_impl(def, device);
    if (own)
        *out = *own;
    if (!out->forward)
        out->temp_bytes = NULL;
    fall_back_to_host(def, out);
}

int mxci_op_impl_is_of_module(const mxc_op_def *def, mxc_device device, mxc_pass pass) {
    return !program_impl(def, device).forward && mxc_op_place(def, device, pass) == MXC_PLACE_DEVICE;
}

int mxci_op_has_backward(const mxc_op_def *def) {
    for (int i = MXC_CPU; i < MXC_DEVICE_LIMIT; i++)
        if (def->backward[i] || program_impl(def, (mxc_device)i).backward)
            return 1;
    return 0;
}

const char *mxci_op_impl_hint(const mxc_op_def *def) {
    return def->flags & MXC_OP_PARTS
               ? "; no part for this device is registered: load the library that has it (mxc_op_load)"
               : "";
}

mxc_status mxci_op_impl_temp(const mxci_op_impl *impl, const mxc_op_sig *sig, mxc_pass pass, size_t *out) {
    char text[MXC_SHAPE_TEXT];
    *out = impl->temp_bytes ? impl->temp_bytes(sig, pass) : 0;
    if (mxci_size_fits(*out))
        return MXC_OK;
    *out = 0;
    return MXC_FAIL(MXC_ENOMEM, "%s: needs more scratch than memory can have, for an output of shape %s", impl->name,
                    sig->n_out ? mxc_shape_format(&sig->out_shape[0], text, sizeof text) : "()");
}

static int has_elements(int n, const mxc_shape *shapes, const mxc_req *req) {
    for (int i = 0; i < n; i++)
        if ((!req || req[i] != MXC_REQ_NULL) && mxc_shape_size(&shapes[i]) != 0)
            return 1;
    return 0;
}

int mxci_has_work(const mxc_op_sig *sig, mxc_pass pass, const mxc_req *req) {
    if (mxc_op_get_def(sig->op)->flags & MXC_OP_CALLBACK)
        return 1;
    if (pass == MXC_BACKWARD)
        return has_elements(sig->n_in, sig->in_shape, req);
    return has_elements(sig->n_out, sig->out_shape, req) || has_elements(sig->n_aux, sig->aux_shape, NULL);
}

mxc_status mxci_compute_nothing(const mxc_op_call *call) {
    (void)call;
    return MXC_OK;
}

mxc_place mxc_op_place(const mxc_op_def *def, mxc_device device, mxc_pass pass) {
    if (!def)
        return MXC_PLACE_NONE;
    mxci_op_impl impl;
    mxc_op_compute_fn fn;
    mxci_op_impl_get(def, device, &impl);
    fn = pass == MXC_FORWARD ? impl.forward : impl.backward;
    if (!fn)
        return MXC_PLACE_NONE;
    return fn == mxci_host_fallback_forward || fn == mxci_host_fallback_backward ? MXC_PLACE_HOST : MXC_PLACE_DEVICE;
}

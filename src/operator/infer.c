/* SPDX-License-Identifier: Apache-2.0 */
/* Inference of shapes and types: merging what is known, and messages that name operator, slot, expected and found. */
#include "operator/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"

/* ---- slots ------------------------------------------------------------------------------------------------------- */

mxc_shape *mxci_sig_shape(mxc_op_sig *sig, int slot) {
    if (slot >= MXC_SLOT_AUX(0))
        return &sig->aux_shape[slot - MXC_SLOT_AUX(0)];
    return slot >= MXC_SLOT_OUT(0) ? &sig->out_shape[slot - MXC_SLOT_OUT(0)] : &sig->in_shape[slot];
}

mxc_dtype *mxci_sig_type(mxc_op_sig *sig, int slot) {
    if (slot >= MXC_SLOT_AUX(0))
        return &sig->aux_type[slot - MXC_SLOT_AUX(0)];
    return slot >= MXC_SLOT_OUT(0) ? &sig->out_type[slot - MXC_SLOT_OUT(0)] : &sig->in_type[slot];
}

/* "argument 'weight'", "output 'mean'", "auxiliary state 'moving_mean'". */
static const char *describe_slot(const mxc_op_sig *sig, int slot, char *out, size_t size) {
    char name[64];
    if (slot >= MXC_SLOT_AUX(0))
        snprintf(out, size, "auxiliary state '%s'",
                 mxc_op_aux_name(sig->op, slot - MXC_SLOT_AUX(0), name, sizeof name));
    else if (slot >= MXC_SLOT_OUT(0))
        snprintf(out, size, "output '%s'", mxc_op_output_name(sig->op, slot - MXC_SLOT_OUT(0), name, sizeof name));
    else
        snprintf(out, size, "argument '%s'", mxc_op_arg_name(sig->op, slot, name, sizeof name));
    return out;
}

static const char *sig_name(const mxc_op_sig *sig) {
    return mxc_op_get_def(sig->op)->name;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

mxc_shape mxci_shape_axes(int ndim) {
    mxc_shape shape = {.ndim = ndim};
    for (int i = 0; i < ndim; i++)
        shape.dim[i] = -1;
    return shape;
}

mxc_shape mxci_shape_of(int ndim, const int64_t *dims) {
    mxc_shape shape = {.ndim = ndim};
    for (int i = 0; i < ndim; i++)
        shape.dim[i] = dims[i];
    return shape;
}

int mxci_shape_merge(mxc_shape *a, const mxc_shape *b) {
    if (b->ndim < 0)
        return 1;
    if (a->ndim < 0) {
        *a = *b;
        return 1;
    }
    if (a->ndim != b->ndim)
        return 0;
    for (int i = 0; i < a->ndim; i++) {
        if (a->dim[i] < 0)
            a->dim[i] = b->dim[i];
        else if (b->dim[i] >= 0 && a->dim[i] != b->dim[i])
            return 0;
    }
    return 1;
}

/* The error for a shape of more bytes than an address space holds. */
static mxc_status too_large(mxc_op_sig *sig, int slot) {
    char where[96], text[MXC_SHAPE_TEXT];
    return MXC_FAIL(MXC_ESHAPE, "%s: %s: shape %s is larger than memory can be", sig_name(sig),
                    describe_slot(sig, slot, where, sizeof where),
                    mxc_shape_format(mxci_sig_shape(sig, slot), text, sizeof text));
}

/* Whether the numbers are those of a shape: ndim -1 (unknown) to MXC_MAX_NDIM, axes -1 (unknown) or more. */
static int is_shape(const mxc_shape *shape) {
    if (shape->ndim < -1 || shape->ndim > MXC_MAX_NDIM)
        return 0;
    for (int i = 0; i < shape->ndim; i++)
        if (shape->dim[i] < -1)
            return 0;
    return 1;
}

/* Every slot holds a shape, and one that memory can hold: checked before inference, since callers and files fill slots,
 * and after it, since operators compute them. */
static mxc_status check_shapes(mxc_op_sig *sig) {
    char where[96];
    for (int i = 0; i < sig->n_in + sig->n_out + sig->n_aux; i++) {
        int after_in = i - sig->n_in, after_out = after_in - sig->n_out;
        int slot = after_in < 0 ? i : after_out < 0 ? MXC_SLOT_OUT(after_in) : MXC_SLOT_AUX(after_out);
        const mxc_shape *shape = mxci_sig_shape(sig, slot);
        if (!is_shape(shape))
            return MXC_FAIL(MXC_ESHAPE, "%s: %s: has %d axes or a negative size, which is no shape", sig_name(sig),
                            describe_slot(sig, slot, where, sizeof where), (int)shape->ndim);
        if (!mxci_shape_fits(shape))
            return too_large(sig, slot);
    }
    return MXC_OK;
}

/* Merges expected into the slot; the slot does not change on failure. */
mxc_status mxc_sig_set_shape(mxc_op_sig *sig, int slot, const mxc_shape *expected) {
    MXC_TRY(MXCI_NON_NULL(sig));
    MXC_TRY(MXCI_NON_NULL(expected));
    if (expected->ndim < 0)
        return MXC_OK;
    mxc_shape *found = mxci_sig_shape(sig, slot), merged = *found;
    char where[96], want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    if (mxci_shape_merge(&merged, expected)) {
        *found = merged;
        return mxci_shape_fits(&merged) ? MXC_OK : too_large(sig, slot);
    }
    return MXC_FAIL(MXC_ESHAPE, "%s: %s: expected shape %s, found %s", sig_name(sig),
                    describe_slot(sig, slot, where, sizeof where), mxc_shape_format(expected, want, sizeof want),
                    mxc_shape_format(found, have, sizeof have));
}

mxc_status mxc_sig_fail(const mxc_op_sig *sig, const char *format, ...) {
    MXC_TRY(MXCI_NON_NULL(sig));
    MXC_TRY(MXCI_NON_NULL(format));
    char text[MXC_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return MXC_FAIL(MXC_ESHAPE, "%s: %s", sig_name(sig), text);
}

/* One pass merges the shapes in order, so that an error names the slot that conflicts; the second sets the result. */
mxc_status mxci_sig_same_shape(mxc_op_sig *sig, int n, const int *slots) {
    mxc_shape common = {.ndim = -1};
    for (int i = 0; i < n; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, slots[i], &common));
        common = *mxci_sig_shape(sig, slots[i]);
    }
    for (int i = 0; i < n; i++)
        *mxci_sig_shape(sig, slots[i]) = common;
    return MXC_OK;
}

/* As mxci_sig_same_shape for all inputs and outputs, the default of operators without infer_shape. */
mxc_status mxci_infer_shape_same(mxc_op_sig *sig) {
    mxc_shape common = {.ndim = -1};
    for (int i = 0; i < sig->n_in + sig->n_out; i++) {
        int slot = i < sig->n_in ? i : MXC_SLOT_OUT(i - sig->n_in);
        MXC_TRY(mxc_sig_set_shape(sig, slot, &common));
        common = *mxci_sig_shape(sig, slot);
    }
    for (int i = 0; i < sig->n_in; i++)
        sig->in_shape[i] = common;
    for (int i = 0; i < sig->n_out; i++)
        sig->out_shape[i] = common;
    return MXC_OK;
}

mxc_status mxci_sig_broadcasts_to(const mxc_op_sig *sig, int slot, const mxc_shape *full) {
    const mxc_shape *shape = &sig->in_shape[slot];
    char name[64], expected[MXC_SHAPE_TEXT], found[MXC_SHAPE_TEXT];
    int fits = shape->ndim <= full->ndim;
    for (int i = 1; fits && i <= shape->ndim; i++) {
        int64_t has = shape->dim[shape->ndim - i], wants = full->dim[full->ndim - i];
        fits = has == wants || has == 1 || has < 0 || wants < 0;
    }
    if (fits)
        return MXC_OK;
    return mxc_sig_fail(sig, "argument '%s' has shape %s, expected one that broadcasts to %s",
                        mxc_op_arg_name(sig->op, slot, name, sizeof name), mxc_shape_format(shape, found, sizeof found),
                        mxc_shape_format(full, expected, sizeof expected));
}

mxc_status mxci_sig_axis(const mxc_op_sig *sig, int64_t axis, int ndim, int *out) {
    *out = 0;
    if (axis < -ndim || axis >= ndim)
        return mxc_sig_fail(sig, "axis %lld is not in [%d, %d) of an array with %d axes", (long long)axis, -ndim, ndim,
                            ndim);
    *out = (int)(axis < 0 ? axis + ndim : axis);
    return MXC_OK;
}

mxc_status mxc_op_infer_shape(mxc_op_sig *sig) {
    MXC_TRY(MXCI_NON_NULL(sig));
    const mxc_op_def *def = mxc_op_get_def(sig->op);
    MXC_TRY(check_shapes(sig));
    MXC_TRY(def->infer_shape ? def->infer_shape(sig) : mxci_infer_shape_same(sig));
    return check_shapes(sig);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

mxc_status mxc_sig_set_type(mxc_op_sig *sig, int slot, mxc_dtype expected) {
    MXC_TRY(MXCI_NON_NULL(sig));
    mxc_dtype *found = mxci_sig_type(sig, slot);
    char where[96];
    if (expected == MXC_DTYPE_UNKNOWN || *found == expected)
        return MXC_OK;
    if (*found != MXC_DTYPE_UNKNOWN)
        return MXC_FAIL(MXC_EDTYPE, "%s: %s: expected dtype %s, found %s", sig_name(sig),
                        describe_slot(sig, slot, where, sizeof where), mxc_dtype_name(expected),
                        mxc_dtype_name(*found));
    *found = expected;
    return MXC_OK;
}

mxc_status mxci_sig_same_type(mxc_op_sig *sig, int n, const int *slots) {
    mxc_dtype common = MXC_DTYPE_UNKNOWN;
    for (int i = 0; i < n; i++) {
        MXC_TRY(mxc_sig_set_type(sig, slots[i], common));
        common = *mxci_sig_type(sig, slots[i]);
    }
    for (int i = 0; i < n; i++)
        *mxci_sig_type(sig, slots[i]) = common;
    return MXC_OK;
}

mxc_status mxci_infer_type_same(mxc_op_sig *sig) {
    mxc_dtype common = MXC_DTYPE_UNKNOWN;
    for (int i = 0; i < sig->n_in + sig->n_out + sig->n_aux; i++) {
        int slot = i < sig->n_in                ? i
                   : i < sig->n_in + sig->n_out ? MXC_SLOT_OUT(i - sig->n_in)
                                                : MXC_SLOT_AUX(i - sig->n_in - sig->n_out);
        MXC_TRY(mxc_sig_set_type(sig, slot, common));
        common = *mxci_sig_type(sig, slot);
    }
    for (int i = 0; i < sig->n_in; i++)
        sig->in_type[i] = common;
    for (int i = 0; i < sig->n_out; i++)
        sig->out_type[i] = common;
    for (int i = 0; i < sig->n_aux; i++)
        sig->aux_type[i] = common;
    return MXC_OK;
}

/* "float32, float64" for a set of dtypes. */
static const char *list_dtypes(unsigned set, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < MXC_DTYPE_LIMIT && used < size; i++)
        if (set & MXC_DTYPE_BIT(i))
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", mxc_dtype_name((mxc_dtype)i));
    return out;
}

/* The dtype of the first argument (or output) decides whether the operator supports the call. */
mxc_status mxc_op_infer_type(mxc_op_sig *sig) {
    MXC_TRY(MXCI_NON_NULL(sig));
    const mxc_op_def *def = mxc_op_get_def(sig->op);
    unsigned set = def->dtypes ? def->dtypes : MXC_DTYPES_REAL;
    int slot = sig->n_in ? 0 : MXC_SLOT_OUT(0);
    mxc_dtype type;
    char where[96], supported[160];
    MXC_TRY(def->infer_type ? def->infer_type(sig) : mxci_infer_type_same(sig));
    type = *mxci_sig_type(sig, slot);
    if (type == MXC_DTYPE_UNKNOWN || (set & MXC_DTYPE_BIT(type)))
        return MXC_OK;
    return MXC_FAIL(MXC_EDTYPE, "%s: %s: dtype %s is not supported, expected one of %s", def->name,
                    describe_slot(sig, slot, where, sizeof where), mxc_dtype_name(type),
                    list_dtypes(set, supported, sizeof supported));
}

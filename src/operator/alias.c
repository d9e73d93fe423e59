/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of one run that share memory: allowed where the descriptor's in-place options say so, an error elsewhere. */
#include "math/assign.h"
#include "operator/invocation.h"
#include "operator/op.h"

/* The slot as mxc_inplace.from counts it; -2 for one that no option can name. */
static int from_code(const mxci_invocation *v, int slot) {
    if (v->pass == MXC_FORWARD)
        return slot < v->n_in ? MXC_FROM_IN(slot) : -2;
    if (slot >= mxci_slot_out_grad(v))
        return slot < mxci_slot_in_grad(v) ? MXC_FROM_OUT_GRAD(slot - mxci_slot_out_grad(v)) : -2;
    if (slot >= mxci_slot_aux(v))
        return -2;
    return slot >= mxci_slot_out(v) ? MXC_FROM_OUT(slot - mxci_slot_out(v)) : MXC_FROM_IN(slot);
}

/* Whether an in-place option covers the pair: the slot `changed` may be written to the memory of the slot `from`. */
static int is_allowed(const mxci_invocation *v, int from, int changed) {
    const mxc_inplace *pair = mxci_op_get_inplace(v->op, v->pass);
    int code = from_code(v, from), to = changed - (v->pass == MXC_FORWARD ? mxci_slot_out(v) : mxci_slot_in_grad(v));
    for (; pair && pair->from >= 0; pair++)
        if (pair->from == code && pair->to == to)
            return 1;
    return 0;
}

/* Views are contiguous, so that two ranges of bytes tell. */
static int ranges_overlap(const mxc_tensor *a, const mxc_tensor *b) {
    const char *a_begin = a->data, *b_begin = b->data;
    return a_begin < b_begin + mxci_tensor_bytes(b) && b_begin < a_begin + mxci_tensor_bytes(a);
}

/* Both arrays belong to one chunk of memory (they have one engine variable); views of different parts are fine. In
 * place, both must cover the same bytes and the result must not be added. */
static mxc_status check_pair(mxci_invocation *v, int changed, int other) {
    mxc_tensor a, b;
    char changed_text[96], other_text[96];
    int same;
    MXC_TRY(mxc_ndarray_tensor(v->arrays[changed], &a));
    MXC_TRY(mxc_ndarray_tensor(v->arrays[other], &b));
    if (!ranges_overlap(&a, &b))
        return MXC_OK;
    same = a.data == b.data && mxci_tensor_bytes(&a) == mxci_tensor_bytes(&b);
    if (same && is_allowed(v, other, changed) && mxci_slot_req(v, changed) != MXC_REQ_ADD) {
        v->req[changed - (v->pass == MXC_FORWARD ? mxci_slot_out(v) : mxci_slot_in_grad(v))] = MXC_REQ_INPLACE;
        return MXC_OK;
    }
    return MXC_FAIL(MXC_EINVAL, "%s: %s shares memory with %s, which this operator cannot do in place%s",
                    mxc_op_get_def(v->op)->name, mxci_slot_text(v, changed, changed_text, sizeof changed_text),
                    mxci_slot_text(v, other, other_text, sizeof other_text),
                    same && mxci_slot_req(v, changed) == MXC_REQ_ADD ? " with request add" : "");
}

/* Arrays with different variables never share memory, so that only views of one chunk are compared. */
mxc_status mxci_invocation_check_memory(mxci_invocation *v) {
    for (int i = 0; i < v->n_slots; i++) {
        if (!mxci_slot_changes(v, i))
            continue;
        for (int j = 0; j < v->n_slots; j++) {
            if (j == i || !v->arrays[j] || mxc_ndarray_var(v->arrays[i]) != mxc_ndarray_var(v->arrays[j]))
                continue;
            MXC_TRY(check_pair(v, i, j));
        }
    }
    return MXC_OK;
}

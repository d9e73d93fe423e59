/* What the optimizer updates share. */
#include "operator/update.h"

const mxc_inplace mxci_update_inplace[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};

mxc_status mxci_update_infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {0, 1, MXC_SLOT_OUT(0), MXC_SLOT_AUX(0), MXC_SLOT_AUX(1), MXC_SLOT_AUX(2)};
    return mxci_sig_same_shape(sig, 3 + sig->n_aux, slots);
}

mxc_status mxci_update_infer_single(mxc_op_sig *sig, int slot, const char *name) {
    const mxc_shape one = mxci_shape_of(1, (int64_t[]){1}), *found = mxci_sig_shape(sig, slot);
    char text[MXC_SHAPE_TEXT];
    if (!mxc_shape_known(found))
        return mxc_sig_set_shape(sig, slot, &one);
    if (mxc_shape_size(found) != 1)
        return mxc_sig_fail(sig, "%s has shape %s, expected one element", name,
                            mxc_shape_format(found, text, sizeof text));
    return MXC_OK;
}

typedef struct step_args {
    const mxc_op_call *call;
    const mxci_update *factors;
    mxci_update_fn fn;
    int out;
} step_args;

static void step_range(void *arg, int64_t begin, int64_t end, int part) {
    const step_args *a = arg;
    const mxc_op_call *call = a->call;
    mxci_update_arrays arrays = {
        .weight = mxci_at(&call->in[0], begin), .grad = mxci_at(&call->in[1], begin),
        .out = mxci_at(&call->out[0], begin)};
    (void)part;
    for (int i = 0; i < call->n_aux && i < MXCI_UPDATE_STATES; i++)
        arrays.state[i] = mxci_at(&call->aux[i], begin);
    a->fn(a->factors, end - begin, &arrays, a->out);
}

mxc_status mxci_update_run(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors) {
    step_args args = {call, factors, rule[call->in[0].dtype], MXCI_UPDATE_WRITE};
    if (call->req[0] == MXC_REQ_NULL)
        args.out = MXCI_UPDATE_NONE; /* the states still move */
    else if (call->req[0] == MXC_REQ_ADD)
        args.out = MXCI_UPDATE_ADD;
    mxc_parallel_for(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN, step_range, &args);
    return MXC_OK;
}

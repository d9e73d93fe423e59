/* SPDX-License-Identifier: Apache-2.0 */
/* SequenceLast, SequenceMask, SequenceReverse: rows of sequences of different lengths (operator/nn/sequence.c). A
 * thread per element of the result looks up the row that it comes from; SequenceReverse is its own gradient. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/index.h"
#include "operator/index/indexing.h"

enum { DATA, LENGTH };
enum kind { LAST, MASK, REVERSE };

/* data as rows (t, n), or (n, t) where axis is 1. */
struct sequences {
    int kind, backward, axis, has_lengths;
    int64_t t, n, row; /* row: its elements */
    mxcu_numbers lengths;

    /* The row of data of a time and a sequence. */
    MXCU_DEVICE int64_t at(int64_t time, int64_t sequence) const {
        return axis ? sequence * t + time : time * n + sequence;
    }
    /* The row of the source that row number `to` of the result is; -1: none, and the result is filled. */
    MXCU_DEVICE int64_t source(int64_t to) const {
        const bool last = kind == LAST && !backward;
        const int64_t sequence = last ? to : axis ? to / t : to % n, time = last ? 0 : axis ? to % t : to / n;
        const int64_t length = has_lengths ? lengths.length(sequence, t) : t;
        if (kind == REVERSE)
            return at(time < length ? length - 1 - time : time, sequence);
        if (kind == MASK)
            return time < length ? to : -1;
        if (backward)
            return time == length - 1 ? sequence : -1;
        return length > 0 ? at(length - 1, sequence) : -1;
    }
};

template <class T>
static mxc_status move(const mxc_op_call *call, sequences s, const mxc_tensor *from, const mxc_tensor *to,
                       double value) {
    const mxcu_compute_t<T> filling = mxcu_parameter<T>(value);
    const int64_t n = s.row;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = at / n, source = s.source(row);
        y.put(at, source < 0 ? filling : x[source * n + (at - row * n)]);
    });
}

static mxc_status run(const mxc_op_call *call, enum kind kind, int backward, const mxc_tensor *from,
                      const mxc_tensor *to) {
    const mxci_sequence_params *p = static_cast<const mxci_sequence_params *>(call->params);
    const mxc_shape *data = &call->in[DATA].shape;
    sequences s = {};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    s.kind = kind;
    s.backward = backward;
    s.axis = (int)p->axis;
    s.t = data->dim[s.axis];
    s.n = data->dim[1 - s.axis];
    s.row = mxcu_product(data, 2, data->ndim);
    s.has_lengths = call->n_in > LENGTH;
    if (s.has_lengths)
        s.lengths = mxcu_numbers_of(&call->in[LENGTH]);
    MXCU_SWITCH_NUMBER(to->dtype, move, call, s, from, to, kind == MASK && !backward ? p->value : 0)
}

template <enum kind kind> static mxc_status forward(const mxc_op_call *call) {
    return run(call, kind, 0, &call->in[DATA], &call->out[0]);
}

/* Lengths have no gradient. */
template <enum kind kind> static mxc_status backward(const mxc_op_call *call) {
    if (call->n_in > LENGTH)
        MXC_TRY(mxcu_no_gradient(call, LENGTH));
    return run(call, kind, 1, &call->out_grad[0], &call->in_grad[DATA]);
}

MXCU_OP_IMPLS(sequence, {"SequenceLast", forward<LAST>, backward<LAST>},
              {"SequenceMask", forward<MASK>, backward<MASK>}, {"SequenceReverse", forward<REVERSE>, backward<REVERSE>})

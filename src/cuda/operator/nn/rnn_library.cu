/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RNN by the vendor's library (cuDNN). It writes all results into scratch, from which they are assigned as requests
 * say. In training, its output y and its own reserve space lie in the operator's, if they fit. Without dropout only,
 * since the library would draw other numbers than the CPU.
 */
#include "cuda/operator/nn/rnn_library.h"

#include "cuda/runtime/dnn.h"
#include "cuda/runtime/gradient.h"
#include "operator/nn/rnn.h"

enum { DATA, PARAMETERS, STATE, STATE_CELL };
enum { OUT, STATE_OUT, STATE_CELL_OUT, RESERVE };
enum { ALIGNED = 256 };

/* A use of the operator, and where the parts of scratch and of reserve begin. */
struct use {
    mxcu_dnn_rnn r;
    int served;
    size_t reserve_bytes; /* of the library's reserve */
    struct {
        size_t y, hidden, cell, dx, reserve, work, end;
    } temp;
    size_t reserve_end; /* y, then the library's reserve space */
};

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static size_t bytes_of(const mxcu_dnn_rnn *r, int64_t elements) {
    return aligned((size_t)elements * (size_t)mxcu_element_bytes(r->dtype));
}

static size_t y_bytes(const use *u) {
    return bytes_of(&u->r, mxci_dim_mul(mxci_dim_mul(u->r.t, u->r.n), mxci_dim_mul(u->r.directions, u->r.h)));
}

/* The offsets in scratch, whose address may have any alignment. */
static void divide(use *u, mxc_pass pass, size_t work) {
    const size_t state = bytes_of(&u->r, u->r.layers * u->r.directions * u->r.n * u->r.h);
    const int back = pass == MXC_BACKWARD;
    u->temp.hidden = (back ? 0 : y_bytes(u));
    u->temp.cell = u->temp.hidden + state;
    u->temp.dx = u->temp.cell + state;
    u->temp.reserve = u->temp.dx + (back ? bytes_of(&u->r, u->r.t * u->r.n * u->r.inputs) : 0);
    u->temp.work = u->temp.reserve + (back ? aligned(u->reserve_bytes) : 0);
    u->temp.end = u->temp.work + aligned(work) + ALIGNED;
}

static use use_of(const mxci_rnn_params *p, const mxc_shape *data, mxc_dtype dtype, mxc_context context,
                  mxc_pass pass) {
    use u = {};
    size_t work = 0;
    u.r = {
        p->mode, data->dim[0], data->dim[1], data->dim[2], p->state_size, p->num_layers, p->bidirectional ? 2 : 1,
        dtype,
    };
    if (p->use_sequence_length || p->projection_size != MXC_PARAM_UNSET || mxcu_option(MXCI_OPT_MXC_GPU_DNN) < 2 ||
        u.r.t * u.r.n * u.r.inputs == 0)
        return u;
    u.served = mxcu_dnn_rnn_serves(context, &u.r, &work, &u.reserve_bytes);
    divide(&u, pass, work);
    u.reserve_end = y_bytes(&u) + u.reserve_bytes + ALIGNED;
    return u;
}

size_t mxcu_rnn_library_temp(const mxc_op_sig *sig, mxc_pass pass) {
    use u = use_of(static_cast<const mxci_rnn_params *>(sig->params), &sig->in_shape[DATA], sig->in_type[DATA],
                   sig->context, pass);
    return u.served ? u.temp.end : 0;
}

/* Whether the library serves a run that writes or reads the reserve space. Forward and backward get the same answer. */
static int trains(const mxc_op_call *call, const use *u) {
    const mxc_tensor *reserve = &call->out[RESERVE];
    return static_cast<const mxci_rnn_params *>(call->params)->p == 0 &&
           u->reserve_end <= (size_t)(mxcu_size(reserve) * mxcu_element_bytes(reserve->dtype));
}

static use use_by(const mxc_op_call *call, mxc_pass pass) {
    const mxci_rnn_params *p = static_cast<const mxci_rnn_params *>(call->params);
    use u = use_of(p, &call->in[DATA].shape, call->in[DATA].dtype, call->run->context, pass);
    if (pass == MXC_BACKWARD || call->req[RESERVE] != MXC_REQ_NULL)
        u.served = u.served && trains(call, &u);
    else
        u.served = u.served && (p->p == 0 || !call->is_train);
    return u;
}

/* Address at an offset behind the first aligned byte of memory. */
static char *place(void *memory, size_t at) {
    uintptr_t begin = (uintptr_t)memory;
    return reinterpret_cast<char *>((begin + ALIGNED - 1) / ALIGNED * ALIGNED + at);
}

/* Result i of the call = or += the array at an offset in scratch. */
static mxc_status put(const mxc_op_call *call, const mxc_tensor *to, int i, size_t at) {
    mxc_tensor from = *to;
    from.data = place(call->temp, at);
    return call->req[i] == MXC_REQ_NULL ? MXC_OK : mxcu_put(call, to, i, &from);
}

static mxcu_dnn_rnn_arrays arrays_of(const mxc_op_call *call, const use *u) {
    mxcu_dnn_rnn_arrays a = {};
    a.x = call->in[DATA].data;
    a.weight = call->in[PARAMETERS].data;
    a.hx = call->in[STATE].data;
    a.cx = call->n_in > STATE_CELL ? call->in[STATE_CELL].data : nullptr;
    a.temp = place(call->temp, u->temp.work);
    return a;
}

/* ---- the passes -------------------------------------------------------------------------------------------------- */

mxc_status mxcu_rnn_library_forward(const mxc_op_call *call, int *served) {
    const use u = use_by(call, MXC_FORWARD);
    const int is_lstm = call->n_in > STATE_CELL, trains = call->req[RESERVE] != MXC_REQ_NULL;
    mxcu_dnn_rnn_arrays a = arrays_of(call, &u);
    mxc_tensor y = call->out[OUT];
    *served = u.served;
    if (!u.served)
        return MXC_OK;
    y.data = a.y = trains ? place(call->out[RESERVE].data, 0) : place(call->temp, u.temp.y);
    a.reserve = trains ? place(call->out[RESERVE].data, y_bytes(&u)) : nullptr;
    a.hy = call->req[STATE_OUT] != MXC_REQ_NULL ? place(call->temp, u.temp.hidden) : nullptr;
    a.cy = is_lstm && call->req[STATE_CELL_OUT] != MXC_REQ_NULL ? place(call->temp, u.temp.cell) : nullptr;
    MXC_TRY(mxcu_dnn_rnn_forward(call, &u.r, &a));
    MXC_TRY(call->req[OUT] == MXC_REQ_NULL ? MXC_OK : mxcu_put(call, &call->out[OUT], OUT, &y));
    MXC_TRY(put(call, &call->out[STATE_OUT], STATE_OUT, u.temp.hidden));
    return is_lstm ? put(call, &call->out[STATE_CELL_OUT], STATE_CELL_OUT, u.temp.cell) : MXC_OK;
}

/* The gradient of a state after the last step; NULL, which means 0, where the state is not a visible output. */
static const void *state_gradient(const mxc_op_call *call, int slot) {
    return slot < mxci_rnn_n_visible(call->params) ? call->out_grad[slot].data : nullptr;
}

/* The library overwrites its reserve space in backward, but another backward may follow: it gets a copy. */
static mxc_status copy_reserve(const mxc_op_call *call, const use *u, void *to) {
    return mxcu_gpu.copy(call->run->context, to, call->run->context, place(call->out[RESERVE].data, y_bytes(u)),
                         u->reserve_bytes, call->run->stream);
}

mxc_status mxcu_rnn_library_backward(const mxc_op_call *call, int *served) {
    const use u = use_by(call, MXC_BACKWARD);
    const int is_lstm = call->n_in > STATE_CELL;
    mxcu_dnn_rnn_arrays a = arrays_of(call, &u);
    *served = u.served;
    if (!u.served)
        return MXC_OK;
    a.y = place(call->out[RESERVE].data, 0);
    a.reserve = place(call->temp, u.temp.reserve);
    a.dy = call->out_grad[OUT].data;
    a.dhy = state_gradient(call, STATE_OUT);
    a.dcy = is_lstm ? state_gradient(call, STATE_CELL_OUT) : nullptr;
    a.dx = place(call->temp, u.temp.dx);
    a.dhx = place(call->temp, u.temp.hidden);
    a.dcx = is_lstm ? place(call->temp, u.temp.cell) : nullptr;
    a.dweight = call->req[PARAMETERS] != MXC_REQ_NULL ? call->in_grad[PARAMETERS].data : nullptr;
    MXC_TRY(copy_reserve(call, &u, a.reserve));
    if (a.dweight)
        MXC_TRY(mxcu_put_constant(call, &call->in_grad[PARAMETERS], PARAMETERS, 0));
    MXC_TRY(mxcu_dnn_rnn_backward(call, &u.r, &a));
    MXC_TRY(put(call, &call->in_grad[DATA], DATA, u.temp.dx));
    MXC_TRY(put(call, &call->in_grad[STATE], STATE, u.temp.hidden));
    return is_lstm ? put(call, &call->in_grad[STATE_CELL], STATE_CELL, u.temp.cell) : MXC_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hawkesll: log-likelihoods of Hawkes processes (E. Bacry, I. Mastromatteo and J. Muzy, "Hawkes processes in finance",
 * 2015). For each of N samples there are K processes and a sequence of events at times t_i, the sums of lags, each of
 * the process that marks names; only the first valid_length events count, and T = max_time is observed. With
 *   intensity  l_k(t) = lda_k + alpha_k beta_k s_k(t)
 *   memory     s_k(t) = state_k exp(-beta_k t) + sum over events of process k before t of exp(-beta_k (t - t_i))
 * the outputs are output (N) = sum over events of log l_k(t_i) - sum over k of the integral of l_k from 0 to T, and
 * out_state (N,K) = s_k(T).
 *
 * lda, alpha and beta have the gradient of output; that of out_state is not propagated, and the other arguments have a
 * gradient of 0, as in MXNet. Computed in double; the memory of a process is updated at its own events only. Samples
 * are distributed over threads; gradients of alpha and beta, which sum over samples, are computed by one.
 */
#include <math.h>

#include "math/assign.h"
#include "operator/index/rows.h"

enum { LDA, ALPHA, BETA, STATE, LAGS, MARKS, LENGTH, MAX_TIME, N_ARGS };
enum { OUTPUT, OUT_STATE };

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status hawkes_infer_shape(mxc_op_sig *sig) {
    static const int by_process[] = {LDA, STATE, MXC_SLOT_OUT(OUT_STATE)}, processes[] = {ALPHA, BETA};
    static const int events[] = {LAGS, MARKS}, samples[] = {LENGTH, MAX_TIME, MXC_SLOT_OUT(OUTPUT)};
    mxc_shape nk = mxci_shape_axes(2), k = mxci_shape_axes(1), nt = mxci_shape_axes(2), n = mxci_shape_axes(1);
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, LDA, &nk));
        MXC_TRY(mxci_sig_same_shape(sig, 3, by_process));
        k.dim[0] = sig->in_shape[LDA].dim[1];
        MXC_TRY(mxc_sig_set_shape(sig, ALPHA, &k));
        MXC_TRY(mxci_sig_same_shape(sig, 2, processes));
        nk.dim[1] = sig->in_shape[ALPHA].dim[0];
        nt.dim[0] = mxci_known(sig->in_shape[LDA].dim[0], n.dim[0]);
        MXC_TRY(mxc_sig_set_shape(sig, LAGS, &nt));
        MXC_TRY(mxci_sig_same_shape(sig, 2, events));
        n.dim[0] = sig->in_shape[LAGS].dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, LENGTH, &n));
        MXC_TRY(mxci_sig_same_shape(sig, 3, samples));
        nk.dim[0] = n.dim[0] = sig->in_shape[LENGTH].dim[0];
    }
    return MXC_OK;
}

/* All of one type but marks, which may be of any; int32 if that is not known. */
static mxc_status hawkes_infer_type(mxc_op_sig *sig) {
    static const int slots[] = {
        LDA, ALPHA, BETA, STATE, LAGS, LENGTH, MAX_TIME, MXC_SLOT_OUT(OUTPUT), MXC_SLOT_OUT(OUT_STATE),
    };
    if (sig->in_type[MARKS] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, MARKS, MXC_I32));
    return mxci_sig_same_type(sig, (int)(sizeof slots / sizeof slots[0]), slots);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Scratch for one sample at a time: for each process its memory s and ds / dbeta at `last`, the time of its last event.
 * Backward: the gradients of lda, and the sums of those of alpha and beta. */
typedef struct hawkes_scratch {
    double *memory, *slope, *last, *gradient[3];
} hawkes_scratch;

static hawkes_scratch hawkes_take_scratch(mxci_scratch *from, int64_t k) {
    hawkes_scratch s;
    s.memory = mxci_scratch_array(from, k, sizeof(double));
    s.slope = mxci_scratch_array(from, k, sizeof(double));
    s.last = mxci_scratch_array(from, k, sizeof(double));
    for (int i = 0; i < 3; i++)
        s.gradient[i] = mxci_scratch_array(from, k, sizeof(double));
    return s;
}

static size_t hawkes_scratch_bytes(const mxc_shape *lda) {
    mxci_scratch measure = {0};
    hawkes_take_scratch(&measure, lda->dim[1]);
    return measure.bytes;
}

static size_t hawkes_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_size_mul(hawkes_scratch_bytes(&sig->in_shape[LDA]), (size_t)sig->parallelism);
}

/* Moves the memory of process k to time t. */
static void move_to(hawkes_scratch *s, int64_t k, double beta, double t) {
    const double decay = exp(-beta * (t - s->last[k]));
    s->slope[k] = (s->slope[k] - (t - s->last[k]) * s->memory[k]) * decay;
    s->memory[k] *= decay;
    s->last[k] = t;
}

/* The likelihood of sample n; s->memory becomes the state at the end. Adds factor times its gradients to s->gradient.
 */
static double run_sample(const mxc_op_call *call, hawkes_scratch *s, int64_t n, double factor) {
    const mxc_tensor *in = call->in;
    const int64_t processes = in[LDA].shape.dim[1], events = in[LAGS].shape.dim[1];
    const int64_t length = (int64_t)mxci_value_at(&in[LENGTH], n);
    const double end = mxci_value_at(&in[MAX_TIME], n);
    double sum = 0, t = 0;
    for (int64_t k = 0; k < processes; k++) {
        s->memory[k] = mxci_value_at(&in[STATE], n * processes + k);
        s->slope[k] = s->last[k] = 0;
    }
    for (int64_t i = 0; i < length; i++) {
        double lda, alpha, beta, intensity, left;
        int64_t k;
        mxci_read_indices(&in[MARKS], n * events + i, 1, processes, MXCI_INDEX_CLIP, &k);
        lda = mxci_value_at(&in[LDA], n * processes + k);
        alpha = mxci_value_at(&in[ALPHA], k);
        beta = mxci_value_at(&in[BETA], k);
        t += mxci_value_at(&in[LAGS], n * events + i);
        move_to(s, k, beta, t);
        intensity = lda + alpha * beta * s->memory[k];
        left = end - t;
        sum += log(intensity) - alpha * (1 - exp(-beta * left));
        s->gradient[LDA][k] += factor / intensity;
        s->gradient[ALPHA][k] += factor * (beta * s->memory[k] / intensity - (1 - exp(-beta * left)));
        s->gradient[BETA][k] +=
            factor * alpha * ((s->memory[k] + beta * s->slope[k]) / intensity - left * exp(-beta * left));
        s->memory[k] += 1;
    }
    for (int64_t k = 0; k < processes; k++) {
        const double lda = mxci_value_at(&in[LDA], n * processes + k), alpha = mxci_value_at(&in[ALPHA], k);
        const double beta = mxci_value_at(&in[BETA], k), state = mxci_value_at(&in[STATE], n * processes + k);
        sum -= lda * end + alpha * state * (1 - exp(-beta * end));
        s->gradient[LDA][k] -= factor * end;
        s->gradient[ALPHA][k] -= factor * state * (1 - exp(-beta * end));
        s->gradient[BETA][k] -= factor * alpha * state * end * exp(-beta * end);
        move_to(s, k, beta, end);
    }
    return sum;
}

static void hawkes_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const int64_t processes = call->in[LDA].shape.dim[1];
    const size_t bytes = hawkes_scratch_bytes(&call->in[LDA].shape);
    hawkes_scratch s =
        hawkes_take_scratch(&(mxci_scratch){.base = (char *)call->temp + bytes * (size_t)part}, processes);
    for (int64_t i = 0; i < 3 * processes; i++)
        s.gradient[i / processes][i % processes] = 0;
    for (int64_t n = begin; n < end; n++) {
        mxci_assign_value(call->req[OUTPUT], &call->out[OUTPUT], n, run_sample(call, &s, n, 0));
        for (int64_t k = 0; k < processes && call->req[OUT_STATE] != MXC_REQ_NULL; k++)
            mxci_assign_value(call->req[OUT_STATE], &call->out[OUT_STATE], n * processes + k, s.memory[k]);
    }
}

/* Lengths are from 0 to the number of events, and the marks of the events that count name processes. */
static mxc_status check_events(const mxc_op_call *call) {
    const int64_t events = call->in[LAGS].shape.dim[1], processes = call->in[LDA].shape.dim[1];
    MXC_TRY(mxci_check_indices(call, LENGTH, 0, mxci_tensor_size(&call->in[LENGTH]), 0, events + 1));
    for (int64_t n = 0; n < mxci_tensor_size(&call->in[LENGTH]); n++)
        MXC_TRY(
            mxci_check_indices(call, MARKS, n * events, (int64_t)mxci_value_at(&call->in[LENGTH], n), 0, processes));
    return MXC_OK;
}

static mxc_status hawkes_forward(const mxc_op_call *call) {
    MXC_TRY(check_events(call));
    mxc_parallel_for(call->run, call->in[LDA].shape.dim[0], 1, hawkes_forward_part, (void *)call);
    return MXC_OK;
}

static mxc_status hawkes_backward(const mxc_op_call *call) {
    const int64_t processes = call->in[LDA].shape.dim[1], samples = call->in[LDA].shape.dim[0];
    hawkes_scratch s = hawkes_take_scratch(&(mxci_scratch){.base = call->temp}, processes);
    MXC_TRY(check_events(call));
    for (int slot = STATE; slot < N_ARGS; slot++)
        mxci_assign_zero_gradient(call, slot);
    for (int64_t i = 0; i < 3 * processes; i++)
        s.gradient[i / processes][i % processes] = 0;
    for (int64_t n = 0; n < samples; n++) {
        for (int64_t k = 0; k < processes; k++)
            s.gradient[LDA][k] = 0;
        run_sample(call, &s, n, mxci_value_at(&call->out_grad[OUTPUT], n));
        for (int64_t k = 0; k < processes && call->req[LDA] != MXC_REQ_NULL; k++)
            mxci_assign_value(call->req[LDA], &call->in_grad[LDA], n * processes + k, s.gradient[LDA][k]);
    }
    for (int slot = ALPHA; slot <= BETA; slot++)
        for (int64_t k = 0; k < processes && call->req[slot] != MXC_REQ_NULL; k++)
            mxci_assign_value(call->req[slot], &call->in_grad[slot], k, s.gradient[slot][k]);
    return MXC_OK;
}

const mxc_op_def mxci_op_hawkesll = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_hawkesll",
    .args = "lda,alpha,beta,state,lags,marks,valid_length,max_time",
    .outputs = "output,out_state",
    .doc =
        "Log-likelihoods of Hawkes processes: output (N) for N samples of K processes with background intensities lda "
        "(N,K), branching ratios alpha (K) and decays beta (K), and out_state (N,K), the memory at the end; state "
        "(N,K) is the memory at the start, lags (N,T) the times between events, marks (N,T) their processes, "
        "valid_length (N) the numbers of events and max_time (N) the times observed",
    .infer_shape = hawkes_infer_shape,
    .infer_type = hawkes_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << OUTPUT, .in = (1 << N_ARGS) - 1},
    .temp_bytes = hawkes_temp_bytes,
    .forward = {[MXC_CPU] = hawkes_forward},
    .backward = {[MXC_CPU] = hawkes_backward},
};

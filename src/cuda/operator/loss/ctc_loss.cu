/* SPDX-License-Identifier: Apache-2.0 */
/* CTCLoss (operator/loss/ctc_loss.c), in logarithms and float64. The recursions over time are sequential, so a team
 * goes along the steps of each sequence, its threads over the states, with a barrier per step; softmax and gradient
 * are parallel over all elements. Letters: T steps, N sequences, C classes, L columns of labels, 2 L + 1 states
 * (labels with blanks between them). ahead and behind are the forward and backward variables alpha and beta of Graves
 * et al. (2006). */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/index.h"
#include "operator/loss/ctc_loss.h"
#include "operator/loss/ctc_loss_kernels.h"

enum { DATA, LABEL };

struct sequences {
    int64_t t, n, c, l;
    int64_t blank, padding;
    int has_steps, has_counts; /* arguments */
    mxcu_numbers labels, steps_given, counts_given;
    /* Scratch: labels (N,L); of each sequence its steps, its labels, and its first invalid one (N,3); log sums (N,T);
     * log_probs (N,T,L+1); alpha (N,T,2L+1), in the end the probability of each state; beta (N,2,2L+1); totals (N). */
    int64_t *label, *counts;
    double *log_sums, *log_probs, *alpha, *beta, *totals;

    MXCU_DEVICE mxci_ctc sequence(int64_t i) const {
        mxci_ctc s;
        s.steps = counts[3 * i];
        s.n_labels = counts[3 * i + 1];
        s.blank = blank;
        s.labels = label + i * l;
        s.log_probs = log_probs + i * t * (l + 1);
        s.alpha = alpha + i * t * (2 * l + 1);
        s.beta = beta + i * 2 * (2 * l + 1);
        return s;
    }
};

static int64_t scratch_numbers(int64_t t, int64_t n, int64_t l) {
    return mxci_dim_mul(n, mxci_dim_add(mxci_dim_mul(t, 3 * l + 2), l + 3 + t + 2 * (2 * l + 1) + 1));
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t *data = sig->in_shape[DATA].dim;
    (void)pass;
    return mxci_size_of(scratch_numbers(data[0], data[1], sig->in_shape[LABEL].dim[1]), sizeof(double));
}

/* The call's sizes and arguments, and the arrays in scratch, in the order of their declaration. */
static sequences sequences_of(const mxc_op_call *call) {
    const mxci_ctc_params *p = static_cast<const mxci_ctc_params *>(call->params);
    const int64_t *data = call->in[DATA].shape.dim;
    const int is_first = p->blank_label == MXCI_CTC_BLANK_FIRST;
    sequences s = {};
    s.t = data[0];
    s.n = data[1];
    s.c = data[2];
    s.l = call->in[LABEL].shape.dim[1];
    s.blank = is_first ? 0 : s.c - 1;
    s.padding = is_first ? 0 : -1;
    s.has_steps = p->use_data_lengths;
    s.has_counts = p->use_label_lengths;
    s.labels = mxcu_numbers_of(&call->in[LABEL]);
    s.steps_given = mxcu_numbers_of(&call->in[s.has_steps ? LABEL + 1 : LABEL]);
    s.counts_given = mxcu_numbers_of(&call->in[call->n_in - 1]);
    s.label = mxcu_temp<int64_t>(call, 0);
    s.counts = s.label + s.n * s.l;
    s.log_sums = reinterpret_cast<double *>(s.counts + 3 * s.n);
    s.log_probs = s.log_sums + s.n * s.t;
    s.alpha = s.log_probs + s.n * s.t * (s.l + 1);
    s.beta = s.alpha + s.n * s.t * (2 * s.l + 1);
    s.totals = s.beta + s.n * 2 * (2 * s.l + 1);
    return s;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* A thread per sequence: how many steps and labels it has, its labels as classes, and its first label that is not a
 * class (-1: none). */
static mxc_status read_labels(const mxc_op_call *call, sequences s) {
    return mxcu_for(call, s.n, [=] MXCU_LAMBDA(int64_t i) {
        const double low = s.padding == 0 ? 1 : 0, high = (double)(s.padding == 0 ? s.c : s.c - 1);
        int64_t count = s.has_counts ? s.counts_given.length(i, s.l) : s.l, wrong = -1;
        for (int64_t k = 0; k < count; k++) {
            const double label = s.labels[i * s.l + k];
            if (!s.has_counts && trunc(label) == (double)s.padding)
                count = k;
            else if (wrong < 0 && !(trunc(label) >= low && label < high))
                wrong = k;
            s.label[i * s.l + k] = mxci_index_clip(label, s.c);
        }
        s.counts[3 * i] = s.has_steps ? s.steps_given.length(i, s.t) : s.t;
        s.counts[3 * i + 1] = count;
        s.counts[3 * i + 2] = wrong;
    });
}

/* MXC_EINVAL for a label that is not a class. One team finds the first; the host waits for it, since only the device
 * can read the labels. */
static mxc_status check_labels(const mxc_op_call *call, sequences s) {
    const mxc_context host = {MXC_CPU, 0}, here = call->run->context;
    const int64_t low = s.padding == 0, high = s.padding == 0 ? s.c : s.c - 1;
    int64_t *place = s.counts + 2, found = -1;
    double value;
    if (s.n == 0)
        return MXC_OK;
    MXC_TRY(mxcu_rows(call, 1, s.n, [=] MXCU_LAMBDA(int64_t, mxcu_team team) {
        int64_t first = INT64_MAX;
        for (int64_t i = s.n - 1 - team.rank; i >= 0; i -= team.size)
            if (s.counts[3 * i + 2] >= 0)
                first = i * s.l + s.counts[3 * i + 2];
        first = team.min(first);
        if (team.rank == 0)
            place[0] = first;
        if (team.rank == 0 && first < INT64_MAX)
            s.totals[0] = s.labels[first];
    }));
    MXC_TRY(mxcu_gpu.stream_synchronize(here, call->run->stream));
    MXC_TRY(mxcu_gpu.copy_now(host, &found, here, place, sizeof found));
    if (found == INT64_MAX)
        return MXC_OK;
    MXC_TRY(mxcu_gpu.copy_now(host, &value, here, s.totals, sizeof value));
    return MXC_FAIL(MXC_EINVAL, "CTCLoss: argument 'label': element %lld is %g, expected an index in [%lld, %lld)",
                    (long long)found, value, (long long)low, (long long)high);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* A team per row (sequence, step) of C classes: the logarithm of the sum of exp, and the log probabilities of the blank
 * and of each label. Steps beyond the sequence's length are skipped. */
template <class T> static mxc_status read_rows(const mxc_op_call *call, sequences s) {
    using A = mxcu_compute_t<T>;
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    return mxcu_rows(call, s.n * s.t, s.c, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t i = row / s.t, t = row % s.t, first = (t * s.n + i) * s.c;
        mxci_ctc q = s.sequence(i);
        double *log_probs = s.log_probs + i * s.t * (s.l + 1) + t * (q.n_labels + 1), sum = 0;
        A most = -INFINITY;
        if (t >= q.steps)
            return;
        for (int64_t k = team.rank; k < s.c; k += team.size)
            most = x[first + k] > most ? x[first + k] : most;
        most = team.max(most);
        for (int64_t k = team.rank; k < s.c; k += team.size)
            sum += (double)exp(x[first + k] - most);
        sum = (double)most + log(team.sum(sum));
        for (int64_t k = team.rank; k <= q.n_labels; k += team.size)
            log_probs[k] = (double)x[first + (k ? q.labels[k - 1] : q.blank)] - sum;
        if (team.rank == 0)
            s.log_sums[row] = sum;
    });
}

/* alpha: a team per sequence. State k of a step reads states k - 2 to k of the step before. */
static mxc_status run_alpha(const mxc_op_call *call, sequences s) {
    return mxcu_rows(call, s.n, 2 * s.l + 1, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
        mxci_ctc q = s.sequence(i);
        const int64_t states = mxci_ctc_states(&q);
        for (int64_t t = 0; t < q.steps; t++) {
            for (int64_t k = team.rank; k < states; k += team.size)
                q.alpha[t * states + k] = mxci_ctc_alpha(&q, t, k);
            team.sync();
        }
        if (team.rank == 0)
            s.totals[i] = mxci_ctc_total(&q);
    });
}

/* beta: a team per sequence, from the last step to the first, with two rows of beta in turn. In place of alpha the
 * probability of each state given the labels, exp(alpha + beta - total). */
static mxc_status run_beta(const mxc_op_call *call, sequences s) {
    return mxcu_rows(call, s.n, 2 * s.l + 1, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
        mxci_ctc q = s.sequence(i);
        const int64_t states = mxci_ctc_states(&q);
        const double total = s.totals[i];
        for (int64_t t = q.steps - 1; t >= 0 && total > -INFINITY; t--) {
            for (int64_t k = team.rank; k < states; k += team.size) {
                const double beta = mxci_ctc_beta(&q, t, k);
                q.beta[t % 2 * states + k] = beta;
                q.alpha[t * states + k] = exp(q.alpha[t * states + k] + beta - total);
            }
            team.sync();
        }
    });
}

/* A thread per element (t, n, c): softmax minus the probability that the class is emitted at that step, summed over its
 * states. 0 beyond the length and where no path exists. */
template <class T> static mxc_status gradient(const mxc_op_call *call, sequences s) {
    using A = mxcu_compute_t<T>;
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t c = at % s.c, i = at / s.c % s.n, t = at / s.c / s.n;
        mxci_ctc q = s.sequence(i);
        const double *states = q.alpha + t * mxci_ctc_states(&q);
        double posterior = 0;
        if (t >= q.steps || s.totals[i] == -INFINITY) {
            dx.put(at, 0);
            return;
        }
        for (int64_t k = 0; k <= q.n_labels && c == q.blank; k++)
            posterior += states[2 * k];
        for (int64_t k = 0; k < q.n_labels; k++)
            posterior += q.labels[k] == c ? states[2 * k + 1] : 0;
        dx.put(at, (A)((double)g[i] * (exp((double)x[at] - s.log_sums[i * s.t + t]) - posterior)));
    });
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

template <class T> static mxc_status put_loss(const mxc_op_call *call, sequences s) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, s.n, [=] MXCU_LAMBDA(int64_t i) { y.put(i, (mxcu_compute_t<T>)-s.totals[i]); });
}

/* Both passes: backward computes alpha again, which takes less memory than keeping it. */
template <class T> static mxc_status run(const mxc_op_call *call, int is_backward) {
    const sequences s = sequences_of(call);
    MXC_TRY(read_labels(call, s));
    MXC_TRY(check_labels(call, s));
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(read_rows<T>(call, s));
    MXC_TRY(run_alpha(call, s));
    if (!is_backward)
        return put_loss<T>(call, s);
    MXC_TRY(run_beta(call, s));
    return gradient<T>(call, s);
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_REAL(call->in[DATA].dtype, run, call, 0)
}

static mxc_status backward(const mxc_op_call *call) {
    for (int i = LABEL; i < call->n_in; i++)
        MXC_TRY(mxcu_no_gradient(call, i));
    MXCU_SWITCH_REAL(call->in[DATA].dtype, run, call, 1)
}

MXCU_OP_IMPLS(ctc_loss, {"CTCLoss", forward, backward, temp_bytes})

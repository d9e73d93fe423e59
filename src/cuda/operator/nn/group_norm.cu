/* SPDX-License-Identifier: Apache-2.0 */
/* InstanceNorm and GroupNorm. Forward: a team per group, whose elements are neighbours in memory. Backward: four
 * launches: the sums of each sample's channels into scratch (a team per channel), the gradients of gamma and beta (a
 * thread per channel), what each group subtracts (a thread per group), and dx (a thread per element). All sums are
 * float64. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"
#include "operator/nn/norms.h"

enum { DATA, GAMMA, BETA };
enum { OUT, MEAN, STD };

namespace {

template <class T> struct groups {
    using C = mxcu_compute_t<T>;
    int64_t samples, channels, count, per, inner; /* count groups of per channels of inner elements */
    int64_t span;                                 /* channels that share an element of gamma and of beta */
    double eps;
    mxcu_in<T> x, dy, gamma, beta;
    const C *mean, *std;           /* backward */
    mxcu_out<C> mean_out, std_out; /* no data: not wanted */
    mxcu_out<T> to, gamma_grad, beta_grad;
    mxcu_pair *sums;   /* (samples, channels): of dy and of dy (x - mean) */
    mxcu_pair *shares; /* (samples, count): what is taken off for the group */

    /* Two passes over the group: the mean, then squares of differences from it, which loses no digits where the mean is
     * far from 0. */
    MXCU_DEVICE void forward(int64_t group, const mxcu_team &team) const {
        const int64_t n = per * inner, at = group * n, first = group % count * per;
        double sum = 0, squares = 0;
        for (int64_t i = team.rank; i < n; i += team.size)
            sum += (double)x[at + i];
        const double middle = n ? team.sum(sum) / (double)n : 0;
        for (int64_t i = team.rank; i < n; i += team.size)
            squares += ((double)x[at + i] - middle) * ((double)x[at + i] - middle);
        squares = team.sum(squares);
        const double spread = sqrt((n ? squares / (double)n : 0) + eps);
        if (team.rank == 0 && mean_out.data)
            mean_out.put(group, (C)middle);
        if (team.rank == 0 && std_out.data)
            std_out.put(group, (C)spread);
        const C m = (C)middle, scale = (C)(1 / spread);
        for (int64_t i = team.rank; i < n && to.data; i += team.size) {
            const int64_t c = first + i / inner;
            to.put(at + i, gamma[c / span] * ((x[at + i] - m) * scale) + beta[c / span]);
        }
    }

    /* Channel k of all samples' channels, by a team: the sums of dy and of dy (x - mean). */
    MXCU_DEVICE void sum_channel(int64_t k, const mxcu_team &team) const {
        const C middle = mean[k / per];
        double sum = 0, product = 0;
        for (int64_t i = team.rank; i < inner; i += team.size) {
            const double g = (double)dy[k * inner + i];
            sum += g;
            product += g * (double)(x[k * inner + i] - middle);
        }
        sum = team.sum(sum);
        product = team.sum(product);
        if (team.rank == 0)
            sums[k] = {sum, product};
    }

    /* With m elements in the group, g = gamma dy:
     * dx = (g - sum(g) / m - (x - mean) sum(g (x - mean)) / (m std^2)) / std */
    MXCU_DEVICE void share(int64_t group) const {
        const double m = (double)(per * inner), s = (double)std[group];
        double sum = 0, product = 0;
        for (int64_t k = 0; k < per; k++) {
            const double factor = (double)gamma[(group % count * per + k) / span];
            sum += factor * sums[group * per + k].a;
            product += factor * sums[group * per + k].b;
        }
        shares[group] = {-sum / (m * s), -product / (m * s * s * s)};
    }
    /* dx of element i, from its group's shares. */
    MXCU_DEVICE void gradient(int64_t i) const {
        const int64_t k = i / inner, group = k / per, c = k % channels;
        const C factor = (C)((double)gamma[c / span] / (double)std[group]);
        to.put(i, factor * dy[i] + ((C)shares[group].b * (x[i] - mean[group]) + (C)shares[group].a));
    }
    /* The gradients of element i of gamma and beta: sums over samples and channels, in order. */
    MXCU_DEVICE void parameters(int64_t i) const {
        double factor = 0, shift = 0;
        for (int64_t n = 0; n < samples; n++)
            for (int64_t c = i * span; c < (i + 1) * span; c++) {
                const mxcu_pair s = sums[n * channels + c];
                shift += s.a;
                factor += s.b / (double)std[n * count + c / per];
            }
        if (gamma_grad.data)
            gamma_grad.put(i, (C)factor);
        if (beta_grad.data)
            beta_grad.put(i, (C)shift);
    }
};

} // namespace

template <class T> static groups<T> groups_of(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[DATA].shape;
    groups<T> g = {};
    g.samples = data->dim[0];
    g.channels = data->dim[1];
    g.count = call->out[MEAN].shape.dim[1];
    g.per = g.count ? data->dim[1] / g.count : 0;
    g.inner = mxcu_product(data, 2, data->ndim);
    g.span = g.channels > 0 ? g.channels / call->in[GAMMA].shape.dim[0] : 1;
    g.eps = static_cast<const mxci_group_norm_params *>(call->params)->eps;
    g.x = mxcu_data<T>(&call->in[DATA]);
    g.gamma = mxcu_data<T>(&call->in[GAMMA]);
    return g;
}

template <class T> static mxc_status forward_run(const mxc_op_call *call) {
    using C = mxcu_compute_t<T>;
    groups<T> g = groups_of<T>(call);
    g.beta = mxcu_data<T>(&call->in[BETA]);
    g.mean_out = mxcu_wanted<C>(call, &call->out[MEAN], MEAN);
    g.std_out = mxcu_wanted<C>(call, &call->out[STD], STD);
    g.to = mxcu_wanted<T>(call, &call->out[OUT], OUT);
    return mxcu_rows(call, g.samples * g.count, g.per * g.inner,
                     [=] MXCU_LAMBDA(int64_t group, mxcu_team team) { g.forward(group, team); });
}

/* gamma's and beta's gradients are queued before dx, which may take out_grad's memory; the sums hold all that they
 * need. */
template <class T> static mxc_status backward_run(const mxc_op_call *call) {
    using C = mxcu_compute_t<T>;
    groups<T> g = groups_of<T>(call);
    g.dy = mxcu_data<T>(&call->out_grad[OUT]);
    g.mean = mxcu_pointer<const C>(call->out[MEAN].data);
    g.std = mxcu_pointer<const C>(call->out[STD].data);
    g.to = mxcu_wanted<T>(call, &call->in_grad[DATA], DATA);
    g.gamma_grad = mxcu_wanted<T>(call, &call->in_grad[GAMMA], GAMMA);
    g.beta_grad = mxcu_wanted<T>(call, &call->in_grad[BETA], BETA);
    g.sums = mxcu_temp<mxcu_pair>(call, 0);
    g.shares = g.sums + g.samples * g.channels;
    MXC_TRY(mxcu_rows(call, g.samples * g.channels, g.inner,
                      [=] MXCU_LAMBDA(int64_t k, mxcu_team team) { g.sum_channel(k, team); }));
    MXC_TRY(mxcu_for(call, g.channels / g.span, [=] MXCU_LAMBDA(int64_t i) { g.parameters(i); }));
    if (!g.to.data || g.per * g.inner == 0)
        return MXC_OK;
    MXC_TRY(mxcu_for(call, g.samples * g.count, [=] MXCU_LAMBDA(int64_t group) { g.share(group); }));
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t i) { g.gradient(i); });
}

/* The sums of channels and those of groups, of which there are no more. */
static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    return pass == MXC_FORWARD ? 0 : mxci_size_of(mxcu_product(data, 0, 2), 2 * sizeof(mxcu_pair));
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, forward_run, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, backward_run, call)
}

MXCU_OP_IMPLS(group_norm, {"InstanceNorm", forward, backward, temp_bytes}, {"GroupNorm", forward, backward, temp_bytes})

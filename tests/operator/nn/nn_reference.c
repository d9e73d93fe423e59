/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/nn_reference.h"

#include <math.h>
#include <stdlib.h>

case_windows case_windows_of_layer(const op_run *r) {
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    for (int i = 0; i < 3 && case_is(r, "global_pool", "True"); i++) {
        w.kernel[i] = w.plane[i];
        w.stride[i] = 1;
        w.pad[i] = 0;
    }
    return w;
}

static int is_image(const mxc_shape *s) {
    return s->ndim > 2;
}

static mxc_shape channels_second(const mxc_shape *last) {
    mxc_shape s = *last;
    for (int i = 2; i < s.ndim; i++)
        s.dim[i] = last->dim[i - 1];
    if (is_image(last))
        s.dim[1] = last->dim[s.ndim - 1];
    return s;
}

/* An array with channels second from one with channels last, or back; others are copied. */
static void transpose_channels(const mxc_shape *last, const double *from, double *to, int back) {
    int64_t n = case_size(last), channels = is_image(last) ? last->dim[last->ndim - 1] : 1;
    int64_t images = last->ndim ? last->dim[0] : 1, pixels = n ? n / images / channels : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i % channels, p = i / channels % pixels, at = (i / channels / pixels * channels + c) * pixels + p;
        to[back ? i : at] = from[back ? at : i];
    }
}

/* Arrays with channels second of n with channels last. */
static void open_transposed(int n, const mxc_shape *last, double *const *from, mxc_shape *shapes, double **to) {
    for (int i = 0; i < n; i++) {
        shapes[i] = channels_second(&last[i]);
        to[i] = from ? calloc((size_t)case_size(&last[i]) + 1, sizeof **to) : NULL;
        if (from)
            transpose_channels(&last[i], from[i], to[i], 0);
    }
}

static void close_transposed(int n, const mxc_shape *last, double **transposed, double *const *results) {
    for (int i = 0; i < n; i++) {
        if (results)
            transpose_channels(&last[i], transposed[i], results[i], 1);
        free(transposed[i]);
    }
}

void case_run_channels_second(const op_run *r, void (*reference)(const op_run *), int is_gradient) {
    mxc_shape in_shape[3], out_shape[1];
    double *in[3], *out[1], *out_grad[1], *in_grad[3];
    op_run transposed = *r;
    open_transposed(r->n_in, r->in_shape, r->in, in_shape, in);
    open_transposed(1, r->out_shape, r->out, out_shape, out);
    open_transposed(1, r->out_shape, is_gradient ? r->out_grad : NULL, out_shape, out_grad);
    open_transposed(r->n_in, r->in_shape, is_gradient ? r->in_grad : NULL, in_shape, in_grad);
    transposed.in_shape = in_shape, transposed.out_shape = out_shape;
    transposed.in = in, transposed.out = out, transposed.out_grad = out_grad, transposed.in_grad = in_grad;
    reference(&transposed);
    close_transposed(r->n_in, r->in_shape, in, NULL);
    close_transposed(1, r->out_shape, out, is_gradient ? NULL : r->out);
    close_transposed(1, r->out_shape, out_grad, NULL);
    close_transposed(r->n_in, r->in_shape, in_grad, is_gradient ? r->in_grad : NULL);
}

case_softmax_axes case_softmax_axes_of(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    case_softmax_axes p = {1, 1, 1};
    int channel = case_is(r, "multi_output", "True") || case_is(r, "mode", "channel");
    int last = case_is(r, "preserve_shape", "True") || r->n_in == 1; /* SoftmaxActivation takes no label */
    int axis = channel || !last ? 1 : s->ndim - 1;
    int end = channel || last ? axis + 1 : s->ndim;
    for (int i = 0; i < s->ndim; i++)
        *(i < axis ? &p.outer : i < end ? &p.k : &p.inner) *= s->dim[i];
    return p;
}

void case_softmax_forward(const op_run *r) {
    case_softmax_axes p = case_softmax_axes_of(r);
    for (int64_t i = 0; i < p.outer * p.inner; i++) {
        const double *x = r->in[0] + i / p.inner * p.k * p.inner + i % p.inner;
        double *y = r->out[0] + (x - r->in[0]), most = -INFINITY, sum = 0;
        for (int64_t k = 0; k < p.k; k++)
            most = fmax(most, x[k * p.inner]);
        for (int64_t k = 0; k < p.k; k++)
            sum += exp(x[k * p.inner] - most);
        for (int64_t k = 0; k < p.k; k++)
            y[k * p.inner] = exp(x[k * p.inner] - most) / sum;
    }
}

/* One row of k elements, `inner` apart, of which n count. */
static void softmax_row(int64_t k, int64_t n, int64_t inner, double scale, int is_log, const double *x, double *y) {
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++)
        most = fmax(most, scale * x[j * inner]);
    for (int64_t j = 0; j < n; j++)
        sum += exp(scale * x[j * inner] - most);
    for (int64_t j = 0; j < k; j++) {
        double z = scale * x[j * inner] - most;
        y[j * inner] = j >= n ? 0 : is_log ? z - log(sum) : exp(z) / sum;
    }
}

void case_softmax(const op_run *r, int is_log, double sign) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", -1);
    int64_t inner = 1, k;
    double scale = sign / case_number(r, "temperature", 1);
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    k = s->dim[axis];
    for (int64_t i = 0; i < (k ? case_size(s) / k : 0); i++) {
        int64_t first = i / inner * k * inner + i % inner, n = k;
        if (r->n_in == 2)
            n = (int64_t)fmin(fmax(r->in[1][i], 0), (double)k);
        softmax_row(k, n, inner, scale, is_log, r->in[0] + first, r->out[0] + first);
    }
}

void case_moments(const double *x, int64_t n, int64_t step, int centred, double eps, double *mean, double *std) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i * step];
    *mean = centred && n ? sum / (double)n : 0;
    for (int64_t i = 0; i < n; i++)
        square += (x[i * step] - *mean) * (x[i * step] - *mean);
    *std = sqrt((n ? square / (double)n : 0) + eps);
}

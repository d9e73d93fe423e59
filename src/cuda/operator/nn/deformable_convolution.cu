/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeformableConvolution, as operator/nn/deformable_convolution.c. Letters: C channels, F filters, groups of each of
 * them; G groups of channels with offsets of their own, K elements of a patch, P places. The patches of some samples
 * are laid out in scratch, "columns" (samples, C*K, P), and multiplied with the weights.
 *
 * The gradient of data is gathered: for each sample and group the K*P elements that are read are sorted by the cell
 * that they are read in, the four elements of a plane that begin with its upper left one; an element sums over
 * its four cells.
 */
#include "cuda/operator/nn/bias.h"
#include "cuda/runtime/blas.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/sort.h"
#include "operator/nn/deformable_convolution.h"
#include "math/loop.h"

enum { DATA, OFFSET, WEIGHT, BIAS };
enum { SCRATCH = 128 << 20 }; /* bytes of columns, about */
enum { SOME_CHANNELS = 16 };  /* that a thread reads its place of */

/* Places of the type that they are computed in. */
template <class T> struct patches {
#define NAME(f) f
#include "operator/nn/deformable_convolution_scalar_kernels.inc"
#undef NAME
};

struct deformable {
    mxci_deformable_shape s;
    mxc_dtype dtype;
    int64_t samples, groups, filters; /* of weights */
    int64_t k, p, each, plane;        /* each: channels of an offset group; plane: elements of one in data */
    int64_t count;                    /* samples whose columns are laid out at a time */
    int64_t sorted;                   /* items of a sample and offset group */
    size_t sums, items, cells;        /* where in scratch, behind the columns; and how much of it is used */
    size_t forward_bytes, backward_bytes;

    int64_t column() const { /* elements of a sample's columns */
        return s.channels * k * p;
    }
};

/* Bytes of count elements, at most MXCI_SIZE_LIMIT + 255 or saturated. */
static size_t aligned(int64_t count, size_t element) {
    const size_t bytes = mxci_size_of(count, element);
    return mxci_size_fits(bytes) ? (bytes + 255) & ~(size_t)255 : SIZE_MAX;
}

static deformable deformable_of(const void *params, const mxc_shape *data, const mxc_shape *out, mxc_dtype dtype) {
    const mxci_deformable_params *p = static_cast<const mxci_deformable_params *>(params);
    deformable d = {};
    d.s = mxci_deformable_shape_of(p, data->dim, out->dim);
    d.dtype = dtype;
    d.samples = data->dim[0], d.groups = p->num_group, d.filters = p->num_filter;
    d.k = d.s.kernel[0] * d.s.kernel[1], d.p = d.s.out[0] * d.s.out[1];
    d.each = d.s.channels / d.s.groups, d.plane = d.s.in[0] * d.s.in[1];
    d.count = SCRATCH / (d.column() * mxcu_element_bytes(dtype));
    d.count = d.count < 1 ? 1 : d.count > d.samples ? d.samples : d.count;
    d.sorted = mxcu_sort_row(d.k * d.p);
    const int64_t planes = mxci_dim_mul(d.count, d.s.groups);
    d.forward_bytes = d.sums = aligned(mxci_dim_mul(d.count, d.column()), (size_t)mxcu_element_bytes(dtype));
    d.items = mxci_size_add(d.sums, aligned(d.filters * d.s.channels / d.groups * d.k, dtype == MXC_F64 ? 8 : 4));
    d.cells = mxci_size_add(d.items, aligned(mxci_dim_mul(planes, d.sorted), sizeof(mxcu_item)));
    d.backward_bytes = mxci_size_add(d.cells, aligned(mxci_dim_mul(planes, d.plane + 1), sizeof(int64_t)));
    return d;
}

static deformable deformable_of_call(const mxc_op_call *call) {
    return deformable_of(call->params, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    deformable d = deformable_of(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    return pass == MXC_FORWARD ? d.forward_bytes : d.backward_bytes;
}

/* Offsets, read by (sample, offset group and element of a patch, place). */
template <class T> struct offsets {
    using A = mxcu_compute_t<T>;
    mxci_deformable_shape s;
    mxcu_in<T> x;
    int64_t k, p;

    /* The element of data's plane and its three neighbours; 0: outside. */
    MXCU_DEVICE int find(int64_t sample, int64_t index, int64_t place,
                         typename patches<A>::bilinear_sample *out) const {
        const int64_t down = (sample * s.groups * k + index) * 2 * p + place;
        return patches<A>::sample_element(&s, index % k, place, x[down], x[down + p], out);
    }
};

template <class T> static offsets<T> offsets_of(const mxc_op_call *call, const deformable &d) {
    return {d.s, mxcu_data<T>(&call->in[OFFSET]), d.k, d.p};
}

/* Of the plane that begins there, of so many elements; 0 where it has none, and padding surrounds it. */
template <class T>
MXCU_DEVICE static mxcu_compute_t<T> read(const mxcu_in<T> &x, int64_t plane, int64_t elements, const int64_t *at,
                                          const mxcu_compute_t<T> *share) {
    if (elements == 0)
        return 0;
    return x[plane + at[0]] * share[0] + x[plane + at[1]] * share[1] + x[plane + at[2]] * share[2] +
           x[plane + at[3]] * share[3];
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Of samples first on, count of them: a thread for each element of a patch, place and some channels. */
template <class T>
static mxc_status columns(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t k = d.k, places = d.p, each = d.each, plane = d.plane, groups = d.s.groups;
    const int64_t parts = (each + SOME_CHANNELS - 1) / SOME_CHANNELS;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    T *to = mxcu_temp<T>(call, 0);
    return mxcu_for(call, count * groups * parts * k * places, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, places), place = i - row * places; /* row: (sample, group, part, k) */
        const int64_t part = mxcu_divide(row, k), group = mxcu_divide(part, parts), sample = mxcu_divide(group, groups);
        const int64_t index = (group - sample * groups) * k + row - part * k;
        const int64_t from = (part - group * parts) * SOME_CHANNELS;
        const int64_t end = from + SOME_CHANNELS < each ? from + SOME_CHANNELS : each;
        typename patches<A>::bilinear_sample bilinear;
        offset.find(first + sample, index, place, &bilinear);
        for (int64_t c = group * each + from; c < group * each + end; c++)
            to[(c * k + row - part * k) * places + place] =
                mxcu_narrow<T>(read(x, (first * groups * each + c) * plane, plane, bilinear.at, bilinear.weight));
    });
}

static mxc_status make_columns(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXCU_SWITCH_FLOAT(d.dtype, columns, call, d, first, count)
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static const void *moved_by(const deformable &d, const void *base, int64_t elements) {
    return static_cast<const char *>(base) + elements * mxcu_element_bytes(d.dtype);
}

/* Of weights (F, K'), K' rows of columns, of one group; batched over count samples. */
static mxci_gemm_args product_of(const deformable &d, int64_t count) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = d.dtype;
    g.m = d.filters / d.groups;
    g.k = g.lda = d.s.channels / d.groups * d.k;
    g.n = g.ldb = g.ldc = d.p;
    g.b_stride = d.column();
    g.c_stride = d.filters * d.p;
    g.batch = count;
    return g;
}

static mxc_status put_products(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    mxci_gemm_args g = product_of(d, count);
    g.beta = call->req[0] == MXC_REQ_ADD;
    for (int64_t group = 0; group < d.groups; group++) {
        g.a = moved_by(d, call->in[WEIGHT].data, group * g.m * g.k);
        g.b = moved_by(d, call->temp, group * g.k * g.n);
        g.c = (void *)moved_by(d, call->out[0].data, (first * d.filters + group * g.m) * d.p);
        MXC_TRY(mxcu_gemm(call, &g));
    }
    return MXC_OK;
}

/* Scratch = the columns' gradient, transposed weights times that of out. */
static mxc_status columns_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    mxci_gemm_args g = product_of(d, count);
    const int64_t filters = g.m, rows = g.k;
    g.transpose_a = 1;
    g.m = rows, g.k = filters;
    g.b_stride = d.filters * d.p;
    g.c_stride = d.column();
    for (int64_t group = 0; group < d.groups; group++) {
        g.a = moved_by(d, call->in[WEIGHT].data, group * filters * rows);
        g.b = moved_by(d, call->out_grad[0].data, (first * d.filters + group * filters) * d.p);
        g.c = (void *)moved_by(d, call->temp, group * rows * d.p);
        MXC_TRY(mxcu_gemm(call, &g));
    }
    return MXC_OK;
}

/* The weights' sums += those of a sample whose columns are number i in scratch. */
static mxc_status add_weights(const mxc_op_call *call, const deformable &d, int64_t sample, int64_t i) {
    mxci_gemm_args g = product_of(d, d.groups);
    g.transpose_b = 1;
    g.n = g.ldc = g.k;
    g.k = g.lda = g.ldb = d.p;
    g.a_stride = g.m * g.k, g.b_stride = g.n * g.k, g.c_stride = g.m * g.n;
    g.a = moved_by(d, call->out_grad[0].data, sample * d.filters * d.p);
    g.b = moved_by(d, call->temp, i * d.column());
    g.c = static_cast<char *>(call->temp) + d.sums;
    g.beta = sample > 0;
    return mxcu_gemm_wide(call, &g);
}

/* ---- data's gradient --------------------------------------------------------------------------------------------- */

/* The items of each sample and group, K*P of them, by cell; those outside come last. */
template <class T>
static mxc_status sort_places(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    const int64_t sorted = d.sorted, n = d.k * d.p, places = d.p, groups = d.s.groups, k = d.k;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_item *items = mxcu_temp<mxcu_item>(call, d.items);
    MXC_TRY(mxcu_for(call, count * groups * sorted, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = mxcu_divide(at, sorted), i = at - row * sorted, sample = mxcu_divide(row, groups);
        typename patches<mxcu_compute_t<T>>::bilinear_sample bilinear;
        mxcu_item item = MXCU_LAST_ITEM;
        if (i < n && offset.find(first + sample, (row - sample * groups) * k + i / places, i % places, &bilinear)) {
            item.key = (uint64_t)bilinear.at[0];
            item.index = i;
        }
        items[at] = item;
    }));
    return mxcu_sort(call, items, count * groups, sorted);
}

/* Where each cell's items begin; and behind the last cell. */
static mxc_status find_cells(const mxc_op_call *call, const deformable &d, int64_t count) {
    const int64_t sorted = d.sorted, cells = d.plane + 1;
    const mxcu_item *items = mxcu_temp<mxcu_item>(call, d.items);
    int64_t *begin = mxcu_temp<int64_t>(call, d.cells);
    return mxcu_for(call, count * d.s.groups * cells, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = mxcu_divide(at, cells);
        const uint64_t cell = (uint64_t)(at - row * cells);
        int64_t low = 0, high = sorted;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (items[row * sorted + middle].key < cell)
                low = middle + 1;
            else
                high = middle;
        }
        begin[at] = low;
    });
}

/* An element's gradient: in its cells, what its place there counts in the items, times the columns' gradient. */
template <class T>
static mxc_status gather(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t sorted = d.sorted, places = d.p, k = d.k, each = d.each, groups = d.s.groups, plane = d.plane;
    const int64_t width = d.s.in[1];
    const offsets<T> offset = offsets_of<T>(call, d);
    const mxcu_item *items = mxcu_temp<mxcu_item>(call, d.items);
    const int64_t *begin = mxcu_temp<int64_t>(call, d.cells);
    mxcu_in<T> grad = {mxcu_temp<T>(call, 0)};
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, count * groups * each * plane, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t channel = mxcu_divide(at, plane), row = mxcu_divide(channel, each); /* row: (sample, group) */
        const int64_t sample = mxcu_divide(row, groups), element = at - channel * plane, column = element % width;
        A sum = 0;
        for (int corner = 0; corner < 4; corner++) {
            const int64_t cell = element - (corner >> 1) * width - (corner & 1), from = row * (plane + 1) + cell;
            if (cell < 0 || column < (corner & 1))
                continue;
            for (int64_t j = begin[from]; j < begin[from + 1]; j++) {
                const int64_t i = items[row * sorted + j].index, element_k = mxcu_divide(i, places);
                typename patches<A>::bilinear_sample bilinear;
                offset.find(first + sample, (row - sample * groups) * k + element_k, i - element_k * places, &bilinear);
                if (bilinear.at[corner] == element)
                    sum += bilinear.weight[corner] * grad[channel * k * places + i];
            }
        }
        dx.put(first * groups * each * plane + at, sum);
    });
}

template <class T>
static mxc_status data_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXC_TRY(sort_places<T>(call, d, first, count));
    MXC_TRY(find_cells(call, d, count));
    return gather<T>(call, d, first, count);
}

static mxc_status put_data_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXCU_SWITCH_FLOAT(d.dtype, data_gradient, call, d, first, count)
}

/* ---- offset's gradient ------------------------------------------------------------------------------------------- */

/* A thread for each element of a patch and place: the derivatives there, times the columns' gradient, of all channels.
 */
template <class T>
static mxc_status offset_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t k = d.k, places = d.p, each = d.each, plane = d.plane, groups = d.s.groups;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), grad = {mxcu_temp<T>(call, 0)};
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[OFFSET], OFFSET);
    return mxcu_for(call, count * groups * k * places, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, places), place = i - row * places, group = mxcu_divide(row, k); /* of all */
        const int64_t sample = mxcu_divide(group, groups), element = row - group * k;
        const int64_t down = (first * groups * k + row) * 2 * places + place;
        typename patches<A>::bilinear_sample bilinear;
        double sum[2] = {0, 0};
        offset.find(first + sample, (group - sample * groups) * k + element, place, &bilinear);
        for (int64_t c = group * each; c < (group + 1) * each; c++)
            for (int axis = 0; axis < 2; axis++)
                sum[axis] +=
                    grad[(c * k + element) * places + place] *
                    read(x, (first * groups * each + c) * plane, plane, bilinear.at, bilinear.derivative[axis]);
        to.put(down, (A)sum[0]);
        to.put(down + places, (A)sum[1]);
    });
}

static mxc_status put_offset_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXCU_SWITCH_FLOAT(d.dtype, offset_gradient, call, d, first, count)
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static int64_t count_at(const deformable &d, int64_t first) {
    return d.samples - first < d.count ? d.samples - first : d.count;
}

static mxc_status forward(const mxc_op_call *call) {
    const deformable d = deformable_of_call(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    for (int64_t first = 0; first < d.samples; first += d.count) {
        MXC_TRY(make_columns(call, d, first, count_at(d, first)));
        MXC_TRY(put_products(call, d, first, count_at(d, first)));
    }
    return call->n_in > BIAS ? mxcu_bias_put(call, MXC_REQ_ADD, &call->out[0], &call->in[BIAS], d.p) : MXC_OK;
}

static mxc_status piece_backward(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    if (call->req[DATA] != MXC_REQ_NULL || call->req[OFFSET] != MXC_REQ_NULL)
        MXC_TRY(columns_gradient(call, d, first, count));
    if (call->req[DATA] != MXC_REQ_NULL)
        MXC_TRY(put_data_gradient(call, d, first, count));
    if (call->req[OFFSET] != MXC_REQ_NULL)
        MXC_TRY(put_offset_gradient(call, d, first, count));
    if (call->req[WEIGHT] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(make_columns(call, d, first, count));
    for (int64_t i = 0; i < count; i++)
        MXC_TRY(add_weights(call, d, first + i, i));
    return MXC_OK;
}

static mxc_status put_weights(const mxc_op_call *call, const deformable &d) {
    mxc_tensor sums = call->in_grad[WEIGHT];
    if (call->req[WEIGHT] == MXC_REQ_NULL)
        return MXC_OK;
    if (d.samples == 0)
        return mxcu_no_gradient(call, WEIGHT);
    sums.dtype = d.dtype == MXC_F64 ? MXC_F64 : MXC_F32;
    sums.data = static_cast<char *>(call->temp) + d.sums;
    return mxcu_put_cast(call, &call->in_grad[WEIGHT], call->req[WEIGHT], &sums);
}

static mxc_status backward(const mxc_op_call *call) {
    const deformable d = deformable_of_call(call);
    for (int64_t first = 0; first < d.samples; first += d.count)
        MXC_TRY(piece_backward(call, d, first, count_at(d, first)));
    MXC_TRY(put_weights(call, d));
    if (call->n_in == BIAS || call->req[BIAS] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_bias_sum(call, call->req[BIAS], &call->in_grad[BIAS], &call->out_grad[0], d.p);
}

MXCU_OP_IMPLS(deformable_convolution, {"_contrib_DeformableConvolution", forward, backward, temp_bytes})

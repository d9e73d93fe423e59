/* SPDX-License-Identifier: Apache-2.0 */
/* DeformableConvolution and ModulatedDeformableConvolution (operator/nn/deformable_convolution.c). Letters: C channels,
 * F filters, groups of each of them; G groups of channels with offsets of their own, K elements of a patch, P pixels of
 * out. The patches of some samples, read between elements by bilinear interpolation, are laid out in scratch as
 * "columns" (samples, C*K, P) and multiplied with the weights.
 *
 * The gradient of data is gathered without atomics: for each sample and offset group the K*P points that are read are
 * sorted by the cell that they lie in, the square between four elements, of which those at the border lie half outside;
 * an element of data sums over the points of its four cells. */
#include "cuda/operator/nn/bias.h"
#include "cuda/runtime/blas.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/sort.h"
#include "operator/nn/deformable_convolution.h"
#include "math/loop.h"

enum { DATA, OFFSET, MASK };
enum { SCRATCH = 128 << 20 };      /* bytes of columns, about */
enum { CHANNELS_PER_THREAD = 16 }; /* which share the computation of a point */

/* The functions of operator/nn/deformable_convolution_scalar_kernels.inc for points in the compute type T. */
template <class T> struct patches {
#define NAME(f) f
#include "operator/nn/deformable_convolution_scalar_kernels.inc"
#undef NAME
};

/* Sizes, and scratch: the columns of `count` samples; the sums of the weights' gradient in the compute type; the sorted
 * points; where each cell's points begin. */
struct deformable {
    mxci_deformable_shape s;
    mxc_dtype dtype;
    int64_t samples, groups, filters; /* of weights */
    int64_t k, pixels;                /* K, P */
    int64_t each, plane;              /* channels of an offset group; elements of a plane of data */
    int64_t n_cells;
    int has_mask, weight, bias; /* the last two: slots */
    int64_t count;              /* samples whose columns are laid out at a time */
    int64_t sorted;             /* items of a sample and offset group */
    size_t sums, items, cells;  /* offsets in scratch, behind the columns */
    size_t forward_bytes, backward_bytes;

    int64_t column() const { /* elements of a sample's columns */
        return s.channels * k * pixels;
    }
};

/* Bytes of count elements, at most MXCI_SIZE_LIMIT + 255 or saturated. */
static size_t aligned(int64_t count, size_t element) {
    const size_t bytes = mxci_size_of(count, element);
    return mxci_size_fits(bytes) ? (bytes + 255) & ~(size_t)255 : SIZE_MAX;
}

static deformable deformable_of(const void *params, int n_in, const mxc_shape *data, const mxc_shape *out,
                                mxc_dtype dtype) {
    const mxci_deformable_params *p = static_cast<const mxci_deformable_params *>(params);
    deformable d = {};
    d.has_mask = mxci_deformable_has_mask(p, n_in);
    d.weight = MASK + d.has_mask;
    d.bias = d.weight + 1;
    d.s = mxci_deformable_shape_of(p, data->dim, out->dim, d.has_mask);
    d.dtype = dtype;
    d.samples = data->dim[0], d.groups = p->num_group, d.filters = p->num_filter;
    d.k = d.s.kernel[0] * d.s.kernel[1], d.pixels = d.s.out[0] * d.s.out[1];
    d.each = d.s.channels / d.s.groups, d.plane = d.s.in[0] * d.s.in[1];
    d.n_cells = mxci_dim_mul(mxci_dim_add(d.s.in[0], 1), mxci_dim_add(d.s.in[1], 1));
    d.count = SCRATCH / (d.column() * mxcu_element_bytes(dtype));
    d.count = d.count < 1 ? 1 : d.count > d.samples ? d.samples : d.count;
    d.sorted = mxcu_sort_row(d.k * d.pixels);
    const int64_t planes = mxci_dim_mul(d.count, d.s.groups);
    d.forward_bytes = d.sums = aligned(mxci_dim_mul(d.count, d.column()), (size_t)mxcu_element_bytes(dtype));
    d.items = mxci_size_add(d.sums, aligned(d.filters * d.s.channels / d.groups * d.k, dtype == MXC_F64 ? 8 : 4));
    d.cells = mxci_size_add(d.items, aligned(mxci_dim_mul(planes, d.sorted), sizeof(mxcu_item)));
    d.backward_bytes =
        mxci_size_add(d.cells, aligned(mxci_dim_mul(planes, mxci_dim_add(d.n_cells, 1)), sizeof(int64_t)));
    return d;
}

static deformable deformable_of_call(const mxc_op_call *call) {
    return deformable_of(call->params, call->n_in, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    deformable d = deformable_of(sig->params, sig->n_in, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    return pass == MXC_FORWARD ? d.forward_bytes : d.backward_bytes;
}

/* The offsets (samples, G K 2, P) and the mask (samples, G K, P; data NULL where there is none), read by sample, offset
 * group and element of a patch, and pixel. */
template <class T> struct offsets {
    using A = mxcu_compute_t<T>;
    mxci_deformable_shape s;
    mxcu_in<T> x, mask;
    int64_t k, pixels;

    /* The four elements of data's plane around the point, and their weights; 0: it is outside. */
    MXCU_DEVICE int find_unmasked(int64_t sample, int64_t index, int64_t pixel,
                                  typename patches<A>::bilinear_sample *out) const {
        const int64_t down = (sample * s.groups * k + index) * 2 * pixels + pixel;
        return patches<A>::sample_element(&s, index % k, pixel, x[down], x[down + pixels], out);
    }
    /* The same with weights and derivatives times the mask. */
    MXCU_DEVICE int find(int64_t sample, int64_t index, int64_t pixel,
                         typename patches<A>::bilinear_sample *out) const {
        const int is_inside = find_unmasked(sample, index, pixel, out);
        if (mask.data)
            patches<A>::modulate(mask[(sample * s.groups * k + index) * pixels + pixel], out);
        return is_inside;
    }
};

template <class T> static offsets<T> offsets_of(const mxc_op_call *call, const deformable &d) {
    mxcu_in<T> mask = {nullptr};
    if (d.has_mask)
        mask = mxcu_data<T>(&call->in[MASK]);
    return {d.s, mxcu_data<T>(&call->in[OFFSET]), mask, d.k, d.pixels};
}

/* The interpolated value of the plane that begins at `plane`. Planes without elements read as the padding, 0. */
template <class T>
MXCU_DEVICE static mxcu_compute_t<T> read(const mxcu_in<T> &x, int64_t plane, int64_t elements, const int64_t *at,
                                          const mxcu_compute_t<T> *share) {
    if (elements == 0)
        return 0;
    return x[plane + at[0]] * share[0] + x[plane + at[1]] * share[1] + x[plane + at[2]] * share[2] +
           x[plane + at[3]] * share[3];
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Of samples `first` on, count of them. A thread computes one point (element of a patch, pixel) and reads it in
 * CHANNELS_PER_THREAD channels of its offset group; neighbouring threads have neighbouring pixels. */
template <class T>
static mxc_status columns(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t k = d.k, pixels = d.pixels, each = d.each, plane = d.plane, groups = d.s.groups;
    const int64_t parts = (each + CHANNELS_PER_THREAD - 1) / CHANNELS_PER_THREAD;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    T *to = mxcu_temp<T>(call, 0);
    return mxcu_for(call, count * groups * parts * k * pixels, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, pixels), pixel = i - row * pixels; /* row: (sample, group, part, k) */
        const int64_t part = mxcu_divide(row, k), group = mxcu_divide(part, parts), sample = mxcu_divide(group, groups);
        const int64_t index = (group - sample * groups) * k + row - part * k;
        const int64_t from = (part - group * parts) * CHANNELS_PER_THREAD;
        const int64_t end = from + CHANNELS_PER_THREAD < each ? from + CHANNELS_PER_THREAD : each;
        typename patches<A>::bilinear_sample bilinear;
        offset.find(first + sample, index, pixel, &bilinear);
        for (int64_t c = group * each + from; c < group * each + end; c++)
            to[(c * k + row - part * k) * pixels + pixel] =
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

/* The product of weights (F, K') and K' rows of columns, of one group, batched over count samples. */
static mxci_gemm_args product_of(const deformable &d, int64_t count) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = d.dtype;
    g.m = d.filters / d.groups;
    g.k = g.lda = d.s.channels / d.groups * d.k;
    g.n = g.ldb = g.ldc = d.pixels;
    g.b_stride = d.column();
    g.c_stride = d.filters * d.pixels;
    g.batch = count;
    return g;
}

static mxc_status put_products(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    mxci_gemm_args g = product_of(d, count);
    g.beta = call->req[0] == MXC_REQ_ADD;
    for (int64_t group = 0; group < d.groups; group++) {
        g.a = moved_by(d, call->in[d.weight].data, group * g.m * g.k);
        g.b = moved_by(d, call->temp, group * g.k * g.n);
        g.c = (void *)moved_by(d, call->out[0].data, (first * d.filters + group * g.m) * d.pixels);
        MXC_TRY(mxcu_gemm(call, &g));
    }
    return MXC_OK;
}

/* Scratch = the gradient of the columns: transposed weights times the gradient of out. */
static mxc_status columns_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    mxci_gemm_args g = product_of(d, count);
    const int64_t filters = g.m, rows = g.k;
    g.transpose_a = 1;
    g.m = rows, g.k = filters;
    g.b_stride = d.filters * d.pixels;
    g.c_stride = d.column();
    for (int64_t group = 0; group < d.groups; group++) {
        g.a = moved_by(d, call->in[d.weight].data, group * filters * rows);
        g.b = moved_by(d, call->out_grad[0].data, (first * d.filters + group * filters) * d.pixels);
        g.c = (void *)moved_by(d, call->temp, group * rows * d.pixels);
        MXC_TRY(mxcu_gemm(call, &g));
    }
    return MXC_OK;
}

/* The sums of the weights' gradient += those of one sample, whose columns are number i in scratch; in the compute type,
 * batched over groups. */
static mxc_status add_weights(const mxc_op_call *call, const deformable &d, int64_t sample, int64_t i) {
    mxci_gemm_args g = product_of(d, d.groups);
    g.transpose_b = 1;
    g.n = g.ldc = g.k;
    g.k = g.lda = g.ldb = d.pixels;
    g.a_stride = g.m * g.k, g.b_stride = g.n * g.k, g.c_stride = g.m * g.n;
    g.a = moved_by(d, call->out_grad[0].data, sample * d.filters * d.pixels);
    g.b = moved_by(d, call->temp, i * d.column());
    g.c = static_cast<char *>(call->temp) + d.sums;
    g.beta = sample > 0;
    return mxcu_gemm_wide(call, &g);
}

/* ---- data's gradient --------------------------------------------------------------------------------------------- */

/* A thread per point of each sample and offset group makes an item, K*P of them; then they are sorted by cell. Points
 * outside come last. */
template <class T>
static mxc_status sort_cells(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    const int64_t sorted = d.sorted, n = d.k * d.pixels, pixels = d.pixels, groups = d.s.groups, k = d.k;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_item *items = mxcu_temp<mxcu_item>(call, d.items);
    MXC_TRY(mxcu_for(call, count * groups * sorted, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = mxcu_divide(at, sorted), i = at - row * sorted, sample = mxcu_divide(row, groups);
        typename patches<mxcu_compute_t<T>>::bilinear_sample bilinear;
        mxcu_item item = MXCU_LAST_ITEM;
        if (i < n && offset.find(first + sample, (row - sample * groups) * k + i / pixels, i % pixels, &bilinear)) {
            item.key = (uint64_t)bilinear.cell;
            item.index = i;
        }
        items[at] = item;
    }));
    return mxcu_sort(call, items, count * groups, sorted);
}

/* A thread per cell searches where its items begin, by bisection; one more entry ends the last cell. */
static mxc_status find_cells(const mxc_op_call *call, const deformable &d, int64_t count) {
    const int64_t sorted = d.sorted, cells = d.n_cells + 1;
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

/* A thread per element of data sums, over the points of its four cells, the point's weight for the element times the
 * gradient of the columns. Points are computed again from the offsets instead of being stored. */
template <class T>
static mxc_status gather(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t sorted = d.sorted, pixels = d.pixels, k = d.k, each = d.each, groups = d.s.groups, plane = d.plane;
    const int64_t width = d.s.in[1], cells = d.n_cells + 1;
    const offsets<T> offset = offsets_of<T>(call, d);
    const mxcu_item *items = mxcu_temp<mxcu_item>(call, d.items);
    const int64_t *begin = mxcu_temp<int64_t>(call, d.cells);
    mxcu_in<T> grad = {mxcu_temp<T>(call, 0)};
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, count * groups * each * plane, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t channel = mxcu_divide(at, plane), row = mxcu_divide(channel, each); /* row: (sample, group) */
        const int64_t sample = mxcu_divide(row, groups), element = at - channel * plane;
        const int64_t cell_below = (element / width + 1) * (width + 1) + element % width + 1;
        A sum = 0;
        for (int corner = 0; corner < 4; corner++) {
            const int64_t from = row * cells + cell_below - (corner >> 1) * (width + 1) - (corner & 1);
            for (int64_t j = begin[from]; j < begin[from + 1]; j++) {
                const int64_t i = items[row * sorted + j].index, element_k = mxcu_divide(i, pixels);
                typename patches<A>::bilinear_sample bilinear;
                offset.find(first + sample, (row - sample * groups) * k + element_k, i - element_k * pixels, &bilinear);
                if (bilinear.at[corner] == element)
                    sum += bilinear.weight[corner] * grad[channel * k * pixels + i];
            }
        }
        dx.put(first * groups * each * plane + at, sum);
    });
}

template <class T>
static mxc_status data_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXC_TRY(sort_cells<T>(call, d, first, count));
    MXC_TRY(find_cells(call, d, count));
    return gather<T>(call, d, first, count);
}

static mxc_status put_data_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXCU_SWITCH_FLOAT(d.dtype, data_gradient, call, d, first, count)
}

/* ---- offset's gradient ------------------------------------------------------------------------------------------- */

/* A thread per element of a patch and pixel sums, over the channels of its group, the derivative of the interpolated
 * value along each axis times the gradient of the columns. */
template <class T>
static mxc_status offset_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t k = d.k, pixels = d.pixels, each = d.each, plane = d.plane, groups = d.s.groups;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), grad = {mxcu_temp<T>(call, 0)};
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[OFFSET], OFFSET);
    return mxcu_for(call, count * groups * k * pixels, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, pixels), pixel = i - row * pixels, group = mxcu_divide(row, k); /* of all */
        const int64_t sample = mxcu_divide(group, groups), element = row - group * k;
        const int64_t down = (first * groups * k + row) * 2 * pixels + pixel;
        typename patches<A>::bilinear_sample bilinear;
        double sum[2] = {0, 0};
        offset.find(first + sample, (group - sample * groups) * k + element, pixel, &bilinear);
        for (int64_t c = group * each; c < (group + 1) * each; c++)
            for (int axis = 0; axis < 2; axis++)
                sum[axis] +=
                    grad[(c * k + element) * pixels + pixel] *
                    read(x, (first * groups * each + c) * plane, plane, bilinear.at, bilinear.derivative[axis]);
        to.put(down, (A)sum[0]);
        to.put(down + pixels, (A)sum[1]);
    });
}

static mxc_status put_offset_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXCU_SWITCH_FLOAT(d.dtype, offset_gradient, call, d, first, count)
}

/* ---- mask's gradient --------------------------------------------------------------------------------------------- */

/* A thread per element of a patch and pixel sums, over the channels of its group, the interpolated value times the
 * gradient of the columns. */
template <class T>
static mxc_status mask_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    using A = mxcu_compute_t<T>;
    const int64_t k = d.k, pixels = d.pixels, each = d.each, plane = d.plane, groups = d.s.groups;
    const offsets<T> offset = offsets_of<T>(call, d);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), grad = {mxcu_temp<T>(call, 0)};
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[MASK], MASK);
    return mxcu_for(call, count * groups * k * pixels, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, pixels), pixel = i - row * pixels, group = mxcu_divide(row, k); /* of all */
        const int64_t sample = mxcu_divide(group, groups), element = row - group * k;
        typename patches<A>::bilinear_sample bilinear;
        double sum = 0;
        offset.find_unmasked(first + sample, (group - sample * groups) * k + element, pixel, &bilinear);
        for (int64_t c = group * each; c < (group + 1) * each; c++)
            sum += grad[(c * k + element) * pixels + pixel] *
                   read(x, (first * groups * each + c) * plane, plane, bilinear.at, bilinear.weight);
        to.put((first * groups * k + row) * pixels + pixel, (A)sum);
    });
}

static mxc_status put_mask_gradient(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    MXCU_SWITCH_FLOAT(d.dtype, mask_gradient, call, d, first, count)
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Samples of the slice of the batch that begins at `first`. */
static int64_t slice_count(const deformable &d, int64_t first) {
    return d.samples - first < d.count ? d.samples - first : d.count;
}

static mxc_status forward(const mxc_op_call *call) {
    const deformable d = deformable_of_call(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    for (int64_t first = 0; first < d.samples; first += d.count) {
        MXC_TRY(make_columns(call, d, first, slice_count(d, first)));
        MXC_TRY(put_products(call, d, first, slice_count(d, first)));
    }
    return call->n_in > d.bias ? mxcu_bias_put(call, MXC_REQ_ADD, &call->out[0], &call->in[d.bias], d.pixels) : MXC_OK;
}

/* The columns of the slice are in scratch first as gradients, then, for the weights, as values. */
static mxc_status backward_slice(const mxc_op_call *call, const deformable &d, int64_t first, int64_t count) {
    const int wants_mask = d.has_mask && call->req[MASK] != MXC_REQ_NULL;
    if (call->req[DATA] != MXC_REQ_NULL || call->req[OFFSET] != MXC_REQ_NULL || wants_mask)
        MXC_TRY(columns_gradient(call, d, first, count));
    if (call->req[DATA] != MXC_REQ_NULL)
        MXC_TRY(put_data_gradient(call, d, first, count));
    if (call->req[OFFSET] != MXC_REQ_NULL)
        MXC_TRY(put_offset_gradient(call, d, first, count));
    if (wants_mask)
        MXC_TRY(put_mask_gradient(call, d, first, count));
    if (call->req[d.weight] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(make_columns(call, d, first, count));
    for (int64_t i = 0; i < count; i++)
        MXC_TRY(add_weights(call, d, first + i, i));
    return MXC_OK;
}

/* The sums, rounded to the dtype of the weights. */
static mxc_status put_weights(const mxc_op_call *call, const deformable &d) {
    mxc_tensor sums = call->in_grad[d.weight];
    if (call->req[d.weight] == MXC_REQ_NULL)
        return MXC_OK;
    if (d.samples == 0)
        return mxcu_no_gradient(call, d.weight);
    sums.dtype = d.dtype == MXC_F64 ? MXC_F64 : MXC_F32;
    sums.data = static_cast<char *>(call->temp) + d.sums;
    return mxcu_put_cast(call, &call->in_grad[d.weight], call->req[d.weight], &sums);
}

static mxc_status backward(const mxc_op_call *call) {
    const deformable d = deformable_of_call(call);
    for (int64_t first = 0; first < d.samples; first += d.count)
        MXC_TRY(backward_slice(call, d, first, slice_count(d, first)));
    MXC_TRY(put_weights(call, d));
    if (call->n_in == d.bias || call->req[d.bias] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_bias_sum(call, call->req[d.bias], &call->in_grad[d.bias], &call->out_grad[0], d.pixels);
}

MXCU_OP_IMPLS(deformable_convolution, {"_contrib_DeformableConvolution", forward, backward, temp_bytes},
              {"_contrib_ModulatedDeformableConvolution", forward, backward, temp_bytes})

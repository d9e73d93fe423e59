/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution channels last where no library supports it: computed channels second, on transposed copies, some samples
 * at a time. The transposes go through shared memory (mxcu_tiles), so they run at the speed of memory. */
#include "cuda/operator/nn/convolution.h"

#include "cuda/runtime/dnn.h"
#include "cuda/runtime/kernel.h"
#include "cuda_platform/tiles.h"

enum { SCRATCH = 32 << 20 }; /* bytes of copies of x and y, about */

static int64_t aligned(int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

static void *moved(void *base, int64_t elements, const mxcu_conv *c) {
    return static_cast<char *>(base) + elements * mxcu_element_bytes(c->dtype);
}

/* Sizes and scratch: how many samples at a time, and the offsets of the copies of y and w and of the scratch of the
 * computation (the copy of x is at 0). */
struct layout_transform {
    mxcu_conv part; /* of so many samples */
    int64_t y, w, rest;
};

/* The library computes the copies where it serves channels second but not channels last. Each part has as many samples
 * as fit into SCRATCH, at least one. */
static layout_transform plan_of(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass) {
    const int64_t bytes = mxcu_element_bytes(c->dtype);
    int64_t at_once;
    layout_transform t = {*c, 0, 0, 0};
    t.part.channels_last = 0;
    t.part.library = c->library && mxcu_dnn_conv_temp(context, c, pass) == 0 ? c->library : 0;
    t.part.batch = 1;
    at_once = SCRATCH / ((mxcu_conv_x(&t.part).size() + mxcu_conv_y(&t.part).size()) * bytes + 1);
    t.part.batch = at_once > c->batch ? c->batch : at_once;
    t.part.batch = t.part.batch < 1 ? 1 : t.part.batch;
    t.y = aligned(mxcu_conv_x(&t.part).size() * bytes);
    t.w = t.y + aligned(mxcu_conv_y(&t.part).size() * bytes);
    t.rest = t.w + aligned(mxcu_conv_w(&t.part).size() * bytes);
    return t;
}

/* The copies, then what the computation of a part needs. */
size_t mxcu_conv_transformed_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass) {
    const layout_transform t = plan_of(context, c, pass);
    return mxci_size_add((size_t)t.rest, mxcu_conv_temp(context, &t.part, pass));
}

/* to (B,N,M) = or += from (B,M,N). */
template <class T>
static mxc_status transpose_as(const mxc_op_call *call, int64_t b, int64_t m, int64_t n, const void *from, void *to,
                               int add) {
    const T *x = mxcu_pointer<const T>((void *)from);
    const mxcu_out<T> y = {mxcu_pointer<T>(to), add};
    return mxcu_tiles<T>(
        call, b, m, n, [=] MXCU_LAMBDA(int64_t k, int64_t i, int64_t j) { return x[(k * m + i) * n + j]; },
        [=] MXCU_LAMBDA(int64_t k, int64_t i, int64_t j, T value) {
            y.put((k * n + j) * m + i, mxcu_widen<T>(value));
        });
}

static mxc_status transpose(const mxc_op_call *call, mxc_dtype dtype, int64_t b, int64_t m, int64_t n, const void *from,
                            void *to, int add) {
    MXCU_SWITCH_FLOAT(dtype, transpose_as, call, b, m, n, from, to, add)
}

static mxc_status to_channels_second(const mxc_op_call *call, mxc_dtype dtype, mxcu_conv_array a, const void *from,
                                     void *to) {
    return transpose(call, dtype, a.outer, a.inner, a.channels, from, to, 0);
}

static mxc_status from_channels_second(const mxc_op_call *call, mxc_dtype dtype, mxcu_conv_array a, const void *from,
                                       void *to, int add) {
    return transpose(call, dtype, a.outer, a.channels, a.inner, from, to, add);
}

/* The arrays of a pass, of which it writes one. */
struct arrays {
    void *x, *w, *y;
};

/* x, w and y of a pass from its operands a and b and its result, as mxcu_dnn_conv has them. */
static arrays arrays_of(mxcu_conv_pass pass, const void *a, const void *b, void *to) {
    void *first = const_cast<void *>(a), *second = const_cast<void *>(b);
    return pass == MXCU_CONV_FORWARD ? arrays{first, second, to}
           : pass == MXCU_CONV_DATA  ? arrays{to, second, first}
                                     : arrays{first, to, second};
}

/* Samples from n on, as many as the part has: transpose what the pass reads, compute, transpose its result back. The
 * copy of w is made or transposed back by the caller, once. */
static mxc_status transformed_part(const mxc_op_call *call, const mxcu_conv *part, mxcu_conv_pass pass, int64_t n,
                                   const arrays &last, const arrays &second, int add) {
    const mxcu_conv_array x = mxcu_conv_x(part), y = mxcu_conv_y(part);
    void *x_last = moved(last.x, n * x.channels * x.inner, part);
    void *y_last = moved(last.y, n * y.channels * y.inner, part);
    if (pass != MXCU_CONV_DATA)
        MXC_TRY(to_channels_second(call, part->dtype, x, x_last, second.x));
    if (pass != MXCU_CONV_FORWARD)
        MXC_TRY(to_channels_second(call, part->dtype, y, y_last, second.y));
    switch (pass) {
    case MXCU_CONV_FORWARD:
        MXC_TRY(mxcu_conv_forward(call, part, second.x, second.w, second.y, 0));
        return from_channels_second(call, part->dtype, y, second.y, y_last, add);
    case MXCU_CONV_DATA:
        MXC_TRY(mxcu_conv_data(call, part, second.y, second.w, second.x, 0));
        return from_channels_second(call, part->dtype, x, second.x, x_last, add);
    default:
        return mxcu_conv_weight(call, part, second.x, second.y, second.w, n > 0);
    }
}

/* The gradient of the weights is accumulated in the copy over the parts, and rounded to the dtype after each. */
mxc_status mxcu_conv_transformed(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a,
                                 const void *b, void *to, int add) {
    const layout_transform t = plan_of(call->run->context, c, pass);
    const mxcu_conv_array w = mxcu_conv_w(c);
    const arrays last = arrays_of(pass, a, b, to);
    char *temp = static_cast<char *>(call->temp);
    const arrays second = {temp, temp + t.w, temp + t.y};
    mxcu_conv part = t.part;
    mxc_op_call inner = *call;
    int64_t n = 0;
    inner.temp = temp + t.rest;
    inner.temp_bytes = call->temp_bytes - (size_t)t.rest;
    if (pass != MXCU_CONV_WEIGHT)
        MXC_TRY(to_channels_second(call, c->dtype, w, last.w, second.w));
    do {
        part.batch = c->batch - n < t.part.batch ? c->batch - n : t.part.batch;
        MXC_TRY(transformed_part(&inner, &part, pass, n, last, second, add));
        n += t.part.batch;
    } while (n < c->batch);
    return pass == MXCU_CONV_WEIGHT ? from_channels_second(call, c->dtype, w, second.w, last.w, add) : MXC_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* _image_crop and mirrors of images: a thread per element. */
#include "operator/vision/image_geometry.h"

#include "cuda/operator/random/random.h"

namespace {

/* What is mirrored. A coin decides on the device whether it is, since a captured graph draws at each launch. */
enum mirror { NEITHER, ROWS, COLUMNS };

struct taking {
    mxci_image_part part;
    int mirror, draws;
    mxcu_random random;

    /* The source's element of element `at` of out. */
    MXCU_DEVICE int64_t source(int64_t at) const {
        mxci_image_part p = part;
        const int64_t pixel = mxcu_divide(at, p.channels), row = mxcu_divide(pixel, p.to_w),
                      i = mxcu_divide(row, p.to_h);
        const int flips = !draws || mxci_image_coin(random.range());
        p.flips_rows = mirror == ROWS && flips;
        p.flips_columns = mirror == COLUMNS && flips;
        return mxci_image_source(&p, i, row - i * p.to_h, pixel - row * p.to_w) * p.channels + at - pixel * p.channels;
    }
};

template <class T>
mxc_status take(const mxc_op_call *call, const taking &t, const mxc_tensor *from, const mxc_tensor *to) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x[t.source(at)]); });
}

mxc_status take_of(const mxc_op_call *call, const taking &t, const mxc_tensor *from, const mxc_tensor *to) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(to) == 0)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, take, call, t, from, to)
}

mxc_status crop(const mxc_op_call *call) {
    const mxci_crop_params *p = static_cast<const mxci_crop_params *>(call->params);
    return take_of(call, {mxci_image_part_of(call, p), NEITHER, 0, {}}, &call->in[0], &call->out[0]);
}

/* A thread per element of the argument: 0 outside the part. */
template <class T> mxc_status spread(const mxc_op_call *call) {
    const mxci_image_part p = mxci_image_part_of(call, static_cast<const mxci_crop_params *>(call->params));
    mxcu_in<T> grad = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t pixel = mxcu_divide(at, p.channels), row = mxcu_divide(pixel, p.w), i = mxcu_divide(row, p.h);
        const int64_t y = row - i * p.h - p.y, x = pixel - row * p.w - p.x;
        if (y >= 0 && y < p.to_h && x >= 0 && x < p.to_w)
            to.put(at, grad[((i * p.to_h + y) * p.to_w + x) * p.channels + at - pixel * p.channels]);
        else
            to.put(at, 0);
    });
}

mxc_status crop_backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->in_grad[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->in_grad[0].dtype, spread, call)
}

template <mirror which> mxc_status flip(const mxc_op_call *call) {
    return take_of(call, {mxci_image_part_of(call, nullptr), which, 0, {}}, &call->in[0], &call->out[0]);
}
template <mirror which> mxc_status flip_backward(const mxc_op_call *call) {
    return take_of(call, {mxci_image_part_of(call, nullptr), which, 0, {}}, &call->out_grad[0], &call->in_grad[0]);
}
template <mirror which> mxc_status flip_drawn(const mxc_op_call *call) {
    return take_of(call, {mxci_image_part_of(call, nullptr), which, 1, mxcu_random_of(call)}, &call->in[0],
                   &call->out[0]);
}

} // namespace

MXCU_OP_IMPLS(image_geometry, {"_image_crop", crop, crop_backward},
              {"_image_flip_left_right", flip<COLUMNS>, flip_backward<COLUMNS>},
              {"_image_flip_top_bottom", flip<ROWS>, flip_backward<ROWS>},
              {"_image_random_flip_left_right", flip_drawn<COLUMNS>, flip_backward<NEITHER>},
              {"_image_random_flip_top_bottom", flip_drawn<ROWS>, flip_backward<NEITHER>})

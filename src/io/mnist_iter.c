/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MNISTIter: images and labels of two IDX files, kept in memory as bytes and scaled to [0, 1) batch by batch.
 *
 * Names, defaults, the scale of 1/256 and the dropped last batch are MXNet's. A path without .gz also finds the file
 * with .gz and the other way round.
 */
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "io/batch_params.h"
#include "io/iter.h"

enum { PATH_SIZE = 4096 };

typedef struct mnist_params {
    char image[PATH_SIZE], label[PATH_SIZE];
    int64_t seed;
    int32_t shuffle, flat, silent, dtype;
    mxci_batch_params batch;
} mnist_params;

static const mxc_param mnist_schema[] = {
    {MXC_PARAM_FIELD(mnist_params, image), .name = "image", .type = MXC_PARAM_STRING,
     .initial = "./train-images-idx3-ubyte", .doc = "Path of the images, an IDX file of shape (N,H,W), plain or .gz."},
    {MXC_PARAM_FIELD(mnist_params, label), .name = "label", .type = MXC_PARAM_STRING,
     .initial = "./train-labels-idx1-ubyte", .doc = "Path of the labels, an IDX file of shape (N,), plain or .gz."},
    {MXC_PARAM_FIELD(mnist_params, batch.batch_size), .name = "batch_size", .type = MXC_PARAM_INT, .initial = "128",
     .bounded = 1, .minimum = 1, .maximum = 1 << 24, .doc = "Number of samples per batch."},
    {MXC_PARAM_FIELD(mnist_params, shuffle), .name = "shuffle", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "Use a new random order of samples in each epoch."},
    {MXC_PARAM_FIELD(mnist_params, flat), .name = "flat", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Return images as (B,H*W) instead of (B,1,H,W)."},
    {MXC_PARAM_FIELD(mnist_params, seed), .name = "seed", .type = MXC_PARAM_INT, .initial = "0",
     .doc = "Seed of the random order."},
    {MXC_PARAM_FIELD(mnist_params, silent), .name = "silent", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Accepted for compatibility with MXNet; has no effect."},
    {MXC_PARAM_FIELD(mnist_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None", .optional = 1,
     .doc = "Dtype of data and labels; only float32, which is also the meaning of None."},
#define BATCH_PARAMS mnist_params
#include "io/prefetch_params.def"
#undef BATCH_PARAMS
    MXC_PARAM_END,
};

/* Load path, or the path with .gz appended or removed if there is no such file; it must hold uint8 with ndim axes. */
static mxc_status load_idx(const char *path, int ndim, mxc_ndarray **out) {
    char other[PATH_SIZE + 4];
    mxc_status status = mxc_idx_load(path, out);
    if (status == MXC_ENOTFOUND) {
        size_t n = strlen(path);
        if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
            snprintf(other, sizeof other, "%.*s", (int)(n - 3), path);
        else
            snprintf(other, sizeof other, "%s.gz", path);
        status = mxc_idx_load(other, out);
        if (status == MXC_ENOTFOUND)
            return MXC_FAIL(MXC_ENOTFOUND, "MNISTIter: neither %s nor %s exists", path, other);
    }
    if (status != MXC_OK)
        return status;
    if (mxc_ndarray_shape(*out)->ndim == ndim && mxc_ndarray_dtype(*out) == MXC_U8)
        return MXC_OK;
    char shape[MXC_SHAPE_TEXT];
    status = MXC_FAIL(MXC_EFORMAT, "MNISTIter: %s holds %s of shape %s, expected uint8 with %d axes", path,
                      mxc_dtype_name(mxc_ndarray_dtype(*out)),
                      mxc_shape_format(mxc_ndarray_shape(*out), shape, sizeof shape), ndim);
    mxc_ndarray_release(*out);
    *out = NULL;
    return status;
}

static mxc_status make_rows_iter(const mnist_params *p, mxc_ndarray *image, mxc_ndarray *label, mxc_iter **out) {
    const mxc_shape *shape = mxc_ndarray_shape(image);
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    options.batch_size = p->batch.batch_size;
    options.shuffle = p->shuffle;
    options.seed = (uint64_t)p->seed;
    options.last_batch = MXC_LAST_DISCARD;
    options.part_index = (int)p->batch.part_index;
    options.num_parts = (int)p->batch.num_parts;
    mxci_row_array rows[2] = {
        {.array = image,
         .name = "data",
         .dtype = MXC_F32,
         .scale = 1.0f / 256,
         .n_tail = 3,
         .tail = {1, shape->dim[1], shape->dim[2]}},
        {.array = label, .name = "softmax_label", .dtype = MXC_F32, .scale = 1, .n_tail = 0},
    };
    if (p->flat) {
        rows[0].n_tail = 1;
        rows[0].tail[0] = shape->dim[1] * shape->dim[2];
    }
    return mxci_rows_iter_create("MNISTIter", &options, 1, 1, rows, out);
}

static mxc_status mnist_create(const void *params, mxc_iter **out) {
    const mnist_params *p = params;
    mxc_ndarray *image = NULL, *label = NULL;
    mxc_iter *rows = NULL;
    if (p->dtype != MXC_DTYPE_UNKNOWN && p->dtype != MXC_F32)
        return MXC_FAIL(MXC_EINVAL, "MNISTIter: dtype %s, expected float32", mxc_dtype_name((mxc_dtype)p->dtype));
    mxc_status status = load_idx(p->image, 3, &image);
    if (status == MXC_OK)
        status = load_idx(p->label, 1, &label);
    if (status == MXC_OK)
        status = make_rows_iter(p, image, label, &rows);
    mxc_ndarray_release(image);
    mxc_ndarray_release(label);
    if (status != MXC_OK)
        return status;
    return mxci_iter_prefetched(rows, p->batch.prefetch_buffer, out);
}

const mxci_iter_def mxci_iter_MNISTIter = {
    .name = "MNISTIter",
    .doc = "Images and labels in the MNIST format: data (B,1,H,W), float32, byte / 256; softmax_label (B,). An "
           "incomplete last batch is left out.",
    .params = mnist_schema,
    .param_size = sizeof(mnist_params),
    .create = mnist_create,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a record file of images, in batches: whole images and images with objects, several augmentations; the
 * file's last byte chooses. Bad records are skipped; a file of nothing else is refused. Batches are those of the epoch.
 */
#include <mxc/io.h>

#include "file.h"

enum { MOST = 8, BATCH = 2 };

/* Of one iterator: shape of its images, and keys and values of what else it is told. */
static const struct variant {
    const char *iter, *shape, *keys[MOST], *values[MOST];
} variants[] = {
    {"ImageRecordIter", "(3,8,8)", {NULL}, {NULL}},
    {"ImageRecordIter",
     "(3,8,8)",
     {"resize", "rand_crop", "rand_mirror", "mean_r", "dtype", "layout"},
     {"9", "1", "1", "120", "float16", "NHWC"}},
    {"ImageRecordIter", "(3,8,8)", {"random_resized_crop", "min_random_area", "label_width"}, {"1", "0.1", "2"}},
    {"ImageRecordIter",
     "(3,8,8)",
     {"max_rotate_angle", "max_shear_ratio", "max_random_scale", "min_random_scale", "max_aspect_ratio", "pad",
      "inter_method"},
     {"30", "0.2", "2", "0.3", "0.3", "2", "10"}},
    {"ImageRecordIter",
     "(3,8,8)",
     {"random_h", "random_s", "random_l", "brightness", "contrast", "saturation", "pca_noise"},
     {"36", "50", "50", "0.4", "0.4", "0.4", "0.1"}},
    {"ImageRecordUInt8Iter", "(3,8,8)", {"max_crop_size", "min_crop_size", "rand_crop"}, {"12", "3", "1"}},
    {"ImageDetRecordIter",
     "(3,8,8)",
     {"rand_pad_prob", "max_pad_scale", "rand_crop_prob", "rand_mirror_prob"},
     {"0.5", "3", "0.5", "0.5"}},
    {"ImageDetRecordIter", "(3,8,8)", {"resize_mode", "resize"}, {"fit", "20"}},
    {"ImageRecordIter",
     "(4,7,9)",
     {"shuffle", "shuffle_chunk_size", "random_h", "dtype", "resize"},
     {"1", "1", "9", "int8", "10"}},
    {"ImageRecordIter", "(1,5,5)", {"shuffle", "crop_y_start", "crop_x_start"}, {"1", "2", "1"}},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static mxc_status open_variant(const struct variant *v, const char *path, mxc_iter **out) {
    const char *keys[8 + MOST] = {
        "path_imgrec", "data_shape", "batch_size", "preprocess_threads", "prefetch_buffer", "bad_data", "max_pixels",
    };
    const char *values[8 + MOST] = {path, v->shape, "2", "1", "1", "skip", "4096"};
    int n = 7;
    for (int i = 0; i < MOST && v->keys[i]; i++, n++) {
        keys[n] = v->keys[i];
        values[n] = v->values[i];
    }
    return mxc_iter_create(v->iter, n, keys, values, out);
}

/* A file of bytes has at most bytes / 12 records. */
static void read_epoch(mxc_iter *iter, int64_t most) {
    mxc_batch batch;
    int64_t n = 0;
    while (mxc_iter_next(iter, &batch) == MXC_OK && batch.n_data > 0)
        if (batch.pad < 0 || batch.pad >= BATCH || ++n > most)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file(data, bytes);
    mxc_iter *iter;
    fuzz_be_silent();
    if (open_variant(&variants[bytes ? data[bytes - 1] % VARIANTS : 0], path, &iter) == MXC_OK) {
        read_epoch(iter, (int64_t)bytes / 12 + 1);
        mxc_iter_destroy(iter);
    }
    unlink(path);
    return 0;
}

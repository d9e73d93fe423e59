/*
 * Any bytes as a record file of images, in batches: whole images and images with objects, several augmentations; the
 * file's last byte chooses. Bad records are skipped; a file of nothing else is refused. Batches are those of the epoch.
 */
#include <string.h>

#include <mxc/io.h>
#include <mxc/log.h>

#include "file.h"

enum { MOST = 8, BATCH = 2 };

/* Of one augmentation, keys and values; all are tried, which file by which is the last byte's matter. */
static const struct variant {
    const char *iter, *keys[MOST], *values[MOST];
} variants[] = {
    {"ImageRecordIter", {NULL}, {NULL}},
    {"ImageRecordIter",
     {"resize", "rand_crop", "rand_mirror", "mean_r", "dtype", "layout"},
     {"9", "1", "1", "120", "float16", "NHWC"}},
    {"ImageRecordIter", {"random_resized_crop", "min_random_area", "label_width"}, {"1", "0.1", "2"}},
    {"ImageRecordIter",
     {"max_rotate_angle", "max_shear_ratio", "max_random_scale", "min_random_scale", "max_aspect_ratio", "pad",
      "inter_method"},
     {"30", "0.2", "2", "0.3", "0.3", "2", "10"}},
    {"ImageRecordIter",
     {"random_h", "random_s", "random_l", "brightness", "contrast", "saturation", "pca_noise"},
     {"36", "50", "50", "0.4", "0.4", "0.4", "0.1"}},
    {"ImageRecordUInt8Iter", {"max_crop_size", "min_crop_size", "rand_crop"}, {"12", "3", "1"}},
    {"ImageDetRecordIter", {"rand_pad_prob", "max_pad_scale", "rand_crop_prob", "rand_mirror_prob"},
     {"0.5", "3", "0.5", "0.5"}},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static mxc_status open_variant(const struct variant *v, const char *path, mxc_iter **out) {
    const char *keys[8 + MOST] = {"path_imgrec", "data_shape", "batch_size", "preprocess_threads", "prefetch_buffer",
                                  "bad_data", "max_pixels"};
    const char *values[8 + MOST] = {path, "(3,8,8)", "2", "1", "1", "skip", "4096"};
    int n = 7;
    for (int i = 0; i < MOST && v->keys[i]; i++, n++) {
        keys[n] = v->keys[i];
        values[n] = v->values[i];
    }
    return mxc_iter_create(v->iter, n, keys, values, out);
}

static void ignore(mxc_log_level level, const char *message, void *user) {
    (void)level, (void)message, (void)user;
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
    mxc_set_logger(ignore, NULL);
    if (open_variant(&variants[bytes ? data[bytes - 1] % VARIANTS : 0], path, &iter) == MXC_OK) {
        read_epoch(iter, (int64_t)bytes / 12 + 1);
        mxc_iter_destroy(iter);
    }
    unlink(path);
    return 0;
}

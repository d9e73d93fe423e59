/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterators by name have MXNet's parameters (0.9 and 1.9 together) with its defaults; any others are libmxc's own.
 * Covers io/iter.c and the .def files of parameters.
 */
#include "io/iter.h"
#include "support.h"

#define BATCH "batch_size=* round_batch=True"
#define PREFETCH "prefetch_buffer=4 dtype=None ctx=gpu"
#define PARTS "num_parts=1 part_index=0"
#define IMAGE_RECORD                                                                                                \
    "path_imgrec=* path_imglist= path_imgidx= data_shape=* preprocess_threads=4 verbose=True shuffle=False seed=0 " \
    "shuffle_chunk_size=0 shuffle_chunk_seed=0 device_id=0 mean_img= mean_r=0 mean_g=0 mean_b=0 mean_a=0 scale=1"
#define AUGMENT                                                                                                        \
    "aug_seq=aug_default label_width=1 seed_aug=None resize=-1 rand_crop=False random_resized_crop=False "             \
    "max_rotate_angle=0 max_aspect_ratio=0 min_aspect_ratio=None max_shear_ratio=0 max_crop_size=-1 min_crop_size=-1 " \
    "max_random_scale=1 min_random_scale=1 max_random_area=1 min_random_area=1 max_img_size=1e10 min_img_size=0 "      \
    "brightness=0 contrast=0 saturation=0 pca_noise=0 random_h=0 random_s=0 random_l=0 rotate=-1 rotate_list=() "      \
    "fill_value=255 inter_method=1 pad=0 crop_y_start=-1 crop_x_start=-1 mirror=False rand_mirror=False std_r=1 "      \
    "std_g=1 std_b=1 std_a=1 max_random_contrast=0 max_random_illumination=0"

static const struct {
    const char *name, *params[5];
} expected[] = {
    {"MNISTIter",
     {"image=./train-images-idx3-ubyte label=./train-labels-idx1-ubyte batch_size=128 shuffle=True "
      "flat=False seed=0 silent=False",
      PARTS, PREFETCH}},
    {"CSVIter", {"data_csv=* data_shape=* label_csv=NULL label_shape=(1,)", BATCH, PREFETCH}},
    {"LibSVMIter", {"data_libsvm=* data_shape=* label_libsvm=NULL label_shape=(1,)", PARTS, BATCH, PREFETCH}},
    {"ImageRecordIter", {IMAGE_RECORD, AUGMENT, PARTS, BATCH, PREFETCH}},
    {"ImageRecordIter_v1", {IMAGE_RECORD, AUGMENT, PARTS, BATCH, PREFETCH}},
    {"ImageRecordInt8Iter", {IMAGE_RECORD, AUGMENT, PARTS, BATCH, PREFETCH}},
    {"ImageRecordUInt8Iter", {IMAGE_RECORD, AUGMENT, PARTS, BATCH, PREFETCH}},
    {"ImageRecordUInt8Iter_v1", {IMAGE_RECORD, AUGMENT, PARTS, BATCH, PREFETCH}},
    {"ImageDetRecordIter",
     {IMAGE_RECORD, PARTS, BATCH, PREFETCH,
      "label_width=-1 label_pad_width=0 label_pad_value=-1 aug_seq=det_aug_default resize=-1 rand_crop_prob=0 "
      "min_crop_scales=(0.0) max_crop_scales=(1.0) min_crop_aspect_ratios=(1.0) max_crop_aspect_ratios=(1.0) "
      "min_crop_overlaps=(0.0) max_crop_overlaps=(1.0) min_crop_sample_coverages=(0.0) max_crop_sample_coverages=(1.0) "
      "min_crop_object_coverages=(0.0) max_crop_object_coverages=(1.0) num_crop_sampler=1 crop_emit_mode=center "
      "emit_overlap_thresh=0.3 max_crop_trials=(25) rand_pad_prob=0 max_pad_scale=1 max_random_hue=0 random_hue_prob=0 "
      "max_random_saturation=0 random_saturation_prob=0 max_random_illumination=0 random_illumination_prob=0 "
      "max_random_contrast=0 random_contrast_prob=0 rand_mirror_prob=0 fill_value=127 inter_method=1 "
      "resize_mode=force"}},
};

static const mxci_iter_def *const defs[] = {
#define ITER(name) &mxci_iter_##name,
#include "io/iter_list.def"
#undef ITER
};

static const mxc_param *schema_of(const char *name) {
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++)
        if (strcmp(defs[i]->name, name) == 0)
            return defs[i]->params;
    fail_msg("%s does not exist", name);
    return NULL;
}

/* "name=default", * for a parameter that must be given. */
static void check(const char *iter, const char *text) {
    const char *equal = strchr(text, '=');
    for (const mxc_param *p = schema_of(iter); p->name; p++)
        if (strncmp(p->name, text, (size_t)(equal - text)) == 0 && p->name[equal - text] == '\0') {
            if (strcmp(p->initial ? p->initial : "*", equal + 1) != 0)
                fail_msg("%s: %s is %s, expected %s", iter, p->name, p->initial ? p->initial : "*", equal + 1);
            return;
        }
    fail_msg("%s has no parameter %.*s", iter, (int)(equal - text), text);
}

static void test_names_and_defaults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        for (int k = 0; k < 5 && expected[i].params[k]; k++) {
            char texts[2048], *rest = texts, *one;
            snprintf(texts, sizeof texts, "%s", expected[i].params[k]);
            while ((one = strtok_r(rest, " ", &rest)) != NULL)
                check(expected[i].name, one);
        }
}

/* Each name once, and documented. */
static void test_schemas(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++)
        for (const mxc_param *p = defs[i]->params; p->name; p++) {
            assert_non_null(p->doc);
            assert_true(p->doc[0] != '\0');
            for (const mxc_param *q = p + 1; q->name; q++)
                if (strcmp(p->name, q->name) == 0)
                    fail_msg("%s: %s twice", defs[i]->name, p->name);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_and_defaults), cmocka_unit_test(test_schemas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Augmentation: each step against plain code in double, on images whose pixels are known; limits; drawn steps. Covers
 * io/augment.c, augment_draw.c and pixels_kernels.c.
 */
#include <math.h>

#include "base/sys.h"
#include "image_samples.h"
#include "io/augment.h"
#include "io/image_params.h"

enum { MOST = 64 * 64 * 4 };

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct owner {
    mxci_image_params image;
} owner;
#define OWNER owner
static const mxc_param schema[] = {
#include "io/image_params.def"
#include "io/augment_params.def"
    MXC_PARAM_END,
};
#undef OWNER

/* Parameters from "key=value" texts, the last NULL. data_shape and batch_size are among them. */
static mxc_status parse(owner *out, const char *const *texts) {
    static char keys[16][64];
    const char *key[17] = {"batch_size"}, *value[17] = {"1"};
    int n = 1;
    for (; texts[n - 1]; n++) {
        const char *equal = strchr(texts[n - 1], '=');
        snprintf(keys[n - 1], sizeof keys[0], "%.*s", (int)(equal - texts[n - 1]), texts[n - 1]);
        key[n] = keys[n - 1];
        value[n] = equal + 1;
    }
    return mxc_params_parse("test", schema, n, key, value, out);
}

typedef struct run {
    owner params;
    mxci_augment augment;
    mxci_augment_workspace space;
    mxci_augment_steps plan;
    uint8_t pixels[MOST];
    test_image file;
} run;

static void start(run *r, const char *const *texts) {
    memset(r, 0, sizeof *r);
    assert_ok(parse(&r->params, texts));
    assert_ok(mxci_augment_create("test", &r->params.image, &r->augment));
}

static void stop(run *r) {
    mxci_augment_destroy(&r->augment);
    mxci_augment_workspace_free(&r->space);
}

/* Sample number sample, an image of that size, to out. */
static void apply(run *r, uint32_t sample, int h, int w, int smooth, void *out) {
    int channels = (int)r->augment.channels;
    mxci_sample_rng dice = {5, sample, 0, 0};
    mxci_image image;
    sample_pixels(sample, h, w, channels, smooth, r->pixels);
    sample_png(&r->file, r->pixels, h, w, channels);
    assert_ok(mxci_image_probe("test", r->file.bytes, r->file.n, 1 << 20, &image));
    assert_ok(mxci_augment_draw(&r->augment, "test", &dice, h, w, &r->plan));
    assert_ok(mxci_augment_apply(&r->augment, &r->plan, &image, &r->space, out));
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SKIP_WITHOUT_PNG \
    if (!has_png())      \
    skip()

/* ---- crop, mirror, values ---------------------------------------------------------------------------------------- */

/* out is (3,5,7) or (5,7,3) of the image (h,w,3) cropped as the plan says. */
static void check_values(const run *r, int w, const float *out, int by_pixel, const double factor[3],
                         const double add[3]) {
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 7; x++) {
                int64_t from_x = r->plan.crop_x + (r->plan.mirror ? 6 - x : x), from_y = r->plan.crop_y + y;
                double want = factor[c] * r->pixels[(from_y * w + from_x) * 3 + c] + add[c];
                assert_true(fabs(out[by_pixel ? (y * 7 + x) * 3 + c : (c * 5 + y) * 7 + x] - want) < 1e-4);
            }
}

static void test_middle(void **state) {
    run r;
    float out[105];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,5,7)"));
    apply(&r, 1, 12, 20, 0, out);
    assert_int_equal(r.plan.crop_y, 3);
    assert_int_equal(r.plan.crop_x, 6);
    assert_int_equal(r.plan.mirror, 0);
    check_values(&r, 20, out, 0, (double[]){1, 1, 1}, (double[]){0, 0, 0});
    stop(&r);
}

static void test_values(void **state) {
    run r;
    float out[105];
    const double factor[3] = {2 / 1.5, 2 / 2.5, 2 / 4.0}, mean[3] = {10, 20, 30};
    double add[3];
    int mirrored = 0;
    (void)state;
    SKIP_WITHOUT_PNG;
    for (int c = 0; c < 3; c++)
        add[c] = -mean[c] * factor[c];
    for (int by_pixel = 0; by_pixel < 2; by_pixel++) {
        start(&r, TEXTS("data_shape=(3,5,7)", "rand_crop=1", "rand_mirror=1", "mean_r=10", "mean_g=20", "mean_b=30",
                        "std_r=1.5", "std_g=2.5", "std_b=4", "scale=2", by_pixel ? "layout=NHWC" : "layout=NCHW"));
        for (uint32_t i = 0; i < 30; i++) {
            apply(&r, i, 9, 11, 0, out);
            check_values(&r, 11, out, by_pixel, factor, add);
            mirrored += r.plan.mirror;
        }
        stop(&r);
    }
    assert_in_range(mirrored, 15, 45);
}

/* Every place of a crop comes. */
static void test_crops_everywhere(void **state) {
    run r;
    float out[105];
    int seen[3][4] = {{0}};
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,5,7)", "rand_crop=1"));
    for (uint32_t i = 0; i < 200; i++) {
        apply(&r, i, 7, 10, 0, out);
        seen[r.plan.crop_y][r.plan.crop_x]++;
    }
    for (int i = 0; i < 12; i++)
        assert_in_range(seen[i / 4][i % 4], 4, 34);
    stop(&r);
}

static void test_contrast_and_illumination(void **state) {
    run r;
    float out[105];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,5,7)", "max_random_contrast=0.5", "max_random_illumination=20", "mean_r=100",
                    "mean_g=100", "mean_b=100", "scale=0.5"));
    for (uint32_t i = 0; i < 20; i++) {
        apply(&r, i, 5, 7, 0, out);
        double k = r.plan.value_contrast * 0.5, b = r.plan.value_illumination * 0.5 - 100 * k;
        assert_true(fabs(r.plan.value_contrast - 1) <= 0.5 && fabs(r.plan.value_illumination) <= 20);
        check_values(&r, 7, out, 0, (double[]){k, k, k}, (double[]){b, b, b});
    }
    stop(&r);
}

static void test_dtypes(void **state) {
    run r;
    float wide[105];
    mxc_f16 half[105];
    uint8_t bytes[105];
    int8_t low[105];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,5,7)", "mirror=1", "mean_r=7", "std_g=3"));
    apply(&r, 3, 8, 8, 0, wide);
    stop(&r);
    start(&r, TEXTS("data_shape=(3,5,7)", "mirror=1", "mean_r=7", "std_g=3", "dtype=float16"));
    apply(&r, 3, 8, 8, 0, half);
    for (int i = 0; i < 105; i++)
        assert_int_equal(half[i].bits, mxc_float_to_f16(wide[i]).bits);
    stop(&r);
    start(&r, TEXTS("data_shape=(3,5,7)", "mirror=1", "mean_r=7", "std_g=3", "dtype=uint8"));
    apply(&r, 3, 8, 8, 0, bytes);
    for (int i = 0; i < 35; i++) {
        assert_int_equal(bytes[i], (int)wide[i] + 7);
        assert_int_equal(bytes[70 + i], (int)wide[70 + i]);
    }
    stop(&r);
    start(&r, TEXTS("data_shape=(3,5,7)", "mirror=1", "mean_r=7", "std_g=3", "dtype=int8"));
    apply(&r, 3, 8, 8, 0, low);
    for (int i = 0; i < 105; i++)
        assert_int_equal(low[i], wide[i] > 127 ? 127 : (int)rintf(wide[i]));
    stop(&r);
    start(&r, TEXTS("data_shape=(3,5,7)", "mirror=1", "mean_r=300", "std_g=0", "scale=0.5", "dtype=int8"));
    apply(&r, 3, 8, 8, 0, low);
    for (int i = 0; i < 35; i++) {
        assert_int_equal(low[i], fmaxf(-128, rintf((wide[i] + 7 - 300) / 2)));
        assert_true(fabsf((float)low[35 + i] - wide[35 + i] * 1.5f) <= 0.51f); /* no deviation: as if 1 */
    }
    stop(&r);
}

/* Alpha is a fourth plane: moved with the image, not coloured; 255 where the image has none. */
static void test_alpha(void **state) {
    run r;
    float out[140];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(4,5,7)", "mirror=1", "mean_a=5", "std_a=2", "brightness=0.5", "random_h=20"));
    for (uint32_t sample = 0; sample < 10; sample++) {
        apply(&r, sample, 9, 9, 0, out);
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 7; x++)
                assert_true(out[(15 + y) * 7 + x] == ((float)r.pixels[((y + 2) * 9 + 7 - x) * 4 + 3] - 5) / 2);
    }
    stop(&r);
    start(&r, TEXTS("data_shape=(4,5,7)", "layout=NHWC", "max_rotate_angle=10", "pad=3", "fill_value=9"));
    apply(&r, 1, 9, 9, 1, out);
    stop(&r);
    start(&r, TEXTS("data_shape=(4,5,7)"));
    for (int channels = 1; channels <= 3; channels += 2) {
        mxci_sample_rng dice = {0};
        mxci_image image;
        sample_pixels(1, 9, 9, channels, 0, r.pixels);
        sample_png(&r.file, r.pixels, 9, 9, channels);
        assert_ok(mxci_image_probe("test", r.file.bytes, r.file.n, 1 << 20, &image));
        assert_ok(mxci_augment_draw(&r.augment, "test", &dice, 9, 9, &r.plan));
        assert_ok(mxci_augment_apply(&r.augment, &r.plan, &image, &r.space, out));
        for (int i = 0; i < 140; i++) {
            const int c = i / 35, y = i / 7 % 5 + 2, x = i % 7 + 1;
            assert_true(out[i] == (c == 3 ? 255 : (float)r.pixels[(y * 9 + x) * channels + c % channels]));
        }
    }
    stop(&r);
}

/* A JPEG has no alpha; its colours are the same with it. */
static void test_alpha_of_jpeg(void **state) {
    static test_image file;
    (void)state;
    if (!has_jpeg())
        skip();
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        uint8_t blocks[16], rgb[16 * 16 * 3], rgba[16 * 16 * 4];
        mxci_image image;
        for (int i = 0; i < 16; i++)
            blocks[i] = sample_byte((uint32_t)i);
        jpeg_of(&file, JPEG_SEQUENTIAL, 16, 16, channels, channels == 4 ? 0 : -1, blocks);
        assert_ok(mxci_image_probe("test", file.bytes, file.n, 1 << 20, &image));
        assert_ok(mxci_image_decode(&image, MXCI_RGB, rgb));
        assert_ok(mxci_image_decode(&image, MXCI_RGBA, rgba));
        for (int i = 0; i < 256; i++) {
            assert_memory_equal(rgba + 4 * i, rgb + 3 * i, 3);
            assert_int_equal(rgba[4 * i + 3], 255);
        }
    }
}

/* Where crops begin that are not random; as far as there is room. */
static void test_crop_start(void **state) {
    run r;
    float out[105];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,5,7)", "crop_y_start=1", "crop_x_start=30"));
    apply(&r, 1, 12, 20, 0, out);
    assert_int_equal(r.plan.crop_y, 1);
    assert_int_equal(r.plan.crop_x, 13);
    check_values(&r, 20, out, 0, (double[]){1, 1, 1}, (double[]){0, 0, 0});
    stop(&r);
}

static void test_grey(void **state) {
    run r;
    float out[35];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(1,5,7)", "mean_r=3", "random_h=20", "brightness=0.5"));
    apply(&r, 3, 9, 9, 0, out);
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 7; x++)
            assert_true(out[y * 7 + x] == (float)r.pixels[(y + 2) * 9 + x + 1] - 3);
    stop(&r);
}

/* ---- size -------------------------------------------------------------------------------------------------------- */

/* Linear, with the middle of a pixel at its half. */
static double linear_at(const uint8_t *pixels, int h, int w, int c, double y, double x) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double top = floor(y) + i / 2, left = floor(x) + i % 2;
        int at_y = (int)fmin(fmax(top, 0), h - 1), at_x = (int)fmin(fmax(left, 0), w - 1);
        sum += (1 - fabs(y - top)) * (1 - fabs(x - left)) * pixels[(at_y * w + at_x) * 3 + c];
    }
    return sum;
}

/* Of part (y0,x0,h,w) of an image of width full. */
static double resized_at(const run *r, int full, const int64_t part[4], int c, int to_h, int to_w, int y, int x) {
    uint8_t cut[MOST];
    for (int64_t i = 0; i < part[2]; i++)
        memcpy(cut + i * part[3] * 3, r->pixels + ((part[0] + i) * full + part[1]) * 3, (size_t)part[3] * 3);
    return linear_at(cut, (int)part[2], (int)part[3], c, (y + 0.5) * (double)part[2] / to_h - 0.5,
                     (x + 0.5) * (double)part[3] / to_w - 0.5);
}

static void test_resize_shorter(void **state) {
    run r;
    float out[3 * 10 * 10];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,10,10)", "resize=10"));
    apply(&r, 2, 17, 30, 0, out);
    assert_int_equal(r.plan.resized_h, 10);
    assert_int_equal(r.plan.resized_w, 17);
    for (int i = 0; i < 300; i++) {
        double want = resized_at(&r, 30, (int64_t[]){0, 0, 17, 30}, i / 100, 10, 17, i / 10 % 10, i % 10 + 3);
        assert_true(fabs(out[i] - want) <= 0.51);
    }
    stop(&r);
}

/* An image smaller than the batch's is made as large as it must be. */
static void test_too_small(void **state) {
    run r;
    float out[3 * 20 * 10];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,20,10)"));
    apply(&r, 2, 8, 12, 0, out);
    assert_int_equal(r.plan.grown_h, 20);
    assert_int_equal(r.plan.grown_w, 30);
    for (int i = 0; i < 600; i++) {
        double want = resized_at(&r, 12, (int64_t[]){0, 0, 8, 12}, i / 200, 20, 30, i / 10 % 20, i % 10 + 10);
        assert_true(fabs(out[i] - want) <= 0.51);
    }
    stop(&r);
}

static void check_resized_crop(const run *r, const float *out, int full) {
    const mxci_augment_steps *p = &r->plan;
    for (int i = 0; i < 300; i++) {
        double want = resized_at(r, full, (int64_t[]){p->crop_y, p->crop_x, p->crop_h, p->crop_w}, i / 100, 10, 10,
                                 i / 10 % 10, i % 10);
        assert_true(fabs(out[i] - want) <= 0.51);
    }
}

static void test_sized_crops(void **state) {
    run r;
    float out[300];
    int sizes[8] = {0};
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,10,10)", "rand_crop=1", "max_crop_size=12", "min_crop_size=5"));
    for (uint32_t i = 0; i < 100; i++) {
        apply(&r, i, 14, 20, 0, out);
        assert_int_equal(r.plan.crop_h, r.plan.crop_w);
        sizes[r.plan.crop_h - 5]++;
        check_resized_crop(&r, out, 20);
    }
    for (int i = 0; i < 8; i++)
        assert_true(sizes[i] > 0);
    stop(&r);
}

static void test_shares(void **state) {
    run r;
    float out[300];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,10,10)", "random_resized_crop=1", "min_random_area=0.2", "max_random_area=0.8",
                    "min_aspect_ratio=0.75", "max_aspect_ratio=1.4"));
    for (uint32_t i = 0; i < 100; i++) {
        apply(&r, i, 30, 40, 0, out);
        double aspect = (double)r.plan.crop_w / (double)r.plan.crop_h;
        assert_true(aspect > 0.7 && aspect < 1.5);
        assert_in_range(r.plan.crop_h * r.plan.crop_w, 220, 980);
        check_resized_crop(&r, out, 40);
    }
    apply(&r, 0, 2, 60, 0, out); /* no share fits: the middle */
    assert_int_equal(r.plan.crop_h, 2);
    assert_int_equal(r.plan.crop_x, 29);
    stop(&r);
}

/* A JPEG that is to become smaller is decoded smaller. */
static void test_reduced(void **state) {
    run r;
    float out[192];
    uint8_t blocks[64];
    mxci_image image;
    (void)state;
    if (!has_jpeg())
        skip();
    for (int i = 0; i < 64; i++)
        blocks[i] = (uint8_t)(4 * sample_byte((uint32_t)i) / 5);
    for (int way = 0; way < 2; way++) {
        mxci_sample_rng dice = {5, 0, 0, 0};
        start(&r, TEXTS("data_shape=(1,8,8)", way ? "resize=8" : "random_resized_crop=1"));
        jpeg_of(&r.file, JPEG_SEQUENTIAL, 64, 64, 1, -1, blocks);
        assert_ok(mxci_image_probe("test", r.file.bytes, r.file.n, 1 << 20, &image));
        assert_ok(mxci_augment_draw(&r.augment, "test", &dice, 64, 64, &r.plan));
        assert_ok(mxci_augment_apply(&r.augment, &r.plan, &image, &r.space, out));
        assert_int_equal(image.height, 8);
        assert_int_equal(image.width, 8);
        for (int i = 0; i < 64; i++)
            assert_true(fabs(out[i] - blocks[i]) <= 1);
        stop(&r);
    }
}

/* ---- rotation and so on ------------------------------------------------------------------------------------------ */

/* Where the middle of a rotated image shows the image, values are those of the slope at the place it came from. */
static void test_rotation(void **state) {
    run r;
    float out[3 * 16 * 16];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,16,16)", "rotate=30"));
    apply(&r, 2, 40, 40, 1, out);
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++) {
            double dx = x + 12 - 20, dy = y + 12 - 20, a = cos(M_PI / 6), b = sin(M_PI / 6);
            double from_x = a * dx - b * dy + 20, from_y = b * dx + a * dy + 20;
            for (int c = 0; c < 3; c++)
                assert_true(fabs(out[(c * 16 + y) * 16 + x] - (20 + 3 * from_x + 2 * from_y + 30 * c + 2)) <= 0.6);
        }
    stop(&r);
}

/* A quarter turn moves each pixel to another's place; what comes from outside is fill_value. */
static void test_quarter_turn_and_fill(void **state) {
    run r;
    float out[3 * 8 * 8];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,8,8)", "rotate_list=(90)", "inter_method=0", "fill_value=77"));
    apply(&r, 2, 8, 8, 0, out);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            int from_x = 8 - y, from_y = x;
            float want = from_x < 8 ? (float)r.pixels[(from_y * 8 + from_x) * 3] : 77;
            assert_true(out[y * 8 + x] == want);
        }
    stop(&r);
}

static void test_scale_and_aspect(void **state) {
    run r;
    float out[3 * 4 * 4];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,4,4)", "min_random_scale=0.5", "max_random_scale=2", "max_aspect_ratio=0.3",
                    "max_shear_ratio=0.1", "max_rotate_angle=10", "max_img_size=50", "min_img_size=15"));
    for (uint32_t i = 0; i < 50; i++) {
        apply(&r, i, 30, 24, 1, out);
        assert_in_range(r.plan.warped_h, 15, 50);
        assert_in_range(r.plan.warped_w, 15, 50);
        const double *m = r.plan.warp; /* the middle stays */
        double x = (double)r.plan.warped_w / 2, y = (double)r.plan.warped_h / 2;
        assert_true(fabs(m[0] * x + m[1] * y + m[2] - 12) < 1e-9 && fabs(m[3] * x + m[4] * y + m[5] - 15) < 1e-9);
        double scale = 1 / sqrt(m[0] * m[4] - m[1] * m[3]);
        assert_true(scale > 0.48 && scale < 2.02);
    }
    stop(&r);
}

static void test_pad(void **state) {
    run r;
    float out[3 * 12 * 14];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,12,14)", "pad=3", "fill_value=9"));
    apply(&r, 4, 6, 8, 0, out);
    for (int i = 0; i < 3 * 12 * 14; i++) {
        int c = i / (12 * 14), y = i / 14 % 12 - 3, x = i % 14 - 3;
        int inside = y >= 0 && y < 6 && x >= 0 && x < 8;
        assert_true(out[i] == (inside ? (float)r.pixels[(y * 8 + x) * 3 + c] : 9));
    }
    stop(&r);
}

/* ---- colours ----------------------------------------------------------------------------------------------------- */

static double cut(double x) {
    return fmin(255, fmax(0, x));
}

static double grey_of(const double p[3]) {
    return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
}

/* One after the other, on pixels dark enough that nothing is cut in between. */
static void test_mix(void **state) {
    run r;
    float out[3 * 36];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,6,6)", "brightness=0.3", "contrast=0.4", "saturation=0.5", "pca_noise=0.05"));
    for (uint32_t k = 0; k < 20; k++) {
        double mean = 0;
        apply(&r, k, 6, 6, 1, out);
        const mxci_augment_steps *p = &r.plan;
        for (int i = 0; i < 36; i++)
            mean += grey_of((double[]){r.pixels[3 * i], r.pixels[3 * i + 1], r.pixels[3 * i + 2]}) * p->brightness / 36;
        for (int i = 0; i < 36; i++) {
            double x[3], grey;
            for (int c = 0; c < 3; c++)
                x[c] = p->contrast * p->brightness * r.pixels[3 * i + c] + (1 - p->contrast) * mean;
            grey = grey_of(x);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(out[c * 36 + i] -
                                 cut(p->saturation * x[c] + (1 - p->saturation) * grey + p->noise[c])) <= 0.51);
        }
    }
    stop(&r);
}

/* Grey stays grey whatever the hue; lightness moves it by so much; and nothing moved is nothing changed. */
static void test_hls(void **state) {
    uint8_t pixels[3 * 4096], before[sizeof pixels];
    (void)state;
    sample_pixels(1, 64, 64, 3, 0, pixels);
    memcpy(before, pixels, sizeof pixels);
    mxci_pixels_shift_hls(pixels, 4096, 3, (float[]){0, 0, 0});
    for (size_t i = 0; i < sizeof pixels; i++)
        assert_in_range(pixels[i] + 1, before[i], before[i] + 2);
    uint8_t grey[6] = {40, 40, 40, 250, 250, 250};
    mxci_pixels_shift_hls(grey, 2, 3, (float[]){50, 30, 0});
    for (int i = 0; i < 6; i++)
        assert_int_equal(grey[i], i < 3 ? 70 : 255);
    uint8_t red[3] = {200, 0, 0};
    mxci_pixels_shift_hls(red, 1, 3, (float[]){60, 0, 0}); /* a third of the circle: green */
    assert_memory_equal(red, ((uint8_t[]){0, 200, 0}), 3);
    mxci_pixels_shift_hls(red, 1, 3, (float[]){0, 0, -255});
    assert_memory_equal(red, ((uint8_t[]){100, 100, 100}), 3);
}

static void test_moves(void **state) {
    run r;
    float out[3 * 36];
    (void)state;
    SKIP_WITHOUT_PNG;
    start(&r, TEXTS("data_shape=(3,6,6)", "random_h=36", "random_s=50", "random_l=40"));
    for (uint32_t k = 0; k < 20; k++) {
        uint8_t want[3 * 36];
        apply(&r, k, 6, 6, 0, out);
        memcpy(want, r.pixels, sizeof want);
        assert_true(fabsf(r.plan.hls_shift[0]) <= 36 && fabsf(r.plan.hls_shift[1]) <= 40 &&
                    fabsf(r.plan.hls_shift[2]) <= 50);
        mxci_pixels_shift_hls(want, 36, 3, r.plan.hls_shift);
        for (int i = 0; i < 36 * 3; i++)
            assert_true(out[i % 3 * 36 + i / 3] == (float)want[i]);
    }
    stop(&r);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static mxc_status plan_for(const char *const *texts, int64_t h, int64_t w) {
    run r;
    mxci_sample_rng dice = {0};
    memset(&r, 0, sizeof r);
    mxc_status status = parse(&r.params, texts);
    if (status == MXC_OK)
        status = mxci_augment_create("test", &r.params.image, &r.augment);
    if (status == MXC_OK)
        status = mxci_augment_draw(&r.augment, "sample 7", &dice, h, w, &r.plan);
    stop(&r);
    return status;
}

static void test_limits(void **state) {
    (void)state;
    assert_ok(plan_for(TEXTS("data_shape=(3,8,8)", "resize=256"), 1, 1));
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "resize=256", "max_pixels=1000000"), 1, 65535), MXC_EFORMAT,
                 "sample 7: 1 x 65535 pixels are 256 x 16776960 resized, expected at most 1000000 in all");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "max_random_scale=1000", "min_random_scale=1000"), 64, 64),
                 MXC_EFORMAT, "scaled");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "pad=65535"), 64, 64), MXC_EFORMAT, "padded");
    assert_fails(plan_for(TEXTS("data_shape=(3,60000,8)", "max_pixels=100000"), 1, 64), MXC_EFORMAT, "enlarged");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,60000)", "max_pixels=100000", "random_resized_crop=1"), 200, 100),
                 MXC_EFORMAT, "too high");
}

static void test_bad_parameters(void **state) {
    (void)state;
    assert_fails(plan_for(TEXTS("data_shape=(2,8,8)"), 9, 9), MXC_EINVAL, "data_shape must be");
    assert_fails(plan_for(TEXTS("data_shape=(8,8)"), 9, 9), MXC_EINVAL, "data_shape must be");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "aug_seq=mine"), 9, 9), MXC_EUNSUPPORTED, "aug_seq \"mine\"");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "resize=0"), 9, 9), MXC_EINVAL, "resize");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "inter_method=7"), 9, 9), MXC_EINVAL, "inter_method 7");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "dtype=int32"), 9, 9), MXC_EDTYPE, "int32");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "max_crop_size=9"), 9, 9), MXC_EINVAL, "go together");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "max_crop_size=9", "min_crop_size=12"), 9, 9), MXC_EINVAL,
                 "min_crop_size 12 is above max_crop_size 9");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "max_aspect_ratio=1"), 9, 9), MXC_EINVAL, "less than 1");
    assert_fails(plan_for(TEXTS("data_shape=(3,8,8)", "mean_img=/nowhere/mean"), 9, 9), MXC_ENOTFOUND, "/nowhere/mean");
}

/* In the steady state nothing is taken from memory; libpng takes its own. */
static void test_workspace_stays(void **state) {
    run r;
    float out[3 * 64];
    (void)state;
    if (!has_jpeg())
        skip();
    start(&r, TEXTS("data_shape=(1,8,8)", "resize=10", "rand_crop=1", "max_rotate_angle=10", "pad=2"));
    int64_t before = 0;
    for (uint32_t i = 0; i < 20; i++) {
        uint8_t blocks[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        mxci_sample_rng dice = {5, i, 0, 0};
        mxci_image image;
        jpeg_of(&r.file, JPEG_SEQUENTIAL, 24, 24, 1, -1, blocks);
        assert_ok(mxci_image_probe("test", r.file.bytes, r.file.n, 1 << 20, &image));
        assert_ok(mxci_augment_draw(&r.augment, "test", &dice, 24, 24, &r.plan));
        assert_ok(mxci_augment_apply(&r.augment, &r.plan, &image, &r.space, out));
        if (i == 0)
            before = mxci_alloc_count();
    }
    assert_int_equal(mxci_alloc_count(), before);
    stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_middle),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_crops_everywhere),
        cmocka_unit_test(test_contrast_and_illumination),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_grey),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_alpha_of_jpeg),
        cmocka_unit_test(test_crop_start),
        cmocka_unit_test(test_resize_shorter),
        cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_sized_crops),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_quarter_turn_and_fill),
        cmocka_unit_test(test_scale_and_aspect),
        cmocka_unit_test(test_pad),
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_hls),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_bad_parameters),
        cmocka_unit_test(test_workspace_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

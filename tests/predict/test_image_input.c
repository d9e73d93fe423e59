/* SPDX-License-Identifier: Apache-2.0 */
/* Images written to rows of a batch: resizing, cutting out, normalising; sizes and settings that do not fit. */
#include <math.h>

#include "predict/saved.h"

/* height x width pixels, each channel c of value 10 y + x + 50 c. */
static mxc_image make_image(int64_t height, int64_t width, int64_t channels) {
    mxc_image image = {height, width, channels, malloc((size_t)(height * width * channels))};
    assert_non_null(image.pixels);
    for (int64_t i = 0; i < height * width * channels; i++) {
        const int64_t c = i % channels, x = i / channels % width, y = i / channels / width;
        image.pixels[i] = (uint8_t)(10 * y + x + 50 * c);
    }
    return image;
}

static mxc_ndarray *make_batch(const int64_t *dims, mxc_dtype dtype) {
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_create(4, dims, dtype, mxc_cpu(0), &out));
    assert_ok(mxc_ndarray_fill(out, -1));
    return out;
}

static void test_same_size(void **state) {
    const mxc_image_transform transform = {sizeof transform, 0, 1, 0.5, {1, 2, 3}, {2, 4, 8}};
    mxc_image image = make_image(2, 3, 3);
    mxc_ndarray *batch = make_batch((int64_t[]){2, 3, 2, 3}, MXC_F32);
    float found[2][3][2][3];
    (void)state;
    assert_ok(mxc_image_to_array(&image, &transform, batch, 1));
    assert_ok(mxc_ndarray_get(batch, found, sizeof found));
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++) {
                const double value = (10 * y + x + 50 * c) * 0.5;
                assert_true(found[0][c][y][x] == -1);
                assert_true(fabs((double)found[1][c][y][x] - (value - transform.mean[c]) / transform.std[c]) < 1e-5);
            }
    mxc_ndarray_release(batch);
    free(image.pixels);
}

/* The centre of the image, whose shorter side has the length asked for already. */
static void test_centre(void **state) {
    mxc_image_transform transform = MXC_IMAGE_TRANSFORM_INIT;
    mxc_image image = make_image(4, 8, 1);
    mxc_ndarray *batch = make_batch((int64_t[]){1, 1, 2, 2}, MXC_F32);
    float found[4];
    (void)state;
    transform.resize = 4;
    transform.scale = 1;
    assert_ok(mxc_image_to_array(&image, &transform, batch, 0));
    assert_ok(mxc_ndarray_get(batch, found, sizeof found));
    assert_true(found[0] == 13 && found[1] == 14 && found[2] == 23 && found[3] == 24);
    transform.resize = 2; /* half the size: 2 x 4 */
    assert_ok(mxc_image_to_array(&image, &transform, batch, 0));
    assert_ok(mxc_ndarray_get(batch, found, sizeof found));
    assert_true(found[0] < found[1] && found[1] < found[2] && found[2] < found[3]);
    mxc_ndarray_release(batch);
    free(image.pixels);
}

static void test_other_dtypes(void **state) {
    mxc_image_transform transform = MXC_IMAGE_TRANSFORM_INIT;
    mxc_image image = make_image(2, 2, 1);
    mxc_ndarray *batch = make_batch((int64_t[]){1, 1, 2, 2}, MXC_U8);
    const uint8_t expected[] = {0, 1, 10, 11};
    uint8_t found[4];
    (void)state;
    transform.scale = 1;
    assert_ok(mxc_image_to_array(&image, &transform, batch, 0));
    assert_ok(mxc_ndarray_get(batch, found, sizeof found));
    assert_memory_equal(found, expected, sizeof found);
    mxc_ndarray_release(batch);
    free(image.pixels);
}

static void test_refusals(void **state) {
    mxc_image_transform t = MXC_IMAGE_TRANSFORM_INIT;
    mxc_image image = make_image(4, 4, 1), broken = {0, 4, 1, image.pixels}, empty = {4, 4, 1, NULL};
    mxc_ndarray *batch = make_batch((int64_t[]){2, 1, 4, 4}, MXC_F32), *flat;
    mxc_ndarray *colours = make_batch((int64_t[]){2, 3, 4, 4}, MXC_F32);
    mxc_ndarray *none = make_batch((int64_t[]){2, 1, 0, 4}, MXC_F32);
    (void)state;
    assert_fails(mxc_image_to_array(&image, NULL, batch, 2), MXC_ESHAPE, "row 2");
    assert_fails(mxc_image_to_array(&image, NULL, batch, -1), MXC_ESHAPE, "row -1");
    assert_fails(mxc_image_to_array(&image, NULL, colours, 0), MXC_ESHAPE, "1 channels: the array has shape (2,3,4,4)");
    assert_fails(mxc_image_to_array(&image, NULL, none, 0), MXC_ESHAPE, "(2,1,0,4)");
    assert_ok(mxc_ndarray_reshape(batch, 2, (int64_t[]){2, 16}, &flat));
    assert_fails(mxc_image_to_array(&image, NULL, flat, 0), MXC_ESHAPE, "(2,16)");
    mxc_ndarray_release(flat);
    assert_fails(mxc_image_to_array(&broken, NULL, batch, 0), MXC_EINVAL, "1 to 65535");
    assert_fails(mxc_image_to_array(&empty, NULL, batch, 0), MXC_EINVAL, "pixels");
    t.resize = 3;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_ESHAPE, "3 x 3 pixels, of which 4 x 4");
    t.resize = INT64_MAX;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_EINVAL, "65535");
    t.resize = -1;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_EINVAL, "-1");
    t = (mxc_image_transform)MXC_IMAGE_TRANSFORM_INIT;
    t.interpolation = 9;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_EINVAL, "interpolation 9");
    t = (mxc_image_transform)MXC_IMAGE_TRANSFORM_INIT;
    t.std[0] = 0;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_EINVAL, "std");
    t = (mxc_image_transform)MXC_IMAGE_TRANSFORM_INIT;
    t.mean[2] = NAN;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_EINVAL, "channel 2");
    t.size = 0;
    assert_fails(mxc_image_to_array(&image, &t, batch, 0), MXC_EINVAL, "mxc_image_transform_init");
    mxc_ndarray_release(batch);
    mxc_ndarray_release(colours);
    mxc_ndarray_release(none);
    free(image.pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_size),
        cmocka_unit_test(test_centre),
        cmocka_unit_test(test_other_dtypes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single images: PNG round trips are exact, JPEG nearly; sizes, and what is refused. Covers image/image_file.c and
 * resample_kernels.c.
 */
#include <math.h>

#include <mxc/image.h>
#include <mxc/ndarray.h>

#include "alive.h"
#include "image/codec.h"
#include "support.h"

static uint8_t pixels[40 * 50 * 3];

static mxc_image sample(int64_t h, int64_t w, int64_t channels) {
    for (int64_t i = 0; i < h * w * channels; i++)
        pixels[i] = (uint8_t)(40 + i / channels % w * 2 + i / channels / w * 3 + i % channels * 20);
    return (mxc_image){h, w, channels, pixels};
}

static void test_png(void **state) {
    (void)state;
    if (!mxci_png_decoder)
        skip();
    for (int64_t channels = 1; channels <= 3; channels += 2)
        for (int64_t h = 1; h < 40; h += 13) {
            mxc_image image = sample(h, 50 - h, channels), back;
            void *bytes;
            size_t n;
            assert_ok(mxc_image_encode_png(&image, &bytes, &n));
            assert_ok(mxc_image_decode("x.png", bytes, n, 0, 0, &back));
            assert_int_equal(back.height, h);
            assert_int_equal(back.width, 50 - h);
            assert_int_equal(back.channels, channels);
            assert_memory_equal(back.pixels, pixels, (size_t)(h * (50 - h) * channels));
            mxc_image_free(&back);
            assert_fails(mxc_image_decode("x.png", bytes, n, 3, h * (50 - h) - 1, &back), MXC_EFORMAT, "x.png: PNG");
            assert_fails(mxc_image_decode("x.png", bytes, n - 20, 3, 0, &back), MXC_EFORMAT, "x.png");
            mxc_free(bytes);
        }
}

static void test_load(void **state) {
    mxc_image image = sample(5, 7, 3), back;
    test_path folder, path;
    void *bytes;
    size_t n;
    (void)state;
    if (!mxci_png_decoder)
        skip();
    test_temp_dir(folder);
    test_join(path, folder, "x.png");
    assert_ok(mxc_image_encode_png(&image, &bytes, &n));
    test_write_file(path, bytes, n);
    assert_ok(mxc_image_load(path, 0, 0, &back));
    assert_true(back.height == 5 && back.width == 7 && back.channels == 3);
    assert_memory_equal(back.pixels, pixels, 5 * 7 * 3);
    mxc_image_free(&back);
    assert_fails(mxc_image_load(path, 2, 0, &back), MXC_EINVAL, "mxc_image_load: 2 channels");
    assert_fails(mxc_image_load(path, 3, 34, &back), MXC_EFORMAT, "x.png");
    test_write_file(path, bytes, n - 20);
    assert_fails(mxc_image_load(path, 3, 0, &back), MXC_EFORMAT, "x.png");
    test_write_file(path, bytes, 0);
    assert_fails(mxc_image_load(path, 3, 0, &back), MXC_EFORMAT, "x.png");
    assert_null(back.pixels);
    assert_fails(mxc_image_load(folder, 3, 0, &back), MXC_EIO, folder);
    assert_fails(mxc_image_load("/dev/zero", 3, 0, &back), MXC_EIO, "/dev/zero");
    test_join(path, folder, "absent.png");
    assert_fails(mxc_image_load(path, 3, 0, &back), MXC_ENOTFOUND, "absent.png");
    mxc_free(bytes);
    test_remove_dir(folder);
}

static void test_jpeg(void **state) {
    (void)state;
    if (!mxci_jpeg_encoder)
        skip();
    for (int64_t channels = 1; channels <= 3; channels += 2) {
        mxc_image image = sample(20, 40, channels), back;
        size_t before = SIZE_MAX;
        for (int quality = 95; quality > 0; quality -= 47) {
            void *bytes;
            size_t n;
            double error = 0;
            assert_ok(mxc_image_encode_jpeg(&image, quality, &bytes, &n));
            assert_true(n < before);
            before = n;
            assert_ok(mxc_image_decode("x.jpg", bytes, n, (int)channels, 0, &back));
            for (int64_t i = 0; i < 20 * 40 * channels; i++)
                error += fabs((double)back.pixels[i] - pixels[i]) / (double)(20 * 40 * channels);
            if (error > (quality == 95 ? 4 : 40))
                fail_msg("quality %d, %d channels: error %g", quality, (int)channels, error);
            mxc_image_free(&back);
            mxc_free(bytes);
        }
    }
}

/* A slope stays a slope. */
static void test_resize(void **state) {
    mxc_image image = sample(30, 40, 3), out;
    (void)state;
    for (int interpolation = 1; interpolation <= 4; interpolation++) {
        assert_ok(mxc_image_resize(&image, 15, 20, interpolation, &out));
        for (int y = 2; y < 13; y++)
            for (int x = 2; x < 18; x++)
                for (int c = 0; c < 3; c++)
                    assert_true(fabs(out.pixels[(y * 20 + x) * 3 + c] -
                                     (40 + 2 * (2 * x + 0.5) + 3 * (2 * y + 0.5) + 20 * c)) <= 1.01);
        mxc_image_free(&out);
    }
}

static void test_refused(void **state) {
    mxc_image image = sample(4, 4, 3), out;
    void *bytes;
    size_t n;
    (void)state;
    assert_fails(mxc_image_decode("x", "abc", 3, 2, 0, &out), MXC_EINVAL, "2 channels");
    assert_fails(mxc_image_decode("x", "abc", 3, 3, 0, &out), MXC_EFORMAT, "x: 3 bytes");
    assert_fails(mxc_image_resize(&image, 0, 4, 1, &out), MXC_EINVAL, "0 x 4");
    assert_fails(mxc_image_resize(&image, 4, 4, 5, &out), MXC_EINVAL, "interpolation 5");
    assert_fails(mxc_image_encode_jpeg(&image, 0, &bytes, &n), MXC_EINVAL, "quality 0");
    image.channels = 2;
    assert_fails(mxc_image_encode_png(&image, &bytes, &n), MXC_EINVAL, "1 or 3 channels");
    assert_fails(mxc_image_encode_png(NULL, &bytes, &n), MXC_EINVAL, "image must not be NULL");
}

static mxc_status all_calls(void) {
    mxc_image image = sample(8, 8, 3), small = {0}, back = {0};
    void *png = NULL, *jpeg = NULL;
    size_t n;
    mxc_status status = mxc_image_resize(&image, 5, 5, 1, &small);
    if (status == MXC_OK)
        status = mxc_image_encode_png(&small, &png, &n);
    if (status == MXC_OK && mxci_png_decoder)
        status = mxc_image_decode("x", png, n, 3, 0, &back);
    if (status == MXC_OK && mxci_jpeg_encoder)
        status = mxc_image_encode_jpeg(&small, 90, &jpeg, &n);
    mxc_image_free(&small);
    mxc_image_free(&back);
    mxc_free(png);
    mxc_free(jpeg);
    return status;
}

static void test_no_memory(void **state) {
    mxc_status status = MXC_ENOMEM;
    (void)state;
    for (int64_t at = 1; status != MXC_OK; at++) {
        int64_t alive = test_alive();
        mxci_test_fail_alloc(at, 0);
        status = all_calls();
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        assert_int_equal(test_alive(), alive);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png),    cmocka_unit_test(test_load),    cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_resize), cmocka_unit_test(test_refused), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

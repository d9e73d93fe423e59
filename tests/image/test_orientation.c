/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXIF orientation: all eight, in the two byte orders, in images of one and three channels, reduced, in the public
 * calls and the operators; and EXIF data that is damaged, truncated or malicious, which must not be read out of its
 * bounds.
 */
#include <mxc/image.h>
#include <mxc/ndarray.h>
#include <mxc/op.h>

#include "alive.h"
#include "image/codec.h"
#include "image/orientation.h"
#include "images.h"

/* The orientation in a payload, in a block of exactly its size, so that tools see reads outside it. */
static int orientation_of(const void *bytes, size_t n) {
    uint8_t *block = malloc(n ? n : 1);
    assert_non_null(block);
    if (n)
        memcpy(block, bytes, n);
    int found = mxci_exif_orientation(block, n);
    free(block);
    return found;
}

static void test_exif(void **state) {
    static test_image t;
    (void)state;
    for (int big = 0; big < 2; big++) {
        for (int i = 1; i <= 8; i++) {
            exif_payload(&t, big, i);
            assert_int_equal(orientation_of(t.bytes, t.n), i);
        }
        exif_payload(&t, big, 0);
        assert_int_equal(orientation_of(t.bytes, t.n), 0);
        exif_payload(&t, big, 9);
        assert_int_equal(orientation_of(t.bytes, t.n), 0);
    }
    assert_int_equal(orientation_of("http://ns.adobe.com/xap/1.0/", 28), 0);
}

/* Where the parts of a payload are: the offset of the directory, its count, and the second entry. */
enum { BYTE_ORDER_AT = 6, DIRECTORY_AT = 10, COUNT_AT = 14, ENTRY_AT = 28 };

static void test_hostile_exif(void **state) {
    static test_image t;
    static const uint32_t offsets[] = {0, 7, 9, 30, 31, 32, 33, 1000, 0x7fffffff, 0xfffffffe, 0xffffffff};
    (void)state;
    for (int big = 0; big < 2; big++) {
        exif_payload(&t, big, 6);
        for (size_t n = 0; n < t.n; n++) /* the last 6 bytes are not needed: padding of the value, no directory */
            assert_int_equal(orientation_of(t.bytes, n), n >= t.n - 4 ? 6 : 0);
        for (size_t i = 0; i < t.n; i++)
            for (int bit = 0; bit < 8; bit++) {
                t.bytes[i] ^= (uint8_t)(1 << bit);
                assert_in_range(orientation_of(t.bytes, t.n), 0, 8);
                t.bytes[i] ^= (uint8_t)(1 << bit);
            }
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            t.n = DIRECTORY_AT;
            tiff_put_number(&t, big, offsets[i], 4);
            t.n = 42;
            assert_int_equal(orientation_of(t.bytes, t.n), 0);
        }
        exif_payload(&t, big, 6);
        memset(t.bytes + COUNT_AT, 255, 2); /* 65535 entries, of which two are there */
        assert_int_equal(orientation_of(t.bytes, t.n), 6);
        memset(t.bytes + ENTRY_AT, 0, 2); /* now none is the orientation */
        assert_int_equal(orientation_of(t.bytes, t.n), 0);
        exif_payload(&t, big, 6);
        t.bytes[ENTRY_AT + (big ? 3 : 2)] = 4; /* LONG */
        assert_int_equal(orientation_of(t.bytes, t.n), 0);
        exif_payload(&t, big, 6);
        t.bytes[ENTRY_AT + (big ? 7 : 4)] = 200; /* 200 values, elsewhere */
        assert_int_equal(orientation_of(t.bytes, t.n), 0);
        exif_payload(&t, big, 6);
        t.bytes[BYTE_ORDER_AT + 1] ^= 1;
        assert_int_equal(orientation_of(t.bytes, t.n), 0);
    }
}

/* Row r, column c of the stored image must be at its place in the upright one. */
static void expect_turned(const mxc_image *found, int orientation) {
    const int turns = orientation > 4;
    assert_int_equal(found->height, turns ? TURNED_W : TURNED_H);
    assert_int_equal(found->width, turns ? TURNED_H : TURNED_W);
    for (int r = 0; r < TURNED_H; r++)
        for (int c = 0; c < TURNED_W; c++) {
            int y, x;
            exif_place(orientation, TURNED_H, TURNED_W, r, c, &y, &x);
            for (int64_t k = 0; k < found->channels; k++)
                assert_int_equal(found->pixels[(y * found->width + x) * found->channels + k], turned_value(r, c));
        }
}

static void test_decode(void **state) {
    static test_image t;
    mxc_image image;
    (void)state;
    if (!mxci_jpeg_decoder)
        skip();
    for (int orientation = 0; orientation <= 8; orientation++)
        for (int channels = 0; channels <= 3; channels += 1 + (channels == 1)) {
            turned_jpeg(&t, orientation);
            assert_ok(mxc_image_decode("x", t.bytes, t.n, channels, 0, &image));
            assert_int_equal(image.channels, channels ? channels : 1);
            expect_turned(&image, orientation ? orientation : 1);
            mxc_image_free(&image);
            assert_ok(mxc_image_decode_stored("x", t.bytes, t.n, channels, 0, &image));
            expect_turned(&image, 1);
            mxc_image_free(&image);
        }
    assert_fails(mxc_image_decode_stored("x", t.bytes, t.n, 2, 0, &image), MXC_EINVAL,
                 "mxc_image_decode_stored: 2 channels");
    assert_fails(mxc_image_decode_stored(NULL, t.bytes, t.n, 3, 0, &image), MXC_EINVAL, "source_name");
}

/* A reduced image has one pixel for each block, turned likewise. Also as RGBA. */
static void test_reduced(void **state) {
    static test_image t;
    (void)state;
    if (!mxci_jpeg_decoder)
        skip();
    for (int orientation = 1; orientation <= 8; orientation++) {
        uint8_t out[6 * 4];
        mxci_image image;
        turned_jpeg(&t, orientation);
        assert_ok(mxci_image_probe("x", t.bytes, t.n, MXCI_IMAGE_PIXELS, &image));
        assert_int_equal(image.exif_orientation, orientation);
        mxci_image_orient(&image);
        mxci_image_orient(&image); /* the second call changes nothing */
        mxci_image_reduce(&image, 2, 2);
        assert_int_equal(image.height, orientation > 4 ? 3 : 2);
        assert_int_equal(image.width, orientation > 4 ? 2 : 3);
        assert_ok(mxci_image_decode(&image, MXCI_RGBA, out));
        for (int i = 0; i < 6; i++) {
            int y, x;
            exif_place(orientation, 2, 3, i / 3, i % 3, &y, &x);
            const uint8_t *pixel = out + (y * image.width + x) * 4;
            assert_int_equal(pixel[1], 20 * (i + 1));
            assert_int_equal(pixel[3], 255);
        }
    }
}

/* The first EXIF segment with an orientation counts; other APP1 segments, and those behind a scan, do not. */
static void test_segments(void **state) {
    static test_image plain, exif, once, twice;
    mxci_image image;
    (void)state;
    if (!mxci_jpeg_decoder)
        skip();
    turned_jpeg(&plain, 0);
    exif_payload(&exif, 1, 3);
    jpeg_add_app1(&once, &plain, exif.bytes, exif.n);
    jpeg_add_app1(&twice, &once, "http://ns.adobe.com/xap/1.0/", 28);
    assert_ok(mxci_image_probe("x", twice.bytes, twice.n, MXCI_IMAGE_PIXELS, &image));
    assert_int_equal(image.exif_orientation, 3);
    exif_payload(&exif, 0, 5);
    jpeg_add_app1(&twice, &once, exif.bytes, exif.n);
    assert_ok(mxci_image_probe("x", twice.bytes, twice.n, MXCI_IMAGE_PIXELS, &image));
    assert_int_equal(image.exif_orientation, 5);
    jpeg_add_app1(&once, &plain, "", 0);
    assert_ok(mxci_image_probe("x", once.bytes, once.n, MXCI_IMAGE_PIXELS, &image));
    assert_int_equal(image.exif_orientation, 0);
    once = plain;
    once.n -= 2; /* the end marker */
    image_put_number(&once, 0xffe1, 2);
    image_put_number(&once, exif.n + 2, 2);
    image_put(&once, exif.bytes, exif.n);
    image_put_number(&once, 0xffd9, 2);
    assert_ok(mxci_image_probe("x", once.bytes, once.n, MXCI_IMAGE_PIXELS, &image));
    assert_int_equal(image.exif_orientation, 0);
}

static void test_operator(void **state) {
    static const char *const flags[] = {"1", "0", "129", "128"};
    static test_image t;
    (void)state;
    if (!mxci_jpeg_decoder)
        skip();
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int i = 0; i < 4; i++) {
            mxc_ndarray *buf, *out = NULL;
            mxc_image image;
            void *pixels;
            turned_jpeg(&t, orientation);
            assert_ok(mxc_ndarray_from_data(1, (int64_t[]){(int64_t)t.n}, MXC_U8, t.bytes, &buf));
            assert_ok(
                mxc_invoke("_cvimdecode", 1, &buf, 1, (const char *[]){"flag"}, (const char *[]){flags[i]}, 1, &out));
            assert_ok(mxc_ndarray_wait_to_read(out));
            assert_ok(mxc_ndarray_data(out, &pixels));
            const mxc_shape *shape = mxc_ndarray_shape(out);
            image = (mxc_image){shape->dim[0], shape->dim[1], shape->dim[2], pixels};
            assert_int_equal(image.channels, i % 2 ? 1 : 3);
            expect_turned(&image, i < 2 ? orientation : 1);
            mxc_ndarray_release(buf);
            mxc_ndarray_release(out);
        }
}

static void test_every_allocation_failing(void **state) {
    static test_image t;
    mxc_status status = MXC_ENOMEM;
    (void)state;
    if (!mxci_jpeg_decoder)
        skip();
    turned_jpeg(&t, 6);
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxc_image image;
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = mxc_image_decode("x", t.bytes, t.n, 3, 0, &image);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        mxc_image_free(&image);
        assert_int_equal(test_alive(), live);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exif),
        cmocka_unit_test(test_hostile_exif),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_operator),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

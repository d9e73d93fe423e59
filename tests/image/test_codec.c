/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding untrusted images: headers, what is refused and with which message, damage, memory, sizes, the operators'
 * calls. Covers image/codec.c and image/codecs.
 */
#include "images.h"

#include "base/sys.h"
#include "image/codec.h"

#include <mxc/op.h>

static int has_both(void) {
    if (mxci_jpeg_decoder && mxci_png_decoder)
        return 1;
    print_message("skipped: libmxc was built without libturbojpeg or libpng\n");
    return 0;
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* A PNG of colours that tell the place. */
static void small_png(test_image *out, int height, int width) {
    static test_image rows;
    rows.n = 0;
    for (int y = 0; y < height; y++) {
        image_put_number(&rows, 0, 1);
        for (int x = 0; x < width; x++)
            image_put(&rows, (uint8_t[]){(uint8_t)(10 * y), (uint8_t)(10 * x), 99}, 3);
    }
    png_begin(out, (uint32_t)height, (uint32_t)width, 2, 8, 0);
    png_finish(out, &rows);
}

/* A JPEG whose blocks have the values 16, 32... in all channels. */
static void small_jpeg(test_image *out, int frame, int height, int width, int channels) {
    uint8_t blocks[64 * 4];
    for (int i = 0; i < 64 * channels; i++)
        blocks[i] = (uint8_t)(16 * (i / channels + 1));
    assert_true((height + 7) / 8 * ((width + 7) / 8) <= 64);
    jpeg_of(out, frame, height, width, channels, channels == 1 ? -1 : 0, blocks);
}

static mxc_status probe(const test_image *t, mxci_image *out) {
    return mxci_image_probe("test", t->bytes, t->n, MXCI_IMAGE_PIXELS, out);
}

/* Probe and decode, whatever comes of it, within a million pixels. */
static mxc_status read_image(const void *bytes, size_t n) {
    mxci_image image;
    mxc_status status = mxci_image_probe("test", bytes, n, 1000000, &image);
    if (status == MXC_OK) {
        uint8_t *out = malloc((size_t)(image.height * image.width * 3));
        assert_non_null(out);
        status = mxci_image_decode(&image, MXCI_RGB, out);
        free(out);
    }
    return status;
}

static void expect_refused(const test_image *t, mxc_status code, const char *text) {
    assert_fails(read_image(t->bytes, t->n), code, text);
    assert_non_null(strstr(mxc_last_error(), "test: "));
}

/* ---- headers ----------------------------------------------------------------------------------------------------- */

static void expect_library(const test_image *t, mxci_decoder decoder, const char *missing) {
    mxci_image image;
    if (decoder)
        assert_ok(probe(t, &image));
    else
        assert_fails(probe(t, &image), MXC_EUNSUPPORTED, missing);
}

static void test_libraries(void **state) {
    static test_image t;
    (void)state;
    small_png(&t, 2, 3);
    expect_library(&t, mxci_png_decoder, "a PNG image: this libmxc was built without libpng");
    small_jpeg(&t, JPEG_SEQUENTIAL, 8, 8, 1);
    expect_library(&t, mxci_jpeg_decoder, "a JPEG image: this libmxc was built without libturbojpeg");
}

static void expect_header(const test_image *t, int height, int width, int channels, int progressive) {
    mxci_image image;
    assert_ok(probe(t, &image));
    assert_int_equal(image.height, height);
    assert_int_equal(image.width, width);
    assert_int_equal(image.channels, channels);
    assert_int_equal(image.progressive, progressive);
}

static void test_headers(void **state) {
    static test_image t, no_rows;
    (void)state;
    if (!has_both())
        skip();
    small_jpeg(&t, JPEG_SEQUENTIAL, 9, 17, 1);
    expect_header(&t, 9, 17, 1, 0);
    small_jpeg(&t, JPEG_PROGRESSIVE, 9, 17, 3);
    expect_header(&t, 9, 17, 3, 1);
    small_png(&t, 3, 5);
    expect_header(&t, 3, 5, 3, 0);
    image_put(&t, "behind", 6); /* does not count */
    expect_header(&t, 3, 5, 3, 0);
    png_begin(&t, 3, 5, 6, 8, 1);
    png_finish(&t, &no_rows);
    expect_header(&t, 3, 5, 4, 1);
}

static void test_not_an_image(void **state) {
    static test_image t;
    (void)state;
    expect_refused(&t, MXC_EFORMAT, "0 bytes that begin neither as JPEG nor as PNG");
    image_put(&t, "\xff", 1);
    expect_refused(&t, MXC_EFORMAT, "1 bytes");
    image_put(&t, "\xd8GIF89a", 8);
    expect_refused(&t, MXC_EFORMAT, "neither");
}

static void test_sizes_refused(void **state) {
    static test_image t;
    static const uint32_t wrong[][2] = {{0, 5}, {5, 0}, {0, 0}};
    mxci_image image;
    (void)state;
    if (!has_both())
        skip();
    for (int i = 0; i < 3; i++) {
        small_jpeg(&t, JPEG_SEQUENTIAL, (int)wrong[i][0], (int)wrong[i][1], 1);
        expect_refused(&t, MXC_EFORMAT, "pixels");
        png_begin(&t, wrong[i][0], wrong[i][1], 2, 8, 0);
        expect_refused(&t, MXC_EFORMAT, "pixels");
    }
    small_png(&t, 4, 5);
    assert_fails(mxci_image_probe("test", t.bytes, t.n, 19, &image), MXC_EFORMAT, "4 x 5 pixels, expected at most 19");
    png_begin(&t, 0x7fffffff, 0x7fffffff, 2, 8, 0);
    expect_refused(&t, MXC_EFORMAT, "2147483647 x 2147483647 pixels");
    png_begin(&t, 0xffffffff, 0xffffffff, 6, 16, 0);
    expect_refused(&t, MXC_EFORMAT, "4294967295 x 4294967295 pixels");
    png_begin(&t, 900, 900, 0, 8, 0);
    expect_refused(&t, MXC_EFORMAT, "cannot hold so many");
    jpeg_begin(&t, JPEG_SEQUENTIAL, 900, 900, 1, -1);
    jpeg_scan(&t, 0, 0, 0, 63);
    image_put_number(&t, 0xffd9, 2);
    expect_refused(&t, MXC_EFORMAT, "cannot hold so many");
}

/* Bytes of a JPEG's frame header behind its marker. */
static uint8_t *frame_of(test_image *t) {
    for (size_t i = 0; i + 1 < t->n; i++)
        if (t->bytes[i] == 0xff && t->bytes[i + 1] == 0xc0)
            return t->bytes + i + 1;
    fail_msg("no frame header");
    return NULL;
}

static void test_sorts_of_jpeg(void **state) {
    static test_image t;
    (void)state;
    if (!has_both())
        skip();
    small_jpeg(&t, JPEG_SEQUENTIAL, 8, 8, 1);
    frame_of(&t)[0] = 0xc3;
    expect_refused(&t, MXC_EUNSUPPORTED, "SOF3");
    small_jpeg(&t, JPEG_SEQUENTIAL, 8, 8, 1);
    frame_of(&t)[3] = 12;
    expect_refused(&t, MXC_EUNSUPPORTED, "12 bits a sample");
    small_jpeg(&t, JPEG_SEQUENTIAL, 8, 8, 1);
    frame_of(&t)[2] = 1;
    expect_refused(&t, MXC_EFORMAT, "segment of length 1");
    frame_of(&t)[1] = 0xff;
    expect_refused(&t, MXC_EFORMAT, "truncated");
    jpeg_begin(&t, 0xfe, 8, 8, 1, -1); /* a comment instead of a frame */
    jpeg_scan(&t, 0, 0, 0, 63);
    image_put_number(&t, 0xffd9, 2);
    expect_refused(&t, MXC_EFORMAT, "without a frame header");
    jpeg_begin(&t, JPEG_SEQUENTIAL, 8, 8, 1, -1);
    image_put_number(&t, 0xffd9, 2);
    expect_refused(&t, MXC_EFORMAT, "without a scan");
    jpeg_begin(&t, JPEG_SEQUENTIAL, 8, 8, 2, -1); /* two colours are none */
    jpeg_scan(&t, 0, 1, 0, 63);
    image_put_number(&t, 0xffd9, 2);
    expect_refused(&t, MXC_EFORMAT, "JPEG: ");
}

static void test_many_scans(void **state) {
    static test_image t;
    (void)state;
    if (!has_both())
        skip();
    for (int scans = MXCI_JPEG_SCANS - 1; scans <= MXCI_JPEG_SCANS; scans++) {
        small_jpeg(&t, JPEG_PROGRESSIVE, 8, 8, 1); /* has two */
        t.n -= 2;
        for (int i = 2; i < scans + 1; i++) {
            jpeg_scan(&t, 0, 0, 1, 63);
            image_put_number(&t, 0x7f, 1);
        }
        image_put_number(&t, 0xffd9, 2);
        if (scans < MXCI_JPEG_SCANS)
            assert_ok(read_image(t.bytes, t.n));
        else
            expect_refused(&t, MXC_EFORMAT, "101 scans, expected at most 100");
    }
}

/* Scans over a large image that add nothing to it. */
static void test_idle_scans(void **state) {
    static test_image t;
    mxci_image image;
    (void)state;
    if (!has_both())
        skip();
    jpeg_begin(&t, JPEG_PROGRESSIVE, 4000, 4000, 1, -1);
    for (int i = 0; i < 20; i++) {
        jpeg_scan(&t, 0, 0, i > 0, i > 0 ? 63 : 0);
        image_put_number(&t, 0x7f, 1);
    }
    jpeg_segment(&t, 0xfe, 35000, 0); /* a comment, so that its bytes are enough for the pixels */
    t.n += 34997;
    image_put_number(&t, 0xffd9, 2);
    assert_fails(probe(&t, &image), MXC_EFORMAT, "20 scans over 4000 x 4000 pixels, more than its");
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static void with_each(void (*check)(const test_image *t)) {
    static test_image t;
    small_png(&t, 5, 7);
    check(&t);
    small_jpeg(&t, JPEG_SEQUENTIAL, 17, 9, 3);
    check(&t);
    small_jpeg(&t, JPEG_PROGRESSIVE, 9, 20, 1);
    check(&t);
    small_jpeg(&t, JPEG_SEQUENTIAL, 8, 8, 4);
    check(&t);
}

/* In a block of just that size, so that a sanitizer sees what is read behind it. */
static void check_prefixes(const test_image *t) {
    for (size_t n = 0; n < t->n; n++) {
        uint8_t *bytes = malloc(n + 1);
        assert_non_null(bytes);
        memcpy(bytes + 1, t->bytes, n);
        assert_status(read_image(bytes + 1, n), MXC_EFORMAT);
        free(bytes);
    }
}

static void check_flips(const test_image *t) {
    static test_image damaged;
    int refused = 0;
    for (size_t i = 0; i < t->n; i++)
        for (int bit = 0; bit < 8; bit++) {
            damaged = *t;
            damaged.bytes[i] ^= (uint8_t)(1 << bit);
            refused += read_image(damaged.bytes, damaged.n) != MXC_OK;
        }
    assert_true(refused > 0);
}

static void test_truncated(void **state) {
    (void)state;
    if (!has_both())
        skip();
    with_each(check_prefixes);
}

static void test_flipped(void **state) {
    (void)state;
    if (!has_both())
        skip();
    with_each(check_flips);
}

static void test_wrong_chunks(void **state) {
    static test_image t, rows;
    (void)state;
    if (!has_both())
        skip();
    small_png(&t, 2, 2);
    t.bytes[29] ^= 1; /* of the header's checksum */
    expect_refused(&t, MXC_EFORMAT, "CRC");
    png_begin(&t, 2, 2, 2, 8, 0);
    png_chunk(&t, "IEND", NULL, 0);
    expect_refused(&t, MXC_EFORMAT, "PNG, before byte");
    png_begin(&t, 2, 2, 2, 8, 0);
    png_chunk(&t, "IDAT", NULL, 0);
    png_chunk(&t, "IEND", NULL, 0);
    expect_refused(&t, MXC_EFORMAT, "PNG, before byte");
    png_begin(&t, 2, 2, 3, 8, 0); /* a palette is missing */
    image_put(&rows, "\0\1\2\0\3\4", 6);
    png_finish(&t, &rows);
    expect_refused(&t, MXC_EFORMAT, "PLTE");
    png_begin(&t, 2, 2, 2, 8, 0); /* half of the rows */
    png_finish(&t, &rows);
    expect_refused(&t, MXC_EFORMAT, "Not enough image data");
    png_begin(&t, 2, 2, 5, 8, 0);
    png_finish(&t, &rows);
    expect_refused(&t, MXC_EFORMAT, "type of colour 5");
    png_begin(&t, 2, 2, 2, 3, 0);
    png_finish(&t, &rows);
    expect_refused(&t, MXC_EFORMAT, "PNG, before byte");
}

/* Chunks that would expand to 4 MiB each are passed over. */
static void test_chunk_bombs(void **state) {
    static const char *const types[] = {"iCCP", "zTXt"};
    static test_image t, rows;
    enum { EXPANDED = 4 << 20 };
    char *zeros = calloc(EXPANDED, 1);
    (void)state;
    if (!has_both())
        skip();
    assert_non_null(zeros);
    rows.n = 0;
    image_put(&rows, "\0\1\2\3\0\4\5\6", 8);
    for (int i = 0; i < 2; i++) {
        png_begin(&t, 2, 1, 2, 8, 0);
        png_deflated(&t, types[i], "name\0", 6, zeros, EXPANDED);
        png_finish(&t, &rows);
        assert_ok(read_image(t.bytes, t.n));
    }
    free(zeros);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void check_no_memory(const test_image *t) {
    int64_t live = mxci_alloc_live();
    mxc_status status = MXC_ENOMEM;
    for (int k = 1; status != MXC_OK; k++) {
        assert_true(k < 100);
        mxci_test_fail_alloc(k, k % 2);
        status = read_image(t->bytes, t->n);
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK)
            assert_int_equal(status, MXC_ENOMEM);
        assert_int_equal(mxci_alloc_live(), live);
    }
}

static void test_no_memory(void **state) {
    (void)state;
    if (!has_both())
        skip();
    with_each(check_no_memory);
}

/* Damage and no memory at once. */
static void test_damaged_no_memory(void **state) {
    static test_image t;
    int64_t live = mxci_alloc_live();
    (void)state;
    if (!has_both())
        skip();
    small_png(&t, 5, 7);
    for (size_t n = 0; n < t.n; n++)
        for (int k = 1; k < 8; k++) {
            mxci_test_fail_alloc(k, 0);
            assert_int_not_equal(read_image(t.bytes, n), MXC_OK);
            mxci_test_fail_alloc(0, 0);
            assert_int_equal(mxci_alloc_live(), live);
        }
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* Luma and chroma, as most JPEG has them; one more or less comes of rounding. */
static void test_luma_chroma(void **state) {
    static const uint8_t blocks[] = {100, 128, 128, 200, 90, 160, 50, 200, 90, 255, 255, 255};
    static test_image t;
    uint8_t out[8 * 32 * 3];
    mxci_image image;
    (void)state;
    if (!has_both())
        skip();
    jpeg_of(&t, JPEG_SEQUENTIAL, 8, 32, 3, 1, blocks);
    assert_ok(probe(&t, &image));
    assert_ok(mxci_image_decode(&image, MXCI_BGR, out));
    for (int i = 0; i < 8 * 32; i++) {
        const uint8_t *b = blocks + i % 32 / 8 * 3;
        double y = b[0], cb = b[1] - 128.0, cr = b[2] - 128.0;
        double bgr[3] = {y + 1.772 * cb, y - 0.344136 * cb - 0.714136 * cr, y + 1.402 * cr};
        for (int c = 0; c < 3; c++) {
            double want = bgr[c] < 0 ? 0 : bgr[c] > 255 ? 255 : bgr[c];
            assert_true(out[3 * i + c] >= want - 1 && out[3 * i + c] <= want + 1);
        }
    }
    assert_ok(mxci_image_decode(&image, MXCI_GREY, out));
    for (int i = 0; i < 8 * 32; i++)
        assert_int_equal(out[i], blocks[i % 32 / 8 * 3]);
}

static void expect_reduced(int least_height, int least_width, int height, int width) {
    static test_image t;
    uint8_t out[33 * 20];
    mxci_image image;
    int part = 1;
    small_jpeg(&t, JPEG_SEQUENTIAL, 33, 20, 1);
    assert_ok(probe(&t, &image));
    mxci_image_reduce(&image, least_height, least_width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.width, width);
    assert_int_equal(image.full_height, 33);
    memset(out, 1, sizeof out);
    assert_ok(mxci_image_decode(&image, MXCI_GREY, out));
    while ((33 + part - 1) / part > height)
        part *= 2;
    for (int i = 0; i < height * width; i++)
        assert_int_equal(out[i], 16 * (i / width * part / 8 * 3 + i % width * part / 8 + 1) & 255);
    for (size_t i = (size_t)(height * width); i < sizeof out; i++)
        assert_int_equal(out[i], 1);
}

static void test_reduced(void **state) {
    static test_image t;
    mxci_image image;
    (void)state;
    if (!has_both())
        skip();
    expect_reduced(33, 20, 33, 20);
    expect_reduced(18, 1, 33, 20);
    expect_reduced(17, 10, 17, 10);
    expect_reduced(1, 6, 17, 10);
    expect_reduced(9, 5, 9, 5);
    expect_reduced(1, 1, 5, 3);
    expect_reduced(0, 0, 5, 3);
    small_png(&t, 9, 9);
    assert_ok(probe(&t, &image));
    mxci_image_reduce(&image, 1, 1);
    assert_int_equal(image.height, 9);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static mxc_ndarray *bytes_of(const test_image *t) {
    mxc_ndarray *array;
    int64_t n = (int64_t)t->n;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_U8, t->bytes, &array));
    return array;
}

static mxc_status decode(mxc_ndarray *buf, mxc_ndarray **out) {
    return mxc_invoke("_cvimdecode", 1, &buf, 0, NULL, NULL, 1, out);
}

static mxc_status decode_into(mxc_ndarray *buf, mxc_ndarray *out) {
    return mxc_invoke_into("_cvimdecode", 1, &buf, 0, NULL, NULL, 1, &out);
}

static void test_calls(void **state) {
    static test_image t;
    mxc_ndarray *buf, *out = NULL, *wrong;
    int64_t dims[3] = {2, 4, 3};
    uint8_t pixels[2 * 3 * 3];
    (void)state;
    if (!has_both())
        skip();
    small_png(&t, 2, 3);
    buf = bytes_of(&t);
    assert_ok(decode(buf, &out));
    assert_ok(mxc_ndarray_get(out, pixels, sizeof pixels));
    assert_memory_equal(pixels, "\0\0c\0\012c\0\024c\012\0c\012\012c\012\024c", sizeof pixels);
    assert_ok(decode_into(buf, out));
    assert_ok(mxc_ndarray_create(3, dims, MXC_U8, mxc_cpu(0), &wrong));
    assert_fails(decode_into(buf, wrong), MXC_ESHAPE, "_cvimdecode: output 'output': expected shape (2,3,3)");
    mxc_ndarray_release(wrong);
    mxc_ndarray_release(out);
    mxc_ndarray_release(buf);
}

static void test_failing_calls(void **state) {
    static test_image t;
    mxc_ndarray *in[2], *out = NULL;
    const char *keys[] = {"size", "x1", "y1"}, *values[] = {"9999", "4", "1"};
    int64_t dims[3] = {3, 2, 2};
    mxc_op *op;
    (void)state;
    if (!has_both())
        skip();
    small_png(&t, 2, 3);
    in[1] = bytes_of(&t);
    assert_ok(mxc_ndarray_create(3, dims, MXC_F32, mxc_cpu(0), &in[0]));
    assert_ok(mxc_ndarray_fill(in[0], 1));
    assert_fails(mxc_invoke("_imdecode", 2, in, 0, NULL, NULL, 1, &out), MXC_ESHAPE, "_imdecode: argument 'mean'");
    assert_fails(mxc_invoke("_imdecode", 2, in, 1, keys, values, 1, &out), MXC_EINVAL, "size is 9999");
    assert_fails(mxc_invoke("_imdecode", 2, in, 2, keys + 1, values + 1, 1, &out), MXC_EINVAL, "3 columns and 2 rows");
    assert_null(out);
    assert_ok(mxc_op_create("_cvimdecode", 0, NULL, NULL, &op));
    assert_fails(mxc_op_invoke(op, 1, in, 1, &out, NULL, 0), MXC_EDTYPE, "uint8");
    mxc_op_release(op);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

/* What is wrong behind the header shows where the image is waited for; the next image is fine. */
static void test_late_failure(void **state) {
    static test_image t;
    mxc_ndarray *good, *bad, *out = NULL;
    (void)state;
    if (!has_both())
        skip();
    small_png(&t, 2, 3);
    good = bytes_of(&t);
    t.bytes[8 + 25 + 8] ^= 1;
    bad = bytes_of(&t);
    assert_ok(decode(bad, &out));
    assert_fails(mxc_ndarray_wait_to_read(out), MXC_EFORMAT, "_cvimdecode: PNG, before byte");
    assert_ok(decode_into(good, out));
    assert_ok(mxc_ndarray_wait_to_read(out));
    mxc_ndarray_release(out);
    t.bytes[16] = 0xff; /* of the width */
    mxc_ndarray_release(bad);
    bad = bytes_of(&t);
    assert_fails(decode(bad, &out), MXC_EFORMAT, "_cvimdecode: PNG of 2 x ");
    assert_null(out);
    mxc_ndarray_release(bad);
    mxc_ndarray_release(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libraries),         cmocka_unit_test(test_headers),
        cmocka_unit_test(test_not_an_image),      cmocka_unit_test(test_sizes_refused),
        cmocka_unit_test(test_sorts_of_jpeg),     cmocka_unit_test(test_many_scans),
        cmocka_unit_test(test_idle_scans),        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),           cmocka_unit_test(test_wrong_chunks),
        cmocka_unit_test(test_chunk_bombs),       cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_damaged_no_memory), cmocka_unit_test(test_luma_chroma),
        cmocka_unit_test(test_reduced),           cmocka_unit_test(test_calls),
        cmocka_unit_test(test_failing_calls),     cmocka_unit_test(test_late_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

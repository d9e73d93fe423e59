/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between all pairs of dtypes, with the values where types end. */
#include "support.h"

#include <math.h>

#include <mxc/half.h>
#include <mxc/types.h>

#include "math/cast_kernels.h"

static const mxc_dtype dtypes[] = {MXC_F32, MXC_F64, MXC_F16, MXC_U8, MXC_I32, MXC_I8, MXC_I64, MXC_BOOL, MXC_BF16};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Small whole numbers, which every dtype but bool holds exactly, survive every way. */
static void small_numbers_survive_all_pairs(void **state) {
    (void)state;
    for (int i = 0; i < DTYPES; i++)
        for (int j = 0; j < DTYPES; j++) {
            double values[40], back[40], a[40], b[40];
            int logical = dtypes[i] == MXC_BOOL || dtypes[j] == MXC_BOOL;
            for (int k = 0; k < 40; k++)
                values[k] = k * 3;
            mxci_convert(MXC_F64, values, dtypes[i], a, 40);
            mxci_convert(dtypes[i], a, dtypes[j], b, 40);
            mxci_convert(dtypes[j], b, MXC_F64, back, 40);
            for (int k = 0; k < 40; k++)
                assert_true(back[k] == (logical ? values[k] != 0 : values[k]));
        }
}

/* The value as each integer dtype. */
typedef struct end_case {
    double value;
    int8_t i8;
    uint8_t u8;
    int32_t i32;
    int64_t i64;
} end_case;

static const end_case ends[] = {
    {1.9, 1, 1, 1, 1},
    {-1.9, -1, 0, -1, -1},
    {127.9, 127, 127, 127, 127},
    {128, 127, 128, 128, 128},
    {-128.9, -128, 0, -128, -128},
    {255.9, 127, 255, 255, 255},
    {2147483520, 127, 255, 2147483520, 2147483520},
    {2147483648.0, 127, 255, INT32_MAX, 2147483648},
    {-2147483648.0, -128, 0, INT32_MIN, -2147483648},
    {-1e10, -128, 0, INT32_MIN, -10000000000},
    {9223372036854775808.0, 127, 255, INT32_MAX, INT64_MAX},
    {-1e300, -128, 0, INT32_MIN, INT64_MIN},
    {INFINITY, 127, 255, INT32_MAX, INT64_MAX},
    {-INFINITY, -128, 0, INT32_MIN, INT64_MIN},
    {NAN, 0, 0, 0, 0},
};

static void check_end(int from, const void *x, const end_case *c) {
    int8_t i8;
    uint8_t u8, truth;
    int32_t i32;
    int64_t i64;
    mxci_convert(from, x, MXC_I8, &i8, 1);
    mxci_convert(from, x, MXC_U8, &u8, 1);
    mxci_convert(from, x, MXC_I32, &i32, 1);
    mxci_convert(from, x, MXC_I64, &i64, 1);
    mxci_convert(from, x, MXC_BOOL, &truth, 1);
    assert_int_equal(i8, c->i8);
    assert_int_equal(u8, c->u8);
    assert_int_equal(i32, c->i32);
    assert_true(i64 == c->i64);
    assert_int_equal(truth, 1);
}

static void floats_saturate(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        float f = (float)ends[i].value;
        check_end(MXC_F64, &ends[i].value, &ends[i]);
        if ((double)f == ends[i].value || isnan(f) || fabs(ends[i].value) < 1000)
            check_end(MXC_F32, &f, &ends[i]);
    }
}

static void integers_keep_their_low_bits(void **state) {
    int32_t big = 0x12345678, negative = -1;
    int64_t huge = INT64_C(0x123456789abcdef0), wide;
    uint8_t u8;
    int32_t i32;
    (void)state;
    mxci_convert(MXC_I32, &big, MXC_U8, &u8, 1);
    assert_int_equal(u8, 0x78);
    mxci_convert(MXC_I64, &huge, MXC_I32, &i32, 1);
    assert_true(i32 == (int32_t)0x9abcdef0);
    mxci_convert(MXC_I32, &negative, MXC_I64, &wide, 1);
    assert_true(wide == -1);
}

static void halves_round_to_nearest_even(void **state) {
    const float x[] = {1.0f + 0x1p-11f, 1.0f + 3 * 0x1p-11f, 65520.0f, 0x1p-24f};
    const uint16_t expected[] = {0x3c00, 0x3c02, 0x7c00, 0x0001};
    mxc_f16 h[4];
    mxc_bf16 b;
    (void)state;
    mxci_convert(MXC_F32, x, MXC_F16, h, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(h[i].bits, expected[i]);
    mxci_convert(MXC_F32, &(float){1.0f + 0x1p-8f}, MXC_BF16, &b, 1);
    assert_int_equal(b.bits, 0x3f80);
}

static void any_byte_is_a_bool(void **state) {
    const uint8_t bytes[] = {0, 1, 2, 255};
    float f[4];
    uint8_t tidy[4];
    (void)state;
    mxci_convert(MXC_BOOL, bytes, MXC_F32, f, 4);
    assert_true(f[0] == 0 && f[1] == 1 && f[2] == 1 && f[3] == 1);
    mxci_convert(MXC_BOOL, bytes, MXC_BOOL, tidy, 4);
    assert_memory_equal(tidy, "\0\1\1\1", 4);
}

static void repeat_fills_every_element(void **state) {
    const uint64_t element = UINT64_C(0x0123456789abcdef);
    (void)state;
    for (size_t bytes = 1; bytes <= 8; bytes *= 2) {
        unsigned char out[8 * 19 + 1];
        memset(out, 0x55, sizeof out);
        mxci_repeat(&element, bytes, out, 19);
        for (size_t i = 0; i < 19; i++)
            assert_memory_equal(out + i * bytes, &element, bytes);
        assert_int_equal(out[19 * bytes], 0x55);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_numbers_survive_all_pairs),
        cmocka_unit_test(floats_saturate),
        cmocka_unit_test(integers_keep_their_low_bits),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(any_byte_is_a_bool),
        cmocka_unit_test(repeat_fills_every_element),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}

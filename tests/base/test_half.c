/* SPDX-License-Identifier: Apache-2.0 */
/* The 16-bit formats: every f16 and bf16 value, and floats of all kinds, against a reference in double arithmetic. */
#include "support.h"

#include <math.h>

#include <mxc/half.h>

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* Value of a format with that many exponent and fraction bits, by the definition. */
static double value_of(unsigned bits, int exponent_bits, int fraction_bits) {
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & ((1u << fraction_bits) - 1)) / (double)(1u << fraction_bits);
    double sign = bits >> (exponent_bits + fraction_bits) & 1u ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias);
    return sign * ldexp(1 + fraction, exponent - bias);
}

/* Nearest pattern by bisection over the finite magnitudes; ties to the even one; past the middle to infinity. */
static unsigned nearest(float f, int exponent_bits, int fraction_bits) {
    unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits, low = 0, high = infinity;
    unsigned sign = signbit(f) ? 1u << (exponent_bits + fraction_bits) : 0;
    double x = fabs((double)f), top = ldexp(1, (1 << (exponent_bits - 1))), below, above;
    if (isinf(f))
        return sign | infinity;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (value_of(middle, exponent_bits, fraction_bits) <= x)
            low = middle;
        else
            high = middle;
    }
    below = value_of(low, exponent_bits, fraction_bits);
    above = high == infinity ? top : value_of(high, exponent_bits, fraction_bits);
    if (x - below < above - x || (x - below == above - x && low % 2 == 0))
        return sign | low;
    return sign | high;
}

static void every_f16_widens_exactly(void **state) {
    (void)state;
    for (unsigned b = 0; b < 65536; b++) {
        float f = mxc_f16_to_float((mxc_f16){(uint16_t)b});
        double expected = value_of(b, 5, 10);
        if (isnan(expected))
            assert_true(isnan(f));
        else
            assert_int_equal(bits_of(f), bits_of((float)expected));
    }
}

static void every_f16_comes_back(void **state) {
    (void)state;
    for (unsigned b = 0; b < 65536; b++) {
        float f = mxc_f16_to_float((mxc_f16){(uint16_t)b});
        unsigned back = mxc_float_to_f16(f).bits;
        if (isnan(f))
            assert_true((back & 0x7fff) > 0x7c00 && (back & 0x8000) == (b & 0x8000));
        else
            assert_int_equal(back, b);
    }
}

static void every_bf16_widens_and_comes_back(void **state) {
    (void)state;
    for (unsigned b = 0; b < 65536; b++) {
        float f = mxc_bf16_to_float((mxc_bf16){(uint16_t)b});
        unsigned back = mxc_float_to_bf16(f).bits;
        assert_int_equal(bits_of(f), b << 16);
        if (isnan(f))
            assert_true((back & 0x7fff) > 0x7f80);
        else
            assert_int_equal(back, b);
    }
}

static void check_rounding(uint32_t u) {
    float f = float_of(u);
    if (isnan(f)) {
        assert_true((mxc_float_to_f16(f).bits & 0x7fff) > 0x7c00);
        assert_true((mxc_float_to_bf16(f).bits & 0x7fff) > 0x7f80);
        return;
    }
    assert_int_equal(mxc_float_to_f16(f).bits, nearest(f, 5, 10));
    assert_int_equal(mxc_float_to_bf16(f).bits, nearest(f, 8, 7));
}

/* Floats in equal steps through all patterns, so every exponent and both signs come up. */
static void sampled_floats_round_to_nearest_even(void **state) {
    uint32_t step = TEST_SANITIZED ? 65521 : 6007;
    (void)state;
    for (uint64_t u = 0; u <= UINT32_MAX; u += step)
        check_rounding((uint32_t)u);
}

/* The middle between two neighbours, and a hair to either side of it, where rounding goes wrong first. */
static void middles_round_to_even(void **state) {
    (void)state;
    for (unsigned b = 0; b < 0x7c00; b++) {
        double above = b + 1 == 0x7c00 ? 65536.0 : value_of(b + 1, 5, 10);
        uint32_t middle = bits_of((float)((value_of(b, 5, 10) + above) / 2));
        for (int d = -1; d <= 1; d++)
            check_rounding(middle + (uint32_t)d);
    }
    for (uint32_t b = 0; b < 0x7f80; b++)
        for (int d = -1; d <= 1; d++)
            check_rounding((b << 16 | 0x8000u) + (uint32_t)d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_widens_exactly),
        cmocka_unit_test(every_f16_comes_back),
        cmocka_unit_test(every_bf16_widens_and_comes_back),
        cmocka_unit_test(sampled_floats_round_to_nearest_even),
        cmocka_unit_test(middles_round_to_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

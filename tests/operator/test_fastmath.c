/* SPDX-License-Identifier: Apache-2.0 */
/* The float functions of math/fastmath.h against libm in double, over a sample of all floats. */
#include "support.h"

#include <float.h>
#include <math.h>

#include "math/fastmath.h"

enum { STEP = 1021 }; /* of the bit patterns; odd, so that all mantissas get their turn */

static float exp_f32(float x) {
    return mxci_exp_f32(x);
}
static float log_f32(float x) {
    return mxci_log_f32(x);
}
static float log1p_f32(float x) {
    return mxci_log1p_f32(x);
}
static float tanh_f32(float x) {
    return mxci_tanh_f32(x);
}
static float sigmoid_f32(float x) {
    return mxci_sigmoid_f32(x);
}
static float softrelu_f32(float x) {
    return mxci_softrelu_f32(x);
}
static float erf_f32(float x) {
    return mxci_erf_f32(x);
}
static float normal_cdf_f32(float x) {
    return mxci_normal_cdf_f32(x);
}

static double exact_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double exact_softrelu(double x) {
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static double exact_normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}

/* Distance in units of the last place of the exact value, which floats round to infinity where they must. */
static double ulps(float found, double exact) {
    int exponent;
    if (isnan(exact) || isinf((float)exact) || exact == 0)
        return isnan(exact) ? !isnan(found) * 1e9 : found == (float)exact ? 0 : 1e9;
    frexp(exact, &exponent);
    return fabs((double)found - exact) / ldexp(1, exponent - FLT_MANT_DIG > -149 ? exponent - FLT_MANT_DIG : -149);
}

/* tiny: results below it may also be 0. */
static void check(const char *name, float (*fast)(float), double (*exact)(double), double limit, double tiny) {
    double most = 0;
    float worst = 0;
    for (uint32_t i = 0; i < (uint32_t)TEST_SCALE(UINT32_MAX / STEP); i++) {
        float x = mxci_bits_float(i * (TEST_SANITIZED ? 10 : 1) * STEP), found = fast(x);
        double value = exact((double)x), off = ulps(found, value);
        if (off > most && !(fabs(value) < tiny && found == 0)) {
            most = off;
            worst = x;
        }
    }
    if (most > limit)
        fail_msg("%s(%.9g): off by %g units of the last place, at most %g", name, (double)worst, most, limit);
}

static void is_near_libm(void **state) {
    (void)state;
    check("exp", exp_f32, exp, 2, 0);
    check("log", log_f32, log, 2, 0);
    check("log1p", log1p_f32, log1p, 2, 0);
    check("tanh", tanh_f32, tanh, 2, 0);
    check("sigmoid", sigmoid_f32, exact_sigmoid, 3, FLT_MIN);
    check("softrelu", softrelu_f32, exact_softrelu, 2, 0);
    check("erf", erf_f32, erf, 2, 0);
    check("normal_cdf", normal_cdf_f32, exact_normal_cdf, 9, FLT_MIN);
}

static void special_values_are_kept(void **state) {
    (void)state;
    assert_true(isnan(exp_f32(NAN)) && isnan(tanh_f32(NAN)) && isnan(sigmoid_f32(NAN)) && isnan(softrelu_f32(NAN)));
    assert_true(exp_f32(-INFINITY) == 0 && exp_f32(INFINITY) == INFINITY && exp_f32(0) == 1);
    assert_true(tanh_f32(INFINITY) == 1 && tanh_f32(-INFINITY) == -1 && signbit(tanh_f32(-0.0f)));
    assert_true(isnan(erf_f32(NAN)) && erf_f32(-INFINITY) == -1 && erf_f32(INFINITY) == 1 && signbit(erf_f32(-0.0f)));
    assert_true(isnan(normal_cdf_f32(NAN)) && normal_cdf_f32(-INFINITY) == 0 && normal_cdf_f32(INFINITY) == 1);
    assert_true(log_f32(0) == -INFINITY && isnan(log_f32(-1)) && log_f32(INFINITY) == INFINITY && log_f32(1) == 0);
    assert_true(signbit(log1p_f32(-0.0f)) && log1p_f32(-1) == -INFINITY && isnan(log1p_f32(-2)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_near_libm), cmocka_unit_test(special_values_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

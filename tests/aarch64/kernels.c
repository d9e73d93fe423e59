/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are written with vectors, compiled for another processor: products, reductions, conversions, softmax,
 * elementary functions and 8-bit products, against plain loops. Alone, since neither cmocka nor the libraries that
 * libmxc needs are there for that processor: run.sh links it with objects of kernels. Prints what differs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/types.h>

#include "math/gemm_kernels.h"
#include "math/reduce_kernels.h"
#include "operator/nn/softmax_kernels.h"
#include "operator/quantized/int8_kernels.h"
#include "simpleop/map_kernels.h"

static int failures, checks;

/* A tolerance of 0: equal. */
static void expect(const char *what, int64_t n, double found, double wanted, double tolerance) {
    checks++;
    if (!(fabs(found - wanted) <= tolerance * (1 + fabs(wanted)))) {
        printf("%s of %lld: found %.9g, expected %.9g\n", what, (long long)n, found, wanted);
        failures++;
    }
}

/* The one function beside kernels that these call. */
size_t mxc_dtype_size(mxc_dtype dtype) {
    return dtype == MXC_F64 || dtype == MXC_I64 ? 8 : dtype == MXC_F32 || dtype == MXC_I32 ? 4 : 2;
}

static double number(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

/* C = 0.5 + A B; transposed: A and B are stored by columns. */
#define CHECK_PRODUCT(T, suffix, tolerance)                                                              \
    static void check_product_##suffix(int m, int n, int k, int transposed) {                            \
        T *a = calloc((size_t)(m * k) + 1, sizeof(T)), *b = calloc((size_t)(k * n) + 1, sizeof(T));      \
        T *c = calloc((size_t)(m * n) + 1, sizeof(T)), half = 0.5f;                                      \
        uint32_t seed = 7;                                                                               \
        mxci_product g = {.m = m, .n = n, .k = k, .a = a, .b = b, .c = c, .c_row = n, .start = &half};   \
        g.a_row = transposed ? 1 : k, g.a_step = transposed ? m : 1;                                     \
        g.b_row = transposed ? 1 : n, g.b_col = transposed ? k : 1;                                      \
        for (int i = 0; i < m * k; i++)                                                                  \
            a[i] = (T)number(&seed);                                                                     \
        for (int i = 0; i < k * n; i++)                                                                  \
            b[i] = (T)number(&seed);                                                                     \
        mxci_product_run_##suffix(&g);                                                                   \
        for (int i = 0; i < m; i++)                                                                      \
            for (int j = 0; j < n; j++) {                                                                \
                double sum = 0.5;                                                                        \
                for (int p = 0; p < k; p++)                                                              \
                    sum += (double)a[i * g.a_row + p * g.a_step] * (double)b[p * g.b_row + j * g.b_col]; \
                expect("product " #suffix, k, (double)c[i * n + j], sum, tolerance);                     \
            }                                                                                            \
        free(a), free(b), free(c);                                                                       \
    }
CHECK_PRODUCT(float, f32, 1e-4)
CHECK_PRODUCT(double, f64, 1e-12)

static void check_reductions(int64_t n) {
    float *x = malloc(sizeof(float) * (size_t)n);
    double sum = 0, most = -INFINITY, found;
    uint32_t seed = 3;
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)number(&seed);
        sum += (double)x[i];
        most = fmax(most, (double)x[i]);
    }
    found = 0;
    mxci_reduce_kernels[MXCI_REDUCE_sum][MXC_F32].along(n, 1, n, x, &found);
    expect("sum", n, found, sum, 1e-12);
    found = -INFINITY;
    mxci_reduce_kernels[MXCI_REDUCE_max][MXC_F32].along(n, 1, n, x, &found);
    expect("max", n, found, most, 0);
    free(x);
}

static void check_functions(int64_t n) {
    float *x = malloc(sizeof(float) * (size_t)n), *y = malloc(sizeof(float) * (size_t)n);
    const mxci_softmax_shape shape = {.k = n, .inner = 1, .scale = 1};
    const void *in[1];
    double sum = 0;
    uint32_t seed = 5;
    in[0] = x;
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(4 * number(&seed));
        sum += exp((double)x[i]);
    }
    mxci_softmax_forward[MXC_F32](&shape, 0, x, y, 0, 1);
    for (int64_t i = 0; i < n; i++)
        expect("softmax", n, (double)y[i], exp((double)x[i]) / sum, 1e-6);
    mxci_unary_kernels[MXCI_UNARY_tanh].forward[MXC_F32](n, in, y);
    for (int64_t i = 0; i < n; i++)
        expect("tanh", n, (double)y[i], tanh((double)x[i]), 1e-6);
    free(x), free(y);
}

/* Through f16 and bf16 and back: within half of their last bit. */
static void check_conversions(int64_t n) {
    float *x = malloc(sizeof(float) * (size_t)n), *back = malloc(sizeof(float) * (size_t)n);
    uint16_t *narrow = malloc(sizeof(uint16_t) * (size_t)n);
    uint32_t seed = 9;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(100 * number(&seed));
    for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
        const mxc_dtype dtype = is_bf16 ? MXC_BF16 : MXC_F16;
        mxci_convert(MXC_F32, x, dtype, narrow, n);
        mxci_convert(dtype, narrow, MXC_F32, back, n);
        for (int64_t i = 0; i < n; i++)
            expect("conversion", n, (double)back[i], (double)x[i], is_bf16 ? 1.0 / 256 : 1.0 / 2048);
    }
    free(x), free(back), free(narrow);
}

static void check_int8(int64_t m, int64_t n, int64_t k) {
    const int64_t row = MXCI_INT8_ROW(k);
    int16_t *a = aligned_alloc(64, (size_t)((m * row * 2 + 63) / 64 * 64));
    int16_t *b = aligned_alloc(64, (size_t)((n * row * 2 + 63) / 64 * 64));
    int8_t *bytes = malloc((size_t)((m + n) * k));
    int32_t *out = calloc((size_t)(m * n), sizeof(int32_t));
    uint32_t seed = 11;
    const mxci_int8_product p = {.m = m, .n = n, .k = row, .a = a, .b = b, .out = out, .step = n};
    for (int64_t i = 0; i < (m + n) * k; i++)
        bytes[i] = (int8_t)(127 * number(&seed));
    mxci_int8_widen(0, bytes, m, k, row, a);
    mxci_int8_widen(0, bytes + m * k, n, k, row, b);
    mxci_int8_multiply(&p);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            int32_t sum = 0;
            for (int64_t q = 0; q < k; q++)
                sum += bytes[i * k + q] * bytes[(m + j) * k + q];
            expect("8-bit product", k, out[i * n + j], sum, 0);
        }
    free(a), free(b), free(bytes), free(out);
}

int main(void) {
    static const int sizes[][3] = {{1, 1, 1},     {5, 7, 3},     {6, 8, 16}, {13, 33, 40},
                                   {30, 17, 600}, {4, 70, 1030}, {3, 5, 0}};
    static const int64_t lengths[] = {1, 2, 3, 7, 16, 31, 64, 129, 1031};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            check_product_f32(sizes[i][0], sizes[i][1], sizes[i][2], transposed);
            check_product_f64(sizes[i][0], sizes[i][1], sizes[i][2], transposed);
        }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_reductions(lengths[i]);
        check_functions(lengths[i]);
        check_conversions(lengths[i]);
        check_int8(5, 9, lengths[i]);
    }
    printf("%d checks, %d failures\n", checks, failures);
    return failures > 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of all storage orders, starts and sizes against sums in double, with one thread and with several. */
#include "support.h"

#include <math.h>

#include <mxc/engine.h>

#include "math/gemm.h"

enum { MOST = 70, ELEMENTS = 3 * (MOST + 4) * 600 };

static float a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], one[ELEMENTS], start[ELEMENTS], bias[MOST];

static uint32_t state_of_random = 5;

static float next(void) {
    state_of_random = state_of_random * 1664525u + 1013904223u;
    return (float)(int32_t)state_of_random * 0x1p-31f;
}

static int below(int n) {
    return (int)(((uint64_t)(state_of_random = state_of_random * 1664525u + 1013904223u) * (uint64_t)n) >> 32);
}

static double element(const mxci_gemm_args *g, int64_t index, int64_t i, int64_t j) {
    double sum = g->beta != 0 ? start[index * g->c_stride + i * g->ldc + j] : g->bias ? bias[j] : 0;
    for (int64_t p = 0; p < g->k; p++) {
        const float x = a[index * g->a_stride + (g->transpose_a ? p * g->lda + i : i * g->lda + p)];
        const float y = b[index * g->b_stride + (g->transpose_b ? j * g->ldb + p : p * g->ldb + j)];
        sum += (double)x * y;
    }
    return sum;
}

static mxc_status run_gemm(const mxc_run *run, void *arg) {
    mxci_gemm(run, arg, NULL);
    return MXC_OK;
}

static void run_on(mxc_engine *engine, mxci_gemm_args *g) {
    mxc_task task = MXC_TASK_INIT;
    task.fn = run_gemm;
    task.arg = g;
    memcpy(g->c, start, sizeof c);
    assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
    assert_ok(mxc_wait_all(engine));
}

/* m is small in half of the products, whose rows then go by dot products where B is stored by columns. */
static mxci_gemm_args random_product(void) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.m = 1 + below(below(2) ? 6 : MOST);
    g.n = 1 + below(MOST);
    g.k = 1 + below(below(2) ? 40 : 600);
    g.dtype = MXC_F32;
    g.batch = 1 + below(3);
    g.transpose_a = below(4) == 0;
    g.transpose_b = below(2);
    g.beta = below(3) == 0;
    g.bias = g.beta == 0 && below(2) ? bias : NULL;
    g.lda = g.transpose_a ? g.m : g.k;
    g.ldb = g.transpose_b ? g.k : g.n;
    g.ldc = g.n;
    g.a_stride = g.m * g.k;
    g.b_stride = g.k * g.n;
    g.c_stride = g.m * g.n;
    g.a = a;
    g.b = b;
    return g;
}

static mxc_engine *engine_of(int parallelism) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.workers = 2;
    options.parallelism = parallelism;
    assert_ok(mxc_engine_create(&options, &engine));
    return engine;
}

static void test_products(void **state) {
    mxc_engine *alone = engine_of(1), *shared = engine_of(4);
    (void)state;
    for (int i = 0; i < ELEMENTS; i++) {
        a[i] = next();
        b[i] = next();
        start[i] = next();
    }
    for (int i = 0; i < MOST; i++)
        bias[i] = next();
    for (int n = 0; n < TEST_SCALE(400); n++) {
        mxci_gemm_args g = random_product();
        g.c = one;
        run_on(alone, &g);
        g.c = c;
        run_on(shared, &g);
        assert_memory_equal(c, one, sizeof c);
        for (int64_t index = 0; index < g.batch; index++) {
            for (int64_t i = 0; i < g.m; i++) {
                for (int64_t j = 0; j < g.n; j++) {
                    const double expected = element(&g, index, i, j), got = c[index * g.c_stride + i * g.ldc + j];
                    assert_true(fabs(got - expected) <= 4e-6 * (8 + sqrt((double)g.k)));
                }
            }
        }
        for (int64_t i = g.batch * g.c_stride; i < ELEMENTS; i++)
            assert_true(c[i] == start[i]);
    }
    mxc_engine_destroy(alone);
    mxc_engine_destroy(shared);
}

static mxc_status pack_and_run(const mxc_run *run, void *arg) {
    mxci_gemm_args *g = arg;
    mxci_gemm_pack(run, g, (void *)g->packed);
    mxci_gemm(run, g, NULL);
    return MXC_OK;
}

/* A product by a packed matrix is that by the matrix, but for dot products, which sum in another order. */
static void test_packed(void **state) {
    static float packed[2 * ELEMENTS];
    mxc_engine *shared = engine_of(4);
    (void)state;
    for (int n = 0; n < TEST_SCALE(200); n++) {
        mxci_gemm_args g = random_product();
        mxc_task task = MXC_TASK_INIT;
        const size_t bytes = mxci_gemm_packed_bytes(MXC_F32, g.n, g.k);
        g.batch = 1;
        g.m += 4;
        g.lda = g.transpose_a ? g.m : g.k;
        assert_in_range(bytes, sizeof(float) * (size_t)(g.n * g.k), sizeof packed);
        g.c = one;
        run_on(shared, &g);
        memcpy(c, start, sizeof c);
        g.c = c;
        g.packed = packed;
        task.fn = pack_and_run;
        task.arg = &g;
        assert_ok(mxc_engine_push(shared, &task, 0, NULL, 0, NULL, 0));
        assert_ok(mxc_wait_all(shared));
        assert_memory_equal(c, one, sizeof c);
    }
    mxc_engine_destroy(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

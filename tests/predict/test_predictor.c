/* SPDX-License-Identifier: Apache-2.0 */
/* Running, cloning and reshaping predictors: on 16 threads at once, and with each allocation failing in turn. On the
 * context that the first argument names; default cpu(0). */
#include <stdatomic.h>

#include <mxc/op.h>
#include <mxc/storage.h>

#include "base/sys.h"
#include "predict/saved.h"

enum { THREADS = 16 };

static saved net;
static mxc_context where = {MXC_CPU, 0};
static double tolerance; /* 0: the same bits as an executor on cpu(0) */

static int set_up(void **state) {
    (void)state;
    saved_open(&net);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    saved_close(&net);
    return 0;
}

static mxc_predictor *make(int64_t batch) {
    const mxc_data_desc input = saved_input(batch);
    mxc_predictor_options options;
    mxc_predictor *p;
    mxc_predictor_options_init(&options, sizeof options);
    options.context = where;
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 1, &input, &options, &p));
    return p;
}

static void test_same_bits_as_an_executor(void **state) {
    (void)state;
    for (int64_t batch = 1; batch <= 3; batch++) {
        float *data = saved_data(batch, 1), *answer = saved_answer(&net, batch, data);
        mxc_predictor *p = make(batch);
        saved_check(p, data, batch, answer, tolerance);
        saved_check(p, data, batch, answer, tolerance);
        mxc_predictor_destroy(p);
        free(answer);
        free(data);
    }
}

/* Parameters of the right dtype and context are those of the list, in clones too. */
static void test_shares_parameters(void **state) {
    mxc_predictor *p = make(1), *clone;
    mxc_ndarray *weight = mxc_ndarray_list_find(&net.params, "arg:fc_weight");
    (void)state;
    assert_ok(mxc_predictor_clone(p, &clone));
    assert_non_null(weight);
    if (where.device != MXC_CPU) /* a copy, which both share */
        weight = mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight");
    assert_ptr_equal(mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight"), weight);
    assert_ptr_equal(mxc_executor_find_arg(mxc_predictor_executor(clone), "fc_weight"), weight);
    assert_ptr_not_equal(mxc_predictor_input(p, 0), mxc_predictor_input(clone, 0));
    assert_ptr_not_equal(mxc_predictor_output(p, 0), mxc_predictor_output(clone, 0));
    assert_ptr_not_equal(mxc_executor_aux(mxc_predictor_executor(p), 0),
                         mxc_executor_aux(mxc_predictor_executor(clone), 0));
    mxc_predictor_destroy(p);
    mxc_predictor_destroy(clone);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

typedef struct server {
    const mxc_predictor *source; /* cloned by the thread */
    mxc_predictor *predictor;
    float *data, *answer;
    int wrong;
    mxc_status status;
} server;

static mxc_status serve(server *s) {
    float found[SAVED_CLASSES];
    if (s->source)
        MXC_TRY(mxc_predictor_clone(s->source, &s->predictor));
    for (int i = 0; i < TEST_SCALE(50); i++) {
        MXC_TRY(mxc_predictor_set_input_at(s->predictor, 0, s->data, SAVED_SIZE * sizeof(float)));
        MXC_TRY(mxc_predictor_forward(s->predictor));
        MXC_TRY(mxc_predictor_get_output(s->predictor, "softmax", found, sizeof found));
        s->wrong += memcmp(found, s->answer, sizeof found) != 0;
    }
    return MXC_OK;
}

static void serve_thread(void *arg) {
    server *s = arg;
    s->status = serve(s);
}

/* What one predictor gives while no other runs; free() it. */
static float *run_alone(mxc_predictor *p, const float *data) {
    float *answer = saved_answer(&net, 1, data);
    saved_check(p, data, 1, answer, tolerance);
    assert_ok(mxc_predictor_get_output_at(p, 0, answer, SAVED_CLASSES * sizeof *answer));
    return answer;
}

/* Each thread has inputs of its own. inside: the threads make the clones. */
static void serve_on_threads(int inside) {
    mxc_predictor *p = make(1);
    server servers[THREADS];
    mxci_thread threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        servers[i] = (server){.data = saved_data(1, (uint32_t)i)};
        servers[i].answer = run_alone(p, servers[i].data);
        if (inside)
            servers[i].source = p;
        else
            assert_ok(mxc_predictor_clone(p, &servers[i].predictor));
    }
    if (!inside) /* the clones do not need it */
        mxc_predictor_destroy(p);
    for (int i = 0; i < THREADS; i++)
        assert_ok(mxci_thread_start(&threads[i], "server", serve_thread, &servers[i]));
    for (int i = 0; i < THREADS; i++)
        mxci_thread_join(threads[i]);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(servers[i].status, MXC_OK);
        assert_int_equal(servers[i].wrong, 0);
        mxc_predictor_destroy(servers[i].predictor);
        free(servers[i].data);
        free(servers[i].answer);
    }
    if (inside)
        mxc_predictor_destroy(p);
}

static void test_clones_on_16_threads(void **state) {
    (void)state;
    serve_on_threads(0);
    serve_on_threads(1);
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

enum { WIDE = 512 }; /* the weight has this many columns and rows */

static atomic_int runs;

static mxc_status count_forward(const mxc_op_call *call) {
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    atomic_fetch_add(&runs, 1);
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        y[i] = 2 * x[i];
    return MXC_OK;
}

static const mxc_op_def counted = {
    .size = sizeof(mxc_op_def),
    .name = "predictor_counted",
    .doc = "y = 2 x",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = 1u << MXC_F32,
    .forward = MXC_ON_CPU(count_forward),
};

/* FullyConnected(data, counted(w)) of rows of WIDE numbers, all ones. */
static mxc_predictor *make_counted(int releases) {
    static const char *const keys[] = {"num_hidden", "no_bias"}, *const values[] = {"512", "1"};
    static char name[] = "w", *names[] = {name};
    const int64_t dims[] = {WIDE, WIDE};
    const mxc_data_desc input = {"data", {2, {1, WIDE}}, MXC_F32};
    mxc_symbol *in[2], *w, *s;
    mxc_ndarray_list params = {.n = 1, .names = names};
    mxc_ndarray *array;
    mxc_predictor_options options;
    mxc_predictor *p;
    mxc_predictor_options_init(&options, sizeof options);
    options.context = where;
    options.release_params = releases;
    assert_ok(mxc_symbol_variable("data", &in[0]));
    assert_ok(mxc_symbol_variable("w", &w));
    assert_ok(mxc_symbol_op("predictor_counted", "t", 0, NULL, NULL, 1, NULL, &w, &in[1]));
    assert_ok(mxc_symbol_op("FullyConnected", "fc", 2, keys, values, 2, NULL, in, &s));
    assert_ok(mxc_ndarray_create(2, dims, MXC_F32, where, &array));
    assert_ok(mxc_ndarray_fill(array, 1));
    params.arrays = &array;
    assert_ok(mxc_predictor_create(s, &params, 1, &input, &options, &p));
    mxc_ndarray_release(array);
    mxc_symbol_release(s);
    mxc_symbol_release(w);
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    return p;
}

static void check_counted(mxc_predictor *p, int64_t rows) {
    float *data = malloc((size_t)rows * WIDE * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < rows * WIDE; i++)
        data[i] = 1;
    assert_ok(mxc_predictor_set_input_at(p, 0, data, (size_t)rows * WIDE * sizeof *data));
    assert_ok(mxc_predictor_forward(p));
    assert_ok(mxc_predictor_get_output_at(p, 0, data, (size_t)rows * WIDE * sizeof *data));
    for (int64_t i = 0; i < rows * WIDE; i++)
        assert_true(data[i] == 2 * WIDE);
    free(data);
}

typedef struct cloning {
    const mxc_predictor *source;
    mxc_predictor *clone;
    mxc_status status;
} cloning;

static void clone_thread(void *arg) {
    cloning *c = arg;
    c->status = mxc_predictor_clone(c->source, &c->clone);
}

static int64_t bytes_in_use(void) {
    mxc_storage_stats stats;
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    assert_ok(mxc_wait_all(engine));
    assert_ok(mxc_storage_get_stats(where, &stats));
    return stats.bytes_in_use;
}

/* What follows from parameters alone is computed once for a predictor, its clones on 16 threads, and after reshape, and
 * takes memory once. */
static void test_constants_are_shared(void **state) {
    const mxc_shape three = {2, {3, WIDE}};
    const int64_t before = bytes_in_use(), weight = WIDE * WIDE * (int64_t)sizeof(float);
    mxc_predictor *p;
    cloning clonings[THREADS];
    mxci_thread threads[THREADS];
    (void)state;
    assert_ok(mxc_op_register(&counted));
    p = make_counted(0);
    assert_true(bytes_in_use() - before < 3 * weight); /* the parameter and the constant */
    for (int i = 0; i < THREADS; i++) {
        clonings[i] = (cloning){.source = p};
        assert_ok(mxci_thread_start(&threads[i], "cloning", clone_thread, &clonings[i]));
    }
    for (int i = 0; i < THREADS; i++)
        mxci_thread_join(threads[i]);
    assert_true(bytes_in_use() - before < 3 * weight);
    mxc_predictor_destroy(p);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(clonings[i].status, MXC_OK);
        check_counted(clonings[i].clone, 1);
        assert_ok(mxc_predictor_reshape(clonings[i].clone, 1, (const char *const[]){"data"}, &three));
        check_counted(clonings[i].clone, 3);
    }
    assert_int_equal(atomic_load(&runs), 1);
    for (int i = 0; i < THREADS; i++)
        mxc_predictor_destroy(clonings[i].clone);
    assert_true(bytes_in_use() - before < weight);
}

static void ignore(const char *name, mxc_ndarray *array, void *user) {
    (void)name, (void)array, (void)user;
}

/* Without the parameter, clones and other batches have what they need, whoever is destroyed; monitors do not. */
static void test_released_parameters(void **state) {
    const mxc_shape three = {2, {3, WIDE}};
    const int64_t before = bytes_in_use(), weight = WIDE * WIDE * (int64_t)sizeof(float);
    mxc_predictor *p = make_counted(1), *clone;
    mxc_memory_report report;
    int64_t left;
    (void)state;
    atomic_store(&runs, 0);
    assert_true(bytes_in_use() - before < 2 * weight);
    assert_null(mxc_executor_arg(mxc_predictor_executor(p), 1));
    assert_null(mxc_executor_find_arg(mxc_predictor_executor(p), "w"));
    assert_non_null(mxc_executor_find_arg(mxc_predictor_executor(p), "data"));
    assert_ok(mxc_executor_get_report(mxc_predictor_executor(p), &report));
    assert_int_equal(report.constants, weight);
    assert_int_equal(report.arguments, WIDE * (int)sizeof(float));
    check_counted(p, 1);
    assert_ok(mxc_predictor_clone(p, &clone));
    assert_fails(mxc_executor_set_monitor(mxc_predictor_executor(p), ignore, NULL), MXC_ESTATE, "the values of w");
    assert_fails(mxc_executor_partial_forward(mxc_predictor_executor(p), 0, 0, &left), MXC_ESTATE, "the values of w");
    assert_fails(mxc_executor_forward(mxc_predictor_executor(p), 1), MXC_ESTATE, "the values of w");
    check_counted(p, 1); /* as before */
    mxc_predictor_destroy(p);
    check_counted(clone, 1);
    assert_ok(mxc_predictor_reshape(clone, 1, (const char *const[]){"data"}, &three));
    check_counted(clone, 3);
    assert_true(bytes_in_use() - before < 2 * weight);
    assert_int_equal(atomic_load(&runs), 0);
    mxc_predictor_destroy(clone);
    assert_true(bytes_in_use() - before < weight);
}

/* What runs read stays. */
static void test_parameters_that_stay(void **state) {
    float *data = saved_data(1, 3), *answer = saved_answer(&net, 1, data);
    const mxc_data_desc input = saved_input(1);
    const mxc_executor *e;
    mxc_predictor_options options;
    mxc_predictor *p;
    (void)state;
    mxc_predictor_options_init(&options, sizeof options);
    options.context = where;
    options.release_params = 1;
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 1, &input, &options, &p));
    e = mxc_predictor_executor(p);
    assert_null(mxc_executor_find_arg(e, "conv_weight"));
    assert_null(mxc_executor_find_arg(e, "bn_gamma"));
    assert_non_null(mxc_executor_find_arg(e, "fc_weight"));
    assert_non_null(mxc_executor_find_arg(e, "data"));
    saved_check(p, data, 1, answer, tolerance);
    mxc_predictor_destroy(p);
    free(data);
    free(answer);
}

/* ---- reshape ----------------------------------------------------------------------------------------------------- */

static const char *const data_name[] = {"data"};

static void test_reshape_back_and_forth(void **state) {
    static const int64_t batches[] = {1, 4, 2, 7, 1, 4};
    mxc_predictor *p = make(2), *clone;
    mxc_ndarray *weight = mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight");
    (void)state;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const mxc_shape shape = saved_input(batches[i]).shape;
        float *data = saved_data(batches[i], 5), *answer = saved_answer(&net, batches[i], data);
        assert_ok(mxc_predictor_reshape(p, 1, data_name, &shape));
        assert_true(mxc_shape_equal(mxc_ndarray_shape(mxc_predictor_input(p, 0)), &shape));
        assert_int_equal(mxc_ndarray_shape(mxc_predictor_output(p, 0))->dim[0], batches[i]);
        saved_check(p, data, batches[i], answer, tolerance);
        assert_ok(mxc_predictor_clone(p, &clone)); /* has the new shape */
        saved_check(clone, data, batches[i], answer, tolerance);
        mxc_predictor_destroy(clone);
        assert_ptr_equal(mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight"), weight);
        free(data);
        free(answer);
    }
    mxc_predictor_destroy(p);
}

static void test_reshape_keeps_values_of_the_same_shape(void **state) {
    mxc_predictor *p = make(1);
    const mxc_shape same = saved_input(1).shape, other = saved_input(2).shape;
    float *data = saved_data(1, 3), found[2 * SAVED_SIZE];
    (void)state;
    assert_ok(mxc_predictor_set_input(p, "data", data, SAVED_SIZE * sizeof *data));
    assert_ok(mxc_predictor_reshape(p, 1, data_name, &same));
    assert_ok(mxc_predictor_reshape(p, 0, NULL, NULL));
    assert_ok(mxc_ndarray_get(mxc_predictor_input(p, 0), found, SAVED_SIZE * sizeof *found));
    assert_memory_equal(found, data, SAVED_SIZE * sizeof *found);
    assert_ok(mxc_predictor_reshape(p, 1, data_name, &other));
    assert_ok(mxc_ndarray_get(mxc_predictor_input(p, 0), found, sizeof found));
    for (int i = 0; i < 2 * SAVED_SIZE; i++)
        assert_true(found[i] == 0);
    mxc_predictor_destroy(p);
    free(data);
}

/* A failure leaves the predictor as it was. */
static void test_reshape_refusals(void **state) {
    float *data = saved_data(1, 3), *answer = saved_answer(&net, 1, data);
    mxc_predictor *p = make(1);
    const mxc_shape good = saved_input(2).shape, wide = {4, {1, 2, 7, 7}}, huge = {4, {INT64_MAX / 100, 2, 6, 6}};
    const mxc_shape negative = {4, {-5, 2, 6, 6}}, ranks = {9, {1}}, large = {4, {(int64_t)1 << 50, 2, 6, 6}};
    const char *absent[] = {"image"}, *null[] = {NULL};
    (void)state;
    assert_fails(mxc_predictor_reshape(p, 1, absent, &good), MXC_ENOTFOUND, "\"image\"; there are: data");
    assert_fails(mxc_predictor_reshape(p, 1, null, &good), MXC_ENOTFOUND, "input");
    assert_fails(mxc_predictor_reshape(p, 1, data_name, &wide), MXC_ESHAPE, "fc");
    assert_fails(mxc_predictor_reshape(p, 1, data_name, &huge), MXC_EINVAL, "data");
    assert_fails(mxc_predictor_reshape(p, 1, data_name, &negative), MXC_EINVAL, "data");
    assert_fails(mxc_predictor_reshape(p, 1, data_name, &ranks), MXC_EINVAL, "data");
    assert_int_not_equal(mxc_predictor_reshape(p, 1, data_name, &large), MXC_OK);
    saved_check(p, data, 1, answer, tolerance);
    mxc_predictor_destroy(p);
    free(data);
    free(answer);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static mxc_status live_a_life(const float *data, int releases) {
    const mxc_data_desc input = saved_input(1);
    const mxc_shape shape = saved_input(2).shape;
    const char *outputs[] = {"relu", "softmax"};
    mxc_predictor_options options;
    mxc_predictor *p = NULL, *clone = NULL;
    float found[2 * SAVED_CLASSES];
    mxc_predictor_options_init(&options, sizeof options);
    options.n_outputs = 2;
    options.outputs = outputs;
    options.fold_norms = !releases;
    options.dtype = releases ? MXC_F32 : MXC_BF16;
    options.release_params = releases;
    mxc_status status = mxc_predictor_load(net.prefix, -1, 1, &input, &options, &p);
    if (status == MXC_OK)
        status = mxc_predictor_set_input(p, "data", data, SAVED_SIZE * sizeof *data);
    if (status == MXC_OK)
        status = mxc_predictor_clone(p, &clone);
    if (status == MXC_OK)
        status = mxc_predictor_reshape(p, 1, data_name, &shape);
    if (status == MXC_OK)
        status = mxc_predictor_forward(p);
    if (status == MXC_OK)
        status = mxc_predictor_get_output(p, "softmax", found, sizeof found);
    mxc_predictor_destroy(clone);
    mxc_predictor_destroy(p);
    return status;
}

static void fail_each(int releases) {
    float *data = saved_data(1, 9);
    assert_ok(live_a_life(data, releases)); /* what the process allocates once */
    int64_t n = mxci_alloc_count(), failed = 0;
    assert_ok(live_a_life(data, releases));
    n = mxci_alloc_count() - n;
    const int64_t alive = saved_live_blocks();
    for (int64_t i = 1; i <= n; i += TEST_SANITIZED ? 17 : 1) {
        mxci_test_fail_alloc(i, 0);
        const mxc_status status = live_a_life(data, releases);
        mxci_test_fail_alloc(0, 0);
        failed += status != MXC_OK;
        if (status != MXC_OK && status != MXC_ENOMEM)
            fail_msg("allocation %lld: %s: %s", (long long)i, mxc_status_name(status), mxc_last_error());
        assert_true(saved_live_blocks() <= alive + 64); /* free lists keep some blocks */
    }
    assert_true(failed > n / (TEST_SANITIZED ? 40 : 2));
    assert_ok(live_a_life(data, releases));
    assert_true(saved_live_blocks() <= alive + 8);
    free(data);
}

static void test_out_of_memory(void **state) {
    (void)state;
    if (where.device != MXC_CPU)
        skip();
    fail_each(0);
    fail_each(1);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_as_an_executor), cmocka_unit_test(test_shares_parameters),
        cmocka_unit_test(test_clones_on_16_threads),     cmocka_unit_test(test_constants_are_shared),
        cmocka_unit_test(test_released_parameters),      cmocka_unit_test(test_parameters_that_stay),
        cmocka_unit_test(test_reshape_back_and_forth),   cmocka_unit_test(test_reshape_keeps_values_of_the_same_shape),
        cmocka_unit_test(test_reshape_refusals),         cmocka_unit_test(test_out_of_memory),
    };
    if (argc > 1) {
        if (mxc_context_parse(argv[1], &where) != MXC_OK)
            return 1;
        tolerance = 1e-5;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

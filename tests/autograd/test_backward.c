/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of recorded calls: requests, heads, retained graphs, memory, failures. */
#include <mxc/engine.h>
#include <mxc/storage.h>

#include "alive.h"
#include "autograd/arrays.h"

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The gradient of x^2, for each request, twice. */
static void requests_are_honoured(void **state) {
    static const mxc_req reqs[] = {MXC_REQ_WRITE, MXC_REQ_ADD, MXC_REQ_NULL};
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_ndarray *x = vector(3, 1, 1), *other = variable(3, 0, 0, MXC_REQ_WRITE), *grad = vector(3, 10, 0);
        assert_ok(mxc_autograd_attach(x, reqs[i], grad));
        for (int round = 1; round <= 2; round++) {
            const int scope = mxc_autograd_record(1);
            mxc_ndarray *squared = unary("square", x), *y = binary("elemwise_add", squared, other);
            mxc_autograd_leave(scope);
            assert_ok(backward(y));
            const double start = reqs[i] == MXC_REQ_WRITE ? 0 : 10, times = reqs[i] == MXC_REQ_ADD    ? round
                                                                            : reqs[i] == MXC_REQ_NULL ? 0
                                                                                                      : 1;
            assert_values(grad, start + 2 * times, 2 * times); /* the memory is shared */
            assert_values(mxc_autograd_grad(x), start + 2 * times, 2 * times);
            assert_values(mxc_autograd_grad(other), 1, 0);
            release_all(2, (mxc_ndarray *[]){squared, y});
        }
        release_all(3, (mxc_ndarray *[]){x, other, grad});
    }
}

/* Sums: of a value with itself, of three uses, of heads with gradients, and of a head that others read. */
static void terms_are_summed(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *seven = vector(3, 7, 0);
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *product = binary("elemwise_mul", x, x), *cubed = binary("elemwise_mul", product, x);
    mxc_autograd_leave(scope);
    mxc_ndarray *heads[] = {cubed, product, x, product}, *grads[] = {NULL, seven, seven, NULL};
    assert_ok(mxc_autograd_backward(4, heads, grads, NULL));
    const float *grad = values_of(mxc_autograd_grad(x));
    for (int i = 0; i < 3; i++) {
        const int v = i + 1;
        assert_true(grad[i] == (float)(3 * v * v + 8 * 2 * v + 7));
    }
    release_all(4, (mxc_ndarray *[]){x, seven, product, cubed});
}

/* Variables that gradients do not reach are set to zero, unless they would be added to. */
static void gradients_may_be_zero(void **state) {
    mxc_ndarray *x = vector(3, 1, 1), *y = vector(3, 1, 1), *gx = vector(3, 5, 0), *gy = vector(3, 5, 0);
    (void)state;
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, gx));
    assert_ok(mxc_autograd_attach(y, MXC_REQ_ADD, gy));
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *sum = binary("elemwise_add", x, y), *stopped = unary("BlockGrad", sum);
    mxc_autograd_leave(scope);
    assert_ok(backward(stopped));
    assert_values(gx, 0, 0);
    assert_values(gy, 5, 0);
    release_all(6, (mxc_ndarray *[]){x, y, gx, gy, sum, stopped});
}

/* A loss reads no head gradient, and starts by itself. */
static void losses_start_by_themselves(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *label = vector(3, 0, 0), *ignored = vector(3, 100, 0);
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *loss = binary("LinearRegressionOutput", x, label);
    mxc_autograd_leave(scope);
    assert_ok(mxc_autograd_backward(1, &loss, &ignored, NULL));
    assert_values(mxc_autograd_grad(x), 1, 1);
    release_all(4, (mxc_ndarray *[]){x, label, ignored, loss});
}

/* As new arrays, of variables and of results; attached gradients stay. */
static void gradients_of_given_arrays(void **state) {
    mxc_ndarray *x = vector(3, 1, 1), *gx = vector(3, 5, 0), *c = vector(3, 2, 0), *out[4];
    mxc_backward_options options = MXC_BACKWARD_OPTIONS_INIT;
    (void)state;
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, gx));
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *squared = unary("square", x), *y = binary("elemwise_mul", squared, c);
    mxc_ndarray *unrelated = unary("square", x);
    mxc_autograd_leave(scope);
    mxc_ndarray *of[] = {x, squared, y, x};
    options.retain_graph = 1;
    for (int i = 0; i < 2; i++) {
        assert_ok(mxc_autograd_gradients(1, &y, NULL, 4, of, &options, out));
        assert_values(out[0], 4, 4);
        assert_values(out[1], 2, 0);
        assert_values(out[2], 1, 0);
        assert_values(out[3], 4, 4);
        release_all(4, out);
        options.retain_graph = 0;
    }
    assert_values(gx, 5, 0);
    assert_false(mxc_autograd_is_fresh(x));
    const int again = mxc_autograd_record(1);
    mxc_ndarray *z = unary("square", x);
    mxc_autograd_leave(again);
    assert_fails(mxc_autograd_gradients(1, &z, NULL, 1, &unrelated, NULL, out), MXC_ESTATE,
                 "do not depend on variables[0]");
    assert_null(out[0]);
    release_all(7, (mxc_ndarray *[]){x, gx, c, squared, y, unrelated, z});
}

/* The dropped elements of a call in inference are none, also if backward comes in training. */
static void backward_behaves_as_the_call(void **state) {
    const char *key = "p", *value = "0.5";
    mxc_ndarray *x = variable(64, 1, 0, MXC_REQ_WRITE), *y;
    (void)state;
    for (int is_train = 0; is_train < 2; is_train++) {
        int scope = mxc_autograd_record(is_train);
        assert_ok(mxc_invoke("Dropout", 1, &x, 1, &key, &value, 1, &y));
        mxc_autograd_leave(scope);
        scope = mxc_autograd_pause(!is_train);
        assert_ok(backward(y));
        mxc_autograd_leave(scope);
        float grad[64];
        assert_ok(mxc_ndarray_get(mxc_autograd_grad(x), grad, sizeof grad));
        assert_memory_equal(grad, values_of(y), sizeof grad); /* of ones: the mask */
        mxc_ndarray_release(y);
    }
    mxc_ndarray_release(x);
}

static void freshness_is_kept(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE);
    (void)state;
    assert_false(mxc_autograd_is_fresh(x));
    for (int i = 0; i < 2; i++) {
        const int scope = mxc_autograd_record(1);
        mxc_ndarray *y = unary("square", x);
        mxc_autograd_leave(scope);
        assert_ok(backward(y));
        assert_true(mxc_autograd_is_fresh(x));
        mxc_autograd_set_fresh(x, 0);
        assert_false(mxc_autograd_is_fresh(x));
        mxc_ndarray_release(y);
    }
    mxc_ndarray_release(x);
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static void graphs_are_retained_or_freed(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_ADD);
    mxc_backward_options options = MXC_BACKWARD_OPTIONS_INIT;
    (void)state;
    int scope = mxc_autograd_record(1);
    mxc_ndarray *shared = unary("square", x), *y = unary("square", shared), *z = scalar("_mul_scalar", shared, "3");
    mxc_autograd_leave(scope);
    options.retain_graph = 1;
    assert_ok(mxc_autograd_backward(1, &z, NULL, &options));
    assert_ok(mxc_autograd_backward(1, &z, NULL, &options));
    assert_values(mxc_autograd_grad(x), 12, 12);
    assert_ok(backward(y)); /* frees what both share */
    assert_false(mxc_autograd_in_graph(y));
    assert_false(mxc_autograd_in_graph(shared));
    assert_true(mxc_autograd_in_graph(x));
    assert_fails(backward(y), MXC_ESTATE, "backward has freed the graph (retain_graph 0)");
    assert_fails(backward(z), MXC_ESTATE, "a part of the graph was freed by an earlier backward");
    /* What was freed is constant from then on. */
    scope = mxc_autograd_record(1);
    mxc_ndarray *w = binary("elemwise_mul", y, x), *constant = unary("square", y);
    mxc_autograd_leave(scope);
    assert_false(mxc_autograd_in_graph(constant));
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL)); /* no variable of w any more */
    assert_ok(backward(w));
    assert_values(mxc_autograd_grad(x), 0, 0);
    release_all(6, (mxc_ndarray *[]){x, shared, y, z, w, constant});
}

static void mistakes_are_explained(void **state) {
    const int64_t three = 3;
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *none = variable(3, 1, 1, MXC_REQ_NULL);
    mxc_ndarray *four = vector(4, 1, 0), *wide;
    mxc_backward_options options = MXC_BACKWARD_OPTIONS_INIT;
    (void)state;
    assert_ok(mxc_ndarray_create(1, &three, MXC_F64, mxc_cpu(0), &wide));
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *y = unary("square", x), *z = unary("square", none), *shape = unary("square", x), *hard;
    assert_fails(mxc_autograd_backward(1, &y, &four, NULL), MXC_ESHAPE,
                 "mxc_autograd_backward: head_grads[0]: expected shape (3,), found (4,)");
    assert_fails(mxc_autograd_backward(1, &y, &wide, NULL), MXC_EDTYPE, "expected dtype float32, found float64");
    assert_fails(mxc_autograd_backward(0, &y, NULL, NULL), MXC_EINVAL, "expected at least one head, found 0");
    assert_fails(backward(four), MXC_ESTATE, "heads[0] belongs to no recorded graph");
    assert_fails(backward(z), MXC_ESTATE, "depend on no array with a gradient");
    options.create_graph = 1;
    assert_fails(mxc_autograd_backward(1, &y, NULL, &options), MXC_EUNSUPPORTED,
                 "create_graph: gradients of gradients are not supported");
    options.size = 1;
    assert_fails(mxc_autograd_backward(1, &y, NULL, &options), MXC_EINVAL, "mxc_backward_options_init");
    /* An operator without a gradient. */
    mxc_ndarray *to = vector(3, 0, 0), *in[] = {x, shape};
    assert_ok(mxc_invoke_into("sgd_update", 2, in, 1, (const char *[]){"lr"}, (const char *[]){"1"}, 1, &to));
    hard = to;
    assert_fails(backward(hard), MXC_EUNSUPPORTED, "operator sgd_update has no gradient");
    mxc_autograd_leave(scope);
    /* None of this has changed anything. */
    assert_ok(backward(y));
    assert_values(mxc_autograd_grad(x), 2, 2);
    release_all(8, (mxc_ndarray *[]){x, none, four, wide, y, z, shape, hard});
}

/* Longer than a thread's stack would be deep. */
static void long_chains_need_no_recursion(void **state) {
    const int length = TEST_SCALE(100000);
    mxc_ndarray *x = variable(2, 1, 1, MXC_REQ_WRITE), *y = mxc_ndarray_retain(x);
    (void)state;
    for (int round = 0; round < 2; round++) { /* with and without backward */
        const int scope = mxc_autograd_record(1);
        for (int i = 0; i < length; i++) {
            mxc_ndarray *next = unary("negative", y);
            mxc_ndarray_release(y);
            y = next;
        }
        mxc_autograd_leave(scope);
        if (round == 0)
            assert_ok(backward(y));
        mxc_ndarray_release(y);
        y = mxc_ndarray_retain(x);
    }
    assert_values(mxc_autograd_grad(x), length % 2 ? -1 : 1, 0);
    release_all(2, (mxc_ndarray *[]){x, y});
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static int64_t bytes_in_use(void) {
    mxc_storage_stats stats;
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    assert_ok(mxc_wait_all(engine));
    assert_ok(mxc_storage_get_stats(mxc_cpu(0), &stats));
    return stats.bytes_in_use;
}

/* What the graph keeps, as seen from the middle of backward: a function of the program measures it. */
static mxc_status measure(int n_out, mxc_ndarray *const *out_grad, int n_in, mxc_ndarray *const *in_grad, void *arg) {
    (void)n_out, (void)n_in;
    *(int64_t *)arg = bytes_in_use();
    return mxc_ndarray_copy_to(out_grad[0], in_grad[0], 0);
}

static void only_what_backward_reads_is_kept(void **state) {
    enum { LENGTH = 20 };
    const int64_t n = 1 << 18, mib = n * 4; /* 1 MiB */
    (void)state;
    const struct {
        const char *op;
        int kept;
    } cases[] = {{"sin", LENGTH}, {"negative", 0}};
    for (int i = 0; i < 2; i++) {
        mxc_ndarray *x;
        int64_t at_function = 0;
        assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &x));
        assert_ok(mxc_ndarray_fill(x, 1));
        assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
        const int64_t before = bytes_in_use();
        mxc_ndarray *y = mxc_ndarray_retain(x);
        const int scope = mxc_autograd_record(1);
        for (int k = 0; k < LENGTH; k++) {
            mxc_ndarray *next = unary(cases[i].op, y);
            mxc_ndarray_release(y);
            y = next;
            if (k != LENGTH / 2)
                continue;
            mxc_ndarray *out;
            const int pause = mxc_autograd_pause(1);
            assert_ok(mxc_ndarray_copy(y, mxc_cpu(0), MXC_F32, &out));
            mxc_autograd_leave(pause);
            assert_ok(mxc_autograd_function("measure", 1, &y, 1, &out, measure, NULL, &at_function));
            mxc_ndarray_release(y);
            y = out;
        }
        mxc_autograd_leave(scope);
        /* Of a sine, backward reads the input: those after the first are results. The last result is y. */
        const int64_t recorded = bytes_in_use() - before;
        assert_true(recorded == (cases[i].kept ? (int64_t)cases[i].kept * mib : mib));
        assert_ok(backward(y));
        const int64_t left = bytes_in_use() - before;
        assert_true(left == mib); /* y */
        /* In the middle: y, the inputs of the first half, and the gradients that come and go. */
        const int64_t middle = at_function - before;
        assert_true(middle <= (cases[i].kept ? LENGTH / 2 + 1 : 0) * mib + 4 * mib);
        assert_true(!cases[i].kept || middle >= LENGTH / 2 * mib);
        release_all(2, (mxc_ndarray *[]){x, y});
    }
}

/* Each allocation of recording and backward fails in turn. */
static mxc_status record_and_differentiate(mxc_ndarray *x, mxc_ndarray *c) {
    mxc_ndarray *y = NULL, *z = NULL, *part = NULL, *copy = NULL, *in[] = {NULL, NULL};
    const int scope = mxc_autograd_record(1);
    mxc_status status = mxc_autograd_attach(x, MXC_REQ_WRITE, NULL);
    in[0] = x, in[1] = c;
    if (status == MXC_OK)
        status = mxc_invoke("elemwise_mul", 2, in, 0, NULL, NULL, 1, &y);
    if (status == MXC_OK)
        status = mxc_ndarray_slice(y, 0, 2, &part);
    if (status == MXC_OK)
        status = mxc_ndarray_copy(y, mxc_cpu(0), MXC_F32, &copy);
    in[0] = y, in[1] = copy;
    if (status == MXC_OK)
        status = mxc_invoke("elemwise_mul", 2, in, 0, NULL, NULL, 1, &z);
    mxc_autograd_leave(scope);
    mxc_ndarray *heads[] = {z, part, z};
    if (status == MXC_OK)
        status = mxc_autograd_backward(3, heads, NULL, NULL);
    release_all(4, (mxc_ndarray *[]){y, z, part, copy});
    return status;
}

static void every_allocation_may_fail(void **state) {
    mxc_ndarray *x = vector(3, 1, 1), *c = vector(3, 2, 0);
    int failures = 0;
    (void)state;
    assert_ok(record_and_differentiate(x, c));
    const int64_t alive = test_alive(), before = mxci_alloc_count();
    assert_ok(record_and_differentiate(x, c));
    const int64_t allocations = mxci_alloc_count() - before + 10;
    release_all(2, (mxc_ndarray *[]){x, c});
    for (int64_t at = 1; at <= allocations; at++) { /* those of tasks are reported by waits */
        x = vector(3, 1, 1), c = vector(3, 2, 0);
        mxci_test_fail_alloc(at, 0);
        const mxc_status status = record_and_differentiate(x, c);
        (void)test_alive();
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK)
            assert_status(status, MXC_ENOMEM);
        failures += status != MXC_OK;
        release_all(2, (mxc_ndarray *[]){x, c});
        assert_true(test_alive() <= alive + 64); /* operators keep blocks for later calls */
    }
    assert_true(failures > 30);
    x = vector(3, 1, 1), c = vector(3, 2, 0);
    assert_ok(record_and_differentiate(x, c));
    const float *grad = values_of(mxc_autograd_grad(x));
    for (int i = 0; i < 3; i++) /* 2 (2x)^2' + (2x)'[i < 2] */
        assert_true(grad[i] == (float)(16 * (i + 1) + (i < 2 ? 2 : 0)));
    release_all(2, (mxc_ndarray *[]){x, c});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_honoured),
        cmocka_unit_test(terms_are_summed),
        cmocka_unit_test(gradients_may_be_zero),
        cmocka_unit_test(losses_start_by_themselves),
        cmocka_unit_test(gradients_of_given_arrays),
        cmocka_unit_test(backward_behaves_as_the_call),
        cmocka_unit_test(freshness_is_kept),
        cmocka_unit_test(graphs_are_retained_or_freed),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(long_chains_need_no_recursion),
        cmocka_unit_test(only_what_backward_reads_is_kept),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

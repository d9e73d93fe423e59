/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that MXNet 1.9.1 wrote of its model zoo and of Gluon's layers, cells and losses, against what it computes of
 * them, outputs and gradients; make.py wrote both. Weights and inputs follow from the arrays' names, by the formula of
 * make.py.
 */
#include "support.h"

#include <mxc/executor.h>

#include "math/cast_kernels.h"
#include "models/numbers.h"

enum { MOST_INPUTS = 4, MOST_HEADS = 8, MOST_LINE = 4096 };
#define FOLDER MXC_SOURCE_DIR "/tests/models/"

typedef struct model {
    char name[100];
    int n_inputs;
    char input_names[MOST_INPUTS][32];
    const char *inputs[MOST_INPUTS];
    long limits[MOST_INPUTS];
    mxc_shape shapes[MOST_INPUTS];
    mxc_executor *executor;
    int64_t output;         /* the next one */
    int in_float64;         /* the gradients */
    mxc_executor *training; /* of the same numbers, with gradients */
} model;

static void store(mxc_ndarray *array, int64_t n, const double *values) {
    mxc_dtype dtype = mxc_ndarray_dtype(array);
    void *data = malloc((size_t)n * sizeof *values);
    assert_non_null(data);
    mxci_convert(MXC_F64, values, dtype, data, n);
    assert_ok(mxc_ndarray_set(array, data, (size_t)n * mxc_dtype_size(dtype)));
    free(data);
}

/* Free what it returns. */
static double *values_of(mxc_ndarray *array) {
    int64_t n = mxc_ndarray_size(array);
    double *values = malloc((size_t)n * sizeof *values), *data = malloc((size_t)n * sizeof *data);
    assert_true(values && data);
    assert_ok(mxc_ndarray_get(array, data, mxc_ndarray_bytes(array)));
    mxci_convert(mxc_ndarray_dtype(array), data, MXC_F64, values, n);
    free(data);
    return values;
}

/* Numbers of float32, also where the array is float64. */
static void fill(const char *name, mxc_ndarray *array, long limit) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    int64_t n = mxc_shape_size(shape);
    double *values = malloc((size_t)n * sizeof *values);
    uint32_t seed = numbers_seed(name);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)(float)numbers_value(name, shape, limit, numbers_at(seed, i));
    store(array, n, values);
    free(values);
}

static void fill_all(const model *m) {
    const mxc_names *args = mxc_executor_arg_names(m->executor), *aux = mxc_executor_aux_names(m->executor);
    for (int64_t i = 0; i < args->n; i++) {
        long limit = -1;
        for (int k = 0; k < m->n_inputs; k++)
            limit = strcmp(args->items[i], m->inputs[k]) == 0 ? m->limits[k] : limit;
        fill(args->items[i], mxc_executor_arg(m->executor, i), limit);
    }
    for (int64_t i = 0; i < aux->n; i++)
        fill(aux->items[i], mxc_executor_aux(m->executor, i), -1);
}

/* Load, infer, fill, run. */
static void run(model *m) {
    mxc_symbol *symbol;
    test_path path;
    snprintf(path, sizeof path, FOLDER "graphs/%s.json", m->name);
    assert_ok(mxc_symbol_load(path, &symbol));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = m->n_inputs, .names = m->inputs, .shapes = m->shapes};
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &m->executor));
    mxc_symbol_release(symbol);
    fill_all(m);
    assert_ok(mxc_executor_forward(m->executor, 0));
}

static int is_near(double found, double expected, double scale) {
    return fabs(found - expected) <= 2e-4 * scale + 1e-6;
}

/* "SIZES : SUM SUM_OF_ABSOLUTES VALUES" of an array. Returns how many values are wrong. */
static int compare(const model *m, const char *what, mxc_ndarray *array, char *text) {
    assert_non_null(array);
    const mxc_shape *shape = mxc_ndarray_shape(array);
    int64_t n = mxc_shape_size(shape), count = n < 20 ? n : 20;
    double *values, sum = 0, absolutes = 0, most = 0;
    char *at = text;
    int wrong = 0;
    for (int i = 0; i < shape->ndim; i++)
        assert_int_equal(strtoll(at, &at, 10), shape->dim[i]);
    at = strchr(at, ':') + 1;
    values = values_of(array);
    for (int64_t i = 0; i < n; i++) {
        sum += values[i];
        absolutes += fabs(values[i]);
        most = fmax(most, fabs(values[i]));
    }
    wrong += !is_near(sum, strtod(at, &at), absolutes);
    wrong += !is_near(absolutes, strtod(at, &at), absolutes);
    for (int64_t i = 0; i < count; i++)
        wrong += !is_near(values[i * n / count], strtod(at, &at), most);
    if (wrong)
        print_error("%s: %s: %d values differ from MXNet's\n", m->name, what, wrong);
    free(values);
    return wrong;
}

static int compare_output(model *m, char *text) {
    char what[40];
    snprintf(what, sizeof what, "output %lld", (long long)m->output);
    return compare(m, what, mxc_executor_output(m->executor, m->output++), text);
}

/* 1 for whole numbers, such as labels: MXNet has no gradients of some of these. */
static int is_whole(const model *m, const char *name) {
    for (int i = 0; i < m->n_inputs; i++)
        if (strcmp(name, m->inputs[i]) == 0)
            return m->limits[i] > 0;
    return 0;
}

/* The array itself, or the same numbers in float64. Release it. */
static mxc_ndarray *for_training(const model *m, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    mxc_ndarray *copy;
    if (!m->in_float64)
        return mxc_ndarray_retain(array);
    double *values = values_of(array);
    assert_ok(mxc_ndarray_create(shape->ndim, shape->dim, MXC_F64, mxc_cpu(0), &copy));
    store(copy, mxc_shape_size(shape), values);
    free(values);
    return copy;
}

/* Bind the arrays once more, with gradients. */
static void bind_training(model *m) {
    const mxc_names *args = mxc_executor_arg_names(m->executor), *aux = mxc_executor_aux_names(m->executor);
    mxc_ndarray **arrays = calloc((size_t)(2 * args->n + aux->n + 1), sizeof *arrays), **grads = arrays + args->n,
                **states = grads + args->n;
    assert_non_null(arrays);
    for (int64_t i = 0; i < args->n; i++) {
        arrays[i] = for_training(m, mxc_executor_arg(m->executor, i));
        const mxc_shape *shape = mxc_ndarray_shape(arrays[i]);
        if (!is_whole(m, args->items[i]))
            assert_ok(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(arrays[i]), mxc_cpu(0), &grads[i]));
    }
    for (int64_t i = 0; i < aux->n; i++)
        states[i] = for_training(m, mxc_executor_aux(m->executor, i));
    assert_ok(mxc_executor_bind(mxc_executor_symbol(m->executor), NULL, arrays, grads, NULL, states, &m->training));
    for (int64_t i = 0; i < 2 * args->n + aux->n; i++)
        mxc_ndarray_release(arrays[i]); /* grads and states too */
    free(arrays);
}

/* Forward and backward in training, with the arrays "head0", "head1"... as the outputs' gradients. */
static void run_backward(model *m) {
    mxc_ndarray *heads[MOST_HEADS];
    char name[16];
    int n = 0;
    assert_ok(mxc_executor_forward(m->training, 1));
    for (mxc_ndarray *output; (output = mxc_executor_output(m->training, n)) != NULL; n++) {
        const mxc_shape *shape = mxc_ndarray_shape(output);
        assert_true(n < MOST_HEADS);
        assert_ok(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(output), mxc_cpu(0), &heads[n]));
        snprintf(name, sizeof name, "head%d", n);
        fill(name, heads[n], 0);
    }
    assert_ok(mxc_executor_backward(m->training, n, heads));
    while (n > 0)
        mxc_ndarray_release(heads[--n]);
}

/* "NAME SIZES : ..." */
static int compare_gradient(model *m, char *text) {
    char *sizes = strchr(text, ' ');
    assert_non_null(sizes);
    *sizes = '\0';
    if (!m->training) {
        bind_training(m);
        run_backward(m);
    }
    return compare(m, text, mxc_executor_find_grad(m->training, text), sizes + 1);
}

static void read_input(model *m, char *text) {
    int k = m->n_inputs++, used = 0;
    assert_true(k < MOST_INPUTS);
    assert_int_equal(sscanf(text, "%31s %ld%n", m->input_names[k], &m->limits[k], &used), 2);
    m->inputs[k] = m->input_names[k];
    m->shapes[k].ndim = 0;
    for (char *at = text + used, *end; m->shapes[k].ndim < MXC_MAX_NDIM; at = end) {
        int64_t size = strtoll(at, &end, 10);
        if (end == at)
            return;
        m->shapes[k].dim[m->shapes[k].ndim++] = size;
    }
}

static void finish(model *m) {
    if (m->executor)
        assert_null(mxc_executor_output(m->executor, m->output)); /* no more than MXNet has */
    mxc_executor_destroy(m->training);
    mxc_executor_destroy(m->executor);
    memset(m, 0, sizeof *m);
}

/* All graphs whose names begin with the prefix and, where part is given, contain it. Returns how many. */
static int check_graphs(const char *prefix, const char *part) {
    static char line[MOST_LINE];
    model m = {.n_inputs = 0};
    int graphs = 0, wrong = 0;
    FILE *file = fopen(FOLDER "answers.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "graph ", 6) == 0) {
            finish(&m);
            if (strncmp(line + 6, prefix, strlen(prefix)) == 0 && strstr(line + 6, part) && ++graphs)
                sscanf(line + 6, "%99s", m.name);
        } else if (m.name[0] && strncmp(line, "input ", 6) == 0) {
            read_input(&m, line + 6);
        } else if (m.name[0] && strncmp(line, "output ", 7) == 0) {
            if (!m.executor)
                run(&m);
            wrong += compare_output(&m, line + 7);
        } else if (m.name[0] && strcmp(line, "gradients_in float64\n") == 0) {
            m.in_float64 = 1;
        } else if (m.name[0] && strncmp(line, "gradient ", 9) == 0) {
            wrong += compare_gradient(&m, line + 9);
        }
    }
    finish(&m);
    fclose(file);
    assert_int_equal(wrong, 0);
    print_message("%d graphs\n", graphs);
    return graphs;
}

static int n_zoo; /* graphs of the model zoo that were run or skipped */

static void check_zoo(const char *network, int n) {
    n_zoo += n;
    assert_int_equal(check_graphs("zoo_", network), n);
}

static void test_mobilenet(void **state) {
    (void)state;
    check_zoo("mobilenet", 2);
}

static void test_squeezenet(void **state) {
    (void)state;
    check_zoo("squeezenet", 2);
}

/* The larger networks take minutes under a sanitizer, for operators that the other graphs have, too. */
static void check_large(const char *network, int n) {
    if (TEST_SANITIZED) {
        n_zoo += n;
        skip();
    }
    check_zoo(network, n);
}

static void test_alexnet(void **state) {
    (void)state;
    check_large("alexnet", 1);
}

static void test_densenet(void **state) {
    (void)state;
    check_large("densenet", 1);
}

static void test_inception(void **state) {
    (void)state;
    check_large("inception", 1);
}

static void test_resnet(void **state) {
    (void)state;
    check_large("resnet", 4);
}

static void test_vgg(void **state) {
    (void)state;
    check_large("vgg", 2);
}

/* Every network of the zoo in answers.txt belongs to one of the tests above, which ran before. */
static void test_zoo_is_complete(void **state) {
    char line[MOST_LINE];
    int n = 0;
    FILE *file = fopen(FOLDER "answers.txt", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        n += strncmp(line, "graph zoo_", 10) == 0;
    fclose(file);
    assert_int_equal(n_zoo, n);
}

static void test_layers(void **state) {
    (void)state;
    assert_true(check_graphs("layer_", "") > 5);
}

static void test_cells(void **state) {
    (void)state;
    assert_true(check_graphs("cell_", "") > 5);
    assert_true(check_graphs("rnn_", "") > 5);
}

static void test_losses(void **state) {
    (void)state;
    assert_true(check_graphs("loss_", "") > 5);
}

static void test_control_flow(void **state) {
    (void)state;
    assert_int_equal(check_graphs("control_", ""), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),       cmocka_unit_test(test_cells),     cmocka_unit_test(test_losses),
        cmocka_unit_test(test_control_flow), cmocka_unit_test(test_mobilenet), cmocka_unit_test(test_squeezenet),
        cmocka_unit_test(test_alexnet),      cmocka_unit_test(test_densenet),  cmocka_unit_test(test_inception),
        cmocka_unit_test(test_resnet),       cmocka_unit_test(test_vgg),       cmocka_unit_test(test_zoo_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

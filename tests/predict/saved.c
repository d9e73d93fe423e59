/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/saved.h"

#include <math.h>

#include <mxc/storage.h>
#include <mxc/train.h>

#include "alive.h"

/* Applies an operator with at most two parameters to in, which it releases. */
static mxc_symbol *on(const char *op, const char *name, const char *const *keys, const char *const *values, int n,
                      mxc_symbol *in) {
    mxc_symbol *out;
    assert_ok(mxc_symbol_op(op, name, n, keys, values, 1, NULL, &in, &out));
    mxc_symbol_release(in);
    return out;
}

static mxc_symbol *make_net(void) {
    mxc_symbol *net;
    assert_ok(mxc_symbol_variable("data", &net));
    net = on("Convolution", "conv", (const char *[]){"kernel", "num_filter"}, (const char *[]){"(3,3)", "4"}, 2, net);
    net = on("BatchNorm", "bn", (const char *[]){"fix_gamma"}, (const char *[]){"False"}, 1, net);
    net = on("Activation", "relu", (const char *[]){"act_type"}, (const char *[]){"relu"}, 1, net);
    net = on("FullyConnected", "fc", (const char *[]){"num_hidden"}, (const char *[]){"5"}, 1, net);
    return on("SoftmaxOutput", "softmax", NULL, NULL, 0, net);
}

static float next_number(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 24) - 0.5f;
}

/* Numbers in [-0.5,0.5), in [0.5,1.5) for a variance. */
static void fill(const char *name, mxc_ndarray *array, uint32_t seed) {
    const int64_t n = mxc_ndarray_size(array);
    float *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = next_number(&seed) + (strstr(name, "var") ? 1 : 0);
    assert_ok(mxc_ndarray_set(array, values, (size_t)n * sizeof *values));
    free(values);
}

/* Writes the parameters of a bound network to params_path. */
static void save_params(saved *s, const mxc_executor *e) {
    mxc_ndarray *arrays[16];
    char names[16][64];
    const char *pointers[16];
    int n = 0;
    for (int kind = 0; kind < 2; kind++) {
        const mxc_names *all = kind ? mxc_executor_aux_names(e) : mxc_executor_arg_names(e);
        for (int64_t i = 0; i < all->n; i++) {
            if (strcmp(all->items[i], "data") == 0 || strcmp(all->items[i], "softmax_label") == 0)
                continue;
            arrays[n] = kind ? mxc_executor_aux(e, i) : mxc_executor_arg(e, i);
            fill(all->items[i], arrays[n], (uint32_t)n + 1);
            snprintf(names[n], sizeof names[n], "%s%s", kind ? "aux:" : "arg:", all->items[i]);
            pointers[n] = names[n];
            n++;
        }
    }
    assert_int_equal(n, 8);
    assert_ok(mxc_model_save(s->prefix, 3, s->symbol, n, arrays, pointers));
}

static mxc_bind_spec input_spec(const mxc_data_desc *input) {
    static const char *const names[] = {"data", "softmax_label"};
    static mxc_shape shapes[2];
    shapes[0] = input->shape;
    shapes[1] = (mxc_shape){.ndim = -1};
    return (mxc_bind_spec){.size = sizeof(mxc_bind_spec), .n = 2, .names = names, .shapes = shapes};
}

void saved_open(saved *s) {
    const mxc_data_desc input = saved_input(1);
    const mxc_bind_spec spec = input_spec(&input);
    mxc_executor *e;
    test_temp_dir(s->folder);
    test_join(s->prefix, s->folder, "net");
    test_join(s->symbol_path, s->folder, "net-symbol.json");
    test_join(s->params_path, s->folder, "net-0003.params");
    s->symbol = make_net();
    assert_ok(mxc_executor_simple_bind(s->symbol, NULL, &spec, &e));
    save_params(s, e);
    mxc_executor_destroy(e);
    assert_ok(mxc_ndarray_load(s->params_path, &s->params));
}

void saved_close(saved *s) {
    mxc_ndarray_list_release(&s->params);
    mxc_symbol_release(s->symbol);
    test_remove_dir(s->folder);
}

mxc_data_desc saved_input(int64_t batch) {
    return (mxc_data_desc){"data", {4, {batch, 2, 6, 6}}, MXC_F32};
}

float *saved_data(int64_t batch, uint32_t seed) {
    float *data = malloc((size_t)batch * SAVED_SIZE * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < batch * SAVED_SIZE; i++)
        data[i] = 4 * next_number(&seed);
    return data;
}

/* Binds an executor's arrays again, of which only data changes from now on. */
static mxc_executor *with_constants(const saved *s, mxc_executor *e) {
    const int64_t n_args = mxc_executor_arg_names(e)->n, n_aux = mxc_executor_aux_names(e)->n;
    mxc_ndarray **args = calloc((size_t)n_args + 1, sizeof *args), **aux = calloc((size_t)n_aux + 1, sizeof *aux);
    uint8_t *constant_args = calloc((size_t)n_args + 1, 1), *constant_aux = calloc((size_t)n_aux + 1, 1);
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *out;
    assert_true(args && aux && constant_args && constant_aux);
    for (int64_t i = 0; i < n_args; i++) {
        args[i] = mxc_executor_arg(e, i);
        constant_args[i] = strcmp(mxc_executor_arg_names(e)->items[i], "data") != 0;
    }
    for (int64_t i = 0; i < n_aux; i++) {
        aux[i] = mxc_executor_aux(e, i);
        constant_aux[i] = 1;
    }
    options.constant_args = constant_args;
    options.constant_aux = constant_aux;
    assert_ok(mxc_executor_bind(s->symbol, &options, args, NULL, NULL, aux, &out));
    free(args);
    free(aux);
    free(constant_args);
    free(constant_aux);
    mxc_executor_destroy(e);
    return out;
}

float *saved_answer(const saved *s, int64_t batch, const float *data) {
    const mxc_data_desc input = saved_input(batch);
    const mxc_bind_spec spec = input_spec(&input);
    const size_t bytes = (size_t)batch * SAVED_CLASSES * sizeof(float);
    float *answer = malloc(bytes);
    mxc_executor *e;
    assert_non_null(answer);
    assert_ok(mxc_executor_bind_params(s->symbol, NULL, &spec, &s->params, MXC_PARAMS_STRICT, &e));
    e = with_constants(s, e);
    assert_ok(mxc_ndarray_set(mxc_executor_find_arg(e, "data"), data, (size_t)batch * SAVED_SIZE * sizeof *data));
    assert_ok(mxc_executor_forward(e, 0));
    assert_ok(mxc_ndarray_get(mxc_executor_output(e, 0), answer, bytes));
    mxc_executor_destroy(e);
    return answer;
}

void saved_check(mxc_predictor *p, const float *data, int64_t batch, const float *answer, double tolerance) {
    const int64_t n = batch * SAVED_CLASSES;
    float *found = malloc((size_t)n * sizeof *found);
    assert_non_null(found);
    assert_ok(mxc_predictor_set_input(p, "data", data, (size_t)batch * SAVED_SIZE * sizeof *data));
    assert_ok(mxc_predictor_forward(p));
    assert_ok(mxc_predictor_get_output_at(p, 0, found, (size_t)n * sizeof *found));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)found[i] - (double)answer[i]) <= tolerance))
            fail_msg("output %lld: %.9g, expected %.9g", (long long)i, (double)found[i], (double)answer[i]);
    free(found);
}

mxc_ndarray_list saved_plain(const saved *s, const char *extra) {
    mxc_ndarray_list list = {.n = s->params.n + (extra != NULL)};
    list.arrays = calloc((size_t)list.n, sizeof *list.arrays);
    list.names = calloc((size_t)list.n, sizeof *list.names);
    assert_true(list.arrays && list.names);
    for (int64_t i = 0; i < s->params.n; i++) {
        list.arrays[i] = s->params.arrays[i];
        list.names[i] = s->params.names[i] + strlen("arg:");
    }
    if (extra) {
        list.arrays[s->params.n] = s->params.arrays[0];
        list.names[s->params.n] = (char *)(uintptr_t)extra;
    }
    return list;
}

void saved_free_list(mxc_ndarray_list *list) {
    free(list->arrays);
    free(list->names);
}

int64_t saved_live_blocks(void) {
    MXC_IGNORE(mxc_storage_trim(mxc_cpu(0), 0));
    return test_alive();
}

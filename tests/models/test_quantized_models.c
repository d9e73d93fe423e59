/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that MXNet 1.9.1 quantized to 8 bits for oneDNN, against what it computes of each of their nodes, which are
 * compared by the codes; make_quantized.py wrote both. Prints for each node the largest difference in codes and the
 * share of elements that differ.
 */
#include "support.h"

#include <mxc/executor.h>

#include "models/numbers.h"

enum { MOST_LINE = 1 << 16 };
#define FOLDER MXC_SOURCE_DIR "/tests/models/"

/* How MXNet's codes may differ: by one, for a share of a node's elements. That share is higher from some node on, where
 * MXNet's arithmetic is not the one that is computed here. */
typedef struct tolerance {
    const char *graph;
    double share;
    const char *node; /* what its name and those of all behind begin with */
    double steps, share_behind;
    double output; /* of the network's output, relative to the largest of it */
    double floats; /* the same of the network of floats; 0: not compared */
    int low, high; /* what is compared: MXNet saturates codes here; 0 and 0: everything */
} tolerance;

typedef struct network {
    const tolerance *allowed;
    mxc_shape data;
    mxc_executor *executor;
    mxc_names outputs;           /* of the executor: of all nodes */
    int wrong, nodes, is_behind; /* is_behind: tolerance.node has been seen */
} network;

/* ---- lines of quantized.txt -------------------------------------------------------------------------------------- */

/* "NAME DTYPE SIZES [UNIT] : NUMBERS" */
typedef struct record {
    char name[100];
    mxc_dtype dtype;
    mxc_shape shape;
    double unit, *values;
    int64_t n;
} record;

static void read_sizes(char *text, int has_unit, record *out) {
    double numbers[MXC_MAX_NDIM + 1];
    int n = 0;
    for (char *end; *text && *text != ':'; text = end + (*end == ' '), n++) {
        numbers[n] = strtod(text, &end);
        assert_true(end > text);
    }
    out->unit = has_unit ? numbers[--n] : 1;
    out->shape.ndim = n;
    for (int i = 0; i < n; i++)
        out->shape.dim[i] = (int64_t)numbers[i];
}

static double hexadecimal(const char *text, int is_signed) {
    char digits[3] = {text[0], text[1], '\0'};
    long code = strtol(digits, NULL, 16);
    return (double)(is_signed && code > 127 ? code - 256 : code);
}

static void read_record(char *text, int has_name, int has_unit, record *out) {
    char dtype[16], *at = text;
    int used = 0;
    memset(out, 0, sizeof *out);
    if (has_name) {
        assert_int_equal(sscanf(at, "%99s %n", out->name, &used), 1);
        at += used;
    }
    assert_int_equal(sscanf(at, "%15s %n", dtype, &used), 1);
    at += used;
    out->dtype = mxc_dtype_from_name(dtype);
    read_sizes(at, has_unit, out);
    at = strchr(at, ':') + 2;
    out->n = mxc_shape_size(&out->shape);
    out->values = malloc((size_t)out->n * sizeof *out->values);
    assert_non_null(out->values);
    for (int64_t i = 0; i < out->n; i++)
        if (out->dtype == MXC_I8 || out->dtype == MXC_U8)
            out->values[i] = hexadecimal(at + 2 * i, out->dtype == MXC_I8);
        else
            out->values[i] = strtod(at, &at);
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

static mxc_ndarray *find_array(const network *net, const char *name) {
    mxc_ndarray *array = mxc_executor_find_arg(net->executor, name);
    return array ? array : mxc_executor_find_aux(net->executor, name);
}

/* make_quantized.py's function weights. */
static double weight_at(uint32_t seed, const mxc_shape *shape, int64_t i) {
    int64_t each = mxc_shape_size(shape) / shape->dim[0], f = i / each, k = i % each, largest = f % each, plane = 1;
    double steps = 2 * rint(31 * numbers_at(seed, i));
    for (int d = 2; d < shape->ndim; d++)
        plane *= shape->dim[d];
    if (k == largest)
        steps = -63.75;
    else if (k % plane == largest % plane && ((k / plane) ^ 1) == largest / plane)
        steps = 0;
    return steps / 63.75 * exp2((double)(f % 2) - floor(log2((double)each) / 2));
}

static void fill(const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    const uint32_t seed = numbers_seed(name);
    int64_t n = mxc_shape_size(shape);
    float *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = (float)(name_ends(name, "weight")
                                ? weight_at(seed, shape, i)
                                : numbers_value(name, shape, strcmp(name, "data") == 0 ? 0 : -1, numbers_at(seed, i)));
    assert_ok(mxc_ndarray_set(array, values, (size_t)n * sizeof *values));
    free(values);
}

/* Load, bind all nodes' outputs, and fill what follows from names. */
static void open_network(network *net) {
    const char *name = "data";
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &net->data};
    mxc_symbol *symbol, *internals;
    test_path path;
    snprintf(path, sizeof path, FOLDER "quantized/%s.json", net->allowed->graph);
    assert_ok(mxc_symbol_load(path, &symbol));
    assert_ok(mxc_symbol_internals(symbol, &internals));
    mxc_symbol_release(symbol);
    assert_ok(mxc_executor_simple_bind(internals, NULL, &spec, &net->executor));
    assert_ok(mxc_symbol_list_outputs(internals, &net->outputs));
    mxc_symbol_release(internals);
    const mxc_names *args = mxc_executor_arg_names(net->executor), *aux = mxc_executor_aux_names(net->executor);
    for (int64_t i = 0; i < args->n; i++)
        if (mxc_ndarray_dtype(mxc_executor_arg(net->executor, i)) == MXC_F32)
            fill(args->items[i], mxc_executor_arg(net->executor, i));
    for (int64_t i = 0; i < aux->n; i++)
        fill(aux->items[i], mxc_executor_aux(net->executor, i));
}

static void set_array(const network *net, const record *r) {
    mxc_ndarray *array = find_array(net, r->name);
    int8_t codes[4096];
    float number = (float)r->values[0];
    assert_non_null(array);
    assert_true(r->n <= (int64_t)sizeof codes);
    assert_int_equal(mxc_ndarray_dtype(array), r->dtype);
    for (int64_t i = 0; i < r->n; i++)
        codes[i] = (int8_t)r->values[i];
    assert_ok(r->dtype == MXC_I8 ? mxc_ndarray_set(array, codes, (size_t)r->n)
                                 : mxc_ndarray_set(array, &number, sizeof number));
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

/* The output of a node; the last one of the network where its layers have other names than MXNet's fused node. */
static int64_t find_output(const network *net, const char *name) {
    size_t n = strlen(name);
    for (int64_t i = 0; i < net->outputs.n; i++)
        if (strncmp(net->outputs.items[i], name, n) == 0 &&
            (strcmp(net->outputs.items[i] + n, "_output") == 0 || strcmp(net->outputs.items[i] + n, "_output0") == 0))
            return i;
    return net->outputs.n - 1;
}

static double *read_output(const network *net, int64_t index, const record *expected) {
    mxc_ndarray *array = mxc_executor_output(net->executor, index);
    double *values = malloc((size_t)expected->n * sizeof *values);
    assert_non_null(array);
    assert_non_null(values);
    assert_true(mxc_shape_equal(mxc_ndarray_shape(array), &expected->shape));
    assert_int_equal(mxc_ndarray_dtype(array), expected->dtype);
    for (int64_t i = 0; i < expected->n; i++)
        values[i] = 0;
    size_t bytes = (size_t)expected->n * mxc_dtype_size(expected->dtype);
    void *raw = malloc(bytes);
    assert_non_null(raw);
    assert_ok(mxc_ndarray_get(array, raw, bytes));
    for (int64_t i = 0; i < expected->n; i++)
        values[i] = expected->dtype == MXC_I8    ? (double)((int8_t *)raw)[i]
                    : expected->dtype == MXC_U8  ? (double)((uint8_t *)raw)[i]
                    : expected->dtype == MXC_I32 ? (double)((int32_t *)raw)[i]
                                                 : (double)((float *)raw)[i];
    free(raw);
    return values;
}

static double limited(const tolerance *t, double code) {
    return t->low == t->high ? code : fmin(fmax(code, t->low), t->high);
}

/* Codes of 8 bits; of 32 bits in steps of a 127th of the largest; floats relative to the largest. */
static void compare(network *net, const char *what, const record *expected, int64_t index, double floats) {
    const tolerance *t = net->allowed;
    const int is_float = expected->dtype == MXC_F32;
    if (is_float && t->low < t->high && floats != t->floats)
        return; /* of codes that MXNet saturates */
    double *found = read_output(net, index, expected), most = 0, largest = 0, differ = 0, scale = 1;
    net->is_behind |= t->node && strncmp(what, t->node, strlen(t->node)) == 0;
    const double limit = is_float ? floats : net->is_behind ? t->steps : 1;
    const double share = is_float ? 0 : net->is_behind ? t->share_behind : t->share;
    for (int64_t i = 0; i < expected->n; i++)
        largest = fmax(largest, fabs(expected->values[i]));
    if (is_float || expected->dtype == MXC_I32)
        scale = (is_float ? 1 : 127) / largest;
    for (int64_t i = 0; i < expected->n; i++) {
        double by = fabs(limited(t, found[i]) - limited(t, expected->values[i])) * scale;
        most = fmax(most, by);
        differ += by > (is_float ? floats : 0.5);
    }
    differ /= (double)expected->n;
    net->wrong += most > limit || differ > share;
    net->nodes++;
    print_message("%s: %s: %s: largest difference %.3g, %.2f %% differ%s\n", t->graph, what,
                  mxc_dtype_name(expected->dtype), most, 100 * differ,
                  most > limit || differ > share ? ": TOO MUCH" : "");
    free(found);
}

static void finish(network *net) {
    mxc_executor_destroy(net->executor);
    mxc_names_release(&net->outputs);
    net->executor = NULL;
}

static void check(const tolerance *allowed, int nodes) {
    static char line[MOST_LINE];
    network net = {.allowed = allowed};
    int is_ours = 0, has_run = 0;
    FILE *file = fopen(FOLDER "quantized.txt", "r");
    record r;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        assert_non_null(strchr(line, '\n'));
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "graph ", 6) == 0) {
            is_ours = strcmp(line + 6, allowed->graph) == 0;
        } else if (is_ours && strncmp(line, "input data ", 11) == 0) {
            read_sizes(line + 11, 0, &r);
            net.data = r.shape;
            open_network(&net);
        } else if (is_ours && strncmp(line, "array ", 6) == 0) {
            read_record(line + 6, 1, 0, &r);
            set_array(&net, &r);
            free(r.values);
        } else if (is_ours && strncmp(line, "node ", 5) == 0) {
            if (!has_run)
                assert_ok(mxc_executor_forward(net.executor, 0));
            has_run = 1;
            read_record(line + 5, 1, 1, &r);
            compare(&net, r.name, &r, find_output(&net, r.name), allowed->output);
            free(r.values);
        } else if (is_ours && strncmp(line, "net ", 4) == 0 && allowed->floats > 0) {
            read_record(line + 4, 0, 1, &r);
            compare(&net, "the network of floats", &r, net.outputs.n - 1, allowed->floats);
            free(r.values);
        }
    }
    fclose(file);
    assert_true(has_run);
    finish(&net);
    assert_int_equal(net.wrong, 0);
    assert_int_equal(net.nodes, nodes);
}

#define DENSE "quantized_sg_mkldnn_fully_connected"

/* MXNet quantizes weights of full connection by 127ths, which it multiplies as 127.5ths. */
static void test_resnet(void **state) {
    const tolerance t = {"resnet", 0.002, DENSE, 1, 0.5, 0.01, 0.02, 0, 0};
    (void)state;
    check(&t, 13);
}

static void test_mobilenet(void **state) {
    const tolerance t = {"mobilenet", 0.002, DENSE, 1, 0.5, 0.01, 0.02, 0, 0};
    (void)state;
    check(&t, 14);
}

/* MXNet's normalization converts uint8 to int8 first. */
static void test_densenet(void **state) {
    const tolerance t = {"densenet", 0.002, "quantized_n5", 1, 0.5, 0.01, 0.02, 0, 0};
    (void)state;
    check(&t, 19);
}

/* MXNet's sums of 32 bits declare a range that is 0.8 % too large, and its codes of 8 bits one that is 0.4 % too small.
 */
static void test_uncalibrated(void **state) {
    const tolerance t = {"uncalibrated", 0.002, "quantized_sg_mkldnn_conv_add", 3, 0.5, 0.015, 0.02, 0, 0};
    (void)state;
    check(&t, 23);
}

/* Full connection with float weights, which are quantized row by row there, and stay floats here. */
static void test_channels(void **state) {
    const tolerance t = {"resnet_channels", 0.002, DENSE, 1, 0.5, 0.01, 0.02, 0, 0};
    (void)state;
    check(&t, 13);
}

/* MXNet adds in the summand's memory: of int8, though the sum is uint8; and of uint8, though it is int8, so that its
 * 128 reads as -128. */
static void test_sums(void **state) {
    const tolerance relu = {.graph = "sum_relu", .share = 0.002, .floats = 0.02, .low = 0, .high = 127};
    const tolerance none = {
        .graph = "sum_signed",
        .node = "quantized_sg_mkldnn_conv_add_1",
        .steps = 127,
        .share_behind = 0.002,
        .floats = 0.02,
        .low = 0,
        .high = 255,
    };
    (void)state;
    check(&relu, 5);
    check(&none, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resnet),       cmocka_unit_test(test_mobilenet), cmocka_unit_test(test_densenet),
        cmocka_unit_test(test_uncalibrated), cmocka_unit_test(test_channels),  cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

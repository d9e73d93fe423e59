/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of many operators: what calls on arrays compute, and the gradients of recorded calls, equal an
 * executor's bit for bit; and so do those of the recorded graph's symbol, and of a cached operator. */
#include <mxc/cached_op.h>

#include "alive.h"
#include "autograd/arrays.h"

enum { ROWS = 4, COLUMNS = 6, MOST_NODES = 40, MOST_VALUES = 160, MOST_HEADS = 3, MOST_IN = 6 };

typedef struct value {
    int node; /* -1: a variable */
    int output, is_aux, n_dims;
    int64_t dims[4];
    double low, high; /* of a variable */
    mxc_req req;
} value;

typedef struct node {
    const char *op;
    int n_params, n_in, n_out;
    const char *keys[3], *values[3];
    int in[MOST_IN], first_out; /* value ids; arguments, then auxiliary states */
} node;

typedef struct graph {
    uint64_t state;
    int n_nodes, n_values;
    node nodes[MOST_NODES];
    value values[MOST_VALUES];
    int n_heads, heads[MOST_HEADS], n_ordered, order[MOST_NODES];
    int has_loss;
} graph;

static uint32_t draw(graph *g, uint32_t n) {
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->state >> 33) % n;
}

/* ---- making graphs ----------------------------------------------------------------------------------------------- */

static int add_variable(graph *g, int n_dims, const int64_t *dims, double low, double high, int is_aux) {
    static const mxc_req reqs[] = {MXC_REQ_WRITE, MXC_REQ_WRITE, MXC_REQ_ADD, MXC_REQ_NULL};
    value *v = &g->values[g->n_values];
    *v = (value){.node = -1, .n_dims = n_dims, .low = low, .high = high, .is_aux = is_aux};
    memcpy(v->dims, dims, (size_t)n_dims * sizeof *dims);
    v->req = is_aux ? MXC_REQ_NULL : reqs[draw(g, 4)];
    return g->n_values++;
}

static int variable_like(graph *g, int64_t rows, int64_t columns) {
    return add_variable(g, 2, (int64_t[]){rows, columns}, -1, 1, 0);
}

/* A value of shape (ROWS,COLUMNS). */
static int any(graph *g) {
    for (;;) {
        const int at = (int)draw(g, (uint32_t)g->n_values);
        const value *v = &g->values[at];
        if (!v->is_aux && v->n_dims == 2 && v->dims[0] == ROWS && v->dims[1] == COLUMNS)
            return at;
    }
}

static node *add_node(graph *g, const char *op, int n_in, const int *in, int n_dims, const int64_t *dims) {
    node *n = &g->nodes[g->n_nodes];
    value *v = &g->values[g->n_values];
    *n = (node){.op = op, .n_in = n_in, .n_out = 1, .first_out = g->n_values++};
    memcpy(n->in, in, (size_t)n_in * sizeof *in);
    *v = (value){.node = g->n_nodes++, .n_dims = n_dims};
    memcpy(v->dims, dims, (size_t)n_dims * sizeof *dims);
    return n;
}

static node *add_same(graph *g, const char *op, int n_in, const int *in) {
    return add_node(g, op, n_in, in, 2, (int64_t[]){ROWS, COLUMNS});
}

static void set_param(node *n, const char *key, const char *text) {
    n->keys[n->n_params] = key;
    n->values[n->n_params++] = text;
}

static void add_unary(graph *g) {
    static const char *const ops[] = {"relu", "sigmoid",   "tanh",    "square",      "sin",     "negative",
                                      "abs",  "softsign",  "cos",     "exp",         "arctan",  "erf",
                                      "cbrt", "BlockGrad", "softmax", "log_softmax", "identity"};
    const int x = any(g);
    add_same(g, ops[draw(g, sizeof ops / sizeof *ops)], 1, &x);
}

static void add_scalar(graph *g) {
    static const char *const ops[] = {"_plus_scalar",    "_mul_scalar",     "_rminus_scalar",
                                      "_maximum_scalar", "_minimum_scalar", "_greater_scalar"};
    const int x = any(g);
    set_param(add_same(g, ops[draw(g, sizeof ops / sizeof *ops)], 1, &x), "scalar", "0.375");
}

/* Also of a value with itself. */
static void add_binary(graph *g) {
    static const char *const ops[] = {"elemwise_add",  "elemwise_sub",      "elemwise_mul",      "broadcast_add",
                                      "broadcast_mul", "broadcast_maximum", "broadcast_minimum", "_hypot"};
    const int in[] = {any(g), any(g)};
    add_same(g, ops[draw(g, sizeof ops / sizeof *ops)], 2, in);
}

static void add_broadcast(graph *g) {
    static const char *const ops[] = {"broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_maximum"};
    const int in[] = {any(g), draw(g, 2) ? variable_like(g, 1, COLUMNS) : variable_like(g, ROWS, 1)};
    add_same(g, ops[draw(g, sizeof ops / sizeof *ops)], 2, in);
}

static void add_sum(graph *g) {
    const int in[] = {any(g), any(g), any(g)};
    set_param(add_same(g, "add_n", 3, in), "num_args", "3");
}

static void add_fully_connected(graph *g) {
    const int64_t units = COLUMNS;
    const int in[] = {any(g), variable_like(g, COLUMNS, COLUMNS), add_variable(g, 1, &units, -1, 1, 0)};
    set_param(add_same(g, "FullyConnected", 3, in), "num_hidden", "6");
}

static void add_dot(graph *g) {
    int in[] = {any(g), any(g)};
    node *n = add_node(g, "dot", 2, in, 2, (int64_t[]){ROWS, ROWS});
    set_param(n, "transpose_b", "True");
    in[0] = n->first_out;
    in[1] = any(g);
    add_same(g, "dot", 2, in);
}

static void add_norm(graph *g) {
    const int64_t columns = COLUMNS;
    const int gamma = add_variable(g, 1, &columns, 0.5, 1.5, 0), beta = add_variable(g, 1, &columns, -1, 1, 0);
    if (draw(g, 2)) {
        add_same(g, "LayerNorm", 3, (int[]){any(g), gamma, beta});
    } else {
        const int mean = add_variable(g, 1, &columns, -1, 1, 1), var = add_variable(g, 1, &columns, 0.5, 1.5, 1);
        node *n = add_same(g, "BatchNorm", 5, (int[]){any(g), gamma, beta, mean, var});
        set_param(n, "fix_gamma", draw(g, 2) ? "True" : "False");
    }
}

static void add_dropout(graph *g) {
    const int x = any(g);
    set_param(add_same(g, "Dropout", 1, &x), "p", "0.25");
}

/* Halves, exchanged, one of which may stay unused. */
static void add_split(graph *g) {
    const int x = any(g);
    node *n = add_node(g, "SliceChannel", 1, &x, 2, (int64_t[]){ROWS, COLUMNS / 2});
    const int first = n->first_out;
    set_param(n, "num_outputs", "2");
    n->n_out = 2;
    g->values[g->n_values] = g->values[first];
    g->values[g->n_values++].output = 1;
    set_param(add_same(g, "Concat", 2, (int[]){first + 1, first + (int)draw(g, 2)}), "num_args", "2");
}

static void add_reduction(graph *g) {
    static const char *const ops[] = {"sum", "mean", "max", "min", "prod"};
    const int x = any(g);
    node *n = add_node(g, ops[draw(g, 5)], 1, &x, 2, (int64_t[]){ROWS, 1});
    set_param(n, "axis", "1");
    set_param(n, "keepdims", "True");
    add_same(g, "broadcast_mul", 2, (int[]){any(g), n->first_out});
}

static void add_views(graph *g) {
    const int x = any(g);
    node *n = add_node(g, "transpose", 1, &x, 2, (int64_t[]){COLUMNS, ROWS});
    n = add_same(g, "Reshape", 1, &n->first_out);
    set_param(n, "shape", "(4,6)");
}

static void add_convolution(graph *g) {
    const int64_t filter[] = {2, 1, 3, 3}, bias[] = {2};
    const int x = any(g), weight = add_variable(g, 4, filter, -1, 1, 0), b = add_variable(g, 1, bias, -1, 1, 0);
    node *n = add_node(g, "Reshape", 1, &x, 4, (int64_t[]){ROWS, 1, 2, 3});
    set_param(n, "shape", "(4,1,2,3)");
    n = add_node(g, "Convolution", 3, (int[]){n->first_out, weight, b}, 4, (int64_t[]){ROWS, 2, 2, 3});
    set_param(n, "kernel", "(3,3)");
    set_param(n, "pad", "(1,1)");
    set_param(n, "num_filter", "2");
    n = add_node(g, "Pooling", 1, &n->first_out, 4, (int64_t[]){ROWS, 2, 1, 3});
    set_param(n, "kernel", "(2,1)");
    set_param(n, "pool_type", draw(g, 2) ? "max" : "avg");
    n = add_same(g, "Reshape", 1, &n->first_out);
    set_param(n, "shape", "(4,6)");
}

static void add_where(graph *g) {
    const int in[] = {any(g), any(g), any(g)};
    const int x = any(g);
    node *n = add_same(g, "_greater_scalar", 1, &x);
    set_param(n, "scalar", "0");
    add_same(g, "where", 3, (int[]){n->first_out, in[0], in[1]});
}

static void add_loss(graph *g) {
    static const char *const ops[] = {"LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"};
    add_same(g, ops[draw(g, 3)], 2, (int[]){any(g), variable_like(g, ROWS, COLUMNS)});
    g->has_loss = 1;
}

/* Depth-first post-order from the heads, in which an executor's nodes run, and draw random numbers. */
static void visit(graph *g, int at, uint8_t *seen) {
    const node *n = &g->nodes[at];
    if (seen[at])
        return;
    seen[at] = 1;
    for (int i = 0; i < n->n_in; i++)
        if (g->values[n->in[i]].node >= 0)
            visit(g, g->values[n->in[i]].node, seen);
    g->order[g->n_ordered++] = at;
}

static void make_graph(graph *g, uint64_t seed) {
    static void (*const adders[])(graph *) = {
        add_unary, add_scalar,          add_binary, add_broadcast,   add_sum,   add_dropout,
        add_dot,   add_reduction,       add_views,  add_convolution, add_split, add_where,
        add_norm,  add_fully_connected, add_binary, add_unary,       add_sum};
    uint8_t seen[MOST_NODES] = {0};
    memset(g, 0, sizeof *g);
    g->state = seed * 77 + 1;
    for (int i = 0; i < 3; i++)
        variable_like(g, ROWS, COLUMNS);
    g->values[0].req = MXC_REQ_WRITE;
    for (int i = 3 + (int)draw(g, 12); i > 0 && g->n_nodes < MOST_NODES - 5; i--)
        adders[draw(g, sizeof adders / sizeof *adders)](g);
    if (draw(g, 4) == 0)
        add_loss(g);
    g->n_heads = 1 + (int)draw(g, MOST_HEADS);
    for (int i = 0; i < g->n_heads; i++)
        g->heads[i] = g->nodes[i == 0 ? g->n_nodes - 1 : (int)draw(g, (uint32_t)g->n_nodes)].first_out;
    for (int i = 0; i < g->n_heads; i++)
        visit(g, g->values[g->heads[i]].node, seen);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* The contents of a value's array depend on the seed, the value and what it is for. */
static mxc_ndarray *make_array(const graph *g, int at, int purpose, double low, double high) {
    const value *v = &g->values[at];
    graph numbers = {.state = g->state + (uint64_t)(1000 * at + purpose)};
    float values[256];
    int64_t size = 1;
    mxc_ndarray *out;
    for (int i = 0; i < v->n_dims; i++)
        size *= v->dims[i];
    assert_true(size <= 256);
    draw(&numbers, 1);
    for (int64_t i = 0; i < size; i++)
        values[i] = (float)(low + (high - low) * draw(&numbers, 100000) / 100000.0);
    assert_ok(mxc_ndarray_from_data(v->n_dims, v->dims, MXC_F32, values, &out));
    return out;
}

enum { VALUE, GRADIENT, HEAD };

/* What one way to compute has of a graph, by value. */
typedef struct side {
    mxc_ndarray *arrays[MOST_VALUES], *grads[MOST_VALUES], *heads[MOST_HEADS], *outputs[MOST_HEADS];
} side;

static void open_side(const graph *g, side *s) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < g->n_values; i++) {
        if (g->values[i].node >= 0)
            continue;
        s->arrays[i] = make_array(g, i, VALUE, g->values[i].low, g->values[i].high);
        s->grads[i] = make_array(g, i, GRADIENT, -1, 1);
    }
    for (int i = 0; i < g->n_heads; i++)
        s->heads[i] = make_array(g, g->heads[i], HEAD + i, -1, 1);
}

static void close_side(side *s) {
    release_all(MOST_VALUES, s->arrays);
    release_all(MOST_VALUES, s->grads);
    release_all(MOST_HEADS, s->heads);
    release_all(MOST_HEADS, s->outputs);
}

static void assert_same_bits(mxc_ndarray *a, mxc_ndarray *b, const char *what, int at, uint64_t seed) {
    float x[256], y[256];
    assert_true(mxc_ndarray_bytes(a) == mxc_ndarray_bytes(b) && mxc_ndarray_bytes(a) <= sizeof x);
    assert_ok(mxc_ndarray_get(a, x, mxc_ndarray_bytes(a)));
    assert_ok(mxc_ndarray_get(b, y, mxc_ndarray_bytes(b)));
    if (memcmp(x, y, mxc_ndarray_bytes(a)) != 0)
        fail_msg("seed %llu: %s %d differs: %.9g and %.9g...", (unsigned long long)seed, what, at, (double)x[0],
                 (double)y[0]);
}

/* ---- an executor ------------------------------------------------------------------------------------------------- */

static mxc_symbol *make_symbol(const graph *g) {
    mxc_symbol *symbols[MOST_VALUES] = {NULL}, *heads[MOST_HEADS], *out;
    char name[16];
    for (int i = 0; i < g->n_values; i++) {
        snprintf(name, sizeof name, "v%d", i);
        if (g->values[i].node < 0)
            assert_ok(mxc_symbol_variable(name, &symbols[i]));
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const node *n = &g->nodes[i];
        mxc_symbol *in[MOST_IN], *made;
        for (int k = 0; k < n->n_in; k++)
            in[k] = symbols[n->in[k]];
        assert_ok(mxc_symbol_op(n->op, NULL, n->n_params, n->keys, n->values, n->n_in, NULL, in, &made));
        for (int k = 0; k < n->n_out; k++)
            assert_ok(mxc_symbol_output(made, k, &symbols[n->first_out + k]));
        mxc_symbol_release(made);
    }
    for (int i = 0; i < g->n_heads; i++)
        heads[i] = symbols[g->heads[i]];
    assert_ok(mxc_symbol_group(g->n_heads, heads, &out));
    for (int i = 0; i < g->n_values; i++)
        mxc_symbol_release(symbols[i]);
    return out;
}

/* The values of the variables with these names. */
static void find_values(const mxc_names *names, int *out) {
    for (int64_t i = 0; i < names->n; i++)
        assert_int_equal(sscanf(names->items[i], "v%d", &out[i]), 1);
}

/* Returns how many gradients are asked for; 0: it has computed none. */
static int run_executor(const graph *g, mxc_symbol *symbol, side *s, int has_head_grads) {
    mxc_names args, aux;
    mxc_ndarray *arg_arrays[MOST_VALUES], *grads[MOST_VALUES], *states[MOST_VALUES];
    mxc_req reqs[MOST_VALUES];
    mxc_executor *executor;
    int at[MOST_VALUES], n = 0;
    assert_ok(mxc_symbol_list_arguments(symbol, &args));
    assert_ok(mxc_symbol_list_aux(symbol, &aux));
    find_values(&args, at);
    for (int64_t i = 0; i < args.n; i++) {
        arg_arrays[i] = s->arrays[at[i]];
        reqs[i] = g->values[at[i]].req;
        grads[i] = reqs[i] != MXC_REQ_NULL ? s->grads[at[i]] : NULL;
        n += reqs[i] != MXC_REQ_NULL;
    }
    find_values(&aux, at);
    for (int64_t i = 0; i < aux.n; i++)
        states[i] = s->arrays[at[i]];
    assert_ok(mxc_executor_bind(symbol, NULL, arg_arrays, grads, reqs, states, &executor));
    mxc_random_seed(g->state);
    assert_ok(mxc_executor_forward(executor, 1));
    for (int i = 0; i < g->n_heads; i++) {
        if (!has_head_grads)
            assert_ok(mxc_ndarray_fill(s->heads[i], 1));
        assert_ok(mxc_ndarray_copy(mxc_executor_output(executor, i), mxc_cpu(0), MXC_F32, &s->outputs[i]));
    }
    if (n)
        assert_ok(mxc_executor_backward(executor, g->n_heads, s->heads));
    mxc_executor_destroy(executor);
    mxc_names_release(&args);
    mxc_names_release(&aux);
    return n;
}

/* ---- calls on arrays --------------------------------------------------------------------------------------------- */

/* Attaches gradients, and computes the heads while recording. */
static void record(const graph *g, side *s) {
    for (int i = 0; i < g->n_values; i++)
        if (g->values[i].node < 0 && g->values[i].req != MXC_REQ_NULL)
            assert_ok(mxc_autograd_attach(s->arrays[i], g->values[i].req, s->grads[i]));
    mxc_random_seed(g->state);
    const int scope = mxc_autograd_record(1);
    for (int i = 0; i < g->n_ordered; i++) {
        const node *n = &g->nodes[g->order[i]];
        mxc_ndarray *in[MOST_IN];
        for (int k = 0; k < n->n_in; k++)
            in[k] = s->arrays[n->in[k]];
        assert_ok(mxc_invoke(n->op, n->n_in, in, n->n_params, n->keys, n->values, n->n_out, &s->arrays[n->first_out]));
    }
    mxc_autograd_leave(scope);
    for (int i = 0; i < g->n_heads; i++)
        s->outputs[i] = mxc_ndarray_retain(s->arrays[g->heads[i]]);
}

/* Handles of intermediate results, which the graph does not need. */
static void release_results(const graph *g, side *s) {
    for (int i = 0; i < g->n_values; i++)
        if (g->values[i].node >= 0) {
            mxc_ndarray_release(s->arrays[i]);
            s->arrays[i] = NULL;
        }
}

static void compare(const graph *g, const side *a, const side *b, uint64_t seed) {
    for (int i = 0; i < g->n_heads; i++)
        assert_same_bits(a->outputs[i], b->outputs[i], "output", i, seed);
    for (int i = 0; i < g->n_values; i++) {
        if (g->values[i].node >= 0)
            continue;
        assert_same_bits(a->arrays[i], b->arrays[i], "variable", i, seed);
        assert_same_bits(a->grads[i], b->grads[i], "gradient of variable", i, seed);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void gradients_equal_an_executors(void **state) {
    int n_with_gradients = 0;
    (void)state;
    for (uint64_t seed = 0; seed < (uint64_t)TEST_SCALE(600); seed++) {
        static graph g;
        side a, b;
        make_graph(&g, seed);
        mxc_symbol *symbol = make_symbol(&g);
        const int has_head_grads = seed % 3 != 0;
        mxc_backward_options options = MXC_BACKWARD_OPTIONS_INIT;
        open_side(&g, &a);
        open_side(&g, &b);
        const int n = run_executor(&g, symbol, &a, has_head_grads);
        record(&g, &b);
        if (seed % 2)
            release_results(&g, &b);
        options.retain_graph = seed % 5 == 0;
        if (!n || !mxc_autograd_in_graph(b.outputs[0])) {
            /* The executor may find gradients where the first head has none. */
        } else {
            int in_graph = 1;
            for (int i = 0; i < g.n_heads; i++)
                in_graph &= mxc_autograd_in_graph(b.outputs[i]);
            if (in_graph) {
                assert_ok(mxc_autograd_backward(g.n_heads, b.outputs, has_head_grads ? b.heads : NULL, &options));
                compare(&g, &a, &b, seed);
                n_with_gradients++;
            }
        }
        close_side(&a);
        close_side(&b);
        mxc_symbol_release(symbol);
    }
    print_message("%d graphs with gradients\n", n_with_gradients);
    assert_true(n_with_gradients > TEST_SCALE(600) / 2);
}

/* The symbol of the recorded graph, bound to the same variables. */
static void recorded_symbols_equal_too(void **state) {
    (void)state;
    for (uint64_t seed = 1000; seed < 1000 + (uint64_t)TEST_SCALE(200); seed++) {
        static graph g;
        side a, b;
        mxc_ndarray *inputs[MOST_VALUES];
        char names[MOST_VALUES][16];
        const char *name_list[MOST_VALUES];
        mxc_symbol *symbol;
        int n = 0, in_graph = 1;
        make_graph(&g, seed);
        open_side(&g, &a);
        open_side(&g, &b);
        record(&g, &b);
        for (int i = 0; i < g.n_values; i++)
            if (g.values[i].node < 0) {
                inputs[n] = b.arrays[i];
                snprintf(names[n], sizeof names[n], "v%d", i);
                name_list[n] = names[n];
                n++;
            }
        for (int i = 0; i < g.n_heads; i++)
            in_graph &= mxc_autograd_in_graph(b.outputs[i]);
        if (in_graph) {
            mxc_names found;
            assert_ok(mxc_autograd_symbol(g.n_heads, b.outputs, n, inputs, name_list, &symbol));
            assert_ok(mxc_symbol_list_arguments(symbol, &found));
            int is_whole = 1; /* calls without variables are not recorded: their results are variables of their own */
            for (int64_t i = 0; i < found.n; i++)
                is_whole &= found.items[i][0] == 'v' && found.items[i][1] != 'a';
            mxc_names_release(&found);
            if (is_whole && run_executor(&g, symbol, &a, 1)) {
                assert_ok(mxc_autograd_backward(g.n_heads, b.outputs, b.heads, NULL));
                compare(&g, &a, &b, seed);
            }
            mxc_symbol_release(symbol);
        }
        close_side(&a);
        close_side(&b);
    }
}

/* A cached operator on the same inputs. Its gradients with request add are summed behind the executor's. */
static void cached_operators_equal_too(void **state) {
    (void)state;
    for (uint64_t seed = 2000; seed < 2000 + (uint64_t)TEST_SCALE(200); seed++) {
        static graph g;
        side a, b;
        mxc_names args, aux;
        mxc_ndarray *in[MOST_VALUES];
        mxc_cached_op *op;
        int at[MOST_VALUES], n = 0;
        make_graph(&g, seed);
        mxc_symbol *symbol = make_symbol(&g);
        for (int i = 0; i < g.n_values; i++)
            if (g.values[i].req == MXC_REQ_ADD)
                g.values[i].req = MXC_REQ_WRITE;
        open_side(&g, &a);
        open_side(&g, &b);
        const int n_grads = run_executor(&g, symbol, &a, 1);
        assert_ok(mxc_symbol_list_arguments(symbol, &args));
        assert_ok(mxc_symbol_list_aux(symbol, &aux));
        find_values(&args, at);
        for (int64_t i = 0; i < args.n; i++)
            in[n++] = b.arrays[at[i]];
        find_values(&aux, at);
        for (int64_t i = 0; i < aux.n; i++)
            in[n++] = b.arrays[at[i]];
        for (int i = 0; i < g.n_values; i++)
            if (g.values[i].node < 0 && g.values[i].req != MXC_REQ_NULL)
                assert_ok(mxc_autograd_attach(b.arrays[i], g.values[i].req, b.grads[i]));
        assert_ok(mxc_cached_op_create(symbol, NULL, &op));
        mxc_random_seed(g.state);
        const int scope = mxc_autograd_record(1);
        assert_ok(mxc_cached_op_invoke(op, n, in, g.n_heads, b.outputs));
        mxc_autograd_leave(scope);
        if (n_grads)
            assert_ok(mxc_autograd_backward(g.n_heads, b.outputs, b.heads, NULL));
        compare(&g, &a, &b, seed);
        mxc_cached_op_destroy(op);
        mxc_names_release(&args);
        mxc_names_release(&aux);
        mxc_symbol_release(symbol);
        close_side(&a);
        close_side(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_an_executors),
        cmocka_unit_test(recorded_symbols_equal_too),
        cmocka_unit_test(cached_operators_equal_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

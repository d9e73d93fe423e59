/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element-wise operators, reductions and moves on arrays of 64 MiB, which no cache holds: bytes that a call must read
 * and write each second, and the share that is of what memcpy moves from one such array to another with as many
 * threads, measured in turn with each row. Beside it, the same copy with stores past the caches: memcpy's stores read
 * each line of the target first, which is not counted. An array that is not needed as a whole (a table of which rows
 * are taken) counts as much as the result. Optimizers work in place. --only TEXT: the rows whose title contains it.
 */
#include <mxc/op.h>

#include "math/tile_kernels.h"
#include "measure.h"

enum { SLOTS = 4, THREADS = 2, ARRAY = 64 << 20, ARRAYS = 10, QUICK = 256 };

typedef enum pass { FORWARD, BACKWARD } pass;

typedef struct item {
    const char *title, *op, *keys[3], *values[3];
    mxc_dtype dtype;
    int64_t dims[3][5]; /* of the inputs given: ndim and sizes; the first is QUICK times smaller with --quick */
    pass pass;
    int index; /* the input of two that has row numbers of the other, and 1; 0: none */
    int picks; /* of the array that rows are taken from as much is read as there is in the result */
} item;

#define F32 .dtype = MXC_F32
#define FLAT \
    { 1, 1 << 24 }
#define WIDE \
    { 2, 1 << 14, 1024 }

static const item items[] = {
    {"_copy", "_copy", F32, .dims = {FLAT}},
    {"negative", "negative", F32, .dims = {FLAT}},
    {"square", "square", F32, .dims = {FLAT}},
    {"relu", "relu", F32, .dims = {FLAT}},
    {"relu, gradient", "relu", F32, .dims = {FLAT}, .pass = BACKWARD},
    {"sqrt", "sqrt", F32, .dims = {FLAT}},
    {"exp", "exp", F32, .dims = {FLAT}},
    {"log", "log", F32, .dims = {FLAT}},
    {"tanh", "tanh", F32, .dims = {FLAT}},
    {"sigmoid", "sigmoid", F32, .dims = {FLAT}},
    {"erf", "erf", F32, .dims = {FLAT}},
    {"gelu", "gelu", F32, .dims = {FLAT}},
    {"gelu, gradient", "gelu", F32, .dims = {FLAT}, .pass = BACKWARD},
    {"sin", "sin", F32, .dims = {FLAT}},
    {"relu f16", "relu", .dtype = MXC_F16, .dims = {{1, 1 << 25}}},
    {"relu bf16", "relu", .dtype = MXC_BF16, .dims = {{1, 1 << 25}}},
    {"relu i32", "relu", .dtype = MXC_I32, .dims = {FLAT}},
    {"a + b", "elemwise_add", F32, .dims = {FLAT, FLAT}},
    {"a b, gradients", "elemwise_mul", F32, .dims = {FLAT, FLAT}, .pass = BACKWARD},
    {"a / b f64", "elemwise_div", .dtype = MXC_F64, .dims = {{1, 1 << 23}, {1, 1 << 23}}},
    {"a + b f16", "elemwise_add", .dtype = MXC_F16, .dims = {{1, 1 << 25}, {1, 1 << 25}}},
    {"a + b + c", "add_n", {"num_args"}, {"3"}, F32, .dims = {FLAT, FLAT, FLAT}},
    {"a > b", "_greater", F32, .dims = {FLAT, FLAT}},
    {"a + 1", "_plus_scalar", {"scalar"}, {"1"}, F32, .dims = {FLAT}},
    {"a ^ 2.5", "_power_scalar", {"scalar"}, {"2.5"}, F32, .dims = {FLAT}},
    {"a > 1", "_greater_scalar", {"scalar"}, {"1"}, F32, .dims = {FLAT}},
    {"clip", "clip", {"a_min", "a_max"}, {"0", "1"}, F32, .dims = {FLAT}},
    {"a + row", "broadcast_add", F32, .dims = {WIDE, {1, 1024}}},
    {"a + row, gradients", "broadcast_add", F32, .dims = {WIDE, {1, 1024}}, .pass = BACKWARD},
    {"a b of a column", "broadcast_mul", F32, .dims = {WIDE, {2, 1 << 14, 1}}},
    {"a b of a column, gradients", "broadcast_mul", F32, .dims = {WIDE, {2, 1 << 14, 1}}, .pass = BACKWARD},
    {"a + channel", "broadcast_add", F32, .dims = {{3, 512, 32, 1024}, {3, 1, 32, 1}}},
    {"broadcast_to, last axis", "broadcast_to", {"shape"}, {"(0,1024)"}, F32, .dims = {{2, 1 << 14, 1}}},
    {"where", "where", F32, .dims = {FLAT, FLAT, FLAT}},
    {"cast f32 to f16", "Cast", {"dtype"}, {"float16"}, F32, .dims = {FLAT}},
    {"cast f16 to f32", "Cast", {"dtype"}, {"float32"}, .dtype = MXC_F16, .dims = {FLAT}},
    {"cast f32 to bf16", "Cast", {"dtype"}, {"bfloat16"}, F32, .dims = {FLAT}},
    {"cast bf16 to f32", "Cast", {"dtype"}, {"float32"}, .dtype = MXC_BF16, .dims = {FLAT}},
    {"cast f32 to u8", "Cast", {"dtype"}, {"uint8"}, F32, .dims = {FLAT}},
    {"cast u8 to f32", "Cast", {"dtype"}, {"float32"}, .dtype = MXC_U8, .dims = {FLAT}},
    {"cast f32 to i64", "Cast", {"dtype"}, {"int64"}, F32, .dims = {{1, 1 << 23}}},
    {"Activation tanh", "Activation", {"act_type"}, {"tanh"}, F32, .dims = {FLAT}},
    {"Activation tanh, gradient", "Activation", {"act_type"}, {"tanh"}, F32, .dims = {FLAT}, .pass = BACKWARD},
    {"Activation relu f16", "Activation", {"act_type"}, {"relu"}, .dtype = MXC_F16, .dims = {{1, 1 << 25}}},
    {"LeakyReLU", "LeakyReLU", {"act_type"}, {"leaky"}, F32, .dims = {FLAT}},
    {"Dropout", "Dropout", F32, .dims = {FLAT}},
    {"Dropout, gradient", "Dropout", F32, .dims = {FLAT}, .pass = BACKWARD},
    {"sgd_update", "sgd_update", {"lr"}, {"0.01"}, F32, .dims = {FLAT}},
    {"sgd_mom_update", "sgd_mom_update", {"lr", "momentum"}, {"0.01", "0.9"}, F32, .dims = {FLAT}},
    {"adam_update", "adam_update", {"lr"}, {"0.01"}, F32, .dims = {FLAT}},
    {"sum, all", "sum", F32, .dims = {FLAT}},
    {"sum, last axis", "sum", {"axis"}, {"-1"}, F32, .dims = {WIDE}},
    {"sum, last axis of 16", "sum", {"axis"}, {"-1"}, F32, .dims = {{2, 1 << 20, 16}}},
    {"sum, first axis", "sum", {"axis"}, {"0"}, F32, .dims = {WIDE}},
    {"sum, middle axis", "sum", {"axis"}, {"1"}, F32, .dims = {{3, 256, 256, 256}}},
    {"sum f16, all", "sum", .dtype = MXC_F16, .dims = {{1, 1 << 25}}},
    {"sum f16, first axis", "sum", {"axis"}, {"0"}, .dtype = MXC_F16, .dims = {{2, 1 << 15, 1024}}},
    {"mean, last axis", "mean", {"axis"}, {"-1"}, F32, .dims = {WIDE}},
    {"mean, gradient", "mean", {"axis"}, {"-1"}, F32, .dims = {WIDE}, .pass = BACKWARD},
    {"max, all", "max", F32, .dims = {FLAT}},
    {"max, last axis", "max", {"axis"}, {"-1"}, F32, .dims = {WIDE}},
    {"max, first axis", "max", {"axis"}, {"0"}, F32, .dims = {WIDE}},
    {"norm, all", "norm", F32, .dims = {FLAT}},
    {"norm, first axis", "norm", {"axis"}, {"0"}, F32, .dims = {WIDE}},
    {"argmax, all", "argmax", F32, .dims = {FLAT}},
    {"argmax, last axis", "argmax", {"axis"}, {"-1"}, F32, .dims = {WIDE}},
    {"argmax, first axis", "argmax", {"axis"}, {"0"}, F32, .dims = {WIDE}},
    {"softmax, last axis", "softmax", {"axis"}, {"-1"}, F32, .dims = {WIDE}},
    {"softmax, gradient", "softmax", {"axis"}, {"-1"}, F32, .dims = {WIDE}, .pass = BACKWARD},
    {"softmax, first axis", "softmax", {"axis"}, {"0"}, F32, .dims = {WIDE}},
    {"log_softmax, last axis", "log_softmax", {"axis"}, {"-1"}, F32, .dims = {WIDE}},
    {"LayerNorm", "LayerNorm", F32, .dims = {WIDE}},
    {"LayerNorm, gradients", "LayerNorm", F32, .dims = {WIDE}, .pass = BACKWARD},
    {"BatchNorm", "BatchNorm", F32, .dims = {{3, 512, 32, 1024}}},
    {"BatchNorm, gradients", "BatchNorm", F32, .dims = {{3, 512, 32, 1024}}, .pass = BACKWARD},
    {"transpose", "transpose", F32, .dims = {{2, 4096, 4096}}},
    {"transpose f16", "transpose", .dtype = MXC_F16, .dims = {{2, 8192, 4096}}},
    {"transpose u8", "transpose", .dtype = MXC_U8, .dims = {{2, 8192, 8192}}},
    {"transpose (0,2,1)", "transpose", {"axes"}, {"(0,2,1)"}, F32, .dims = {{3, 512, 32, 1024}}},
    {"transpose (0,2,1,3)", "transpose", {"axes"}, {"(0,2,1,3)"}, F32, .dims = {{4, 256, 64, 16, 64}}},
    {"concat, first axis", "Concat", {"num_args", "dim"}, {"2", "0"}, F32, .dims = {WIDE, WIDE}},
    {"concat, last axis", "Concat", {"num_args", "dim"}, {"2", "1"}, F32, .dims = {WIDE, WIDE}},
    {"slice of last axis", "slice_axis", {"axis", "begin", "end"}, {"1", "0", "512"}, F32, .dims = {WIDE}, .picks = 1},
    {"take of rows of 256", "take", F32, .dims = {{2, 1 << 16, 256}, {1, 1 << 16}}, .index = 2, .picks = 1},
    {"Embedding, width 64",
     "Embedding",
     {"input_dim", "output_dim"},
     {"1024", "64"},
     F32,
     .dims = {{1, 1 << 18}, {2, 1024, 64}},
     .index = 1},
};

/* ---- one call ---------------------------------------------------------------------------------------------------- */

typedef struct bound {
    mxc_op *op;
    mxc_op_sig sig;
    mxc_shape shapes[3][SLOTS];
    mxc_dtype types[3][SLOTS];
    mxc_tensor in[SLOTS], out[SLOTS], aux[SLOTS], out_grad[SLOTS], in_grad[SLOTS];
    mxc_req req[SLOTS];
    mxc_op_call call;
    mxc_op_compute_fn fn;
    char *memory;
    size_t used;
    double bytes;
} bound;

static void infer(bound *b, const item *it, int threads, int quick) {
    int n = 0;
    while (n < 3 && it->keys[n])
        n++;
    measure_check(mxc_op_create(it->op, n, it->keys, it->values, &b->op));
    b->sig = (mxc_op_sig){.op = b->op,
                          .params = mxc_op_params(b->op),
                          .n_in = mxc_op_n_args(b->op),
                          .n_out = mxc_op_n_outputs(b->op),
                          .n_aux = mxc_op_n_aux(b->op),
                          .in_shape = b->shapes[0],
                          .out_shape = b->shapes[1],
                          .aux_shape = b->shapes[2],
                          .in_type = b->types[0],
                          .out_type = b->types[1],
                          .aux_type = b->types[2],
                          .context = {MXC_CPU, 0},
                          .is_train = 1,
                          .parallelism = threads};
    for (int i = 0; i < 3 * SLOTS; i++) {
        b->shapes[i / SLOTS][i % SLOTS].ndim = -1;
        b->types[i / SLOTS][i % SLOTS] = i < b->sig.n_in ? it->dtype : MXC_DTYPE_UNKNOWN;
    }
    for (int i = 0; i < 3 && it->dims[i][0]; i++) {
        mxc_shape *shape = &b->shapes[0][i];
        measure_check(mxc_shape_set(shape, (int)it->dims[i][0], it->dims[i] + 1));
        if (quick && shape->dim[0] == it->dims[0][1])
            shape->dim[0] /= QUICK;
    }
    measure_check(mxc_op_infer_type(&b->sig));
    measure_check(mxc_op_infer_shape(&b->sig));
}

/* Numbers between -3 and 3, or row numbers below limit. */
static void fill(const mxc_tensor *t, int64_t limit) {
    int64_t n = mxc_shape_size(&t->shape);
    double value[1024];
    for (int64_t i = 0; i < n; i += 1024) {
        for (int64_t j = 0; j < 1024; j++)
            value[j] = limit ? (double)((i + j) * 7919 % limit) : (double)((i + j) * 7919 % 1009) / 168 - 3;
        mxci_convert(MXC_F64, value, t->dtype, (char *)t->data + (size_t)i * mxc_dtype_size(t->dtype),
                     n - i < 1024 ? n - i : 1024);
    }
}

static double bytes_of(const mxc_tensor *t) {
    return (double)mxc_shape_size(&t->shape) * (double)mxc_dtype_size(t->dtype);
}

/* Assign memory to n tensors, one behind the other. */
static void lay_out(bound *b, int n, const mxc_shape *shapes, const mxc_dtype *types, mxc_tensor *tensors) {
    for (int i = 0; i < n; i++) {
        tensors[i] = (mxc_tensor){.data = b->memory + b->used, .shape = shapes[i], .dtype = types[i]};
        b->used += ((size_t)bytes_of(&tensors[i]) + 4095 + 64) & ~(size_t)4095;
    }
    if (b->used > (size_t)ARRAY * ARRAYS)
        measure_fail("an operator needs more memory than there is");
}

static void lay_out_all(bound *b, const item *it) {
    const mxc_op_sig *s = &b->sig;
    lay_out(b, s->n_in, s->in_shape, s->in_type, b->in);
    lay_out(b, s->n_out, s->out_shape, s->out_type, b->out);
    lay_out(b, s->n_aux, s->aux_shape, s->aux_type, b->aux);
    if (it->pass == BACKWARD) {
        lay_out(b, s->n_out, s->out_shape, s->out_type, b->out_grad);
        lay_out(b, s->n_in, s->in_shape, s->in_type, b->in_grad);
    }
    for (int i = 0; i < s->n_in; i++)
        fill(&b->in[i], i == it->index - 1 ? b->in[1 - i].shape.dim[0] : 0);
    for (int i = 0; i < s->n_out; i++) {
        fill(&b->out[i], 0);
        if (it->pass == BACKWARD)
            fill(&b->out_grad[i], 0);
    }
    for (int i = 0; i < s->n_aux; i++)
        fill(&b->aux[i], 0);
}

/* What the pass must read and write. */
static double traffic_of(const bound *b, const item *it) {
    mxc_op_needs needs;
    double bytes = 0;
    int forward = it->pass == FORWARD;
    mxc_op_get_needs(b->op, &needs);
    for (int i = 0; i < b->sig.n_in; i++) {
        if (forward || mxc_need_has(needs.in, i))
            bytes += bytes_of(it->picks && i == 0 ? &b->out[0] : &b->in[i]);
        if (!forward)
            bytes += bytes_of(&b->in_grad[i]);
    }
    for (int i = 0; i < b->sig.n_out; i++)
        bytes += (forward + !forward * mxc_need_has(needs.out_grad, i) + !forward * mxc_need_has(needs.out, i)) *
                 bytes_of(&b->out[i]);
    for (int i = 0; i < b->sig.n_aux && forward; i++)
        bytes += 2 * bytes_of(&b->aux[i]);
    return bytes;
}

static void open_bound(bound *b, const item *it, int threads, int quick, char *memory) {
    const mxc_op_def *def;
    memset(b, 0, sizeof *b);
    b->memory = memory;
    infer(b, it, threads, quick);
    def = mxc_op_get_def(b->op);
    lay_out_all(b, it);
    if (strstr(it->op, "_update"))
        b->out[0].data = b->in[0].data;
    b->fn = it->pass == FORWARD ? def->forward[MXC_CPU] : def->backward[MXC_CPU];
    b->call = (mxc_op_call){.op = b->op,
                            .params = mxc_op_params(b->op),
                            .is_train = 1,
                            .n_in = b->sig.n_in,
                            .n_out = b->sig.n_out,
                            .n_aux = b->sig.n_aux,
                            .in = b->in,
                            .out = b->out,
                            .aux = b->aux,
                            .out_grad = b->out_grad,
                            .in_grad = b->in_grad,
                            .req = b->req,
                            .temp = memory + b->used};
    for (int i = 0; i < SLOTS; i++)
        b->req[i] = MXC_REQ_WRITE;
    if (def->temp_bytes)
        b->call.temp_bytes = def->temp_bytes(&b->sig, it->pass == FORWARD ? MXC_FORWARD : MXC_BACKWARD);
    if (b->used + b->call.temp_bytes > (size_t)ARRAY * ARRAYS)
        measure_fail("an operator needs more memory than there is");
    b->bytes = traffic_of(b, it);
}

static void call_bound(const mxc_run *run, void *arg) {
    bound *b = arg;
    b->call.run = run;
    measure_check(b->fn(&b->call));
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

typedef struct copying {
    char *to, *from;
    int64_t bytes;
} copying;

static void copy_part(void *arg, int64_t begin, int64_t end, int part) {
    const copying *c = arg;
    (void)part;
    memcpy(c->to + begin, c->from + begin, (size_t)(end - begin));
}

static void copy(const mxc_run *run, void *arg) {
    mxc_parallel_for(run, ((const copying *)arg)->bytes, 4096, copy_part, arg);
}

static void stream_part(void *arg, int64_t begin, int64_t end, int part) {
    const copying *c = arg;
    (void)part;
    mxci_stream(c->to + begin, c->from + begin, (size_t)(end - begin));
    mxci_stream_end();
}

static void stream(const mxc_run *run, void *arg) {
    mxc_parallel_for(run, ((const copying *)arg)->bytes, 4096, stream_part, arg);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct row {
    const item *item;
    int threads, quick;
    char *memory;
    double rate, median, copied, streamed; /* bytes a second: of a tenth of the samples, of half of them; of copying */
} row;

static mxc_status measure_row(const mxc_run *run, void *arg) {
    row *r = arg;
    bound b;
    copying c = {r->memory, r->memory + ARRAY, r->quick ? ARRAY / QUICK : ARRAY};
    measure_case cases[] = {{.call = copy, .arg = &c}, {.call = stream, .arg = &c}, {.call = call_bound, .arg = &b}};
    open_bound(&b, r->item, r->threads, r->quick, r->memory + 2 * ARRAY);
    measure_in_turn(run, 3, cases, r->quick);
    r->rate = b.bytes / cases[2].seconds;
    r->median = b.bytes / cases[2].median;
    r->streamed = 2.0 * (double)c.bytes / cases[1].seconds;
    r->copied = 2.0 * (double)c.bytes / cases[0].seconds;
    mxc_op_release(b.op);
    return MXC_OK;
}

static void print_row(const item *it, int quick, char *memory) {
    printf("%-27s", it->title);
    for (int threads = 1; threads <= THREADS; threads++) {
        row r = {.item = it, .threads = threads, .quick = quick, .memory = memory};
        measure_inside(threads, measure_row, &r);
        printf(" %8.1f %6.1f %6.1f %6.1f %4.0f%%", 1e-9 * r.copied, 1e-9 * r.streamed, 1e-9 * r.median, 1e-9 * r.rate,
               100 * r.rate / r.copied);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    size_t bytes = (size_t)ARRAY * (ARRAYS + 2);
    const char *only = argc == 3 && strcmp(argv[1], "--only") == 0 ? argv[2] : NULL;
    int quick = only ? 0 : measure_is_quick(argc, argv);
    char *memory = mxci_pages_alloc(bytes);
    if (!memory)
        measure_fail("no memory");
    memset(memory, 0, bytes);
    printf("%-27s %8s %6s %6s %6s %5s %8s %6s %6s %6s %5s\n", "GB/s", "1 memcpy", "past", "median", "p10", "share",
           "2 memcpy", "past", "median", "p10", "share");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (!only || strstr(items[i].title, only))
            print_row(&items[i], quick, memory);
    mxci_pages_free(memory, bytes);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _chain: several element-wise operators computed in one pass over the elements. The parameter steps is a text such as
 * "add:i0:i1,relu:s0": functions of binary.def and unary.def with their operands, where iN is an argument, sN the
 * result of step N, and anything else a number. out is the result of the last step. All arrays have one shape and float
 * dtype; between the steps values are not rounded to it. The executor makes such operators (passes/fusion.c).
 *
 * This is an interpreter over tiles of TILE elements, which stay in the first-level cache from step to step.
 */
#include "simpleop/chain.h"

#include <string.h>

#include "base/text.h"
#include "math/assign.h"
#include "simpleop/families.h"
#include "simpleop/map_kernels.h"

enum { TILE = 128 };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_chain_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = MXCI_CHAIN_INPUTS, .doc = "Number of arguments."},
    {MXC_PARAM_FIELD(mxci_chain_params, text), .name = "steps", .type = MXC_PARAM_STRING,
     .doc = "Functions with their operands, in order."},
    MXC_PARAM_END,
};

/* ---- reading steps ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int16_t function;
} functions[] = {
#define CHAIN_UNARY(id) {#id, MXCI_UNARY_##id},
#define CHAIN_BINARY(id) {#id, MXCI_UNARY_COUNT + MXCI_BINARY_##id},
#include "simpleop/chain.def"
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static int find_function(const char *name) {
    for (int i = 0; i < FUNCTIONS; i++)
        if (!strcmp(functions[i].name, name))
            return functions[i].function;
    return -1;
}

/* Reads an operand after its colon: i0, s3 or a number; 0 if it is none of these. */
static int read_operand(const mxci_chain_params *p, const char **at, int8_t *operand, double *number) {
    int64_t index;
    char kind;
    if (**at != ':')
        return 0;
    kind = *++*at;
    if (kind != 'i' && kind != 's') {
        *operand = MXCI_CHAIN_NUMBER;
        return mxci_read_double(at, number);
    }
    ++*at;
    if (!mxci_read_int(at, &index) || index < 0 || index >= (kind == 'i' ? p->num_args : p->n))
        return 0;
    *operand = (int8_t)(kind == 'i' ? index : MXCI_CHAIN_RESULT + index);
    return 1;
}

/* Reads one step, which may use the results of those before it; 0 if it is malformed. */
static int read_step(const mxci_chain_params *p, const char *text, mxci_chain_step *out) {
    char name[32];
    size_t n = strcspn(text, ":");
    const char *at = text + n;
    int function;
    if (n >= sizeof name)
        return 0;
    memcpy(name, text, n);
    name[n] = '\0';
    function = find_function(name);
    out->function = (int16_t)function;
    return function >= 0 && read_operand(p, &at, &out->a, &out->number) &&
           (function < MXCI_UNARY_COUNT || read_operand(p, &at, &out->b, &out->number)) && *at == '\0';
}

/* Parses the steps when the operator is created, so that a run only interprets them. */
static mxc_status chain_check(void *params) {
    mxci_chain_params *p = params;
    char text[96];
    while (mxci_list_item(p->text, p->n, text, sizeof text)) {
        if (p->n == MXCI_CHAIN_STEPS || !read_step(p, text, &p->step[p->n]))
            return MXC_FAIL(MXC_EINVAL, "_chain: step %d, \"%.60s\", cannot be read", (int)p->n, text);
        p->n++;
    }
    return p->n ? MXC_OK : MXC_FAIL(MXC_EINVAL, "_chain: there is no step");
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

typedef union tile {
    double f64[TILE];
    float f32[TILE];
} tile;

/* An operand's elements in the compute type; buffer: room for them. */
static const void *operand_at(const mxc_op_call *call, int operand, double number, int64_t at, int64_t n,
                              const tile *results, tile *buffer) {
    const mxc_dtype type = mxci_compute_type(call->out[0].dtype);
    if (operand == MXCI_CHAIN_NUMBER) {
        mxci_fill_compute(type, number, buffer, n);
        return buffer;
    }
    if (operand >= MXCI_CHAIN_RESULT)
        return &results[operand - MXCI_CHAIN_RESULT];
    mxci_load(call->in[operand].dtype, mxci_at(&call->in[operand], at), buffer, n);
    return buffer;
}

/* The kernel of a step in a compute type. */
static mxci_map_fn function_of(const mxci_chain_step *s, mxc_dtype type) {
    return s->function < MXCI_UNARY_COUNT ? mxci_unary_kernels[s->function].forward[type]
                                          : mxci_binary_kernels[s->function - MXCI_UNARY_COUNT].forward[type];
}

/* All steps on one tile after the other; with MXC_REQ_ADD only the last result is added. */
static void chain_run_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_chain_params *p = call->params;
    const mxc_dtype dtype = call->out[0].dtype;
    const int store_mode = call->req[0] == MXC_REQ_ADD ? MXCI_STORE_ADD : MXCI_STORE_WRITE;
    tile results[MXCI_CHAIN_STEPS], buffers[2];
    (void)part;
    for (int64_t at = begin; at < end; at += TILE) {
        int64_t n = end - at < TILE ? end - at : TILE;
        for (int i = 0; i < p->n; i++) {
            const mxci_chain_step *s = &p->step[i];
            const void *in[2] = {operand_at(call, s->a, s->number, at, n, results, &buffers[0]), NULL};
            if (s->function >= MXCI_UNARY_COUNT)
                in[1] = operand_at(call, s->b, s->number, at, n, results, &buffers[1]);
            function_of(s, mxci_compute_type(dtype))(n, in, &results[i]);
        }
        mxci_assign_tile(store_mode, dtype, &results[p->n - 1], mxci_at(&call->out[0], at), n);
    }
}

static mxc_status chain_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN / 4, chain_run_part, (void *)call);
    return MXC_OK;
}

#define FROM(i) \
    { MXC_FROM_IN(i), 0 }

const mxc_op_def mxci_op_chain = {
    .size = sizeof(mxc_op_def),
    .name = "_chain",
    .flags = MXC_OP_HIDDEN | MXC_OP_ZERO_GRADIENT,
    .doc = "A chain of element-wise functions computed in one pass",
    .params = schema,
    .param_size = sizeof(mxci_chain_params),
    .params_check = chain_check,
    .variadic = "num_args",
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward =
        (const mxc_inplace[]){FROM(0), FROM(1), FROM(2), FROM(3), FROM(4), FROM(5), FROM(6), FROM(7), MXC_INPLACE_END},
    .forward = {[MXC_CPU] = chain_forward},
};

int mxci_chain_operands(const char *function) {
    const int found = find_function(function);
    return found < 0 ? 0 : found < MXCI_UNARY_COUNT ? 1 : 2;
}

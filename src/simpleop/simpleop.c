/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimpleOp: compiles a registration (mxc_simple_def) into an operator descriptor (mxc_op_def), which the registry turns
 * into an array function and a symbol. The descriptor's functions find the registration through the operator, since the
 * descriptor is the first member of mxci_simple_op, and call the registered function for the arity and device.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "math/assign.h"
#include "operator/infer.h"
#include "simpleop/chain.h"
#include "simpleop/families.h"
#include "simpleop/simple.h"

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static const mxc_simple_def *simple_of(const mxc_op *op) {
    return ((const mxci_simple_op *)mxc_op_get_def(op))->simple;
}

/* What a registered function gets to know of its operator. */
static mxc_simple_env make_env(const mxc_op *op, const void *params) {
    const mxc_simple_def *def = simple_of(op);
    mxc_simple_env env = {.op = op};
    if (def->scalar != MXC_SCALAR_NONE)
        env.scalar = ((const mxci_scalar_params *)params)->scalar;
    else if (def->params || def->param_size)
        env.params = params;
    return env;
}

static mxc_simple_env call_env(const mxc_op_call *call) {
    mxc_simple_env env = make_env(call->op, call->params);
    env.run = call->run;
    env.temp = call->temp;
    env.random = call->random;
    return env;
}

/* Arrays in pinned memory are computed on the host. */
static int call_device(const mxc_op_call *call) {
    int device = call->run->context.device;
    return device == MXC_CPU_PINNED ? MXC_CPU : device;
}

static int is_integer(mxc_dtype dtype) {
    return (MXC_DTYPES_INT & MXC_DTYPE_BIT(dtype)) != 0;
}

/* The function of integers in float64, after a conversion to scratch. */
static mxc_status forward_in_float64(const mxc_op_call *call, const mxc_simple_env *env, int device) {
    mxc_tensor wide = {.data = call->temp, .shape = call->in[0].shape, .dtype = MXC_F64};
    if (device != MXC_CPU)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: is_int=False with data of %s: computed on the CPU only",
                        mxc_op_get_def(call->op)->name, mxc_dtype_name(call->in[0].dtype));
    mxci_assign_cast(call->run, MXC_REQ_WRITE, &wide, &call->in[0]);
    return simple_of(call->op)->unary[device](env, &wide, call->req[0], &call->out[0]);
}

static mxc_status simpleop_forward(const mxc_op_call *call) {
    const mxc_simple_def *def = simple_of(call->op);
    mxc_simple_env env = call_env(call);
    int device = call_device(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (def->scalar != MXC_SCALAR_NONE && def->arity == 1 && call->in[0].dtype != call->out[0].dtype)
        return forward_in_float64(call, &env, device);
    if (def->arity == 0)
        return def->source[device](&env, call->req[0], &call->out[0]);
    if (def->arity == 1)
        return def->unary[device](&env, &call->in[0], call->req[0], &call->out[0]);
    return def->binary[device](&env, &call->in[0], &call->in[1], call->req[0], &call->out[0]);
}

/* value: the input or output that the gradient depends on (gradient_kind). */
static mxc_status unary_backward(const mxc_op_call *call) {
    const mxc_simple_def *def = simple_of(call->op);
    mxc_simple_env env = call_env(call);
    const mxc_tensor *value = def->gradient_kind == MXC_GRADIENT_IN    ? &call->in[0]
                              : def->gradient_kind == MXC_GRADIENT_OUT ? &call->out[0]
                                                                       : NULL;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (def->scalar != MXC_SCALAR_NONE && is_integer(call->in_grad[0].dtype) &&
        call->in_grad[0].dtype != call->out_grad[0].dtype) {
        if (call->req[0] != MXC_REQ_ADD)
            mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[0], 0);
        return MXC_OK;
    }
    return def->unary_grad[call_device(call)](&env, &call->out_grad[0], value, call->req[0], &call->in_grad[0]);
}

static mxc_status binary_backward(const mxc_op_call *call) {
    const mxc_simple_def *def = simple_of(call->op);
    mxc_simple_env env = call_env(call);
    if (call->req[0] == MXC_REQ_NULL && call->req[1] == MXC_REQ_NULL)
        return MXC_OK;
    return def->binary_grad[call_device(call)](&env, &call->out_grad[0], &call->in[0], &call->in[1], call->req[0],
                                               &call->in_grad[0], call->req[1], &call->in_grad[1]);
}

/* ---- inference -------------------------------------------------------------------------------------------------- */

/* The output's shape by the registered function, once all inputs are known; of those that are broadcast, the ranks. */
static mxc_status infer_by_function(mxc_op_sig *sig) {
    const mxc_simple_def *def = simple_of(sig->op);
    mxc_simple_env env = make_env(sig->op, sig->params);
    mxc_shape out = {.ndim = -1};
    char text[MXC_ERROR_MAX];
    mxc_status status;
    for (int i = 0; i < sig->n_in; i++)
        if (def->shape == mxci_broadcast_shape ? sig->in_shape[i].ndim < 0 : !mxc_shape_known(&sig->in_shape[i]))
            return MXC_OK;
    status = def->shape(&env, sig->n_in, sig->in_shape, &out);
    if (status != MXC_OK) { /* the function does not know the operator's name */
        snprintf(text, sizeof text, "%s", mxc_last_error());
        return MXC_FAIL(status, "%s: %s", mxc_op_get_def(sig->op)->name, text);
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* A source, which has no inputs, makes float32 unless the output's dtype is known. */
static mxc_status infer_source_type(mxc_op_sig *sig) {
    if (sig->out_type[0] == MXC_DTYPE_UNKNOWN)
        sig->out_type[0] = MXC_F32;
    return MXC_OK;
}

/* out has data's type; float64 where data is of integers and the scalar is none (is_int=False). */
static mxc_status infer_scalar_type(mxc_op_sig *sig) {
    const mxc_dtype type = sig->in_type[0];
    if (((const mxci_scalar_params *)sig->params)->is_int)
        return mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(0)});
    if (type == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), is_integer(type) ? MXC_F64 : type);
}

/* Integers that are computed in float64 are converted first. */
static size_t scalar_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD && sig->in_type[0] != sig->out_type[0]
               ? mxci_shape_bytes(&sig->in_shape[0], sizeof(double))
               : 0;
}

/* ---- queries of passes ------------------------------------------------------------------------------------------- */

/* mxc_op_def.elementwise: the function that fusion and quantization recognise the operator by. They expect one dtype of
 * arguments and result, which is_int=False does not promise. */
static int elementwise_of(const mxc_op *op, mxc_elementwise *out) {
    const mxc_simple_def *def = simple_of(op);
    const mxci_scalar_params *scalar = def->scalar != MXC_SCALAR_NONE ? mxc_op_params(op) : NULL;
    *out = (mxc_elementwise){.function = def->function, .scalar = def->scalar, .number = scalar ? scalar->scalar : 0};
    return !scalar || scalar->is_int;
}

/* ---- compiling -------------------------------------------------------------------------------------------------- */

/* Refuses registrations whose options contradict each other. */
static mxc_status simpleop_check_options(const mxc_simple_def *def) {
    const char *wrong = NULL;
    int computed = def->gradient_kind >= MXC_GRADIENT_OUT_GRAD;
    if (def->arity < 0 || def->arity > 2)
        wrong = "arity is not 0, 1 or 2";
    else if (def->scalar != MXC_SCALAR_NONE && def->params)
        wrong = "takes a scalar and keyword parameters; one of them is possible";
    else if (def->params_open && (def->params || def->scalar != MXC_SCALAR_NONE))
        wrong = "has params_open together with params or a scalar";
    else if (def->params && !def->param_size)
        wrong = "has params but no param_size";
    else if (computed && def->arity == 0)
        wrong = "a source has no gradient to compute";
    else if (def->gradient_kind == MXC_GRADIENT_OUT && def->arity != 1)
        wrong = "only a unary gradient is computed from the output";
    else if (((def->inplace_forward | def->inplace_backward) & MXC_SIMPLE_INPLACE_RHS_OUT) && def->arity != 2)
        wrong = "only a binary function has a right input";
    else if (def->arity == 0 && def->inplace_forward)
        wrong = "a source has no input to work in place of";
    return wrong ? MXC_FAIL(MXC_EINVAL, "mxc_simpleop_register: %s: %s", def->name, wrong) : MXC_OK;
}

static mxc_status set_functions(const mxc_simple_def *def, mxc_op_def *op) {
    int found = 0, gradients = 0, computed = def->gradient_kind >= MXC_GRADIENT_OUT_GRAD;
    for (int device = 0; device < MXC_DEVICE_LIMIT; device++) {
        int has_function = def->arity == 0   ? def->source[device] != NULL
                           : def->arity == 1 ? def->unary[device] != NULL
                                             : def->binary[device] != NULL;
        int has_gradient = def->arity == 1   ? def->unary_grad[device] != NULL
                           : def->arity == 2 ? def->binary_grad[device] != NULL
                                             : 0;
        if (has_function) {
            op->forward[device] = simpleop_forward;
            found++;
        }
        if (computed && has_gradient) {
            op->backward[device] = def->arity == 1 ? unary_backward : binary_backward;
            gradients++;
        }
    }
    if (!found)
        return MXC_FAIL(MXC_EINVAL, "mxc_simpleop_register: %s: no function of arity %d", def->name, def->arity);
    if (computed && !gradients)
        return MXC_FAIL(MXC_EINVAL, "mxc_simpleop_register: %s: a gradient kind but no gradient function", def->name);
    return MXC_OK;
}

/* The in-place options for the bits of kind: from slot left to slot 0, from slot right to slot right_to. */
static void set_inplace(mxc_simple_inplace kind, int left, int right, int right_to, mxc_inplace *out) {
    int n = 0;
    if (kind & MXC_SIMPLE_INPLACE_IN_OUT)
        out[n++] = (mxc_inplace){left, 0};
    if (kind & MXC_SIMPLE_INPLACE_RHS_OUT)
        out[n++] = (mxc_inplace){right, right_to};
    out[n] = (mxc_inplace)MXC_INPLACE_END;
}

/* Name, aliases (the symbol's name is one) and arguments. */
static mxc_status set_names(const mxc_simple_def *def, mxci_simple_op *out) {
    const char *symbol = def->symbol_name && strcmp(def->symbol_name, def->name) ? def->symbol_name : "";
    const char *aliases = def->aliases ? def->aliases : "";
    int length = snprintf(out->aliases, sizeof out->aliases, "%s%s%s", symbol, *symbol && *aliases ? "," : "", aliases);
    if (length >= (int)sizeof out->aliases)
        return MXC_FAIL(MXC_EINVAL, "mxc_simpleop_register: %s: aliases of %d bytes, at most %zu", def->name, length,
                        sizeof out->aliases - 1);
    out->op.name = def->name;
    out->op.aliases = *out->aliases ? out->aliases : NULL;
    out->op.args = def->args ? def->args : def->arity == 0 ? "" : def->arity == 1 ? "data" : "lhs,rhs";
    return MXC_OK;
}

/* The parameters given, or the parameter scalar. */
static void set_params(const mxc_simple_def *def, mxci_simple_op *out) {
    out->op.params = def->params;
    out->op.param_size = def->param_size;
    out->op.params_open = def->params_open;
    out->op.params_close = def->params_close;
    if (def->scalar == MXC_SCALAR_NONE)
        return;
    out->scalar_schema[0] = (mxc_param){MXC_PARAM_FIELD(mxci_scalar_params, scalar),
                                        .name = "scalar",
                                        .type = MXC_PARAM_FLOAT,
                                        .non_finite = 1,
                                        .initial = "1",
                                        .doc = def->scalar == MXC_SCALAR_BEFORE ? "Left operand." : "Right operand."};
    out->scalar_schema[1] = (mxc_param){
        MXC_PARAM_FIELD(mxci_scalar_params, is_int), .name = "is_int", .type = MXC_PARAM_BOOL, .initial = "True",
        .doc = "Where data is of an integer dtype, convert the scalar to it. False: convert both "
               "to float64, the dtype of the result."};
    out->op.params = out->scalar_schema;
    out->op.param_size = sizeof(mxci_scalar_params);
}

mxc_status mxci_simple_compile(const mxc_simple_def *def, mxci_simple_op *out) {
    const int takes_scalar = def->scalar != MXC_SCALAR_NONE && def->arity == 1;
    *out = (mxci_simple_op){.simple = def, .op = {.size = sizeof out->op}};
    MXC_TRY(simpleop_check_options(def));
    MXC_TRY(set_names(def, out));
    MXC_TRY(set_functions(def, &out->op));
    set_params(def, out);
    if (def->gradient_kind >= MXC_GRADIENT_OUT_GRAD) {
        out->op.needs.out_grad = 1;
        out->op.needs.in = def->gradient_kind == MXC_GRADIENT_IN ? (1u << def->arity) - 1 : 0;
        out->op.needs.out = def->gradient_kind == MXC_GRADIENT_OUT;
    }
    set_inplace(def->inplace_forward, MXC_FROM_IN(0), MXC_FROM_IN(1), 0, out->forward);
    set_inplace(def->inplace_backward, MXC_FROM_OUT_GRAD(0), MXC_FROM_OUT_GRAD(0), 1, out->backward);
    out->op.inplace_forward = out->forward;
    out->op.inplace_backward = out->backward;
    out->op.doc = def->doc;
    out->op.flags = (def->array_only ? MXC_OP_ARRAY_ONLY : 0) |
                    (def->gradient_kind == MXC_GRADIENT_ZERO ? MXC_OP_ZERO_GRADIENT : 0) |
                    (def->elementwise || def->function ? MXC_OP_ELEMENTWISE : 0);
    out->op.elementwise = def->function ? elementwise_of : NULL;
    out->op.quantized = def->quantized;
    out->op.rectifier = def->rectifier;
    out->op.dtypes = def->dtypes ? def->dtypes : MXC_DTYPES_FLOAT;
    out->op.infer_shape = def->shape ? infer_by_function : NULL;
    out->op.infer_type = def->arity == 0 ? infer_source_type : takes_scalar ? infer_scalar_type : NULL;
    out->op.temp_bytes = takes_scalar && !def->temp_bytes ? scalar_temp_bytes : def->temp_bytes;
    out->op.random_count = def->random_count;
    return MXC_OK;
}

mxc_status mxc_simpleop_register(const mxc_simple_def *def) {
    MXC_TRY(MXCI_SIZED(def, "{ .size = sizeof(mxc_simple_def), ... }"));
    mxci_simple_op *simple;
    mxc_status status;
    if (!def->name)
        return MXC_FAIL(MXC_EINVAL, "mxc_simpleop_register: def->name must not be NULL");
    if (def->function && mxci_chain_operands(def->function) != def->arity + (def->scalar != MXC_SCALAR_NONE))
        return MXC_FAIL(MXC_EINVAL, "mxc_simpleop_register: %s: function '%.40s' is not listed, or has other operands",
                        def->name, def->function);
    simple = mxci_alloc(sizeof *simple);
    if (!simple)
        return MXCI_NO_MEMORY("mxc_simpleop_register", def->name);
    status = mxci_simple_compile(def, simple);
    if (status == MXC_OK)
        status = mxc_op_register(&simple->op);
    if (status != MXC_OK)
        mxci_free(simple);
    return status;
}

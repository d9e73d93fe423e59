/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimpleOp: registering a function of zero, one or two arrays together with its gradient makes it available both for
 * arrays (mxc_invoke) and in symbols (mxc_symbol_op).
 */
#ifndef MXC_SIMPLEOP_H
#define MXC_SIMPLEOP_H

#include <mxc/op.h>

/** Arguments of the functions besides the arrays. */
typedef struct mxc_simple_env {
    double scalar;      /* if the operator takes one */
    const void *params; /* struct of the keyword schema, if it has one, or what params_open filled in */
    const mxc_op *op;   /* the operator: mxc_op_n_given and mxc_op_given give the keyword pairs as text, as given */
    const mxc_run *run;
    void *temp; /* temp_bytes bytes of scratch memory */
    mxc_random random;
} mxc_simple_env;

/** Functions by arity. req is never MXC_REQ_NULL, except for one of the two requests of a binary gradient.
 *  @thread any
 */
typedef mxc_status (*mxc_source_fn)(const mxc_simple_env *env, mxc_req req, const mxc_tensor *out);
typedef mxc_status (*mxc_unary_fn)(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out);
typedef mxc_status (*mxc_binary_fn)(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs,
                                    mxc_req req, const mxc_tensor *out);
/** Unary gradient; value is NULL, the output or the input, according to gradient_kind.
 *  @thread any
 */
typedef mxc_status (*mxc_unary_grad_fn)(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value,
                                        mxc_req req, const mxc_tensor *in_grad);
/** Binary gradient; lhs and rhs have data only if gradient_kind is MXC_GRADIENT_IN.
 *  @thread any
 */
typedef mxc_status (*mxc_binary_grad_fn)(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *lhs,
                                         const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad,
                                         mxc_req rhs_req, const mxc_tensor *rhs_grad);

typedef enum mxc_gradient_kind {
    MXC_GRADIENT_NONE = 0,     /* not differentiable: a gradient through it is an error */
    MXC_GRADIENT_ZERO = 1,     /* zero everywhere */
    MXC_GRADIENT_OUT_GRAD = 2, /* computed from the output gradient alone */
    MXC_GRADIENT_OUT = 3,      /* from the output gradient and the output (unary only) */
    MXC_GRADIENT_IN = 4        /* from the output gradient and the inputs */
} mxc_gradient_kind;

/** Bit set: inputs whose memory the result may overwrite. */
typedef enum mxc_simple_inplace {
    MXC_SIMPLE_INPLACE_NONE = 0,
    MXC_SIMPLE_INPLACE_IN_OUT = 1,  /* forward: the (left) input; backward: out_grad, for the (left) gradient */
    MXC_SIMPLE_INPLACE_RHS_OUT = 2, /* binary only: the right input; out_grad, for the right gradient */
    MXC_SIMPLE_INPLACE_BOTH = 3     /* binary only: both of these */
} mxc_simple_inplace;

/** A registration. Use designated initialisers (C, C++20) or mxc_make (C++); members left out are zero. Its functions
 *  are called as those of mxc_op_def.
 *  @thread any
 */
typedef struct mxc_simple_def {
    size_t size;             /* sizeof(mxc_simple_def) */
    const char *name;        /* name for arrays */
    const char *symbol_name; /* name in symbols if it differs (it becomes an alias); NULL: the same */
    const char *aliases;     /* "a,b" or NULL */
    const char *doc;
    int arity;               /* 0, 1 or 2 */
    int array_only;          /* 1: not available in symbols (flag MXC_OP_ARRAY_ONLY) */
    const char *args;        /* argument names; NULL: "data", or "lhs,rhs" */
    mxc_scalar_kind scalar;  /* whether there is a parameter "scalar", 1 by default */
    const mxc_param *params; /* keyword schema; not together with scalar */
    size_t param_size;
    /* In place of params and scalar: take keywords of any name, as in mxc_op_def. It checks them, and fills in
     * param_size bytes, which may be 0: the functions see the pairs themselves through mxc_simple_env.op. */
    mxc_status (*params_open)(int n, const char *const *keys, const char *const *values, void *params);
    void (*params_close)(void *params); /* frees what params_open made; optional */
    unsigned dtypes;                    /* as mxc_op_def.dtypes; 0: MXC_DTYPES_FLOAT */
    /* Output shape from known input shapes (n of them, by arity); NULL: same as the inputs, inferred both ways.
     * Failures by MXC_FAIL(MXC_ESHAPE, ...). */
    mxc_status (*shape)(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out);
    size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass);
    uint64_t (*random_count)(const mxc_op_sig *sig);
    mxc_simple_inplace inplace_forward, inplace_backward;
    /* 1: element-wise (MXC_OP_ELEMENTWISE). function: the element-wise function that it is, of those that
     * mxc_elementwise lists; NULL: another one. It implies elementwise. */
    int elementwise;
    const char *function;
    int (*quantized)(const mxc_op *op, mxc_quantized *out); /* as mxc_op_def.quantized */
    int (*rectifier)(const mxc_op *op, mxc_epilogue *out);  /* as mxc_op_def.rectifier */
    mxc_gradient_kind gradient_kind;
    /* Functions by mxc_device; set the members that fit the arity. */
    mxc_source_fn source[MXC_DEVICE_LIMIT];
    mxc_unary_fn unary[MXC_DEVICE_LIMIT];
    mxc_binary_fn binary[MXC_DEVICE_LIMIT];
    mxc_unary_grad_fn unary_grad[MXC_DEVICE_LIMIT];
    mxc_binary_grad_fn binary_grad[MXC_DEVICE_LIMIT];
} mxc_simple_def;

/** Register; def must stay valid until the process ends. MXC_EINVAL, MXC_EEXIST, MXC_ENOMEM. Thread-safe.
 *  @param[keep] def  the registration
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_simpleop_register(const mxc_simple_def *def);

#endif

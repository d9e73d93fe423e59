/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: what one means (its descriptor), the registry, and calling one on arrays.
 *
 * A descriptor (mxc_op_def) is a constant struct. Together with parsed parameters it makes an mxc_op, which knows its
 * arguments, outputs and auxiliary states and can infer shapes and types. Computation is a function per device and
 * direction. Built-in descriptors are named in src/operator/op_list.def; programs add their own with mxc_op_register.
 * All calls are thread-safe.
 */
#ifndef MXC_OP_H
#define MXC_OP_H

#include <mxc/engine.h>
#include <mxc/ndarray.h>
#include <mxc/param.h>
#include <mxc/random.h>
#include <mxc/types.h>
#include <mxc/version.h>

typedef struct mxc_op_def mxc_op_def;
typedef struct mxc_op mxc_op; /* a descriptor with parameters; immutable, reference counted */

/** Everything known of one use of an operator before it runs. Slots not known yet: ndim -1, MXC_DTYPE_UNKNOWN. */
typedef struct mxc_op_sig {
    const mxc_op *op;
    const void *params;                          /* struct of the descriptor's schema */
    int n_in, n_out, n_aux;                      /* arguments, outputs (hidden ones too), auxiliary states */
    mxc_shape *in_shape, *out_shape, *aux_shape; /* @length n_in, n_out, n_aux */
    mxc_dtype *in_type, *out_type, *aux_type;    /* @length n_in, n_out, n_aux */
    mxc_context context;
    int is_train;
    int parallelism; /* most parts that mxc_parallel_for will make, for scratch per part */
} mxc_op_sig;

/** One run of an operator. Forward reads in, writes out as req says, updates aux. Backward reads out_grad, in and out
 *  (data is NULL where mxc_op_needs did not ask; shapes are always there) and writes in_grad as req says. */
typedef struct mxc_op_call {
    const mxc_op *op;
    const void *params;
    void *state;        /* from state_create, or NULL */
    const mxc_run *run; /* for mxc_parallel_for and the device stream */
    int is_train;
    int n_in, n_out, n_aux;
    const mxc_tensor *in, *out, *aux;     /* @length n_in, n_out, n_aux */
    const mxc_tensor *out_grad, *in_grad; /* backward only. @length n_out, n_in */
    const mxc_req *req;                   /* forward: n_out; backward: n_in */
    void *temp;                           /* temp_bytes of scratch, 64-byte aligned, undefined contents */
    size_t temp_bytes;
    mxc_random random; /* as many numbers as random_count asked for */
} mxc_op_call;

/** What backward reads: bit i for slot i; bit 63 stands for all slots from 63 on. */
typedef struct mxc_op_needs {
    uint64_t out_grad, in, out;
} mxc_op_needs;
#define MXC_NEED_ALL UINT64_MAX

/** Memory of slot from may become the memory of slot to. Forward: from an input (MXC_FROM_IN) to output to. Backward:
 *  from an out_grad, input or output to the gradient of argument to. An array of these ends with MXC_INPLACE_END. */
typedef struct mxc_inplace {
    int from, to;
} mxc_inplace;
enum {
    MXC_FROM_OUT_GRAD_BASE = 0,
    MXC_FROM_IN_BASE = 1000,
    MXC_FROM_OUT_BASE = 2000
}; /* slots from which each kind counts */
#define MXC_FROM_OUT_GRAD(i) ((int)MXC_FROM_OUT_GRAD_BASE + (i))
#define MXC_FROM_IN(i) ((int)MXC_FROM_IN_BASE + (i))
#define MXC_FROM_OUT(i) ((int)MXC_FROM_OUT_BASE + (i))
#define MXC_INPLACE_END \
    { -1, -1 }

typedef enum mxc_pass { MXC_FORWARD = 0, MXC_BACKWARD = 1 } mxc_pass;

/** Computes one run of an operator, on the device that it is registered for.
 *  @thread any
 */
typedef mxc_status (*mxc_op_compute_fn)(const mxc_op_call *call);

enum {
    MXC_OP_ZERO_GRADIENT = 1, /* has no backward because its gradient is zero everywhere (without this flag and without
                                 backward, a gradient through the operator is an error) */
    MXC_OP_SAMPLEWISE = 2,    /* in inference, row i of all outputs' axis 0 depends on row i of the first input only */
    MXC_OP_HIDDEN = 4,        /* inserted by passes; not listed for users */
    MXC_OP_ARRAY_ONLY = 8, /* for arrays only: no symbol is made of it, but with infer_from_data for cached operators */
    MXC_OP_CALLBACK = 16,  /* forward and backward run on threads kept for such functions, where they may take their
                              time, block, and call the library, also on arrays of their own. call->run is NULL
                              there. Goes without temp_bytes and MXC_OP_SAMPLEWISE. Symbols and files may also name
                              such an operator as Custom with the parameter op_type */
    MXC_OP_PARTS = 256,    /* implementations are registered later (mxc_op_register_part): the descriptor itself may
                              have none */
    MXC_OP_ELEMENTWISE = 32 /* an element of the output is computed from the elements at its place in the inputs, so
                               that any order of the axes will do. Where inputs have as many axes as the output,
                               those of length 1 are broadcast */
};

/* ---- what passes over graphs ask --------------------------------------------------------------------------------- */

/** Where an operator that takes one array and a number has the number. */
typedef enum mxc_scalar_kind {
    MXC_SCALAR_NONE = 0,
    MXC_SCALAR_AFTER = 1, /* array op scalar */
    MXC_SCALAR_BEFORE = 2 /* scalar op array */
} mxc_scalar_kind;

/**
 * An element-wise function that the library computes too, so that it can compute several in one kernel. Of one operand:
 * relu, sigmoid, tanh, softsign, gelu, gelu_tanh, silu, negative, abs, sign, square, sqrt, rsqrt, reciprocal, exp, log;
 * of two: add, sub, mul, div, maximum, minimum, equal, not_equal, greater, greater_equal, lesser, lesser_equal.
 */
typedef struct mxc_elementwise {
    const char *function;   /* its name */
    mxc_scalar_kind scalar; /* whether one of the two operands is a number */
    double number;
} mxc_elementwise;

/** How an operator computes on images channels last, (N,spatial,C), what it computes channels second, (N,C,spatial). */
typedef struct mxc_channels_last {
    const char *key;  /* the parameter that changes; NULL: none does */
    char value[16];   /* its value */
    uint64_t weights; /* arguments that are weights and change their axes too: bit i for argument i */
    int leads;        /* 1: a library for a GPU is so much faster in 16 bits that arrays are transposed for it */
    int library_off;  /* 1: parameters say that the operator does without that library */
} mxc_channels_last;

/** What becomes of an operator's output in the next operator, which it might compute too, where it writes that output:
 *  an array of its shape is added, or x becomes x < 0 ? slope x : x, and at most limit. */
typedef struct mxc_epilogue {
    int adds;            /* 1: adds an array; then slope is 1 and limit infinite */
    double slope, limit; /* 0 and infinity: relu */
} mxc_epilogue;

/** What a training in 16 bits does with an operator. */
typedef enum mxc_precision {
    /* Computes in 16 bits if an input from whose dtype that of the output follows is a parameter or in 16 bits. The
     * other inputs keep float32 where infer_type allows it. */
    MXC_PRECISION_INFERRED = 0,
    MXC_PRECISION_F32 = 1 /* computes in float32 */
} mxc_precision;

/** An operator's counterpart on integers. Its arguments are this one's, then the least and the greatest value of each;
 *  its outputs are the result, its least and its greatest value. Parameters of both that have one name are the same. */
typedef struct mxc_quantized {
    const char *op;
    int has_weights; /* 1: the arguments behind the first are weights, quantized once; 0: all are quantized data */
    int is_32bit;    /* 1: the result is int32, to be brought to 8 bits; 0: of 8 bits as the arguments */
} mxc_quantized;

/** A layer that is linear in its weight and adds its bias: arguments data, weight, bias, of which the latter two may be
 *  multiplied and shifted in place of the output. weight[i] and bias[i] make position i on an axis of the output. */
typedef struct mxc_linear {
    int ndim, axis;      /* the output has ndim axes, of which this is the one */
    const char *no_bias; /* the parameter that leaves the bias out */
} mxc_linear;

/** A norm that is linear in inference: output 0 is gamma (data - mean) / sqrt(variance + eps) + beta for each position
 *  on an axis, of the arguments data, gamma, beta and the auxiliary states mean and variance. */
typedef struct mxc_norm {
    int axis;
    int fix_gamma; /* 1: gamma is taken as 1 */
    double eps;
} mxc_norm;

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

/** Functions by device, for arrays indexed by mxc_device: .forward = MXC_ON_CPU(f). In C the same as { [MXC_CPU] = f },
 *  which is no C++. */
#define MXC_ON_CPU(fn) \
    { NULL, fn }
#define MXC_ON_CPU_AND_GPU(cpu_fn, gpu_fn) \
    { NULL, cpu_fn, gpu_fn }

/** A descriptor. Use designated initialisers (C, C++20) or mxc_make (C++); members left out are zero and mean what the
 *  comment says. Its functions are called on the threads that make, bind and invoke operators, forward and backward on
 *  those of the engine; several calls may run at the same time.
 *  @thread any
 */
struct mxc_op_def {
    size_t size;         /* sizeof(mxc_op_def) */
    const char *name;    /* "Convolution" */
    const char *aliases; /* "identity,_copy"; NULL: none */
    const char *doc;     /* what it computes: formula and shapes */
    unsigned flags;      /* MXC_OP_... */
    int version;         /* of what implementations in other libraries rely on, such as the struct of parameters;
                            compared with theirs (mxc_op_part) */

    const mxc_param *params; /* schema, ends with MXC_PARAM_END; NULL: takes none */
    size_t param_size;       /* of the struct it fills */
    /* Check parameters against each other and complete them, after parsing; optional. */
    mxc_status (*params_check)(void *params);
    /* In place of params: take parameters of any name, as text, and fill in param_size bytes, zero before. */
    mxc_status (*params_open)(int n, const char *const *keys, const char *const *values, void *params);
    /* The same, given the descriptor, for one function that serves descriptors made while the program runs. In place of
     * params_open. */
    mxc_status (*params_open_of)(const mxc_op_def *def, int n, const char *const *keys, const char *const *values,
                                 void *params);
    void (*params_close)(void *params); /* frees what either made; optional */
    /* Symbols that the operator runs by itself, as those of control flow. Only of built-in operators, with params_open;
     * the struct of parameters begins with an array of that many. */
    int n_subgraphs;

    const char *args;     /* "data,weight,bias"; NULL: "data" (or none where n_args says so) */
    const char *outputs;  /* "output,mean,var"; NULL: "output" */
    const char *aux;      /* "moving_mean,moving_var"; NULL: none. Arrays that forward changes */
    const char *variadic; /* name of the MXC_PARAM_INT that counts the arguments, then named arg0, arg1...; NULL: not */
    /* Of updates of several weights: inputs come in groups, one for each output, of so many arguments and then the
     * output's share of the auxiliary states; arguments and states that are left over come last. args names those of
     * one group, to which its number is added (weight_0), and those left over; aux the states of one group. 0: all
     * arguments, then all states. Not with backward. */
    int args_per_output;
    /* How many of the names apply, given the parameters; optional: all. */
    int (*n_args)(const void *params);
    int (*n_outputs)(const void *params);
    /* The arguments' names where parameters decide which they are; optional: the first of args. NULL from one of a
     * variadic operator: they are counted. */
    const char *(*args_of)(const void *params);
    /* Arguments that are labels: bit i for argument i. They come with the data and have no gradient; a variable that
     * only such arguments read is neither given a gradient by simple_bind nor trained by mxc_fit. */
    uint64_t labels;
    /* The names of outputs and auxiliary states where parameters decide which they are; optional: outputs and aux. */
    const char *(*outputs_of)(const void *params);
    const char *(*aux_of)(const void *params);
    int (*n_visible)(const void *params); /* outputs a user sees, the first ones */
    int (*n_aux)(const void *params);

    /* Complete the shapes in both directions as far as they follow, with mxc_sig_set_shape, which reports conflicts.
     * What stays unknown is left unknown, and that is not an error. NULL: all inputs and outputs have one shape. */
    mxc_status (*infer_shape)(mxc_op_sig *sig);
    /* The same for types. NULL: all inputs, outputs and aux have one type. */
    mxc_status (*infer_type)(mxc_op_sig *sig);
    /* Complete the outputs' shapes from what the inputs hold, on the host, where they do not follow from shapes. Needs
     * MXC_OP_ARRAY_ONLY. Such an operator waits for its inputs when it is invoked. NULL: they follow. */
    mxc_status (*infer_from_data)(mxc_op_sig *sig, const mxc_tensor *in);
    unsigned dtypes; /* of the first input (or output where there is none); 0: MXC_DTYPES_REAL */
    /* Dtypes that the CPU's forward and backward compute, where 16-bit ones of dtypes are missing: the library then
     * runs them on float32 copies of all arguments and outputs (at most 12 of each), which it keeps in scratch. 0: all.
     */
    unsigned cpu_dtypes;
    /* For CPU functions that compute images with channels second only, (N,C,spatial): writes to out parameters with
     * which the operator computes the same on images so transposed, and returns 1, or returns 0 if params say channels
     * second already, or if the pass computes channels last as well. The library transposes arrays of three axes or
     * more through scratch. Optional. */
    int (*to_channels_second)(const void *params, mxc_pass pass, void *out);

    mxc_op_needs needs;                                              /* what backward reads */
    void (*backward_needs)(const void *params, mxc_op_needs *needs); /* adjusts needs to the parameters; optional */
    const mxc_inplace *inplace_forward;                              /* NULL: none */
    const mxc_inplace *inplace_backward;                             /* NULL: none */
    /* The options of a pass where they depend on parameters, in place of the two arrays; optional. */
    const mxc_inplace *(*inplace)(const mxc_op *op, mxc_pass pass);

    /* Scratch bytes for one run, known shapes; optional: none. More than PTRDIFF_MAX / 2, as SIZE_MAX where they
     * overflow, are refused with MXC_ENOMEM before the run. */
    size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass);
    /* 32-bit random numbers that one forward run uses; optional: none. */
    uint64_t (*random_count)(const mxc_op_sig *sig);
    /* Memory kept between the runs of one bound use (per context); optional. destroy is never given NULL. */
    mxc_status (*state_create)(const mxc_op_sig *sig, void **out);
    void (*state_destroy)(void *state);

    /* What passes over graphs may do with the operator; all optional. A function fills in out and returns 1, or
     * returns 0 if there is nothing to say of op, whose parameters mxc_op_params gives. */
    int (*elementwise)(const mxc_op *op, mxc_elementwise *out); /* goes with MXC_OP_ELEMENTWISE */
    /* data of ndim axes, 4 or 5. 0: there is no such way, or channels are last already. Operators of
     * MXC_OP_ELEMENTWISE need it not. */
    int (*channels_last)(const mxc_op *op, int ndim, mxc_channels_last *out);
    /* An operator of one argument that is this function of it; adds is 0. */
    int (*rectifier)(const mxc_op *op, mxc_epilogue *out);
    /* The operator that computes op's only output and then what, on a device; an array to add is one more argument,
     * the last. Parameters are those of op. *out: NULL if there is none; else the caller releases it. */
    mxc_status (*epilogue)(const mxc_op *op, mxc_device device, const mxc_epilogue *what, mxc_op **out);
    /* In inference: an operator that computes the same as one of this signature, but is given, in place of argument 1,
     * the output of operator pack on it. *pack and *packed: NULL if there are none; else the caller releases them. */
    mxc_status (*packed)(const mxc_op_sig *sig, mxc_op **pack, mxc_op **packed);
    /* In inference: the operator that computes op and then next, whose arguments are all of op's outputs and nothing
     * else. *keeps: 1 if its outputs are op's, then next's; 0: next's alone. *out: NULL if there is none; else the
     * caller releases it. */
    mxc_status (*joined)(const mxc_op *op, const mxc_op *next, int *keeps, mxc_op **out);
    mxc_precision precision;
    int (*quantized)(const mxc_op *op, mxc_quantized *out);
    int (*linear)(const mxc_op *op, mxc_linear *out);
    int (*norm)(const mxc_op *op, int ndim, mxc_norm *out); /* data of ndim axes */

    /* Checks what arguments hold, such as indices, before a forward run on the CPU, where the environment has
     * MXC_CHECK_VALUES=1. For values that forward accepts, but that are likely mistakes: what it cannot compute it
     * refuses by itself. Optional. */
    mxc_status (*check_values)(const mxc_op_call *call);

    mxc_op_compute_fn forward[MXC_DEVICE_LIMIT];  /* by mxc_device; NULL: not on that device */
    mxc_op_compute_fn backward[MXC_DEVICE_LIMIT]; /* NULL: no gradient */
};

/**
 * The implementation of a registered operator on one kind of device, from another library than that of its descriptor:
 * the descriptor with the host's functions in one, the CUDA kernels in another that is loaded where there is a GPU. The
 * functions are called as those of mxc_op_def.
 * @thread any
 */
typedef struct mxc_op_part {
    size_t size;       /* sizeof(mxc_op_part) */
    const char *op;    /* name of the operator, or an alias */
    mxc_device device; /* MXC_CPU or MXC_GPU */
    int version;       /* mxc_op_def.version that it was written for */
    size_t param_size; /* of the struct of parameters that it reads, as mxc_op_def.param_size; 0: reads none */
    /* As in mxc_op_def, on this device. The descriptor's own functions for it, scratch and state are not used then. */
    mxc_op_compute_fn forward;  /* required */
    mxc_op_compute_fn backward; /* NULL: on a GPU the host computes gradients, if it can */
    size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass);
    mxc_status (*state_create)(const mxc_op_sig *sig, void **out);
    void (*state_destroy)(void *state);
} mxc_op_part;

/** What a library of operators exports as mxc_operators, for mxc_op_load; MXC_OP_LIBRARY defines it. */
typedef struct mxc_op_library {
    size_t size;              /* sizeof(mxc_op_library) */
    int version;              /* MXC_VERSION_NUMBER */
    mxc_status (*open)(void); /* registers operators and parts, during mxc_op_load; @thread caller */
} mxc_op_library;
#define MXC_OP_LIBRARY(open_fn)                 \
    MXC_API const mxc_op_library mxc_operators; \
    const mxc_op_library mxc_operators = {sizeof(mxc_op_library), MXC_VERSION_NUMBER, open_fn}

#ifdef __cplusplus
/**
 * A struct that begins with its size, for C++ without designated initialisers: all zero but size, then filled by a
 * function. The order of the members does not matter.
 *     static const mxc_op_def half = mxc_make<mxc_op_def>([](mxc_op_def &def) { def.name = "half"; ... });
 */
template <class Struct, class Fill> Struct mxc_make(Fill fill) {
    Struct made = Struct();
    made.size = sizeof made;
    fill(made);
    return made;
}
#endif

/* ---- registry ---------------------------------------------------------------------------------------------------- */

/** Add a descriptor, which must stay valid for the process's life. MXC_EEXIST, MXC_EINVAL, MXC_ENOMEM. Thread-safe.
 *  @param[keep] def  the descriptor
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_register(const mxc_op_def *def);
/**
 * Add an implementation to a registered operator; part must stay valid for the process's life. Calls and bound
 * executors that are made from then on use it.
 * @return MXC_ENOTFOUND (no such operator), MXC_EEXIST (it has an implementation on this device), MXC_EINVAL (version
 *         or param_size differ from the descriptor's, or a member is missing), MXC_ENOMEM
 * Thread-safe.
 * @param[keep] part  the implementation
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_register_part(const mxc_op_part *part);
/**
 * Load a shared library of operators, and call the open function that its MXC_OP_LIBRARY names. It stays loaded. The
 * program and the library must use one libmxc.so; a program that libmxc is linked into statically would have two
 * registries.
 * @param path  absolute
 * @return MXC_EINVAL (not absolute; not a library of operators, or one for another version of libmxc), MXC_EEXIST
 *         (it is loaded already), MXC_ENOTFOUND, MXC_EDEVICE (the loader's reason), MXC_ENOMEM, or what open returned
 * Thread-safe. Blocks. After a failure of open the library can be loaded again; what open has registered stays.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_load(const char *path);
/** The descriptor of a name or alias; NULL if there is none. Thread-safe. */
MXC_API const mxc_op_def *mxc_op_find(const char *name);
/** Registered descriptors in order of registration, built-in ones first. at: NULL past the end. Thread-safe. */
MXC_API int mxc_op_count(void);
MXC_API const mxc_op_def *mxc_op_at(int index);
/** The family of the operator with a name or alias, such as "nn" or "reduce": the directory of src/operator that holds
 *  it; "elementwise" for those of src/simpleop, "custom" for those that a program registered. NULL if no operator has
 *  the name. Thread-safe. */
MXC_API const char *mxc_op_family(const char *name);
/** Documentation made from the descriptor: formula, arguments, outputs, parameters with types, defaults and ranges.
 *  Caller frees with mxc_free. MXC_ENOTFOUND, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_describe(const char *name, char **out);

/** Where an operator is computed for arrays of a kind of device. */
typedef enum mxc_place {
    MXC_PLACE_NONE = 0,   /* nowhere: an error */
    MXC_PLACE_DEVICE = 1, /* there */
    MXC_PLACE_HOST = 2    /* on the host, with copies of the arrays; correct, but device and host wait for each other */
} mxc_place;
/** Where a pass of an operator runs for arrays of a kind of device. */
MXC_API mxc_place mxc_op_place(const mxc_op_def *def, mxc_device device, mxc_pass pass);

/* ---- operator with parameters ------------------------------------------------------------------------------------ */

/** Parse parameters. MXC_ENOTFOUND (no such operator, with similar names), MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_create(const char *name, int n_params, const char *const *keys,
                                                const char *const *values, mxc_op **out);
/** Add a reference; returns op.
 *  @return[give] op
 */
MXC_API mxc_op *mxc_op_retain(mxc_op *op);
/** Drop a reference. NULL is fine. */
MXC_API void mxc_op_release(mxc_op *op);
/** The descriptor of its operator. */
MXC_API const mxc_op_def *mxc_op_get_def(const mxc_op *op);
/** What files call it: the descriptor's name, or "Custom". */
MXC_API const char *mxc_op_name(const mxc_op *op);
/** The struct of its parameters. */
MXC_API const void *mxc_op_params(const mxc_op *op);
/** Parameters as given, for files: count, then key and value by index. Borrowed.
 *  @param[out,lend] key, value  set to NULL past the end
 */
MXC_API int mxc_op_n_given(const mxc_op *op);
MXC_API void mxc_op_given(const mxc_op *op, int index, const char **key, const char **value);
/** Number of arguments, outputs, visible outputs, and auxiliary states. */
MXC_API int mxc_op_n_args(const mxc_op *op);
MXC_API int mxc_op_n_outputs(const mxc_op *op);
MXC_API int mxc_op_n_visible(const mxc_op *op);
MXC_API int mxc_op_n_aux(const mxc_op *op);
/** Name of a slot, written to out (cut to size); returns out. */
MXC_API const char *mxc_op_arg_name(const mxc_op *op, int index, char *out, size_t size);
MXC_API const char *mxc_op_output_name(const mxc_op *op, int index, char *out, size_t size);
MXC_API const char *mxc_op_aux_name(const mxc_op *op, int index, char *out, size_t size);
/** The array that callers and files pass at a position, from 0: an argument, or n_args + i for auxiliary state i. They
 *  pass the arguments, then the states, unless mxc_op_def.args_per_output says otherwise. */
MXC_API int mxc_op_input_index(const mxc_op *op, int position);
/** What backward reads, given the parameters. */
MXC_API void mxc_op_get_needs(const mxc_op *op, mxc_op_needs *out);
/** 1 if backward reads that slot. */
MXC_API int mxc_need_has(uint64_t mask, int slot);

/** One sweep of inference. MXC_ESHAPE, MXC_EDTYPE with operator, argument, expected and found; MXC_ESHAPE also for a
 *  shape of more than MXC_MAX_ELEMENTS elements, unknown axes and those of 0 left out. Incomplete is MXC_OK.
 *  @param[in,out] sig  what is known is read, what follows is filled in
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_infer_shape(mxc_op_sig *sig);
MXC_API MXC_MUST_CHECK mxc_status mxc_op_infer_type(mxc_op_sig *sig);

/* For descriptors' inference functions: merge what is expected into a slot; a conflict is an error that names operator,
 * slot, expected and found. Slots: arguments 0.., outputs MXC_SLOT_OUT_BASE.., auxiliary states MXC_SLOT_AUX_BASE... */
enum { MXC_SLOT_OUT_BASE = 0x10000000, MXC_SLOT_AUX_BASE = 0x20000000 };
#define MXC_SLOT_OUT(i) ((int)MXC_SLOT_OUT_BASE + (i))
#define MXC_SLOT_AUX(i) ((int)MXC_SLOT_AUX_BASE + (i))
/** Merge a shape, or a type, into a slot. MXC_ESHAPE, MXC_EDTYPE, MXC_EINVAL.
 *  @param[in,out] sig  of the call
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_sig_set_shape(mxc_op_sig *sig, int slot, const mxc_shape *expected);
MXC_API MXC_MUST_CHECK mxc_status mxc_sig_set_type(mxc_op_sig *sig, int slot, mxc_dtype expected);
/** Fail with MXC_ESHAPE, the operator's name and the text. */
MXC_API MXC_MUST_CHECK mxc_status mxc_sig_fail(const mxc_op_sig *sig, const char *format, ...) MXC_PRINTF(2, 3);

/* ---- calling on arrays ------------------------------------------------------------------------------------------- */

/**
 * Queue one forward run.
 * @param n_in     arguments followed by auxiliary states, or in groups (mxc_op_input_index)
 * @param[in,out,n=n_out] inout  n_out outputs, the visible ones or all; every entry is read, so initialise it: where it
 *                 is NULL a new array is made for the caller (on failure it is NULL again); another array is written
 *                 and must have the inferred shape and dtype. An output may be an input's array where the in-place
 *                 option allows it
 * @param[null] req  n_out requests, or NULL: write
 * @param is_train training behaviour (dropout, batch statistics); 1 where this thread trains (mxc/autograd.h)
 * @return MXC_EINVAL, MXC_ESHAPE, MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM; an error of the kernel is reported by the
 *         next wait on out. While recording also MXC_ESTATE, MXC_EUNSUPPORTED (mxc/autograd.h)
 * Does not block, unless the descriptor has infer_from_data. Source operators (no inputs) run on cpu(0) or on the
 * context of inout[0].
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_invoke(mxc_op *op, int n_in, mxc_ndarray *const *in, int n_out,
                                                mxc_ndarray **inout, const mxc_req *req, int is_train);
/**
 * A new array by an operator of one or two inputs and one visible output: mxc_op_invoke without lists, for bindings in
 * which lists take longer than the call.
 * @param[null] b  the second input; NULL for an operator of one
 * @return as mxc_op_invoke
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_apply(mxc_op *op, mxc_ndarray *a, mxc_ndarray *b, mxc_ndarray **out);
/** Queue one backward run: out_grad (n_outputs, NULL where not needed), in (arguments then aux) and out as in forward;
 *  in_grad (n_args, NULL where req is MXC_REQ_NULL) must exist.
 *  @param[null,n=text] out_grad, in, out  not needed by operators whose backward does not read them
 *  @param[n=text] in_grad  where the gradients go
 *  @param[null,n=text] req  n_args requests; NULL: write
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_op_invoke_backward(mxc_op *op, mxc_ndarray *const *out_grad,
                                                         mxc_ndarray *const *in, mxc_ndarray *const *out,
                                                         mxc_ndarray *const *in_grad, const mxc_req *req);
/**
 * Make new arrays by an operator: mxc_op_create, mxc_op_invoke with is_train 0, and mxc_op_release in one.
 * @param out  n_out entries, the visible outputs or all; set to NULL first, whatever they hold, then to new arrays; the
 *             caller releases them. Not the same memory as in
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_invoke(const char *name, int n_in, mxc_ndarray *const *in, int n_params,
                                             const char *const *keys, const char *const *values, int n_out,
                                             mxc_ndarray **out);
/** The same into the arrays that out holds, none of them NULL, of the inferred shapes and dtypes. */
MXC_API MXC_MUST_CHECK mxc_status mxc_invoke_into(const char *name, int n_in, mxc_ndarray *const *in, int n_params,
                                                  const char *const *keys, const char *const *values, int n_out,
                                                  mxc_ndarray *const *out);

#endif

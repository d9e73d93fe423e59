/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmxnet.so: MXNet's C interface on top of libmxc's public headers. This header is what its files share: what handles
 * point to, errors, and the memory of what functions return.
 */
#ifndef MXNET_H
#define MXNET_H

#include <mxc/mxc.h>

#include "compat/c_api.h"

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/** Set the message of MXGetLastError; returns -1. */
int mxnet_fail(const char *format, ...) MXC_PRINTF(1, 2);
/** 0 for MXC_OK, else -1 with libmxc's message. */
int mxnet_result(mxc_status status);
/** The same for waits: an error of queued work is reported by one wait, of an array or of all, and not by later waits
 * for all work. */
int mxnet_wait_result(mxc_status status);
int mxnet_wait_all_result(mxc_status status);
/** Fail for a function that is not supported, naming the reason. */
int mxnet_refuse(const char *function, const char *reason);

/** Return -1 from the enclosing function where a call of libmxc fails. */
#define MXNET_TRY(expr)                         \
    do {                                        \
        mxc_status mxnet_status_ = (expr);      \
        if (mxnet_status_ != MXC_OK)            \
            return mxnet_result(mxnet_status_); \
    } while (0)
/** Return -1 from the enclosing function where a function of the adapter has failed. */
#define MXNET_CALL(expr) \
    do {                 \
        if (expr)        \
            return -1;   \
    } while (0)
/** Return -1 from the enclosing function where a pointer is NULL. */
#define MXNET_NEED(pointer)                                                   \
    do {                                                                      \
        if (!(pointer))                                                       \
            return mxnet_fail("%s: argument %s is NULL", __func__, #pointer); \
    } while (0)

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/** Zeroed memory; NULL with a message if there is none. */
void *mxnet_alloc(size_t count, size_t size);
/** A copy of a string; NULL with a message. */
char *mxnet_copy_text(const char *text);
void mxnet_free(void *block);
/** The product of two sizes. */
int mxnet_multiply(size_t a, size_t b, size_t *out);

/** Blocks of each thread that functions return; each holds what the latest call of that thread put there. */
typedef enum mxnet_slot {
    MXNET_SLOT_TEXT,     /* a string */
    MXNET_SLOT_STRINGS,  /* pointers to strings */
    MXNET_SLOT_CHARS,    /* the strings to which these point */
    MXNET_SLOT_HANDLES,  /* handles of outputs */
    MXNET_SLOT_STYPES,   /* their storage types */
    MXNET_SLOT_SHAPE,    /* one shape */
    MXNET_SLOT_BYTES,    /* a file in memory */
    MXNET_SLOT_SCRATCH,  /* for a function's own use: gone at the next call */
    MXNET_SLOT_SCRATCH2, /* a second one */
    MXNET_SLOT_NAMES,    /* a second list: pointers */
    MXNET_SLOT_NAMES_CHARS,
    MXNET_SLOT_IN_NDIM, /* results of inference: ranks, pointers to shapes, and what these point to */
    MXNET_SLOT_IN_SHAPES,
    MXNET_SLOT_IN_DIMS,
    MXNET_SLOT_OUT_NDIM,
    MXNET_SLOT_OUT_SHAPES,
    MXNET_SLOT_OUT_DIMS,
    MXNET_SLOT_AUX_NDIM,
    MXNET_SLOT_AUX_SHAPES,
    MXNET_SLOT_AUX_DIMS,
    MXNET_SLOT_ARGS, /* handles of an executor's arrays */
    MXNET_SLOT_GRADS,
    MXNET_SLOT_AUX,
    MXNET_SLOT_KEYS, /* parameters of an operator */
    MXNET_SLOT_COUNT
} mxnet_slot;
/**
 * Around a call of a function of the front end, which may call the library: its calls have slots of their own. The
 * outer call keeps what it has in slots. int entered = mxnet_callback_enter();
 *     ...
 *     mxnet_callback_leave(entered);
 * 0, or -1 without memory; then leave does nothing, and the front end's function must not be called.
 */
int mxnet_callback_enter(void);
void mxnet_callback_leave(int entered);
/** This thread's block of a slot with room for count items of size bytes; its contents are undefined. NULL with a
 *  message if there is no memory. */
void *mxnet_buffer(mxnet_slot slot, size_t count, size_t size);
/** Put a copy of a string into a slot and return it; NULL with a message. */
const char *mxnet_return_text(mxnet_slot slot, const char *text);
/** Copy n strings to two slots of pointers and characters. */
int mxnet_return_strings(mxnet_slot pointers, mxnet_slot chars, int64_t n, const char *const *strings, uint32_t *out_n,
                         const char ***out);
/** Give back a libmxc list as MXNET_SLOT_STRINGS, and release it. */
int mxnet_return_names(mxc_names *names, uint32_t *out_n, const char ***out);

/** 1 if the text is a real number and nothing else. */
int mxnet_is_number(const char *text);
/** A variable of the environment; NULL: not set. */
const char *mxnet_environment(const char *name);
/** Set one, or with NULL remove it. */
int mxnet_set_environment(const char *name, const char *value);

/* ---- handles ----------------------------------------------------------------------------------------------------- */

/** Memory that other processes see. */
typedef struct mxnet_shared mxnet_shared;
/** A new block; NULL with a message. */
mxnet_shared *mxnet_shared_create(size_t bytes);
/** The block of a descriptor that mxnet_shared_send gave and the front end has passed on, which is taken over; NULL
 * with a message. */
mxnet_shared *mxnet_shared_open(int pid, int id, size_t bytes);
void *mxnet_shared_data(const mxnet_shared *shared);
/** The process and its descriptor, which stays with the block: the front end passes on a duplicate. */
void mxnet_shared_send(const mxnet_shared *shared, int *pid, int *id);
mxnet_shared *mxnet_shared_retain(mxnet_shared *shared);
void mxnet_shared_release(void *shared);

/** Parts of a sparse array that the front end is setting (sparse.c). */
typedef struct mxnet_parts mxnet_parts;
void mxnet_parts_free(mxnet_parts *parts);

/** NDArrayHandle. */
typedef struct mxnet_ndarray {
    mxc_ndarray *array;   /* NULL: made by MXNDArrayCreateNone, not yet an output */
    mxc_ndarray *grad;    /* that of an array of integers, else NULL: libmxc has it */
    mxnet_shared *shared; /* its memory, where the front end made it on cpu_shared; NULL: not there */
    int storage;          /* MXNet's number of the type that the front end has it for; the array is dense */
    int grad_storage;     /* that of its gradient */
    mxnet_parts *parts;   /* of a sparse array; NULL: not set one by one */
} mxnet_ndarray;

/** SymbolHandle. Composition changes it in place. */
typedef struct mxnet_symbol {
    mxc_symbol *symbol; /* NULL: the inputs of a variable, of which there are none */
    const char *op;     /* libmxc's name of the operator that is not applied yet; NULL: none */
} mxnet_symbol;

/** Wrap an array, taking the reference over, also if it fails. */
int mxnet_ndarray_new(mxc_ndarray *array, NDArrayHandle *out);
/** Wrap n arrays, taking them over, also if it fails, as a list in a slot. NULL entries give NULL handles. */
int mxnet_return_arrays(mxnet_slot slot, int64_t n, mxc_ndarray *const *arrays, NDArrayHandle **out);
/** The array of a handle; NULL with a message for no handle or one without array. */
mxc_ndarray *mxnet_array(NDArrayHandle handle);
/** The arrays of n handles; NULL handles, and those without array, give NULL. */
int mxnet_arrays(int64_t n, NDArrayHandle const *handles, mxc_ndarray **out);
/** Wrap a symbol, taking the reference over, also if it fails. */
int mxnet_symbol_new(mxc_symbol *symbol, SymbolHandle *out);
/** The symbol of a handle; NULL with a message for no handle or one without outputs. */
mxc_symbol *mxnet_symbol_of(SymbolHandle handle);

/* ---- devices and types ------------------------------------------------------------------------------------------- */

enum { MXNET_CPU_SHARED = 5 }; /* cpu memory that other processes see; libmxc's cpu(0) */

/** The context of MXNet's two numbers. */
int mxnet_context(int dev_type, int dev_id, mxc_context *out);
/** The name of a context among parameters, in libmxc's spelling. */
const char *mxnet_context_name(const char *name);
/** The dtype of MXNet's number. */
int mxnet_dtype(int number, mxc_dtype *out);
/** 1 if this thread's shapes are NumPy's: 0 axes are a scalar, and -1 is unknown. */
int mxnet_is_np_shape(void);

/** The front end is one of MXNet 1, rather than 0.9.5. */
void mxnet_set_version_1(void);
int mxnet_is_version_1(void);

/* ---- operators --------------------------------------------------------------------------------------------------- */

/** The lock over what is made at first use. */
void mxnet_lock(void);
void mxnet_unlock(void);

/** AtomicSymbolCreator, OpHandle, FunctionHandle: a name that front ends see. */
typedef struct mxnet_op {
    const char *name;           /* as the front end knows it */
    const char *mxc_name;       /* the descriptor's */
    const mxc_op_def *def;      /* NULL: not supported */
    struct mxnet_op_info *info; /* what MXSymbolGetAtomicSymbolInfo says; made at first use */
} mxnet_op;

/** Parameters in libmxc's spelling; the strings are those given or valid until the thread's next call. */
typedef struct mxnet_params {
    int n;
    const char **keys, **values;
} mxnet_params;
/** Translate a front end's parameters of an operator. */
int mxnet_params_read(const mxnet_op *op, int n, const char *const *keys, const char *const *values, mxnet_params *out);
/** libmxc's name for an operator that the front end defines. Valid for the process's life. */
const char *mxnet_custom_name(const char *op_type);
/** The parameter in which front ends count an operator's inputs; "" if there is none. */
const char *mxnet_op_count_key(const mxnet_op *op);
/** Fail if the operator is not supported. */
int mxnet_op_check(const mxnet_op *op);
/** The operator of that name; NULL with a message. */
const mxnet_op *mxnet_op_find(const char *name);
/** Call an operator as MXImperativeInvoke does. */
int mxnet_invoke(const mxnet_op *op, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                 NDArrayHandle **outputs, int num_params, const char *const *keys, const char *const *values);
/** MXNet's name of what a monitor shows: "<node>_data", the input of an operator that has no name for it, is
 *  "<node>_input0", which is written to out. */
const char *mxnet_shown_name(const char *name, const char *op, char *out, size_t size);
/** The storage types of n dense arrays. */
int mxnet_return_dense(int n, const int **out_stypes);

#endif

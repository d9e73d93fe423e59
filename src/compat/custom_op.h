/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator of a front end is made of, for custom_op.c, which describes it, and custom_op_run.c, which runs it.
 */
#ifndef MXNET_CUSTOM_OP_H
#define MXNET_CUSTOM_OP_H

#include "compat/mxnet.h"

/* Places of the functions in the list of a description, and in that of an operator. Each takes its context last and
 * returns 0 where it fails; the front end has then printed why. */
enum { PROP_DELETE, PROP_ARGS, PROP_OUTPUTS, PROP_AUX, PROP_SHAPE, PROP_NEEDS, PROP_CREATE, PROP_TYPE };
enum { OP_DELETE, OP_FORWARD, OP_BACKWARD };

typedef int (*custom_delete_fn)(void *context);
typedef int (*custom_list_fn)(char ***out, void *context);
typedef int (*custom_shape_fn)(int n, int *ndims, int **shapes, void *context);
typedef int (*custom_type_fn)(int n, int *types, void *context);
typedef int (*custom_needs_fn)(const int *out_grad, const int *in, const int *out, int *n, int **needed, void *context);
typedef int (*custom_create_fn)(const char *context_name, int n, unsigned **shapes, const int *ndims, const int *types,
                                struct MXCallbackList *out, void *context);
typedef int (*custom_run_fn)(int n, void **arrays, int *tags, const int *reqs, int is_train, void *context);

/* What the front end says of an operator with its parameters: the struct of the descriptor's parameters. */
typedef struct custom_prop {
    const mxc_op_def *def;
    struct MXCallbackList functions;
    char *args, *outputs, *aux; /* "data,weight" */
    int n_args, n_outputs, n_aux;
} custom_prop;

/* The function at a place; NULL if the list is shorter. */
static inline void (*custom_function(const struct MXCallbackList *list, int place))(void) {
    return place < list->num_callbacks ? list->callbacks[place] : NULL;
}

/* NumpyOp and NDArrayOp (python_op.c): whether a name is theirs; make a type of Custom of one with these parameters. */
int mxnet_is_python_op(const char *name);
int mxnet_python_op_add(const char *name, int n, const char *const *keys, const char *const *values);

mxc_status mxnet_custom_create(const mxc_op_sig *sig, void **out);
void mxnet_custom_destroy(void *state);
mxc_status mxnet_custom_forward(const mxc_op_call *call);
mxc_status mxnet_custom_backward(const mxc_op_call *call);

#endif

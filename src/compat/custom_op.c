/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that a front end defines: each name becomes an operator of libmxc with callbacks, which Custom finds. */
#include <stdio.h>
#include <string.h>

#include "compat/custom_op.h"

/* One name. It stays registered; a later registration replaces the front end's function. */
typedef struct custom_type {
    mxc_op_def def; /* first: libmxc hands it back */
    char *name;     /* the front end's */
    CustomOpPropCreator creator;
    struct custom_type *next;
} custom_type;

static custom_type *types;

/* An operator of libmxc may have the name already. */
static const char prefix[] = "custom:";

/* Lock held. */
static custom_type *find_type(const char *name) {
    custom_type *type = types;
    while (type && strcmp(type->name, name) != 0)
        type = type->next;
    return type;
}

/* ---- description ------------------------------------------------------------------------------------------------- */

static const char *name_of(const mxc_op_def *def) {
    return ((const custom_type *)def)->name;
}

static mxc_status refuse(const mxc_op_def *def, const char *function) {
    return MXC_FAIL(MXC_EUSER, "Custom: the front end's operator %s: %s failed; it has printed why", name_of(def),
                    function);
}

/* A list that ends with NULL as "a,b". */
static char *join(char **items, int *count) {
    size_t bytes = 1;
    char *text, *at;
    for (*count = 0; items[*count]; ++*count)
        bytes += strlen(items[*count]) + 1;
    at = text = mxnet_alloc(bytes, 1);
    for (int i = 0; text && i < *count; i++) {
        if (i)
            *at++ = ',';
        memcpy(at, items[i], strlen(items[i]));
        at += strlen(items[i]);
    }
    return text;
}

static mxc_status list_names(const custom_prop *prop, int place, const char *function, char **out, int *count) {
    custom_list_fn fn = (custom_list_fn)custom_function(&prop->functions, place);
    char **items = NULL;
    if (!fn || !fn(&items, prop->functions.contexts[place]) || !items)
        return refuse(prop->def, function);
    *out = join(items, count);
    return *out ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "Custom: %s: out of memory", name_of(prop->def));
}

static void close_prop(void *params) {
    custom_prop *prop = params;
    custom_delete_fn fn = (custom_delete_fn)custom_function(&prop->functions, PROP_DELETE);
    const int entered = mxnet_callback_enter();
    if (fn && !entered)
        fn(prop->functions.contexts[PROP_DELETE]);
    mxnet_callback_leave(entered);
    mxnet_free(prop->args);
    mxnet_free(prop->outputs);
    mxnet_free(prop->aux);
}

static mxc_status read_lists(custom_prop *prop) {
    MXC_TRY(list_names(prop, PROP_ARGS, "list_arguments", &prop->args, &prop->n_args));
    MXC_TRY(list_names(prop, PROP_OUTPUTS, "list_outputs", &prop->outputs, &prop->n_outputs));
    MXC_TRY(list_names(prop, PROP_AUX, "list_auxiliary_states", &prop->aux, &prop->n_aux));
    if (prop->n_outputs < 1)
        return MXC_FAIL(MXC_EINVAL, "Custom: %s: has no output", name_of(prop->def));
    return MXC_OK;
}

/* Names that begin and end with two underscores are attributes of the node. */
static int is_attribute(const char *key) {
    size_t n = strlen(key);
    return n > 4 && !strncmp(key, "__", 2) && !strcmp(key + n - 2, "__");
}

static mxc_status construct(custom_prop *prop, CustomOpPropCreator creator, int n, const char **keys,
                            const char **values) {
    const int entered = mxnet_callback_enter();
    mxc_status status;
    if (entered)
        return MXC_FAIL(MXC_ENOMEM, "Custom: %s: out of memory", name_of(prop->def));
    status = creator(name_of(prop->def), n, keys, values, &prop->functions) ? read_lists(prop)
                                                                            : refuse(prop->def, "its constructor");
    mxnet_callback_leave(entered);
    return status;
}

static mxc_status open_prop(const mxc_op_def *def, int n, const char *const *keys, const char *const *values,
                            void *params) {
    custom_prop *prop = params;
    const char **given = mxnet_alloc(2 * (size_t)n, sizeof *given);
    CustomOpPropCreator creator;
    mxc_status status;
    int kept = 0;
    if (!given)
        return MXC_FAIL(MXC_ENOMEM, "Custom: %s: out of memory", name_of(def));
    for (int i = 0; i < n; i++)
        if (!is_attribute(keys[i])) {
            given[kept] = keys[i];
            given[n + kept++] = values[i];
        }
    mxnet_lock();
    creator = ((const custom_type *)def)->creator;
    mxnet_unlock();
    prop->def = def;
    status = construct(prop, creator, kept, given, given + n);
    mxnet_free(given);
    if (status != MXC_OK)
        close_prop(prop);
    return status;
}

static const char *args_of(const void *params) {
    return ((const custom_prop *)params)->args;
}

static const char *outputs_of(const void *params) {
    return ((const custom_prop *)params)->outputs;
}

static const char *aux_of(const void *params) {
    return ((const custom_prop *)params)->aux;
}

static int count_args(const void *params) {
    return ((const custom_prop *)params)->n_args;
}

static int count_outputs(const void *params) {
    return ((const custom_prop *)params)->n_outputs;
}

static int count_aux(const void *params) {
    return ((const custom_prop *)params)->n_aux;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static int slot_of(const mxc_op_sig *sig, int i) {
    return i < sig->n_in                ? i
           : i < sig->n_in + sig->n_out ? MXC_SLOT_OUT(i - sig->n_in)
                                        : MXC_SLOT_AUX(i - sig->n_in - sig->n_out);
}

typedef struct custom_shapes {
    int *ndims, **shapes;
    int (*dims)[MXC_MAX_NDIM];
} custom_shapes;

/* What the front end answered, which may be lists of its own. */
static mxc_status take_shapes(mxc_op_sig *sig, const custom_shapes *s, int n) {
    for (int i = 0; i < n; i++) {
        mxc_shape shape = {.ndim = s->ndims[i]};
        int is_unknown = 0;
        if (shape.ndim < 0 || shape.ndim > MXC_MAX_NDIM)
            return mxc_sig_fail(sig, "infer_shape returned a shape of %d axes", shape.ndim);
        for (int k = 0; k < shape.ndim; k++) {
            shape.dim[k] = s->shapes[i][k];
            is_unknown |= shape.dim[k] < 0;
        }
        if (!is_unknown)
            MXC_TRY(mxc_sig_set_shape(sig, slot_of(sig, i), &shape));
    }
    return MXC_OK;
}

static mxc_status ask_shapes(mxc_op_sig *sig, const custom_prop *prop, const custom_shapes *s) {
    custom_shape_fn fn = (custom_shape_fn)custom_function(&prop->functions, PROP_SHAPE);
    const int n = sig->n_in + sig->n_out + sig->n_aux;
    for (int i = 0; i < n; i++) {
        s->shapes[i] = s->dims[i];
        s->ndims[i] = i < sig->n_in && sig->in_shape[i].ndim > 0 ? sig->in_shape[i].ndim : 0;
        for (int k = 0; k < s->ndims[i]; k++)
            s->dims[i][k] = (int)sig->in_shape[i].dim[k];
    }
    if (!fn || !fn(n, s->ndims, s->shapes, prop->functions.contexts[PROP_SHAPE]))
        return refuse(prop->def, "infer_shape");
    return take_shapes(sig, s, n);
}

/* The front end is asked once the first input is known, from which the others follow. */
static mxc_status infer_shape(mxc_op_sig *sig) {
    const custom_prop *prop = sig->params;
    const size_t n = (size_t)(sig->n_in + sig->n_out + sig->n_aux);
    custom_shapes s;
    mxc_status status;
    int entered;
    if (sig->n_in && !mxc_shape_known(&sig->in_shape[0]))
        return MXC_OK;
    entered = mxnet_callback_enter();
    s.ndims = mxnet_alloc(n, sizeof *s.ndims);
    s.shapes = mxnet_alloc(n, sizeof *s.shapes);
    s.dims = mxnet_alloc(n, sizeof *s.dims);
    status = !entered && s.ndims && s.shapes && s.dims
                 ? ask_shapes(sig, prop, &s)
                 : MXC_FAIL(MXC_ENOMEM, "Custom: %s: out of memory", name_of(prop->def));
    mxnet_callback_leave(entered);
    mxnet_free(s.ndims);
    mxnet_free(s.shapes);
    mxnet_free(s.dims);
    return status;
}

/* Inputs that are not known yet have the type of the first one. */
static mxc_status ask_types(mxc_op_sig *sig, const custom_prop *prop, int *type, int n) {
    custom_type_fn fn = (custom_type_fn)custom_function(&prop->functions, PROP_TYPE);
    for (int i = 0; i < n; i++)
        type[i] = i >= sig->n_in                         ? MXC_DTYPE_UNKNOWN
                  : sig->in_type[i] == MXC_DTYPE_UNKNOWN ? (int)sig->in_type[0]
                                                         : (int)sig->in_type[i];
    if (!fn || !fn(n, type, prop->functions.contexts[PROP_TYPE]))
        return refuse(prop->def, "infer_type");
    for (int i = 0; i < n; i++)
        if (type[i] != MXC_DTYPE_UNKNOWN)
            MXC_TRY(mxc_sig_set_type(sig, slot_of(sig, i), (mxc_dtype)type[i]));
    return MXC_OK;
}

static mxc_status infer_type(mxc_op_sig *sig) {
    const custom_prop *prop = sig->params;
    const int n = sig->n_in + sig->n_out + sig->n_aux;
    mxc_status status;
    int *type, entered;
    if (sig->n_in && sig->in_type[0] == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    entered = mxnet_callback_enter();
    type = mxnet_alloc((size_t)n, sizeof *type);
    status = type && !entered ? ask_types(sig, prop, type, n)
                              : MXC_FAIL(MXC_ENOMEM, "Custom: %s: out of memory", name_of(prop->def));
    mxnet_callback_leave(entered);
    mxnet_free(type);
    return status;
}

/* The front end is given numbers for the arrays and answers with those that it needs. Where it fails, it gets all. */
static void backward_needs(const void *params, mxc_op_needs *needs) {
    const custom_prop *prop = params;
    custom_needs_fn fn = (custom_needs_fn)custom_function(&prop->functions, PROP_NEEDS);
    const int n_out = prop->n_outputs, n_in = prop->n_args, n = 2 * n_out + n_in;
    int *numbers = mxnet_alloc((size_t)n, sizeof *numbers), *needed = NULL, count = 0;
    const int entered = mxnet_callback_enter();
    *needs = (mxc_op_needs){MXC_NEED_ALL, MXC_NEED_ALL, MXC_NEED_ALL};
    for (int i = 0; numbers && i < n; i++)
        numbers[i] = i;
    if (numbers && fn && !entered && n < 63 &&
        fn(numbers, numbers + n_out, numbers + n_out + n_in, &count, &needed, prop->functions.contexts[PROP_NEEDS])) {
        *needs = (mxc_op_needs){0, 0, 0};
        for (int i = 0; i < count; i++) {
            const int at = needed[i];
            if (at >= 0 && at < n_out)
                needs->out_grad |= UINT64_C(1) << at;
            else if (at >= n_out && at < n_out + n_in)
                needs->in |= UINT64_C(1) << (at - n_out);
            else if (at >= 0 && at < n)
                needs->out |= UINT64_C(1) << (at - n_out - n_in);
        }
    }
    mxnet_callback_leave(entered);
    mxnet_free(numbers);
}

/* ---- registration ------------------------------------------------------------------------------------------------ */

static void describe(custom_type *type, char *name) {
    type->def = (mxc_op_def){
        .size = sizeof type->def,
        .name = name,
        .doc = "An operator of the front end.",
        .flags = MXC_OP_CALLBACK,
        .param_size = sizeof(custom_prop),
        .params_open_of = open_prop,
        .params_close = close_prop,
        .args_of = args_of,
        .outputs_of = outputs_of,
        .aux_of = aux_of,
        .n_args = count_args,
        .n_outputs = count_outputs,
        .n_aux = count_aux,
        .infer_shape = infer_shape,
        .infer_type = infer_type,
        .dtypes = MXC_DTYPES_ALL,
        .backward_needs = backward_needs,
        .state_create = mxnet_custom_create,
        .state_destroy = mxnet_custom_destroy,
        .forward = MXC_ON_CPU(mxnet_custom_forward),
        .backward = MXC_ON_CPU(mxnet_custom_backward),
    };
}

/* The name in libmxc's registry: the front end's unless it is taken. */
static char *registered_name(const char *op_type) {
    const size_t bytes = strlen(prefix) + strlen(op_type) + 1;
    char *name = mxnet_alloc(bytes, 1);
    if (name)
        snprintf(name, bytes, "%s%s", mxc_op_find(op_type) ? prefix : "", op_type);
    return name;
}

static int add_type(const char *op_type, CustomOpPropCreator creator) {
    custom_type *type = mxnet_alloc(1, sizeof *type);
    char *name = registered_name(op_type);
    mxc_status status;
    if (type)
        type->name = mxnet_copy_text(op_type);
    if (!type || !name || !type->name) {
        mxnet_free(type);
        mxnet_free(name);
        return -1;
    }
    type->creator = creator;
    describe(type, name);
    status = mxc_op_register(&type->def);
    if (status != MXC_OK) {
        mxnet_free(type->name);
        mxnet_free(type);
        mxnet_free(name);
        return mxnet_result(status);
    }
    type->next = types;
    types = type;
    return 0;
}

int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator) {
    custom_type *type;
    int result = 0;
    MXNET_NEED(op_type);
    MXNET_NEED(creator);
    mxnet_lock();
    type = find_type(op_type);
    if (type)
        type->creator = creator;
    else
        result = add_type(op_type, creator);
    mxnet_unlock();
    return result;
}

const char *mxnet_custom_name(const char *op_type) {
    const custom_type *type;
    mxnet_lock();
    type = find_type(op_type);
    mxnet_unlock();
    return type ? type->def.name : op_type;
}

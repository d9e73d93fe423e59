/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <math.h>

#include "math/cast_kernels.h"
#include "operator/random_case.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t next(random_case *c) {
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_below(random_case *c, int64_t n) {
    return (int64_t)(next(c) % (uint64_t)n);
}

int random_chance(random_case *c, int percent) {
    return random_below(c, 100) < percent;
}

static double uniform(random_case *c, double low, double high) {
    return low + (high - low) * ((double)(next(c) >> 11) / 9007199254740992.0);
}

static mxc_dtype random_dtype(random_case *c) {
    mxc_dtype dtype;
    do
        dtype = (mxc_dtype)random_below(c, MXC_DTYPE_LIMIT);
    while (!mxc_dtype_size(dtype));
    return dtype;
}

/* ---- the cases of cases.def -------------------------------------------------------------------------------------- */

typedef struct template_of_op {
    const mxc_op_def *def;
    const op_case *c;
    int n_sets;
} template_of_op;

static template_of_op *templates;
static int n_templates;

void random_cases_open(void) {
    static const op_case_list *const lists[] = {
#define CASES(name) &name,
#include "operator/cases.def"
#undef CASES
    };
    int room = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        room += lists[i]->n;
    templates = calloc((size_t)room, sizeof *templates);
    assert_non_null(templates);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (int k = 0; k < lists[i]->n; k++) {
            const op_case *c = &lists[i]->cases[k];
            template_of_op *t = &templates[n_templates];
            case_set set;
            if (c->error || c->infer || (c->can_run && !c->can_run()))
                continue;
            *t = (template_of_op){.def = mxc_op_find(c->op), .c = c};
            while (case_set_at(c, t->n_sets, &set))
                t->n_sets++;
            n_templates++;
        }
}

void random_cases_close(void) {
    free(templates);
    n_templates = 0;
}

static int count_templates(const mxc_op_def *def) {
    int n = 0;
    for (int i = 0; i < n_templates; i++)
        n += templates[i].def == def;
    return n;
}

int random_case_has_template(const mxc_op_def *def) {
    return count_templates(def) > 0;
}

/* Some set of some case of the operator; 0 if it has none. */
static int pick_template(random_case *c, case_set *out) {
    int n = count_templates(c->def), chosen;
    if (!n)
        return 0;
    chosen = (int)random_below(c, n);
    for (int i = 0; i < n_templates; i++)
        if (templates[i].def == c->def && chosen-- == 0)
            return case_set_at(templates[i].c, (int)random_below(c, templates[i].n_sets), out);
    return 0;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static double clamp_to_int64(double x) {
    return x < -9.2e18 ? -9.2e18 : x > 9.2e18 ? 9.2e18 : x;
}

/* Numbers at the borders of the declared range and of the types, and, more often, small ones. */
static int64_t random_int(random_case *c, const mxc_param *p) {
    static const int64_t borders[] = {
        0,
        -1,
        INT32_MAX,
        (int64_t)INT32_MAX + 1,
        INT32_MIN,
        UINT32_MAX,
        65536,
        46341,
        (int64_t)1 << 40,
        (int64_t)1 << 62,
        INT64_MAX,
        INT64_MIN + 1,
        INT64_MAX / 2,
    };
    int64_t minimum = p->bounded ? (int64_t)clamp_to_int64(p->minimum) : -2;
    int64_t maximum = p->bounded ? (int64_t)clamp_to_int64(p->maximum) : INT64_MAX;
    int kind = (int)random_below(c, 10);
    if (kind < 5)
        return (minimum < -8 ? -8 : minimum) + random_below(c, 9);
    if (kind < 6)
        return minimum > INT64_MIN / 2 ? minimum - random_below(c, 2) : minimum;
    if (kind < 7)
        return maximum < INT64_MAX / 2 ? maximum + random_below(c, 2) : maximum;
    if (kind < 9)
        return borders[random_below(c, sizeof borders / sizeof borders[0])];
    return (int64_t)(next(c) >> random_below(c, 64));
}

static double random_float(random_case *c, const mxc_param *p) {
    static const double borders[] = {0, 1, -1, 0.5, 2, 1e-300, 1e300, -1e300, 1e30, 1e-30, 1e19, -1e10, INFINITY, NAN};
    int kind = (int)random_below(c, 10);
    if (kind < 3 && p->bounded)
        return kind == 0 ? p->minimum : kind == 1 ? p->maximum : uniform(c, fmax(p->minimum, -9), fmin(p->maximum, 9));
    return kind < 7 ? uniform(c, -3, 3) : borders[random_below(c, sizeof borders / sizeof borders[0])];
}

static void random_list(random_case *c, const mxc_param *p, char *out) {
    int n = (int)random_below(c, random_chance(c, 90) ? 5 : MXC_TUPLE_MAX + 2);
    int64_t same = random_int(c, p);
    int all_same = random_chance(c, 40);
    size_t used = (size_t)snprintf(out, RANDOM_VALUE, "(");
    for (int i = 0; i < n && used < RANDOM_VALUE - 40; i++)
        if (p->type == MXC_PARAM_FLOATS)
            used += (size_t)snprintf(out + used, RANDOM_VALUE - used, "%g,", random_float(c, p));
        else if (p->optional && random_chance(c, 15))
            used += (size_t)snprintf(out + used, RANDOM_VALUE - used, "None,");
        else
            used += (size_t)snprintf(out + used, RANDOM_VALUE - used, "%lld,",
                                     (long long)(all_same ? same : random_int(c, p)));
    snprintf(out + used, RANDOM_VALUE - used, ")");
}

/* One of "a,b,c". */
static void random_choice(random_case *c, const char *choices, char *out) {
    int n = 1, chosen;
    for (const char *at = choices; *at; at++)
        n += *at == ',';
    chosen = (int)random_below(c, n);
    for (; chosen; chosen--)
        choices = strchr(choices, ',') + 1;
    snprintf(out, RANDOM_VALUE, "%.*s", (int)strcspn(choices, ","), choices);
}

static void random_value(random_case *c, const mxc_param *p, char *out) {
    static const char *const words[] = {
        "",
        "a",
        "None",
        "cpu(0)",
        "0",
        "(1,2)",
        "[]",
        "{",
        "-1",
        "1e400",
        "a long word that is longer than most of the fields for text which there are",
    };
    if (p->optional && random_chance(c, 10)) {
        snprintf(out, RANDOM_VALUE, "None");
        return;
    }
    switch (random_chance(c, 2) ? MXC_PARAM_STRING : p->type) {
    case MXC_PARAM_BOOL:
        snprintf(out, RANDOM_VALUE, "%s", random_chance(c, 50) ? "True" : "False");
        break;
    case MXC_PARAM_INT:
        snprintf(out, RANDOM_VALUE, "%lld", (long long)random_int(c, p));
        break;
    case MXC_PARAM_FLOAT:
        snprintf(out, RANDOM_VALUE, "%g", random_float(c, p));
        break;
    case MXC_PARAM_TUPLE:
    case MXC_PARAM_FLOATS:
        random_list(c, p, out);
        break;
    case MXC_PARAM_ENUM:
        random_choice(c, p->choices, out);
        break;
    case MXC_PARAM_DTYPE:
        snprintf(out, RANDOM_VALUE, "%s", mxc_dtype_name(random_dtype(c)));
        break;
    default:
        snprintf(out, RANDOM_VALUE, "%s", words[random_below(c, sizeof words / sizeof words[0])]);
    }
}

static void drop_param(random_case *c, int i) {
    c->n_params--;
    c->keys[i] = c->keys[c->n_params];
    memmove(c->values[i], c->values[c->n_params], RANDOM_VALUE);
}

/* Give some parameter of the schema another value, or none. */
static void change_param(random_case *c) {
    int n = 0, at;
    const mxc_param *p = c->def->params;
    while (p && p[n].name)
        n++;
    if (!n)
        return;
    p += random_below(c, n);
    for (at = 0; at < c->n_params && strcmp(c->keys[at], p->name); at++) {
    }
    if (at < c->n_params && random_chance(c, 15)) {
        drop_param(c, at);
        return;
    }
    if (at == RANDOM_PARAMS)
        return;
    c->keys[at] = p->name;
    c->n_params += at == c->n_params;
    random_value(c, p, c->values[at]);
}

/* The key as the schema has it, which outlives the template's text. */
static const char *schema_key(const mxc_op_def *def, const char *key) {
    for (const mxc_param *p = def->params; p && p->name; p++)
        if (!strcmp(p->name, key) || (p->alias && !strcmp(p->alias, key)))
            return p->name;
    return NULL;
}

static void take_params(random_case *c, const char *text) {
    case_params params;
    case_parse_params(text, &params);
    for (int i = 0; i < params.n && i < RANDOM_PARAMS; i++) {
        const char *key = schema_key(c->def, params.keys[i]);
        if (!key) /* of an operator that takes any */
            key = !strcmp(params.keys[i], "op_type") ? "op_type" : "power";
        c->keys[c->n_params] = key;
        snprintf(c->values[c->n_params++], RANDOM_VALUE, "%s", params.values[i]);
    }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static int64_t random_dim(random_case *c, int may_be_huge) {
    static const int64_t huge[] = {
        (int64_t)1 << 31, ((int64_t)1 << 32) + 1, (int64_t)1 << 40, (int64_t)1 << 40, (int64_t)1 << 57, INT64_MAX,
        30000000019,
    };
    static const int64_t small[] = {0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
    if (may_be_huge && random_chance(c, 50))
        return huge[random_below(c, sizeof huge / sizeof huge[0])];
    return small[random_below(c, sizeof small / sizeof small[0])];
}

static int has_empty_axis(const mxc_shape *s) {
    for (int i = 0; i < s->ndim; i++)
        if (s->dim[i] == 0)
            return 1;
    return 0;
}

static mxc_shape random_shape(random_case *c, int ndim) {
    mxc_shape s = {.ndim = ndim >= 0 ? ndim : (int)random_below(c, random_chance(c, 90) ? 5 : MXC_MAX_NDIM + 1)};
    int empty = random_chance(c, 25) && s.ndim ? (int)random_below(c, s.ndim) : -1;
    for (int i = 0; i < s.ndim; i++)
        s.dim[i] = i == empty ? 0 : random_dim(c, empty >= 0);
    return s;
}

static mxc_shape *shape_at(random_case *c, int slot) {
    return slot < c->sig.n_in ? &c->in_shape[slot] : &c->aux_shape[slot - c->sig.n_in];
}

/* Another size for an axis, there alone or wherever that size stands. */
static void change_axis(random_case *c, int n_slots, int slot, int axis, int64_t to) {
    int64_t from = shape_at(c, slot)->dim[axis];
    int everywhere = random_chance(c, 60);
    for (int i = 0; i < n_slots && everywhere; i++)
        for (int k = 0; k < shape_at(c, i)->ndim; k++)
            if (shape_at(c, i)->dim[k] == from)
                shape_at(c, i)->dim[k] = to;
    shape_at(c, slot)->dim[axis] = to;
}

static void change_ndim(random_case *c, mxc_shape *s) {
    if (random_chance(c, 50) && s->ndim > 0)
        s->ndim--;
    else if (s->ndim < MXC_MAX_NDIM)
        s->dim[s->ndim++] = random_dim(c, has_empty_axis(s));
}

static void change_shapes(random_case *c) {
    int n_slots = c->sig.n_in + c->sig.n_aux, slot = (int)random_below(c, n_slots);
    mxc_shape *s = shape_at(c, slot);
    int kind = (int)random_below(c, 10);
    if (kind == 0)
        *s = random_shape(c, -1);
    else if (kind == 1 && s->ndim >= 0)
        change_ndim(c, s);
    else if (s->ndim > 0)
        change_axis(c, n_slots, slot, (int)random_below(c, s->ndim), random_dim(c, has_empty_axis(s)));
    for (int i = 0; i < n_slots; i++) /* a huge size where elements are would only be refused */
        for (int k = 0; k < shape_at(c, i)->ndim && !has_empty_axis(shape_at(c, i)); k++)
            if (shape_at(c, i)->dim[k] > INT32_MAX && random_chance(c, 90))
                shape_at(c, i)->dim[k] = 2;
    if (random_chance(c, 50)) /* those that follow from the one */
        for (int i = 0; i < n_slots; i++)
            if (i != slot)
                shape_at(c, i)->ndim = -1;
}

/* The first array without elements although one of its axes is huge; what follows from it follows. */
static void make_empty(random_case *c) {
    mxc_shape *s = shape_at(c, 0);
    int empty, huge;
    if (s->ndim < 2)
        return;
    empty = (int)random_below(c, s->ndim);
    huge = (empty + 1 + (int)random_below(c, s->ndim - 1)) % s->ndim;
    for (int i = 1; i < c->sig.n_in + c->sig.n_aux; i++)
        if (random_chance(c, 70))
            shape_at(c, i)->ndim = -1;
    change_axis(c, c->sig.n_in + c->sig.n_aux, 0, empty, 0);
    change_axis(c, c->sig.n_in + c->sig.n_aux, 0, huge, (int64_t)1 << 40);
}

/* Give the first slot that is not known some size. Returns 0 if all are known. */
static int choose_unknown(random_case *c) {
    for (int i = 0; i < c->sig.n_in + c->sig.n_aux; i++) {
        mxc_shape *s = shape_at(c, i);
        if (mxc_shape_known(s))
            continue;
        if (s->ndim < 0)
            *s = i && random_chance(c, 40) ? *shape_at(c, (int)random_below(c, i)) : random_shape(c, -1);
        for (int k = 0; k < s->ndim; k++)
            if (s->dim[k] < 0)
                s->dim[k] = random_dim(c, has_empty_axis(s));
        return 1;
    }
    return 0;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static void forget_outputs(random_case *c) {
    for (int i = 0; i < RANDOM_SLOTS; i++) {
        c->out_shape[i].ndim = -1;
        c->in_type[i] = c->out_type[i] = c->aux_type[i] = MXC_DTYPE_UNKNOWN;
    }
}

static mxc_status choose_types(random_case *c) {
    unsigned set = c->def->dtypes ? c->def->dtypes : MXC_DTYPES_REAL;
    mxc_dtype type;
    do
        type = random_dtype(c);
    while (!(set & MXC_DTYPE_BIT(type)) && random_chance(c, 90));
    if (c->sig.n_in)
        c->in_type[0] = type;
    MXC_TRY(mxc_op_infer_type(&c->sig));
    for (int i = 0; i < c->sig.n_in; i++)
        if (c->in_type[i] == MXC_DTYPE_UNKNOWN) {
            c->in_type[i] = random_chance(c, 80) ? type : random_dtype(c);
            MXC_TRY(mxc_op_infer_type(&c->sig));
        }
    for (int i = 0; i < c->sig.n_aux; i++)
        if (c->aux_type[i] == MXC_DTYPE_UNKNOWN)
            c->aux_type[i] = type;
    return mxc_op_infer_type(&c->sig);
}

static mxc_status choose_shapes(random_case *c) {
    int changes = (int[]){0, 0, 1, 1, 2, 3}[random_below(c, 6)];
    for (int i = 0; i < changes && c->sig.n_in + c->sig.n_aux; i++)
        change_shapes(c);
    if (c->sig.n_in && random_chance(c, 10))
        make_empty(c);
    do
        MXC_TRY(mxc_op_infer_shape(&c->sig));
    while (choose_unknown(c));
    return MXC_OK;
}

/* Elements, as far as known; INT64_MAX where no array may have such axes, also where one of 0 hides their product. */
static int64_t size_of(const mxc_shape *s) {
    int64_t product = 8;
    for (int i = 0; i < s->ndim; i++)
        if (s->dim[i] > 0 && __builtin_mul_overflow(product, s->dim[i], &product))
            return INT64_MAX;
    return product > PTRDIFF_MAX / 2 ? INT64_MAX : mxc_shape_known(s) ? mxc_shape_size(s) : 0;
}

static int is_large(const random_case *c) {
    const mxc_op_sig *s = &c->sig;
    const mxc_shape *groups[] = {s->in_shape, s->out_shape, s->aux_shape};
    const int n[] = {s->n_in, s->n_out, s->n_aux};
    int64_t total = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < n[i] && total <= RANDOM_ELEMENTS; k++) {
            int64_t size = size_of(&groups[i][k]);
            total += size < RANDOM_ELEMENTS ? size : RANDOM_ELEMENTS + 1;
        }
    return total > RANDOM_ELEMENTS;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static mxc_status create_op(random_case *c) {
    const char *values[RANDOM_PARAMS];
    for (int i = 0; i < c->n_params; i++)
        values[i] = c->values[i];
    return mxc_op_create(c->def->name, c->n_params, c->keys, values, &c->op);
}

static void open_sig(random_case *c) {
    c->sig = (mxc_op_sig){.op = c->op,
                          .params = mxc_op_params(c->op),
                          .n_in = mxc_op_n_args(c->op),
                          .n_out = mxc_op_n_outputs(c->op),
                          .n_aux = mxc_op_n_aux(c->op),
                          .in_shape = c->in_shape,
                          .out_shape = c->out_shape,
                          .aux_shape = c->aux_shape,
                          .in_type = c->in_type,
                          .out_type = c->out_type,
                          .aux_type = c->aux_type,
                          .context = mxc_cpu(0),
                          .parallelism = 1,
                          .is_train = random_chance(c, 50)};
    forget_outputs(c);
}

random_end random_case_open(random_case *c, uint64_t seed, void (*note)(const random_case *c)) {
    case_set set = {.in = ""};
    case_input inputs[CASE_SLOTS];
    int n_given = 0, changes;
    *c = (random_case){.seed = seed, .state = seed, .def = mxc_op_at((int)(seed % (uint64_t)mxc_op_count()))};
    for (int i = 0; i < 2 * RANDOM_SLOTS; i++)
        c->like[i] = (case_input){.shape.ndim = -1, .low = -1, .high = 1};
    if (pick_template(c, &set) && random_chance(c, 85)) {
        take_params(c, set.c.params);
        c->prepare = set.c.prepare;
        n_given = case_parse_inputs(set.c.in, inputs);
        memcpy(c->like, inputs, (size_t)n_given * sizeof *inputs);
    }
    changes = (int[]){0, 0, 0, 1, 1, 2, 3, 8}[random_below(c, 8)];
    for (int i = 0; i < changes; i++)
        change_param(c);
    c->is_wild = random_chance(c, 15);
    note(c);
    if (create_op(c) != MXC_OK)
        return RANDOM_REFUSED;
    open_sig(c);
    if (c->sig.n_in + c->sig.n_aux > RANDOM_SLOTS || c->sig.n_out > RANDOM_SLOTS)
        return RANDOM_LARGE;
    for (int i = 0; i < c->sig.n_in + c->sig.n_aux; i++)
        *shape_at(c, i) = c->like[i].shape;
    if (choose_types(c) != MXC_OK || choose_shapes(c) != MXC_OK)
        return RANDOM_REFUSED;
    note(c);
    return is_large(c) ? RANDOM_LARGE : RANDOM_READY;
}

void random_case_close(random_case *c) {
    mxc_op_release(c->op);
}

const char *random_case_text(const random_case *c, char *out, size_t size) {
    char shape[MXC_SHAPE_TEXT];
    size_t used = (size_t)snprintf(out, size, "%s(", c->def->name);
    for (int i = 0; i < c->n_params && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s", i ? " " : "", c->keys[i], c->values[i]);
    used += used < size ? (size_t)snprintf(out + used, size - used, ")") : 0;
    for (int i = 0; i < c->sig.n_in + c->sig.n_aux && i < RANDOM_SLOTS && used < size; i++) {
        int is_aux = i >= c->sig.n_in, at = is_aux ? i - c->sig.n_in : i;
        used += (size_t)snprintf(out + used, size - used, "%s %s %s", i ? "," : " of",
                                 mxc_shape_format(is_aux ? &c->aux_shape[at] : &c->in_shape[at], shape, sizeof shape),
                                 mxc_dtype_name(is_aux ? c->aux_type[at] : c->in_type[at]));
    }
    return out;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static double wild(random_case *c, mxc_dtype dtype) {
    static const double wilds[] = {0, -1, 1e9, -1e9, 3e38, -3e38, INFINITY, -INFINITY, NAN, 1e-40, 65504, 1e300};
    if (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype))
        return wilds[random_below(c, sizeof wilds / sizeof wilds[0])];
    return (double)(random_below(c, (int64_t)1 << 62) >> random_below(c, 62)) * (random_chance(c, 50) ? 1 : -1);
}

void random_values_of(random_case *c, int slot, mxc_dtype dtype, int64_t n, void *out) {
    const case_input *like = &c->like[slot];
    int is_wild = c->is_wild && random_chance(c, 60);
    for (int64_t i = 0; i < n; i++) {
        double value = uniform(c, like->low, like->high);
        if (like->whole || !(MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype)))
            value = floor(uniform(c, like->low, like->high + 1));
        if (is_wild && random_chance(c, 30))
            value = wild(c, dtype);
        mxci_convert(MXC_F64, &value, dtype, (char *)out + (size_t)i * mxc_dtype_size(dtype), 1);
    }
}

void random_prepare(const random_case *c, void *const *in) {
    double *values[RANDOM_SLOTS];
    op_run run = {.params = "", .n_in = c->sig.n_in, .in_shape = c->in_shape, .in = values};
    if (!c->prepare)
        return;
    for (int i = 0; i < c->sig.n_in; i++)
        if (!mxc_shape_equal(&c->in_shape[i], &c->like[i].shape))
            return;
    for (int i = 0; i < c->sig.n_in; i++) {
        int64_t n = mxc_shape_size(&c->in_shape[i]);
        values[i] = calloc((size_t)n + 1, sizeof(double));
        assert_non_null(values[i]);
        mxci_convert(c->in_type[i], in[i], MXC_F64, values[i], n);
    }
    c->prepare(&run);
    for (int i = 0; i < c->sig.n_in; i++) {
        mxci_convert(MXC_F64, values[i], c->in_type[i], in[i], mxc_shape_size(&c->in_shape[i]));
        free(values[i]);
    }
}

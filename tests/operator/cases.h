/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators tested as data. A case names an operator, its parameters and inputs, and a naive reference in double; the
 * driver (driver.c, run by test_operators.c) checks each in every dtype, for every write request, with views, guarded
 * outputs, and its gradient by central differences.
 *
 * The cases of src/operator/<family>/<stem>.c are in <family>/<stem>_cases.c, one exported array and its length
 * (MXC_CASES) that cases.def names; those of src/simpleop are in elementwise/. What several of a family share is in
 * <family>/<family>_reference.c.
 */
#ifndef MXC_TESTS_OPERATOR_CASES_H
#define MXC_TESTS_OPERATOR_CASES_H

#include <mxc/op.h>

#define CASE_SLOTS 12

/* What a reference sees: everything dense, C order, as double. */
typedef struct op_run {
    const char *params; /* the case's text */
    int is_train;
    int n_in, n_aux, n_out; /* arguments, auxiliary states, outputs (hidden ones too) */
    const mxc_shape *in_shape, *aux_shape, *out_shape;
    const mxc_dtype *in_type, *out_type; /* forward only */
    double *const *in;                   /* arguments */
    double *const *aux;                  /* auxiliary states: forward changes them in place where the operator does */
    double *const *out;                  /* forward fills them; grad reads them */
    double *const *out_grad, *const *in_grad; /* grad only; in_grad starts as zeros */
} op_run;

enum {
    CASE_TRAIN = 1,       /* run forward with is_train 1 */
    CASE_NO_GRADIENT = 2, /* do not check a gradient (the operator has none, or it is random) */
    CASE_RANDOM = 4,      /* outputs are not compared with the reference (which may be NULL), nor between runs */
    CASE_INT_ONLY = 8,    /* run in integer dtypes only */
    CASE_FLOAT_ONLY = 16, /* run in float dtypes only, though the operator takes integers too */
    CASE_F64_ONLY = 32,   /* run in float64 only (values that the narrow types cannot hold) */
    CASE_OUT_EXACT = 64,  /* outputs are selections (argmax): one ulp in an input may change them; f16, bf16 left out */
    CASE_ONE_OF_FORMS = 128 /* an argument's shape is one of several that fit; inference without it may take another */
};

/*
 * A case. Three forms:
 * run:   .op .params .in .reference and options below
 * error: .op .params .in .status .error: the run must fail with .status and a message that contains .error
 * infer: .op .params .infer: shapes before and after one inference, "2x?,? -> ? => 2x3,4x3 -> 2x4"; inputs and aux,
 * "->", outputs; "?" alone is a shape not known at all, inside one an axis not known
 *
 * .in describes arguments and aux states, separated by blanks: SHAPE[@LOW:HIGH[i][n][f]]
 *   SHAPE "2x3x4", "5", "0x3", "s" for a scalar of no axes; LOW:HIGH the range of values, default -1:1; i: whole
 *   numbers. Values are distinct pseudo-random numbers of the range. n: some are NaN; f: some are infinite; such a
 *   run is made in float dtypes only, and differences tell nothing of a gradient where they are not finite.
 *
 * .params and .in of a run may hold several sets, separated by ";", and each of the one is run with each of the other:
 * "2x3@0:1 3; 1x1 1; 0x3 3". An input without a range has that of its place in the first set. The first set of both is
 * the case's name, and what MXNet is asked about (tests/golden/).
 */
typedef struct op_case {
    const char *op;
    const char *params; /* "num_hidden=4 no_bias=true"; values without blanks: "axis=(0,1)" */
    const char *in;
    unsigned flags;
    uint64_t constant; /* bit i: input i is not differentiated (labels, indices) */
    void (*reference)(const op_run *run);
    /* Gradient by formula, where finite differences do not apply (losses that ignore out_grad). */
    void (*gradient)(const op_run *run);
    void (*prepare)(const op_run *run); /* makes the inputs given fit, in place: matrices positive definite; or NULL */
    double tolerance;                   /* multiplies the tolerances of all dtypes; 0: 1 */
    mxc_status status;
    const char *error;
    const char *infer;
    int (*can_run)(void); /* 0: the library was built without what the case needs, and it is skipped; NULL: always */
} op_case;

/* One run of a case, as a case of its own. */
typedef struct case_set {
    op_case c;
    char params[256], in[256];
} case_set;

/* Set number i of a case; 0 if it has no more. */
int case_set_at(const op_case *c, int i, case_set *out);

typedef struct op_case_list {
    const char *name;
    const op_case *cases;
    int n;
} op_case_list;

/* Forms that most cases take. */
#define RUN(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref }
#define FAILS(name, given, shapes, code, text) \
    { .op = name, .params = given, .in = shapes, .status = code, .error = text }
#define INFERS(name, given, text) \
    { .op = name, .params = given, .infer = text }

/*
 * Sets of every sort of shape, behind a first one: .in = "3x5@0:2" CASE_EACH(CASE_ONE), CASE_TWO for two inputs of one
 * shape, and so on; CASE_AXES for those that have axes. One element, axes of 1 and of 0, many axes, odd sizes, more
 * than a tile (512).
 */
/* clang-format off */
#define CASE_EACH(X) X("s") CASE_AXES(X)
#define CASE_AXES(X)                                                                                                  \
    X("1") X("7") X("64") X("65") X("1031") X("0") X("0x3") X("3x0x2") X("1x1") X("1x17") X("17x1") X("3x129") \
    X("2x3x4") X("1x5x1") X("3x1x7") X("2x3x2x5") X("1x1x1x1") X("2x1x3x1x2") X("2x1x2x3x1x2x1x2")
#define CASE_ONE(s) "; " s
#define CASE_TWO(s) "; " s " " s
#define CASE_THREE(s) CASE_TWO(s) " " s
#define CASE_FOUR(s) CASE_THREE(s) " " s
#define CASE_FIVE(s) CASE_FOUR(s) " " s
/* And for operators that make arrays: the parameters given with every sort of shape; with float dtypes too. */
#define CASE_SHAPED(given)                                                                                           \
    given "shape=(2,3); " given "shape=1; " given "shape=7; " given "shape=65; " given "shape=1031; "                \
    given "shape=0; " given "shape=(0,3); " given "shape=(3,0,2); " given "shape=(1,1); " given "shape=(1,17); "     \
    given "shape=(17,1); " given "shape=(3,129); " given "shape=(2,3,4); " given "shape=(3,1,7); "                   \
    given "shape=(2,1,2,3,1,2,1,2); " given "shape=(3,700)"
#define CASE_MADE(given)                                                                                             \
    CASE_SHAPED(given) "; " given "shape=1 dtype=float64; " given "shape=(2,3) dtype=float64; "                      \
    given "shape=(1,1,7) dtype=float16; " given "shape=1031 dtype=bfloat16; " given "shape=(0,3) dtype=float16"
/* clang-format on */

#define MXC_CASES(name, array) const op_case_list name = {#name, array, (int)(sizeof(array) / sizeof((array)[0]))}

#define CASES(name) extern const op_case_list name;
#include "operator/cases.def"
#undef CASES

/* Register the operators of the cases' own. Before anything is asked of the registry. */
mxc_status case_register_ops(void);

/* Parameters out of the case's text, for references. */
double case_number(const op_run *run, const char *key, double initial);
int case_is(const op_run *run, const char *key, const char *value); /* 1 if key=value is given */
mxc_tuple case_tuple(const op_run *run, const char *key); /* n 0 if absent; an entry None is MXC_PARAM_UNSET */
/* Entry i of the numbers key=(a,b,...); initial if there is none. */
double case_entry(const op_run *run, const char *key, int i, double initial);
int64_t case_size(const mxc_shape *shape);
int64_t case_last_dim(const mxc_shape *shape); /* the size of the last axis */
void case_copy(const op_run *run);             /* the output is the first input, element by element */
void case_zero_gradient(const op_run *run);    /* a gradient of 0 everywhere */
/* The indices of a shape's element i in C order, and the element at indices. */
void case_indices(const mxc_shape *s, int64_t i, int64_t *index);
int64_t case_element(const mxc_shape *s, const int64_t *index);

/*
 * Windows that stand over a plane of up to three axes, which are the last ones; those that are missing are 1. Of a
 * convolution the windows are out's elements and the plane is data's, of a deconvolution the other way round.
 */
typedef struct case_windows {
    int64_t windows[3], plane[3], kernel[3], stride[3], dilate[3], pad[3];
} case_windows;

case_windows case_windows_of(const op_run *r, const mxc_shape *windows, const mxc_shape *plane);
int64_t case_volume(const int64_t axes[3]);
/* The element of the plane under place k of window p (both counted through), or -1 in the padding. */
int64_t case_under(const case_windows *w, int64_t p, int64_t k);

#endif

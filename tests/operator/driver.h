/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the case driver, shared by its files. cases.h is what writers of cases need. */
#ifndef MXC_TESTS_OPERATOR_DRIVER_H
#define MXC_TESTS_OPERATOR_DRIVER_H

#include "operator/cases.h"

#define CASE_PARAMS 16
#define CASE_GUARD 64 /* bytes around every output */

/* ---- text (case_text.c) ------------------------------------------------------------------------------------------ */

typedef struct case_input {
    mxc_shape shape;
    double low, high;
    int whole, nan, infinite;
} case_input;

typedef struct case_params {
    int n;
    const char *keys[CASE_PARAMS], *values[CASE_PARAMS];
    char text[512];
} case_params;

void case_parse_params(const char *text, case_params *out);
/* Inputs of a case; returns how many. */
int case_parse_inputs(const char *text, case_input *out);
/* Shapes of one side of an inference case, up to "->", "=>" or the end; *at moves past them. Returns how many. */
int case_parse_shapes(const char **at, mxc_shape *out);

/* ---- one case in one dtype (case_fixture.c) ---------------------------------------------------------------------- */

typedef struct fixture {
    const op_case *c;
    mxc_dtype dtype;
    mxc_op *op;
    int n_in, n_out, n_aux, n_visible;
    mxc_op_sig sig;
    mxc_shape in_shape[CASE_SLOTS], out_shape[CASE_SLOTS], aux_shape[CASE_SLOTS];
    mxc_dtype in_type[CASE_SLOTS], out_type[CASE_SLOTS], aux_type[CASE_SLOTS];
    /* Values as double, already rounded to the dtype. */
    double *in[CASE_SLOTS], *aux[CASE_SLOTS];
    double *out[CASE_SLOTS], *aux_after[CASE_SLOTS];    /* by the reference */
    double *out_grad[CASE_SLOTS], *in_grad[CASE_SLOTS]; /* given; expected */
} fixture;

void fixture_open(fixture *f, const op_case *c, mxc_dtype dtype);
void fixture_close(fixture *f);
/* Run the reference on inputs; aux is changed in place. */
void fixture_reference(const fixture *f, double *const *in, double *const *aux, double *const *out);
/* What a run is called in messages. */
const char *fixture_name(const fixture *f, char *out, size_t size);

/* Where arrays are made, and so where operators run: cpu(0) unless set. */
extern mxc_context case_context;

/* An array with these values, and its values. */
mxc_ndarray *array_of(const mxc_shape *shape, mxc_dtype dtype, const double *values);
double *values_of(mxc_ndarray *array);
/* The same array as a view: rows within a larger block, or another shape of it. */
mxc_ndarray *array_as_view(const mxc_shape *shape, mxc_dtype dtype, const double *values);
/* An array in the middle of guard bytes, all filled with values (NULL: with a pattern); check and release it. */
typedef struct guarded {
    unsigned char *block; /* on the host */
    size_t bytes;
    mxc_ndarray *around; /* on a device: the guards too, which are numbers there; else NULL */
    mxc_ndarray *array;
} guarded;
guarded guarded_of(const mxc_shape *shape, mxc_dtype dtype, const double *values);
void guarded_close(guarded *g, const char *name);

/* Fail unless found is near expected by the tolerances of the dtype; add is what was there before. */
void expect_near(const fixture *f, const char *what, int slot, const double *found, const double *expected,
                 const double *before, int64_t n, mxc_dtype dtype);

/* ---- the checks (driver.c) --------------------------------------------------------------------------------------- */

/* Everything about one case: the dtypes it runs in, requests, views, gradients; or its inference; or its error. */
void check_case(const op_case *c);
/* A run in one dtype, without its further sets. */
void check_in_dtype(const op_case *c, mxc_dtype dtype);
/* 1 if the case is to run in that dtype. */
int case_runs_in(const op_case *c, const mxc_op_def *def, mxc_dtype dtype);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of operators. A seed decides everything about one: the operator, its parameters (of a case in cases.def
 * or of the operator's schema, within the declared ranges and beyond), shapes with axes of 0, of 1 and, where there are
 * no elements, huge ones, dtypes, values, and how the call is made. test_random.c makes the calls.
 */
#ifndef MXC_TESTS_OPERATOR_RANDOM_CASE_H
#define MXC_TESTS_OPERATOR_RANDOM_CASE_H

#include "operator/driver.h"

enum {
    RANDOM_SLOTS = 40,         /* most arguments, outputs or auxiliary states of a call that is made */
    RANDOM_PARAMS = 20,        /* most parameters that are given */
    RANDOM_VALUE = 256,        /* most bytes of a parameter's text */
    RANDOM_ELEMENTS = 1 << 15, /* most elements of all arrays of a call together */
};

/* Where a call's way ends that is not made. */
typedef enum random_end {
    RANDOM_READY,   /* everything is known: make the call */
    RANDOM_REFUSED, /* the library refused parameters, shapes or dtypes, with a message */
    RANDOM_LARGE    /* too many arrays or elements for this test */
} random_end;

typedef struct random_case {
    uint64_t seed, state; /* of the generator */
    const mxc_op_def *def;
    int n_params;
    const char *keys[RANDOM_PARAMS];
    char values[RANDOM_PARAMS][RANDOM_VALUE];
    mxc_op *op;
    mxc_op_sig sig; /* of n_in arguments and so on; its arrays are those below */
    mxc_shape in_shape[RANDOM_SLOTS], out_shape[RANDOM_SLOTS], aux_shape[RANDOM_SLOTS];
    mxc_dtype in_type[RANDOM_SLOTS], out_type[RANDOM_SLOTS], aux_type[RANDOM_SLOTS];
    case_input like[2 * RANDOM_SLOTS];  /* ranges of values of arguments and auxiliary states */
    int is_wild;                        /* values that are huge, negative, not finite */
    void (*prepare)(const op_run *run); /* of the case that parameters and inputs come from, or NULL */
} random_case;

/* Call once first: collects the parameters and inputs of all cases. */
void random_cases_open(void);
void random_cases_close(void);
/* 1 if some case of the operator can run in this build. */
int random_case_has_template(const mxc_op_def *def);

/* The call of a seed, up to the shapes. note is told of everything that is known, for messages. Release it in any
 * case. */
random_end random_case_open(random_case *c, uint64_t seed, void (*note)(const random_case *c));
void random_case_close(random_case *c);
/* The call as one line of text, as far as it is known. */
const char *random_case_text(const random_case *c, char *out, size_t size);

/* Numbers of the generator: 0 to n - 1; 1 in so many percent. */
int64_t random_below(random_case *c, int64_t n);
int random_chance(random_case *c, int percent);
/* Values for a slot: argument or, from n_in on, auxiliary state. */
void random_values_of(random_case *c, int slot, mxc_dtype dtype, int64_t n, void *out);
/* Has the case make its values fit, if the arguments are still as large as its own: a JPEG image out of bytes. */
void random_prepare(const random_case *c, void *const *in);

#endif

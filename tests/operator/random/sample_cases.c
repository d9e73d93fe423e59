/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of random numbers: dtypes, requests, shapes, inference, parameters out of range. Their distributions are
 * tested in test_sample.c. */
#include "operator/cases.h"

/* Of numbers given as parameters; wrong is refused. */
#define RANDOM(name, given, wrong, text)                                                                   \
    {.op = "random_" name, .params = CASE_MADE(given), .in = "", .flags = CASE_RANDOM | CASE_NO_GRADIENT}, \
        {.op = "random_" name, .params = given, .infer = "-> 2x3 => -> 2x3"},                              \
        {.op = "random_" name, .params = "shape=(2,3)", .infer = "-> ? => -> 2x3"}, {                      \
        .op = "random_" name, .params = wrong, .in = "", .status = MXC_EINVAL, .error = text               \
    }
/* In the shape and dtype of an array. */
#define LIKE(name, given, wrong, text)                                    \
    {.op = "_random_" name "_like",                                       \
     .params = given,                                                     \
     .in = "3x5" CASE_EACH(CASE_ONE),                                     \
     .flags = CASE_RANDOM,                                                \
     .gradient = case_zero_gradient},                                     \
        INFERS("_random_" name "_like", given, "? -> 2x3 => 2x3 -> 2x3"), \
        INFERS("_random_" name "_like", given, "2x3 -> ? => 2x3 -> 2x3"), \
        FAILS("_random_" name "_like", wrong, "2x3", MXC_EINVAL, text),   \
        FAILS("_random_" name "_like", "shape=3", "2x3", MXC_EINVAL, "shape")
/* Of one array of parameters, and of two. */
#define SHAPES "shape=(2,3); shape=5; shape=(); shape=0; shape=(1,1)"
#define SAMPLE_ONE(name, range)                                                                                   \
    {.op = "sample_" name,                                                                                        \
     .params = SHAPES,                                                                                            \
     .in = "3@" range "; 2x2; 0; s; 1x1",                                                                         \
     .flags = CASE_RANDOM | CASE_NO_GRADIENT},                                                                    \
        {.op = "sample_" name, .params = "shape=400", .in = "5@" range, .flags = CASE_RANDOM | CASE_NO_GRADIENT}, \
        {.op = "sample_" name, .params = "shape=(4,5)", .infer = "2x3 -> ? => 2x3 -> 2x3x4x5"}, {                 \
        .op = "sample_" name, .params = "shape=(4,5)", .infer = "? -> 2x3x4x5 => 2x3 -> 2x3x4x5"                  \
    }
#define SAMPLE_TWO(name, a, b, second)                                                                                \
    {.op = "sample_" name,                                                                                            \
     .params = SHAPES,                                                                                                \
     .in = "3@" a " 3@" b "; 2x2 2x2; 0 0; s s; 1x1 1x1",                                                             \
     .flags = CASE_RANDOM | CASE_NO_GRADIENT},                                                                        \
        {.op = "sample_" name, .params = "shape=400", .in = "5@" a " 5@" b, .flags = CASE_RANDOM | CASE_NO_GRADIENT}, \
        {.op = "sample_" name, .params = "shape=(4,5)", .infer = "2x3,? -> ? => 2x3,2x3 -> 2x3x4x5"},                 \
        {.op = "sample_" name, .params = "shape=(4,5)", .infer = "?,? -> 2x3x4x5 => 2x3,2x3 -> 2x3x4x5"}, {           \
        .op = "sample_" name, .params = "shape=4", .in = "2@1:2 3@1:2", .status = MXC_ESHAPE,                         \
        .error = "argument '" second "'"                                                                              \
    }

static const op_case cases[] = {
    RANDOM("uniform", "low=-1 high=2 ", "low=2 high=1", "low <= high"),
    SAMPLE_TWO("uniform", "-2:-1", "1:2", "high"),
    RANDOM("normal", "loc=1 scale=2 ", "scale=-1", "at least 0"),
    SAMPLE_TWO("normal", "-1:1", "0.5:2", "sigma"),
    RANDOM("gamma", "alpha=0.5 beta=2 ", "alpha=0", "alpha > 0"),
    SAMPLE_TWO("gamma", "0.5:3", "0.5:2", "beta"),
    RANDOM("exponential", "lam=2 ", "lam=0", "lam > 0"),
    SAMPLE_ONE("exponential", "0.5:3"),
    RANDOM("poisson", "lam=4 ", "lam=-1", "lam >= 0"),
    SAMPLE_ONE("poisson", "0:20"),
    RANDOM("negative_binomial", "k=3 p=0.4 ", "p=1.5", "p <= 1"),
    SAMPLE_TWO("negative_binomial", "1:5", "0.25:0.75", "p"),
    RANDOM("generalized_negative_binomial", "mu=3 alpha=0.5 ", "alpha=-1", "alpha >= 0"),
    SAMPLE_TWO("generalized_negative_binomial", "1:5", "0.25:0.75", "alpha"),
    LIKE("uniform", "low=-1 high=2", "low=2 high=1", "low <= high"),
    LIKE("normal", "loc=1 scale=2", "scale=-1", "at least 0"),
    LIKE("gamma", "alpha=0.5 beta=2", "alpha=0", "alpha > 0"),
    LIKE("exponential", "lam=2", "lam=0", "lam > 0"),
    LIKE("poisson", "lam=4", "lam=-1", "lam >= 0"),
    LIKE("negative_binomial", "k=3 p=0.4", "p=1.5", "p <= 1"),
    LIKE("generalized_negative_binomial", "mu=3 alpha=0.5", "alpha=-1", "alpha >= 0"),
    FAILS("random_generalized_negative_binomial", "mu=1e30 alpha=1e308", "", MXC_EINVAL, "a finite mu alpha"),
    FAILS("random_generalized_negative_binomial", "mu=1 alpha=1e-310", "", MXC_EINVAL, "1 / alpha"),
    FAILS("random_negative_binomial", "k=1 p=1e-310", "", MXC_EINVAL, "a finite 1 / p"),
};

MXC_CASES(random_sample_cases, cases);

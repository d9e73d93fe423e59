/* SPDX-License-Identifier: Apache-2.0 */
/* A small network that is saved in a folder: what the tests of predictors load. */
#ifndef MXC_TESTS_PREDICT_SAVED_H
#define MXC_TESTS_PREDICT_SAVED_H

#include "support.h"

#include <mxc/predict.h>

enum { SAVED_SIZE = 2 * 6 * 6, SAVED_CLASSES = 5 };

/* data (N,2,6,6), conv, bn, relu, fc, softmax with 5 classes: <folder>/net-symbol.json and net-0003.params. */
typedef struct saved {
    test_path folder, prefix, symbol_path, params_path;
    mxc_symbol *symbol;
    mxc_ndarray_list params; /* "arg:..." and "aux:..." */
} saved;

void saved_open(saved *s);
void saved_close(saved *s);
/* The description of its input. */
mxc_data_desc saved_input(int64_t batch);
/* batch samples of numbers, the same for a seed; free() them. */
float *saved_data(int64_t batch, uint32_t seed);
/* What an executor with constant parameters, bound without a predictor, computes of data; free() it. */
float *saved_answer(const saved *s, int64_t batch, const float *data);
/* Sets the input, runs, and compares the output with an answer: bit for bit, or as far as tolerance. */
void saved_check(mxc_predictor *p, const float *data, int64_t batch, const float *answer, double tolerance);
/* The same list with the prefixes of the names left out, and one more array, called extra unless that is NULL. Arrays
 * are borrowed; saved_free_list() it. */
mxc_ndarray_list saved_plain(const saved *s, const char *extra);
void saved_free_list(mxc_ndarray_list *list);
/* Blocks of memory in use once all that was queued has ended and the pool holds nothing back. */
int64_t saved_live_blocks(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of CTCLoss. The reference enumerates every sequence of classes, one class at each step. */
#include <math.h>

#include "operator/cases.h"

enum { MOST_STEPS = 8 };

/* 1 if the classes that a way emits spell the n labels. */
static int spells(const int *way, int64_t steps, int blank, const double *labels, int64_t n) {
    int64_t found = 0;
    for (int64_t t = 0; t < steps; t++) {
        if (way[t] == blank || (t > 0 && way[t] == way[t - 1]))
            continue;
        if (found >= n || (int)labels[found] != way[t])
            return 0;
        found++;
    }
    return found == n;
}

/* The next way in the order of numbers; 0 after the last one. */
static int advance(int *way, int64_t steps, int classes) {
    for (int64_t t = 0; t < steps; t++) {
        if (++way[t] < classes)
            return 1;
        way[t] = 0;
    }
    return 0;
}

/* The logarithm of class k's probability at step t of sequence n. */
static double log_probability(const op_run *r, int64_t t, int64_t n, int k) {
    int64_t batch = r->in_shape[0].dim[1], classes = r->in_shape[0].dim[2];
    const double *x = r->in[0] + (t * batch + n) * classes;
    double sum = 0;
    for (int64_t i = 0; i < classes; i++)
        sum += exp(x[i]);
    return x[k] - log(sum);
}

static double probability(const op_run *r, int64_t n, int64_t steps, const double *labels, int64_t n_labels) {
    int classes = (int)r->in_shape[0].dim[2], way[MOST_STEPS] = {0};
    int blank = case_is(r, "blank_label", "last") ? classes - 1 : 0;
    double total = 0;
    do {
        double product = 1;
        if (!spells(way, steps, blank, labels, n_labels))
            continue;
        for (int64_t t = 0; t < steps; t++)
            product *= exp(log_probability(r, t, n, way[t]));
        total += product;
    } while (advance(way, steps, classes));
    return total;
}

static void ref_ctc(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1];
    int argument = 2;
    const double *steps = case_is(r, "use_data_lengths", "True") ? r->in[argument++] : NULL;
    const double *lengths = case_is(r, "use_label_lengths", "True") ? r->in[argument] : NULL;
    double end = case_is(r, "blank_label", "last") ? -1 : 0;
    for (int64_t n = 0; n < case_size(&r->out_shape[0]); n++) {
        const double *labels = r->in[1] + n * columns;
        int64_t count = 0;
        while (!lengths && count < columns && trunc(labels[count]) != end)
            count++;
        r->out[0][n] = -log(probability(r, n, steps ? (int64_t)steps[n] : r->in_shape[0].dim[0], labels,
                                        lengths ? (int64_t)lengths[n] : count));
    }
}

#define CTC(given, shapes) \
    { .op = "CTCLoss", .params = given, .in = shapes, .constant = 14, .reference = ref_ctc, .tolerance = 4 }

static const op_case cases[] = {
    CTC("", "1x1x2 1x1@1:1.5"),
    CTC("", "4x2x3@-2:2 2x2@1:2i; 8x1x3 1x2; 5x7x3 7x1; 4x65x3 65x1; 3x17x4 17x1; 6x1x5 1x2"),
    CTC("", "6x3x4@-3:3 3x3@0:3i"),
    CTC("", "7x5x3@-2:2 5x3@0:2i"),
    CTC("", "3x2x4 2x4@0:0.5"), /* nothing is spelt */
    CTC("", "5x2x3@-2:2 2x0"),
    CTC("", "5x0x3 0x2"),
    CTC("blank_label=last", "6x3x4@-3:3 3x3@-1:2i"),
    CTC("blank_label=last", "5x4x3@-1:1 4x2@0:1i"),
    CTC("use_data_lengths=True", "6x4x3@-2:2 4x1@1:2i 4@2:6i"),
    CTC("use_label_lengths=True", "6x4x3@-2:2 4x3@1:2i 4@0:3i"),
    CTC("use_data_lengths=True use_label_lengths=True", "7x5x3@-2:2 5x2@1:2i 5@4:7i 5@0:2i"),
    CTC("use_label_lengths=True blank_label=last", "5x3x4@-2:2 3x2@0:2i 3@1:2i"),
    CTC("", "6x1x3@-30:30 1x2@1:2i"),
    /* no way spells the labels */
    {.op = "CTCLoss", .in = "1x2x3 2x2@1:2i", .constant = 14, .reference = ref_ctc, .gradient = case_zero_gradient},
    {.op = "ctc_loss", .in = "0x2x3 2x1@1:2i", .constant = 14, .reference = ref_ctc, .gradient = case_zero_gradient},
    FAILS("CTCLoss", "", "4x2x3 3x2", MXC_ESHAPE, "argument 'label'"),
    FAILS("CTCLoss", "", "4x2 2x2", MXC_ESHAPE, "argument 'data'"),
    FAILS("CTCLoss", "", "4x2x0 2x2", MXC_ESHAPE, "no classes"),
    FAILS("CTCLoss", "use_label_lengths=True", "4x2x3 2x2 3", MXC_ESHAPE,
          "argument 'label_lengths': expected shape (2,), found"),
    INFERS("_contrib_ctc_loss", "use_data_lengths=True", "?x?x5,?,2 -> ? => ?x2x5,2x?,2 -> 2"),
    INFERS("_contrib_ctc_loss", "", "?,? -> 3 => ?x3x?,3x? -> 3"),
};

MXC_CASES(loss_ctc_loss_cases, cases);

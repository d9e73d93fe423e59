/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of RNN: every mode, several layers, both directions, states in and out. */
#include <math.h>
#include <string.h>

#include "operator/cases.h"

enum { UNITS = 64 };

typedef struct layer {
    int64_t n, h, inputs, gates, ways;
    int64_t hidden; /* of the state: h, or what it is projected to */
    int way;
    const double *w, *u, *b, *c; /* of x, of the state before, and their biases */
    const double *p;             /* projection (hidden,h), or NULL */
} layer;

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double sum_of(const double *row, const double *x, int64_t n, double start) {
    for (int64_t i = 0; i < n; i++)
        start += row[i] * x[i];
    return start;
}

/* One sample, one step: h and cell change in place. */
static void step(const op_run *r, const layer *l, const double *x, double *h, double *cell) {
    double from_x[4][UNITS], from_h[4][UNITS], units[UNITS];
    for (int64_t k = 0; k < l->gates; k++)
        for (int64_t j = 0; j < l->h; j++) {
            int64_t row = k * l->h + j;
            from_x[k][j] = sum_of(l->w + row * l->inputs, x, l->inputs, l->b[row]);
            from_h[k][j] = sum_of(l->u + row * l->hidden, h, l->hidden, l->c[row]);
        }
    for (int64_t j = 0; j < l->h; j++) {
        double a[4];
        for (int64_t k = 0; k < l->gates; k++)
            a[k] = from_x[k][j] + from_h[k][j];
        if (case_is(r, "mode", "rnn_relu")) {
            h[j] = fmax(a[0], 0);
        } else if (case_is(r, "mode", "rnn_tanh")) {
            h[j] = tanh(a[0]);
        } else if (case_is(r, "mode", "lstm")) {
            cell[j] = sigmoid(a[1]) * cell[j] + sigmoid(a[0]) * tanh(a[2]);
            units[j] = sigmoid(a[3]) * tanh(cell[j]);
            if (!l->p)
                h[j] = units[j];
        } else {
            double n = tanh(from_x[2][j] + sigmoid(a[0]) * from_h[2][j]);
            h[j] = (1 - sigmoid(a[1])) * n + sigmoid(a[1]) * h[j];
        }
    }
    for (int64_t j = 0; j < l->hidden && l->p; j++)
        h[j] = sum_of(l->p + j * l->h, units, l->h, 0);
}

/* The steps of a sequence. */
static int64_t length_of(const op_run *r, int64_t t, int64_t i) {
    const double *lengths = r->in[r->n_in - 1];
    return case_is(r, "use_sequence_length", "True") ? (int64_t)fmax(0, fmin(lengths[i], (double)t)) : t;
}

/* y (T,N,ways H) of x (T,N,inputs), one way; the states go from first to last. Each sequence by itself. */
static void sweep(const op_run *r, const layer *l, int64_t t, const double *x, double *y, double *h, double *cell) {
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t s = 0, length = length_of(r, t, i); s < length; s++) {
            int64_t row = (l->way ? length - 1 - s : s) * l->n + i;
            step(r, l, x + row * l->inputs, h + i * l->hidden, cell ? cell + i * l->h : NULL);
            memcpy(y + (row * l->ways + l->way) * l->hidden, h + i * l->hidden, (size_t)l->hidden * sizeof *y);
        }
}

/* x and y have room for every layer. */
static void ref_layers(const op_run *r, double *x, double *y) {
    int64_t t = r->in_shape[0].dim[0], layers = (int64_t)case_number(r, "num_layers", 1);
    const double *weights = r->in[1], *biases;
    layer l = {
        .n = r->in_shape[0].dim[1], .h = (int64_t)case_number(r, "state_size", 1), .inputs = r->in_shape[0].dim[2]};
    l.hidden = r->in_shape[2].dim[2];
    l.ways = r->in_shape[2].dim[0] / layers;
    l.gates = case_is(r, "mode", "lstm") ? 4 : case_is(r, "mode", "gru") ? 3 : 1;
    biases = r->in[1] + case_size(&r->in_shape[1]) - layers * l.ways * 2 * l.gates * l.h;
    memcpy(r->out[1], r->in[2], (size_t)case_size(&r->in_shape[2]) * sizeof *x);
    if (l.gates == 4)
        memcpy(r->out[2], r->in[3], (size_t)case_size(&r->in_shape[3]) * sizeof *x);
    memcpy(x, r->in[0], (size_t)case_size(&r->in_shape[0]) * sizeof *x);
    for (int64_t k = 0; k < layers; k++) {
        memset(y, 0, (size_t)(t * l.n * l.ways * l.hidden) * sizeof *y);
        for (l.way = 0; l.way < l.ways; l.way++) {
            int64_t state = (k * l.ways + l.way) * l.n;
            l.w = weights;
            l.u = l.w + l.gates * l.h * l.inputs;
            weights = l.u + l.gates * l.h * l.hidden;
            l.p = strstr(r->params, "projection_size") ? weights : NULL;
            weights += l.p ? l.hidden * l.h : 0;
            l.b = biases;
            l.c = l.b + l.gates * l.h;
            biases = l.c + l.gates * l.h;
            sweep(r, &l, t, x, y, r->out[1] + state * l.hidden, l.gates == 4 ? r->out[2] + state * l.h : NULL);
        }
        l.inputs = l.ways * l.hidden;
        memcpy(x, y, (size_t)(t * l.n * l.inputs) * sizeof *x);
    }
    memcpy(r->out[0], y, (size_t)case_size(&r->out_shape[0]) * sizeof *y);
}

static void ref_rnn(const op_run *r) {
    static double x[1 << 16], y[1 << 16];
    ref_layers(r, x, y);
}

#define RNN(given, shapes) \
    { .op = "RNN", .params = given, .in = shapes, .reference = ref_rnn, .tolerance = 8 }

#define LENGTHS(given, shapes, at)                                                                     \
    {                                                                                                  \
        .op = "RNN", .params = given " use_sequence_length=True", .in = shapes, .constant = 1 << (at), \
        .reference = ref_rnn, .tolerance = 8                                                           \
    }

static const op_case cases[] = {
    RNN("mode=rnn_tanh state_size=4 num_layers=1", "3x2x5 44 1x2x4"),
    RNN("mode=rnn_tanh state_size=3 num_layers=2 state_outputs=True", "4x2x2 45 2x2x3"),
    RNN("mode=rnn_tanh state_size=3 num_layers=2 bidirectional=True state_outputs=1", "3x2x2 108 4x2x3"),
    RNN("mode=rnn_tanh state_size=1 num_layers=1", "1x1x1 4 1x1x1"),
    RNN("mode=rnn_tanh state_size=16 num_layers=2 bidirectional=True state_outputs=True", /* room for a library's */
        "12x4x5 2336@-0.3:0.3 4x4x16"),
    RNN("mode=rnn_relu state_size=4 num_layers=1 state_outputs=True", "3x2x5 44 1x2x4"),
    RNN("mode=rnn_relu state_size=3 num_layers=2 bidirectional=True", "3x2x2 108 4x2x3"),
    RNN("mode=lstm state_size=4 num_layers=1", "3x2x5 176 1x2x4 1x2x4"),
    RNN("mode=lstm state_size=3 num_layers=1 state_outputs=True", "5x2x2 84 1x2x3 1x2x3"),
    RNN("mode=lstm state_size=3 num_layers=3 state_outputs=True", "4x2x2 276 3x2x3 3x2x3"),
    RNN("mode=lstm state_size=2 num_layers=2 bidirectional=True state_outputs=True", "3x3x3 240 4x3x2 4x3x2"),
    RNN("mode=lstm state_size=40 num_layers=1 state_outputs=True", "7x9x24 10560@-0.3:0.3 1x9x40 1x9x40"),
    RNN("mode=lstm state_size=1 num_layers=1", "1x1x1 16 1x1x1 1x1x1"),
    RNN("mode=lstm state_size=3 num_layers=2 state_outputs=True", "0x2x4 204 2x2x3 2x2x3"),
    RNN("mode=lstm state_size=3 num_layers=1 state_outputs=True", "2x0x4 108 1x0x3 1x0x3"),
    RNN("mode=gru state_size=4 num_layers=1", "3x2x5 132 1x2x4"),
    RNN("mode=gru state_size=3 num_layers=3 state_outputs=True", "4x2x2 207 3x2x3"),
    RNN("mode=gru state_size=2 num_layers=2 bidirectional=True state_outputs=True", "3x3x3 180 4x3x2"),
    RNN("mode=gru state_size=33 num_layers=1", "5x7x20 5445@-0.3:0.3 1x7x33"),
    RNN("mode=gru state_size=3 num_layers=2 state_outputs=True", "0x2x4 153 2x2x3"),
    RNN("mode=gru state_size=3 num_layers=2 p=0.5", "3x2x4 153 2x2x3"), /* nothing is dropped outside training */
    {.op = "RNN",
     .params = "mode=lstm state_size=3 num_layers=2 p=0.5",
     .in = "3x2x4 204 2x2x3 2x2x3",
     .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    FAILS("RNN", "mode=lstm state_size=4 num_layers=1", "3x2x5 175 1x2x4 1x2x4", MXC_ESHAPE,
          "argument 'parameters': expected shape (176,), found (175,)"),
    FAILS("RNN", "mode=gru state_size=4 num_layers=1", "3x2x5 132 2x2x4", MXC_ESHAPE,
          "argument 'state': expected shape (1,2,4), found (2,2,4)"),
    FAILS("RNN", "mode=lstm state_size=4 num_layers=1", "3x2x5 176 1x2x4 1x3x4", MXC_ESHAPE, "argument 'state_cell'"),
    FAILS("RNN", "mode=lstm state_size=4 num_layers=1", "3x2 176 1x2x4 1x2x4", MXC_ESHAPE, "argument 'data'"),
    FAILS("RNN", "mode=lstm state_size=1000000 num_layers=10000", "1x0x1 1 10000x0x1000000 10000x0x1000000", MXC_ESHAPE,
          "too many elements"),
    FAILS("RNN", "mode=lstm num_layers=1", "3x2x5 1 1x2x4 1x2x4", MXC_EINVAL, "\"state_size\" is missing"),
    FAILS("RNN", "mode=cfc state_size=4 num_layers=1", "3x2x5 1 1x2x4", MXC_EINVAL, "mode"),
    RNN("mode=lstm state_size=4 num_layers=1 projection_size=2", "3x2x5 152 1x2x2 1x2x4"),
    RNN("mode=lstm state_size=3 num_layers=2 projection_size=5 state_outputs=True", "4x2x2 282 2x2x5 2x2x3"),
    RNN("mode=lstm state_size=3 num_layers=2 projection_size=2 bidirectional=True state_outputs=True",
        "3x3x3 384 4x3x2 4x3x3"),
    RNN("mode=lstm state_size=3 num_layers=1 projection_size=2 state_outputs=True", "0x2x4 102 1x2x2 1x2x3"),
    FAILS("RNN", "mode=gru state_size=4 num_layers=1 projection_size=2", "3x2x5 1 1x2x4", MXC_EINVAL,
          "projection_size is for mode lstm only"),
    FAILS("RNN", "mode=lstm state_size=4 num_layers=1 projection_size=0", "3x2x5 1 1x2x4 1x2x4", MXC_EINVAL,
          "projection_size"),
    FAILS("RNN", "mode=lstm state_size=4 num_layers=1 projection_size=2", "3x2x5 152 1x2x4 1x2x4", MXC_ESHAPE,
          "argument 'state': expected shape (1,2,2), found (1,2,4)"),
    FAILS("RNN", "mode=lstm state_size=4 num_layers=1 lstm_state_clip_min=-1", "3x2x5 1 1x2x4 1x2x4", MXC_EUNSUPPORTED,
          "lstm_state_clip_min"),
    FAILS("RNN", "mode=gru state_size=4 num_layers=1 use_sequence_length=True", "3x2x5 132 1x2x4 3", MXC_ESHAPE,
          "argument 'sequence_length': expected shape (2,), found (3,)"),
    /* sequences of other lengths: full, shorter, empty and longer than T; fractions are cut off */
    LENGTHS("mode=rnn_tanh state_size=4 num_layers=1 state_outputs=True", "4x5x5 44 1x5x4 5@0:4i", 3),
    LENGTHS("mode=rnn_tanh state_size=3 num_layers=2 bidirectional=True", "4x5x2 108 4x5x3 5@0.2:4", 3),
    LENGTHS("mode=lstm state_size=3 num_layers=1 state_outputs=True", "5x7x2 84 1x7x3 1x7x3 7@0:5i", 4),
    LENGTHS("mode=lstm state_size=2 num_layers=2 bidirectional=True state_outputs=True",
            "3x6x3 240 4x6x2 4x6x2 6@1:3i; 3x6x3 240 4x6x2 4x6x2 6@3:3; 3x6x3 240 4x6x2 4x6x2 6@0:0", 4),
    LENGTHS("mode=lstm state_size=3 num_layers=2 projection_size=2 bidirectional=True state_outputs=True",
            "4x5x3 384 4x5x2 4x5x3 5@0:4i", 4),
    LENGTHS("mode=gru state_size=4 num_layers=1", "4x5x5 132 1x5x4 5@-1:6i", 3),
    LENGTHS("mode=gru state_size=2 num_layers=2 bidirectional=True state_outputs=True", "4x6x3 180 4x6x2 6@1:4i", 3),
    LENGTHS("mode=lstm state_size=3 num_layers=1", "2x0x4 108 1x0x3 1x0x3 0; 0x2x4 108 1x2x3 1x2x3 2@0:1i", 4),
    {.op = "RNN",
     .params = "mode=gru state_size=4 num_layers=1 use_sequence_length=True",
     .infer = "?,?,1x?x?,3 -> 7x?x?,?,?,? => 7x3x?,?,1x3x4,3 -> 7x3x4,1x3x4,0,?"},
    {.op = "RNN",
     .params = "mode=lstm state_size=4 num_layers=2",
     .infer = "3x2x5,?,?,2x?x4 -> ?,?,?,? => 3x2x5,336,2x2x4,2x2x4 -> 3x2x4,2x2x4,2x2x4,288"},
    {.op = "RNN",
     .params = "mode=gru state_size=4 num_layers=1 bidirectional=True",
     .infer = "?,?,2x3x? -> 7x?x?,?,?,? => 7x3x?,?,2x3x4 -> 7x3x8,2x3x4,0,?"},
    {.op = "RNN", /* the parameters do not depend on the batch */
     .params = "mode=lstm state_size=5 num_layers=1",
     .infer = "3x?x4,?,?,? -> ?,?,?,? => 3x?x4,220,1x?x5,1x?x5 -> 3x?x5,1x?x5,1x?x5,?"},
};

MXC_CASES(nn_rnn_cases, cases);

/* mxc ops: the operators, from their descriptors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/mxc.h>

#include "mxc.h"

enum { MAX_OPS = 4096, DOC_WIDTH = 88 };

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const mxc_op_def *const *)a)->name, (*(const mxc_op_def *const *)b)->name);
}

/* All that users see, by name. Returns how many. */
static int list_ops(const mxc_op_def **out) {
    int n = 0;
    for (int i = 0; i < mxc_op_count() && n < MAX_OPS; i++)
        if (!(mxc_op_at(i)->flags & MXC_OP_HIDDEN))
            out[n++] = mxc_op_at(i);
    qsort(out, (size_t)n, sizeof *out, compare_names);
    return n;
}

static int print_list(void) {
    static const mxc_op_def *ops[MAX_OPS];
    int n = list_ops(ops);
    for (int i = 0; i < n; i++) {
        int is_long = strlen(ops[i]->doc) > DOC_WIDTH;
        printf("%-30s %.*s%s\n", ops[i]->name, is_long ? DOC_WIDTH - 3 : DOC_WIDTH, ops[i]->doc, is_long ? "..." : "");
    }
    return 0;
}

static int print_one(const char *name) {
    char *text;
    if (mxc_op_describe(name, &text) != MXC_OK) {
        fprintf(stderr, "mxc: %s\n", mxc_last_error());
        return MXC_EXIT_FAILED;
    }
    fputs(text, stdout);
    mxc_free(text);
    return 0;
}

static int print_some(int n, char **names) {
    int result = 0;
    for (int i = 0; i < n && result == 0; i++) {
        if (i)
            putchar('\n');
        result = print_one(names[i]);
    }
    return result;
}

static int print_markdown(void) {
    static const mxc_op_def *ops[MAX_OPS];
    int n = list_ops(ops), result = 0;
    printf("# Operators\n\nAll %d operators, as their descriptors tell (`mxc ops --markdown`). Any name will do.\n", n);
    for (int i = 0; i < n && result == 0; i++) {
        printf("\n## %s\n\n```text\n", ops[i]->name);
        result = print_one(ops[i]->name);
        printf("```\n");
    }
    return result;
}

/* ---- where operators are computed -------------------------------------------------------------------------------- */

/* Those that the host computes for arrays on other devices too, and why. */
static const struct {
    const char *name, *why;
} on_host[] = {
    {"Custom", "calls the program's functions, which run on the host"},
    {"_contrib_calibrate_entropy", "runs once for an array in a calibration, and reads one histogram"},
    {"_cvimdecode", "libjpeg and libpng work on the host"},
    {"_imdecode", "libjpeg and libpng work on the host"},
};

static const char *reason_of(const char *name) {
    for (size_t i = 0; i < sizeof on_host / sizeof *on_host; i++)
        if (strcmp(name, on_host[i].name) == 0)
            return on_host[i].why;
    return NULL;
}

/* An operator that runs on the host for want of a form of its own; of those without a gradient nothing is missing. */
static int is_missing(const mxc_op_def *op, mxc_device device, const char **what) {
    int forward = mxc_op_place(op, device, MXC_FORWARD) != MXC_PLACE_DEVICE;
    int backward = op->backward[MXC_CPU] && mxc_op_place(op, device, MXC_BACKWARD) != MXC_PLACE_DEVICE;
    *what = forward && backward ? "" : forward ? " (forward)" : " (gradient)";
    return forward || backward;
}

/* Prints an operator that is missing and why. Returns whether the table and the device differ about it. */
static int print_place(const mxc_op_def *op, mxc_device device, int *missing) {
    const char *what, *why = reason_of(op->name);
    int is_host = device == MXC_CPU || device == MXC_CPU_PINNED;
    if (!is_missing(op, device, &what)) {
        if (why && !is_host)
            fprintf(stderr, "mxc: %s is not computed on the host, but has a reason for it\n", op->name);
        return why && !is_host;
    }
    ++*missing;
    printf("%s%s: %s\n", op->name, what, why ? why : "no reason");
    return !why;
}

static int print_missing(const char *device) {
    static const mxc_op_def *ops[MAX_OPS];
    int n = list_ops(ops), devices, missing = 0, differ = 0;
    mxc_context context;
    if (mxc_context_parse(device, &context) != MXC_OK || mxc_device_count(context.device, &devices) != MXC_OK) {
        fprintf(stderr, "mxc: %s\n", mxc_last_error());
        return MXC_EXIT_FAILED;
    }
    for (int i = 0; i < n; i++)
        differ += print_place(ops[i], context.device, &missing);
    fprintf(stderr, "%d of %d operators are computed on the host for arrays on %s%s\n", missing, n, device,
            differ    ? ", not all for a reason"
            : missing ? ", all for the reasons given"
                      : "");
    return differ ? MXC_EXIT_FAILED : 0;
}

int mxc_ops_main(int argc, char **argv) {
    if (argc == 0)
        return print_list();
    if (strcmp(argv[0], "--markdown") == 0)
        return print_markdown();
    if (strcmp(argv[0], "--missing") == 0 && argc == 2)
        return print_missing(argv[1]);
    return print_some(argc, argv);
}

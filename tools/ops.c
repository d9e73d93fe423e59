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

/* An operator that runs on the host for want of a form of its own; of those without a gradient nothing is missing. */
static int is_missing(const mxc_op_def *op, mxc_device device, const char **what) {
    int forward = mxc_op_place(op, device, MXC_FORWARD) != MXC_PLACE_DEVICE;
    int backward = op->backward[MXC_CPU] && mxc_op_place(op, device, MXC_BACKWARD) != MXC_PLACE_DEVICE;
    *what = forward && backward ? "" : forward ? " (forward)" : " (gradient)";
    return forward || backward;
}

static int print_missing(const char *device) {
    static const mxc_op_def *ops[MAX_OPS];
    int n = list_ops(ops), devices, missing = 0;
    const char *what;
    mxc_context context;
    if (mxc_context_parse(device, &context) != MXC_OK || mxc_device_count(context.device, &devices) != MXC_OK) {
        fprintf(stderr, "mxc: %s\n", mxc_last_error());
        return MXC_EXIT_FAILED;
    }
    for (int i = 0; i < n; i++)
        if (is_missing(ops[i], context.device, &what)) {
            printf("%s%s\n", ops[i]->name, what);
            missing++;
        }
    fprintf(stderr, "%d of %d operators are computed on the host for arrays on %s\n", missing, n, device);
    return 0;
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

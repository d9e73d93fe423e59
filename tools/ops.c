/* SPDX-License-Identifier: Apache-2.0 */
/* mxc ops: the operators, from their descriptors. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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

/* ---- pages of the reference -------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *about;
} families[] = {
    {"contrib", "Operators of MXNet's contrib that belong to no other family."},
    {"custom", "Operators that the program registers."},
    {"detection", "Anchors, matching, non-maximum suppression and regions of interest for object detection."},
    {"elementwise", "Functions of one or two arrays, element by element, with scalars and with broadcasting."},
    {"index", "Reading and writing by index, sorting and selection."},
    {"linalg", "Matrix products and LAPACK factorisations, also on batches."},
    {"loss", "Outputs of networks that define their own gradient, and losses."},
    {"nn", "Layers of neural networks."},
    {"quantized", "Conversion to 8-bit integers, and layers that compute with them."},
    {"random", "Random numbers by distribution."},
    {"reduce", "Sums, extrema and other reductions over axes."},
    {"tensor", "Creation, shape, layout, slicing and joining of arrays."},
    {"update", "Steps of the optimizers."},
    {"vision", "Images and feature maps: sampling, warping, resizing, decoding."},
};

static const char *about_family(const char *family) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(families[i].name, family) == 0)
            return families[i].about;
    return "";
}

/* By family, then by name. */
static int compare_families(const void *a, const void *b) {
    const mxc_op_def *x = *(const mxc_op_def *const *)a, *y = *(const mxc_op_def *const *)b;
    int order = strcmp(mxc_op_family(x->name), mxc_op_family(y->name));
    return order ? order : strcmp(x->name, y->name);
}

/* The anchor of ops[i]: its name in small letters, with a number if an earlier heading of the page has the same. */
static const char *anchor(const mxc_op_def *const *ops, int i, char *out, size_t size) {
    int same = 0;
    for (int j = i - 1; j >= 0 && strcmp(mxc_op_family(ops[j]->name), mxc_op_family(ops[i]->name)) == 0; j--)
        same += strcasecmp(ops[j]->name, ops[i]->name) == 0;
    snprintf(out, size, same ? "%s-%d" : "%s", ops[i]->name, same);
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return out;
}

/* Opens DIRECTORY/NAME.md to write. */
static FILE *open_page(const char *directory, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.md", directory, name);
    FILE *file = fopen(path, "w");
    if (!file)
        fprintf(stderr, "mxc: cannot write %s: %s\n", path, strerror(errno));
    return file;
}

/* Closes a page; returns the exit status. */
static int close_page(FILE *page) {
    if (fclose(page) == 0)
        return 0;
    fprintf(stderr, "mxc: cannot write a page: %s\n", strerror(errno));
    return MXC_EXIT_FAILED;
}

static int write_index(const mxc_op_def *const *ops, int n, const char *directory) {
    FILE *page = open_page(directory, "README");
    char text[256];
    if (!page)
        return MXC_EXIT_FAILED;
    fprintf(page,
            "# Operators\n\nAll %d operators, by family. Generated from their descriptors by `mxc ops --markdown`. "
            "`mxc ops NAME` prints one\nof them; aliases are accepted too.\n",
            n);
    for (int i = 0; i < n; i++) {
        const char *family = mxc_op_family(ops[i]->name);
        int is_first = i == 0 || strcmp(mxc_op_family(ops[i - 1]->name), family) != 0;
        if (is_first)
            fprintf(page, "\n## [%s](%s.md)\n\n%s\n\n", family, family, about_family(family));
        fprintf(page, "%s[%s](%s.md#%s)", is_first ? "" : ",\n", ops[i]->name, family,
                anchor(ops, i, text, sizeof text));
        if (i + 1 == n || strcmp(mxc_op_family(ops[i + 1]->name), family) != 0)
            fputc('\n', page);
    }
    return close_page(page);
}

/* Writes the page of the family of ops[*at], and moves *at behind it. */
static int write_family(const mxc_op_def *const *ops, int n, int *at, const char *directory) {
    const char *family = mxc_op_family(ops[*at]->name);
    FILE *page = open_page(directory, family);
    int result = 0;
    if (!page)
        return MXC_EXIT_FAILED;
    fprintf(page, "# Operators: %s\n\n%s\n", family, about_family(family));
    for (; *at < n && strcmp(mxc_op_family(ops[*at]->name), family) == 0; ++*at) {
        char *text = NULL;
        if (mxc_op_describe(ops[*at]->name, &text) != MXC_OK) {
            fprintf(stderr, "mxc: %s\n", mxc_last_error());
            result = MXC_EXIT_FAILED;
        }
        fprintf(page, "\n## %s\n\n```text\n%s```\n", ops[*at]->name, mxc_text_below_title(text));
        mxc_free(text);
    }
    return close_page(page) ? MXC_EXIT_FAILED : result;
}

/* Writes README.md and a page per family to a directory, which is created. */
static int write_pages(const char *directory) {
    static const mxc_op_def *ops[MAX_OPS];
    int n = list_ops(ops), result;
    qsort(ops, (size_t)n, sizeof *ops, compare_families);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "mxc: cannot create %s: %s\n", directory, strerror(errno));
        return MXC_EXIT_FAILED;
    }
    result = write_index(ops, n, directory);
    for (int i = 0; i < n && result == 0;)
        result = write_family(ops, n, &i, directory);
    return result;
}

/* Writes the headers for C++ to a directory. */
static int write_headers(const char *directory) {
    static const mxc_op_def *ops[MAX_OPS];
    int n = list_ops(ops);
    qsort(ops, (size_t)n, sizeof *ops, compare_families);
    return mxc_ops_write_cpp(ops, n, directory);
}

/* ---- where operators are computed -------------------------------------------------------------------------------- */

/* Those that the host computes for arrays on other devices too, and why. */
static const struct {
    const char *name, *why;
} on_host[] = {
    {"Custom", "calls the program's functions, which run on the host"},
    {"_cond", "its subgraphs run on the host"},
    {"_contrib_DeformablePSROIPooling", "reads few regions, and has no kernels for GPUs yet"},
    {"_contrib_PSROIPooling", "reads few regions, and has no kernels for GPUs yet"},
    {"_contrib_RROIAlign", "reads few regions, and has no kernels for GPUs yet"},
    {"_contrib_bipartite_matching", "visits the scores one after another"},
    {"_contrib_boolean_mask", "the host counts the selected rows, which are the size of the output"},
    {"_contrib_box_encode", "checks that matches are rows of refs, which the host reports"},
    {"_contrib_calibrate_entropy", "runs once for an array in a calibration, and reads one histogram"},
    {"_contrib_hawkesll", "visits the events of a sequence one after another"},
    {"_contrib_index_copy", "the last of equal indices counts, which is found in their order"},
    {"_cvimdecode", "libjpeg and libpng work on the host"},
    {"_cvimread", "libjpeg and libpng work on the host"},
    {"_foreach", "its subgraph runs on the host"},
    {"_histogram", "the counts of a bin are added up without atomics only in one pass over data"},
    {"_imdecode", "libjpeg and libpng work on the host"},
    {"_linalg_det", "the factorization is LAPACK's"},
    {"_linalg_gelqf", "the factorization is LAPACK's"},
    {"_linalg_inverse", "the factorization is LAPACK's"},
    {"_linalg_slogdet", "the factorization is LAPACK's"},
    {"_linalg_syevd", "the factorization is LAPACK's"},
    {"_quantized_fused_conv", "reads graphs made for oneDNN, which are for CPUs"},
    {"_scatter_set_nd", "the last of equal indices counts, which is found in their order"},
    {"_while_loop", "its subgraphs run on the host"},
    {"cumsum", "each sum follows from the one before it"},
};

static const char *reason_of(const char *name) {
    for (size_t i = 0; i < sizeof on_host / sizeof *on_host; i++)
        if (strcmp(name, on_host[i].name) == 0)
            return on_host[i].why;
    return NULL;
}

/* Whether an operator falls back to the host. Operators without a gradient need no backward implementation. */
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
    if (strcmp(argv[0], "--markdown") == 0 && argc == 2)
        return write_pages(argv[1]);
    if (strcmp(argv[0], "--cpp") == 0 && argc == 2)
        return write_headers(argv[1]);
    if (strcmp(argv[0], "--missing") == 0 && argc == 2)
        return print_missing(argv[1]);
    return print_some(argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* mxc COMMAND ...: describes what libmxc offers, and inspects and writes its files. */
#include <stdio.h>
#include <string.h>

#include <mxc/mxc.h>

#include "mxc.h"

static const struct command {
    const char *name, *usage, *doc;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"ops", "ops [--markdown DIRECTORY | --cpp DIRECTORY | --missing DEVICE | NAME...]",
     "lists the operators, or describes the named ones; --markdown: writes the pages of docs/reference/operators;\n"
     "    --cpp: writes include/mxc/operators.hpp and the headers that it includes;\n"
     "    --missing: lists those that are computed on the host for arrays on that kind of device (gpu), and why",
     mxc_ops_main},
    {"iters", "iters [--markdown | NAME...]",
     "lists the data iterators, or describes the named ones; --markdown: prints docs/reference/iterators.md",
     mxc_iters_main},
    {"optimizers", "optimizers [--markdown | NAME...]",
     "lists the optimizers, or describes the named ones; --markdown: prints docs/reference/optimizers.md",
     mxc_optimizers_main},
    {"metrics", "metrics [--markdown | NAME...]",
     "lists the metrics, or describes the named ones; --markdown: prints docs/reference/metrics.md", mxc_metrics_main},
    {"rec", "rec [--lines N] FILE | --repair FROM TO | --sheet OUT.png FILE",
     "summarises a record file and lists its first 10 records and damaged places; --repair: copies the intact\n"
     "    records to TO, with an index TO.idx; --sheet: draws the first 100 images into one image",
     mxc_rec_main},
    {"im2rec", mxc_im2rec_usage, "lists the images in a directory, or packs the images of a list into a record file",
     mxc_im2rec_main},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to, const struct command *command) {
    fprintf(to, "usage: mxc %s\n    %s\n", command->usage, command->doc);
}

static void print_all_usage(FILE *to) {
    fprintf(to, "mxc %s\nusage: mxc --version | --help | COMMAND --help\n", mxc_version());
    for (int i = 0; i < COMMANDS; i++)
        print_usage(to, &commands[i]);
}

static int run(const struct command *command, int argc, char **argv) {
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        print_usage(stdout, command);
        return 0;
    }
    return command->run(argc, argv);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        printf("mxc %s (kernels: %s)\n", mxc_version(), mxc_cpu_level());
        return 0;
    }
    if (strcmp(name, "--help") == 0) {
        print_all_usage(stdout);
        return 0;
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return run(&commands[i], argc - 2, argv + 2);
    if (*name)
        fprintf(stderr, "mxc: there is no command '%s'\n", name);
    print_all_usage(stderr);
    return MXC_EXIT_USAGE;
}

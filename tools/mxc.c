/* mxc COMMAND ...: looks into libmxc, and into what it reads and writes. */
#include <stdio.h>
#include <string.h>

#include <mxc/mxc.h>

#include "mxc.h"

static const struct command {
    const char *name, *usage, *doc;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"ops", "ops [--markdown | --missing DEVICE | NAME...]",
     "list the operators, or describe some; --markdown: all, as docs/operators.md; --missing: those that are not\n"
     "    computed on that kind of device (gpu) but on the host for it, and why",
     mxc_ops_main},
    {"rec", "rec [--lines N] FILE | --repair FROM TO | --sheet OUT.png FILE",
     "list what a record file holds, its first 10 records and damaged places; --repair: copy the records that are\n"
     "    intact, and write an index beside, TO with .idx; --sheet: draw the first 100 images into one",
     mxc_rec_main},
    {"im2rec", "im2rec --list PREFIX ROOT | PREFIX ROOT [--resize N] [--quality N] ...",
     "list the images below a folder, or pack those of a list into a record file; without arguments: all options",
     mxc_im2rec_main},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to) {
    fprintf(to, "mxc %s\n", mxc_version());
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "usage: mxc %s\n    %s\n", commands[i].usage, commands[i].doc);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        print_usage(stdout);
        return 0;
    }
    for (int i = 0; argc > 1 && i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    print_usage(stderr);
    return MXC_EXIT_USAGE;
}

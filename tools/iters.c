/* mxc iters: the data iterators that are created by name, from their parameter schemas. */
#include <stdio.h>
#include <string.h>

#include <mxc/mxc.h>

#include "mxc.h"

static int print_one(const char *name) {
    char *text;
    if (mxc_iter_describe(name, &text) != MXC_OK) {
        fprintf(stderr, "mxc: %s\n", mxc_last_error());
        return MXC_EXIT_FAILED;
    }
    printf("%s\n", text);
    mxc_free(text);
    return 0;
}

static int print_names(void) {
    for (int i = 0; mxc_iter_name_at(i); i++)
        puts(mxc_iter_name_at(i));
    return 0;
}

static int print_markdown(void) {
    int result = 0;
    printf("# Iterators\n\nThe iterators that `mxc_iter_create` creates by name, with their parameters. Printed by "
           "`mxc iters --markdown`;\niterators over arrays and sentences in memory, and those that wrap another "
           "one, are functions in `mxc/io.h`.\n");
    for (int i = 0; mxc_iter_name_at(i) && result == 0; i++) {
        printf("\n## %s\n\n```text\n", mxc_iter_name_at(i));
        result = print_one(mxc_iter_name_at(i));
        printf("```\n");
    }
    return result;
}

int mxc_iters_main(int argc, char **argv) {
    int result = 0;
    if (argc == 0)
        return print_names();
    if (strcmp(argv[0], "--markdown") == 0)
        return print_markdown();
    for (int i = 0; i < argc && result == 0; i++)
        result = print_one(argv[i]);
    return result;
}

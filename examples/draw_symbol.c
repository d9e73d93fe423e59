/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a symbol file as a graph in the DOT language of Graphviz, with inferred shapes:
 *   draw_symbol [-o OUT.dot] NET-symbol.json [data=64,1,28,28]...
 *   draw_symbol NET-symbol.json data=64,1,28,28 | dot -Tpng -o net.png
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/mxc.h>

enum { MAX_SHAPES = 16 };

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "draw_symbol: %s\n", mxc_last_error());
    exit(1);
}

static void usage(void) {
    fprintf(stderr, "usage: draw_symbol [-o OUT.dot] NET-symbol.json [NAME=DIM,DIM,...]...\n");
    exit(2);
}

/* Parses "data=64,1,28,28"; the text is cut to the name. */
static void read_shape(char *text, const char **name, mxc_shape *shape) {
    int64_t dims[MXC_MAX_NDIM];
    char *at = strchr(text, '=');
    int n = 0;
    if (!at)
        usage();
    *at = '\0';
    *name = text;
    do {
        if (n == MXC_MAX_NDIM)
            usage();
        dims[n++] = strtoll(at + 1, &at, 10);
    } while (*at == ',');
    if (*at)
        usage();
    check(mxc_shape_set(shape, n, dims));
}

int main(int argc, char **argv) {
    const char *file = NULL, *out = NULL, *names[MAX_SHAPES];
    mxc_shape shapes[MAX_SHAPES];
    mxc_symbol *symbol;
    char *dot;
    FILE *to = stdout;
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            out = argv[++i];
        else if (!file && argv[i][0] != '-')
            file = argv[i];
        else if (file && n < MAX_SHAPES)
            read_shape(argv[i], &names[n], &shapes[n]), n++;
        else
            usage();
    }
    if (!file)
        usage();
    check(mxc_symbol_load(file, &symbol));
    check(mxc_symbol_to_dot(symbol, n, names, shapes, &dot));
    if (out && !(to = fopen(out, "w"))) {
        perror(out);
        return 1;
    }
    if (fputs(dot, to) < 0 || fclose(to) != 0) {
        perror(out ? out : "standard output");
        return 1;
    }
    mxc_free(dot);
    mxc_symbol_release(symbol);
    return 0;
}

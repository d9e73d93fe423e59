/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the examples: ending with a message, whole files, operators from text, options from a schema. Not part of
 * the library.
 */
#ifndef MXC_EXAMPLES_EXAMPLE_H
#define MXC_EXAMPLES_EXAMPLE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/mxc.h>

/* Description of a program, for its help. */
typedef struct example {
    const char *name, *words, *about; /* words: positional arguments, such as "TRAIN [TEST]" */
    int min_words, max_words;         /* number of positional arguments */
    const mxc_param *schema;          /* options; those of type bool take no value */
} example;

/* Entries of the schema of a struct settings: an integer, a string, the learning rate. */
#define INTEGER_OPTION(name_, field, initial_, min, max, text)                                                     \
    {                                                                                                              \
        MXC_PARAM_FIELD(settings, field), .name = name_, .type = MXC_PARAM_INT, .initial = initial_, .bounded = 1, \
                                          .minimum = min, .maximum = max, .doc = text                              \
    }
#define TEXT_OPTION(name_, field, initial_, text) \
    { MXC_PARAM_FIELD(settings, field), .name = name_, .type = MXC_PARAM_STRING, .initial = initial_, .doc = text }
#define RATE_OPTION(initial_, text)                                                                              \
    {                                                                                                            \
        MXC_PARAM_FIELD(settings, lr), .name = "lr", .type = MXC_PARAM_FLOAT, .initial = initial_, .bounded = 1, \
                                       .minimum = 0, .maximum = 1e6, .doc = text                                 \
    }

#define FLOAT_OPTION(name_, field, initial_, min, max, text)                                                         \
    {                                                                                                                \
        MXC_PARAM_FIELD(settings, field), .name = name_, .type = MXC_PARAM_FLOAT, .initial = initial_, .bounded = 1, \
                                          .minimum = min, .maximum = max, .doc = text                                \
    }
#define FLOATS_OPTION(name_, field, initial_, text) \
    { MXC_PARAM_FIELD(settings, field), .name = name_, .type = MXC_PARAM_FLOATS, .initial = initial_, .doc = text }
#define SWITCH_OPTION(name_, field, text) \
    { MXC_PARAM_FIELD(settings, field), .name = name_, .type = MXC_PARAM_BOOL, .initial = "False", .doc = text }

static const example program; /* each program defines its own */

static inline void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "%s: %s\n", program.name, mxc_last_error());
    exit(1);
}

static inline void fail(const char *what, const char *name) {
    fprintf(stderr, "%s: %s %s\n", program.name, what, name);
    exit(1);
}

/* The bytes of a file, with a NUL behind them, which the caller frees. The end of a directory is at LONG_MAX. */
static inline unsigned char *read_file(const char *path, int64_t *n) {
    FILE *file = fopen(path, "rb");
    *n = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    unsigned char *bytes = *n >= 0 && *n < LONG_MAX ? malloc((size_t)*n + 1) : NULL;
    if (!bytes || fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, (size_t)*n, file) != (size_t)*n)
        fail("cannot read", path);
    fclose(file);
    bytes[*n] = '\0';
    return bytes;
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

/* Applies an operator to inputs, which it releases; params such as "kernel=(3,3) pad=(1,1)". */
static inline mxc_symbol *op(const char *name_of_op, const char *name, const char *params, int n_in, mxc_symbol **in) {
    char text[256], *save = NULL;
    const char *keys[8], *values[8];
    mxc_symbol *out;
    int n = 0;
    snprintf(text, sizeof text, "%s", params);
    for (char *at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        keys[n] = at;
        values[n++] = equals + 1;
    }
    check(mxc_symbol_op(name_of_op, name, n, keys, values, n_in, NULL, in, &out));
    for (int i = 0; i < n_in; i++)
        mxc_symbol_release(in[i]);
    return out;
}

static inline mxc_symbol *variable(const char *name) {
    mxc_symbol *out;
    check(mxc_symbol_variable(name, &out));
    return out;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static inline void print_help(void) {
    char type[256];
    printf("%s%s%s [--OPTION VALUE]...\n\n%s\n\n", program.name, program.max_words ? " " : "", program.words,
           program.about);
    for (const mxc_param *p = program.schema; p->name; p++)
        printf("  --%s\n      %s (%s)\n", p->name, p->doc,
               p->type == MXC_PARAM_BOOL ? "takes no value" : mxc_param_describe(p, type, sizeof type));
}

static inline void usage_error(const char *what, const char *argument) {
    fprintf(stderr, "%s: %s%s; --help lists the options\n", program.name, what, argument);
    exit(2);
}

static inline int is_switch(const char *name) {
    const mxc_param *p = program.schema;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p->name && p->type == MXC_PARAM_BOOL;
}

enum { MAX_OPTIONS = 32 };

/* The options of the command line, as keys and values. */
typedef struct given {
    const char *keys[MAX_OPTIONS], *values[MAX_OPTIONS];
    int n;
} given;

/* If an option is given twice, the last value counts. */
static inline void give_option(given *g, const char *key, const char *value) {
    int at = 0;
    while (at < g->n && strcmp(g->keys[at], key) != 0)
        at++;
    if (at == MAX_OPTIONS)
        usage_error("too many options at --", key);
    g->n += at == g->n;
    g->keys[at] = key;
    g->values[at] = value;
}

/* Parses options to out and positional arguments to words, which has room for program.max_words; returns their number.
 */
static inline int parse_arguments(int argc, char **argv, void *out, const char **words) {
    given g = {.n = 0};
    int n_words = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            exit(0);
        } else if (strncmp(argv[i], "--", 2) != 0) {
            if (n_words == program.max_words)
                usage_error("not an option: ", argv[i]);
            words[n_words++] = argv[i];
        } else if (is_switch(argv[i] + 2)) {
            give_option(&g, argv[i] + 2, "True");
        } else {
            if (i + 1 == argc)
                usage_error("a value is missing after ", argv[i]);
            give_option(&g, argv[i] + 2, argv[i + 1]);
            i++;
        }
    if (n_words < program.min_words)
        usage_error("expected ", program.words);
    if (mxc_params_parse("options", program.schema, g.n, g.keys, g.values, out) != MXC_OK)
        usage_error(mxc_last_error(), "");
    return n_words;
}

#endif

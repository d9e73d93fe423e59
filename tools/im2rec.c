/* SPDX-License-Identifier: Apache-2.0 */
/* mxc im2rec: its command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "im2rec.h"
#include "mxc.h"

const char mxc_im2rec_usage[] =
    "im2rec --list PREFIX ROOT [--recursive] [--exts .jpg,.jpeg,.png] [--train-ratio R]\n"
    "                  [--test-ratio R] [--chunks N] [--no-shuffle] [--seed N] [--voc ANNOTATIONS]\n"
    "       mxc im2rec PREFIX ROOT [--resize N] [--center-crop] [--quality 95] [--encoding .jpg|.png]\n"
    "                  [--color 1|0|-1] [--inter-method 1] [--num-thread N] [--pass-through] [--pack-label]\n"
    "                  [--ignore-orientation]";

static int usage(void) {
    fprintf(stderr, "usage: mxc %s\n", mxc_im2rec_usage);
    return MXC_EXIT_USAGE;
}

/* An option without a value. Returns 0 if none has that name. */
static int parse_flag(im2rec_options *o, const char *name) {
    const struct {
        const char *name;
        int *to, value;
    } flags[] = {
        {"--list", &o->list, 1},
        {"--recursive", &o->recursive, 1},
        {"--no-shuffle", &o->shuffle, 0},
        {"--center-crop", &o->center_crop, 1},
        {"--pass-through", &o->pass_through, 1},
        {"--pack-label", &o->pack_label, 1},
        {"--ignore-orientation", &o->orient, 0},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].to = flags[i].value;
            return 1;
        }
    return 0;
}

static int parse_int(const char *text, long min, long max, int *out) {
    char *end;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return end != text && !*end && value >= min && value <= max;
}

static int parse_ratio(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= 0 && *out <= 1;
}

/* An option with a value. Returns 0 if no option has that name, or if the value is not valid for it. */
static int parse_value(im2rec_options *o, const char *name, const char *value) {
    const struct {
        const char *name;
        int *to;
        long min, max;
    } numbers[] = {
        {"--resize", &o->resize, 1, 65535},         {"--quality", &o->quality, 1, 100},
        {"--num-thread", &o->threads, 1, 256},      {"--color", &o->color, -1, 1},
        {"--inter-method", &o->inter_method, 0, 4}, {"--chunks", &o->chunks, 1, 10000},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return parse_int(value, numbers[i].min, numbers[i].max, numbers[i].to);
    if (strcmp(name, "--train-ratio") == 0)
        return parse_ratio(value, &o->train_ratio);
    if (strcmp(name, "--test-ratio") == 0)
        return parse_ratio(value, &o->test_ratio);
    if (strcmp(name, "--seed") == 0)
        o->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--exts") == 0)
        o->exts = value;
    else if (strcmp(name, "--encoding") == 0)
        o->encoding = value;
    else if (strcmp(name, "--voc") == 0)
        o->voc = value;
    else
        return 0;
    return strcmp(o->encoding, ".jpg") == 0 || strcmp(o->encoding, ".png") == 0;
}

int mxc_im2rec_main(int argc, char **argv) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    im2rec_options o = {
        .shuffle = 1,
        .orient = 1,
        .exts = ".jpg,.jpeg,.png",
        .train_ratio = 1,
        .seed = 100,
        .quality = 95,
        .threads = cpus > 0 && cpus <= 256 ? (int)cpus : 1,
        .color = 1,
        .inter_method = 1,
        .chunks = 1,
        .encoding = ".jpg",
    };
    for (int i = 0; i < argc; i++)
        if (argv[i][0] != '-' && !o.prefix)
            o.prefix = argv[i];
        else if (argv[i][0] != '-' && !o.root)
            o.root = argv[i];
        else if (!parse_flag(&o, argv[i]) && (i + 1 == argc || !parse_value(&o, argv[i], argv[i + 1])))
            return usage();
        else if (argv[i][0] == '-' && !parse_flag(&o, argv[i]))
            i++;
    if (!o.prefix || !o.root || o.train_ratio + o.test_ratio > 1)
        return usage();
    return o.list ? im2rec_make_list(&o) : im2rec_pack(&o);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* mxc im2rec --list: writes an id, its labels and a path for each image below a directory, and the names of the
 * classes. The label is the number of its directory, or with --voc the boxes of its annotation. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "im2rec.h"
#include "mxc.h"

typedef struct entry {
    char *path; /* below the root */
    int label;
    char *boxes; /* labels that take the place of label; NULL: none */
} entry;

typedef struct listing {
    const im2rec_options *o;
    entry *entries;
    size_t n, room;
    int labels;
    FILE *classes;      /* the directory of each label, one per line */
    im2rec_names names; /* of annotations */
} listing;

static int fail(const char *what, const char *path) {
    fprintf(stderr, "mxc: %s %s\n", what, path);
    return MXC_EXIT_FAILED;
}

/* Close a file that was written. Returns 1 if a write failed. */
static int close_written(FILE *file) {
    const int failed = ferror(file) != 0;
    return fclose(file) != 0 || failed;
}

/* Is the end of name in the list of endings? */
static int has_ending(const char *endings, const char *name) {
    const char *dot = strrchr(name, '.');
    size_t n = dot ? strlen(dot) : 0;
    for (const char *at = endings; dot && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && strncasecmp(at, dot, n) == 0)
            return 1;
    return 0;
}

/* Takes boxes, also if it fails. */
static int add(listing *l, const char *path, int label, char *boxes) {
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 1024;
        entry *more = realloc(l->entries, room * sizeof *more);
        if (!more) {
            free(boxes);
            return fail("no memory at", path);
        }
        l->entries = more;
        l->room = room;
    }
    l->entries[l->n] = (entry){strdup(path), label, boxes};
    return l->entries[l->n++].path ? 0 : fail("no memory at", path);
}

static int is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The annotation of DIRECTORY/NAME.jpg below the root is DIRECTORY/NAME.xml below another one. */
static int add_annotated(listing *l, const char *inside) {
    char path[2 * IM2REC_PATH], *boxes;
    const int stem = (int)(strrchr(inside, '.') - inside);
    snprintf(path, sizeof path, "%s/%.*s.xml", l->o->voc, stem, inside);
    if (im2rec_voc_labels(path, &l->names, &boxes) == 0)
        return add(l, inside, 0, boxes);
    free(boxes);
    return MXC_EXIT_FAILED;
}

/* label: that of its directory, below the root; -1: this is its first image. */
static int add_labelled(listing *l, const char *below, const char *inside, int *label) {
    if (*label < 0) {
        *label = l->labels++;
        fprintf(l->classes, "%s\n", *below ? below : ".");
    }
    return add(l, inside, *label, NULL);
}

/* The images of a directory ("" for the root) have one label; its subdirectories follow in the order of their names. */
static int walk(listing *l, const char *below, int depth) {
    char path[2 * IM2REC_PATH], inside[IM2REC_PATH];
    struct dirent **names;
    int n, label = -1, result = 0;
    snprintf(path, sizeof path, "%s/%s", l->o->root, below);
    n = scandir(path, &names, NULL, alphasort);
    if (n < 0)
        return fail("cannot read the directory", path);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n && result == 0; i++) {
            const char *name = names[i]->d_name;
            if (name[0] == '.' ||
                snprintf(inside, sizeof inside, "%s%s%s", below, *below ? "/" : "", name) >= (int)sizeof inside)
                continue;
            snprintf(path, sizeof path, "%s/%s", l->o->root, inside);
            if (pass == 0 && has_ending(l->o->exts, name) && !is_directory(path)) {
                result = l->o->voc ? add_annotated(l, inside) : add_labelled(l, below, inside, &label);
            } else if (pass == 1 && l->o->recursive && depth < 64 && is_directory(path)) {
                result = walk(l, inside, depth + 1);
            }
        }
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return result;
}

/* Steps of splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void shuffle(listing *l) {
    uint64_t state = l->o->seed;
    for (size_t i = l->n; i > 1; i--) {
        size_t k = next_random(&state) % i;
        entry e = l->entries[i - 1];
        l->entries[i - 1] = l->entries[k];
        l->entries[k] = e;
    }
}

static int write_some(const listing *l, const char *ending, size_t begin, size_t end) {
    char path[IM2REC_PATH];
    snprintf(path, sizeof path, "%s%s.lst", l->o->prefix, ending);
    FILE *file = fopen(path, "w");
    if (!file)
        return fail("cannot write", path);
    for (size_t i = begin; i < end; i++) {
        const entry *e = &l->entries[i];
        if (e->boxes)
            fprintf(file, "%zu\t%s\t%s\n", i, e->boxes, e->path);
        else
            fprintf(file, "%zu\t%d\t%s\n", i, e->label, e->path);
    }
    if (close_written(file))
        return fail("cannot write", path);
    printf("%s: %zu images\n", path, end - begin);
    return 0;
}

/* The lists of entries begin to end - 1: one, or those for testing, training and validation. */
static int write_chunk(const listing *l, const char *chunk, size_t begin, size_t end) {
    const double n = (double)(end - begin);
    const size_t test = begin + (size_t)(n * l->o->test_ratio), train = test + (size_t)(n * l->o->train_ratio);
    const struct {
        const char *ending;
        size_t begin, end;
    } parts[] = {
        {"_test", begin, test},
        {"_train", test, train},
        {"_val", train, end},
    };
    int result = l->o->train_ratio == 1 ? write_some(l, chunk, begin, end) : 0;
    for (int i = 0; i < 3 && l->o->train_ratio != 1 && result == 0; i++) {
        char ending[32];
        snprintf(ending, sizeof ending, "%s%s", chunk, parts[i].ending);
        if (parts[i].begin < parts[i].end)
            result = write_some(l, ending, parts[i].begin, parts[i].end);
    }
    return result;
}

static int write_all(const listing *l) {
    const size_t chunks = (size_t)l->o->chunks, size = (l->n + chunks - 1) / chunks;
    int result = 0;
    for (size_t i = 0; i < chunks && i * size < l->n && result == 0; i++) {
        char chunk[24] = "";
        if (chunks > 1)
            snprintf(chunk, sizeof chunk, "_%zu", i);
        result = write_chunk(l, chunk, i * size, (i + 1) * size < l->n ? (i + 1) * size : l->n);
    }
    return result;
}

/* The class names are written to a temporary file, which replaces the old one when all lists are written. */
int im2rec_make_list(const im2rec_options *o) {
    listing l = {.o = o};
    char path[IM2REC_PATH], written[IM2REC_PATH];
    snprintf(path, sizeof path, "%s_classes.txt", o->prefix);
    snprintf(written, sizeof written, "%s_classes.txt.new", o->prefix);
    l.classes = fopen(written, "w");
    if (!l.classes)
        return fail("cannot write", written);
    int result = walk(&l, "", 0);
    for (; l.labels < l.names.n; l.labels++)
        fprintf(l.classes, "%s\n", l.names.items[l.labels]);
    if (result == 0 && l.n == 0)
        result = fail(o->recursive ? "there are no images in or below"
                                   : "there are no images directly in this directory (--recursive includes those in "
                                     "its subdirectories):",
                      o->root);
    if (result == 0 && o->shuffle)
        shuffle(&l);
    if (result == 0)
        result = write_all(&l);
    const int failed = close_written(l.classes);
    if (result == 0 && failed)
        result = fail("cannot write", written);
    if (result == 0 && rename(written, path) != 0)
        result = fail("cannot write", path);
    if (result == 0)
        printf("%s: %d classes\n", path, l.labels);
    else
        remove(written);
    for (size_t i = 0; i < l.n; i++) {
        free(l.entries[i].path);
        free(l.entries[i].boxes);
    }
    free(l.entries);
    im2rec_names_free(&l.names);
    return result;
}

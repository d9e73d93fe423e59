/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc im2rec --list --voc: the labels of an image from its annotation in the format of PASCAL VOC, an XML file:
 *
 *     <annotation>
 *       <size> <width>640</width> <height>480</height> </size>
 *       <object>
 *         <name>cell</name> <difficult>0</difficult>
 *         <bndbox> <xmin>260</xmin> <ymin>177</ymin> <xmax>491</xmax> <ymax>376</ymax> </bndbox>
 *       </object>
 *     </annotation>
 *
 * Other elements are ignored. The reader knows elements, comments and processing instructions; entities in names stay
 * as they are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "im2rec.h"
#include "mxc.h"

enum { LABELS_PER_OBJECT = 6, NUMBER = 32, OPEN = 256, NAME = 64 };
enum { XMIN, YMIN, XMAX, YMAX };

typedef struct object {
    char name[NAME];
    double corners[4]; /* in pixels; missing where the file has none */
    int difficult;
} object;

static const double missing = -1e30; /* of corners */

typedef struct annotation {
    const char *path;
    double width, height;
    object current, *objects;
    size_t n;
} annotation;

static int voc_fail(const char *path, const char *what) {
    fprintf(stderr, "mxc: %s: %s\n", path, what);
    return MXC_EXIT_FAILED;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static void begin_object(object *o) {
    *o = (object){.corners = {missing, missing, missing, missing}};
}

static int end_object(annotation *a) {
    const object *o = &a->current;
    object *more = realloc(a->objects, (a->n + 1) * sizeof *more);
    if (!more)
        return voc_fail(a->path, "no memory");
    a->objects = more;
    if (!*o->name)
        return voc_fail(a->path, "an object has no name");
    for (int i = 0; i < 4; i++)
        if (o->corners[i] == missing)
            return voc_fail(a->path, "an object has no bndbox with xmin, ymin, xmax and ymax");
    a->objects[a->n++] = *o;
    begin_object(&a->current);
    return 0;
}

static int read_number(const annotation *a, const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out > -1e9 && *out < 1e9 ? 0 : voc_fail(a->path, "expected a number in an element");
}

/* open: the names of the open elements, "/annotation/object/name"; text: what the last one contains. */
static int end_element(annotation *a, const char *open, const char *text) {
    static const char *const corners[] = {"xmin", "ymin", "xmax", "ymax"};
    static const char in_object[] = "/annotation/object", in_box[] = "/annotation/object/bndbox/";
    double number;
    if (strcmp(open, in_object) == 0)
        return end_object(a);
    if (strcmp(open, "/annotation/size/width") == 0)
        return read_number(a, text, &a->width);
    if (strcmp(open, "/annotation/size/height") == 0)
        return read_number(a, text, &a->height);
    if (strcmp(open, "/annotation/object/name") == 0 && snprintf(a->current.name, NAME, "%s", text) >= NAME)
        return voc_fail(a->path, "a class name of more than 63 bytes");
    if (strpbrk(a->current.name, "\r\n")) /* the file of class names has one per line */
        return voc_fail(a->path, "a class name of more than one line");
    if (strcmp(open, "/annotation/object/difficult") == 0) {
        if (read_number(a, text, &number) != 0)
            return MXC_EXIT_FAILED;
        a->current.difficult = number != 0;
    }
    for (int i = 0; i < 4 && strncmp(open, in_box, sizeof in_box - 1) == 0; i++)
        if (strcmp(open + sizeof in_box - 1, corners[i]) == 0)
            return read_number(a, text, &a->current.corners[i]);
    return 0;
}

/* ---- XML --------------------------------------------------------------------------------------------------------- */

/* The text from begin to end without white space around it, in place. */
static const char *trim(char *begin, char *end) {
    static const char white[] = " \t\r\n";
    begin += strspn(begin, white);
    while (end > begin && strchr(white, end[-1]))
        end--;
    *end = '\0';
    return begin;
}

/* The end of a comment, a processing instruction or a declaration at '<'; NULL if it is none of these, or has no end:
 * then *bad is 1. */
static char *skip_other(char *at, int *bad) {
    const char *close = strncmp(at, "<!--", 4) == 0 ? "-->" : at[1] == '?' ? "?>" : at[1] == '!' ? ">" : NULL;
    char *end = close ? strstr(at, close) : NULL;
    *bad = close && !end;
    return end ? end + strlen(close) : NULL;
}

/* A tag between '<' and its '>', which is 0 now; text: what precedes it, since the tag before. */
static int read_tag(annotation *a, char *open, char *tag, const char *text) {
    const size_t n = strcspn(tag, " \t\r\n/"), depth = strlen(open), length = strlen(tag);
    const int is_empty = length > 0 && tag[length - 1] == '/';
    int result = 0;
    if (*tag == '/') {
        const char *last = strrchr(open, '/'), *name = trim(tag + 1, tag + length);
        if (!last || strcmp(last + 1, name) != 0)
            return voc_fail(a->path, "an end tag without its start tag");
        result = end_element(a, open, text);
        open[last - open] = '\0';
        return result;
    }
    if (n == 0 || depth + 1 + n >= OPEN)
        return voc_fail(a->path, "expected a tag with a name, and not so many in one another");
    open[depth] = '/';
    memcpy(open + depth + 1, tag, n);
    open[depth + 1 + n] = '\0';
    if (is_empty) {
        result = end_element(a, open, "");
        open[depth] = '\0';
    }
    return result;
}

/* Reads the elements of a file, whose text it changes. */
static int read_elements(annotation *a, char *xml) {
    char open[OPEN] = "", *text = xml;
    for (char *at = strchr(xml, '<'); at; at = strchr(text, '<')) {
        int bad;
        char *end = skip_other(at, &bad);
        if (bad)
            return voc_fail(a->path, "a comment or declaration without an end");
        if (end) {
            text = end;
            continue;
        }
        end = at + 1 + strcspn(at + 1, "<>");
        if (*end != '>')
            return voc_fail(a->path, "a tag without an end");
        *end = '\0';
        if (read_tag(a, open, at + 1, trim(text, at)) != 0)
            return MXC_EXIT_FAILED;
        text = end + 1;
    }
    if (*open)
        return voc_fail(a->path, "the file ends inside of an element");
    return a->width > 0 && a->height > 0 ? 0 : voc_fail(a->path, "expected a size with width and height");
}

/* The text of a file in a new block. Annotations have some kilobytes. */
static char *read_text(const char *path) {
    const long largest = 1L << 26;
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size >= 0 && size <= largest ? calloc((size_t)size + 1, 1) : NULL;
    if (text && (fseek(file, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, file) != (size_t)size)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    if (!text)
        voc_fail(path, size > largest ? "larger than 64 MiB" : errno ? strerror(errno) : "cannot be read");
    return text;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* The number of a class, which gets the next one if it is new; -1: no memory. */
static int class_number(im2rec_names *names, const char *name) {
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return i;
    char **more = realloc(names->items, ((size_t)names->n + 1) * sizeof *more);
    if (!more)
        return -1;
    names->items = more;
    names->items[names->n] = strdup(name);
    return names->items[names->n] ? names->n++ : -1;
}

static double relative(double corner, double side) {
    return corner < 0 ? 0 : corner > side ? 1 : corner / side;
}

/* The labels of ImageDetRecordIter: width of the header and of an object, then class, corners and difficult of each. */
static int format_labels(const annotation *a, im2rec_names *names, char **out) {
    const size_t room = (a->n * LABELS_PER_OBJECT + 2) * NUMBER;
    size_t n;
    *out = malloc(room);
    if (!*out)
        return voc_fail(a->path, "no memory");
    n = (size_t)snprintf(*out, room, "2\t%d", LABELS_PER_OBJECT);
    for (size_t i = 0; i < a->n; i++) {
        const object *o = &a->objects[i];
        const double left = relative(o->corners[XMIN], a->width), right = relative(o->corners[XMAX], a->width);
        const double top = relative(o->corners[YMIN], a->height), bottom = relative(o->corners[YMAX], a->height);
        if (!(left < right && top < bottom)) {
            fprintf(stderr, "mxc: %s: a box of class %s without an area in the image is left out\n", a->path, o->name);
            continue;
        }
        const int number = class_number(names, o->name);
        if (number < 0)
            return voc_fail(a->path, "no memory");
        n += (size_t)snprintf(*out + n, room - n, "\t%d\t%.6f\t%.6f\t%.6f\t%.6f\t%d", number, left, top, right, bottom,
                              o->difficult);
    }
    return 0;
}

int im2rec_voc_labels(const char *path, im2rec_names *names, char **labels) {
    annotation a = {.path = path};
    *labels = NULL;
    begin_object(&a.current);
    errno = 0;
    char *text = read_text(path);
    int result = text ? read_elements(&a, text) : MXC_EXIT_FAILED;
    if (result == 0)
        result = format_labels(&a, names, labels);
    free(text);
    free(a.objects);
    return result;
}

void im2rec_names_free(im2rec_names *names) {
    for (int i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

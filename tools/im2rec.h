/* SPDX-License-Identifier: Apache-2.0 */
/* The options of mxc im2rec, and its two modes. */
#ifndef MXC_TOOLS_IM2REC_H
#define MXC_TOOLS_IM2REC_H

#include <stdint.h>

enum { IM2REC_PATH = 4096 };

typedef struct im2rec_options {
    const char *prefix, *root;
    /* lists */
    int list, recursive, shuffle;
    const char *exts;
    int chunks;
    double train_ratio, test_ratio;
    uint64_t seed;
    const char *voc; /* directory of annotations with labelled boxes; NULL: directories are the labels */
    /* records */
    int resize, center_crop, quality, threads, color, inter_method, pass_through, pack_label, orient;
    const char *encoding;
} im2rec_options;

/* Write PREFIX.lst of the images below root, or PREFIX_train.lst, PREFIX_0.lst and so on, and PREFIX_classes.txt, the
 * directory of each label, or the classes of the annotations. Exit status. */
int im2rec_make_list(const im2rec_options *o);
/* Write PREFIX.rec and PREFIX.idx of PREFIX.lst or, if there is none, of each PREFIX_*.lst. Exit status. */
int im2rec_pack(const im2rec_options *o);

/* Names of classes, in the order of their numbers. */
typedef struct im2rec_names {
    char **items;
    int n;
} im2rec_names;

/* The labels of an image, with tabs between them, from its annotation, an XML file as of PASCAL VOC. New names are
 * added to the classes. The caller frees labels. Exit status. */
int im2rec_voc_labels(const char *path, im2rec_names *names, char **labels);
void im2rec_names_free(im2rec_names *names);

#endif

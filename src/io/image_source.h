/* SPDX-License-Identifier: Apache-2.0 */
/* A source of compressed images with labels: samples by number, read by several threads. */
#ifndef MXCI_IO_IMAGE_SOURCE_H
#define MXCI_IO_IMAGE_SOURCE_H

#include <mxc/io.h>

#include "io/augment_detection.h"
#include "io/image_params.h"

/* One sample. */
typedef struct mxci_image_sample {
    const void *bytes; /* the compressed image; borrowed until the cursor is used again */
    size_t n;
    uint64_t id;
    int64_t n_labels;                    /* set where their number varies */
    char source_name[MXC_ERROR_MAX / 2]; /* for messages: iterator, file and place in it; set also when reading fails */
} mxci_image_sample;

/* All calls but destroy may come from several threads at once, each with a cursor of its own. */
typedef struct mxci_image_source {
    void *self;
    int64_t n;     /* samples, of this part only */
    int64_t bytes; /* about so many in one file, one behind the other; 0: it does not matter which come together */
    mxc_status (*open)(void *self, void **cursor);
    /* Sample number i, and its labels, of which there are label_width; or as many as it has. MXC_EFORMAT,
     * MXC_EUNSUPPORTED, MXC_ENOTFOUND: the sample is bad; other failures are not its own. */
    mxc_status (*read)(void *self, void *cursor, int64_t i, mxci_image_sample *out, float *labels);
    void (*close)(void *cursor); /* NULL is fine */
    void (*destroy)(void *self);
} mxci_image_source;

/* Which of n samples are this part's. MXC_EINVAL. */
mxc_status mxci_image_source_part(const char *owner, const mxci_image_params *params, int64_t n, int64_t *first,
                                  int64_t *count);

/* An iterator over a source, which it takes over (not if this fails). owner is for messages and must stay. detect:
 * NULL, or objects are in the labels, and images and labels change together: params->label_width is then that of a
 * row. */
mxc_status mxci_image_iter_create(const char *owner, const mxci_image_params *params,
                                  const mxci_augment_detection_params *detect, const mxci_image_source *source,
                                  mxc_iter **out);

/* The records of files as a source. most_labels: NULL, and each sample has params->label_width labels; else their
 * number varies, and this becomes the largest. list: path of a list whose labels replace the records'; "": none. */
mxc_status mxci_image_records_open(const char *owner, const mxci_image_params *params, const char *path,
                                   const char *index, const char *list, int64_t *max_labels, mxci_image_source *out);

/* Write the mean of one epoch to params->mean_img. */
mxc_status mxci_image_mean_create(const char *owner, const mxci_image_params *params,
                                  const mxci_augment_detection_params *detect, const mxci_image_source *source);

#endif

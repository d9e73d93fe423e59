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
    char source_name[MXC_ERROR_MAX / 2]; /* for messages: iterator, file and offset; set also when reading fails */
} mxci_image_sample;

/* All calls but destroy may come from several threads at once, each with a cursor of its own. */
typedef struct mxci_image_source {
    void *self;
    int64_t n; /* samples, of this part only */
    int64_t
        bytes; /* size of the samples if they lie one behind the other in files; 0: their order on disk is irrelevant */
    mxc_status (*open)(void *self, void **cursor);
    /* Sample number i and its labels: label_width of them, or out->n_labels where their number varies. MXC_EFORMAT,
     * MXC_EUNSUPPORTED, MXC_ENOTFOUND: the sample is bad; any other failure fails the batch. */
    mxc_status (*read)(void *self, void *cursor, int64_t i, mxci_image_sample *out, float *labels);
    void (*close)(void *cursor); /* NULL is allowed */
    void (*destroy)(void *self);
} mxci_image_source;

/* Which of n samples are this part's. MXC_EINVAL. */
mxc_status mxci_image_source_part(const char *owner, const mxci_image_params *params, int64_t n, int64_t *first,
                                  int64_t *count);

/* An iterator over a source, which it takes over (not if this fails). owner is for messages and must stay valid.
 * detect: NULL, or the labels contain objects, and images and labels are augmented together; params->label_width is
 * then that of a label row. */
mxc_status mxci_image_iter_create(const char *owner, const mxci_image_params *params,
                                  const mxci_augment_detection_params *detect, const mxci_image_source *source,
                                  mxc_iter **out);

/* The records of files as a source. max_labels: NULL if each sample has params->label_width labels; otherwise their
 * number varies, and 0 becomes the largest. list: path of a list whose labels replace those of the records; "": none.
 */
mxc_status mxci_image_records_open(const char *owner, const mxci_image_params *params, const char *path,
                                   const char *index, const char *list, int64_t *max_labels, mxci_image_source *out);

/* Write the mean of one epoch to params->mean_img. */
mxc_status mxci_image_mean_create(const char *owner, const mxci_image_params *params,
                                  const mxci_augment_detection_params *detect, const mxci_image_source *source);

#endif

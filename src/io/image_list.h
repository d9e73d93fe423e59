/* SPDX-License-Identifier: Apache-2.0 */
/* Image lists in the format of im2rec: lines of an id, labels and a path, separated by tabs. */
#ifndef MXCI_IO_IMAGE_LIST_H
#define MXCI_IO_IMAGE_LIST_H

#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_image_list_line {
    uint64_t id;
    const char *path;
    const float *labels;
    int64_t n_labels;
} mxci_image_list_line;

typedef struct mxci_image_list {
    int64_t n;
    mxci_image_list_line *lines; /* in the order of the file */
    char *text;                  /* holds the paths */
    float *labels;
} mxci_image_list;

/* MXC_EFORMAT names the line; errors of the file; MXC_ENOMEM. */
mxc_status mxci_image_list_load(const char *path, mxci_image_list *out);
void mxci_image_list_free(mxci_image_list *list);
/* Sort by id, and find an id in a sorted list: NULL if there is none. */
void mxci_image_list_sort(mxci_image_list *list);
const mxci_image_list_line *mxci_image_list_find(const mxci_image_list *sorted, uint64_t id);

#endif

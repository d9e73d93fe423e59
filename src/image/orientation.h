/* SPDX-License-Identifier: Apache-2.0 */
/* The orientation of an image as EXIF has it (tag 0x0112 of the TIFF block in a JPEG's APP1 segment): reading it, and
 * turning pixels. */
#ifndef MXCI_IMAGE_ORIENTATION_H
#define MXCI_IMAGE_ORIENTATION_H

#include <stddef.h>
#include <stdint.h>

/* The orientation in n bytes of the payload of an APP1 segment: 1 to 8; 0 if it is no EXIF or does not contain one.
 * Damaged EXIF data counts as absent. */
int mxci_exif_orientation(const uint8_t *payload, size_t n);

/* Does the upright image have the stored image's height as its width? */
static inline int mxci_orientation_swaps(int orientation) {
    return orientation >= 5;
}

/* Turn an image upright: from has stored_height rows of stored_width pixels, to has as many rows as from has columns if
 * the orientation swaps them. channels: bytes of a pixel. from and to do not overlap. */
void mxci_orientation_apply(int orientation, const uint8_t *from, int64_t stored_height, int64_t stored_width,
                            int channels, uint8_t *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of jpeg.c where there is no libturbojpeg. */
#include "image/codec.h"

const mxci_decoder mxci_jpeg_decoder = NULL;
const mxci_encoder mxci_jpeg_encoder = NULL;

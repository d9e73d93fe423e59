/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of png.c where there is no libpng. */
#include "image/codec.h"

const mxci_decoder mxci_png_decoder = NULL;

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an image: refused or decoded, as stored and upright, at full and at reduced size, never more. */
#include <stdint.h>

#include "base/sys.h"
#include "image/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void decode_all(mxci_image *image) {
    for (int64_t least = image->height; least >= 0; least -= least ? least : 1) {
        mxci_image_reduce(image, least, 0);
        for (int pixels = MXCI_GREY; pixels <= MXCI_BGR; pixels++) {
            size_t n = (size_t)(image->height * image->width) * (size_t)mxci_pixels_channels((mxci_pixels)pixels);
            uint8_t *out = mxci_alloc(n);
            if (out)
                MXC_IGNORE(mxci_image_decode(image, (mxci_pixels)pixels, out));
            mxci_free(out);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    mxci_image stored, upright;
    if (mxci_image_probe("fuzz", data, bytes, 1 << 20, &stored) != MXC_OK)
        return 0;
    upright = stored;
    decode_all(&stored);
    mxci_image_orient(&upright);
    if (upright.orientation != 1)
        decode_all(&upright);
    return 0;
}

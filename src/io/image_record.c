/* SPDX-License-Identifier: Apache-2.0 */
/* The header of image records, 24 bytes, little-endian: number of labels, the label if there is one, id, id2. A number
 * of 0 means that the label in the header is the only one; otherwise that many labels follow the header. */
#include <string.h>

#include <mxc/recordio.h>

#include "base/error.h"
#include "io/record_format.h"

enum { HEADER = 24 };

static uint64_t get_u64(const unsigned char *from) {
    return mxci_get_u32(from) | (uint64_t)mxci_get_u32(from + 4) << 32;
}

static void put_u64(unsigned char *to, uint64_t value) {
    mxci_put_u32(to, (uint32_t)value);
    mxci_put_u32(to + 4, (uint32_t)(value >> 32));
}

mxc_status mxc_image_record_read(const void *data, size_t bytes, mxc_image_record *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(data));
    const unsigned char *header = data;
    if (bytes < HEADER)
        return MXC_FAIL(MXC_EFORMAT, "image record of %zu bytes, expected at least %d", bytes, HEADER);
    uint32_t count = mxci_get_u32(header);
    if (count > (bytes - HEADER) / 4)
        return MXC_FAIL(MXC_EFORMAT, "image record of %zu bytes cannot hold the %u labels that it claims", bytes,
                        (unsigned)count);
    out->id = get_u64(header + 8);
    out->id2 = get_u64(header + 16);
    out->n_labels = count > 0 ? count : 1;
    out->labels = (const float *)(const void *)(count > 0 ? header + HEADER : header + 4);
    out->image = header + HEADER + 4 * (size_t)count;
    out->image_bytes = bytes - HEADER - 4 * (size_t)count;
    return MXC_OK;
}

float mxc_image_record_label(const mxc_image_record *record, int64_t i) {
    if (!record || !record->labels || i < 0 || i >= record->n_labels)
        return 0;
    uint32_t bits = mxci_get_u32((const unsigned char *)(const void *)record->labels + 4 * i);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

size_t mxc_image_record_size(int64_t n_labels, size_t image_bytes) {
    return HEADER + (n_labels > 1 ? 4 * (size_t)n_labels : 0) + image_bytes;
}

static void put_float(unsigned char *to, const float *from) {
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    mxci_put_u32(to, bits);
}

void mxc_image_record_write(const mxc_image_record *record, void *out) {
    if (!record || !out)
        return;
    unsigned char *to = out;
    int64_t n_following = record->n_labels > 1 ? record->n_labels : 0; /* labels behind the header */
    memset(to, 0, 8);
    mxci_put_u32(to, (uint32_t)n_following);
    if (record->n_labels == 1)
        put_float(to + 4, record->labels);
    put_u64(to + 8, record->id);
    put_u64(to + 16, record->id2);
    to += HEADER;
    for (int64_t i = 0; i < n_following; i++, to += 4)
        put_float(to, record->labels + i);
    if (record->image_bytes > 0)
        memcpy(to, record->image, record->image_bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Constants and byte order of record files, for the reader and the writer; <mxc/recordio.h> describes the format. */
#ifndef MXCI_IO_RECORD_FORMAT_H
#define MXCI_IO_RECORD_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MXCI_RECORD_MAGIC UINT32_C(0xCED7230A)
#define MXCI_RECORD_MAX_LENGTH ((UINT32_C(1) << 29) - 1)

enum { MXCI_RECORD_HEADER = 8 };

/* The kind of a part, in the upper 3 bits of the word after the magic; other numbers are damage. */
enum { MXCI_RECORD_WHOLE = 0, MXCI_RECORD_FIRST = 1, MXCI_RECORD_MIDDLE = 2, MXCI_RECORD_LAST = 3 };

static inline uint32_t mxci_get_u32(const unsigned char *from) {
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline void mxci_put_u32(unsigned char *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

/* Size in the file of length bytes: parts are padded with zeros to a multiple of 4. */
static inline int64_t mxci_record_padded(uint32_t length) {
    return ((int64_t)length + 3) & ~INT64_C(3);
}

/* Offset of the first magic number in data, at a multiple of 4 and whole; bytes if there is none. */
static inline size_t mxci_record_find_magic(const unsigned char *data, size_t bytes) {
    enum { STRIDE = 64 };
    const unsigned char file_order[4] = {0x0A, 0x23, 0xD7, 0xCE};
    size_t at = 0, words_end = bytes & ~(size_t)3;
    uint32_t magic, word;
    memcpy(&magic, file_order, 4);
    for (; words_end - at >= 4 * STRIDE; at += 4 * STRIDE) { /* a loop without exits, for vector instructions */
        uint32_t found = 0;
        for (size_t i = 0; i < STRIDE; i++) {
            memcpy(&word, data + at + 4 * i, 4);
            found |= word == magic;
        }
        if (found)
            break;
    }
    for (; at < words_end; at += 4) {
        memcpy(&word, data + at, 4);
        if (word == magic)
            return at;
    }
    return bytes;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives, as far as .npz needs them: the list of members, and a member as a source. No zip64, no encryption. */
#ifndef MXCI_NDARRAY_ZIP_H
#define MXCI_NDARRAY_ZIP_H

#include <zlib.h>

#include "ndarray/byte_source.h"

/* Numbers of the format; all fields are little-endian and unaligned. */
#define MXCI_ZIP_LOCAL 0x04034b50u
#define MXCI_ZIP_CENTRAL 0x02014b50u
#define MXCI_ZIP_END 0x06054b50u
enum { MXCI_ZIP_LOCAL_BYTES = 30, MXCI_ZIP_CENTRAL_BYTES = 46, MXCI_ZIP_END_BYTES = 22 };

/* A member as the central directory describes it. name points into the directory and is not terminated. */
typedef struct mxci_zip_member {
    const char *name;
    size_t name_bytes;
    uint32_t flags, method, crc, packed, unpacked, local_at;
} mxci_zip_member;

/* The central directory, in memory. */
typedef struct mxci_zip {
    mxci_byte_source *source;
    int64_t directory_at;
    unsigned char *directory;
    uint32_t directory_bytes, count;
    uint32_t next;     /* offset in the directory of the next member */
    uint64_t packed;   /* bytes of the members so far, in the file */
    uint64_t expanded; /* and of the deflated ones, unpacked */
} mxci_zip;

/* Statuses: MXC_EFORMAT, MXC_EUNSUPPORTED, MXC_ENOMEM and those of reading. On success the caller calls mxci_zip_close.
 */
mxc_status mxci_zip_open(mxci_byte_source *source, mxci_zip *out);
void mxci_zip_close(mxci_zip *zip);
/* The next member; call it count times. Checks everything that does not need the data of the member. */
mxc_status mxci_zip_next(mxci_zip *zip, mxci_zip_member *out);
/* After count members: nothing may be left of the directory. */
mxc_status mxci_zip_end(const mxci_zip *zip);

/* Reading one member: source is first. */
typedef struct mxci_zip_stream {
    mxci_byte_source source;
    mxci_byte_source *archive;
    const mxci_zip_member *member;
    int64_t packed_at, packed_end; /* what is left of the packed data in archive */
    uint32_t crc;
    int inflating;
    z_stream z;
    unsigned char in[16384];
} mxci_zip_stream;

/* Statuses as for mxci_zip_open. name appears in messages. On success the caller calls mxci_zip_stream_close. */
mxc_status mxci_zip_stream_open(mxci_zip *zip, const mxci_zip_member *member, const char *name, mxci_zip_stream *out);
/* All of the source was read: check that the packed data ends here too, and the CRC. */
mxc_status mxci_zip_stream_end(mxci_zip_stream *stream);
void mxci_zip_stream_close(mxci_zip_stream *stream);

#endif

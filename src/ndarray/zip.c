/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading zip archives (PKWARE's APPNOTE.TXT): the end record at the end of the file leads to the central directory,
 * whose entries lead to the members. Sizes are those of the directory; the members' own headers must agree.
 */
#include "ndarray/zip.h"

#include <string.h>

enum {
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1 << 0,    /* flag bits */
    SIZES_FOLLOW = 1 << 3, /* the sizes follow the data instead of being in the local header */
    COMMENT_MAX = 65535,
    RATIO_MAX = 1032, /* the largest ratio of deflate */
    EXPAND = 20       /* limit of the bytes of deflated members per byte of the file, */
};
#define EXPAND_ALWAYS ((uint64_t)1 << 30) /* but at least this many bytes */

static uint32_t u16(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const unsigned char *p) {
    return u16(p) | u16(p + 2) << 16;
}

/* ---- the directory ----------------------------------------------------------------------------------------------- */

/* Find the end record in the last bytes of the file: the last offset where one with its comment ends the file. */
static mxc_status find_end(mxci_byte_source *source, unsigned char end[MXCI_ZIP_END_BYTES], int64_t *at) {
    int64_t most = MXCI_ZIP_END_BYTES + COMMENT_MAX, bytes = source->size < most ? source->size : most;
    unsigned char *tail = mxci_alloc((size_t)bytes);
    mxc_status status;
    if (!tail)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to find the zip directory", source->name);
    source->at = source->size - bytes;
    status = mxci_byte_source_read(source, "zip end record", tail, (size_t)bytes);
    *at = -1;
    for (int64_t i = bytes - MXCI_ZIP_END_BYTES; status == MXC_OK && i >= 0 && *at < 0; i--)
        if (u32(tail + i) == MXCI_ZIP_END && u16(tail + i + 20) == bytes - i - MXCI_ZIP_END_BYTES) {
            memcpy(end, tail + i, MXCI_ZIP_END_BYTES);
            *at = source->size - bytes + i;
        }
    mxci_free(tail);
    if (status == MXC_OK && *at < 0)
        return MXCI_BYTE_SOURCE_FAIL(source, source->size, MXC_EFORMAT, "no zip end record in the last %lld bytes",
                                     (long long)bytes);
    return status;
}

mxc_status mxci_zip_open(mxci_byte_source *source, mxci_zip *out) {
    unsigned char end[MXCI_ZIP_END_BYTES] = {0};
    uint32_t directory_at, directory_bytes, count;
    int64_t end_at = 0;
    mxc_status status;
    MXC_TRY(find_end(source, end, &end_at));
    count = u16(end + 10);
    directory_bytes = u32(end + 12);
    directory_at = u32(end + 16);
    if (count == 0xffff || directory_bytes == 0xffffffff || directory_at == 0xffffffff)
        return MXCI_BYTE_SOURCE_FAIL(source, end_at, MXC_EUNSUPPORTED, "%s",
                                     "a zip64 archive (4 GiB or 65535 members)");
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != count)
        return MXCI_BYTE_SOURCE_FAIL(source, end_at, MXC_EUNSUPPORTED, "%s", "a zip archive in several parts");
    if ((uint64_t)directory_at + directory_bytes != (uint64_t)end_at ||
        (uint64_t)count * MXCI_ZIP_CENTRAL_BYTES > directory_bytes)
        return MXCI_BYTE_SOURCE_FAIL(source, end_at, MXC_EFORMAT, "zip directory of %u members at %u to %llu",
                                     (unsigned)count, (unsigned)directory_at,
                                     (unsigned long long)directory_at + directory_bytes);
    *out = (mxci_zip){.source = source, .directory_at = directory_at, .directory_bytes = directory_bytes};
    out->count = count;
    out->directory = mxci_alloc(directory_bytes);
    if (!out->directory)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the zip directory", source->name);
    source->at = directory_at;
    status = mxci_byte_source_read(source, "zip directory", out->directory, directory_bytes);
    if (status != MXC_OK)
        mxci_zip_close(out);
    return status;
}

void mxci_zip_close(mxci_zip *zip) {
    mxci_free(zip->directory);
    zip->directory = NULL;
}

/* Sizes that cannot be true, or that together are more than this library expands. at: of the entry. */
static mxc_status check_sizes(mxci_zip *zip, int64_t at, const mxci_zip_member *m) {
    uint64_t limit =
        (uint64_t)zip->source->size * EXPAND > EXPAND_ALWAYS ? (uint64_t)zip->source->size * EXPAND : EXPAND_ALWAYS;
    zip->packed += MXCI_ZIP_LOCAL_BYTES + m->name_bytes + m->packed;
    if (zip->packed > (uint64_t)zip->directory_at)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EFORMAT,
                                     "zip members take more than the %lld bytes ahead of the directory",
                                     (long long)zip->directory_at);
    if (m->method == STORED && m->packed != m->unpacked)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EFORMAT, "stored zip member of %u bytes in %u",
                                     (unsigned)m->unpacked, (unsigned)m->packed);
    if (m->method == STORED)
        return MXC_OK;
    zip->expanded += m->unpacked;
    if (m->unpacked > ((uint64_t)m->packed + 1) * RATIO_MAX)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EFORMAT, "%u bytes cannot be deflated to %u",
                                     (unsigned)m->unpacked, (unsigned)m->packed);
    if (zip->expanded > limit)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EFORMAT, "zip members expand to more than %llu bytes",
                                     (unsigned long long)limit);
    return MXC_OK;
}

mxc_status mxci_zip_next(mxci_zip *zip, mxci_zip_member *out) {
    const unsigned char *p = zip->directory + zip->next;
    uint32_t left = zip->directory_bytes - zip->next, bytes;
    int64_t at = zip->directory_at + zip->next;
    if (left < MXCI_ZIP_CENTRAL_BYTES || u32(p) != MXCI_ZIP_CENTRAL)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EFORMAT, "%s", "expected an entry of the zip directory");
    out->flags = u16(p + 8);
    out->method = u16(p + 10);
    out->crc = u32(p + 16);
    out->packed = u32(p + 20);
    out->unpacked = u32(p + 24);
    out->local_at = u32(p + 42);
    out->name = (const char *)p + MXCI_ZIP_CENTRAL_BYTES;
    out->name_bytes = u16(p + 28);
    bytes = MXCI_ZIP_CENTRAL_BYTES + u16(p + 28) + u16(p + 30) + u16(p + 32);
    if (bytes > left)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EFORMAT, "zip directory entry of %u bytes, but %u are left",
                                     (unsigned)bytes, (unsigned)left);
    zip->next += bytes;
    if (out->packed == 0xffffffff || out->unpacked == 0xffffffff || out->local_at == 0xffffffff)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EUNSUPPORTED, "%s", "a zip64 member (4 GiB or more)");
    if (out->flags & ENCRYPTED)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EUNSUPPORTED, "%s", "an encrypted zip member");
    if (out->method != STORED && out->method != DEFLATED)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, at, MXC_EUNSUPPORTED, "zip compression method %u",
                                     (unsigned)out->method);
    return check_sizes(zip, at, out);
}

mxc_status mxci_zip_end(const mxci_zip *zip) {
    if (zip->next != zip->directory_bytes)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, zip->directory_at + zip->next, MXC_EFORMAT,
                                     "%u bytes behind the entries of the zip directory",
                                     (unsigned)(zip->directory_bytes - zip->next));
    return MXC_OK;
}

/* ---- one member -------------------------------------------------------------------------------------------------- */

/* 64-bit sizes in a local header's extra fields: numpy writes them whatever the size. 0 if there are none. */
static int extra_sizes(const unsigned char *extra, size_t bytes, uint64_t *unpacked, uint64_t *packed) {
    enum { ZIP64 = 1 };
    while (bytes >= 4) {
        size_t field = u16(extra + 2);
        if (field > bytes - 4)
            return 0;
        if (u16(extra) == ZIP64 && field >= 16) {
            *unpacked = u32(extra + 4) | (uint64_t)u32(extra + 8) << 32;
            *packed = u32(extra + 12) | (uint64_t)u32(extra + 16) << 32;
            return 1;
        }
        extra += 4 + field;
        bytes -= 4 + field;
    }
    return 0;
}

/* 1 if the local header and what follows it agree with the directory. */
static int local_agrees(const mxci_zip_member *m, const unsigned char *header, const unsigned char *name,
                        const unsigned char *extra, size_t extra_bytes) {
    uint64_t packed = u32(header + 18), unpacked = u32(header + 22);
    if (u32(header) != MXCI_ZIP_LOCAL || u16(header + 8) != m->method || u16(header + 26) != m->name_bytes)
        return 0;
    if (memcmp(name, m->name, m->name_bytes) != 0 || (u16(header + 6) & ENCRYPTED))
        return 0;
    if (u16(header + 6) & SIZES_FOLLOW)
        return 1;
    if ((packed == 0xffffffff || unpacked == 0xffffffff) && !extra_sizes(extra, extra_bytes, &unpacked, &packed))
        return 0;
    return packed == m->packed && unpacked == m->unpacked && u32(header + 14) == m->crc;
}

/* Check the local header and set where the packed data begins. */
static mxc_status read_local(mxci_zip *zip, const mxci_zip_member *m, int64_t *data_at) {
    unsigned char header[MXCI_ZIP_LOCAL_BYTES], *rest;
    mxci_byte_source *source = zip->source;
    size_t name_bytes, rest_bytes;
    mxc_status status;
    int agrees;
    source->at = m->local_at;
    if (source->at > zip->directory_at)
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT, "zip member behind the directory at %lld",
                                     (long long)zip->directory_at);
    MXC_TRY(mxci_byte_source_read(source, "zip member header", header, sizeof header));
    name_bytes = u16(header + 26);
    rest_bytes = name_bytes + u16(header + 28);
    rest = mxci_alloc(rest_bytes);
    if (!rest)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for a zip member's header", source->name);
    status = mxci_byte_source_read(source, "zip member header", rest, rest_bytes);
    agrees = status == MXC_OK && local_agrees(m, header, rest, rest + name_bytes, rest_bytes - name_bytes);
    mxci_free(rest);
    MXC_TRY(status);
    *data_at = source->at;
    if (!agrees || *data_at + m->packed > zip->directory_at)
        return MXCI_BYTE_SOURCE_FAIL(source, m->local_at, MXC_EFORMAT,
                                     "zip member header and directory disagree (%u bytes)", (unsigned)m->unpacked);
    return MXC_OK;
}

static mxc_status fetch_packed(mxci_zip_stream *s, void *out, size_t bytes) {
    s->archive->at = s->packed_at;
    MXC_TRY(mxci_byte_source_read(s->archive, "zip member", out, bytes));
    s->packed_at += (int64_t)bytes;
    return MXC_OK;
}

static mxc_status bad_deflate(const mxci_zip_stream *s) {
    return MXCI_BYTE_SOURCE_FAIL(s->archive, s->packed_at, MXC_EFORMAT,
                                 "the deflated data of %s is damaged or too short", s->source.name);
}

/* Give zlib the next packed bytes, if any are left and it has none. */
static mxc_status feed(mxci_zip_stream *s) {
    int64_t left = s->packed_end - s->packed_at;
    size_t n = left < (int64_t)sizeof s->in ? (size_t)left : sizeof s->in;
    if (s->z.avail_in > 0 || n == 0)
        return MXC_OK;
    MXC_TRY(fetch_packed(s, s->in, n));
    s->z.next_in = s->in;
    s->z.avail_in = (uInt)n;
    return MXC_OK;
}

/* Inflate exactly bytes bytes. */
static mxc_status inflate_some(mxci_zip_stream *s, void *out, size_t bytes) {
    int result = Z_OK;
    s->z.next_out = out;
    for (size_t left = bytes; left > 0;) {
        size_t part = left < (1u << 30) ? left : 1u << 30; /* zlib counts in 32 bits */
        s->z.avail_out = (uInt)part;
        while (s->z.avail_out > 0) {
            MXC_TRY(feed(s));
            result = inflate(&s->z, Z_NO_FLUSH);
            if (result == Z_MEM_ERROR)
                return MXC_FAIL(MXC_ENOMEM, "%s: no memory to inflate", s->source.name);
            if (result != Z_OK && !(result == Z_STREAM_END && s->z.avail_out == 0))
                return bad_deflate(s);
        }
        left -= part;
    }
    return MXC_OK;
}

static mxc_status fetch_member(mxci_byte_source *source, void *out, size_t bytes) {
    mxci_zip_stream *s = (mxci_zip_stream *)source; /* source is its first member */
    MXC_TRY(s->inflating ? inflate_some(s, out, bytes) : fetch_packed(s, out, bytes));
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < (1u << 30) ? bytes - at : 1u << 30;
        s->crc = (uint32_t)crc32(s->crc, (const Bytef *)out + at, (uInt)n);
    }
    return MXC_OK;
}

static voidpf z_allocate(voidpf unused, uInt count, uInt bytes) {
    (void)unused;
    return mxci_calloc(count, bytes);
}

static void z_release(voidpf unused, voidpf block) {
    (void)unused;
    mxci_free(block);
}

mxc_status mxci_zip_stream_open(mxci_zip *zip, const mxci_zip_member *member, const char *name, mxci_zip_stream *out) {
    int64_t data_at = 0;
    MXC_TRY(read_local(zip, member, &data_at));
    out->source = (mxci_byte_source){.name = name, .size = member->unpacked, .fetch = fetch_member};
    out->archive = zip->source;
    out->member = member;
    out->packed_at = data_at;
    out->packed_end = data_at + member->packed;
    out->crc = 0;
    out->inflating = member->method == DEFLATED;
    memset(&out->z, 0, sizeof out->z);
    out->z.zalloc = z_allocate;
    out->z.zfree = z_release;
    if (out->inflating && inflateInit2(&out->z, -MAX_WBITS) != Z_OK)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to inflate", name);
    return MXC_OK;
}

/* After the last byte the packed data must end: inflating must give no further byte. */
static mxc_status inflate_end(mxci_zip_stream *s) {
    unsigned char more;
    int result;
    s->z.next_out = &more;
    s->z.avail_out = 1;
    do {
        MXC_TRY(feed(s));
        result = inflate(&s->z, Z_NO_FLUSH);
    } while (result == Z_OK && s->z.avail_out == 1);
    return result == Z_STREAM_END && s->z.avail_out == 1 && s->z.avail_in == 0 ? MXC_OK : bad_deflate(s);
}

mxc_status mxci_zip_stream_end(mxci_zip_stream *s) {
    if (s->inflating)
        MXC_TRY(inflate_end(s));
    if (s->source.at != s->source.size || s->packed_at != s->packed_end)
        return MXCI_BYTE_SOURCE_FAIL(&s->source, s->source.at, MXC_EFORMAT, "%lld bytes behind the array",
                                     (long long)mxci_byte_source_left(&s->source));
    if (s->crc != s->member->crc)
        return MXCI_BYTE_SOURCE_FAIL(&s->source, 0, MXC_EFORMAT, "checksum %08x, but the zip directory says %08x",
                                     (unsigned)s->crc, (unsigned)s->member->crc);
    return MXC_OK;
}

void mxci_zip_stream_close(mxci_zip_stream *s) {
    if (s->inflating)
        inflateEnd(&s->z);
}

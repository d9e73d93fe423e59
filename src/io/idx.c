/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading IDX files, plain or gzip-compressed, straight into an array.
 *
 * Layout (http://yann.lecun.com/exdb/mnist/): two zero bytes, a type code, the number of axes, each axis as a
 * big-endian 32-bit number, then the elements, big-endian, in C order. The array's size is checked against the file's
 * before it is made: exactly for a plain file, by deflate's largest possible ratio for a compressed one, whose memory
 * is touched only as far as data comes. A .gz file may have several members, which follow each other; anything else
 * behind the elements is refused.
 */
#include <string.h>
#include <zlib.h>

#include <mxc/io.h>

#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"

/* Deflate cannot expand data further than this. */
#define DEFLATE_MAX_RATIO 1032

enum { CHUNK = 1 << 16 };

typedef struct idx_stream {
    mxci_file *file;
    int64_t offset;  /* of the next byte to take from the file */
    int gzip, ended; /* ended: the last member of the compressed stream is complete */
    z_stream z;
    unsigned char chunk[CHUNK];
} idx_stream;

static void *zlib_alloc(void *unused, unsigned count, unsigned bytes) {
    (void)unused;
    return mxci_calloc(count, bytes);
}

static void zlib_free(void *unused, void *block) {
    (void)unused;
    mxci_free(block);
}

static mxc_status idx_stream_open(idx_stream *s) {
    unsigned char magic[2] = {0, 0};
    if (mxci_file_size(s->file) >= 2)
        MXC_TRY(mxci_file_read_at(s->file, 0, magic, 2));
    s->gzip = magic[0] == 0x1f && magic[1] == 0x8b;
    if (!s->gzip)
        return MXC_OK;
    s->z.zalloc = zlib_alloc;
    s->z.zfree = zlib_free;
    if (inflateInit2(&s->z, 15 + 16) != Z_OK) {
        s->gzip = 0;
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to decompress", mxci_file_path(s->file));
    }
    return MXC_OK;
}

static void idx_stream_close(idx_stream *s) {
    if (s->gzip)
        inflateEnd(&s->z);
    mxci_file_close(s->file);
    mxci_free(s);
}

/* Read the next block of compressed bytes. */
static mxc_status idx_stream_refill(idx_stream *s) {
    int64_t left = mxci_file_size(s->file) - s->offset;
    size_t bytes = left < CHUNK ? (size_t)left : CHUNK;
    if (bytes == 0)
        return MXC_FAIL(MXC_EFORMAT, "%s: compressed data truncated at offset %lld", mxci_file_path(s->file),
                        (long long)s->offset);
    MXC_TRY(mxci_file_read_at(s->file, s->offset, s->chunk, bytes));
    s->offset += (int64_t)bytes;
    s->z.next_in = s->chunk;
    s->z.avail_in = (unsigned)bytes;
    return MXC_OK;
}

/* Offset in the file of the next byte that is not used up. */
static int64_t idx_stream_offset(const idx_stream *s) {
    return s->offset - (s->gzip ? (int64_t)s->z.avail_in : 0);
}

/* Inflate once; sets ended at the end of the last member. */
static mxc_status inflate_some(idx_stream *s) {
    if (s->z.avail_in == 0)
        MXC_TRY(idx_stream_refill(s));
    int code = inflate(&s->z, Z_NO_FLUSH);
    if (code == Z_STREAM_END) { /* of a member: another one begins at once, or the file ends too */
        s->ended = idx_stream_offset(s) == mxci_file_size(s->file);
        if (!s->ended && inflateReset(&s->z) != Z_OK)
            code = Z_MEM_ERROR;
        else
            return MXC_OK;
    }
    if (code == Z_MEM_ERROR)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to decompress", mxci_file_path(s->file));
    if (code != Z_OK && code != Z_BUF_ERROR)
        return MXC_FAIL(MXC_EFORMAT, "%s: bad compressed data at offset %lld: %s", mxci_file_path(s->file),
                        (long long)idx_stream_offset(s), s->z.msg ? s->z.msg : "unknown");
    return MXC_OK;
}

/* Exactly that many bytes of the decompressed data. */
static mxc_status idx_stream_read(idx_stream *s, void *out, size_t bytes) {
    if (!s->gzip) {
        MXC_TRY(mxci_file_read_at(s->file, s->offset, out, bytes));
        s->offset += (int64_t)bytes;
        return MXC_OK;
    }
    unsigned char *to = out;
    while (bytes > 0) {
        unsigned step = bytes < (1u << 30) ? (unsigned)bytes : 1u << 30;
        s->z.next_out = to;
        s->z.avail_out = step;
        if (s->ended)
            return MXC_FAIL(MXC_EFORMAT, "%s: %zu bytes missing after decompression", mxci_file_path(s->file), bytes);
        MXC_TRY(inflate_some(s));
        to += step - s->z.avail_out;
        bytes -= step - s->z.avail_out;
    }
    return MXC_OK;
}

/* The file must end where its elements end. */
static mxc_status idx_stream_expect_end(idx_stream *s) {
    const char *path = mxci_file_path(s->file);
    while (s->gzip && !s->ended) {
        unsigned char extra;
        s->z.next_out = &extra;
        s->z.avail_out = 1;
        MXC_TRY(inflate_some(s));
        if (s->z.avail_out == 0)
            return MXC_FAIL(MXC_EFORMAT, "%s: more elements than the header says", path);
    }
    if (idx_stream_offset(s) != mxci_file_size(s->file))
        return MXC_FAIL(MXC_EFORMAT, "%s: data ends at offset %lld, but the file has %lld bytes", path,
                        (long long)idx_stream_offset(s), (long long)mxci_file_size(s->file));
    return MXC_OK;
}

static mxc_status type_of_code(const char *path, int code, mxc_dtype *out) {
    switch (code) {
    case 0x08:
        *out = MXC_U8;
        return MXC_OK;
    case 0x09:
        *out = MXC_I8;
        return MXC_OK;
    case 0x0c:
        *out = MXC_I32;
        return MXC_OK;
    case 0x0d:
        *out = MXC_F32;
        return MXC_OK;
    case 0x0e:
        *out = MXC_F64;
        return MXC_OK;
    default:
        return MXC_FAIL(MXC_EFORMAT, "%s: type code 0x%02x at offset 2; expected 0x08, 0x09, 0x0c, 0x0d or 0x0e", path,
                        (unsigned)code);
    }
}

/* Shape and dtype. The elements must fit into the rest of the file, so that nothing is allocated for a false header. */
static mxc_status read_header(idx_stream *s, mxc_shape *shape, mxc_dtype *dtype) {
    const char *path = mxci_file_path(s->file);
    unsigned char head[4], dim[4];
    MXC_TRY(idx_stream_read(s, head, 4));
    if (head[0] != 0 || head[1] != 0)
        return MXC_FAIL(MXC_EFORMAT, "%s: begins with bytes %02x %02x; an IDX file begins with 00 00", path, head[0],
                        head[1]);
    MXC_TRY(type_of_code(path, head[2], dtype));
    if (head[3] < 1 || head[3] > MXC_MAX_NDIM)
        return MXC_FAIL(MXC_EFORMAT, "%s: %d axes at offset 3; expected 1 to %d", path, head[3], MXC_MAX_NDIM);
    shape->ndim = head[3];
    for (int i = 0; i < shape->ndim; i++) {
        MXC_TRY(idx_stream_read(s, dim, 4));
        shape->dim[i] = (int64_t)dim[0] << 24 | (int64_t)dim[1] << 16 | (int64_t)dim[2] << 8 | dim[3];
    }
    int64_t left = mxci_file_size(s->file) - (s->gzip ? 0 : s->offset);
    int64_t limit = s->gzip ? left * DEFLATE_MAX_RATIO : left;
    size_t bytes = mxci_shape_bytes(shape, mxc_dtype_size(*dtype)); /* checks the sizes of empty arrays too */
    if (!mxci_size_fits(bytes) || (int64_t)bytes > limit) {
        char text[MXC_SHAPE_TEXT];
        return MXC_FAIL(MXC_EFORMAT, "%s: header says shape %s of %s, more than the file can hold", path,
                        mxc_shape_format(shape, text, sizeof text), mxc_dtype_name(*dtype));
    }
    return MXC_OK;
}

/* Elements are big-endian in the file. */
static void to_host_order(unsigned char *data, int64_t n, size_t size) {
    const uint16_t probe = 1;
    if (size == 1 || *(const unsigned char *)&probe == 0)
        return;
    for (int64_t i = 0; i < n; i++, data += size)
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            unsigned char t = data[a];
            data[a] = data[b];
            data[b] = t;
        }
}

static mxc_status idx_read_array(idx_stream *s, mxc_ndarray **out) {
    mxc_shape shape;
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    MXC_TRY(idx_stream_open(s));
    MXC_TRY(read_header(s, &shape, &dtype));
    MXC_TRY(mxc_ndarray_create(shape.ndim, shape.dim, dtype, mxc_cpu(0), out));
    void *data;
    mxc_status status = mxc_ndarray_data(*out, &data);
    if (status == MXC_OK)
        status = idx_stream_read(s, data, mxc_ndarray_bytes(*out));
    if (status == MXC_OK) {
        to_host_order(data, mxc_ndarray_size(*out), mxc_dtype_size(dtype));
        status = idx_stream_expect_end(s);
    }
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

mxc_status mxc_idx_load(const char *path, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    idx_stream *s = mxci_calloc(1, sizeof *s);
    if (!s)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to read it", path);
    mxc_status status = mxci_file_open(path, &s->file);
    if (status != MXC_OK) {
        mxci_free(s);
        return status;
    }
    status = idx_read_array(s, out);
    idx_stream_close(s);
    return status;
}

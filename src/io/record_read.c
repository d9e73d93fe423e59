/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading record files (the format is described in <mxc/recordio.h>).
 *
 * The file is read through one window, which slides over it in large reads and grows only as far as a record is known
 * to extend, as its bytes are checked while they are read. Everything that is not a whole record is damage: a bad
 * header, a length beyond the end of the file, parts in the wrong order, and the magic number inside a part, where no
 * writer leaves it. Whether a record begins at an offset therefore depends on nothing before it, so splitting a file
 * into parts at any offsets gives the same records, each once, even if the file is damaged. It also bounds the search
 * after damage: no byte is checked more than a few times.
 */
#include <string.h>

#include <mxc/recordio.h>

#include "base/error.h"
#include "base/sys.h"
#include "io/record_format.h"

enum { BLOCK = 1 << 18, STEP = 1 << 16, AFTER_JUMP = 1 << 14 };

struct mxc_record_reader {
    mxci_file *file;
    mxc_bad_record bad;
    int64_t size;                 /* of the file */
    int64_t part_first, part_end; /* the first header of the part; headers from part_end on belong to the next part */
    int64_t at, end;              /* the next header, and the end of reading */
    int64_t skipped_spans, skipped_bytes; /* damaged spans of the file */
    int64_t ahead; /* least number of bytes per read: few after a seek, more as reading goes on */
    /* The window: block[i] is the file's byte window + i, for i from valid to filled - 1. */
    unsigned char *block;
    size_t room, valid, filled;
    int64_t window;
};

/* A record in the file. */
typedef struct record_extent {
    int64_t end;  /* offset after its last part */
    size_t bytes; /* of the data, all parts joined */
    int n_parts;  /* 1, or more: counted up to 2 */
} record_extent;

/* Why bytes are not a record. */
typedef struct damage {
    const char *reason; /* NULL: none */
    int64_t offset;
} damage;

static const unsigned char *window_at(const mxc_record_reader *r, int64_t offset) {
    return r->block + (offset - r->window);
}

/* ---- the window ---- */

/* Replace the block by one for at least need bytes: twice the old size, up to the bytes that the record is likely to
 * have. Its contents are dropped first, so that there are never two blocks. */
static mxc_status grow_window(mxc_record_reader *r, int64_t need, int64_t likely) {
    int64_t room = 2 * (int64_t)r->room;
    room = room > likely ? likely : room;
    room = room > BLOCK ? room : BLOCK;
    room = room > r->size ? r->size : room;
    room = room > need ? room : need;
    mxci_free(r->block);
    r->room = r->valid = r->filled = 0;
    r->block = mxci_alloc((size_t)room);
    if (!r->block)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %lld bytes of a record", mxci_file_path(r->file),
                        (long long)room);
    r->room = (size_t)room;
    return MXC_OK;
}

/* Read bytes keep to to - 1 of the file into the window, and some more. likely: the end of what will be needed next. */
static mxc_status ensure_window(mxc_record_reader *r, int64_t keep, int64_t to, int64_t likely) {
    int64_t begin = r->window + (int64_t)r->valid, end = r->window + (int64_t)r->filled;
    if (keep >= begin && to <= end)
        return MXC_OK;
    if (to - keep > (int64_t)r->room) {
        MXC_TRY(grow_window(r, to - keep, likely - keep));
        end = begin; /* nothing is left */
    }
    int64_t have = keep >= begin && keep < end ? end - keep : 0, more = to - keep - have;
    if (have > 0 && keep != r->window)
        memmove(r->block, window_at(r, keep), (size_t)have);
    r->window = keep;
    r->valid = 0;
    r->filled = (size_t)have;
    more = more > r->ahead ? more : r->ahead;
    r->ahead = 2 * r->ahead < BLOCK ? 2 * r->ahead : BLOCK;
    more = more < (int64_t)r->room - have ? more : (int64_t)r->room - have;
    more = more < r->size - keep - have ? more : r->size - keep - have;
    MXC_TRY(mxci_file_read_at(r->file, keep + have, r->block + have, (size_t)more));
    r->filled += (size_t)more;
    return MXC_OK;
}

/* ---- finding records ---- */

/* Check that the magic number does not occur in a part, whose bytes with their padding are from to to - 1. keep: the
 * first byte that must stay in the window. */
static mxc_status check_body(mxc_record_reader *r, int64_t keep, int64_t from, int64_t to, damage *out) {
    while (from < to) {
        int64_t n = to - from < STEP ? to - from : STEP;
        MXC_TRY(ensure_window(r, keep, from + n, to));
        size_t found = mxci_record_find_magic(window_at(r, from), (size_t)n);
        if (found < (size_t)n) {
            *out = (damage){"another header is inside of it", from + (int64_t)found};
            return MXC_OK;
        }
        from += n;
    }
    return MXC_OK;
}

/* What is wrong with the header of a part, or NULL. left: bytes from the header to the end of the file. */
static const char *header_damage(const unsigned char *header, int is_first, int64_t left) {
    uint32_t word = mxci_get_u32(header + 4), length = word & MXCI_RECORD_MAX_LENGTH, kind = word >> 29;
    if (mxci_get_u32(header) != MXCI_RECORD_MAGIC)
        return is_first ? "no record begins here" : "its next part is not here";
    if (kind > MXCI_RECORD_LAST || is_first != (kind <= MXCI_RECORD_FIRST))
        return is_first ? "its header is not that of a first part" : "its next part is another record's or of no kind";
    if (mxci_record_padded(length) > left - MXCI_RECORD_HEADER)
        return "its length reaches beyond the end of the file";
    if (length % 4 != 0 && (kind == MXCI_RECORD_FIRST || kind == MXCI_RECORD_MIDDLE))
        return "the length of a part before the last is not a multiple of 4";
    return NULL;
}

/* The first byte to keep in the window while a part is checked: the beginning of the record, or, if both do not fit, of
 * the part. */
static int64_t keep_from(const mxc_record_reader *r, int64_t offset, int64_t part, int64_t end) {
    return part == offset || end - offset <= (int64_t)r->room ? offset : part;
}

/* Check the record at an offset. Afterwards all of it is in the window, or out_damage says what is wrong with it. */
static mxc_status check_record(mxc_record_reader *r, int64_t offset, record_extent *out, damage *out_damage) {
    *out = (record_extent){0};
    *out_damage = (damage){0};
    for (int64_t at = offset;; at = out->end) {
        if (r->size - at < MXCI_RECORD_HEADER) {
            *out_damage = (damage){"its header is cut off by the end of the file", at};
            return MXC_OK;
        }
        int64_t body = at + MXCI_RECORD_HEADER;
        MXC_TRY(ensure_window(r, keep_from(r, offset, at, body), body, body));
        *out_damage = (damage){header_damage(window_at(r, at), at == offset, r->size - at), at};
        if (out_damage->reason)
            return MXC_OK;
        uint32_t word = mxci_get_u32(window_at(r, at) + 4), length = word & MXCI_RECORD_MAX_LENGTH, kind = word >> 29;
        out->end = body + mxci_record_padded(length);
        out->bytes += length + (at == offset ? 0 : 4);
        out->n_parts = at == offset ? 1 : 2;
        MXC_TRY(check_body(r, keep_from(r, offset, at, out->end), body, out->end, out_damage));
        if (out_damage->reason)
            return MXC_OK;
        if (kind == MXCI_RECORD_WHOLE || kind == MXCI_RECORD_LAST)
            return ensure_window(r, offset, out->end, out->end);
    }
}

/* The offset of the next header of a first part, or the end of reading. whole: only of a record without damage. */
static mxc_status find_header(mxc_record_reader *r, int64_t at, int whole, int64_t *out) {
    *out = r->end;
    for (at = (at + 3) & ~INT64_C(3); at < r->end && r->size - at >= MXCI_RECORD_HEADER;) {
        int64_t left = (r->size & ~INT64_C(3)) - at, n = left < STEP ? left : STEP;
        MXC_TRY(ensure_window(r, at, at + n, at + n));
        size_t skip = mxci_record_find_magic(window_at(r, at), (size_t)n);
        at += (int64_t)skip;
        if (skip == (size_t)n || at >= r->end || r->size - at < MXCI_RECORD_HEADER)
            continue;
        record_extent record;
        damage wrong = {0};
        MXC_TRY(ensure_window(r, at, at + MXCI_RECORD_HEADER, at + MXCI_RECORD_HEADER));
        int is_first = mxci_get_u32(window_at(r, at) + 4) >> 29 <= MXCI_RECORD_FIRST;
        if (is_first && whole)
            MXC_TRY(check_record(r, at, &record, &wrong));
        if (is_first && !wrong.reason) {
            *out = at;
            return MXC_OK;
        }
        at += 4;
    }
    return MXC_OK;
}

/* Join the parts of a record in the window, at its beginning, with the magic number that the writer removed between two
 * parts. */
static const unsigned char *join_parts(mxc_record_reader *r, const record_extent *record) {
    unsigned char *begin = r->block + (r->at - r->window), *from = begin, *to = begin;
    if (record->n_parts == 1)
        return begin + MXCI_RECORD_HEADER;
    while (from < begin + (record->end - r->at)) {
        uint32_t length = mxci_get_u32(from + 4) & MXCI_RECORD_MAX_LENGTH;
        if (from != begin) {
            mxci_put_u32(to, MXCI_RECORD_MAGIC);
            to += 4;
        }
        memmove(to, from + MXCI_RECORD_HEADER, length);
        to += length;
        from += MXCI_RECORD_HEADER + mxci_record_padded(length);
    }
    r->valid = (size_t)(record->end - r->window);
    return begin;
}

/* ---- the interface ---- */

/* Part i of n of the file: the boundaries are multiples of 4, moved to the next header. */
static mxc_status choose_part(mxc_record_reader *r, int part_index, int num_parts) {
    int64_t step = (r->size / num_parts + (r->size % num_parts != 0) + 3) & ~INT64_C(3);
    int64_t begin = step * part_index, end = begin + step;
    begin = begin < r->size ? begin : r->size;
    r->end = r->part_end = end < r->size && part_index < num_parts - 1 ? end : r->size;
    r->part_first = 0;
    if (part_index > 0)
        MXC_TRY(find_header(r, begin, 0, &r->part_first));
    r->at = r->part_first;
    return MXC_OK;
}

mxc_status mxc_record_reader_open(const char *path, int part_index, int num_parts, mxc_bad_record bad,
                                  mxc_record_reader **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    if (num_parts < 1 || part_index < 0 || part_index >= num_parts)
        return MXC_FAIL(MXC_EINVAL, "%s: part_index %d of num_parts %d, expected 0 <= part_index < num_parts", path,
                        part_index, num_parts);
    if (bad != MXC_BAD_ERROR && bad != MXC_BAD_SKIP)
        return MXC_FAIL(MXC_EINVAL, "%s: bad %d, expected MXC_BAD_ERROR or MXC_BAD_SKIP", path, (int)bad);
    mxc_record_reader *r = mxci_calloc(1, sizeof *r);
    if (!r)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to read it", path);
    r->bad = bad;
    r->ahead = BLOCK;
    mxc_status status = mxci_file_open(path, &r->file);
    if (status == MXC_OK) {
        r->size = mxci_file_size(r->file);
        status = choose_part(r, part_index, num_parts);
    }
    if (status != MXC_OK)
        mxc_record_reader_close(r);
    else
        *out = r;
    return status;
}

void mxc_record_reader_close(mxc_record_reader *reader) {
    if (!reader)
        return;
    mxci_file_close(reader->file);
    mxci_free(reader->block);
    mxci_free(reader);
}

/* Skip the damage at the current offset, up to the next whole record; an error unless damage is to be skipped. */
static mxc_status pass_damage(mxc_record_reader *r, const damage *wrong) {
    int64_t begin = r->at;
    MXC_TRY(find_header(r, begin + 4, 1, &r->at));
    r->skipped_spans++;
    r->skipped_bytes += r->at - begin;
    if (r->bad == MXC_BAD_SKIP)
        return MXC_OK;
    return MXC_FAIL(MXC_EFORMAT, "%s: damaged record at offset %lld: %s (offset %lld)", mxci_file_path(r->file),
                    (long long)begin, wrong->reason, (long long)wrong->offset);
}

static mxc_status read_next(mxc_record_reader *r, mxc_record *out) {
    while (r->at < r->end) {
        record_extent record;
        damage wrong;
        MXC_TRY(check_record(r, r->at, &record, &wrong));
        if (!wrong.reason) {
            *out = (mxc_record){join_parts(r, &record), record.bytes, r->at};
            r->at = record.end;
            return MXC_OK;
        }
        MXC_TRY(pass_damage(r, &wrong));
    }
    return MXC_OK;
}

mxc_status mxc_record_reader_next(mxc_record_reader *reader, mxc_record *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(reader));
    *out = (mxc_record){NULL, 0, reader->at};
    int64_t spans = reader->skipped_spans;
    mxc_status status = read_next(reader, out);
    if (status == MXC_EFORMAT && reader->skipped_spans == spans)
        reader->at = reader->end; /* the file became shorter while it was read: end here */
    return status;
}

int64_t mxc_record_reader_tell(const mxc_record_reader *reader) {
    return !reader ? 0 : reader->at;
}

mxc_status mxc_record_reader_seek(mxc_record_reader *reader, int64_t offset) {
    MXC_TRY(MXCI_NON_NULL(reader));
    if (offset < 0 || offset > reader->size || (offset % 4 != 0 && offset != reader->size))
        return MXC_FAIL(MXC_EINVAL, "%s: no record can begin at offset %lld: expected a multiple of 4 up to %lld",
                        mxci_file_path(reader->file), (long long)offset, (long long)reader->size);
    reader->ahead = offset == reader->at ? reader->ahead : AFTER_JUMP;
    reader->at = offset;
    reader->end = reader->size;
    return MXC_OK;
}

void mxc_record_reader_rewind(mxc_record_reader *reader) {
    if (!reader)
        return;
    reader->at = reader->part_first;
    reader->end = reader->part_end;
}

void mxc_record_reader_skipped(const mxc_record_reader *reader, int64_t *places, int64_t *bytes) {
    if (places)
        *places = !reader ? 0 : reader->skipped_spans;
    if (bytes)
        *bytes = !reader ? 0 : reader->skipped_bytes;
}

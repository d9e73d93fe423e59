/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding JPEG and PNG files: _cvimdecode from memory and _cvimread from a file to (height, width, channels) bytes,
 * _imdecode from memory to (channels, height, width) floats. The shapes of the outputs depend on the file's contents,
 * so all are array-only operators. */
#include "base/sys.h"
#include "image/codec.h"
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* The image's size and format from the header of its file, without decoding it, upright or as stored. size 0: all of
 * buf. */
static mxc_status probe(const char *source_name, const mxc_tensor *buf, int64_t size, int upright, mxci_image *image) {
    int64_t n = mxci_tensor_size(buf);
    if (size > n)
        return MXC_FAIL(MXC_EINVAL, "%s: size is %lld, but buf has %lld bytes", source_name, (long long)size,
                        (long long)n);
    MXC_TRY(mxci_image_probe(source_name, buf->data, (size_t)(size ? size : n), MXCI_IMAGE_PIXELS, image));
    if (upright)
        mxci_image_orient(image);
    return MXC_OK;
}

/* Decode to a new block that the caller frees. Not scratch memory, which would stay allocated, as large as the largest
 * image. */
static mxc_status decode(const mxci_image *image, mxci_pixels pixels, uint8_t **out) {
    size_t bytes = (size_t)(image->height * image->width) * (size_t)mxci_pixels_channels(pixels);
    mxc_status status;
    *out = mxci_alloc(bytes);
    if (!*out)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %zu bytes of pixels", image->source_name, bytes);
    status = mxci_image_decode(image, pixels, *out);
    if (status != MXC_OK) {
        mxci_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- _cvimdecode ------------------------------------------------------------------------------------------------- */

enum { COLOUR = 1, IGNORE_ORIENTATION = 128 }; /* flag, numbered as by OpenCV, to which MXNet passes it */

typedef struct decode_params {
    int64_t flag;
    int32_t to_rgb;
} decode_params;

#define DECODE_PARAMS                                                                                             \
    {MXC_PARAM_FIELD(decode_params, flag),                                                                        \
     .name = "flag",                                                                                              \
     .type = MXC_PARAM_INT,                                                                                       \
     .initial = "1",                                                                                              \
     .bounded = 1,                                                                                                \
     .minimum = 0,                                                                                                \
     .maximum = COLOUR | IGNORE_ORIENTATION,                                                                      \
     .doc = "1: three colour channels. 0: one grey channel. 128 more: as stored, without the EXIF orientation."}, \
    {                                                                                                             \
        MXC_PARAM_FIELD(decode_params, to_rgb),                                                                   \
            .name = "to_rgb", .type = MXC_PARAM_BOOL, .initial = "true",                                          \
            .doc = "Order of the channels: red, green, blue; otherwise blue, green, red."                         \
    }

static const mxc_param decode_schema[] = {DECODE_PARAMS, MXC_PARAM_END};

static mxc_status check_flag(const decode_params *p, const char *name) {
    if (p->flag & ~(COLOUR | IGNORE_ORIENTATION))
        return MXC_FAIL(MXC_EINVAL, "%s: flag is %lld, expected 0, 1, 128 or 129", name, (long long)p->flag);
    return MXC_OK;
}

static mxc_status check_decode(void *params) {
    return check_flag(params, "_cvimdecode");
}

static mxci_pixels pixels_of(const decode_params *p) {
    return !(p->flag & COLOUR) ? MXCI_GREY : p->to_rgb ? MXCI_RGB : MXCI_BGR;
}

static mxc_status infer_decode(mxc_op_sig *sig) {
    mxc_shape buf = mxci_shape_axes(1),
              out = mxci_shape_of(3, (int64_t[]){-1, -1, mxci_pixels_channels(pixels_of(sig->params))});
    MXC_TRY(mxc_sig_set_shape(sig, 0, &buf));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status decode_from_data(mxc_op_sig *sig, const mxc_tensor *in) {
    const decode_params *p = sig->params;
    mxc_shape out = mxci_shape_axes(3);
    mxci_image image;
    MXC_TRY(probe("_cvimdecode", &in[0], 0, !(p->flag & IGNORE_ORIENTATION), &image));
    out.dim[0] = image.height;
    out.dim[1] = image.width;
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status forward_decode(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[0];
    const decode_params *p = call->params;
    mxci_pixels pixels = pixels_of(p);
    mxc_tensor pixel = *out;
    mxci_image image;
    uint8_t *block;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(probe("_cvimdecode", &call->in[0], 0, !(p->flag & IGNORE_ORIENTATION), &image));
    if (image.height != out->shape.dim[0] || image.width != out->shape.dim[1])
        return MXC_FAIL(MXC_EINVAL, "_cvimdecode: buf was changed while the operator was called");
    if (call->req[0] == MXC_REQ_WRITE)
        return mxci_image_decode(&image, pixels, out->data);
    MXC_TRY(decode(&image, pixels, &block));
    pixel.data = block;
    mxci_assign(call->run, call->req[0], out, &pixel);
    mxci_free(block);
    return MXC_OK;
}

/* ---- _cvimread --------------------------------------------------------------------------------------------------- */

typedef struct read_params {
    decode_params decode; /* first: the offsets of DECODE_PARAMS hold */
    char filename[4096];
} read_params;

static const mxc_param read_schema[] = {
    {MXC_PARAM_FIELD(read_params, filename), .name = "filename", .type = MXC_PARAM_STRING,
     .doc = "Path of a JPEG or PNG file."},
    DECODE_PARAMS,
    MXC_PARAM_END,
};

static mxc_status check_read(void *params) {
    return check_flag(&((read_params *)params)->decode, "_cvimread");
}

/* The bytes of the file, which the caller frees, and what its header says. */
static mxc_status open_file(const read_params *p, char **bytes, mxci_image *image) {
    size_t n;
    mxc_status status;
    MXC_TRY(mxci_file_read_all(p->filename, INT32_MAX, bytes, &n));
    status = mxci_image_probe(p->filename, *bytes, n, MXCI_IMAGE_PIXELS, image);
    if (status != MXC_OK)
        mxci_free(*bytes);
    else if (!(p->decode.flag & IGNORE_ORIENTATION))
        mxci_image_orient(image);
    return status;
}

static mxc_status infer_read(mxc_op_sig *sig) {
    const mxci_pixels pixels = pixels_of(&((const read_params *)sig->params)->decode);
    const mxc_shape out = mxci_shape_of(3, (int64_t[]){-1, -1, mxci_pixels_channels(pixels)});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status infer_read_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_U8);
}

static mxc_status read_from_data(mxc_op_sig *sig, const mxc_tensor *in) {
    mxc_shape out = mxci_shape_axes(3);
    mxci_image image;
    char *bytes;
    (void)in;
    MXC_TRY(open_file(sig->params, &bytes, &image));
    mxci_free(bytes);
    out.dim[0] = image.height;
    out.dim[1] = image.width;
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status forward_read(const mxc_op_call *call) {
    const read_params *p = call->params;
    const mxc_tensor *out = &call->out[0];
    mxc_tensor pixel = *out;
    mxc_status status;
    mxci_image image;
    uint8_t *block = NULL;
    char *bytes;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(open_file(p, &bytes, &image));
    if (image.height != out->shape.dim[0] || image.width != out->shape.dim[1])
        status = MXC_FAIL(MXC_EINVAL, "_cvimread: %s was changed while the operator was called", p->filename);
    else
        status = decode(&image, pixels_of(&p->decode), &block);
    if (status == MXC_OK) {
        pixel.data = block;
        mxci_assign(call->run, call->req[0], out, &pixel);
    }
    mxci_free(block);
    mxci_free(bytes);
    return status;
}

/* ---- _imdecode --------------------------------------------------------------------------------------------------- */

enum { MEAN, BUF };

typedef struct planes_params {
    int64_t index, x0, y0, x1, y1, c, size;
} planes_params;

#define FIELD(name_, initial_, least, text)                                                                \
    {                                                                                                      \
        .name = #name_, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(planes_params, name_), .initial = initial_, \
        .bounded = 1, .minimum = least, .maximum = 9007199254740992.0, .doc = text                         \
    }

static const mxc_param planes_schema[] = {
    FIELD(index, "0", 0,
          "Accepted for compatibility with MXNet; has no effect. To fill one position of a batch, pass it as out "
          "(mxc_ndarray_at)."),
    FIELD(x0, "0", 0, "First column."),
    FIELD(y0, "0", 0, "First row."),
    FIELD(x1, "0", 0, "End of the columns, exclusive."),
    FIELD(y1, "0", 0, "End of the rows, exclusive; the whole image if this is y0."),
    FIELD(c, "3", 1, "Number of channels: 3 for blue, green, red, or 1 for grey."),
    FIELD(size, "0", 0, "Number of bytes of buf that are read. 0: all."),
    MXC_PARAM_END,
};

static mxc_status check_planes(void *params) {
    const planes_params *p = params;
    if (p->c != 1 && p->c != 3)
        return MXC_FAIL(MXC_EINVAL, "_imdecode: c is %lld, expected 1 or 3", (long long)p->c);
    if (p->y1 != p->y0 && (p->y1 < p->y0 || p->x1 <= p->x0))
        return MXC_FAIL(MXC_EINVAL, "_imdecode: from column %lld row %lld to before column %lld row %lld is nothing",
                        (long long)p->x0, (long long)p->y0, (long long)p->x1, (long long)p->y1);
    return MXC_OK;
}

static mxc_status infer_planes(mxc_op_sig *sig) {
    const planes_params *p = sig->params;
    int64_t height = p->y1 - p->y0;
    mxc_shape buf = mxci_shape_axes(1),
              out = mxci_shape_of(3, (int64_t[]){p->c, height ? height : -1, height ? p->x1 - p->x0 : -1});
    MXC_TRY(mxc_sig_set_shape(sig, BUF, &buf));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status infer_planes_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, BUF, MXC_U8));
    return mxci_sig_same_type(sig, 2, (int[]){MEAN, MXC_SLOT_OUT(0)});
}

/* The part of the image that is asked for: rows y0..y1-1, columns x0..x1-1; the whole image if y0 = y1. */
static mxc_status clip(const planes_params *given, const mxci_image *image, planes_params *out) {
    *out = *given;
    if (out->y0 == out->y1) {
        out->x0 = out->y0 = 0;
        out->x1 = image->width;
        out->y1 = image->height;
    }
    if (out->x1 > image->width || out->y1 > image->height)
        return MXC_FAIL(MXC_EINVAL, "_imdecode: x1 is %lld and y1 %lld, but the image has %lld columns and %lld rows",
                        (long long)out->x1, (long long)out->y1, (long long)image->width, (long long)image->height);
    return MXC_OK;
}

static mxc_status planes_from_data(mxc_op_sig *sig, const mxc_tensor *in) {
    planes_params part;
    mxci_image image;
    mxc_shape out;
    MXC_TRY(probe("_imdecode", &in[BUF], ((const planes_params *)sig->params)->size, 1, &image));
    MXC_TRY(clip(sig->params, &image, &part));
    out = mxci_shape_of(3, (int64_t[]){part.c, part.y1 - part.y0, part.x1 - part.x0});
    if (mxci_tensor_size(&in[MEAN]))
        MXC_TRY(mxc_sig_set_shape(sig, MEAN, &out));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* n elements of out from element `at` on: those of one channel in a row of the image, minus mean. */
static void put_row(const mxc_op_call *call, int64_t at, const uint8_t *pixel, int64_t channels, int64_t n) {
    const mxc_tensor *mean = &call->in[MEAN], *out = &call->out[0];
    double tile[MXCI_TILE], less[MXCI_TILE] = {0}, result[MXCI_TILE];
    for (int64_t i = 0, m; i < n; i += m) {
        m = mxci_tile_at(i, n);
        if (mxci_tensor_size(mean))
            mxci_convert(mean->dtype, mxci_at(mean, at + i), MXC_F64, less, m);
        for (int64_t k = 0; k < m; k++)
            tile[k] = pixel[(i + k) * channels] - less[k];
        mxci_convert(MXC_F64, tile, out->dtype, result, m);
        mxci_assign_row(call->req[0], out->dtype, mxci_at(out, at + i), result, m);
    }
}

static mxc_status forward_planes(const mxc_op_call *call) {
    const planes_params *p = call->params;
    const int64_t *dim = call->out[0].shape.dim;
    planes_params part;
    mxci_image image;
    uint8_t *pixels;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(probe("_imdecode", &call->in[BUF], p->size, 1, &image));
    MXC_TRY(clip(p, &image, &part));
    if (part.y1 - part.y0 != dim[1] || part.x1 - part.x0 != dim[2])
        return MXC_FAIL(MXC_EINVAL, "_imdecode: buf was changed while the operator was called");
    MXC_TRY(decode(&image, p->c == 1 ? MXCI_GREY : MXCI_BGR, &pixels));
    for (int64_t row = 0; row < dim[0] * dim[1]; row++) /* of out: channel, then row of the image */
        put_row(call, row * dim[2], pixels + ((part.y0 + row % dim[1]) * image.width + part.x0) * part.c + row / dim[1],
                part.c, dim[2]);
    mxci_free(pixels);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_image_decode = {
    .size = sizeof(mxc_op_def),
    .name = "_cvimdecode",
    .doc = "Decodes a JPEG or PNG file held in the bytes buf: out (height,width,channels). Alpha is dropped, 16 bits "
           "are reduced to 8; a JPEG is turned upright as its EXIF orientation says",
    .flags = MXC_OP_ARRAY_ONLY,
    .params = decode_schema,
    .param_size = sizeof(decode_params),
    .params_check = check_decode,
    .args = "buf",
    .infer_shape = infer_decode,
    .infer_from_data = decode_from_data,
    .dtypes = MXC_DTYPE_BIT(MXC_U8),
    .forward = {[MXC_CPU] = forward_decode},
};

const mxc_op_def mxci_op_image_read = {
    .size = sizeof(mxc_op_def),
    .name = "_cvimread",
    .params_check = check_read,
    .aliases = "_npi_cvimread",
    .doc = "Reads and decodes a JPEG or PNG file as _cvimdecode does: out (height,width,channels)",
    .flags = MXC_OP_ARRAY_ONLY,
    .params = read_schema,
    .param_size = sizeof(read_params),
    .args = "",
    .infer_shape = infer_read,
    .infer_type = infer_read_type,
    .infer_from_data = read_from_data,
    .dtypes = MXC_DTYPE_BIT(MXC_U8),
    .forward = {[MXC_CPU] = forward_read},
};

const mxc_op_def mxci_op_image_decode_planes = {
    .size = sizeof(mxc_op_def),
    .name = "_imdecode",
    .doc =
        "Decodes a part of a JPEG or PNG file held in the bytes buf and subtracts mean: out (c, y1 - y0, x1 - x0); "
        "mean has the shape and dtype of out, or no elements. A JPEG is turned upright as its EXIF orientation says. "
        "MXNet passes buf as text beside the arrays",
    .flags = MXC_OP_ARRAY_ONLY,
    .params = planes_schema,
    .param_size = sizeof(planes_params),
    .params_check = check_planes,
    .args = "mean,buf",
    .infer_shape = infer_planes,
    .infer_type = infer_planes_type,
    .infer_from_data = planes_from_data,
    .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = forward_planes},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* ImageRecordIter: images and labels of a record file. Names and defaults are MXNet's (0.9 and 1.9 together). */
#include <string.h>

#include "base/sys.h"
#include "io/image_source.h"
#include "io/iter.h"

typedef struct record_params {
    char path_imgrec[MXCI_IMAGE_PATH], path_imgidx[MXCI_IMAGE_PATH], path_imglist[MXCI_IMAGE_PATH];
    mxci_image_params image;
} record_params;

#define OWNER record_params
static const mxc_param record_schema[] = {
    {MXC_PARAM_FIELD(record_params, path_imgrec), .name = "path_imgrec", .type = MXC_PARAM_STRING, .initial = NULL,
     .doc = "Path of the record file, or several separated by ;. A directory stands for its .rec files."},
    {MXC_PARAM_FIELD(record_params, path_imgidx), .name = "path_imgidx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Path of the index, or one for each record file. Without an index, the record files are read once when "
            "they are opened."},
    {MXC_PARAM_FIELD(record_params, path_imglist), .name = "path_imglist", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Path of an image list (id, labels, path) whose labels replace those of the records with the same id."},
#include "io/augment_params.def"
#include "io/image_params.def"
    MXC_PARAM_END,
};
#undef OWNER

static mxc_status create_record_iter(const char *owner, const record_params *p, mxc_iter **out) {
    mxci_image_source source;
    *out = NULL;
    MXC_TRY(mxci_image_records_open(owner, &p->image, p->path_imgrec, p->path_imgidx, p->path_imglist, NULL, &source));
    mxc_status status = mxci_image_iter_create(owner, &p->image, NULL, &source, out);
    if (status != MXC_OK)
        source.destroy(source.self);
    return status;
}

/* ---- the iterators ----------------------------------------------------------------------------------------------- */

static mxc_status create_any(const void *params, mxc_iter **out) {
    return create_record_iter("ImageRecordIter", params, out);
}

static mxc_status create_with_dtype(const char *owner, mxc_dtype dtype, const void *params, mxc_iter **out) {
    record_params *p = mxci_alloc(sizeof *p);
    *out = NULL;
    if (!p)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for its parameters", owner);
    memcpy(p, params, sizeof *p);
    p->image.dtype = (int32_t)dtype;
    mxc_status status = create_record_iter(owner, p, out);
    mxci_free(p);
    return status;
}

static mxc_status create_bytes(const void *params, mxc_iter **out) {
    return create_with_dtype("ImageRecordUInt8Iter", MXC_U8, params, out);
}

static mxc_status create_signed(const void *params, mxc_iter **out) {
    return create_with_dtype("ImageRecordInt8Iter", MXC_I8, params, out);
}

#define RECORD_ITER(name_, create_, doc_)     \
    const mxci_iter_def mxci_iter_##name_ = { \
        .name = #name_, .doc = doc_, .params = record_schema, .param_size = sizeof(record_params), .create = create_};
RECORD_ITER(ImageRecordIter, create_any,
            "Images of a record file, decoded, augmented and normalised ahead by threads: data (B,C,H,W), "
            "softmax_label (B,) or (B,label_width). The index of a batch contains the ids of the records.")
RECORD_ITER(ImageRecordIter_v1, create_any, "Alias of ImageRecordIter.")
RECORD_ITER(ImageRecordInt8Iter, create_signed, "ImageRecordIter with dtype int8: values are rounded and clipped.")
RECORD_ITER(ImageRecordUInt8Iter, create_bytes, "ImageRecordIter with dtype uint8: unchanged bytes.")
RECORD_ITER(ImageRecordUInt8Iter_v1, create_bytes, "Alias of ImageRecordUInt8Iter.")

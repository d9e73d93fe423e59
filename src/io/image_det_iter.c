/*
 * ImageDetRecordIter: images of a record file whose labels say where objects are; see detect.h. Names and defaults are
 * MXNet's.
 */
#include <string.h>

#include "base/sys.h"
#include "io/image_source.h"
#include "io/iter.h"

typedef struct det_params {
    char path_imgrec[MXCI_IMAGE_PATH], path_imgidx[MXCI_IMAGE_PATH], path_imglist[MXCI_IMAGE_PATH], aug_seq[32];
    int64_t label_width, label_pad_width;
    mxci_image_params image;
    mxci_detect_params detect;
} det_params;

#define OWNER det_params
#define TEXT(name_, initial_, text) \
    { .name = #name_, .type = MXC_PARAM_STRING, MXC_PARAM_FIELD(det_params, name_), .initial = initial_, .doc = text }
#define WHOLE_OF(path_, name_, initial_, least, most, text)                                                   \
    {                                                                                                         \
        .name = #name_, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(det_params, path_ name_), .initial = initial_, \
        .bounded = 1, .minimum = least, .maximum = most, .doc = text                                          \
    }
#define DET_REAL(name_, initial_, least, most, text)                                                             \
    {                                                                                                            \
        .name = #name_, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(det_params, detect.name_), .initial = initial_, \
        .bounded = 1, .minimum = least, .maximum = most, .doc = text                                             \
    }
#define DET_SHARES(name_, initial_, most, text)                                                                   \
    {                                                                                                             \
        .name = #name_, .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(det_params, detect.name_), .initial = initial_, \
        .bounded = 1, .minimum = 0, .maximum = most, .doc = text                                                  \
    }

static const mxc_param det_schema[] = {
    TEXT(path_imgrec, NULL, "path of the record file; several with ; between, and a folder stands for its .rec files"),
    TEXT(path_imgidx, "", "path of its index, or as many as record files; for use with label_pad_width"),
    TEXT(path_imglist, "", "path of a list (id, labels, path) whose labels, found by id, replace the records' own"),
    TEXT(aug_seq, "det_aug_default", "the augmenter; there is one"),
    WHOLE_OF(, label_width, "-1", -1, 1 << 20, "accepted for MXNet's sake: the number of labels varies"),
    WHOLE_OF(, label_pad_width, "0", 0, 1 << 20, "values of the longest label; 0: that of this part of the file"),
    DET_REAL(label_pad_value, "-1", -1e6, 1e6, "stands behind shorter ones"),
    DET_REAL(rand_mirror_prob, "0", 0, 1, "how often an image is mirrored"),
    DET_REAL(rand_pad_prob, "0", 0, 1, "how often it is put anywhere into a larger canvas"),
    DET_REAL(max_pad_scale, "1", 1, 100, "whose sides are at most so many times as long"),
    DET_REAL(rand_crop_prob, "0", 0, 1, "how often it is cropped"),
    WHOLE_OF(detect., num_crop_sampler, "1", 1, 100, "samplers, of which one that finds a crop is taken"),
    {MXC_PARAM_FIELD(det_params, detect.max_crop_trials), .name = "max_crop_trials", .type = MXC_PARAM_TUPLE,
     .initial = "(25)", .bounded = 1, .minimum = 0, .maximum = 10000, .doc = "of each sampler, as all that follows"},
    DET_SHARES(min_crop_scales, "(0.0)", 1, "least share of a crop's sides"),
    DET_SHARES(max_crop_scales, "(1.0)", 1, "greatest"),
    DET_SHARES(min_crop_aspect_ratios, "(1.0)", 100, "least width for height"),
    DET_SHARES(max_crop_aspect_ratios, "(1.0)", 100, "greatest"),
    DET_SHARES(min_crop_overlaps, "(0.0)", 1, "one object must have with the crop at least this share of both"),
    DET_SHARES(max_crop_overlaps, "(1.0)", 1, "and at most this"),
    DET_SHARES(min_crop_sample_coverages, "(0.0)", 1, "at least this share of the crop"),
    DET_SHARES(max_crop_sample_coverages, "(1.0)", 1, "at most"),
    DET_SHARES(min_crop_object_coverages, "(0.0)", 1, "at least this share of the object"),
    DET_SHARES(max_crop_object_coverages, "(1.0)", 1, "at most"),
    {MXC_PARAM_FIELD(det_params, detect.crop_emit_mode), .name = "crop_emit_mode", .type = MXC_PARAM_ENUM,
     .initial = "center", .choices = "center,overlap",
     .doc = "objects are kept whose middle is in the crop, or more than emit_overlap_thresh of whose area"},
    DET_REAL(emit_overlap_thresh, "0.3", 0, 1, "see crop_emit_mode"),
    WHOLE_OF(detect., max_random_hue, "0", 0, 180, "move the hue, of a circle of 180, at random by at most this"),
    DET_REAL(random_hue_prob, "0", 0, 1, "how often"),
    WHOLE_OF(detect., max_random_saturation, "0", 0, 255, "the same for the saturation, of 255"),
    DET_REAL(random_saturation_prob, "0", 0, 1, "how often"),
    WHOLE_OF(detect., max_random_illumination, "0", 0, 255, "the same for the lightness, of 255"),
    DET_REAL(random_illumination_prob, "0", 0, 1, "how often"),
    DET_REAL(max_random_contrast, "0", 0, 1, "multiply by 1 plus or minus at most this"),
    DET_REAL(random_contrast_prob, "0", 0, 1, "how often"),
    WHOLE_OF(image., fill_value, "127", 0, 255, "what is in the canvas, or the batch, around the image"),
    WHOLE_OF(image., resize, "-1", -1, 65535, "first resize the shorter side to this; -1: do not"),
    WHOLE_OF(image., inter_method, "1", 0, 10,
             "resize by 0: nearest, 1: linear, 2: cubic, 3: area, 4: Lanczos, 9: "
             "area to make smaller, else cubic, 10: one of the first five at random"),
    {MXC_PARAM_FIELD(det_params, detect.resize_mode), .name = "resize_mode", .type = MXC_PARAM_ENUM, .initial = "force",
     .choices = "force,shrink,fit",
     .doc = "force: to data_shape, whatever the aspect; shrink: images that are larger, in their aspect, until both "
            "sides fit; fit: smaller ones too. An image that does not fill the batch's row is at its left and top"},
#include "io/image_params.def"
    MXC_PARAM_END,
};
#undef OWNER

static const char owner[] = "ImageDetRecordIter";

/* What the augmenter of whole images would do, and is not done here. */
static void fill_in(const det_params *p, int64_t most_labels, mxci_image_params *out) {
    *out = p->image;
    strcpy(out->aug_seq, "aug_default");
    out->max_crop_size = out->min_crop_size = out->crop_y_start = out->crop_x_start = -1;
    out->label_width = MXCI_DETECT_HEAD + most_labels;
}

static mxc_status check_params(const det_params *p) {
    if (strcmp(p->aug_seq, "det_aug_default") != 0)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: aug_seq \"%s\", expected \"det_aug_default\"", owner, p->aug_seq);
    return MXC_OK;
}

static mxc_status create(const det_params *p, mxci_image_params *image, mxc_iter **out) {
    mxci_image_source source;
    int64_t most = p->label_pad_width;
    MXC_TRY(check_params(p));
    MXC_TRY(mxci_records_open(owner, &p->image, p->path_imgrec, p->path_imgidx, p->path_imglist, &most, &source));
    fill_in(p, most, image);
    mxc_status status = mxci_image_iter_create(owner, image, &p->detect, &source, out);
    if (status != MXC_OK)
        source.destroy(source.self);
    return status;
}

static mxc_status det_create(const void *params, mxc_iter **out) {
    mxci_image_params *image = mxci_alloc(sizeof *image);
    *out = NULL;
    if (!image)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for its parameters", owner);
    mxc_status status = create(params, image, out);
    mxci_free(image);
    return status;
}

const mxci_iter_def mxci_iter_ImageDetRecordIter = {
    .name = owner,
    .doc = "Images with objects in a record file: data (B,C,H,W); label (B,4+label_pad_width): channels, height and "
           "width of the image, how many values follow, and these: the head's width A, an object's width, the head's "
           "rest, then of each object its class, left, top, right and bottom in shares of the image, and what else it "
           "has. With parts, give label_pad_width, or each part has its own.",
    .params = det_schema,
    .param_size = sizeof(det_params),
    .create = det_create,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* ImageDetRecordIter: images of a record file whose labels contain boxes of objects; augment_detection.h describes
 * their format. Names and defaults of the parameters are MXNet's. */
#include <string.h>

#include "base/sys.h"
#include "io/image_source.h"
#include "io/iter.h"

typedef struct det_params {
    char path_imgrec[MXCI_IMAGE_PATH], path_imgidx[MXCI_IMAGE_PATH], path_imglist[MXCI_IMAGE_PATH], aug_seq[32];
    int64_t label_width, label_pad_width;
    mxci_image_params image;
    mxci_augment_detection_params detect;
} det_params;

#define OWNER det_params
#define TEXT(name_, initial_, text) \
    { .name = #name_, .type = MXC_PARAM_STRING, MXC_PARAM_FIELD(det_params, name_), .initial = initial_, .doc = text }
#define DET_INT(path_, name_, initial_, least, most, text)                                                    \
    {                                                                                                         \
        .name = #name_, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(det_params, path_ name_), .initial = initial_, \
        .bounded = 1, .minimum = least, .maximum = most, .doc = text                                          \
    }
#define DET_FLOAT(name_, initial_, least, most, text)                                                            \
    {                                                                                                            \
        .name = #name_, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(det_params, detect.name_), .initial = initial_, \
        .bounded = 1, .minimum = least, .maximum = most, .doc = text                                             \
    }
#define DET_FLOATS(name_, initial_, most, text)                                                                   \
    {                                                                                                             \
        .name = #name_, .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(det_params, detect.name_), .initial = initial_, \
        .bounded = 1, .minimum = 0, .maximum = most, .doc = text                                                  \
    }

static const mxc_param det_schema[] = {
    TEXT(path_imgrec, NULL,
         "Path of the record file, or several separated by ;. A directory stands for its .rec files."),
    TEXT(path_imgidx, "", "Path of the index, or one for each record file. Used together with label_pad_width."),
    TEXT(path_imglist, "",
         "Path of an image list (id, labels, path) whose labels replace those of the records with the same id."),
    TEXT(aug_seq, "det_aug_default", "Name of the augmenter; only det_aug_default."),
    DET_INT(, label_width, "-1", -1, 1 << 20, "Accepted for compatibility with MXNet; the number of labels varies."),
    DET_INT(, label_pad_width, "0", 0, 1 << 20,
            "Number of values that labels are padded to. 0: the largest number in this part of the file."),
    DET_FLOAT(label_pad_value, "-1", -1e6, 1e6, "Value that shorter labels are padded with."),
    DET_FLOAT(rand_mirror_prob, "0", 0, 1, "Probability that an image is mirrored horizontally."),
    DET_FLOAT(rand_pad_prob, "0", 0, 1, "Probability that an image is placed at a random position of a larger canvas."),
    DET_FLOAT(max_pad_scale, "1", 1, 100, "Largest ratio of the sides of the canvas to those of the image."),
    DET_FLOAT(rand_crop_prob, "0", 0, 1, "Probability that an image is cropped at random."),
    DET_INT(detect., num_crop_sampler, "1", 1, 100,
            "Number of crop samplers. One of those that find a crop is chosen at random."),
    {MXC_PARAM_FIELD(det_params, detect.max_crop_trials), .name = "max_crop_trials", .type = MXC_PARAM_TUPLE,
     .initial = "(25)", .bounded = 1, .minimum = 0, .maximum = 10000,
     .doc = "Largest number of attempts of each sampler. This and the following tuples have one entry per sampler."},
    DET_FLOATS(min_crop_scales, "(0.0)", 1, "Smallest side of a crop relative to the image."),
    DET_FLOATS(max_crop_scales, "(1.0)", 1, "Largest side of a crop relative to the image."),
    DET_FLOATS(min_crop_aspect_ratios, "(1.0)", 100, "Smallest ratio of width to height of a crop."),
    DET_FLOATS(max_crop_aspect_ratios, "(1.0)", 100, "Largest ratio of width to height of a crop."),
    DET_FLOATS(min_crop_overlaps, "(0.0)", 1, "Smallest intersection over union of the crop with at least one object."),
    DET_FLOATS(max_crop_overlaps, "(1.0)", 1, "Largest intersection over union."),
    DET_FLOATS(min_crop_sample_coverages, "(0.0)", 1, "Smallest share of the crop that the object covers."),
    DET_FLOATS(max_crop_sample_coverages, "(1.0)", 1, "Largest share of the crop that the object covers."),
    DET_FLOATS(min_crop_object_coverages, "(0.0)", 1, "Smallest share of the object that lies in the crop."),
    DET_FLOATS(max_crop_object_coverages, "(1.0)", 1, "Largest share of the object that lies in the crop."),
    {MXC_PARAM_FIELD(det_params, detect.crop_emit_mode), .name = "crop_emit_mode", .type = MXC_PARAM_ENUM,
     .initial = "center", .choices = "center,overlap",
     .doc = "center: keep objects whose centre is in the crop; overlap: keep objects of whose area more than "
            "emit_overlap_thresh is in the crop."},
    DET_FLOAT(emit_overlap_thresh, "0.3", 0, 1, "Threshold for crop_emit_mode=overlap."),
    DET_INT(detect., max_random_hue, "0", 0, 180, "Largest random change of the hue, where 180 is a full circle."),
    DET_FLOAT(random_hue_prob, "0", 0, 1, "Probability that the hue is changed."),
    DET_INT(detect., max_random_saturation, "0", 0, 255,
            "Largest random change of the saturation, where 255 is full saturation."),
    DET_FLOAT(random_saturation_prob, "0", 0, 1, "Probability that the saturation is changed."),
    DET_INT(detect., max_random_illumination, "0", 0, 255,
            "Largest random change of the lightness, where 255 is white."),
    DET_FLOAT(random_illumination_prob, "0", 0, 1, "Probability that the lightness is changed."),
    DET_FLOAT(max_random_contrast, "0", 0, 1,
              "Largest random change c of the contrast; values are multiplied by a factor in [1 - c, 1 + c]."),
    DET_FLOAT(random_contrast_prob, "0", 0, 1, "Probability that the contrast is changed."),
    DET_INT(image., fill_value, "127", 0, 255, "Value of pixels around the image, in the canvas and in the batch."),
    DET_INT(image., resize, "-1", -1, 65535,
            "Resize the shorter side to this number of pixels before anything else. -1: do not resize."),
    DET_INT(image., inter_method, "1", 0, 10,
            "Interpolation for resizing. 0: nearest, 1: linear, 2: cubic, 3: area, 4: Lanczos, 9: area when shrinking "
            "and cubic when enlarging, 10: one of the first five at random."),
    {MXC_PARAM_FIELD(det_params, detect.resize_mode), .name = "resize_mode", .type = MXC_PARAM_ENUM, .initial = "force",
     .choices = "force,shrink,fit",
     .doc = "force: resize to data_shape, ignoring the aspect ratio; shrink: reduce larger images until both sides "
            "fit, keeping the aspect ratio; fit: also enlarge smaller ones. An image that is smaller than data_shape "
            "is placed at the top left."},
#include "io/image_params.def"
    MXC_PARAM_END,
};
#undef OWNER

static const char owner[] = "ImageDetRecordIter";

static mxc_status create_with_params(const det_params *p, mxci_image_params *image, mxc_iter **out) {
    mxci_image_source source;
    int64_t max_labels = p->label_pad_width;
    if (strcmp(p->aug_seq, "det_aug_default") != 0)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: aug_seq \"%s\", expected \"det_aug_default\"", owner, p->aug_seq);
    MXC_TRY(mxci_image_records_open(owner, &p->image, p->path_imgrec, p->path_imgidx, p->path_imglist, &max_labels,
                                    &source));
    *image = p->image; /* parameters that this iterator does not have are off */
    strcpy(image->aug_seq, "aug_default");
    image->max_crop_size = image->min_crop_size = image->crop_y_start = image->crop_x_start = -1;
    image->label_width = MXCI_AUGMENT_DETECTION_HEADER + max_labels;
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
    mxc_status status = create_with_params(params, image, out);
    mxci_free(image);
    return status;
}

const mxci_iter_def mxci_iter_ImageDetRecordIter = {
    .name = owner,
    .doc = "Images with labelled boxes in a record file: data (B,C,H,W); label (B,4+label_pad_width): channels, height "
           "and width of the image, the number of values that follow, and these values: the width A of the header, the "
           "width of an object, the rest of the header, then for each object its class, left, top, right and bottom "
           "relative to the image, and further values. With num_parts above 1 set label_pad_width, because otherwise "
           "each part determines its own.",
    .params = det_schema,
    .param_size = sizeof(det_params),
    .create = det_create,
};

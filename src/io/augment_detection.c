/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and labels for images with objects. All boxes are regions in coordinates relative to some rectangle: first the
 * image, then the canvas, which may be larger than the image and is filled around it, then the crop of the canvas. */
#include "io/augment_detection.h"

#include <math.h>
#include <string.h>

typedef struct region {
    double left, top, right, bottom;
} region;

/* The objects of one image, borrowed. */
typedef struct objects {
    const float *labels;
    int64_t header, width, n;
    int mirror;
    region canvas; /* in coordinates relative to the image */
} objects;

static mxc_status parse_objects(const char *source_name, const float *labels, int64_t n, objects *out) {
    int64_t header = n > 0 && labels[0] >= 2 && labels[0] <= (float)n ? (int64_t)labels[0] : 0;
    int64_t width = header && labels[1] >= 5 && labels[1] <= 1e6f ? (int64_t)labels[1] : 0;
    if (!width || (n - header) % width != 0)
        return MXC_FAIL(MXC_EFORMAT,
                        "%s: %lld labels that are not a header's width, an object's width (5 or more), and "
                        "objects",
                        source_name, (long long)n);
    *out = (objects){
        .labels = labels, .header = header, .width = width, .n = (n - header) / width, .canvas = {0, 0, 1, 1}};
    return MXC_OK;
}

/* The box of object i, mirrored if the image is, in coordinates relative to the canvas. */
static region object_at(const objects *o, int64_t i) {
    const float *v = o->labels + o->header + i * o->width;
    double left = o->mirror ? 1 - v[3] : v[1], right = o->mirror ? 1 - v[1] : v[3];
    double w = o->canvas.right - o->canvas.left, h = o->canvas.bottom - o->canvas.top;
    return (region){(left - o->canvas.left) / w, (v[2] - o->canvas.top) / h, (right - o->canvas.left) / w,
                    (v[4] - o->canvas.top) / h};
}

static double area(const region *r) {
    return r->right > r->left && r->bottom > r->top ? (r->right - r->left) * (r->bottom - r->top) : 0;
}

/* Area of the intersection. */
static double shared_area(const region *a, const region *b) {
    const region both = {
        fmax(a->left, b->left),
        fmax(a->top, b->top),
        fmin(a->right, b->right),
        fmin(a->bottom, b->bottom),
    };
    return area(&both);
}

/* ---- crops ------------------------------------------------------------------------------------------------------- */

/* The value of sampler i; the last one for samplers beyond the list. */
static double value_of(const mxc_floats *values, int64_t i) {
    return values->n == 0 ? 0 : values->value[i < values->n ? i : values->n - 1];
}

/* Is an object kept in a crop: is its centre in it, or enough of its area? */
static int is_kept(const mxci_augment_detection_params *p, const region *crop, const region *object) {
    double x = (object->left + object->right) / 2, y = (object->top + object->bottom) / 2;
    if (p->crop_emit_mode == MXCI_EMIT_CENTER)
        return x >= crop->left && x <= crop->right && y >= crop->top && y <= crop->bottom;
    return area(object) > 0 && shared_area(crop, object) > p->emit_overlap_thresh * area(object);
}

/* Does the crop satisfy the bounds of sampler k for at least one object (intersection over union, share of the crop,
 * share of the object), and does it keep at least one? Without objects, every crop does. */
static int is_accepted(const mxci_augment_detection_params *p, int64_t k, const region *crop, const objects *all) {
    int satisfied = 0, kept = 0;
    for (int64_t i = 0; i < all->n; i++) {
        region o = object_at(all, i);
        double both = shared_area(crop, &o), overlap = both / fmax(area(crop) + area(&o) - both, 1e-12);
        double of_crop = both / fmax(area(crop), 1e-12), of_object = both / fmax(area(&o), 1e-12);
        satisfied |= overlap >= value_of(&p->min_crop_overlaps, k) && overlap <= value_of(&p->max_crop_overlaps, k) &&
                     of_crop >= value_of(&p->min_crop_sample_coverages, k) &&
                     of_crop <= value_of(&p->max_crop_sample_coverages, k) &&
                     of_object >= value_of(&p->min_crop_object_coverages, k) &&
                     of_object <= value_of(&p->max_crop_object_coverages, k);
        kept |= is_kept(p, crop, &o);
    }
    return all->n == 0 || (satisfied && kept);
}

/* A random region of the canvas, within the scales and aspect ratios of sampler k. aspect: of the canvas, by which
 * ratios in pixels become ratios of relative sides. */
static region draw_region(const mxci_augment_detection_params *p, int64_t k, mxci_sample_rng *rng, double aspect) {
    double scale = mxci_sample_rng_between(rng, value_of(&p->min_crop_scales, k), value_of(&p->max_crop_scales, k));
    double low = fmax(value_of(&p->min_crop_aspect_ratios, k) / aspect, scale * scale);
    double high = fmin(value_of(&p->max_crop_aspect_ratios, k) / aspect, 1 / fmax(scale * scale, 1e-12));
    double side = sqrt(low < high ? mxci_sample_rng_between(rng, low, high) : fmin(fmax(high, scale * scale), low));
    double w = fmin(scale * side, 1), h = fmin(scale / side, 1);
    double left = mxci_sample_rng_between(rng, 0, 1 - w), top = mxci_sample_rng_between(rng, 0, 1 - h);
    return (region){left, top, left + w, top + h};
}

/* The crop of a random one of the samplers that found one within their trials; else the whole canvas. */
static region draw_crop(const mxci_augment_detection_params *p, mxci_sample_rng *rng, const objects *all,
                        double aspect) {
    region found = {0, 0, 1, 1};
    int64_t n = 0;
    if (mxci_sample_rng_unit(rng) >= p->rand_crop_prob)
        return found;
    const mxc_tuple *limits = &p->max_crop_trials;
    for (int64_t k = 0; k < p->num_crop_sampler; k++) {
        int64_t trials = limits->n <= 0 ? 0 : limits->value[k < limits->n ? k : limits->n - 1];
        for (int64_t trial = 0; trial < trials; trial++) {
            region crop = draw_region(p, k, rng, aspect);
            if (area(&crop) > 0 && is_accepted(p, k, &crop, all)) {
                if (mxci_sample_rng_int(rng, 0, n++) ==
                    0) /* reservoir sampling: each of the n found is equally likely */
                    found = crop;
                break;
            }
        }
    }
    return found;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* A larger canvas around the image with probability rand_pad_prob, as a warp that shifts it by an integer number of
 * pixels. */
static mxc_status draw_canvas(const mxci_augment *a, const mxci_augment_detection_params *p, const char *source_name,
                              mxci_sample_rng *rng, int64_t h, int64_t w, mxci_augment_steps *out, objects *all) {
    double scale = mxci_sample_rng_unit(rng) < p->rand_pad_prob ? mxci_sample_rng_between(rng, 1, p->max_pad_scale) : 1;
    out->warped_h = (int64_t)(scale * (double)h);
    out->warped_w = (int64_t)(scale * (double)w);
    out->warps = out->warped_h > h || out->warped_w > w;
    if (!out->warps)
        return MXC_OK;
    if (out->warped_w > a->params->max_pixels / out->warped_h)
        return MXC_FAIL(MXC_EFORMAT, "%s: a canvas of %lld x %lld pixels, expected at most %lld in all", source_name,
                        (long long)out->warped_h, (long long)out->warped_w, (long long)a->params->max_pixels);
    double top = (double)mxci_sample_rng_int(rng, 0, out->warped_h - h);
    double left = (double)mxci_sample_rng_int(rng, 0, out->warped_w - w);
    memcpy(out->warp, (const double[6]){1, 0, -left, 0, 1, -top}, sizeof out->warp);
    if (all->mirror) /* labels are mirrored first, but the image last, so the canvas extends on the other side */
        out->warp[2] = -(double)(out->warped_w - w) + left;
    all->canvas = (region){-left / (double)w, -top / (double)h, ((double)out->warped_w - left) / (double)w,
                           ((double)out->warped_h - top) / (double)h};
    return MXC_OK;
}

/* Round the crop outwards to pixels of the canvas; the region becomes exactly these pixels. */
static void set_crop(const objects *all, int64_t h, int64_t w, region *crop, mxci_augment_steps *out) {
    int64_t left = (int64_t)(crop->left * (double)w), top = (int64_t)(crop->top * (double)h);
    int64_t right = (int64_t)ceil(crop->right * (double)w), bottom = (int64_t)ceil(crop->bottom * (double)h);
    right = right > w ? w : right;
    bottom = bottom > h ? h : bottom;
    *crop = (region){(double)left / (double)w, (double)top / (double)h, (double)right / (double)w,
                     (double)bottom / (double)h};
    out->crop_w = right - left;
    out->crop_h = bottom - top;
    out->crop_x = all->mirror ? w - right : left;
    out->crop_y = top;
}

/* The size to which the crop is resized in the batch. */
static void fit_to_batch(const mxci_augment *a, int resize_mode, mxci_augment_steps *out) {
    const int64_t h = out->crop_h, w = out->crop_w;
    if (resize_mode == MXCI_RESIZE_FORCE)
        return;
    if (resize_mode == MXCI_RESIZE_SHRINK && h <= a->height && w <= a->width) {
        out->placed_h = h;
        out->placed_w = w;
    } else if (w * a->height <= h * a->width) {
        out->placed_w = w * a->height / h > 1 ? w * a->height / h : 1;
    } else {
        out->placed_h = h * a->width / w > 1 ? h * a->width / w : 1;
    }
}

static double draw_shift(mxci_sample_rng *rng, double limit, double probability) {
    double x = mxci_sample_rng_between(rng, -limit, limit);
    return mxci_sample_rng_unit(rng) < probability ? x : 0;
}

/* Both numbers of each change are always drawn, so that a probability does not change the numbers of later steps. */
static void draw_colours(const mxci_augment *a, const mxci_augment_detection_params *p, mxci_sample_rng *rng,
                         mxci_augment_steps *out) {
    out->hls_shift[0] = (float)draw_shift(rng, (double)p->max_random_hue, p->random_hue_prob);
    out->hls_shift[1] = (float)draw_shift(rng, (double)p->max_random_illumination, p->random_illumination_prob);
    out->hls_shift[2] = (float)draw_shift(rng, (double)p->max_random_saturation, p->random_saturation_prob);
    out->changes_hls = a->channels >= 3 && (out->hls_shift[0] != 0 || out->hls_shift[1] != 0 || out->hls_shift[2] != 0);
    out->brightness = 1 + draw_shift(rng, p->max_random_contrast, p->random_contrast_prob);
    out->contrast = out->saturation = 1; /* MXNet's contrast is a factor */
    out->changes_rgb = a->channels >= 3 && out->brightness != 1;
    out->value_contrast = 1;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static float augment_detection_within(double x) {
    return (float)(x < 0 ? 0 : x > 1 ? 1 : x);
}

/* The label row: its header, the header of the labels, the objects that are kept, relative to the crop, and padding. */
static void write_labels(const mxci_augment *a, const mxci_augment_detection_params *p, const mxci_augment_steps *steps,
                         const objects *all, const region *crop, float *row) {
    const double w = crop->right - crop->left, h = crop->bottom - crop->top;
    int64_t n = all->header, room = a->params->label_width;
    float *to = row + MXCI_AUGMENT_DETECTION_HEADER;
    memcpy(to, all->labels, sizeof *to * (size_t)n);
    for (int64_t i = 0; i < all->n; i++) {
        const region o = object_at(all, i);
        if (!is_kept(p, crop, &o) && (w < 1 || h < 1))
            continue;
        memcpy(to + n, all->labels + all->header + i * all->width, sizeof *to * (size_t)all->width);
        to[n + 1] = augment_detection_within((o.left - crop->left) / w);
        to[n + 2] = augment_detection_within((o.top - crop->top) / h);
        to[n + 3] = augment_detection_within((o.right - crop->left) / w);
        to[n + 4] = augment_detection_within((o.bottom - crop->top) / h);
        n += all->width;
    }
    memcpy(row, (const float[]){(float)a->channels, (float)steps->placed_h, (float)steps->placed_w, (float)n},
           sizeof *row * MXCI_AUGMENT_DETECTION_HEADER);
    for (int64_t i = MXCI_AUGMENT_DETECTION_HEADER + n; i < room; i++)
        row[i] = (float)p->label_pad_value;
}

mxc_status mxci_augment_detection_draw(const mxci_augment *a, const mxci_augment_detection_params *p,
                                       const char *source_name, mxci_sample_rng *rng, int64_t h, int64_t w,
                                       const float *labels, int64_t n, mxci_augment_steps *out, float *row) {
    objects all;
    MXC_TRY(mxci_augment_draw_common(a, source_name, rng, &h, &w, out));
    MXC_TRY(parse_objects(source_name, labels, n, &all));
    all.mirror = out->mirror = mxci_sample_rng_unit(rng) < p->rand_mirror_prob;
    MXC_TRY(draw_canvas(a, p, source_name, rng, h, w, out, &all));
    out->grown_h = out->warped_h;
    out->grown_w = out->warped_w;
    region crop = draw_crop(p, rng, &all, (double)out->grown_w / (double)out->grown_h);
    set_crop(&all, out->grown_h, out->grown_w, &crop, out);
    if (out->crop_h > a->params->max_pixels / a->width)
        return MXC_FAIL(MXC_EFORMAT, "%s: a crop of %lld x %lld pixels is too high to be resized to a width of %lld",
                        source_name, (long long)out->crop_h, (long long)out->crop_w, (long long)a->width);
    fit_to_batch(a, p->resize_mode, out);
    draw_colours(a, p, rng, out);
    write_labels(a, p, out, &all, &crop, row);
    return MXC_OK;
}

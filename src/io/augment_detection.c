/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans for images with objects. The canvas is a region of the plane in shares of the image: it may be larger than the
 * image (then it is filled around it) and is then cropped. Objects are put into a crop's shares when it is chosen.
 */
#include "io/augment_detection.h"

#include <math.h>
#include <string.h>

typedef struct region {
    double left, top, right, bottom;
} region;

/* The objects of one image, borrowed. */
typedef struct objects {
    const float *labels;
    int64_t head, width, n;
    int mirror;
    region canvas; /* in shares of the image */
} objects;

static mxc_status take_objects(const char *source_name, const float *labels, int64_t n, objects *out) {
    int64_t head = n > 0 && labels[0] >= 2 && labels[0] <= (float)n ? (int64_t)labels[0] : 0;
    int64_t width = head && labels[1] >= 5 && labels[1] <= 1e6f ? (int64_t)labels[1] : 0;
    if (!width || (n - head) % width != 0)
        return MXC_FAIL(MXC_EFORMAT,
                        "%s: %lld labels that are not a head's width, an object's width (5 or more), and "
                        "objects",
                        source_name, (long long)n);
    *out = (objects){.labels = labels, .head = head, .width = width, .n = (n - head) / width, .canvas = {0, 0, 1, 1}};
    return MXC_OK;
}

/* Object i in shares of the canvas. */
static region object_at(const objects *o, int64_t i) {
    const float *v = o->labels + o->head + i * o->width;
    double left = o->mirror ? 1 - v[3] : v[1], right = o->mirror ? 1 - v[1] : v[3];
    double w = o->canvas.right - o->canvas.left, h = o->canvas.bottom - o->canvas.top;
    return (region){(left - o->canvas.left) / w, (v[2] - o->canvas.top) / h, (right - o->canvas.left) / w,
                    (v[4] - o->canvas.top) / h};
}

static double area(const region *r) {
    return r->right > r->left && r->bottom > r->top ? (r->right - r->left) * (r->bottom - r->top) : 0;
}

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

static double value_of(const mxc_floats *values, int64_t i) {
    return values->n == 0 ? 0 : values->value[i < values->n ? i : values->n - 1];
}

static int is_kept(const mxci_augment_detection_params *p, const region *crop, const region *object) {
    double x = (object->left + object->right) / 2, y = (object->top + object->bottom) / 2;
    if (p->crop_emit_mode == MXCI_EMIT_CENTER)
        return x >= crop->left && x <= crop->right && y >= crop->top && y <= crop->bottom;
    return area(object) > 0 && shared_area(crop, object) > p->emit_overlap_thresh * area(object);
}

/* Is one of the objects in the crop as sampler k asks for, and one kept? */
static int crop_suits(const mxci_augment_detection_params *p, int64_t k, const region *crop, const objects *all) {
    int suited = 0, kept = 0;
    for (int64_t i = 0; i < all->n; i++) {
        region o = object_at(all, i);
        double both = shared_area(crop, &o), overlap = both / fmax(area(crop) + area(&o) - both, 1e-12);
        double of_crop = both / fmax(area(crop), 1e-12), of_object = both / fmax(area(&o), 1e-12);
        suited |= overlap >= value_of(&p->min_crop_overlaps, k) && overlap <= value_of(&p->max_crop_overlaps, k) &&
                  of_crop >= value_of(&p->min_crop_sample_coverages, k) &&
                  of_crop <= value_of(&p->max_crop_sample_coverages, k) &&
                  of_object >= value_of(&p->min_crop_object_coverages, k) &&
                  of_object <= value_of(&p->max_crop_object_coverages, k);
        kept |= is_kept(p, crop, &o);
    }
    return all->n == 0 || (suited && kept);
}

/* A region of a share of the sides and an aspect that sampler k allows, anywhere within a canvas of an aspect. */
static region draw_region(const mxci_augment_detection_params *p, int64_t k, mxci_sample_rng *rng, double aspect) {
    double scale = mxci_sample_rng_between(rng, value_of(&p->min_crop_scales, k), value_of(&p->max_crop_scales, k));
    double low = fmax(value_of(&p->min_crop_aspect_ratios, k) / aspect, scale * scale);
    double high = fmin(value_of(&p->max_crop_aspect_ratios, k) / aspect, 1 / fmax(scale * scale, 1e-12));
    double side = sqrt(low < high ? mxci_sample_rng_between(rng, low, high) : fmin(fmax(high, scale * scale), low));
    double w = fmin(scale * side, 1), h = fmin(scale / side, 1);
    double left = mxci_sample_rng_between(rng, 0, 1 - w), top = mxci_sample_rng_between(rng, 0, 1 - h);
    return (region){left, top, left + w, top + h};
}

static int64_t trials_of(const mxci_augment_detection_params *p, int64_t k) {
    const mxc_tuple *t = &p->max_crop_trials;
    return t->n <= 0 ? 0 : t->value[k < t->n ? k : t->n - 1];
}

/* One of the samplers' crops, if any of them found one; else the whole canvas. */
static region draw_crop(const mxci_augment_detection_params *p, mxci_sample_rng *rng, const objects *all,
                        double aspect) {
    region found = {0, 0, 1, 1};
    int64_t n = 0;
    if (mxci_sample_rng_unit(rng) >= p->rand_crop_prob)
        return found;
    for (int64_t k = 0; k < p->num_crop_sampler; k++)
        for (int64_t trial = 0; trial < trials_of(p, k); trial++) {
            region crop = draw_region(p, k, rng, aspect);
            if (area(&crop) > 0 && crop_suits(p, k, &crop, all)) {
                if (mxci_sample_rng_int(rng, 0, n++) == 0) /* each is as likely in the end */
                    found = crop;
                break;
            }
        }
    return found;
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* A canvas of whole pixels around the image, as a warp that moves it by whole pixels. */
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
    if (all->mirror) /* of the image, before; the plan mirrors at the end */
        out->warp[2] = -(double)(out->warped_w - w) + left;
    all->canvas = (region){-left / (double)w, -top / (double)h, ((double)out->warped_w - left) / (double)w,
                           ((double)out->warped_h - top) / (double)h};
    return MXC_OK;
}

/* To whole pixels of the canvas; then the region is just these. */
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

/* The size of the crop in the batch. */
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

static double draw_change(mxci_sample_rng *rng, double limit, double probability) {
    double x = mxci_sample_rng_between(rng, -limit, limit);
    return mxci_sample_rng_unit(rng) < probability ? x : 0;
}

static void draw_colours(const mxci_augment *a, const mxci_augment_detection_params *p, mxci_sample_rng *rng,
                         mxci_augment_steps *out) {
    out->hls_shift[0] = (float)draw_change(rng, (double)p->max_random_hue, p->random_hue_prob);
    out->hls_shift[1] = (float)draw_change(rng, (double)p->max_random_illumination, p->random_illumination_prob);
    out->hls_shift[2] = (float)draw_change(rng, (double)p->max_random_saturation, p->random_saturation_prob);
    out->changes_hls = a->channels >= 3 && (out->hls_shift[0] != 0 || out->hls_shift[1] != 0 || out->hls_shift[2] != 0);
    out->brightness = 1 + draw_change(rng, p->max_random_contrast, p->random_contrast_prob);
    out->contrast = out->saturation = 1; /* MXNet's contrast is a factor */
    out->changes_rgb = a->channels >= 3 && out->brightness != 1;
    out->value_contrast = 1;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static float augment_detection_within(double x) {
    return (float)(x < 0 ? 0 : x > 1 ? 1 : x);
}

/* Head, and the objects that are kept, in shares of the crop. */
static void put_labels(const mxci_augment *a, const mxci_augment_detection_params *p, const mxci_augment_steps *steps,
                       const objects *all, const region *crop, float *row) {
    const double w = crop->right - crop->left, h = crop->bottom - crop->top;
    int64_t n = all->head, room = a->params->label_width;
    float *to = row + MXCI_AUGMENT_DETECTION_HEADER;
    memcpy(to, all->labels, sizeof *to * (size_t)n);
    for (int64_t i = 0; i < all->n; i++) {
        const region o = object_at(all, i);
        if (!is_kept(p, crop, &o) && (w < 1 || h < 1))
            continue;
        memcpy(to + n, all->labels + all->head + i * all->width, sizeof *to * (size_t)all->width);
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
    MXC_TRY(take_objects(source_name, labels, n, &all));
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
    put_labels(a, p, out, &all, &crop, row);
    return MXC_OK;
}

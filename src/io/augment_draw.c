/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing the steps of the augmentation of one image; checks of its parameters, and the mean image. Applying them is
 * in augment.c. */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "base/sys.h"
#include "image/resample_kernels.h"
#include "io/augment.h"

enum { AUTO = 9, ANY = 10, TRIALS = 10 };

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static mxc_status check_range(const char *owner, const char *name, double low, double high) {
    return low <= high ? MXC_OK
                       : MXC_FAIL(MXC_EINVAL, "%s: min_%s %g is above max_%s %g", owner, name, low, name, high);
}

static mxc_status augment_draw_check_params(const char *owner, const mxci_image_params *p) {
    const int64_t channels = p->data_shape.n == 3 ? p->data_shape.value[0] : 0;
    if (channels != 1 && channels != 3 && channels != 4)
        return MXC_FAIL(MXC_EINVAL, "%s: data_shape must be (channels,height,width) of 1, 3 or 4 channels", owner);
    if (strcmp(p->aug_seq, "aug_default") != 0)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: aug_seq \"%s\", expected \"aug_default\"", owner, p->aug_seq);
    if (p->resize == 0 || p->max_crop_size == 0 || p->min_crop_size == 0)
        return MXC_FAIL(MXC_EINVAL, "%s: resize, max_crop_size and min_crop_size are -1 or at least 1", owner);
    if ((p->max_crop_size > 0) != (p->min_crop_size > 0))
        return MXC_FAIL(MXC_EINVAL, "%s: max_crop_size and min_crop_size go together", owner);
    if (p->inter_method > MXCI_LANCZOS && p->inter_method < AUTO)
        return MXC_FAIL(MXC_EINVAL, "%s: inter_method %lld, expected 0 to 4, 9 or 10", owner,
                        (long long)p->inter_method);
    if (isnan(p->min_aspect_ratio) && p->max_aspect_ratio >= 1)
        return MXC_FAIL(MXC_EINVAL, "%s: max_aspect_ratio %g without min_aspect_ratio, expected less than 1", owner,
                        p->max_aspect_ratio);
    if (!isnan(p->min_aspect_ratio))
        MXC_TRY(check_range(owner, "aspect_ratio", p->min_aspect_ratio, p->max_aspect_ratio));
    MXC_TRY(check_range(owner, "crop_size", (double)p->min_crop_size, (double)p->max_crop_size));
    MXC_TRY(check_range(owner, "random_scale", p->min_random_scale, p->max_random_scale));
    MXC_TRY(check_range(owner, "img_size", p->min_img_size, p->max_img_size));
    return check_range(owner, "random_area", p->min_random_area, p->max_random_area);
}

static mxc_status copy_mean(const char *owner, mxci_augment *a, const mxc_ndarray_list *list) {
    const mxc_shape want = {3, {a->channels, a->height, a->width}};
    size_t bytes = mxci_shape_bytes(&want, sizeof(float));
    if (list->n != 1 || !list->arrays[0] || !mxc_shape_equal(mxc_ndarray_shape(list->arrays[0]), &want) ||
        mxc_ndarray_dtype(list->arrays[0]) != MXC_F32)
        return MXC_FAIL(MXC_EFORMAT, "%s: mean_img %s must hold one float32 array of data_shape", owner,
                        a->params->mean_img);
    a->mean = mxci_alloc(bytes);
    if (!a->mean)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the mean image", owner);
    return mxc_ndarray_get(list->arrays[0], a->mean, bytes);
}

mxc_status mxci_augment_create(const char *owner, const mxci_image_params *params, mxci_augment *out) {
    *out = (mxci_augment){.params = params};
    MXC_TRY(augment_draw_check_params(owner, params));
    out->channels = params->data_shape.value[0];
    out->height = params->data_shape.value[1];
    out->width = params->data_shape.value[2];
    out->dtype = params->dtype == MXC_DTYPE_UNKNOWN ? MXC_F32 : (mxc_dtype)params->dtype;
    if (out->dtype != MXC_F32 && out->dtype != MXC_F16 && out->dtype != MXC_U8 && out->dtype != MXC_I8)
        return MXC_FAIL(MXC_EDTYPE, "%s: dtype %s, expected float32, float16, int8 or uint8", owner,
                        mxc_dtype_name(out->dtype));
    if (!params->mean_img[0])
        return MXC_OK;
    mxc_ndarray_list list;
    MXC_TRY(mxc_ndarray_load(params->mean_img, &list));
    mxc_status status = copy_mean(owner, out, &list);
    mxc_ndarray_list_release(&list);
    return status;
}

void mxci_augment_destroy(mxci_augment *augment) {
    mxci_free(augment->mean);
    *augment = (mxci_augment){0};
}

/* ---- for each image ---------------------------------------------------------------------------------------------- */

/* One image: its random generator, and its size h x w after the steps drawn so far. */
typedef struct drawing {
    const mxci_image_params *p;
    const char *source_name;
    mxci_sample_rng *rng;
    int64_t h, w;
} drawing;

/* Uniform in [low, high), or low. No number is drawn for an empty range, so that a step that is off does not change
 * the numbers of the others. */
static double between(const drawing *d, double low, double high) {
    return low < high ? mxci_sample_rng_between(d->rng, low, high) : low;
}

static mxc_status set_size(drawing *d, double h, double w, const char *step) {
    if (h * w > (double)d->p->max_pixels)
        return MXC_FAIL(MXC_EFORMAT, "%s: %lld x %lld pixels are %.0f x %.0f %s, expected at most %lld in all",
                        d->source_name, (long long)d->h, (long long)d->w, h, w, step, (long long)d->p->max_pixels);
    d->h = h < 1 ? 1 : (int64_t)h;
    d->w = w < 1 ? 1 : (int64_t)w;
    return MXC_OK;
}

/* The shorter side to resize, the other in proportion. */
static mxc_status draw_resize(drawing *d, mxci_augment_steps *out) {
    double side = (double)d->p->resize, h = (double)d->h, w = (double)d->w;
    if (d->p->resize > 0)
        MXC_TRY(set_size(d, h < w ? side : floor(side * h / w), h < w ? floor(side * w / h) : side, "resized"));
    out->resized_h = d->h;
    out->resized_w = d->w;
    return MXC_OK;
}

/* Does any parameter ask for rotation, shear, scale or a change of the aspect ratio? */
static int needs_warp(const mxci_image_params *p) {
    return p->max_rotate_angle > 0 || p->rotate > 0 || p->rotate_list.n > 0 || p->max_shear_ratio > 0 ||
           p->max_random_scale != 1 || p->min_random_scale != 1 || p->max_img_size != 1e10 || p->min_img_size != 0 ||
           (!p->random_resized_crop && (p->max_aspect_ratio != 0 || !isnan(p->min_aspect_ratio)));
}

static double draw_angle(const drawing *d) {
    const mxci_image_params *p = d->p;
    int64_t degrees =
        p->max_rotate_angle > 0 ? mxci_sample_rng_int(d->rng, -p->max_rotate_angle, p->max_rotate_angle) : 0;
    if (p->rotate > 0)
        degrees = p->rotate;
    if (p->rotate_list.n > 0)
        degrees = p->rotate_list.value[mxci_sample_rng_int(d->rng, 0, p->rotate_list.n - 1)];
    return (double)degrees * M_PI / 180;
}

static double draw_aspect(const drawing *d) {
    const mxci_image_params *p = d->p;
    if (isnan(p->min_aspect_ratio))
        return between(d, 1 - p->max_aspect_ratio, 1 + p->max_aspect_ratio);
    return between(d, p->min_aspect_ratio, p->max_aspect_ratio);
}

static double augment_draw_within(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* The inverse of (x, y) -> (m0 x + m1 y, m2 x + m3 y), shifted so that it maps centre to centre. Returns 0 where there
 * is none. */
static int invert(const double m[4], int64_t h, int64_t w, int64_t new_h, int64_t new_w, double out[6]) {
    double det = m[0] * m[3] - m[1] * m[2];
    double x0 = ((double)new_w - m[0] * (double)w - m[1] * (double)h) / 2;
    double y0 = ((double)new_h - m[2] * (double)w - m[3] * (double)h) / 2;
    if (fabs(det) < 1e-9)
        return 0;
    out[0] = m[3] / det;
    out[1] = -m[1] / det;
    out[3] = -m[2] / det;
    out[4] = m[0] / det;
    out[2] = -out[0] * x0 - out[1] * y0;
    out[5] = -out[3] * x0 - out[4] * y0;
    return 1;
}

/* Width is scaled by scale * 2 ratio / (1 + ratio), height by scale * 2 / (1 + ratio), then sheared and rotated. The
 * size is the image's times scale. */
static mxc_status draw_warp(drawing *d, mxci_augment_steps *out) {
    const mxci_image_params *p = d->p;
    out->warps = needs_warp(p);
    if (!out->warps)
        return MXC_OK;
    double shear = between(d, -p->max_shear_ratio, p->max_shear_ratio), angle = draw_angle(d);
    double scale = between(d, p->min_random_scale, p->max_random_scale);
    double ratio = p->random_resized_crop ? 1 : draw_aspect(d);
    double high = 2 * scale / (1 + ratio), wide = ratio * high, a = cos(angle), b = sin(angle);
    const double m[4] = {high * a - shear * b * wide, high * b + shear * a * wide, -b * wide, a * wide};
    int64_t h = d->h, w = d->w;
    MXC_TRY(set_size(d, floor(augment_draw_within(scale * (double)h, p->min_img_size, p->max_img_size)),
                     floor(augment_draw_within(scale * (double)w, p->min_img_size, p->max_img_size)), "scaled"));
    if (!invert(m, h, w, d->h, d->w, out->warp))
        return MXC_FAIL(MXC_EFORMAT, "%s: nothing is left of the image at scale %g, aspect %g", d->source_name, scale,
                        ratio);
    out->warped_h = d->h;
    out->warped_w = d->w;
    return MXC_OK;
}

static mxc_status draw_pad(drawing *d, mxci_augment_steps *out) {
    out->pad = d->p->pad;
    return set_size(d, (double)(d->h + 2 * out->pad), (double)(d->w + 2 * out->pad), "padded");
}

/* The first row or column of a crop, 0 to room: at random, at start (-1: not given), or such that it is centred. */
static int64_t begin_crop(const drawing *d, int64_t room, int64_t start, int anywhere) {
    if (anywhere)
        return mxci_sample_rng_int(d->rng, 0, room);
    return start < 0 ? room / 2 : start < room ? start : room;
}

static void place_crop(const drawing *d, mxci_augment_steps *out, int64_t h, int64_t w, int anywhere) {
    out->crop_h = h;
    out->crop_w = w;
    out->crop_y = begin_crop(d, d->h - h, d->p->crop_y_start, anywhere);
    out->crop_x = begin_crop(d, d->w - w, d->p->crop_x_start, anywhere);
}

/* A random share of the area with a random aspect ratio (Szegedy et al. 2015, "Going deeper with convolutions",
 * section 6): the first of TRIALS draws that fits into the image, else the largest centred square. */
static void draw_share(const drawing *d, mxci_augment_steps *out) {
    const mxci_image_params *p = d->p;
    for (int trial = 0; trial < TRIALS; trial++) {
        double area = between(d, p->min_random_area, p->max_random_area) * (double)d->h * (double)d->w;
        double aspect = draw_aspect(d);
        int64_t h = (int64_t)rint(sqrt(area / aspect)), w = (int64_t)rint(sqrt(area * aspect));
        if (h >= 1 && w >= 1 && h <= d->h && w <= d->w) {
            place_crop(d, out, h, w, 1);
            return;
        }
    }
    int64_t side = d->h < d->w ? d->h : d->w;
    place_crop(d, out, side, side, 0);
}

static mxc_status draw_crop(const mxci_augment *a, drawing *d, mxci_augment_steps *out) {
    const mxci_image_params *p = d->p;
    int64_t side = p->max_crop_size > 0 ? mxci_sample_rng_int(d->rng, p->min_crop_size, p->max_crop_size) : 0;
    int64_t h = side ? side : a->height, w = side ? side : a->width;
    double up = fmax((double)h / (double)d->h, (double)w / (double)d->w);
    if (!p->random_resized_crop && up > 1) /* enlarge the image to at least the size of the crop */
        MXC_TRY(set_size(d, fmax((double)h, floor(up * (double)d->h)), fmax((double)w, floor(up * (double)d->w)),
                         "enlarged"));
    out->grown_h = d->h;
    out->grown_w = d->w;
    if (p->random_resized_crop)
        draw_share(d, out);
    else
        place_crop(d, out, h, w, p->rand_crop);
    if (out->crop_h > p->max_pixels / a->width) /* resized along the rows first, to crop_h x width pixels */
        return MXC_FAIL(MXC_EFORMAT, "%s: a crop of %lld x %lld pixels is too high to be resized to a width of %lld",
                        d->source_name, (long long)out->crop_h, (long long)out->crop_w, (long long)a->width);
    return MXC_OK;
}

/* A factor in [1 - limit, 1 + limit]. */
static double draw_factor(const drawing *d, double limit) {
    return between(d, 1 - limit, 1 + limit);
}

/* Noise along the principal components of the colours of ImageNet, with standard deviations of pca_noise times theirs
 * (Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional neural networks", 2012). */
static void draw_noise(const drawing *d, double noise[3]) {
    static const double deviation[3] = {55.46, 4.794, 1.148};
    static const double colour[3][3] = {
        {-0.5675, 0.7192, 0.4009},
        {-0.5808, -0.0045, -0.8140},
        {-0.5836, -0.6948, 0.4203},
    };
    for (int k = 0; k < 3; k++) {
        double size = d->p->pca_noise * mxci_sample_rng_normal(d->rng) * deviation[k];
        for (int c = 0; c < 3; c++)
            noise[c] += size * colour[c][k];
    }
}

/* Grey images have neither hue nor saturation, so their colours are not changed. */
static void draw_colours(const mxci_augment *a, const drawing *d, mxci_augment_steps *out) {
    const mxci_image_params *p = d->p;
    const double most[3] = {(double)p->random_h, (double)p->random_l, (double)p->random_s};
    out->mirror = p->mirror || (p->rand_mirror && mxci_sample_rng_unit(d->rng) < 0.5);
    out->changes_hls = a->channels >= 3 && (p->random_h || p->random_l || p->random_s);
    for (int k = 0; k < 3 && out->changes_hls; k++)
        out->hls_shift[k] = (float)between(d, -most[k], most[k]);
    out->changes_rgb =
        a->channels >= 3 && (p->brightness > 0 || p->contrast > 0 || p->saturation > 0 || p->pca_noise > 0);
    out->brightness = draw_factor(d, p->brightness);
    out->contrast = draw_factor(d, p->contrast);
    out->saturation = draw_factor(d, p->saturation);
    if (p->pca_noise > 0)
        draw_noise(d, out->noise);
    out->value_contrast = draw_factor(d, p->max_random_contrast);
    out->value_illumination = between(d, -p->max_random_illumination, p->max_random_illumination);
}

/* AUTO: by area for shrinking, cubic for enlarging. */
static int choose_interpolation(const mxci_augment *a, const drawing *d) {
    if (d->p->inter_method == ANY)
        return (int)mxci_sample_rng_int(d->rng, MXCI_NEAREST, MXCI_LANCZOS);
    if (d->p->inter_method == AUTO)
        return d->h >= a->height && d->w >= a->width ? MXCI_AREA : MXCI_CUBIC;
    return (int)d->p->inter_method;
}

mxc_status mxci_augment_draw_common(const mxci_augment *a, const char *source_name, mxci_sample_rng *rng, int64_t *h,
                                    int64_t *w, mxci_augment_steps *out) {
    drawing d = {a->params, source_name, rng, *h, *w};
    *out = (mxci_augment_steps){.placed_h = a->height, .placed_w = a->width};
    out->interpolation = choose_interpolation(a, &d);
    MXC_TRY(draw_resize(&d, out));
    *h = d.h;
    *w = d.w;
    return MXC_OK;
}

mxc_status mxci_augment_draw(const mxci_augment *a, const char *source_name, mxci_sample_rng *rng, int64_t h, int64_t w,
                             mxci_augment_steps *out) {
    MXC_TRY(mxci_augment_draw_common(a, source_name, rng, &h, &w, out));
    drawing d = {a->params, source_name, rng, h, w};
    MXC_TRY(draw_warp(&d, out));
    MXC_TRY(draw_pad(&d, out));
    MXC_TRY(draw_crop(a, &d, out));
    draw_colours(a, &d, out);
    return MXC_OK;
}

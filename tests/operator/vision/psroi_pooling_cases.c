/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_PSROIPooling and _contrib_DeformablePSROIPooling. */
#include <math.h>

#include "operator/cases.h"

/* One element of out: its place, and its region in elements of data. */
typedef struct place {
    int64_t r, plane, bin[2]; /* region, plane of out, row and column */
    double start[2], size[2]; /* along y and x */
    const double *from;       /* the plane of data that it reads; NULL: the sample does not exist */
    int64_t in[2];
} place;

static place place_of(const op_run *r, int64_t o) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim, pooled = out[2];
    place p = {o / (pooled * pooled) / out[1],
               o / (pooled * pooled) % out[1],
               {o / pooled % pooled, o % pooled},
               {0},
               {0},
               NULL,
               {in[2], in[3]}};
    const double *roi = r->in[1] + p.r * 5, scale = case_number(r, "spatial_scale", 1);
    int64_t groups = (int64_t)case_number(r, "group_size", 0), channel;
    groups = groups ? groups : pooled;
    channel = p.plane * groups * groups + p.bin[0] * groups / pooled * groups + p.bin[1] * groups / pooled;
    for (int k = 0; k < 2; k++) {
        p.start[k] = round(roi[2 - k]) * scale;
        p.size[k] = fmax((round(roi[4 - k]) + 1) * scale - p.start[k], 0.1);
    }
    if (roi[0] >= 0 && roi[0] < (double)in[0])
        p.from = r->in[0] + ((int64_t)roi[0] * in[1] + channel) * in[2] * in[3];
    return p;
}

/* Whether element i is in a bin along an axis: overlaps the open interval. */
static int is_in_bin(const place *p, int axis, int64_t pooled, int64_t i) {
    const double size = p->size[axis] / (double)pooled, low = (double)p->bin[axis] * size + p->start[axis];
    return i >= (int64_t)floor(low) && i < (int64_t)ceil((double)(p->bin[axis] + 1) * size + p->start[axis]);
}

static void ref_psroi(const op_run *r) {
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const place p = place_of(r, o);
        double sum = 0, count = 0;
        for (int64_t i = 0; i < p.in[0] * p.in[1] && p.from; i++)
            if (is_in_bin(&p, 0, r->out_shape[0].dim[2], i / p.in[1]) &&
                is_in_bin(&p, 1, r->out_shape[0].dim[2], i % p.in[1])) {
                sum += p.from[i];
                count++;
            }
        r->out[0][o] = count > 0 ? sum / count : 0;
    }
}

static double read_at(const place *p, double y, double x) {
    double sum = 0;
    for (int64_t i = 0; i < p->in[0] * p->in[1]; i++)
        sum +=
            p->from[i] * fmax(1 - fabs(y - (double)(i / p->in[1])), 0) * fmax(1 - fabs(x - (double)(i % p->in[1])), 0);
    return sum;
}

/* How far a bin moves along an axis. */
static double moved(const op_run *r, const place *p, int axis) {
    const int64_t pooled = r->out_shape[0].dim[2], *trans = r->in_shape[2].dim;
    const int64_t part = trans[2], classes = trans[1] / 2,
                  number = p->plane / (r->out_shape[0].dim[1] / classes) * 2 + !axis;
    const int64_t at =
        ((p->r * trans[1] + number) * part + p->bin[0] * part / pooled) * part + p->bin[1] * part / pooled;
    return r->in[2][at] * case_number(r, "trans_std", 0) * p->size[axis];
}

static void ref_deformable_psroi(const op_run *r) {
    const int64_t n = (int64_t)case_number(r, "sample_per_part", 1);
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const place p = place_of(r, o);
        double sum = 0, count = 0;
        for (int64_t i = 0; i < n * n && p.from; i++) {
            double at[2];
            int inside = 1;
            for (int k = 0; k < 2; k++) {
                const double size = p.size[k] / (double)r->out_shape[0].dim[2];
                at[k] = (double)p.bin[k] * size + p.start[k] - 0.5 + (double)(k ? i % n : i / n) * size / (double)n;
                at[k] += r->n_in > 2 ? moved(r, &p, k) : 0;
                inside &= at[k] >= -0.5 && at[k] <= (double)p.in[k] - 0.5;
                at[k] = fmin(fmax(at[k], 0), (double)(p.in[k] - 1));
            }
            sum += inside ? read_at(&p, at[0], at[1]) : 0;
            count += inside;
        }
        r->out[0][o] = count > 0 ? sum / count : 0;
    }
}

#define POOL(given, shapes)                                                                                  \
    {                                                                                                        \
        .op = "_contrib_PSROIPooling", .params = given, .in = shapes, .reference = ref_psroi, .constant = 2, \
        .tolerance = 4                                                                                       \
    }
#define DEFORM(given, shapes)                                                                                      \
    {                                                                                                              \
        .op = "_contrib_DeformablePSROIPooling", .params = given, .in = shapes, .reference = ref_deformable_psroi, \
        .constant = 2, .tolerance = 8                                                                              \
    }

static const op_case cases[] = {
    POOL("spatial_scale=1 output_dim=2 pooled_size=2 group_size=2",
         "3x8x5x6 6x5@0:3i; 2x8x3x3 7x5; 1x8x2x2 1x5; 1x8x1x7 3x5; 1x8x7x1 3x5; 2x8x2x2 65x5; 2x8x17x3 3x5; 2x8x3x3 "
         "0x5; "
         "0x8x3x3 2x5; 2x8x0x3 3x5; 4x8x9x9 12x5@-3:12i"),
    POOL("spatial_scale=0.5 output_dim=1 pooled_size=3", "2x9x7x6 9x5@0:12i; 1x9x4x4 4x5; 3x9x5x3 5x5"),
    POOL("spatial_scale=0.25 output_dim=3 pooled_size=4 group_size=2", "2x12x6x6 8x5@0:20i; 1x12x3x3 2x5"),
    POOL("spatial_scale=1 output_dim=2 pooled_size=1", "2x2x4x5 5x5@0:4; 1x2x1x1 3x5; 3x2x6x6 4x5; 1x2x5x4 1x5"),
    FAILS("_contrib_PSROIPooling", "spatial_scale=1 pooled_size=2", "1x4x3x3 1x5", MXC_EINVAL, "output_dim"),
    FAILS("PSROIPooling", "spatial_scale=1 output_dim=1 pooled_size=2", "1x5x3x3 1x5", MXC_ESHAPE, "argument 'data'"),
    FAILS("PSROIPooling", "spatial_scale=1 output_dim=1 pooled_size=2", "1x4x3x3 1x6", MXC_ESHAPE, "argument 'rois'"),
    INFERS("PSROIPooling", "spatial_scale=1 output_dim=3 pooled_size=2",
           "1x?x4x4,? -> 6x?x?x? => 1x12x4x4,6x5 -> 6x3x2x2"),
    DEFORM("spatial_scale=1 output_dim=2 pooled_size=2 group_size=2 sample_per_part=2 trans_std=0.13",
           "3x8x5x5 6x5@0:3i 6x2x2x2@-1:1.017; 2x8x3x3 7x5 7x4x2x2; 1x8x2x2 1x5 1x2x2x2; 1x8x1x7 3x5 3x2x2x2; "
           "1x8x7x1 3x5 3x4x2x2; 2x8x2x2 33x5 33x2x2x2; 2x8x17x3 3x5 3x2x2x2; 2x8x3x3 0x5 0x2x2x2; "
           "0x8x3x3 2x5 2x2x2x2; 2x8x0x3 3x5 3x2x2x2; 4x8x9x9 12x5@-3:12i 12x4x2x2"),
    DEFORM("spatial_scale=0.5 output_dim=2 pooled_size=4 group_size=2 part_size=2 sample_per_part=3 trans_std=0.1",
           "2x8x6x6 5x5@0:11i 5x4x2x2@-1:1.017; 1x8x4x4 2x5 2x2x2x2"),
    DEFORM("spatial_scale=1 output_dim=2 pooled_size=2 group_size=2 sample_per_part=2 no_trans=true",
           "3x8x5x5 6x5@0:3i; 2x8x3x3 7x5; 1x8x2x2 1x5; 1x8x1x7 3x5; 2x8x4x6 2x5"),
    DEFORM("spatial_scale=0.5 output_dim=1 pooled_size=3 group_size=3",
           "2x9x5x6 9x5@0:12i 9x2x3x3; 1x9x4x4 4x5 4x2x3x3"),
    FAILS("_contrib_DeformablePSROIPooling", "spatial_scale=1 output_dim=2 pooled_size=2 group_size=1",
          "1x2x3x3 1x5 1x3x2x2", MXC_ESHAPE, "argument 'trans': axis 1 has 3 elements"),
    FAILS("DeformablePSROIPooling", "spatial_scale=1 output_dim=2 pooled_size=2 group_size=1", "1x2x3x3 1x5 2x2x2x2",
          MXC_ESHAPE, "argument 'trans'"),
    INFERS("DeformablePSROIPooling", "spatial_scale=1 output_dim=3 pooled_size=2 group_size=2 part_size=3",
           "1x?x4x4,?,6x2x?x? -> ? => 1x12x4x4,6x5,6x2x3x3 -> 6x3x2x2"),
};

MXC_CASES(vision_psroi_pooling_cases, cases);

#include "operator/kernels/proposal.h"

#include <math.h>
#include <string.h>

#include "operator/kernels/boxes.h"

/* In f32 whatever the arrays are, so that sizes are rounded alike. */
static void make_anchor(float stride, float ratio, float scale, float *box) {
    float width = floorf(sqrtf(floorf(stride * stride / ratio)) + 0.5f) * scale;
    float height = floorf(width / scale * ratio + 0.5f) * scale, centre = 0.5f * (stride - 1);
    box[0] = centre - 0.5f * (width - 1);
    box[1] = centre - 0.5f * (height - 1);
    box[2] = centre + 0.5f * (width - 1);
    box[3] = centre + 0.5f * (height - 1);
}

int64_t mxci_proposal_anchors(double stride, int n_ratios, const double *ratios, int n_scales, const double *scales,
                              float (*anchor)[4]) {
    for (int i = 0; i < n_ratios; i++)
        for (int k = 0; k < n_scales; k++)
            make_anchor((float)stride, (float)ratios[i], (float)scales[k], anchor[i * n_scales + k]);
    return (int64_t)n_ratios * n_scales;
}

#define T float
#define DTYPE MXC_F32
#define NAME(x) x##_f32
#include "operator/kernels/proposal.inc"
#undef T
#undef DTYPE
#undef NAME

#define T double
#define DTYPE MXC_F64
#define NAME(x) x##_f64
#include "operator/kernels/proposal.inc"

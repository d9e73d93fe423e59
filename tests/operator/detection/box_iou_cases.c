/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_box_iou. */
#include "operator/detection/detection_reference.h"

static void ref_iou(const op_run *r) {
    int64_t n = case_size(&r->in_shape[1]) / 4;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++)
        r->out[0][o] = case_box_overlap(r->in[0] + o / n * 4, r->in[1] + o % n * 4, case_is(r, "format", "center"));
}

#define IOU(given, shapes) \
    { .op = "_contrib_box_iou", .params = given, .in = shapes, .reference = ref_iou, .constant = 3, .tolerance = 4 }

static const op_case cases[] = {
    IOU("", "12x4@0:1 9x4@0:1; 1x4 1x4; 7x4 1x4; 1x4 7x4; 65x4 3x4; 2x3x4 5x4; 3x4 2x3x4; 4 4; 2x1x2x4 3x4; "
            "17x4 33x4; 0x4 0x4; 2x2x4 2x2x4; 5x4 129x4"),
    IOU("format=center", "2x5x4@0:1 3x4@0:1"),
    IOU("", "4@0:1 2x3x2x4@0:1"),
    IOU("", "40x4@0:1 4@0:1"),
    IOU("", "1x4@0:3i 30x4@0:3i"),
    IOU("format=corner", "60x4@0:1 70x4@0:1"),
    IOU("", "0x4 3x4"),
    IOU("", "2x4 0x4"),
    FAILS("_contrib_box_iou", "", "2x5 3x4", MXC_ESHAPE, "argument 'lhs'"),
    FAILS("box_iou", "", "2x4 3x3", MXC_ESHAPE, "argument 'rhs'"),
    FAILS("box_iou", "", "2x4 s", MXC_ESHAPE, "argument 'rhs': expected boxes, found a scalar"),
    FAILS("box_iou", "", "1x1x1x1x4 1x1x1x1x1x4", MXC_ESHAPE, "do not fit arguments of 5 and 6 axes"),
    FAILS("box_iou", "format=edge", "2x4 3x4", MXC_EINVAL, "format"),
    INFERS("box_iou", "", "?x4,2x? -> 5x? => 5x4,2x4 -> 5x2"),
    INFERS("box_iou", "", "3x4,? -> ?x5x6 => 3x4,5x6x4 -> 3x5x6"),
};

MXC_CASES(detection_box_iou_cases, cases);

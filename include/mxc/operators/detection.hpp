/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family detection as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_DETECTION_HPP
#define MXC_OPERATORS_DETECTION_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Detections of a single-shot detector: out (N,A,6) with rows (class, score, left, top, right, bottom) in descending
 * order of score, decoded from anchor (1,A,4) and offsets loc_pred (N,4*A), with the best class of cls_prob (N,C,A);
 * class -1: background or suppressed */
struct contrib_MultiBoxDetection_settings {
    /** boolean, optional, default=true. Clip boxes to the image, coordinates 0 to 1. */
    bool clip = true;
    /** float, optional, default=0.01. Minimum score of a detection. Boxes below it are background. */
    double threshold = 0.01;
    /** int, optional, default=0. Accepted for compatibility with MXNet; has no effect, the background is class 0. */
    int64_t background_id = 0;
    /** float, optional, default=0.5. Intersection over union with a better box from which on a box is suppressed. */
    double nms_threshold = 0.5;
    /** boolean, optional, default=false. Suppress boxes across classes; otherwise only boxes of the same class suppress
     * each other. */
    bool force_suppress = false;
    /** tuple of float, optional, default=(0.1,0.1,0.2,0.2). Scale factors of the predicted offsets in x, y, width and
     * height. */
    floats variances = floats{0.1, 0.1, 0.2, 0.2};
    /** int, optional, default=-1. Number of best boxes that suppression considers. 0 or below: all. */
    int64_t nms_topk = -1;
    static constexpr const char *op = "_contrib_MultiBoxDetection";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("clip", clip, true);
        visitor("threshold", threshold, 0.01);
        visitor("background_id", background_id, 0);
        visitor("nms_threshold", nms_threshold, 0.5);
        visitor("force_suppress", force_suppress, false);
        visitor("variances", variances, floats{0.1, 0.1, 0.2, 0.2});
        visitor("nms_topk", nms_topk, -1);
    }
    static constexpr size_t count = 7, text_bytes = 2247; /* room for visit */
};
inline ndarray contrib_MultiBoxDetection(const ndarray &cls_prob, const ndarray &loc_pred, const ndarray &anchor,
    const contrib_MultiBoxDetection_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&cls_prob, &loc_pred, &anchor});
}
inline void contrib_MultiBoxDetection(into out, const ndarray &cls_prob, const ndarray &loc_pred, const ndarray &anchor,
    const contrib_MultiBoxDetection_settings &settings = {}) {
    detail::invoke_into(out, settings, {&cls_prob, &loc_pred, &anchor});
}
inline symbol contrib_MultiBoxDetection(const symbol &cls_prob, const symbol &loc_pred, const symbol &anchor,
    const contrib_MultiBoxDetection_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"cls_prob", "loc_pred", "anchor"}, {&cls_prob, &loc_pred, &anchor});
}

/** Anchor boxes: out (1,h*w*K,4) with K = number of sizes + number of ratios - 1 boxes (left, top, right, bottom;
 * coordinates 0 to 1) centred at each position of data (N,C,h,w) */
struct contrib_MultiBoxPrior_settings {
    /** tuple of float, optional, default=(1). Heights of the boxes with the first aspect ratio, as a fraction of the
     * image height. */
    floats sizes = floats{1};
    /** tuple of float, optional, default=(1). Aspect ratios, width over height. */
    floats ratios = floats{1};
    /** boolean, optional, default=false. Clip boxes to the image. */
    bool clip = false;
    /** tuple of float, optional, default=(-1,-1). Distance between neighbouring positions along y and x, as a fraction
     * of the image. -1: 1 / h and 1 / w. */
    floats steps = floats{-1, -1};
    /** tuple of float, optional, default=(0.5,0.5). Offset of the first position along y and x, in steps. */
    floats offsets = floats{0.5, 0.5};
    static constexpr const char *op = "_contrib_MultiBoxPrior";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("sizes", sizes, floats{1});
        visitor("ratios", ratios, floats{1});
        visitor("clip", clip, false);
        visitor("steps", steps, floats{-1, -1});
        visitor("offsets", offsets, floats{0.5, 0.5});
    }
    static constexpr size_t count = 5, text_bytes = 8460; /* room for visit */
};
inline ndarray contrib_MultiBoxPrior(const ndarray &data, const contrib_MultiBoxPrior_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_MultiBoxPrior(into out, const ndarray &data, const contrib_MultiBoxPrior_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_MultiBoxPrior(const symbol &data, const contrib_MultiBoxPrior_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Training targets of a single-shot detector, for anchors (1,A,4) and labels (N,M,5): loc_target and loc_mask (N,4*A),
 * the offsets to the matched label's box and 1 where an anchor is matched, and cls_target (N,A), the label's class + 1,
 * 0 for background or ignore_label; cls_pred (N,C,A) ranks anchors for hard negative mining */
struct contrib_MultiBoxTarget_settings {
    /** float, optional, default=0.5. Intersection over union with a label above which an anchor is matched to it. 0 or
     * below: each label is matched to its best anchor only. */
    double overlap_threshold = 0.5;
    /** float, optional, default=-1. Class target of anchors that do not contribute to the loss. */
    double ignore_label = -1;
    /** float, optional, default=-1. Number of background anchors per matched anchor, chosen by hard negative mining. 0
     * or below: all unmatched anchors are background. */
    double negative_mining_ratio = -1;
    /** float, optional, default=0.5. Anchors that overlap a label at least this much are not mined as background. */
    double negative_mining_thresh = 0.5;
    /** int, optional, default=0. Accepted for compatibility with MXNet; has no effect. */
    int64_t minimum_negative_samples = 0;
    /** tuple of float, optional, default=(0.1,0.1,0.2,0.2). Divisors of the offsets in x, y, width and height. */
    floats variances = floats{0.1, 0.1, 0.2, 0.2};
    static constexpr const char *op = "_contrib_MultiBoxTarget";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("overlap_threshold", overlap_threshold, 0.5);
        visitor("ignore_label", ignore_label, -1);
        visitor("negative_mining_ratio", negative_mining_ratio, -1);
        visitor("negative_mining_thresh", negative_mining_thresh, 0.5);
        visitor("minimum_negative_samples", minimum_negative_samples, 0);
        visitor("variances", variances, floats{0.1, 0.1, 0.2, 0.2});
    }
    static constexpr size_t count = 6, text_bytes = 2280; /* room for visit */
};
inline results contrib_MultiBoxTarget(const ndarray &anchor, const ndarray &label, const ndarray &cls_pred,
    const contrib_MultiBoxTarget_settings &settings = {}) {
    return detail::invoke<results>(settings, {&anchor, &label, &cls_pred});
}
inline void contrib_MultiBoxTarget(into out, const ndarray &anchor, const ndarray &label, const ndarray &cls_pred,
    const contrib_MultiBoxTarget_settings &settings = {}) {
    detail::invoke_into(out, settings, {&anchor, &label, &cls_pred});
}
inline symbol contrib_MultiBoxTarget(const symbol &anchor, const symbol &label, const symbol &cls_pred,
    const contrib_MultiBoxTarget_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"anchor", "label", "cls_pred"}, {&anchor, &label, &cls_pred});
}
inline symbol contrib_MultiBoxTarget(const symbol &anchor, const contrib_MultiBoxTarget_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"anchor"}, {&anchor});
}

/** Region proposals of N images: output (N*R,5) with rows (image, left, top, right, bottom) of the R best boxes of
 * each, score (N*R,1); cls_prob (N,2*A,h,w), bbox_pred (N,4*A,h,w), im_info (N,3) = height, width and scale of each
 * image */
struct contrib_MultiProposal_settings {
    /** int, optional, default=6000. Number of best boxes before non-maximum suppression. 0 or below: all. */
    int64_t rpn_pre_nms_top_n = 6000;
    /** int, optional, default=300. Number of boxes in output after non-maximum suppression. */
    int64_t rpn_post_nms_top_n = 300;
    /** float, optional, default=0.7. Intersection over union with a better box above which a box is suppressed. */
    double threshold = 0.7;
    /** int, optional, default=16. Minimum width and height of a box in pixels of the unscaled image. */
    int64_t rpn_min_size = 16;
    /** tuple of float, optional, default=(4,8,16,32). Sizes of the anchor boxes, in units of feature_stride. */
    floats scales = floats{4, 8, 16, 32};
    /** tuple of float, optional, default=(0.5,1,2). Aspect ratios of the anchor boxes, height over width. */
    floats ratios = floats{0.5, 1, 2};
    /** int, optional, default=16. Distance in pixels of the image between neighbouring positions of the feature map. */
    int64_t feature_stride = 16;
    /** boolean, optional, default=false. Return the scores as a second output. */
    bool output_score = false;
    /** boolean, optional, default=false. Predicted offsets are those of corners instead of centre and size. */
    bool iou_loss = false;
    static constexpr const char *op = "_contrib_MultiProposal";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rpn_pre_nms_top_n", rpn_pre_nms_top_n, 6000);
        visitor("rpn_post_nms_top_n", rpn_post_nms_top_n, 300);
        visitor("threshold", threshold, 0.7);
        visitor("rpn_min_size", rpn_min_size, 16);
        visitor("scales", scales, floats{4, 8, 16, 32});
        visitor("ratios", ratios, floats{0.5, 1, 2});
        visitor("feature_stride", feature_stride, 16);
        visitor("output_score", output_score, false);
        visitor("iou_loss", iou_loss, false);
    }
    static constexpr size_t count = 9, text_bytes = 4395; /* room for visit */
};
inline results contrib_MultiProposal(const ndarray &cls_prob, const ndarray &bbox_pred, const ndarray &im_info,
    const contrib_MultiProposal_settings &settings = {}) {
    return detail::invoke<results>(settings, {&cls_prob, &bbox_pred, &im_info});
}
inline void contrib_MultiProposal(into out, const ndarray &cls_prob, const ndarray &bbox_pred, const ndarray &im_info,
    const contrib_MultiProposal_settings &settings = {}) {
    detail::invoke_into(out, settings, {&cls_prob, &bbox_pred, &im_info});
}
inline symbol contrib_MultiProposal(const symbol &cls_prob, const symbol &bbox_pred, const symbol &im_info,
    const contrib_MultiProposal_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"cls_prob", "bbox_pred", "im_info"}, {&cls_prob, &bbox_pred, &im_info});
}

/** Region proposals: output (R,5) with rows (0, left, top, right, bottom) of the best boxes of an image, score (R,1);
 * cls_prob (1,2*A,h,w), bbox_pred (1,4*A,h,w), im_info (1,3) = height, width and scale of the image */
struct contrib_Proposal_settings {
    /** int, optional, default=6000. Number of best boxes before non-maximum suppression. 0 or below: all. */
    int64_t rpn_pre_nms_top_n = 6000;
    /** int, optional, default=300. Number of boxes in output after non-maximum suppression. */
    int64_t rpn_post_nms_top_n = 300;
    /** float, optional, default=0.7. Intersection over union with a better box above which a box is suppressed. */
    double threshold = 0.7;
    /** int, optional, default=16. Minimum width and height of a box in pixels of the unscaled image. */
    int64_t rpn_min_size = 16;
    /** tuple of float, optional, default=(4,8,16,32). Sizes of the anchor boxes, in units of feature_stride. */
    floats scales = floats{4, 8, 16, 32};
    /** tuple of float, optional, default=(0.5,1,2). Aspect ratios of the anchor boxes, height over width. */
    floats ratios = floats{0.5, 1, 2};
    /** int, optional, default=16. Distance in pixels of the image between neighbouring positions of the feature map. */
    int64_t feature_stride = 16;
    /** boolean, optional, default=false. Return the scores as a second output. */
    bool output_score = false;
    /** boolean, optional, default=false. Predicted offsets are those of corners instead of centre and size. */
    bool iou_loss = false;
    static constexpr const char *op = "_contrib_Proposal";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rpn_pre_nms_top_n", rpn_pre_nms_top_n, 6000);
        visitor("rpn_post_nms_top_n", rpn_post_nms_top_n, 300);
        visitor("threshold", threshold, 0.7);
        visitor("rpn_min_size", rpn_min_size, 16);
        visitor("scales", scales, floats{4, 8, 16, 32});
        visitor("ratios", ratios, floats{0.5, 1, 2});
        visitor("feature_stride", feature_stride, 16);
        visitor("output_score", output_score, false);
        visitor("iou_loss", iou_loss, false);
    }
    static constexpr size_t count = 9, text_bytes = 4395; /* room for visit */
};
inline results contrib_Proposal(const ndarray &cls_prob, const ndarray &bbox_pred, const ndarray &im_info,
    const contrib_Proposal_settings &settings = {}) {
    return detail::invoke<results>(settings, {&cls_prob, &bbox_pred, &im_info});
}
inline void contrib_Proposal(into out, const ndarray &cls_prob, const ndarray &bbox_pred, const ndarray &im_info,
    const contrib_Proposal_settings &settings = {}) {
    detail::invoke_into(out, settings, {&cls_prob, &bbox_pred, &im_info});
}
inline symbol contrib_Proposal(const symbol &cls_prob, const symbol &bbox_pred, const symbol &im_info,
    const contrib_Proposal_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"cls_prob", "bbox_pred", "im_info"}, {&cls_prob, &bbox_pred, &im_info});
}

/** Greedy matching of the rows and columns of scores (...,N,M): output0 (...,N) is the column that each row is matched
 * with, output1 (...,M) the row of each column, -1: none. Pairs are matched from the best score on */
struct contrib_bipartite_matching_settings {
    /** float, required. Only scores above it are matched; with is_ascend only scores below it. */
    required<double> threshold;
    /** boolean, optional, default=false. The least score is the best, instead of the greatest. */
    bool is_ascend = false;
    /** int, optional, default=-1. Limit of the number of matches: topk + 1 are made, as in MXNet. 0 or below: no limit.
     * */
    int64_t topk = -1;
    static constexpr const char *op = "_contrib_bipartite_matching";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("is_ascend", is_ascend, false);
        visitor("threshold", threshold);
        visitor("topk", topk, -1);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline results contrib_bipartite_matching(const ndarray &data, const contrib_bipartite_matching_settings &settings) {
    return detail::invoke<results>(settings, {&data});
}
inline void contrib_bipartite_matching(into out, const ndarray &data,
    const contrib_bipartite_matching_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_bipartite_matching(const symbol &data, const contrib_bipartite_matching_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Boxes from offsets relative to anchors: output (B,N,4) with rows (left, top, right, bottom), centre X + dx std0 W, Y
 * + dy std1 H and size W exp(dw std2), H exp(dh std3) for rows (dx, dy, dw, dh) of data (B,N,4) and anchors (1,N,4) of
 * centre X, Y and size W, H */
struct contrib_box_decode_settings {
    /** float, optional, default=1. Factor of number 0 of each row of data. */
    double std0 = 1;
    /** float, optional, default=1. Factor of number 1 of each row of data. */
    double std1 = 1;
    /** float, optional, default=1. Factor of number 2 of each row of data. */
    double std2 = 1;
    /** float, optional, default=1. Factor of number 3 of each row of data. */
    double std3 = 1;
    /** float, optional, default=-1. Upper limit of the logarithms of the sizes. 0 or below: none. */
    double clip = -1;
    /** {'corner', 'center'}, optional, default='center'. Format of anchors: corner is (left, top, right, bottom),
     * center is (x, y, width, height) with the centre's coordinates. */
    text format = text("center");
    static constexpr const char *op = "_contrib_box_decode";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("std0", std0, 1);
        visitor("std1", std1, 1);
        visitor("std2", std2, 1);
        visitor("std3", std3, 1);
        visitor("clip", clip, -1);
        visitor("format", format, text("center"));
    }
    static constexpr size_t count = 6, text_bytes = 165; /* room for visit */
};
inline ndarray contrib_box_decode(const ndarray &data, const ndarray &anchors,
    const contrib_box_decode_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &anchors});
}
inline void contrib_box_decode(into out, const ndarray &data, const ndarray &anchors,
    const contrib_box_decode_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &anchors});
}
inline symbol contrib_box_decode(const symbol &data, const symbol &anchors,
    const contrib_box_decode_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "anchors"}, {&data, &anchors});
}

/** Boxes relative to anchors, as targets for training: output0 (B,N,4) = ((x - X) / W, (y - Y) / H, log(w / W), log(h /
 * H)), minus means, divided by stds, of the box of refs (B,M,4) that matches (B,N) names and the anchor of anchors
 * (B,N,4), both given by corners, x, y the centre and w, h the size; output1 (B,N,4) is 1. Both are 0 where samples
 * (B,N) is not above 0.5 */
inline results contrib_box_encode(const ndarray &samples, const ndarray &matches, const ndarray &anchors,
    const ndarray &refs, const ndarray &means, const ndarray &stds) {
    return detail::invoke<results>("_contrib_box_encode", {&samples, &matches, &anchors, &refs, &means, &stds});
}
inline void contrib_box_encode(into out, const ndarray &samples, const ndarray &matches, const ndarray &anchors,
    const ndarray &refs, const ndarray &means, const ndarray &stds) {
    detail::invoke_into(out, "_contrib_box_encode", {&samples, &matches, &anchors, &refs, &means, &stds});
}
inline symbol contrib_box_encode(const symbol &samples, const symbol &matches, const symbol &anchors,
    const symbol &refs, const symbol &means, const symbol &stds, text name = {}) {
    return detail::apply("_contrib_box_encode", name, {"samples", "matches", "anchors", "refs", "means", "stds"},
        {&samples, &matches, &anchors, &refs, &means, &stds});
}

/** Intersection over union of each box of lhs (a...,4) with each box of rhs (b...,4): out (a...,b...) */
struct contrib_box_iou_settings {
    /** {'corner', 'center'}, optional, default='corner'. Format of boxes: corner is (left, top, right, bottom), center
     * is (x, y, width, height) with the centre's coordinates. */
    text format = text("corner");
    static constexpr const char *op = "_contrib_box_iou";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("format", format, text("corner"));
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray contrib_box_iou(const ndarray &lhs, const ndarray &rhs, const contrib_box_iou_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs});
}
inline void contrib_box_iou(into out, const ndarray &lhs, const ndarray &rhs,
    const contrib_box_iou_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs});
}
inline symbol contrib_box_iou(const symbol &lhs, const symbol &rhs, const contrib_box_iou_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** Non-maximum suppression: output0 holds the rows of data (...,n,k), each with a class, a score and a box, that no
 * better row of the same class overlaps by more than overlap_thresh, in descending order of score; the remaining rows
 * are -1 */
struct contrib_box_nms_settings {
    /** float, optional, default=0.5. Intersection over union above which the box with the smaller score is suppressed.
     * */
    double overlap_thresh = 0.5;
    /** float, optional, default=0. Rows with a score at or below this value are ignored. */
    double valid_thresh = 0;
    /** int, optional, default=-1. Number of best rows that are considered. 0 or below: all. */
    int64_t topk = -1;
    /** int, optional, default=2. Index within a row of the first of the box's four coordinates. */
    int64_t coord_start = 2;
    /** int, optional, default=1. Index within a row of the score. */
    int64_t score_index = 1;
    /** int, optional, default=-1. Index within a row of the class. -1: rows have no class. */
    int64_t id_index = -1;
    /** int, optional, default=-1. Class whose rows are ignored. -1: none. */
    int64_t background_id = -1;
    /** boolean, optional, default=false. Suppress boxes across classes; otherwise only boxes of the same class suppress
     * each other. */
    bool force_suppress = false;
    /** {'corner', 'center'}, optional, default='corner'. Format of the boxes of data: corner is (left, top, right,
     * bottom), center is (x, y, width, height) with the centre's coordinates. */
    text in_format = text("corner");
    /** {'corner', 'center'}, optional, default='corner'. Format of the boxes of output. */
    text out_format = text("corner");
    static constexpr const char *op = "_contrib_box_nms";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("overlap_thresh", overlap_thresh, 0.5);
        visitor("valid_thresh", valid_thresh, 0);
        visitor("topk", topk, -1);
        visitor("coord_start", coord_start, 2);
        visitor("score_index", score_index, 1);
        visitor("id_index", id_index, -1);
        visitor("background_id", background_id, -1);
        visitor("force_suppress", force_suppress, false);
        visitor("in_format", in_format, text("corner"));
        visitor("out_format", out_format, text("corner"));
    }
    static constexpr size_t count = 10, text_bytes = 231; /* room for visit */
};
inline results contrib_box_nms(const ndarray &data, const contrib_box_nms_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void contrib_box_nms(into out, const ndarray &data, const contrib_box_nms_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_box_nms(const symbol &data, const contrib_box_nms_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif

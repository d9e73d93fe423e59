/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family vision as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_VISION_HPP
#define MXC_OPERATORS_VISION_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Bilinear sampling: out (N,C,H,W) = data (N,C,h,w) at the positions of grid (N,2,H,W), x and y in [-1, 1],
 * interpolated between the four nearest elements; 0 outside */
struct BilinearSampler_settings {
    /** boolean or None, optional, default=None. Accepted for compatibility with MXNet; has no effect, cuDNN is not used
     * here. */
    std::optional<bool> cudnn_off = std::optional<bool>(std::nullopt);
    static constexpr const char *op = "BilinearSampler";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("cudnn_off", cudnn_off, std::optional<bool>(std::nullopt));
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray BilinearSampler(const ndarray &data, const ndarray &grid,
    const BilinearSampler_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &grid});
}
inline void BilinearSampler(into out, const ndarray &data, const ndarray &grid,
    const BilinearSampler_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &grid});
}
inline symbol BilinearSampler(const symbol &data, const symbol &grid, const BilinearSampler_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "grid"}, {&data, &grid});
}

/** Correlation of patches: out (N,G*G,H,W) holds, for each of G*G displacements of data2 (N,C,h,w), the mean over
 * channels and patch of its products with data1, or of their absolute differences */
struct Correlation_settings {
    /** int, optional, default=1. Height and width of the patches that are compared, an odd number. */
    int64_t kernel_size = 1;
    /** int, optional, default=1. Maximum displacement along each axis. */
    int64_t max_displacement = 1;
    /** int, optional, default=1. Stride between positions in data1. */
    int64_t stride1 = 1;
    /** int, optional, default=1. Stride between displacements. */
    int64_t stride2 = 1;
    /** int, optional, default=0. Zero padding at each side. */
    int64_t pad_size = 0;
    /** boolean, optional, default=true. Compare by products; otherwise by absolute differences. */
    bool is_multiply = true;
    static constexpr const char *op = "Correlation";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel_size", kernel_size, 1);
        visitor("max_displacement", max_displacement, 1);
        visitor("stride1", stride1, 1);
        visitor("stride2", stride2, 1);
        visitor("pad_size", pad_size, 0);
        visitor("is_multiply", is_multiply, true);
    }
    static constexpr size_t count = 6, text_bytes = 165; /* room for visit */
};
inline ndarray Correlation(const ndarray &data1, const ndarray &data2, const Correlation_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data1, &data2});
}
inline void Correlation(into out, const ndarray &data1, const ndarray &data2,
    const Correlation_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data1, &data2});
}
inline symbol Correlation(const symbol &data1, const symbol &data2, const Correlation_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data1", "data2"}, {&data1, &data2});
}

/** output (N,C,h,w) = a window of data (N,C,H,W), of size h_w or of the size of the last two axes of crop_like */
struct Crop_settings {
    /** int, required. Number of arguments. 1: data; 2: data and crop_like. */
    required<int64_t> num_args;
    /** tuple of int, optional, default=(0,0). Offset of the window: first row and column. */
    tuple offset = tuple{0, 0};
    /** tuple of int, optional, default=(0,0). Height and width of the window, if there is no crop_like. */
    tuple h_w = tuple{0, 0};
    /** boolean, optional, default=False. Take the central window; offset is ignored. */
    bool center_crop = false;
    static constexpr const char *op = "Crop";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_args", num_args);
        visitor("offset", offset, tuple{0, 0});
        visitor("h_w", h_w, tuple{0, 0});
        visitor("center_crop", center_crop, false);
    }
    static constexpr size_t count = 4, text_bytes = 743; /* room for visit */
};
inline ndarray Crop(const ndarray &data, const ndarray &crop_like, const Crop_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &crop_like});
}
inline void Crop(into out, const ndarray &data, const ndarray &crop_like, const Crop_settings &settings) {
    detail::invoke_into(out, settings, {&data, &crop_like});
}
inline symbol Crop(const symbol &data, const symbol &crop_like, const Crop_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "crop_like"}, {&data, &crop_like});
}

/** Sampling grid for BilinearSampler: out (N,2,H,W) holds positions x, y in [-1, 1], from an affine matrix (N,6) for
 * each sample or a displacement in pixels (N,2,H,W) for each position */
struct GridGenerator_settings {
    /** {'affine', 'warp'}, required. What data holds: an affine matrix for each sample (affine), or a displacement for
     * each position (warp). */
    required<text> transform_type;
    /** tuple of int, optional, default=(0,0). Height and width of out. Only used with transform_type=affine. */
    tuple target_shape = tuple{0, 0};
    static constexpr const char *op = "GridGenerator";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("transform_type", transform_type);
        visitor("target_shape", target_shape, tuple{0, 0});
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline ndarray GridGenerator(const ndarray &data, const GridGenerator_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void GridGenerator(into out, const ndarray &data, const GridGenerator_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol GridGenerator(const symbol &data, const GridGenerator_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** ROI pooling: out (R,C,pooled_size) holds the maxima over pooled_size bins of each region of data (N,C,h,w); a row of
 * rois (R,5) is (sample, x1, y1, x2, y2) */
struct ROIPooling_settings {
    /** tuple of int, required. Height and width of out. */
    required<tuple> pooled_size;
    /** float, required. Scale from the coordinates of rois to elements of data. */
    required<double> spatial_scale;
    static constexpr const char *op = "ROIPooling";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("pooled_size", pooled_size);
        visitor("spatial_scale", spatial_scale);
    }
    static constexpr size_t count = 2, text_bytes = 388; /* room for visit */
};
inline ndarray ROIPooling(const ndarray &data, const ndarray &rois, const ROIPooling_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &rois});
}
inline void ROIPooling(into out, const ndarray &data, const ndarray &rois, const ROIPooling_settings &settings) {
    detail::invoke_into(out, settings, {&data, &rois});
}
inline symbol ROIPooling(const symbol &data, const symbol &rois, const ROIPooling_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "rois"}, {&data, &rois});
}

/** Spatial transformer: out (N,C,target_shape) = data (N,C,h,w) at the positions of a regular grid (x, y, 1)
 * transformed by the affine matrix (2,3) of each sample, loc (N,6), interpolated between the four nearest elements; 0
 * outside */
struct SpatialTransformer_settings {
    /** {'affine'}, required. Transformation that loc holds: an affine matrix for each sample. */
    required<text> transform_type;
    /** {'bilinear'}, required. Interpolation between elements. */
    required<text> sampler_type;
    /** tuple of int, optional, default=(0,0). Height and width of out. */
    tuple target_shape = tuple{0, 0};
    /** boolean or None, optional, default=None. Accepted for compatibility with MXNet; has no effect, cuDNN is not used
     * here. */
    std::optional<bool> cudnn_off = std::optional<bool>(std::nullopt);
    static constexpr const char *op = "SpatialTransformer";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("target_shape", target_shape, tuple{0, 0});
        visitor("transform_type", transform_type);
        visitor("sampler_type", sampler_type);
        visitor("cudnn_off", cudnn_off, std::optional<bool>(std::nullopt));
    }
    static constexpr size_t count = 4, text_bytes = 355; /* room for visit */
};
inline ndarray SpatialTransformer(const ndarray &data, const ndarray &loc,
    const SpatialTransformer_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &loc});
}
inline void SpatialTransformer(into out, const ndarray &data, const ndarray &loc,
    const SpatialTransformer_settings &settings) {
    detail::invoke_into(out, settings, {&data, &loc});
}
inline symbol SpatialTransformer(const symbol &data, const symbol &loc, const SpatialTransformer_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "loc"}, {&data, &loc});
}

/** Adaptive average pooling: out (N,C,H,W), of output_size, holds the means of H*W blocks that cover data (N,C,h,w) */
struct contrib_AdaptiveAvgPooling2D_settings {
    /** tuple of int or None, optional, default=(). Height and width of out; one number is used for both. None: 1. */
    tuple output_size = tuple{};
    static constexpr const char *op = "_contrib_AdaptiveAvgPooling2D";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("output_size", output_size, tuple{});
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray contrib_AdaptiveAvgPooling2D(const ndarray &data,
    const contrib_AdaptiveAvgPooling2D_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_AdaptiveAvgPooling2D(into out, const ndarray &data,
    const contrib_AdaptiveAvgPooling2D_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_AdaptiveAvgPooling2D(const symbol &data,
    const contrib_AdaptiveAvgPooling2D_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Bilinear resizing: data (N,C,h,w), out (N,C,H,W) */
struct contrib_BilinearResize2D_settings {
    /** int, optional, default=1. Height of out. Used with mode=size if there is no scale_height. */
    int64_t height = 1;
    /** int, optional, default=1. Width of out. Used with mode=size if there is no scale_width. */
    int64_t width = 1;
    /** float or None, optional, default=None. Size of out over that of data along this axis. Used with mode=size and
     * mode=odd_scale. */
    std::optional<double> scale_height = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Size of out over that of data along this axis. Used with mode=size and
     * mode=odd_scale. */
    std::optional<double> scale_width = std::optional<double>(std::nullopt);
    /** {'size', 'odd_scale', 'like', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'}, optional,
     * default='size'. What determines the size of out: size is height and width; odd_scale is the scale factors, which
     * for an odd size apply to the distances between elements; like is the argument like; to_even_down to to_odd_up
     * round to the next even or odd size. */
    text mode = text("size");
    /** boolean, optional, default=true. Align the centres of the corner elements; otherwise their outer corners. */
    bool align_corners = true;
    static constexpr const char *op = "_contrib_BilinearResize2D";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("height", height, 1);
        visitor("width", width, 1);
        visitor("scale_height", scale_height, std::optional<double>(std::nullopt));
        visitor("scale_width", scale_width, std::optional<double>(std::nullopt));
        visitor("mode", mode, text("size"));
        visitor("align_corners", align_corners, true);
    }
    static constexpr size_t count = 6, text_bytes = 132; /* room for visit */
};
inline ndarray contrib_BilinearResize2D(const ndarray &data, const ndarray &like,
    const contrib_BilinearResize2D_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &like});
}
inline void contrib_BilinearResize2D(into out, const ndarray &data, const ndarray &like,
    const contrib_BilinearResize2D_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &like});
}
inline ndarray contrib_BilinearResize2D(const ndarray &data, const contrib_BilinearResize2D_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_BilinearResize2D(into out, const ndarray &data,
    const contrib_BilinearResize2D_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_BilinearResize2D(const symbol &data, const symbol &like,
    const contrib_BilinearResize2D_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "like"}, {&data, &like});
}
inline symbol contrib_BilinearResize2D(const symbol &data, const contrib_BilinearResize2D_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Deformable position-sensitive ROI pooling: as PSROIPooling, but of points read by bilinear interpolation, and each
 * bin is moved by trans (R,2*classes,part_size,part_size) times trans_std and the region's size, to the right and down
 * */
struct contrib_DeformablePSROIPooling_settings {
    /** float, required. Scale from the coordinates of rois to elements of data. */
    required<double> spatial_scale;
    /** int, required. Number of planes of out. */
    required<int64_t> output_dim;
    /** int, required. Number of groups of channels along each axis of a region. */
    required<int64_t> group_size;
    /** int, required. Height and width of out. */
    required<int64_t> pooled_size;
    /** int, optional, default=0. Height and width of trans. 0: pooled_size. */
    int64_t part_size = 0;
    /** int, optional, default=1. Number of points along each axis of a bin. */
    int64_t sample_per_part = 1;
    /** float, optional, default=0. Factor of trans. */
    double trans_std = 0;
    /** boolean, optional, default=false. Leave out the argument trans; bins do not move. */
    bool no_trans = false;
    static constexpr const char *op = "_contrib_DeformablePSROIPooling";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("spatial_scale", spatial_scale);
        visitor("output_dim", output_dim);
        visitor("group_size", group_size);
        visitor("pooled_size", pooled_size);
        visitor("part_size", part_size, 0);
        visitor("sample_per_part", sample_per_part, 1);
        visitor("trans_std", trans_std, 0);
        visitor("no_trans", no_trans, false);
    }
    static constexpr size_t count = 8, text_bytes = 231; /* room for visit */
};
inline ndarray contrib_DeformablePSROIPooling(const ndarray &data, const ndarray &rois, const ndarray &trans,
    const contrib_DeformablePSROIPooling_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &rois, &trans});
}
inline void contrib_DeformablePSROIPooling(into out, const ndarray &data, const ndarray &rois, const ndarray &trans,
    const contrib_DeformablePSROIPooling_settings &settings) {
    detail::invoke_into(out, settings, {&data, &rois, &trans});
}
inline symbol contrib_DeformablePSROIPooling(const symbol &data, const symbol &rois, const symbol &trans,
    const contrib_DeformablePSROIPooling_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "rois", "trans"}, {&data, &rois, &trans});
}

/** Position-sensitive ROI pooling: out (R,output_dim,pooled_size,pooled_size) holds the means over the elements of the
 * bins of each region of data (N,output_dim*group_size^2,h,w), each bin read from its own group of channels; a row of
 * rois (R,5) is (sample, x1, y1, x2, y2) */
struct contrib_PSROIPooling_settings {
    /** float, required. Scale from the coordinates of rois to elements of data. */
    required<double> spatial_scale;
    /** int, required. Number of planes of out. */
    required<int64_t> output_dim;
    /** int, required. Height and width of out. */
    required<int64_t> pooled_size;
    /** int, optional, default=0. Number of groups of channels along each axis of a region. 0: pooled_size. */
    int64_t group_size = 0;
    static constexpr const char *op = "_contrib_PSROIPooling";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("spatial_scale", spatial_scale);
        visitor("output_dim", output_dim);
        visitor("pooled_size", pooled_size);
        visitor("group_size", group_size, 0);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline ndarray contrib_PSROIPooling(const ndarray &data, const ndarray &rois,
    const contrib_PSROIPooling_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &rois});
}
inline void contrib_PSROIPooling(into out, const ndarray &data, const ndarray &rois,
    const contrib_PSROIPooling_settings &settings) {
    detail::invoke_into(out, settings, {&data, &rois});
}
inline symbol contrib_PSROIPooling(const symbol &data, const symbol &rois,
    const contrib_PSROIPooling_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "rois"}, {&data, &rois});
}

/** ROI align: out (R,C,pooled_size) holds the means over pooled_size bins of each region of data (N,C,h,w), with
 * bilinear interpolation; a row of rois (R,5) is (sample, x1, y1, x2, y2) */
struct contrib_ROIAlign_settings {
    /** tuple of int, required. Height and width of out. */
    required<tuple> pooled_size;
    /** float, required. Scale from the coordinates of rois to elements of data. */
    required<double> spatial_scale;
    /** int, optional, default=-1. Number of sampling positions along each axis of a bin. 0 or below: the size of the
     * bin in elements, rounded up. */
    int64_t sample_ratio = -1;
    /** boolean, optional, default=false. Position-sensitive: each bin reads its own group of channels. */
    bool position_sensitive = false;
    /** boolean, optional, default=false. Shift coordinates by half an element, so that 0 is the edge of element 0, and
     * allow regions smaller than an element. */
    bool aligned = false;
    static constexpr const char *op = "_contrib_ROIAlign";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("pooled_size", pooled_size);
        visitor("spatial_scale", spatial_scale);
        visitor("sample_ratio", sample_ratio, -1);
        visitor("position_sensitive", position_sensitive, false);
        visitor("aligned", aligned, false);
    }
    static constexpr size_t count = 5, text_bytes = 421; /* room for visit */
};
inline ndarray contrib_ROIAlign(const ndarray &data, const ndarray &rois, const contrib_ROIAlign_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &rois});
}
inline void contrib_ROIAlign(into out, const ndarray &data, const ndarray &rois,
    const contrib_ROIAlign_settings &settings) {
    detail::invoke_into(out, settings, {&data, &rois});
}
inline symbol contrib_ROIAlign(const symbol &data, const symbol &rois, const contrib_ROIAlign_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "rois"}, {&data, &rois});
}

/** ROI align of rotated regions: out (R,C,pooled_size) holds the means over pooled_size bins of each region of data
 * (N,C,h,w), with bilinear interpolation; a row of rois (R,6) is (sample, x, y, width, height, angle) with the centre
 * and the angle in degrees */
struct contrib_RROIAlign_settings {
    /** tuple of int, required. Height and width of out. */
    required<tuple> pooled_size;
    /** float, required. Scale from the coordinates of rois to elements of data. */
    required<double> spatial_scale;
    /** int, optional, default=-1. Number of sampling positions along each axis of a bin. 0 or below: the size of the
     * bin in elements, rounded up. */
    int64_t sampling_ratio = -1;
    static constexpr const char *op = "_contrib_RROIAlign";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("pooled_size", pooled_size);
        visitor("spatial_scale", spatial_scale);
        visitor("sampling_ratio", sampling_ratio, -1);
    }
    static constexpr size_t count = 3, text_bytes = 421; /* room for visit */
};
inline ndarray contrib_RROIAlign(const ndarray &data, const ndarray &rois, const contrib_RROIAlign_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &rois});
}
inline void contrib_RROIAlign(into out, const ndarray &data, const ndarray &rois,
    const contrib_RROIAlign_settings &settings) {
    detail::invoke_into(out, settings, {&data, &rois});
}
inline symbol contrib_RROIAlign(const symbol &data, const symbol &rois, const contrib_RROIAlign_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "rois"}, {&data, &rois});
}

/** Adds a border to an image: src (height,width,channels), out (top + height + bot, left + width + right, channels) */
struct cvcopyMakeBorder_settings {
    /** int, required. Rows added at the top. */
    required<int64_t> top;
    /** int, required. Rows added at the bottom. */
    required<int64_t> bot;
    /** int, required. Columns added at the left. */
    required<int64_t> left;
    /** int, required. Columns added at the right. */
    required<int64_t> right;
    /** int, optional, default=0. Type of the border. 0: constant value, 1: the outermost pixel, 2: the image mirrored,
     * 3: the image repeated, 4: the image mirrored without its outermost pixel. */
    int64_t type = 0;
    /** float, optional, default=0. Value of a border of type 0 in all channels. */
    double value = 0;
    /** tuple of float, optional, default=(). Value of a border of type 0 for each channel. */
    floats values = floats{};
    static constexpr const char *op = "_cvcopyMakeBorder";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("top", top);
        visitor("bot", bot);
        visitor("left", left);
        visitor("right", right);
        visitor("type", type, 0);
        visitor("value", value, 0);
        visitor("values", values, floats{});
    }
    static constexpr size_t count = 7, text_bytes = 2313; /* room for visit */
};
inline ndarray cvcopyMakeBorder(const ndarray &src, const cvcopyMakeBorder_settings &settings) {
    return detail::invoke<ndarray>(settings, {&src});
}
inline void cvcopyMakeBorder(into out, const ndarray &src, const cvcopyMakeBorder_settings &settings) {
    detail::invoke_into(out, settings, {&src});
}
inline symbol cvcopyMakeBorder(const symbol &src, const cvcopyMakeBorder_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"src"}, {&src});
}

/** Decodes a JPEG or PNG file held in the bytes buf: out (height,width,channels). Alpha is dropped, 16 bits are reduced
 * to 8; a JPEG is turned upright as its EXIF orientation says */
struct cvimdecode_settings {
    /** int, optional, default=1. 1: three colour channels. 0: one grey channel. 128 more: as stored, without the EXIF
     * orientation. */
    int64_t flag = 1;
    /** boolean, optional, default=true. Order of the channels: red, green, blue; otherwise blue, green, red. */
    bool to_rgb = true;
    static constexpr const char *op = "_cvimdecode";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("flag", flag, 1);
        visitor("to_rgb", to_rgb, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray cvimdecode(const ndarray &buf, const cvimdecode_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&buf});
}
inline void cvimdecode(into out, const ndarray &buf, const cvimdecode_settings &settings = {}) {
    detail::invoke_into(out, settings, {&buf});
}

/** Reads and decodes a JPEG or PNG file as _cvimdecode does: out (height,width,channels) */
struct cvimread_settings {
    /** string, required. Path of a JPEG or PNG file. */
    required<text> filename;
    /** int, optional, default=1. 1: three colour channels. 0: one grey channel. 128 more: as stored, without the EXIF
     * orientation. */
    int64_t flag = 1;
    /** boolean, optional, default=true. Order of the channels: red, green, blue; otherwise blue, green, red. */
    bool to_rgb = true;
    static constexpr const char *op = "_cvimread";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("filename", filename);
        visitor("flag", flag, 1);
        visitor("to_rgb", to_rgb, true);
    }
    static constexpr size_t count = 3, text_bytes = 33; /* room for visit */
};
inline ndarray cvimread(const cvimread_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void cvimread(into out, const cvimread_settings &settings) {
    detail::invoke_source_into(out, settings);
}

/** Resizes an image: src (height,width,channels), out (h,w,channels); bytes are rounded */
struct cvimresize_settings {
    /** int, required. Width of out in pixels. */
    required<int64_t> w;
    /** int, required. Height of out in pixels. */
    required<int64_t> h;
    /** int, optional, default=1. Interpolation. 0: nearest, 1: bilinear, 2: bicubic, 3: area, 4: Lanczos. */
    int64_t interp = 1;
    static constexpr const char *op = "_cvimresize";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("w", w);
        visitor("h", h);
        visitor("interp", interp, 1);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray cvimresize(const ndarray &src, const cvimresize_settings &settings) {
    return detail::invoke<ndarray>(settings, {&src});
}
inline void cvimresize(into out, const ndarray &src, const cvimresize_settings &settings) {
    detail::invoke_into(out, settings, {&src});
}
inline symbol cvimresize(const symbol &src, const cvimresize_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"src"}, {&src});
}

/** data plus light along the principal components of the colours of ImageNet, alpha times their standard deviations:
 * data (height,width,channels) of 1 or 3 channels; grey images stay */
struct image_adjust_lighting_settings {
    /** tuple of float, required. Amounts of the three components. Further numbers are ignored, as in MXNet. */
    required<floats> alpha;
    static constexpr const char *op = "_image_adjust_lighting";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("alpha", alpha);
    }
    static constexpr size_t count = 1, text_bytes = 2115; /* room for visit */
};
inline ndarray image_adjust_lighting(const ndarray &data, const image_adjust_lighting_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_adjust_lighting(into out, const ndarray &data, const image_adjust_lighting_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_adjust_lighting(const symbol &data, const image_adjust_lighting_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** A part of an image: data (H,W,C) or (N,H,W,C), output (height,width,C) or (N,height,width,C) */
struct image_crop_settings {
    /** int, required. First column. */
    required<int64_t> x;
    /** int, required. First row. */
    required<int64_t> y;
    /** int, required. Number of columns. */
    required<int64_t> width;
    /** int, required. Number of rows. */
    required<int64_t> height;
    static constexpr const char *op = "_image_crop";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("x", x);
        visitor("y", y);
        visitor("width", width);
        visitor("height", height);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline ndarray image_crop(const ndarray &data, const image_crop_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_crop(into out, const ndarray &data, const image_crop_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_crop(const symbol &data, const image_crop_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** The image data (height,width,channels) mirrored left to right */
inline ndarray image_flip_left_right(const ndarray &data) {
    return detail::invoke<ndarray>("_image_flip_left_right", {&data});
}
inline void image_flip_left_right(into out, const ndarray &data) {
    detail::invoke_into(out, "_image_flip_left_right", {&data});
}
inline symbol image_flip_left_right(const symbol &data, text name = {}) {
    return detail::apply("_image_flip_left_right", name, {"data"}, {&data});
}

/** The image data (height,width,channels) mirrored top to bottom */
inline ndarray image_flip_top_bottom(const ndarray &data) {
    return detail::invoke<ndarray>("_image_flip_top_bottom", {&data});
}
inline void image_flip_top_bottom(into out, const ndarray &data) {
    detail::invoke_into(out, "_image_flip_top_bottom", {&data});
}
inline symbol image_flip_top_bottom(const symbol &data, text name = {}) {
    return detail::apply("_image_flip_top_bottom", name, {"data"}, {&data});
}

/** (data - mean) / std by channel: data and output (C,H,W) or (N,C,H,W) */
struct image_normalize_settings {
    /** tuple of float, optional, default=(0,0,0,0). Mean of each channel, or one of all. */
    floats mean = floats{0, 0, 0, 0};
    /** tuple of float, optional, default=(1,1,1,1). Standard deviation of each channel, or one of all. */
    floats std = floats{1, 1, 1, 1};
    static constexpr const char *op = "_image_normalize";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("mean", mean, floats{0, 0, 0, 0});
        visitor("std", std, floats{1, 1, 1, 1});
    }
    static constexpr size_t count = 2, text_bytes = 4230; /* room for visit */
};
inline ndarray image_normalize(const ndarray &data, const image_normalize_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_normalize(into out, const ndarray &data, const image_normalize_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_normalize(const symbol &data, const image_normalize_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** The image times a random factor of [min_factor, max_factor): data (height,width,channels) of 1 or 3 channels; grey
 * images too */
struct image_random_brightness_settings {
    /** float, required. Least amount. */
    required<double> min_factor;
    /** float, required. Greatest amount. */
    required<double> max_factor;
    static constexpr const char *op = "_image_random_brightness";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_factor", min_factor);
        visitor("max_factor", max_factor);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray image_random_brightness(const ndarray &data, const image_random_brightness_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_random_brightness(into out, const ndarray &data, const image_random_brightness_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_random_brightness(const symbol &data, const image_random_brightness_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Random changes of brightness, contrast, saturation and hue, in a random order: data (height,width,channels) of 1 or
 * 3 channels; grey images have brightness and contrast only */
struct image_random_color_jitter_settings {
    /** float, required. Largest change of the factor of brightness, which is 1 + a number of [-value, value). */
    required<double> brightness;
    /** float, required. Largest change of the factor of contrast. */
    required<double> contrast;
    /** float, required. Largest change of the factor of saturation. */
    required<double> saturation;
    /** float, required. Largest turn of the hue, as a part of the circle. */
    required<double> hue;
    static constexpr const char *op = "_image_random_color_jitter";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("brightness", brightness);
        visitor("contrast", contrast);
        visitor("saturation", saturation);
        visitor("hue", hue);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline ndarray image_random_color_jitter(const ndarray &data, const image_random_color_jitter_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_random_color_jitter(into out, const ndarray &data,
    const image_random_color_jitter_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_random_color_jitter(const symbol &data, const image_random_color_jitter_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** data f + mean (1 - f), where f is a random factor of [min_factor, max_factor) and mean the mean grey value of the
 * image: data (height,width,channels) of 1 or 3 channels; grey images too */
struct image_random_contrast_settings {
    /** float, required. Least amount. */
    required<double> min_factor;
    /** float, required. Greatest amount. */
    required<double> max_factor;
    static constexpr const char *op = "_image_random_contrast";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_factor", min_factor);
        visitor("max_factor", max_factor);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray image_random_contrast(const ndarray &data, const image_random_contrast_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_random_contrast(into out, const ndarray &data, const image_random_contrast_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_random_contrast(const symbol &data, const image_random_contrast_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** The image data (height,width,channels) mirrored left to right, or as it is, equally likely */
inline ndarray image_random_flip_left_right(const ndarray &data) {
    return detail::invoke<ndarray>("_image_random_flip_left_right", {&data});
}
inline void image_random_flip_left_right(into out, const ndarray &data) {
    detail::invoke_into(out, "_image_random_flip_left_right", {&data});
}
inline symbol image_random_flip_left_right(const symbol &data, text name = {}) {
    return detail::apply("_image_random_flip_left_right", name, {"data"}, {&data});
}

/** The image data (height,width,channels) mirrored top to bottom, or as it is, equally likely */
inline ndarray image_random_flip_top_bottom(const ndarray &data) {
    return detail::invoke<ndarray>("_image_random_flip_top_bottom", {&data});
}
inline void image_random_flip_top_bottom(into out, const ndarray &data) {
    detail::invoke_into(out, "_image_random_flip_top_bottom", {&data});
}
inline symbol image_random_flip_top_bottom(const symbol &data, text name = {}) {
    return detail::apply("_image_random_flip_top_bottom", name, {"data"}, {&data});
}

/** The hue of all pixels turned by a random part of the circle, of [min_factor, max_factor): data
 * (height,width,channels) of 1 or 3 channels; grey images stay */
struct image_random_hue_settings {
    /** float, required. Least amount. */
    required<double> min_factor;
    /** float, required. Greatest amount. */
    required<double> max_factor;
    static constexpr const char *op = "_image_random_hue";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_factor", min_factor);
        visitor("max_factor", max_factor);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray image_random_hue(const ndarray &data, const image_random_hue_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_random_hue(into out, const ndarray &data, const image_random_hue_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_random_hue(const symbol &data, const image_random_hue_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** data plus light along the principal components of the colours of ImageNet, whose amounts are normally distributed:
 * data (height,width,channels) of 1 or 3 channels; grey images stay */
struct image_random_lighting_settings {
    /** float, optional, default=0.05. Standard deviation of the amounts. */
    double alpha_std = 0.05;
    static constexpr const char *op = "_image_random_lighting";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("alpha_std", alpha_std, 0.05);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray image_random_lighting(const ndarray &data, const image_random_lighting_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_random_lighting(into out, const ndarray &data, const image_random_lighting_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_random_lighting(const symbol &data, const image_random_lighting_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** data f + grey (1 - f), where f is a random factor of [min_factor, max_factor) and grey the grey value of each pixel:
 * data (height,width,channels) of 1 or 3 channels; grey images stay */
struct image_random_saturation_settings {
    /** float, required. Least amount. */
    required<double> min_factor;
    /** float, required. Greatest amount. */
    required<double> max_factor;
    static constexpr const char *op = "_image_random_saturation";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_factor", min_factor);
        visitor("max_factor", max_factor);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray image_random_saturation(const ndarray &data, const image_random_saturation_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_random_saturation(into out, const ndarray &data, const image_random_saturation_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_random_saturation(const symbol &data, const image_random_saturation_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Resizes images: data (H,W,C) or (N,H,W,C), output (height,width,C) or (N,height,width,C); bytes are rounded */
struct image_resize_settings {
    /** tuple of int, optional, default=(). (width,height) of out, or one number for both. */
    tuple size = tuple{};
    /** boolean, optional, default=false. With one number: it is the length of the shorter side, and the other keeps its
     * ratio to it. */
    bool keep_ratio = false;
    /** int, optional, default=1. Interpolation. 0: nearest, 1: bilinear, 2: bicubic, 3: area, 4: Lanczos. */
    int64_t interp = 1;
    static constexpr const char *op = "_image_resize";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("size", size, tuple{});
        visitor("keep_ratio", keep_ratio, false);
        visitor("interp", interp, 1);
    }
    static constexpr size_t count = 3, text_bytes = 388; /* room for visit */
};
inline ndarray image_resize(const ndarray &data, const image_resize_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void image_resize(into out, const ndarray &data, const image_resize_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol image_resize(const symbol &data, const image_resize_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** An image as a network takes it: data (H,W,C) or (N,H,W,C), output data / 255 with axes (C,H,W) or (N,C,H,W),
 * float32; 16-bit floats stay */
inline ndarray image_to_tensor(const ndarray &data) {
    return detail::invoke<ndarray>("_image_to_tensor", {&data});
}
inline void image_to_tensor(into out, const ndarray &data) {
    detail::invoke_into(out, "_image_to_tensor", {&data});
}
inline symbol image_to_tensor(const symbol &data, text name = {}) {
    return detail::apply("_image_to_tensor", name, {"data"}, {&data});
}

/** Decodes a part of a JPEG or PNG file held in the bytes buf and subtracts mean: out (c, y1 - y0, x1 - x0); mean has
 * the shape and dtype of out, or no elements. A JPEG is turned upright as its EXIF orientation says. MXNet passes buf
 * as text beside the arrays */
struct imdecode_settings {
    /** int, optional, default=0. Accepted for compatibility with MXNet; has no effect. To fill one position of a batch,
     * pass it as out (mxc_ndarray_at). */
    int64_t index = 0;
    /** int, optional, default=0. First column. */
    int64_t x0 = 0;
    /** int, optional, default=0. First row. */
    int64_t y0 = 0;
    /** int, optional, default=0. End of the columns, exclusive. */
    int64_t x1 = 0;
    /** int, optional, default=0. End of the rows, exclusive; the whole image if this is y0. */
    int64_t y1 = 0;
    /** int, optional, default=3. Number of channels: 3 for blue, green, red, or 1 for grey. */
    int64_t c = 3;
    /** int, optional, default=0. Number of bytes of buf that are read. 0: all. */
    int64_t size = 0;
    static constexpr const char *op = "_imdecode";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("index", index, 0);
        visitor("x0", x0, 0);
        visitor("y0", y0, 0);
        visitor("x1", x1, 0);
        visitor("y1", y1, 0);
        visitor("c", c, 3);
        visitor("size", size, 0);
    }
    static constexpr size_t count = 7, text_bytes = 231; /* room for visit */
};
inline ndarray imdecode(const ndarray &mean, const ndarray &buf, const imdecode_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&mean, &buf});
}
inline void imdecode(into out, const ndarray &mean, const ndarray &buf, const imdecode_settings &settings = {}) {
    detail::invoke_into(out, settings, {&mean, &buf});
}

} // namespace op
} // namespace mxc

#endif

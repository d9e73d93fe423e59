/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized layers with weights, in one file for what they share: an int32 output whose unit is the product of data's
 * and weight's units, so that sums of products need no scaling. The int8 bias is converted to that unit.
 *
 *   _contrib_quantized_conv             Convolution of int8 or uint8 data with int8 weights
 *   _contrib_quantized_fully_connected  FullyConnected of them
 *
 * Both multiply 16-bit integers (operator/quantized/int8_kernels.h): weights, and samples or patches of the image. */
#include <math.h>

#include "base/text.h"
#include "operator/nn/fully_connected.h"
#include "operator/quantized/packed_quantized_conv.h"
#include "operator/quantized/quantized_conv.h"

enum { DATA, WEIGHT, BIAS };
enum {
    TILE = 64,   /* rows of weights that are widened at a time */
    FEW_ROWS = 4 /* of data, for which they are not */
};

static const char with_bias[] = "data,weight,bias,min_data,max_data,min_weight,max_weight,min_bias,max_bias";
static const char without_bias[] = "data,weight,min_data,max_data,min_weight,max_weight";

static int has_bias(const mxc_op_call *call) {
    return call->n_in == 9;
}

static int quantized_conv_n_args(int no_bias) {
    return no_bias ? 6 : 9;
}

static mxc_status quantized_conv_infer_type(mxc_op_sig *sig) {
    int layers = sig->n_in / 3; /* arguments without their bounds */
    for (int i = WEIGHT; i < layers; i++)
        MXC_TRY(mxc_sig_set_type(sig, i, MXC_I8));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_I32));
    return mxci_infer_bound_types(sig, layers);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

double mxci_quantized_layer_unit(const mxc_op_call *call, int slot) {
    int low = call->n_in / 3 + 2 * slot;
    return mxci_quantized_unit(call->in[slot].dtype, &call->in[low], &call->in[low + 1]);
}

void mxci_quantized_layer_bias(const mxc_op_call *call, int64_t n, int32_t *to) {
    double unit = mxci_quantized_layer_unit(call, DATA) * mxci_quantized_layer_unit(call, WEIGHT);
    double scale = unit > 0 ? mxci_quantized_layer_unit(call, BIAS) / unit : 0;
    mxc_tensor bias = {.data = to, .shape = mxci_shape_of(1, &n), .dtype = MXC_I32};
    mxci_rescale(NULL, MXC_REQ_WRITE, &bias, &call->in[BIAS], 0, scale);
}

static void quantized_conv_put_range(const mxc_op_call *call) {
    double most =
        mxci_quantized_layer_unit(call, DATA) * mxci_quantized_layer_unit(call, WEIGHT) * mxci_quantized_max(MXC_I32);
    mxci_assign_bounds(call, -most, most);
}

/* ---- widened rows ------------------------------------------------------------------------------------------------ */

static size_t rows_bytes(int64_t rows, int64_t step) {
    return mxci_size_align(mxci_size_of(mxci_dim_mul(rows, step), sizeof(int16_t)));
}

typedef struct widening {
    const mxc_tensor *from;
    int64_t k, step;
    int16_t *to;
} widening;

static void widen_range(void *arg, int64_t begin, int64_t end, int part) {
    const widening *w = arg;
    (void)part;
    mxci_int8_widen(w->from->dtype == MXC_U8, mxci_at(w->from, begin * w->k), end - begin, w->k, w->step,
                    w->to + begin * w->step);
}

/* to (rows, step) = from (rows, k) and zeros. */
static void widen(const mxc_run *run, const mxc_tensor *from, int64_t rows, int64_t k, int64_t step, int16_t *to) {
    widening w = {from, k, step, to};
    mxc_parallel_for(run, rows, MXCI_GRAIN / (k + 1) + 1, widen_range, &w);
}

/* ---- _contrib_quantized_fully_connected -------------------------------------------------------------------------- */

static int fc_args(const void *params) {
    return quantized_conv_n_args(((const mxci_fc_params *)params)->no_bias);
}

static const char *fc_names(const void *params) {
    return ((const mxci_fc_params *)params)->no_bias ? without_bias : with_bias;
}

static mxc_status fc_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_fc_infer(sig));
    return mxci_infer_bounds(sig, sig->n_in / 3);
}

/* Scratch: all rows of data, the bias, and a tile of weights for each part. */
static size_t fc_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *out = &sig->out_shape[0], *weight = &sig->in_shape[WEIGHT];
    const int64_t step = MXCI_INT8_ROW(weight->dim[1]);
    mxci_scratch s = {0};
    (void)pass;
    mxci_scratch_take(&s, rows_bytes(mxci_shape_count(out, 0, out->ndim - 1), step));
    mxci_scratch_array(&s, weight->dim[0], sizeof(int32_t));
    mxci_scratch_array(&s, sig->parallelism, rows_bytes(TILE, step));
    return s.bytes;
}

typedef struct fc_run {
    const mxc_op_call *call;
    int64_t n, h, k, step; /* step: elements of a widened row */
    int16_t *data;
    int32_t *bias;
    char *tiles;
} fc_run;

/* Tiles of columns begin..end-1 of the output. */
static void fc_range(void *arg, int64_t begin, int64_t end, int part) {
    const fc_run *r = arg;
    int16_t *tile = (void *)(r->tiles + (size_t)part * rows_bytes(TILE, r->step));
    for (int64_t j = begin * TILE; j < end * TILE && j < r->h; j += TILE) {
        int64_t columns = r->h - j < TILE ? r->h - j : TILE;
        mxci_int8_product p = {
            .m = r->n,
            .n = columns,
            .k = r->step,
            .a = r->data,
            .b = tile,
            .start = r->bias ? r->bias + j : NULL,
            .out = mxci_at(&r->call->out[0], j),
            .step = r->h,
            .add = r->call->req[0] == MXC_REQ_ADD,
        };
        const void *weight = mxci_at(&r->call->in[WEIGHT], j * r->k);
        if (r->n <= FEW_ROWS) {
            mxci_int8_multiply_bytes(&p, weight, r->k);
            continue;
        }
        mxci_int8_widen(0, weight, columns, r->k, r->step, tile);
        mxci_int8_multiply(&p);
    }
}

static mxc_status fc_forward(const mxc_op_call *call) {
    const mxc_shape *weight = &call->in[WEIGHT].shape;
    fc_run r = {.call = call, .h = weight->dim[0], .k = weight->dim[1], .data = call->temp};
    char *temp = call->temp;
    r.n = mxci_tensor_size(&call->out[0]) / r.h;
    r.step = MXCI_INT8_ROW(r.k);
    quantized_conv_put_range(call);
    if (call->req[0] == MXC_REQ_NULL || r.n == 0)
        return MXC_OK;
    temp += rows_bytes(r.n, r.step);
    r.bias = has_bias(call) ? (void *)temp : NULL;
    r.tiles = temp + mxci_size_align((size_t)r.h * sizeof(int32_t));
    if (r.bias)
        mxci_quantized_layer_bias(call, r.h, r.bias);
    widen(call->run, &call->in[DATA], r.n, r.k, r.step, r.data);
    mxc_parallel_for(call->run, (r.h + TILE - 1) / TILE, (int64_t)(2e5 / ((double)TILE * (double)(r.n * r.k + 1))) + 1,
                     fc_range, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_fully_connected = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_fully_connected",
    .doc = "output (int32) = FullyConnected of quantized data and weight; min_output and max_output = -r and r with r "
           "= unit of data times unit of weight times 2147483647, where a unit is the larger absolute value of the two "
           "bounds over 127 (int8) or 255 (uint8). The bias is rescaled to the unit of output",
    .args = with_bias,
    .args_of = fc_names,
    .n_args = fc_args,
    .outputs = "output,min_output,max_output",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = mxci_fc_schema,
    .param_size = sizeof(mxci_fc_params),
    .infer_shape = fc_infer,
    .infer_type = quantized_conv_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .temp_bytes = fc_temp,
    .forward = {[MXC_CPU] = fc_forward},
};

/* ---- _contrib_quantized_conv ------------------------------------------------------------------------------------- */

static int conv_args(const void *params) {
    return quantized_conv_n_args(((const mxci_conv_params *)params)->no_bias);
}

static const char *conv_names(const void *params) {
    return ((const mxci_conv_params *)params)->no_bias ? without_bias : with_bias;
}

static mxc_status conv_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_conv_infer(sig));
    return mxci_infer_bounds(sig, sig->n_in / 3);
}

/* A pointwise kernel reads all pixels as one row, which gives full tiles. */
static mxci_conv_shape conv_shape_of(const mxci_conv_params *p, const mxc_shape *data, const mxc_shape *out) {
    mxci_conv_shape s = mxci_conv_group(p, data, out);
    int is_point = 1;
    for (int i = 0; i < 3; i++)
        is_point = is_point && s.kernel[i] == 1 && s.stride[i] == 1 && s.pad[i] == 0;
    if (is_point) {
        s.in[2] = s.out[2] = s.out[0] * s.out[1] * s.out[2];
        s.in[0] = s.in[1] = s.out[0] = s.out[1] = 1;
    }
    return s;
}

enum { LANES = 16 }; /* of the geometry's table of vectors, which is not read */

mxci_int8_conv_plan mxci_int8_conv_measure(const mxci_conv_params *p, const mxc_shape *data, const mxc_shape *out) {
    mxci_conv_shape shape = conv_shape_of(p, data, out);
    mxci_int8_conv_plan plan;
    size_t sums = mxci_size_of(mxci_dim_mul(shape.filters, MXCI_INT8_TILE), sizeof(int32_t));
    mxci_conv_geometry_measure(&shape, &plan.geo);
    plan.step = MXCI_INT8_PAIRS(plan.geo.patch_size);
    plan.weights = rows_bytes(p->num_filter, plan.step);
    plan.bias = mxci_size_align(mxci_size_of(p->num_filter, sizeof(int32_t)));
    plan.tables = mxci_conv_geometry_table_bytes(&plan.geo, LANES);
    plan.image = mxci_size_align(mxci_size_add(mxci_size_of(plan.geo.elements, 1), MXCI_INT8_SLACK));
    plan.patches = rows_bytes(MXCI_INT8_TILE_ROOM, plan.step);
    plan.block = mxci_size_add(mxci_size_add(plan.image, plan.patches), mxci_size_align(sums));
    return plan;
}

void mxci_int8_conv_take(mxci_scratch *s, const mxci_int8_conv_plan *plan, int64_t parts) {
    mxci_scratch_take(s, plan->weights);
    mxci_scratch_take(s, plan->bias);
    mxci_scratch_take(s, plan->tables);
    mxci_scratch_array(s, parts, plan->block);
}

static size_t quantized_conv_conv_temp(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_int8_conv_plan plan;
    mxci_scratch s = {0};
    (void)pass;
    if (mxc_shape_size(&sig->out_shape[0]) == 0)
        return 0;
    plan = mxci_int8_conv_measure(sig->params, &sig->in_shape[DATA], &sig->out_shape[0]);
    mxci_int8_conv_take(&s, &plan, sig->parallelism);
    return s.bytes;
}

/* Tiles of pixels begin..end-1 of all samples and groups. Parts get neighbouring tiles, so that an image is padded once
 * for most of its tiles. */
static void conv_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_int8_conv *r = arg;
    const mxc_op_call *call = r->call;
    const mxci_int8_conv_plan *plan = r->plan;
    const mxci_conv_geometry *geo = &plan->geo;
    const int64_t filters = geo->shape.filters;
    char *block = r->blocks + (size_t)part * plan->block;
    int16_t *patches = (void *)(block + plan->image);
    int32_t *sums = (void *)(block + plan->image + plan->patches);
    int64_t filled = -1; /* the sample and group whose padded image is in the block */
    for (int64_t i = begin; i < end; i++) {
        int64_t index = i / r->tiles;
        const void *image = mxci_at(&call->in[DATA], index * r->image);
        if (index != filled)
            mxci_int8_pad_image(geo, image, block);
        filled = index;
        const int64_t group = index % r->groups, first = i % r->tiles * MXCI_INT8_TILE;
        const int64_t last = first + MXCI_INT8_TILE < geo->pixels ? first + MXCI_INT8_TILE : geo->pixels;
        const int64_t at = index * filters * geo->pixels + first;
        mxci_int8_convolution c = {
            .pixels = last - first,
            .filters = filters,
            .pairs = plan->step / 2,
            .patches = patches,
            .weight = r->weight + group * filters * plan->step,
            .start = r->bias ? r->bias + group * filters : NULL,
            .out = r->put ? sums : mxci_at(&call->out[0], at),
            .step = r->put ? MXCI_INT8_TILE : geo->pixels,
            .add = !r->put && call->req[0] == MXC_REQ_ADD,
        };
        mxci_int8_gather(geo, call->in[DATA].dtype == MXC_U8, block, first, last, patches);
        mxci_int8_convolve(&c);
        if (r->put)
            r->put(r, at, group, last - first, sums);
    }
}

mxci_int8_conv mxci_int8_conv_begin(const mxc_op_call *call, const mxci_conv_params *p, void *scratch,
                                    mxci_int8_conv_plan *plan) {
    const mxc_shape *data = &call->in[DATA].shape;
    char *temp = scratch;
    mxci_int8_conv r = {.call = call, .plan = plan, .groups = p->num_group, .weight = scratch};
    *plan = mxci_int8_conv_measure(p, data, &call->out[0].shape);
    mxci_conv_geometry_plan(&plan->geo, LANES, temp + plan->weights + plan->bias);
    r.image = plan->geo.shape.channels * mxci_shape_count(data, 2, data->ndim);
    r.tiles = (plan->geo.pixels + MXCI_INT8_TILE - 1) / MXCI_INT8_TILE;
    r.bias = (void *)(temp + plan->weights);
    r.blocks = temp + plan->weights + plan->bias + plan->tables;
    return r;
}

void mxci_int8_conv_run(const mxci_int8_conv *run) {
    const mxci_conv_geometry *geo = &run->plan->geo;
    mxci_int8_conv copy = *run;
    mxc_parallel_for(run->call->run, run->call->in[DATA].shape.dim[0] * run->groups * run->tiles,
                     (int64_t)(1e6 / (MXCI_INT8_TILE * (double)(geo->shape.filters * geo->patch_size + 1))) + 1,
                     conv_range, &copy);
}

static mxc_status conv_forward(const mxc_op_call *call) {
    const mxci_conv_params *p = call->params;
    mxci_int8_conv_plan plan;
    mxci_int8_conv r;
    quantized_conv_put_range(call);
    if (call->req[0] == MXC_REQ_NULL || mxc_shape_size(&call->out[0].shape) == 0)
        return MXC_OK;
    r = mxci_int8_conv_begin(call, p, call->temp, &plan);
    if (has_bias(call))
        mxci_quantized_layer_bias(call, p->num_filter, r.bias);
    else
        r.bias = NULL;
    widen(call->run, &call->in[WEIGHT], p->num_filter, plan.geo.patch_size, plan.step, r.weight);
    mxci_int8_conv_run(&r);
    return MXC_OK;
}

static int to_channels_second(const void *params, mxc_pass pass, void *out) {
    mxci_conv_params *to = out;
    (void)pass;
    *to = *(const mxci_conv_params *)params;
    to->layout = -1;
    return mxci_conv_channels_last(params);
}

static int conv_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    const mxci_conv_params *p = mxc_op_params(op);
    *out = (mxc_channels_last){.key = "layout", .weights = 1 << WEIGHT, .leads = p->num_group == 1};
    mxci_format(out->value, sizeof out->value, "%s", ndim == 4 ? "NHWC" : "NDHWC");
    return !mxci_conv_channels_last(p);
}

const mxc_op_def mxci_op_quantized_conv = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_conv",
    .doc = "output (int32) = Convolution of quantized data and weight; the range and the bias are those of "
           "_contrib_quantized_fully_connected",
    .args = with_bias,
    .args_of = conv_names,
    .n_args = conv_args,
    .outputs = "output,min_output,max_output",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = mxci_conv_schema,
    .param_size = sizeof(mxci_conv_params),
    .params_check = mxci_conv_check,
    .to_channels_second = to_channels_second,
    .infer_shape = conv_infer,
    .infer_type = quantized_conv_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .temp_bytes = quantized_conv_conv_temp,
    .channels_last = conv_channels_last,
    .packed = mxci_packed_quantized_conv,
    .forward = {[MXC_CPU] = conv_forward},
};

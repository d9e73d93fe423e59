/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _packed_quantized_conv: what a _contrib_quantized_conv with channels last is in inference on a CPU. Its weight was
 * packed by _pack_quantized_conv, once where parameters do not change. It also computes what follows it, so that its
 * sums of 32 bits take no pass over memory, with the same results as the operators that follow:
 *
 *   sum = Convolution(data, weight) + bias                    int32: as _contrib_quantized_conv
 *   code = _contrib_requantize(sum)                           int8, uint8
 *   x = _contrib_dequantize(sum) + addend                     float32
 *   number = min(limit, x < 0 ? slope x : x),  code = _contrib_quantize_v2(number)
 *
 * Which threads compute a pixel changes no result.
 */
#include "operator/quantized/packed_quantized_conv.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "operator/nn/packed_convolution.h"
#include "operator/op.h"
#include "operator/quantized/packed_quantized_conv_kernels.h"
#include "operator/quantized/quantized.h"
#include "operator/quantized/quantized_conv.h"

extern const mxc_op_def mxci_op_requantize, mxci_op_dequantize, mxci_op_quantize_v2;

enum { DATA, WEIGHT, BIAS };
enum { OUT_INT32, OUT_INT8, OUT_UINT8, OUT_FLOAT32 }; /* out_type */
enum { CODES_NONE, CODES_INT8, CODES_UINT8 };         /* codes_type */

enum { SLACK = 4 }; /* bytes behind padded images that may be read */

typedef struct packed_params {
    mxci_conv_params conv; /* first: what mxci_conv_infer_axis reads */
    mxci_calib calib;
    double slope, limit;
    int32_t out_type, codes_type, with_addend;
} packed_params;

static const mxc_param pack_schema[] = {MXCI_PACKED_GEOMETRY, MXC_PARAM_END};

static const mxc_param schema[] = {
    MXCI_PACKED_GEOMETRY,
    {MXC_PARAM_FIELD(mxci_conv_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(packed_params, out_type), .name = "out_type", .type = MXC_PARAM_ENUM, .initial = "int32",
     .choices = "int32,int8,uint8,float32", .doc = "Dtype of output: sums, codes or numbers."},
    {MXC_PARAM_FIELD(packed_params, codes_type), .name = "codes_type", .type = MXC_PARAM_ENUM, .initial = "none",
     .choices = "none,int8,uint8", .doc = "Dtype of the codes of output float32. none: there are none."},
    {MXC_PARAM_FIELD(packed_params, with_addend), .name = "with_addend", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Add the argument addend to output float32."},
    {MXC_PARAM_FIELD(packed_params, slope), .name = "slope", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "What to multiply negative numbers by, of output float32. 0: relu; 1: keep them."},
    {MXC_PARAM_FIELD(packed_params, limit), .name = "limit", .type = MXC_PARAM_FLOAT, .non_finite = 1, .initial = "inf",
     .doc = "Largest number of output float32. inf: not limited."},
    MXCI_CALIB_SCHEMA(packed_params, calib),
    MXC_PARAM_END,
};

static mxc_status check_geometry(void *params) {
    mxci_conv_params *p = params;
    p->layout = -1;
    p->num_group = 1;
    MXC_TRY(mxci_conv_check(p));
    p->layout = MXCI_PACKED_LAYOUT;
    return MXC_OK;
}

static int has_codes(const packed_params *p) {
    return p->out_type == OUT_INT8 || p->out_type == OUT_UINT8 || p->codes_type != CODES_NONE;
}

static mxc_status packed_check(void *params) {
    const packed_params *p = params;
    MXC_TRY(check_geometry(params));
    if (p->out_type != OUT_FLOAT32 &&
        (p->codes_type != CODES_NONE || p->with_addend || p->slope != 1 || p->limit != INFINITY))
        return MXC_FAIL(MXC_EINVAL, "codes_type, with_addend, slope and limit go with out_type float32");
    if (has_codes(p) && !mxci_calib_given(&p->calib))
        return MXC_FAIL(MXC_EINVAL, "codes need min_calib_range and max_calib_range");
    return MXC_OK;
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

static int packed_n_args(const void *params) {
    const packed_params *p = params;
    return (p->conv.no_bias ? 6 : 9) + p->with_addend;
}

static const char *packed_args_of(const void *params) {
    static const char *const names[2][2] = {
        {"data,weight,bias,min_data,max_data,min_weight,max_weight,min_bias,max_bias",
         "data,weight,bias,min_data,max_data,min_weight,max_weight,min_bias,max_bias,addend"},
        {"data,weight,min_data,max_data,min_weight,max_weight",
         "data,weight,min_data,max_data,min_weight,max_weight,addend"},
    };
    const packed_params *p = params;
    return names[p->conv.no_bias][p->with_addend];
}

static int packed_n_outputs(const void *params) {
    const packed_params *p = params;
    return p->out_type != OUT_FLOAT32 ? 3 : p->codes_type == CODES_NONE ? 1 : 4;
}

static const char *packed_outputs_of(const void *params) {
    const packed_params *p = params;
    return p->out_type == OUT_FLOAT32 ? "output,codes,min_codes,max_codes" : "output,min_output,max_output";
}

/* Each element of the addend is read before the output's is written, by the same thread. */
static const mxc_inplace *packed_inplace(const mxc_op *op, mxc_pass pass) {
    static const mxc_inplace sixth[] = {{MXC_FROM_IN(6), 0}, MXC_INPLACE_END};
    static const mxc_inplace ninth[] = {{MXC_FROM_IN(9), 0}, MXC_INPLACE_END};
    const packed_params *p = mxc_op_params(op);
    return pass != MXC_FORWARD || !p->with_addend ? NULL : p->conv.no_bias ? sixth : ninth;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Bytes of the packed weight for so many channels. */
static int64_t packed_size(const mxci_conv_params *p, int64_t channels) {
    mxci_conv_shape shape = {.channels = channels, .filters = p->num_filter};
    mxci_quantized_conv c;
    for (int i = 0; i < 3; i++) {
        const int axis = i - (3 - p->kernel.n);
        shape.kernel[i] = axis < 0 ? 1 : p->kernel.value[axis];
        shape.dilate[i] = axis < 0 ? 1 : p->dilate.value[axis];
    }
    mxci_quantized_measure(&shape, 1, &c);
    return mxci_dim_mul(c.panels, c.panel_bytes);
}

static mxc_status packed_infer_shape(mxc_op_sig *sig) {
    const packed_params *p = sig->params;
    const int ndim = p->conv.kernel.n + 2, layers = sig->n_in / 3;
    const mxc_shape one = mxci_shape_of(1, (int64_t[]){1});
    mxc_shape data = mxci_shape_axes(ndim), out = data, weight = mxci_shape_axes(1);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    out.dim[ndim - 1] = p->conv.num_filter;
    out.dim[0] = sig->in_shape[DATA].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    sig->in_shape[DATA].dim[0] = sig->out_shape[0].dim[0];
    for (int i = 0; i < p->conv.kernel.n; i++)
        MXC_TRY(mxci_conv_infer_axis(sig, i));
    if (!p->conv.no_bias)
        MXC_TRY(mxc_sig_set_shape(sig, BIAS, &(mxc_shape){.ndim = 1, .dim = {p->conv.num_filter}}));
    for (int i = layers; i < 3 * layers; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &one));
    if (p->with_addend)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){sig->n_in - 1, MXC_SLOT_OUT(0)}));
    if (p->codes_type != CODES_NONE)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){MXC_SLOT_OUT(0), MXC_SLOT_OUT(1)}));
    for (int i = p->codes_type != CODES_NONE ? 2 : 1; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &one));
    const int64_t channels = sig->in_shape[DATA].dim[ndim - 1];
    if (channels == 0)
        return mxc_sig_fail(sig, "argument 'data': 0 channels, expected at least 1");
    if (channels > 0)
        weight.dim[0] = packed_size(&p->conv, channels);
    return mxc_sig_set_shape(sig, WEIGHT, &weight);
}

static mxc_status packed_infer_type(mxc_op_sig *sig) {
    static const mxc_dtype types[] = {MXC_I32, MXC_I8, MXC_U8, MXC_F32}, codes[] = {MXC_F32, MXC_I8, MXC_U8};
    const packed_params *p = sig->params;
    const int layers = sig->n_in / 3;
    for (int i = WEIGHT; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_type(sig, i, i < layers ? MXC_I8 : MXC_F32));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), types[p->out_type]));
    for (int i = 1; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), i == 1 ? codes[p->codes_type] : MXC_F32));
    return MXC_OK;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static mxc_status pack_infer_shape(mxc_op_sig *sig) {
    const mxci_conv_params *p = sig->params;
    const int ndim = p->kernel.n + 2;
    mxc_shape weight = mxci_shape_axes(ndim), out = mxci_shape_axes(1);
    weight.dim[0] = p->num_filter;
    for (int i = 0; i < p->kernel.n; i++)
        weight.dim[i + 1] = p->kernel.value[i];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &weight));
    const int64_t channels = sig->in_shape[0].dim[ndim - 1];
    if (channels == 0)
        return mxc_sig_fail(sig, "argument 'weight': 0 channels, expected at least 1");
    if (channels > 0)
        out.dim[0] = packed_size(p, channels);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

typedef struct pack_run {
    mxci_quantized_conv conv;
    const int8_t *weight;
    int8_t *to;
} pack_run;

static void pack_part(void *arg, int64_t begin, int64_t end, int part) {
    const pack_run *r = arg;
    (void)part;
    mxci_quantized_pack(&r->conv, r->weight, r->to, begin, end);
}

static size_t pack_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_shape_bytes(&sig->out_shape[0], 1);
}

static mxc_status pack_forward(const mxc_op_call *call) {
    const mxci_conv_params *p = call->params;
    const mxc_shape *weight = &call->in[0].shape;
    mxc_shape data = *weight, out = data; /* of which only the channels count */
    mxc_tensor packed = call->out[0];
    pack_run r = {.weight = call->in[0].data};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    out.dim[out.ndim - 1] = p->num_filter;
    const mxci_conv_shape shape = mxci_conv_group(p, &data, &out);
    mxci_quantized_measure(&shape, 1, &r.conv);
    if (call->req[0] == MXC_REQ_ADD)
        packed.data = call->temp;
    r.to = packed.data;
    mxc_parallel_for_dynamic(call->run, r.conv.panels, 1, pack_part, &r);
    if (call->req[0] == MXC_REQ_ADD)
        mxci_assign(call->run, MXC_REQ_ADD, &call->out[0], &packed);
    return MXC_OK;
}

/* ---- convolution ------------------------------------------------------------------------------------------------- */

/* Blocks of pixels times panels are the units of work. */
typedef struct packed_plan {
    mxci_quantized_conv conv;
    int64_t pixels, block, points; /* points: of a block */
    int64_t tap, padded;           /* bytes of a tap, rounded up, and of images that are copied; 0: they are not */
} packed_plan;

/* Images are copied where rows need their padding, and where pixels are read beyond their end. */
static packed_plan make_plan(const mxci_conv_params *p, const mxc_shape *data, const mxc_shape *out, int parts) {
    const mxci_conv_shape shape = mxci_conv_group(p, data, out);
    packed_plan plan;
    mxci_quantized_measure(&shape, data->dim[0], &plan.conv);
    const mxci_quantized_conv *c = &plan.conv;
    const int64_t strip = mxci_quantized_strip(), strip_points = mxci_dim_mul(c->taps, strip);
    plan.pixels = mxc_shape_size(out) / p->num_filter;
    plan.tap = mxci_dim_add(c->depth, SLACK);
    plan.padded = 0;
    if (c->row_pad > 0 || c->depth % 4 != 0)
        plan.padded = mxci_dim_mul(mxci_dim_mul(c->batch, mxci_dim_mul(c->shape.in[0], c->shape.in[1])),
                                   mxci_dim_mul(c->shape.in[2], c->in_pixel));
    const int64_t strips = (plan.pixels + strip - 1) / strip;
    const int64_t block = mxci_packed_block(strips, c->panels, strip_points, parts);
    plan.block = block * strip;
    plan.points = mxci_dim_mul(block, strip_points);
    return plan;
}

typedef struct packed_scratch {
    uint8_t *zeros, *padded;
    const uint8_t **points; /* for each part */
    int32_t *bias;
} packed_scratch;

static packed_scratch take_scratch(const packed_plan *plan, int parts, mxci_scratch *s) {
    packed_scratch scratch;
    scratch.zeros = mxci_scratch_array(s, plan->tap, 1);
    scratch.padded = mxci_scratch_array(s, mxci_dim_add(plan->padded, SLACK), 1);
    scratch.points = mxci_scratch_array(s, mxci_dim_mul(parts, plan->points), sizeof(uint8_t *));
    scratch.bias = mxci_scratch_array(s, plan->conv.shape.filters, sizeof(int32_t));
    return scratch;
}

static size_t packed_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_scratch s = {0};
    (void)pass;
    if (mxc_shape_size(&sig->out_shape[0]) == 0)
        return 0;
    const packed_plan plan = make_plan(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->parallelism);
    take_scratch(&plan, sig->parallelism, &s);
    return s.bytes;
}

typedef struct packed_run {
    packed_plan plan;
    packed_scratch scratch;
    int is_signed;
    const uint8_t *in;
    const int8_t *weight;
    mxci_quantized_epilogue epilogue;
} packed_run;

/* Units begin..end-1: the panels of a block follow each other, and share its points. */
static void packed_part(void *arg, int64_t begin, int64_t end, int part) {
    const packed_run *r = arg;
    const packed_plan *plan = &r->plan;
    const uint8_t **points = r->scratch.points + part * plan->points;
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t first = unit / plan->conv.panels * plan->block, panel = unit % plan->conv.panels;
        const int64_t last = plan->pixels - first < plan->block ? plan->pixels : first + plan->block;
        if (unit == begin || panel == 0)
            mxci_quantized_points(&plan->conv, r->in, r->scratch.zeros, first, last, points);
        mxci_quantized_convolve(&plan->conv, r->is_signed, points, r->weight, &r->epilogue, first, last, panel);
    }
}

/* Rows begin..end-1 of the images, with their padding. */
static void pad_part(void *arg, int64_t begin, int64_t end, int part) {
    const packed_run *r = arg;
    const mxci_quantized_conv *c = &r->plan.conv;
    const int64_t width = c->shape.in[2] * c->in_pixel, edge = c->row_pad * c->in_pixel, inside = width - 2 * edge;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        uint8_t *row = r->scratch.padded + i * width;
        memset(row, 0, (size_t)edge);
        if (inside > 0)
            memcpy(row + edge, r->in + i * inside, (size_t)inside);
        memset(row + edge + inside, 0, (size_t)edge);
    }
}

static void run_convolution(const mxc_op_call *call, packed_run *r) {
    const mxci_quantized_conv *c = &r->plan.conv;
    const double products = (double)(r->plan.block * mxci_quantized_panel()) * (double)(c->taps * c->depth);
    memset(r->scratch.zeros, 0, (size_t)r->plan.tap);
    if (r->plan.padded > 0) {
        mxc_parallel_for_dynamic(call->run, c->batch * c->shape.in[0] * c->shape.in[1],
                                 MXCI_GRAIN / (c->shape.in[2] * c->in_pixel) + 1, pad_part, r);
        memset(r->scratch.padded + r->plan.padded, 0, SLACK);
        r->in = r->scratch.padded;
    }
    mxc_parallel_for_dynamic(call->run, (r->plan.pixels + r->plan.block - 1) / r->plan.block * c->panels,
                             (int64_t)(5e5 / (products + 1)) + 1, packed_part, r);
}

/* ---- what becomes of sums ---------------------------------------------------------------------------------------- */

static const mxc_tensor *wanted(const mxc_op_call *call, int slot) {
    return mxci_is_wanted(call->req[slot], &call->out[slot]) ? &call->out[slot] : NULL;
}

/* Codes of numbers in units of a unit, in output slot, and their range in the two outputs behind it. */
static void set_codes(const mxc_op_call *call, double unit, int slot, mxci_quantized_epilogue *e) {
    const mxci_calib *calib = &((const packed_params *)call->params)->calib;
    const mxc_dtype type = call->out[slot].dtype;
    const double range = fmax(fabs(calib->low), fabs(calib->high));
    mxc_op_call codes = *call;
    codes.out += slot;
    codes.req += slot;
    mxci_assign_range(&codes, calib, type == MXC_U8 ? 0 : -range, range);
    e->code_scale = unit * mxci_inverse_unit(mxci_calib_unit(calib, type, calib->low, calib->high));
    e->least = mxci_calib_least(calib, type);
    e->most = mxci_quantized_max(type);
    e->codes = wanted(call, slot) ? call->out[slot].data : NULL;
    e->adds_codes = call->req[slot] == MXC_REQ_ADD;
}

/* The epilogue, and outputs of bounds. The bounds of sums are rounded to float32 even where they are no output. */
static mxci_quantized_epilogue make_epilogue(const mxc_op_call *call) {
    const packed_params *p = call->params;
    const double most =
        mxci_quantized_layer_unit(call, DATA) * mxci_quantized_layer_unit(call, WEIGHT) * mxci_quantized_max(MXC_I32);
    const double unit = fabs((double)(float)most) / mxci_quantized_max(MXC_I32);
    mxci_quantized_epilogue e = {.unit = unit, .slope = (float)p->slope, .limit = (float)p->limit};
    if (p->out_type == OUT_INT32) {
        mxci_assign_bounds(call, -most, most);
        e.sums = wanted(call, 0) ? call->out[0].data : NULL;
    } else if (p->out_type == OUT_FLOAT32) {
        e.is_number = 1;
        e.numbers = wanted(call, 0) ? call->out[0].data : NULL;
        e.addend = p->with_addend ? call->in[call->n_in - 1].data : NULL;
        if (p->codes_type != CODES_NONE)
            set_codes(call, 1, 1, &e);
    } else {
        set_codes(call, unit, 0, &e);
    }
    e.adds = call->req[0] == MXC_REQ_ADD;
    return e;
}

static mxc_status packed_forward(const mxc_op_call *call) {
    const packed_params *p = call->params;
    const int parts = call->run ? mxc_engine_parallelism(call->run->engine) : 1;
    packed_run r = {.is_signed = call->in[DATA].dtype == MXC_I8,
                    .in = call->in[DATA].data,
                    .weight = call->in[WEIGHT].data,
                    .epilogue = make_epilogue(call)};
    if (!r.epilogue.sums && !r.epilogue.codes && !r.epilogue.numbers)
        return MXC_OK;
    r.plan = make_plan(&p->conv, &call->in[DATA].shape, &call->out[0].shape, parts);
    r.scratch = take_scratch(&r.plan, parts, &(mxci_scratch){.base = call->temp});
    if (!p->conv.no_bias) {
        mxci_quantized_layer_bias(call, p->conv.num_filter, r.scratch.bias);
        r.epilogue.bias = r.scratch.bias;
    }
    run_convolution(call, &r);
    return MXC_OK;
}

/* ---- what passes ask --------------------------------------------------------------------------------------------- */

enum { TEXTS = 20 };

typedef struct texts {
    int n;
    const char *keys[TEXTS], *values[TEXTS];
} texts;

/* A text for a parameter, in place of one that it has already. */
static void put_text(texts *t, const char *key, const char *value) {
    int i = 0;
    while (i < t->n && strcmp(t->keys[i], key) != 0)
        i++;
    t->n = i < t->n ? t->n : t->n + 1;
    t->keys[i] = key;
    t->values[i] = value;
}

/* The texts of those parameters of an operator that are listed. */
static void put_given(texts *t, const mxc_op *op, int n, const char *const *listed) {
    const char *key, *value;
    for (int i = 0; i < mxc_op_n_given(op); i++) {
        mxc_op_given(op, i, &key, &value);
        for (int j = 0; j < n; j++)
            if (!strcmp(key, listed[j]))
                put_text(t, key, value);
    }
}

static const char *const geometry[] = {"kernel", "stride", "dilate", "pad", "num_filter", "no_bias"};
enum { GEOMETRY = sizeof geometry / sizeof *geometry };

/* A kernel with very many taps is left to _contrib_quantized_conv. */
mxc_status mxci_packed_quantized_conv(const mxc_op_sig *sig, mxc_op **pack, mxc_op **packed) {
    const mxci_conv_params *p = sig->params;
    texts t = {0};
    *pack = *packed = NULL;
    if (!mxci_conv_channels_last(p) || p->num_group != 1 || mxc_shape_size(&sig->in_shape[DATA]) == 0)
        return MXC_OK;
    const packed_plan plan = make_plan(p, &sig->in_shape[DATA], &sig->out_shape[0], 1);
    if (plan.points > MXCI_PACKED_POINTS_LIMIT)
        return MXC_OK;
    put_given(&t, sig->op, GEOMETRY - 1, geometry);
    MXC_TRY(mxc_op_create("_pack_quantized_conv", t.n, t.keys, t.values, pack));
    put_given(&t, sig->op, GEOMETRY, geometry);
    const mxc_status status = mxc_op_create("_packed_quantized_conv", t.n, t.keys, t.values, packed);
    if (status != MXC_OK) {
        mxc_op_release(*pack);
        *pack = NULL;
    }
    return status;
}

/* All parameters of op. */
static void put_all(texts *t, const mxc_op *op) {
    const char *key, *value;
    for (int i = 0; i < mxc_op_n_given(op) && t->n < TEXTS - 4; i++) {
        mxc_op_given(op, i, &key, &value);
        put_text(t, key, value);
    }
}

/* The calibrated range of next, and the dtype of its codes. */
static mxc_status join_codes(texts *t, const mxc_op *next, const char *key, mxc_op **out) {
    static const char *const range[] = {"min_calib_range", "max_calib_range", "half_steps"};
    const mxci_range_params *p = mxc_op_params(next);
    if (!mxci_calib_given(&p->calib))
        return MXC_OK;
    put_given(t, next, 3, range);
    put_text(t, key, mxc_dtype_name(mxci_calib_type(p->out_type, &p->calib)));
    return mxc_op_create("_packed_quantized_conv", t->n, t->keys, t->values, out);
}

static mxc_status packed_joined(const mxc_op *op, const mxc_op *next, int *keeps, mxc_op **out) {
    const packed_params *p = mxc_op_params(op);
    const mxc_op_def *def = mxc_op_get_def(next);
    texts t = {0};
    *out = NULL;
    *keeps = 0;
    put_all(&t, op);
    if (p->out_type == OUT_INT32 && def == &mxci_op_requantize)
        return join_codes(&t, next, "out_type", out);
    if (p->out_type == OUT_INT32 && def == &mxci_op_dequantize) {
        put_text(&t, "out_type", "float32");
        return mxc_op_create("_packed_quantized_conv", t.n, t.keys, t.values, out);
    }
    *keeps = 1;
    if (p->out_type == OUT_FLOAT32 && p->codes_type == CODES_NONE && def == &mxci_op_quantize_v2)
        return join_codes(&t, next, "codes_type", out);
    return MXC_OK;
}

/* The array is added, unless one is already; what rectifies comes last. */
static mxc_status packed_epilogue(const mxc_op *op, mxc_device device, const mxc_epilogue *what, mxc_op **out) {
    const packed_params *p = mxc_op_params(op);
    char slope[40], limit[40];
    texts t = {0};
    *out = NULL;
    if (device != MXC_CPU || p->out_type != OUT_FLOAT32 || p->codes_type != CODES_NONE || p->slope != 1 ||
        p->limit != INFINITY || (what->adds && p->with_addend))
        return MXC_OK;
    put_all(&t, op);
    mxci_format(slope, sizeof slope, "%.17g", what->slope);
    mxci_format(limit, sizeof limit, "%.17g", what->limit);
    if (what->adds)
        put_text(&t, "with_addend", "True");
    put_text(&t, "slope", slope);
    put_text(&t, "limit", limit);
    return mxc_op_create("_packed_quantized_conv", t.n, t.keys, t.values, out);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_pack_quantized_conv = {
    .size = sizeof(mxc_op_def),
    .name = "_pack_quantized_conv",
    .doc = "The int8 weight (num_filter, kernel..., C) of a convolution as _packed_quantized_conv reads it, (size,). "
           "The order depends on the processor.",
    .params = pack_schema,
    .param_size = sizeof(mxci_conv_params),
    .params_check = check_geometry,
    .flags = MXC_OP_HIDDEN | MXC_OP_ZERO_GRADIENT,
    .args = "weight",
    .infer_shape = pack_infer_shape,
    .dtypes = MXC_DTYPE_BIT(MXC_I8),
    .temp_bytes = pack_temp_bytes,
    .forward = {[MXC_CPU] = pack_forward},
};

const mxc_op_def mxci_op_packed_quantized_conv = {
    .size = sizeof(mxc_op_def),
    .name = "_packed_quantized_conv",
    .doc = "_contrib_quantized_conv of data (N, spatial..., C), for inference on a CPU, by a weight from "
           "_pack_quantized_conv with the same parameters, and the operators that follow it: with out_type int8 or "
           "uint8 _contrib_requantize; with float32 _contrib_dequantize, the addition of addend, x < 0 ? slope x : x, "
           "at most limit, and with codes_type _contrib_quantize_v2 of output.",
    .args = "data,weight,bias,min_data,max_data,min_weight,max_weight,min_bias,max_bias,addend",
    .args_of = packed_args_of,
    .n_args = packed_n_args,
    .outputs = "output,min_output,max_output",
    .outputs_of = packed_outputs_of,
    .n_outputs = packed_n_outputs,
    .flags = MXC_OP_HIDDEN | MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(packed_params),
    .params_check = packed_check,
    .infer_shape = packed_infer_shape,
    .infer_type = packed_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .inplace = packed_inplace,
    .temp_bytes = packed_temp_bytes,
    .epilogue = packed_epilogue,
    .joined = packed_joined,
    .forward = {[MXC_CPU] = packed_forward},
};

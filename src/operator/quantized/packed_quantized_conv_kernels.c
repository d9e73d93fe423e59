/* SPDX-License-Identifier: Apache-2.0 */
/* See packed_quantized_conv_kernels.h. With VNNI a tile is 14 pixels by 32 filters, in 28 of 32 registers. Its
 * instruction takes data without a sign: of signed data the highest bit is inverted, which adds 128, and 128 times the
 * sum of the weights is subtracted. Elsewhere quads are widened to two pairs of 16 bits, whose products are added up by
 * the instruction for pairs, and each filter has two sums until the end. */
#include "operator/quantized/packed_quantized_conv_kernels.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/size.h"
#include "operator/quantized/quantize_kernels.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { QUAD = 4 };
#if defined(__AVX512VNNI__)
enum { PANEL = 32, STRIP = 14, ADDS_128 = 1 };
#elif defined(__AVX2__)
enum { PANEL = 16, STRIP = 3, ADDS_128 = 0 };
#else
enum { PANEL = 16, STRIP = 1, ADDS_128 = 0 };
#endif

int64_t mxci_quantized_panel(void) {
    return PANEL;
}

int64_t mxci_quantized_strip(void) {
    return STRIP;
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

enum { JOINED_CHANNELS = 16 }; /* of a tap, at most, whose row is one tap */

static int64_t quads_of(const mxci_quantized_conv *c) {
    return c->depth / QUAD + (c->depth % QUAD != 0);
}

void mxci_quantized_measure(const mxci_conv_shape *shape, int64_t batch, mxci_quantized_conv *out) {
    mxci_quantized_conv c = {.shape = *shape, .batch = batch, .depth = shape->channels, .in_pixel = shape->channels};
    mxci_conv_shape *s = &c.shape;
    if (s->channels <= JOINED_CHANNELS && s->kernel[2] > 1 && s->dilate[2] == 1) {
        c.depth = mxci_dim_mul(s->channels, s->kernel[2]);
        c.row_pad = s->pad[2];
        s->in[2] = mxci_dim_add(s->in[2], mxci_dim_mul(2, s->pad[2]));
        s->pad[2] = 0;
        s->kernel[2] = 1;
    }
    c.taps = mxci_dim_mul(mxci_dim_mul(s->kernel[0], s->kernel[1]), s->kernel[2]);
    c.panels = (s->filters + PANEL - 1) / PANEL;
    c.panel_bytes = mxci_dim_mul(mxci_dim_mul(c.taps, quads_of(&c)), QUAD * PANEL);
    c.panel_bytes = mxci_dim_add(c.panel_bytes, PANEL * sizeof(int32_t));
    *out = c;
}

void mxci_quantized_pack(const mxci_quantized_conv *c, const int8_t *weight, int8_t *packed, int64_t begin,
                         int64_t end) {
    const int64_t quads = quads_of(c);
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = i * PANEL;
        int8_t *to = packed + i * c->panel_bytes;
        int32_t sums[PANEL] = {0};
        memset(to, 0, (size_t)c->panel_bytes);
        for (int64_t j = 0; j < PANEL && first + j < c->shape.filters; j++) {
            const int8_t *from = weight + (first + j) * c->taps * c->depth;
            uint32_t sum = 0;
            for (int64_t tap = 0; tap < c->taps; tap++)
                for (int64_t k = 0; k < c->depth; k++, from++) {
                    to[((tap * quads + k / QUAD) * PANEL + j) * QUAD + k % QUAD] = *from;
                    sum += (uint32_t)*from;
                }
            sums[j] = (int32_t)sum;
        }
        memcpy(to + c->panel_bytes - (int64_t)sizeof sums, sums, sizeof sums);
    }
}

#define T uint8_t
#define CONV mxci_quantized_conv
#include "operator/nn/packed_points_kernels.inc"

void mxci_quantized_points(const mxci_quantized_conv *c, const uint8_t *in, const uint8_t *zeros, int64_t begin,
                           int64_t end, const uint8_t **points) {
    make_points(c, in, zeros, begin, end, points);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

typedef struct tile {
    int64_t taps, quads;
    const uint8_t *const *in; /* [taps][STRIP] */
    const int8_t *weight;     /* [taps][quads][PANEL][QUAD] */
    const int32_t *start;     /* (PANEL) */
    int32_t *sums;            /* (rows, PANEL) */
} tile;

#if defined(__AVX2__)
MXCI_INLINE uint32_t load_quad(const uint8_t *p) {
    uint32_t quad;
    memcpy(&quad, p, sizeof quad);
    return quad;
}
#endif

#if defined(__AVX512VNNI__)

MXCI_INLINE void sum_tile(const int rows, const int is_signed, const tile *t) {
    enum { LANES = 16, VECTORS = PANEL / LANES };
    const __m512i flip = _mm512_set1_epi32((int)0x80808080u);
    const int8_t *weight = t->weight;
    __m512i acc[STRIP][VECTORS];
    MXCI_UNROLL
    for (int i = 0; i < rows; i++)
        MXCI_UNROLL
    for (int j = 0; j < VECTORS; j++)
        acc[i][j] = _mm512_loadu_si512(t->start + j * LANES);
    for (int64_t tap = 0; tap < t->taps; tap++) {
        const uint8_t *const *in = t->in + tap * STRIP;
        for (int64_t k = 0; k < t->quads; k++, weight += PANEL * QUAD) {
            const __m512i w0 = _mm512_loadu_si512(weight), w1 = _mm512_loadu_si512(weight + LANES * QUAD);
            MXCI_UNROLL
            for (int i = 0; i < rows; i++) {
                __m512i x = _mm512_set1_epi32((int)load_quad(in[i] + k * QUAD));
                if (is_signed)
                    x = _mm512_xor_si512(x, flip);
                acc[i][0] = _mm512_dpbusd_epi32(acc[i][0], x, w0);
                acc[i][1] = _mm512_dpbusd_epi32(acc[i][1], x, w1);
            }
        }
    }
    MXCI_UNROLL
    for (int i = 0; i < rows; i++)
        MXCI_UNROLL
    for (int j = 0; j < VECTORS; j++)
        _mm512_storeu_si512(t->sums + i * PANEL + j * LANES, acc[i][j]);
}

#else

/* Two pairs of 16 bits from a quad, in each quarter of a vector. */
MXCI_INLINE mxci_v_i16 widen_data(const int is_signed, const uint8_t *p) {
#if defined(__AVX2__)
    const __m128i quad = _mm_cvtsi32_si128((int)load_quad(p));
    return (mxci_v_i16)_mm256_broadcastq_epi64(is_signed ? _mm_cvtepi8_epi16(quad) : _mm_cvtepu8_epi16(quad));
#else
    int16_t lane[QUAD];
    uint64_t pairs;
    for (int i = 0; i < QUAD; i++)
        lane[i] = is_signed ? (int8_t)p[i] : p[i];
    memcpy(&pairs, lane, sizeof pairs);
    return (mxci_v_i16)(mxci_v_u64){pairs, pairs, pairs, pairs};
#endif
}

MXCI_INLINE void sum_tile(const int rows, const int is_signed, const tile *t) {
    enum { FILTERS = 4, VECTORS = PANEL / FILTERS }; /* of a vector of quads */
    const int8_t *weight = t->weight;
    mxci_v_u32 acc[STRIP][VECTORS];
    MXCI_UNROLL
    for (int i = 0; i < rows; i++)
        MXCI_UNROLL
    for (int j = 0; j < VECTORS; j++)
        acc[i][j] = (mxci_v_u32){0};
    for (int64_t tap = 0; tap < t->taps; tap++) {
        const uint8_t *const *in = t->in + tap * STRIP;
        for (int64_t k = 0; k < t->quads; k++, weight += PANEL * QUAD) {
            mxci_v_i16 x[STRIP];
            MXCI_UNROLL
            for (int i = 0; i < rows; i++)
                x[i] = widen_data(is_signed, in[i] + k * QUAD);
            MXCI_UNROLL
            for (int j = 0; j < VECTORS; j++) {
                const mxci_v_i16 w = mxci_widen_i8(weight + j * FILTERS * QUAD);
                MXCI_UNROLL
                for (int i = 0; i < rows; i++)
                    acc[i][j] += mxci_multiply_pairs(x[i], w);
            }
        }
    }
    MXCI_UNROLL
    for (int i = 0; i < rows; i++)
        MXCI_UNROLL
    for (int j = 0; j < PANEL; j++)
        t->sums[i * PANEL + j] = (int32_t)((uint32_t)t->start[j] + acc[i][j / FILTERS][j % FILTERS * 2] +
                                           acc[i][j / FILTERS][j % FILTERS * 2 + 1]);
}

#endif

/* Tiles of so many pixels have loops of their own. */
#define TILE(n)                                         \
    static void sum_##n(int is_signed, const tile *t) { \
        if (is_signed)                                  \
            sum_tile(n, 1, t);                          \
        else                                            \
            sum_tile(n, 0, t);                          \
    }
TILE(1)
#if defined(__AVX512VNNI__)
TILE(4)
TILE(7)
TILE(14)
#elif defined(__AVX2__)
TILE(3)
#endif

static const struct {
    int rows;
    void (*sum)(int is_signed, const tile *t);
} tiles[] = {
#if defined(__AVX512VNNI__)
    {14, sum_14},
    {7, sum_7},
    {4, sum_4},
#elif defined(__AVX2__)
    {3, sum_3},
#endif
    {1, sum_1},
};

/* The sums of up to a strip of pixels: tiles as large as possible. */
static void sum_strip(int is_signed, tile t, int rows) {
    for (int i = 0; rows > 0; rows -= tiles[i].rows) {
        while (tiles[i].rows > rows)
            i++;
        tiles[i].sum(is_signed, &t);
        t.in += tiles[i].rows;
        t.sums += tiles[i].rows * PANEL;
    }
}

/* ---- what becomes of them ---------------------------------------------------------------------------------------- */

static void store_codes(const mxci_quantized_epilogue *e, int64_t n, const int32_t *restrict code, int64_t at) {
    uint8_t *restrict to = e->codes + at;
    if (e->adds_codes) {
        for (int64_t j = 0; j < n; j++)
            to[j] = (uint8_t)(to[j] + code[j]);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        to[j] = (uint8_t)code[j];
}

/* n filters of a pixel, the first of which is element at of the outputs. */
MXCI_INLINE void put_codes(const mxci_quantized_epilogue *e, int64_t n, const int32_t *restrict sums, int64_t at) {
    const double scale = e->code_scale, least = e->least, most = e->most;
    int32_t code[PANEL];
    for (int j = 0; j < PANEL; j++)
        code[j] = mxci_quantize_number(sums[j], 0, scale, least, most);
    store_codes(e, n, code, at);
}

MXCI_INLINE void put_numbers(const mxci_quantized_epilogue *e, int64_t n, const int32_t *restrict sums, int64_t at) {
    const double unit = e->unit, scale = e->code_scale, least = e->least, most = e->most;
    const float slope = e->slope, limit = e->limit;
    float x[PANEL];
    int32_t code[PANEL];
    for (int j = 0; j < PANEL; j++)
        x[j] = (float)(sums[j] * unit);
    if (e->addend)
        for (int64_t j = 0; j < n; j++)
            x[j] += e->addend[at + j];
    for (int j = 0; j < PANEL; j++) {
        const float negative = slope == 0 ? 0 : x[j] * slope;
        x[j] = x[j] < 0 ? negative : x[j];
        x[j] = x[j] > limit ? limit : x[j];
    }
    if (e->codes) {
        for (int j = 0; j < PANEL; j++)
            code[j] = mxci_quantize_number((double)x[j], 0, scale, least, most);
        store_codes(e, n, code, at);
    }
    if (e->numbers && e->adds)
        for (int64_t j = 0; j < n; j++)
            e->numbers[at + j] += x[j];
    else if (e->numbers)
        memcpy(e->numbers + at, x, (size_t)n * sizeof *x);
}

#if defined(__AVX512F__)

/* The same for whole vectors; not for requests to add, and code_scale must be finite. Products keep the instruction of
 * their own, since a fused multiplication and addition rounds differently. */
MXCI_INLINE __m512d product(__m512d a, __m512d b) {
    return _mm512_mul_round_pd(a, b, _MM_FROUND_CUR_DIRECTION);
}

/* mxci_quantize_number. Lanes of NaN are undefined. */
MXCI_INLINE __m256i quantize_lanes(const mxci_quantized_epilogue *e, __m512d x) {
    const __m512d sign = _mm512_set1_pd(-0.0), half = _mm512_set1_pd(0.5);
    x = product(x, _mm512_set1_pd(e->code_scale));
    x = _mm512_add_pd(x, _mm512_or_pd(_mm512_and_pd(x, sign), half));
    x = _mm512_min_pd(_mm512_max_pd(x, _mm512_set1_pd(e->least)), _mm512_set1_pd(e->most));
    return _mm512_cvttpd_epi32(x);
}

MXCI_INLINE __m512i join_halves(__m256i low, __m256i high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Lanes of mask of 16 filters. */
MXCI_INLINE void put_lanes(const mxci_quantized_epilogue *e, __mmask16 mask, const int32_t *sums, int64_t at) {
    const __m512d low = _mm512_cvtepi32_pd(_mm256_loadu_si256((const void *)sums));
    const __m512d high = _mm512_cvtepi32_pd(_mm256_loadu_si256((const void *)(sums + 8)));
    __m512i code;
    if (e->is_number) {
        const __m512d unit = _mm512_set1_pd(e->unit);
        const __m256 x0 = _mm512_cvtpd_ps(product(low, unit)), x1 = _mm512_cvtpd_ps(product(high, unit));
        __m512 x = _mm512_insertf32x8(_mm512_castps256_ps512(x0), x1, 1);
        if (e->addend)
            x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, e->addend + at));
        const __mmask16 is_negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
        const __m512 slope = _mm512_set1_ps(e->slope);
        x = e->slope == 0 ? _mm512_mask_mov_ps(x, is_negative, slope) : _mm512_mask_mul_ps(x, is_negative, x, slope);
        x = _mm512_min_ps(_mm512_set1_ps(e->limit), x); /* the second operand where one is NaN */
        if (e->numbers)
            _mm512_mask_storeu_ps(e->numbers + at, mask, x);
        if (!e->codes)
            return;
        code = join_halves(quantize_lanes(e, _mm512_cvtps_pd(_mm512_castps512_ps256(x))),
                           quantize_lanes(e, _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))));
        code = _mm512_maskz_mov_epi32(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), code);
    } else {
        code = join_halves(quantize_lanes(e, low), quantize_lanes(e, high));
    }
    _mm_mask_storeu_epi8(e->codes + at, mask, _mm512_cvtepi32_epi8(code));
}

/* Returns 0 if it cannot. */
static int put_vectors(const mxci_quantized_epilogue *e, int rows, int64_t n, const int32_t *sums, int64_t at,
                       int64_t step) {
    enum { LANES = 16 };
    if (e->sums || e->adds || e->adds_codes || (e->codes && !isfinite(e->code_scale)))
        return 0;
    for (int i = 0; i < rows; i++, sums += PANEL, at += step)
        for (int64_t j = 0; j < n; j += LANES)
            put_lanes(e, (__mmask16)(n - j < LANES ? (1 << (n - j)) - 1 : -1), sums + j, at + j);
    return 1;
}

#else

static int put_vectors(const mxci_quantized_epilogue *e, int rows, int64_t n, const int32_t *sums, int64_t at,
                       int64_t step) {
    (void)e, (void)rows, (void)n, (void)sums, (void)at, (void)step;
    return 0;
}

#endif

static void put_sums(const mxci_quantized_epilogue *e, int64_t n, const int32_t *sums, int64_t at) {
    for (int64_t j = 0; j < n; j++)
        e->sums[at + j] = (int32_t)((e->adds ? (uint32_t)e->sums[at + j] : 0) + (uint32_t)sums[j]);
}

/* The pixels of a strip, step filters each. Whole panels have loops of their own, in which n is a constant. */
static void put_strip(const mxci_quantized_epilogue *e, int rows, int64_t n, const int32_t *sums, int64_t at,
                      int64_t step) {
    if (put_vectors(e, rows, n, sums, at, step))
        return;
    for (int i = 0; i < rows; i++, sums += PANEL, at += step) {
        if (e->sums)
            put_sums(e, n, sums, at);
        else if (e->is_number && n == PANEL)
            put_numbers(e, PANEL, sums, at);
        else if (e->is_number)
            put_numbers(e, n, sums, at);
        else if (n == PANEL)
            put_codes(e, PANEL, sums, at);
        else
            put_codes(e, n, sums, at);
    }
}

void mxci_quantized_convolve(const mxci_quantized_conv *c, int is_signed, const uint8_t *const *points,
                             const int8_t *packed, const mxci_quantized_epilogue *e, int64_t begin, int64_t end,
                             int64_t panel) {
    const int64_t first = panel * PANEL, filters = c->shape.filters;
    const int64_t n = filters - first < PANEL ? filters - first : PANEL;
    const int8_t *weight = packed + panel * c->panel_bytes;
    int32_t start[PANEL], sums[STRIP * PANEL];
    tile t = {.taps = c->taps, .quads = quads_of(c), .weight = weight, .start = start, .sums = sums};
    memcpy(start, weight + c->panel_bytes - (int64_t)sizeof start, sizeof start);
    for (int64_t j = 0; j < PANEL; j++) {
        const uint32_t bias = e->bias && j < n ? (uint32_t)e->bias[first + j] : 0;
        start[j] = (int32_t)(bias - (ADDS_128 && is_signed ? 128 * (uint32_t)start[j] : 0));
    }
    for (int64_t p = begin; p < end; p += STRIP) {
        const int rows = (int)(end - p < STRIP ? end - p : STRIP);
        t.in = points + (p - begin) * c->taps;
        sum_strip(is_signed, t, rows);
        put_strip(e, rows, n, sums, p * filters + first, filters);
    }
}

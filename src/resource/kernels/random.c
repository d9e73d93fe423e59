/* Random numbers in bulk: Philox words by the block, then uniform and normal floats from them. */
#include "resource/kernels/random.h"

#include <math.h>

#include "resource/kernels/philox.h"

enum { BLOCKS = 8, BATCH = 256 }; /* blocks computed side by side; words held at once */

/* BLOCKS whole blocks from block number block on, laid out so that the compiler uses one vector for a word of all. */
static void many_blocks(uint64_t seed, uint64_t stream, uint64_t block, uint32_t *out) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    uint32_t x0[BLOCKS], x1[BLOCKS], x2[BLOCKS], x3[BLOCKS];
    for (int j = 0; j < BLOCKS; j++) {
        x0[j] = (uint32_t)(block + (uint64_t)j);
        x1[j] = (uint32_t)((block + (uint64_t)j) >> 32);
        x2[j] = (uint32_t)stream;
        x3[j] = (uint32_t)(stream >> 32);
    }
    for (uint32_t i = 0; i < 10; i++)
        for (int j = 0; j < BLOCKS; j++) {
            mxci_philox x = { { x0[j], x1[j], x2[j], x3[j] } };
            mxci_philox_round(&x, key0 + i * 0x9E3779B9u, key1 + i * 0xBB67AE85u);
            x0[j] = x.word[0];
            x1[j] = x.word[1];
            x2[j] = x.word[2];
            x3[j] = x.word[3];
        }
    for (int j = 0; j < BLOCKS; j++) {
        out[4 * j] = x0[j];
        out[4 * j + 1] = x1[j];
        out[4 * j + 2] = x2[j];
        out[4 * j + 3] = x3[j];
    }
}

void mxci_random_words(uint64_t seed, uint64_t stream, uint64_t first, int64_t n, uint32_t *out) {
    int64_t i = 0;
    for (; i < n && (first + (uint64_t)i) % 4 != 0; i++)
        out[i] = mxci_philox_number(seed, stream, first + (uint64_t)i);
    for (; i + 4 * BLOCKS <= n; i += 4 * BLOCKS)
        many_blocks(seed, stream, (first + (uint64_t)i) / 4, out + i);
    for (; i < n; i++)
        out[i] = mxci_philox_number(seed, stream, first + (uint64_t)i);
}

/* ---- uniform and normal, once for float and once for double ----------------------------------------------------- */

#define T float
#define NAME(f) f##_f32
#define WORDS 1
#define MATH(function) function##f
#define UNIT(words) mxci_philox_float((words)[0])
/* In (0, 1], so that its logarithm is finite: all 32 bits, since the tail of the normal comes from here. */
#define UNIT_ABOVE_0(words) (((float)(words)[0] + 1.0f) * 2.3283064365386963e-10f)
#include "resource/kernels/random.inc"
#undef T
#undef NAME
#undef WORDS
#undef MATH
#undef UNIT
#undef UNIT_ABOVE_0

#define T double
#define NAME(f) f##_f64
#define WORDS 2
#define MATH(function) function
#define UNIT(words) mxci_philox_double((words)[0], (words)[1])
#define UNIT_ABOVE_0(words) (mxci_philox_double((words)[0], (words)[1]) + 1.1102230246251565404e-16)
#include "resource/kernels/random.inc"

/* SPDX-License-Identifier: Apache-2.0 */
/* The random stream of each context: a seed, and the offset of the next number. Two atomics each, no locks. */
#include <stdatomic.h>

#include <mxc/random.h>

#include "base/error.h"
#include "math/distributions.h"

typedef struct stream_state {
    _Atomic uint64_t seed, offset;
} stream_state;

/* Seed and offset are separate atomics: a reservation concurrent with mxc_random_seed may combine the former seed with
 * the new offset. The header promises no order between the two. */
static stream_state streams[MXC_DEVICE_LIMIT][MXC_MAX_DEVICE_ID + 1];

static mxc_status random_stream_find(mxc_context context, const char *caller, stream_state **out) {
    char name[32];
    int known =
        context.device > 0 && context.device < MXC_DEVICE_LIMIT && context.id >= 0 && context.id <= MXC_MAX_DEVICE_ID;
    *out = NULL;
    if (!known)
        return MXC_FAIL(MXC_EDEVICE, "%s: %s is not a context; ids are 0 to %d", caller,
                        mxc_context_format(context, name, sizeof name), MXC_MAX_DEVICE_ID);
    *out = &streams[context.device][context.id];
    return MXC_OK;
}

void mxc_random_seed(uint64_t seed) {
    for (int device = 0; device < MXC_DEVICE_LIMIT; device++)
        for (int id = 0; id <= MXC_MAX_DEVICE_ID; id++) {
            atomic_store(&streams[device][id].seed, seed);
            atomic_store(&streams[device][id].offset, 0);
        }
}

/* The addition makes ranges of concurrent callers disjoint. */
mxc_status mxc_random_reserve(mxc_context context, uint64_t count, mxc_random *out) {
    MXC_TRY(MXCI_OUT(out));
    stream_state *s;
    MXC_TRY(random_stream_find(context, "mxc_random_reserve", &s));
    out->seed = atomic_load(&s->seed);
    out->stream = (uint64_t)context.id;
    out->offset = atomic_fetch_add(&s->offset, count);
    return MXC_OK;
}

mxc_status mxc_random_get_state(mxc_context context, mxc_random *out) {
    MXC_TRY(MXCI_OUT(out));
    return mxc_random_reserve(context, 0, out);
}

mxc_status mxc_random_set_state(mxc_context context, const mxc_random *state) {
    MXC_TRY(MXCI_NON_NULL(state));
    stream_state *s;
    MXC_TRY(random_stream_find(context, "mxc_random_set_state", &s));
    if (state->stream != (uint64_t)context.id)
        return MXC_FAIL(MXC_EINVAL, "mxc_random_set_state: state of stream %llu, but the context's stream is %d",
                        (unsigned long long)state->stream, (int)context.id);
    atomic_store(&s->seed, state->seed);
    atomic_store(&s->offset, state->offset);
    return MXC_OK;
}

mxc_status mxc_random_reserve_on(int device_type, int device_id, uint64_t count, mxc_random *out) {
    return mxc_random_reserve((mxc_context){device_type, device_id}, count, out);
}

mxc_status mxc_random_get_state_on(int device_type, int device_id, mxc_random *out) {
    return mxc_random_get_state((mxc_context){device_type, device_id}, out);
}

mxc_status mxc_random_set_state_on(int device_type, int device_id, const mxc_random *state) {
    return mxc_random_set_state((mxc_context){device_type, device_id}, state);
}

uint32_t mxc_random_bits(const mxc_random *range, uint64_t i) {
    if (!range)
        return 0;
    return mxc_philox_number(range->seed, range->stream, range->offset + i);
}

float mxc_random_uniform(const mxc_random *range, uint64_t i) {
    if (!range)
        return 0;
    return mxc_philox_float(mxc_random_bits(range, i));
}

/* The generator of number i alone (distributions.h): its words are none of the range's plain numbers. */
static mxc_draws draws_of(const mxc_random *range, uint64_t i) {
    return (mxc_draws){.seed = range->seed, .stream = range->stream, .offset = range->offset + i};
}

double mxc_random_normal(const mxc_random *range, uint64_t i, double mean, double deviation) {
    mxc_draws draws;
    if (!range)
        return mean;
    draws = draws_of(range, i);
    return mxc_draw_normal(&draws, mean, deviation);
}

int64_t mxc_random_integer(const mxc_random *range, uint64_t i, int64_t low, int64_t high) {
    mxc_draws draws;
    if (!range || high <= low)
        return low;
    draws = draws_of(range, i);
    return mxc_draw_integer(&draws, low, high);
}

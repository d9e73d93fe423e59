/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers: the counter-based generator Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
 * 3", 2011).
 *
 * Each context has one stream: a seed and the offset of the next number. Work that needs numbers reserves a range when
 * it is queued, so that a seed gives the same numbers on every device, for any number of threads and any schedule.
 */
#ifndef MXC_RANDOM_H
#define MXC_RANDOM_H

#include <mxc/types.h>

/** A reserved range: its number i is a function of these and i alone. */
typedef struct mxc_random {
    uint64_t seed;
    uint64_t stream; /* the context's id */
    uint64_t offset; /* of number 0 of the range in the stream */
} mxc_random;

/**
 * Seed the streams of all contexts and rewind them. Contexts with different ids have different streams; gpu(i) has the
 * stream of cpu(i), so that a model gives the same numbers on both. Thread-safe, but not ordered with
 * work that other threads queue concurrently. Initial seed: 0.
 */
MXC_API void mxc_random_seed(uint64_t seed);
/** Reserve the next count numbers of a context's stream. Status: MXC_EDEVICE. Thread-safe. Does not block. */
MXC_API MXC_MUST_CHECK mxc_status mxc_random_reserve(mxc_context context, uint64_t count, mxc_random *out);
MXC_API MXC_MUST_CHECK mxc_status mxc_random_reserve_on(int device_type, int device_id, uint64_t count,
                                                        mxc_random *out);
/** Get or set the position of a context's stream, for checkpoints. Status: MXC_EDEVICE; set: MXC_EINVAL (the state is
 *  that of another stream). Not to be called while another thread reserves numbers of the context. */
MXC_API MXC_MUST_CHECK mxc_status mxc_random_get_state(mxc_context context, mxc_random *out);
MXC_API MXC_MUST_CHECK mxc_status mxc_random_set_state(mxc_context context, const mxc_random *state);
MXC_API MXC_MUST_CHECK mxc_status mxc_random_get_state_on(int device_type, int device_id, mxc_random *out);
MXC_API MXC_MUST_CHECK mxc_status mxc_random_set_state_on(int device_type, int device_id, const mxc_random *state);

/** 32 random bits: number i of the range. */
MXC_API uint32_t mxc_random_bits(const mxc_random *range, uint64_t i);
/** Number i of the range as a float in [0, 1). */
MXC_API float mxc_random_uniform(const mxc_random *range, uint64_t i);
/** A normal number, by number i of the range alone: any thread may take any i, in any order. NULL range: mean. Take
 *  another i for each number that is to be independent, whichever the function. */
MXC_API double mxc_random_normal(const mxc_random *range, uint64_t i, double mean, double deviation);
/** An integer from low to high - 1, each with the same probability, by number i of the range alone. low where high is
 *  not above it, or range is NULL. */
MXC_API int64_t mxc_random_integer(const mxc_random *range, uint64_t i, int64_t low, int64_t high);

#endif

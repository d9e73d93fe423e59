/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that the programs making the reference data give to arrays (make.py). */
#ifndef MXC_TESTS_MODELS_NUMBERS_H
#define MXC_TESTS_MODELS_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <mxc/types.h>

/* Of the array called name. */
static inline uint32_t numbers_seed(const char *name) {
    uint32_t seed = 2166136261u;
    for (const char *c = name; *c; c++)
        seed = (seed ^ (unsigned char)*c) * 16777619u;
    return seed;
}

/* Number i of an array, in [-0.5, 0.5). */
static inline double numbers_at(uint32_t seed, int64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u + seed;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    x ^= x >> 16;
    return x / 4294967296.0 - 0.5;
}

static inline int name_ends(const char *name, const char *end) {
    size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* What make.py's function array makes of number u. limit below 0: a parameter. */
static inline double numbers_value(const char *name, const mxc_shape *shape, long limit, double u) {
    if (limit >= 0)
        return limit > 0 ? floor((u + 0.5) * (double)limit) : 2 * u;
    if (name_ends(name, "gamma"))
        return 1 + 0.2 * u;
    if (name_ends(name, "var"))
        return 1 + 0.5 * (u + 0.5);
    if (name_ends(name, "beta") || name_ends(name, "bias") || name_ends(name, "mean"))
        return 0.2 * u;
    return u * sqrt(24.0 * (double)shape->dim[0] / (double)mxc_shape_size(shape));
}

#endif

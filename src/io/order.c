/*
 * A shuffle as a function: a Feistel network over the smallest square of a power of two that holds all places, gone
 * through again while the result is none. So a batch far ahead, or one to go back to, needs no table of the epoch.
 */
#include "io/order.h"

#include <math.h>

#include "resource/kernels/philox.h"

enum { ROUNDS = 8, NUMBERS = 1 << 20 };
static const uint64_t shuffle_stream = UINT64_C(0x4f52444552) << 24; /* apart from the samples' */

int64_t mxci_order_at(uint64_t seed, uint64_t epoch, int64_t n, int64_t place) {
    int half = 1;
    while (half < 31 && (int64_t)1 << 2 * half < n)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t at = (uint64_t)place;
    do
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t low = at & mask, high = at >> half;
            uint64_t mixed = mxci_philox_stream(seed, shuffle_stream ^ epoch, low * ROUNDS + round).word[0];
            at = low << half | ((high ^ mixed) & mask);
        }
    while (at >= (uint64_t)n);
    return (int64_t)at;
}

static uint32_t throw_bits(mxci_dice *dice) {
    return mxci_philox_number(dice->seed, dice->sample, dice->epoch * NUMBERS + dice->thrown++ % NUMBERS);
}

double mxci_dice_unit(mxci_dice *dice) {
    uint32_t high = throw_bits(dice);
    return mxci_philox_double(high, throw_bits(dice));
}

double mxci_dice_between(mxci_dice *dice, double low, double high) {
    return low + (high - low) * mxci_dice_unit(dice);
}

int64_t mxci_dice_int(mxci_dice *dice, int64_t low, int64_t high) {
    return low + (int64_t)(mxci_dice_unit(dice) * (double)(high - low + 1));
}

/* Box and Muller. */
double mxci_dice_normal(mxci_dice *dice) {
    double radius = sqrt(-2 * log(1 - mxci_dice_unit(dice)));
    return radius * cos(2 * M_PI * mxci_dice_unit(dice));
}

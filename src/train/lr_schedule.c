/* SPDX-License-Identifier: Apache-2.0 */
/* Learning-rate schedules: functions of the number of updates done, without a state, so that a resumed training
 * continues the schedule by its count of updates. The formulas are those of MXNet's schedulers. */
#include <math.h>

#include <mxc/train.h>

static double at_least_final(const mxc_schedule *s, double lr) {
    return lr < s->final_lr ? s->final_lr : lr;
}

/* base * factor^floor(t / step), at least final_lr. */
static double factor_lr(const mxc_schedule *s, double base, double t) {
    return at_least_final(s, s->step > 0 ? base * pow(s->factor, floor(t / (double)s->step)) : base);
}

/* MXNet compares with a count of updates from 1: the rate changes after update steps[i] has been counted. The
 * lower bound final_lr, 0 by default, is not one of MXNet's. */
static double multi_factor_lr(const mxc_schedule *s, double base, int64_t t) {
    int passed = 0;
    for (int i = 0; i < s->n_steps; i++)
        passed += t >= s->steps[i];
    return at_least_final(s, base * pow(s->factor, passed));
}

static double warmup_lr(const mxc_schedule *s, double base, int64_t t) {
    if (s->warmup_mode == MXC_WARMUP_CONSTANT)
        return s->warmup_lr;
    return s->warmup_lr + (base - s->warmup_lr) * (double)(t + 1) / (double)s->warmup;
}

/* Between base, with share 1, and final_lr, with share 0. */
static double decay_lr(const mxc_schedule *s, double base, double share) {
    return s->final_lr + (base - s->final_lr) * share;
}

double mxc_schedule_lr(const mxc_schedule *schedule, double base, int64_t t) {
    if (!schedule)
        return base;
    if (t + 1 < schedule->warmup)
        return warmup_lr(schedule, base, t);
    if (t < schedule->warmup && schedule->kind != MXC_SCHEDULE_MULTI_FACTOR)
        return base;
    double at = (double)(t - schedule->warmup), total = (double)(schedule->total - schedule->warmup);
    double done = total <= 0 || at >= total ? 1 : at / total;
    switch (schedule->kind) {
    case MXC_SCHEDULE_FACTOR:
        return factor_lr(schedule, base, at);
    case MXC_SCHEDULE_POLY:
        return decay_lr(schedule, base, pow(1 - done, schedule->power));
    case MXC_SCHEDULE_COSINE:
        return decay_lr(schedule, base, (1 + cos(3.14159265358979323846 * done)) / 2);
    case MXC_SCHEDULE_MULTI_FACTOR:
        return multi_factor_lr(schedule, base, t);
    case MXC_SCHEDULE_FUNCTION:
        return schedule->function ? schedule->function(t, base, schedule->user) : base;
    case MXC_SCHEDULE_CONSTANT:
        break;
    }
    return base;
}

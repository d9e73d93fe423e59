/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops. The caller opens a loop, runs part 0, then any that is left, and waits for those that others took. */
#include "engine/schedule/parallel_for.h"

#include "engine/engine.h"
#include "engine/schedule/spin.h"

enum { SPIN_NS = 200000 }; /* how long the caller spins for parts that others run before it sleeps */

static MXCI_THREAD_LOCAL int parts_running; /* of loops, nested, on this thread */

int mxci_in_parallel_for(void) {
    return parts_running;
}

/* The fields of mxci_loop_slot.state. */
static uint32_t next_of(uint64_t state) {
    return (uint32_t)(state & 0xffff);
}

static uint32_t parts_of(uint64_t state) {
    return (uint32_t)(state >> 16 & 0xffff);
}

int mxc_parallel_parts(const mxc_run *run, int64_t n, int64_t grain) {
    int64_t parts;
    if (n <= 0)
        return 0;
    if (!run || parts_running)
        return 1;
    parts = grain > 1 ? n / grain : n;
    if (parts > run->engine->parallelism)
        return run->engine->parallelism;
    return parts < 1 ? 1 : (int)parts;
}

/* Part i of parts: sizes differ by at most one, the larger ones first. */
static void parallel_for_run_part(mxc_range_fn body, void *arg, int64_t n, uint32_t parts, uint32_t i) {
    int64_t each = n / parts, larger = n % parts;
    int64_t begin = each * i + (i < larger ? i : larger);
    parts_running++;
    body(arg, begin, begin + each + (i < larger), (int)i);
    parts_running--;
}

/* The number of a part that no thread has claimed, -1 if there is none. Claiming the last one closes the loop. Acquire
 * order: body, arg and n were stored before the state. */
static int claim(mxci_loop_slots *loops, mxci_loop_slot *loop) {
    uint64_t state = atomic_load_explicit(&loop->state, memory_order_acquire);
    while (next_of(state) < parts_of(state))
        if (atomic_compare_exchange_weak_explicit(&loop->state, &state, state + 1, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            if (next_of(state) + 1 == parts_of(state))
                atomic_fetch_and(&loops->open, ~(1u << (loop - loops->slot)));
            return (int)next_of(state);
        }
    return -1;
}

static void end_part(mxci_loop_slot *loop) {
    atomic_fetch_add(&loop->ended, 1);
    if (atomic_load(&loop->sleeping)) /* if the slot has a new owner by now, this wakes it for nothing */
        mxci_unpark(&loop->ended, 1);
}

/* Run parts of the loop in a slot until none is left; 0 if there was none. A helper that holds a part keeps the slot
 * from being reused: the caller leaves only when all parts have ended. So the next part is claimed before this one is
 * ended, and body, arg and n are those of the claimed parts. */
static int help(mxci_loop_slots *loops, mxci_loop_slot *loop) {
    int part = claim(loops, loop), any = part >= 0;
    while (part >= 0) {
        uint32_t parts = parts_of(atomic_load_explicit(&loop->state, memory_order_relaxed));
        parallel_for_run_part(loop->body, loop->arg, loop->n, parts, (uint32_t)part);
        part = claim(loops, loop); /* of the same loop */
        end_part(loop);
    }
    return any;
}

int mxci_loops_help(mxci_loop_slots *loops) {
    int any = 0;
    mxci_fork_guard_enter();
    for (int i = 0; i < MXCI_LOOP_SLOTS && !any; i++)
        if (atomic_load_explicit(&loops->open, memory_order_relaxed) >> i & 1)
            any = help(loops, &loops->slot[i]);
    mxci_fork_guard_leave();
    return any;
}

/* ---- the caller ------------------------------------------------------------------------------------------------ */

static mxci_loop_slot *take_slot(mxci_loop_slots *loops) {
    int first = mxci_thread_index();
    for (int i = 0; i < MXCI_LOOP_SLOTS; i++) {
        mxci_loop_slot *loop = &loops->slot[(first + i) % MXCI_LOOP_SLOTS];
        uint32_t idle = 0;
        if (atomic_compare_exchange_strong_explicit(&loop->taken, &idle, 1, memory_order_acquire, memory_order_relaxed))
            return loop;
    }
    return NULL;
}

/* Block until all parts, each of which runs on some thread, have ended. Acquire: the caller sees what they wrote. */
static void join(mxci_loop_slot *loop, uint32_t parts) {
    uint32_t ended;
    mxci_spin spin = mxci_spin_begin(SPIN_NS);
    do {
        if (atomic_load_explicit(&loop->ended, memory_order_acquire) == parts)
            return;
    } while (mxci_spin_again(&spin));
    atomic_store(&loop->sleeping, 1);
    while ((ended = atomic_load(&loop->ended)) != parts)
        mxci_park(&loop->ended, ended, INT64_MAX);
    atomic_store(&loop->sleeping, 0);
}

static void run_shared(mxc_engine *engine, mxci_loop_slot *loop, int parts) {
    uint64_t generation = (atomic_load_explicit(&loop->state, memory_order_relaxed) >> 32) + 1;
    int part = 0;
    atomic_store_explicit(&loop->ended, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->state, generation << 32 | (uint64_t)parts << 16 | 1, memory_order_release);
    atomic_fetch_or(&engine->loops.open, 1u << (loop - engine->loops.slot));
    engine->ops->call_helpers(engine, parts - 1);
    while (part >= 0) {
        parallel_for_run_part(loop->body, loop->arg, loop->n, (uint32_t)parts, (uint32_t)part);
        part = claim(&engine->loops, loop);
        atomic_fetch_add_explicit(&loop->ended, 1, memory_order_release);
    }
    join(loop, (uint32_t)parts);
    atomic_store_explicit(&loop->taken, 0, memory_order_release);
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* All parts here: in order, or in an order that the schedule picks, with a step that visits each part once. */
static void run_alone(mxc_engine *engine, int64_t n, uint32_t parts, mxc_range_fn body, void *arg) {
    uint32_t first = 0, step = 1;
    if (engine->ops->random) {
        first = engine->ops->random(engine) % parts;
        step = 1 + engine->ops->random(engine) % parts;
        while (common_divisor(step, parts) != 1)
            step++;
    }
    for (uint32_t i = 0; i < parts; i++)
        parallel_for_run_part(body, arg, n, parts, (uint32_t)(((uint64_t)first + (uint64_t)i * step) % parts));
}

void mxc_parallel_for(const mxc_run *run, int64_t n, int64_t grain, mxc_range_fn body, void *arg) {
    if (!body)
        return;
    int parts = mxc_parallel_parts(run, n, grain);
    mxci_loop_slot *loop;
    if (parts <= 1) {
        if (parts == 1)
            body(arg, 0, n, 0);
        return;
    }
    loop = run->engine->ops->call_helpers ? take_slot(&run->engine->loops) : NULL;
    if (!loop) {
        run_alone(run->engine, n, (uint32_t)parts, body, arg);
        return;
    }
    loop->body = body;
    loop->arg = arg;
    loop->n = n;
    run_shared(run->engine, loop, parts);
}

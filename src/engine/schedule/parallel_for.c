/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops. The caller opens a loop, runs its own parts, then any that is left, and waits for those who joined.
 */
#include "engine/schedule/parallel_for.h"

#include "engine/engine.h"
#include "engine/schedule/spin.h"

enum { SPIN_NS = 200000 };       /* how long the caller spins for parts that others run before it sleeps */
enum { PARTS_PER_THREAD = 8 };   /* of dynamic loops, at most */
enum { PLACES = (1 << 16) - 1 }; /* of mxci_loop_slot.state */

static MXCI_THREAD_LOCAL int parts_running; /* of loops, nested, on this thread */

int mxci_in_parallel_for(void) {
    return parts_running;
}

/* Grains of n, at least 1 unless n is 0, at most limit. */
static int64_t count_grains(int64_t n, int64_t grain, int64_t limit) {
    const int64_t grains = grain > 1 ? n / grain : n;
    if (n <= 0)
        return 0;
    return grains < 1 ? 1 : grains < limit ? grains : limit;
}

int mxc_parallel_parts(const mxc_run *run, int64_t n, int64_t grain) {
    return (int)count_grains(n, grain, run && !parts_running ? run->engine->parallelism : 1);
}

/* Part i: sizes differ by at most one, the larger ones first. */
static void run_part(const mxci_loop *what, uint32_t i, uint32_t thread) {
    const int64_t parts = (int64_t)what->threads * what->parts_each, each = what->n / parts, larger = what->n % parts;
    const int64_t begin = each * i + (i < larger ? i : larger);
    parts_running++;
    what->body(what->arg, begin, begin + each + (i < larger), (int)(what->is_dynamic ? thread : i));
    parts_running--;
}

/* The next part of those of one thread, -1 if all have begun. */
static int64_t begin_part(mxci_loop_slot *loop, uint32_t owner) {
    const uint32_t each = loop->what.parts_each;
    if (atomic_load_explicit(&loop->begun[owner], memory_order_relaxed) < each) {
        const uint32_t part = atomic_fetch_add_explicit(&loop->begun[owner], 1, memory_order_relaxed);
        if (part < each)
            return (int64_t)owner * each + part;
    }
    return -1;
}

/* The parts of this thread first: from loop to loop they tend to be of the same data, which this processor's caches
 * hold. */
static void run_parts(mxci_loop_slot *loop, uint32_t thread) {
    const uint32_t threads = loop->what.threads;
    for (uint32_t i = 0; i < threads; i++) {
        const uint32_t owner = thread + i < threads ? thread + i : thread + i - threads;
        for (int64_t part = begin_part(loop, owner); part >= 0; part = begin_part(loop, owner))
            run_part(&loop->what, (uint32_t)part, thread);
    }
}

static void close_loop(mxci_loop_slots *loops, const mxci_loop_slot *loop) {
    atomic_fetch_and(&loops->open, ~(1u << (loop - loops->slot)));
}

/* The number of this thread in the loop, 0 if there is no place. Acquire order: what and begun were stored before the
 * state. */
static uint32_t take_place(mxci_loop_slots *loops, mxci_loop_slot *loop) {
    uint64_t state = atomic_load_explicit(&loop->state, memory_order_acquire);
    while (state & PLACES)
        if (atomic_compare_exchange_weak_explicit(&loop->state, &state, state - 1, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            if ((state & PLACES) == 1)
                close_loop(loops, loop);
            return (uint32_t)(state & PLACES);
        }
    return 0;
}

static int help(mxci_loop_slots *loops, mxci_loop_slot *loop) {
    const uint32_t thread = take_place(loops, loop);
    if (thread == 0)
        return 0;
    run_parts(loop, thread);
    atomic_fetch_add(&loop->left, 1);
    if (atomic_load(&loop->sleeping)) /* if the slot has a new owner by now, this wakes it for nothing */
        mxci_unpark(&loop->left, 1);
    return 1;
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

/* Take the places back that are left, and block until those who have joined have left. Acquire: the caller sees what
 * they wrote. */
static void leave_last(mxci_loop_slot *loop, uint32_t places) {
    const uint64_t state = atomic_fetch_and(&loop->state, ~(uint64_t)PLACES);
    const uint32_t joined = places - (uint32_t)(state & PLACES);
    uint32_t left;
    mxci_spin spin = mxci_spin_begin(SPIN_NS);
    do {
        if (atomic_load_explicit(&loop->left, memory_order_acquire) == joined)
            return;
    } while (mxci_spin_again(&spin));
    atomic_store(&loop->sleeping, 1);
    while ((left = atomic_load(&loop->left)) != joined)
        mxci_park(&loop->left, left, INT64_MAX);
    atomic_store(&loop->sleeping, 0);
}

/* The caller is thread 0. */
static void run_shared(mxc_engine *engine, mxci_loop_slot *loop) {
    const uint64_t generation = (atomic_load_explicit(&loop->state, memory_order_relaxed) | PLACES) + 1;
    const uint32_t places = loop->what.threads - 1;
    for (uint32_t i = 0; i <= places; i++)
        atomic_store_explicit(&loop->begun[i], 0, memory_order_relaxed);
    atomic_store_explicit(&loop->left, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->state, generation | places, memory_order_release);
    atomic_fetch_or(&engine->loops.open, 1u << (loop - engine->loops.slot));
    engine->ops->call_helpers(engine, (int)places);
    run_parts(loop, 0);
    close_loop(&engine->loops, loop);
    leave_last(loop, places);
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

/* All parts here: in order, or in an order that the schedule picks, with a step that visits each part once, and as
 * threads that it picks. */
static void run_alone(mxc_engine *engine, const mxci_loop *what) {
    const uint32_t parts = what->threads * what->parts_each;
    uint32_t first = 0, step = 1, thread = 0;
    if (engine->ops->random) {
        first = engine->ops->random(engine) % parts;
        step = 1 + engine->ops->random(engine) % parts;
        while (common_divisor(step, parts) != 1)
            step++;
    }
    for (uint32_t i = 0; i < parts; i++) {
        if (engine->ops->random)
            thread = engine->ops->random(engine) % what->threads;
        run_part(what, (uint32_t)(((uint64_t)first + (uint64_t)i * step) % parts), thread);
    }
}

static void run_loop(mxc_engine *engine, const mxci_loop *what) {
    mxci_loop_slot *loop = engine->ops->call_helpers ? take_slot(&engine->loops) : NULL;
    if (!loop) {
        run_alone(engine, what);
        return;
    }
    loop->what = *what;
    run_shared(engine, loop);
}

void mxc_parallel_for(const mxc_run *run, int64_t n, int64_t grain, mxc_range_fn body, void *arg) {
    const int parts = body ? mxc_parallel_parts(run, n, grain) : 0;
    if (parts > 1)
        run_loop(run->engine, &(mxci_loop){body, arg, n, (uint32_t)parts, 1, 0});
    else if (parts == 1)
        body(arg, 0, n, 0);
}

void mxc_parallel_for_dynamic(const mxc_run *run, int64_t n, int64_t grain, mxc_range_fn body, void *arg) {
    const int threads = body ? mxc_parallel_parts(run, n, grain) : 0;
    if (threads > 1) {
        const int64_t each = count_grains(n, grain, (int64_t)threads * PARTS_PER_THREAD) / threads;
        run_loop(run->engine, &(mxci_loop){body, arg, n, (uint32_t)threads, (uint32_t)each, 1});
    } else if (threads == 1) {
        body(arg, 0, n, 0);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and destroying engines, and the default engine. Pushes are in push.c, waits in schedule/wait.c. */
#include "engine/engine.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/sized.h"
#include "engine/device/ordering.h"
#include "engine/fork/fork_child.h"
#include "engine/schedule/threaded.h"

enum { MAX_THREADS = MXCI_LOOP_THREADS };

static const mxci_engine_ops *const ops_of_kind[] = {
    [MXC_ENGINE_NAIVE] = &mxci_engine_ops_naive,
    [MXC_ENGINE_THREADED] = &mxci_engine_ops_threaded,
    [MXC_ENGINE_SEEDED] = &mxci_engine_ops_seeded,
};

/* ---- creation -------------------------------------------------------------------------------------------------- */

static mxc_status engine_check_options(const mxc_engine_options *options) {
    if ((unsigned)options->kind > MXC_ENGINE_SEEDED)
        return MXC_FAIL(MXC_EINVAL, "mxc_engine_create: %d is not a kind of engine", (int)options->kind);
    if (options->workers < 0 || options->workers > MAX_THREADS)
        return MXC_FAIL(MXC_EINVAL, "mxc_engine_create: %d workers, expected 0 to %d", options->workers, MAX_THREADS);
    if (options->parallelism < 0 || options->parallelism > MAX_THREADS)
        return MXC_FAIL(MXC_EINVAL, "mxc_engine_create: parallelism %d, expected 0 to %d", options->parallelism,
                        MAX_THREADS);
    return MXC_OK;
}

/* The number that the program gave, else that of the environment, else that of the machine. */
static int engine_choose(int given, mxci_option option, int otherwise) {
    if (given > 0)
        return given;
    if (mxci_option_get(option) > 0)
        return (int)mxci_option_get(option);
    return otherwise > 1 ? otherwise : 1;
}

static mxc_status create_parts(mxc_engine *engine, const mxc_engine_options *options) {
    int processors = mxci_cpu_count(), is_threaded = options->kind == MXC_ENGINE_THREADED;
    int workers = is_threaded ? engine_choose(options->workers, MXCI_OPT_MXC_NUM_WORKERS, processors - 1) : 0;
    engine->kind = options->kind;
    engine->ops = ops_of_kind[options->kind];
    engine->parallelism = engine_choose(options->parallelism, MXCI_OPT_MXC_NUM_THREADS, processors);
    engine->spin_ns = processors > 1 ? mxci_option_get(MXCI_OPT_MXC_SPIN_US) * 1000 : 0;
    engine->seeded.random = options->seed;
    engine->vars.engine = engine;
    engine->vars.errors = &engine->errors;
    engine->vars.streams = &engine->streams;
    engine->vars.defer_free = mxci_var_defer_free;
    for (int i = 0; i < MXCI_STRIPES; i++)
        engine->stripes[i].engine = engine;
    mxci_mutex_init(&engine->threaded.mutex);
    mxci_mutex_init(&engine->wait_all_mutex);
    MXC_TRY(mxci_thread_slots_create(&engine->slots, workers, is_threaded));
    if (is_threaded)
        MXC_TRY(mxci_threaded_create(engine));
    engine->fork_member.handlers = &mxci_engine_fork_handlers;
    engine->fork_member.streams = &engine->streams;
    return mxci_fork_guard_add(&engine->fork_member);
}

/* Nothing is pending, and no other thread uses the engine. Parts that were not created are zero. */
static void free_engine(mxc_engine *engine) {
    mxci_threaded_destroy(engine);
    mxci_thread_slots_destroy(&engine->slots);
    for (int i = 0; i < MXCI_STRIPES; i++)
        mxci_stripe_clear(&engine->stripes[i]);
    mxci_vars_clear(&engine->vars);
    mxci_failure_release(atomic_load(&engine->errors.first));
    mxci_mutex_destroy(&engine->threaded.mutex);
    mxci_mutex_destroy(&engine->wait_all_mutex);
    mxci_pages_free(engine, sizeof *engine);
}

void mxc_engine_options_init(mxc_engine_options *options, size_t size) {
    static const mxc_engine_options defaults = MXC_ENGINE_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

mxc_status mxc_engine_create(const mxc_engine_options *options, mxc_engine **out) {
    MXC_TRY(MXCI_OUT(out));
    mxc_engine_options read = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    mxc_status status;
    if (options)
        MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_engine_options_init"));
    MXC_TRY(engine_check_options(&read));
    engine = mxci_pages_alloc(sizeof *engine);
    if (!engine)
        return MXCI_NO_MEMORY("mxc_engine_create", "an engine");
    memset(engine, 0, sizeof *engine);
    status = create_parts(engine, &read);
    if (status == MXC_OK)
        *out = engine;
    else
        free_engine(engine);
    return status;
}

void mxc_engine_destroy(mxc_engine *engine) {
    if (!engine)
        return;
    MXC_IGNORE(mxci_engine_resume(engine));
    mxci_wait_until_idle(engine);
    while (atomic_load(&engine->completing)) /* the task is complete; the thread that completed it is about to leave */
        mxci_thread_yield();
    mxci_fork_guard_remove(&engine->fork_member);
    free_engine(engine);
}

mxc_status mxc_var_create(mxc_engine *engine, mxc_var **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(engine));
    return mxci_var_create(&engine->vars, out);
}

/* ---- the default engine ---------------------------------------------------------------------------------------- */

static _Atomic(mxc_engine *) standard_engine, chosen_engine;

/* When a program exits, the destructors of libraries such as OpenBLAS run while workers still compute with what these
 * free. So exit() waits until the queued work has run, though not for long: it may depend on what has ended already. */
enum { EXIT_WAIT_MS = 10000 };

static void finish_at_exit(void) {
    int is_done;
    MXC_IGNORE(mxc_wait_all_for(atomic_load(&standard_engine), EXIT_WAIT_MS, &is_done));
}

/* Concurrent callers create one engine each, and all but one destroy theirs, which has started no threads. */
static mxc_status create_standard(mxc_engine **out) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *first = NULL;
    options.kind = mxci_option_get(MXCI_OPT_MXC_ENGINE) ? MXC_ENGINE_THREADED : MXC_ENGINE_NAIVE;
    MXC_TRY(mxc_engine_create(&options, out));
    if (!atomic_compare_exchange_strong(&standard_engine, &first, *out)) {
        mxc_engine_destroy(*out);
        *out = first;
    } else {
        mxci_at_exit(finish_at_exit);
    }
    return MXC_OK;
}

mxc_status mxc_engine_default(mxc_engine **out) {
    MXC_TRY(MXCI_OUT(out));
    *out = atomic_load(&chosen_engine);
    if (!*out)
        *out = atomic_load(&standard_engine);
    return *out ? MXC_OK : create_standard(out);
}

void mxc_engine_set_default(mxc_engine *engine) {
    atomic_store(&chosen_engine, engine);
}

mxc_engine_kind mxc_engine_get_kind(const mxc_engine *engine) {
    if (!engine)
        return MXC_ENGINE_NAIVE;
    return engine->kind;
}

int mxc_engine_thread_limit(const mxc_engine *engine) {
    if (!engine)
        return 0;
    return engine->slots.count;
}

int mxc_engine_parallelism(const mxc_engine *engine) {
    if (!engine)
        return 1;
    return engine->parallelism;
}

/* Engines from creation to destruction, across forks, and the default one. */
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "base/options.h"
#include "base/sys.h"
#include "engine/engine.h"

enum { IO_THREADS = 2, MAX_THREADS = 1024 };
enum { RESUMED, FORKED, THREADLESS }; /* mxc_engine.forked; THREADLESS: but for threads, resumed */

static const mxci_kind *const kinds[] = {
    [MXC_ENGINE_NAIVE] = &mxci_kind_naive,
    [MXC_ENGINE_THREADED] = &mxci_kind_threaded,
    [MXC_ENGINE_SEEDED] = &mxci_kind_seeded,
};

/* ---- creation ---- */

static mxc_status check_options(const mxc_engine_options *options) {
    if ((unsigned)options->kind > MXC_ENGINE_SEEDED)
        return MXC_FAIL(MXC_EINVAL, "mxc_engine_create: %d is no kind of engine", (int)options->kind);
    if (options->workers < 0 || options->workers > MAX_THREADS)
        return MXC_FAIL(MXC_EINVAL, "mxc_engine_create: %d workers, expected 0 to %d", options->workers, MAX_THREADS);
    if (options->parallelism < 0 || options->parallelism > MAX_THREADS)
        return MXC_FAIL(MXC_EINVAL, "mxc_engine_create: parallelism %d, expected 0 to %d", options->parallelism,
                        MAX_THREADS);
    return MXC_OK;
}

/* The option's number, else the program's, else the machine's. */
static int choose(int given, mxci_option option, int otherwise) {
    if (given > 0)
        return given;
    if (mxci_option_get(option) > 0)
        return (int)mxci_option_get(option);
    return otherwise > 1 ? otherwise : 1;
}

static void set_numbers(mxc_engine *engine, const mxc_engine_options *options) {
    int processors = mxci_cpu_count();
    engine->kind = kinds[options->kind];
    engine->kind_id = options->kind;
    engine->parallelism = choose(options->parallelism, MXCI_OPT_MXC_NUM_THREADS, processors);
    engine->spin_ns = processors > 1 ? mxci_option_get(MXCI_OPT_MXC_SPIN_US) * 1000 : 0;
    engine->seeded.random = options->seed;
    engine->thread_limit = MXCI_GUESTS;
    if (options->kind == MXC_ENGINE_THREADED) {
        engine->workers = choose(options->workers, MXCI_OPT_MXC_NUM_WORKERS, processors - 1);
        engine->thread_limit = engine->workers + MXCI_GUESTS + MXCI_EXTRAS;
    }
}

static mxc_status add_pools(mxc_engine *engine) {
    mxc_context cpu = {MXC_CPU, 0};
    if (engine->kind_id != MXC_ENGINE_THREADED)
        return MXC_OK;
    MXC_TRY(mxci_pool_create(engine, cpu, MXC_PROP_NORMAL, engine->workers, &engine->cpu));
    MXC_TRY(mxci_pool_create(engine, cpu, MXC_PROP_IO, IO_THREADS, &engine->io));
    for (int i = 0; i < engine->workers; i++)
        engine->cpu->worker[i].runner = &engine->runners[i];
    engine->cpu->spin_ns = engine->spin_ns;
    engine->cpu->helps_loops = 1;
    return MXC_OK;
}

static mxc_status add_parts(mxc_engine *engine) {
    size_t bytes = (size_t)engine->thread_limit * sizeof(mxci_runner);
    engine->runners = mxci_pages_alloc(bytes);
    if (!engine->runners)
        return MXC_FAIL(MXC_ENOMEM, "mxc_engine_create: no memory for %d threads", engine->thread_limit);
    memset(engine->runners, 0, bytes);
    for (int i = 0; i < engine->thread_limit; i++)
        engine->runners[i].number = i;
    for (int i = 0; i < MXCI_STRIPES; i++)
        engine->stripes[i].engine = engine;
    mxci_mutex_init(&engine->pools_mutex);
    mxci_mutex_init(&engine->all_mutex);
    return add_pools(engine);
}

static void each_pool(mxc_engine *engine, void (*visit)(mxci_pool *)) {
    mxci_pool *pool = atomic_load(&engine->devices);
    while (pool) {
        mxci_pool *next = pool->next;
        visit(pool);
        pool = next;
    }
    if (engine->io)
        visit(engine->io);
    if (engine->cpu)
        visit(engine->cpu);
}

/* Nothing is pending and no other thread is inside. */
static void free_engine(mxc_engine *engine) {
    each_pool(engine, mxci_pool_stop);
    each_pool(engine, mxci_pool_destroy);
    for (int i = 0; engine->runners && i < engine->thread_limit; i++)
        mxci_runner_close(&engine->runners[i]);
    for (int i = 0; i < MXCI_STRIPES; i++)
        mxci_stripe_clear(&engine->stripes[i]);
    mxci_vars_clear(engine);
    mxci_failure_release(atomic_load(&engine->first_failure));
    mxci_mutex_destroy(&engine->pools_mutex);
    mxci_mutex_destroy(&engine->all_mutex);
    mxci_pages_free(engine->runners, (size_t)engine->thread_limit * sizeof(mxci_runner));
    mxci_pages_free(engine, sizeof *engine);
}

mxc_status mxc_engine_create(const mxc_engine_options *options, mxc_engine **out) {
    MXC_TRY(MXCI_OUT(out));
    static const mxc_engine_options standard = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    mxc_status status;
    if (!options)
        options = &standard;
    MXC_TRY(MXCI_SIZED(options, "MXC_ENGINE_OPTIONS_INIT"));
    MXC_TRY(check_options(options));
    engine = mxci_pages_alloc(sizeof *engine);
    if (!engine)
        return MXC_FAIL(MXC_ENOMEM, "mxc_engine_create: no memory for an engine");
    memset(engine, 0, sizeof *engine);
    set_numbers(engine, options);
    status = add_parts(engine);
    if (status == MXC_OK)
        status = mxci_fork_add(engine);
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
    mxci_wait_idle(engine);
    while (atomic_load(&engine->telling)) /* its function has ended; it is about to leave */
        mxci_thread_yield();
    mxci_fork_remove(engine);
    free_engine(engine);
}

/* ---- the default one ---- */

static _Atomic(mxc_engine *) standard_engine, chosen_engine;

/* Of threads that come together all make one, and all but one destroy theirs, which has not started threads yet. */
static mxc_status make_standard(mxc_engine **out) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *first = NULL;
    options.kind = mxci_option_get(MXCI_OPT_MXC_ENGINE) ? MXC_ENGINE_THREADED : MXC_ENGINE_NAIVE;
    MXC_TRY(mxc_engine_create(&options, out));
    if (!atomic_compare_exchange_strong(&standard_engine, &first, *out)) {
        mxc_engine_destroy(*out);
        *out = first;
    }
    return MXC_OK;
}

mxc_status mxc_engine_default(mxc_engine **out) {
    MXC_TRY(MXCI_OUT(out));
    *out = atomic_load(&chosen_engine);
    if (!*out)
        *out = atomic_load(&standard_engine);
    return *out ? MXC_OK : make_standard(out);
}

void mxc_engine_set_default(mxc_engine *engine) {
    atomic_store(&chosen_engine, engine);
}

mxc_engine_kind mxc_engine_get_kind(const mxc_engine *engine) {
    if (!engine)
        return MXC_ENGINE_NAIVE;
    return engine->kind_id;
}

int mxc_engine_thread_limit(const mxc_engine *engine) {
    if (!engine)
        return 0;
    return engine->thread_limit;
}

int mxc_engine_parallelism(const mxc_engine *engine) {
    if (!engine)
        return 1;
    return engine->parallelism;
}

mxci_runner *mxci_engine_extra(mxc_engine *engine) {
    int used = atomic_load(&engine->extras);
    while (used < MXCI_EXTRAS)
        if (atomic_compare_exchange_weak(&engine->extras, &used, used + 1))
            return &engine->runners[engine->workers + MXCI_GUESTS + used];
    return NULL;
}

/* ---- forks ---- */

void mxci_engine_lock_stripes(mxc_engine *engine) {
    for (int i = 0; i < MXCI_STRIPES; i++)
        mxci_lock_take(&engine->stripes[i].lock);
}

void mxci_engine_unlock_stripes(mxc_engine *engine) {
    for (int i = 0; i < MXCI_STRIPES; i++)
        mxci_lock_drop(&engine->stripes[i].lock);
}

void mxci_engine_forked(mxc_engine *engine) {
    atomic_store(&engine->forked, FORKED);
    atomic_store(&engine->event.parked, 0);
    atomic_store(&engine->event.looking, 0);
    atomic_store(&engine->draining, 0);
    atomic_store(&engine->telling, 0);
    if (atomic_load(&engine->seeded.owner) != (uint32_t)mxci_thread_index() + 1)
        atomic_store(&engine->seeded.owner, 0);
    mxci_mutex_init(&engine->pools_mutex);
    mxci_mutex_init(&engine->all_mutex);
    mxci_streams_forked(engine);
    for (int i = 0; i < engine->thread_limit; i++)
        engine->runners[i].streams = NULL; /* the parent's, which no child can use or close */
    each_pool(engine, mxci_pool_forked);
}

/* Threads for what is queued; other pools start theirs at a push. */
static mxc_status start_pools(mxc_engine *engine) {
    if (!engine->cpu)
        return MXC_OK;
    MXC_TRY(mxci_pool_start(engine->cpu));
    MXC_TRY(mxci_pool_start(engine->io));
    for (mxci_pool *pool = atomic_load(&engine->devices); pool; pool = pool->next)
        MXC_TRY(mxci_pool_start(pool));
    return MXC_OK;
}

/* Before any thread runs here, so that what runners hold is what the parent's threads had begun. */
static void end_lost(mxc_engine *engine) {
    mxci_list ready = {NULL, NULL};
    mxci_gate_enter();
    mxci_cancel_lost(engine, &ready);
    mxci_dispatch(engine, &ready);
    mxci_gate_leave();
}

mxc_status mxci_engine_resume_slow(mxc_engine *engine) {
    uint32_t state = atomic_exchange(&engine->forked, RESUMED);
    mxc_status status;
    if (state == RESUMED)
        return MXC_OK;
    if (state == FORKED)
        end_lost(engine);
    status = start_pools(engine);
    if (status != MXC_OK)
        atomic_store(&engine->forked, THREADLESS);
    return status;
}

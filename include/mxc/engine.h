/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dependency engine: runs functions that declare which variables they read and which they write.
 *
 * Rule: two functions, one of which writes a variable that both name, run in the order in which they were pushed;
 * functions that only read a variable may run concurrently. The engine knows nothing of arrays and serves any domain.
 *
 * Errors: a function that returns another status than MXC_OK sets the error state of every variable that it would have
 * written. A function that reads a variable in the error state (or writes one with MXC_TASK_UPDATES) is skipped, and
 * the error propagates to the variables that it would have written. Every wait on a variable in the error state returns
 * the code and message of the first error. A function that succeeds in overwriting a variable clears its error state.
 *
 * Threads: every call may come from any thread, also from inside a running function, except that a function must not
 * wait for a variable that it names itself or that depends on it.
 *
 * fork() waits until running functions have ended or wait in the engine. The child runs what was queued, except what
 * another thread waited for (MXC_TASK_AWAITED, as mxc_ndarray_get and _set): that is as if that thread's call had come
 * after the fork. Functions that had not ended end in the child with MXC_ECANCELED.
 */
#ifndef MXC_ENGINE_H
#define MXC_ENGINE_H

#include <mxc/types.h>

typedef struct mxc_engine mxc_engine;
typedef struct mxc_var mxc_var;             /* one engine's variable */
typedef struct mxc_engine_op mxc_engine_op; /* a function with its variables, pushed many times */
typedef struct mxc_done mxc_done;           /* completion of one asynchronous function */

typedef enum mxc_engine_kind {
    MXC_ENGINE_NAIVE = 0,    /* runs each function inside the push */
    MXC_ENGINE_THREADED = 1, /* worker threads, queues per context */
    MXC_ENGINE_SEEDED = 2 /* for tests: runs ready functions at waits, on one thread, in an order that the seed picks */
} mxc_engine_kind;

/** Options of an engine. Initialise them with mxc_engine_options_init or MXC_ENGINE_OPTIONS_INIT. */
typedef struct mxc_engine_options {
    /* sizeof(mxc_engine_options) */
    size_t size;
    /* Default MXC_ENGINE_THREADED. */
    mxc_engine_kind kind;
    /* Threaded: number of worker threads for all CPU contexts together. Default 0: MXC_NUM_WORKERS. */
    int workers;
    /* Largest number of parts that mxc_parallel_for makes. Default 0: MXC_NUM_THREADS. */
    int parallelism;
    /* Seeded: seed of the schedule. Default 0. */
    uint64_t seed;
} mxc_engine_options;
#define MXC_ENGINE_OPTIONS_INIT \
    { sizeof(mxc_engine_options), MXC_ENGINE_THREADED, 0, 0, 0 }
/** Set the defaults, as MXC_ENGINE_OPTIONS_INIT does; size is sizeof(mxc_engine_options), of which no more is written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_engine_options_init(mxc_engine_options *options, size_t size);

/** What a function is given when it runs. Valid during the call only. */
typedef struct mxc_run {
    mxc_engine *engine;
    mxc_context context;
    void *stream;   /* the worker's device stream, see mxc_run_stream; NULL on CPU contexts. What a function queues
                       there counts as part of it, even if it is done after the function has returned */
    uint64_t token; /* as given to the push */
    int worker;     /* running thread's number, 0 to mxc_engine_thread_limit() - 1: index for scratch per thread */
} mxc_run;

/**
 * The device's own handle of the stream on which run's function queues: on gpu(i) a cudaStream_t, on the CPU NULL. On a
 * GPU, that GPU becomes the thread's current device, as by cudaSetDevice.
 *
 * The function may launch kernels and queue copies there, and have the stream wait for events. It then returns
 * without waiting: whatever reads or writes the same variables later comes after this work. It must not destroy the
 * stream, use it after it has returned, or leave work on other streams for which this stream does not wait. Memory
 * that the queued work uses must stay until the work is done; that of the call's arrays and scratch does. An operator
 * of a program that runs on a GPU is not recorded with others into a CUDA graph.
 * Status: MXC_EINVAL (run or out is NULL), MXC_EDEVICE. Thread-safe. Does not block.
 * @param[out,lend] out  the stream
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_run_stream(const mxc_run *run, void **out);

/** A function that the engine runs, with mxc_task.arg: on a thread of the engine, on one that waits in it
 *  (MXC_TASK_HELPED), or on the one that pushes it (MXC_TASK_CHEAP, naive engine).
 *  @thread any
 */
typedef mxc_status (*mxc_task_fn)(const mxc_run *run, void *arg);
/** The same for work that goes on elsewhere. Must arrange that mxc_done_complete is called once, from any thread,
 *  during or after the call.
 *  @thread any
 */
typedef void (*mxc_task_async_fn)(const mxc_run *run, void *arg, mxc_done *done);

/** Which queue serves a function. */
typedef enum mxc_property {
    MXC_PROP_NORMAL = 0,
    MXC_PROP_COPY_FROM_DEVICE = 1,
    MXC_PROP_COPY_TO_DEVICE = 2,
    MXC_PROP_IO = 3,    /* may block on files or the network: own threads, never those that compute */
    MXC_PROP_URGENT = 4 /* before everything that is not urgent, whatever the priority */
} mxc_property;

enum {
    MXC_TASK_CHEAP = 1,   /* a few microseconds at most, never blocks: may run on the pushing thread */
    MXC_TASK_HELPED = 2,  /* takes no lock of the program's: may run on a thread that waits in the engine */
    MXC_TASK_UPDATES = 4, /* reads what it writes: skipped if a variable that it writes is in the error state */
    MXC_TASK_ALWAYS = 8,  /* runs even if what it reads is in the error state (clean-up) */
    MXC_TASK_AWAITED = 16 /* the thread that pushes it waits for its end, and arg may lie on that thread's stack;
                             destroy is NULL. In the child of a fork() that another thread called it does not run,
                             and what it would have written keeps its value */
};

/** One function to run. Initialise it with mxc_task_init or MXC_TASK_INIT, and set fn or async_fn. */
typedef struct mxc_task {
    size_t size;                /* sizeof(mxc_task) */
    const char *name;           /* for traces and messages; must outlive the task; NULL: "task" */
    mxc_task_fn fn;             /* either this */
    mxc_task_async_fn async_fn; /* or this */
    void *arg;
    void (*destroy)(void *arg); /* called once when the task can run no more (also if skipped); may be NULL. For a
                                   prepared one: when it is destroyed and its last run has ended. @thread any */
    mxc_context context;
    mxc_property property;
    int priority;   /* larger runs first among functions that are ready in one queue */
    unsigned flags; /* MXC_TASK_... */
} mxc_task;
#define MXC_TASK_INIT \
    { sizeof(mxc_task), NULL, NULL, NULL, NULL, NULL, {MXC_CPU, 0}, MXC_PROP_NORMAL, 0, 0 }
/** Set the defaults, as MXC_TASK_INIT does; size is sizeof(mxc_task), of which no more is written.
 *  @param[out] task  where the defaults go
 */
MXC_API void mxc_task_init(mxc_task *task, size_t size);

/** Start an engine. Status: MXC_EINVAL, MXC_ENOMEM. Threads start at the first push.
 *  @param[null] options  NULL: all defaults
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_engine_create(const mxc_engine_options *options, mxc_engine **out);
/** Wait for all work, then stop. Its variables and prepared functions must be deleted before. NULL is fine. Blocks. */
MXC_API void mxc_engine_destroy(mxc_engine *engine);
/** The default engine of the process, created at first use (kind: option MXC_ENGINE). Borrowed; valid until exit.
 *  exit() waits for its queued work, for 10 seconds at most.
 *  Status: MXC_ENOMEM.
 *  @param[out,lend] out  the engine
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_engine_default(mxc_engine **out);
/** Set the default engine for arrays created from now on (borrowed; it must outlive them).
 *  @param[null,keep] engine  NULL: the built-in one
 */
MXC_API void mxc_engine_set_default(mxc_engine *engine);
/** The kind of an engine. */
MXC_API mxc_engine_kind mxc_engine_get_kind(const mxc_engine *engine);
/** One more than the largest mxc_run.worker that can occur. */
MXC_API int mxc_engine_thread_limit(const mxc_engine *engine);
/** The most parts that mxc_parallel_for makes, at least 1. */
MXC_API int mxc_engine_parallelism(const mxc_engine *engine);

/** New variable. Status: MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_var_create(mxc_engine *engine, mxc_var **out);
/**
 * Delete a variable once everything pushed on it so far has run; then call destroy(arg) if given (on a worker or, with
 * nothing pending, here). Does not block. The variable must not be used by the caller afterwards.
 * @param[take,null] var  NULL: nothing happens
 * @param[null,thread=any] destroy  called once
 */
MXC_API void mxc_var_delete(mxc_var *var, void (*destroy)(void *arg), void *arg);
/** The engine of a variable. */
MXC_API mxc_engine *mxc_var_engine(const mxc_var *var);
/** Number of completed writes so far. */
MXC_API uint64_t mxc_var_version(const mxc_var *var);
/** 1 if nothing pushed on the variable is still to run. */
MXC_API int mxc_var_idle(const mxc_var *var);

/**
 * Queue a function.
 * @param reads   n_reads variables that it reads, no duplicates
 * @param writes  n_writes variables that it writes, no duplicates, none that is also in reads
 * @param token   given to the function in mxc_run.token
 * @return MXC_EINVAL (duplicates, overlap, foreign engine, no function), MXC_ENOMEM; a naive engine also
 *         returns the function's own error
 * On a failing status (other than the function's own) task.destroy is not called. Does not block but in a naive engine.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_engine_push(mxc_engine *engine, const mxc_task *task, int n_reads,
                                                  mxc_var *const *reads, int n_writes, mxc_var *const *writes,
                                                  uint64_t token);

/** Prepare a function with its variables for many pushes. Arguments and statuses as for mxc_engine_push. */
MXC_API MXC_MUST_CHECK mxc_status mxc_engine_op_create(mxc_engine *engine, const mxc_task *task, int n_reads,
                                                       mxc_var *const *reads, int n_writes, mxc_var *const *writes,
                                                       mxc_engine_op **out);
/** Queue it once more; earlier pushes need not have ended. After the first pushes this allocates nothing. */
MXC_API MXC_MUST_CHECK mxc_status mxc_engine_op_push(mxc_engine_op *op, int priority, uint64_t token);
/** Delete it once its pushed runs have ended. Does not block. NULL is fine. */
MXC_API void mxc_engine_op_destroy(mxc_engine_op *op);

/** End an asynchronous function. Any thread, exactly once.
 *  @param[take] done  as the function was given it
 *  @param[null] message  of the error
 */
MXC_API void mxc_done_complete(mxc_done *done, mxc_status status, const char *message);

/** Block until everything pushed so far that writes var has run. Returns the error of its
 *  error state, if set. */
MXC_API MXC_MUST_CHECK mxc_status mxc_wait_to_read(mxc_var *var);
/**
 * The same for a limited time, after which it returns MXC_OK with *is_done 0. For programs that have to look after
 * something else in between, such as signals. The thread helps meanwhile, and finishes a function that it has begun.
 * @param timeout_ms  in milliseconds; 0 or less: only whether it is done
 * @param is_done     1: the writes have run; 0: the time is over
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_wait_to_read_for(mxc_var *var, int64_t timeout_ms, int *is_done);
/** Block until everything pushed on var so far has run. Returns the error of its
 *  error state, if set. */
MXC_API MXC_MUST_CHECK mxc_status mxc_wait_to_write(mxc_var *var);
/** Block until everything pushed so far on the engine has run. Returns the first error since the last
 *  call of it. */
MXC_API MXC_MUST_CHECK mxc_status mxc_wait_all(mxc_engine *engine);
/** The same for a limited time, as mxc_wait_to_read_for. After a time that was too short the error, if there is one,
 *  is kept for the next wait.
 *  @param timeout_ms  in milliseconds
 *  @param is_done     1: everything has run; 0: the time is over
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_wait_all_for(mxc_engine *engine, int64_t timeout_ms, int *is_done);

/** The body of a parallel loop: items begin to end - 1, as part number part, or by thread number part of a dynamic
 *  loop.
 *  @thread any
 */
typedef void (*mxc_range_fn)(void *arg, int64_t begin, int64_t end, int part);
/**
 * Run body over [0, n) in up to mxc_engine_parallelism() contiguous parts, on this thread and on idle workers and
 * waiters; returns when all is done. The parts depend on n, grain and the parallelism only, never on timing, so results
 * are the same each time. part counts from 0; no two running parts have the same. May be nested (inner loops then run
 * in one part). Allocates nothing.
 * @param[null] run  of the calling function; NULL: run all here
 * @param grain  least size of a part worth giving away
 */
MXC_API void mxc_parallel_for(const mxc_run *run, int64_t n, int64_t grain, mxc_range_fn body, void *arg);
/**
 * The same with several parts for each thread, so that a thread whose processor is slow or busy runs fewer of them. The
 * body's argument part is the number of the thread, from 0 to mxc_engine_parallelism() - 1: no two parts that run at
 * one time have the same, so scratch memory may be chosen by it, but results must not depend on it.
 * @param[null] run  of the calling function; NULL: run all here
 * @param grain  least size of a part worth giving away
 */
MXC_API void mxc_parallel_for_dynamic(const mxc_run *run, int64_t n, int64_t grain, mxc_range_fn body, void *arg);
/** How many parts mxc_parallel_for would make.
 *  @param[null] run  of the calling function
 */
MXC_API int mxc_parallel_parts(const mxc_run *run, int64_t n, int64_t grain);

#endif

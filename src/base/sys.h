/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operating system interface: memory, locks, threads, time, files. Nothing else in the tree calls malloc, pthreads
 * or open directly, so that tests can fail the n-th allocation or write, and count them. The library uses no sockets.
 */
#ifndef MXCI_BASE_SYS_H
#define MXCI_BASE_SYS_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <mxc/status.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* As malloc, calloc, realloc, free, strdup. NULL when out of memory (or when a test injects it); no message is set.
 * mxci_alloc(0) returns a block that can be freed. */
void *mxci_alloc(size_t bytes);
void *mxci_calloc(size_t count, size_t bytes); /* checks count * bytes */
void *mxci_realloc(void *block, size_t bytes);
void *mxci_realloc_array(void *block, size_t count, size_t bytes); /* checks count * bytes */
void mxci_free(void *block);
/* Free an object that the program has a handle of. In checked builds (MXCI_CHECKS) its memory is kept for a while, not
 * to be accessed, so that mxci_is_released notices a handle that is used after its release. */
void mxci_free_object(void *object);
#ifdef MXCI_CHECKS
int mxci_is_released(const void *object);
/* 1 if a handle may be released; 0 if it is NULL, or if it has been released, which is logged. */
int mxci_may_release(const void *object, const char *function);
#define MXCI_MAY_RELEASE(object) mxci_may_release(object, __func__)
#else
#define MXCI_MAY_RELEASE(object) ((object) != NULL)
#endif
char *mxci_strdup(const char *text);

/* Large aligned blocks for array data: 64-byte aligned; from 2 MiB on page-mapped with huge pages advised.
 * Contents: undefined. The same byte count must be given to free. */
void *mxci_pages_alloc(size_t bytes);
void mxci_pages_free(void *block, size_t bytes);

/* Under the address sanitizer: of a host block's room bytes, only the first ones may be accessed from now on. Does
 * nothing in other builds. */
void mxci_memory_usable(void *block, size_t bytes, size_t room);

/* Failure injection and counting, for tests and benches. fail_at: the n-th allocation from now fails (1 = next), 0
 * turns it off; sticky makes all later ones fail too. */
void mxci_test_fail_alloc(int64_t fail_at, int sticky);
int64_t mxci_alloc_count(void); /* allocations of both kinds since start */
int64_t mxci_alloc_live(void);  /* blocks not freed yet; 0 after everything is released */
/* The n-th write, flush or rename from now fails with ENOSPC; 0 turns it off. */
void mxci_test_fail_write(int64_t fail_at);

/* ---- locks and threads ------------------------------------------------------------------------------------------- */

/* Data that different threads write lies on different cache lines. */
#define MXCI_CACHE_LINE 64
/* A variable per thread that is read often: in a shared library this model costs one load instead of a call. */
#define MXCI_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

typedef pthread_mutex_t mxci_mutex;
typedef pthread_cond_t mxci_cond;
typedef pthread_t mxci_thread;
#define MXCI_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define MXCI_COND_INIT PTHREAD_COND_INITIALIZER

void mxci_mutex_init(mxci_mutex *m);
void mxci_mutex_destroy(mxci_mutex *m);
void mxci_mutex_lock(mxci_mutex *m);
int mxci_mutex_trylock(mxci_mutex *m); /* 1 if taken */
void mxci_mutex_unlock(mxci_mutex *m);
void mxci_cond_init(mxci_cond *c);
void mxci_cond_destroy(mxci_cond *c);
void mxci_cond_wait(mxci_cond *c, mxci_mutex *m);
/* deadline_ns is a time of mxci_now_ns, INT64_MAX for none; returns 0 if it passed. */
int mxci_cond_wait_until(mxci_cond *c, mxci_mutex *m, int64_t deadline_ns);
void mxci_cond_signal(mxci_cond *c);
void mxci_cond_broadcast(mxci_cond *c);

/* Returns when the new thread runs. Status: MXC_EIO when the system cannot create a thread. Traces and debuggers show
 * the name. All signals are blocked in the new thread, so that the program's handlers run on its own threads. */
mxc_status mxci_thread_start(mxci_thread *out, const char *name, void (*body)(void *), void *arg);
void mxci_thread_join(mxci_thread t);
void mxci_thread_detach(mxci_thread t); /* it will not be joined */
void mxci_thread_yield(void);
int mxci_thread_is_first(void); /* 1 on the thread that the process began with */
/* Call these around every fork() of the program from now on: prepare before it, the others after it in either process.
 * Each may be NULL. Status: MXC_ENOMEM. */
mxc_status mxci_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
/* The same for handlers that quiesce running work: their prepare is called before those of mxci_at_fork and before the
 * global mutexes are taken, which the work may need to end; their parent and child are called after those. */
mxc_status mxci_at_fork_before_locks(void (*prepare)(void), void (*parent)(void), void (*child)(void));
/* A static lock of the whole process that no thread of the parent holds in the child of a fork: fork() waits until it
 * is free. Its holder must not wait for a thread that forks; it may fork itself, and then holds it in both processes.
 */
typedef struct mxci_global_mutex {
    mxci_mutex mutex;
    struct mxci_global_mutex *next; /* in the list of those that have ever been taken */
    _Atomic int listed;
    const void *_Atomic holder; /* names the thread that holds it */
    int kept;                   /* during fork(): held by the thread that forks before fork() was called */
} mxci_global_mutex;
#define MXCI_GLOBAL_MUTEX_INIT \
    { MXCI_MUTEX_INIT, NULL, 0, NULL, 0 }
void mxci_global_lock(mxci_global_mutex *m);
void mxci_global_unlock(mxci_global_mutex *m);
/* A pointer per thread whose destroy is called with it, if not NULL, when the thread ends (the main thread: never).
 * Status: MXC_ENOMEM. */
typedef pthread_key_t mxci_tls;
mxc_status mxci_tls_create(mxci_tls *out, void (*destroy)(void *value));
mxc_status mxci_tls_set(mxci_tls tls, void *value);
int mxci_cpu_count(void); /* processors this process may run on, at least 1 */

/* Wait on a 32-bit word as a futex does: sleep while *word == expected, until woken or deadline (INT64_MAX: none).
 * Returns on any wake, also a spurious one. */
void mxci_park(_Atomic uint32_t *word, uint32_t expected, int64_t deadline_ns);
void mxci_unpark(_Atomic uint32_t *word, int count); /* wake up to count sleepers; INT32_MAX: all */

static inline void mxci_pause(void) { /* inside spin loops */
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    __asm__ __volatile__("" ::: "memory");
#endif
}

/* Have handler called when the program calls exit() or returns from main; without memory for that, it is not. */
void mxci_at_exit(void (*handler)(void));

/* ---- time -------------------------------------------------------------------------------------------------------- */

int64_t mxci_now_ns(void); /* monotonic */
void mxci_sleep_ns(int64_t duration);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Readers: only regular files are accepted (a directory, FIFO or device is MXC_EIO), so a read never hangs.
 * Messages name the file, the offset and the reason. */
typedef struct mxci_file mxci_file;
mxc_status mxci_file_open(const char *path, mxci_file **out); /* MXC_ENOTFOUND, MXC_EIO, MXC_ENOMEM */
int64_t mxci_file_size(const mxci_file *file);
const char *mxci_file_path(const mxci_file *file);
/* Read exactly bytes at offset; MXC_EFORMAT "truncated" if the file ends before. Thread-safe. */
mxc_status mxci_file_read_at(mxci_file *file, int64_t offset, void *out, size_t bytes);
void mxci_file_close(mxci_file *file); /* NULL is allowed */
/* Whole file into one block (bytes + terminating NUL not counted); caller frees with mxci_free. Files larger than
 * limit bytes are MXC_EFORMAT. */
mxc_status mxci_file_read_all(const char *path, int64_t limit, char **out, size_t *out_bytes);

/* Names in a directory, sorted by their bytes, without those that begin with a dot; NULL after the last. One block, to
 * be freed with mxci_free. MXC_ENOTFOUND (absent, or not a directory), MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_directory_list(const char *path, char ***out, int64_t *n);

/* Writer that replaces path in one step: writes path.tmp-<pid>-<n> beside it, then on commit flushes to disk and
 * renames. Until commit the old file is untouched; abandon removes the temporary. Where path is a link, the file that
 * it names is replaced. A file that exists keeps its mode and must be regular and writable. Statuses: MXC_EIO with path
 * and reason, MXC_ENOMEM. After a failed write all that follow fail, and commit too. */
typedef struct mxci_writer mxci_writer;
mxc_status mxci_writer_open(const char *path, mxci_writer **out);
mxc_status mxci_writer_write(mxci_writer *w, const void *data, size_t bytes); /* buffered */
mxc_status mxci_writer_printf(mxci_writer *w, const char *format, ...) MXC_PRINTF(2, 3);
int64_t mxci_writer_tell(const mxci_writer *w);
mxc_status mxci_writer_commit(mxci_writer *w); /* always frees w */
void mxci_writer_abandon(mxci_writer *w);      /* NULL is allowed */

/* Write to the standard error stream, unbuffered; failures are ignored. */
void mxci_stderr_write(const char *text, size_t bytes);
/* Its width if it is a terminal, 80 if the width is unknown; 0 if it is not a terminal. */
int mxci_stderr_columns(void);

/* ---- processes --------------------------------------------------------------------------------------------------- */

int64_t mxci_process_id(void);
/* A number that identifies the machine (or container): the same for all processes that can see each other. */
int64_t mxci_host_id(void);
int mxci_process_is_alive(int64_t id); /* 0 if /proc shows that there is no such process here */

/* ---- shared libraries -------------------------------------------------------------------------------------------- */

/* path must be absolute (MXC_EINVAL). MXC_ENOTFOUND if there is no such file, MXC_EDEVICE with the loader's message if
 * it cannot be loaded. A library is never unloaded. */
mxc_status mxci_library_open(const char *path, void **out);
mxc_status mxci_library_symbol(void *library, const char *name, void **out);
/* Absolute path of the directory of libmxc.so, or of the program that libmxc is linked into; "" is the root. 0 if it is
 * not known or does not fit, and in a set-uid process, whose user may have linked it into any directory. */
int mxci_library_directory(char *out, size_t size);

/* Text of an environment variable; NULL if it is not set, or this process has more rights than its user. The only
 * reader of the environment besides base/options. */
const char *mxci_getenv(const char *name);

#endif

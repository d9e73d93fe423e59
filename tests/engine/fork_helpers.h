/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's tests of fork() share: running a child, and using an engine in every way. */
#ifndef MXC_TESTS_ENGINE_FORK_HELPERS_H
#define MXC_TESTS_ENGINE_FORK_HELPERS_H

#include <sys/wait.h>

#include "engine/helpers.h"

/* The thread sanitizer cannot follow threads that a child starts. That of addresses does not lock its allocator for a
 * fork (GCC 12): the child hangs in it if another thread had the lock. */
static inline int can_fork(mxc_engine_kind kind) {
    return !TEST_SANITIZED || kind != MXC_ENGINE_THREADED;
}

enum { CHILD_SECONDS = 20 };

/* Exit code of a child that runs body; 99 if it hangs, 98 if it could not be made. */
static inline int in_child(int (*body)(void *), void *arg) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        _exit(body(arg));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 98;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* Push some work to the engine, wait in all ways, and see that it was done. 0: fine. */
static inline int works(mxc_engine *engine) {
    _Atomic int count = 0;
    mxc_task task = MXC_TASK_INIT;
    mxc_var *var;
    task.fn = count_up;
    task.arg = (void *)&count;
    if (mxc_var_create(engine, &var) != MXC_OK)
        return 1;
    for (int i = 0; i < 100; i++) {
        task.property = i % 5 == 4 ? MXC_PROP_IO : MXC_PROP_NORMAL;
        if (mxc_engine_push(engine, &task, i % 2, &var, i % 2 == 0, &var, 0) != MXC_OK)
            return 2;
    }
    if (mxc_wait_to_read(var) != MXC_OK || mxc_wait_to_write(var) != MXC_OK || mxc_wait_all(engine) != MXC_OK)
        return 3;
    mxc_var_delete(var, NULL, NULL);
    return atomic_load(&count) == 100 ? 0 : 4;
}

static inline int use_and_destroy(void *arg) {
    int result = works(arg);
    mxc_engine_destroy(arg);
    return result;
}

#endif

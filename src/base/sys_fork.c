/*
 * Handlers around fork(). The system alone would call the handlers that were registered last first, which is whatever
 * modules a program happened to use; here work is brought to rest before anybody's locks are taken, since running work
 * needs those locks to end.
 */
#include "base/sys.h"

enum { HOOKS = 32 };

typedef struct hook {
    void (*prepare)(void), (*parent)(void), (*child)(void);
} hook;

static mxci_mutex lock = MXCI_MUTEX_INIT; /* guards what follows */
static hook hooks[2][HOOKS];              /* [1]: those that bring work to rest */
static int counts[2], registered;
static _Thread_local int active[2];       /* counts as they were when this thread began to fork */

static void call(void (*handler)(void)) {
    if (handler)
        handler();
}

/* Nothing is locked while others' handlers run: work that has to end first may add a handler. */
static void prepare(void) {
    mxci_mutex_lock(&lock);
    for (int quiet = 0; quiet < 2; quiet++)
        active[quiet] = counts[quiet];
    mxci_mutex_unlock(&lock);
    for (int quiet = 1; quiet >= 0; quiet--)
        for (int i = active[quiet]; i-- > 0;)
            call(hooks[quiet][i].prepare);
    mxci_mutex_lock(&lock);
}

static void parent(void) {
    mxci_mutex_unlock(&lock);
    for (int quiet = 0; quiet < 2; quiet++)
        for (int i = 0; i < active[quiet]; i++)
            call(hooks[quiet][i].parent);
}

static void child(void) {
    mxci_mutex_unlock(&lock);
    for (int quiet = 0; quiet < 2; quiet++)
        for (int i = 0; i < active[quiet]; i++)
            call(hooks[quiet][i].child);
}

static mxc_status add(int quiet, hook h) {
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&lock);
    if (counts[quiet] == HOOKS || (!registered && pthread_atfork(prepare, parent, child)))
        status = MXC_FAIL(MXC_ENOMEM, "no memory to prepare for fork");
    else
        hooks[quiet][counts[quiet]++] = h;
    registered |= status == MXC_OK;
    mxci_mutex_unlock(&lock);
    return status;
}

mxc_status mxci_at_fork(void (*prepare_one)(void), void (*parent_one)(void), void (*child_one)(void)) {
    return add(0, (hook){ prepare_one, parent_one, child_one });
}

mxc_status mxci_at_fork_quiet(void (*prepare_one)(void), void (*parent_one)(void), void (*child_one)(void)) {
    return add(1, (hook){ prepare_one, parent_one, child_one });
}

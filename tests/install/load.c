/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program that is not linked to libmxc but loads it while running, as bindings of other languages do: loads it, uses it
 * and closes it several times, while its threads, what it keeps for threads of the program, and its handlers of fork()
 * are there. load.c PATH [MODULE...]: the modules are loaded and closed likewise.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxc/mxc.h>

enum { CYCLES = 20, LENGTH = 100000 };

static struct {
    __typeof__(mxc_version) *version;
    __typeof__(mxc_last_error) *last_error;
    __typeof__(mxc_ndarray_create) *create;
    __typeof__(mxc_ndarray_fill) *fill;
    __typeof__(mxc_ndarray_get) *get;
    __typeof__(mxc_ndarray_release) *release;
    __typeof__(mxc_invoke) *invoke;
} mxc;

static int find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    if (!found)
        fprintf(stderr, "%s\n", dlerror());
    return found != NULL;
}

static int find_all(void *library) {
    return find(library, "mxc_version", &mxc.version) && find(library, "mxc_last_error", &mxc.last_error) &&
           find(library, "mxc_ndarray_create", &mxc.create) && find(library, "mxc_ndarray_fill", &mxc.fill) &&
           find(library, "mxc_ndarray_get", &mxc.get) && find(library, "mxc_ndarray_release", &mxc.release) &&
           find(library, "mxc_invoke", &mxc.invoke);
}

/* Sums an array; workers and this thread take part. Returns 1 if the sum is right. */
static int sum(void) {
    const int64_t length = LENGTH;
    mxc_ndarray *array = NULL, *total = NULL;
    float value = 0;
    mxc_status status = mxc.create(1, &length, MXC_F32, (mxc_context){MXC_CPU, 0}, &array);
    if (status == MXC_OK)
        status = mxc.fill(array, 2);
    if (status == MXC_OK)
        status = mxc.invoke("sum", 1, &array, 0, NULL, NULL, 1, &total);
    if (status == MXC_OK)
        status = mxc.get(total, &value, sizeof value);
    if (status != MXC_OK)
        fprintf(stderr, "%s\n", mxc.last_error());
    mxc.release(array);
    mxc.release(total);
    return status == MXC_OK && value == 2 * LENGTH;
}

/* A thread that has used the library and ends when it has been closed. */
typedef struct user {
    pthread_t thread;
    int used, closed; /* pipes: [0] of each is read by who waits */
    int is_right;
} user;

static void *use_and_wait(void *arg) {
    user *u = arg;
    char byte = 0;
    u->is_right = sum();
    if (write(u->used, &byte, 1) != 1 || read(u->closed, &byte, 1) != 1)
        u->is_right = 0;
    return NULL;
}

static int forks(void) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static int cycle(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int used[2], closed[2], right;
    char byte = 0;
    user u;
    if (!library || !find_all(library)) {
        fprintf(stderr, "%s\n", !library ? dlerror() : path);
        return 0;
    }
    if (!sum() || pipe(used) != 0 || pipe(closed) != 0)
        return 0;
    u.used = used[1];
    u.closed = closed[0];
    if (pthread_create(&u.thread, NULL, use_and_wait, &u) != 0)
        return 0;
    right = read(used[0], &byte, 1) == 1 && dlclose(library) == 0 && write(closed[1], &byte, 1) == 1;
    pthread_join(u.thread, NULL);
    for (int i = 0; i < 2; i++) {
        close(used[i]);
        close(closed[i]);
    }
    usleep(2000); /* the library's workers go on */
    return right && u.is_right && forks();
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: load PATH [MODULE...]\n");
        return 1;
    }
    for (int i = 0; i < CYCLES; i++) {
        if (!cycle(argv[1])) {
            fprintf(stderr, "cycle %d failed\n", i);
            return 1;
        }
        for (int j = 2; j < argc; j++) {
            void *module = dlopen(argv[j], RTLD_NOW | RTLD_LOCAL);
            if (!module || dlclose(module) != 0) {
                fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
        }
    }
    printf("libmxc %s\n", mxc.version());
    return 0;
}

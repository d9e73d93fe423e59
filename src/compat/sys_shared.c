/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that processes share, for front ends that load data in other processes: files in memory, of which the
 * processes exchange the descriptors. The kernel frees one with its last descriptor and mapping. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat/mxnet.h"

struct mxnet_shared {
    atomic_int users; /* handles and arrays in this process */
    int file;
    size_t bytes; /* of the mapping, at least one page */
    void *data;
};

/* Maps a file, which it takes over unless it fails. */
static mxnet_shared *map(int file, size_t bytes) {
    mxnet_shared *shared = mxnet_alloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    shared->data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared->data == MAP_FAILED) {
        mxnet_fail("shared memory of %zu bytes: %s", bytes, strerror(errno));
        mxnet_free(shared);
        return NULL;
    }
    atomic_init(&shared->users, 1);
    shared->file = file;
    shared->bytes = bytes;
    return shared;
}

/* The room is taken at once: writing to a file in memory that cannot grow would end the process. */
mxnet_shared *mxnet_shared_create(size_t bytes) {
    int file = memfd_create("libmxnet", MFD_CLOEXEC), error;
    mxnet_shared *shared = NULL;
    bytes = bytes ? bytes : 1;
    if (file < 0) {
        mxnet_fail("shared memory: %s", strerror(errno));
        return NULL;
    }
    error = posix_fallocate(file, 0, (off_t)bytes);
    if (error)
        mxnet_fail("shared memory of %zu bytes: %s", bytes, strerror(error));
    else
        shared = map(file, bytes);
    if (!shared)
        close(file);
    return shared;
}

/* A descriptor from another process came for this call; one of this process stays with its array. */
mxnet_shared *mxnet_shared_open(int pid, int id, size_t bytes) {
    mxnet_shared *shared;
    struct stat status;
    int file = pid == (int)getpid() ? fcntl(id, F_DUPFD_CLOEXEC, 0) : id;
    bytes = bytes ? bytes : 1;
    if (file < 0 || fstat(file, &status)) {
        mxnet_fail("shared memory: descriptor %d: %s", id, strerror(errno));
        return NULL;
    }
    if ((size_t)status.st_size < bytes) {
        mxnet_fail("shared memory: descriptor %d has %lld bytes, expected %zu", id, (long long)status.st_size, bytes);
        return NULL;
    }
    shared = map(file, bytes);
    if (!shared && file != id)
        close(file);
    return shared;
}

void *mxnet_shared_data(const mxnet_shared *shared) {
    return shared->data;
}

void mxnet_shared_send(const mxnet_shared *shared, int *pid, int *id) {
    *pid = (int)getpid();
    *id = shared->file;
}

mxnet_shared *mxnet_shared_retain(mxnet_shared *shared) {
    if (shared)
        atomic_fetch_add(&shared->users, 1);
    return shared;
}

void mxnet_shared_release(void *block) {
    mxnet_shared *shared = block;
    if (!shared || atomic_fetch_sub(&shared->users, 1) != 1)
        return;
    munmap(shared->data, shared->bytes);
    close(shared->file);
    mxnet_free(shared);
}

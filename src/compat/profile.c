/* SPDX-License-Identifier: Apache-2.0 */
/* MXNet's profiler on libmxc's trace: its state and file. */
#include "compat/profile.h"

#include <string.h>

enum { STOP = 0, RUN = 1 };

static struct {
    char file[4096];
    int is_running;
} profile = {.file = "profile.json"};

static int set_file(const char *name) {
    const size_t bytes = strlen(name) + 1;
    if (bytes > sizeof profile.file)
        return mxnet_fail("the profiler's file name has %zu characters, at most %zu", bytes, sizeof profile.file);
    mxnet_lock();
    memcpy(profile.file, name, bytes);
    mxnet_unlock();
    return 0;
}

/* 0.9.5's form; later front ends call MXSetProcessProfilerConfig. */
int MXSetProfilerConfig(int mode, const char *filename) {
    (void)mode; /* all operators are traced */
    MXNET_NEED(filename);
    return set_file(filename);
}

int MXSetProcessProfilerConfig(int num_params, const char *const *keys, const char *const *vals,
                               KVStoreHandle kvstoreH) {
    (void)kvstoreH;
    for (int i = 0; i < num_params; i++)
        if (!strcmp(keys[i], "filename"))
            MXNET_CALL(set_file(vals[i]));
    return 0;
}

int MXSetProfilerState(int state) {
    if (state == RUN && !profile.is_running)
        MXNET_TRY(mxc_trace_start());
    else if (state == STOP)
        mxc_trace_stop();
    profile.is_running = state == RUN;
    return 0;
}

int mxnet_profile_clear(void) {
    MXNET_TRY(mxc_trace_start());
    if (!profile.is_running)
        mxc_trace_stop();
    return 0;
}

int MXProfilePause(int paused) {
    mxc_trace_pause(paused != 0);
    return 0;
}

int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreH) {
    (void)kvStoreH;
    return profile_process ? mxnet_fail("the profiler of servers is not supported: there are none")
                           : MXProfilePause(paused);
}

int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvStoreH) {
    (void)kvStoreH;
    return profile_process ? mxnet_fail("the profiler of servers is not supported: there are none")
                           : MXSetProfilerState(state);
}

int MXDumpProfile(void) {
    MXNET_CALL(MXNDArrayWaitAll());
    return mxnet_result(mxc_trace_write(profile.file));
}

int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreH) {
    (void)profile_process;
    (void)kvStoreH;
    MXNET_CALL(MXDumpProfile());
    return finished ? MXSetProfilerState(STOP) : 0;
}

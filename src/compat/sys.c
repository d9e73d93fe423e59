/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, memory and locks of the adapter. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/mxnet.h"

/* What the calls of a thread return; a call that comes from within another one, through a function of the front end,
 * has a frame of its own, so that the outer call keeps what it has there. */
typedef struct slot_frame {
    struct {
        void *block;
        size_t bytes;
    } slots[MXNET_SLOT_COUNT];
    struct slot_frame *below;
} slot_frame;

/* One thread's, freed when it ends. */
typedef struct thread_state {
    char message[MXC_ERROR_MAX + 256];
    slot_frame first, *top;
} thread_state;

static pthread_key_t state_key;
static pthread_once_t state_once = PTHREAD_ONCE_INIT;
static __thread thread_state *this_thread;

static void free_slots(slot_frame *frame) {
    for (int i = 0; i < MXNET_SLOT_COUNT; i++)
        free(frame->slots[i].block);
}

static void free_state(void *block) {
    thread_state *state = block;
    free_slots(&state->first);
    free(state);
    this_thread = NULL;
}

static void make_key(void) {
    (void)pthread_key_create(&state_key, free_state);
}

static thread_state *get_state(void) {
    if (!this_thread) {
        pthread_once(&state_once, make_key);
        this_thread = calloc(1, sizeof *this_thread);
        if (this_thread) {
            this_thread->top = &this_thread->first;
            pthread_setspecific(state_key, this_thread);
        }
    }
    return this_thread;
}

const char *MXGetLastError(void) {
    const thread_state *state = get_state();
    return state ? state->message : "out of memory";
}

const char *NNGetLastError(void) {
    return MXGetLastError();
}

int mxnet_fail(const char *format, ...) {
    thread_state *state = get_state();
    if (state) {
        va_list list;
        va_start(list, format);
        vsnprintf(state->message, sizeof state->message, format, list);
        va_end(list);
    }
    return -1;
}

/* Front ends raise the exception that a message begins with: gather_nd's is IndexError. */
int mxnet_result(mxc_status status) {
    if (status == MXC_OK)
        return 0;
    const char *text = mxc_last_error();
    int is_index = !strncmp(text, "gather_nd:", strlen("gather_nd:")) && strstr(text, "expected an index");
    return mxnet_fail("%s%s", is_index ? "IndexError: " : "", text);
}

enum { N_REPORTED = 16 };

/* The latest errors of queued work that waits for arrays have reported, in a ring. */
static struct {
    pthread_mutex_t lock;
    unsigned n;
    char messages[N_REPORTED][MXC_ERROR_MAX];
} reported = {.lock = PTHREAD_MUTEX_INITIALIZER};

int mxnet_wait_result(mxc_status status) {
    if (status == MXC_OK)
        return 0;
    pthread_mutex_lock(&reported.lock);
    snprintf(reported.messages[reported.n++ % N_REPORTED], sizeof reported.messages[0], "%s", mxc_last_error());
    pthread_mutex_unlock(&reported.lock);
    return mxnet_result(status);
}

int mxnet_wait_all_result(mxc_status status) {
    int is_reported = 0;
    if (status == MXC_OK)
        return 0;
    pthread_mutex_lock(&reported.lock);
    for (int i = 0; i < N_REPORTED; i++) {
        is_reported |= !strcmp(reported.messages[i], mxc_last_error());
        reported.messages[i][0] = '\0';
    }
    pthread_mutex_unlock(&reported.lock);
    return is_reported ? 0 : mxnet_result(status);
}

int mxnet_refuse(const char *function, const char *reason) {
    return mxnet_fail("%s is not supported by libmxc: %s", function, reason);
}

void *mxnet_alloc(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block)
        mxnet_fail("out of memory for %zu items of %zu bytes", count, size);
    return block;
}

char *mxnet_copy_text(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = mxnet_alloc(bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

int mxnet_multiply(size_t a, size_t b, size_t *out) {
    return __builtin_mul_overflow(a, b, out) ? mxnet_fail("%zu items of %zu bytes are too many", a, b) : 0;
}

void mxnet_free(void *block) {
    free(block);
}

void *mxnet_buffer(mxnet_slot slot, size_t count, size_t size) {
    thread_state *state = get_state();
    slot_frame *frame;
    size_t bytes;
    if (!state || __builtin_mul_overflow(count, size, &bytes)) {
        mxnet_fail("out of memory for %zu items of %zu bytes", count, size);
        return NULL;
    }
    if (bytes < 64)
        bytes = 64;
    frame = state->top;
    if (frame->slots[slot].bytes < bytes) {
        free(frame->slots[slot].block);
        frame->slots[slot].bytes = 0;
        frame->slots[slot].block = mxnet_alloc(bytes, 1);
        if (frame->slots[slot].block)
            frame->slots[slot].bytes = bytes;
    }
    return frame->slots[slot].block;
}

int mxnet_callback_enter(void) {
    thread_state *state = get_state();
    slot_frame *frame = mxnet_alloc(1, sizeof *frame);
    if (!state || !frame) {
        free(frame);
        return -1;
    }
    frame->below = state->top;
    state->top = frame;
    return 0;
}

void mxnet_callback_leave(int entered) {
    thread_state *state = get_state();
    slot_frame *frame = state ? state->top : NULL;
    if (entered || !frame || !frame->below)
        return;
    state->top = frame->below;
    free_slots(frame);
    free(frame);
}

const char *mxnet_return_text(mxnet_slot slot, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = mxnet_buffer(slot, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

int mxnet_return_strings(mxnet_slot pointers, mxnet_slot chars, int64_t n, const char *const *strings, uint32_t *out_n,
                         const char ***out) {
    size_t bytes = 0;
    for (int64_t i = 0; i < n; i++)
        bytes += strlen(strings[i]) + 1;
    const char **list = mxnet_buffer(pointers, (size_t)n, sizeof *list);
    char *text = mxnet_buffer(chars, bytes, 1);
    if (!list || !text)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        bytes = strlen(strings[i]) + 1;
        list[i] = memcpy(text, strings[i], bytes);
        text += bytes;
    }
    *out_n = (uint32_t)n;
    *out = list;
    return 0;
}

int mxnet_return_names(mxc_names *names, uint32_t *out_n, const char ***out) {
    int result = mxnet_return_strings(MXNET_SLOT_STRINGS, MXNET_SLOT_CHARS, names->n, (const char *const *)names->items,
                                      out_n, out);
    mxc_names_release(names);
    return result;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void mxnet_lock(void) {
    pthread_mutex_lock(&lock);
}

void mxnet_unlock(void) {
    pthread_mutex_unlock(&lock);
}

int mxnet_is_number(const char *text) {
    char *end;
    (void)strtod(text, &end);
    return end != text && !*end;
}

const char *mxnet_environment(const char *name) {
    return getenv(name);
}

int mxnet_set_environment(const char *name, const char *value) {
    int result = value ? setenv(name, value, 1) : unsetenv(name);
    return result ? mxnet_fail("the environment variable %s cannot be set", name) : 0;
}

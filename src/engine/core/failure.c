/* SPDX-License-Identifier: Apache-2.0 */
/* Failure records: made on the thread where the function failed, raised again on the one that waits. */
#include "engine/core/failure.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"

enum { FILE_BYTES = 96, CODES = 32 };

struct mxci_failure {
    _Atomic int32_t references;
    mxc_status code;
    uint64_t serial; /* counts records from 1; 0: one of the static ones below */
    int line;
    char file[FILE_BYTES];
    char text[MXC_ERROR_MAX];
};

/* One record for each code, used where there is no memory for another. They are not counted. */
static mxci_failure out_of_memory[CODES] = {
#define MXC_STATUS(name, value, meaning) [value] = {.code = name},
#include <mxc/status.def>
#undef MXC_STATUS
};

static _Atomic uint64_t last_serial;

/* place: "file:line" or "" */
static mxci_failure *make(mxc_status code, const char *text, const char *place) {
    mxci_failure *failure = mxci_alloc(sizeof *failure);
    const char *colon = strrchr(place, ':');
    if (!failure)
        return &out_of_memory[(unsigned)code < CODES && out_of_memory[code].code == code ? code : MXC_EUSER];
    atomic_init(&failure->references, 1);
    failure->code = code;
    failure->serial = atomic_fetch_add(&last_serial, 1) + 1;
    failure->line = colon ? atoi(colon + 1) : 0;
    mxci_format(failure->file, sizeof failure->file, "%.*s", colon ? (int)(colon - place) : 0, place);
    mxci_format(failure->text, sizeof failure->text, "%s", text);
    return failure;
}

mxci_failure *mxci_failure_from_last_error(mxc_status code) {
    return make(code, mxc_last_error(), mxc_last_error_place());
}

mxci_failure *mxci_failure_from_text(mxc_status code, const char *text) {
    return make(code, text ? text : mxc_status_text(code), "");
}

mxci_failure *mxci_failure_retain(mxci_failure *failure) {
    if (failure && failure->serial)
        atomic_fetch_add_explicit(&failure->references, 1, memory_order_relaxed);
    return failure;
}

void mxci_failure_release(mxci_failure *failure) {
    if (failure && failure->serial && atomic_fetch_sub_explicit(&failure->references, 1, memory_order_acq_rel) == 1)
        mxci_free(failure);
}

mxci_failure *mxci_failure_earlier(mxci_failure *a, mxci_failure *b) {
    if (!a || !b)
        return a ? a : b;
    return b->serial < a->serial ? b : a;
}

mxc_status mxci_failure_raise(const mxci_failure *failure) {
    if (!failure)
        return MXC_OK;
    if (!failure->serial)
        return MXC_FAIL(failure->code, "%s (there was no memory to keep the message)", mxc_status_text(failure->code));
    if (!failure->file[0])
        return MXC_FAIL(failure->code, "%s", failure->text);
    return mxc_fail_at(failure->file, failure->line, failure->code, "%s", failure->text);
}

void mxci_errors_note(mxci_engine_errors *errors, mxci_failure *failure) {
    mxci_failure *none = NULL;
    if (!failure || atomic_load(&errors->first))
        return;
    mxci_failure_retain(failure);
    if (!atomic_compare_exchange_strong(&errors->first, &none, failure))
        mxci_failure_release(failure);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved states of optimizers: "<key>:<state>", "<key>:weight32" where there is an f32 copy of a weight, and
 * "<key>:updates" where the rule needs the count.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "optimizer/optimizer.h"

/* Appends an array under the name "<key>:<state>"; the list takes the reference, also on failure. */
static mxc_status list_array(const mxc_optimizer *optimizer, const char *key, const char *state, mxc_ndarray *array,
                             mxc_ndarray_list *out) {
    size_t size = strlen(key) + strlen(state) + 2;
    char *name = mxci_alloc(size);
    if (name)
        mxci_format(name, size, "%s:%s", key, state);
    out->arrays[out->n] = array;
    out->names[out->n++] = name;
    return name ? MXC_OK : MXCI_NO_MEMORY(optimizer->rule->name, "the list of states");
}

/* Appends the states of one parameter, if it has been updated. */
static mxc_status list_param_states(const mxc_optimizer *optimizer, const char *key, const mxci_optimizer_param *s,
                                    mxc_ndarray_list *out) {
    static const int64_t one[1] = {1};
    char name[MXCI_STATE_NAME];
    mxc_ndarray *count;
    for (int i = 0; i < mxci_optimizer_n_states(optimizer); i++)
        if (s->states[i] && mxci_list_item(optimizer->variant->states, i, name, sizeof name))
            MXC_TRY(list_array(optimizer, key, name, mxc_ndarray_retain(s->states[i]), out));
    if (s->master)
        MXC_TRY(list_array(optimizer, key, MXCI_MASTER_NAME, mxc_ndarray_retain(s->master), out));
    if (!optimizer->rule->counts || s->updates == 0)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_from_data(1, one, MXC_I64, &s->updates, &count));
    return list_array(optimizer, key, MXCI_UPDATES_NAME, count, out);
}

mxc_status mxc_optimizer_get_states(const mxc_optimizer *optimizer, mxc_ndarray_list *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(optimizer));
    size_t count = mxci_hash_map_count(optimizer->params) * (MXCI_UPDATE_STATES + 2), cursor = 0;
    const char *key;
    void *s;
    out->arrays = mxci_calloc(count, sizeof *out->arrays);
    out->names = mxci_calloc(count, sizeof *out->names);
    mxc_status status = MXC_OK;
    if (!out->arrays || !out->names)
        status = MXC_FAIL(MXC_ENOMEM, "%s: no memory to list %zu states", optimizer->rule->name, count);
    while (status == MXC_OK && mxci_hash_map_next(optimizer->params, &cursor, &key, &s))
        status = list_param_states(optimizer, key, s, out);
    if (status != MXC_OK)
        mxc_ndarray_list_release(out);
    return status;
}

/* What a saved array is: the state of that number, or one of these. */
enum { NO_STATE = -1, COUNT = -2, MASTER = -3 };

/* The parameter of a saved array "<key>:<state>", and which of its states that is. */
static mxc_status find_state(mxc_optimizer *optimizer, const char *name, mxci_optimizer_param **out, int *which) {
    const char *colon = name ? strrchr(name, ':') : NULL, *state = colon ? colon + 1 : "";
    char first[MXCI_STATE_NAME] = "none";
    *which = colon ? mxci_list_find(optimizer->variant->states, state) : NO_STATE;
    if (*which < 0)
        *which = optimizer->rule->counts && !strcmp(state, MXCI_UPDATES_NAME)              ? COUNT
                 : optimizer->settings.multi_precision && !strcmp(state, MXCI_MASTER_NAME) ? MASTER
                                                                                           : NO_STATE;
    mxci_list_item(optimizer->variant->states, 0, first, sizeof first);
    if (*which == NO_STATE)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\", expected a name like \"weight:%s\"", optimizer->rule->name,
                        name ? name : "(null)", first);
    char *key = mxci_strdup(name);
    if (!key)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for state \"%s\"", optimizer->rule->name, name);
    key[colon - name] = '\0';
    mxc_status status = mxci_optimizer_find_param(optimizer, key, out);
    mxci_free(key);
    return status;
}

/* Sets one saved array. A state becomes a copy, so that updates do not change the array of the caller. */
static mxc_status set_one_state(mxc_optimizer *optimizer, const char *name, mxc_ndarray *from) {
    mxci_optimizer_param *s;
    int which;
    if (!from)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\" has no array", optimizer->rule->name, name);
    MXC_TRY(find_state(optimizer, name, &s, &which));
    if (which == COUNT) {
        int64_t count = -1;
        if (mxc_ndarray_dtype(from) == MXC_I64 && mxc_ndarray_size(from) == 1)
            MXC_TRY(mxc_ndarray_get(from, &count, sizeof count));
        if (count < 0)
            return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\", expected one int64 that is not negative",
                            optimizer->rule->name, name);
        s->updates = count;
        return MXC_OK;
    }
    s->is_loaded = 1;
    mxc_ndarray **state = which == MASTER ? &s->master : &s->states[which];
    mxc_ndarray_release(*state);
    *state = NULL;
    /* Its shape is checked, and it is moved to the weight's context, by the parameter's next update. */
    return mxc_ndarray_copy(from, mxc_ndarray_context(from), mxc_ndarray_dtype(from), state);
}

mxc_status mxc_optimizer_set_states(mxc_optimizer *optimizer, const mxc_ndarray_list *states) {
    MXC_TRY(MXCI_NON_NULL(optimizer));
    MXC_TRY(MXCI_NON_NULL(states));
    if (states->n > 0 && !states->names)
        return MXC_FAIL(MXC_EINVAL, "%s: the list of states has no names", optimizer->rule->name);
    size_t cursor = 0;
    const char *key;
    void *value;
    while (mxci_hash_map_next(optimizer->params, &cursor, &key, &value))
        mxci_optimizer_param_reset(value);
    for (int64_t i = 0; i < states->n; i++)
        MXC_TRY(set_one_state(optimizer, states->names[i], states->arrays[i]));
    return MXC_OK;
}

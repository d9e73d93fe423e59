/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a training. There is always a complete one.
 *
 * The state (training_state.c) is written to <prefix>.state0 and <prefix>.state1 in turn; then the manifest
 * <prefix>.last, which names the current one of the two and its CRC-32, is replaced by a rename. That rename is the
 * atomic switch: before it the old manifest and its state file are untouched, after it the new state is complete. The
 * current state is never overwritten, by this run or another. After an epoch the model is saved too, as mxc_model_save
 * does, before the manifest: a run that continues from the end of an epoch has the model of that epoch.
 *
 * Files of another training, or pretrained ones, are overwritten only if options.overwrite is set. A run writes the
 * manifest immediately when it starts (slot -1), so that the files of a run that was killed before its first checkpoint
 * are known to be its own.
 *
 * Several workers that update together each have their own files. All pass a barrier before one of them overwrites the
 * slot that is not current, so that at any time every worker has the state of the last common checkpoint.
 */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/sys.h"
#include "base/sys_file.h"
#include "kvstore/kvstore.h"
#include "symbol/json.h"
#include "train/model.h"
#include "train/training_state.h"

#define FORMAT "mxc-checkpoint"
#define EPOCH_MODEL "-%04d.params"
#define BEST_MODEL "-best.params"
enum { VERSION = 1, MANIFEST_LIMIT = 65536, CHUNK = 1 << 16, MAX_EPOCHS_CHECKED = 9999 };

/* The contents of the manifest. */
typedef struct manifest {
    int slot; /* current; -1: none yet */
    uint32_t crc[2];
    int64_t updates[2]; /* after how many updates it was written; -1: not known */
    int64_t workers;
} manifest;

/* Path of one of this worker's files. */
static mxc_status worker_path(const mxci_trainer *trainer, const char *format, int number, char *out)
    __attribute__((format(printf, 2, 0)));
static mxc_status worker_path(const mxci_trainer *trainer, const char *format, int number, char *out) {
    char prefix[MXCI_MODEL_PATH];
    int rank = mxc_kvstore_rank(trainer->store);
    if (rank == 0)
        return mxci_model_path(trainer->options->checkpoint, format, number, out, MXCI_MODEL_PATH);
    MXC_TRY(mxci_model_path(trainer->options->checkpoint, ".worker%d", rank, prefix, sizeof prefix));
    return mxci_model_path(prefix, format, number, out, MXCI_MODEL_PATH);
}

static mxc_status state_path(const mxci_trainer *trainer, int slot, char *out) {
    return worker_path(trainer, ".state%d", slot, out);
}

/* Workers that do not update together have no common state, so the first one alone writes. */
static int writes_checkpoints(const mxci_trainer *trainer) {
    return trainer->options->checkpoint && (trainer->is_synchronous || mxc_kvstore_rank(trainer->store) == 0);
}

static mxc_status crc_of_file(const char *path, uint32_t *out) {
    mxci_file *file;
    MXC_TRY(mxci_file_open(path, &file));
    unsigned char *chunk = mxci_alloc(CHUNK);
    mxc_status status = chunk ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "%s: no memory to read", path);
    int64_t size = mxci_file_size(file);
    uLong sum = crc32(0, NULL, 0);
    for (int64_t at = 0; status == MXC_OK && at < size; at += CHUNK) {
        size_t bytes = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        status = mxci_file_read_at(file, at, chunk, bytes);
        if (status == MXC_OK)
            sum = crc32(sum, chunk, (uInt)bytes);
    }
    *out = (uint32_t)sum;
    mxci_free(chunk);
    mxci_file_close(file);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static mxc_status save_state(const mxci_trainer *trainer, const char *path) {
    mxc_ndarray_list state;
    MXC_TRY(mxci_training_state_collect(trainer, &state));
    mxc_status status = mxc_ndarray_save(path, state.n, state.arrays, (const char *const *)state.names);
    mxc_ndarray_list_release(&state);
    return status;
}

/* With slot -1 the manifest says only that a run has begun and has no checkpoint yet. */
static mxc_status write_manifest(const char *path, const manifest *m) {
    mxci_writer *w;
    MXC_TRY(mxci_writer_open(path, &w));
    mxc_status status =
        mxci_writer_printf(w, "{\"format\": \"" FORMAT "\", \"version\": %d, \"slot\": %d, ", (int)VERSION, m->slot);
    if (status == MXC_OK && m->slot < 0)
        status = mxci_writer_printf(w, "\"crc32\": 0, ");
    else if (status == MXC_OK)
        status =
            mxci_writer_printf(w, "\"crc32\": %lu, \"updates\": %lld, \"other_crc32\": %lu, \"other_updates\": %lld, ",
                               (unsigned long)m->crc[m->slot], (long long)m->updates[m->slot],
                               (unsigned long)m->crc[1 - m->slot], (long long)m->updates[1 - m->slot]);
    if (status == MXC_OK)
        status = mxci_writer_printf(w, "\"workers\": %lld}\n", (long long)m->workers);
    if (status == MXC_OK)
        return mxci_writer_commit(w);
    mxci_writer_abandon(w);
    return status;
}

static mxc_status save_model(const mxci_trainer *trainer) {
    mxc_ndarray_list params;
    char best[MXCI_MODEL_PATH];
    MXC_TRY(mxci_model_path(trainer->options->checkpoint, BEST_MODEL, 0, best, sizeof best));
    MXC_TRY(mxci_trainer_params(trainer, &params));
    mxc_status status =
        mxc_model_save(trainer->options->checkpoint, (int)trainer->progress.epoch, trainer->options->symbol, params.n,
                       params.arrays, (const char *const *)params.names);
    if (status == MXC_OK && trainer->is_best && trainer->options->save_best)
        status = mxc_ndarray_save(best, params.n, params.arrays, (const char *const *)params.names);
    mxc_ndarray_list_release(&params);
    return status;
}

/* Remove the models of epochs before the last ones, down to the first gap: a kill may have left some of them. */
static mxc_status remove_old_models(const mxci_trainer *trainer) {
    char path[MXCI_MODEL_PATH];
    mxc_status status = MXC_OK;
    int64_t epoch = trainer->progress.epoch - trainer->options->keep_models;
    if (trainer->options->keep_models == 0 || mxc_kvstore_rank(trainer->store) != 0)
        return MXC_OK;
    for (; epoch > 0 && status == MXC_OK; epoch--) {
        MXC_TRY(mxci_model_path(trainer->options->checkpoint, EPOCH_MODEL, (int)epoch, path, sizeof path));
        status = mxci_file_remove(path);
    }
    return status == MXC_ENOTFOUND ? MXC_OK : status;
}

/* The order matters: the state first, then the model, and the manifest, which makes both current, last. */
mxc_status mxci_checkpoint_write(mxci_trainer *trainer) {
    char path[MXCI_MODEL_PATH];
    int slot = trainer->checkpoint_slot;
    if (!writes_checkpoints(trainer))
        return MXC_OK;
    if (trainer->is_synchronous) /* all workers have completed the current slot before one overwrites the other */
        MXC_TRY(mxc_kvstore_barrier(trainer->store));
    manifest m = {
        .slot = slot,
        .workers = mxc_kvstore_group_size(trainer->store),
        .crc = {trainer->checkpoint_crc, trainer->checkpoint_crc},
        .updates = {trainer->checkpoint_updates, trainer->checkpoint_updates},
    };
    m.updates[slot] = trainer->progress.updates;
    MXC_TRY(state_path(trainer, slot, path));
    MXC_TRY(save_state(trainer, path));
    MXC_TRY(mxci_loss_scaling_report(trainer));
    MXC_TRY(crc_of_file(path, &m.crc[slot]));
    if (trainer->progress.batch == 0 && mxc_kvstore_rank(trainer->store) == 0)
        MXC_TRY(save_model(trainer));
    MXC_TRY(worker_path(trainer, ".last", 0, path));
    MXC_TRY(write_manifest(path, &m));
    trainer->checkpoint_slot ^= 1;
    trainer->checkpoint_crc = m.crc[slot];
    trainer->checkpoint_updates = m.updates[slot];
    trainer->is_best = 0;
    return trainer->progress.batch == 0 ? remove_old_models(trainer) : MXC_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The status of a JSON error: MXC_ENOMEM, or MXC_EFORMAT with what jansson expected. */
static mxc_status not_a_manifest(const char *path, const json_error_t *error) {
    if (json_error_code(error) == json_error_out_of_memory)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to read it", path);
    return MXC_FAIL(MXC_EFORMAT, "%s: not a manifest: %s", path, error->text);
}

static mxc_status parse_manifest(const char *path, json_t *json, manifest *m) {
    json_error_t error;
    const char *format = "";
    json_int_t version = 0, slot = 0, crc = 0, updates = -1, other_crc = 0, other_updates = -1, workers = 1;
    if (json_unpack_ex(json, &error, 0, "{s:s, s:I}", "format", &format, "version", &version) != 0)
        return not_a_manifest(path, &error);
    if (strcmp(format, FORMAT) != 0 || version != VERSION)
        return MXC_FAIL(MXC_EFORMAT, "%s: format \"%.64s\" version %lld, expected \"" FORMAT "\" version %d", path,
                        format, (long long)version, (int)VERSION);
    if (json_unpack_ex(json, &error, 0, "{s:I, s:I}", "slot", &slot, "crc32", &crc) != 0)
        return not_a_manifest(path, &error);
    if (slot < -1 || slot > 1 || crc < 0 || crc > UINT32_MAX)
        return MXC_FAIL(MXC_EFORMAT, "%s: slot %lld, crc32 %lld; expected -1, 0 or 1, and 32 bits", path,
                        (long long)slot, (long long)crc);
    if (json_unpack_ex(json, &error, 0, "{s?:I, s?:I, s?:I, s?:I}", "updates", &updates, "other_crc32", &other_crc,
                       "other_updates", &other_updates, "workers", &workers) != 0)
        return not_a_manifest(path, &error);
    *m = (manifest){.slot = (int)slot, .workers = workers, .updates = {-1, -1}};
    if (slot < 0)
        return MXC_OK;
    m->crc[slot] = (uint32_t)crc;
    m->updates[slot] = updates;
    m->crc[1 - slot] = (uint32_t)other_crc;
    m->updates[1 - slot] = other_updates;
    return MXC_OK;
}

static mxc_status read_manifest(const char *path, manifest *m) {
    char *text;
    size_t bytes;
    json_t *json;
    MXC_TRY(mxci_file_read_all(path, MANIFEST_LIMIT, &text, &bytes));
    mxc_status status = mxci_json_parse(text, bytes, &json);
    status = status == MXC_OK ? parse_manifest(path, json, m) : MXC_FAIL(status, "%s: %s", path, mxc_last_error());
    json_decref(json);
    mxci_free(text);
    return status;
}

/* The CRC-32 is checked before anything is restored, so that a damaged file leaves the trainer as it was. */
static mxc_status load_state(mxci_trainer *trainer, const char *path, uint32_t expected) {
    uint32_t crc;
    mxc_ndarray_list state;
    MXC_TRY(crc_of_file(path, &crc));
    if (crc != expected)
        return MXC_FAIL(MXC_EFORMAT, "%s: CRC-32 %08lx, the manifest says %08lx", path, (unsigned long)crc,
                        (unsigned long)expected);
    MXC_TRY(mxc_ndarray_load(path, &state));
    mxc_status status = mxci_training_state_restore(trainer, path, &state);
    mxc_ndarray_list_release(&state);
    return status;
}

/* If files cannot be written, fail before the first epoch rather than after it. */
static mxc_status try_to_write(const mxci_trainer *trainer) {
    char path[MXCI_MODEL_PATH];
    mxci_writer *w;
    MXC_TRY(state_path(trainer, trainer->checkpoint_slot, path));
    MXC_TRY(mxci_writer_open(path, &w));
    mxci_writer_abandon(w);
    return MXC_OK;
}

/* Number of updates of a worker's checkpoint, or one of these. */
enum { STARTED = -1, ABSENT = -2 };

static int64_t updates_of(const manifest *m, int is_there) {
    return !is_there ? ABSENT : m->slot < 0 ? STARTED : m->updates[m->slot];
}

/* The slot of the newest checkpoint that every worker has; -1: there is none. */
static mxc_status choose_slot(mxci_trainer *trainer, const char *path, const manifest *m, int is_there, int *slot) {
    int64_t least = updates_of(m, is_there), other = -least;
    *slot = m->slot;
    if (m->slot >= 0 && m->workers != mxc_kvstore_group_size(trainer->store) && m->updates[m->slot] >= 0)
        return MXC_FAIL(MXC_EINVAL, "%s: of a training by %lld workers, here are %d", path, (long long)m->workers,
                        mxc_kvstore_group_size(trainer->store));
    if (!trainer->is_synchronous)
        return MXC_OK;
    MXC_TRY(mxci_kvstore_allreduce_min(trainer->store, "last checkpoint", &least));
    MXC_TRY(mxci_kvstore_allreduce_min(trainer->store, "last checkpoint of any worker", &other));
    if (least == ABSENT && -other >= 0 && !trainer->options->overwrite)
        return MXC_FAIL(MXC_EEXIST,
                        "%s: a worker has no checkpoint while another's is of %lld updates; set overwrite "
                        "to begin anew",
                        path, (long long)-other);
    *slot = least < 0 ? -1 : *slot;
    while (least >= 0 && *slot != 1 - m->slot && m->updates[*slot] != least)
        *slot = 1 - *slot;
    if (least >= 0 && m->updates[*slot] != least)
        return MXC_FAIL(MXC_EFORMAT, "%s: has the states after %lld and %lld updates, another worker's last is of %lld",
                        path, (long long)m->updates[0], (long long)m->updates[1], (long long)least);
    return MXC_OK;
}

static mxc_status resume_from(mxci_trainer *trainer, const char *manifest_path, const manifest *m, int is_there,
                              int *resumed) {
    char path[MXCI_MODEL_PATH];
    int slot;
    MXC_TRY(choose_slot(trainer, manifest_path, m, is_there, &slot));
    if (slot < 0)
        return MXC_OK;
    MXC_TRY(state_path(trainer, slot, path));
    MXC_TRY(load_state(trainer, path, m->crc[slot]));
    trainer->checkpoint_slot = 1 - slot;
    trainer->checkpoint_crc = m->crc[slot];
    trainer->checkpoint_updates = m->updates[slot];
    *resumed = 1;
    return MXC_OK;
}

/* ---- existing files ---------------------------------------------------------------------------------------------- */

static mxc_status refuse_existing(const char *path) {
    mxci_file *file;
    mxc_status status = mxci_file_open(path, &file);
    if (status == MXC_OK)
        mxci_file_close(file);
    if (status == MXC_ENOTFOUND || status == MXC_ENOMEM)
        return status == MXC_ENOTFOUND ? MXC_OK : status;
    return MXC_FAIL(MXC_EEXIST,
                    "mxc_fit: %s exists and would be overwritten, and there is no checkpoint to resume "
                    "from: choose another checkpoint prefix, move the file away, or set overwrite",
                    path);
}

/* Refuse to replace existing model files. */
static mxc_status refuse_models(const mxci_trainer *trainer) {
    char path[MXCI_MODEL_PATH];
    int64_t last = trainer->options->epochs < MAX_EPOCHS_CHECKED ? trainer->options->epochs : MAX_EPOCHS_CHECKED;
    MXC_TRY(mxci_model_path(trainer->options->checkpoint, "-symbol.json", 0, path, sizeof path));
    MXC_TRY(refuse_existing(path));
    for (int epoch = 1; epoch <= last; epoch++) {
        MXC_TRY(mxci_model_path(trainer->options->checkpoint, EPOCH_MODEL, epoch, path, sizeof path));
        MXC_TRY(refuse_existing(path));
    }
    MXC_TRY(mxci_model_path(trainer->options->checkpoint, BEST_MODEL, 0, path, sizeof path));
    return trainer->options->save_best ? refuse_existing(path) : MXC_OK;
}

/* read: status of reading the manifest. */
static mxc_status refuse_files(const mxci_trainer *trainer, const char *manifest_path, mxc_status read,
                               const manifest *m) {
    int has_begun = read == MXC_OK && m->slot < 0;
    if (trainer->options->overwrite || (trainer->options->resume && read == MXC_OK))
        return MXC_OK;
    if (read != MXC_ENOTFOUND && !has_begun)
        return MXC_FAIL(MXC_EEXIST,
                        "mxc_fit: %s exists: set resume to go on from this checkpoint, or overwrite to "
                        "begin anew, or choose another checkpoint prefix",
                        manifest_path);
    return mxc_kvstore_rank(trainer->store) == 0 ? refuse_models(trainer) : MXC_OK;
}

/* All workers fail if one does. */
static mxc_status refuse_together(mxci_trainer *trainer, mxc_status own) {
    int64_t least = own == MXC_OK;
    if (!trainer->is_synchronous)
        return own;
    mxc_status status = mxci_kvstore_allreduce_min(trainer->store, "free checkpoint prefix", &least);
    if (own != MXC_OK || status != MXC_OK)
        return own != MXC_OK ? own : status;
    return least ? MXC_OK : MXC_FAIL(MXC_EEXIST, "mxc_fit: files are in the way of another worker's checkpoints");
}

mxc_status mxci_checkpoint_open(mxci_trainer *trainer, int *resumed) {
    char path[MXCI_MODEL_PATH];
    manifest m = {.slot = -1, .updates = {-1, -1}};
    *resumed = 0;
    trainer->checkpoint_updates = -1;
    if (!writes_checkpoints(trainer))
        return MXC_OK;
    MXC_TRY(worker_path(trainer, ".last", 0, path));
    mxc_status read = read_manifest(path, &m);
    if (read != MXC_OK && read != MXC_ENOTFOUND && (trainer->options->resume || read == MXC_ENOMEM))
        return read;
    MXC_TRY(refuse_together(trainer, refuse_files(trainer, path, read, &m)));
    if (read == MXC_OK && m.slot >= 0)
        trainer->checkpoint_slot = 1 - m.slot;
    MXC_TRY(try_to_write(trainer));
    if (trainer->options->resume)
        MXC_TRY(resume_from(trainer, path, &m, read == MXC_OK, resumed));
    if (m.slot >= 0)
        return MXC_OK;
    m.workers = mxc_kvstore_group_size(trainer->store);
    return write_manifest(path, &m);
}

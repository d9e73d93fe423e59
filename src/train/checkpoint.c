/*
 * Checkpoints of a training: parameters, and everything else that the next step depends on.
 *
 * A checkpoint is three files beside <prefix>-symbol.json: the parameters (.params), the state (.state, also a .params
 * list), and the manifest <prefix>.last, which names the two and holds their CRC-32. The manifest is replaced last, in one
 * step; until then it names the checkpoint before, whose files are still there. After an epoch the files are called
 * <prefix>-NNNN; inside an epoch <prefix>-partial0 and -partial1 in turn, so that the one in force is never written over.
 *
 * State arrays: "counts" i64 (version, epoch, batch, updates, iterator epoch, iterator position, loss count, accuracy
 * count, batches in an epoch), "sums" f64 (loss, accuracy, lr), "random" i64 (contexts, 3): seed, stream, offset,
 * "history" f64 (epochs, 5), and "optimizer:<state>" for each state of the optimizer.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/sys.h"
#include "train/metric.h"
#include "train/model.h"
#include "train/trainer.h"

enum { VERSION = 1, N_COUNTS = 9, N_SUMS = 3, POINT_DOUBLES = sizeof(mxci_point) / sizeof(double) };
#define MANIFEST_LIMIT 65536
#define FILE_LIMIT (INT64_C(1) << 36)
#define OPTIMIZER_PREFIX "optimizer:"

/* ---- lists of named arrays --------------------------------------------------------------------------------- */

typedef struct named_arrays {
    mxc_ndarray_list list;
    int64_t capacity;
} named_arrays;

static mxc_status named_open(named_arrays *a, int64_t capacity) {
    memset(a, 0, sizeof *a);
    a->capacity = capacity;
    a->list.arrays = mxci_calloc((size_t)capacity, sizeof *a->list.arrays);
    a->list.names = mxci_calloc((size_t)capacity, sizeof *a->list.names);
    if (a->list.arrays == NULL || a->list.names == NULL)
        return MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for %lld arrays", (long long)capacity);
    return MXC_OK;
}

/* Takes over the reference to array, also on failure. */
static mxc_status named_add(named_arrays *a, const char *prefix, const char *name, mxc_ndarray *array) {
    size_t size = strlen(prefix) + strlen(name) + 1;
    char *full = mxci_alloc(size);
    if (full == NULL) {
        mxc_ndarray_release(array);
        return MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for the name %s", name);
    }
    snprintf(full, size, "%s%s", prefix, name);
    a->list.names[a->list.n] = full;
    a->list.arrays[a->list.n++] = array;
    return MXC_OK;
}

static mxc_status named_add_data(named_arrays *a, const char *name, int64_t rows, int64_t columns, mxc_dtype dtype,
                                 const void *data) {
    const int64_t dims[2] = { rows, columns };
    mxc_ndarray *array;
    MXC_TRY(mxc_ndarray_from_data(2, dims, dtype, data, &array));
    return named_add(a, "", name, array);
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

static mxc_status add_params(const mxci_trainer *t, named_arrays *a) {
    const mxc_names *aux = mxc_executor_aux_names(t->executors[0]);
    for (int i = 0; i < t->n_params; i++)
        MXC_TRY(named_add(a, "arg:", t->keys[i],
                          mxc_ndarray_retain(mxc_executor_arg(t->executors[0], t->param_args[i]))));
    for (int64_t i = 0; i < aux->n; i++)
        MXC_TRY(named_add(a, "aux:", aux->items[i], mxc_ndarray_retain(mxc_executor_aux(t->executors[0], i))));
    return MXC_OK;
}

mxc_status mxci_trainer_params(const mxci_trainer *t, mxc_ndarray_list *out) {
    named_arrays a;
    mxc_status status = named_open(&a, t->n_params + mxc_executor_aux_names(t->executors[0])->n);
    if (status == MXC_OK)
        status = add_params(t, &a);
    if (status == MXC_OK)
        *out = a.list;
    else
        mxc_ndarray_list_release(&a.list);
    return status;
}

static mxc_status add_counts(const mxci_trainer *t, named_arrays *a) {
    const mxc_fit_progress *p = &t->progress;
    mxc_iter_state at;
    int64_t counts[N_COUNTS] = { VERSION, p->epoch, p->batch, p->updates };
    double sums[N_SUMS] = { 0, 0, p->lr };
    MXC_TRY(mxc_iter_get_state(t->options->train, &at));
    counts[4] = (int64_t)at.epoch;
    counts[5] = at.position;
    if (t->loss != NULL) {
        mxci_metric_get_sums(t->loss, &sums[0], &counts[6]);
        mxci_metric_get_sums(t->accuracy, &sums[1], &counts[7]);
    }
    counts[8] = p->batches;
    MXC_TRY(named_add_data(a, "counts", 1, N_COUNTS, MXC_I64, counts));
    return named_add_data(a, "sums", 1, N_SUMS, MXC_F64, sums);
}

static mxc_status add_random(const mxci_trainer *t, named_arrays *a) {
    int64_t *numbers = mxci_calloc((size_t)t->n_contexts, 3 * sizeof *numbers);
    mxc_status status = numbers != NULL ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for random streams");
    for (int i = 0; status == MXC_OK && i < t->n_contexts; i++) {
        mxc_random state;
        status = mxc_random_get_state(t->contexts[i], &state);
        if (status != MXC_OK)
            break;
        numbers[3 * i] = (int64_t)state.seed;
        numbers[3 * i + 1] = (int64_t)state.stream;
        numbers[3 * i + 2] = (int64_t)state.offset;
    }
    if (status == MXC_OK)
        status = named_add_data(a, "random", t->n_contexts, 3, MXC_I64, numbers);
    mxci_free(numbers);
    return status;
}

static mxc_status add_optimizer(const mxc_ndarray_list *states, named_arrays *a) {
    for (int64_t i = 0; i < states->n; i++)
        MXC_TRY(named_add(a, OPTIMIZER_PREFIX, states->names[i], mxc_ndarray_retain(states->arrays[i])));
    return MXC_OK;
}

static mxc_status collect_state(const mxci_trainer *t, named_arrays *a) {
    mxc_ndarray_list states;
    memset(a, 0, sizeof *a);
    MXC_TRY(mxc_optimizer_get_states(t->optimizer, &states));
    mxc_status status = named_open(a, states.n + 4);
    if (status == MXC_OK)
        status = add_counts(t, a);
    if (status == MXC_OK)
        status = add_random(t, a);
    if (status == MXC_OK)
        status = named_add_data(a, "history", t->history.n, POINT_DOUBLES, MXC_F64, t->history.points);
    if (status == MXC_OK)
        status = add_optimizer(&states, a);
    mxc_ndarray_list_release(&states);
    return status;
}

static mxc_status save_list(const char *path, const mxc_ndarray_list *list) {
    return mxc_ndarray_save(path, list->n, list->arrays, (const char *const *)list->names);
}

static mxc_status save_state(const mxci_trainer *t, const char *path) {
    named_arrays a;
    mxc_status status = collect_state(t, &a);
    if (status == MXC_OK)
        status = save_list(path, &a.list);
    mxc_ndarray_list_release(&a.list);
    return status;
}

static mxc_status save_params(const mxci_trainer *t, const char *path) {
    mxc_ndarray_list params;
    MXC_TRY(mxci_trainer_params(t, &params));
    mxc_status status = save_list(path, &params);
    mxc_ndarray_list_release(&params);
    return status;
}

static mxc_status read_checked(const char *path, char **data, size_t *bytes, uint32_t *crc) {
    MXC_TRY(mxci_file_read_all(path, FILE_LIMIT, data, bytes));
    uLong sum = crc32(0, NULL, 0);
    for (size_t at = 0; at < *bytes; at += 1 << 30) {
        size_t step = *bytes - at < 1 << 30 ? *bytes - at : 1 << 30;
        sum = crc32(sum, (const Bytef *)*data + at, (uInt)step);
    }
    *crc = (uint32_t)sum;
    return MXC_OK;
}

static mxc_status crc_of_file(const char *path, uint32_t *crc) {
    char *data;
    size_t bytes;
    MXC_TRY(read_checked(path, &data, &bytes, crc));
    mxci_free(data);
    return MXC_OK;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int write_json(const char *text, size_t bytes, void *writer) {
    return mxci_writer_write(writer, text, bytes) == MXC_OK ? 0 : -1;
}

static mxc_status write_json_file(const char *path, const json_t *json) {
    mxci_writer *w;
    MXC_TRY(mxci_writer_open(path, &w));
    if (json_dump_callback(json, write_json, w, JSON_INDENT(2)) == 0)
        return mxci_writer_commit(w);
    mxci_writer_abandon(w);
    return MXC_FAIL(MXC_EIO, "%s: the manifest could not be written", path);
}

static mxc_status write_manifest(const char *path, const char *params, const char *state) {
    uint32_t params_crc, state_crc;
    MXC_TRY(crc_of_file(params, &params_crc));
    MXC_TRY(crc_of_file(state, &state_crc));
    json_t *json = json_pack("{s:s, s:i, s:s, s:I, s:s, s:I}", "format", "mxc-checkpoint", "version", VERSION, "params",
                             base_name(params), "params_crc32", (json_int_t)params_crc, "state", base_name(state),
                             "state_crc32", (json_int_t)state_crc);
    if (json == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the manifest, or a name is not UTF-8", path);
    mxc_status status = write_json_file(path, json);
    json_decref(json);
    return status;
}

mxc_status mxci_checkpoint_write(mxci_trainer *t) {
    const char *prefix = t->options->checkpoint;
    char params[MXCI_MODEL_PATH], state[MXCI_MODEL_PATH], path[MXCI_MODEL_PATH];
    if (prefix == NULL)
        return MXC_OK;
    int partial = t->progress.batch > 0, number = partial ? t->checkpoint_parity : (int)t->progress.epoch;
    MXC_TRY(mxci_model_path(prefix, partial ? "-partial%d.params" : "-%04d.params", number, params, sizeof params));
    MXC_TRY(mxci_model_path(prefix, partial ? "-partial%d.state" : "-%04d.state", number, state, sizeof state));
    MXC_TRY(mxci_model_path(prefix, "-symbol.json", 0, path, sizeof path));
    MXC_TRY(mxc_symbol_save(t->options->symbol, path));
    MXC_TRY(save_params(t, params));
    MXC_TRY(save_state(t, state));
    MXC_TRY(mxci_model_path(prefix, ".last", 0, path, sizeof path));
    MXC_TRY(write_manifest(path, params, state));
    t->checkpoint_parity ^= partial;
    return MXC_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

typedef struct manifest {
    char params[MXCI_MODEL_PATH], state[MXCI_MODEL_PATH];
    uint32_t params_crc, state_crc;
} manifest;

/* A file of the manifest lies in its folder; anything that leads elsewhere is refused. */
static mxc_status path_beside(const char *path, const char *name, char *out, size_t size) {
    int folder = (int)(base_name(path) - path);
    if (name[0] == '\0' || strchr(name, '/') != NULL)
        return MXC_FAIL(MXC_EFORMAT, "%s: file name \"%s\", expected a name without folder", path, name);
    if ((size_t)snprintf(out, size, "%.*s%s", folder, path, name) >= size)
        return MXC_FAIL(MXC_EFORMAT, "%s: file name is too long", path);
    return MXC_OK;
}

static mxc_status parse_manifest(const char *path, const char *text, size_t bytes, manifest *m) {
    json_error_t error;
    const char *format, *params, *state;
    json_int_t version, params_crc, state_crc;
    json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        return MXC_FAIL(MXC_EFORMAT, "%s: line %d: %s", path, error.line, error.text);
    mxc_status status = MXC_OK;
    if (json_unpack_ex(json, &error, 0, "{s:s, s:I, s:s, s:I, s:s, s:I}", "format", &format, "version", &version, "params",
                       &params, "params_crc32", &params_crc, "state", &state, "state_crc32", &state_crc) != 0)
        status = MXC_FAIL(MXC_EFORMAT, "%s: not a manifest: %s", path, error.text);
    else if (strcmp(format, "mxc-checkpoint") != 0 || version != VERSION)
        status = MXC_FAIL(MXC_EFORMAT, "%s: format %s version %lld, expected mxc-checkpoint version %d", path, format,
                          (long long)version, VERSION);
    else
        status = path_beside(path, params, m->params, sizeof m->params);
    if (status == MXC_OK)
        status = path_beside(path, state, m->state, sizeof m->state);
    if (status == MXC_OK) {
        m->params_crc = (uint32_t)params_crc;
        m->state_crc = (uint32_t)state_crc;
    }
    json_decref(json);
    return status;
}

static mxc_status read_manifest(const char *path, manifest *m) {
    char *text;
    size_t bytes;
    MXC_TRY(mxci_file_read_all(path, MANIFEST_LIMIT, &text, &bytes));
    mxc_status status = parse_manifest(path, text, bytes, m);
    mxci_free(text);
    return status;
}

static mxc_status load_checked(const char *path, uint32_t expected, mxc_ndarray_list *out) {
    char *data;
    size_t bytes;
    uint32_t crc;
    MXC_TRY(read_checked(path, &data, &bytes, &crc));
    mxc_status status;
    if (crc != expected)
        status = MXC_FAIL(MXC_EFORMAT, "%s: CRC-32 %08x, the manifest says %08x", path, crc, expected);
    else
        status = mxc_ndarray_load_buffer(path, data, bytes, out);
    mxci_free(data);
    return status;
}

/* Copy a saved array over the trainer's in every context. */
static mxc_status restore_array(const char *path, const mxc_ndarray_list *list, const char *prefix, const char *name,
                                mxc_ndarray *to) {
    char full[600], a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    mxc_ndarray *from = mxc_ndarray_list_find(list, full);
    if (from == NULL)
        return MXC_FAIL(MXC_ENOTFOUND, "%s: has no %s, which the network needs", path, full);
    if (!mxc_shape_equal(mxc_ndarray_shape(from), mxc_ndarray_shape(to)))
        return MXC_FAIL(MXC_ESHAPE, "%s: %s has shape %s, the network needs %s", path, full,
                        mxc_shape_format(mxc_ndarray_shape(from), a, sizeof a),
                        mxc_shape_format(mxc_ndarray_shape(to), b, sizeof b));
    return mxc_ndarray_copy_to(from, to, 0);
}

static mxc_status restore_params(mxci_trainer *t, const char *path, const mxc_ndarray_list *list) {
    const mxc_names *aux = mxc_executor_aux_names(t->executors[0]);
    for (int c = 0; c < t->n_contexts; c++) {
        for (int i = 0; i < t->n_params; i++)
            MXC_TRY(restore_array(path, list, "arg:", t->keys[i], mxc_executor_arg(t->executors[c], t->param_args[i])));
        for (int64_t i = 0; i < aux->n; i++)
            MXC_TRY(restore_array(path, list, "aux:", aux->items[i], mxc_executor_aux(t->executors[c], i)));
    }
    return MXC_OK;
}

/* The data of a state array with that dtype and at least min_rows rows of columns numbers. */
static mxc_status find_data(const char *path, const mxc_ndarray_list *list, const char *name, mxc_dtype dtype,
                            int64_t min_rows, int64_t columns, const void **data, int64_t *rows) {
    mxc_ndarray *array = mxc_ndarray_list_find(list, name);
    const mxc_shape *shape = array != NULL ? mxc_ndarray_shape(array) : NULL;
    void *block;
    if (array == NULL || mxc_ndarray_dtype(array) != dtype || shape->ndim != 2 || shape->dim[0] < min_rows ||
        shape->dim[1] != columns)
        return MXC_FAIL(MXC_EFORMAT, "%s: state \"%s\" is absent or not %s of shape (%lld or more,%lld)", path, name,
                        mxc_dtype_name(dtype), (long long)min_rows, (long long)columns);
    MXC_TRY(mxc_ndarray_data(array, &block));
    *data = block;
    *rows = shape->dim[0];
    return MXC_OK;
}

static mxc_status restore_counts(mxci_trainer *t, const char *path, const mxc_ndarray_list *list) {
    const void *data;
    int64_t rows;
    MXC_TRY(find_data(path, list, "counts", MXC_I64, 1, N_COUNTS, &data, &rows));
    const int64_t *counts = data;
    MXC_TRY(find_data(path, list, "sums", MXC_F64, 1, N_SUMS, &data, &rows));
    const double *sums = data;
    if (counts[0] != VERSION || counts[1] < 0 || counts[2] < 0 || counts[3] < 0)
        return MXC_FAIL(MXC_EFORMAT, "%s: version %lld, epoch %lld, batch %lld make no sense", path,
                        (long long)counts[0], (long long)counts[1], (long long)counts[2]);
    const mxc_iter_state at = { (uint64_t)counts[4], counts[5] };
    MXC_TRY(mxc_iter_set_state(t->options->train, &at));
    t->progress.epoch = counts[1];
    t->progress.batch = counts[2];
    t->progress.updates = counts[3];
    t->progress.batches = counts[8];
    t->progress.lr = sums[2];
    if (t->loss != NULL) {
        mxci_metric_set_sums(t->loss, sums[0], counts[6]);
        mxci_metric_set_sums(t->accuracy, sums[1], counts[7]);
    }
    return MXC_OK;
}

static mxc_status restore_random(mxci_trainer *t, const char *path, const mxc_ndarray_list *list) {
    const void *data;
    int64_t rows;
    MXC_TRY(find_data(path, list, "random", MXC_I64, t->n_contexts, 3, &data, &rows));
    for (int i = 0; i < t->n_contexts; i++) {
        const int64_t *n = (const int64_t *)data + 3 * i;
        const mxc_random state = { (uint64_t)n[0], (uint64_t)n[1], (uint64_t)n[2] };
        MXC_TRY(mxc_random_set_state(t->contexts[i], &state));
    }
    return MXC_OK;
}

static mxc_status restore_history(mxci_trainer *t, const char *path, const mxc_ndarray_list *list) {
    const void *data;
    int64_t rows;
    MXC_TRY(find_data(path, list, "history", MXC_F64, 0, POINT_DOUBLES, &data, &rows));
    t->history.n = 0;
    for (int64_t i = 0; i < rows; i++)
        MXC_TRY(mxci_history_add(&t->history, (const mxci_point *)data + i));
    if (rows > 0) {
        t->progress.valid_loss = t->history.points[rows - 1].valid_loss;
        t->progress.valid_accuracy = t->history.points[rows - 1].valid_accuracy;
    }
    return MXC_OK;
}

/* A view of the list: the arrays whose names begin with OPTIMIZER_PREFIX, names without it. */
static mxc_status restore_optimizer(mxci_trainer *t, const mxc_ndarray_list *list) {
    mxc_ndarray_list states = {0};
    size_t skip = strlen(OPTIMIZER_PREFIX);
    states.arrays = mxci_calloc((size_t)list->n, sizeof *states.arrays);
    states.names = mxci_calloc((size_t)list->n, sizeof *states.names);
    mxc_status status = MXC_OK;
    if (states.arrays == NULL || states.names == NULL)
        status = MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for the optimizer's states");
    for (int64_t i = 0; status == MXC_OK && i < list->n; i++)
        if (strncmp(list->names[i], OPTIMIZER_PREFIX, skip) == 0) {
            states.names[states.n] = list->names[i] + skip;
            states.arrays[states.n++] = list->arrays[i];
        }
    if (status == MXC_OK)
        status = mxc_optimizer_set_states(t->optimizer, &states);
    mxci_free(states.arrays);
    mxci_free(states.names);
    return status;
}

static mxc_status restore_state(mxci_trainer *t, const char *path, const mxc_ndarray_list *list) {
    if (list->names == NULL)
        return MXC_FAIL(MXC_EFORMAT, "%s: its arrays have no names", path);
    MXC_TRY(restore_counts(t, path, list));
    MXC_TRY(restore_random(t, path, list));
    MXC_TRY(restore_history(t, path, list));
    return restore_optimizer(t, list);
}

mxc_status mxci_checkpoint_read(mxci_trainer *t, int *found) {
    char path[MXCI_MODEL_PATH];
    manifest m;
    mxc_ndarray_list params = {0}, state = {0};
    *found = 0;
    MXC_TRY(mxci_model_path(t->options->checkpoint, ".last", 0, path, sizeof path));
    mxc_status status = read_manifest(path, &m);
    if (status == MXC_ENOTFOUND)
        return MXC_OK;
    if (status == MXC_OK)
        status = load_checked(m.params, m.params_crc, &params);
    if (status == MXC_OK)
        status = load_checked(m.state, m.state_crc, &state);
    if (status == MXC_OK)
        status = restore_params(t, m.params, &params);
    if (status == MXC_OK)
        status = restore_state(t, m.state, &state);
    mxc_ndarray_list_release(&params);
    mxc_ndarray_list_release(&state);
    t->checkpoint_parity = status == MXC_OK && strstr(m.params, "-partial0.") != NULL;
    *found = status == MXC_OK;
    return status;
}

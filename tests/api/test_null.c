/* SPDX-License-Identifier: Apache-2.0 */
/* Every exported function with NULL for each of its pointers, one at a time and all together. The table of functions is
 * made from the public headers by exports.awk, so a new export is tested without an edit here; one whose parameters are
 * of a new type fails until a fixture for the type is added.
 *
 * Which pointers are required is compared with docs/reference/api.json.
 *
 * The rule: a function that returns a status answers NULL for a required pointer by MXC_EINVAL and a message that names
 * the parameter and says NULL; another function does nothing, or returns a neutral value. Whatever fails leaves its
 * outputs zero. Each function runs in a process of its own, which makes its own fixtures. */
#include <signal.h>
#include <sys/wait.h>

#include <mxc/dlpack.h>
#include <mxc/mxc.h>

#include "api/description.h"

typedef union slot {
    const void *pointer;
    int64_t number;
} slot;

typedef struct param {
    const char *type, *name;
    int is_pointer;
    size_t out_bytes; /* of what an output parameter points to; 0: no output */
} param;

typedef struct function {
    const char *name;
    mxc_status (*call)(const slot *s); /* MXC_OK where the function returns no status */
    int has_status, n;
    param params[12];
} function;

#include "exports.inc"

/* ---- what may be NULL -------------------------------------------------------------------------------------------- */

/* docs/reference/api.json says it, which this test holds to be true. */
static json_t *described;

/* Outputs in which a failure leaves what it found out: that a shape is unknown, how far a training went. */
static const char *const kept[] = {"mxc_shape_set.shape", "mxc_fit.result"};

static const json_t *description_of(const function *f, const param *p) {
    const json_t *entry = description_find(json_object_get(described, "functions"), "name", f->name);
    entry = description_find(json_object_get(entry, "params"), "name", p->name);
    if (!entry)
        print_error("docs/reference/api.json has no %s.%s\n", f->name, p->name);
    return entry;
}

static int is_optional(const function *f, const param *p) {
    return json_is_true(json_object_get(description_of(f, p), "nullable"));
}

/* Something goes in as well, which a failure leaves as it is; or what it leaves is listed above. */
static int is_in_and_out(const function *f, const param *p) {
    const char *direction = json_string_value(json_object_get(description_of(f, p), "direction"));
    char name[128];
    snprintf(name, sizeof name, "%s.%s", f->name, p->name);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i], name) == 0)
            return 1;
    return direction && strcmp(direction, "inout") == 0;
}

/* A failure that says that the parameter must not be NULL. */
static int is_refused(mxc_status status, const param *p) {
    char text[128];
    snprintf(text, sizeof text, ": %s must not be NULL", p->name);
    return status == MXC_EINVAL && strstr(mxc_last_error(), text);
}

/* ---- fixtures ---------------------------------------------------------------------------------------------------- */

enum { ROOM = 8192, MOST = 12 };

static struct {
    mxc_engine *engine;
    mxc_var *var;
    mxc_engine_op *engine_op;
    mxc_ndarray *array;
    mxc_op *op;
    mxc_symbol *symbol;
    mxc_executor *executor;
    mxc_cached_op *cached_op;
    mxc_iter *iter;
    mxc_kvstore *store;
    mxc_optimizer *optimizer;
    mxc_metric *metric;
    mxc_record_reader *reader;
    mxc_record_writer *writer;
    mxc_predictor *predictor;
    DLManagedTensor *tensor;
    struct DLManagedTensorVersioned *versioned;
    mxc_op_sig sig;
    mxc_shape shapes[2];
    mxc_dtype types[2];
    test_path folder, file, record;
} have;

static mxc_status do_nothing(const mxc_run *run, void *arg) {
    (void)run, (void)arg;
    return MXC_OK;
}
static void no_range(void *arg, int64_t begin, int64_t end, int part) {
    (void)arg, (void)begin, (void)end, (void)part;
}
static void no_destroy(void *arg) {
    (void)arg;
}
static void no_log(mxc_log_level level, const char *text, void *user) {
    (void)level, (void)text, (void)user;
}
static mxc_status no_compute(const mxc_op_call *call) {
    (void)call;
    return MXC_OK;
}

static const mxc_map_kernels no_kernels;
static const mxc_array_iter_options array_iter = MXC_ARRAY_ITER_OPTIONS_INIT;
static const mxc_bucket_iter_options bucket_iter = MXC_BUCKET_ITER_OPTIONS_INIT;
static const mxc_bind_options bind = MXC_BIND_OPTIONS_INIT;
static const mxc_bind_spec bind_spec = MXC_BIND_SPEC_INIT;
static const mxc_quantize_options quantize = MXC_QUANTIZE_OPTIONS_INIT;
static const mxc_memory_report report;
static const mxc_random range;
static const mxc_iter_state state;
static const mxc_image_record image_record;
static const mxc_schedule schedule;
static const mxc_fit_progress progress;
static const mxc_image_transform transform = MXC_IMAGE_TRANSFORM_INIT;
static const mxc_data_desc input = {"x", {2, {2, 2}}, MXC_F32};
static mxc_predictor_options predictor_options;
static const mxc_backward_options backward = MXC_BACKWARD_OPTIONS_INIT;
static const mxc_cached_op_options cached_op = MXC_CACHED_OP_OPTIONS_INIT;

/* In a child process no assertion may leave the test. */
static void need(mxc_status status) {
    if (status == MXC_OK)
        return;
    print_error("fixtures: %s\n", mxc_last_error());
    _exit(1);
}

static void make_fixtures(void) {
    static const int64_t dims[] = {2, 2};
    static const float values[] = {1, 2, 3, 4};
    const char *name = "x";
    mxc_task task = MXC_TASK_INIT;
    mxc_symbol *x;
    need(mxc_engine_default(&have.engine));
    need(mxc_var_create(have.engine, &have.var));
    task.fn = do_nothing;
    need(mxc_engine_op_create(have.engine, &task, 0, NULL, 1, &have.var, &have.engine_op));
    need(mxc_ndarray_from_data(2, dims, MXC_F32, values, &have.array));
    need(mxc_op_create("relu", 0, NULL, NULL, &have.op));
    need(mxc_symbol_variable(name, &x));
    need(mxc_symbol_op("relu", "y", 0, NULL, NULL, 1, NULL, &x, &have.symbol));
    mxc_symbol_release(x);
    for (int i = 0; i < 2; i++) {
        need(mxc_shape_set(&have.shapes[i], 2, dims));
        have.types[i] = MXC_F32;
    }
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = 1, .names = &name, .shapes = have.shapes, .req = MXC_REQ_WRITE};
    need(mxc_executor_simple_bind(have.symbol, NULL, &spec, &have.executor));
    need(mxc_cached_op_create(have.symbol, NULL, &have.cached_op));
    need(mxc_iter_from_arrays(&array_iter, 1, &have.array, 0, NULL, NULL, &have.iter));
    need(mxc_kvstore_create("local", &have.store));
    mxc_predictor_options_init(&predictor_options, sizeof predictor_options);
    need(mxc_predictor_create(have.symbol, &(mxc_ndarray_list){0, NULL, NULL}, 1, &input, NULL, &have.predictor));
    need(mxc_optimizer_create("sgd", 0, NULL, NULL, &have.optimizer));
    need(mxc_metric_create("mse", 0, NULL, NULL, &have.metric));
    test_join(have.record, have.folder, "fixture.rec");
    test_join(have.file, have.folder, "file");
    need(mxc_record_writer_open(have.record, NULL, &have.writer));
    need(mxc_record_writer_write(have.writer, 0, "abcd", 4));
    need(mxc_record_writer_close(have.writer));
    need(mxc_record_reader_open(have.record, 0, 1, (mxc_bad_record)0, &have.reader));
    need(mxc_record_writer_open(have.record, NULL, &have.writer));
    need(mxc_ndarray_to_dlpack(have.array, &have.tensor));
    need(mxc_ndarray_to_dlpack_versioned(have.array, 0, &have.versioned));
    have.sig = (mxc_op_sig){.op = have.op,
                            .params = mxc_op_params(have.op),
                            .n_in = 1,
                            .n_out = 1,
                            .in_shape = &have.shapes[0],
                            .out_shape = &have.shapes[1],
                            .in_type = &have.types[0],
                            .out_type = &have.types[1],
                            .context = {MXC_CPU, 0},
                            .parallelism = 1};
}

/* A function that does nothing, by the parameter's type. */
static const void *function_fixture(const char *type) {
    const struct {
        const char *type;
        const void *value;
    } all[] = {
        {"mxc_range_fn", (const void *)(uintptr_t)no_range},
        {"mxc_log_fn", (const void *)(uintptr_t)no_log},
        {"mxc_monitor_fn", (const void *)(uintptr_t)no_destroy},
        {"mxc_trace_fn", (const void *)(uintptr_t)no_destroy},
        {"mxc_cached_op_monitor_fn", (const void *)(uintptr_t)no_destroy},
        {"mxc_updater_fn", (const void *)(uintptr_t)no_destroy},
        {"mxc_metric_update_fn", (const void *)(uintptr_t)no_destroy},
        {"mxc_metric_value_fn", (const void *)(uintptr_t)no_destroy},
        {"mxc_autograd_fn", (const void *)(uintptr_t)no_destroy},
        {"void (*)(void *arg)", (const void *)(uintptr_t)no_destroy},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].type, type) == 0)
            return all[i].value;
    print_error("no fixture for parameters of the type %s\n", type);
    _exit(1);
}

/* A good value of a parameter that is no output, by its type; NULL where the type has none. */
static const void *fixture(const char *type) {
    static const char *const strings[] = {"x", "x"};
    static const int64_t numbers[] = {1, 1};
    static const uint8_t bytes[64];
    static char text[64];
    static const mxc_req req = MXC_REQ_WRITE;
    static const mxc_param schema[] = {{.name = "y", .type = MXC_PARAM_INT, .size = 8}, MXC_PARAM_END};
    static const mxc_names names = {0, NULL};
    static const mxc_ndarray_list list = {0, NULL, NULL};
    static const mxc_image image = {1, 1, 1, (uint8_t *)(uintptr_t)bytes};
    static const mxc_op_def def = {.size = sizeof def, .name = "t_null", .forward = MXC_ON_CPU(no_compute)};
    static const mxc_op_part part = {.size = sizeof part, .op = "relu", .device = MXC_CPU, .forward = no_compute};
    static const mxc_tensor tensor = {.dtype = MXC_F32}, *const tensors[] = {&tensor};
    static const mxc_simple_def simple = {.size = sizeof simple, .name = "t_simple_null"};
    static mxc_fit_options fit;
    static mxc_task task = MXC_TASK_INIT;
    static const mxc_iter_methods methods = {.size = sizeof methods};
    static const mxc_optimizer_def optimizer = {.size = sizeof optimizer, .name = "t_optimizer_null"};
    const struct {
        const char *type;
        const void *value;
    } all[] = {
        {"mxc_engine *", have.engine},
        {"mxc_var *", have.var},
        {"mxc_var *const *", &have.var},
        {"mxc_engine_op *", have.engine_op},
        {"mxc_done *", NULL},
        {"const mxc_run *", NULL},
        {"mxc_ndarray *", have.array},
        {"mxc_ndarray *const *", &have.array},
        {"mxc_op *", have.op},
        {"mxc_symbol *", have.symbol},
        {"mxc_symbol *const *", &have.symbol},
        {"mxc_executor *", have.executor},
        {"mxc_cached_op *", have.cached_op},
        {"mxc_iter *", have.iter},
        {"mxc_kvstore *", have.store},
        {"mxc_optimizer *", have.optimizer},
        {"mxc_metric *", have.metric},
        {"mxc_metric *const *", &have.metric},
        {"mxc_record_reader *", have.reader},
        {"mxc_record_writer *", have.writer},
        {"mxc_predictor *", have.predictor},
        {"const mxc_predictor_options *", &predictor_options},
        {"const mxc_data_desc *", &input},
        {"const mxc_image_transform *", &transform},
        {"struct DLManagedTensor *", have.tensor},
        {"struct DLManagedTensorVersioned *", have.versioned},
        {"mxc_op_sig *", &have.sig},
        {"const mxc_shape *", have.shapes},
        {"const mxc_dtype *", have.types},
        {"const char *", "x"},
        {"const char *const *", strings},
        {"const int64_t *", numbers},
        {"const int32_t *", numbers},
        {"const void *", bytes},
        {"void *", text},
        {"char *", text},
        {"const mxc_req *", &req},
        {"const mxc_param *", schema},
        {"const mxc_names *", &names},
        {"const mxc_ndarray_list *", &list},
        {"const mxc_image *", &image},
        {"const mxc_array_iter_options *", &array_iter},
        {"const mxc_bucket_iter_options *", &bucket_iter},
        {"const mxc_bind_options *", &bind},
        {"const mxc_bind_spec *", &bind_spec},
        {"const mxc_backward_options *", &backward},
        {"const mxc_cached_op_options *", &cached_op},
        {"const mxc_quantize_options *", &quantize},
        {"const mxc_op_def *", &def},
        {"const mxc_op_part *", &part},
        {"const mxc_map_kernels *", &no_kernels},
        {"const mxc_tensor *", &tensor},
        {"const mxc_tensor *const *", tensors},
        {"const mxc_simple_def *", &simple},
        {"const mxc_fit_options *", &fit},
        {"const mxc_engine_options *", &(mxc_engine_options)MXC_ENGINE_OPTIONS_INIT},
        {"const mxc_task *", &task},
        {"const mxc_iter_methods *", &methods},
        {"const mxc_memory_report *", &report},
        {"const mxc_random *", &range},
        {"const mxc_iter_state *", &state},
        {"const mxc_image_record *", &image_record},
        {"const mxc_schedule *", &schedule},
        {"const mxc_fit_progress *", &progress},
        {"const mxc_optimizer_def *", &optimizer},
    };
    mxc_fit_options_init(&fit, sizeof fit);
    task.fn = do_nothing;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].type, type) == 0 || (strncmp(type, "const ", 6) == 0 && strcmp(all[i].type, type + 6) == 0))
            return all[i].value;
    return function_fixture(type);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int64_t number_for(const char *name) {
    return strcmp(name, "n") == 0 || strncmp(name, "n_", 2) == 0 || strcmp(name, "ndim") == 0 ||
                   strcmp(name, "num_parts") == 0 || strcmp(name, "depth") == 0 || strcmp(name, "epoch") == 0 ||
                   strcmp(name, "device_type") == 0
               ? 1
           : strcmp(name, "size") == 0 || strcmp(name, "bytes") == 0 ? 4
                                                                     : 0;
}

static unsigned char outputs[MOST][ROOM];

/* Good values for all parameters; outputs hold rubbish. */
static void fill_slots(const function *f, slot *s) {
    for (int i = 0; i < f->n; i++) {
        const param *p = &f->params[i];
        memset(&s[i], 0, sizeof s[i]);
        if (!p->is_pointer) {
            s[i].number = number_for(p->name);
        } else if (strcmp(p->type, "const char *") == 0 &&
                   (strcmp(p->name, "path") == 0 || strcmp(p->name, "prefix") == 0)) {
            s[i].pointer = have.file;
        } else if (p->out_bytes && !is_in_and_out(f, p)) {
            memset(outputs[i], 0x5a, p->out_bytes < ROOM ? p->out_bytes : ROOM);
            s[i].pointer = outputs[i];
        } else if (p->out_bytes && strcmp(p->type, "mxc_op_sig *") != 0) {
            memset(outputs[i], 0, ROOM);
            s[i].pointer = outputs[i];
        } else {
            s[i].pointer = fixture(p->type);
        }
    }
}

static int is_zero(const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n && i < ROOM; i++)
        if (bytes[i] != 0)
            return 0;
    return 1;
}

static int outputs_are_zero(const function *f, const slot *s) {
    int good = 1;
    for (int i = 0; i < f->n; i++)
        if (s[i].pointer == outputs[i] && !is_in_and_out(f, &f->params[i]) &&
            !is_zero(outputs[i], f->params[i].out_bytes)) {
            print_error("%s: fails and leaves *%s as it was\n", f->name, f->params[i].name);
            good = 0;
        }
    return good;
}

static int one_null_is_answered(const function *f, int i) {
    const param *p = &f->params[i];
    slot s[MOST];
    fill_slots(f, s);
    s[i].pointer = NULL;
    mxc_status status = f->call(s);
    if (f->has_status && is_optional(f, p) && is_refused(status, p)) {
        print_error("%s: %s may be NULL by its description: \"%s\"\n", f->name, p->name, mxc_last_error());
        return 0;
    }
    if (!f->has_status || is_optional(f, p))
        return status == MXC_OK || outputs_are_zero(f, s);
    if (status != MXC_EINVAL || !strstr(mxc_last_error(), p->name) || !strstr(mxc_last_error(), "NULL")) {
        print_error("%s: %s is NULL: %s, \"%s\"\n", f->name, p->name, mxc_status_name(status),
                    status == MXC_OK ? "" : mxc_last_error());
        return 0;
    }
    return outputs_are_zero(f, s);
}

/* All pointers NULL, with counts of 1 and of 0. */
static void all_are_null(const function *f) {
    slot s[MOST];
    for (int count = 1; count >= 0; count--) {
        fill_slots(f, s);
        for (int i = 0; i < f->n; i++)
            if (f->params[i].is_pointer)
                s[i].pointer = NULL;
            else if (count == 0)
                s[i].number = 0;
        MXC_IGNORE(f->call(s));
    }
}

/* In a child process. */
static int function_is_good(const function *f) {
    int good = 1, n_pointers = 0;
    make_fixtures();
    for (int i = 0; i < f->n; i++)
        n_pointers += f->params[i].is_pointer;
    if (strcmp(f->name, "mxc_var_delete") == 0)
        n_pointers = 0; /* its other call would delete the fixture */
    for (int i = 0; i < f->n && n_pointers > 0; i++)
        if (f->params[i].is_pointer)
            good &= one_null_is_answered(f, i);
    all_are_null(f);
    return good;
}

/* The same functions with the same parameters. */
static void every_export_is_described(void **state) {
    const size_t n = sizeof functions / sizeof *functions;
    const json_t *list = json_object_get(described, "functions");
    (void)state;
    assert_int_equal(json_array_size(list), n);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = description_find(list, "name", functions[i].name);
        assert_non_null(entry);
        assert_int_equal(json_array_size(json_object_get(entry, "params")), functions[i].n);
        for (int k = 0; k < functions[i].n; k++)
            assert_non_null(description_of(&functions[i], &functions[i].params[k]));
    }
}

static void every_export_takes_null(void **state) {
    int failures = 0;
    (void)state;
    test_temp_dir(have.folder);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* in place of cmocka's */
            signal(SIGFPE, SIG_DFL);
            alarm(60);
            _exit(!function_is_good(&functions[i]));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status))
            print_error("%s: ended by signal %d\n", functions[i].name, WTERMSIG(status));
        failures += status != 0;
    }
    test_remove_dir(have.folder);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_export_is_described),
        cmocka_unit_test(every_export_takes_null),
    };
    described = description_load();
    int failed = !described ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(described);
    return failed;
}

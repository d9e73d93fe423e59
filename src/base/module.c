/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and loading modules. */
#include "base/module.h"

#include <string.h>

#include <mxc/version.h>

#include "base/sys.h"
#include "base/text.h"

enum { DIRECTORIES = 3, PATH_ROOM = 4096 };

/* The state of a module. */
typedef struct slot {
    const char *file;
    mxci_text_option option;
    int tried;
    const mxci_module *module; /* NULL: not loaded, or if it was tried, loading failed */
    char why[MXC_ERROR_MAX];   /* the message of that failure */
} slot;

static mxci_global_mutex lock = MXCI_GLOBAL_MUTEX_INIT; /* guards the slots; held while a module is loaded */
static slot gpu = {.file = "libmxc_cuda.so", .option = MXCI_TEXT_MXC_GPU_MODULE};
static slot mpi = {.file = "libmxc_mpi.so", .option = MXCI_TEXT_MXC_MPI_MODULE};
static slot *const slots[MXC_DEVICE_LIMIT] = {[MXC_GPU] = &gpu, [MXC_CPU_PINNED] = &gpu};

static mxc_status fail_for_module(const char *file, int line, mxc_status code, const char *text) {
    return mxc_fail_at(file, line, code, "%s", text);
}

static const mxci_host host = {.version = MXC_VERSION, .fail = fail_for_module, .option = mxci_option_get};

/* The directories that are searched for modules, in this order: that of this library, or of the program that it is
 * linked into; for a program in the installation's directory of programs, the one of libraries; the directory in which
 * CMake installs libraries. */
static int list_directories(char directories[DIRECTORIES][PATH_ROOM]) {
    static const char programs[] = "/" MXCI_PROGRAM_DIRECTORY;
    int n = 0;
    if (mxci_library_directory(directories[0], PATH_ROOM)) {
        size_t length = strlen(directories[0]);
        n++;
        if (length >= sizeof programs - 1 && strcmp(directories[0] + length - (sizeof programs - 1), programs) == 0)
            mxci_format(directories[n++], PATH_ROOM, "%s/%s", directories[0], MXCI_LIBRARIES_FROM_PROGRAMS);
    }
    mxci_format(directories[n++], PATH_ROOM, "%s", MXCI_LIBRARY_DIRECTORY);
    return n;
}

/* The file that the environment names, else the first that exists. */
static mxc_status open_library(const slot *s, void **out) {
    const char *variable = mxci_option_text_name(s->option), *given = mxci_option_text(s->option);
    char directories[DIRECTORIES][PATH_ROOM], path[PATH_ROOM + 32], tried[MXC_ERROR_MAX];
    mxci_line line = {tried, sizeof tried, 0};
    if (given && mxci_library_open(given, out) != MXC_OK)
        return MXC_FAIL(MXC_EDEVICE, "%s: %s", variable, mxc_last_error());
    if (given)
        return MXC_OK;
    for (int i = 0, n = list_directories(directories); i < n; i++) {
        mxci_format(path, sizeof path, "%s/%s", directories[i], s->file);
        mxc_status status = mxci_library_open(path, out);
        if (status != MXC_ENOTFOUND)
            return status;
        mxci_line_printf(&line, "%s%s", i > 0 ? ", " : "", directories[i]);
    }
    return MXC_FAIL(MXC_EDEVICE, "%s is in none of these directories: %.300s; set %s to its absolute path", s->file,
                    tried, variable);
}

static mxc_status open_module(slot *s) {
    mxci_module_open_fn *enter;
    const mxci_module *module;
    void *library;
    MXC_TRY(open_library(s, &library));
    MXC_TRY(mxci_library_symbol(library, "mxci_module_open", (void **)&enter));
    module = enter(&host);
    if (!module)
        return MXC_EDEVICE; /* the module has reported the reason */
    if (strcmp(module->version, MXC_VERSION) != 0)
        return MXC_FAIL(MXC_EDEVICE, "%s belongs to libmxc %.32s, this is %s", s->file, module->version, MXC_VERSION);
    s->module = module;
    return MXC_OK;
}

/* The lock is held while a module is loaded, so that it is loaded once; other threads that need it wait. */
static mxc_status get(slot *s, const mxci_module **out) {
    mxci_global_lock(&lock);
    if (!s->tried && open_module(s) != MXC_OK)
        mxci_format(s->why, sizeof s->why, "%s", mxc_last_error());
    s->tried = 1;
    *out = s->module;
    mxci_global_unlock(&lock);
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s", s->why);
}

mxc_status mxci_module_get(mxc_device kind, const mxci_module **out) {
    *out = NULL;
    if (!slots[kind])
        return MXC_FAIL(MXC_EDEVICE, "this kind of device has no module");
    return get(slots[kind], out);
}

mxc_status mxci_module_group(const struct mxci_process_group_api **out) {
    const mxci_module *module;
    *out = NULL;
    MXC_TRY(get(&mpi, &module));
    *out = module->group;
    return *out ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "%s has no groups of processes", mpi.file);
}

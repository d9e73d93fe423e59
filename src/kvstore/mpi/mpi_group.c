/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MPI module, libmxc_mpi.so: a group of processes (base/process_group.h) on MPI, with one communicator per channel.
 * It links nothing of libmxc.
 *
 * MPI is started when a group is first opened, unless the program has done so, and ended when the process ends, if
 * every group was left as a whole: ending it waits for the other processes, which must not happen after one of
 * them has failed. The launcher (mpirun, srun) then ends those that remain.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/half.h>
#include <mxc/version.h>

#include "base/module.h"
#include "base/process_group.h"

struct mxci_process_group {
    MPI_Comm channels[MXCI_CHANNELS];
    int rank, size;
};

_Static_assert(sizeof(MPI_Request) <= sizeof(int64_t), "a request fits the room of a transfer");

static const mxci_host *host;
static int groups_open, is_ours, must_not_end; /* MPI was started here; ending it might wait for ever */
static MPI_Op sum_f16, sum_bf16;

static mxc_status fail(int line, mxc_status code, const char *format, ...) MXC_PRINTF(3, 4);
static mxc_status fail(int line, mxc_status code, const char *format, ...) {
    char text[MXC_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return host->fail(__FILE__, line, code, text);
}

/* A status for what an MPI call has returned. */
static mxc_status checked(int line, int code, const char *call) {
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    if (code == MPI_SUCCESS)
        return MXC_OK;
    MPI_Error_string(code, text, &length);
    return fail(line, MXC_EIO, "%s: %.200s", call, text);
}
#define CHECKED(call) checked(__LINE__, call, #call)

/* ---- sums of 16-bit floats --------------------------------------------------------------------------------------- */

static void add_f16(void *in, void *inout, int *n, MPI_Datatype *type) {
    const mxc_f16 *a = in;
    mxc_f16 *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = mxc_float_to_f16(mxc_f16_to_float(a[i]) + mxc_f16_to_float(b[i]));
}

static void add_bf16(void *in, void *inout, int *n, MPI_Datatype *type) {
    const mxc_bf16 *a = in;
    mxc_bf16 *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = mxc_float_to_bf16(mxc_bf16_to_float(a[i]) + mxc_bf16_to_float(b[i]));
}

/* How a dtype is summed; MPI_DATATYPE_NULL if it is not. */
static MPI_Datatype type_of(mxc_dtype dtype, MPI_Op *op) {
    *op = dtype == MXC_F16 ? sum_f16 : dtype == MXC_BF16 ? sum_bf16 : MPI_SUM;
    switch (dtype) {
    case MXC_F32:
        return MPI_FLOAT;
    case MXC_F64:
        return MPI_DOUBLE;
    case MXC_F16:
    case MXC_BF16:
        return MPI_UINT16_T;
    case MXC_U8:
        return MPI_UINT8_T;
    case MXC_I8:
        return MPI_INT8_T;
    case MXC_I32:
        return MPI_INT32_T;
    case MXC_I64:
        return MPI_INT64_T;
    default:
        return MPI_DATATYPE_NULL;
    }
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static void end_mpi(void) {
    int ended = 0;
    if (groups_open || must_not_end || MPI_Finalized(&ended) != MPI_SUCCESS || ended)
        return;
    MPI_Op_free(&sum_f16);
    MPI_Op_free(&sum_bf16);
    if (is_ours)
        MPI_Finalize();
}

/* OpenMPI's nonblocking sums are as fast as its blocking ones by Rabenseifner's algorithm only, which it does not take
 * by itself; another MPI does not know the variable. Not where the user has chosen. */
static void choose_algorithm(void) {
    int index, count, chosen = 3, level;
    MPI_T_cvar_handle handle;
    if (getenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm") || MPI_T_init_thread(MPI_THREAD_SINGLE, &level))
        return;
    if (MPI_T_cvar_get_index("coll_libnbc_iallreduce_algorithm", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_write(handle, &chosen);
        MPI_T_cvar_handle_free(&handle);
    }
    /* MPI_T stays: ending it before MPI's start would forget what was written. */
}

static mxc_status start_mpi(void) {
    int started = 0, ended = 0, level;
    MPI_Finalized(&ended);
    MPI_Initialized(&started);
    if (ended)
        return fail(__LINE__, MXC_EDEVICE, "MPI has been ended (MPI_Finalize) before the store was made");
    if (!started) {
        choose_algorithm();
        MXC_TRY(CHECKED(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level)));
        is_ours = 1;
    }
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        return fail(__LINE__, MXC_EDEVICE, "MPI was started with thread level %d, expected MPI_THREAD_MULTIPLE (%d)",
                    level, MPI_THREAD_MULTIPLE);
    MXC_TRY(CHECKED(MPI_Op_create(add_f16, 1, &sum_f16)));
    MXC_TRY(CHECKED(MPI_Op_create(add_bf16, 1, &sum_bf16)));
    atexit(end_mpi);
    return MXC_OK;
}

static mxc_status open_channels(mxci_process_group *g) {
    for (int i = 0; i < MXCI_CHANNELS; i++) {
        MXC_TRY(CHECKED(MPI_Comm_dup(MPI_COMM_WORLD, &g->channels[i])));
        MXC_TRY(CHECKED(MPI_Comm_set_errhandler(g->channels[i], MPI_ERRORS_RETURN)));
    }
    MXC_TRY(CHECKED(MPI_Comm_rank(g->channels[0], &g->rank)));
    return CHECKED(MPI_Comm_size(g->channels[0], &g->size));
}

static mxc_status group_open(mxci_process_group **out) {
    static int is_started;
    *out = NULL;
    if (!is_started)
        MXC_TRY(start_mpi());
    is_started = 1;
    mxci_process_group *g = calloc(1, sizeof *g);
    if (!g)
        return fail(__LINE__, MXC_ENOMEM, "no memory for a group of processes");
    mxc_status status = open_channels(g);
    if (status != MXC_OK) {
        must_not_end = 1;
        free(g);
        return status;
    }
    groups_open++;
    *out = g;
    return MXC_OK;
}

static int group_close(mxci_process_group *g, int whole) {
    groups_open--;
    must_not_end |= !whole;
    for (int i = 0; whole && i < MXCI_CHANNELS; i++)
        MPI_Comm_free(&g->channels[i]);
    free(g);
    return 0; /* MPI may write to what it receives until it ends */
}

static int group_rank(const mxci_process_group *g) {
    return g->rank;
}

static int group_size(const mxci_process_group *g) {
    return g->size;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static MPI_Request *request_of(mxci_group_request *t) {
    return (MPI_Request *)(void *)t->room;
}

static mxc_status group_allreduce(mxci_process_group *g, int to, const void *in, void *out, int64_t n, mxc_dtype dtype,
                                  mxci_group_request *t) {
    MPI_Comm comm = g->channels[MXCI_CHANNEL_DATA];
    MPI_Op op;
    MPI_Datatype type = type_of(dtype, &op);
    if (type == MPI_DATATYPE_NULL)
        return fail(__LINE__, MXC_EDTYPE, "processes do not sum arrays of this dtype (%d)", (int)dtype);
    if (in == out && (to < 0 || to == g->rank))
        in = MPI_IN_PLACE;
    return to < 0 ? CHECKED(MPI_Iallreduce(in, out, (int)n, type, op, comm, request_of(t)))
                  : CHECKED(MPI_Ireduce(in, out, (int)n, type, op, to, comm, request_of(t)));
}

static mxc_status group_allgather(mxci_process_group *g, const void *in, void *out, size_t bytes,
                                  mxci_group_request *t) {
    return CHECKED(MPI_Iallgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, g->channels[MXCI_CHANNEL_DATA],
                                  request_of(t)));
}

static mxc_status group_broadcast(mxci_process_group *g, mxci_group_channel channel, int from, void *data, size_t bytes,
                                  mxci_group_request *t) {
    return CHECKED(MPI_Ibcast(data, (int)bytes, MPI_BYTE, from, g->channels[channel], request_of(t)));
}

static mxc_status group_send(mxci_process_group *g, mxci_group_channel channel, int to, const void *data, size_t bytes,
                             int waits, mxci_group_request *t) {
    MPI_Comm comm = g->channels[channel];
    if (waits)
        return CHECKED(MPI_Issend(data, (int)bytes, MPI_BYTE, to, 0, comm, request_of(t)));
    return CHECKED(MPI_Isend(data, (int)bytes, MPI_BYTE, to, 0, comm, request_of(t)));
}

static mxc_status group_receive(mxci_process_group *g, mxci_group_channel channel, void *data, size_t room,
                                mxci_group_request *t) {
    return CHECKED(MPI_Irecv(data, (int)room, MPI_BYTE, MPI_ANY_SOURCE, 0, g->channels[channel], request_of(t)));
}

static mxc_status group_probe(mxci_process_group *g, mxci_group_channel channel, int *from, size_t *bytes) {
    MPI_Status status;
    int found = 0, count = 0;
    *from = -1;
    MXC_TRY(CHECKED(MPI_Iprobe(MPI_ANY_SOURCE, 0, g->channels[channel], &found, &status)));
    if (!found)
        return MXC_OK;
    MXC_TRY(CHECKED(MPI_Get_count(&status, MPI_BYTE, &count)));
    *from = status.MPI_SOURCE;
    *bytes = (size_t)count;
    return MXC_OK;
}

static mxc_status group_receive_from(mxci_process_group *g, mxci_group_channel channel, int from, void *data,
                                     size_t bytes, mxci_group_request *t) {
    return CHECKED(MPI_Irecv(data, (int)bytes, MPI_BYTE, from, 0, g->channels[channel], request_of(t)));
}

static mxc_status group_test(mxci_process_group *g, mxci_group_request *t, int *done) {
    MPI_Status status;
    int count = 0;
    (void)g;
    status.MPI_SOURCE = -1;
    *done = 0;
    MXC_TRY(CHECKED(MPI_Test(request_of(t), done, &status)));
    if (!*done || status.MPI_SOURCE < 0)
        return MXC_OK;
    MXC_TRY(CHECKED(MPI_Get_count(&status, MPI_BYTE, &count)));
    t->from = status.MPI_SOURCE;
    t->bytes = count > 0 ? (size_t)count : 0;
    return MXC_OK;
}

static const mxci_process_group_api api = {
    .open = group_open,
    .close = group_close,
    .rank = group_rank,
    .size = group_size,
    .allreduce = group_allreduce,
    .allgather = group_allgather,
    .broadcast = group_broadcast,
    .send = group_send,
    .receive = group_receive,
    .probe = group_probe,
    .receive_from = group_receive_from,
    .test = group_test,
};

static const mxci_module module = {.version = MXC_VERSION, .group = &api};

MXC_API const mxci_module *mxci_module_open(const mxci_host *given);
const mxci_module *mxci_module_open(const mxci_host *given) {
    host = given;
    return &module;
}

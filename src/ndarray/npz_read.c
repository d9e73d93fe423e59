/* SPDX-License-Identifier: Apache-2.0 */
/* .npz: a zip archive whose members are .npy data, named after the arrays. Reader. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"
#include "ndarray/npy.h"
#include "ndarray/npz.h"
#include "ndarray/zip.h"

/* 1 if one of the parts between slashes is "..". */
static int leaves_archive(const char *name) {
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return 1;
    }
    return 0;
}

const char *mxci_npz_name_fault(const char *name) {
    if (*name == '\0')
        return "is empty";
    return name[0] == '/' || strchr(name, '\\') || leaves_archive(name) ? "leads out of the archive" : NULL;
}

/* The array's name: the member's without ".npy". */
static mxc_status array_name(mxci_byte_source *source, const mxci_zip_member *m, char **out) {
    size_t n = m->name_bytes;
    const char *fault = mxci_array_name_fault(m->name, n);
    char *name;
    if (fault)
        return MXCI_BYTE_SOURCE_FAIL(source, m->local_at, MXC_EFORMAT, "a zip member's name %s", fault);
    if (n < 4 || memcmp(m->name + n - 4, ".npy", 4) != 0)
        return MXCI_BYTE_SOURCE_FAIL(source, m->local_at, MXC_EFORMAT, "zip member \"%.*s\" is no .npy file",
                                     (int)(n < 100 ? n : 100), m->name);
    name = mxci_alloc(n - 3);
    if (!name)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for a name", source->name);
    memcpy(name, m->name, n - 4);
    name[n - 4] = '\0';
    *out = name;
    fault = mxci_npz_name_fault(name);
    if (fault)
        return MXCI_BYTE_SOURCE_FAIL(source, m->local_at, MXC_EFORMAT, "zip member name \"%.100s\" %s", name, fault);
    return MXC_OK;
}

static mxc_status read_member(mxci_zip *zip, mxci_zip_stream *stream, char **name, mxc_ndarray **out) {
    mxci_zip_member member = {0};
    char shown[300];
    mxc_status status;
    MXC_TRY(mxci_zip_next(zip, &member));
    MXC_TRY(array_name(zip->source, &member, name));
    mxci_format(shown, sizeof shown, "%s:%.80s.npy", zip->source->name, *name);
    MXC_TRY(mxci_zip_stream_open(zip, &member, shown, stream));
    status = mxci_npy_read(&stream->source, out);
    if (status == MXC_OK)
        status = mxci_zip_stream_end(stream);
    mxci_zip_stream_close(stream);
    return status;
}

static mxc_status read_members(mxci_zip *zip, mxc_ndarray_list *list) {
    const char *twice = NULL;
    mxc_status status = MXC_OK;
    mxci_zip_stream *stream = mxci_alloc(sizeof *stream);
    if (!stream)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to read a zip archive", zip->source->name);
    for (int64_t i = 0; i < list->n && status == MXC_OK; i++)
        status = read_member(zip, stream, &list->names[i], &list->arrays[i]);
    mxci_free(stream);
    MXC_TRY(status);
    MXC_TRY(mxci_zip_end(zip));
    MXC_TRY(mxci_array_name_duplicate(list->n, list->names, &twice));
    if (twice)
        return MXCI_BYTE_SOURCE_FAIL(zip->source, zip->directory_at, MXC_EFORMAT, "the name \"%.100s\" occurs twice",
                                     twice);
    return MXC_OK;
}

mxc_status mxci_npz_read(mxci_byte_source *source, mxc_ndarray_list *out) {
    mxc_status status;
    mxci_zip zip;
    *out = (mxc_ndarray_list){0, NULL, NULL};
    MXC_TRY(mxci_zip_open(source, &zip));
    status = mxci_array_list_create(source, zip.directory_at, zip.count, 1, out);
    if (status == MXC_OK)
        status = read_members(&zip, out);
    mxci_zip_close(&zip);
    if (status != MXC_OK)
        mxc_ndarray_list_release(out);
    return status;
}

mxc_status mxc_ndarray_load_npz(const char *path, mxc_ndarray_list *out) {
    mxci_byte_source source;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    *out = (mxc_ndarray_list){0, NULL, NULL};
    MXC_TRY(mxci_byte_source_open(path, &source));
    status = mxci_npz_read(&source, out);
    mxci_byte_source_close(&source);
    return status;
}

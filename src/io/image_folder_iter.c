/* SPDX-License-Identifier: Apache-2.0 */
/* ImageFolderIter: image files without a record file, in one directory per class or named by a list. Part i takes
 * every num_parts-th file from file i on, so that each part contains all classes. */
#include <string.h>
#include <strings.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/image_list.h"
#include "io/image_source.h"
#include "io/iter.h"

enum { MAX_BYTES = 1 << 29 };

typedef struct folder_params {
    char path_root[MXCI_IMAGE_PATH], path_imglist[MXCI_IMAGE_PATH];
    mxci_image_params image;
} folder_params;

#define OWNER folder_params
static const mxc_param folder_schema[] = {
    {MXC_PARAM_FIELD(folder_params, path_root), .name = "path_root", .type = MXC_PARAM_STRING, .initial = NULL,
     .doc = "Directory with one subdirectory of .jpg, .jpeg and .png files per class. Labels are the numbers of the "
            "classes, from 0, in the order of their names."},
    {MXC_PARAM_FIELD(folder_params, path_imglist), .name = "path_imglist", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Path of an image list (id, labels, path below path_root) that is used instead of the subdirectories."},
#include "io/augment_params.def"
#include "io/image_params.def"
    MXC_PARAM_END,
};
#undef OWNER

static const char owner[] = "ImageFolderIter";

typedef struct file {
    uint64_t id;
    const float *labels; /* of the list; NULL: label */
    float label;
    size_t path; /* offset in paths of its path relative to the root */
} file;

typedef struct files {
    char root[MXCI_IMAGE_PATH];
    int64_t n, room, part, parts;
    file *files;
    mxci_text paths;
    mxci_image_list list;
} files;

typedef struct file_cursor {
    char *bytes;
    size_t room;
    char path[2 * MXCI_IMAGE_PATH];
} file_cursor;

/* ---- reading samples --------------------------------------------------------------------------------------------- */

static mxc_status files_open(void *self, void **out) {
    (void)self;
    *out = mxci_calloc(1, sizeof(file_cursor));
    return *out ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "%s: no memory to read files", owner);
}

static void files_close(void *at) {
    file_cursor *c = at;
    if (c)
        mxci_free(c->bytes);
    mxci_free(c);
}

/* Read a file into the cursor's memory, which grows to the largest file. */
static mxc_status read_whole(file_cursor *c, mxci_file *from, mxci_image_sample *out) {
    int64_t size = mxci_file_size(from);
    if (size > MAX_BYTES)
        return MXC_FAIL(MXC_EFORMAT, "%s: %lld bytes, expected at most %d", out->source_name, (long long)size,
                        MAX_BYTES);
    if ((size_t)size > c->room) {
        mxci_free(c->bytes);
        c->room = 0;
        c->bytes = mxci_alloc((size_t)size);
        if (!c->bytes)
            return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %lld bytes", out->source_name, (long long)size);
        c->room = (size_t)size;
    }
    out->bytes = c->bytes;
    out->n = (size_t)size;
    return mxci_file_read_at(from, 0, c->bytes, out->n);
}

static mxc_status files_read(void *self, void *at, int64_t i, mxci_image_sample *out, float *labels) {
    const files *all = self;
    const file *f = &all->files[i * all->parts + all->part];
    file_cursor *c = at;
    mxci_file *from;
    mxci_format(out->source_name, sizeof out->source_name, "%s: %s", owner, all->paths.data + f->path);
    mxci_format(c->path, sizeof c->path, "%s/%s", all->root, all->paths.data + f->path);
    MXC_TRY(mxci_file_open(c->path, &from));
    mxc_status status = read_whole(c, from, out);
    mxci_file_close(from);
    out->id = f->id;
    if (f->labels)
        memcpy(labels, f->labels, sizeof *labels * (size_t)all->list.lines[0].n_labels);
    else
        labels[0] = f->label;
    return status;
}

static void files_destroy(void *self) {
    files *all = self;
    mxci_image_list_free(&all->list);
    mxci_text_free(&all->paths);
    mxci_free(all->files);
    mxci_free(all);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static mxc_status add_file(files *all, const file *f, const char *directory, const char *name) {
    if (all->n == all->room) {
        int64_t room = all->room < 64 ? 64 : all->room * 2;
        file *more = mxci_realloc_array(all->files, (size_t)room, sizeof *more);
        if (!more)
            return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %lld files", owner, (long long)room);
        all->files = more;
        all->room = room;
    }
    all->files[all->n] = *f;
    all->files[all->n++].path = all->paths.length;
    mxci_text_printf(&all->paths, "%s%s%s", directory, *directory ? "/" : "", name);
    mxci_text_add_bytes(&all->paths, "", 1);
    return all->paths.failed ? MXC_FAIL(MXC_ENOMEM, "%s: no memory for paths", owner) : MXC_OK;
}

static int is_image(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (!strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".jpeg") || !strcasecmp(dot, ".png"));
}

/* The images of one class; entries of the root that are not directories are ignored. */
static mxc_status add_class(files *all, const char *name, int64_t *classes) {
    char path[2 * MXCI_IMAGE_PATH], **names;
    int64_t n;
    mxci_format(path, sizeof path, "%s/%s", all->root, name);
    mxc_status status = mxci_directory_list(path, &names, &n);
    if (status == MXC_ENOTFOUND)
        return MXC_OK;
    for (int64_t i = 0; status == MXC_OK && i < n; i++)
        if (is_image(names[i])) {
            const file f = {.id = (uint64_t)all->n, .label = (float)*classes};
            status = add_file(all, &f, name, names[i]);
        }
    *classes += 1;
    mxci_free(names);
    return status;
}

static mxc_status find_classes(files *all, const mxci_image_params *p) {
    char **names;
    int64_t n, classes = 0;
    if (p->label_width != 1)
        return MXC_FAIL(MXC_EINVAL, "%s: label_width %lld without path_imglist, expected 1", owner,
                        (long long)p->label_width);
    MXC_TRY(mxci_directory_list(all->root, &names, &n));
    mxc_status status = MXC_OK;
    for (int64_t i = 0; status == MXC_OK && i < n; i++)
        status = add_class(all, names[i], &classes);
    mxci_free(names);
    return status;
}

/* Is a path relative, without ".."? Lists are untrusted, so paths may not lead out of the root. */
static int stays_below(const char *path) {
    for (const char *at = path; at; at = strchr(at, '/'), at = at ? at + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return 0;
    return path[0] != '/';
}

static mxc_status read_list(files *all, const mxci_image_params *p, const char *path) {
    MXC_TRY(mxci_image_list_load(path, &all->list));
    for (int64_t i = 0; i < all->list.n; i++) {
        const mxci_image_list_line *line = &all->list.lines[i];
        const file f = {.id = line->id, .labels = line->labels};
        if (!stays_below(line->path))
            return MXC_FAIL(MXC_EFORMAT, "%s: %s: id %llu: the path %.200s leads out of path_root", owner, path,
                            (unsigned long long)line->id, line->path);
        if (line->n_labels != p->label_width)
            return MXC_FAIL(MXC_EFORMAT, "%s: %s: id %llu: %lld labels, expected label_width, %lld", owner, path,
                            (unsigned long long)line->id, (long long)line->n_labels, (long long)p->label_width);
        MXC_TRY(add_file(all, &f, "", line->path));
    }
    return MXC_OK;
}

/* The part is checked before anything is read. */
static mxc_status open_files(files *all, const folder_params *p) {
    int64_t first, count;
    MXC_TRY(mxci_image_source_part(owner, &p->image, 0, &first, &count));
    all->part = p->image.part_index;
    all->parts = p->image.num_parts;
    mxci_format(all->root, sizeof all->root, "%s", p->path_root);
    return p->path_imglist[0] ? read_list(all, &p->image, p->path_imglist) : find_classes(all, &p->image);
}

static mxc_status folder_create(const void *params, mxc_iter **out) {
    const folder_params *p = params;
    files *all = mxci_calloc(1, sizeof *all);
    *out = NULL;
    if (!all)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the files", owner);
    mxc_status status = open_files(all, p);
    if (status == MXC_OK) {
        int64_t n = (all->n - all->part + all->parts - 1) / all->parts;
        const mxci_image_source source = {all, n > 0 ? n : 0, 0, files_open, files_read, files_close, files_destroy};
        status = mxci_image_iter_create(owner, &p->image, NULL, &source, out);
    }
    if (status != MXC_OK)
        files_destroy(all);
    return status;
}

const mxci_iter_def mxci_iter_ImageFolderIter = {
    .name = owner,
    .doc = "Images in files, otherwise like ImageRecordIter: data (B,C,H,W), softmax_label (B,), the class, or "
           "(B,label_width) with a list.",
    .params = folder_schema,
    .param_size = sizeof(folder_params),
    .create = folder_create,
};

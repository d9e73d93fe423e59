/* SPDX-License-Identifier: Apache-2.0 */
/* A header is kept as its names, each with a line end, which no name contains. */
#include "io/csv_header.h"

#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/path_list.h"
#include "io/text_reader.h"

static mxc_status read_names(mxci_text_reader *reader, const char *owner, const char *path, int64_t columns,
                             mxci_text *out) {
    int64_t n = 0;
    const char *field;
    do {
        MXC_TRY(mxci_text_reader_next_field(reader, &field));
        if (!field)
            return MXC_FAIL(MXC_EFORMAT, "%s: %s has no header", owner, path);
        mxci_text_printf(out, "%s\n", field);
        n++;
    } while (!mxci_text_reader_at_line_end(reader));
    if (n != columns)
        return mxci_text_reader_fail(reader,
                                     "a header of %lld columns, expected %lld: those of data_shape and the label",
                                     (long long)n, (long long)columns);
    return MXC_OK;
}

/* The header of one file. */
static mxc_status read_header(const char *owner, const char *path, int64_t columns, char **out) {
    const mxci_bad_lines none = {0};
    mxci_text_reader *reader;
    mxci_text text = {0};
    *out = NULL;
    MXC_TRY(mxci_text_reader_open(owner, path, (mxci_text_format){.separator = ','}, &none, &reader));
    mxc_status status = read_names(reader, owner, path, columns, &text);
    mxci_text_reader_close(reader);
    if (status == MXC_OK)
        return mxci_text_take(&text, out);
    mxci_text_free(&text);
    return status;
}

/* The header of all files. */
static mxc_status read_headers(const char *owner, const mxci_path_list *paths, int64_t columns, char **out) {
    MXC_TRY(read_header(owner, paths->path[0], columns, out));
    for (int64_t i = 1; i < paths->n; i++) {
        char *other;
        MXC_TRY(read_header(owner, paths->path[i], columns, &other));
        const int is_same = strcmp(*out, other) == 0;
        mxci_free(other);
        if (!is_same)
            return MXC_FAIL(MXC_EFORMAT, "%s: the headers of %s and %s differ", owner, paths->path[0], paths->path[i]);
    }
    return MXC_OK;
}

/* The number of a name in a header; -1 if it is absent, -2 if it is there twice. */
static int64_t find_name(const char *header, const char *name) {
    int64_t found = -1, column = 0;
    for (const char *at = header; *at; at = strchr(at, '\n') + 1, column++)
        if (strcspn(at, "\n") == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            found = found == -1 ? column : -2;
    return found;
}

static mxc_status find_column(const char *owner, const char *header, const char *label_column, int64_t columns,
                              int64_t *out) {
    const char *end = label_column;
    int64_t number;
    *out = find_name(header, label_column);
    if (*out >= 0)
        return MXC_OK;
    if (*out == -2)
        return MXC_FAIL(MXC_EINVAL, "%s: label_column: two columns have the name \"%s\"; use its number", owner,
                        label_column);
    if (!mxci_read_int(&end, &number) || *end != '\0')
        return MXC_FAIL(MXC_EINVAL, "%s: label_column: no column has the name \"%s\"%s", owner, label_column,
                        *header ? "" : "; names of columns need header=True");
    *out = number < 0 ? number + columns : number;
    if (*out < 0 || *out >= columns)
        return MXC_FAIL(MXC_EINVAL, "%s: label_column %lld of %lld columns, those of data_shape and the label", owner,
                        (long long)number, (long long)columns);
    return MXC_OK;
}

mxc_status mxci_csv_label_column(const char *owner, const char *paths, int has_header, const char *label_column,
                                 int64_t columns, int64_t *out) {
    mxci_path_list list = {0};
    char *header = NULL;
    mxc_status status = MXC_OK;
    *out = -1;
    if (has_header) {
        MXC_TRY(mxci_path_list_expand(owner, paths, "", &list));
        status = list.n > 0 ? read_headers(owner, &list, columns, &header) : MXC_OK;
        mxci_path_list_free(&list);
    }
    if (status == MXC_OK && *label_column)
        status = find_column(owner, header ? header : "", label_column, columns, out);
    mxci_free(header);
    return status;
}

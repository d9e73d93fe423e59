/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the columns of CSV files. */
#ifndef MXCI_IO_CSV_HEADER_H
#define MXCI_IO_CSV_HEADER_H

#include <stdint.h>

#include <mxc/status.h>

/* The column, from 0, that label_column names in the headers of files, or whose number it is, from the end if negative;
 * -1 if label_column is "". The headers are checked: each has so many columns, and all are the same. owner is for
 * messages. MXC_EINVAL, MXC_EFORMAT, MXC_ENOTFOUND, MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_csv_label_column(const char *owner, const char *paths, int has_header, const char *label_column,
                                 int64_t columns, int64_t *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of mxc. Each gets the arguments behind its own name and returns an exit status. */
#ifndef MXC_TOOLS_MXC_H
#define MXC_TOOLS_MXC_H

#include <mxc/op.h>

enum { MXC_EXIT_FAILED = 1, MXC_EXIT_USAGE = 2 };

int mxc_ops_main(int argc, char **argv);
int mxc_iters_main(int argc, char **argv);
int mxc_optimizers_main(int argc, char **argv);
int mxc_metrics_main(int argc, char **argv);
int mxc_rec_main(int argc, char **argv);
int mxc_im2rec_main(int argc, char **argv);

/* What follows the title and an empty line of a description; "" for NULL. */
const char *mxc_text_below_title(const char *text);

/* Write the operators, by family, as functions of C++ to operators.hpp and operators/<family>.hpp. Exit status. */
int mxc_ops_write_cpp(const mxc_op_def *const *ops, int n, const char *directory);

/* What follows "mxc " in im2rec's usage: every option. */
extern const char mxc_im2rec_usage[];

/* Draw the first images of a record file into a PNG. Exit status. */
int mxc_rec_sheet(const char *path, const char *out);

#endif

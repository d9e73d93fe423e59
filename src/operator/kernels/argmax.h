/* Where the greatest or least element is: rows of candidates offered one after the other to n places. */
#ifndef MXCI_OPERATOR_KERNELS_ARGMAX_H
#define MXCI_OPERATOR_KERNELS_ARGMAX_H

#include "operator/kernels/convert.h"

/* Offer x[i], which has this index, to place i: it takes the place if it beats best[i], or if index is 0. best holds
 * the compute type. A NaN beats numbers, nothing beats a NaN; of equals the first stays. */
typedef void (*mxci_arg_fn)(int64_t n, const void *x, int64_t index, void *best, int64_t *where);
/* By compute type. */
extern const mxci_arg_fn mxci_argmax_offer[MXCI_COMPUTE_LIMIT], mxci_argmin_offer[MXCI_COMPUTE_LIMIT];

/* One place is offered n neighbours, of indices index, index + 1... */
extern const mxci_arg_fn mxci_argmax_row[MXCI_COMPUTE_LIMIT], mxci_argmin_row[MXCI_COMPUTE_LIMIT];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The library's names for the generator of mxc/philox.h. */
#ifndef MXCI_MATH_PHILOX_H
#define MXCI_MATH_PHILOX_H

#include <mxc/philox.h>

#define MXCI_PHILOX_FN MXC_PHILOX_FN
#define MXCI_PHILOX_M0 MXC_PHILOX_M0
#define MXCI_PHILOX_M1 MXC_PHILOX_M1

typedef mxc_philox mxci_philox;
typedef mxc_draws mxci_draws;

#define mxci_philox_block mxc_philox_block
#define mxci_philox_stream mxc_philox_stream
#define mxci_philox_number mxc_philox_number
#define mxci_philox_float mxc_philox_float
#define mxci_philox_double mxc_philox_double
#define mxci_draw_two mxc_draw_two
#define mxci_draw_below mxc_draw_below
#define mxci_draw_normal mxc_draw_normal

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Every operator as a function of namespace mxc::op, by family.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_ALL_HPP
#define MXC_OPERATORS_ALL_HPP

#include <mxc/operators/contrib.hpp>
#include <mxc/operators/detection.hpp>
#include <mxc/operators/elementwise.hpp>
#include <mxc/operators/index.hpp>
#include <mxc/operators/linalg.hpp>
#include <mxc/operators/loss.hpp>
#include <mxc/operators/nn.hpp>
#include <mxc/operators/quantized.hpp>
#include <mxc/operators/random.hpp>
#include <mxc/operators/reduce.hpp>
#include <mxc/operators/tensor.hpp>
#include <mxc/operators/update.hpp>
#include <mxc/operators/vision.hpp>

#endif

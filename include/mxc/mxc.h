/* SPDX-License-Identifier: Apache-2.0 */
/* Every public header of libmxc, in reading order. docs/internals/api.md explains the markers in brackets in comments.
 */
#ifndef MXC_MXC_H
#define MXC_MXC_H

#include <mxc/status.h>
#include <mxc/types.h>
#include <mxc/param.h>
#include <mxc/log.h>
#include <mxc/trace.h>
#include <mxc/engine.h>
#include <mxc/storage.h>
#include <mxc/random.h>
#include <mxc/ndarray.h>
#include <mxc/op.h>
#include <mxc/half.h>
#include <mxc/kernel.h>
#include <mxc/image.h>
#include <mxc/simpleop.h>
#include <mxc/symbol.h>
#include <mxc/executor.h>
#include <mxc/autograd.h>
#include <mxc/cached_op.h>
#include <mxc/optimizer.h>
#include <mxc/kvstore.h>
#include <mxc/recordio.h>
#include <mxc/io.h>
#include <mxc/train.h>
#include <mxc/quantize.h>
#include <mxc/predict.h>
#include <mxc/version.h>

#endif

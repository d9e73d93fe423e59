/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Reshape. */
#include "operator/cases.h"

#define RESHAPE(given, shapes) \
    { .op = "Reshape", .params = given, .in = shapes, .reference = case_copy }

static const op_case cases[] = {
    RESHAPE("shape=(6,4)", "2x3x4"),
    RESHAPE("shape=(-1,)", "2x3x4" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf"),
    RESHAPE("shape=(0,-1)", "2x3x4"),
    RESHAPE("shape=(-3,0) reverse=True", "2x3x4"),
    RESHAPE("target_shape=(0,12)", "2x3x4"),
    RESHAPE("shape=(0,0)", "0x5"),
    FAILS("Reshape", "shape=(5,5)", "2x3x4", MXC_ESHAPE, "elements"),
    FAILS("Reshape", "shape=(-1,-1)", "2x3x4", MXC_ESHAPE, "more than one -1"),
    FAILS("Reshape", "shape=(5,-1)", "2x3x4", MXC_ESHAPE, "divided"),
    FAILS("Reshape", "shape=(0,0,0,0)", "2x3x4", MXC_ESHAPE, "more axes"),
    FAILS("Reshape", "shape=(-4,5,-1,0,0)", "2x3x4", MXC_ESHAPE, "split"),
    FAILS("Reshape", "shape=(0,-4,3)", "2x3x4", MXC_ESHAPE, "-4"),
    FAILS("Reshape", "shape=(-4,-1,-1,0,0)", "2x3x4", MXC_ESHAPE, "-4"),
    FAILS("Reshape", "shape=(-5,)", "2x3x4", MXC_EINVAL, "shape"),
    FAILS("Reshape", "shape=(1,1,1,1,1,1,1,1,-1)", "2x3x4", MXC_ESHAPE, "8 axes"),
    FAILS("Reshape", "", "2x3x4", MXC_ESHAPE, "elements"),
    INFERS("Reshape", "shape=(4,0,2)", "2x3x4 -> ? => 2x3x4 -> 4x3x2"),
    INFERS("Reshape", "shape=(2,0,0)", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("Reshape", "shape=(6,1,-1)", "2x3x4 -> ? => 2x3x4 -> 6x1x4"),
    INFERS("Reshape", "shape=(3,-1,8)", "2x3x4 -> ? => 2x3x4 -> 3x1x8"),
    INFERS("Reshape", "shape=(-2,)", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("Reshape", "shape=(2,-2)", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("Reshape", "shape=(-2,1,1)", "2x3x4 -> ? => 2x3x4 -> 2x3x4x1x1"),
    INFERS("Reshape", "shape=(-3,4)", "2x3x4 -> ? => 2x3x4 -> 6x4"),
    INFERS("Reshape", "shape=(-3,-3)", "2x3x4x5 -> ? => 2x3x4x5 -> 6x20"),
    INFERS("Reshape", "shape=(0,-3)", "2x3x4 -> ? => 2x3x4 -> 2x12"),
    INFERS("Reshape", "shape=(-3,-2)", "2x3x4 -> ? => 2x3x4 -> 6x4"),
    INFERS("Reshape", "shape=(-4,1,2,-2)", "2x3x4 -> ? => 2x3x4 -> 1x2x3x4"),
    INFERS("Reshape", "shape=(2,-4,-1,3,-2)", "2x3x4 -> ? => 2x3x4 -> 2x1x3x4"),
    INFERS("Reshape", "shape=(-1,0)", "10x5x4 -> ? => 10x5x4 -> 40x5"),
    INFERS("Reshape", "shape=(-1,0) reverse=True", "10x5x4 -> ? => 10x5x4 -> 50x4"),
    INFERS("Reshape", "shape=(16,-1,-4) reverse=True", "64 -> ? => 64 -> 16x4"),
    INFERS("Reshape", "shape=(-2,-1,16,-4) reverse=True", "2x3x64 -> ? => 2x3x64 -> 2x3x4x16"),
    INFERS("Reshape", "shape=(-2,-4,2,-1) reverse=True", "3x5x8 -> ? => 3x5x8 -> 3x5x2x4"),
    INFERS("Reshape", "shape=(0,-1)", "?x3x4 -> 5x? => ?x3x4 -> 5x?"),
    INFERS("Reshape", "shape=(0,12)", "?x3x4 -> 5x? => 5x3x4 -> 5x12"),
    INFERS("Reshape", "target_shape=(2,0)", "2x3x4 -> ? => 2x3x4 -> 2x12"),
    INFERS("Reshape", "target_shape=(0,0) keep_highest=True", "2x3x4 -> ? => 2x3x4 -> 2x12"),
};

MXC_CASES(tensor_reshape_cases, cases);

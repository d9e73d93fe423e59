/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library from C++17: objects that release what they own, exceptions, and operators as functions. Headers only; all
 * work is done by the C functions, which can be mixed with these classes (get() gives the C handle).
 *
 *     mxc::ndarray a = mxc::ndarray::from({1.f, 2.f, 3.f, 4.f}, {2, 2});
 *     mxc::ndarray b = mxc::op::relu(a + 1);
 *     std::vector<float> numbers = b.to_vector<float>();
 *
 * A call that fails throws mxc::error. Destructors never throw. Functions allocate nothing from C++'s heap beyond what
 * their comments say: those that return std::vector or std::string do, and those that keep a function of the program.
 * Lists of more than a few dozen entries, as arguments, do too.
 *
 * Rules for threads are those of the C functions. docs/guide/cpp.md is an introduction.
 */
#ifndef MXC_MXC_HPP
#define MXC_MXC_HPP

#include <mxc/cpp/base.hpp>
#include <mxc/cpp/array.hpp>
#include <mxc/cpp/call.hpp>
#include <mxc/cpp/symbol.hpp>
#include <mxc/cpp/executor.hpp>
#include <mxc/cpp/autograd.hpp>
#include <mxc/cpp/io.hpp>
#include <mxc/cpp/train.hpp>
#include <mxc/cpp/predict.hpp>
#include <mxc/cpp/engine.hpp>
#include <mxc/operators.hpp>

#endif

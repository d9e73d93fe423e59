/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions on the GPU: an index space is split into kept and reduced axes. A reduction is a small struct R that
 * kernels take by value:
 *
 *     typename R::sum                                 an accumulator: double, int64_t, or mxcu_pair of sums
 *     sum start() const                               of nothing
 *     sum step(sum a, int64_t i) const                a with element i of the space
 *     sum combine(sum a, sum b) const
 *     void put(int64_t k, sum a) const                store the result of kept element k
 *
 * A kept element is reduced by a team where the innermost axis is reduced (its threads read neighbours), else by a
 * thread (neighbouring threads have neighbouring kept elements, which are neighbours in memory). Where kept elements
 * are too few to occupy the GPU, the reduced part is split into chunks, whose accumulators go to scratch and are
 * combined by a second launch. The plan, and so the order of operations, depends on shapes only: results are the same
 * in every run, without atomics. Accumulating in double costs nothing here: memory is slower. */
#ifndef MXCI_CUDA_OPERATOR_REDUCE_REDUCE_H
#define MXCI_CUDA_OPERATOR_REDUCE_REDUCE_H

#include "cuda/runtime/strided_iterator.h"

enum {
    MXCU_REDUCE_TEAMS = 1024,      /* about this many teams occupy a GPU, */
    MXCU_REDUCE_THREADS = 1 << 17, /* or this many threads */
    MXCU_REDUCE_ROW = 4096,        /* elements that make a chunk worth a team, */
    MXCU_REDUCE_COLUMN = 64,       /* or a thread */
    MXCU_REDUCE_FEW = 32           /* up to this many elements are reduced by one thread, not a team */
};

struct mxcu_reduction {
    mxcu_strided_iterator kept, part; /* offsets in the space */
    int64_t chunks;                   /* of part, each accumulated by itself where kept elements are few */
    int by_team;                      /* 1: neighbours in the space are reduced, so that a team reads them together */
};

/* kept and part: the strides of the kept and of the reduced axes in the space. */
static inline mxcu_reduction mxcu_plan_reduction(const mxci_strided *kept, const mxci_strided *part) {
    mxcu_reduction plan = {mxcu_iterate(kept), mxcu_iterate(part), 1, 0};
    int64_t n = plan.part.size, most;
    plan.by_team = part->step[part->n - 1] == 1 && n > MXCU_REDUCE_FEW;
    if (plan.kept.size == 0)
        return plan;
    most = (plan.by_team ? MXCU_REDUCE_TEAMS : MXCU_REDUCE_THREADS) / plan.kept.size;
    plan.chunks += n / (plan.by_team ? MXCU_REDUCE_ROW : MXCU_REDUCE_COLUMN);
    if (plan.chunks > most)
        plan.chunks = most > 1 ? most : 1;
    if (plan.chunks > MXCU_REDUCE_TEAMS)
        plan.chunks = MXCU_REDUCE_TEAMS;
    return plan;
}

/* Two sums at once. */
struct mxcu_pair {
    double a, b;
};

/* All n elements of an array as one. */
static inline mxcu_reduction mxcu_plan_all(int64_t n) {
    const int64_t one = 1;
    mxci_strided kept, part;
    mxci_strided_set(&kept, 0, nullptr, nullptr);
    mxci_strided_set(&part, 1, &n, &one);
    return mxcu_plan_reduction(&kept, &part);
}

/* Each channel of data over the other axes. */
static inline mxcu_reduction mxcu_plan_channels(const mxc_shape *data, int axis) {
    const int64_t n = mxcu_product(data, 0, axis), c = data->dim[axis], d = mxcu_product(data, axis + 1, data->ndim);
    const int64_t others[2] = {n, d}, steps[2] = {c * d, 1};
    mxci_strided kept, part;
    mxci_strided_set(&kept, 1, &c, &d);
    mxci_strided_set(&part, 2, others, steps);
    return mxcu_plan_reduction(&kept, &part);
}

/* Make it a reduction over no elements: put is called with start()'s value. */
static inline void mxcu_plan_nothing(mxcu_reduction *plan) {
    plan->part.size = 0;
    plan->chunks = 1;
    plan->by_team = 0;
}

/* Scratch of a reduction, whose accumulators have so many bytes. */
static inline size_t mxcu_reduction_bytes(const mxcu_reduction *plan, size_t each = sizeof(double)) {
    return plan->chunks > 1 ? mxci_size_of(mxci_dim_mul(plan->chunks, plan->kept.size), each) : 0;
}

/* Base classes of sums. */
struct mxcu_sum {
    using sum = double;
    MXCU_DEVICE sum start() const {
        return 0;
    }
    MXCU_DEVICE sum combine(sum a, sum b) const {
        return a + b;
    }
};
/* Of squares; the result is put by what derives from it. */
struct mxcu_square_sum : mxcu_sum {
    mxcu_any x;
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        const double v = x.as<double>(i);
        return a + v * v;
    }
};
struct mxcu_pair_sum {
    using sum = mxcu_pair;
    MXCU_DEVICE sum start() const {
        return {0, 0};
    }
    MXCU_DEVICE sum combine(sum a, sum b) const {
        return {a.a + b.a, a.b + b.b};
    }
};

template <class R> struct mxcu_combining {
    R r;
    MXCU_DEVICE typename R::sum operator()(typename R::sum a, typename R::sum b) const {
        return r.combine(a, b);
    }
};

/* The team's accumulators as one. */
template <class R> MXCU_DEVICE typename R::sum mxcu_team_combine(const mxcu_team &team, const R &r, typename R::sum a) {
    if constexpr (std::is_same<typename R::sum, mxcu_pair>::value)
        return {team.sum(a.a), team.sum(a.b)};
    else
        return team.combine(a, mxcu_combining<R>{r});
}

/* The first launch: chunk number `chunk` of kept element k, by a team or a thread, to the result or to scratch. */
template <class R> struct mxcu_reducing {
    using sum = typename R::sum;
    R r;
    mxcu_reduction plan;
    sum *partial; /* (chunks, kept) */

    MXCU_DEVICE sum take(int64_t k, int64_t chunk, int rank, int size) const {
        int64_t base = plan.kept(k), begin = plan.part.size * chunk / plan.chunks;
        int64_t end = plan.part.size * (chunk + 1) / plan.chunks;
        sum a = r.start();
        for (int64_t i = begin + rank; i < end; i += size)
            a = r.step(a, base + plan.part(i));
        return a;
    }
    MXCU_DEVICE void put(int64_t k, int64_t chunk, sum a) const {
        if (plan.chunks == 1)
            r.put(k, a);
        else
            partial[chunk * plan.kept.size + k] = a;
    }
};

/* Queue the reduction; one launch, or two where there are chunks. temp: scratch of mxcu_reduction_bytes. */
template <class R> mxc_status mxcu_reduce(const mxc_op_call *call, const mxcu_reduction *plan, R r, void *temp) {
    using sum = typename R::sum;
    const int64_t n = plan->kept.size, chunks = plan->chunks;
    sum *partial = mxcu_pointer<sum>(temp);
    mxcu_reducing<R> reducing = {r, *plan, partial};
    if (plan->by_team)
        MXC_TRY(mxcu_rows(call, n * chunks, plan->part.size / chunks, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
            sum a = reducing.take(row % n, row / n, team.rank, team.size);
            a = mxcu_team_combine(team, reducing.r, a);
            if (team.rank == 0)
                reducing.put(row % n, row / n, a);
        }));
    else
        MXC_TRY(mxcu_for(call, n * chunks, [=] MXCU_LAMBDA(int64_t i) {
            reducing.put(i % n, i / n, reducing.take(i % n, i / n, 0, 1));
        }));
    if (chunks == 1)
        return MXC_OK;
    return mxcu_rows(call, n, chunks, [=] MXCU_LAMBDA(int64_t k, mxcu_team team) {
        sum a = r.start();
        for (int64_t c = team.rank; c < chunks; c += team.size)
            a = r.combine(a, partial[c * n + k]);
        a = mxcu_team_combine(team, r, a);
        if (team.rank == 0)
            r.put(k, a);
    });
}

/* The gradient of an array that is broadcast to a space: the axes along which the array varies are kept, the others are
 * reduced. */
static inline mxcu_reduction mxcu_plan_broadcast(const mxc_shape *array, const mxc_shape *space) {
    int64_t dim[2][MXC_MAX_NDIM], step[2][MXC_MAX_NDIM], size = mxcu_product(space, 0, space->ndim);
    int n[2] = {0, 0};
    mxci_strided strides[2];
    for (int i = 0; i < space->ndim; i++) {
        int64_t d = space->dim[i];
        int which = mxci_axis_from_end(array, space->ndim - 1 - i) != d;
        size = d ? size / d : 0;
        dim[which][n[which]] = d;
        step[which][n[which]++] = size;
    }
    for (int which = 0; which < 2; which++)
        mxci_strided_set(&strides[which], n[which], dim[which], step[which]);
    return mxcu_plan_reduction(&strides[0], &strides[1]);
}

/* Element i of an array. */
template <class T> struct mxcu_element {
    mxcu_in<T> x;
    MXCU_DEVICE mxcu_compute_t<T> operator()(int64_t i) const {
        return x[i];
    }
};

/* The sum of f(i) over the reduced elements, stored in dtype T. */
template <class T, class F> struct mxcu_summing {
    using sum = double;
    F f;
    mxcu_out<T> to;
    MXCU_DEVICE sum start() const {
        return 0;
    }
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        return a + (double)f(i);
    }
    MXCU_DEVICE sum combine(sum a, sum b) const {
        return a + b;
    }
    MXCU_DEVICE void put(int64_t k, sum a) const {
        to.put(k, (mxcu_compute_t<T>)a);
    }
};

#endif

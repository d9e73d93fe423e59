/* Moving rows between an array and its pieces. As (outer, size_i, inner) each. */
#include "operator/pieces.h"

typedef struct move {
    const mxc_tensor *whole, *pieces;
    const mxc_req *req;
    int n, to_pieces;
    int64_t outer, row; /* row: elements of whole in one outer index */
} move;

static void move_rows(void *arg, int64_t begin, int64_t end, int part) {
    const move *m = arg;
    int64_t offset = 0;
    (void)part;
    for (int i = 0; i < m->n; i++) {
        int64_t row = mxci_tensor_size(&m->pieces[i]) / m->outer;
        for (int64_t o = begin; o < end && row > 0; o++) {
            void *whole = mxci_at(m->whole, o * m->row + offset), *piece = mxci_at(&m->pieces[i], o * row);
            if (m->to_pieces)
                mxci_put_row(m->req[i], m->whole->dtype, piece, whole, row);
            else
                mxci_put_row(m->req[0], m->whole->dtype, whole, piece, row);
        }
        offset += row;
    }
}

static void run_move(const mxc_run *run, move *m, int axis) {
    const mxc_shape *shape = &m->whole->shape;
    m->outer = mxci_shape_count(shape, 0, axis);
    m->row = mxci_shape_count(shape, axis, shape->ndim);
    if (m->outer > 0 && m->row > 0)
        mxc_parallel_for(run, m->outer, MXCI_GRAIN / m->row + 1, move_rows, m);
}

void mxci_join(const mxc_run *run, mxc_req req, const mxc_tensor *whole, int n, const mxc_tensor *pieces, int axis) {
    move m = {.whole = whole, .pieces = pieces, .req = &req, .n = n};
    if (req != MXC_REQ_NULL)
        run_move(run, &m, axis);
}

void mxci_split(const mxc_run *run, const mxc_req *req, const mxc_tensor *whole, int n, const mxc_tensor *pieces,
                int axis) {
    move m = {.whole = whole, .pieces = pieces, .req = req, .n = n, .to_pieces = 1};
    run_move(run, &m, axis);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine without deep learning: the edit distance of two long texts, by dynamic programming in square tiles.
 *
 * D[r][c], the distance between the first r letters of one text and the first c of the other, depends on its neighbours
 * above, to the left, and above left. Other tiles depend only on the edges of a tile: rows[j] holds the lowest row so
 * far of the j-th column of tiles, columns[i] the rightmost column of the i-th row of tiles. Tile (i,j) declares that
 * it changes both, and the engine then runs the tiles of one diagonal in parallel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mxc/mxc.h>

enum { TILE = 256, MAX_TILES = 256 }; /* letters; tiles in a row */

typedef struct edge {
    int d[TILE + 1];
    mxc_var *var;
} edge;

static char text[2][TILE * MAX_TILES];
static edge rows[MAX_TILES], columns[MAX_TILES];

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "engine_dag: %s\n", mxc_last_error());
    exit(1);
}

/* Row by row: d holds row r-1 and becomes row r; column holds the values on the left and receives those on the right.
 */
static void advance(int *d, int n_columns, const char *across, int *column, int n_rows, const char *down) {
    int corner = d[n_columns];
    for (int r = 1; r <= n_rows; r++) {
        int diagonal = d[0];
        d[0] = column[r];
        for (int c = 1; c <= n_columns; c++) {
            int best = diagonal + (across[c - 1] != down[r - 1]);
            diagonal = d[c];
            best = diagonal + 1 < best ? diagonal + 1 : best;
            d[c] = d[c - 1] + 1 < best ? d[c - 1] + 1 : best;
        }
        column[r] = d[n_columns];
    }
    column[0] = corner;
}

static mxc_status run_tile(const mxc_run *run, void *arg) {
    size_t i = (size_t)(run->token >> 32), j = (size_t)(run->token & 0xffffffff);
    (void)arg;
    advance(rows[j].d, TILE, text[0] + j * TILE, columns[i].d, TILE, text[1] + i * TILE);
    return MXC_OK;
}

static int by_tiles(mxc_engine *engine, int n) {
    mxc_task task = MXC_TASK_INIT;
    task.name = "tile";
    task.fn = run_tile;
    task.flags = MXC_TASK_HELPED; /* may also run on the thread that waits at the end */
    for (int i = 0; i < n; i++) {
        check(mxc_var_create(engine, &rows[i].var));
        check(mxc_var_create(engine, &columns[i].var));
        for (int k = 0; k <= TILE; k++)
            rows[i].d[k] = columns[i].d[k] = i * TILE + k;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            mxc_var *writes[] = {rows[j].var, columns[i].var};
            check(mxc_engine_push(engine, &task, 0, NULL, 2, writes, (uint64_t)i << 32 | (uint64_t)j));
        }
    check(mxc_wait_to_read(rows[n - 1].var)); /* the last tile changes it */
    for (int i = 0; i < n; i++) {
        mxc_var_delete(rows[i].var, NULL, NULL);
        mxc_var_delete(columns[i].var, NULL, NULL);
    }
    return rows[n - 1].d[TILE];
}

static int serially(int n) {
    static int d[TILE * MAX_TILES + 1], column[TILE * MAX_TILES + 1];
    for (int k = 0; k <= n * TILE; k++)
        d[k] = column[k] = k;
    advance(d, n * TILE, text[0], column, n * TILE, text[1]);
    return d[n * TILE];
}

static double seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    const char *trace = argc == 4 ? argv[3] : NULL;
    int n = argc > 1 ? atoi(argv[1]) : 32, tiled, serial;
    mxc_engine *engine;
    double begin, middle, end;
    if (n < 1 || n > MAX_TILES || argc == 3 || argc > 4 || (trace && strcmp(argv[2], "--trace") != 0)) {
        printf("usage: %s [TILES [--trace FILE.json]]\nTexts of 1 to %d times %d letters.\n", argv[0], MAX_TILES, TILE);
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    for (int i = 0; i < n * TILE; i++) { /* the second text is the first without every seventh letter */
        text[0][i] = (char)('a' + (i * 7919LL % 1009 + i / 5) % 26);
        text[1][i] = (char)('a' + ((i + i / 6) * 7919LL % 1009 + (i + i / 6) / 5) % 26);
    }
    check(mxc_engine_create(NULL, &engine));
    check(trace ? mxc_trace_start() : MXC_OK);
    begin = seconds();
    tiled = by_tiles(engine, n);
    middle = seconds();
    serial = serially(n);
    end = seconds();
    check(trace ? mxc_trace_write(trace) : MXC_OK);
    mxc_engine_destroy(engine);
    printf("two texts of %d letters: edit distance %d\n%d tiles on the engine %.3f s, serially %.3f s: %s\n", n * TILE,
           tiled, n * n, middle - begin, end - middle, tiled == serial ? "same result" : "DIFFERENT RESULTS");
    return tiled != serial;
}

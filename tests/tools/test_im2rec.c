/* SPDX-License-Identifier: Apache-2.0 */
/* mxc im2rec as it is run: lists, and record files with all that can be asked for. Skipped where it was not built. */
#define _GNU_SOURCE 1 /* posix_openpt and others */
#include <fcntl.h>
#include <poll.h>

#include <mxc/image.h>
#include <mxc/ndarray.h>
#include <mxc/recordio.h>

#include "io/image_samples.h"

enum { H = 20, W = 30, A = 7, B = 5, MOST = 64 };

static test_path folder, root, tool;
static char out[1 << 14], err[1 << 14];

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The tool lies beside the folder of the tests. */
static int find_tool(void) {
    ssize_t n = readlink("/proc/self/exe", tool, sizeof tool - 1);
    char *end;
    tool[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 2 && (end = strrchr(tool, '/')) != NULL; i++)
        *end = '\0';
    strncat(tool, "/tools/mxc", sizeof tool - strlen(tool) - 1);
    if (access(tool, X_OK) == 0)
        return 1;
    print_message("skipped: %s was not built\n", tool);
    return 0;
}

static void take_text(const char *name, char *to, size_t size) {
    test_path path;
    char *text = test_read_file(test_join(path, folder, name), NULL);
    snprintf(to, size, "%s", text ? text : "");
    free(text);
}

/* Exit status of im2rec with these arguments, in the test's folder; what it wrote is in out and err. */
static int run(const char *format, ...) {
    char arguments[1024], command[3072];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd %s && %s im2rec %s >out 2>err", folder, tool, arguments);
    int status = system(command);
    take_text("out", out, sizeof out);
    take_text("err", err, sizeof err);
    return status == -1 ? -1 : status >> 8;
}

#define assert_runs(...)       \
    if (run(__VA_ARGS__) != 0) \
    fail_msg("%s", err)

/* ---- what it wrote ----------------------------------------------------------------------------------------------- */

/* Paths in a list, and whether each has its folder's label; adds to seen. Returns how many, -1 if there is no list. */
static int check_list(const char *name, int seen[A + B]) {
    test_path path;
    char *text = test_read_file(test_join(path, folder, name), NULL), *rest = text;
    int n = 0;
    for (char *line; text && (line = strtok_r(rest, "\n", &rest)) != NULL; n++) {
        int id, label, number;
        char class;
        assert_int_equal(sscanf(line, "%d\t%d\t%c/%d.png", &id, &label, &class, &number), 4);
        assert_int_equal(label, class == 'b');
        seen[label * A + number]++;
    }
    free(text);
    return text ? n : -1;
}

/* Records of a file: their heads, and images decoded. */
typedef struct found {
    int n;
    mxc_image_record head[MOST];
    float labels[MOST][4];
    mxc_image image[MOST];
    size_t bytes;
} found;

static void release(found *f) {
    for (int i = 0; i < f->n; i++)
        mxc_image_free(&f->image[i]);
    f->n = 0;
}

static found *read_records(const char *name) {
    static found f;
    mxc_record_reader *reader;
    mxc_record record;
    test_path path;
    release(&f);
    assert_ok(mxc_record_reader_open(test_join(path, folder, name), 0, 1, MXC_BAD_ERROR, &reader));
    for (f.bytes = 0;; f.n++) {
        assert_ok(mxc_record_reader_next(reader, &record));
        if (!record.data)
            break;
        mxc_image_record *head = &f.head[f.n];
        assert_ok(mxc_image_record_read(record.data, record.bytes, head));
        for (int64_t i = 0; i < head->n_labels && i < 4; i++)
            f.labels[f.n][i] = mxc_image_record_label(head, i);
        assert_ok(mxc_image_decode("test", head->image, head->image_bytes, 0, 0, &f.image[f.n]));
        f.bytes += head->image_bytes;
    }
    mxc_record_reader_close(reader);
    return &f;
}

#define SKIP_IF_NOT_THERE                          \
    if (!find_tool() || !has_png() || !has_jpeg()) \
    skip()

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void assert_each_once(const int seen[A + B]) {
    for (int i = 0; i < A + B; i++)
        assert_int_equal(seen[i], 1);
}

static void test_list(void **state) {
    int seen[A + B] = {0}, same[A + B] = {0};
    char first[4096];
    (void)state;
    SKIP_IF_NOT_THERE;
    assert_runs("--list one root --recursive");
    assert_int_equal(check_list("one.lst", seen), A + B);
    assert_each_once(seen);
    take_text("one.lst", first, sizeof first);
    assert_runs("--list one root --recursive --seed 4");
    assert_int_equal(check_list("one.lst", same), A + B);
    take_text("one.lst", out, sizeof out);
    assert_string_not_equal(first, out);
    assert_runs("--list one root --recursive --no-shuffle");
    take_text("one.lst", out, sizeof out);
    assert_int_equal(strncmp(out, "0\t0\ta/00.png\n1\t0\ta/01.png\n", 26), 0);
    assert_int_equal(run("--list one root"), 1); /* the root itself holds none */
    assert_non_null(strstr(err, "--recursive includes those in its subdirectories): root"));
    assert_int_equal(run("--list one root/a --exts .jpg"), 1);
}

/* The directories with images, in the order of their labels; "." is the root. */
static void test_class_names(void **state) {
    test_path path, stray;
    char before[64];
    (void)state;
    SKIP_IF_NOT_THERE;
    assert_runs("--list named root --recursive");
    assert_non_null(strstr(out, "named_classes.txt: 2 classes\n"));
    take_text("named_classes.txt", before, sizeof before);
    assert_string_equal(before, "a\nb\n");
    assert_int_equal(run("--list named root"), 1); /* no images: the file stays as it is */
    take_text("named_classes.txt", out, sizeof out);
    assert_string_equal(out, "a\nb\n");
    assert_int_not_equal(access(test_join(path, folder, "named_classes.txt.new"), F_OK), 0);
    mkdir(test_join(path, root, "a/deep er"), 0700);
    test_write_file(test_join(stray, root, "a/deep er/x.jpg"), "x", 1);
    test_write_file(test_join(path, root, "0.png"), "x", 1);
    assert_runs("--list named root --recursive --train-ratio 0.5");
    unlink(path);
    unlink(stray);
    rmdir(test_join(path, root, "a/deep er"));
    take_text("named_classes.txt", out, sizeof out);
    assert_string_equal(out, ".\na\na/deep er\nb\n");
}

static void test_ratios_and_chunks(void **state) {
    static const char *const names[] = {
        "cut_0_test.lst", "cut_0_train.lst", "cut_0_val.lst", "cut_1_test.lst", "cut_1_train.lst", "cut_1_val.lst",
    };
    static const int counts[] = {1, 3, 2, 1, 3, 2};
    int seen[A + B] = {0};
    (void)state;
    SKIP_IF_NOT_THERE;
    assert_runs("--list cut root --recursive --chunks 2 --train-ratio 0.5 --test-ratio 0.25");
    for (int i = 0; i < 6; i++)
        assert_int_equal(check_list(names[i], seen), counts[i]);
    assert_each_once(seen);
    assert_runs("cut root --pass-through"); /* each list becomes a record file */
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s.rec", (int)strlen(names[i]) - 4, names[i]);
        assert_int_equal(read_records(name)->n, counts[i]);
    }
    assert_runs("--list thin root --recursive --chunks 5"); /* 12 in pieces of 3 */
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "thin_%d.lst", i);
        assert_int_equal(check_list(name, seen), i < 4 ? 3 : -1);
    }
}

/* ---- annotations ------------------------------------------------------------------------------------------------- */

#define SIZE "<size><width>200</width><height>100</height><depth>3</depth></size>"
#define BOX(xmin, ymin, xmax, ymax)                                                                           \
    "<bndbox>\n <xmin>" #xmin "</xmin><ymin>" #ymin "</ymin><xmax>" #xmax "</xmax><ymax> " #ymax " </ymax>\n" \
    "</bndbox>"
#define LONG "a name of 32 bytes, of which two"
#define OBJECT(name, box, more) "<object><name>" name "</name>" more box "</object>\n"

/* Writes the annotation of image i of the directory a. */
static void annotate(int i, const char *inside) {
    test_path notes, path;
    char name[16], text[2048];
    mkdir(test_join(notes, folder, "notes"), 0700);
    snprintf(name, sizeof name, "%02d.xml", i);
    const int n = snprintf(text, sizeof text,
                           "<?xml version=\"1.0\"?>\n<annotation verified=\"yes\">\n%s</annotation>\n", inside);
    test_write_file(test_join(path, notes, name), text, (size_t)n);
}

/* Two objects, of which one is difficult and reaches beyond the image; one with a part that is ignored; none; a box
 * without an area. */
static void test_voc(void **state) {
    (void)state;
    SKIP_IF_NOT_THERE;
    for (int i = 0; i < A; i++)
        annotate(i, SIZE);
    annotate(0, SIZE OBJECT("cat", BOX(50, 25, 150, 75), "<difficult>0</difficult>")
                    OBJECT(" red dog ", BOX(-4, 0, 20, 130), "<difficult>1</difficult>"));
    annotate(1, "<!-- <object> --><part><name>head</name></part>" OBJECT(
                    "red dog", BOX(100, 50, 200, 100), "<pose/><part>" BOX(1, 1, 2, 2) "</part>") SIZE);
    annotate(3, SIZE OBJECT("cow", BOX(30, 10, 30, 20), ""));
    assert_runs("--list boxed root/a --voc notes --no-shuffle");
    assert_non_null(strstr(err, "notes/03.xml: a box of class cow without an area"));
    take_text("boxed_classes.txt", out, sizeof out);
    assert_string_equal(out, "cat\nred dog\n");
    take_text("boxed.lst", out, sizeof out);
    const char *want = "0\t2\t6\t0\t0.250000\t0.250000\t0.750000\t0.750000\t0"
                       "\t1\t0.000000\t0.000000\t0.100000\t1.000000\t1\t00.png\n"
                       "1\t2\t6\t1\t0.500000\t0.500000\t1.000000\t1.000000\t0\t01.png\n"
                       "2\t2\t6\t02.png\n3\t2\t6\t03.png\n";
    assert_int_equal(strncmp(out, want, strlen(want)), 0);
    assert_runs("boxed root/a --pass-through --pack-label");
    found *f = read_records("boxed.rec");
    assert_int_equal(f->n, A);
    assert_int_equal(f->head[0].n_labels, 14);
    assert_int_equal(f->head[1].n_labels, 8);
    assert_memory_equal(f->labels[1], ((float[]){2, 6, 1, 0.5f}), 4 * sizeof(float));
    assert_int_equal(f->head[2].n_labels, 2);
}

static void test_bad_voc(void **state) {
    static const struct {
        const char *inside, *message;
    } cases[] = {
        {"", "expected a size with width and height"},
        {"<size><width>0</width><height>100</height></size>", "expected a size with width and height"},
        {SIZE "<object>" BOX(1, 1, 2, 2) "</object>", "an object has no name"},
        {SIZE "<object><name>cat</name></object>", "an object has no bndbox"},
        {SIZE "<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>", "an object has no bndbox"},
        {SIZE OBJECT("cat", BOX(1, one, 2, 2), ""), "expected a number"},
        {SIZE "<object><name>cat</object>", "an end tag without its start tag"},
        {SIZE "<object>", "an end tag without its start tag"},
        {SIZE "</annotation><object>", "an end tag without its start tag"},
        {SIZE "<!-- never ends", "a comment or declaration without an end"},
        {SIZE "<>", "expected a tag with a name"},
        {SIZE "< a></ a>", "expected a tag with a name"},
        {SIZE "<object", "a tag without an end"},
        {SIZE "<?never ends", "a comment or declaration without an end"},
        {SIZE OBJECT("cat\ndog", BOX(1, 1, 2, 2), ""), "a class name of more than one line"},
        {SIZE OBJECT(LONG LONG, BOX(1, 1, 2, 2), ""), "a class name of more than 63 bytes"},
        {SIZE OBJECT("&a;", BOX(1, &a;, 2, 2), ""), "expected a number"},
        {SIZE OBJECT("cat", BOX(1, nan, 2, 2), ""), "expected a number"},
        {SIZE OBJECT("cat", BOX(1, 1e99, 2, 2), ""), "expected a number"},
        {SIZE OBJECT("cat", BOX(1, 0, 2, 3) "<difficult>yes</difficult>", ""), "expected a number"},
        {"<size><width>200</width></size>", "expected a size with width and height"},
        {"<size><width>-200</width><height>100</height></size>", "expected a size with width and height"},
    };
    (void)state;
    SKIP_IF_NOT_THERE;
    for (int i = 0; i < A; i++)
        annotate(i, SIZE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        annotate(4, cases[i].inside);
        assert_int_equal(run("--list bad root/a --voc notes"), 1);
        if (!strstr(err, cases[i].message) || !strstr(err, "notes/04.xml"))
            fail_msg("expected \"%s\", found \"%s\"", cases[i].message, err);
    }
    assert_int_equal(run("--list bad root/b --voc nowhere"), 1);
    assert_non_null(strstr(err, "nowhere/00.xml"));
    test_path path;
    assert_int_not_equal(access(test_join(path, folder, "bad.lst"), F_OK), 0);
}

/* The list of an image whose annotation is this text, in the directory xml. */
static int list_of(const char *text, size_t n) {
    test_path path;
    mkdir(test_join(path, folder, "xml"), 0700);
    mkdir(test_join(path, folder, "one"), 0700);
    remove(test_join(path, folder, "listed.lst"));
    test_write_file(test_join(path, folder, "one/1.png"), "", 0);
    test_write_file(test_join(path, folder, "xml/1.xml"), text, n);
    const int status = run("--list listed one --voc xml");
    take_text("listed.lst", out, sizeof out);
    return status;
}

/* Boxes are clipped to the image; those that lie outside or whose sides are exchanged are left out. */
static void test_odd_boxes(void **state) {
    (void)state;
    SKIP_IF_NOT_THERE;
    const char *text =
        "<annotation>" SIZE OBJECT("in", BOX(-50, -1e8, 1e8, 50), "") OBJECT("right", BOX(200, 1, 250, 2), "")
            OBJECT("left", BOX(-9, 1, -1, 2), "") OBJECT("exchanged", BOX(50, 1, 10, 2), "")
                OBJECT("point", BOX(5, 5, 5, 5), "") OBJECT("a &lt; b", BOX(0, 0, 200, 100), "") "</annotation>";
    assert_int_equal(list_of(text, strlen(text)), 0);
    assert_string_equal(out, "0\t2\t6\t0\t0.000000\t0.000000\t1.000000\t0.500000\t0"
                             "\t1\t0.000000\t0.000000\t1.000000\t1.000000\t0\t1.png\n");
    for (int i = 0; i < 4; i++) {
        char message[64];
        snprintf(message, sizeof message, "a box of class %s without an area",
                 ((const char *const[]){"right", "left", "exchanged", "point"})[i]);
        assert_non_null(strstr(err, message));
    }
    take_text("listed_classes.txt", out, sizeof out);
    assert_string_equal(out, "in\na &lt; b\n");
}

/* Entities are not expanded; each prefix of a file, a byte 0, deep nesting and a large file are refused. */
static void test_hostile_voc(void **state) {
    static const char bomb[] =
        "<!DOCTYPE a [ <!ENTITY x 'aaaaaaaa'> <!ENTITY y '&x;&x;&x;'> <!ENTITY z SYSTEM 'file:///etc/passwd'>"
        "]>\n<annotation>" SIZE OBJECT("&y;&z;", BOX(0, 0, 200, 100), "") "</annotation>";
    static char text[1 << 16];
    test_path path;
    (void)state;
    SKIP_IF_NOT_THERE;
    assert_int_equal(list_of(bomb, strlen(bomb)), 0);
    take_text("listed_classes.txt", out, sizeof out);
    assert_string_equal(out, "&y;&z;\n");
    for (size_t n = 0; n < strlen(bomb); n += 7)
        assert_int_equal(list_of(bomb, n), 1);
    snprintf(text, sizeof text, "%s", bomb);
    text[strlen(bomb) - 20] = '\0';
    assert_int_equal(list_of(text, strlen(bomb)), 1);
    size_t n = 0;
    for (int i = 0; i < 1 << 14; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "<a>");
    assert_int_equal(list_of(text, n), 1);
    assert_non_null(strstr(err, "not so many in one another"));
    memset(text, '<', sizeof text);
    assert_int_equal(list_of(text, sizeof text), 1);
    assert_int_equal(truncate(test_join(path, folder, "xml/1.xml"), ((off_t)1 << 26) + 1), 0);
    assert_int_equal(run("--list listed one --voc xml"), 1);
    assert_non_null(strstr(err, "larger than 64 MiB"));
    remove(path);
    mkdir(path, 0700);
    assert_int_equal(run("--list listed one --voc xml"), 1);
    assert_non_null(strstr(err, "xml/1.xml"));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void test_images(void **state) {
    found *f;
    size_t best;
    (void)state;
    SKIP_IF_NOT_THERE;
    assert_runs("--list x root --recursive --no-shuffle");
    assert_runs("x root");
    best = (f = read_records("x.rec"))->bytes;
    assert_int_equal(f->n, A + B);
    for (int i = 0; i < f->n; i++) {
        assert_int_equal(f->head[i].id, i);
        assert_true(f->labels[i][0] == (float)(i >= A));
        assert_int_equal(f->image[i].height, H);
        assert_int_equal(f->image[i].width, W);
        assert_int_equal(f->image[i].channels, 3);
    }
    assert_runs("x root --quality 20");
    assert_true(read_records("x.rec")->bytes < best); /* by little: heads of JPEG are larger than such images */
    assert_runs("x root --resize 10 --center-crop --color 0 --num-thread 1");
    f = read_records("x.rec");
    assert_int_equal(f->image[3].height, 10);
    assert_int_equal(f->image[3].width, 10);
    assert_int_equal(f->image[3].channels, 1);
    assert_runs("x root --resize 40 --inter-method 0 --encoding .png");
    f = read_records("x.rec");
    assert_int_equal(f->image[3].height, 40);
    assert_int_equal(f->image[3].width, 60);
    assert_runs("x root --encoding .png");
    f = read_records("x.rec");
    for (int i = 0; i < f->n; i++) {
        uint8_t pixels[H * W * 3];
        sample_pixels((uint32_t)i, H, W, 3, 1, pixels);
        assert_memory_equal(f->image[i].pixels, pixels, sizeof pixels);
    }
}

static void test_pass_through_and_labels(void **state) {
    const char list[] = "7\t1.5\t2.5\t-3\ta/00.png\n9\t4\t5\t6\tb/00.png\n";
    test_path path, image;
    size_t n;
    found *f;
    (void)state;
    SKIP_IF_NOT_THERE;
    test_write_file(test_join(path, folder, "y.lst"), list, sizeof list - 1);
    assert_runs("y root --pass-through --pack-label");
    f = read_records("y.rec");
    assert_int_equal(f->n, 2);
    assert_int_equal(f->head[0].id, 7);
    assert_int_equal(f->head[1].n_labels, 3);
    assert_memory_equal(f->labels[0], ((float[]){1.5f, 2.5f, -3}), 3 * sizeof(float));
    assert_runs("y root --pass-through");
    f = read_records("y.rec");
    assert_int_equal(f->head[0].n_labels, 1);
    assert_true(f->labels[0][0] == 1.5f);
    free(test_read_file(test_join(image, root, "a/00.png"), &n));
    assert_int_equal(f->head[0].image_bytes, n);
}

/* A JPEG whose EXIF data turns it is packed upright, or as it is stored; passed through, it keeps its EXIF data. */
static void test_exif_orientation(void **state) {
    static const char *const options[] = {"", "--ignore-orientation", "--pass-through"};
    const char list[] = "0\t0\tturned.jpg\n";
    static test_image jpeg;
    test_path path;
    (void)state;
    SKIP_IF_NOT_THERE;
    turned_jpeg(&jpeg, 6);
    test_write_file(test_join(path, folder, "e.lst"), list, sizeof list - 1);
    test_write_file(test_join(path, root, "turned.jpg"), jpeg.bytes, jpeg.n);
    for (int i = 0; i < 3; i++) {
        assert_runs("e root --encoding .png --color 0 %s", options[i]);
        found *f = read_records("e.rec"); /* decoded upright */
        assert_int_equal(f->n, 1);
        assert_int_equal(f->image[0].height, i == 1 ? TURNED_H : TURNED_W);
        for (int r = 0; r < TURNED_H; r++)
            for (int c = 0; c < TURNED_W; c++) {
                int y, x;
                exif_place(i == 1 ? 1 : 6, TURNED_H, TURNED_W, r, c, &y, &x);
                assert_int_equal(f->image[0].pixels[y * f->image[0].width + x], turned_value(r, c));
            }
    }
    unlink(path);
}

static void test_same_for_any_threads(void **state) {
    char *want = NULL;
    size_t n = 0, have;
    test_path path;
    (void)state;
    SKIP_IF_NOT_THERE;
    assert_runs("--list z root --recursive");
    for (int threads = 1; threads <= 9; threads += 4) {
        assert_runs("z root --resize 12 --num-thread %d", threads);
        char *file = test_read_file(test_join(path, folder, "z.rec"), &have);
        if (want) {
            assert_int_equal(have, n);
            assert_memory_equal(file, want, n);
            free(file);
        } else {
            want = file;
            n = have;
        }
    }
    free(want);
}

/* Each that cannot be packed is told, and the others are packed. */
static void test_bad_images(void **state) {
    const char list[] = "0\t0\ta/00.png\n1\t0\tabsent.png\n2 0 a/01.png\n3\t0\ttext.png\n4\t1\tb/00.png\n";
    test_path path;
    (void)state;
    SKIP_IF_NOT_THERE;
    test_write_file(test_join(path, folder, "w.lst"), list, sizeof list - 1);
    test_write_file(test_join(path, root, "text.png"), "text", 4);
    assert_int_equal(run("w root"), 1);
    unlink(path);
    assert_non_null(strstr(err, "root/absent.png: cannot be read"));
    assert_non_null(strstr(err, "2 0 a/01.png: expected an id"));
    assert_non_null(strstr(err, "root/text.png"));
    assert_null(strchr(err, '\r')); /* no bar: this is no terminal */
    assert_non_null(strstr(out, "w.rec: 2 images, 3 left out"));
    assert_int_equal(read_records("w.rec")->n, 2);
    assert_int_equal(run("nothing root"), 1);
    assert_non_null(strstr(err, "make it with --list"));
    assert_int_equal(run("w root --chunks 0"), 2);
    assert_int_equal(run("w"), 2);
}

static void test_bar_on_a_terminal(void **state) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    char command[2048], text[4096];
    (void)state;
    SKIP_IF_NOT_THERE;
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        skip();
    assert_runs("--list v root --recursive");
    int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY); /* what is written stays while this is open */
    snprintf(command, sizeof command, "cd %s && %s im2rec v root >out 2>%s", folder, tool, ptsname(terminal));
    assert_int_equal(system(command), 0);
    /* The kernel passes on in the background what was written, at times after the writer has ended. */
    const char *end = "\r[##################################################] 12 of 12";
    struct pollfd readable = {.fd = terminal, .events = POLLIN};
    size_t n = 0;
    text[0] = '\0';
    while (!strstr(text, end) && poll(&readable, 1, 10000) == 1) {
        ssize_t more = read(terminal, text + n, sizeof text - 1 - n);
        if (more <= 0)
            break;
        n += (size_t)more;
        text[n] = '\0';
    }
    close(slave);
    close(terminal);
    assert_non_null(strstr(text, end));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int make_tree(void **state) {
    static test_image png;
    (void)state;
    test_temp_dir(folder);
    mkdir(test_join(root, folder, "root"), 0700);
    for (int i = 0; i < A + B; i++) {
        test_path path, inside;
        char name[16];
        uint8_t pixels[H * W * 3];
        mkdir(test_join(path, root, i < A ? "a" : "b"), 0700);
        snprintf(name, sizeof name, "%02d.png", i < A ? i : i - A);
        sample_pixels((uint32_t)i, H, W, 3, 1, pixels);
        sample_png(&png, pixels, H, W, 3);
        test_write_file(test_join(inside, path, name), png.bytes, png.n);
    }
    return 0;
}

static int remove_tree(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_class_names),
        cmocka_unit_test(test_ratios_and_chunks),
        cmocka_unit_test(test_voc),
        cmocka_unit_test(test_bad_voc),
        cmocka_unit_test(test_odd_boxes),
        cmocka_unit_test(test_hostile_voc),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_pass_through_and_labels),
        cmocka_unit_test(test_exif_orientation),
        cmocka_unit_test(test_same_for_any_threads),
        cmocka_unit_test(test_bad_images),
        cmocka_unit_test(test_bar_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}

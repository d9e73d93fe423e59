# SPDX-License-Identifier: Apache-2.0
# awk -v levels="baseline avx2" -f dispatch.awk baseline.symbols avx2.symbols: the C file that defines the names of kernels.
# The name of a function is a jump through a slot, the name of a table is room for it; mxci_level_connect fills both for
# one of the levels. The first level has all names; another one takes what it lacks from the level before it. Without
# symbols the names are defined by the objects of the only level.
BEGIN {
    count = split(levels, level, " ")
}

function wrong(why) {
    printf "%s: %s: %s\n", FILENAME, $0, why >"/dev/stderr"
    failed = 1
    exit 1
}

FNR == 1 {
    file++
}

NF != 4 || $3 !~ /^[TDR]$/ {
    wrong("kernels have functions and constant tables only")
}

file == 1 {
    if ($3 == "T")
        functions[++n_functions] = $4
    else
        tables[++n_tables] = $4
    form[$4] = $3 == "T" ? "T" : $2
}

{
    if (form[$4] != ($3 == "T" ? "T" : $2))
        wrong("not the same at level " level[1])
    has[$4, file] = 1
}

# Declares what the levels have of a name.
function declare(name,    i) {
    for (i = 1; i <= count; i++)
        if ((name, i) in has)
            printf "extern const char %s_%s[];\n", name, level[i]
}

# A row for a name: where each level has it.
function row(name,    i, from) {
    printf "    {"
    for (i = 1; i <= count; i++) {
        if ((name, i) in has)
            from = name "_" level[i]
        printf "%s%s", from, i < count ? ", " : "},\n"
    }
}

function jump(name, slot) {
    printf "__asm__(\".text\\n.p2align 4\\n.globl %s\\n.hidden %s\\n.type %s, @function\\n%s:\\n\"\n", name, name, name, name
    printf "        \"endbr64\\njmp *mxci_kernel_slots+%d(%%rip)\\n.size %s, .-%s\\n\");\n", slot, name, name
}

END {
    if (failed)
        exit 1
    print "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by cmake/dispatch.awk. */"
    print "#include <string.h>\n\n#include \"base/cpu.h\"\n"
    printf "const char *const mxci_level_names[] = {"
    for (i = 1; i <= count; i++)
        printf "\"%s\", ", level[i]
    print "0};\n"
    print "__attribute__((constructor(101))) static void at_load(void) {\n    mxci_cpu_start();\n}\n"
    if (n_functions == 0) {
        print "void mxci_level_connect(int level) {\n    (void)level;\n}"
        exit
    }
    print "#pragma GCC visibility push(hidden)"
    for (i = 1; i <= n_functions; i++)
        declare(functions[i])
    for (i = 1; i <= n_tables; i++) {
        declare(tables[i])
        printf "extern char %s[];\n_Alignas(64) char %s[0x%s];\n", tables[i], tables[i], form[tables[i]]
    }
    printf "extern const void *mxci_kernel_slots[];\nconst void *mxci_kernel_slots[%d];\n", n_functions
    print "#pragma GCC visibility pop\n"
    for (i = 1; i <= n_functions; i++)
        jump(functions[i], 8 * (i - 1))
    printf "\nstatic const void *const functions[%d][%d] = {\n", n_functions, count
    for (i = 1; i <= n_functions; i++)
        row(functions[i])
    printf "};\n\nstatic const void *const tables[%d][%d] = {\n", n_tables, count
    for (i = 1; i <= n_tables; i++)
        row(tables[i])
    print "};\n\nstatic const struct {\n    void *at;\n    size_t size;\n} rooms[] = {"
    for (i = 1; i <= n_tables; i++)
        printf "    {%s, sizeof %s},\n", tables[i], tables[i]
    print "};\n\nvoid mxci_level_connect(int level) {"
    print "    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)"
    print "        mxci_kernel_slots[i] = functions[i][level];"
    print "    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)"
    print "        memcpy(rooms[i].at, tables[i][level], rooms[i].size);"
    print "}"
}

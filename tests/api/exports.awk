# SPDX-License-Identifier: Apache-2.0
# Reads the public headers and writes one table entry for every exported function: its parameters, and a function that calls
# it with values from an array of slots. Being made from the headers at every build, the table cannot lack an export.

# Comments and preprocessor lines go; declarations are joined into one string for each header.
FNR == 1 { in_comment = 0 }
{
    line = $0
    out = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at) { line = ""; break }
            line = substr(line, at + 2)
            in_comment = 0
        } else {
            at = index(line, "/*")
            if (!at) { out = out line; line = "" }
            else { out = out substr(line, 1, at - 1); line = substr(line, at + 2); in_comment = 1 }
        }
    }
    if (continued || out ~ /^[ ]*#/) { continued = $0 ~ /\\$/; next }
    text = text " " out
}

function trim(s) { gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }

# One parameter: its name, type, and whether it is a pointer.
function parameter(s) {
    s = trim(s)
    if (match(s, /\(\*[a-z_]+\)/)) {
        name = substr(s, RSTART + 2, RLENGTH - 3)
        type = trim(substr(s, 1, RSTART - 1)) " (*)" substr(s, RSTART + RLENGTH)
        pointer = 1
        return
    }
    match(s, /[A-Za-z0-9_]+$/)
    name = substr(s, RSTART)
    type = trim(substr(s, 1, RSTART - 1))
    pointer = type ~ /\*/ || type ~ /_fn$/
}

function is_out(type,    base) {
    if (type ~ /\(|_fn$/ || type == "void *" || type == "char *")
        return 0
    if (type ~ /\*\*$/)
        return 1
    base = type
    sub(/ \*$/, "", base)
    return base !~ /const|\*/ && !(base in opaque)
}

function emit(s,    head, n, i, c, depth, part, list, call, params, result) {
    match(s, /mxc_[a-z0-9_]+\(/)
    head = trim(substr(s, 1, RSTART - 1))
    func_name = substr(s, RSTART, RLENGTH - 1)
    s = substr(s, RSTART + RLENGTH)
    n = 0; depth = 0; part = ""
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == ")" && depth == 0) break
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && depth == 0) { list[++n] = part; part = "" } else part = part c
    }
    if (trim(part) != "void") list[++n] = part
    call = ""; params = ""
    for (i = 1; i <= n; i++) {
        if (trim(list[i]) == "...") { n = i - 1; break }
        parameter(list[i])
        if (pointer)
            value = sprintf("(%s)(uintptr_t)s[%d].pointer", type, i - 1)
        else if (type == "mxc_context")
            value = "mxc_cpu(0)"
        else
            value = sprintf("(%s)s[%d].number", type, i - 1)
        call = call (i > 1 ? ", " : "") value
        params = params sprintf("{ \"%s\", \"%s\", %d, %s }, ", type, name, pointer,
                                pointer && is_out(type) ? "sizeof *(" type ")NULL" : 0)
    }
    result = head ~ /mxc_status$/
    printf "static mxc_status call_%d(const slot *s) {\n    (void)s;\n", count
    if (result) printf "    return %s(%s);\n}\n", func_name, call
    else printf "    (void)%s(%s);\n    return MXC_OK;\n}\n", func_name, call
    table = table sprintf("    { \"%s\", call_%d, %d, %d, { %s} },\n", func_name, count, result, n, n ? params : "{ NULL, NULL, 0, 0 }")
    count++
}

END {
    while (match(text, /typedef struct [A-Za-z0-9_]+ [A-Za-z0-9_]+;/)) {
        s = substr(text, RSTART, RLENGTH - 1)
        rest = rest substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        sub(/.* /, "", s)
        opaque[s] = 1
    }
    text = rest text
    defined = text
    while (match(defined, /struct [A-Za-z0-9_]+ \{/)) {
        s = substr(defined, RSTART + 7, RLENGTH - 9)
        defined = substr(defined, RSTART + RLENGTH)
        delete opaque[s]
    }
    opaque["struct DLManagedTensor"] = opaque["struct DLManagedTensorVersioned"] = 1
    n_statements = split(text, statement, ";")
    for (k = 1; k <= n_statements; k++)
        if (match(statement[k], /MXC_API /))
            emit(substr(statement[k], RSTART + RLENGTH))
    printf "static const function functions[] = {\n%s};\n", table
}

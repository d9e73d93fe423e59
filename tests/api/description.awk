# SPDX-License-Identifier: Apache-2.0
# Reads docs/reference/api.json, one name at a time as scripts/api.py writes it, and writes tables in which the compiler says
# what the description says: sizes and offsets of structs, values of enumerators and constants.

function quoted(s) { match(s, /"name": "[A-Za-z0-9_]+"/); return substr(s, RSTART + 9, RLENGTH - 10) }
function entry(list, text) { table[list] = table[list] "    " text ",\n" }

/^  "[a-z]+": \[/ { section = $1; gsub(/[":]/, "", section) }
section == "structs" && /^      "c_name": / {
    type = $0
    sub(/^      "c_name": "/, "", type)
    sub(/",?$/, "", type)
    entry("structs", "{ \"" type "\", NULL, _Alignof(" type "), sizeof(" type ") }")
}
section == "structs" && /^(        \{|          )"name": / {
    member = quoted($0)
    entry("structs", "{ \"" type "\", \"" member "\", offsetof(" type ", " member "), sizeof((("type " *)0)->" member ") }")
}
section == "enums" && /^(        \{|          )"name": / { entry("values", "{ \"" quoted($0) "\", " quoted($0) " }") }
section == "constants" && /^(    \{|      )"name": / {
    entry("constants", "{ \"" quoted($0) "\", TEXT_OF(" quoted($0) "), NUMBER_OF(" quoted($0) ") }")
}

END {
    printf "static const measured structs[] = {\n%s};\n", table["structs"]
    printf "static const value values[] = {\n%s};\n", table["values"]
    printf "static const constant constants[] = {\n%s};\n", table["constants"]
}

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""api.py [--root DIR] [--check] [--library libmxc.so] [-o FILE]: describes the public headers as JSON.

Writes docs/reference/api.json, or FILE ('-': standard output). With --check it writes nothing: it fails if the file differs
from what the headers say. --library compares the functions with those that a library exports. Missing or wrong markers of
doc comments are errors in every mode. docs/internals/api.md describes the markers and the result.

Needs a C compiler (CC, default cc) and pycparser (Debian: python3-pycparser)."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    from pycparser import c_ast, c_generator, c_parser
except ImportError:
    sys.exit("api.py: needs pycparser (Debian package python3-pycparser)")

FORMAT = 1
# The headers of the C library, as far as public headers need them.
SYSTEM = {
    "stddef.h": "typedef unsigned long size_t; typedef long ptrdiff_t;",
    "stdint.h": "".join(f"typedef {'un' * (k < 0)}signed {c} {'u' * (k < 0)}int{abs(k)}_t;"
                        for c, n in (("char", 8), ("short", 16), ("int", 32), ("long", 64)) for k in (n, -n))
                + "typedef unsigned long uintptr_t;",
    "string.h": "",
    "math.h": "",
}
MARKERS = ("in", "out", "null", "borrow", "keep", "take", "give", "lend", "thread", "n")
findings = []


def wrong(header, line, text):
    findings.append(f"include/{header}:{line}: {text}")


# ---- comments --------------------------------------------------------------------------------------------------------

class Comment:
    def __init__(self, start, end, text, alone):
        self.start, self.end, self.text, self.alone = start, end, text, alone


def tidy(comment):
    """The text between /* and */, without the asterisks and with the indentation that the lines do not share."""
    lines = [re.sub(r"^\s*\* ?", "", line) if i else line.lstrip("*").strip()
             for i, line in enumerate(comment[2:-2].split("\n"))]
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    indent = min(indents, default=0)
    lines = [lines[0]] + [line[indent:].rstrip() for line in lines[1:]]
    return "\n".join(lines).strip("\n ")


class Header:
    """The text of one header: its comments, and its code with the comments blanked out."""

    def __init__(self, root, name):
        self.name = name
        with open(os.path.join(root, "include", name), encoding="utf-8") as file:
            self.text = file.read()
        self.comments, self.code = [], self.text
        for match in re.finditer(r'"(?:\\.|[^"\\])*"|/\*.*?\*/', self.text, re.S):
            if match[0][0] == '"':
                continue
            start = self.line_of(match.start())
            alone = not self.text[:match.start()].rsplit("\n", 1)[-1].strip()
            self.comments.append(Comment(start, self.line_of(match.end()), tidy(match[0]), alone))
            blank = re.sub(r"[^\n]", " ", match[0])
            self.code = self.code[:match.start()] + blank + self.code[match.end():]
        self.lines = self.code.split("\n")
        self.ends = {comment.end: comment for comment in self.comments if comment.alone}
        self.groups = {}  # last line of a declaration: the comment that it shares with the next one

    def line_of(self, at):
        return self.text.count("\n", 0, at) + 1

    def doc(self, start, end):
        """The comment before the declaration on these lines, or shared with the one before; else the one behind it."""
        before = self.ends.get(start - 1) or self.groups.get(start - 1)
        behind = [c for c in self.comments if not c.alone and start <= c.start <= end]
        last = behind[-1].end if behind else end
        if before:
            self.groups[last] = before
        own = [self.ends[start - 1].text] if start - 1 in self.ends else []
        if behind:
            return "\n".join(own + [c.text for c in behind])
        return before.text if before and not re.match(r"-{4}", before.text) else ""

    def summary(self):
        """What the header as a whole is for: its second comment, behind the licence."""
        return self.comments[1].text if len(self.comments) > 1 and self.comments[1].start <= 3 else ""


class Doc:
    """A doc comment: its text, and its @param and @return lines, each with markers."""

    def __init__(self, header, line, text):
        self.params, self.returns, main, item = {}, None, [], None
        for row in text.split("\n"):
            match = re.match(r"@(param|return)(?:\[([^\]]*)\])?\s*(.*)", row)
            if match:
                kind, marks, rest = match.groups()
                names = []
                if kind == "param":
                    match = re.match(r"(\w+(?:, \w+)*)\s*(.*)", rest, re.S)
                    if not match:
                        wrong(header, line, f"@param without a name: {row}")
                        continue
                    names, rest = match[1].split(", "), match[2]
                item = {"marks": self.parse(header, line, marks), "doc": rest}
                for name in names:
                    self.params[name] = item
                self.returns = item if kind == "return" else self.returns
            elif row.startswith("@thread "):
                item = None
            elif item and (row.startswith(" ") or not row):
                item["doc"] = (item["doc"] + " " + row.strip()).strip()
            else:
                item = None
                main.append(row)
        self.text = "\n".join(main).strip()

    @staticmethod
    def parse(header, line, marks):
        result = {}
        for mark in filter(None, (part.strip() for part in (marks or "").split(","))):
            key, _, value = mark.partition("=")
            if key not in MARKERS or (key in ("n", "thread")) and not value:
                wrong(header, line, f"unknown marker '{mark}'; there are {', '.join(MARKERS)}")
            result[key] = value or True
        return result


# ---- types -----------------------------------------------------------------------------------------------------------

INTEGERS = re.compile(r"(unsigned |signed )?(char|short|int|long|long long)|unsigned|u?int\d+_t|size_t|ptrdiff_t|uintptr_t")
generator = c_generator.CGenerator()


class Types:
    def __init__(self):
        self.enums, self.structs, self.handles, self.callbacks = {}, {}, {}, {}

    def kind(self, name):
        for kind, known in (("enum", self.enums), ("struct", self.structs), ("callback", self.callbacks),
                            ("handle", self.handles)):
            if name in known:
                return kind
        return "void" if name == "void" else "float" if name in ("float", "double") else \
            "integer" if INTEGERS.fullmatch(name) else "unknown"

    def describe(self, node):
        """{type, base, kind, const, pointers[, array][, signature]} of a declaration's type."""
        pointers, array, stars = 0, [], ""
        while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
            if isinstance(node, c_ast.ArrayDecl):
                array.append(generator.visit(node.dim))
            elif isinstance(node.type, c_ast.FuncDecl):
                return {"type": self.text(node.type, "(*)"), "base": "", "kind": "callback", "const": False,
                        "pointers": 0, "signature": self.signature(node.type)}
            else:
                pointers += 1
                stars = "*" + "".join(f"{qual} " for qual in node.quals) + stars
            node = node.type
        inner = node.type
        name = " ".join(inner.names) if isinstance(inner, c_ast.IdentifierType) else inner.name
        tag = "struct " if isinstance(inner, c_ast.Struct) else ""
        text = (" ".join(node.quals + [tag + name]) + " " + stars).strip()
        result = {"type": text + "".join(f"[{n}]" for n in array), "base": name, "kind": self.kind(name),
                  "const": "const" in node.quals, "pointers": pointers}
        if array:
            result["array"] = array
        return result

    def text(self, func, name):
        params = [generator.visit(p) for p in (func.args.params if func.args else [])]
        return f"{self.describe(func.type)['type']} {name}({', '.join(params)})".replace("* (", "*(")

    def signature(self, func):
        params = [p for p in (func.args.params if func.args else []) if not isinstance(p, c_ast.EllipsisParam)]
        return {"returns": self.describe(func.type),
                "params": [dict(name=p.name, **self.describe(p.type)) for p in params
                           if self.describe(p.type)["type"] != "void"]}


# ---- reading the headers ---------------------------------------------------------------------------------------------

def preprocess(root, headers):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SYSTEM.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        source = "".join(f"#include <{header}>\n" for header in headers)
        command = [os.environ.get("CC", "cc"), "-E", "-nostdinc", "-std=c99", "-U__GNUC__", "-U__F16C__", "-I", folder,
                   "-I", os.path.join(root, "include"), "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"api.py: the headers cannot be preprocessed:\n{done.stderr}")
    return done.stdout


def public_headers(root):
    """In the reading order of mxc.h, then those that it leaves out."""
    with open(os.path.join(root, "include/mxc/mxc.h"), encoding="utf-8") as file:
        order = re.findall(r"#include <(mxc/\w+\.h)>", file.read())
    rest = sorted(f"mxc/{name}" for name in os.listdir(os.path.join(root, "include/mxc")) if name.endswith(".h"))
    return order + [name for name in rest if name not in order and name != "mxc/mxc.h"]


class Reader:
    def __init__(self, root):
        self.root, self.types = root, Types()
        self.headers = {name: Header(root, name) for name in public_headers(root)}
        self.functions = {}
        unit = c_parser.CParser().parse(preprocess(root, self.headers), "headers")
        declared, self.anonymous = [], []
        for node in unit.ext:
            header = self.header_of(node.coord)
            if not header or isinstance(node, c_ast.FuncDef):
                continue
            for inner in ([node.type.type] if isinstance(node.type, c_ast.TypeDecl) else [node.type]):
                if isinstance(inner, c_ast.Struct) and inner.decls:
                    self.types.structs[node.name or inner.name] = (header, inner)
                elif isinstance(inner, c_ast.Struct):
                    self.types.handles.setdefault(node.name or inner.name, (header, node.coord.line))
                elif isinstance(inner, c_ast.Enum) and inner.values:
                    if node.name or inner.name:
                        self.types.enums[node.name or inner.name] = (header, inner)
                    else:
                        self.anonymous.append((header, inner))
            if isinstance(node.type, c_ast.PtrDecl) and isinstance(node.type.type, c_ast.FuncDecl):
                self.types.callbacks[node.name] = (header, node)
            if isinstance(node.type, c_ast.FuncDecl):
                declared.append((header, node))
        for name in list(self.types.handles):
            if name in self.types.structs:
                del self.types.handles[name]
        self.functions = {node.name: (header, node) for header, node in declared}

    def header_of(self, coord):
        match = re.search(r"include/(mxc/\w+\.h)$", coord.file or "") if coord else None
        return self.headers.get(match[1]) if match else None

    def lines(self, header, node_line, name):
        """First and last line of the declaration that holds name on node_line."""
        starts = [i for i in range(node_line, 0, -1) if re.match(r"(MXC_API|typedef|struct|enum)\b", header.lines[i - 1])]
        start = starts[0] if starts else node_line
        end = start
        while ";" not in header.lines[end - 1] and end < len(header.lines):
            end += 1
        return start, end


# ---- functions -------------------------------------------------------------------------------------------------------

RELEASES = ("release", "destroy", "delete", "close", "free")


def is_users(param):
    """A pointer that the library only hands to the program's functions."""
    return param["base"] == "void" and param["pointers"] == 1 and param["name"] in ("arg", "user", "self")


def is_array(param):
    """A pointer that can only be to several things: pointers that are read, numbers that are read."""
    return param["kind"] != "callback" and ((param["pointers"] == 2 and "*const *" in param["type"]) or
                                            (param["pointers"] == 1 and param["const"] and
                                             param["kind"] in ("integer", "float", "enum") and param["base"] != "char"))


def length_of(params, i):
    """The length of an array by the rules: n_<name>, the size behind a block, or the nearest count before an array."""
    names = [p["name"] for p in params]
    param = params[i]
    if "n_" + param["name"] in names:
        return "n_" + param["name"]
    behind = params[i + 1] if i + 1 < len(params) else None
    is_block = param["pointers"] == 1 and param["base"] in ("void", "char")
    if is_block and behind and behind["type"] == "size_t" and behind["name"] in ("bytes", "size", "n"):
        return behind["name"]
    if is_array(param):
        for other in reversed(params[:i]):
            if other["kind"] == "integer" and not other["pointers"] and re.fullmatch(r"n|ndim|n_\w+", other["name"]):
                return other["name"]
    return None


class Functions:
    def __init__(self, reader):
        self.reader, self.types = reader, reader.types
        self.names = set(reader.functions)
        self.mentions = {}  # comment: first line, function, its @params, parameters of all functions that share it

    def release(self, base):
        stem = "mxc_free" if base in ("char", "void") else None
        return stem or next((f"{base}_{verb}" for verb in RELEASES if f"{base}_{verb}" in self.names), None)

    def direction(self, param, marks):
        if "in" in marks or "out" in marks:
            return "inout" if "in" in marks and "out" in marks else "out" if "out" in marks else "in"
        if param["kind"] == "callback" or not param["pointers"]:
            return "in"
        if param["pointers"] == 2:
            return "in" if "*const *" in param["type"] else "out"
        if param["const"] or param["kind"] == "handle" or is_users(param) or param["base"].startswith("DLManagedTensor"):
            return "in"
        is_out = param["name"] == "out" or param["kind"] in ("integer", "float", "enum")
        return "out" if is_out and param["base"] != "void" else None

    def param(self, where, params, i, item, doc):
        header, line, name = where
        param, marks = params[i], item["marks"]
        label = f"{name}: parameter {param['name']}"
        param["direction"] = self.direction(param, marks)
        if not param["direction"]:
            wrong(header, line, f"{label}: is {param['type']} read, written or both? mark it [in], [out] or [in,out]")
        user = is_users(param)
        alone = sum(p["pointers"] > 0 for p in params) == 1 and "NULL is fine" in doc.text
        pointer = param["pointers"] or param["kind"] == "callback"
        param["nullable"] = bool(pointer and ("null" in marks or user or alone))
        if "null" not in marks and re.search(r"\bmay be NULL\b|^NULL\b|[;.] NULL:|\(NULL: |or NULL\b", item["doc"]) \
                and not param["nullable"]:
            wrong(header, line, f"{label}: the text speaks of NULL; mark it [null] or say it otherwise")
        self.add_length(where, params, i, marks, label)
        self.add_ownership(where, param, marks, label, user)
        if param["kind"] == "callback":
            param["thread"] = marks.get("thread") or self.thread_of(param["base"])
            if param["thread"] not in ("caller", "any"):
                wrong(header, line, f"{label}: on which thread is it called? mark it [thread=caller] or [thread=any]")
        param["doc"] = item["doc"]

    def add_length(self, where, params, i, marks, label):
        header, line, _ = where
        param = params[i]
        length = marks.get("n") or length_of(params, i)
        if length and length != "text":
            for word in re.findall(r"[A-Za-z_]\w*", length):
                if word not in [p["name"] for p in params]:
                    wrong(header, line, f"{label}: n={length}: there is no parameter {word}")
        if not length and is_array(param):
            wrong(header, line, f"{label}: how long is the array? mark it [n=PARAMETER], or [n=text] if only text can say")
        if length:
            param["length"] = length
            in_bytes = any(p["name"] == length and p["base"] == "size_t" for p in params)
            param["length_unit"] = "bytes" if in_bytes and param["base"] in ("void", "char") else "items"

    def add_ownership(self, where, param, marks, label, user):
        header, line, _ = where
        given = [mark for mark in ("borrow", "keep", "take", "give", "lend") if mark in marks]
        if len(given) > 1:
            wrong(header, line, f"{label}: {' and '.join(given)}: one owner only")
        if not param["pointers"]:
            return
        holds = param["pointers"] == 2 or self.holds_pointers(param["base"])
        if param["direction"] == "out" and holds:
            release = self.release(param["base"]) if param["pointers"] == 2 or param["kind"] == "struct" else None
            if not given and param["base"] == "void":
                wrong(header, line, f"{label}: who frees what is returned? mark it [give], [give=FUNCTION] or [lend]")
            owner = given[0] if given else "give" if release else "lend"
            param["ownership"] = owner
            if owner == "give":
                param["release"] = marks["give"] if marks.get("give", True) is not True else release
                if param["release"] not in self.names and param["release"] != "->deleter":
                    wrong(header, line, f"{label}: no function that releases {param['base']}: mark it [give=FUNCTION]")
        elif param["direction"] != "out":
            param["ownership"] = given[0] if given else "keep" if user else "borrow"

    def holds_pointers(self, base):
        if base not in self.types.structs:
            return False
        members = (self.types.describe(m.type) for m in self.types.structs[base][1].decls)
        return any(m["pointers"] or (m["kind"] == "struct" and self.holds_pointers(m["base"])) for m in members)

    def thread_of(self, base):
        header, node = self.types.callbacks.get(base, (None, None))
        if not header:
            return None
        start, end = self.reader.lines(header, node.coord.line, base)
        return thread_marker(header.doc(start, end))

    def returned(self, where, func, doc):
        header, line, name = where
        result = self.types.describe(func.type)
        item = doc.returns or {"marks": {}, "doc": ""}
        if result["pointers"]:
            result["nullable"] = not re.search(r"[Nn]ever NULL", doc.text)
            result["ownership"] = "give" if "give" in item["marks"] else "lend"
            if result["ownership"] == "give":
                result["release"] = self.release(result["base"])
        if result["kind"] == "struct" and not result["pointers"] and result["base"] != "mxc_context":
            wrong(header, line, f"{name}: returns a struct by value")
        result["doc"] = item["doc"]
        return result

    def all(self):
        described = [self.one(name) for name in self.reader.functions]
        for (header, _), (line, name, params, existing) in self.mentions.items():
            for param in params:
                if param not in existing:
                    wrong(header, line, f"{name}: @param {param}: there is no such parameter")
        return described

    def one(self, name):
        header, node = self.reader.functions[name]
        start, end = self.reader.lines(header, node.coord.line, name)
        where = (header.name, start, name)
        text = header.doc(start, end)
        doc = Doc(header.name, start, text)
        if not text:
            wrong(header.name, start, f"{name} has no comment")
        params = self.types.signature(node.type)["params"]
        mentions = self.mentions.setdefault((header.name, text), (start, name, doc.params, set()))
        mentions[3].update(p["name"] for p in params)
        for i, param in enumerate(params):
            self.param(where, params, i, doc.params.get(param["name"], {"marks": {}, "doc": ""}), doc)
        self.check_counts(where, params)
        args = node.type.args.params if node.type.args else []
        result = {"name": name, "header": header.name, "doc": doc.text,
                  "returns": self.returned(where, node.type, doc), "params": params,
                  "variadic": any(isinstance(p, c_ast.EllipsisParam) for p in args),
                  "errors": self.errors(node, text),
                  "thread_safe": self.thread_safe(text, header.summary()),
                  "blocks": stated(text, r"\b(Blocks?|Waits? for|[Mm]ay (block|wait))\b", r"[Dd]oes not (block|wait)")}
        by_value = [p["name"] for p in params + [dict(result["returns"], name="result")]
                    if p["kind"] == "struct" and not p["pointers"]]
        if by_value:
            result["by_value"] = by_value
            result["form_without_structs"] = self.flat_form(where, name)
        return result

    @staticmethod
    def check_counts(where, params):
        """A count before a pointer to structs, which is one struct without a marker, is the length of something."""
        used = " ".join(p.get("length", "") for p in params)
        for param, other in zip(params, params[1:]):
            if re.fullmatch(r"n|n_\w+", param["name"]) and param["kind"] == "integer" and not param["pointers"] \
                    and other["pointers"] and other["kind"] in ("struct", "void") and other["direction"] == "in" \
                    and not re.search(rf"\b{param['name']}\b", used):
                wrong(where[0], where[1], f"{where[2]}: is {param['name']} the length of {other['name']}? mark that "
                                          f"[n={param['name']}]")

    @staticmethod
    def thread_safe(text, summary):
        """By the function's own text, or that of its header; false: calls on one object must not overlap."""
        own = stated(text, r"\bThread-safe\b|[Aa]ny thread", r"[Nn]ot thread-safe|Not to be called while")
        return own if own is not None else stated(summary, r"All calls\s+are thread-safe|every call may come from any thread",
                                                  r"Calls on one .*must")

    def errors(self, node, text):
        """The codes that the text names, of a function that returns one."""
        is_status = self.types.describe(node.type.type)["type"] == "mxc_status"
        return sorted(set(re.findall(r"\bMXC_E[A-Z]+\b", text))) if is_status else []

    def flat_form(self, where, name):
        """The function that takes a context as two numbers. Only those that concern contexts alone have none."""
        for form in (name + "_on", re.sub(r"_to$", "_on", name), re.sub(r"_context$", "_device", name)):
            if form != name and form in self.names:
                return form
        if name not in ("mxc_cpu", "mxc_gpu", "mxc_context_equal"):
            wrong(where[0], where[1], f"{name}: takes or returns a struct by value and has no form {name}_on")
        return None


def stated(text, yes, no):
    return False if re.search(no, text) else True if re.search(yes, text) else None


def thread_marker(text):
    """caller or any, from '@thread any' in a comment."""
    match = re.search(r"@thread (caller|any)\b", text)
    return match[1] if match else None


# ---- structs, enumerations, constants --------------------------------------------------------------------------------

def length_marker(text, position):
    """The length of a member that is an array, from '@length n' in its comment, or '@length n, m' for two on one line."""
    match = re.search(r"@length (\w+(?:\+\w+)?(?:, \w+)*)", text)
    lengths = match[1].split(", ") if match else [None]
    return lengths[min(position, len(lengths) - 1)]


def without_markers(text):
    return re.sub(r"\s*@(thread \w+|length \w+(\+\w+)?(, \w+)*)\.?", "", text)


class Declarations:
    def __init__(self, reader, functions):
        self.reader, self.types, self.functions = reader, reader.types, functions

    def callback(self, header, line, label, described, text, default=None):
        """Adds to a member or typedef of function type on which thread it is called."""
        thread = thread_marker(text) or default
        if not thread:
            wrong(header.name, line, f"{label}: on which thread is it called? say '@thread caller' or '@thread any'")
        described["thread"] = thread
        return described

    def struct(self, name):
        header, node = self.types.structs[name]
        comment = header.ends.get(node.coord.line - 1)
        text = comment.text if comment else ""
        members = []
        for decl in node.decls:
            start = end = decl.coord.line
            while ";" not in header.lines[end - 1]:
                end += 1
            doc = header.doc(start, end)
            member = dict(name=decl.name, **self.types.describe(decl.type))
            if member["kind"] == "callback":
                default = thread_marker(text) or self.functions.thread_of(member["base"])
                self.callback(header, start, f"{name}.{decl.name}", member, doc, default)
            members.append(member)
            self.add_length(header, name, node.decls, decl, members, doc)
            member["doc"] = without_markers(doc)
        init = f"{name}_init"
        result = {"name": name, "c_name": f"struct {node.name}" if node.name else name, "header": header.name,
                  "doc": without_markers(text), "init": init if init in self.functions.names else None,
                  "release": self.functions.release(name) if self.functions.holds_pointers(name) else None,
                  "members": members}
        if members[0]["name"] == "size" and re.search(r"_(options|spec)$|^mxc_task$", name) and not result["init"]:
            wrong(header.name, node.coord.line, f"{name}: a struct of options has a function {init}")
        return result

    def add_length(self, header, name, decls, decl, members, doc):
        """Of the last of members."""
        member = members[-1]
        position = [d.name for d in decls if d.coord.line == decl.coord.line].index(decl.name)
        length = member["pointers"] and member["kind"] != "callback" and length_marker(doc, position)
        length = length or length_of(members, len(members) - 1)
        is_several = member["pointers"] == 2 or (member["pointers"] == 1 and member["base"] != "char" and
                                                 member["kind"] in ("integer", "float", "enum"))
        if is_several and not length:
            wrong(header.name, decl.coord.line, f"{name}.{decl.name}: how long is the array? say '@length MEMBER' or "
                  "'@length text'")
        if length:
            member["length"] = length
            for word in re.findall(r"[A-Za-z_]\w*", length):
                if length != "text" and word not in [d.name for d in decls]:
                    wrong(header.name, decl.coord.line, f"{name}.{decl.name}: @length {length}: there is no member {word}")

    def typedef(self, name):
        header, node = self.types.callbacks[name]
        start, end = self.reader.lines(header, node.coord.line, name)
        text = header.doc(start, end)
        if not text:
            wrong(header.name, start, f"{name} has no comment")
        result = {"name": name, "header": header.name, "doc": without_markers(text)}
        return self.callback(header, start, name, dict(result, **self.types.signature(node.type.type)), text)

    def enum(self, name, header, node):
        comment = header.ends.get(node.coord.line - 1)
        values = []
        for value in node.values.enumerators:
            if value.coord.file.endswith(".def"):
                with open(os.path.join(self.reader.root, "include", "mxc", os.path.basename(value.coord.file)),
                          encoding="utf-8") as file:
                    match = re.search(rf'\({value.name}, .*"(.*)"\)', file.read())
                doc = match[1] if match else ""
            elif value.coord.line == node.coord.line:
                doc = ""
            else:
                doc = header.doc(value.coord.line, value.coord.line)
            values.append({"name": value.name, "doc": doc})
        return {"name": name, "header": header.name, "doc": comment.text if comment else "", "values": values}

    def handle(self, name):
        header, line = self.types.handles[name]
        retain = f"{name}_retain"
        return {"name": name, "header": header.name, "doc": header.doc(line, line), "release": self.functions.release(name),
                "retain": retain if retain in self.functions.names else None}

    def constants(self):
        """Macros without parameters whose text is a value."""
        result = []
        for header in self.reader.headers.values():
            if header.name == "mxc/export.h":
                continue
            for line, text in enumerate(header.lines, 1):
                match = re.match(r"#define ((?:MXC|DLPACK)_\w+) +([\"\w(-].*)", text)
                if match and not re.match(r"static|extern", match[2]) and '"" #' not in match[2]:
                    result.append({"name": match[1], "header": header.name, "doc": header.doc(line, line)})
        return result


PROGRAM = r"""#include <stdio.h>
#define INTEGER(x) ((x) > 0 ? printf("%llu", (unsigned long long)(x)) : printf("%lld", (long long)(x)))
#define TEXT(x) _Generic((x), char *: (x), default: "")
#define NUMBER(x) _Generic((x), char *: 0, default: (x))
#define VALUE(x) _Generic((x), char *: printf("\"%s\"", TEXT(x)), float: printf("%.17g", (double)NUMBER(x)), \
    double: printf("%.17g", (double)NUMBER(x)), default: INTEGER(NUMBER(x)))
int main(void) {
"""


def measure(root, headers, description):
    """Fills in sizes, offsets and values from a program that is compiled against the headers."""
    lines = [f"#include <{header}>" for header in headers] + [PROGRAM]
    for struct in description["structs"]:
        lines.append(f'printf("%zu %zu\\n", sizeof({struct["c_name"]}), _Alignof({struct["c_name"]}));')
        for member in struct["members"]:
            at = f'{struct["c_name"]}, {member["name"]}'
            lines.append(f'printf("%zu %zu\\n", offsetof({at}), '
                         f'sizeof((({struct["c_name"]} *)0)->{member["name"]}));')
    for enum in description["enums"]:
        lines.append(f'printf("%zu\\n", sizeof({enum["name"] or "int"}));')
        lines += [f'printf("%lld\\n", (long long){value["name"]});' for value in enum["values"]]
    lines += [f'VALUE({constant["name"]}); puts("");' for constant in description["constants"]]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines + ["return 0;", "}", ""]))
        done = subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-w", "-I", os.path.join(root, "include"), source,
                               "-o", program], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"api.py: the program that measures structs cannot be compiled:\n{done.stderr}")
        answers = iter(subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())
    for struct in description["structs"]:
        struct["size"], struct["alignment"] = map(int, next(answers).split())
        for member in struct["members"]:
            member["offset"], member["size"] = map(int, next(answers).split())
    for enum in description["enums"]:
        enum["size"] = int(next(answers))
        for value in enum["values"]:
            value["value"] = int(next(answers))
    for constant in description["constants"]:
        constant["value"] = json.loads(next(answers))


# ---- the whole -------------------------------------------------------------------------------------------------------

def describe(root):
    reader = Reader(root)
    functions = Functions(reader)
    declarations = Declarations(reader, functions)
    types = reader.types
    description = {
        "format": FORMAT,
        "headers": [{"name": h.name, "doc": h.summary()} for h in reader.headers.values()],
        "constants": declarations.constants(),
        "enums": [declarations.enum(name, *types.enums[name]) for name in types.enums]
                 + [declarations.enum(None, *enum) for enum in reader.anonymous],
        "handles": [declarations.handle(name) for name in types.handles],
        "structs": [declarations.struct(name) for name in types.structs],
        "callbacks": [declarations.typedef(name) for name in types.callbacks],
        "functions": functions.all(),
    }
    measure(root, reader.headers, description)
    return description


def is_list(value):
    return isinstance(value, list) and value and isinstance(value[0], dict)


def dump(value, indent=""):
    """JSON in which a parameter, member or value is on one line if it fits, and a function or struct is not."""
    line = json.dumps(value, ensure_ascii=False)
    outer = len(indent) <= 6 and (is_list(value) or isinstance(value, dict) and any(map(is_list, value.values())))
    if not isinstance(value, (dict, list)) or (len(line) + len(indent) <= 240 and not outer):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {dump(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + dump(item, inner) for item in value) + f"\n{indent}]"


def compare_library(description, library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"api.py: {library}: {done.stderr.strip()}")
    exported = set(re.findall(r" T (mxc_\w+)", done.stdout))
    described = {function["name"] for function in description["functions"]}
    for name in sorted(described - exported):
        findings.append(f"{library}: does not export {name}, which the headers declare")
    for name in sorted(exported - described):
        findings.append(f"{library}: exports {name}, which no header declares")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--root", default=here, help="the source tree")
    parser.add_argument("--check", action="store_true", help="compare the file, do not write it")
    parser.add_argument("--library", help="a compiled libmxc.so")
    parser.add_argument("-o", dest="out", help="file to write")
    args = parser.parse_args()
    out = args.out or os.path.join(args.root, "docs/reference/api.json")
    description = describe(args.root)
    text = dump(description) + "\n"
    if args.library:
        compare_library(description, args.library)
    if args.check:
        try:
            with open(out, encoding="utf-8") as file:
                is_same = file.read() == text
        except FileNotFoundError:
            is_same = False
        if not is_same:
            findings.append("docs/reference/api.json:1: differs from the headers; write it again with scripts/api.py")
    elif out == "-":
        sys.stdout.write(text)
    else:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)
    if findings:
        print("\n".join(findings))
        sys.exit(1)


if __name__ == "__main__":
    main()

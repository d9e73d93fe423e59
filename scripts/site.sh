#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Turns the documentation into a static site, and checks the links of its pages.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage='scripts/site.sh [--no-install] [DIRECTORY]
  Converts README and the pages of docs/ to HTML in DIRECTORY (default build/site) with pandoc, which is installed with apt-get
  if it is missing (as root; not with --no-install). Open DIRECTORY/index.html. Ends with an error if a link is broken.'
out=build/site
for argument; do
    case $argument in
        --no-install) install=no ;;
        -h | --help) say "$usage"; exit ;;
        -*) die "site.sh: unknown option '$argument'; --help describes the options" ;;
        *) out=$argument ;;
    esac
done
need_packages pandoc
command -v pandoc >/dev/null || die "pandoc is not installed."

# page FILE.md: its path in the site. The family of operators "index" has the page index.html of its directory.
page() {
    if [ "$1" = README.md ]; then echo index.html; else echo "${1%.md}.html"; fi
}

# title FILE.md: its first heading
title() { sed -n 's/^# //p' "$1" | head -n 1; }

# entry FILE.md [TEXT]: an entry of the navigation of page $current
entry() {
    local class=
    [ "$1" != "$current" ] || class=' class="here"'
    echo "<li><a$class href=\"$root$(page "$1")\">${2:-$(title "$1")}</a></li>"
}

# navigation: of the page $current, whose way to the top is $root
navigation() {
    local file
    echo "<p>Guide</p><ul>"
    for file in concepts train predict fine_tune detect generate_text embed iterators add_an_operator control_flow gradients distribute cpp python lua mxnet_front_ends; do entry "docs/guide/$file.md"; done
    entry examples/README.md
    echo "</ul><p>Reference</p><ul>"
    entry docs/reference/operators/README.md
    case $current in
        docs/reference/operators/*)
            echo "<ul>"
            for file in docs/reference/operators/*.md; do
                case $file in */README.md) ;; *) entry "$file" "$(basename "$file" .md)" ;; esac
            done
            echo "</ul>"
            ;;
    esac
    for file in iterators optimizers metrics options environment mxnet_functions; do entry "docs/reference/$file.md"; done
    entry docs/glossary.md
    echo "</ul><p>How it is built</p><ul>"
    entry docs/design.md Design
    entry docs/internals/README.md
    case $current in
        docs/internals/*)
            echo "<ul>"
            for file in docs/internals/*.md; do
                case $file in */README.md) ;; *) entry "$file" "$(basename "$file" .md)" ;; esac
            done
            echo "</ul>"
            ;;
    esac
    entry docs/performance.md
    entry docs/dependencies.md Dependencies
    echo "</ul><p>Project</p><ul>"
    entry CHANGELOG.md
    entry CONTRIBUTING.md
    entry SECURITY.md
    echo "</ul>"
}

rm -rf "$out"
mkdir -p "$out"
mkdir -p "$out/docs/reference"
cp docs/site/style.css LICENSE "$out"
cp docs/reference/api.json "$out/docs/reference"
cp docs/performance.svg "$out/docs"
mapfile -t files < <(find README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs examples -name '*.md' | sort)
for current in "${files[@]}"; do
    target=$(page "$current")
    root=$(dirname "$target" | sed 's|[^/.][^/]*|..|g; s|^\.$||')
    [ -z "$root" ] || root+=/
    mkdir -p "$out/$(dirname "$target")"
    contents=()
    [ "$(grep -c '^## ' "$current")" -lt 4 ] || contents=(--toc --toc-depth=2 -V contents=yes)
    pandoc -f gfm -t html5 --standalone --template docs/site/template.html --lua-filter docs/site/links.lua \
        "${contents[@]}" -V root="$root" -V navigation="$(navigation)" -M pagetitle="$(title "$current") - libmxc" \
        -o "$out/$target" "$current"
done

# Every relative link leads to a file of the site, and every anchor to an element of it.
broken=$(cd "$out" && find . -name '*.html' | sort | xargs awk '
    FNR == 1 { file = FILENAME; sub(/^\.\//, "", file); exists[file] = 1 }
    {
        text = $0
        while (match(text, /(^| )id="[^"]*"/)) {
            value = substr(text, RSTART, RLENGTH)
            gsub(/^ ?id="|"$/, "", value)
            ids[file "#" value] = 1
            text = substr(text, RSTART + RLENGTH)
        }
        text = $0
        while (match(text, /(^| )href="[^"]*"/)) {
            link = substr(text, RSTART, RLENGTH)
            gsub(/^ ?href="|"$/, "", link)
            if (link !~ /^[a-z]+:/) { n++; from[n] = file; to[n] = link }
            text = substr(text, RSTART + RLENGTH)
        }
    }
    function resolve(file, path,    part, n, i, out, depth) {
        sub(/[^\/]*$/, "", file)
        n = split(file path, part, "/")
        for (i = 1; i <= n; i++) {
            if (part[i] == ".." && depth > 0) depth--
            else if (part[i] != "." && part[i] != "") out[++depth] = part[i]
        }
        path = out[1]
        for (i = 2; i <= depth; i++) path = path "/" out[i]
        return path
    }
    END {
        exists["style.css"] = exists["LICENSE"] = exists["docs/reference/api.json"] = 1
        for (i = 1; i <= n; i++) {
            path = anchor = to[i]
            sub(/#.*/, "", path); sub(/^[^#]*#?/, "", anchor)
            path = path == "" ? from[i] : resolve(from[i], path)
            if (!(path in exists) || (anchor != "" && !((path "#" anchor) in ids))) print from[i] ": " to[i]
        }
    }')
[ -z "$broken" ] || die "Broken links:
$broken"
say "${#files[@]} pages in $out"

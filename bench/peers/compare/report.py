# SPDX-License-Identifier: Apache-2.0
"""The report of bench/compare: text and a chart, both from what --json writes."""
import math
from xml.sax.saxutils import escape

import rows

COLORS = {"torch": "#d1495b", "mxnet": "#30638e", "onnxruntime": "#edae49", "openvino": "#7b4f9d", "ncnn": "#3a8a5f",
          "mnn": "#8a6d3b"}


def shown(value, digits=3):
    """So many significant digits, without an exponent."""
    if value is None:
        return "-"
    decimals = max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{min(decimals, 6)}f}"


def title_of(result):
    return " ".join(part for part in (rows.NAMES[result["library"]], result["version"], result["option"]) if part)


def result_line(result):
    title = title_of(result)
    if result["error"]:
        return f"  {title:<38} {result['error']}"
    ratio = shown(result["ratio"]) if result["library"] != "mxc" else ""
    agrees = "" if result["difference"] is None else f"{result['difference']:.0e}"
    if not result["agrees"]:
        agrees += " differs"
    return (f"  {title:<38} {shown(result['p10_ms'], 4):>9} {shown(result['median_ms'], 4):>9} {ratio:>7}"
            f" {shown(result['times_limit']):>7} {result['peak_mib']:>8.0f} {result['first_s']:>7.2f}  {agrees}").rstrip()


def text_of(row):
    head = (f"{row['title']}: {shown(row['flops'] * 1e-9)} GFLOP,"
            f" {shown(row['limit_ms'])} ms at {row['peak_gflops']:.0f} GFLOP/s")
    columns = (f"  {'':<38} {'p10 ms':>9} {'median ms':>9} {'ratio':>7} {'x limit':>7} {'peak MiB':>8} {'first s':>7}"
               "  difference")
    return "\n".join([head, columns] + [result_line(result) for result in row["results"]])


def best_of(row):
    """The fastest option of each library whose results agree, without libmxc."""
    best = {}
    for result in row["results"]:
        if result["library"] != "mxc" and not result["error"] and result["agrees"]:
            before = best.get(result["library"])
            if before is None or result["ratio"] > before["ratio"]:
                best[result["library"]] = result
    return best


def summary_of(run):
    """A line for each row: libmxc, and the ratio to the fastest option of each library."""
    table = [(row, best_of(row)) for row in run["rows"]]
    libraries = [name for name in COLORS if any(name in best for _, best in table)]
    lines = [f"{'':<50} {'libmxc ms':>9} {'x limit':>7}" + "".join(f" {rows.NAMES[name]:>12}" for name in libraries)]
    for row, best in table:
        own = row["results"][0]
        lines.append(f"{row['title']:<50} {shown(own['median_ms'], 4):>9} {shown(own['times_limit']):>7}" + "".join(
            f" {shown(best[name]['ratio']) if name in best else '':>12}" for name in libraries))
    return "\n".join(line.rstrip() for line in lines)


# ---- the chart ---------------------------------------------------------------------------------------------------------

LEFT, WIDTH, TOP, STEP = 360, 480, 66, 24


def ticks(low, high):
    return [value for value in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= value <= high]


def svg_of(run):
    """One line for each row: how many times as long as libmxc each library takes, on a logarithmic axis."""
    table = [(row, best_of(row)) for row in run["rows"]]
    table = [(row, best) for row, best in table if best]
    speeds = [1 / result["ratio"] for _, best in table for result in best.values()]
    low, high = min([0.5, *(value / 1.15 for value in speeds)]), max([2, *(value * 1.15 for value in speeds)])
    bottom = TOP + STEP * len(table)

    def x_of(value):
        return LEFT + WIDTH * math.log(value / low) / math.log(high / low)

    def text(x, y, words, more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>'

    total = LEFT + WIDTH + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{bottom + 46}" viewBox="0 0 {total} {bottom + 46}" '
           'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">',
           f'<rect width="{total}" height="{bottom + 46}" fill="#fff"/>']
    out.append(text(16, 22, f"Time, libmxc = 1 ({run['processor']}, {run['threads']} threads)", ' font-weight="bold"'))
    x = 16
    for library in [name for name in COLORS if any(name in best for _, best in table)]:
        out.append(f'<circle cx="{x + 5}" cy="42" r="5" fill="{COLORS[library]}"/>')
        out.append(text(x + 15, 46, rows.NAMES[library]))
        x += 40 + 7.4 * len(rows.NAMES[library])
    for value in ticks(low, high):
        line = ' stroke="#222" stroke-width="1.5"' if value == 1 else ' stroke="#ccc"'
        out.append(f'<line x1="{x_of(value):.1f}" y1="{TOP - 6}" x2="{x_of(value):.1f}" y2="{bottom}"{line}/>')
        out.append(text(x_of(value), bottom + 16, f"{value:g}", ' text-anchor="middle" fill="#555"'))
    out.append(text(x_of(1) + 8, bottom + 34, "libmxc is faster \u2192", ' fill="#555"'))
    out.append(text(x_of(1) - 8, bottom + 34, "\u2190 slower", ' text-anchor="end" fill="#555"'))
    for i, (row, best) in enumerate(table):
        y = TOP + STEP * i + STEP / 2
        out.append(text(LEFT - 16, y + 4, row["title"], ' text-anchor="end"'))
        out.append(f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="#eee"/>')
        for library, result in best.items():
            out.append(f'<circle cx="{x_of(1 / result["ratio"]):.1f}" cy="{y}" r="5" fill="{COLORS[library]}" '
                       f'fill-opacity="0.85"><title>{escape(title_of(result))}: {1 / result["ratio"]:.2f}</title></circle>')
    return "\n".join(out + ["</svg>", ""])

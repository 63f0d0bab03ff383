"""Prints the tables of FORECAST.md: figures.py NAME=STORE..., or figures.py --public CSV STORE...."""

import sys

from stores import ENCODINGS, PARTS, Store, public, same_names

QUANTILES = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]


def table(titles, rows):
    """Prints a table in Markdown; all columns but the first are aligned to the right."""
    print("\n| " + " | ".join(titles) + " |")
    print("|---|" + "--:|" * (len(titles) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def number(value):
    return f"{int(value):,}"


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def totals(store):
    """Bytes by encoding, and what they are compared with."""
    files, cfi, size, loaded, memory, code = store.rows("""
        SELECT count(*), sum(cfi_bytes), sum(file_bytes), sum(loaded_bytes), sum(memory_bytes), sum(code_bytes)
        FROM linked WHERE encoding = 'gnu-2.44'""")[0]
    print(f"\n{number(files)} linked files with {number(code)} bytes of code.")
    sections = store.by_encoding("sum(section_bytes)")
    rows = [["bytes of sections"] + [number(section) for section in sections]]
    for name, whole in [("`.eh_frame` and `.eh_frame_hdr`", cfi), ("the files", size),
                        ("what is loaded from them", loaded), ("the memory that they take", memory)]:
        rows.append([f"of {name}, {number(whole)}"] + [percent(section, whole) for section in sections])
    table([""] + ENCODINGS, rows)


def spread(store):
    """The ratio of each file to its .eh_frame, and its share of what is loaded."""
    names = ["least", "5 %", "lower quartile", "median", "upper quartile", "95 %", "greatest"]
    ratios = store.by_encoding(f"quantile_cont(ratio, {QUANTILES})")
    rows = [["mean"] + [f"{mean:.3f}" for mean in store.by_encoding("avg(ratio)")]]
    rows += [[name] + [f"{ratio[i]:.3f}" for ratio in ratios] for i, name in enumerate(names)]
    smaller = store.by_encoding("100 * avg(CAST(ratio < 1 AS INT))")
    rows.append(["files with a ratio below 1"] + [f"{share:.0f} %" for share in smaller])
    for name, whole in [("file", "file_bytes"), ("loaded bytes", "loaded_bytes"), ("memory", "memory_bytes")]:
        shares = store.by_encoding(f"quantile_cont(100 * section_bytes / {whole}, [0.25, 0.5, 0.75])")
        cells = [" / ".join(f"{quartile:.1f}" for quartile in share) + " %" for share in shares]
        rows.append([f"quartiles of its share of the {name}"] + cells)
    table(["ratio of a file"] + ENCODINGS, rows)


def coverage(store):
    """Functions and code that the sections describe, of all files."""
    code = store.by_encoding("sum(code_bytes)", "forecasts")[0]
    total = {column: store.by_encoding(f"sum({column})", "forecasts")
             for column in ["functions", "rows", "described_bytes", "lost_functions", "lost_bytes"]}
    rows = [
        ["functions described"] + [number(value) for value in total["functions"]],
        ["functions left out"] + [number(value) for value in total["lost_functions"]],
        ["rows"] + [number(value) for value in total["rows"]],
        ["bytes of code described"] + [number(value) for value in total["described_bytes"]],
        ["of the code of functions with CFI"] + [percent(described, described + lost) for described, lost
                                                 in zip(total["described_bytes"], total["lost_bytes"])],
        [f"of all code, {number(code)}"] + [percent(value, code) for value in total["described_bytes"]],
    ]
    table([""] + ENCODINGS, rows)


def losses(store):
    """Functions and code left out, by cause, and the file that loses most."""
    totals, most = {}, {}
    for cause, encoding, functions, size, file in store.rows(
            "SELECT cause, encoding, functions, bytes, coalesce(inside, path) FROM forecast_losses"):
        before = totals.get((cause, encoding), (0, 0))
        totals[cause, encoding] = (before[0] + functions, before[1] + size)
        most[cause] = min(most.get(cause, (0, "")), (-functions, file))
    highest = {cause: max(totals.get((cause, encoding), (0, 0))[0] for encoding in ENCODINGS) for cause in most}
    rows = []
    for cause in sorted(most, key=lambda cause: (-highest[cause], cause)):
        found = [totals.get((cause, encoding)) for encoding in ENCODINGS]
        cells = [f"{number(total[0])} ({total[1] / 1e6:.2f} MB)" if total else "" for total in found]
        rows.append([f"`{cause}`"] + cells + [f"`{most[cause][1].rsplit('/', 1)[-1]}`, {number(-most[cause][0])}"])
    table(["cause"] + ENCODINGS + ["largest number in a file"], rows)


def parts(store):
    """Bytes by part, and for each function."""
    functions = store.by_encoding("sum(functions)")
    rows = []
    for column, name in PARTS.items():
        values = store.by_encoding(f"sum({column})")
        rows.append([name] + [f"{v / f:.2f}" for v, f in zip(values, functions)])
    values = store.by_encoding("sum(section_bytes)")
    rows.append(["all"] + [f"{v / f:.2f}" for v, f in zip(values, functions)])
    rows.append(["rows for each function"] + [f"{rpf:.2f}" for rpf in store.by_encoding("sum(rows) / sum(functions)")])
    repeated = store.by_encoding("100 * sum(repeated_bytes) / sum(section_bytes)")
    rows.append(["of all bytes: repeat another function's"] + [f"{share:.1f} %" for share in repeated])
    table(["bytes for each function described"] + ENCODINGS, rows)


def largest(store):
    """The largest packages, and those that lose most."""
    query = """
        SELECT package, sum(file_bytes) / 1e6, sum(eh_frame_bytes + eh_frame_hdr_bytes) / 1e6, sum(section_bytes) / 1e6,
            sum(section_bytes) / sum(eh_frame_bytes + eh_frame_hdr_bytes), sum(lost_functions), sum(functions),
            sum(lost_bytes) / 1e6, sum(code_bytes) / 1e6
        FROM forecasts WHERE encoding = '{}' AND package IS NOT NULL
        GROUP BY package ORDER BY {} DESC, package LIMIT 8"""
    table(["largest sections, gnu-2.44", "MB of files", "MB of `.eh_frame` with header", "MB of SFrame", "ratio"],
          [[f"`{r[0]}`", f"{r[1]:.1f}", f"{r[2]:.2f}", f"{r[3]:.2f}", f"{r[4]:.2f}"]
           for r in store.rows(query.format("gnu-2.44", "sum(section_bytes)"))])
    for encoding in ["gnu-2.44", "gnu-2.47.50"]:
        table([f"most functions left out, {encoding}", "left out", "described", "MB of code left out", "MB of code"],
              [[f"`{r[0]}`", number(r[5]), number(r[6]), f"{r[7]:.2f}", f"{r[8]:.2f}"]
               for r in store.rows(query.format(encoding, "sum(lost_functions)")) if r[5]])


def extremes(store):
    """The files with the least and the greatest ratios."""
    for order, title in [("ASC", "least ratios, gnu-2.44"), ("DESC", "greatest ratios, gnu-2.44")]:
        found = store.rows(f"""
            SELECT coalesce(inside, path), ratio, functions, rows / functions, row_start_bytes / rows, lost_functions
            FROM linked WHERE encoding = 'gnu-2.44' AND cfi_bytes > 1000
            ORDER BY ratio {order}, coalesce(inside, path) LIMIT 6""")
        table([title, "ratio", "functions", "rows for each", "bytes of a row's start", "left out"],
              [[f"`{r[0].rsplit('/', 1)[-1]}`", f"{r[1]:.2f}", number(r[2]), f"{r[3]:.1f}", f"{r[4]:.2f}", number(r[5])]
               for r in found])


def comparison(csv, stores):
    """The public data set, and files of the same name in the stores."""
    every = [(sframe, cfi) for _, sframe, cfi in public(csv)]
    rows = [["all files of the public data set", len(every)] + ratios(every)]
    for encoding in ENCODINGS:
        pairs = same_names(csv, stores, encoding)
        if encoding == ENCODINGS[0]:
            rows.append(["those with a namesake", len(pairs)] + ratios([(p[0], p[1]) for p in pairs.values()]))
        rows.append([f"their namesakes, {encoding}", len(pairs)] + ratios([(p[2], p[3]) for p in pairs.values()]))
    table(["", "files", "mean", "median", "total"], rows)
    pairs = same_names(csv, stores, "gnu-2.44")
    equal = [p for p in pairs.values() if p[1] == p[3]]
    print(f"\nSame bytes of CFI: {len(equal)} files; same bytes of SFrame: {sum(p[0] == p[2] for p in equal)}.")
    differences = sorted(abs(p[0] / p[1] - p[2] / p[3]) for p in pairs.values())
    print(f"Median difference of the ratios with gnu-2.44: {differences[len(differences) // 2]:.3f}.")
    largest = sorted(pairs.items(), key=lambda item: -item[1][1])[:6]
    known = ["libc.so.6", "libcrypto.so.3", "bash", "ssh", "IBM037.so"]
    chosen = largest + [(name, pairs[name]) for name in known if name in pairs]
    table(["file", "measured ratio", "predicted ratio", "measured CFI", "CFI of the namesake"],
          [[f"`{name}`", f"{p[0] / p[1]:.3f}", f"{p[2] / p[3]:.3f}", number(p[1]), number(p[3])] for name, p in chosen])


def ratios(sizes):
    """Mean and median ratio, and the ratio of the totals."""
    found = sorted(sframe / cfi for sframe, cfi in sizes)
    total = sum(sframe for sframe, _ in sizes) / sum(cfi for _, cfi in sizes)
    return [f"{sum(found) / len(found):.3f}", f"{found[len(found) // 2]:.3f}", f"{total:.3f}"]


def main():
    if sys.argv[1] == "--public":
        comparison(sys.argv[2], [Store(folder) for folder in sys.argv[3:]])
        return
    for argument in sys.argv[1:]:
        name, folder = argument.split("=", 1)
        store = Store(folder)
        print(f"\n# {name}")
        for section in [totals, spread, coverage, losses, parts, largest, extremes]:
            section(store)


if __name__ == "__main__":
    main()

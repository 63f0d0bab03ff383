"""Draws the plots of FORECAST.md.

plots.py AMD64-STORE ARM64-STORE AMD64-CSV ARM64-CSV BASE-AMD64-STORE BASE-ARM64-STORE
"""

import pathlib
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from stores import ENCODINGS, PARTS, Store, public, same_names

# Legible on white and on black.
GREY = "#6f7883"
COLOURS = dict(zip(ENCODINGS, ["#9a6fd0", "#2f81f7", "#d9822b", "#2ea06b", "#d1477a"]))
PART_COLOURS = ["#6f7883", "#2f81f7", "#9a6fd0", "#2ea06b", "#d1477a", "#d9822b"]
QUANTILES = [i / 200 for i in range(1, 200)]
HERE = pathlib.Path(__file__).parent

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "sframe-check", "font.family": "sans-serif", "font.size": 10,
    "text.color": GREY, "axes.labelcolor": GREY, "axes.edgecolor": GREY, "xtick.color": GREY, "ytick.color": GREY,
    "grid.color": GREY, "grid.alpha": 0.25, "axes.grid": True, "axes.spines.top": False, "axes.spines.right": False,
    "legend.frameon": False,
})


def panels(**options):
    """Two plots side by side, for amd64 and arm64."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", **options)
    axes[0].set_title("amd64")
    axes[1].set_title("arm64")
    return figure, axes


def save(figure, name, title, description):
    """Writes an SVG with a text alternative."""
    path = HERE / f"{name}.svg"
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    text = path.read_text()
    text = re.sub(r"(<svg [^>]*>)", rf'\1\n <title>{title}</title>\n <desc>{description}</desc>', text, count=1)
    text = text.replace("<svg ", '<svg role="img" ', 1)
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    plt.close(figure)


def distribution(stores):
    """How many files have at most which ratio, by encoding."""
    figure, axes = panels(sharey=True)
    for axis, store in zip(axes, stores):
        for encoding, ratios in zip(ENCODINGS, store.by_encoding(f"quantile_cont(ratio, {QUANTILES})")):
            axis.plot(ratios, [100 * q for q in QUANTILES], color=COLOURS[encoding], label=encoding, linewidth=1.5)
        axis.axvline(1, color=GREY, linewidth=1, linestyle=":")
        axis.set_xlim(0.4, 1.4)
        axis.set_ylim(0, 100)
        axis.set_xlabel("bytes of .sframe / (.eh_frame + .eh_frame_hdr)")
    axes[0].set_ylabel("% of files with at most this ratio")
    axes[1].legend(loc="lower right")
    save(figure, "distribution", "Size of SFrame compared with .eh_frame, by file",
         "For each ratio, the share of files with at most this ratio, for five encodings. Tables list the quartiles.")


def by_code(stores):
    """The ratio against the size of the code."""
    figure, axes = panels(sharey=True)
    for axis, store in zip(axes, stores):
        for encoding in ["gnu-2.44", "gnu-2.47.50"]:
            found = store.rows(f"""
                SELECT floor(2 * log2(code_bytes)) / 2 AS bin, quantile_cont(ratio, [0.05, 0.25, 0.5, 0.75, 0.95])
                FROM linked WHERE encoding = '{encoding}' AND code_bytes > 0
                GROUP BY bin HAVING count(*) >= 20 ORDER BY bin""")
            size = [2 ** (row[0] + 0.25) for row in found]
            low, lower, median, upper, high = zip(*[row[1] for row in found])
            if encoding == "gnu-2.44":
                style = {"color": COLOURS[encoding], "linewidth": 0}
                axis.fill_between(size, low, high, alpha=0.15, label="gnu-2.44, 5 to 95 % of files", **style)
                axis.fill_between(size, lower, upper, alpha=0.3, label="gnu-2.44, quartiles", **style)
            axis.plot(size, median, color=COLOURS[encoding], linewidth=1.5, label=f"{encoding}, median")
        axis.axhline(1, color=GREY, linewidth=1, linestyle=":")
        axis.set_xscale("log", base=4)
        axis.minorticks_off()
        ticks = ["256", "1 Ki", "4 Ki", "16 Ki", "64 Ki", "256 Ki", "1 Mi", "4 Mi", "16 Mi"]
        axis.set_xticks([4 ** power for power in range(4, 13)], ticks)
        axis.set_xlabel("bytes of code in the file")
        axis.set_ylim(0.4, 1.4)
    axes[0].set_ylabel(".sframe / (.eh_frame + .eh_frame_hdr)")
    axes[1].legend(loc="upper right")
    save(figure, "by-code", "Size of SFrame compared with .eh_frame, by size of code",
         "Median and quartiles of the ratio for files with code of similar size.")


def parts(stores):
    """Bytes for each function, by part of the section."""
    figure, axes = panels(sharex=True, sharey=True)
    for axis, store in zip(axes, stores):
        functions = store.by_encoding("sum(functions)")
        left = [0.0] * len(ENCODINGS)
        for (column, name), colour in zip(PARTS.items(), PART_COLOURS):
            values = [v / f for v, f in zip(store.by_encoding(f"sum({column})"), functions)]
            axis.barh(ENCODINGS, values, left=left, color=colour, label=name)
            left = [a + b for a, b in zip(left, values)]
        cfi, header, count = store.rows("""
            SELECT sum(eh_frame_bytes), sum(eh_frame_hdr_bytes), sum(functions)
            FROM linked WHERE encoding = 'smallest-v3'""")[0]
        axis.barh([".eh_frame"], [cfi / count], color=GREY, alpha=0.6)
        axis.barh([".eh_frame"], [header / count], left=[cfi / count], color=GREY, alpha=0.3)
        axis.text(cfi / count / 2, ".eh_frame", ".eh_frame", ha="center", va="center", color="#ffffff")
        axis.text((cfi + header / 2) / count, ".eh_frame", "hdr", ha="center", va="center")
        axis.set_xlabel("bytes for each function")
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    save(figure, "parts", "Parts of SFrame sections",
         "Bytes for each function in each part of the section, compared with .eh_frame and its header.")


def gentoo(stores, tables, base):
    """Predicted ratios and those of the public data set, for files of the same name."""
    figure, axes = panels(sharey=True)
    for axis, store, table, small in zip(axes, stores, tables, base):
        pairs = same_names(table, [small, store], "gnu-2.44").values()
        every = sorted(sframe / cfi for _, sframe, cfi in public(table))
        axis.plot(every, shares(len(every)), color=GREY, linewidth=1, linestyle="--", label="Gentoo, all files")
        measured = sorted(p[0] / p[1] for p in pairs)
        axis.plot(measured, shares(len(pairs)), color=COLOURS["gnu-2.47.50"], label="Gentoo, same names")
        predicted = sorted(p[2] / p[3] for p in pairs)
        axis.plot(predicted, shares(len(pairs)), color=COLOURS["gnu-2.44"], label="Debian, same names, predicted")
        axis.set_xlim(0.4, 1.4)
        axis.set_ylim(0, 100)
        axis.set_xlabel("bytes of .sframe / (.eh_frame + .eh_frame_hdr)")
    axes[0].set_ylabel("% of files with at most this ratio")
    axes[1].legend(loc="lower right")
    save(figure, "gentoo", "Predicted ratios for Debian and measured ratios for Gentoo",
         "Share of files with at most each ratio: measured on Gentoo, predicted for files of the same names in Debian.")


def shares(count):
    """The percentages of the first, second and later ones of so many files."""
    return [100 * (i + 1) / count for i in range(count)]


def main():
    amd64, arm64, amd64_csv, arm64_csv, base_amd64, base_arm64 = sys.argv[1:]
    stores = [Store(amd64), Store(arm64)]
    distribution(stores)
    by_code(stores)
    parts(stores)
    gentoo(stores, [amd64_csv, arm64_csv], [Store(base_amd64), Store(base_arm64)])


if __name__ == "__main__":
    main()

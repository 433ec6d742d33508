#!/usr/bin/env python3
"""Epochs beside the roofline of the machine that they ran on: what they must at least move and compute.

    scaling/study_roofline.py FOLDER    # of results of `tessera_bench gradient`: roofline.md, .svg and .png in it

Of one epoch, whatever the method: two transforms of each wave (5 n log2 n), the products, amplitudes and sums around
them, each pattern read, a rank's part of the object read and written. What overlapping windows and small batches read
again may stay in a cache. Copy and multiply-add rates were measured in the same run, with all ranks at once.
"""

import json
import math
import sys
from pathlib import Path


def work(result):
    """Flops and bytes of one rank's epoch, at least."""
    pixels = result["positions"] / result["ranks"] * result["window_px"] ** 2
    waves = pixels * result["modes"]
    flops = 2 * transform_flops(result) + 36 * waves + 23 * pixels
    return flops, 2 * pixels + 2 * result["object_bytes_per_rank"]


def transform_flops(result):
    """One of each wave of a rank."""
    waves = result["positions"] / result["ranks"] * result["window_px"] ** 2 * result["modes"]
    return 5 * waves * math.log2(result["window_px"] ** 2)


def share(result):
    """Least time that the roofline allows over the least that was measured."""
    flops, n_bytes = work(result)
    least_s = max(flops / (1e9 * result["multiply_add_GFLOP_per_s"]), n_bytes / (1e9 * result["copy_GB_per_s"]))
    return 1e3 * least_s / min(result["epochs_ms"])


def impossible(results):
    """Words for those that compute faster than the machine multiplies and adds: something was counted wrongly."""
    for name, result in results.items():
        rate = work(result)[0] / (1e6 * min(result["epochs_ms"]))
        roof = result["multiply_add_GFLOP_per_s"]
        if not 0 < rate <= 1.05 * roof:
            yield f"{name}: {rate:.4g} GFLOP/s on a machine of {roof:.4g}"


def table(results):
    text = "| case | ranks | epoch, ms | flops a byte | GFLOP/s of a rank | of its bare transforms | share of the roofline |\n"
    text += "|" + " --- |" * 7 + "\n"
    for name, r in results.items():
        flops, n_bytes = work(r)
        ms = min(r["epochs_ms"])
        text += (f"| {name} | {r['ranks']} | {ms:.2f} | {flops / n_bytes:.1f} | {flops / (1e6 * ms):.1f} | "
                 f"{2 * transform_flops(r) / (1e6 * r['transforms_ms']):.1f} | {share(r):.2f} |\n")
    return text


def draw(axes, groups):
    """Points of each group, {label: results}, under the roof of the machine: the highest of the runs' rates."""
    every = [r for results in groups.values() for r in results]
    copy = max(r["copy_GB_per_s"] for r in every)
    peak = max(r["multiply_add_GFLOP_per_s"] for r in every)
    intensities = [work(r)[0] / work(r)[1] for r in every]
    ends = [min([*intensities, peak / copy]) / 2, max([*intensities, peak / copy]) * 2]
    axes.plot([ends[0], peak / copy, ends[1]], [copy * ends[0], peak, peak], "k-", label="copy, multiply-add")
    bare = max(2 * transform_flops(r) / (1e6 * r["transforms_ms"]) for r in every)
    axes.axhline(bare, color="grey", linestyle="--", label="bare transforms")
    for label, results in groups.items():
        axes.plot([work(r)[0] / work(r)[1] for r in results],
                  [work(r)[0] / (1e6 * min(r["epochs_ms"])) for r in results], "o", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flops a byte, at least")
    axes.set_ylabel("GFLOP/s of a rank")
    axes.legend(fontsize="small")


def main():
    folder = Path(sys.argv[1])
    results = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    results = {name: r for name, r in results.items() if r.get("command") == "gradient" and not r["streams_patterns"]}
    text = ("# Roofline\n\nWritten by `scaling/study_roofline.py`, which says what is counted: the least that any method must "
            "move and compute.\n\n" + table(results))
    (folder / "roofline.md").write_text(text)
    wrong = list(impossible(results))
    for line in wrong:
        print(f"study_roofline: {line}", file=sys.stderr)
    try:
        import study_plots
    except ModuleNotFoundError as missing:
        print(f"study_roofline: no plot: {missing}; install python3-matplotlib", file=sys.stderr)
        return 1 if wrong else 0
    sizes = dict.fromkeys((r["window_px"], r["modes"]) for r in results.values())
    groups = {f"{window} px, {modes} mode(s)": [r for r in results.values() if (r["window_px"], r["modes"]) == (window, modes)]
              for window, modes in sorted(sizes)}
    for path in study_plots.save(study_plots.roofline_figure(folder.name, groups), folder / "roofline"):
        print(path)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main())

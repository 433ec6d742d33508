"""Results of scaling/study as SVG and PNG, by matplotlib."""

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "tessera"  # the same file from the same figures
matplotlib.rcParams["svg.fonttype"] = "none"  # letters as letters: a tenth of the size

import matplotlib.pyplot as plt

import study_roofline
from study_tables import TERMS, efficiency, least_ms, phases_ms


def plots(results, predictions, folder, cores):
    """Draws them all; yields the paths."""
    for name in dict.fromkeys(case["study"] for case in results):
        cases = [case for case in results if case["study"] == name]
        yield from save(study_figure(name, cases, cores), folder / name)
    for prediction in predictions:
        yield from save(prediction_figure(prediction), folder / prediction["name"])


def study_figure(name, cases, cores):
    with_cores = [case for case in cases if case["ranks"] <= cores]
    figure, panels = plt.subplots(1, 4 if with_cores else 3, figsize=(17 if with_cores else 13, 4), layout="constrained")
    times, efficiencies, phases = panels[:3]
    result = cases[0]["result"]
    each = " for each rank" if cases[0]["each_rank"] else ""
    figure.suptitle(f"{name}: {result['positions']} positions of {result['window_px']} x {result['window_px']}{each}")
    for batch in dict.fromkeys(case["batch"] for case in cases):
        draw_batch(batch, [case for case in cases if case["batch"] == batch], times, efficiencies, cores)
    rank_axis(times, cases, "epoch, ms")
    times.set_yscale("log")
    most = max(case["ranks"] for case in cases)
    if most > cores:
        times.axvspan(cores, most, color="grey", alpha=0.15, label="more ranks than cores")
    times.legend(fontsize="small")
    rank_axis(efficiencies, cases, "efficiency")
    efficiencies.axhline(1, color="grey", linestyle=":", label="ideal")
    efficiencies.set_ylim(0, 1.2)
    stack(phases, [f"{c['ranks']}\n{c['batch']}" for c in cases], ["computing", "exchange", "all-reduce"],
          [phases_ms(c["result"]) for c in cases])
    phases.set_xlabel("ranks, batch" + each)
    phases.set_ylabel("epoch by phase, ms")
    if with_cores:
        study_roofline.draw(panels[3], {f"batch {batch}": [c["result"] for c in with_cores if c["batch"] == batch]
                                        for batch in dict.fromkeys(case["batch"] for case in with_cores)})
    return figure


def draw_batch(batch, cases, times, efficiencies, cores):
    ranks = [case["ranks"] for case in cases]
    ms = [least_ms(case["result"]) for case in cases]
    [line] = times.plot(ranks, ms, "o-", label=f"batch {batch}")
    colour = line.get_color()
    ideal = [ms[0] * (1 if cases[0]["each_rank"] else ranks[0] / n) for n in ranks]
    times.plot(ranks, ideal, ":", color=colour, label="ideal")
    predicted = [case["result"].get("predicted", {}).get("epoch_ms") for case in cases]
    if all(predicted):
        times.plot(ranks, predicted, "x--", color=colour, label="predicted")
    with_cores = [case for case in cases if case["ranks"] <= cores]
    efficiencies.plot([case["ranks"] for case in with_cores], [efficiency(case, cases) for case in with_cores], "o-",
                      color=colour)


def roofline_figure(title, groups):
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    figure.suptitle(title)
    study_roofline.draw(axes, groups)
    return figure


def prediction_figure(prediction):
    result = prediction["result"]
    rows = result["predictions"]
    figure, (times, terms) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    figure.suptitle(f"Predicted, not run: {result['positions']} positions of {result['window_px']} x "
                    f"{result['window_px']}, batch {result['batch_size']}")
    ranks = [r["ranks"] for r in rows]
    seconds = [r["epoch_ms"] / 1e3 for r in rows]
    times.plot(ranks, seconds, "x--", label="predicted")
    times.plot(ranks, [seconds[0] * ranks[0] / n for n in ranks], ":", color="grey", label="ideal")
    rank_axis(times, rows, "epoch, s")
    times.set_yscale("log")
    times.legend()
    shares = [[r[term + "_ms"] / r["epoch_ms"] for term in TERMS] for r in rows]
    stack(terms, list(map(str, ranks)), TERMS, shares)
    terms.set_xlabel("ranks")
    terms.set_ylabel("share of the epoch")
    return figure


def rank_axis(axes, cases, label):
    ranks = sorted({case["ranks"] for case in cases})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, map(str, ranks))
    axes.minorticks_off()
    axes.set_xlabel("ranks")
    axes.set_ylabel(label)


def stack(axes, names, layers, columns):
    """A bar for each column, made of its layers."""
    bottom = [0] * len(columns)
    for i, layer in enumerate(layers):
        heights = [column[i] for column in columns]
        axes.bar(range(len(columns)), heights, bottom=bottom, label=layer)
        bottom = [b + h for b, h in zip(bottom, heights)]
    axes.set_xticks(range(len(columns)), names, fontsize="small")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))


def save(figure, path):
    for ending in (".svg", ".png"):
        out = path.with_suffix(ending)
        figure.savefig(out, dpi=100, metadata={"Date": None} if ending == ".svg" else None)
        yield out
    plt.close(figure)

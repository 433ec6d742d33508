"""Results of scaling/study as Markdown."""

import study_roofline

TERMS = ["interior", "border", "exchange", "probe", "updates", "rest"]


def tables(results, predictions, cores):
    text = "# Studies\n\nWritten by `scaling/study`. Times are of the least of some epochs; phases of the median, each of its slowest rank.\n"
    machines = dict.fromkeys(case["result"].get("machine", "an unnamed machine") for case in results)
    for machine in machines:
        text += f"Measured on: {machine}.\n"
    text += ("Share of the roofline: the least time that copy and multiply-add rates of the same run allow for what an epoch must move and "
             "compute (`study_roofline.py`), over the epoch.\n")
    if any(case["ranks"] > cores for case in results):
        text += (f"\nThere are {cores} cores for all ranks: of more ranks neither time nor efficiency says how the program scales. What counts there is that the error is that of one "
                 "rank, what is sent, and how long ranks take to start.\n")
    for name in dict.fromkeys(case["study"] for case in results):
        text += study_table(name, [case for case in results if case["study"] == name], cores)
    for prediction in predictions:
        text += prediction_table(prediction)
    return text


def study_table(name, cases, cores):
    columns = columns_of(cases, cores)
    text = f"\n## {name}\n\n" + row(*columns) + row(*["---"] * len(columns))
    for case in cases:
        text += row(*(cell(case, cases) for cell in columns.values()))
    return text


def columns_of(cases, cores):
    """What stands in each, of a case and all cases of its study."""
    columns = {
        "ranks": lambda case, _: case["result"]["ranks"],
        "positions": lambda case, _: case["result"]["positions"],
        "batch": lambda case, _: case["result"]["batch_size"],
        "epoch, ms": lambda case, _: f"{least_ms(case['result']):.2f}",
        "efficiency": lambda case, all: "" if case["ranks"] > cores else f"{efficiency(case, all):.2f}",
    }
    columns["share of the roofline"] = lambda case, _: "" if case["ranks"] > cores else f"{study_roofline.share(case['result']):.2f}"
    for i, phase in enumerate(["computing", "exchange", "all-reduce"]):
        columns[f"{phase}, ms"] = lambda case, _, i=i: f"{phases_ms(case['result'])[i]:.2f}"
    columns["messages"] = lambda case, _: f"{case['result']['halo_messages_per_epoch']:.0f}"
    columns["MB sent"] = lambda case, _: f"{1e-6 * case['result']['halo_bytes_per_epoch']:.1f}"
    if any("start_up_s" in case["result"] for case in cases):
        columns["start-up, s"] = lambda case, _: f"{case['result'].get('start_up_s', float('nan')):.1f}"
    if any("predicted_over_least" in case["result"] for case in cases):
        columns["predicted / measured"] = lambda case, _: f"{case['result'].get('predicted_over_least', float('nan')):.2f}"
    columns["error"] = lambda case, _: f"{case['result']['last_error']:.7g}"
    if any("error_off" in case for case in cases):
        columns["error off that of the fewest ranks"] = lambda case, _: f"{case['error_off']:.1e}" if "error_off" in case else ""
    return columns


def prediction_table(prediction):
    r = prediction["result"]
    text = (f"\n## {prediction['name']}: predicted, not run\n\n{r['positions']} positions of {r['window_px']} x "
            f"{r['window_px']}, batches of {r['batch_size']}. Rates and messages as measured on {r['machine']} with up "
            f"to {r['measured_ranks']} rank(s) of one host: a network between hosts is not in them. Seconds an epoch.\n\n")
    text += row("ranks", "epoch", *TERMS, "waits", "efficiency", "limit", "least batch")
    text += row(*["---"] * 12)
    first = r["predictions"][0]
    for p in r["predictions"]:
        gain = first["epoch_ms"] * first["ranks"] / (p["epoch_ms"] * p["ranks"])
        text += row(p["ranks"], *(f"{p[term + '_ms'] / 1e3:.3g}" for term in ["epoch", *TERMS, "waits"]), f"{gain:.2f}",
                    p["limit"], p["least_batch"])
    return text


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |\n"


def least_ms(result):
    return min(result["epochs_ms"])


def phases_ms(result):
    """Of the slowest rank each: computing, exchange between tiles, all-reduces."""
    waits = [result["halo_wait_ms"], result["reduce_wait_ms"]]
    return [max(0, result["epoch_ms"] - sum(waits)), *waits]


def efficiency(case, cases):
    """Positions a second and rank over those of the fewest ranks with the same batches."""
    first = min((c for c in cases if c["batch"] == case["batch"]), key=lambda c: c["ranks"])["result"]
    speed = lambda r: r["positions"] / least_ms(r) / r["ranks"]
    return speed(case["result"]) / speed(first)

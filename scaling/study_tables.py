"""Results of scaling/study as Markdown."""

TERMS = ["interior", "border", "exchange", "probe", "updates", "rest"]


def tables(results, predictions):
    text = "# Studies\n\nWritten by `scaling/study`.\n"
    for name in dict.fromkeys(case["study"] for case in results):
        text += study_table(name, [case for case in results if case["study"] == name])
    for prediction in predictions:
        text += prediction_table(prediction)
    return text


def study_table(name, cases):
    text = f"\n## {name}\n\n" + row("ranks", "positions", "batch", "epoch, ms", "efficiency", "computing, ms",
                                    "exchange, ms", "all-reduce, ms", "predicted / measured", "error")
    text += row(*["---"] * 10)
    for case in cases:
        r = case["result"]
        predicted = r.get("predicted_over_least")
        text += row(r["ranks"], r["positions"], r["batch_size"], f"{least_ms(r):.2f}", f"{efficiency(case, cases):.2f}",
                    *(f"{ms:.2f}" for ms in phases_ms(r)), "" if predicted is None else f"{predicted:.2f}",
                    f"{r['last_error']:.6g}")
    return text


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

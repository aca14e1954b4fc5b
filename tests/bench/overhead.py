# SPDX-License-Identifier: GPL-2.0-or-later
"""What profiling costs while nothing is delayed: run time at speedup 0, and one sample."""
import statistics
import subprocess
import sys

import benchlib as bench

RATIO_BAR = 1.01        # at 1 kHz
RATIO_PERIOD_US = 1000
SAMPLE_BAR_NS = 1000
SAMPLE_PERIOD_US = 20   # so often that samples are most of what is measured
COMPARED_PERIOD_US = 100    # an emulated processor can still follow
DEFAULT_PERIOD_US = 100

# perf: the kernel's own CPU clock event in place of cozk, to compare with.
CASES = [(name, RATIO_PERIOD_US, "cozk") for name in ("multi", "g1", "threads", "forks", "gzip")]
CASES += [("multi", DEFAULT_PERIOD_US, "cozk"), ("multi", SAMPLE_PERIOD_US, "cozk"),
          ("multi", COMPARED_PERIOD_US, "cozk"), ("multi", COMPARED_PERIOD_US, "perf")]


def parse(argv):
    p = bench.parser("overhead", __doc__)
    p.add_argument("--pairs", type=int, help="runs of each kind (8; quick: 3)")
    args = p.parse_args(argv)
    args.pairs = args.pairs or (3 if args.quick else 8)
    return args


def make_row(key, runs):
    name, period_us, how = key.split()
    ratio, low, high = bench.geometric_mean([r["profiled_s"] / r["bare_s"] for r in runs])
    rate = statistics.median(r["samples_per_s"] for r in runs)
    row = {"program": name if how == "cozk" else f"{name} ({how})", "bare_s": statistics.median(r["bare_s"] for r in runs),
           "profiled_s": statistics.median(r["profiled_s"] for r in runs), "ratio": ratio,
           "ratio_low": low, "ratio_high": high, "samples_per_s": rate, "sample_ns": None,
           "period_us": int(period_us), "pairs": len(runs),
           "windows": sum(r["windows"] for r in runs)}
    if int(period_us) in (SAMPLE_PERIOD_US, COMPARED_PERIOD_US):
        # Time lost in a second, over the samples in it.
        row["sample_ns"], row["sample_ns_low"], row["sample_ns_high"] = \
            ((1 - 1 / r) * 1e9 / rate for r in (ratio, low, high))
    return row


def judge(row, emulated):
    """(bar, verdict). A ratio is judged by its interval: missed only if all of it is over."""
    if row["sample_ns"] is not None:
        if row["period_us"] != SAMPLE_PERIOD_US:
            return "-", "no bar"
        if emulated:
            return f"{SAMPLE_BAR_NS} ns", "n/a in emulation"
        return f"{SAMPLE_BAR_NS} ns", "MISSED" if row["sample_ns_low"] > SAMPLE_BAR_NS else "ok"
    if row["period_us"] != RATIO_PERIOD_US:
        return "-", "no bar"
    if row["ratio_high"] <= RATIO_BAR:
        return f"{RATIO_BAR}", "ok"
    if row["ratio_low"] <= RATIO_BAR:
        return f"{RATIO_BAR}", "not told from it"
    # An interrupt that the emulator has to interpret costs many times what it costs a processor.
    return f"{RATIO_BAR}", "n/a in emulation" if emulated else "MISSED"


def main(argv):
    args = parse(argv)
    report = bench.Report("overhead", args)
    job = {"label": "overhead", "cases": CASES, "pairs": args.pairs, "forks": 150,
           "gzip_lines": 120000, "thread_seconds": 1.2, "items": {"multi": 120, "g1": 500}}
    try:
        found = bench.guest(args, "overhead", job, 120 + args.pairs * 60)
    except (bench.BenchError, subprocess.TimeoutExpired) as error:
        print(error)
        report.missed.append("not measured")
        return report.finish()
    report.data.update(kernel=found["kernel"], emulated=found["emulated"], runs=found["found"])
    lines = []
    for key, runs in found["found"].items():
        row = make_row(key, runs)
        bar, row["verdict"] = judge(row, found["emulated"])
        report.row(**row)
        if row["verdict"] == "MISSED":
            report.missed.append(f"{row['program']} at {row['period_us']} us")
        cost = "-" if row["sample_ns"] is None else \
            f"{row['sample_ns']:.0f} ({row['sample_ns_low']:.0f}-{row['sample_ns_high']:.0f})"
        lines.append([row["program"], row["period_us"], f"{row['bare_s']:.3f}",
                      f"{row['profiled_s']:.3f}", f"{row['ratio']:.4f}",
                      f"{row['ratio_low']:.4f}-{row['ratio_high']:.4f}",
                      f"{row['samples_per_s']:.0f}", row["windows"], cost, bar, row["verdict"]])
    bench.table(["program", "period us", "bare s", "profiled s", "ratio", "interval", "samples/s",
                 "windows", "sample ns", "bar", "verdict"], lines)
    if found["emulated"]:
        print("The processor was emulated: a timer interrupt costs tens of microseconds there.")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions against the measured effect of really making the code faster."""
import statistics
import subprocess
import sys
import time

import benchlib as bench
import groundtruth

SPEEDUPS = (25, 50, 75, 100)
BAR_POINTS = 0.05           # of a prediction, or twice half its interval if that is more
MOST_HALF_WIDTH = 0.15      # a wider interval tells nothing

# at_once: threads that work at the same time.  real: parts that can really be made faster, where
# that is not all.  quick: among those of --quick.
PROGRAMS = {
    "G1": {"file": "g1", "parts": ["part_a", "part_b"], "at_once": 2, "quick": True},
    "G2": {"file": "g2", "parts": ["stage1", "stage2"], "at_once": 2},
    "G2b": {"file": "g2b", "parts": ["stage1", "stage2", "stage3"], "at_once": 2, "bar": False},
    # Nothing makes a wait shorter but what it waits for.
    "G4": {"file": "g4", "parts": ["part_a", "part_b", "spin_wait"], "at_once": 2,
           "real": ["part_a", "part_b"]},
    "G7": {"file": "g7", "parts": ["part_a", "part_b"], "at_once": 1, "quick": True},
    "G9": {"file": "g9", "parts": ["part_a", "part_b"], "at_once": 2},
    "G10": {"file": "g10", "parts": ["part_a", "part_b"], "at_once": 1},
    # Noise, measured: one speedup, so that the interval's 95 % are those of the whole test.
    "G15": {"file": "g15", "parts": ["never_run"], "at_once": 2, "real": [], "speedups": (50,),
            "quick": True},
}


def parse(argv):
    p = bench.parser("truth", __doc__)
    p.add_argument("--program", action="append", choices=PROGRAMS, help="only this (repeatable)")
    p.add_argument("--unit-us", type=float, default=5000, help="length of a unit of work (5000)")
    p.add_argument("--rounds", type=int, help="rounds a program (3; quick: 2)")
    p.add_argument("--seconds", type=float, help="length of a profiled run (20; quick: 14)")
    p.add_argument("--run-option", action="append", default=[], metavar="OPTION",
                   help="a further option of `cozk run` (repeatable, as --run-option=--seed=1)")
    args = p.parse_args(argv)
    args.rounds = args.rounds or (2 if args.quick else 3)
    args.seconds = args.seconds or (14 if args.quick else 20)
    if not args.program:
        args.program = [n for n, p in PROGRAMS.items() if not args.quick or p.get("quick")]
    return args


def measure(args, name):
    program = PROGRAMS[name]
    job = {
        "label": name, "program": f"{bench.ROOT}/build/workloads/{program['file']}",
        "targets": [f"--fixed-function={part}" for part in program["parts"]],
        "real_parts": program.get("real", program["parts"]),
        "at_once": program["at_once"], "speedups": program.get("speedups", SPEEDUPS),
        "unit_us": args.unit_us, "rounds": args.rounds, "predict_seconds": args.seconds,
        "real_seconds": 0.3, "real_repeats": 2, "run_options": args.run_option,
    }
    real = 3 * len(job["real_parts"]) * len(job["speedups"]) + 1
    return bench.guest(args, "truth", job, int(90 + args.rounds * (2 * args.seconds + 2 * real)))


def formula(name, part, speedup):
    """The true program speedup by the program's own formula."""
    program = f"{bench.ROOT}/build/workloads/{PROGRAMS[name]['file']}"
    return float(bench.run([program, "--truth", f"{part}={speedup}"]))


def judge(name, row):
    """Is the prediction within the bar? The truth of a flat part is 0, not what noise made of it."""
    if row["predicted"] is None or row["low"] is None or row["high"] is None:
        return False
    if name == "G15":
        return row["low"] <= 0 <= row["high"]
    half = (row["high"] - row["low"]) / 2
    truth = 0 if row["formula"] == 0 else row["truth"]
    return abs(row["predicted"] - truth) <= max(BAR_POINTS, 2 * half)


def make_rows(name, found):
    rows = []
    for part in PROGRAMS[name]["parts"]:
        for speedup in PROGRAMS[name].get("speedups", SPEEDUPS):
            truth, truth_low, truth_high = groundtruth.real_effect(found["periods"],
                                                                   f"{part}={speedup}")
            expected = formula(name, part, speedup)
            effect = groundtruth.prediction(found["report"], part, speedup) or {}
            value = effect.get("program_speedup") or {}
            row = {"program": name, "part": part, "speedup": speedup / 100,
                   "truth": expected if truth is None else truth,
                   "predicted": value.get("value"), "low": value.get("lo"),
                   "high": value.get("hi"), "windows": effect.get("windows", 0),
                   "truth_low": truth_low, "truth_high": truth_high, "formula": expected,
                   "truth_measured": truth is not None}
            row["ok"] = judge(name, row)
            rows.append(row)
    return rows


def why_noisy(found, rows):
    """Why this machine cannot tell right now; empty if it can."""
    off = groundtruth.off_formula(found["periods"], found["formula_ns"])
    if off:
        return f"machine too noisy: {off}"
    widths = [(r["high"] - r["low"]) / 2 for r in rows if r["low"] is not None]
    if widths and statistics.median(widths) > MOST_HALF_WIDTH:
        return f"machine too noisy: intervals of ±{100 * statistics.median(widths):.0f} points"
    return ""


def show(rows, title):
    print(f"\n{title}")
    lines = []
    for r in rows:
        half = (r["high"] - r["low"]) / 2 if r["low"] is not None else None
        bar = "covers 0" if r["program"] == "G15" else \
            f"{100 * max(BAR_POINTS, 2 * half):.1f}" if half is not None else "5.0"
        off = abs(r["predicted"] - (0 if r["formula"] == 0 else r["truth"])) \
            if r["predicted"] is not None else None
        lines.append([f"{r['program']} {r['part']}", f"{100 * r['speedup']:.0f}",
                      bench.percent(r["formula"]), bench.percent(r["truth"]),
                      bench.percent(r["predicted"]), bench.percent(r["low"]),
                      bench.percent(r["high"]), r["windows"],
                      f"{100 * off:.1f}" if off is not None else "-", bar, r["verdict"]])
    bench.table(["part", "by %", "formula", "truth", "predicted", "low", "high", "windows", "off",
                 "bar", "verdict"], lines)


def one_program(args, report, name, deadline):
    """Measures, a second time if the machine was too noisy, and files the rows."""
    barred = PROGRAMS[name].get("bar", True)
    for attempt in (1, 2):
        start = time.monotonic()
        found = measure(args, name)
        rows = make_rows(name, found)
        noisy = why_noisy(found, rows)
        if not noisy or time.monotonic() * 2 - start > deadline:
            break
        if attempt == 1:
            bench.say(f"{name}: {noisy}; once more")
    base = statistics.median(found["periods"]["base"])
    for row in rows:
        row["verdict"] = "no bar" if not barred else noisy.split(":")[0] if noisy else \
            "ok" if row["ok"] else "MISSED"
        if row["verdict"] == "MISSED":
            report.missed.append(f"{name} {row['part']} at {100 * row['speedup']:.0f} %")
        report.row(**row)
    if noisy and barred:
        report.noisy.append(f"{name}: {noisy}")
    report.data["kernel"] = found["kernel"]
    report.data["programs"][name] = {
        "period_ns": base, "formula_ns": found["formula_ns"], "noisy": noisy or None,
        "loops_per_ms": found["loops_per_ms"], "periods": found["periods"],
        "seconds": found["guest_seconds"], "samples": found["report"]["samples"]}
    show(rows, f"{name}: an item takes {base / 1e6:.2f} ms, by the formula "
               f"{found['formula_ns'] / 1e6:.2f}; effects in percent")


def main(argv):
    args = parse(argv)
    report = bench.Report("truth", args)
    report.data["programs"] = {}
    # Twice the half width of an interval of 95 % is about four standard errors.
    print("bar: |predicted - truth| <= max(5 points, 2 x half the interval); truth of a flat "
          "part is 0; G15: the interval covers 0")
    deadline = time.monotonic() + (180 if args.quick else 900)
    for name in args.program:
        try:
            one_program(args, report, name, deadline)
        except (bench.BenchError, subprocess.TimeoutExpired) as error:
            print(f"\n{name}: {error}")
            report.missed.append(f"{name}: not measured")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

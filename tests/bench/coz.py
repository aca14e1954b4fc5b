# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Coz and cozk in the same boot: accuracy, overhead, signals, cost of a visit."""
import json
import os
import subprocess
import sys

import benchlib as bench
import groundtruth

SPEEDUPS = (25, 50, 75, 100)
SLACK_POINTS = 0.02     # by so much cozk's mean error may exceed Coz's before the bar is missed
VISIT_BAR_NS = 2
FEWEST_VISITS = 5       # Coz's viewer shows nothing below

PROGRAMS = {
    "G1": {"file": "coz-g1", "source": "g1.c", "at_once": 2},
    "G7": {"file": "coz-g7", "source": "g7.c", "at_once": 1},
}
PARTS = {"part_a": "A", "part_b": "B"}


def parse(argv):
    p = bench.parser("coz", __doc__)
    p.add_argument("--unit-us", type=float, default=5000, help="length of a unit of work (5000)")
    p.add_argument("--rounds", type=int, help="rounds a program (2; quick: 1)")
    args = p.parse_args(argv)
    args.rounds = args.rounds or (1 if args.quick else 2)
    return args


def line_of(source, part):
    """FILE:LINE of a part's loop, which is all of its work."""
    path = os.path.join(bench.ROOT, "tests", "workloads", source)
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if f"WORK(parts[{PARTS[part]}].loops)" in line:
                return f"{source}:{number}"
    raise bench.BenchError(f"{source}: no line does the work of {part}")


def build_visit():
    """The cost of a visit, with a binary that both can profile."""
    program = os.path.join(bench.BENCH_DIR, "visit")
    bench.run(["gcc", "-std=gnu11", "-O2", "-gdwarf-3", "-I",
               os.path.join(bench.ROOT, "libcoz-lite"), "-o", program,
               os.path.join(bench.HERE, "visit.c"), "-pthread"])
    return program


def make_job(args):
    programs = []
    for name, program in PROGRAMS.items():
        lines = [line_of(program["source"], part) for part in PARTS]
        programs.append({"name": name, "at_once": program["at_once"], "lines": lines,
                         "program": f"{bench.ROOT}/build/workloads/{program['file']}",
                         "targets": [f"--fixed-line={line}" for line in lines]})
    return {"label": "coz", "programs": programs, "real_parts": list(PARTS), "speedups": SPEEDUPS,
            "unit_us": args.unit_us, "rounds": args.rounds, "real_seconds": 0.3,
            "real_repeats": 2, "predict_seconds": 20, "coz_seconds": 4, "run_options": [],
            "pairs": 3 if args.quick else 6, "visit": build_visit()}


def coz_effect(records, line, speedup):
    """By its viewer's formula: sums over the file, against the line's own windows at 0."""
    def period(wanted):
        mine = [r for r in records if r[0].endswith("/" + line) and abs(r[1] - wanted) < 0.005]
        visits = sum(r[3] for r in mine)
        return sum(r[2] for r in mine) / visits if visits >= FEWEST_VISITS else None

    base, changed = period(0), period(speedup / 100)
    return 1 - changed / base if base and changed is not None else None


def cozk_effect(report, line, speedup):
    for point in report["points"]:
        for finding in point["findings"]:
            if finding["target"].endswith(line):
                return groundtruth.prediction(report, finding["target"], speedup)
    return None


def make_rows(name, found):
    rows = []
    for part in PARTS:
        line = line_of(PROGRAMS[name]["source"], part)
        for speedup in SPEEDUPS:
            effect = cozk_effect(found["report"], line, speedup) or {}
            value = effect.get("program_speedup") or {}
            truth, low, high = groundtruth.real_effect(found["periods"], f"{part}={speedup}")
            rows.append({"program": name, "part": part, "speedup": speedup / 100, "truth": truth,
                         "cozk": value.get("value"),
                         "coz": coz_effect(found["coz"], line, speedup), "truth_low": low,
                         "truth_high": high, "cozk_low": value.get("lo"),
                         "cozk_high": value.get("hi"), "line": line})
    return rows


def mean_error(rows, key):
    errors = [abs(r[key] - r["truth"]) for r in rows if r[key] is not None]
    return sum(errors) / len(errors) if errors else None


def points(error):
    return "-" if error is None else f"{100 * error:.1f}"


def show_accuracy(report, found):
    lines = []
    for name, accuracy in found["accuracy"].items():
        off = groundtruth.off_formula(accuracy["periods"], accuracy["formula_ns"])
        if off:
            report.noisy.append(f"{name}: machine too noisy: {off}")
        for row in make_rows(name, accuracy):
            report.row(**row)
            lines.append([f"{name} {row['part']}", f"{100 * row['speedup']:.0f}",
                          *(bench.percent(row[k]) for k in
                            ("truth", "cozk", "cozk_low", "cozk_high", "coz"))])
    bench.table(["part", "by %", "truth", "cozk", "low", "high", "coz"], lines)
    rows = report.data["rows"]
    ours, theirs = mean_error(rows, "cozk"), mean_error(rows, "coz")
    report.data["mean_error"] = {"cozk": ours, "coz": theirs}
    print(f"mean error in points: cozk {points(ours)}, Coz {points(theirs)}; bar: not over Coz's "
          f"by more than {100 * SLACK_POINTS:.0f}")
    if any(r["cozk"] is None for r in rows):
        report.missed.append("cozk has no prediction for some part")
    worse = ours is not None and theirs is not None and ours > theirs + SLACK_POINTS
    if worse and not report.noisy:
        report.missed.append("predictions are worse than Coz's")


def seen(counts):
    return counts["frames"] + sum(counts["eintr"].values())


def show_costs(report, found):
    data = report.data
    data["overhead"], data["overhead_interval"], data["signals_seen"] = {}, {}, {}
    data["visit_ns"] = {name: found["visits"][name] for name in ("cozk", "coz")}
    data["visit_loop_ns"] = {name: found["visits"][f"{name}_loop"] for name in ("cozk", "coz")}
    data["signals"] = found["signals"]
    lines = []
    for name in ("cozk", "coz"):
        ratio, low, high = bench.geometric_mean([r[name] / r["bare"] for r in found["overhead"]])
        data["overhead"][name], data["overhead_interval"][name] = ratio, [low, high]
        counts = found["signals"][name]
        data["signals_seen"][name] = seen(counts)
        lines.append([name, f"{ratio:.3f} ({low:.3f}-{high:.3f})",
                      f"{seen(counts)} in {counts['slices']} pieces of work, {counts['calls']} waits",
                      *(f"{ns:.2f}" for ns in data["visit_ns"][name])])
    print()
    bench.table(["profiler", "run time at speedup 0", "signals and EINTR seen", "visit ns, 1 thread",
                 "2 threads"], lines)
    print("bars: cozk sees 0 signals; costs of an emulated processor are no bar" if
          found["emulated"] else "bars: cozk sees 0 signals")
    show_host_visit(report)
    if data["signals_seen"]["cozk"]:
        report.missed.append("a program notices cozk by signals or EINTR")


def show_host_visit(report):
    """What a real processor takes for a visit: needs no module, memory stands for its pages."""
    program = os.path.join(bench.ROOT, "build", "tests", "visit")
    rows = json.loads(bench.run([program, "20000000", "1", "2"]))["rows"]
    report.data["visit_host_ns"] = {name: [r[f"{name}_ns"] for r in rows]
                                    for name in ("cozk", "coz")}
    ours, theirs = (report.data["visit_host_ns"][name] for name in ("cozk", "coz"))
    verdict = "ok" if ours[0] <= VISIT_BAR_NS else "MISSED"
    print(f"visit on this machine's own processor, 1 and 2 threads: cozk.h {ours[0]:.2f} "
          f"{ours[1]:.2f} ns, coz.h {theirs[0]:.2f} {theirs[1]:.2f} ns; bar: cozk.h "
          f"{VISIT_BAR_NS} ns with 1: {verdict}")
    if verdict == "MISSED":
        report.missed.append("cost of a visit")


def main(argv):
    args = parse(argv)
    report = bench.Report("coz", args)
    try:
        found = bench.guest(args, "coz", make_job(args), 240 + 300 * args.rounds)
    except (bench.BenchError, subprocess.TimeoutExpired) as error:
        print(error)
        report.missed.append("not measured")
        return report.finish()
    report.data.update(kernel=found["kernel"], emulated=found["emulated"],
                       coz_version=bench.run(["dpkg-query", "-W", "-f", "${Version}",
                                              "coz-profiler"]),
                       overhead_runs=found["overhead"],
                       periods={n: a["periods"] for n, a in found["accuracy"].items()})
    show_accuracy(report, found)
    show_costs(report, found)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Really faster runs and profiled runs of the ground-truth programs, and what they say.

The runs are made from a job: program, unit_us, loops_per_ms, real_parts, speedups (percent, more
than 0), real_seconds, real_repeats; and cozk, targets (options), run_options, predict_seconds.
"""
import json
import random
import statistics
import subprocess

import benchlib as bench

PERIOD_TOLERANCE = 0.10     # of the measured period at speedup 0 against the formula


def real_run(job, part, speedup):
    """ns an item of a run in which one part is really faster."""
    options = ["--unit-us", str(job["unit_us"]), "--loops-per-ms", f"{job['loops_per_ms']:.0f}",
               "--seconds", str(job["real_seconds"]), "--warmup", "0.05", "--rate"]
    if part:
        options += ["--speedup", f"{part}={speedup}"]
    done = subprocess.run([job["program"], *options], stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise bench.BenchError(f"{job['program']} {' '.join(options)}: {done.stderr.strip()}")
    return json.loads(done.stderr.splitlines()[-1])


def real_round(job, periods):
    """Every case, in random order, with the program as it is between; returns its formula."""
    cases = [(part, s) for part in job["real_parts"] for s in job["speedups"]]
    cases *= job["real_repeats"]
    random.shuffle(cases)
    for index in range(0, len(cases) + len(cases) // 2 + 1, 3):
        cases.insert(index, (None, 0))
    formula_ns = None
    for part, speedup in cases:
        found = real_run(job, part, speedup)
        periods.setdefault(f"{part}={speedup}" if part else "base", []).append(found["period_ns"])
        if not part:
            formula_ns = found["formula_ns"]
    return formula_ns


def predict(job, profile, log):
    """One profiled run with all targets, added to the profile."""
    command = [job["cozk"], "run", "-q", "--no-report", "-o", profile, "--speedups",
               ",".join(str(s) for s in [0, *job["speedups"]]), "--duration",
               str(job["predict_seconds"])]
    command += job["targets"] + job["run_options"]
    command += ["--", job["program"], "--unit-us", str(job["unit_us"]), "--loops-per-ms",
                f"{job['loops_per_ms']:.0f}"]
    with open(log, "a", encoding="utf-8") as out:
            status = subprocess.run(command, stdout=out, stderr=out, check=False,
                                timeout=job["predict_seconds"] + 60).returncode
    if status != 0:
        with open(log, encoding="utf-8") as text:
            raise bench.BenchError(f"{' '.join(command)}: status {status}\n{text.read()}")


def reported(job, profile):
    """What cozk makes of all runs of a profile."""
    return json.loads(bench.run([job["cozk"], "report", "-i", profile, "--run", "all", "--all",
                                 "--format", "json"]))


def off_formula(periods, formula_ns):
    """How far the program as it is takes other times than it should; empty if near enough."""
    base = statistics.median(periods["base"])
    off = base / formula_ns - 1
    if abs(off) <= PERIOD_TOLERANCE:
        return ""
    return (f"an item takes {base / 1e6:.2f} ms, by the formula {formula_ns / 1e6:.2f} "
            f"({100 * off:+.0f} %)")


def real_effect(periods, key):
    """Effect of a real change, with its interval."""
    if key not in periods:
        return None, None, None
    ratio, low, high = bench.ratio_of_medians(periods[key], periods["base"])
    return 1 - ratio, 1 - high, 1 - low


def prediction(report, part, speedup):
    """The effect that cozk reports for a part, or None."""
    for point in report["points"]:
        for finding in point["findings"]:
            if finding["target"] == part:
                for effect in finding["effects"]:
                    if abs(effect["speedup"] * 100 - speedup) < 0.5:
                        return effect
    return None

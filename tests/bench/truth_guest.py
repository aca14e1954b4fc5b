# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures one ground-truth program: what its parts really gain, and what cozk says they would.

Rounds of really faster runs and of profiled runs follow each other, so that a machine that
becomes slower makes both slower.
"""
import json
import os
import random
import subprocess

import benchlib as bench


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
    """One profiled run with all parts as targets, added to the profile."""
    command = [job["cozk"], "run", "-q", "--no-report", "-o", profile, "--speedups",
               ",".join(str(s) for s in [0, *job["speedups"]]), "--duration",
               str(job["predict_seconds"])]
    for part in job["parts"]:
        command += ["--fixed-function", part]
    command += job["run_options"]
    command += ["--", job["program"], "--unit-us", str(job["unit_us"]), "--loops-per-ms",
                f"{job['loops_per_ms']:.0f}"]
    with open(log, "a", encoding="utf-8") as out:
            status = subprocess.run(command, stdout=out, stderr=out, check=False,
                                timeout=job["predict_seconds"] + 60).returncode
    if status != 0:
        with open(log, encoding="utf-8") as text:
            raise bench.BenchError(f"{' '.join(command)}: status {status}\n{text.read()}")


def measure(job, directory):
    profile = os.path.join(directory, "profile.jsonl")
    log = os.path.join(directory, "cozk.log")
    periods, formula_ns = {}, None
    job["loops_per_ms"] = bench.loops_per_ms(job["program"], job["at_once"])
    for number in range(job["rounds"]):
        bench.say(f"{job['label']}: round {number + 1} of {job['rounds']}")
        formula_ns = real_round(job, periods)
        predict(job, profile, log)
    report = bench.run([job["cozk"], "report", "-i", profile, "--run", "all", "--all", "--format",
                        "json"])
    return {"periods": periods, "formula_ns": formula_ns, "loops_per_ms": job["loops_per_ms"],
            "report": json.loads(report)}


bench.guest_main(measure)

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
               "--seconds", str(job["real_seconds"]), "--rate"]
    if part:
        options += ["--speedup", f"{part}={speedup}"]
    done = subprocess.run([job["program"], *options], stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise bench.BenchError(f"{job['program']} {' '.join(options)}: {done.stderr.strip()}")
    return json.loads(done.stderr.splitlines()[-1])


def real_round(job, periods):
    """Every case once, in random order, and the program as it is before, between and after."""
    cases = [(part, s) for part in job["real_parts"] for s in job["speedups"]]
    random.shuffle(cases)
    every = max(1, (len(cases) + 1) // 2)
    for index in range(0, len(cases), every):
        cases.insert(index + index // every, (None, 0))
    cases.append((None, 0))
    found = {}
    for case in cases:
        found.setdefault(case, []).append(real_run(job, *case))
    for case, runs in found.items():
        key = f"{case[0]}={case[1]}" if case[0] else "base"
        periods.setdefault(key, []).append([r["period_ns"] for r in runs])
    return found[None, 0][0]["formula_ns"]


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

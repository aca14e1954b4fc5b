# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures one ground-truth program: what its parts really gain, and what cozk says they would.

Rounds of really faster runs and of profiled runs follow each other, so that a machine that
becomes slower makes both slower.
"""
import os

import benchlib as bench
import groundtruth


def measure(job, directory):
    profile = os.path.join(directory, "profile.jsonl")
    log = os.path.join(directory, "cozk.log")
    periods, formula_ns = {}, None
    job["loops_per_ms"] = bench.loops_per_ms(job["program"], job["at_once"])
    for number in range(job["rounds"]):
        bench.say(f"{job['label']}: round {number + 1} of {job['rounds']}")
        formula_ns = groundtruth.real_round(job, periods)
        groundtruth.predict(job, profile, log)
    return {"periods": periods, "formula_ns": formula_ns, "loops_per_ms": job["loops_per_ms"],
            "report": groundtruth.reported(job, profile)}


bench.guest_main(measure)

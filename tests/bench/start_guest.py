# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the time from the start of `cozk run` to its first experiment, and its memory."""
import json
import os
import re
import signal
import subprocess
import time

import benchlib as bench

WINDOW_MS = 100


def first_experiment(profile, deadline):
    """(when its record was there, the record); None after the deadline."""
    while time.monotonic() < deadline:
        if os.path.exists(profile):
            with open(profile, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n") and '"experiment"' in line:
                        return time.monotonic(), json.loads(line)
        time.sleep(0.002)
    return None


def peak_rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024


def measure_once(job, program, profile):
    """The record is written at the end of the window, so its length is taken off again."""
    if os.path.exists(profile):
        os.unlink(profile)
    start = time.monotonic()
    cozk = subprocess.Popen([job["cozk"], "run", "-q", "--no-report", "-o", profile, "--window",
                             str(WINDOW_MS), "--", *program], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    found = first_experiment(profile, start + job["longest"])
    try:
        if not found:
            cozk.kill()
            raise bench.BenchError(f"no experiment in {job['longest']} s\n{cozk.stderr.read()}")
        # Its memory grows with the code it has seen.
        time.sleep(2)
        rss = peak_rss_mb(cozk.pid)
    finally:
        if cozk.poll() is None:
            cozk.send_signal(signal.SIGINT)
        cozk.communicate(timeout=60)
    seen, record = found
    waited = record["wall_ns"] + record.get("settle_ns", 0)
    return {"first_window_ms": (seen - start) * 1e3 - waited / 1e6, "rss_mb": rss}


def measure(job, directory):
    profile = os.path.join(directory, "profile.jsonl")
    found = {}
    for number in range(job["rounds"]):
        for name, program in job["programs"].items():
            bench.say(f"start: {name}, round {number + 1} of {job['rounds']}")
            found.setdefault(name, []).append(measure_once(job, program, profile))
    return {"found": found}


bench.guest_main(measure)

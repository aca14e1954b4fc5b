# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the same programs under Coz and under cozk, turn about, in one boot."""
import json
import os
import subprocess

import benchlib as bench
import groundtruth


def coz_command(profile, options, program):
    # Its messages are many and go to stderr; what the program says is read from a file.
    return ["coz", "run", "-o", profile, *options, "---", *program]


def cozk_command(job, profile, options, program):
    return [job["cozk"], "run", "-q", "--no-report", "-o", profile, *options, "--", *program]


def quietly(command, timeout=120):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, check=False)
    if done.returncode:
        raise bench.BenchError(f"{' '.join(command)}: status {done.returncode}\n"
                               f"{done.stderr[-2000:]}")
    return done.stdout


def run_coz(job, profile):
    """One run for each line and speedup: left to choose, Coz would seldom choose the same."""
    program = [job["program"], "--unit-us", str(job["unit_us"]), "--loops-per-ms",
               f"{job['loops_per_ms']:.0f}", "--seconds", str(job["coz_seconds"])]
    for line in job["lines"]:
        for speedup in [0, *job["speedups"]]:
            quietly(coz_command(profile, ["--fixed-line", line, "--fixed-speedup", str(speedup)],
                                program))


def read_coz(profile):
    """[(line, speedup, duration, visits)] of a profile in Coz's older format."""
    found, experiment = [], None
    with open(profile, encoding="utf-8") as file:
        for line in file:
            kind, *fields = line.rstrip("\n").split("\t")
            values = dict(field.split("=", 1) for field in fields)
            if kind == "experiment":
                experiment = values
            elif kind == "throughput-point" and experiment:
                found.append((experiment["selected"], float(experiment["speedup"]),
                              int(experiment["duration"]), int(values["delta"])))
    return found


def accuracy(job, directory):
    cozk_profile = os.path.join(directory, f"{job['name']}.jsonl")
    coz_profile = os.path.join(directory, f"{job['name']}.coz")
    periods, formula_ns = {}, None
    job["loops_per_ms"] = bench.loops_per_ms(job["program"], job["at_once"])
    for number in range(job["rounds"]):
        bench.say(f"coz: {job['name']}, round {number + 1} of {job['rounds']}")
        formula_ns = groundtruth.real_round(job, periods)
        groundtruth.predict(job, cozk_profile, os.path.join(directory, "cozk.log"))
        run_coz(job, coz_profile)
    return {"periods": periods, "formula_ns": formula_ns,
            "report": groundtruth.reported(job, cozk_profile), "coz": read_coz(coz_profile)}


def overhead(job, directory):
    """ns an item bare, under cozk and under Coz, both at speedup 0; [{bare, cozk, coz}]."""
    out = os.path.join(directory, "out.json")
    program = [job["program"], "--unit-us", str(job["unit_us"]), "--loops-per-ms",
               f"{job['loops_per_ms']:.0f}", "--seconds", "2", "--out", out]
    commands = {
        "bare": program,
        "cozk": cozk_command(job, os.path.join(directory, "o.jsonl"), ["--speedups", "0"], program),
        "coz": coz_command(os.path.join(directory, "o.coz"), ["--fixed-speedup", "0"], program),
    }
    rounds = []
    for number in range(job["pairs"]):
        bench.say(f"coz: overhead, round {number + 1} of {job['pairs']}")
        names = list(commands)
        names = names[number % 3:] + names[:number % 3]
        found = {}
        for name in names:
            quietly(commands[name])
            found[name] = bench.read_json(out)["period_ns"]
        rounds.append(found)
    return rounds


def signals(job, directory):
    """What a program notices under each, and how much it did meanwhile."""
    program = [f"{job['root']}/build/workloads/coz-signals", "4"]
    commands = {
        "bare": program,
        "cozk": cozk_command(job, os.path.join(directory, "s.jsonl"), [], program),
        "coz": coz_command(os.path.join(directory, "s.coz"), [], program),
    }
    bench.say("coz: signals")
    found = {}
    for name, command in commands.items():
        lines = [line for line in quietly(command).splitlines() if line.startswith("{")]
        found[name] = json.loads(lines[-1])
    return found


def visits(job, directory):
    """ns a visit with 1 and 2 threads: cozk's way under cozk, Coz's way under Coz."""
    program = [job["visit"], "4000000", "1", "2"]
    commands = {
        "cozk": cozk_command(job, os.path.join(directory, "v.jsonl"), ["--speedups", "0"], program),
        "coz": coz_command(os.path.join(directory, "v.coz"), ["--fixed-speedup", "0"], program),
    }
    bench.say("coz: cost of a visit")
    found = {}
    for name, command in commands.items():
        text = quietly(command)
        rows = json.loads(text[text.index("{"):])["rows"]
        found[name] = [row[f"{name}_ns"] for row in rows]
        found[f"{name}_loop"] = [row["empty_ns"] for row in rows]
    return found


def measure(job, directory):
    found = {"accuracy": {}}
    for program in job["programs"]:
        found["accuracy"][program["name"]] = accuracy({**job, **program}, directory)
    first = {**job, **job["programs"][0]}
    first["loops_per_ms"] = bench.loops_per_ms(first["program"], first["at_once"])
    found["overhead"] = overhead(first, directory)
    found["signals"] = signals(job, directory)
    found["visits"] = visits(job, directory)
    return found


bench.guest_main(measure)

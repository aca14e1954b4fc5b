# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benches share: the lab, statistics of small samples, tables, and the result file.

A bench is a module NAME.py with `def main(argv)`. Its measuring part, NAME_guest.py, runs beside
the module: it reads job.json from the directory it is given and leaves result.json there.
"""
import argparse
import datetime
import json
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BENCH_DIR = os.path.join(ROOT, "build", "bench")
HERE = os.path.join(ROOT, "tests", "bench")

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NOISY = 0, 1, 2, 3


# A table must not come after the messages that follow it.
sys.stdout.reconfigure(line_buffering=True)


class BenchError(Exception):
    """Something that makes the bench impossible, with its cause in words."""


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- options

def parser(name, text):
    p = argparse.ArgumentParser(prog=f"scripts/bench {name}", description=text)
    p.add_argument("--no-bar", action="store_true", help="only measure: exit 0 whatever comes out")
    p.add_argument("--quick", action="store_true", help="fewer programs and rounds, for CI")
    p.add_argument("--kernel", default="6.12", help="kernel of the lab (6.12)")
    p.add_argument("--here", action="store_true",
                   help="measure on this machine, which has the module loaded, not in the lab")
    p.add_argument("--cozk", default=os.path.join(ROOT, "build", "bin", "cozk"),
                   help="program to measure (build/bin/cozk)")
    return p


def percent(text):
    return f"{100 * text:+.1f}" if text is not None else "-"


# ---- running things

def run(command, **options):
    """Output of a command that must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}: status {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def guest(args, name, job, timeout):
    """Runs NAME_guest.py with the job in the lab (or here), returns what it found."""
    directory = os.path.join(BENCH_DIR, "work", job.get("label", name))
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with open(os.path.join(directory, "job.json"), "w", encoding="utf-8") as file:
        json.dump({**job, "cozk": os.path.abspath(args.cozk), "root": ROOT}, file)
    command = [sys.executable, os.path.join(HERE, f"{name}_guest.py"), directory]
    if not args.here:
        command = [os.path.join(ROOT, "lab", "boot"), "--kernel", args.kernel, "--strict",
                   "--no-stdin", "--timeout", str(timeout), "--share", directory, "--", *command]
    status = subprocess.run(command, cwd=ROOT, check=False, stdin=subprocess.DEVNULL,
                            timeout=timeout + 60).returncode
    if status:
        raise BenchError(f"{job.get('label', name)}: the measuring part ended with {status}")
    return read_json(os.path.join(directory, "result.json"))


def guest_main(measure):
    """main of a NAME_guest.py: `measure` gets the job and the directory, returns the result."""
    directory = sys.argv[1]
    job = read_json(os.path.join(directory, "job.json"))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    start = time.monotonic()
    try:
        result = measure(job, directory)
    except BenchError as error:
        say(f"bench: {error}")
        sys.exit(EXIT_FAILED)
    result["kernel"] = platform.release()
    result["emulated"] = emulated()
    result["guest_seconds"] = time.monotonic() - start
    with open(os.path.join(directory, "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


def emulated():
    """Whether this kernel's processor is interpreted by QEMU: absolute costs mean nothing then."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "QEMU TCG" in file.read()


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def loops_per_ms(program, at_once):
    """Calibration of the workloads, with as many at once as will later run at once.

    The best of some, because all that disturbs one makes it look slower.
    """
    means = []
    for _ in range(4):
        running = [subprocess.Popen([program, "--calibrate"], stdout=subprocess.PIPE, text=True)
                   for _ in range(at_once)]
        means.append(statistics.mean(float(p.communicate()[0]) for p in running))
    return max(means)


# ---- statistics

def ratio_of_medians(above, below, draws=1000):
    """median(above) / median(below) with its 95 % interval, by resampling both."""
    rng = random.Random(1)

    def drawn(values):
        return statistics.median(rng.choices(values, k=len(values)))

    ratios = sorted(drawn(above) / drawn(below) for _ in range(draws))
    return (statistics.median(above) / statistics.median(below), ratios[int(0.025 * draws)],
            ratios[int(0.975 * draws)])


# Two-sided 95 % quantiles of Student's t for 1, 2, 3 … degrees of freedom.
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
       2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086)


def geometric_mean(ratios):
    """Geometric mean of paired ratios and its 95 % interval."""
    logs = [math.log(r) for r in ratios]
    mean = statistics.mean(logs)
    if len(logs) < 2:
        return math.exp(mean), None, None
    t = T95[min(len(logs) - 1, len(T95)) - 1]
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


# ---- results

def commit():
    """The commit measured, "-dirty" if the tree differs from it."""
    try:
        return run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=40"]).strip()
    except (BenchError, OSError):
        return "unknown"


def load():
    return os.getloadavg()[0]


def table(headings, rows):
    """Text, first column to the left, others to the right."""
    cells = [headings] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    for row in cells:
        line = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(line).rstrip())


class Report:
    """The result file of a bench, and its verdict."""

    def __init__(self, name, args):
        self.name, self.args = name, args
        self.data = {"bench": name, "commit": commit(), "kernel": None,
                     "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
                     "host_load": {"start": load(), "end": None}, "quick": args.quick, "rows": []}
        self.noisy = []     # reasons why the machine could not tell
        self.missed = []    # bars that do not hold

    def row(self, **row):
        self.data["rows"].append(row)

    def finish(self):
        """Writes the file, prints what is wrong, returns the exit status."""
        self.data["host_load"]["end"] = load()
        self.data.update(noisy=self.noisy, missed=self.missed)
        os.makedirs(BENCH_DIR, exist_ok=True)
        path = os.path.join(BENCH_DIR, f"{self.name}.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1)
            file.write("\n")
        os.replace(path + ".new", path)
        for text in self.missed:
            print(f"MISSED  {text}")
        for text in self.noisy:
            print(f"NOISY   {text}")
        host = self.data["host_load"]
        print(f"{os.path.relpath(path, ROOT)}: load of the host {host['start']:.2f} at the start, "
              f"{host['end']:.2f} at the end")
        if self.args.no_bar:
            return EXIT_OK
        if self.missed:
            return EXIT_FAILED
        return EXIT_NOISY if self.noisy else EXIT_OK

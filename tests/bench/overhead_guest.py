# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures programs bare and under `cozk run --speedups 0`, in pairs."""
import ctypes
import json
import os
import struct
import subprocess

import benchlib as bench

NOTHING_FOUND = 3       # no effect of anything, as when a program is too short for an experiment

PERF_EVENT_OPEN = {"x86_64": 298}.get(os.uname().machine, 241)

# What a shell does between two looks at the clock, which the start of the profiler is not part of.
TIMED = 'start=$EPOCHREALTIME; %s; end=$EPOCHREALTIME; ' \
        'echo $((${end/./} - ${start/./})) >"$0"'
FORKS = 'for ((i = 0; i < %d; i++)); do /bin/true; done'
GZIP = 'gzip -c "$1" >/dev/null'


def workload(job, name, out):
    """A ground-truth program with a fixed number of items; seconds from its own report."""
    command = [f"{job['root']}/build/workloads/{name}", "--unit-us", "1000", "--warmup", "0.1",
               "--loops-per-ms", f"{job['loops'][name]:.0f}", "--items",
               str(job["items"][name]), "--out", out]
    return command, lambda: bench.read_json(out)["seconds"]


def threads(job, seconds, out):
    """Seconds for a thousand threads, from how many there were in a given time."""
    command = ["sh", "-c", 'exec "$1" "$2" >"$0"', out, f"{job['root']}/build/workloads/threads",
               str(seconds)]

    def result():
        with open(out, encoding="utf-8") as file:
            return seconds / int(file.read().split()[0]) * 1000
    return command, result


def shell(script, out, *arguments):
    def result():
        with open(out, encoding="utf-8") as file:
            return int(file.read()) / 1e6
    return ["bash", "-c", TIMED % script, out, *arguments], result


def cases(job, directory):
    out = os.path.join(directory, "out")
    text = os.path.join(directory, "text")
    with open(text, "w", encoding="utf-8") as file:
        for i in range(job["gzip_lines"]):
            file.write(f"{i} {i * i % 9973} the quick brown fox {i * 7919 % 104729:x}\n")
    return {
        "multi": workload(job, "multi", out),
        "g1": workload(job, "g1", out),
        "threads": threads(job, job["thread_seconds"], out),
        "forks": shell(FORKS % job["forks"], out),
        "gzip": shell(GZIP, out, text),
    }


def timed(command, result, accepted=(0,), before=None):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=120, preexec_fn=before,
                          close_fds=before is None)
    if done.returncode not in accepted:
        raise bench.BenchError(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return result()


def profiled(job, case, period_us, profile):
    command = [job["cozk"], "run", "-q", "--no-report", "--truncate", "-o", profile, "--speedups",
               "0", "--period", str(period_us), "--window-period", str(period_us), "--", *case[0]]
    seconds = timed(command, case[1], (0, NOTHING_FOUND))
    with open(profile, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    last = [r for r in records if r["type"] == "runtime"][-1]
    return {"profiled_s": seconds, "samples_per_s": last["samples"] / last["time"] * 1e9,
            "windows": last["windows"]}


def clock_event(period_us):
    """Samples what is executed next by the kernel's own CPU clock event, into no buffer at all.

    That is as little as an interrupt by a timer can do.
    """
    software, cpu_clock, sample_ip = 1, 0, 1
    disabled, inherit, enable_on_exec = 1 << 0, 1 << 1, 1 << 12
    attr = struct.pack("IIQQQQQ", software, 128, cpu_clock, period_us * 1000, sample_ip, 0,
                       disabled | inherit | enable_on_exec).ljust(128, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(PERF_EVENT_OPEN, attr, 0, -1, -1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
    os.set_inheritable(fd, True)


def sampled(case, period_us):
    """The same program under that event; there is nobody to count its samples."""
    seconds = timed(*case, before=lambda: clock_event(period_us))
    return {"profiled_s": seconds, "samples_per_s": 1e6 / period_us, "windows": 0}


def measure_case(job, case, period_us, how, profile, pairs):
    """Alternating which comes first, so that a drift of the machine cancels."""
    def run():
        if how == "perf":
            return sampled(case, period_us)
        return profiled(job, case, period_us, profile)

    rows = []
    for number in range(pairs):
        if number % 2:
            bare = timed(*case)
            row = run()
        else:
            row = run()
            bare = timed(*case)
        rows.append({"bare_s": bare, **row})
    return rows


def measure(job, directory):
    profile = os.path.join(directory, "profile.jsonl")
    job["loops"] = {name: bench.loops_per_ms(f"{job['root']}/build/workloads/{name}", at_once)
                    for name, at_once in (("multi", 1), ("g1", 2))}
    # Else the kernel makes its own sampling rarer when it takes much time, as it does here.
    with open("/proc/sys/kernel/perf_cpu_time_max_percent", "w", encoding="utf-8") as file:
        file.write("0")
    found = {}
    programs = cases(job, directory)
    for name, period_us, how in job["cases"]:
        bench.say(f"overhead: {name}, a sample every {period_us} us by {how}")
        found[f"{name} {period_us} {how}"] = measure_case(job, programs[name], period_us, how,
                                                          profile, job["pairs"])
    return {"found": found}


bench.guest_main(measure)

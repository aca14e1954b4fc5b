#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules by which Coz's viewer turns a profile into curves, written anew from their description.

usage: coz_viewer.py PROFILE
Prints "TARGET<tab>POINT<tab>SPEEDUP<tab>PROGRAM-SPEEDUP" for every point of every curve, sorted.

Records are summed over the whole file by (target, point, speedup). Throughput: p = duration / visits. Latency, by Little's
law: p = mean in flight * duration / arrivals. Program speedup = (p(0) - p(s)) / p(0); the viewer turns the sign
for latency. Each target needs its own windows at speedup 0. Results outside -100 % .. +200 % are dropped. A record type
that is not Coz's is an error, as it is to the viewer.
"""
import json
import math
import sys

IGNORED = ("startup", "shutdown", "samples", "runtime")


def read(path):
    """{(target, point): {speedup: sums}}"""
    data, experiment = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            kind = record["type"]
            if kind == "experiment":
                experiment = record
            elif kind in ("throughput-point", "progress-point", "latency-point"):
                cell = data.setdefault((experiment["selected"], record["name"]), {}).setdefault(
                    experiment["speedup"], {"latency": kind == "latency-point", "duration": 0, "count": 0, "flight": 0})
                cell["duration"] += experiment["duration"]
                cell["count"] += record["arrivals" if cell["latency"] else "delta"]
                cell["flight"] += record.get("difference", 0) * experiment["duration"]
            elif kind not in IGNORED:
                sys.exit(f"Invalid Profile: {line}")
    return data


def period(cell):
    if not cell["count"] or cell["duration"] < 0:
        return math.nan
    in_flight = cell["flight"] / cell["duration"] if cell["latency"] else 1
    return in_flight * cell["duration"] / cell["count"]


def main():
    for (target, point), cells in sorted(read(sys.argv[1]).items()):
        base = period(cells[0]) if 0 in cells else math.nan
        for speedup, cell in sorted(cells.items()):
            effect = (base - period(cell)) / base
            if cell["latency"]:
                effect = -effect
            if not math.isnan(effect) and -1 <= effect <= 2:
                print(f"{target}\t{point}\t{speedup:.6f}\t{effect:.9f}")


main()

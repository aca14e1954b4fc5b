#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a profile of a program whose true effects are known, in the form cozk run writes it.

usage: synthetic_profile.py [--blocks N] [--noise X] [--seed N] [--coz] >profile.jsonl

The program does an item every 10 ms. Targets, and what is true of them:
    hot.c:10     linear, slope 0.6
    plateau.c:20 slope 0.5 up to 40 %, then nothing more
    lock.c:30    contention: slope -0.3
    cold.c:40    no effect
    rare.c:50    no effect, tried in one window only at each speedup
Blocks hold one window at each speedup, 0 included. --coz leaves out what Coz does not write.
"""
import argparse
import json
import random

ITEM_NS = 10_000_000
SPEEDUPS = (0, 0.2, 0.4, 0.6, 0.8, 1.0)
TARGETS = {
    "/src/prog/hot.c:10": ("work", 0.55, lambda s: 0.6 * s),
    "/src/prog/plateau.c:20": ("stage", 0.2, lambda s: 0.5 * min(s, 0.4)),
    "/src/prog/lock.c:30": ("spin", 0.1, lambda s: -0.3 * s),
    "/src/prog/cold.c:40": ("idle", 0.05, lambda s: 0.0),
    "/src/prog/rare.c:50": ("seldom", 0.01, lambda s: 0.0),
}


def emit(**record):
    text = json.dumps(record, separators=(",", ":"))
    if "speedup" in record:
        text = text.replace(f'"speedup":{record["speedup"]},', f'"speedup":{record["speedup"]:.2f},')
    print(text)


def window(args, rng, target, speedup, number, block):
    """One experiment of about two seconds and the points read with it."""
    function, share, effect = TARGETS[target]
    duration = rng.randrange(1_900_000_000, 2_100_000_000)
    due = int(speedup * share * duration)
    period = ITEM_NS * (1 - effect(speedup)) * (1 + args.noise * rng.gauss(0, 1))
    visits = int(duration / period + rng.random())
    in_flight = max(1, round(20 * (1 - effect(speedup)) * (1 + args.noise * rng.gauss(0, 1))))
    ours = {} if args.coz else {
        "speedup_ppm": round(speedup * 1_000_000), "kind": "line", "function": function, "binary": "/src/prog/prog",
        "window": number, "block": block, "wall_ns": duration + due, "due_ns": due, "samples": 4000,
        "sample_ns": 4_000_000_000, "hit_ns": int(share * 4e9), "owed_ns": due, "paid_ns": due, "credited_ns": 0,
        "surplus_ns": 0, "pauses": 100, "settle_ns": 1000, "forgiven_ns": 0, "threads": 2, "end_reason": "duration",
    }
    emit(type="experiment", selected=target, speedup=speedup, duration=duration,
         selected_samples=round(4000 * share), **ours)
    emit(type="throughput-point", name="item-done", delta=visits)
    emit(type="latency-point", name="request", arrivals=200, departures=200, difference=in_flight)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--noise", type=float, default=0.005)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coz", action="store_true")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    ours = {} if args.coz else {
        "version": "0.1.0", "abi": 1, "program": ["./prog", "a b"], "seed": args.seed, "kernel": "6.1.0", "by": "line",
        "cpus": 2, "sample_period_ns": 1_000_000, "window_period_ns": 250_000}
    emit(type="startup", time=1_795_999_552_101_088_801, **ours)
    plan = []
    for target in TARGETS:
        plan += [(target, 1 if "rare" in target else args.blocks)]
    number = block = 0
    for target, blocks in plan:
        for _ in range(blocks):
            for speedup in rng.sample(SPEEDUPS, len(SPEEDUPS)):
                number += 1
                window(args, rng, target, speedup, number, block)
            block += 1
    ours = {} if args.coz else {
        "status": "exit 0", "samples": 10_000, "samples_lost": 3, "samples_unresolved": 7, "threads_seen": 5,
        "threads_lost": 0, "windows": number, "points_seen": 2}
    emit(type="runtime", time=number * 2_100_000_000, **ours)
    for target, (function, share, _) in TARGETS.items():
        ours = {} if args.coz else {
            "weight_ns": round(share * 1e10), "function": function, "binary": "/src/prog/prog", "in_scope": True}
        emit(type="samples", location=target, count=round(share * 10_000), **ours)
    if not args.coz:
        emit(type="samples", location="/lib/x86_64-linux-gnu/libc.so.6+0x1234", count=900, weight_ns=900_000_000,
             function="memcpy", binary="/lib/x86_64-linux-gnu/libc.so.6", in_scope=False)


main()

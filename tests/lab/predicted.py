# SPDX-License-Identifier: GPL-2.0-or-later
"""predicted.py TARGET PERCENT: from `cozk report --format csv` on standard input, the predicted
program speedup in percent of TARGET made faster by PERCENT."""
import csv
import sys

target, percent = sys.argv[1], float(sys.argv[2])
for row in csv.DictReader(sys.stdin):
    if row["target"] == target and abs(100 * float(row["speedup"]) - percent) < 0.01:
        print("%.1f" % (100 * float(row["program_speedup"])))
        break

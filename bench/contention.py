"""Times gradient boosting on a busy machine, where threads that wait by spinning would burn the time of others.

    bench/contention.py PROGRAM [PROGRAM ...] [--repeat 5]

Trains 60 rounds on 20,000 x 30 values with the command-line program: alone, and beside one busy process for each core. Beside them every core has two
processes to serve, so that the ideal time is twice the time alone. The goal is at most 1.5 times the ideal, also with twice as many threads as cores. Several
programs (builds) take turns; the best time of each counts. Wall-clock time and CPU time are those of the whole process, with reading the table.
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROWS, COLUMNS, ROUNDS, GOAL = 20_000, 30, 60, 1.5


def make_table(path):
    """Random numbers with a target of two classes."""
    draw = random.Random(0)
    with open(path, "w") as file:
        file.write(",".join([f"x{j}" for j in range(COLUMNS)] + ["y"]) + "\n")
        for _ in range(ROWS):
            x = [draw.gauss(0, 1) for _ in range(COLUMNS)]
            y = sum(x[:5]) + x[0] * x[1] + draw.gauss(0, 1) > 0
            file.write(",".join([f"{v:.5g}" for v in x] + ["yes" if y else "no"]) + "\n")


def train(program, table, threads, folder):
    """Wall-clock and CPU seconds of one run."""
    command = [program, "train", table, "--target", "y", "--learner", "gradient-boosting", "--set", f"n_estimators={ROUNDS}", "--threads", str(threads),
               "-o", folder / "model.ermine", "-q"]
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(child.stderr.read().decode())
    child.returncode = 0
    child.stderr.close()
    return seconds, usage.ru_utime + usage.ru_stime


def best(programs, table, threads, folder, repeat):
    """The best times of each program, which take turns."""
    turns = [[train(program, table, threads, folder) for program in programs] for _ in range(repeat)]
    return [tuple(min(turn[i][k] for turn in turns) for k in (0, 1)) for i in range(len(programs))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores; seconds of wall-clock time (and CPU time)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = folder / "table.csv"
        make_table(table)
        alone = {t: best(args.programs, table, t, folder, args.repeat) for t in (1, cores)}
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
        try:
            beside = {t: best(args.programs, table, t, folder, args.repeat) for t in (1, cores, 2 * cores)}
        finally:
            for process in busy:
                process.kill()
                process.wait()
    for i, program in enumerate(args.programs):
        print(program)
        for threads, times in alone.items():
            print(f"  {threads} threads, alone:      {times[i][0]:7.2f} s ({times[i][1]:.2f} s)")
        for threads, times in beside.items():
            ratio = times[i][0] / (2 * alone[min(threads, cores)][i][0])
            verdict = "reached" if ratio <= GOAL else "NOT REACHED"
            print(f"  {threads} threads, busy cores: {times[i][0]:7.2f} s ({times[i][1]:.2f} s), {ratio:.2f} of the ideal; goal {GOAL} {verdict}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Kills running programs at random moments and looks for lost, damaged and left-over files.

Four processes at once train, tune, predict, report and export into one directory, all to the same few files. Each is killed (SIGKILL) after a random part of the time it takes, every second one as
soon as it has begun to write. After every kill, every output file must be whole: the old one or a new one. At the end the same commands run without being killed, and nothing but their files may be left.

    tools/kill_test.py [--ermine target/release/ermine] [--kills 100] [--seed 1]
"""

import argparse
import gzip
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "examples/data/penguins.csv"
PROCESSES = 4
#: A search locks its journal; a second one with the same output is refused.
BUSY = b"another search is using this journal"


class Place:
    """A directory of outputs, and the commands that write them."""

    def __init__(self, ermine: Path, folder: Path) -> None:
        self.ermine, self.folder = ermine, folder
        table, model = str(TABLE), str(folder / "model.ermine")
        base = str(folder / "base.ermine")
        forest = ["--learner", "random-forest", "--n-estimators", "60"]
        self.commands = {
            "train": ["train", table, "-t", "species", *forest, "-o", model],
            "tune": ["tune", table, "-t", "species", "--learner", "decision-tree", "--trials", "12", "-o", model],
            "predict": ["predict", base, table, "-o", str(folder / "out.csv")],
            "predict, packed": ["predict", base, table, "-o", str(folder / "out.csv.gz")],
            "report": ["report", base, table, "-o", str(folder / "report.html")],
            "export": ["export", base, "-o", str(folder / "model.json")],
        }
        self.run(["train", table, "-t", "species", *forest, "-o", base])
        self.seconds = {}
        for name, words in self.commands.items():
            start = time.monotonic()
            self.run(words)
            self.seconds[name] = time.monotonic() - start
        self.rows = len((folder / "out.csv").read_text().splitlines())

    def start(self, words: list[str]) -> subprocess.Popen:
        return subprocess.Popen([self.ermine, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def run(self, words: list[str]) -> None:
        done = subprocess.run([self.ermine, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"ermine {' '.join(words)}: {done.stderr}")

    def outputs(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if not path.name.endswith(".ermine-part"))

    def leftovers(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name.endswith(".ermine-part"))

    def is_writing(self, process: subprocess.Popen) -> bool:
        """Whether a process holds a partial file open."""
        try:
            files = [link.readlink().name for link in Path(f"/proc/{process.pid}/fd").iterdir()]
        except OSError:
            return False
        return any(name.endswith(".ermine-part") for name in files)

    def damage(self) -> list[str]:
        """What is wrong with the output files."""
        wrong = []
        for name in ("base.ermine", "model.ermine"):
            shown = subprocess.run([self.ermine, "show", self.folder / name, "--json"], capture_output=True, text=True)
            if shown.returncode != 0:
                wrong.append(f"{name}: {shown.stderr.strip()}")
        texts = {"out.csv": (self.folder / "out.csv").read_text()}
        try:
            texts["out.csv.gz"] = gzip.decompress((self.folder / "out.csv.gz").read_bytes()).decode()
        except (OSError, EOFError) as error:
            wrong.append(f"out.csv.gz: {error}")
        wrong += [f"{name}: {len(text.splitlines())} rows" for name, text in texts.items() if len(text.splitlines()) != self.rows]
        if not (self.folder / "report.html").read_text().rstrip().endswith("</html>"):
            wrong.append("report.html: is cut short")
        try:
            json.loads((self.folder / "model.json").read_text())
        except ValueError as error:
            wrong.append(f"model.json: {error}")
        return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ermine", type=Path, default=ROOT / "target/release/ermine")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lock, problems, counts = threading.Lock(), [], {"kills": 0, "while writing": 0, "finished": 0, "busy": 0}

    with tempfile.TemporaryDirectory(prefix="ermine-kills-") as folder:
        place = Place(args.ermine.resolve(), Path(folder))
        expected = place.outputs()

        def work(number: int) -> None:
            rng = random.Random(args.seed * 1000 + number)
            while counts["kills"] < args.kills:
                name = rng.choice(list(place.commands))
                process = place.start(place.commands[name])
                writing = False
                # Processes disturb each other, so they take longer than they took alone.
                end = time.monotonic() + rng.uniform(0, 1.5 * PROCESSES * place.seconds[name])
                if rng.random() < 0.5:
                    while process.poll() is None and not writing:
                        writing = place.is_writing(process)
                else:
                    while process.poll() is None and time.monotonic() < end:
                        time.sleep(0.001)
                process.kill()
                _, errors = process.communicate()
                with lock:
                    if process.returncode == -signal.SIGKILL:
                        counts["kills"] += 1
                        counts["while writing"] += writing
                        problems.extend(f"after killing {name}: {what}" for what in place.damage())
                        continue
                    counts["finished"] += 1
                    if BUSY in errors:
                        counts["busy"] += 1
                    elif process.returncode != 0:
                        problems.append(f"{name}: exit code {process.returncode}: {errors.decode().strip()}")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(PROCESSES)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        left = len(place.leftovers())
        for words in place.commands.values():
            place.run(words)
        problems += place.damage()
        if place.outputs() != expected or place.leftovers():
            problems.append(f"files are {place.outputs()} and {place.leftovers()} instead of {expected}")

    print(f"{counts['kills']} kills ({counts['while writing']} while writing), {counts['finished']} runs that finished first, {left} partial files swept, {counts['busy']} searches refused beside another one, {len(problems)} problems")
    print("\n".join(problems[:20]), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

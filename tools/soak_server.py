#!/usr/bin/env python3
"""Mixed valid, invalid, slow and aborted requests to `ermine serve` on loopback, while its models are replaced by good and damaged files.

    tools/soak_server.py [--seconds 600] [--program target/release/ermine]

The server has a short queue, and now and then many clients at once send more than it can do: some of them must get 503 with Retry-After, and afterwards all must go on as before.

Fails if the server ends, answers with a status of 500 or above other than 503, sends 503 without Retry-After, is never overloaded, answers a good request wrongly, doesn't take a new model, leaves
connections or requests open, or grows: its memory at the end may exceed that after the first fifth of the time by 10 % and 8 MB.
"""

import argparse
import http.client
import json
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = 4
# So many clients at once are more than the workers and their queue can take.
CROWD = 24
CROWD_PAUSE = 5.0
MAX_QUEUE = 4


class Client(threading.Thread):
    """Sends requests of all kinds until the time is over."""

    def __init__(self, address, end, seed):
        super().__init__(daemon=True)
        self.address, self.end, self.random = address, end, random.Random(seed)
        self.statuses, self.faults = Counter(), []

    def run(self):
        kinds = [self.good, self.good, self.good, self.csv, self.tensor, self.bad, self.bad, self.slow, self.aborted, self.huge, self.explain]
        while time.monotonic() < self.end and len(self.faults) < 10:
            kind = self.random.choice(kinds)
            try:
                kind()
            except OSError as error:
                self.statuses[f"{kind.__name__}: {type(error).__name__}"] += 1
            except http.client.HTTPException as error:
                self.statuses[f"{kind.__name__}: {type(error).__name__}"] += 1

    def send(self, path, body, content="application/json", method="POST"):
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        try:
            connection.request(method, path, body, {"content-type": content})
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        self.statuses[response.status] += 1
        if response.status >= 500 and response.status != 503:
            self.faults.append(f"{path}: {response.status} {answer[:200]}")
        if response.status == 503 and not response.getheader("retry-after"):
            self.faults.append(f"{path}: 503 without Retry-After: {answer[:200]}")
        return response.status, answer

    def row(self):
        return {"bill_length_mm": self.random.uniform(30, 60), "island": self.random.choice(["Biscoe", "Dream", "Torgersen", None])}

    def good(self):
        n = self.random.choice([1, 1, 1, 20, 500])
        status, answer = self.send("/models/penguins/predict?probabilities=true", json.dumps({"rows": [self.row() for _ in range(n)]}))
        if status == 200:
            answer = json.loads(answer)
            if len(answer["predictions"]) != n or any(abs(sum(row.values()) - 1) > 1e-9 for row in answer["probabilities"]):
                self.faults.append(f"wrong answer to {n} rows")
        elif status != 503:
            self.faults.append(f"a good request got {status}: {answer[:200]}")

    def explain(self):
        self.send("/v1/models/penguins:explain", json.dumps({"instances": [self.row() for _ in range(20)]}))

    def csv(self):
        n = self.random.choice([3, 20_000])
        body = "bill_length_mm,island\n" + "".join(f"{self.random.uniform(30, 60):.2f},Dream\n" for _ in range(n))
        status, answer = self.send("/models/penguins/predict", body, "text/csv")
        if status == 200 and answer.count(b"\n") != n + 1:
            self.faults.append(f"{answer.count(10)} lines for {n} rows")

    def tensor(self):
        data = {"name": "bill_length_mm", "shape": [5, 1], "datatype": "FP64", "data": [40, 41, 42, 43, 44]}
        self.send("/v2/models/penguins/infer", json.dumps({"inputs": [data]}))

    def bad(self):
        path = self.random.choice(["/models/penguins/predict", "/models/other/predict", "/v2/models/penguins/infer", "/v1/models/penguins:predict", "/nothing"])
        body = json.dumps({"rows": [self.row()]}).encode()
        body = bytearray(body)
        for _ in range(self.random.randint(1, 5)):
            body[self.random.randrange(len(body))] = self.random.randrange(256)
        content = self.random.choice(["application/json", "text/csv", "application/vnd.apache.arrow.stream", "x/y"])
        self.send(path, bytes(body), content, self.random.choice(["POST", "POST", "PUT", "GET"]))

    def head(self, length):
        connection = socket.create_connection(self.address, timeout=10)
        connection.sendall(f"POST /models/penguins/predict HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode())
        return connection

    def slow(self):
        body = json.dumps({"rows": [self.row()]}).encode()
        with self.head(len(body)) as connection:
            for byte in body[:20]:
                connection.sendall(bytes([byte]))
                time.sleep(0.005)
            connection.sendall(body[20:])
            connection.recv(1000)
        self.statuses["slow"] += 1

    def aborted(self):
        with self.head(10_000) as connection:
            connection.sendall(b'{"rows": [{"bill_len')
        self.statuses["aborted"] += 1

    def huge(self):
        with self.head(10**12) as connection:
            connection.recv(1000)
        self.statuses["huge"] += 1


class Member(Client):
    """One of a crowd that sends expensive requests all at once."""

    def run(self):
        try:
            self.send("/v1/models/penguins:explain", json.dumps({"instances": [self.row() for _ in range(2000)]}))
        except (OSError, http.client.HTTPException) as error:
            self.faults.append(f"crowd: {type(error).__name__} {error}")


def crowd(address, number):
    """Statuses and faults of many expensive requests at once."""
    members = [Member(address, 0, number * CROWD + i) for i in range(CROWD)]
    for member in members:
        member.start()
    for member in members:
        member.join(timeout=120)
    return sum((member.statuses for member in members), Counter()), [fault for member in members for fault in member.faults]


def metric(address, name):
    """A counter of the server, summed over its labels."""
    with urllib.request.urlopen(f"http://{address[0]}:{address[1]}/metrics", timeout=30) as response:
        text = response.read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(rf"{name}[{{ ]", line))


def resident(pid):
    """Memory of a process in kilobytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def still_open(address):
    """Connections and requests that are still open, other than the one that looks."""
    for _ in range(100):
        left = {name: metric(address, f"ermine_{name}") for name in ("connections", "in_flight", "queue")}
        if left == {"connections": 1, "in_flight": 1, "queue": 0}:
            return []
        time.sleep(0.1)
    return [f"still open at the end: {left}"]


def replace_models(folder, models, end):
    """Replaces the served file by one of several good ones, and now and then by a damaged one."""
    number = 0
    while time.monotonic() < end:
        number += 1
        new = folder / ".new"
        if number % 5 == 0:
            new.write_bytes(models[0].read_bytes()[:-7])
        else:
            shutil.copy(models[number % len(models)], new)
        new.replace(folder / "penguins.ermine")
        time.sleep(0.7)
    return number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/ermine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, models = Path(scratch) / "served", []
        folder.mkdir()
        for trees in (10, 50):
            models.append(Path(scratch) / f"{trees}.ermine")
            train = [options.program, "train", ROOT / "examples/data/penguins.csv", "--target", "species", "--learner", "gradient-boosting"]
            subprocess.run([*train, "--n-estimators", str(trees), "-o", models[-1], "--quiet"], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(models[0], folder / "penguins.ermine")
        server = subprocess.Popen([options.program, "serve", folder, "--port", "0", "--max-queue", str(MAX_QUEUE)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = None
        for line in server.stderr:
            if found := re.search(r'"address":"http://([0-9.]+):(\d+)"', line):
                address = (found.group(1), int(found.group(2)))
                break
        threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
        start = time.monotonic()
        end = start + options.seconds
        clients = [Client(address, end, seed) for seed in range(THREADS)]
        for client in clients:
            client.start()
        changes = []
        replacer = threading.Thread(target=lambda: changes.append(replace_models(folder, models, end)), daemon=True)
        replacer.start()
        sizes, crowds, faults, next_crowd, next_look = [], Counter(), [], start + 1, start
        while time.monotonic() < end and server.poll() is None:
            if time.monotonic() >= next_crowd:
                statuses, new_faults = crowd(address, len(sizes))
                crowds += statuses
                faults += new_faults
                next_crowd = time.monotonic() + CROWD_PAUSE
            if time.monotonic() >= next_look:
                sizes.append(resident(server.pid))
                next_look += min(5.0, options.seconds / 20)
            time.sleep(0.1)
        for thread in [*clients, replacer]:
            thread.join(timeout=120)
        faults += [fault for client in clients for fault in client.faults]
        if server.poll() is not None:
            faults.append(f"the server ended with {server.returncode}")
        else:
            faults += still_open(address)
            for name in ("ermine_model_loads_total", "ermine_model_load_failures_total"):
                if not metric(address, name) > 1:
                    faults.append(f"{name} is {metric(address, name)}: model files were replaced all the time")
        if not crowds[503]:
            faults.append("the server was never overloaded")
        server.terminate()
        code = server.wait(timeout=60)
        if code != 0:
            faults.append(f"after SIGTERM the server ended with {code}")
        statuses = sum((client.statuses for client in clients), Counter())
        fifths = [max(sizes[len(sizes) * i // 5 : len(sizes) * (i + 1) // 5] or sizes) for i in range(5)]
        early, late = fifths[0], fifths[-1]
        if late > early * 1.1 + 8192:
            faults.append(f"memory grew from {early} to {late} kB")
        print(f"crowds of {CROWD}: " + ", ".join(f"{status}: {count}" for status, count in sorted(crowds.items())))
        print(f"{sum(statuses.values())} requests in {options.seconds:.0f} s, model files replaced {sum(changes)} times, most memory in each fifth of the time {fifths} kB")
        print(", ".join(f"{status}: {count}" for status, count in sorted(statuses.items(), key=str)))
        for fault in faults:
            print(f"FAULT {fault}")
        return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

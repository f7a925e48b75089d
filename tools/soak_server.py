#!/usr/bin/env python3
"""Mixed valid, invalid, slow and aborted requests to `ermine serve` on loopback, while its models are replaced by good and damaged files.

    tools/soak_server.py [--seconds 600] [--program target/release/ermine]

Fails if the server ends, answers with a status of 500 or above other than 503, answers a good request wrongly, or grows: its memory at the end may exceed that
after the first fifth of the time by 10 % and 8 MB.
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
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = 4


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


def resident(pid):
    """Memory of a process in kilobytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


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
        server = subprocess.Popen([options.program, "serve", folder, "--port", "0", "--max-queue", "4"], stderr=subprocess.PIPE, text=True)
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
        threading.Thread(target=lambda: changes.append(replace_models(folder, models, end)), daemon=True).start()
        sizes = []
        while time.monotonic() < end and server.poll() is None:
            time.sleep(min(5.0, options.seconds / 20))
            if server.poll() is None:
                sizes.append(resident(server.pid))
        for client in clients:
            client.join(timeout=120)
        faults = [fault for client in clients for fault in client.faults]
        if server.poll() is not None:
            faults.append(f"the server ended with {server.returncode}")
        server.terminate()
        code = server.wait(timeout=60)
        if code != 0:
            faults.append(f"after SIGTERM the server ended with {code}")
        statuses = sum((client.statuses for client in clients), Counter())
        early, late = max(sizes[: len(sizes) // 5 + 1]), max(sizes[-len(sizes) // 5 :])
        if late > early * 1.1 + 8192:
            faults.append(f"memory grew from {early} to {late} kB")
        print(f"{sum(statuses.values())} requests in {options.seconds:.0f} s, model files replaced {sum(changes)} times, memory {early} kB early, {late} kB late")
        print(", ".join(f"{status}: {count}" for status, count in sorted(statuses.items(), key=str)))
        for fault in faults:
            print(f"FAULT {fault}")
        return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

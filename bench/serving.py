"""Requests for one row over loopback: `ermine serve` beside FastAPI with LightGBM and uvicorn.

    python bench/serving.py [--seconds 10] [--connections 16] [--program target/release/ermine]

A boosting model of 200 trees (20,000 rows, 10 columns, two classes) answers requests of one row as JSON. `wrk` (one thread) and the server share the cores of the machine. The peer is served by one and by two uvicorn workers, and the better
of both counts. Contenders take turns, each ROUNDS times; the best round of each counts. A third part sends 500,000 rows of CSV and takes the peak memory of the server; a fourth compares nearest neighbors with and without requests predicted together.
Printed, and appended to bench/record/serving.jsonl. Needs wrk, fastapi, uvicorn[standard], lightgbm, numpy.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TREES, ROWS, COLUMNS, ROUNDS = 200, 20_000, 10, 2
PEER = '''
import lightgbm, numpy
from fastapi import FastAPI
from pydantic import BaseModel

class Request(BaseModel):
    rows: list[dict[str, float]]

app = FastAPI()
model = lightgbm.Booster(model_file="peer.txt")
names = model.feature_name()
classes = ["no", "yes"]

@app.post("/predict")
async def predict(request: Request):
    rows = numpy.array([[row[name] for name in names] for row in request.rows])
    return {"predictions": [classes[int(p > 0.5)] for p in model.predict(rows, num_threads=1)]}
'''


def data(folder):
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS)).round(4)
    y = (x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3:6].sum(axis=1) * 0.3 + rng.normal(size=ROWS) * 0.5 > 0).astype(int)
    names = [f"x{j}" for j in range(COLUMNS)]
    with open(folder / "train.csv", "w") as file:
        file.write(",".join([*names, "y"]) + "\n")
        for row, label in zip(x, y, strict=True):
            file.write(",".join(map(str, row)) + f",{['no', 'yes'][label]}\n")
    with open(folder / "long.csv", "w") as file:
        file.write(",".join(names) + "\n")
        lines = [",".join(map(str, row)) + "\n" for row in x]
        for _ in range(500_000 // ROWS):
            file.writelines(lines)
    return x, y, names


def wait_for(url, process):
    for _ in range(600):
        try:
            return urllib.request.urlopen(url, timeout=1).read()
        except OSError:
            if process.poll() is not None:
                sys.exit(f"the server ended with {process.returncode}")
            time.sleep(0.05)
    sys.exit(f"nothing answers at {url}")


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)


def load(url, body, seconds, connections, folder):
    """Requests per second, latencies in milliseconds and answers that were not 200."""
    script = folder / "post.lua"
    script.write_text(f"wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = [==[{body}]==]\n")
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script, url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    unit = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    quantile = lambda level: next(float(n) * unit[u] for n, u in re.findall(rf"{level}%\s+([\d.]+)(us|ms|s)\b", text))  # noqa: E731
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
    return {"requests per second": round(rate), "p50 ms": round(quantile(50), 3), "p99 ms": round(quantile(99), 3), "failed": int(failed.group(1)) if failed else 0}


def serve_ermine(program, model, port, *more):
    command = [program, "serve", model, "--port", str(port), *more]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def serve_peer(folder, port, workers):
    command = [sys.executable, "-m", "uvicorn", "peer:app", "--port", str(port), "--log-level", "critical", "--no-access-log", "--workers", str(workers)]
    return subprocess.Popen(command, cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def peak(pid, what):
    return int(re.search(rf"{what}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def stream(program, folder):
    """500,000 rows of CSV: seconds, and the memory of the server before and at its peak."""
    process = serve_ermine(program, folder / "model.ermine", 18_083)
    wait_for("http://127.0.0.1:18083/v2/health/ready", process)
    url = "http://127.0.0.1:18083/models/model/predict"
    before, start = peak(process.pid, "VmRSS"), time.perf_counter()
    command = ["curl", "-sS", "--fail", url, "-H", "Content-Type: text/csv", "-H", "Expect:", "-T", folder / "long.csv", "-X", "POST", "-o", folder / "answer.csv"]
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    row = {"rows": sum(1 for _ in open(folder / "answer.csv")) - 1, "seconds": round(seconds, 2), "MB before": round(before / 1e3), "MB peak": round(peak(process.pid, "VmHWM") / 1e3)}
    stop(process)
    return row


def best(results):
    return max(results, key=lambda result: result["requests per second"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--program", type=pathlib.Path, default=HERE.parent / "target/release/ermine")
    options = parser.parse_args()
    program = options.program.resolve()
    import lightgbm

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        x, y, names = data(folder)
        train = [program, "train", folder / "train.csv", "--target", "y", "--quiet"]
        subprocess.run([*train, "--learner", "gradient-boosting", "--n-estimators", str(TREES), "-o", folder / "model.ermine"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*train, "--learner", "nearest-neighbors", "-o", folder / "neighbors.ermine"], check=True, stdout=subprocess.DEVNULL)
        lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(x, y, feature_name=names), TREES).save_model(folder / "peer.txt")
        (folder / "peer.py").write_text(PEER)
        body = json.dumps({"rows": [dict(zip(names, x[0].tolist(), strict=True))]})
        run = lambda url, model_body=body: load(url, model_body, options.seconds, options.connections, folder)  # noqa: E731
        ours, peers = [], []
        for _ in range(ROUNDS):
            process = serve_ermine(program, folder / "model.ermine", 18_081)
            wait_for("http://127.0.0.1:18081/v2/health/ready", process)
            ours.append(run("http://127.0.0.1:18081/models/model/predict"))
            stop(process)
            for workers in (1, 2):
                process = serve_peer(folder, 18_082, workers)
                wait_for("http://127.0.0.1:18082/openapi.json", process)
                peers.append({**run("http://127.0.0.1:18082/predict"), "workers": workers})
                stop(process)
        together = {}
        for name, flags in (("together", ()), ("alone", ("--no-batching",))):
            process = serve_ermine(program, folder / "neighbors.ermine", 18_084, *flags)
            wait_for("http://127.0.0.1:18084/v2/health/ready", process)
            together[name] = run("http://127.0.0.1:18084/models/neighbors/predict")
            stop(process)
        row = {
            "time": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "connections": options.connections,
            "seconds": options.seconds,
            "ermine": best(ours),
            "fastapi + lightgbm": best(peers),
            "ratio": round(best(ours)["requests per second"] / best(peers)["requests per second"], 1),
            "csv": stream(program, folder),
            "nearest neighbors": together,
        }
    print(json.dumps(row, indent=2))
    with open(HERE / "record" / "serving.jsonl", "a") as record:
        record.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()

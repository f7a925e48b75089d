"""`ermine serve` with clients that nobody here wrote: tritonclient, which Triton's users have, and curl as in the guide."""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]


def program():
    """The `ermine` program: named by ERMINE_PROGRAM, or the newest that cargo built."""
    if named := os.environ.get("ERMINE_PROGRAM"):
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for profile in ("release", "debug") if (path := target / profile / "ermine").is_file()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server on loopback with a model of the penguins: its address, the model and some rows."""
    path = program()
    if path is None:
        pytest.skip("needs the `ermine` program: `make test-python` builds it")
    folder = tmp_path_factory.mktemp("models")
    data = ROOT / "examples/data/penguins.csv"
    train = [path, "train", data, "--target", "species", "--learner", "gradient-boosting", "--n-estimators", "20", "-o", folder / "penguins.ermine", "--quiet"]
    subprocess.run(train, check=True, capture_output=True)
    process = subprocess.Popen([path, "serve", folder, "--port", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        address = None
        for line in process.stderr:
            if found := re.search(r'"address":"http://([0-9.:]+)"', line):
                address = found.group(1)
                break
        assert address, "the server did not start"
        predicted = subprocess.run([path, "predict", folder / "penguins.ermine", data, "--proba", "--quiet"], check=True, capture_output=True, text=True).stdout
        yield address, predicted.splitlines()
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0


def penguins(n):
    """The first rows, column by column."""
    import csv

    with open(ROOT / "examples/data/penguins.csv") as file:
        rows = list(csv.DictReader(file))[:n]
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("compression", [None, "gzip", "deflate"])
def test_tritonclient_infers(server, binary, compression):
    http = pytest.importorskip("tritonclient.http", reason="needs tritonclient[http]")
    address, predicted = server
    with http.InferenceServerClient(address) as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("penguins")
        metadata = client.get_model_metadata("penguins")
        assert metadata["versions"] == ["1"] and client.get_server_metadata()["name"] == "ermine"
        assert [model["name"] for model in client.get_model_repository_index()] == ["penguins"]
        n, columns, inputs = 10, penguins(10), []
        for column in metadata["inputs"]:
            if column["datatype"] == "FP64":
                values = np.array([[float(cell) if cell not in ("", "NA") else np.nan] for cell in columns[column["name"]]])
                # JSON has no NaN.
                if not binary:
                    values = np.nan_to_num(values, nan=40.0)
            else:
                values = np.array([[cell.encode()] for cell in columns[column["name"]]], dtype=object)
            tensor = http.InferInput(column["name"], [n, 1], column["datatype"])
            tensor.set_data_from_numpy(values, binary_data=binary)
            inputs.append(tensor)
        outputs = [http.InferRequestedOutput(name, binary_data=binary) for name in ("predict", "predict_proba")]
        result = client.infer("penguins", inputs, outputs=outputs, request_id="7", request_compression_algorithm=compression)
        labels, probabilities = result.as_numpy("predict"), result.as_numpy("predict_proba")
        assert labels.shape == (n, 1) and probabilities.shape == (n, 3)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        if binary:
            expected = [line.split(",") for line in predicted[1 : n + 1]]
            assert [label.decode() for label in labels[:, 0]] == [row[0] for row in expected]
            np.testing.assert_array_equal(probabilities, [[float(cell) for cell in row[1:]] for row in expected])
        # Without a list of outputs, and for a version.
        assert client.infer("penguins", inputs, model_version="1").as_numpy("predict_proba") is not None


def test_tritonclient_gets_errors(server):
    http = pytest.importorskip("tritonclient.http", reason="needs tritonclient[http]")
    from tritonclient.utils import InferenceServerException

    with http.InferenceServerClient(server[0]) as client:
        tensor = http.InferInput("nothing", [1, 1], "FP64")
        tensor.set_data_from_numpy(np.zeros((1, 1)))
        with pytest.raises(InferenceServerException, match="columns"):
            client.infer("penguins", [tensor])
        with pytest.raises(InferenceServerException, match="no model named 'pinguins': did you mean 'penguins'"):
            client.infer("pinguins", [tensor])


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_the_commands_of_the_guide_work(server):
    text = (ROOT / "docs/guide/serving.md").read_text()
    commands = re.findall(r"^curl .*?(?<!\\)$", text, flags=re.M | re.S)
    assert len(commands) >= 5
    for command in commands:
        command = command.replace("localhost:8080", server[0])
        done = subprocess.run(["bash", "-c", command + " --fail-with-body --silent --show-error"], cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert done.stdout


def test_the_client_of_the_standard_library_works(server):
    request = urllib.request.Request(f"http://{server[0]}/models/penguins/predict", b'{"rows": [{"island": "Biscoe"}]}', {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    assert len(answer["predictions"]) == 1 and answer["warnings"]

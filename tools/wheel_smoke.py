#!/usr/bin/env python3
"""Checks a wheel: its size and contents, and that it works in a clean virtual environment.

    python tools/wheel_smoke.py target/wheels/ermine_learn-*.whl
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

MAX_MEGABYTES = 10

PROGRAM = """
import sys
from importlib.metadata import metadata, version

import numpy as np

import ermine
from ermine.ensemble import GradientBoostingClassifier, RandomForestRegressor
from ermine.linear_model import LogisticRegression
from ermine.svm import SVC

assert version("ermine-learn") == ermine.__version__, version("ermine-learn")
assert metadata("ermine-learn")["License-Expression"] == "MIT OR Apache-2.0"
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4))
y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
for model in (LogisticRegression(), SVC(), GradientBoostingClassifier(n_estimators=50, random_state=0)):
    model.fit(X[:300], y[:300])
    score = model.score(X[300:], y[300:])
    print(f"{type(model).__name__:28} accuracy {score:.3f}")
    assert score > 0.85
model = RandomForestRegressor(50, random_state=0).fit(X[:300], X[:300, 0] ** 2)
model.save("model.ermine")
assert np.array_equal(ermine.load("model.ermine").predict(X), model.predict(X))
print(f"{type(model).__name__:28} R2       {model.score(X[300:], X[300:, 0] ** 2):.3f}, saved and loaded")
assert "sklearn" not in sys.modules and "pandas" not in sys.modules
"""


def check_contents(wheel: Path) -> None:
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.2f} MB")
    assert size < MAX_MEGABYTES, f"the wheel must be smaller than {MAX_MEGABYTES} MB"
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("ermine/__init__.py", "ermine/py.typed", "ermine/_ermine.pyi", "licenses/LICENSE-MIT", "licenses/LICENSE-APACHE"):
        assert any(name.endswith(wanted) for name in names), f"{wanted} is missing"
    foreign = [name for name in names if not name.startswith(("ermine/", "ermine_learn-")) or "__pycache__" in name]
    assert not foreign, f"unexpected files: {foreign}"


def run(*command: str | Path, cwd: str) -> None:
    subprocess.run([str(word) for word in command], check=True, cwd=cwd)


def main(path: str) -> None:
    wheel = Path(path).resolve()
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "venv", with_pip=True)
        python = Path(folder) / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
        run(python, "-c", PROGRAM, cwd=folder)
    print("the wheel works")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

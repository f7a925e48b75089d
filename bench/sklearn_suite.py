#!/usr/bin/env python3
"""scikit-learn's own test suite, run against Ermine's classes.

    python bench/sklearn_suite.py                 all modules
    python bench/sklearn_suite.py svm multiclass  some of them
    python bench/sklearn_suite.py svm -v          and the last line of every failure that has no reason yet

The public classes of ``sklearn.tree`` and so on are replaced by Ermine's classes of the same name before scikit-learn's test modules are imported.
Only the tests that scikit-learn itself passes count. Each failure needs a reason in
``bench/sklearn_suite_reasons.toml``, which is reviewed by hand. Exit code 1 if less than 85 % pass or a failure has no reason.

This file is also the pytest plugin that replaces the classes.
"""

import argparse
import fnmatch
import importlib
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
REASONS = HERE / "sklearn_suite_reasons.toml"
RESULTS = HERE.parent / "target" / "sklearn_suite"
GOAL = 0.85
TIME_LIMIT = 30

#: The test modules of scikit-learn by a short name.
MODULES = {
    "tree": "tree/tests/test_tree.py",
    "tree_export": "tree/tests/test_export.py",
    "monotonic": "tree/tests/test_monotonic_tree.py",
    "forest": "ensemble/tests/test_forest.py",
    "bagging": "ensemble/tests/test_bagging.py",
    "adaboost": "ensemble/tests/test_weight_boosting.py",
    "gradient_boosting": "ensemble/tests/test_gradient_boosting.py",
    "linear_base": "linear_model/tests/test_base.py",
    "ridge": "linear_model/tests/test_ridge.py",
    "coordinate_descent": "linear_model/tests/test_coordinate_descent.py",
    "logistic": "linear_model/tests/test_logistic.py",
    "huber": "linear_model/tests/test_huber.py",
    "quantile": "linear_model/tests/test_quantile.py",
    "perceptron": "linear_model/tests/test_perceptron.py",
    "sgd": "linear_model/tests/test_sgd.py",
    "svm": "svm/tests/test_svm.py",
    "svm_sparse": "svm/tests/test_sparse.py",
    "neighbors": "neighbors/tests/test_neighbors.py",
    "multiclass": "tests/test_multiclass.py",
    "multioutput": "tests/test_multioutput.py",
    "calibration": "tests/test_calibration.py",
    "dummy": "tests/test_dummy.py",
}


# The plugin


def replace_classes() -> list[str]:
    """Puts Ermine's classes in the place of scikit-learn's in its public modules."""
    from ermine import _fallback
    from ermine._catalog import MODULES as OURS

    replaced, originals = [], {}
    for module in OURS:
        if module in ("metrics", "model_selection", "ranking"):
            continue
        theirs, ours = importlib.import_module(f"sklearn.{module}"), importlib.import_module(f"ermine.{module}")
        for name in ours.__all__:
            if name in getattr(theirs, "__all__", ()) or isinstance(getattr(theirs, name, None), type):
                if isinstance(getattr(ours, name), type):
                    originals[module, name] = getattr(theirs, name)
                    setattr(theirs, name, getattr(ours, name))
                    replaced.append(f"{module}.{name}")
    # What is left to scikit-learn is left to its own classes.
    _fallback.sklearn_class = lambda module, name: originals[module, name]
    return replaced


class _TooLong(Exception):
    """A test took too long."""


def pytest_configure(config):
    if os.environ.get("SKLEARN_SUITE_SWAP") == "1":
        replace_classes()


def _alarm(*_):
    raise _TooLong(f"longer than {TIME_LIMIT} s")


def pytest_runtest_setup(item):
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(TIME_LIMIT)


def pytest_runtest_teardown(item):
    signal.alarm(0)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        name = report.nodeid.split("::", 1)[1]
        message = ""
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            message = f"{crash.path.rsplit('/', 1)[-1]}:{crash.lineno}: {crash.message}" if crash is not None else str(report.longrepr)[-400:]
        with open(os.environ["SKLEARN_SUITE_RESULT"], "a") as file:
            file.write(json.dumps([name, report.outcome, message]) + "\n")


# The command


def run(module: str, swap: bool) -> dict[str, tuple[str, str]]:
    """The outcome and the message of each test of a module."""
    import sklearn

    RESULTS.mkdir(parents=True, exist_ok=True)
    result = RESULTS / f"{module}-{'ermine' if swap else f'sklearn-{sklearn.__version__}'}.jsonl"
    if swap or not result.exists():
        unfinished = result.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        unfinished.touch()
        environment = os.environ | {
            "SKLEARN_SUITE_SWAP": str(int(swap)), "SKLEARN_SUITE_RESULT": str(unfinished), "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        }
        path = Path(sklearn.__file__).parent / MODULES[module]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "sklearn_suite", "-p", "no:cacheprovider", "--no-header", "--disable-warnings", "-c", os.devnull, "--rootdir", str(path.parent), str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=RESULTS)
        unfinished.rename(result)
        if done.returncode not in (0, 1):
            print(f"{module}: pytest ended with code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return {name: (outcome, message) for name, outcome, message in map(json.loads, result.read_text().splitlines())}


def reason(reasons: dict[str, dict[str, str]], module: str, test: str) -> str | None:
    """The reviewed reason for a failure."""
    # Parameters stand in brackets, which are no character classes here.
    return next((why for pattern, why in reasons.get(module, {}).items() if fnmatch.fnmatchcase(test, pattern.replace("[", "[[]"))), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", choices=[*MODULES, []], help="short names of test modules; all by default")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the failures without a reason")
    parser.add_argument("--reuse", action="store_true", help="report the results of the last run")
    options = parser.parse_args()
    reasons = tomllib.loads(REASONS.read_text()) if REASONS.exists() else {}
    total, passed, open_failures = 0, 0, []
    print(f"{'module':<20}{'passed':>8}{'of':>6}{'share':>8}{'with reason':>13}{'open':>6}")
    for module in options.modules or MODULES:
        theirs = run(module, swap=False)
        last = RESULTS / f"{module}-ermine.jsonl"
        ours = {name: (outcome, message) for name, outcome, message in map(json.loads, last.read_text().splitlines())} if options.reuse and last.exists() else run(module, swap=True)
        counted = [name for name, (outcome, _) in theirs.items() if outcome == "passed"]
        good = [name for name in counted if ours.get(name, ("missing", ""))[0] in ("passed", "skipped")]
        bad = [name for name in counted if name not in set(good)]
        unexplained = [name for name in bad if reason(reasons, module, name) is None]
        total, passed = total + len(counted), passed + len(good)
        open_failures += [(module, name, ours.get(name, ("missing", "not collected"))[1]) for name in unexplained]
        print(f"{module:<20}{len(good):>8}{len(counted):>6}{len(good) / max(len(counted), 1):>8.1%}{len(bad) - len(unexplained):>13}{len(unexplained):>6}", flush=True)
    print(f"{'all':<20}{passed:>8}{total:>6}{passed / max(total, 1):>8.1%}{'':>13}{len(open_failures):>6}")
    if options.verbose:
        for module, name, message in open_failures:
            print(f"{module} {name}: {' '.join(message.split())[:300]}")
    return int(bool(open_failures) or passed < GOAL * total)


if __name__ == "__main__":
    sys.exit(main())

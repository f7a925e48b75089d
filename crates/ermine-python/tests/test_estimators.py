"""What every estimator promises beyond scikit-learn's checks: signatures, parameters, files, pictures."""

import copy
import doctest
import importlib
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest

import ermine
from catalog import CLASSIFIERS, ESTIMATORS, make, name
from ermine._catalog import CATALOG, MODULES
from ermine._ermine import Model, learners
from ermine.dummy import DummyRegressor
from ermine.tree import DecisionStumpClassifier, DecisionStumpRegressor

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    return X, (X[:, 2] > 0.3).astype(int)


def test_generated_files_are_up_to_date():
    """Classes, their list and the reference pages, generated again, are what is checked in."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "python_estimators.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_learner_has_a_class_for_each_of_its_tasks():
    classes = {(entry.learner, entry.task) for entry in CATALOG}
    tasks = {(learner["info"]["name"], task) for learner in json.loads(learners()) for task in learner["info"]["capabilities"]["tasks"]}
    # OneClassSVM is written by hand: it learns without a target. Lists of estimators have no classes yet: `ermine.ensemble` has scikit-learn's.
    assert {learner for learner, _ in tasks - classes} == {"one-class-svm"} and classes <= tasks


def test_a_learner_without_a_catalog_line_gets_a_whole_class(tmp_path):
    """The generator makes classes from the registry alone: without any line of python_catalog.py they import, fit and predict."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import python_catalog; python_catalog.CLASSES = ()\n"
        "import python_estimators as tool\n"
        "found = tool.entries()\n"
        "for family in ('tree', 'linear', 'ensemble'):\n"
        "    names = {}\n"
        "    exec(tool.module_source(family, found), names)\n"
        "    print(*(name for name in names['__all__'] if isinstance(names[name], type)))\n"
        "    if family == 'tree':\n"
        "        model = names['ObliqueTreeClassifier']().fit([[float(i)] for i in range(40)], [int(i > 19) for i in range(40)])\n"
        "        assert model.predict([[0.0], [39.0]]).tolist() == [0, 1] and model.n_leaves_ == model.get_n_leaves() == 2\n"
    )
    done = subprocess.run([sys.executable, "-c", program, ROOT / "tools"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"DecisionStumpClassifier", "HuberRegressionRegressor", "GradientBoostingRanker"} <= set(done.stdout.split())


def test_every_attribute_is_documented():
    """Attributes carry their documentation, a sentence, from where they are made."""
    for entry in CATALOG:
        text = inspect.getdoc(getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name))
        attributes = text.split("Attributes\n----------\n")[1].split("\n\nSee Also")[0].split("\n\nExamples")[0]
        for block in re.split(r"\n(?=\w)", attributes):
            head, _, doc = block.partition("\n")
            assert re.fullmatch(r"\w+_ : \S.*", head) and doc.strip().endswith("."), (entry.name, block)


@pytest.mark.parametrize("module", ["", *MODULES])
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(f"ermine.{module}".rstrip(".")))
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
def test_signatures_are_real(cls):
    params = list(inspect.signature(cls).parameters.values())
    (entry,) = [entry for entry in CATALOG if entry.name == cls.__name__]
    assert [p.name for p in params if p.kind != p.KEYWORD_ONLY] == list(entry.positional)
    assert all(p.default is not p.empty and p.annotation is not p.empty for p in params)
    assert cls().get_params() == {p.name: p.default for p in params}
    for p in params:
        assert f"    {p.name} : " in inspect.getdoc(cls).replace("\n", "\n    ")


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
def test_saved_and_loaded_is_the_same_estimator(cls, data, tmp_path):
    X, y = data
    model = make(cls).fit(X, y)
    model.save(tmp_path / "model.ermine")
    loaded = ermine.load(tmp_path / "model.ermine")
    assert type(loaded) is cls and loaded.get_params() == model.get_params()
    assert loaded.n_features_in_ == 4 and not hasattr(loaded, "feature_names_in_")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate_ == model.certificate_
    loaded.save(tmp_path / "again.ermine")
    assert (tmp_path / "again.ermine").read_bytes() == (tmp_path / "model.ermine").read_bytes()


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_copies_predict_the_same(cls, copied, data):
    X, y = data
    model = cls(n_jobs=1).fit(X, y)
    other = copied(model)
    assert other.n_jobs == 1
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
def test_threads_do_not_change_the_file(cls, data, tmp_path):
    X, y = data
    for n_jobs in (1, 2):
        make(cls, n_jobs=n_jobs).fit(X, y).save(tmp_path / f"{n_jobs}.ermine")
    assert (tmp_path / "1.ermine").read_bytes() == (tmp_path / "2.ermine").read_bytes()


def test_joblib_files(data, tmp_path):
    X, y = data
    model = DecisionStumpClassifier().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model.joblib", mmap_mode="r").predict(X), model.predict(X))


LABELS = [
    [3, 1, 2], [True, False], ["b", "a", "é"], [1.0, 0.0], [-5, 2**40], np.array(["x", "yy"], dtype=object), np.array([1, 0], dtype=np.uint8),
    np.array([b"p", b"q"]), [2**63 - 1, -(2**63)],
]


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
def test_labels_of_any_type_come_back(cls, labels, tmp_path):
    y = np.repeat(np.asarray(labels), 8)
    X = np.arange(len(y), dtype=float).reshape(-1, 1)
    model = cls().fit(X, y)
    expected = np.unique(y)
    assert model.classes_.dtype == expected.dtype and model.classes_.tolist() == expected.tolist()
    assert set(model.predict(X).tolist()) <= set(expected.tolist())
    if y.dtype.kind == "S":
        return  # bytes come back from a file as text
    model.save(tmp_path / "model.ermine")
    loaded = ermine.load(tmp_path / "model.ermine")
    assert loaded.classes_.dtype == expected.dtype and loaded.classes_.tolist() == expected.tolist()


def test_names_and_target_are_in_the_file(tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "color": ["red", "red", "blue", "blue"]})
    model = DecisionStumpClassifier().fit(X, pd.Series([0, 0, 1, 1], name="sold"))
    model.save(tmp_path / "model.ermine")
    loaded = ermine.load(tmp_path / "model.ermine")
    assert loaded.feature_names_in_.tolist() == ["size", "color"]
    assert json.loads(loaded._model.header())["schema"]["target"] == ["sold"]
    np.testing.assert_array_equal(loaded.predict(X), [0, 0, 1, 1])


def test_two_targets_at_once():
    X = [[0.0], [1.0], [2.0]]
    model = DummyRegressor().fit(X, [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    np.testing.assert_array_equal(model.predict(X), [[2.0, 20.0]] * 3)
    stump = DecisionStumpRegressor().fit(X, [[1.0, 10.0], [1.0, 10.0], [3.0, 30.0]])
    np.testing.assert_array_equal(stump.predict(X), [[1.0, 10.0], [1.0, 10.0], [3.0, 30.0]])


def test_the_certificate_states_what_is_proven(data):
    X, y = data
    certificate = DecisionStumpClassifier().fit(X, y).certificate_
    assert certificate.converged and certificate.value == 0.0 and "optimal" in certificate.proofs[0]
    assert "0-1 risk" in certificate.objective and str(certificate).startswith("minimized:")


def test_models_show_themselves(data):
    X, y = data
    model = DecisionStumpClassifier(criterion="gini")
    assert "gini" in model._repr_html_() and "<svg" not in model._repr_html_()
    model.fit(X, y)
    assert model.svg().startswith("<svg") and model.svg() in model._repr_html_()
    assert "x2 <= " in model.describe() and "60 rows and 4 columns" in model.describe()
    assert model._repr_mimebundle_()["text/plain"] == "DecisionStumpClassifier(criterion='gini')"
    assert model.feature_importances_.tolist() == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
def test_every_estimator_reports_and_shows_itself(cls, data, tmp_path):
    X, y = data
    model = make(cls).fit(X[:40], y[:40])
    report = model.report(X[40:], y[40:])
    score = report.scores["accuracy" if cls in CLASSIFIERS else "R2"]
    assert score.value == pytest.approx(model.score(X[40:], y[40:])) and score.low <= score.value <= score.high
    assert report.data["learner"] == cls._learner and "Scores" in str(report) and report.html.startswith("<!doctype html>")
    assert report._repr_html_().startswith("<iframe srcdoc=") and "20 rows" in repr(report)
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.html
    page = model._repr_html_()
    assert "trained on 40 rows and 4 columns" in page and ("minimized" in page or "proven" in page)
    assert ("<svg" in page) == (model._picture() is not None)


def test_a_report_takes_names_weights_and_words(data):
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame(data[0], columns=list("abcd")), np.where(data[1], "yes", "no")
    model = DecisionStumpClassifier().fit(X, y)
    report = model.report(X, y, sample_weight=np.arange(60))
    assert report.data["importances"][0]["feature"] == "c" and report.scores["accuracy"].value == 1.0
    with pytest.warns(UserWarning, match="valid feature names"):
        assert model.report(data[0], y).scores == model.report(X, y).scores
    unseen = model.report(X, np.where(data[1], "yes", "maybe"))
    assert unseen.scores["accuracy"].value == np.mean(data[1]), "rows of a class that training did not have count as wrong"
    with pytest.raises(ValueError, match="inconsistent"):
        model.report(X, y[:5])
    with pytest.raises(ValueError, match="not fitted"):
        DecisionStumpClassifier().report(X, y)


@pytest.mark.parametrize(
    "params, words",
    [
        ({"criterion": "ginny"}, "'criterion' parameter of DecisionStumpClassifier must be error | gini | entropy. Got 'ginny' instead"),
        ({"criterion": 3}, "'criterion' parameter .* Got 3"),
        ({"criterion": object}, "'criterion' parameter .* Got <class 'object'>"),
        ({"max_categories": -1}, "'max_categories' parameter .* Got -1"),
        ({"max_categories": 2.5}, "a whole number"),
        ({"max_categories": float("nan")}, "max_categories"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": "a"}, "'n_jobs' parameter must be an int or None. Got 'a' instead"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter must be an int or None. Got 1.5 instead"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named_when_fitting(params, words, data):
    model = DecisionStumpClassifier(**params)
    with pytest.raises(ValueError, match=words):
        model.fit(*data)
    with pytest.raises(ValueError):
        DecisionStumpClassifier().set_params(color=1)


@pytest.mark.parametrize("value", [np.int64(3), np.float64(3.0), np.uint8(3), 3])
def test_numpy_numbers_are_numbers(value, data):
    assert DecisionStumpClassifier(max_categories=value).fit(*data).score(*data) == 1.0


def test_model_files_that_are_none(tmp_path, data):
    with pytest.raises(FileNotFoundError):
        ermine.load(tmp_path / "nothing.ermine")
    (tmp_path / "text.ermine").write_text("hello")
    with pytest.raises(ValueError, match="text.ermine: not a readable Ermine model"):
        ermine.load(tmp_path / "text.ermine")
    raw = DecisionStumpClassifier().fit(*data)._model.to_bytes()
    with pytest.raises(ValueError, match="checksum"):
        Model(raw[:100] + bytes([raw[100] ^ 1]) + raw[101:])
    with pytest.raises(OSError):
        DecisionStumpClassifier().fit(*data).save(tmp_path / "no" / "such" / "folder.ermine")

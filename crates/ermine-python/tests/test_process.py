"""Threads, forks, Ctrl-C, and programs with and without scikit-learn."""

import importlib
import multiprocessing
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ermine._ermine import threads
from ermine.tree import DecisionStumpClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 8))
Y = (X[:, 1] > 0).astype(int)


def python(code, **options):
    """Runs a program of its own."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, text=True, capture_output=True, **options).stdout


SHARED = [
    "tree.DecisionStumpClassifier()", "ensemble.RandomForestClassifier(10, random_state=0)", "ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0)", "svm.SVC()",
    "linear_model.LogisticRegression()", "neighbors.KNeighborsClassifier()", "multiclass.OneVsRestClassifier('decision-tree')",
]


@pytest.mark.parametrize("n_jobs", [1, None])
@pytest.mark.parametrize("made", SHARED)
def test_many_threads_predict_with_one_model(made, n_jobs):
    module, rest = made.split(".", 1)
    model = eval(rest, vars(importlib.import_module(f"ermine.{module}"))).set_params(n_jobs=n_jobs).fit(X, Y)
    parts = [X[i : i + 500 + 100 * (i % 7)] for i in range(0, 2000, 50)]
    expected = [model.predict(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            for got, want in zip(pool.map(model.predict, parts), expected):
                np.testing.assert_array_equal(got, want)


def test_many_threads_fit_at_once():
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(lambda _: DecisionStumpClassifier(n_jobs=2).fit(X, Y)._model.to_bytes(), range(16)))
    assert len(set(models)) == 1


def _runs_beside(work):
    """How often another thread of Python gets its turn while ``work`` runs: a few times if the interpreter were held."""
    turns, stop = 0, threading.Event()

    def count():
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0)

    other = threading.Thread(target=count)
    other.start()
    before = turns
    work()
    during = turns - before
    stop.set()
    other.join()
    return during


def test_other_threads_run_while_one_fits_and_predicts():
    from ermine.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(n_estimators=400, n_jobs=1, random_state=0)
    assert _runs_beside(lambda: model.fit(X, Y)) > 10
    assert _runs_beside(lambda: model.predict(np.tile(X, (50, 1)))) > 10


def _predict(model):
    return model.predict(np.tile(X, (4, 1))).sum(), DecisionStumpClassifier(n_jobs=2).fit(X, Y).score(X, Y)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_forked_process_has_threads_of_its_own():
    model = DecisionStumpClassifier(n_jobs=2).fit(X, Y)
    here = _predict(model)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_predict, [model] * 4).get(timeout=60) == [here] * 4


def test_ctrl_c_stops_a_fit():
    said = python(
        """
        import signal, numpy as np
        from ermine.tree import DecisionStumpRegressor
        X = np.random.default_rng(0).normal(size=(800_000, 40))
        model = DecisionStumpRegressor(n_jobs=1)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        try:
            model.fit(X, X[:, 0])
        except KeyboardInterrupt:
            print("stopped", hasattr(model, "n_features_in_"))
        print(DecisionStumpRegressor().fit(X[:100], X[:100, 0]).score(X[:100], X[:100, 0]) > 0)
        """
    )
    assert said.split() == ["stopped", "False", "True"]


def test_n_jobs_counts_as_in_joblib(monkeypatch):
    import os

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads(-1) == cores and threads(-cores - 5) == 1 and threads(3) == 3 and threads(None) == cores
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads(None) == 1 and threads(-1) == cores


# With scikit-learn


def test_model_selection_and_pipelines():
    search = GridSearchCV(DecisionStumpClassifier(), {"criterion": ["error", "gini"]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.99
    assert cross_val_score(DecisionStumpClassifier(n_jobs=1), X, Y, n_jobs=2).mean() > 0.99
    steps = make_pipeline(make_column_transformer((StandardScaler(), [0, 1]), remainder=SimpleImputer()), DecisionStumpClassifier())
    assert steps.fit(X, Y).score(X, Y) > 0.99
    assert "DecisionStumpClassifier" in steps._repr_html_()


def test_weights_are_routed():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        stump = DecisionStumpClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weight = np.where(X[:, 0] > 0, 1.0, 0.0)
        scores = cross_val_score(stump, X, (X[:, 0] > 0) ^ (Y > 0), params={"sample_weight": weight})
        assert scores.min() > 0.99


def test_scikit_learn_is_joined_whenever_it_comes():
    said = python(
        """
        import pickle, sys
        import ermine, ermine.tree
        from ermine.tree import DecisionStumpClassifier
        class Mine(DecisionStumpClassifier):
            pass
        early, mine = DecisionStumpClassifier().fit([[0.0], [1.0]], [0, 1]), Mine()
        assert "sklearn" not in sys.modules and "scipy" not in sys.modules and "pandas" not in sys.modules
        assert early.get_params()["criterion"] == "error" and repr(early.set_params(criterion="gini")) == "DecisionStumpClassifier(criterion='gini')"
        from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
        from sklearn.utils import get_tags
        for model in (early, mine, pickle.loads(pickle.dumps(early)), DecisionStumpClassifier()):
            assert isinstance(model, BaseEstimator) and isinstance(model, ClassifierMixin) and is_classifier(model)
            assert clone(model).get_params() == model.get_params() and get_tags(model).input_tags.allow_nan
            assert callable(model.set_fit_request)
        assert type(sys.modules["sklearn.base"].__loader__).__name__ == "SourceFileLoader"
        assert not any(type(f).__module__.startswith("ermine") for f in sys.meta_path)
        print(early.predict([[0.2]]), "done")
        """
    )
    assert said == "[0] done\n"


def test_scikit_learn_that_was_there_before():
    assert "True" in python("import sklearn.base, ermine.dummy; print(isinstance(ermine.dummy.DummyClassifier(), sklearn.base.BaseEstimator))")


def test_without_scikit_learn():
    said = python(
        """
        import sys
        sys.modules["sklearn"] = sys.modules["scipy"] = sys.modules["pandas"] = None
        import pickle, warnings
        from ermine.tree import DecisionStumpClassifier
        model = DecisionStumpClassifier(n_jobs=1)
        try:
            model.predict([[1.0]])
        except ValueError as error:
            print(type(error).__name__, isinstance(error, AttributeError))
        model.fit([[0.0], [1.0]], ["a", "b"])
        print(pickle.loads(pickle.dumps(model)).predict([[1.0]])[0], model, model.score([[0.0]], ["a"]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit([[0.0], [1.0]], [["a"], ["b"]])
        print(caught[0].category.__name__)
        try:
            import sklearn.base
        except ImportError:
            print("no scikit-learn")
        """
    )
    assert said.splitlines() == ["NotFittedError True", "b DecisionStumpClassifier(n_jobs=1) 1.0", "UserWarning", "no scikit-learn"]


def test_importing_ermine_imports_little():
    said = python("import ermine, sys; print(sorted(m for m in ('numpy', 'sklearn', 'scipy', 'inspect', 'json') if m in sys.modules))")
    assert said == "[]\n"
    said = python(
        """
        import importlib, sys
        from ermine._catalog import MODULES
        for module in MODULES:
            importlib.import_module(f"ermine.{module}")
        print([m for m in ("numpy.ma", "numpy.random", "sklearn", "scipy", "html", "logging", "importlib.metadata") if m in sys.modules])
        """
    )
    assert said == "[]\n"


def test_progress_is_shown_as_a_line(capsys, monkeypatch):
    from ermine import _progress
    from ermine._progress import Bar

    monkeypatch.setattr(_progress, "_is_interactive", lambda: True)
    bar = Bar()
    bar("trees", 5, 10, ("loss", 0.25))
    bar("trees", 10, 10, None)
    bar.close()
    said = capsys.readouterr().err
    assert "\rtrees [===============               ] 5/10  loss 0.25" in said
    assert "\rtrees [==============================] 10/10" in said and said.endswith("\n")


def test_progress_in_a_file_is_one_line(capsys):
    from ermine.ensemble import GradientBoostingClassifier

    GradientBoostingClassifier(n_estimators=7, verbose=1, random_state=0).fit(X, Y)
    said = capsys.readouterr().err
    assert said.startswith("boosting [==============================] 7/7") and said.count("\n") == 1 and "\r" not in said
    GradientBoostingClassifier(n_estimators=7, random_state=0).fit(X, Y)
    assert capsys.readouterr().err == ""


def test_callbacks_hear_of_every_round():
    from ermine import Step
    from ermine.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from ermine.linear_model import SGDClassifier

    heard, threads_of_calls = [], set()

    def hear(step):
        heard.append(step)
        threads_of_calls.add(threading.get_ident())

    model = GradientBoostingClassifier(n_estimators=20, random_state=0).set_callbacks(hear)
    model.fit(X, Y, eval_set=(X, Y))
    assert [step.done for step in heard] == list(range(1, 21)) and all(isinstance(step, Step) and step.total == 20 for step in heard)
    np.testing.assert_allclose([step.score for step in heard], model.validation_loss_)
    assert threads_of_calls == {threading.get_ident()}  # where fit was called, so that it may draw
    quiet = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, Y, eval_set=(X, Y))
    np.testing.assert_array_equal(model.predict_proba(X), quiet.predict_proba(X))

    heard.clear()
    RandomForestClassifier(12, random_state=0).set_callbacks(hear).fit(X, Y)
    assert sorted(step.done for step in heard) == list(range(1, 13)) and heard[0].what == "trees"
    heard.clear()
    SGDClassifier(random_state=0).set_callbacks(hear).fit(X, Y)
    assert heard[0].what == "iterations" and heard[0].score_name == "loss"
    # Copies, and estimators told so, have none.
    heard.clear()
    pickle.loads(pickle.dumps(model)).fit(X, Y)
    clone(model).fit(X, Y)
    model.set_callbacks().fit(X, Y)
    assert not heard
    with pytest.raises(TypeError, match="callback"):
        model.set_callbacks(3)


def test_an_exception_in_a_callback_ends_the_fit():
    from ermine.ensemble import GradientBoostingClassifier

    class Enough(Exception):
        pass

    def stop(step):
        if step.done == 3:
            raise Enough

    model = GradientBoostingClassifier(n_estimators=100_000, random_state=0).set_callbacks(stop)
    with pytest.raises(Enough):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("slow", [
    "ensemble.GradientBoostingClassifier(n_estimators=100000, n_jobs=1)",
    "ensemble.RandomForestClassifier(100000, n_jobs=1)",
    "svm.SVC(C=1e6, tol=1e-12, n_jobs=1)",
    "linear_model.SGDClassifier(max_iter=1000000, n_iter_no_change=1000000, n_jobs=1)",
    "tree.OptimalTreeClassifier(max_depth=5, n_jobs=1)",
    "ensemble.AdaBoostClassifier(n_estimators=100000, n_jobs=1)",
    "multiclass.OneVsRestClassifier(svm.SVC(C=1e6, tol=1e-12), n_jobs=1)",
])
def test_ctrl_c_gives_the_prompt_back(slow):
    """Whatever the learner is doing; how soon is measured by bench/python_package.py."""
    said = python(
        f"""
        import os, signal, threading, numpy as np
        from ermine import ensemble, linear_model, multiclass, svm, tree
        rng = np.random.default_rng(0)
        X = rng.normal(size=(20_000, 10))
        y = (X[:, 0] * X[:, 1] + rng.normal(size=20_000) > 0).astype(int)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            {slow}.fit(X, y)
        except KeyboardInterrupt:
            print("stopped")
        """,
        timeout=60,
    )
    assert said == "stopped\n"

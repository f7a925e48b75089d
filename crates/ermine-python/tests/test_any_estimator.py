"""Meta-estimators take any estimator: those of Ermine are fitted in the core, all others as scikit-learn's class of the same name fits them."""

import pickle

import numpy as np
import pytest
import sklearn.calibration
import sklearn.ensemble
import sklearn.multiclass
import sklearn.multioutput
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression as TheirLinear
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import SGDClassifier as TheirSGD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils.validation import check_is_fitted

from ermine.calibration import CalibratedClassifierCV
from ermine.ensemble import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, BaggingRegressor
from ermine.linear_model import LogisticRegression, Ridge, SGDClassifier
from ermine.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from ermine.multioutput import ClassifierChain, MultiOutputClassifier
from ermine.neighbors import KNeighborsClassifier
from ermine.tree import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
CLASSES = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=120), [-0.5, 0.5])
LABELS = np.stack([CLASSES == 0, X[:, 1] > 0], axis=1).astype(int)
NUMBERS = X @ [1.0, 2.0, 0.0, -1.0]

#: Our class, scikit-learn's, parameters, the estimator below, the target.
PAIRS = [
    (BaggingClassifier, sklearn.ensemble.BaggingClassifier, {"n_estimators": 3, "random_state": 0}, TheirSVC(), CLASSES),
    (BaggingClassifier, sklearn.ensemble.BaggingClassifier, {"n_estimators": 3, "random_state": 0, "n_jobs": 2}, make_pipeline(StandardScaler(), LogisticRegression()), CLASSES),
    (BaggingRegressor, sklearn.ensemble.BaggingRegressor, {"n_estimators": 3, "random_state": 0}, TheirLinear(), NUMBERS),
    (AdaBoostClassifier, sklearn.ensemble.AdaBoostClassifier, {"n_estimators": 4, "random_state": 0}, TheirLogistic(), CLASSES),
    (AdaBoostRegressor, sklearn.ensemble.AdaBoostRegressor, {"n_estimators": 4, "random_state": 0}, TheirTree(max_depth=2), NUMBERS),
    (OneVsRestClassifier, sklearn.multiclass.OneVsRestClassifier, {}, make_pipeline(StandardScaler(), TheirSVC()), CLASSES),
    (OneVsOneClassifier, sklearn.multiclass.OneVsOneClassifier, {}, TheirLogistic(), CLASSES),
    (OutputCodeClassifier, sklearn.multiclass.OutputCodeClassifier, {"random_state": 0}, TheirLogistic(), CLASSES),
    (CalibratedClassifierCV, sklearn.calibration.CalibratedClassifierCV, {}, TheirSVC(), CLASSES),
    (CalibratedClassifierCV, sklearn.calibration.CalibratedClassifierCV, {"ensemble": True}, LogisticRegression(), CLASSES),
    (CalibratedClassifierCV, sklearn.calibration.CalibratedClassifierCV, {}, FrozenEstimator(LogisticRegression().fit(X, CLASSES)), CLASSES),
    (MultiOutputClassifier, sklearn.multioutput.MultiOutputClassifier, {}, make_pipeline(StandardScaler(), TheirLogistic()), LABELS),
    (MultiOutputClassifier, sklearn.multioutput.MultiOutputClassifier, {}, LogisticRegression(), np.stack([CLASSES, CLASSES[::-1]], axis=1)),
    (ClassifierChain, sklearn.multioutput.ClassifierChain, {}, TheirLogistic(), LABELS),
    (ClassifierChain, sklearn.multioutput.ClassifierChain, {"cv": 3, "chain_method": "predict_proba"}, LogisticRegression(), LABELS),
    (OneVsRestClassifier, sklearn.multiclass.OneVsRestClassifier, {}, LogisticRegression(), LABELS),
    (OneVsRestClassifier, sklearn.multiclass.OneVsRestClassifier, {}, Ridge(), CLASSES),
    (OneVsRestClassifier, sklearn.multiclass.OneVsRestClassifier, {}, KNeighborsClassifier(metric=lambda a, b: np.abs(a - b).sum()), CLASSES),
]
pairs = pytest.mark.parametrize(("ours", "theirs", "params", "below", "y"), PAIRS)


@pairs
def test_other_estimators_are_fitted_as_scikit_learn_does(ours, theirs, params, below, y):
    model, want = ours(clone(below), **params), theirs(clone(below), **params)
    for name in ("predict_proba", "decision_function", "partial_fit", "predict_log_proba"):
        assert hasattr(model, name) == hasattr(want, name) or y.ndim == 2, name
    assert model.fit(X, y) is model
    want.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), want.predict(X))
    for name in ("predict_proba", "decision_function"):
        assert hasattr(model, name) == hasattr(want, name)
        if hasattr(want, name):
            np.testing.assert_array_equal(np.asarray(getattr(model, name)(X)), np.asarray(getattr(want, name)(X)))
    assert model.score(X, y) == want.score(X, y)
    assert {name for name in vars(want) if name.endswith("_")} <= {name for name in dir(want) if hasattr(model, name)}
    assert model.n_features_in_ == 4
    check_is_fitted(model)


@pairs
def test_foreign_estimators_are_pickled_and_cloned_but_not_saved(ours, theirs, params, below, y, tmp_path):
    model = ours(below, **params).fit(X, y)
    if not any(callable(value) for value in below.get_params().values()):
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert not hasattr(clone(model), "classes_") and is_classifier(model) == is_classifier(theirs(below))
    with pytest.raises(ValueError, match="[Pp]ickle"):
        model.save(tmp_path / "model.ermine")


def test_estimators_of_ermine_are_fitted_in_the_core(tmp_path):
    model = BaggingClassifier(DecisionTreeClassifier(), n_estimators=3, random_state=0)
    model.fit(X, CLASSES).save(tmp_path / "model.ermine")
    model.set_params(estimator=TheirLogistic()).fit(X, CLASSES)
    assert isinstance(model.estimators_[0], TheirLogistic)
    model.set_params(estimator=None).fit(X, CLASSES)
    assert isinstance(model.estimators_[0], DecisionTreeClassifier) and model.certificate_.text


def test_subclasses_of_the_user_are_fitted_with_their_own_methods():
    class Opposite(LogisticRegression):
        def predict(self, X):
            return super().predict(X)[::-1]

        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]

    y = CLASSES > 0
    ours = BaggingClassifier(Opposite(), n_estimators=3, random_state=0).fit(X, y)
    assert isinstance(ours.estimators_[0], Opposite) and ours.score(X, y) < 0.5


def test_weights_and_metadata_reach_the_members():
    weight = RNG.integers(1, 4, 120).astype(float)
    ours = BaggingClassifier(TheirLogistic(), n_estimators=3, random_state=0).fit(X, CLASSES, sample_weight=weight)
    theirs = sklearn.ensemble.BaggingClassifier(TheirLogistic(), n_estimators=3, random_state=0).fit(X, CLASSES, sample_weight=weight)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    with pytest.raises(ValueError, match="metadata_routing"):
        OneVsRestClassifier(LogisticRegression()).fit(X, CLASSES, unknown=weight)
    import sklearn as package

    with package.config_context(enable_metadata_routing=True):
        requesting = TheirLogistic().set_fit_request(sample_weight=True)
        ours = OneVsRestClassifier(requesting).fit(X, CLASSES, sample_weight=weight)
        theirs = sklearn.multiclass.OneVsRestClassifier(requesting).fit(X, CLASSES, sample_weight=weight)
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
        assert ours.get_metadata_routing() is not None


@pytest.mark.parametrize("below", [TheirSGD(random_state=0), SGDClassifier(random_state=0)])
@pytest.mark.parametrize(("cls", "y", "classes"), [(OneVsRestClassifier, CLASSES, [0, 1, 2]), (OneVsOneClassifier, CLASSES, [0, 1, 2]), (MultiOutputClassifier, LABELS, [[0, 1], [0, 1]])])
def test_training_continues_if_the_estimator_can(cls, y, classes, below):
    model = cls(below).partial_fit(X[:60], y[:60], classes).partial_fit(X[60:], y[60:])
    assert model.score(X, y) > 0.4
    assert not hasattr(cls(TheirSVC()), "partial_fit") and not hasattr(cls(DecisionTreeClassifier()), "partial_fit")


def test_options_of_the_core_need_estimators_of_ermine():
    with pytest.raises(ValueError, match="'vote' parameter of OneVsOneClassifier needs an estimator of Ermine"):
        OneVsOneClassifier(TheirLogistic(), vote="coupling").fit(X, CLASSES)


def test_boosted_regressors_are_trees_of_depth_three():
    ours = AdaBoostRegressor(random_state=0).fit(X, NUMBERS)
    assert ours.estimator is None and ours.estimators_[0].get_depth() == 3
    assert ours.score(X, NUMBERS) > 0.8


@pytest.mark.parametrize("model", [BaggingClassifier(TheirLogistic(), n_estimators=2), OneVsRestClassifier(CalibratedClassifierCV(LogisticRegression(), ensemble=True)), KNeighborsClassifier(metric="canberra")])
def test_searches_over_scikit_learn_estimators(model):
    from ermine.model_selection import GridSearchCV, cross_val_score

    assert cross_val_score(model, X, CLASSES, cv=3).shape == (3,)
    name = next(name for name in ("n_estimators", "n_neighbors", "verbose") if name in model.get_params(deep=False))
    assert GridSearchCV(model, {name: [2, 3]}, cv=3).fit(X, CLASSES).best_params_[name] in (2, 3)
    assert CalibratedClassifierCV(model).fit(X, CLASSES).predict_proba(X).shape == (120, 3)

"""Programs for scikit-learn after their imports were swapped: names, parameters and attributes that they use mean the same here."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
import sklearn.dummy
import sklearn.ensemble
import sklearn.linear_model
import sklearn.model_selection
import sklearn.neighbors
import sklearn.tree
from sklearn.datasets import make_classification, make_regression

import ermine
from ermine import calibration, dummy, ensemble, linear_model, metrics, model_selection, multiclass, multioutput, neighbors, svm, tree

X, Y = make_classification(200, 5, n_informative=3, n_redundant=0, random_state=0)
X = X.astype(np.float32).astype(float)
XR, YR = make_regression(200, 5, n_informative=3, noise=10.0, random_state=0)
XR = XR.astype(np.float32).astype(float)


# Baselines


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("params", [{}, {"strategy": "most_frequent"}, {"strategy": "prior"}, {"strategy": "stratified", "random_state": 3}, {"strategy": "uniform", "random_state": 3}, {"strategy": "constant", "constant": "b"}])
def test_baselines_of_classes(params, weighted):
    y = np.array(["a", "b", "c"])[np.random.default_rng(0).choice(3, 200, p=[0.5, 0.2, 0.3])]
    weight = {"sample_weight": np.random.default_rng(1).random(200)} if weighted else {}
    a, b = dummy.DummyClassifier(**params).fit(X, y, **weight), sklearn.dummy.DummyClassifier(**params).fit(X, y, **weight)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_allclose(a.class_prior_, b.class_prior_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("params", [{}, {"strategy": "median"}, {"strategy": "quantile", "quantile": 0.3}, {"strategy": "quantile", "quantile": 1.0}, {"strategy": "constant", "constant": 1.5}])
@pytest.mark.parametrize("y", [YR, YR[:199], np.stack([YR, YR**2], axis=1)], ids=["even", "odd", "two"])
def test_baselines_of_numbers(params, weighted, y):
    if "constant" in params and y.ndim == 2:
        params = params | {"constant": [1.0, 2.0]}
    weight = {"sample_weight": np.random.default_rng(1).integers(1, 4, len(y)).astype(float)} if weighted else {}
    a, b = dummy.DummyRegressor(**params).fit(XR[: len(y)], y, **weight), sklearn.dummy.DummyRegressor(**params).fit(XR[: len(y)], y, **weight)
    np.testing.assert_allclose(a.predict(XR), b.predict(XR), rtol=1e-12)
    np.testing.assert_allclose(a.constant_, b.constant_, rtol=1e-12)


def test_baselines_in_files(tmp_path):
    for model, x, y in ((dummy.DummyClassifier(strategy="constant", constant=1, random_state=0), X, Y), (dummy.DummyRegressor(strategy="constant", constant=2.5), XR, YR), (dummy.DummyRegressor(strategy="median"), XR, YR)):
        model.fit(x, y).save(tmp_path / "model.ermine")
        loaded = ermine.load(tmp_path / "model.ermine")
        assert loaded.get_params() == model.get_params() and (loaded.predict(x) == model.predict(x)).all()


def test_baselines_refuse():
    with pytest.raises(ValueError, match="'strategy' parameter of DummyClassifier"):
        dummy.DummyClassifier(strategy="median").fit(X, Y)
    with pytest.raises(ValueError, match="'strategy' parameter of DummyRegressor"):
        dummy.DummyRegressor(strategy="prior").fit(X, Y)
    with pytest.raises(ValueError, match="Constant target value"):
        dummy.DummyClassifier(strategy="constant").fit(X, Y)
    with pytest.raises(ValueError, match="no class named '7'"):
        dummy.DummyClassifier(strategy="constant", constant=7).fit(X, Y)


# Parameters by other words


@pytest.mark.parametrize("params", [{"penalty": "l1"}, {"penalty": "l2", "C": 0.3}, {"penalty": None}, {"penalty": "elasticnet", "l1_ratio": 0.5}])
def test_penalties_by_name(params):
    now = {"l1": {"l1_ratio": 1.0}, "l2": {}, None: {"C": np.inf}, "elasticnet": {"l1_ratio": 0.5}}[params["penalty"]]
    a = linear_model.LogisticRegression(**params).fit(X, Y)
    b = linear_model.LogisticRegression(**{"C": params.get("C", 1.0)} | now).fit(X, Y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    with pytest.raises(ValueError, match="'penalty' parameter"):
        linear_model.LogisticRegression(penalty="l3").fit(X, Y)


def test_boosting_in_words_of_scikit_learn():
    def both(**params):
        return ensemble.GradientBoostingRegressor(n_estimators=8, random_state=0, **params).fit(XR, YR)

    np.testing.assert_array_equal(both(max_features=3).predict(XR), both(colsample_bynode=0.6).predict(XR))
    np.testing.assert_array_equal(both(max_features="sqrt").predict(XR), both(colsample_bynode=0.4).predict(XR))
    assert both(max_features="sqrt").max_features_ == 2 and both().max_features_ == 5
    np.testing.assert_array_equal(both(loss="quantile", alpha=0.9).predict(XR), both(loss="quantile", quantile_alpha=[0.9]).predict(XR))
    early = ensemble.GradientBoostingClassifier(n_estimators=300, learning_rate=1.0, n_iter_no_change=3, random_state=0).fit(X, Y)
    assert early.n_estimators_ < 300
    assert ensemble.GradientBoostingClassifier(loss="log_loss", n_estimators=3, criterion="squared_error").fit(X, Y).n_estimators_ == 3
    for wrong, words in (({"max_features": 9}, "max_features"), ({"max_features": "auto"}, "max_features"), ({"alpha": 0.9, "loss": "huber"}, "huber_slope"), ({"n_iter_no_change": 3, "early_stopping_rounds": 4}, "twice")):
        with pytest.raises(ValueError, match=words):
            both(**wrong)


def test_boosting_continues_by_warm_start():
    model = ensemble.GradientBoostingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, Y)
    first = model.predict_proba(X)
    model.set_params(n_estimators=12).fit(X, Y)
    assert model.n_estimators_ == 12
    np.testing.assert_array_equal(list(model.staged_predict_proba(X))[4], first)
    whole = ensemble.GradientBoostingClassifier(n_estimators=12, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_words_for_the_same_criterion_and_algorithm():
    np.testing.assert_array_equal(tree.DecisionTreeRegressor(criterion="friedman_mse").fit(XR, YR).predict(XR), tree.DecisionTreeRegressor(criterion="squared_error").fit(XR, YR).predict(XR))
    np.testing.assert_array_equal(ensemble.AdaBoostClassifier(n_estimators=5, algorithm="SAMME").fit(X, Y).predict(X), ensemble.AdaBoostClassifier(n_estimators=5).fit(X, Y).predict(X))


def test_strengths_that_are_given():
    alphas, cv = [0.5, 5.0, 0.05], sklearn.model_selection.KFold(4)
    for name, more in (("LassoCV", {}), ("ElasticNetCV", {"l1_ratio": 0.7})):
        a = getattr(linear_model, name)(alphas=alphas, cv=cv, **more).fit(XR, YR)
        b = getattr(sklearn.linear_model, name)(alphas=alphas, cv=cv, tol=1e-8, max_iter=100_000, **more).fit(XR, YR)
        assert a.alpha_ == b.alpha_ and a.alphas_.tolist() == [5.0, 0.5, 0.05] == b.alphas_.tolist()
        np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-4)
    assert linear_model.LassoCV(alphas=7).fit(XR, YR).alphas_.shape == (7,)
    with pytest.raises(ValueError, match="'alphas' parameter of LassoCV"):
        linear_model.LassoCV(alphas=[-1.0]).fit(XR, YR)


def test_errors_of_folds_are_theirs():
    """The strengths, the error of each on each fold, and the choice; with weights, folds count by theirs, where scikit-learn takes all alike."""
    for weight in (None, np.random.default_rng(0).random(200)):
        for name, more in (("LassoCV", {"cv": 5}), ("ElasticNetCV", {"l1_ratio": 0.7, "cv": 3}), ("LassoCV", {"cv": sklearn.model_selection.KFold(7, shuffle=True, random_state=1)})):
            a = getattr(linear_model, name)(**more).fit(XR, YR, sample_weight=weight)
            b = getattr(sklearn.linear_model, name)(tol=1e-9, max_iter=100_000, **more).fit(XR, YR, sample_weight=weight)
            np.testing.assert_allclose(a.alphas_, b.alphas_)
            np.testing.assert_allclose(a.mse_path_, b.mse_path_, rtol=1e-5)
            folds = sklearn.model_selection.check_cv(more["cv"]).split(XR)
            shares = None if weight is None else [weight[test].sum() for _, test in folds]
            np.testing.assert_allclose(a.cv_errors_, np.average(b.mse_path_, axis=1, weights=shares), rtol=1e-5)
            assert a.alpha_ == a.alphas_[np.argmin(a.cv_errors_)] and (weight is not None or a.alpha_ == pytest.approx(b.alpha_))


@pytest.mark.parametrize("more", [{"cv": 4}, {"cv": sklearn.model_selection.KFold(3, shuffle=True, random_state=0)}, {"cv": 4, "scoring": "neg_mean_absolute_error"}, {"cv": 3, "scoring": "explained_variance"}, {"cv": 4, "fit_intercept": False}])
def test_ridge_by_cross_validation(more):
    alphas = [0.01, 1.0, 30.0, 100.0]
    a, b = (of.RidgeCV(alphas=alphas, **more).fit(XR, YR) for of in (linear_model, sklearn.linear_model))
    assert a.alpha_ == b.alpha_ and a.best_score_ == pytest.approx(b.best_score_)
    np.testing.assert_allclose(a.coef_, b.coef_)
    assert a.set_params(cv=None, scoring=None).fit(XR, YR).best_score_ == pytest.approx(sklearn.linear_model.RidgeCV(alphas=alphas, fit_intercept=a.fit_intercept).fit(XR, YR).best_score_)


def test_metrics_check_their_inputs():
    covariance = np.cov(X.T) + np.eye(5)
    a = neighbors.KNeighborsClassifier(metric="mahalanobis", metric_params={"VI": np.linalg.inv(covariance)}).fit(X, Y)
    b = sklearn.neighbors.KNeighborsClassifier(metric="mahalanobis", metric_params={"VI": np.linalg.inv(covariance)}).fit(X, Y)
    np.testing.assert_allclose(a.kneighbors(X[:9])[0], b.kneighbors(X[:9])[0], atol=1e-9)
    np.testing.assert_array_equal(
        neighbors.KNeighborsRegressor(metric="minkowski", metric_params={"p": 3}).fit(XR, YR).predict(XR), neighbors.KNeighborsRegressor(metric="minkowski", p=3).fit(XR, YR).predict(XR)
    )
    weighted = {"metric_params": {"w": [1, 2, 3, 4, 5]}}
    np.testing.assert_array_equal(neighbors.KNeighborsClassifier(**weighted).fit(X, Y).predict(X), sklearn.neighbors.KNeighborsClassifier(**weighted).fit(X, Y).predict(X))


ONE_VALUE = [
    (lambda: linear_model.Perceptron(penalty="l2"), "SGDClassifier"), (lambda: linear_model.Perceptron(early_stopping=True), "SGDClassifier"),
    (lambda: calibration.CalibratedClassifierCV(cv="prefit"), "FrozenEstimator"),
    (lambda: svm.LinearSVC(multi_class="crammer_singer"), "rest"),
]


@pytest.mark.parametrize("make, words", ONE_VALUE)
def test_unavailable_features_name_alternatives(make, words):
    with pytest.raises(ValueError, match=words):
        make().fit(X, Y)


def test_usual_values_written_out():
    assert linear_model.Perceptron(max_iter=40, tol=1e-3, eta0=0.1, penalty=None, random_state=0).fit(X, Y).t_ > 200
    assert linear_model.RidgeCV(alphas=[0.1, 1.0], store_cv_results=False).fit(XR, YR).best_score_ < 0
    assert calibration.CalibratedClassifierCV(svm.LinearSVC(), ensemble=False).fit(X, Y).predict_proba(X).shape == (200, 2)


# Attributes


def test_trees_of_boosting_add_up():
    for model, y in ((ensemble.GradientBoostingClassifier(n_estimators=6, random_state=0), Y), (ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0), np.digitize(X[:, 0], [-1, 1]))):
        model.fit(X, y)
        trees = model.estimators_
        assert trees.shape == (model.n_estimators_, model.n_trees_per_iteration_) and type(trees[0, 0]).__name__ == "DecisionTreeRegressor"
        scores = np.stack([sum(one.predict(X) for one in column) for column in trees.T], axis=1)
        start = model.decision_function(X).reshape(200, -1) - scores
        np.testing.assert_allclose(start, np.broadcast_to(start[:1], start.shape), atol=1e-9)  # where the scores start is the same for all rows
        assert trees[0, 0].tree_.node_count == trees[0, 0].tree_.n_leaves * 2 - 1 and "<=" in tree.export_text(trees[0, 0])
    number = ensemble.GradientBoostingRegressor(n_estimators=3, random_state=0).fit(XR, YR)
    start = number.predict(XR) - sum(one.predict(XR) for one in number.estimators_[:, 0])
    np.testing.assert_allclose(start, YR.mean(), atol=1e-6)


def test_trees_over_target_statistics_cannot_be_split_by_category():
    pd = pytest.importorskip("pandas")
    many = pd.DataFrame({"city": [f"c{i % 90}" for i in range(600)]})
    model = ensemble.GradientBoostingClassifier(n_estimators=3, random_state=0).fit(many, np.arange(600) % 90 < 40)
    with pytest.raises(AttributeError, match="mean targets"):
        model.estimators_


def test_coefficients_dense_or_sparse():
    model = linear_model.LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, Y)
    before = model.predict_proba(X)
    assert model.sparsify().coef_.shape == (1, 5) and not isinstance(model.coef_, np.ndarray)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert isinstance(model.densify().coef_, np.ndarray)


# Names


def test_text_of_trees_is_theirs():
    for ours, theirs, (x, y) in ((tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier, (X, Y)), (tree.DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor, (XR, YR))):
        a, b = ours(max_depth=3).fit(x, y), theirs(max_depth=3, random_state=0).fit(x, y)
        for options in ({}, {"max_depth": 1}, {"decimals": 4, "spacing": 1}, {"feature_names": list("abcde")}) + ((({"show_weights": True},)) if ours is tree.DecisionTreeClassifier else ()):
            assert tree.export_text(a, **options) == sklearn.tree.export_text(b, **options)
    assert "class: no" in tree.export_text(tree.DecisionTreeClassifier(max_depth=1).fit(X, Y), class_names=["no", "yes"])
    with pytest.raises(ValueError, match="feature_names must contain 5"):
        tree.export_text(a, feature_names=["a"])
    with pytest.raises(TypeError, match="decision tree of ermine"):
        tree.export_text(b)


def test_trees_over_categories_as_text():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"color": ["red", "green", "blue", "black"] * 15})
    y = [0, 1, 0, 2] * 15
    said = tree.export_text(tree.DecisionTreeClassifier().fit(frame, y), feature_names=["color"])
    assert "color in {" in said and "not color in {" in said
    assert "color = black" in tree.export_text(tree.C45Classifier().fit(frame, y), feature_names=["color"])


def test_graphs_of_trees(tmp_path):
    model = tree.DecisionTreeClassifier(max_depth=2).fit(X, Y)
    graph = tree.export_graphviz(model, filled=True, rounded=True, feature_names=['a"b', *"cdef"])
    nodes = model.tree_.node_count
    assert graph.count(" -> ") == nodes - 1 and graph.count("samples = ") == nodes and "fillcolor" in graph and '\\"' in graph
    tree.export_graphviz(model, tmp_path / "tree.dot")
    with open(tmp_path / "other.dot", "w") as file:
        tree.export_graphviz(model, file)
    assert (tmp_path / "tree.dot").read_text() == (tmp_path / "other.dot").read_text() == tree.export_graphviz(model)


def test_plots_of_trees():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    model = tree.DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert len(tree.plot_tree(model, filled=True)) == model.tree_.node_count and len(tree.plot_tree(model, max_depth=1)) == 3


def test_names_that_are_scikit_learns_own():
    for module, names in {
        model_selection: ("TimeSeriesSplit", "RepeatedKFold", "cross_validate", "cross_val_predict"), metrics: ("make_scorer", "mean_absolute_percentage_error", "RocCurveDisplay"),
        multioutput: ("MultiOutputRegressor",),
    }.items():
        theirs = importlib.import_module(module.__name__.replace("ermine", "sklearn"))
        for name in names:
            assert getattr(module, name) is getattr(theirs, name)
        with pytest.raises(AttributeError, match="has no attribute"):
            module.no_such_thing
    # An estimator that is not ours is never passed off as one.
    assert not hasattr(ensemble, "HistGradientBoostingClassifier") and not hasattr(ensemble, "IsolationForest")
    code = "import sys; sys.modules['sklearn'] = None\nimport ermine.metrics\ntry: ermine.metrics.make_scorer\nexcept AttributeError as error: print(error)"
    assert "not installed" in subprocess.run([sys.executable, "-c", code], check=True, text=True, capture_output=True).stdout


def test_searches_that_the_core_cannot_do():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    ours, theirs = model_selection, sklearn.model_selection
    cv = theirs.KFold(3)
    cases = [
        (make_pipeline(StandardScaler(), svm.SVC()), {"svc__C": [1, 10]}, {}), (svm.SVC(), {"C": [1, 10]}, {"scoring": "f1"}), (svm.SVC(), {"C": [1, 10]}, {"return_train_score": True}),
        (svm.SVC(), {"C": [1, 10]}, {"scoring": ["accuracy", "f1"], "refit": "f1"}),
    ]
    for estimator, grid, options in cases:
        a, b = (module.GridSearchCV(estimator, grid, cv=cv, **options).fit(X, Y) for module in (ours, theirs))
        assert a.best_params_ == b.best_params_ and a.score(X, Y) == b.score(X, Y) and set(a.cv_results_) == set(b.cv_results_)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))
    drawn = ours.RandomizedSearchCV(svm.SVC(), {"C": [1, 10, 100]}, n_iter=2, random_state=0, cv=cv).fit(X, Y)
    assert drawn.best_params_ == theirs.RandomizedSearchCV(svm.SVC(), {"C": [1, 10, 100]}, n_iter=2, random_state=0, cv=cv).fit(X, Y).best_params_
    np.testing.assert_array_equal(ours.cross_val_score(cases[0][0], X, Y, cv=cv), theirs.cross_val_score(cases[0][0], X, Y, cv=cv))
    np.testing.assert_array_equal(ours.cross_val_score(svm.SVC(), X, Y, cv=cv, scoring="f1"), theirs.cross_val_score(svm.SVC(), X, Y, cv=cv, scoring="f1"))


@pytest.mark.parametrize("scoring", model_selection.SCORERS)
def test_a_search_is_scored_by_its_score(scoring):
    of_numbers = scoring == "r2" or scoring.startswith(("neg_m", "neg_root"))
    estimator, grid = (linear_model.Ridge(), {"alpha": [1e5, 1e6]}) if of_numbers else (linear_model.LogisticRegression(), {"C": [0.1, 1.0]})
    y = np.abs(YR) + 100 if of_numbers else Y
    cv = sklearn.model_selection.KFold(3)
    a, b = (module.GridSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(XR, y) for module in (model_selection, sklearn.model_selection))
    assert a.score(XR, y) == pytest.approx(b.score(XR, y), rel=1e-9)


def test_trees_deeper_than_the_stack_are_exported():
    n = 3000
    deep = tree.DecisionTreeClassifier(max_depth=n).fit(np.arange(n)[:, None], np.arange(n) % 2)
    assert deep.get_depth() == n - 1
    assert tree.export_graphviz(deep).count("->") == 2 * n - 2
    # As long as what was left out, and the three levels that were not.
    assert f"truncated branch of depth {n - 3}\n" in tree.export_text(deep, max_depth=2)


@pytest.mark.parametrize(
    "estimator", [tree.DecisionTreeClassifier(), ensemble.BaggingClassifier(tree.DecisionTreeClassifier(), 1), ensemble.RandomForestRegressor(1), ensemble.RandomForestClassifier(1, tree_method="exact")]
)
def test_ties_between_columns_are_broken_by_the_seed(estimator):
    # Four copies of a column are equally good.
    X = np.repeat(np.random.default_rng(0).normal(size=(100, 1)), 4, axis=1)
    y = (X[:, 0] > 0.3).astype(int)

    def first_column(seed):
        model = type(estimator)(**{**estimator.get_params(deep=False), "random_state": seed}).fit(X, y)
        return int(np.argmax((model.estimators_[0] if hasattr(model, "estimators_") else model).feature_importances_))

    chosen = [first_column(seed) for seed in range(40)]
    assert set(chosen) == {0, 1, 2, 3}
    assert chosen == [first_column(seed) for seed in range(40)]


@pytest.mark.parametrize("cls", [linear_model.LinearRegression, linear_model.Ridge, linear_model.Lasso, linear_model.ElasticNet])
def test_coefficients_can_be_kept_from_being_negative(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, -2.0, 3.0, 0.0] + 1
    twin = getattr(sklearn.linear_model, cls.__name__)(positive=True).fit(X, y)
    ours = cls(positive=True).fit(X, y)
    # Tolerances differ by default.
    np.testing.assert_allclose(ours.coef_, twin.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.predict(X), twin.predict(X), rtol=1e-4)
    assert cls(positive=False).fit(X, y).coef_.min() < 0
    with pytest.raises(ValueError, match="positive"):
        cls(positive="no").fit(X, y)


def test_samples_of_a_forest_are_the_rows_its_trees_were_trained_on():
    X = np.arange(200.0).reshape(100, 2)
    y = X[:, 0]
    forest = ensemble.RandomForestRegressor(4, max_samples=0.7, oob_score=True, random_state=3).fit(X, y)
    samples = forest.estimators_samples_
    assert [len(rows) for rows in samples] == [70] * 4
    out = [np.setdiff1d(np.arange(100), rows) for rows in samples]
    # A row is scored by the trees that did not see it.
    expected = np.full(100, np.nan)
    for row in range(100):
        trees = [member for member, rows in zip(forest.estimators_, out) if row in rows]
        if trees:
            expected[row] = np.mean([member.predict(X[row : row + 1])[0] for member in trees])
    np.testing.assert_allclose(np.nan_to_num(forest.oob_prediction_), np.nan_to_num(expected))
    assert all((rows == np.arange(100)).all() for rows in ensemble.RandomForestRegressor(2, bootstrap=False).fit(X, y).estimators_samples_)


@pytest.mark.parametrize("params", [{"scoring": "neg_mean_absolute_error"}, {"store_cv_results": True}, {"alpha_per_target": True}])
def test_ridge_cv_judges_single_rows_as_scikit_learn_does(params):
    ours, twin = (of.RidgeCV(alphas=[0.01, 1.0, 100.0], **params).fit(XR, np.stack([YR, -2 * YR], axis=1)) for of in (linear_model, sklearn.linear_model))
    np.testing.assert_array_equal(ours.alpha_, twin.alpha_)
    np.testing.assert_allclose(ours.predict(XR), twin.predict(XR))
    assert hasattr(ours, "cv_results_") == hasattr(twin, "cv_results_")


@pytest.mark.parametrize("params", [{"min_samples_leaf": 20}, {"min_samples_split": 50}, {"min_impurity_decrease": 0.1}, {"init": "zero"}, {"ccp_alpha": 0.05}])
def test_options_of_boosting_that_only_scikit_learn_has(params):
    for name, y in (("GradientBoostingClassifier", Y), ("GradientBoostingRegressor", YR)):
        ours, twin = (getattr(of, name)(n_estimators=10, random_state=0, **params).fit(X, y) for of in (ensemble, sklearn.ensemble))
        np.testing.assert_array_equal(ours.predict(X), twin.predict(X))
        np.testing.assert_array_equal(ours.train_score_, twin.train_score_)
        with pytest.raises(ValueError, match="eval_set"):
            ours.fit(X, y, eval_set=[(X, y)])


def test_sgd_starts_from_given_coefficients_and_refuses_what_batches_do_not_know():
    start = {"coef_init": np.ones((1, 5)), "intercept_init": [0.5]}
    ours, twin = (of.SGDClassifier(random_state=0, max_iter=5, tol=None).fit(X, Y, **start) for of in (linear_model, sklearn.linear_model))
    np.testing.assert_array_equal(ours.coef_, twin.coef_)
    assert linear_model.SGDClassifier(l1_ratio=None, random_state=0).fit(X, Y).score(X, Y) > 0.6
    with pytest.raises(ValueError, match="l1_ratio"):
        linear_model.SGDClassifier(penalty="elasticnet", l1_ratio=None).fit(X, Y)
    with pytest.raises(ValueError, match="early_stopping"):
        linear_model.SGDClassifier(early_stopping=True).partial_fit(X, Y)
    with pytest.raises(ValueError, match="class_weight"):
        linear_model.SGDClassifier(class_weight="balanced").partial_fit(X, Y)


def test_monotonic_constraints_of_the_absolute_error():
    ours, twin = (of.DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1, 0, 0, 0, 0], random_state=0, max_depth=3).fit(XR, YR) for of in (tree, sklearn.tree))
    np.testing.assert_array_equal(ours.predict(XR), twin.predict(XR))

"""Export and import: what other programs say about our models, and we about theirs. And one row at a time."""

import pathlib

import numpy as np
import pytest

import ermine
from ermine import ensemble, tree

rng = np.random.default_rng(3)
X = rng.normal(size=(300, 4))
X[rng.random(X.shape) < 0.1] = np.nan
NUMBER = np.nan_to_num(X[:, 0]) * 2 + np.nan_to_num(X[:, 1]) ** 2
TWO = np.where(NUMBER > 1, "yes", "no")
THREE = np.digitize(NUMBER, [0, 2])

MODELS = {
    "boosting, numbers": lambda: ensemble.GradientBoostingRegressor(n_estimators=20).fit(X, NUMBER),
    "boosting, two classes": lambda: ensemble.GradientBoostingClassifier(n_estimators=20).fit(X, TWO),
    "boosting, three classes": lambda: ensemble.GradientBoostingClassifier(n_estimators=20).fit(X, THREE),
    "poisson": lambda: ensemble.GradientBoostingRegressor(n_estimators=20, loss="poisson").fit(X, np.abs(NUMBER)),
    "forest": lambda: ensemble.RandomForestClassifier(n_estimators=10, random_state=0).fit(X, THREE),
    "forest, numbers": lambda: ensemble.RandomForestRegressor(n_estimators=10, random_state=0).fit(X, NUMBER),
    "stumps": lambda: ensemble.AdaBoostClassifier(n_estimators=10).fit(X, TWO),
    "tree": lambda: tree.DecisionTreeClassifier(max_depth=4).fit(X, THREE),
}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    return MODELS[request.param]()


def numbers(model, rows):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows).reshape(len(rows), -1)


def test_one_row_is_predicted_as_many_are(model):
    many = numbers(model, X)
    predictor = model.predictor()
    for i in range(40):
        for kind in (np.float64, np.float32):
            row = X[i : i + 1].astype(kind)
            expected = many[i] if kind is np.float64 else numbers(model, np.repeat(row, 3, axis=0))[0]
            np.testing.assert_array_equal(numbers(model, row)[0], expected)
            np.testing.assert_array_equal(predictor(row), expected)
            np.testing.assert_array_equal(predictor(row[0]), expected)
        np.testing.assert_array_equal(predictor(X[i, ::-1][::-1]), many[i])
        assert model.predict(X[i : i + 1])[0] == model.predict(X)[i]
    with pytest.raises(TypeError, match="one row of 4"):
        predictor(X[:2])
    with pytest.raises(TypeError, match="one row of 4"):
        predictor(X[0, :3])


def test_onnx_says_the_same(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    model.export(path)
    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    said = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))
    name = "probabilities" if hasattr(model, "predict_proba") else "prediction"
    np.testing.assert_allclose(said[name], numbers(model, X), rtol=1e-12, atol=1e-12)
    if "label" in said:
        np.testing.assert_array_equal(said["label"], model.predict(X).astype(str))


def test_onnx_knows_categories(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pandas = pytest.importorskip("pandas")
    names = np.array(["red", "green", "blue", "black"])[rng.integers(0, 4, 300)]
    frame = pandas.DataFrame({"c": pandas.Categorical(names), "x": X[:, 0]})
    y = np.isin(names, ["red", "black"]) * 2.0 + np.nan_to_num(X[:, 0])
    for model in (ensemble.GradientBoostingRegressor(n_estimators=15).fit(frame, y), tree.Id3Classifier().fit(frame, y > 1)):
        model.export(tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession((tmp_path / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"])
        rows = np.column_stack([frame["c"].cat.codes.to_numpy(float), X[:, 0]])
        said = session.run(None, {"X": rows})[0]
        np.testing.assert_allclose(said, numbers(model, frame), rtol=1e-12, atol=1e-12)
        # What is no code is an unknown category, here and there.
        for code in (-1.0, 0.5, 4.0, 1e300, -np.inf):
            row = np.array([[code, 0.3]])
            unknown = numbers(model, pandas.DataFrame({"c": pandas.Categorical([None], categories=frame["c"].cat.categories), "x": [0.3]}))
            np.testing.assert_allclose(model.predictor()(row), unknown[0], rtol=1e-12)
            np.testing.assert_allclose(session.run(None, {"X": row})[0], unknown, rtol=1e-12)


def linear_models():
    from ermine import linear_model, svm

    two, three = np.where(np.nan_to_num(X[:, 0]) > 0, "yes", "no"), np.digitize(np.nan_to_num(X[:, 1]), [-0.5, 0.5])
    yield linear_model.Ridge(), np.nan_to_num(X) @ [1.0, -2.0, 0.5, 3.0]
    yield linear_model.LogisticRegression(), two
    yield linear_model.LogisticRegression(), three
    yield linear_model.Perceptron(), three
    yield svm.SVR(kernel="rbf", gamma=0.3), np.nan_to_num(X[:, 0]) ** 2
    for kernel in ("linear", "rbf", "poly", "sigmoid"):
        yield svm.SVC(kernel=kernel, gamma=0.2), two
        yield svm.SVC(kernel=kernel, gamma=0.2), three


def test_onnx_of_linear_models_and_machines(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    for model, y in linear_models():
        # Missing values in training get an indicator column; rows below have some too.
        model.fit(X, y)
        model.export(tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession((tmp_path / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"])
        said = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))
        if "prediction" in said:
            np.testing.assert_allclose(said["prediction"][:, 0], model.predict(X), rtol=1e-6, atol=1e-6)
        else:
            np.testing.assert_array_equal(said["label"], model.predict(X).astype(str))
        if "probabilities" in said:
            np.testing.assert_allclose(said["probabilities"], model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_onnx_files_carry_names(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pandas = pytest.importorskip("pandas")
    import json

    names = np.array(["red", "green", "blue"])[rng.integers(0, 3, 300)]
    frame = pandas.DataFrame({"color": pandas.Categorical(names), "x": X[:, 0]})
    from ermine.linear_model import LogisticRegression

    for model in (LogisticRegression(), tree.DecisionTreeClassifier()):
        model.fit(frame, np.where(names == "red", "warm", "cold"))
        model.export(tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession((tmp_path / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"])
        facts = {key: json.loads(value) for key, value in session.get_modelmeta().custom_metadata_map.items()}
        assert facts["columns"] == ["color", "x"]
        assert facts["classes"] == ["cold", "warm"]
        codes = [facts["categories"]["color"].index(name) for name in names]
        label = session.run(["label"], {"X": np.column_stack([codes, X[:, 0]]).astype(float)})[0]
        np.testing.assert_array_equal(label, model.predict(frame).astype(str))


def test_foreign_models_are_read(tmp_path):
    golden = pathlib.Path(__file__).parents[2] / "ermine/tests/golden/exchange"
    model = ermine.import_model(golden / "xgb_three.ubj")
    assert isinstance(model, ensemble.GradientBoostingClassifier)
    assert list(model.classes_) == [0, 1, 2]
    probabilities = model.predict_proba(rng.normal(size=(10, 5)))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.shap_values(rng.normal(size=(3, 5))).shape == (3, 5, 3)
    model.save(tmp_path / "model.ermine")
    assert ermine.import_model(golden / "lgb_numbers.txt").predict(np.zeros((2, 5))).shape == (2,)
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(ValueError, match="XGBoost"):
        ermine.import_model(tmp_path / "broken.json")


def test_shares_add_up(model):
    shares = model.shap_values(X[:20])
    pairs = model.shap_interaction_values(X[:20])
    np.testing.assert_allclose(pairs.sum(axis=2), shares, atol=1e-9)
    np.testing.assert_allclose(pairs, np.swapaxes(pairs, 1, 2), atol=1e-9)
    count = model.tree_importances("count")
    assert count.shape == (4,) and (count == np.round(count)).all() and (model.tree_importances("cover") >= 0).all()
    assert model.explain_row(X, 3)
    worse = model.permutation_importance(X, TWO if len(getattr(model, "classes_", [])) == 2 else THREE if hasattr(model, "classes_") else NUMBER, n_repeats=2)
    assert worse.shape == (4,) and worse.max() > 0


def test_unsupported_exports_are_errors(tmp_path):
    from ermine.linear_model import LinearRegression

    model = LinearRegression().fit(np.nan_to_num(X), NUMBER)
    with pytest.raises(ValueError, match="no tree ensemble"):
        model.export(tmp_path / "model.c")
    with pytest.raises(ValueError, match="ending"):
        model.export(tmp_path / "model")
    model.export(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text().startswith("{")


def test_dependence_is_the_mean_of_predictions(model):
    found = model.partial_dependence(X, 0, n_values=5, n_curves=3)
    assert found["curves"].shape == (3, len(found["values"]))
    for value, mean in zip(found["values"], found["mean"], strict=True):
        changed = X.copy()
        changed[:, 0] = value
        np.testing.assert_allclose(mean, numbers(model, changed).mean(axis=0))
    with pytest.raises(ValueError, match="column 9"):
        model.partial_dependence(X, 9)


def test_one_class_models_of_other_programs_are_loaded():
    """A model that the command line has trained carries no notes of this package."""
    golden = pathlib.Path(__file__).parents[2] / "ermine/tests/golden/models/one-class-svm.v1.ermine"
    model = ermine.load(golden)
    assert type(model).__name__ == "OneClassSVM" and model.n_features_in_ > 0 and len(model.support_) > 0


@pytest.mark.parametrize("name", ["C45Classifier", "Id3Classifier"])
def test_leaves_of_multiway_trees(name):
    rng = np.random.default_rng(0)
    X = rng.random((80, 3))
    y = (X[:, 0] > 0.4).astype(int) + (X[:, 1] > 0.7)
    model = getattr(ermine.tree, name)().fit(X, y)
    leaves = model.apply(X)
    # Rows of one leaf are predicted the same, and there are as many leaves as the model says.
    assert leaves.shape == (80,) and 1 < len(set(leaves)) <= model.get_n_leaves()
    for leaf in set(leaves):
        assert len({tuple(p) for p in model.predict_proba(X[leaves == leaf]).round(12)}) == 1

"""Prediction and explanation with models of the same shape: boosted trees of 31 leaves, oblivious trees, deep forests; in batch, one row at a time, and SHAP values.

Every contender trains its own model before the clock starts, or is handed the LightGBM model where it has no trainer (treelite, onnxruntime, lleaves). Batch and SHAP are on float32 rows.
"""

import os
import tempfile

from harness import OURS, Job

TRAIN, ROWS, D, TREES = 50_000, 500_000, 50, 200
DEEP_ROWS, ONE, SHAP_ROWS = 25_000, 2_000, 2_000


def two_classes():
    from sklearn.datasets import make_classification

    X, y = make_classification(TRAIN + ROWS, D, n_informative=20, random_state=0)
    X = X.astype("float32")
    return {"X": X[:TRAIN], "y": y[:TRAIN], "X_test": X[TRAIN:], "y_test": y[TRAIN:]}


def deep_data():
    from sklearn.datasets import make_classification

    X, y = make_classification(100_000 + DEEP_ROWS, D, n_informative=20, random_state=0)
    X = X.astype("float32")
    return {"X": X[:100_000], "y": y[:100_000], "X_test": X[100_000:], "y_test": y[100_000:]}


# Trained models

def ermine_model(data, **params):
    from ermine.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=TREES, max_leaf_nodes=31, n_jobs=2, random_state=0, **params).fit(data["X"], data["y"])


def xgboost_model(data):
    import xgboost

    params = {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "nthread": 2}
    return xgboost.train(params, xgboost.DMatrix(data["X"], data["y"], nthread=2), TREES)


def lightgbm_model(data):
    import lightgbm

    return lightgbm.train({"objective": "binary", "num_leaves": 31, "num_threads": 2, "verbose": -1}, lightgbm.Dataset(data["X"], data["y"]), TREES)


def catboost_model(data):
    import catboost

    return catboost.CatBoostClassifier(iterations=TREES, depth=6, thread_count=2, verbose=False).fit(data["X"], data["y"])


def forest_model(library, data, rows=None):
    if library == "ermine":
        import ermine.ensemble as ensemble
    elif library == "scikit-learn-intelex":
        import sklearnex.ensemble as ensemble
    else:
        import sklearn.ensemble as ensemble
    return ensemble.RandomForestClassifier(n_estimators=100, n_jobs=2, random_state=0).fit(data["X"][:rows], data["y"][:rows])


def onnx_session(data, threads=2):
    import onnxmltools
    import onnxruntime
    from onnxmltools.convert.common.data_types import FloatTensorType

    model = onnxmltools.convert_lightgbm(lightgbm_model(data), initial_types=[("X", FloatTensorType([None, D]))], zipmap=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def lleaves_model(data):
    import lleaves

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.txt")
        lightgbm_model(data).save_model(path)
        model = lleaves.Model(path)
        model.compile()
    return model


def tl2cgen_model(data):
    import tl2cgen
    import treelite

    model = treelite.frontend.from_lightgbm(lightgbm_model(data))
    folder = tempfile.mkdtemp()
    library = os.path.join(folder, "model.so")
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": 2})
    return tl2cgen.Predictor(library, nthread=2)


# Batch

def batch_ermine(**params):
    def contender(data):
        model = ermine_model(data, **params)
        return lambda: model.predict_proba(data["X_test"])[:, 1]

    return contender


def batch_xgboost(data):
    model = xgboost_model(data)
    return lambda: model.inplace_predict(data["X_test"])


def batch_lightgbm(data):
    model = lightgbm_model(data)
    return lambda: model.predict(data["X_test"], num_threads=2)


def batch_catboost(data):
    model = catboost_model(data)
    return lambda: model.predict_proba(data["X_test"], thread_count=2)[:, 1]


def batch_onnx(data):
    session = onnx_session(data)
    return lambda: session.run(None, {"X": data["X_test"]})[1][:, 1]


def batch_lleaves(data):
    model, rows = lleaves_model(data), data["X_test"].astype("float64")
    return lambda: model.predict(rows, n_jobs=2)


def batch_tl2cgen(data):
    import tl2cgen

    model = tl2cgen_model(data)
    rows = tl2cgen.DMatrix(data["X_test"], dtype="float32")
    return lambda: model.predict(rows).reshape(-1)


def batch_treelite(data):
    import treelite

    model, rows = treelite.frontend.from_lightgbm(lightgbm_model(data)), data["X_test"].astype("float64")
    return lambda: treelite.gtil.predict(model, rows, nthread=2).reshape(-1)


def batch_forest(library):
    def contender(data):
        model = forest_model(library, data)
        return lambda: model.predict_proba(data["X_test"])[:, 1]

    return contender


def batch_extra(library):
    def contender(data):
        if library == "ermine":
            from ermine.ensemble import ExtraTreesClassifier
        else:
            from sklearn.ensemble import ExtraTreesClassifier
        model = ExtraTreesClassifier(n_estimators=100, n_jobs=2, random_state=0).fit(data["X"], data["y"])
        return lambda: model.predict_proba(data["X_test"])[:, 1]

    return contender


# One row at a time

def rows_of(data):
    return [data["X_test"][i : i + 1].astype("float64") for i in range(ONE)]


def one(prepare, call):
    """Calls `call(model, row)` for one row after the other."""

    def contender(data):
        model, rows = prepare(data), rows_of(data)

        def work():
            for row in rows:
                said = call(model, row)
            return said

        return work

    return contender


def one_lightgbm_fast(data):
    """LightGBM's fast path for single rows, called through ctypes as its documentation has it."""
    import ctypes

    import lightgbm
    import numpy as np

    model, rows = lightgbm_model(data), rows_of(data)
    library = lightgbm.basic._LIB
    config, out, n = ctypes.c_void_p(), np.zeros(1), ctypes.c_int64()
    library.LGBM_BoosterPredictForMatSingleRowFastInit(model._handle, 0, 0, -1, 1, D, ctypes.c_char_p(b"num_threads=1"), ctypes.byref(config))
    answer = out.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    predict, length = library.LGBM_BoosterPredictForMatSingleRowFast, ctypes.byref(n)

    def work():
        for row in rows:
            predict(config, ctypes.c_void_p(row.ctypes.data), length, answer)
        return out, model  # which must live as long as its handle

    return work


# SHAP values

def shap_ermine(data):
    model, rows = ermine_model(data), data["X_test"][:SHAP_ROWS]
    return lambda: model.shap_values(rows)


def shap_xgboost(data):
    import xgboost

    model = xgboost_model(data)
    return lambda: model.predict(xgboost.DMatrix(data["X_test"][:SHAP_ROWS], nthread=2), pred_contribs=True)


def shap_lightgbm(data):
    model, rows = lightgbm_model(data), data["X_test"][:SHAP_ROWS]
    return lambda: model.predict(rows, pred_contrib=True, num_threads=2)


def shap_shap(data):
    import shap

    explainer, rows = shap.TreeExplainer(lightgbm_model(data), feature_perturbation="tree_path_dependent"), data["X_test"][:SHAP_ROWS]
    # Its C extension; without this, it hands the rows to LightGBM.
    explainer.model.model_type = "internal"
    return lambda: explainer.shap_values(rows, check_additivity=False)


def accuracy(data, said):
    return {"accuracy": float(((said > 0.5) == (data["y_test"] > 0.5)).mean())}


BATCH_PEERS = {
    "XGBoost": batch_xgboost, "LightGBM": batch_lightgbm, "onnxruntime": batch_onnx, "lleaves": batch_lleaves, "tl2cgen": batch_tl2cgen, "treelite": batch_treelite,
}
ONE_ROW = {
    OURS: one(ermine_model, lambda model, row: model.predict_proba(row)),
    "ermine, predictor": one(lambda data: ermine_model(data).predictor(), lambda predictor, row: predictor(row)),
    "XGBoost": one(xgboost_model, lambda model, row: model.inplace_predict(row)),
    "LightGBM": one(lightgbm_model, lambda model, row: model.predict(row, num_threads=1)),
    "LightGBM, C fast path": one_lightgbm_fast,
    "onnxruntime": one(lambda data: onnx_session(data, 1), lambda session, row: session.run(None, {"X": row.astype("float32")})),
    "lleaves": one(lleaves_model, lambda model, row: model.predict(row, n_jobs=1)),
    "CatBoost": one(catboost_model, lambda model, row: model.predict(row, thread_count=1)),
}
JOBS = [
    Job(f"predict {ROWS:,} rows, {TREES} trees of 31 leaves", two_classes, {OURS: batch_ermine()} | BATCH_PEERS, accuracy, dict.fromkeys(BATCH_PEERS, 8.0)),
    Job(
        f"predict {ROWS:,} rows, {TREES} oblivious trees", two_classes, {OURS: batch_ermine(grow_policy="symmetric", max_depth=6), "CatBoost": batch_catboost},
        accuracy, {"CatBoost": 2.0},
    ),
    Job(
        f"predict {DEEP_ROWS:,} rows, forest of 100 deep trees", deep_data,
        {OURS: batch_forest("ermine")} | {peer: batch_forest(peer) for peer in ("scikit-learn-intelex", "scikit-learn")}, accuracy,
        {"scikit-learn-intelex": 2.0, "scikit-learn": 5.0},
    ),
    Job(
        f"predict {DEEP_ROWS:,} rows, 100 extra-trees", deep_data, {OURS: batch_extra("ermine"), "scikit-learn": batch_extra("scikit-learn")}, accuracy,
        {"scikit-learn": 5.0},
    ),
    Job(f"predict one row, {ONE:,} times, {TREES} trees of 31 leaves", two_classes, ONE_ROW, goals={name: 3.0 for name in ONE_ROW if "ermine" not in name}),
    Job(
        f"SHAP values of {SHAP_ROWS:,} rows, {TREES} trees of 31 leaves", two_classes,
        {OURS: shap_ermine, "XGBoost": shap_xgboost, "LightGBM": shap_lightgbm, "shap": shap_shap}, goals={"XGBoost": 2.0, "LightGBM": 2.0, "shap": 2.0}, repeat=3,
    ),
]

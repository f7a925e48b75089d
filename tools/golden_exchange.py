"""Writes crates/ermine/tests/golden/exchange/: small models of XGBoost and LightGBM, and what they say about some rows.

Run with an interpreter that has numpy, pandas, xgboost and lightgbm: python tools/golden_exchange.py
"""

import json
import pathlib

import golden_file
import lightgbm
import numpy as np
import pandas
import xgboost

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/ermine/tests/golden/exchange"
OUT.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(11)
N, D = 400, 5
# Double precision, so that it shows where values are rounded; the last column holds categories.
x = rng.normal(size=(N, D))
x[:, 1] = np.where(rng.random(N) < 0.2, np.nan, x[:, 1])
x[:, 2] = np.round(x[:, 2], 1)
x[:, 4] = rng.integers(0, 40, N)
signal = x[:, 0] + np.nan_to_num(x[:, 1], nan=1.5) * x[:, 2] + np.isin(x[:, 4], [1, 4, 7, 33]) * 2.0
noise = 0.3 * rng.normal(size=N)
number = signal + noise
two = (number > 0.5).astype(int)
three = np.digitize(number, [-0.5, 1.0])
count = rng.poisson(np.exp(np.clip(signal / 3, -2, 2)))
cases = []


def rows(values):
    return [[None if np.isnan(v) else float(v) for v in row] for row in values]


def keep(name, file, said, **more):
    said = np.asarray(said, dtype=float)
    cases.append({"name": name, "file": file, "said": said.reshape(len(said), -1).tolist(), **more})


def xgb(name, y, file, categories=False, **params):
    kinds = ["q"] * D
    if categories:
        kinds[4] = "c"
    data = xgboost.DMatrix(x, y, feature_types=kinds, enable_categorical=categories)
    booster = xgboost.train({"nthread": 1, "max_depth": 4, "max_cat_to_onehot": 2, "seed": 1, **params}, data, 6)
    booster.save_model(OUT / file)
    said = booster.predict(data)
    if params["objective"] == "binary:logistic":
        said = np.column_stack([1 - said.astype(float), said])
    keep(name, file, said)


def lgb(name, y, file, categories=False, rounds=6, **params):
    data = lightgbm.Dataset(x, y, categorical_feature=[4] if categories else [])
    booster = lightgbm.train({"num_threads": 1, "num_leaves": 12, "min_data_in_leaf": 5, "min_data_per_group": 5, "verbose": -1, "seed": 1, **params}, data, rounds)
    booster.save_model(OUT / file)
    said = booster.predict(x)
    if params["objective"] == "binary":
        said = np.column_stack([1 - said, said])
    keep(name, file, said)


xgb("numbers", number, "xgb_numbers.json", objective="reg:squarederror")
xgb("numbers, binary file", number, "xgb_numbers.ubj", objective="reg:squarederror")
xgb("two classes", two, "xgb_two.json", objective="binary:logistic")
xgb("two classes, categories", two, "xgb_categories.ubj", True, objective="binary:logistic")
xgb("three classes", three, "xgb_three.ubj", objective="multi:softprob", num_class=3)
xgb("counts", count, "xgb_counts.json", objective="count:poisson")
xgb("dart", number, "xgb_dart.json", objective="reg:squarederror", booster="dart", rate_drop=0.5)
xgb("forest in rounds", two, "xgb_parallel.json", objective="binary:logistic", num_parallel_tree=2, subsample=0.6, eta=0.5)
lgb("lightgbm numbers", number, "lgb_numbers.txt", objective="regression")
lgb("lightgbm two classes, categories", two, "lgb_categories.txt", True, objective="binary", sigmoid=1.5)
lgb("lightgbm three classes", three, "lgb_three.txt", objective="multiclass", num_class=3)
lgb("lightgbm counts", count, "lgb_counts.txt", objective="poisson")
lgb("lightgbm no missing", number, "lgb_plain.txt", objective="regression", use_missing=False)
lgb("lightgbm forest", number, "lgb_forest.txt", objective="regression", boosting="rf", bagging_freq=1, bagging_fraction=0.6)
lgb("lightgbm nothing learned", np.full(N, 3.5), "lgb_constant.txt", objective="regression", rounds=2)
# Categories by name, codes below zero, and training that was stopped early.
named = pandas.DataFrame(x, columns=[f"f{j}" for j in range(D)])
named["f4"] = pandas.Categorical([f"c{int(code):02d}" for code in x[:, 4]])
below = x.copy()
below[:30, 4] = -1
model = xgboost.XGBRegressor(n_estimators=6, max_depth=4, n_jobs=1, enable_categorical=True, max_cat_to_onehot=2).fit(named, number)
model.save_model(OUT / "xgb_named.json")
keep("named categories", "xgb_named.json", model.predict(named), named=True)
model = lightgbm.train({"num_threads": 1, "num_leaves": 12, "min_data_in_leaf": 5, "min_data_per_group": 5, "verbose": -1}, lightgbm.Dataset(named, number), 6)
model.save_model(OUT / "lgb_named.txt")
keep("lightgbm named categories", "lgb_named.txt", model.predict(named), named=True)
booster = xgboost.Booster(model_file=OUT / "xgb_categories.ubj")
kinds = ["q"] * (D - 1) + ["c"]
said = booster.predict(xgboost.DMatrix(below, feature_types=kinds, enable_categorical=True)).astype(float)
keep("codes below zero", "xgb_categories.ubj", np.column_stack([1 - said, said]), below=30)
said = lightgbm.Booster(model_file=OUT / "lgb_categories.txt").predict(below)
keep("lightgbm codes below zero", "lgb_categories.txt", np.column_stack([1 - said, said]), below=30)
half = N // 2
model = xgboost.XGBRegressor(n_estimators=60, learning_rate=0.9, n_jobs=1, early_stopping_rounds=3).fit(x[:half], number[:half], eval_set=[(x[half:], number[half:])], verbose=False)
assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
model.save_model(OUT / "xgb_stopped.json")
keep("stopped early", "xgb_stopped.json", model.predict(x))
golden_file.write("exchange/cases.json", __file__, {"x": rows(x), "cases": cases}, xgboost, lightgbm, np)
print(OUT, len(cases), "cases")

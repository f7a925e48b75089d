"""Parameters without effect refuse what scikit-learn refuses."""

import importlib
import warnings

import numpy as np
import pytest
from sklearn.utils import all_estimators

from ermine._catalog import CATALOG

THEIRS = dict(all_estimators())
X = np.random.default_rng(0).normal(size=(30, 2))
Y = {"classification": (X[:, 0] > 0).astype(int), "regression": X[:, 0]}
CASES = [(entry, name) for entry in CATALOG if entry.name in THEIRS for name in entry.without_effect]


@pytest.mark.parametrize(("entry", "name"), CASES, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("value", ["nonsense", -1, [1, 2], 0.5])
def test_invalid_values_are_errors(entry, name, value):
    """Where scikit-learn refuses a value, so do we, and the message names the parameter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            THEIRS[entry.name](**{name: value}).fit(X, Y[entry.task])
        except (ValueError, TypeError):
            pass
        else:
            pytest.skip("scikit-learn takes it")
        with pytest.raises(ValueError, match=name):
            getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name)(**{name: value}).fit(X, Y[entry.task])


@pytest.mark.parametrize("entry", [entry for entry, name in CASES if name == "warm_start"], ids=lambda entry: entry.name)
def test_a_warm_start_without_effect_fits_again(entry):
    cls = getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name)
    model = cls(warm_start=True).fit(X, Y[entry.task])
    once = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, Y[entry.task]).coef_, once)

"""Categories and missing values need no preparation, in training or in prediction.

    python examples/python/categories_and_missing_values.py
"""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from ermine.ensemble import GradientBoostingClassifier, RandomForestClassifier
from ermine.linear_model import LogisticRegression
from ermine.metrics import accuracy_score, log_loss
from ermine.tree import DecisionTreeClassifier

DATA = Path(__file__).resolve().parents[1] / "data"

penguins = pd.read_csv(DATA / "penguins.csv")
X, y = penguins.drop(columns="species"), penguins["species"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

missing = X.isna().sum()
print("missing values:", ", ".join(f"{column} {count}" for column, count in missing.items() if count))
print("categories:    ", ", ".join(X.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]]))
print()
print(f"{'':28} {'accuracy':>8} {'log loss':>8}")
for model in (
    DecisionTreeClassifier(max_depth=3, random_state=0),
    RandomForestClassifier(100, random_state=0),
    GradientBoostingClassifier(n_estimators=100, random_state=0),
    LogisticRegression(),
):
    model.fit(X_train, y_train)
    accuracy = accuracy_score(y_test, model.predict(X_test))
    loss = log_loss(y_test, model.predict_proba(X_test))
    print(f"{type(model).__name__:28} {accuracy:8.3f} {loss:8.3f}")

# A row with hardly any value, and a category that training didn't have: both count as missing.
unknown = pd.DataFrame({"island": ["Atlantis"], "bill_length_mm": [46.0], "bill_depth_mm": [None], "flipper_length_mm": [None], "body_mass_g": [None], "sex": [None]})
tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X_train, y_train)
print()
print("a penguin with a bill of 46 mm from an unknown island:")
for species, probability in zip(tree.classes_, tree.predict_proba(unknown)[0]):
    print(f"  {species:10} {probability:.3f}")
print()
print(tree.describe())

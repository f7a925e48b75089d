"""Choose the number of boosting rounds by early stopping

Each round of boosting lowers the training loss; the loss on new rows falls, then rises again. Early stopping ends training when the validation loss has not improved for a
number of rounds, and keeps the best round. A smaller learning rate needs more rounds, and its minimum is flatter.
Here: the progression of diabetes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from ermine.ensemble import GradientBoostingRegressor
from ermine.metrics import root_mean_squared_error
from ermine.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.5, random_state=3)
X_valid, X_test, y_valid, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)

figure, axes = plt.subplots()
for color, rate in (("C0", 0.3), ("C1", 0.1), ("C2", 0.03)):
    model = GradientBoostingRegressor(n_estimators=1000, learning_rate=rate, max_leaf_nodes=8, eval_metric="rmse", early_stopping_rounds=100, random_state=0)
    model.fit(X_train, y_train, eval_set=[(X_train, y_train), (X_valid, y_valid)])
    train, valid = (next(iter(result.values())) for result in model.evals_result_.values())
    best = model.n_estimators_
    print(f"learning rate {rate:4}: best round {best:3} of {len(valid)}, RMSE {valid[best - 1]:.2f} on the validation set, {root_mean_squared_error(y_test, model.predict(X_test)):.2f} on the test set")
    axes.plot(range(1, len(train) + 1), train, color=color, linestyle=":", linewidth=1.2)
    axes.plot(range(1, len(valid) + 1), valid, color=color, label=f"learning rate {rate}")
    axes.plot(best, valid[best - 1], marker="o", color=color)
axes.set_xscale("log")
axes.set_xlabel("round")
axes.set_ylabel("RMSE (dotted: training rows)")
axes.legend()
plt.show()

"""Quantile bands: how uncertain is a prediction?

A single boosted model predicts several quantiles at once, which never cross. Flights that are scheduled late in the day are not only later on average, but less predictable: the band between
the 10 % and the 90 % quantile widens. Coverage on held-out days shows how honest the band is.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ermine.ensemble import GradientBoostingRegressor
from ermine.metrics import mean_pinball_loss

DATA = Path(__file__).resolve().parents[1] / "data"
flights = pd.read_csv(DATA / "flights.csv")
X, y = flights[["hour", "carrier", "origin", "month", "distance"]], flights["arrival_delay"]
day = pd.factorize(flights["date"])[0]
train, test = day % 4 != 3, day % 4 == 3

levels = [0.1, 0.5, 0.9]
model = GradientBoostingRegressor(n_estimators=120, learning_rate=0.05, loss="quantile", quantile_alpha=levels, random_state=0).fit(X[train], y[train])
quantiles = model.predict_quantiles(X[test])
for level, predicted in zip(levels, quantiles.T):
    print(f"quantile {level}: {(y[test] <= predicted).mean():.3f} of the test rows are below, pinball loss {mean_pinball_loss(y[test], predicted, alpha=level):.2f}")
inside = ((quantiles[:, 0] <= y[test]) & (y[test] <= quantiles[:, 2])).mean()
print(f"between 0.1 and 0.9: {inside:.3f} (80 % are wanted)")

# %%
# The mean of the predicted quantiles for each hour, over the test flights.

hours = np.sort(X[test]["hour"].unique())
by_hour = np.array([quantiles[X[test]["hour"].to_numpy() == hour].mean(axis=0) for hour in hours])
figure, axes = plt.subplots()
jitter = np.random.default_rng(0).uniform(-0.3, 0.3, test.sum())
axes.scatter(X[test]["hour"] + jitter, y[test], s=5, color="gray", alpha=0.5, label="test flights")
axes.fill_between(hours, by_hour[:, 0], by_hour[:, 2], color="C0", alpha=0.3, linewidth=0, label="10 % to 90 %")
axes.plot(hours, by_hour[:, 1], color="C0", label="median")
axes.set_ylim(-70, 160)
axes.set_xlabel("scheduled hour of departure")
axes.set_ylabel("delay at arrival (minutes)")
axes.legend(loc="upper left")
plt.show()

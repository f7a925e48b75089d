"""The path of the lasso, with duality gaps

As the penalty falls, coefficients enter the model one after the other. Each point of the path is the solution of a convex problem, and comes with a duality gap: an upper bound on
how far its objective is above the minimum.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from ermine.linear_model import LassoCV, lasso_path

data = load_diabetes()
X, y = data.data / data.data.std(axis=0), data.target
alphas, coefs, gaps = lasso_path(X, y, n_alphas=80, eps=1e-3)
_, rough, rough_gaps = lasso_path(X, y, alphas=alphas, tol=1e-4)
chosen = LassoCV(random_state=0).fit(X, y)

print("alpha    nonzero  largest gap so far")
for i in range(0, 80, 13):
    print(f"{alphas[i]:7.3f}  {(coefs[:, i] != 0).sum():7}  {gaps[: i + 1].max():.1e}")
print(f"with tol=1e-4 the largest gap is {rough_gaps.max():.1e}, and coefficients differ by at most {abs(rough - coefs).max():.2g}")
print(f"chosen by cross-validation: alpha = {chosen.alpha_:.3f}, {(chosen.coef_ != 0).sum()} of {X.shape[1]} coefficients")

# %%

figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 5.6), sharex=True, height_ratios=[3, 1])
for column in np.argsort(-abs(coefs[:, -1])):
    line = top.plot(alphas, coefs[column], linewidth=1.5)[0]
    top.annotate(data.feature_names[column], (alphas[-1], coefs[column, -1]), xytext=(4, -3), textcoords="offset points", fontsize=8, color=line.get_color())
top.axvline(chosen.alpha_, color="gray", linestyle="--", linewidth=1.2)
top.annotate("chosen by\ncross-validation", (chosen.alpha_, top.get_ylim()[0]), xytext=(-6, 8), textcoords="offset points", fontsize=8, ha="right")
top.set_ylabel("coefficient")
bottom.semilogy(alphas, np.maximum(rough_gaps, 1e-15), color="C1", label="tol=1e-4")
bottom.semilogy(alphas, np.maximum(gaps, 1e-15), color="C0", label="tol=1e-10 (default)")
bottom.legend(fontsize=8)
bottom.set_ylabel("duality gap")
bottom.set_xlabel("alpha (strength of the penalty)")
bottom.set_xscale("log")
bottom.invert_xaxis()
plt.show()

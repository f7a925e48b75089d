"""Optimal trees against greedy trees

CART chooses one split after the other and never reconsiders. `OptimalTreeClassifier` searches all trees of a depth and proves that none has a lower training error; if it
runs out of time it reports the gap that remains. Here both fit the same yes-or-no columns of the breast-cancer data (each measurement cut at its quartiles).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from ermine.model_selection import train_test_split
from ermine.tree import DecisionTreeClassifier, OptimalTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
cuts = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
binary = np.concatenate([X > cut for cut in cuts], axis=1).astype(float)
X_train, X_test, y_train, y_test = train_test_split(binary, y, test_size=0.4, random_state=0, stratify=y)

depths = [1, 2, 3]
errors = {"greedy": [], "optimal": []}
for depth in depths:
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X_train, y_train)
    optimal = OptimalTreeClassifier(max_depth=depth).fit(X_train, y_train)
    for name, tree in (("greedy", greedy), ("optimal", optimal)):
        errors[name].append((1 - tree.score(X_train, y_train), 1 - tree.score(X_test, y_test)))
    print(f"depth {depth}: training errors {errors['greedy'][-1][0]:.4f} greedy, {errors['optimal'][-1][0]:.4f} optimal")

print(optimal.certificate_)

# %%
# The optimal tree is never worse on the training rows. On new rows a better fit need not pay: compare the hatched bars.

figure, axes = plt.subplots()
places = np.arange(len(depths))
for shift, (name, color) in zip((-0.2, 0.2), (("greedy", "C1"), ("optimal", "C0"))):
    values = np.array(errors[name])
    axes.bar(places + shift - 0.09, values[:, 0], 0.18, color=color, label=f"{name}, training rows")
    axes.bar(places + shift + 0.09, values[:, 1], 0.18, color=color, alpha=0.45, hatch="//", label=f"{name}, test rows")
axes.set_xticks(places, [f"depth {depth}" for depth in depths])
axes.set_ylabel("error rate")
figure.legend(loc="outside upper center", ncols=2)
plt.show()

"""Prune a tree by cost complexity

A fully grown tree fits its training rows perfectly and new rows worse than a smaller one. Cost-complexity pruning trades the two with one parameter: the path lists every
subtree that is optimal for some `ccp_alpha`, and cross-validation chooses among them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from ermine.model_selection import train_test_split
from ermine.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=1, stratify=y)

path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X_train, y_train)
trees = [DecisionTreeClassifier(ccp_alpha=alpha, random_state=0).fit(X_train, y_train) for alpha in path.ccp_alphas]
train = [tree.score(X_train, y_train) for tree in trees]
test = [tree.score(X_test, y_test) for tree in trees]
leaves = [tree.get_n_leaves() for tree in trees]

print("ccp_alpha  leaves  training  test")
for alpha, n, a, b in zip(path.ccp_alphas, leaves, train, test):
    print(f"{alpha:9.4f}  {n:6d}  {a:8.3f}  {b:.3f}")

# %%
# `pruning="cross_validation"` makes the choice inside `fit`, without looking at the test rows.

chosen = DecisionTreeClassifier(pruning="cross_validation", random_state=0).fit(X_train, y_train)
print(f"chosen by cross-validation: {chosen.get_n_leaves()} leaves, test accuracy {chosen.score(X_test, y_test):.3f}")

figure, axes = plt.subplots()
axes.plot(leaves, train, marker="o", label="training rows")
axes.plot(leaves, test, marker="s", label="test rows")
axes.axvline(chosen.get_n_leaves(), color="C2", linestyle="--", label="chosen by cross-validation")
axes.set_xlabel("leaves")
axes.set_ylabel("accuracy")
axes.legend()
plt.show()

"""Out-of-bag error and importances of a random forest

Each tree of a forest is grown on a bootstrap sample, so about a third of the rows are out of its bag. Predicting each row with the trees that did not see it gives an honest
estimate of the error without a test set. `warm_start` adds trees to a fitted forest.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from ermine.ensemble import RandomForestClassifier
from ermine.model_selection import train_test_split

data = load_breast_cancer()
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.4, random_state=0, stratify=data.target)

sizes = [25, 40, 65, 100, 160, 250, 400]
forest = RandomForestClassifier(oob_score=True, warm_start=True, random_state=0)
oob, test = [], []
for size in sizes:
    forest.set_params(n_estimators=size).fit(X_train, y_train)
    oob.append(1 - forest.oob_score_)
    test.append(1 - forest.score(X_test, y_test))
for size, a, b in zip(sizes, oob, test):
    print(f"{size:4} trees: out-of-bag error {a:.4f}, test error {b:.4f}")

figure, axes = plt.subplots()
axes.plot(sizes, oob, marker="o", label="out-of-bag rows")
axes.plot(sizes, test, marker="s", label="test rows")
axes.set_xscale("log")
axes.set_xticks(sizes, sizes)
axes.minorticks_off()
axes.set_xlabel("trees")
axes.set_ylabel("error rate")
axes.legend()
plt.show()

# %%
# Two views of importance: the share of the impurity decrease in training, and how much accuracy on the test rows is lost when a column is shuffled.
# Columns that carry the same information share the credit in the first and hide each other in the second.

gain = forest.feature_importances_
shuffled = forest.permutation_importance(X_test, y_test, n_repeats=10)
top = np.argsort(-gain)[:8][::-1]
figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.6), sharey=True)
panels[0].barh([data.feature_names[i] for i in top], gain[top], color="C0")
panels[0].set_xlabel("share of impurity decrease")
panels[1].barh([data.feature_names[i] for i in top], shuffled[top], color="C1")
panels[1].set_xlabel("loss of test accuracy when shuffled")
plt.show()

"""Many classes from binary classifiers

A perceptron separates two classes. Reductions make a ten-class classifier of it: one against the rest (10 problems), one against one (45), or an error-correcting output code (random
halves of the classes). Any learner of Ermine can be the base estimator.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ermine.linear_model import LogisticRegression, Perceptron
from ermine.metrics import confusion_matrix
from ermine.model_selection import train_test_split
from ermine.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from ermine.tree import DecisionTreeClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
bases = {"perceptron": Perceptron(), "logistic regression": LogisticRegression(C=0.01, max_iter=1000), "decision tree": DecisionTreeClassifier(max_depth=6, random_state=0)}
reductions = {
    "one vs. rest": lambda base: OneVsRestClassifier(base, random_state=0),
    "one vs. one": lambda base: OneVsOneClassifier(base, random_state=0),
    "output code": lambda base: OutputCodeClassifier(base, code_size=3.0, random_state=0),
}

scores = {(base, name): make(estimator).fit(X_train, y_train).score(X_test, y_test) for base, estimator in bases.items() for name, make in reductions.items()}
print(f"{'':22}" + "".join(f"{name:>14}" for name in reductions))
for base in bases:
    print(f"{base:22}" + "".join(f"{scores[base, name]:14.3f}" for name in reductions))

figure, axes = plt.subplots()
for place, name in enumerate(reductions):
    axes.bar(np.arange(len(bases)) + 0.27 * (place - 1), [scores[base, name] for base in bases], 0.25, label=name)
axes.set_xticks(range(len(bases)), bases)
axes.set_ylim(0.7, 1.0)
axes.set_ylabel("test accuracy")
axes.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))
plt.show()

# %%
# Which digits are confused by the weakest combination?

base, name = min(scores, key=scores.get)
model = reductions[name](bases[base]).fit(X_train, y_train)
counts = confusion_matrix(y_test, model.predict(X_test))
np.fill_diagonal(counts, 0)
figure, axes = plt.subplots(figsize=(4.8, 4.2))
shown = axes.imshow(counts, cmap="viridis")
axes.set_xticks(range(10))
axes.set_yticks(range(10))
axes.set_xlabel("predicted digit")
axes.set_ylabel("true digit")
axes.set_title(f"errors of {base}, {name}")
axes.grid(False)
figure.colorbar(shown, ax=axes).outline.set_visible(False)
plt.show()

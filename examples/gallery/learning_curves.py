"""Learning curves: would more data help?

The score by the number of training rows. Where the curves for training and test rows have met, more rows of the same kind change little and a more flexible learner is the next
step; where they are far apart, more rows or more regularization help.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ermine.linear_model import LogisticRegression
from ermine.model_selection import learning_curve
from ermine.neighbors import KNeighborsClassifier
from ermine.tree import DecisionTreeClassifier

X, y = load_digits(return_X_y=True)
models = {"decision tree": DecisionTreeClassifier(random_state=0), "logistic regression": LogisticRegression(C=0.01, max_iter=1000), "3 nearest neighbors": KNeighborsClassifier(3)}

figure, axes = plt.subplots()
for color, (name, model) in zip(("C0", "C1", "C2"), models.items()):
    sizes, train, test = learning_curve(model, X, y, train_sizes=[0.05, 0.1, 0.2, 0.4, 0.7, 1.0], cv=5)
    print(f"{name:20} " + "  ".join(f"{size}: {score:.3f}" for size, score in zip(sizes, test.mean(axis=1))))
    axes.plot(sizes, train.mean(axis=1), color=color, linestyle=":")
    axes.plot(sizes, test.mean(axis=1), color=color, marker="o", label=name)
    spread = test.std(axis=1)
    axes.fill_between(sizes, test.mean(axis=1) - spread, test.mean(axis=1) + spread, color=color, alpha=0.2, linewidth=0)
axes.set_xlabel("training rows")
axes.set_ylabel("accuracy (dotted: training rows)")
axes.legend(loc="lower right")
plt.show()

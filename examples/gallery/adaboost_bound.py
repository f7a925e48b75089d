"""AdaBoost and its training-error bound

AdaBoost comes with a guarantee: its training error is at most $\\prod_t 2\\sqrt{\\epsilon_t(1 - \\epsilon_t)}$, where $\\epsilon_t$ is the weighted error of round $t$. Ermine keeps the bound
of every round and states the last one in the certificate. The test error often continues to fall after the training error is zero.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from ermine.ensemble import AdaBoostClassifier
from ermine.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
model = AdaBoostClassifier(n_estimators=150).fit(X_train, y_train)
test = [1 - score for score in model.staged_score(X_test, y_test)]

print("round  training error  bound   test error")
for round in (1, 5, 10, 25, 50, 100, 150):
    i = round - 1
    print(f"{round:5}  {model.train_errors_[i]:14.4f}  {model.train_error_bounds_[i]:.4f}  {test[i]:10.4f}")
print()
print(model.certificate_)

# %%
# The bound falls exponentially as long as every stump is better than chance.

rounds = range(1, len(test) + 1)
figure, axes = plt.subplots()
axes.plot(rounds, model.train_error_bounds_, label="bound", linestyle="--")
axes.plot(rounds, model.train_errors_, label="training error")
axes.plot(rounds, test, label="test error")
axes.set_yscale("symlog", linthresh=0.01)
axes.set_yticks([0, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
axes.set_ylim(-0.0005, 1.2)
axes.set_xlabel("round")
axes.set_ylabel("error rate")
axes.legend()
plt.show()

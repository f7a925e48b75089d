"""How many neighbors?

With few neighbors the boundary follows every row, with many it blurs. `max_neighbors` computes the leave-one-out error of every number of neighbors in one pass over the data, and keeps the
best one. Clean data (handwritten digits of 8 by 8 pixels) wants few neighbors, overlapping classes (breast cancer) want more.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits

from ermine.model_selection import train_test_split
from ermine.neighbors import KNeighborsClassifier

figure, axes = plt.subplots()
for color, (name, load) in zip(("C0", "C1"), (("breast cancer", load_breast_cancer), ("digits", load_digits))):
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    model = KNeighborsClassifier(max_neighbors=40).fit(X_train, y_train)
    errors, k = model.leave_one_out_errors_, model.n_neighbors_
    print(f"{name:14} chosen: {k:2} neighbors, leave-one-out error {errors[k - 1]:.4f}, test error {1 - model.score(X_test, y_test):.4f}")
    axes.plot(range(1, len(errors) + 1), errors, color=color, label=name)
    axes.plot(k, errors[k - 1], marker="o", color=color, markersize=9)
axes.set_ylim(0)
axes.set_xlabel("neighbors")
axes.set_ylabel("leave-one-out error")
axes.legend()
plt.show()

# %%
# Digits that are predicted wrongly, and their nearest training rows: an example is an explanation.

wrong = (model.predict(X_test) != y_test).nonzero()[0][:4]
_, nearest = model.kneighbors(X_test[wrong], n_neighbors=3)
figure, axes = plt.subplots(len(wrong), 4, figsize=(5.0, 1.3 * len(wrong)))
for row, panels in zip(range(len(wrong)), axes):
    shown = [(X_test[wrong[row]], f"test: {y_test[wrong[row]]}")] + [(X_train[i], f"train: {y_train[i]}") for i in nearest[row]]
    for panel, (pixels, title) in zip(panels, shown):
        panel.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        panel.set_title(title, fontsize=9)
        panel.set_axis_off()
plt.show()

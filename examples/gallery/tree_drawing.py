"""Draw a tree, read it, and follow one row through it

A small tree is a model that can be read as a whole. Ermine draws it, prints it as rules, and explains a single prediction. The text column `island` and the
missing values go in as they are.
"""

from pathlib import Path

import pandas as pd

from ermine.tree import DecisionTreeClassifier

DATA = Path(__file__).resolve().parents[1] / "data"
penguins = pd.read_csv(DATA / "penguins.csv")
X, y = penguins.drop(columns="species"), penguins["species"]
tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
print(f"{tree.get_n_leaves()} leaves, training accuracy {tree.score(X, y):.3f}")
print(tree.rules())

# %%
# The same tree as a drawing. In a notebook the tree shows itself without any call. `tree.dot()` returns it for Graphviz, and `ermine.tree.plot_tree` draws it with matplotlib, as
# scikit-learn's function does.

Path("tree.svg").write_text(tree.svg())

# %%
# Why did the first penguin get its prediction?

print(tree.explain_row(X, row=0))

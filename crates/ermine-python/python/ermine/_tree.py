"""What estimators that are one tree can tell: its nodes in arrays, the leaves of rows, their paths, the path of pruning."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ermine import _ermine
from ermine._ermine import Model
from ermine._estimator import Estimator

#: Kinds of questions in a model file: a number up to a threshold, a branch for each category, a set of categories; odd ones send missing values to the right.
LEAF, AT_MOST, EACH, IN_SET = 0, (1, 2), (3, 4), (5, 6)

#: What stands for the column of a leaf, which asks about none.
LEAF_FEATURE = -2


class PruningPath(NamedTuple):
    """The path of cost-complexity pruning, from the whole tree to its root."""

    #: From these alphas on a split less is worth its leaf.
    ccp_alphas: np.ndarray
    #: What the impurities of the leaves then add up to, each by its share of the weight.
    impurities: np.ndarray


class TreeArrays:
    """A tree in arrays, one entry for each node; the root is node 0. Names are those of scikit-learn's ``tree_``.

    Attributes
    ----------
    node_count : int
        How many nodes.
    n_leaves, max_depth : int
        The number of leaves, and the depth.
    children_left, children_right : ndarray of shape (node_count,)
        The first and the second child of each node; -1 for a leaf. A branch for each category has more: see ``children``.
    feature : ndarray of shape (node_count,)
        The column that a node asks about; -2 for a leaf.
    threshold : ndarray of shape (node_count,)
        Numbers up to it go to the first child; -2 for a leaf, NaN for a question about categories.
    categories : list
        The codes of the categories that go to the first child, where a node asks about a set of them; else None.
    missing_go_to_left : ndarray of shape (node_count,)
        1 where missing values go to the first child.
    impurity : ndarray of shape (node_count,)
        How impure the training rows of a node are.
    n_node_samples, weighted_n_node_samples : ndarray of shape (node_count,)
        How many training rows a node has, and their weight.
    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        What a node predicts: the shares of the classes, or a number.
    n_features, n_outputs, max_n_classes : int
        The numbers of features and targets, and the largest number of classes (1 in regression).
    n_classes : ndarray of shape (n_outputs,)
        The number of classes of each target (1 in regression).
    """

    n_features: int
    #: Finds the leaves of rows.
    _leaves: Callable[[Any], np.ndarray]
    n_outputs: int = 1
    max_n_classes: int
    n_classes: np.ndarray

    def __init__(self, sections: dict[str, Any]) -> None:
        kinds, first = np.array(sections["test"]), np.array(sections["child"])
        self.node_count = len(kinds)
        leaf = kinds == LEAF
        self.n_leaves = int(leaf.sum())
        self._n_children = np.where(leaf, 0, 2)
        branches = np.isin(kinds, EACH)
        # Infinite thresholds, which only separate missing values, are text in JSON.
        numbers = np.array(sections["number"], dtype=object).astype(np.float64)
        # A branch for each category, and one for missing values where there is one.
        self._n_children[branches] = numbers[branches].astype(int) + (kinds[branches] == EACH[1])
        self.children_left = np.where(leaf, -1, first)
        self.children_right = np.where(leaf, -1, first + 1)
        self.feature = np.where(leaf, LEAF_FEATURE, np.array(sections["feature"], dtype=np.int64))
        self.threshold = np.where(np.isin(kinds, AT_MOST), numbers, np.nan)
        self.threshold[leaf] = -2.0
        self.missing_go_to_left = np.isin(kinds, (AT_MOST[1], IN_SET[1])).astype(np.uint8)
        self.weighted_n_node_samples = np.array(sections["weight"], dtype=np.float64)
        self.value = np.array(sections["value"], dtype=np.float64).reshape(self.node_count, 1, -1)
        weight = np.where(self.weighted_n_node_samples > 0, self.weighted_n_node_samples, 1)
        self.impurity = np.array(sections["cost"]) / weight if "cost" in sections else np.full(self.node_count, np.nan)
        self.n_node_samples = np.array(sections.get("count", np.rint(self.weighted_n_node_samples)), dtype=np.int64)
        self.categories = self._sets(kinds, numbers, sections["set"])
        self.max_depth = int(self._depths().max())

    def set_targets(self, n_classes: list[int], n_outputs: int) -> None:
        """Brings values to scikit-learn's shape (node_count, n_outputs, max_n_classes); regression has one value per output."""
        self.n_outputs, self.n_classes, self.max_n_classes = n_outputs, np.array(n_classes if len(n_classes) == n_outputs else [1] * n_outputs), max(n_classes)
        if n_outputs > 1:
            flat, parts = self.value[:, 0], np.cumsum(self.n_classes)[:-1]
            self.value = np.zeros((self.node_count, n_outputs, int(self.n_classes.max())))
            for output, values in enumerate(np.split(flat, parts, axis=1)):
                self.value[:, output, : values.shape[1]] = values

    @property
    def capacity(self) -> int:
        """The number of nodes."""
        return self.node_count

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf of each row, as an array of shape (n_samples,)."""
        return self._leaves(X)

    def predict(self, X: Any) -> np.ndarray:
        """The value of the leaf of each row, as an array of shape (n_samples, n_outputs, max_n_classes) without its axes of length 1 beside the first."""
        values = self.value[self.apply(X)]
        return values[:, 0] if self.n_outputs == 1 else values

    def decision_path(self, X: Any) -> Any:
        """The nodes on the path of each row, as a sparse matrix of shape (n_samples, node_count)."""
        return paths(self, self.apply(X))

    def children(self, node: int) -> list[int]:
        """The children of a node."""
        first = int(self.children_left[node])
        return list(range(first, first + int(self._n_children[node])))

    @staticmethod
    def _sets(kinds: np.ndarray, numbers: np.ndarray, halves: list[int]) -> list[list[int] | None]:
        """The sets of categories, stored in the file as 64-bit integers, in halves."""
        sets: list[list[int] | None] = [None] * len(kinds)
        at = 0
        for node in np.flatnonzero(np.isin(kinds, IN_SET)).tolist():
            n_halves = 2 * int(numbers[node])
            words = halves[at : at + n_halves]
            sets[node] = [32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1]
            at += n_halves
        return sets

    def parents(self) -> np.ndarray:
        """The parent of each node; -1 for the root."""
        parent = np.full(self.node_count, -1)
        for node in np.flatnonzero(self._n_children).tolist():
            parent[self.children(node)] = node
        return parent

    def _depths(self) -> np.ndarray:
        depth, parent = np.zeros(self.node_count, dtype=np.int64), self.parents()
        # Children stand after their parents.
        for node in range(1, self.node_count):
            depth[node] = depth[parent[node]] + 1
        return depth


def tree_arrays(model: Model) -> TreeArrays:
    """The arrays of a model that is one tree of questions about columns."""
    sections = json.loads(model.export("json"))["sections"]
    if not {"test", "child", "feature", "number", "set", "weight", "value"} <= sections.keys():
        raise AttributeError("this tree asks about several columns at once: it has no tree_ of questions about one")
    return TreeArrays(sections)


def paths(tree: TreeArrays, leaves: np.ndarray) -> Any:
    """The nodes on the way of each row to its leaf, as a sparse matrix of shape (n_rows, node_count) with 1 for each."""
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    parent = tree.parents()
    of_leaf: dict[int, list[int]] = {}
    for leaf in np.unique(leaves).tolist():
        way, node = [], leaf
        while node >= 0:
            way.append(node)
            node = int(parent[node])
        of_leaf[leaf] = way[::-1]
    columns = [of_leaf[leaf] for leaf in leaves.tolist()]
    starts = np.cumsum([0, *map(len, columns)])
    return csr_matrix((np.ones(starts[-1], dtype=np.int64), np.concatenate(columns), starts), shape=(len(leaves), tree.node_count))


class TreeMethods(Estimator):
    """Methods of estimators that are a single tree."""

    depth_: int
    n_leaves_: int

    @property
    def tree_(self) -> TreeArrays:
        """The nodes of the tree in arrays, made on first access."""
        self._fitted()
        return self._cached("tree", self._make_tree)

    def _make_tree(self) -> TreeArrays:
        tree = tree_arrays(self._fitted())
        tree.n_features, tree._leaves = self.n_features_in_, partial(TreeMethods.apply, self)
        # A number for each class of one target; several targets learn the indicators of theirs.
        counts = self.__dict__.get("_n_classes", [len(classes)] if (classes := self.__dict__.get("classes_")) is not None else [1])
        tree.set_targets(counts, getattr(self, "n_outputs_", 1))
        return tree

    def _levels(self) -> list[list[str]]:
        """The names of the categories of each column; none for numbers."""
        return [feature.get("levels", []) for feature in json.loads(self._fitted().header())["schema"]["features"]]

    @property
    def max_features_(self) -> int:
        """Number of features that each split considers."""
        self._fitted()
        d, most = self.n_features_in_, getattr(self, "max_features", None)
        if isinstance(most, str):
            return max(1, int({"sqrt": np.sqrt, "log2": np.log2}[most](d)))
        if isinstance(most, float):
            return max(1, int(most * d))
        return d if most is None else int(most)

    def get_depth(self) -> int:
        """The depth of the tree: the largest number of splits from the root to a leaf."""
        self._fitted()
        return self.depth_

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        self._fitted()
        return self.n_leaves_

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf of each row, as an array of shape (n_samples,)."""
        model = self._fitted()
        table = self._read_like_fitted(X)
        return _ermine.leaves(model, table, self.n_jobs)[:, 0]

    def decision_path(self, X: Any) -> Any:
        """The decision path of each row: a SciPy sparse matrix of shape (n_samples, n_nodes) with 1 for each node on the path."""
        return paths(self.tree_, self.apply(X))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> PruningPath:
        """The cost-complexity pruning path: each effective ``ccp_alpha``, and the total impurity of the leaves of the pruned tree.

        ``pruning="cross_validation"`` chooses among these alphas when the tree is fitted.
        """
        params = self.get_params()
        if "ccp_alpha" not in params:
            raise AttributeError(f"{type(self).__name__!r} has no parameter ccp_alpha")
        whole: Any = type(self)(**{**params, "ccp_alpha": 0.0, "pruning": None})
        alphas, impurities = whole.fit(X, y, sample_weight=sample_weight)._fitted().pruning_path()
        return PruningPath(np.asarray(alphas), np.asarray(impurities))

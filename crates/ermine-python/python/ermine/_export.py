"""Trees as text, as a Graphviz graph and as a drawing. Names and output are those of ``sklearn.tree``; trees of this package may also split on categories."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ermine._tree import LEAF_FEATURE, TreeMethods, TreeArrays


def _tree_of(decision_tree: Any) -> TreeArrays:
    if not isinstance(decision_tree, TreeMethods):
        raise TypeError(f"expected a decision tree of ermine.tree, got {type(decision_tree).__name__}")
    return decision_tree.tree_


def _names(decision_tree: Any, feature_names: Sequence[str] | None, usual: str) -> list[str]:
    n = decision_tree.n_features_in_
    if feature_names is None:
        return [usual.format(j) for j in range(n)]
    if len(feature_names) != n:
        raise ValueError(f"feature_names must contain {n} elements, got {len(feature_names)}")
    return [str(name) for name in feature_names]


def _class_names(decision_tree: Any, class_names: Any) -> list[str] | None:
    classes = getattr(decision_tree, "classes_", None)
    if classes is None:
        return None
    if class_names is None or class_names is True:
        return [str(label) for label in classes]
    if len(class_names) != len(classes):
        raise ValueError(f"class_names must contain {len(classes)} elements, got {len(class_names)}")
    return [str(name) for name in class_names]


class _NodeText:
    """What is written about the nodes of a tree."""

    def __init__(self, decision_tree: Any, feature_names: Sequence[str] | None, class_names: Any, decimals: int, usual: str = "feature_{}") -> None:
        self.tree = _tree_of(decision_tree)
        self.names = _names(decision_tree, feature_names, usual)
        self.classes = _class_names(decision_tree, class_names)
        self.decimals = decimals
        self.levels = decision_tree._levels()

    def answers(self, node: int) -> Iterator[tuple[int, str]]:
        """The children of a node, each with what leads to it."""
        tree, feature = self.tree, int(self.tree.feature[node])
        name, levels, children = self.names[feature], self.levels[feature], tree.children(node)
        if not np.isnan(tree.threshold[node]):
            number = f"{tree.threshold[node]:.{self.decimals}f}"
            yield from zip(children, (f"{name} <= {number}", f"{name} >  {number}"))
        elif tree.categories[node] is not None:
            chosen = [levels[code] for code in tree.categories[node] or [] if code < len(levels)]
            answer = f"{name} in {{{', '.join(chosen)}}}"
            yield from zip(children, (answer, f"not {answer}"))
        else:
            yield from zip(children, [*(f"{name} = {level}" for level in levels), f"{name} missing"])

    def value(self, node: int, show_weights: bool = False) -> str:
        """What a node says."""
        value, decimals = self.tree.value[node][0], self.decimals
        if self.classes is None:
            return f" value: [{', '.join(f'{v:.{decimals}f}' for v in value)}]"
        weights = ", ".join(f"{v * self.tree.weighted_n_node_samples[node]:.{decimals}f}" for v in value)
        return (f" weights: [{weights}]" if show_weights else "") + f" class: {self.classes[int(np.argmax(value))]}"

    def heights(self) -> np.ndarray:
        """The height of each node. Children have higher numbers than their parents; a tree may be as deep as it has rows."""
        height = np.ones(self.tree.node_count, dtype=np.int64)
        for node in range(self.tree.node_count - 1, -1, -1):
            height[node] += max((height[child] for child in self.tree.children(node)), default=0)
        return height


def export_text(
    decision_tree: Any, *, feature_names: Sequence[str] | None = None, class_names: Any = None, max_depth: int = 10, spacing: int = 3, decimals: int = 2, show_weights: bool = False,
) -> str:
    """The rules of a fitted tree as text, a line for each branch and leaf.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this package.
    feature_names : sequence of str, default=None
        The names of the columns; None for ``feature_0`` and so on.
    class_names : sequence of str, default=None
        The names of the classes; None for their labels.
    max_depth : int, default=10
        How deep branches are written out.
    spacing : int, default=3
        How far each level is indented.
    decimals : int, default=2
        How many decimals numbers have.
    show_weights : bool, default=False
        Whether leaves show the weights of the classes.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from ermine.tree import DecisionTreeClassifier, export_text
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["low", "low", "high"])
    >>> print(export_text(model, feature_names=["size"]))
    |--- size <= 1.50
    |   |--- class: low
    |--- size >  1.50
    |   |--- class: high
    <BLANKLINE>
    """
    words = _NodeText(decision_tree, feature_names, class_names, decimals)
    heights = words.heights()
    lines: list[str] = []
    # Nodes to write with their depth and what leads to them, the next one last: a list in place of recursion.
    waiting: list[tuple[int, int, str | None]] = [(0, 1, None)]
    while waiting:
        node, depth, led = waiting.pop()
        if led is not None:
            lines.append(led)
        indent = (("|" + " " * spacing) * depth)[:-spacing] + "-" * spacing
        leaf = words.tree.feature[node] == LEAF_FEATURE
        if depth > max_depth + 1 and heights[node] > 1:
            lines.append(f"{indent} truncated branch of depth {heights[node]}")
        elif leaf:
            lines.append(f"{indent}{words.value(node, show_weights)}")
        else:
            waiting += [(child, depth + 1, f"{indent} {answer}") for child, answer in words.answers(node)][::-1]

    return "\n".join(lines) + "\n"


def _box(words: _NodeText, node: int, impurity: bool) -> list[str]:
    """The lines in the box of a node."""
    tree = words.tree
    asked = [answer for _, answer in words.answers(node)][:1] if tree.feature[node] != LEAF_FEATURE else []
    seen = [f"samples = {tree.n_node_samples[node]}"]
    shares = ", ".join(f"{v:.{words.decimals}f}" for v in tree.value[node][0])
    answer = [f"value = [{shares}]", f"class = {words.classes[int(np.argmax(tree.value[node][0]))]}"] if words.classes else [f"value = {shares}"]
    return asked + [f"impurity = {tree.impurity[node]:.{words.decimals}f}"] * impurity + seen + answer


def export_graphviz(
    decision_tree: Any, out_file: Any = None, *, max_depth: int | None = None, feature_names: Sequence[str] | None = None, class_names: Any = None, impurity: bool = True,
    filled: bool = False, rounded: bool = False, precision: int = 3,
) -> str | None:
    """A fitted tree as a graph for Graphviz.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this package.
    out_file : path or file, default=None
        The output file; None to return the text.
    max_depth : int, default=None
        Maximum depth of the graph; None for the full tree.
    feature_names : sequence of str, default=None
        The names of the columns; None for ``x[0]`` and so on.
    class_names : sequence of str, default=None
        The names of the classes; None for their labels.
    impurity : bool, default=True
        Whether boxes show impurities.
    filled : bool, default=False
        Whether boxes are filled, the darker the surer of its class.
    rounded : bool, default=False
        Whether boxes have round corners.
    precision : int, default=3
        How many decimals numbers have.

    Returns
    -------
    str or None
        The graph, unless it was written to a file.

    Examples
    --------
    >>> from ermine.tree import DecisionTreeClassifier, export_graphviz
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["low", "low", "high"])
    >>> export_graphviz(model).startswith("digraph Tree {")
    True
    """
    words = _NodeText(decision_tree, feature_names, class_names, precision, "x[{}]")
    styles = ", ".join(["filled"] * filled + ["rounded"] * rounded)
    lines = ["digraph Tree {", f'node [shape=box{f", style={chr(34)}{styles}{chr(34)}" if styles else ""}, color="black", fontname="helvetica"] ;', 'edge [fontname="helvetica"] ;']

    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    # Nodes to write with their depth, and lines, the next one last: a list in place of recursion.
    waiting: list[tuple[int, int] | str] = [(0, 0)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        node, depth = item
        label = "\\n".join(quoted(line) for line in _box(words, node, impurity))
        color = f', fillcolor="{_shade(words, node)}"' if filled else ""
        lines.append(f'{node} [label="{label}"{color}] ;')
        if words.tree.feature[node] == LEAF_FEATURE or (max_depth is not None and depth >= max_depth):
            continue
        many = len(words.tree.children(node)) > 2
        for child, answer in [*words.answers(node)][::-1]:
            waiting += [f'{node} -> {child} [label="{quoted(answer)}"] ;' if many else f"{node} -> {child} ;", (child, depth + 1)]
    graph = "\n".join([*lines, "}"]) + "\n"
    if out_file is None:
        return graph
    if hasattr(out_file, "write"):
        out_file.write(graph)
    else:
        with open(os.fspath(out_file), "w", encoding="utf-8") as file:
            file.write(graph)
    return None


#: Colors of the classes, which come again after the last.
COLORS = ((229, 129, 57), (57, 157, 229), (57, 229, 129), (129, 57, 229), (229, 57, 157), (157, 229, 57))


def _shade(words: _NodeText, node: int) -> str:
    """The color of a node: of its class, the surer the darker; of numbers, the higher the darker."""
    value = words.tree.value[node][0]
    if words.classes is None:
        all_values = words.tree.value[:, 0, 0]
        spread = float(np.ptp(all_values))
        sure, color = (float(value[0] - all_values.min()) / spread if spread > 0 else 0.0), COLORS[0]
    else:
        first, second = np.sort(value)[::-1][:2] if len(value) > 1 else (1.0, 0.0)
        sure, color = float(first - second), COLORS[int(np.argmax(value)) % len(COLORS)]
    return "#" + "".join(f"{round(255 - sure * (255 - part)):02x}" for part in color)


def plot_tree(
    decision_tree: Any, *, max_depth: int | None = None, feature_names: Sequence[str] | None = None, class_names: Any = None, impurity: bool = True, filled: bool = False,
    rounded: bool = False, precision: int = 3, ax: Any = None, fontsize: int | None = None,
) -> list[Any]:
    """Draws a fitted tree with matplotlib. Without it, ``svg()`` of the estimator is a picture.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this package.
    max_depth : int, default=None
        Maximum depth of the drawing; None for the full tree.
    feature_names : sequence of str, default=None
        The names of the columns; None for ``x[0]`` and so on.
    class_names : sequence of str, default=None
        The names of the classes; None for their labels.
    impurity : bool, default=True
        Whether boxes show impurities.
    filled : bool, default=False
        Whether boxes are filled, the darker the surer of its class.
    rounded : bool, default=False
        Whether boxes have round corners.
    precision : int, default=3
        How many decimals numbers have.
    ax : matplotlib axes, default=None
        Where it is drawn; None for the current axes.
    fontsize : int, default=None
        The size of the text.

    Returns
    -------
    list of matplotlib annotations
        The boxes, from the root on.
    """
    words = _NodeText(decision_tree, feature_names, class_names, precision, "x[{}]")
    if ax is None:
        import matplotlib.pyplot  # type: ignore[import-not-found]

        ax = matplotlib.pyplot.gca()
    ax.set_axis_off()
    # From the root on, each node before what is below it, left before right.
    depths, waiting = {0: 0}, [0]
    shown: dict[int, list[int]] = {}
    while waiting:
        node = waiting.pop()
        shown[node] = [] if max_depth is not None and depths[node] >= max_depth else words.tree.children(node)
        depths.update(dict.fromkeys(shown[node], depths[node] + 1))
        waiting += shown[node][::-1]
    ends = [node for node, below in shown.items() if not below]
    across = {node: place + 0.5 for place, node in enumerate(ends)}
    for node, below in reversed(shown.items()):
        if below:
            across[node] = sum(across[child] for child in below) / len(below)
    places, n_leaves = {node: (across[node], depths[node]) for node in shown}, len(ends)
    rows = 1 + max(depth for _, depth in places.values())
    at = {node: (across / n_leaves, 1 - (depth + 0.5) / rows) for node, (across, depth) in places.items()}
    parents = words.tree.parents()
    boxes = []
    for node in sorted(places, key=lambda node: (places[node][1], places[node][0])):
        box = {"boxstyle": "round" if rounded else "square", "fc": _shade(words, node) if filled else "white", "ec": "black"}
        lines = "\n".join(_box(words, node, impurity))
        parent = int(parents[node])
        arrow = {} if parent < 0 else {"arrowprops": {"arrowstyle": "<-"}}
        start = at[node] if parent < 0 else at[parent]
        boxes.append(ax.annotate(lines, start, at[node], xycoords="axes fraction", textcoords="axes fraction", ha="center", va="center", bbox=box, fontsize=fontsize, zorder=100 - places[node][1], **arrow))
    return boxes

//! A tree as text.
//!
//! **Idea.** Whatever its tests are, a tree is shown by the description of each test, of each branch and of each prediction. [`DescribedTree`] provides these; text, pictures, pages, rules and decision paths use
//! nothing else.

use super::{MissingRouting, Tree};
use crate::split::Test;
use ermine_core::chart::svg::{Anchor, COLORS, Svg};
use ermine_core::chart::text::{curve, number};
use ermine_core::matrix::{Schema, Task};
use ermine_core::table::ColumnKind;
use std::ops::Range;

/// The descriptions of a tree's nodes and branches.
pub trait DescribedTree {
    /// The names of features and classes.
    fn schema(&self) -> &Schema;
    /// The number of nodes; the root is node 0.
    fn n_nodes(&self) -> usize;
    /// The children of a node; none for a leaf.
    fn children(&self, node: usize) -> Range<usize>;
    /// The weight of the training rows in a node.
    fn weight(&self, node: usize) -> f64;
    /// The prediction of a node.
    fn value(&self, node: usize) -> &[f64];
    /// The test of a node; empty for a leaf.
    fn question(&self, node: usize) -> String;
    /// The label of the branch to a child, counted from 0.
    fn answer(&self, node: usize, child: usize) -> String;
    /// The rows that stop at a node, if there can be any; they get its prediction.
    fn staying(&self, node: usize) -> Option<&'static str>;
    /// A note about all nodes.
    fn note(&self) -> Option<&'static str>;

    /// Whether a node is a leaf.
    fn is_leaf(&self, node: usize) -> bool {
        self.children(node).is_empty()
    }

    /// The weighted fraction of a node's training rows that have its predicted class.
    fn precision(&self, node: usize) -> f64 {
        best_share(self.value(node))
    }

    /// A readable prediction of a node.
    fn prediction(&self, node: usize) -> String {
        prediction_with(self.value(node), self.precision(node), self.schema())
    }

    /// The test of a node, or the prediction of a leaf.
    fn title(&self, node: usize) -> String {
        if self.is_leaf(node) { self.prediction(node) } else { format!("{}?", self.question(node)) }
    }
}

/// A tree with the names of its features.
#[derive(Debug, Clone, Copy)]
pub struct TreeView<'a> {
    /// The tree.
    pub tree: &'a Tree,
    /// The schema.
    pub schema: &'a Schema,
    /// The routing of missing values.
    pub missing: MissingRouting,
    /// The fraction of each node's training rows that have its predicted class, if predictions are not class proportions.
    pub precision: &'a [f64],
}

impl<'a> TreeView<'a> {
    /// A tree whose tests define where missing values go.
    pub fn new(tree: &'a Tree, schema: &'a Schema) -> TreeView<'a> {
        TreeView { tree, schema, missing: MissingRouting::Learned, precision: &[] }
    }
}

impl DescribedTree for TreeView<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }
    fn n_nodes(&self) -> usize {
        self.tree.n_nodes()
    }
    fn children(&self, node: usize) -> Range<usize> {
        self.tree.children(node)
    }
    fn weight(&self, node: usize) -> f64 {
        self.tree.weight[node]
    }
    fn value(&self, node: usize) -> &[f64] {
        self.tree.value(node)
    }
    fn precision(&self, node: usize) -> f64 {
        self.precision.get(node).copied().unwrap_or_else(|| best_share(self.value(node)))
    }
    fn question(&self, node: usize) -> String {
        question(&self.tree.test[node], self.schema)
    }
    fn answer(&self, node: usize, child: usize) -> String {
        answer(&self.tree.test[node], child, self.schema, self.missing)
    }
    fn staying(&self, node: usize) -> Option<&'static str> {
        let stays = matches!(self.tree.test[node], Test::Each { missing: false, .. });
        (stays && self.missing == MissingRouting::Learned).then_some("missing or new")
    }
    fn note(&self) -> Option<&'static str> {
        let asks = self.tree.n_nodes() > 1;
        (asks && self.missing == MissingRouting::Fractional)
            .then_some("missing or new values follow all branches, weighted by their training rows")
    }
}

/// The test of a node, e.g. `flipper_length_mm <= 206.5`; empty for a leaf.
pub fn question(test: &Test, schema: &Schema) -> String {
    let name = |feature: u32| schema.features[feature as usize].name.as_str();
    match *test {
        Test::InSet { feature, ref set, .. } => {
            let levels = &schema.features[feature as usize].levels;
            // Imported models have category codes instead of names.
            let name_of =
                |code: usize| levels.get(code).cloned().or_else(|| levels.is_empty().then(|| code.to_string()));
            let names: Vec<String> = set.iter().filter_map(name_of).collect();
            format!("{} in {{{}}}", name(feature), names.join(", "))
        }
        Test::Leaf => String::new(),
        Test::AtMost { feature, threshold, .. } => {
            let spec = &schema.features[feature as usize];
            // The threshold of an ordered category lies between two codes: the last level below it describes it.
            let level = if threshold >= 0.0 { spec.levels.get(threshold as usize) } else { None };
            if threshold == f64::INFINITY {
                return format!("{} is not missing", spec.name);
            }
            if let (ColumnKind::Boolean, Some(level)) = (spec.kind, level) {
                return format!("{} = {level}", spec.name);
            }
            format!("{} <= {}", spec.name, level.cloned().unwrap_or_else(|| number(threshold)))
        }
        Test::Each { feature, .. } => name(feature).to_string(),
    }
}

/// The label of the branch to a child, e.g. `yes`, `no or missing`, `= Biscoe`.
pub fn answer(test: &Test, child: usize, schema: &Schema, missing: MissingRouting) -> String {
    match *test {
        Test::Leaf => String::new(),
        Test::AtMost { missing_left, .. } | Test::InSet { missing_left, .. } => {
            let word = if child == 0 { "yes" } else { "no" };
            let and_missing = missing == MissingRouting::Learned && missing_left == (child == 0);
            if and_missing { format!("{word} or missing") } else { word.to_string() }
        }
        Test::Each { feature, .. } => match schema.features[feature as usize].levels.get(child) {
            Some(level) => format!("= {level}"),
            None => "missing or new".to_string(),
        },
    }
}

/// The probability of the most likely class.
fn best_share(shares: &[f64]) -> f64 {
    shares.iter().fold(0.0f64, |best, &share| best.max(share))
}

/// A readable prediction: numbers, or the most likely class with its probability.
pub fn prediction(value: &[f64], schema: &Schema) -> String {
    prediction_with(value, best_share(value), schema)
}

/// The same with a given precision.
fn prediction_with(value: &[f64], share: f64, schema: &Schema) -> String {
    if schema.task != Task::Classification {
        let words: Vec<String> = value.iter().map(|v| number(*v)).collect();
        return words.join(", ");
    }
    let best = (1..value.len()).fold(0, |best, k| if value[k] > value[best] { k } else { best });
    let class = schema.classes.get(best).map_or("", String::as_str).replace(char::is_control, " ");
    format!("{class} ({:.1}%)", 100.0 * share)
}

/// The tree as text, one line per node, up to 200 lines.
pub fn text(drawn: &impl DescribedTree) -> String {
    const MOST: usize = 200;
    let mut lines = Vec::new();
    // Node, prefix of its line, prefix of its children's lines.
    let mut stack = vec![(0usize, String::new(), String::new())];
    while let Some((node, lead, below)) = stack.pop() {
        if lines.len() >= MOST {
            lines.push(format!("... {} nodes in total", drawn.n_nodes()));
            break;
        }
        let arrow = if drawn.is_leaf(node) { "→ " } else { "" };
        lines.push(format!("{lead}{arrow}{}   [weight {}]", drawn.title(node), number(drawn.weight(node))));
        let children = drawn.children(node);
        if let Some(rows) = drawn.staying(node) {
            lines.push(format!("{below}├─ {rows}: → {}", drawn.prediction(node)));
        }
        for (i, child) in children.clone().enumerate().rev() {
            let last = child + 1 == children.end;
            let lead = format!("{below}{} {}: ", if last { "└─" } else { "├─" }, drawn.answer(node, i));
            stack.push((child, lead, format!("{below}{}", if last { "   " } else { "│  " })));
        }
    }
    lines.extend(drawn.note().map(String::from));
    lines.join("\n") + "\n"
}

/// A text plot of the objective over the thresholds of a column; empty if there is no curve.
pub fn curve_text(points: &[(f64, f64)], column: &str) -> String {
    if points.is_empty() {
        return String::new();
    }
    format!("\n{}", curve(points, column, "objective over thresholds", 60, 10))
}

/// A stump as SVG: test, branches with class proportions, and the objective over thresholds.
pub fn stump_svg(view: &TreeView<'_>, curve: &[(f64, f64)]) -> String {
    const SHOWN: usize = 12;
    let (tree, schema) = (view.tree, view.schema);
    let children: Vec<usize> = tree.children(0).collect();
    let n_shown = children.len().clamp(1, SHOWN);
    let box_width = if n_shown <= 2 { 250.0 } else { 150.0 };
    let width = (n_shown as f64 * (box_width + 20.0) + 20.0).max(560.0);
    let mut svg = Svg::new(width, if curve.is_empty() { 210.0 } else { 420.0 });
    let title = match &tree.test[0] {
        Test::Leaf => "same prediction for every row".to_string(),
        test => format!("{}?", question(test, schema)),
    };
    svg.text(width / 2.0, 28.0, Anchor::Middle, "title", &title);
    let start = (width - n_shown as f64 * (box_width + 20.0) + 20.0) / 2.0;
    for (i, &node) in if children.is_empty() { &[0][..] } else { &children }.iter().take(SHOWN).enumerate() {
        let x = start + i as f64 * (box_width + 20.0);
        svg.line(&[(width / 2.0, 36.0), (x + box_width / 2.0, 64.0)], "edge");
        node_svg(&mut svg, view, node, (x, 64.0), box_width);
        svg.text(
            x + box_width / 2.0,
            82.0,
            Anchor::Middle,
            "small",
            &answer(&tree.test[0], i, schema, MissingRouting::Learned),
        );
    }
    if children.len() > SHOWN {
        svg.text(width - 10.0, 56.0, Anchor::End, "small", &format!("and {} more", children.len() - SHOWN));
    }
    if let Test::AtMost { feature, threshold, .. } = tree.test[0] {
        let name = &schema.features[feature as usize].name;
        svg.curve(curve, (80.0, 230.0), (width - 110.0, 150.0), (name, "objective"), threshold);
    }
    legend(&mut svg, &schema.classes, (20.0, 180.0), width);
    svg.finish()
}

/// The color legend of the classes, in one line; classes that don't fit are omitted.
pub(super) fn legend(svg: &mut Svg, classes: &[String], (mut x, y): (f64, f64), width: f64) {
    for (k, class) in classes.iter().enumerate() {
        let shown: String = class.chars().take(24).collect();
        let needed = 32.0 + 7.5 * shown.chars().count() as f64;
        if x + needed > width {
            return;
        }
        svg.rect((x, y), (12.0, 12.0), "", Some(COLORS[k % COLORS.len()]));
        svg.text(x + 17.0, y + 10.0, Anchor::Start, "small", &shown);
        x += needed;
    }
}

/// A node as a box: prediction, weight, and a bar of class proportions.
fn node_svg(svg: &mut Svg, view: &TreeView<'_>, node: usize, (x, y): (f64, f64), width: f64) {
    svg.rect((x, y), (width, 104.0), "box", None);
    svg.text(x + width / 2.0, y + 42.0, Anchor::Middle, "title", &view.prediction(node));
    svg.text(x + width / 2.0, y + 60.0, Anchor::Middle, "small", &format!("weight {}", number(view.weight(node))));
    if view.schema.task == Task::Classification {
        let mut from = x + 10.0;
        for (k, share) in view.value(node).iter().enumerate() {
            let part = share * (width - 20.0);
            svg.rect((from, y + 74.0), (part, 18.0), "", Some(COLORS[k % COLORS.len()]));
            from += part;
        }
    }
}

//! A tree as rules, and the decision path of a row.
//!
//! **Idea.** Every leaf is a rule: the conditions on its path, with those on one feature combined (`age > 20 and age <= 30`). The coverage of a rule is the weighted fraction of the training rows in the leaf;
//! its precision is the fraction of these rows that have the predicted class.

use super::MissingRouting;
use super::describe::{DescribedTree, TreeView, answer, prediction};
use crate::split::Test;
use ermine_core::chart::text::{exact_number, number};
use ermine_core::matrix::schema::FeatureSpec;
use ermine_core::matrix::{Schema, Task};
use ermine_core::table::ColumnKind;
use std::collections::BTreeMap;

/// One leaf as a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct LeafRule {
    /// The leaf.
    pub leaf: usize,
    /// The conditions, all of which must hold.
    pub conditions: Vec<String>,
    /// The prediction.
    pub prediction: String,
    /// The weighted fraction of the training rows in the leaf.
    pub coverage: f64,
    /// Classification: the fraction of these rows that have the predicted class.
    pub precision: Option<f64>,
    /// Regression: the root of the mean cost of the leaf (the RMSE for the squared error).
    pub error: Option<f64>,
}

/// The combined conditions on one feature.
#[derive(Default, Clone)]
struct FeatureCondition {
    above: Option<f64>,
    at_most: Option<f64>,
    /// Conditions on categories.
    sets: Vec<String>,
    /// Whether a missing value satisfies all conditions so far.
    missing: bool,
}

/// At most `most` rules of a tree in descending order of coverage. `conditions` describes the path (node, child counted from 0) to a leaf; `cost` is given for each node, or
/// empty.
pub fn rules<D: DescribedTree>(
    drawn: &D,
    cost: &[f64],
    most: usize,
    conditions: impl Fn(&[(usize, usize)]) -> Vec<String>,
) -> Vec<LeafRule> {
    let parent = parents(drawn);
    let mut leaves: Vec<usize> = (0..drawn.n_nodes()).filter(|&node| drawn.is_leaf(node)).collect();
    leaves.sort_by(|&a, &b| drawn.weight(b).total_cmp(&drawn.weight(a)).then(a.cmp(&b)));
    let classes = drawn.schema().task == Task::Classification;
    let rule = |leaf: usize| {
        let weight = drawn.weight(leaf);
        let error = cost.get(leaf).map(|cost| (cost / weight).max(0.0).sqrt());
        LeafRule {
            leaf,
            conditions: conditions(&steps(drawn, &parent, leaf)),
            prediction: drawn.prediction(leaf),
            coverage: weight / drawn.weight(0),
            precision: classes.then(|| drawn.precision(leaf)),
            error: error.filter(|_| !classes && weight > 0.0),
        }
    };
    leaves.into_iter().take(most).map(rule).collect()
}

fn parents(drawn: &impl DescribedTree) -> Vec<usize> {
    let mut parent = vec![usize::MAX; drawn.n_nodes()];
    for node in 0..drawn.n_nodes() {
        drawn.children(node).for_each(|child| parent[child] = node);
    }
    parent
}

/// The path from the root to a leaf.
fn steps(drawn: &impl DescribedTree, parent: &[usize], leaf: usize) -> Vec<(usize, usize)> {
    let (mut steps, mut node) = (Vec::new(), leaf);
    while parent[node] != usize::MAX {
        let up = parent[node];
        steps.push((up, node - drawn.children(up).start));
        node = up;
    }
    steps.reverse();
    steps
}

/// The conditions on the path to a leaf, combined by feature.
fn conditions(view: &TreeView<'_>, steps: &[(usize, usize)]) -> Vec<String> {
    let mut by_column: BTreeMap<usize, FeatureCondition> = BTreeMap::new();
    let mut order: Vec<usize> = Vec::new();
    // Fractional missing values satisfy every condition, so none mentions them.
    let missing = view.missing == MissingRouting::Learned;
    for &(node, child) in steps {
        let test = &view.tree.test[node];
        let Some(feature) = test.feature() else { continue };
        if !order.contains(&feature) {
            order.push(feature);
        }
        let condition = by_column.entry(feature).or_insert_with(|| FeatureCondition { missing, ..Default::default() });
        condition.add(test, child, view.schema);
    }
    order.iter().flat_map(|f| by_column[f].describe(*f, view.schema)).collect()
}

impl FeatureCondition {
    fn add(&mut self, test: &Test, branch: usize, schema: &Schema) {
        match test {
            Test::Leaf => {}
            Test::AtMost { threshold, missing_left, .. } => {
                if branch == 0 {
                    self.at_most = Some(self.at_most.map_or(*threshold, |t| t.min(*threshold)));
                } else {
                    self.above = Some(self.above.map_or(*threshold, |t| t.max(*threshold)));
                }
                self.missing &= *missing_left == (branch == 0);
            }
            Test::InSet { feature, set, missing_left } => {
                let levels = &schema.features[*feature as usize].levels;
                let names: Vec<&str> = set.iter().filter_map(|code| levels.get(code)).map(String::as_str).collect();
                let word = if branch == 0 { "in" } else { "not in" };
                self.sets.push(format!("{word} {{{}}}", names.join(", ")));
                self.missing &= *missing_left == (branch == 0);
            }
            Test::Each { n_levels, .. } => {
                if branch < *n_levels as usize {
                    self.sets.push(answer(test, branch, schema, MissingRouting::Learned));
                    self.missing = false;
                } else {
                    self.sets.push("is missing or new".into());
                }
            }
        }
    }

    fn describe(&self, feature: usize, schema: &Schema) -> Vec<String> {
        let FeatureSpec { name, levels, kind, .. } = &schema.features[feature];
        let value = |x: f64| {
            let level = if x >= 0.0 { levels.get(x as usize).cloned() } else { None };
            // Rules may be applied by other programs: keep all digits.
            level.unwrap_or_else(|| exact_number(x))
        };
        let mut conditions = Vec::new();
        match (self.above, self.at_most) {
            // A boolean feature has one value on either side.
            (Some(above), None) if *kind == ColumnKind::Boolean && above < f64::INFINITY => {
                conditions.push(format!("{name} = {}", value(above.floor() + 1.0)));
            }
            (None, Some(at_most)) if *kind == ColumnKind::Boolean && at_most < f64::INFINITY => {
                conditions.push(format!("{name} = {}", value(at_most)));
            }
            (Some(f64::INFINITY), _) => conditions.push(format!("{name} is missing")),
            (above, at_most) => {
                conditions.extend(above.map(|t| format!("{name} > {}", value(t))));
                match at_most {
                    Some(f64::INFINITY) if above.is_none() => conditions.push(format!("{name} is not missing")),
                    Some(t) if t < f64::INFINITY => conditions.push(format!("{name} <= {}", value(t))),
                    _ => {}
                }
            }
        }
        conditions.extend(self.sets.iter().map(|word| format!("{name} {word}")));
        let about_missing = conditions.iter().any(|s| s.ends_with("missing") || s.ends_with("missing or new"));
        if self.missing && !about_missing && !conditions.is_empty() {
            return vec![format!("({}, or missing)", conditions.join(" and "))];
        }
        conditions
    }
}

/// Maximum number of rules: the paths of a degenerate tree are as long as the data.
pub const MOST: usize = 1000;

/// The rules of a tree as text, one line each; `cost` as in [`rules`].
pub fn text(view: &TreeView<'_>, cost: &[f64]) -> String {
    let stops = (0..view.n_nodes()).any(|node| view.staying(node).is_some());
    let note = if stops {
        Some("a row with a missing or new value gets the prediction of the node above")
    } else {
        view.note()
    };
    let mut text = lines(&rules(view, cost, MOST, |steps| conditions(view, steps)), view.tree.n_leaves());
    note.into_iter().for_each(|note| text.push_str(&format!("{note}\n")));
    text
}

/// Rules as text, one line each; `n_leaves` is the total number of rules.
pub fn lines(rules: &[LeafRule], n_leaves: usize) -> String {
    let line = |rule: &LeafRule| {
        let conditions = if rule.conditions.is_empty() { "always".into() } else { rule.conditions.join(" and ") };
        let class = rule.prediction.rsplit_once(" (").filter(|_| rule.precision.is_some());
        let prediction = class.map_or(rule.prediction.as_str(), |(class, _)| class);
        let quality = match (rule.precision, rule.error) {
            (Some(precision), _) => format!(", precision {:.1}%", 100.0 * precision),
            (_, Some(error)) => format!(", error {}", number(error)),
            _ => String::new(),
        };
        format!("if {conditions} then {prediction}   (coverage {:.1}%{quality})\n", 100.0 * rule.coverage)
    };
    let mut text: String = rules.iter().map(line).collect();
    if n_leaves > rules.len() {
        text.push_str(&format!("... {n_leaves} rules in total\n"));
    }
    text
}

/// Where a row goes from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep {
    /// To this child, counted from 0.
    Child(usize),
    /// It stops: no branch matches.
    Stay,
    /// To every child, weighted by its training rows.
    Every,
}

/// The decision path of a row; `x(feature)` is its value.
pub fn reasons(view: &TreeView<'_>, x: impl Fn(usize) -> f64) -> String {
    let ask = |node: usize| {
        let test = &view.tree.test[node];
        let Some(feature) = test.feature() else { return (String::new(), PathStep::Stay) };
        let (value, spec) = (x(feature), &view.schema.features[feature]);
        let shown = match value {
            v if v.is_nan() => "missing".to_string(),
            v => spec.levels.get(v as usize).cloned().unwrap_or_else(|| number(v)),
        };
        let step = match test.branch(value) {
            Some(child) if !(view.missing == MissingRouting::Fractional && value.is_nan()) => PathStep::Child(child),
            _ if view.missing == MissingRouting::Fractional => PathStep::Every,
            _ => PathStep::Stay,
        };
        (format!("{} = {shown}", spec.name), step)
    };
    reasons_by(view, ask)
}

/// The decision path of a row: each test with the row's value, and how the prediction changes. `ask(node)` gives the row's value and its next step.
pub fn reasons_by<D: DescribedTree>(drawn: &D, ask: impl Fn(usize) -> (String, PathStep)) -> String {
    const MOST: usize = 1000;
    let mut lines = vec![format!("root: {}", drawn.prediction(0))];
    let mut sum = vec![0.0; drawn.value(0).len()];
    let mut is_parted = false;
    // Node, fraction of the row, prefix of its lines, and the branch that led there.
    let mut stack = vec![(0usize, 1.0, String::new(), None)];
    while let Some((node, share, lead, led)) = stack.pop() {
        lines.extend(led.map(|led: String| format!("{lead}{led}: {}", drawn.prediction(node))));
        let (fact, step) = if drawn.is_leaf(node) { (String::new(), PathStep::Stay) } else { ask(node) };
        let asked = drawn.question(node);
        let children = drawn.children(node);
        match step {
            PathStep::Child(child) => {
                let led = format!("{fact}; {asked}? {}", drawn.answer(node, child));
                stack.push((children.start + child, share, lead, Some(led)));
            }
            PathStep::Every => {
                is_parted = true;
                lines.push(format!("{lead}{fact}; {asked}? all branches, by training weight"));
                let total: f64 = children.clone().map(|child| drawn.weight(child)).sum();
                for (i, child) in children.enumerate().rev().filter(|(_, child)| drawn.weight(*child) > 0.0) {
                    let part = share * drawn.weight(child) / total;
                    let led = format!("{:.1}% {}", 100.0 * part, drawn.answer(node, i));
                    stack.push((child, part, format!("{lead}  "), Some(led)));
                }
            }
            PathStep::Stay => {
                sum.iter_mut().zip(drawn.value(node)).for_each(|(sum, value)| *sum += share * value);
                if !drawn.is_leaf(node) {
                    lines.push(format!("{lead}{fact}; {asked}? no branch for this value: {}", drawn.prediction(node)));
                }
            }
        }
    }
    if lines.len() > MOST {
        lines.truncate(MOST);
        lines.push("...".into());
    }
    if is_parted {
        lines.push(format!("combined: {}", prediction(&sum, drawn.schema())));
    }
    lines.join("\n") + "\n"
}

//! A tree as rules, and the reasons for one row.
//!
//! **Idea.** Every leaf is a rule: the answers on the way to it, with those about one column drawn together (`age > 20 and age <= 30`). A rule's
//! coverage is the share of the training rows (by weight) that end there; its precision the share of them that are of the class it says.

use super::Missing;
use super::draw::{Drawn, TreeView, answer, prediction};
use crate::split::Test;
use ermine_core::chart::text::{exact_number, number};
use ermine_core::matrix::schema::FeatureSpec;
use ermine_core::matrix::{Schema, Task};
use ermine_core::table::ColumnKind;
use std::collections::BTreeMap;

/// One leaf as a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The leaf.
    pub leaf: usize,
    /// What a row must fulfil, all of it.
    pub conditions: Vec<String>,
    /// What the rule says.
    pub prediction: String,
    /// The share of the training rows, by weight, that the rule is for.
    pub coverage: f64,
    /// Classes: the share of these rows that are of the class it says. Numbers: none.
    pub precision: Option<f64>,
    /// Numbers: the root of the mean squared (or the mean other) error in the leaf. Classes: none.
    pub error: Option<f64>,
}

/// What the answers about one column come to.
#[derive(Default, Clone)]
struct Condition {
    above: Option<f64>,
    at_most: Option<f64>,
    words: Vec<String>,
    /// No answer so far shuts out a missing value.
    missing: bool,
}

/// The rules of a tree, the ones that cover most first; at most `most` of them. `conditions` says what the steps (node, child counted from 0) to a leaf come to; `cost` is known
/// for each node, or for none.
pub fn rules<D: Drawn>(
    drawn: &D,
    cost: &[f64],
    most: usize,
    conditions: impl Fn(&[(usize, usize)]) -> Vec<String>,
) -> Vec<Rule> {
    let parent = parents(drawn);
    let mut leaves: Vec<usize> = (0..drawn.n_nodes()).filter(|&node| drawn.is_leaf(node)).collect();
    leaves.sort_by(|&a, &b| drawn.weight(b).total_cmp(&drawn.weight(a)).then(a.cmp(&b)));
    let classes = drawn.schema().task == Task::Classification;
    let rule = |leaf: usize| {
        let weight = drawn.weight(leaf);
        let error = cost.get(leaf).map(|cost| (cost / weight).max(0.0).sqrt());
        Rule {
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

fn parents(drawn: &impl Drawn) -> Vec<usize> {
    let mut parent = vec![usize::MAX; drawn.n_nodes()];
    for node in 0..drawn.n_nodes() {
        drawn.children(node).for_each(|child| parent[child] = node);
    }
    parent
}

/// The way from the root to a leaf.
fn steps(drawn: &impl Drawn, parent: &[usize], leaf: usize) -> Vec<(usize, usize)> {
    let (mut steps, mut node) = (Vec::new(), leaf);
    while parent[node] != usize::MAX {
        let up = parent[node];
        steps.push((up, node - drawn.children(up).start));
        node = up;
    }
    steps.reverse();
    steps
}

/// What the steps to a leaf of a tree of tests come to, column by column.
fn conditions(view: &TreeView<'_>, steps: &[(usize, usize)]) -> Vec<String> {
    let mut by_column: BTreeMap<usize, Condition> = BTreeMap::new();
    let mut order: Vec<usize> = Vec::new();
    // Where missing values go down every branch, no condition is about them.
    let missing = view.missing == Missing::Learned;
    for &(node, child) in steps {
        let test = &view.tree.test[node];
        let Some(feature) = test.feature() else { continue };
        if !order.contains(&feature) {
            order.push(feature);
        }
        let condition = by_column.entry(feature).or_insert_with(|| Condition { missing, ..Default::default() });
        condition.add(test, child, view.schema);
    }
    order.iter().flat_map(|f| by_column[f].words(*f, view.schema)).collect()
}

impl Condition {
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
                self.words.push(format!("{word} {{{}}}", names.join(", ")));
                self.missing &= *missing_left == (branch == 0);
            }
            Test::Each { n_levels, .. } => {
                if branch < *n_levels as usize {
                    self.words.push(answer(test, branch, schema, Missing::Learned));
                    self.missing = false;
                } else {
                    self.words.push("is missing or new".into());
                }
            }
        }
    }

    fn words(&self, feature: usize, schema: &Schema) -> Vec<String> {
        let FeatureSpec { name, levels, kind, .. } = &schema.features[feature];
        let value = |x: f64| {
            let level = if x >= 0.0 { levels.get(x as usize).cloned() } else { None };
            // A rule is followed by hand or by other programs: with fewer digits it may predict something else.
            level.unwrap_or_else(|| exact_number(x))
        };
        let mut said = Vec::new();
        match (self.above, self.at_most) {
            // Of two values, one lies on either side.
            (Some(above), None) if *kind == ColumnKind::Boolean && above < f64::INFINITY => {
                said.push(format!("{name} = {}", value(above.floor() + 1.0)));
            }
            (None, Some(at_most)) if *kind == ColumnKind::Boolean && at_most < f64::INFINITY => {
                said.push(format!("{name} = {}", value(at_most)));
            }
            (Some(f64::INFINITY), _) => said.push(format!("{name} is missing")),
            (above, at_most) => {
                said.extend(above.map(|t| format!("{name} > {}", value(t))));
                match at_most {
                    Some(f64::INFINITY) if above.is_none() => said.push(format!("{name} is not missing")),
                    Some(t) if t < f64::INFINITY => said.push(format!("{name} <= {}", value(t))),
                    _ => {}
                }
            }
        }
        said.extend(self.words.iter().map(|word| format!("{name} {word}")));
        let about_missing = said.iter().any(|s| s.ends_with("missing") || s.ends_with("missing or new"));
        if self.missing && !about_missing && !said.is_empty() {
            return vec![format!("({}, or missing)", said.join(" and "))];
        }
        said
    }
}

/// So many rules are written at most: the way to a leaf of a degenerate tree is as long as the data.
pub const MOST: usize = 1000;

/// The rules of a tree of tests as text, a line each; `cost` as in [`rules`].
pub fn text(view: &TreeView<'_>, cost: &[f64]) -> String {
    let stops = (0..view.n_nodes()).any(|node| view.staying(node).is_some());
    let note =
        if stops { Some("a missing or new value: what holds for the rows before it is asked") } else { view.note() };
    let mut text = lines(&rules(view, cost, MOST, |steps| conditions(view, steps)), view.tree.n_leaves());
    note.into_iter().for_each(|note| text.push_str(&format!("{note}\n")));
    text
}

/// Rules as text, a line each; `n_leaves` rules there are in all.
pub fn lines(rules: &[Rule], n_leaves: usize) -> String {
    let line = |rule: &Rule| {
        let conditions = if rule.conditions.is_empty() { "always".into() } else { rule.conditions.join(" and ") };
        let class = rule.prediction.rsplit_once(" (").filter(|_| rule.precision.is_some());
        let said = class.map_or(rule.prediction.as_str(), |(class, _)| class);
        let quality = match (rule.precision, rule.error) {
            (Some(precision), _) => format!(", right for {:.1}%", 100.0 * precision),
            (_, Some(error)) => format!(", give or take {}", number(error)),
            _ => String::new(),
        };
        format!("if {conditions} then {said}   (covers {:.1}%{quality})\n", 100.0 * rule.coverage)
    };
    let mut text: String = rules.iter().map(line).collect();
    if n_leaves > rules.len() {
        text.push_str(&format!("... {n_leaves} rules in all\n"));
    }
    text
}

/// Where a row goes from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To this child, counted from 0.
    Child(usize),
    /// Nowhere: no child takes it.
    Stay,
    /// To every child, in proportion to the training rows there.
    Every,
}

/// Why a row gets its prediction from a tree of tests; `x(feature)` is its value.
pub fn reasons(view: &TreeView<'_>, x: impl Fn(usize) -> f64) -> String {
    let ask = |node: usize| {
        let test = &view.tree.test[node];
        let Some(feature) = test.feature() else { return (String::new(), Step::Stay) };
        let (value, spec) = (x(feature), &view.schema.features[feature]);
        let said = match value {
            v if v.is_nan() => "missing".to_string(),
            v => spec.levels.get(v as usize).cloned().unwrap_or_else(|| number(v)),
        };
        let step = match test.branch(value) {
            Some(child) if !(view.missing == Missing::Fractional && value.is_nan()) => Step::Child(child),
            _ if view.missing == Missing::Fractional => Step::Every,
            _ => Step::Stay,
        };
        (format!("{} = {said}", spec.name), step)
    };
    reasons_by(view, ask)
}

/// Why a row gets its prediction: each question with the row's answer, and how the prediction changes. `ask(node)` says what the row has to say to a node's question, and where it goes.
pub fn reasons_by<D: Drawn>(drawn: &D, ask: impl Fn(usize) -> (String, Step)) -> String {
    const MOST: usize = 1000;
    let mut lines = vec![format!("at first: {}", drawn.prediction(0))];
    let mut sum = vec![0.0; drawn.value(0).len()];
    let mut is_parted = false;
    // Node, the share of the row that is there, the lead of its lines, and what led there.
    let mut stack = vec![(0usize, 1.0, String::new(), None)];
    while let Some((node, share, lead, led)) = stack.pop() {
        lines.extend(led.map(|led: String| format!("{lead}{led}: {}", drawn.prediction(node))));
        let (fact, step) = if drawn.is_leaf(node) { (String::new(), Step::Stay) } else { ask(node) };
        let asked = drawn.question(node);
        let children = drawn.children(node);
        match step {
            Step::Child(child) => {
                let led = format!("{fact}; {asked}? {}", drawn.answer(node, child));
                stack.push((children.start + child, share, lead, Some(led)));
            }
            Step::Every => {
                is_parted = true;
                lines.push(format!("{lead}{fact}; {asked}? all branches, by weight"));
                let total: f64 = children.clone().map(|child| drawn.weight(child)).sum();
                for (i, child) in children.enumerate().rev().filter(|(_, child)| drawn.weight(*child) > 0.0) {
                    let part = share * drawn.weight(child) / total;
                    let led = format!("{:.1}% {}", 100.0 * part, drawn.answer(node, i));
                    stack.push((child, part, format!("{lead}  "), Some(led)));
                }
            }
            Step::Stay => {
                sum.iter_mut().zip(drawn.value(node)).for_each(|(sum, value)| *sum += share * value);
                if !drawn.is_leaf(node) {
                    lines.push(format!("{lead}{fact}; {asked}? no branch takes it: {}", drawn.prediction(node)));
                }
            }
        }
    }
    if lines.len() > MOST {
        lines.truncate(MOST);
        lines.push("...".into());
    }
    if is_parted {
        lines.push(format!("in all: {}", prediction(&sum, drawn.schema())));
    }
    lines.join("\n") + "\n"
}

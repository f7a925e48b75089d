//! A tree as rules, and the reasons for one row.
//!
//! **Idea.** Every leaf is a rule: the answers on the way to it, with those about one column drawn together (`age > 20 and age <= 30`). A rule's
//! coverage is the share of the training rows (by weight) that end there; its precision the share of them that are of the class it says.

use super::draw::{answer, prediction, question};
use super::{Grown, Tree};
use crate::chart::text::number;
use crate::matrix::{Schema, Task};
use crate::split::Test;
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

/// The rules of a tree, the ones that cover most first; at most `most` of them.
pub fn rules(grown: &Grown, schema: &Schema, most: usize) -> Vec<Rule> {
    let tree = &grown.tree;
    let parent = parents(tree);
    let mut leaves: Vec<usize> = (0..tree.n_nodes()).filter(|&node| tree.children(node).is_empty()).collect();
    leaves.sort_by(|&a, &b| tree.weight[b].total_cmp(&tree.weight[a]).then(a.cmp(&b)));
    leaves.into_iter().take(most).map(|leaf| rule(grown, schema, &parent, leaf)).collect()
}

fn parents(tree: &Tree) -> Vec<usize> {
    let mut parent = vec![usize::MAX; tree.n_nodes()];
    for node in 0..tree.n_nodes() {
        tree.children(node).for_each(|child| parent[child] = node);
    }
    parent
}

fn rule(grown: &Grown, schema: &Schema, parent: &[usize], leaf: usize) -> Rule {
    let tree = &grown.tree;
    let mut way = vec![leaf];
    while let Some(&up) = way.last().and_then(|&node| parent.get(node)).filter(|&&up| up != usize::MAX) {
        way.push(up);
    }
    way.reverse();
    let mut by_column: BTreeMap<usize, Condition> = BTreeMap::new();
    let mut order: Vec<usize> = Vec::new();
    for step in way.windows(2) {
        let test = &tree.test[step[0]];
        let Some(feature) = test.feature() else { continue };
        if !order.contains(&feature) {
            order.push(feature);
        }
        let condition = by_column.entry(feature).or_insert_with(|| Condition { missing: true, ..Default::default() });
        condition.add(test, step[1] - tree.children(step[0]).start, schema);
    }
    let conditions = order.iter().flat_map(|f| by_column[f].words(&schema.features[*f].name, *f, schema)).collect();
    let classes = schema.task == Task::Classification;
    let best = tree.value(leaf).iter().fold(0.0f64, |best, &share| best.max(share));
    let weight = tree.weight[leaf];
    Rule {
        leaf,
        conditions,
        prediction: prediction(tree, leaf, schema),
        coverage: weight / tree.weight[0],
        precision: classes.then_some(best),
        error: (!classes && weight > 0.0).then(|| (grown.cost[leaf] / weight).max(0.0).sqrt()),
    }
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
                    self.words.push(answer(test, branch, schema));
                    self.missing = false;
                } else {
                    self.words.push("is missing".into());
                }
            }
        }
    }

    fn words(&self, name: &str, feature: usize, schema: &Schema) -> Vec<String> {
        let levels = &schema.features[feature].levels;
        let value = |x: f64| {
            let level = if x >= 0.0 { levels.get(x as usize).cloned() } else { None };
            level.unwrap_or_else(|| number(x))
        };
        let mut said = Vec::new();
        match (self.above, self.at_most) {
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
        let about_missing = said.iter().any(|s| s.ends_with("missing"));
        if self.missing && !about_missing && !said.is_empty() {
            return vec![format!("({}, or missing)", said.join(" and "))];
        }
        said
    }
}

/// So many rules are written at most: the way to a leaf of a degenerate tree is as long as the data.
const MOST: usize = 1000;

/// The rules as text, a line each.
pub fn text(grown: &Grown, schema: &Schema) -> String {
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
    let mut text: String = rules(grown, schema, MOST).iter().map(line).collect();
    let n_leaves = grown.tree.n_leaves();
    if n_leaves > MOST {
        text.push_str(&format!("... {n_leaves} rules in all\n"));
    }
    text
}

/// The nodes that a row comes through, from the root to the leaf; `x(feature)` is its value.
pub fn path(tree: &Tree, x: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut way = vec![0];
    let mut node = 0;
    while let Some(feature) = tree.test[node].feature() {
        let Some(branch) = tree.test[node].branch(x(feature)) else { break };
        node = tree.children(node).start + branch;
        way.push(node);
    }
    way
}

/// Why a row gets its prediction: each question with the row's answer, and how the prediction changes.
pub fn reasons(tree: &Tree, schema: &Schema, x: impl Fn(usize) -> f64) -> String {
    let way = path(tree, &x);
    let mut text = format!("at first: {}\n", prediction(tree, 0, schema));
    for step in way.windows(2) {
        let test = &tree.test[step[0]];
        let Some(feature) = test.feature() else { continue };
        let spec = &schema.features[feature];
        let value = match x(feature) {
            v if v.is_nan() => "missing".to_string(),
            v => spec.levels.get(v as usize).cloned().unwrap_or_else(|| number(v)),
        };
        let said = answer(test, step[1] - tree.children(step[0]).start, schema);
        let asked = question(test, schema);
        let now = prediction(tree, step[1], schema);
        text.push_str(&format!("{} = {value}; {asked}? {said}: {now}\n", spec.name));
    }
    text
}

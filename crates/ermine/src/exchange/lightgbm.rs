//! LightGBM's text models (`save_model`).
//!
//! A file consists of fields `name=value`: a header, then one block per tree. Thresholds are double precision with the test `x <= t`, as in Ermine. A missing value follows the default
//! direction of the node, or counts as 0. Categories are integers; the categories of a set go left.

use super::imported::{ImportedEnsemble, ImportedNode, MAX_FEATURES, MAX_OUTPUTS, build_tree, category_name};
use super::invalid as invalid_file;
use ermine_core::error::{Error, Result};
use ermine_core::model::{Link, Model};
use ermine_trees::split::Test;
use ermine_trees::split::test::CodeSet;
use ermine_trees::tree::Tree;
use std::collections::HashMap;
use std::str::FromStr;

fn invalid(message: impl std::fmt::Display) -> Error {
    invalid_file("LightGBM", message)
}

/// The values of the header or of a tree, by name.
struct KeyValues<'a>(HashMap<&'a str, &'a str>);

impl<'a> KeyValues<'a> {
    fn new(text: &'a str) -> KeyValues<'a> {
        KeyValues(
            text.lines()
                .map(|line| line.split_once('=').unwrap_or((line, "")))
                .map(|(name, value)| (name.trim(), value.trim()))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Result<&'a str> {
        self.0.get(name).copied().ok_or_else(|| invalid(format!("{name} is missing")))
    }

    fn parse<T: FromStr>(&self, name: &str) -> Result<T> {
        let text = self.get(name)?;
        text.parse().map_err(|_| invalid(format!("{name} is {text}")))
    }

    /// Parses a list of `n` numbers.
    fn list<T: FromStr>(&self, name: &str, n: usize) -> Result<Vec<T>> {
        let text = self.0.get(name).copied().unwrap_or("");
        let parse = |word: &str| word.parse().map_err(|_| invalid(format!("{name} has the value {word}")));
        let values: Vec<T> = text.split_ascii_whitespace().map(parse).collect::<Result<_>>()?;
        if values.len() == n {
            Ok(values)
        } else {
            Err(invalid(format!("{name} has {} values, expected {n}", values.len())))
        }
    }
}

/// Reads a LightGBM model.
pub fn model(text: &str) -> Result<Model> {
    let (text, tail) = text.split_once("\nend of trees").unwrap_or((text, ""));
    let mut blocks = text.split("\nTree=");
    let head = KeyValues::new(blocks.next().unwrap_or(""));
    let n_outputs: usize = head.parse("num_tree_per_iteration")?;
    let n_features = head.parse::<usize>("max_feature_idx")?.saturating_add(1);
    if n_features > MAX_FEATURES || !(1..=MAX_OUTPUTS).contains(&n_outputs) {
        return Err(invalid(format!("{n_features} features and {n_outputs} trees per round are out of range")));
    }
    let objective = head.0.get("objective").copied().unwrap_or("regression");
    let (link, classes, factor) = link(objective)?;
    let mut names: Vec<String> = head.get("feature_names")?.split_ascii_whitespace().map(String::from).collect();
    names.resize_with(n_features, || "unnamed".into());
    let mut gains = vec![0.0; n_features];
    let mut trees: Vec<Vec<Tree>> = vec![Vec::new(); n_outputs];
    for (i, block) in blocks.enumerate() {
        let tree =
            read_tree(&KeyValues::new(block), factor, &mut gains).map_err(|e| invalid(format!("tree {i}: {e}")))?;
        trees[i % n_outputs].push(tree);
    }
    if head.0.contains_key("average_output") {
        let n = trees[0].len().max(1) as f64;
        trees.iter_mut().flatten().flat_map(|tree| &mut tree.value).for_each(|value| *value /= n);
    }
    let levels = levels(head.0.get("feature_infos").copied().unwrap_or(""), tail, n_features);
    let (initial_scores, objective) = (vec![0.0; n_outputs], objective.to_string());
    let notes = Vec::new();
    ImportedEnsemble {
        library: "LightGBM",
        names,
        levels,
        initial_scores,
        trees,
        link,
        classes,
        gains,
        objective,
        notes,
    }
    .model()
}

/// The category names of each feature. LightGBM writes those of pandas' categorical columns at the end of the file, one list per column; which features are categorical follows from
/// `feature_infos`: `1:2:0` for categories, `[0:9]` for numbers. If the two don't match, categories stay numbers.
fn levels(infos: &str, tail: &str, n_features: usize) -> Vec<Vec<String>> {
    let no_names = vec![Vec::new(); n_features];
    let infos: Vec<&str> = infos.split_ascii_whitespace().collect();
    let categorical: Vec<usize> =
        (0..infos.len().min(n_features)).filter(|&j| infos[j].contains(':') && !infos[j].starts_with('[')).collect();
    let lists = tail.lines().find_map(|line| line.strip_prefix("pandas_categorical:"));
    let Some(lists) = lists.and_then(|lists| serde_json::from_str::<Vec<Vec<serde_json::Value>>>(lists).ok()) else {
        return no_names;
    };
    if lists.len() != categorical.len() {
        return no_names;
    }
    let mut levels = no_names.clone();
    for (column, list) in categorical.into_iter().zip(lists) {
        match list.iter().map(category_name).collect() {
            Some(names) => levels[column] = names,
            None => return no_names,
        }
    }
    levels
}

/// The link of an objective, whether it is for classification, and the factor of the raw scores.
fn link(objective: &str) -> Result<(Link, bool, f64)> {
    let mut words = objective.split_ascii_whitespace();
    let name = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let sigmoid = rest.iter().find_map(|word| word.strip_prefix("sigmoid:"));
    let sigmoid = sigmoid.map_or(Ok(1.0), |s| s.parse().map_err(|_| invalid(format!("sigmoid is {s}"))))?;
    Ok(match name {
        "binary" => (Link::Logistic, true, sigmoid),
        "cross_entropy" | "xentropy" => (Link::Logistic, true, 1.0),
        "multiclass" => (Link::Softmax, true, 1.0),
        "poisson" | "gamma" | "tweedie" => (Link::Exponential, false, 1.0),
        "regression" if rest.contains(&"sqrt") => {
            return Err(invalid("models of the square root of the target (reg_sqrt) are not supported"));
        }
        "regression" | "regression_l1" | "huber" | "fair" | "quantile" | "mape" | "lambdarank" | "rank_xendcg" => {
            (Link::Identity, false, 1.0)
        }
        other => return Err(invalid(format!("the objective {other} is not supported"))),
    })
}

/// Bits of a node's `decision_type`.
mod decision {
    pub const CATEGORICAL: u8 = 1;
    pub const DEFAULT_LEFT: u8 = 2;
    /// Missing type, in bits 2 and 3.
    pub const NO_MISSING: u8 = 0;
    pub const ZERO: u8 = 1;
}

fn read_tree(fields: &KeyValues<'_>, factor: f64, gains: &mut [f64]) -> Result<Tree> {
    let n_leaves: usize = fields.parse("num_leaves")?;
    if fields.0.get("is_linear").is_some_and(|linear| *linear != "0") {
        return Err(invalid("trees with linear leaves are not supported"));
    }
    let n_inner = n_leaves.checked_sub(1).ok_or_else(|| invalid("the tree has no leaves"))?;
    let values: Vec<f64> = fields.list("leaf_value", n_leaves)?;
    if n_inner == 0 {
        return build_tree(1, |_| Ok((ImportedNode::Leaf(factor * values[0]), 1.0)), invalid);
    }
    let features: Vec<u32> = fields.list("split_feature", n_inner)?;
    let thresholds: Vec<f64> = fields.list("threshold", n_inner)?;
    let types: Vec<u8> = fields.list("decision_type", n_inner)?;
    let (left, right): (Vec<i64>, Vec<i64>) =
        (fields.list("left_child", n_inner)?, fields.list("right_child", n_inner)?);
    let (leaf_count, inner_count): (Vec<f64>, Vec<f64>) =
        (fields.list("leaf_count", n_leaves)?, fields.list("internal_count", n_inner)?);
    let sets = sets(fields)?;
    for (&feature, gain) in features.iter().zip(fields.list::<f64>("split_gain", n_inner)?) {
        *gains.get_mut(feature as usize).ok_or_else(|| invalid("a split uses a feature that does not exist"))? +=
            gain.max(0.0);
    }
    // Inner nodes come first, then the leaves, whose indices count down from -1.
    let index = |child: i64| if child < 0 { n_inner.saturating_add(!child as usize) } else { child as usize };
    let node = |i: usize| {
        if i >= n_inner {
            return Ok((ImportedNode::Leaf(factor * values[i - n_inner]), leaf_count[i - n_inner]));
        }
        let test = test(features[i], thresholds[i], types[i], &sets)?;
        Ok((ImportedNode::Split(test, [index(left[i]), index(right[i])]), inner_count[i]))
    };
    build_tree(n_inner + n_leaves, node, invalid)
}

fn test(feature: u32, threshold: f64, kind: u8, sets: &[CodeSet]) -> Result<Test> {
    if kind & decision::CATEGORICAL != 0 {
        let set = sets.get(threshold as usize).ok_or_else(|| invalid("a set of categories is missing"))?;
        return Ok(Test::InSet { feature, set: set.clone(), missing_left: false });
    }
    if threshold.is_nan() {
        return Err(invalid("a threshold is NaN"));
    }
    let default_left = kind & decision::DEFAULT_LEFT != 0;
    let zero_left = 0.0 <= threshold;
    let missing_left = match kind >> 2 & 3 {
        decision::NO_MISSING => zero_left,
        decision::ZERO if default_left != zero_left => {
            return Err(invalid(
                "nodes where zero counts as missing and takes the opposite direction of 0 are not supported",
            ));
        }
        _ => default_left,
    };
    Ok(Test::AtMost { feature, threshold, missing_left })
}

/// The category sets of a tree.
fn sets(fields: &KeyValues<'_>) -> Result<Vec<CodeSet>> {
    let n: usize = fields.parse("num_cat")?;
    if n == 0 {
        return Ok(Vec::new());
    }
    let bounds: Vec<usize> = fields.list("cat_boundaries", n.saturating_add(1))?;
    let words: Vec<u32> = fields.list("cat_threshold", bounds.last().copied().unwrap_or(0))?;
    let set = |pair: &[usize]| {
        let words = words.get(pair[0]..pair[1]).ok_or_else(|| invalid("a set of categories is truncated"))?;
        let halves =
            words.chunks(2).map(|half| u64::from(half[0]) | u64::from(half.get(1).copied().unwrap_or(0)) << 32);
        Ok(CodeSet::from_words(halves))
    };
    bounds.windows(2).map(set).collect()
}

//! LightGBM's text models (`save_model`).
//!
//! A file is lines of `name=value`: some about the whole, then a block for each tree. Thresholds are double precision and asked as we ask them (`x <= t`). What becomes of a missing value depends on the node: it goes
//! the default way, or counts as 0. Categories are numbers; those of a set go to the left.

use super::foreign::{Foreign, MOST_FEATURES, MOST_OUTPUTS, Node, lay_out, level};
use super::wrong as wrong_file;
use ermine_core::error::{Error, Result};
use ermine_core::model::{Link, Model};
use ermine_trees::split::Test;
use ermine_trees::split::test::CodeSet;
use ermine_trees::tree::Tree;
use std::collections::HashMap;
use std::str::FromStr;

fn wrong(message: impl std::fmt::Display) -> Error {
    wrong_file("LightGBM", message)
}

/// The lines of the file or of a tree, by name.
struct Lines<'a>(HashMap<&'a str, &'a str>);

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        Lines(
            text.lines()
                .map(|line| line.split_once('=').unwrap_or((line, "")))
                .map(|(name, value)| (name.trim(), value.trim()))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Result<&'a str> {
        self.0.get(name).copied().ok_or_else(|| wrong(format!("it has no {name}")))
    }

    fn one<T: FromStr>(&self, name: &str) -> Result<T> {
        let text = self.get(name)?;
        text.parse().map_err(|_| wrong(format!("{name} is {text}")))
    }

    /// A list of `n` numbers.
    fn list<T: FromStr>(&self, name: &str, n: usize) -> Result<Vec<T>> {
        let text = self.0.get(name).copied().unwrap_or("");
        let parse = |word: &str| word.parse().map_err(|_| wrong(format!("{name} holds {word}")));
        let values: Vec<T> = text.split_ascii_whitespace().map(parse).collect::<Result<_>>()?;
        if values.len() == n {
            Ok(values)
        } else {
            Err(wrong(format!("{} values of {name} where {n} were expected", values.len())))
        }
    }
}

/// The model in a file of LightGBM.
pub fn model(text: &str) -> Result<Model> {
    let (text, tail) = text.split_once("\nend of trees").unwrap_or((text, ""));
    let mut blocks = text.split("\nTree=");
    let head = Lines::new(blocks.next().unwrap_or(""));
    let n_outputs: usize = head.one("num_tree_per_iteration")?;
    let n_features = head.one::<usize>("max_feature_idx")?.saturating_add(1);
    if n_features > MOST_FEATURES || !(1..=MOST_OUTPUTS).contains(&n_outputs) {
        return Err(wrong(format!("it has {n_features} columns and {n_outputs} trees in a round")));
    }
    let objective = head.0.get("objective").copied().unwrap_or("regression");
    let (link, classes, factor) = link(objective)?;
    let mut names: Vec<String> = head.get("feature_names")?.split_ascii_whitespace().map(String::from).collect();
    names.resize_with(n_features, || "unnamed".into());
    let mut gains = vec![0.0; n_features];
    let mut trees: Vec<Vec<Tree>> = vec![Vec::new(); n_outputs];
    for (i, block) in blocks.enumerate() {
        let tree = read_tree(&Lines::new(block), factor, &mut gains).map_err(|e| wrong(format!("tree {i}: {e}")))?;
        trees[i % n_outputs].push(tree);
    }
    if head.0.contains_key("average_output") {
        let n = trees[0].len().max(1) as f64;
        trees.iter_mut().flatten().flat_map(|tree| &mut tree.value).for_each(|value| *value /= n);
    }
    let levels = levels(head.0.get("feature_infos").copied().unwrap_or(""), tail, n_features);
    let (start, objective) = (vec![0.0; n_outputs], objective.to_string());
    let notes = Vec::new();
    Foreign { program: "LightGBM", names, levels, start, trees, link, classes, gains, objective, notes }.model()
}

/// The categories of each column. LightGBM keeps those of pandas' categorical columns, one list for each, at the end of the file; which columns have categories is seen from what it says about their values: `1:2:0`
/// for categories, `[0:9]` for numbers. Where the two don't fit, categories stay numbers.
fn levels(infos: &str, tail: &str, n_features: usize) -> Vec<Vec<String>> {
    let nothing = vec![Vec::new(); n_features];
    let infos: Vec<&str> = infos.split_ascii_whitespace().collect();
    let are_categories: Vec<usize> =
        (0..infos.len().min(n_features)).filter(|&j| infos[j].contains(':') && !infos[j].starts_with('[')).collect();
    let lists = tail.lines().find_map(|line| line.strip_prefix("pandas_categorical:"));
    let Some(lists) = lists.and_then(|lists| serde_json::from_str::<Vec<Vec<serde_json::Value>>>(lists).ok()) else {
        return nothing;
    };
    if lists.len() != are_categories.len() {
        return nothing;
    }
    let mut levels = nothing.clone();
    for (column, list) in are_categories.into_iter().zip(lists) {
        match list.iter().map(level).collect() {
            Some(names) => levels[column] = names,
            None => return nothing,
        }
    }
    levels
}

/// How scores become predictions, whether these are of classes, and what scores are multiplied by before.
fn link(objective: &str) -> Result<(Link, bool, f64)> {
    let mut words = objective.split_ascii_whitespace();
    let name = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let sigmoid = rest.iter().find_map(|word| word.strip_prefix("sigmoid:"));
    let sigmoid = sigmoid.map_or(Ok(1.0), |s| s.parse().map_err(|_| wrong(format!("sigmoid is {s}"))))?;
    Ok(match name {
        "binary" => (Link::Logistic, true, sigmoid),
        "cross_entropy" | "xentropy" => (Link::Logistic, true, 1.0),
        "multiclass" => (Link::Softmax, true, 1.0),
        "poisson" | "gamma" | "tweedie" => (Link::Exponential, false, 1.0),
        "regression" if rest.contains(&"sqrt") => {
            return Err(wrong("models of square roots of the target (reg_sqrt) can't be read"));
        }
        "regression" | "regression_l1" | "huber" | "fair" | "quantile" | "mape" | "lambdarank" | "rank_xendcg" => {
            (Link::Identity, false, 1.0)
        }
        other => return Err(wrong(format!("models of the objective {other} can't be read"))),
    })
}

/// Bits of a node's `decision_type`.
mod decision {
    pub const CATEGORICAL: u8 = 1;
    pub const DEFAULT_LEFT: u8 = 2;
    /// What counts as missing, two bits up.
    pub const NOTHING: u8 = 0;
    pub const ZERO: u8 = 1;
}

fn read_tree(lines: &Lines<'_>, factor: f64, gains: &mut [f64]) -> Result<Tree> {
    let n_leaves: usize = lines.one("num_leaves")?;
    if lines.0.get("is_linear").is_some_and(|linear| *linear != "0") {
        return Err(wrong("leaves with linear models can't be read"));
    }
    let n_inner = n_leaves.checked_sub(1).ok_or_else(|| wrong("it has no leaves"))?;
    let values: Vec<f64> = lines.list("leaf_value", n_leaves)?;
    if n_inner == 0 {
        return lay_out(1, |_| Ok((Node::Leaf(factor * values[0]), 1.0)), wrong);
    }
    let features: Vec<u32> = lines.list("split_feature", n_inner)?;
    let thresholds: Vec<f64> = lines.list("threshold", n_inner)?;
    let types: Vec<u8> = lines.list("decision_type", n_inner)?;
    let (left, right): (Vec<i64>, Vec<i64>) = (lines.list("left_child", n_inner)?, lines.list("right_child", n_inner)?);
    let (leaf_count, inner_count): (Vec<f64>, Vec<f64>) =
        (lines.list("leaf_count", n_leaves)?, lines.list("internal_count", n_inner)?);
    let sets = sets(lines)?;
    for (&feature, gain) in features.iter().zip(lines.list::<f64>("split_gain", n_inner)?) {
        *gains.get_mut(feature as usize).ok_or_else(|| wrong("a node asks about a column that is not there"))? +=
            gain.max(0.0);
    }
    // Nodes that ask come first, then the leaves, which are counted down from -1.
    let place = |child: i64| if child < 0 { n_inner.saturating_add(!child as usize) } else { child as usize };
    let node = |i: usize| {
        if i >= n_inner {
            return Ok((Node::Leaf(factor * values[i - n_inner]), leaf_count[i - n_inner]));
        }
        let test = test(features[i], thresholds[i], types[i], &sets)?;
        Ok((Node::Ask(test, [place(left[i]), place(right[i])]), inner_count[i]))
    };
    lay_out(n_inner + n_leaves, node, wrong)
}

fn test(feature: u32, threshold: f64, kind: u8, sets: &[CodeSet]) -> Result<Test> {
    if kind & decision::CATEGORICAL != 0 {
        let set = sets.get(threshold as usize).ok_or_else(|| wrong("a set of categories is not there"))?;
        return Ok(Test::InSet { feature, set: set.clone(), missing_left: false });
    }
    if threshold.is_nan() {
        return Err(wrong("a threshold is not a number"));
    }
    let default_left = kind & decision::DEFAULT_LEFT != 0;
    let zero_left = 0.0 <= threshold;
    let missing_left = match kind >> 2 & 3 {
        decision::NOTHING => zero_left,
        decision::ZERO if default_left != zero_left => {
            return Err(wrong("zeros that count as missing and go another way than 0 can't be read"));
        }
        _ => default_left,
    };
    Ok(Test::AtMost { feature, threshold, missing_left })
}

/// The sets of categories of a tree.
fn sets(lines: &Lines<'_>) -> Result<Vec<CodeSet>> {
    let n: usize = lines.one("num_cat")?;
    if n == 0 {
        return Ok(Vec::new());
    }
    let bounds: Vec<usize> = lines.list("cat_boundaries", n.saturating_add(1))?;
    let words: Vec<u32> = lines.list("cat_threshold", bounds.last().copied().unwrap_or(0))?;
    let set = |pair: &[usize]| {
        let words = words.get(pair[0]..pair[1]).ok_or_else(|| wrong("a set of categories is cut short"))?;
        let halves =
            words.chunks(2).map(|half| u64::from(half[0]) | u64::from(half.get(1).copied().unwrap_or(0)) << 32);
        Ok(CodeSet::from_words(halves))
    };
    bounds.windows(2).map(set).collect()
}

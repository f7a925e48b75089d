//! XGBoost's models (`save_model` to `.json` or `.ubj`), for the boosters `gbtree` and `dart`.
//!
//! **Thresholds.** XGBoost rounds a value to single precision and tests `x < c`. Ermine tests `x <= t` in double precision, with t the largest number that rounds to less than c: the
//! midpoint between c and the previous single-precision number, or just below it if the midpoint is rounded up. Every value then takes the same branch in both libraries.
//!
//! **Categories.** XGBoost sends the categories of a set to the right. Category names are read if the file has them; otherwise categories are numbers.
//!
//! **Scores.** XGBoost sums leaves in single precision and Ermine in double precision, so predictions agree up to single-precision rounding.

use super::imported::{ImportedEnsemble, ImportedNode, MAX_FEATURES, MAX_OUTPUTS, build_tree, category_name};
use super::invalid as invalid_file;
use ermine_core::error::{Error, Result};
use ermine_core::model::{Link, Model};
use ermine_trees::split::Test;
use ermine_trees::split::test::CodeSet;
use ermine_trees::tree::Tree;
use serde_json::Value;

fn invalid(message: impl std::fmt::Display) -> Error {
    invalid_file("XGBoost", message)
}

/// Maximum number of categories of a feature.
const MAX_CATEGORIES: f64 = (1 << 24) as f64;

/// Reads an XGBoost model.
pub fn model(file: &Value) -> Result<Model> {
    let learner = get(file, "learner")?;
    let booster = get(learner, "gradient_booster")?;
    let objective = text(get(get(learner, "objective")?, "name")?)?;
    let params = get(learner, "learner_model_param")?;
    let n_features = integer(get(params, "num_feature")?)?;
    let n_outputs = integer(get(params, "num_class")?)?.max(params.get("num_target").map_or(Ok(1), integer)?).max(1);
    if n_features > MAX_FEATURES || n_outputs > MAX_OUTPUTS {
        return Err(invalid(format!("{n_features} features and {n_outputs} outputs are out of range")));
    }
    let (link, classes) = link(objective)?;
    let initial_scores = initial_scores(get(params, "base_score")?, n_outputs, link)?;
    let (trees, drop) = match text(get(booster, "name")?)? {
        "gbtree" => (get(booster, "model")?, None),
        "dart" => (get(get(booster, "gbtree")?, "model")?, Some(numbers(get(booster, "weight_drop")?)?)),
        other => return Err(invalid(format!("the booster {other} is not supported (only gbtree and dart)"))),
    };
    let infos = list(get(trees, "tree_info")?)?;
    let mut gains = vec![0.0; n_features];
    let mut outputs: Vec<Vec<Tree>> = vec![Vec::new(); n_outputs];
    for (i, tree) in list(get(trees, "trees")?)?.iter().enumerate() {
        let output = integer(infos.get(i).ok_or_else(|| invalid("tree_info is shorter than the list of trees"))?)?;
        let factor = match &drop {
            Some(drop) => *drop.get(i).ok_or_else(|| invalid("weight_drop is shorter than the list of trees"))?,
            None => 1.0,
        };
        let trees = outputs.get_mut(output).ok_or_else(|| {
            invalid(format!("tree {i} belongs to output {output}, but there are {n_outputs} outputs"))
        })?;
        trees.push(read_tree(tree, factor, &mut gains).map_err(|e| invalid(format!("tree {i}: {e}")))?);
    }
    let names = match learner.get("feature_names").map(list).transpose()? {
        Some(names) if names.len() == n_features => {
            names.iter().map(|n| text(n).map(String::from)).collect::<Result<_>>()?
        }
        _ => (0..n_features).map(|j| format!("f{j}")).collect(),
    };
    let notes = keep_best(learner, booster, &mut outputs)?;
    let levels = levels(trees, n_features)?;
    let (trees, objective) = (outputs, objective.to_string());
    ImportedEnsemble {
        library: "XGBoost",
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

/// Keeps the rounds up to the best iteration if early stopping was used, as XGBoost's scikit-learn classes do for prediction.
fn keep_best(learner: &Value, booster: &Value, outputs: &mut [Vec<Tree>]) -> Result<Vec<String>> {
    let Some(best) = learner.get("attributes").and_then(|a| a.get("best_iteration")).map(integer).transpose()? else {
        return Ok(Vec::new());
    };
    let in_round =
        |model: &Value| model.get("gbtree_model_param").and_then(|p| p.get("num_parallel_tree")).map(integer);
    let in_round = booster.get("model").and_then(in_round).transpose()?.unwrap_or(1).max(1);
    let kept = best.saturating_add(1).saturating_mul(in_round);
    let n_trees = outputs.iter().map(Vec::len).max().unwrap_or(0);
    if kept >= n_trees {
        return Ok(Vec::new());
    }
    outputs.iter_mut().for_each(|trees| trees.truncate(kept));
    Ok(vec![format!("the first {} of {} rounds, up to the best iteration", best + 1, n_trees / in_round)])
}

/// The category names of each feature; empty for numeric features and for files without names (before XGBoost 3.1). Text is stored as bytes and offsets, numbers as a list.
fn levels(model: &Value, n_features: usize) -> Result<Vec<Vec<String>>> {
    let mut all = vec![Vec::new(); n_features];
    let Some(columns) = model.get("cats").and_then(|cats| cats.get("enc")) else { return Ok(all) };
    for (levels, column) in all.iter_mut().zip(list(columns)?) {
        let values = list(get(column, "values")?)?;
        *levels = match column.get("offsets").map(list).transpose()? {
            Some(ends) => {
                let bytes: Vec<u8> = values.iter().map(|b| b.as_i64().unwrap_or(0) as u8).collect();
                let ends = ends.iter().map(integer).collect::<Result<Vec<usize>>>()?;
                let name =
                    |pair: &[usize]| bytes.get(pair[0]..pair[1]).map(|b| String::from_utf8_lossy(b).into_owned());
                let names: Option<Vec<String>> = ends.windows(2).map(name).collect();
                names.ok_or_else(|| invalid("the name of a category is truncated"))?
            }
            None => values.iter().filter_map(category_name).collect(),
        };
    }
    Ok(all)
}

/// The link of an objective, and whether it is for classification.
fn link(objective: &str) -> Result<(Link, bool)> {
    Ok(match objective {
        "binary:logistic" | "reg:logistic" => (Link::Logistic, true),
        "multi:softmax" | "multi:softprob" => (Link::Softmax, true),
        "count:poisson" | "reg:gamma" | "reg:tweedie" => (Link::Exponential, false),
        "reg:squarederror"
        | "reg:linear"
        | "reg:squaredlogerror"
        | "reg:pseudohubererror"
        | "reg:absoluteerror"
        | "reg:quantileerror"
        | "binary:logitraw"
        | "rank:ndcg"
        | "rank:map"
        | "rank:pairwise" => (Link::Identity, false),
        other => return Err(invalid(format!("the objective {other} is not supported"))),
    })
}

/// The initial raw scores: XGBoost stores the corresponding prediction.
fn initial_scores(base: &Value, n: usize, link: Link) -> Result<Vec<f64>> {
    let text = text(base)?.trim().trim_start_matches('[').trim_end_matches(']');
    let number = |part: &str| part.trim().parse::<f32>().map_err(|_| invalid(format!("base_score is {text}")));
    let base_scores: Vec<f32> = text.split(',').map(number).collect::<Result<_>>()?;
    let score = |p: f32| match link {
        Link::Logistic => f64::from(-(1.0 / p - 1.0).ln()),
        Link::Exponential => f64::from(p.ln()),
        _ => f64::from(p),
    };
    match base_scores.len() {
        1 => Ok(vec![score(base_scores[0]); n]),
        k if k == n => Ok(base_scores.into_iter().map(score).collect()),
        k => Err(invalid(format!("base_score has {k} numbers for {n} outputs"))),
    }
}

/// The largest number that is below c when rounded to single precision.
fn threshold(c: f32) -> f64 {
    let before = c.next_down();
    let middle = f64::from(before) + (f64::from(c) - f64::from(before)) / 2.0;
    if middle as f32 == before { middle } else { middle.next_down() }
}

fn read_tree(tree: &Value, factor: f64, gains: &mut [f64]) -> Result<Tree> {
    let left = list(get(tree, "left_children")?)?;
    let n = left.len();
    let column = |name: &str| match list(get(tree, name)?)? {
        values if values.len() == n => Ok(values),
        values => Err(invalid(format!("{name} has {} values for {n} nodes", values.len()))),
    };
    let (right, features, conditions) =
        (column("right_children")?, column("split_indices")?, column("split_conditions")?);
    let (default_left, weights) = (column("default_left")?, column("sum_hessian")?);
    let vector = tree.get("tree_param").and_then(|p| p.get("size_leaf_vector")).map_or(Ok(1), integer)?;
    if vector > 1 {
        return Err(invalid("leaves with several outputs are not supported"));
    }
    let sets = categories(tree, n)?;
    if let Some(changes) = tree.get("loss_changes").map(numbers).transpose()? {
        for (feature, gain) in
            features.iter().zip(&changes).zip(left).filter(|(_, l)| l.as_i64() != Some(-1)).map(|(pair, _)| pair)
        {
            *gains
                .get_mut(integer(feature)?)
                .ok_or_else(|| invalid("a split uses a feature that does not exist"))? += gain.max(0.0);
        }
    }
    let node = |i: usize| {
        let weight = number(&weights[i])?;
        let condition = number(&conditions[i])? as f32;
        if left[i].as_i64() == Some(-1) {
            return Ok((ImportedNode::Leaf(factor * f64::from(condition)), weight));
        }
        let (yes, no) = (integer(&left[i])?, integer(&right[i])?);
        let feature = integer(&features[i])? as u32;
        let missing_left = default_left[i].as_bool().unwrap_or(default_left[i].as_i64() == Some(1));
        if let Some(set) = &sets[i] {
            // The set goes to the right, so the children are swapped.
            let test = Test::InSet { feature, set: set.clone(), missing_left: !missing_left };
            return Ok((ImportedNode::Split(test, [no, yes]), weight));
        }
        if !condition.is_finite() {
            return Err(invalid("a threshold is not finite"));
        }
        Ok((
            ImportedNode::Split(Test::AtMost { feature, threshold: threshold(condition), missing_left }, [yes, no]),
            weight,
        ))
    };
    build_tree(n, node, invalid)
}

/// The category set of each node with a categorical split.
fn categories(tree: &Value, n: usize) -> Result<Vec<Option<CodeSet>>> {
    let mut sets = vec![None; n];
    let Some(nodes) = tree.get("categories_nodes") else { return Ok(sets) };
    let (nodes, all) = (list(nodes)?, numbers(get(tree, "categories")?)?);
    let (starts, sizes) = (list(get(tree, "categories_segments")?)?, list(get(tree, "categories_sizes")?)?);
    if starts.len() != nodes.len() || sizes.len() != nodes.len() {
        return Err(invalid("the lists of category sets have different lengths"));
    }
    for ((node, start), size) in nodes.iter().zip(starts).zip(sizes) {
        let start = integer(start)?;
        let set = start
            .checked_add(integer(size)?)
            .and_then(|end| all.get(start..end))
            .ok_or_else(|| invalid("a set of categories is truncated"))?;
        if set.iter().any(|c| !(0.0..MAX_CATEGORIES).contains(c)) {
            return Err(invalid("a category is not an integer from 0 to 16777215"));
        }
        let node_set = sets
            .get_mut(integer(node)?)
            .ok_or_else(|| invalid("a set of categories belongs to a node that does not exist"))?;
        *node_set = Some(CodeSet::new(set.iter().map(|&c| c as usize)));
    }
    Ok(sets)
}

fn get<'a>(value: &'a Value, name: &str) -> Result<&'a Value> {
    value.get(name).ok_or_else(|| invalid(format!("{name} is missing")))
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(|| invalid("expected a string"))
}

fn list(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().ok_or_else(|| invalid("expected a list"))
}

/// A number; XGBoost writes some of them as strings.
fn number(value: &Value) -> Result<f64> {
    let parsed = value.as_str().map_or_else(|| value.as_f64(), |text| text.trim().parse().ok());
    parsed.ok_or_else(|| invalid("expected a number"))
}

fn integer(value: &Value) -> Result<usize> {
    let number = number(value)?;
    if number >= 0.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) {
        Ok(number as usize)
    } else {
        Err(invalid(format!("expected an integer, got {number}")))
    }
}

fn numbers(value: &Value) -> Result<Vec<f64>> {
    list(value)?.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn thresholds_split_as_single_precision_does(c in any::<f32>(), x in any::<f64>(), near in -3i32..4) {
            prop_assume!(c.is_finite());
            let t = threshold(c);
            let around = [f64::from(c), t, f64::from(c.next_down()), x, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
            for value in around {
                let mut x = value;
                (0..near.abs()).for_each(|_| x = if near > 0 { x.next_up() } else { x.next_down() });
                prop_assert_eq!((x as f32) < c, x <= t, "{} {}", x, c);
            }
        }
    }
}

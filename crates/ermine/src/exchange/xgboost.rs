//! XGBoost's models (`save_model` to `.json` or `.ubj`), of the boosters `gbtree` and `dart`.
//!
//! **Thresholds.** XGBoost rounds a value to single precision and asks `x < c`. We ask `x <= t` in double precision, with t the largest number that rounds to less than c: half-way between c and the single-precision
//! number before it, or just below that where half-way is rounded up. Every value then goes the same way here as there.
//!
//! **Categories.** XGBoost sends the categories of a set to the right. Columns of categories take their names where the file has them, else their numbers.
//!
//! **Scores.** XGBoost adds leaves up in single precision and we in double: predictions agree to single precision's rounding.

use super::foreign::{Foreign, MOST_FEATURES, MOST_OUTPUTS, Node, lay_out, level};
use super::wrong as wrong_file;
use ermine_core::error::{Error, Result};
use ermine_core::model::{Link, Model};
use ermine_trees::split::Test;
use ermine_trees::split::test::CodeSet;
use ermine_trees::tree::Tree;
use serde_json::Value;

fn wrong(message: impl std::fmt::Display) -> Error {
    wrong_file("XGBoost", message)
}

/// Categories that a column may have, at most.
const MOST_CATEGORIES: f64 = (1 << 24) as f64;

/// The model in a file of XGBoost.
pub fn model(file: &Value) -> Result<Model> {
    let learner = get(file, "learner")?;
    let booster = get(learner, "gradient_booster")?;
    let objective = text(get(get(learner, "objective")?, "name")?)?;
    let params = get(learner, "learner_model_param")?;
    let n_features = whole(get(params, "num_feature")?)?;
    let n_outputs = whole(get(params, "num_class")?)?.max(params.get("num_target").map_or(Ok(1), whole)?).max(1);
    if n_features > MOST_FEATURES || n_outputs > MOST_OUTPUTS {
        return Err(wrong(format!("it has {n_features} columns and {n_outputs} outputs")));
    }
    let (link, classes) = link(objective)?;
    let start = start(get(params, "base_score")?, n_outputs, link)?;
    let (trees, drop) = match text(get(booster, "name")?)? {
        "gbtree" => (get(booster, "model")?, None),
        "dart" => (get(get(booster, "gbtree")?, "model")?, Some(numbers(get(booster, "weight_drop")?)?)),
        other => return Err(wrong(format!("models of the booster {other} can't be read, only gbtree and dart"))),
    };
    let infos = list(get(trees, "tree_info")?)?;
    let mut gains = vec![0.0; n_features];
    let mut outputs: Vec<Vec<Tree>> = vec![Vec::new(); n_outputs];
    for (i, tree) in list(get(trees, "trees")?)?.iter().enumerate() {
        let output = whole(infos.get(i).ok_or_else(|| wrong("a tree belongs to no class"))?)?;
        let factor = match &drop {
            Some(drop) => *drop.get(i).ok_or_else(|| wrong("a tree of dart has no weight"))?,
            None => 1.0,
        };
        let place = outputs
            .get_mut(output)
            .ok_or_else(|| wrong(format!("tree {i} belongs to class {output} of {n_outputs}")))?;
        place.push(read_tree(tree, factor, &mut gains).map_err(|e| wrong(format!("tree {i}: {e}")))?);
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
    Foreign { program: "XGBoost", names, levels, start, trees, link, classes, gains, objective, notes }.model()
}

/// Keeps the rounds up to the best one, where training was stopped early: those that XGBoost's scikit-learn classes predict with.
fn keep_best(learner: &Value, booster: &Value, outputs: &mut [Vec<Tree>]) -> Result<Vec<String>> {
    let Some(best) = learner.get("attributes").and_then(|a| a.get("best_iteration")).map(whole).transpose()? else {
        return Ok(Vec::new());
    };
    let in_round = |model: &Value| model.get("gbtree_model_param").and_then(|p| p.get("num_parallel_tree")).map(whole);
    let in_round = booster.get("model").and_then(in_round).transpose()?.unwrap_or(1).max(1);
    let kept = best.saturating_add(1).saturating_mul(in_round);
    let n_trees = outputs.iter().map(Vec::len).max().unwrap_or(0);
    if kept >= n_trees {
        return Ok(Vec::new());
    }
    outputs.iter_mut().for_each(|trees| trees.truncate(kept));
    Ok(vec![format!("the first {} of {} rounds: those up to the best one", best + 1, n_trees / in_round)])
}

/// The categories of each column; none for numbers, and where the file (of a version before 3.1) doesn't name them. Text comes as bytes with where each category ends, numbers as a list.
fn levels(model: &Value, n_features: usize) -> Result<Vec<Vec<String>>> {
    let mut all = vec![Vec::new(); n_features];
    let Some(columns) = model.get("cats").and_then(|cats| cats.get("enc")) else { return Ok(all) };
    for (levels, column) in all.iter_mut().zip(list(columns)?) {
        let values = list(get(column, "values")?)?;
        *levels = match column.get("offsets").map(list).transpose()? {
            Some(ends) => {
                let bytes: Vec<u8> = values.iter().map(|b| b.as_i64().unwrap_or(0) as u8).collect();
                let ends = ends.iter().map(whole).collect::<Result<Vec<usize>>>()?;
                let name =
                    |pair: &[usize]| bytes.get(pair[0]..pair[1]).map(|b| String::from_utf8_lossy(b).into_owned());
                let names: Option<Vec<String>> = ends.windows(2).map(name).collect();
                names.ok_or_else(|| wrong("the name of a category is cut short"))?
            }
            None => values.iter().filter_map(level).collect(),
        };
    }
    Ok(all)
}

/// How scores become predictions, and whether these are of classes.
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
        other => return Err(wrong(format!("models of the objective {other} can't be read"))),
    })
}

/// Where scores start: XGBoost keeps what is predicted there.
fn start(base: &Value, n: usize, link: Link) -> Result<Vec<f64>> {
    let text = text(base)?.trim().trim_start_matches('[').trim_end_matches(']');
    let number = |part: &str| part.trim().parse::<f32>().map_err(|_| wrong(format!("base_score is {text}")));
    let said: Vec<f32> = text.split(',').map(number).collect::<Result<_>>()?;
    let score = |p: f32| match link {
        Link::Logistic => f64::from(-(1.0 / p - 1.0).ln()),
        Link::Exponential => f64::from(p.ln()),
        _ => f64::from(p),
    };
    match said.len() {
        1 => Ok(vec![score(said[0]); n]),
        k if k == n => Ok(said.into_iter().map(score).collect()),
        k => Err(wrong(format!("base_score has {k} numbers for {n} outputs"))),
    }
}

/// The largest number that, rounded to single precision, is below c.
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
        values => Err(wrong(format!("{} {name} for {n} nodes", values.len()))),
    };
    let (right, features, conditions) =
        (column("right_children")?, column("split_indices")?, column("split_conditions")?);
    let (default_left, weights) = (column("default_left")?, column("sum_hessian")?);
    let vector = tree.get("tree_param").and_then(|p| p.get("size_leaf_vector")).map_or(Ok(1), whole)?;
    if vector > 1 {
        return Err(wrong("leaves with several outputs can't be read"));
    }
    let sets = categories(tree, n)?;
    if let Some(changes) = tree.get("loss_changes").map(numbers).transpose()? {
        for (feature, gain) in
            features.iter().zip(&changes).zip(left).filter(|(_, l)| l.as_i64() != Some(-1)).map(|(pair, _)| pair)
        {
            *gains.get_mut(whole(feature)?).ok_or_else(|| wrong("a node asks about a column that is not there"))? +=
                gain.max(0.0);
        }
    }
    let node = |i: usize| {
        let weight = number(&weights[i])?;
        let condition = number(&conditions[i])? as f32;
        if left[i].as_i64() == Some(-1) {
            return Ok((Node::Leaf(factor * f64::from(condition)), weight));
        }
        let (yes, no) = (whole(&left[i])?, whole(&right[i])?);
        let feature = whole(&features[i])? as u32;
        let missing_left = default_left[i].as_bool().unwrap_or(default_left[i].as_i64() == Some(1));
        if let Some(set) = &sets[i] {
            // The set goes to the right: the children change places.
            let test = Test::InSet { feature, set: set.clone(), missing_left: !missing_left };
            return Ok((Node::Ask(test, [no, yes]), weight));
        }
        if !condition.is_finite() {
            return Err(wrong("a threshold is not finite"));
        }
        Ok((Node::Ask(Test::AtMost { feature, threshold: threshold(condition), missing_left }, [yes, no]), weight))
    };
    lay_out(n, node, wrong)
}

/// The set of each node that asks about categories.
fn categories(tree: &Value, n: usize) -> Result<Vec<Option<CodeSet>>> {
    let mut sets = vec![None; n];
    let Some(nodes) = tree.get("categories_nodes") else { return Ok(sets) };
    let (nodes, all) = (list(nodes)?, numbers(get(tree, "categories")?)?);
    let (starts, sizes) = (list(get(tree, "categories_segments")?)?, list(get(tree, "categories_sizes")?)?);
    if starts.len() != nodes.len() || sizes.len() != nodes.len() {
        return Err(wrong("sets of categories don't fit their nodes"));
    }
    for ((node, start), size) in nodes.iter().zip(starts).zip(sizes) {
        let start = whole(start)?;
        let set = start
            .checked_add(whole(size)?)
            .and_then(|end| all.get(start..end))
            .ok_or_else(|| wrong("a set of categories is cut short"))?;
        if set.iter().any(|c| !(0.0..MOST_CATEGORIES).contains(c)) {
            return Err(wrong("a category is not a small whole number"));
        }
        let place = sets.get_mut(whole(node)?).ok_or_else(|| wrong("a set of categories belongs to no node"))?;
        *place = Some(CodeSet::new(set.iter().map(|&c| c as usize)));
    }
    Ok(sets)
}

fn get<'a>(value: &'a Value, name: &str) -> Result<&'a Value> {
    value.get(name).ok_or_else(|| wrong(format!("it has no {name}")))
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(|| wrong("a text was expected"))
}

fn list(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().ok_or_else(|| wrong("a list was expected"))
}

/// A number; XGBoost writes some of them as text.
fn number(value: &Value) -> Result<f64> {
    let parsed = value.as_str().map_or_else(|| value.as_f64(), |text| text.trim().parse().ok());
    parsed.ok_or_else(|| wrong("a number was expected"))
}

fn whole(value: &Value) -> Result<usize> {
    let number = number(value)?;
    if number >= 0.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) {
        Ok(number as usize)
    } else {
        Err(wrong(format!("a whole number was expected, not {number}")))
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
            for start in around {
                let mut x = start;
                (0..near.abs()).for_each(|_| x = if near > 0 { x.next_up() } else { x.next_down() });
                prop_assert_eq!((x as f32) < c, x <= t, "{} {}", x, c);
            }
        }
    }
}

//! Out-of-bag evaluation of forests: scores, permutation importances, leaf targets for quantiles.
//!
//! **Out-of-bag score.** A bootstrap sample leaves out about a third of the rows. Predicting each row with the trees that haven't seen it estimates the error on new rows without a validation set.
//!
//! **Permutation importance.** The decrease in accuracy (or the increase in squared error) of a tree on its out-of-bag rows when the values of a feature are shuffled, averaged over all trees. Only rows
//! whose path tests the feature can change.
//!
//! **Quantiles.** Each leaf stores the targets of its training rows. The targets of the leaves of a new row, with equal weight per leaf, approximate the conditional distribution; the quantile at level q
//! is the smallest target whose cumulative weight is at least q.
//!
//! **Cost.** One pass of all rows through all trees; for permutation importances one more per tested feature. 4 bytes per drawn row for quantiles.
//! **Reference.** Breiman, Random forests, 2001; Meinshausen, Quantile regression forests, 2006.

use super::fitted::FittedForest;
use super::train::ForestTraining;
use crate::tree::{Forest, Tree};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, Target, Task};
use ermine_core::model::{Attribute, AttributeKind};
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose};
use ermine_core::section::Sections;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Number of trees whose leaves are collected together.
const TOGETHER: usize = 16;

/// Out-of-bag evaluation of an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfBag {
    /// Weighted accuracy, or R^2 for regression.
    pub score: f64,
    /// Number of rows with an out-of-bag prediction.
    #[serde(rename = "n_judged")]
    pub n_evaluated: usize,
    /// The out-of-bag prediction of each row; NaN if every member has seen the row. Not saved to files.
    #[serde(skip)]
    pub prediction: Vec<f64>,
}

impl OutOfBag {
    /// Scores out-of-bag predictions; an error if there are none.
    pub fn new(prediction: Vec<f64>, width: usize, data: &Dataset) -> Result<OutOfBag> {
        let evaluated: Vec<usize> = (0..data.n_rows()).filter(|&row| prediction[row * width].is_finite()).collect();
        if evaluated.is_empty() {
            let message = "oob_score needs out-of-bag rows, but every row was drawn for every member; increase n_estimators or reduce max_samples";
            return Err(Error::data(message));
        }
        let predicted = |row: usize| &prediction[row * width..(row + 1) * width];
        let weight: f64 = evaluated.iter().map(|&row| data.row_weight(row)).sum();
        let score = match data.target() {
            Target::Classes { codes, .. } => {
                let right = evaluated.iter().filter(|&&row| likeliest(predicted(row)) == codes[row] as usize);
                right.map(|&row| data.row_weight(row)).sum::<f64>() / weight
            }
            Target::Values { values, n_outputs } => {
                let explained = (0..*n_outputs).map(|k| {
                    let y = |row: usize| values[row * n_outputs + k];
                    let mean = evaluated.iter().map(|&row| data.row_weight(row) * y(row)).sum::<f64>() / weight;
                    let sum = |f: &dyn Fn(usize) -> f64| -> f64 {
                        evaluated.iter().map(|&row| data.row_weight(row) * f(row).powi(2)).sum()
                    };
                    let (rest, all) = (sum(&|row| y(row) - predicted(row)[k]), sum(&|row| y(row) - mean));
                    if all > 0.0 { 1.0 - rest / all } else { 0.0 }
                });
                explained.sum::<f64>() / *n_outputs as f64
            }
        };
        // An empty sum is -0.
        Ok(OutOfBag { score: score + 0.0, n_evaluated: evaluated.len(), prediction })
    }

    /// A note about rows without an out-of-bag prediction, if there are any.
    pub fn missing_note(&self, n_rows: usize) -> Option<String> {
        let missing_note = n_rows - self.n_evaluated;
        (missing_note > 0).then(|| {
            format!("{missing_note} of {n_rows} rows were drawn for every member and have no out-of-bag prediction")
        })
    }

    /// The name of the score.
    pub fn measure(&self, task: Task) -> &'static str {
        if task == Task::Classification { "accuracy" } else { "R^2" }
    }

    /// The score and the out-of-bag predictions under scikit-learn's attribute names.
    pub fn attributes(&self, task: Task, width: usize) -> Vec<Attribute> {
        let doc = "Score on the out-of-bag rows, if ``oob_score`` is set.";
        let score = Attribute::number("oob_score", self.score, doc);
        let (n, values) = (self.prediction.len() / width.max(1), self.prediction.clone());
        let doc = "Out-of-bag prediction for each training row, if ``oob_score`` is set; NaN for rows that were drawn for every member.";
        let out_of_bag = match task {
            Task::Classification => {
                let axes = "(n_samples, n_classes)";
                Attribute::matrix("oob_decision_function", [n, width], values, axes, doc)
            }
            _ => Attribute {
                name: "oob_prediction",
                shape: if width == 1 { vec![n] } else { vec![n, width] },
                values,
                kind: AttributeKind::Array("(n_samples,) or (n_samples, n_outputs)"),
                doc,
            },
        };
        [score].into_iter().chain((n > 0).then_some(out_of_bag)).collect()
    }
}

fn likeliest(shares: &[f64]) -> usize {
    (1..shares.len()).fold(0, |best, k| if shares[k] > shares[best] { k } else { best })
}

impl ForestTraining<'_> {
    /// Computes the requested out-of-bag scores, importances and leaf targets.
    pub(super) fn evaluate(&self, fitted: &mut FittedForest) -> Result<()> {
        if self.settings.oob_score {
            fitted.out_of_bag = Some(self.out_of_bag(&fitted.forest)?);
        }
        if self.settings.permutation_importances {
            fitted.permutation = Some(self.permutation_importances(&fitted.forest));
        }
        if self.settings.quantiles {
            fitted.leaf_targets = Some(self.leaf_targets(&fitted.forest)?);
        }
        Ok(())
    }

    /// The out-of-bag predictions of all rows.
    fn out_of_bag(&self, forest: &Forest) -> Result<OutOfBag> {
        let (n, width, n_trees) = (self.data.n_rows(), forest.width(), forest.n_trees());
        let absent: Vec<Vec<bool>> =
            parallel::map(n_trees, |tree| self.draws(tree).iter().map(|&drawn| drawn == 0).collect());
        let mut sums = vec![0.0; n * width];
        let block = |(block, sums): (usize, &mut [f64])| {
            let first = block * Forest::BLOCK;
            let mut counts = vec![0u32; sums.len() / width];
            forest.each_leaf(self.data.features(), first, counts.len(), 0..n_trees, |row, tree, leaf| {
                if absent[tree][first + row] {
                    counts[row] += 1;
                    sums[row * width..][..width].iter_mut().zip(forest.value(leaf)).for_each(|(sum, v)| *sum += v);
                }
            });
            for (sums, &count) in sums.chunks_mut(width).zip(&counts) {
                sums.iter_mut().for_each(|sum| *sum /= f64::from(count));
            }
        };
        parallel::for_each_chunk(&mut sums, Forest::BLOCK * width, |part, sums| block((part, sums)));
        OutOfBag::new(sums, width, self.data)
    }

    /// Permutation importances, averaged over all trees.
    fn permutation_importances(&self, forest: &Forest) -> Vec<f64> {
        let d = self.data.features().n_columns();
        let columns: Vec<Vec<f64>> = parallel::map(d, |column| self.data.features().numbers(column));
        let of_tree = |tree: usize| {
            let drawn = self.draws(tree);
            let rows: Vec<u32> = (0..drawn.len() as u32).filter(|&row| drawn[row as usize] == 0).collect();
            self.growth_of_loss(&forest.tree(tree), &columns, &rows, tree)
        };
        let n_trees = forest.n_trees();
        let each: Vec<Vec<f64>> = parallel::map(n_trees, of_tree);
        (0..d).map(|column| each.iter().map(|of_tree| of_tree[column]).sum::<f64>() / n_trees as f64).collect()
    }

    /// The increase in mean loss of a tree on some rows when each feature in turn is shuffled.
    fn growth_of_loss(&self, tree: &Tree, columns: &[Vec<f64>], rows: &[u32], number: usize) -> Vec<f64> {
        let mut growth = vec![0.0; columns.len()];
        let total: f64 = rows.iter().map(|&row| self.data.row_weight(row as usize)).sum();
        if total <= 0.0 {
            return growth;
        }
        // For each feature, the rows whose path tests it and their loss without shuffling.
        let mut asked: Vec<Vec<(u32, f64)>> = vec![Vec::new(); columns.len()];
        for (place, &row) in rows.iter().enumerate() {
            let (mut node, mut on_way) = (0, Vec::new());
            while let Some(feature) = tree.test[node].feature() {
                on_way.push(feature);
                let Some(branch) = tree.test[node].branch(columns[feature][row as usize]) else { break };
                node = tree.child[node] as usize + branch;
            }
            on_way.sort_unstable();
            on_way.dedup();
            let loss = self.loss(tree.value(node), row as usize);
            on_way.iter().for_each(|&feature| asked[feature].push((place as u32, loss)));
        }
        for (column, asked) in asked.iter().enumerate().filter(|(_, asked)| !asked.is_empty()) {
            let mut shuffled = rows.to_vec();
            rng::shuffle(
                &mut Purpose::ForestImportance.stream(self.context.seed, &[number as u64, column as u64]),
                &mut shuffled,
            );
            let lost = asked.iter().map(|&(place, before)| {
                let (row, from) = (rows[place as usize] as usize, shuffled[place as usize] as usize);
                let node = tree.walk(|feature| columns[feature][if feature == column { from } else { row }]);
                self.data.row_weight(row) * (self.loss(tree.value(node), row) - before)
            });
            growth[column] = lost.sum::<f64>() / total;
        }
        growth
    }

    /// 0-1 loss for classification, squared error for regression.
    fn loss(&self, predicted: &[f64], row: usize) -> f64 {
        match self.data.target() {
            Target::Classes { codes, .. } => f64::from(u8::from(likeliest(predicted) != codes[row] as usize)),
            Target::Values { values, n_outputs } => {
                let ys = &values[row * n_outputs..(row + 1) * n_outputs];
                ys.iter().zip(predicted).map(|(y, v)| (y - v).powi(2)).sum()
            }
        }
    }

    /// The training targets of each leaf.
    fn leaf_targets(&self, forest: &Forest) -> Result<LeafTargets> {
        let (values, n) = (self.data.values()?.0, self.data.n_rows());
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]).then(a.cmp(&b)));
        let mut rank = vec![0u32; n];
        order.iter().enumerate().for_each(|(place, &row)| rank[row as usize] = place as u32);
        let mut made = LeafTargets {
            targets: order.iter().map(|&row| values[row as usize]).collect(),
            starts: vec![0; forest.n_nodes() + 1],
            ranks: Vec::new(),
        };
        let n_trees = forest.n_trees();
        for first in (0..n_trees).step_by(TOGETHER) {
            let trees = first..(first + TOGETHER).min(n_trees);
            let leaves = forest.apply_to(trees.clone(), self.data.features());
            let of_tree = |tree: usize| {
                let drawn = self.draws(tree);
                let leaf = |row: usize| leaves[row * trees.len() + tree - first];
                let copies = |row: usize| std::iter::repeat_n((leaf(row), rank[row]), drawn[row] as usize);
                let mut entries: Vec<(u32, u32)> = (0..n).flat_map(copies).collect();
                entries.sort_unstable();
                entries
            };
            let entries: Vec<Vec<(u32, u32)>> = trees.clone().into_par_iter().map(of_tree).collect();
            for (leaf, rank) in entries.into_iter().flatten() {
                made.starts[leaf as usize + 1] += 1;
                made.ranks.push(rank);
            }
        }
        if u32::try_from(made.ranks.len()).is_err() {
            return Err(Error::data(
                "quantiles = true would store more than 4 billion targets; use fewer trees or rows",
            ));
        }
        (0..forest.n_nodes()).for_each(|node| made.starts[node + 1] += made.starts[node]);
        Ok(made)
    }
}

/// The training targets of the leaves of a forest.
#[derive(Debug, Clone, PartialEq)]
pub struct LeafTargets {
    /// All targets, ascending.
    targets: Vec<f64>,
    /// Start of the entries of each node, and the end of the last.
    starts: Vec<u32>,
    /// Ranks of the targets.
    ranks: Vec<u32>,
}

impl LeafTargets {
    /// The quantiles of each row, one per level.
    pub fn quantiles(&self, forest: &Forest, features: &Features, levels: &[f64]) -> Vec<f64> {
        let n_trees = forest.n_trees();
        let of_row = |leaves: &[u32]| {
            let mut sample: Vec<(u32, f64)> = Vec::new();
            for &leaf in leaves {
                let entries = self.of(leaf);
                sample.extend(entries.iter().map(|&rank| (rank, 1.0 / entries.len() as f64)));
            }
            sample.sort_unstable_by_key(|entry| entry.0);
            levels.iter().map(|&level| self.quantile(&sample, level * n_trees as f64)).collect::<Vec<f64>>()
        };
        forest.apply(features).par_chunks(n_trees.max(1)).with_min_len(64).flat_map_iter(of_row).collect()
    }

    fn of(&self, leaf: u32) -> &[u32] {
        &self.ranks[self.starts[leaf as usize] as usize..self.starts[leaf as usize + 1] as usize]
    }

    /// The smallest target with at least this cumulative weight.
    fn quantile(&self, sample: &[(u32, f64)], weight: f64) -> f64 {
        // Weights such as 1/3 are rounded, and so are their sums.
        const ROUNDING: f64 = 1e-9;
        let mut sum = 0.0;
        let reached = sample.iter().find(|(_, share)| {
            sum += share;
            sum >= weight - ROUNDING
        });
        reached.or(sample.last()).map_or(f64::NAN, |&(rank, _)| self.targets[rank as usize])
    }

    /// Saves them.
    pub fn save(&self, sections: &mut Sections) {
        sections.put_f64s("target", &self.targets);
        sections.put_u32s("leaf_start", &self.starts);
        sections.put_u32s("leaf_target", &self.ranks);
    }

    /// Loads them and checks that they match the forest.
    pub fn load(sections: &Sections, forest: &Forest) -> Result<LeafTargets> {
        let (targets, starts) = (sections.f64s("target")?, sections.u32s("leaf_start")?);
        let ranks = sections.u32s("leaf_target")?;
        let ascending = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let ends = starts.first() == Some(&0) && starts.last().map(|&end| end as usize) == Some(ranks.len());
        let known = ranks.iter().all(|&rank| (rank as usize) < targets.len());
        let finite = targets.iter().all(|y| y.is_finite());
        if starts.len() != forest.n_nodes() + 1 || !ascending || !ends || !known || !finite {
            return Err(Error::model_file("the leaf targets of a forest don't match its trees"));
        }
        Ok(LeafTargets { targets, starts, ranks })
    }
}

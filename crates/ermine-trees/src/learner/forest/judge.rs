//! What follows from the rows that a tree saw, and from those that it didn't see.
//!
//! **Out of bag.** Rows drawn with replacement leave about a third of them out. Judging each row by the trees that haven't seen it estimates the error on new rows, without keeping any
//! rows aside.
//!
//! **Permutation importance.** How much worse a tree gets on its out-of-bag rows when the values of a column are shuffled among them: the loss of accuracy, or the growth of the mean squared
//! error; the mean over all trees. Only rows whose way through the tree asks about the column can change.
//!
//! **Quantiles.** A leaf keeps the targets of the rows that ended in it. The targets of the leaves of a new row, each leaf with the same weight, are a sample from what the target can be there; its
//! quantile at level q is the least number that has at least the share q of the weight up to it.
//!
//! **Cost.** One walk of all rows through all trees; for permutation importances one for each column on the way. 4 bytes for each row drawn, for quantiles.
//! **Reference.** Breiman, Random forests, 2001; Meinshausen, Quantile regression forests, 2006.

use super::fitted::FittedForest;
use super::train::Job;
use crate::tree::{Forest, Tree};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, Target, Task};
use ermine_core::model::{Attribute, AttributeKind};
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose};
use ermine_core::section::Sections;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Trees whose leaves are gathered together.
const TOGETHER: usize = 16;

/// How good the forest is on rows that trees didn't see in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfBag {
    /// The accuracy, or for numbers the share of variance explained (R^2), by weight.
    pub score: f64,
    /// The rows that at least one tree didn't see.
    pub n_judged: usize,
    /// What the trees that didn't see a row say, row by row; NaN where all have seen it. Not kept in a file.
    #[serde(skip)]
    pub prediction: Vec<f64>,
}

impl OutOfBag {
    /// Judges out-of-bag predictions; an error where there are none.
    pub fn new(prediction: Vec<f64>, width: usize, data: &Dataset) -> Result<OutOfBag> {
        let judged: Vec<usize> = (0..data.n_rows()).filter(|&row| prediction[row * width].is_finite()).collect();
        if judged.is_empty() {
            let message = "oob_score: every row was drawn for every member, so that none can be judged; more members or a smaller max_samples leave some out";
            return Err(Error::data(message));
        }
        let said = |row: usize| &prediction[row * width..(row + 1) * width];
        let weight: f64 = judged.iter().map(|&row| data.row_weight(row)).sum();
        let score = match data.target() {
            Target::Classes { codes, .. } => {
                let right = judged.iter().filter(|&&row| likeliest(said(row)) == codes[row] as usize);
                right.map(|&row| data.row_weight(row)).sum::<f64>() / weight
            }
            Target::Values { values, n_outputs } => {
                let explained = (0..*n_outputs).map(|k| {
                    let y = |row: usize| values[row * n_outputs + k];
                    let mean = judged.iter().map(|&row| data.row_weight(row) * y(row)).sum::<f64>() / weight;
                    let sum = |f: &dyn Fn(usize) -> f64| -> f64 {
                        judged.iter().map(|&row| data.row_weight(row) * f(row).powi(2)).sum()
                    };
                    let (rest, all) = (sum(&|row| y(row) - said(row)[k]), sum(&|row| y(row) - mean));
                    if all > 0.0 { 1.0 - rest / all } else { 0.0 }
                });
                explained.sum::<f64>() / *n_outputs as f64
            }
        };
        // A sum of nothing is -0.
        Ok(OutOfBag { score: score + 0.0, n_judged: judged.len(), prediction })
    }

    /// A word on the rows that could not be judged, if there are some.
    pub fn lacking(&self, n_rows: usize) -> Option<String> {
        let lacking = n_rows - self.n_judged;
        (lacking > 0).then(|| format!("{lacking} of {n_rows} rows were seen by every member, and are not judged"))
    }

    /// What the score is.
    pub fn measure(&self, task: Task) -> &'static str {
        if task == Task::Classification { "accuracy" } else { "R^2" }
    }

    /// The score, and what was said about each row, under the names that users know.
    pub fn attributes(&self, task: Task, width: usize) -> Vec<Attribute> {
        let doc = "Score on the out-of-bag rows, if ``oob_score`` is set.";
        let score = Attribute::number("oob_score", self.score, doc);
        let (n, values) = (self.prediction.len() / width.max(1), self.prediction.clone());
        let doc =
            "Out-of-bag prediction for each training row, if ``oob_score`` is set; NaN for rows that every member saw.";
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

impl Job<'_> {
    /// Works out what was asked for beside the trees.
    pub(super) fn judge(&self, fitted: &mut FittedForest) -> Result<()> {
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

    /// What each row is given by the trees that didn't see it.
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

    /// How much each column matters on out-of-bag rows, the mean over all trees.
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

    /// How much the mean loss of a tree grows on some rows when each column in turn is shuffled among them.
    fn growth_of_loss(&self, tree: &Tree, columns: &[Vec<f64>], rows: &[u32], number: usize) -> Vec<f64> {
        let mut growth = vec![0.0; columns.len()];
        let total: f64 = rows.iter().map(|&row| self.data.row_weight(row as usize)).sum();
        if total <= 0.0 {
            return growth;
        }
        // For each column the places of the rows that are asked about it, and what they lose as they are.
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

    /// 1 for a wrong class; the squared error of numbers.
    fn loss(&self, said: &[f64], row: usize) -> f64 {
        match self.data.target() {
            Target::Classes { codes, .. } => f64::from(u8::from(likeliest(said) != codes[row] as usize)),
            Target::Values { values, n_outputs } => {
                let ys = &values[row * n_outputs..(row + 1) * n_outputs];
                ys.iter().zip(said).map(|(y, v)| (y - v).powi(2)).sum()
            }
        }
    }

    /// The targets of the rows that ended in each leaf.
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
                "quantiles = true: more than 4 billion targets in all leaves; use fewer trees or rows",
            ));
        }
        (0..forest.n_nodes()).for_each(|node| made.starts[node + 1] += made.starts[node]);
        Ok(made)
    }
}

/// The targets of the training rows in each leaf of a forest.
#[derive(Debug, Clone, PartialEq)]
pub struct LeafTargets {
    /// All targets, ascending.
    targets: Vec<f64>,
    /// Where the entries of each node begin, and the end of the last.
    starts: Vec<u32>,
    /// The places of the targets in their order.
    ranks: Vec<u32>,
}

impl LeafTargets {
    /// Quantiles for each row, row by row, one for each level.
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

    /// The least target up to which there is this much weight.
    fn quantile(&self, sample: &[(u32, f64)], weight: f64) -> f64 {
        // Weights are thirds, sevenths and so on: their sums are only about right.
        const ROUNDING: f64 = 1e-9;
        let mut sum = 0.0;
        let reached = sample.iter().find(|(_, share)| {
            sum += share;
            sum >= weight - ROUNDING
        });
        reached.or(sample.last()).map_or(f64::NAN, |&(rank, _)| self.targets[rank as usize])
    }

    /// Writes them.
    pub fn save(&self, sections: &mut Sections) {
        sections.put_f64s("target", &self.targets);
        sections.put_u32s("leaf_start", &self.starts);
        sections.put_u32s("leaf_target", &self.ranks);
    }

    /// Reads them, and checks that they belong to the forest.
    pub fn load(sections: &Sections, forest: &Forest) -> Result<LeafTargets> {
        let (targets, starts) = (sections.f64s("target")?, sections.u32s("leaf_start")?);
        let ranks = sections.u32s("leaf_target")?;
        let ascending = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let ends = starts.first() == Some(&0) && starts.last().map(|&end| end as usize) == Some(ranks.len());
        let known = ranks.iter().all(|&rank| (rank as usize) < targets.len());
        let finite = targets.iter().all(|y| y.is_finite());
        if starts.len() != forest.n_nodes() + 1 || !ascending || !ends || !known || !finite {
            return Err(Error::model_file("the targets of a forest's leaves don't fit its trees"));
        }
        Ok(LeafTargets { targets, starts, ranks })
    }
}

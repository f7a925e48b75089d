//! The tree builder of ID3 and C4.5, with one branch per category.
//!
//! **Idea.** A nominal feature splits a node into one branch per category and is not used again below; an ordered feature splits it at its best threshold. With C4.5's binary splits, the categories are divided
//! into two groups and the feature may be used again. The feature is chosen by information gain (ID3) or gain ratio (C4.5).
//!
//! **Formula.** With T the rows of a node and T_i those of branch i: gain = H(T) - sum |T_i|/|T| H(T_i), with H the entropy of the classes in bits; split information = - sum |T_i|/|T| log2 |T_i|/|T|; gain ratio =
//! gain / split information, among the features whose gain is at least the average positive gain.
//!
//! **Missing values.** ID3: one more category, or the heavier side of a threshold. C4.5: the gain is multiplied by the fraction of known values; a row with a missing value follows every branch, weighted by the
//! known values there, in training and in prediction.
//!
//! **Weights** count as rows: a row of weight 3 counts as three rows if all weights are integers. Other weights are scaled to a mean of 1 ([`row_unit`]), so that limits on rows, the penalty of thresholds and
//! pruning don't depend on their scale.
//!
//! **Thresholds** of C4.5 are the largest training value that is not above the midpoint of two neighbors, as in Quinlan's program, and their gain is reduced by log2(candidates)/|T|.
//!
//! **Cost.** O(d n log n) per level. **Reference.** Quinlan, Induction of decision trees (1986); C4.5 (1993), chapters 2 and 3; Improved use of continuous attributes in C4.5 (1996).

use super::GrownTree;
use crate::split::test::CodeSet;
use crate::split::{Impurity, Test};
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, binned};
use ermine_core::table::ColumnKind;

/// Options of ID3 and C4.5.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiwayOptions {
    /// C4.5: choose by gain ratio, and send missing values down every branch. Otherwise ID3: choose by gain.
    pub c45: bool,
    /// Split the categories of a nominal feature into two groups instead of one branch per category.
    pub binary: bool,
    /// Maximum depth.
    pub max_depth: usize,
    /// Minimum number of rows a node needs to be split.
    pub min_samples_split: f64,
    /// Minimum number of rows in at least two branches of a split.
    pub min_samples: f64,
    /// Minimum information gain in bits per row.
    pub min_gain: f64,
    /// Nominal columns with more categories are ignored.
    pub max_categories: usize,
}

/// The rows of a node with their weights.
pub type WeightedRows = Vec<(u32, f64)>;

/// A column, read once.
struct ColumnValues {
    numbers: Vec<f64>,
    /// Number of categories; `None` for an ordered column.
    n_levels: Option<usize>,
    has_missing: bool,
    /// The distinct values of the training data, ascending, for ordered columns.
    distinct: Vec<f64>,
}

struct MultiwayBuilder<'a> {
    columns: Vec<ColumnValues>,
    codes: &'a [u32],
    n_classes: usize,
    options: &'a MultiwayOptions,
    out: GrownTree,
}

/// A candidate split.
struct MultiwayCandidate {
    test: Test,
    gain: f64,
    ratio: f64,
}

struct PendingMultiwayNode {
    node: usize,
    rows: WeightedRows,
    depth: usize,
    /// The nominal columns used above.
    used: Vec<usize>,
}

/// The weight that counts as one row: 1 if all weights are integers, otherwise their mean.
pub fn row_unit(data: &Dataset) -> f64 {
    match data.weight() {
        Some(weight) if weight.iter().any(|w| w.fract() != 0.0) => weight.iter().sum::<f64>() / weight.len() as f64,
        _ => 1.0,
    }
}

/// All rows of a data set with their weights in units of rows, see [`row_unit`].
pub fn weighted_rows(data: &Dataset) -> WeightedRows {
    let unit = row_unit(data);
    (0..data.n_rows() as u32).map(|row| (row, data.row_weight(row as usize) / unit)).collect()
}

/// Grows a classification tree. Its weights and costs are in units of rows, see [`row_unit`].
pub fn grow_multiway(data: &Dataset, options: &MultiwayOptions) -> Result<GrownTree> {
    let (codes, labels) = data.classes()?;
    let features = data.features();
    let values = |f: usize| {
        let column = &features.columns()[f];
        let numbers = features.numbers(f);
        let nominal = column.kind == ColumnKind::Nominal;
        let mut distinct: Vec<f64> =
            if nominal { Vec::new() } else { numbers.iter().copied().filter(|x| !x.is_nan()).collect() };
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        ColumnValues {
            has_missing: numbers.iter().any(|x| x.is_nan()),
            n_levels: nominal.then(|| column.levels().map_or(0, |levels| levels.len())),
            numbers,
            distinct,
        }
    };
    let columns = (0..features.n_columns()).map(values).collect();
    let mut grower = MultiwayBuilder { columns, codes, n_classes: labels.len(), options, out: GrownTree::default() };
    grower.out.tree.width = labels.len();
    let rows = weighted_rows(data);
    let root: Vec<f64> = vec![1.0 / labels.len() as f64; labels.len()];
    grower.add_node(&rows, &root);
    let mut stack = vec![PendingMultiwayNode { node: 0, rows, depth: 0, used: Vec::new() }];
    while let Some(pending) = stack.pop() {
        if let Some(test) = grower.choose(&pending) {
            stack.extend(grower.split(pending, test).into_iter().rev());
        }
    }
    Ok(grower.out)
}

impl MultiwayBuilder<'_> {
    fn class_weights(&self, rows: &[(u32, f64)]) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_classes];
        rows.iter().for_each(|&(row, weight)| weights[self.codes[row as usize] as usize] += weight);
        weights
    }

    /// Adds a leaf; an empty leaf predicts the same as its parent.
    fn add_node(&mut self, rows: &[(u32, f64)], parent: &[f64]) {
        let weights = self.class_weights(rows);
        let total: f64 = weights.iter().sum();
        let value = &mut self.out.tree.value;
        if total > 0.0 {
            value.extend(weights.iter().map(|w| w / total))
        } else {
            value.extend(parent)
        }
        self.out.push_leaf(total, Impurity::Entropy.cost(&weights), rows.len());
    }

    fn choose(&self, pending: &PendingMultiwayNode) -> Option<Test> {
        let o = self.options;
        let few = self.out.tree.weight[pending.node] < o.min_samples_split - 1e-9;
        if self.out.cost[pending.node] <= 0.0 || pending.depth >= o.max_depth || few {
            return None;
        }
        let free = (0..self.columns.len()).filter(|f| !pending.used.contains(f));
        let candidates: Vec<MultiwayCandidate> = free.filter_map(|f| self.candidate(f, &pending.rows)).collect();
        let better = |score: fn(&MultiwayCandidate) -> f64| {
            move |best: MultiwayCandidate, next: MultiwayCandidate| {
                if score(&next) > score(&best) + 1e-12 { next } else { best }
            }
        };
        if !o.c45 {
            let best = candidates.into_iter().reduce(better(|c| c.gain))?;
            // If `min_gain` is 0, a split without gain is taken too, as its children may gain.
            return (best.gain >= o.min_gain - 1e-12).then_some(best.test);
        }
        let gaining: Vec<MultiwayCandidate> =
            candidates.into_iter().filter(|c| c.gain > o.min_gain.max(1e-12)).collect();
        let average = gaining.iter().map(|c| c.gain).sum::<f64>() / gaining.len() as f64;
        let good = gaining.into_iter().filter(|c| c.gain >= average - 1e-3);
        good.reduce(better(|c| c.ratio)).map(|best| best.test)
    }

    fn candidate(&self, feature: usize, rows: &WeightedRows) -> Option<MultiwayCandidate> {
        let values = &self.columns[feature];
        match values.n_levels {
            Some(n) if n == 0 || n > self.options.max_categories => None,
            Some(n) if self.options.binary => self.bipartition(feature, n, rows),
            Some(n) => {
                let missing = !self.options.c45 && values.has_missing;
                let test = Test::Each { feature: feature as u32, n_levels: n as u32, missing };
                self.measure(test, rows, 0.0)
            }
            None => self.threshold(feature, rows),
        }
    }

    /// Gain and gain ratio of a split; `None` if fewer than two branches have enough rows.
    fn measure(&self, test: Test, rows: &WeightedRows, penalty: f64) -> Option<MultiwayCandidate> {
        let feature = test.feature()?;
        let numbers = &self.columns[feature].numbers;
        let mut branches = vec![vec![0.0; self.n_classes]; test.n_children()];
        let (mut total, mut known) = (0.0, 0.0);
        for &(row, weight) in rows {
            total += weight;
            let x = numbers[row as usize];
            if let Some(branch) = test.branch(x).filter(|_| !(self.options.c45 && x.is_nan())) {
                known += weight;
                branches[branch][self.codes[row as usize] as usize] += weight;
            }
        }
        let sizes: Vec<f64> = branches.iter().map(|b| b.iter().sum()).collect();
        if sizes.iter().filter(|&&size| size >= self.options.min_samples - 1e-9 && size > 0.0).count() < 2 {
            return None;
        }
        let mut all = vec![0.0; self.n_classes];
        branches.iter().for_each(|b| all.iter_mut().zip(b).for_each(|(a, w)| *a += w));
        let cost = Impurity::Entropy.cost(&all) - branches.iter().map(|b| Impurity::Entropy.cost(b)).sum::<f64>();
        let gain = cost / total - penalty;
        let parts = sizes.iter().copied().chain([total - known]).filter(|&size| size > 1e-12 * total);
        let information: f64 = parts.map(|size| size / total * (total / size).log2()).sum();
        Some(MultiwayCandidate { test, gain, ratio: if information > 0.0 { gain / information } else { 0.0 } })
    }

    /// The bipartition of the categories with the largest gain among the cuts of their orders by the proportion of each class.
    fn bipartition(&self, feature: usize, n_levels: usize, rows: &WeightedRows) -> Option<MultiwayCandidate> {
        let mut levels = vec![vec![0.0; self.n_classes]; n_levels];
        for &(row, weight) in rows {
            let x = self.columns[feature].numbers[row as usize];
            if !x.is_nan() {
                levels[x as usize][self.codes[row as usize] as usize] += weight;
            }
        }
        let size = |level: usize| levels[level].iter().sum::<f64>();
        let occurring: Vec<usize> = (0..n_levels).filter(|&level| size(level) > 0.0).collect();
        let all = occurring.iter().fold(vec![0.0; self.n_classes], |sum, &level| added(sum, &levels[level], 1.0));
        let mut best: Option<(f64, Vec<usize>)> = None;
        // With two classes the order by one of them contains the best bipartition (Breiman et al. 1984).
        for class in usize::from(self.n_classes == 2)..self.n_classes {
            let share = |level: usize| levels[level][class] / size(level);
            let mut order = occurring.clone();
            order.sort_by(|&a, &b| share(a).total_cmp(&share(b)).then(a.cmp(&b)));
            let (mut left, mut right) = (vec![0.0; self.n_classes], all.clone());
            for at in 1..order.len() {
                left = added(left, &levels[order[at - 1]], 1.0);
                right = added(right, &levels[order[at - 1]], -1.0);
                let lightest = left.iter().sum::<f64>().min(right.iter().sum());
                let cost = Impurity::Entropy.cost(&left) + Impurity::Entropy.cost(&right);
                let better = best.as_ref().is_none_or(|best| cost < best.0 - 1e-9);
                if better && lightest >= self.options.min_samples - 1e-9 {
                    best = Some((cost, order[..at].to_vec()));
                }
            }
        }
        let (_, set) = best?;
        let heavier = 2.0 * set.iter().map(|&level| size(level)).sum::<f64>() > all.iter().sum();
        let test = Test::InSet { feature: feature as u32, set: CodeSet::new(set), missing_left: heavier };
        self.measure(test, rows, 0.0)
    }

    /// The best threshold of an ordered column, by gain.
    fn threshold(&self, feature: usize, rows: &WeightedRows) -> Option<MultiwayCandidate> {
        let values = &self.columns[feature];
        let x = |row: u32| values.numbers[row as usize];
        let mut known: WeightedRows = rows.iter().copied().filter(|&(row, _)| !x(row).is_nan()).collect();
        known.sort_by(|a, b| x(a.0).total_cmp(&x(b.0)).then(a.0.cmp(&b.0)));
        let mut right = self.class_weights(&known);
        let mut left = vec![0.0; self.n_classes];
        let (mut n_left, mut n_right) = (0.0, right.iter().sum::<f64>());
        let mut best: Option<(f64, usize)> = None;
        let mut n_candidates = 0;
        for i in 1..known.len() {
            let (row, weight) = known[i - 1];
            let class = self.codes[row as usize] as usize;
            left[class] += weight;
            right[class] -= weight;
            n_left += weight;
            n_right -= weight;
            let few = n_left.min(n_right) < self.options.min_samples - 1e-9;
            if few || x(row) == x(known[i].0) {
                continue;
            }
            n_candidates += 1;
            let cost = Impurity::Entropy.cost(&left) + Impurity::Entropy.cost(&right);
            if best.is_none_or(|(least, _)| cost < least - 1e-9) {
                best = Some((cost, i));
            }
        }
        let (_, at) = best?;
        let middle = binned::between(x(known[at - 1].0), x(known[at].0));
        let total: f64 = rows.iter().map(|(_, weight)| weight).sum();
        let (threshold, penalty) = if self.options.c45 {
            let value = values.distinct[values.distinct.partition_point(|v| *v <= middle) - 1];
            (value, f64::from(n_candidates).log2() / total)
        } else {
            (middle, 0.0)
        };
        let weight = |rows: &[(u32, f64)]| rows.iter().map(|(_, weight)| weight).sum::<f64>();
        let missing_left = weight(&known[..at]) > weight(&known[at..]);
        self.measure(Test::AtMost { feature: feature as u32, threshold, missing_left }, rows, penalty)
    }

    fn split(&mut self, pending: PendingMultiwayNode, test: Test) -> Vec<PendingMultiwayNode> {
        let Some(feature) = test.feature() else { return Vec::new() };
        let parts = branch_rows(&pending.rows, &test, &self.columns[feature].numbers, self.options.c45);
        let parent = self.out.tree.value(pending.node).to_vec();
        let first = self.out.tree.n_nodes();
        self.out.tree.child[pending.node] = first as u32;
        parts.iter().for_each(|rows| self.add_node(rows, &parent));
        let mut used = pending.used;
        if matches!(test, Test::Each { .. }) {
            used.push(feature);
        }
        self.out.tree.test[pending.node] = test;
        let child = |(i, rows): (usize, WeightedRows)| PendingMultiwayNode {
            node: first + i,
            rows,
            depth: pending.depth + 1,
            used: used.clone(),
        };
        parts.into_iter().enumerate().filter(|(_, rows)| rows.len() > 1).map(child).collect()
    }
}

/// The rows of each branch of a split of a column with these values. With `fractional`, rows with a missing value go down all branches in proportion to their weights.
pub fn branch_rows(rows: &WeightedRows, test: &Test, numbers: &[f64], fractional: bool) -> Vec<WeightedRows> {
    let mut parts: Vec<WeightedRows> = vec![Vec::new(); test.n_children()];
    let mut lost: WeightedRows = Vec::new();
    for &(row, weight) in rows {
        let x = numbers[row as usize];
        match test.branch(x).filter(|_| !(fractional && x.is_nan())) {
            Some(branch) => parts[branch].push((row, weight)),
            None => lost.push((row, weight)),
        }
    }
    let sizes: Vec<f64> = parts.iter().map(|part| part.iter().map(|(_, weight)| weight).sum()).collect();
    let known: f64 = sizes.iter().sum();
    for (part, size) in parts.iter_mut().zip(sizes).filter(|(_, size)| *size > 0.0) {
        part.extend(lost.iter().map(|&(row, weight)| (row, weight * size / known)));
    }
    parts
}

/// `sum + sign * part`, clipped at 0.
fn added(mut sum: Vec<f64>, part: &[f64], sign: f64) -> Vec<f64> {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum = (*sum + sign * part).max(0.0));
    sum
}

/// The prediction for one row; missing values follow every branch, weighted by its training rows.
pub fn predict_fractional(tree: &super::Tree, x: impl Fn(usize) -> f64, out: &mut [f64]) {
    let add =
        |node: usize, share: f64| out.iter_mut().zip(tree.value(node)).for_each(|(out, value)| *out += share * value);
    for_each_leaf(tree, x, add);
}

/// The leaf that the largest share of a row reaches; without missing values, its only leaf.
pub fn heaviest_leaf(tree: &super::Tree, x: impl Fn(usize) -> f64) -> u32 {
    let mut best = (f64::NEG_INFINITY, 0);
    for_each_leaf(tree, x, |node, share| {
        if share > best.0 || (share == best.0 && node < best.1) {
            best = (share, node);
        }
    });
    best.1 as u32
}

/// Visits the leaves that one row reaches, with the share of it that each gets.
fn for_each_leaf(tree: &super::Tree, x: impl Fn(usize) -> f64, mut visit: impl FnMut(usize, f64)) {
    let mut stack = vec![(0usize, 1.0)];
    while let Some((node, share)) = stack.pop() {
        let step = tree.test[node].feature().map(|feature| (x(feature), tree.children(node)));
        match step {
            Some((value, children)) if value.is_nan() || tree.test[node].branch(value).is_none() => {
                let total: f64 = children.clone().map(|child| tree.weight[child]).sum();
                let part = |child: usize| (child, share * tree.weight[child] / total);
                stack.extend(children.map(part).filter(|(_, share)| *share > 0.0));
            }
            Some((value, children)) => {
                let branch = tree.test[node].branch(value).unwrap_or(0);
                stack.push((children.start + branch, share));
            }
            None => visit(node, share),
        }
    }
}

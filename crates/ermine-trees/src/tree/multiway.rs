//! Growing trees with a branch for each category: ID3 and C4.5.
//!
//! **Idea.** A nominal column splits a node into one branch for each of its categories and is not asked again below; an ordered column splits it at its best threshold.
//! Or the categories are parted in two (C4.5's binary splits), and the column may be asked again.
//! The column is chosen by information gain (ID3) or gain ratio (C4.5).
//!
//! **Formula.** With T the rows of a node and T_i those of branch i: gain = H(T) - sum |T_i|/|T| H(T_i), with H the entropy of the classes in bits; split information =
//! - sum |T_i|/|T| log2 |T_i|/|T|; gain ratio = gain / split information, among the columns whose gain is at least the average of those that gain anything.
//!
//! **Missing values.** ID3: one more category, or the heavier side of a threshold. C4.5: the gain counts by the share of rows with a value; a row without one goes down
//! every branch, with a weight in proportion to the rows with a value there, in training and in prediction.
//!
//! **Weights** count as rows: a row of weight 3 as three rows, where all weights are whole numbers. Other weights say how much rows count beside each other, and are taken so that a row
//! counts as one on average ([`row_unit`]): limits on rows, the price of thresholds and pruning by counts then don't depend on their unit.
//!
//! **Thresholds** of C4.5 are the largest value of the training data that is not above the middle of two neighbours, as in Quinlan's programs, and pay log2(candidates)/|T| of their
//! gain for having been chosen.
//!
//! **Cost.** O(d n log n) for each level. **Reference.** Quinlan, Induction of decision trees (1986); C4.5 (1993), chapters 2 and 3; Improved use of continuous
//! attributes in C4.5 (1996).

use super::Grown;
use crate::split::test::CodeSet;
use crate::split::{Impurity, Test};
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, binned};
use ermine_core::table::ColumnKind;

/// How a tree with many branches is grown.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiwayOptions {
    /// Choose by gain ratio, and let rows without a value go down every branch: C4.5. Otherwise by gain: ID3.
    pub c45: bool,
    /// Part the categories of a nominal column in two, instead of a branch for each.
    pub binary: bool,
    /// No node is deeper.
    pub max_depth: usize,
    /// A node with fewer rows is a leaf.
    pub min_samples_split: f64,
    /// At least two branches of a split have this many rows.
    pub min_samples: f64,
    /// A split gains more than this many bits for each row.
    pub min_gain: f64,
    /// Nominal columns with more categories are passed over.
    pub max_categories: usize,
}

/// The rows of a node with their weights in it.
type Rows = Vec<(u32, f64)>;

/// A column, read once.
struct Values {
    numbers: Vec<f64>,
    /// How many categories; `None` for an ordered column.
    n_levels: Option<usize>,
    has_missing: bool,
    /// The distinct values of the training data, ascending, for ordered columns.
    distinct: Vec<f64>,
}

struct Grower<'a> {
    columns: Vec<Values>,
    codes: &'a [u32],
    n_classes: usize,
    options: &'a MultiwayOptions,
    out: Grown,
}

/// A split that was looked at.
struct Candidate {
    test: Test,
    gain: f64,
    ratio: f64,
}

struct Pending {
    node: usize,
    rows: Rows,
    depth: usize,
    /// The nominal columns asked above.
    used: Vec<usize>,
}

/// The weight that counts as one row: 1 where all weights are whole numbers, else their mean.
pub fn row_unit(data: &Dataset) -> f64 {
    match data.weight() {
        Some(weight) if weight.iter().any(|w| w.fract() != 0.0) => weight.iter().sum::<f64>() / weight.len() as f64,
        _ => 1.0,
    }
}

/// Grows a tree on the rows of a data set of classes. Its weights and costs are in rows, see [`row_unit`].
pub fn grow_multiway(data: &Dataset, options: &MultiwayOptions) -> Result<Grown> {
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
        Values {
            has_missing: numbers.iter().any(|x| x.is_nan()),
            n_levels: nominal.then(|| column.levels().map_or(0, |levels| levels.len())),
            numbers,
            distinct,
        }
    };
    let columns = (0..features.n_columns()).map(values).collect();
    let mut grower = Grower { columns, codes, n_classes: labels.len(), options, out: Grown::default() };
    grower.out.tree.width = labels.len();
    let unit = row_unit(data);
    let rows: Rows = (0..data.n_rows() as u32).map(|row| (row, data.row_weight(row as usize) / unit)).collect();
    let root: Vec<f64> = vec![1.0 / labels.len() as f64; labels.len()];
    grower.add_node(&rows, &root);
    let mut stack = vec![Pending { node: 0, rows, depth: 0, used: Vec::new() }];
    while let Some(pending) = stack.pop() {
        if let Some(test) = grower.choose(&pending) {
            stack.extend(grower.split(pending, test).into_iter().rev());
        }
    }
    Ok(grower.out)
}

impl Grower<'_> {
    fn class_weights(&self, rows: &[(u32, f64)]) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_classes];
        rows.iter().for_each(|&(row, weight)| weights[self.codes[row as usize] as usize] += weight);
        weights
    }

    /// Adds a leaf; without rows it predicts what its parent does.
    fn add_node(&mut self, rows: &[(u32, f64)], parent: &[f64]) {
        let weights = self.class_weights(rows);
        let total: f64 = weights.iter().sum();
        let tree = &mut self.out.tree;
        tree.test.push(Test::Leaf);
        tree.child.push(0);
        tree.weight.push(total);
        if total > 0.0 {
            tree.value.extend(weights.iter().map(|w| w / total))
        } else {
            tree.value.extend(parent)
        }
        self.out.cost.push(Impurity::Entropy.cost(&weights));
        self.out.count.push(rows.len() as u32);
    }

    fn choose(&self, pending: &Pending) -> Option<Test> {
        let o = self.options;
        let few = self.out.tree.weight[pending.node] < o.min_samples_split - 1e-9;
        if self.out.cost[pending.node] <= 0.0 || pending.depth >= o.max_depth || few {
            return None;
        }
        let free = (0..self.columns.len()).filter(|f| !pending.used.contains(f));
        let candidates: Vec<Candidate> = free.filter_map(|f| self.candidate(f, &pending.rows)).collect();
        let better = |score: fn(&Candidate) -> f64| {
            move |best: Candidate, next: Candidate| if score(&next) > score(&best) + 1e-12 { next } else { best }
        };
        if !o.c45 {
            let best = candidates.into_iter().reduce(better(|c| c.gain))?;
            // With nothing asked for, a split that gains nothing is taken too: it may lead to one that does.
            return (best.gain >= o.min_gain - 1e-12).then_some(best.test);
        }
        let gaining: Vec<Candidate> = candidates.into_iter().filter(|c| c.gain > o.min_gain.max(1e-12)).collect();
        let average = gaining.iter().map(|c| c.gain).sum::<f64>() / gaining.len() as f64;
        let good = gaining.into_iter().filter(|c| c.gain >= average - 1e-3);
        good.reduce(better(|c| c.ratio)).map(|best| best.test)
    }

    fn candidate(&self, feature: usize, rows: &Rows) -> Option<Candidate> {
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

    /// Gain and ratio of a split; `None` where too few branches have enough rows.
    fn measure(&self, test: Test, rows: &Rows, penalty: f64) -> Option<Candidate> {
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
        Some(Candidate { test, gain, ratio: if information > 0.0 { gain / information } else { 0.0 } })
    }

    /// The categories in two parts, by gain: the best cut of their order by the share of each class.
    fn bipartition(&self, feature: usize, n_levels: usize, rows: &Rows) -> Option<Candidate> {
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
        // With two classes the order by one of them holds the best bipartition (Breiman et al. 1984).
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
    fn threshold(&self, feature: usize, rows: &Rows) -> Option<Candidate> {
        let values = &self.columns[feature];
        let x = |row: u32| values.numbers[row as usize];
        let mut known: Rows = rows.iter().copied().filter(|&(row, _)| !x(row).is_nan()).collect();
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

    fn split(&mut self, pending: Pending, test: Test) -> Vec<Pending> {
        let Some(feature) = test.feature() else { return Vec::new() };
        let parts = self.branches(&pending.rows, &test, feature);
        let parent = self.out.tree.value(pending.node).to_vec();
        let first = self.out.tree.n_nodes();
        self.out.tree.child[pending.node] = first as u32;
        parts.iter().for_each(|rows| self.add_node(rows, &parent));
        let mut used = pending.used;
        if matches!(test, Test::Each { .. }) {
            used.push(feature);
        }
        self.out.tree.test[pending.node] = test;
        let child =
            |(i, rows): (usize, Rows)| Pending { node: first + i, rows, depth: pending.depth + 1, used: used.clone() };
        parts.into_iter().enumerate().filter(|(_, rows)| rows.len() > 1).map(child).collect()
    }

    /// The rows of each branch. Where C4.5 finds no value, a row goes down all of them.
    fn branches(&self, rows: &Rows, test: &Test, feature: usize) -> Vec<Rows> {
        let mut parts: Vec<Rows> = vec![Vec::new(); test.n_children()];
        let mut lost: Rows = Vec::new();
        for &(row, weight) in rows {
            let x = self.columns[feature].numbers[row as usize];
            match test.branch(x).filter(|_| !(self.options.c45 && x.is_nan())) {
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
}

/// `sum + sign * part`, not below 0.
fn added(mut sum: Vec<f64>, part: &[f64], sign: f64) -> Vec<f64> {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum = (*sum + sign * part).max(0.0));
    sum
}

/// The prediction of a tree for one row, where a row without a value goes down every branch in proportion to its training weight.
pub fn predict_fractional(tree: &super::Tree, x: impl Fn(usize) -> f64, out: &mut [f64]) {
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
            None => out.iter_mut().zip(tree.value(node)).for_each(|(out, value)| *out += share * value),
        }
    }
}

//! Optimal trees over binary features, by counting pairs.
//!
//! **Idea.** Binary features are bit strings over the rows, the rows of a node are another, and counting is `popcount(a & b)`. All trees of depth 2 follow from the class counts of every pair of features, as the other
//! counts are differences. Deeper trees try each feature at the root, solve both sides, and skip a feature as soon as bounds show that it can't beat the best tree so far. Solutions of sets of rows are cached.
//! Rows with identical features end in the same leaf of every tree: all but the most frequent class among them are unavoidable errors.
//!
//! **Formula.** Errors + penalty * (leaves - 1), in rows.
//!
//! **Cost.** K d^2 n / 128 word operations for depth 2, at worst 2 d times as much per further level. **Reference.** Demirović and others, MurTree: optimal decision trees via dynamic programming and search (2022).

use ermine_core::progress::Patience;
use ermine_core::rng;
use ermine_core::versions;
use std::collections::HashMap;

/// Maximum number of cached sets of rows.
const REMEMBERED: usize = 1_000_000;

/// Binary features and classes of the rows.
#[derive(Debug)]
pub struct BinaryFeatures {
    n_words: usize,
    /// One bit string per feature.
    yes: Vec<Vec<u64>>,
    /// One bit string per class.
    classes: Vec<Vec<u64>>,
    /// Unavoidable errors: rows outside the most frequent class of the rows with the same features.
    lost: Vec<u64>,
}

/// Limits of the trees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinaryLimits {
    /// Maximum depth.
    pub max_depth: usize,
    /// Penalty for each leaf beyond the first.
    pub penalty: f64,
    /// Minimum number of rows in each leaf.
    pub min_samples_leaf: usize,
}

/// A tree over binary features.
#[derive(Debug, Clone, PartialEq)]
pub enum BinaryTree {
    /// A leaf.
    Leaf,
    /// A feature, the subtree if it is set, and the subtree if it isn't.
    Split(usize, Box<BinaryTree>, Box<BinaryTree>),
}

/// A tree, its cost, and a lower bound.
#[derive(Debug, Clone, PartialEq)]
pub struct BinarySolution {
    /// The tree.
    pub tree: BinaryTree,
    /// Its cost.
    pub cost: f64,
    /// A lower bound of the cost of all trees.
    pub bound: f64,
}

impl BinaryFeatures {
    /// Features from `answers[feature][row]`.
    pub fn new(codes: &[u32], n_classes: usize, answers: &[Vec<bool>]) -> BinaryFeatures {
        let n_words = codes.len().div_ceil(64);
        let bits = |is_set: &dyn Fn(usize) -> bool| {
            let mut words = vec![0u64; n_words];
            (0..codes.len()).filter(|&row| is_set(row)).for_each(|row| words[row / 64] |= 1 << (row % 64));
            words
        };
        let same = |row: usize| {
            let half = |seed: u64| answers.iter().fold(seed, |state, answer| rng::place(state, u64::from(answer[row])));
            u128::from(half(1)) << 64 | u128::from(half(2))
        };
        let lost = lost_rows(codes, n_classes, same, |_| 1.0);
        BinaryFeatures {
            n_words,
            lost: bits(&|row| lost[row]),
            yes: answers.iter().map(|answer| bits(&|row| answer[row])).collect(),
            classes: (0..n_classes).map(|k| bits(&|row| codes[row] as usize == k)).collect(),
        }
    }

    /// The rows of each class in a set.
    fn counts(&self, set: &[u64]) -> Vec<u32> {
        self.classes.iter().map(|class| count_both(set, class)).collect()
    }
}

/// Unavoidable errors: rows outside the most frequent class of the rows with the same features. `same(row)` is a hash of the features.
pub(super) fn lost_rows(
    codes: &[u32],
    n_classes: usize,
    same: impl Fn(usize) -> u128,
    weight: impl Fn(usize) -> f64,
) -> Vec<bool> {
    let mut order: Vec<(u128, u32)> = (0..codes.len()).map(|row| (same(row), row as u32)).collect();
    order.sort_unstable();
    let mut lost = vec![false; codes.len()];
    let mut weights = vec![0.0; n_classes];
    for group in order.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        let rows = || group.iter().map(|(_, row)| *row as usize);
        rows().for_each(|row| weights[codes[row] as usize] += weight(row));
        let best = (1..n_classes).fold(0, |best, k| if weights[k] > weights[best] { k } else { best });
        rows().filter(|&row| codes[row] as usize != best).for_each(|row| lost[row] = true);
        rows().for_each(|row| weights[codes[row] as usize] = 0.0);
    }
    lost
}

versions! {
    /// The number of bits that are set in both bit strings.
    fn count_both(a: &[u64], b: &[u64]) -> u32 {
        a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
    }
}

fn errors(counts: &[u32]) -> f64 {
    f64::from(counts.iter().sum::<u32>() - counts.iter().copied().max().unwrap_or(0))
}

/// The search for an optimal tree over binary features.
pub struct BinaryTreeSearch<'a> {
    questions: &'a BinaryFeatures,
    limits: BinaryLimits,
    known: HashMap<(u128, usize), BinarySolution>,
    patience: &'a Patience<'a>,
}

impl<'a> BinaryTreeSearch<'a> {
    /// A search over these features.
    pub fn new(questions: &'a BinaryFeatures, limits: BinaryLimits, patience: &'a Patience<'a>) -> Self {
        BinaryTreeSearch { questions, limits, known: HashMap::new(), patience }
    }

    /// The best tree on all rows; only trees cheaper than `limit` are searched.
    pub fn solve_all(&mut self, limit: f64) -> BinarySolution {
        let mut all = vec![0u64; self.questions.n_words];
        for class in &self.questions.classes {
            all.iter_mut().zip(class).for_each(|(all, class)| *all |= class);
        }
        self.solve(&all, self.limits.max_depth, limit)
    }

    /// The best tree for a set of rows. `cost < limit` if there is one; otherwise `bound >= limit`, unless time ran out.
    fn solve(&mut self, set: &[u64], depth: usize, limit: f64) -> BinarySolution {
        let counts = self.questions.counts(set);
        let (leaf, n) = (errors(&counts), counts.iter().sum::<u32>() as usize);
        let few = n < 2 * self.limits.min_samples_leaf.max(1);
        let lost = self.lost(set);
        if depth == 0 || leaf <= lost + self.limits.penalty || few {
            return BinarySolution { tree: BinaryTree::Leaf, cost: leaf, bound: leaf };
        }
        let key = (fingerprint(set), depth);
        if let Some(known) = self.known.get(&key).filter(|known| known.bound >= known.cost || known.bound >= limit) {
            return known.clone();
        }
        let solution = if depth <= 2 {
            self.solve_by_pairs(set, &counts, depth, lost)
        } else {
            self.solve_deep(set, depth, leaf, limit)
        };
        if self.known.len() < REMEMBERED && !self.patience.was_over() {
            self.known.insert(key, solution.clone());
        }
        solution
    }

    /// A lower bound of the cost of all trees for a set of rows.
    fn lost(&self, set: &[u64]) -> f64 {
        f64::from(count_both(set, &self.questions.lost))
    }

    fn solve_deep(&mut self, set: &[u64], depth: usize, leaf: f64, limit: f64) -> BinarySolution {
        // A shallower tree is a cheap initial solution.
        let start = self.solve(set, depth - 1, limit);
        let mut best = if start.cost < leaf { (start.tree, start.cost) } else { (BinaryTree::Leaf, leaf) };
        let mut bound = f64::INFINITY;
        let (mut yes, mut no) = (vec![0u64; set.len()], vec![0u64; set.len()]);
        for q in 0..self.questions.yes.len() {
            if self.patience.is_over() {
                bound = bound.min(self.lost(set) + self.limits.penalty);
                break;
            }
            for (i, answer) in self.questions.yes[q].iter().enumerate() {
                (yes[i], no[i]) = (set[i] & answer, set[i] & !answer);
            }
            let rows = |side: &[u64]| side.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            if rows(&yes).min(rows(&no)) < self.limits.min_samples_leaf.max(1) {
                continue;
            }
            let target = best.1.min(limit);
            let room = target - self.limits.penalty;
            let least = self.lost(&no);
            let a = self.solve(&yes, depth - 1, room - least);
            if a.bound + least >= room - 1e-9 {
                bound = bound.min(a.bound + least + self.limits.penalty);
                continue;
            }
            let b = self.solve(&no, depth - 1, room - a.bound);
            let cost = a.cost + b.cost + self.limits.penalty;
            bound = bound.min(a.bound + b.bound + self.limits.penalty);
            if cost < best.1 - 1e-9 {
                best = (BinaryTree::Split(q, Box::new(a.tree), Box::new(b.tree)), cost);
            }
        }
        BinarySolution { bound: bound.min(best.1), tree: best.0, cost: best.1 }
    }

    /// The best tree of depth 1 or 2, from the class counts of all pairs of features.
    fn solve_by_pairs(&self, set: &[u64], all: &[u32], depth: usize, lost: f64) -> BinarySolution {
        let (d, k) = (self.questions.yes.len(), all.len());
        let Some(ones) = self.pair_counts(set, depth) else {
            return BinarySolution { tree: BinaryTree::Leaf, cost: errors(all), bound: lost };
        };
        let at = |i: usize, j: usize| &ones[(i * d + j) * k..(i * d + j + 1) * k];
        let minus = |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<u32>>();
        let penalty = self.limits.penalty;
        let fits = |counts: &[u32]| counts.iter().sum::<u32>() as usize >= self.limits.min_samples_leaf.max(1);
        // The best second feature for rows whose subset with feature j has counts `part(j)`; a leaf if none helps.
        let second = |side: &[u32], part: &dyn Fn(usize) -> Vec<u32>| {
            let mut best = (errors(side), None);
            if depth == 2 && best.0 > penalty {
                for j in 0..d {
                    let yes = part(j);
                    let no = minus(side, &yes);
                    let cost = errors(&yes) + errors(&no) + penalty;
                    if cost < best.0 - 1e-9 && fits(&yes) && fits(&no) {
                        best = (cost, Some(j));
                    }
                }
            }
            best
        };
        let mut best = (errors(all), None);
        for i in 0..d {
            let yes = at(i, i);
            let no = minus(all, yes);
            if !fits(yes) || !fits(&no) {
                continue;
            }
            let a = second(yes, &|j| at(i, j).to_vec());
            if a.0 + penalty >= best.0 - 1e-9 {
                continue;
            }
            let b = second(&no, &|j| minus(at(j, j), at(i, j)));
            if a.0 + b.0 + penalty < best.0 - 1e-9 {
                best = (a.0 + b.0 + penalty, Some((i, a.1, b.1)));
            }
        }
        let stump = |q: Option<usize>| match q {
            Some(q) => BinaryTree::Split(q, Box::new(BinaryTree::Leaf), Box::new(BinaryTree::Leaf)),
            None => BinaryTree::Leaf,
        };
        let tree = match best.1 {
            Some((i, a, b)) => BinaryTree::Split(i, Box::new(stump(a)), Box::new(stump(b))),
            None => BinaryTree::Leaf,
        };
        BinarySolution { tree, cost: best.0, bound: best.0 }
    }

    /// The class counts of the rows with both features i and j, at `(i * d + j) * K`; for depth 1 only i = j. `None` if
    /// time ran out.
    fn pair_counts(&self, set: &[u64], depth: usize) -> Option<Vec<u32>> {
        let (d, k) = (self.questions.yes.len(), self.questions.classes.len());
        let mut ones = vec![0u32; d * d * k];
        let mut here = vec![0u64; set.len()];
        for (class, of_class) in self.questions.classes.iter().enumerate() {
            for i in 0..d {
                // Reading the clock costs more than many counts.
                if i % 16 == 15 && self.patience.is_over() {
                    return None;
                }
                let both = set.iter().zip(of_class).zip(&self.questions.yes[i]);
                here.iter_mut().zip(both).for_each(|(here, ((s, c), y))| *here = s & c & y);
                ones[(i * d + i) * k + class] = here.iter().map(|word| word.count_ones()).sum();
                for j in if depth == 2 { i + 1..d } else { 0..0 } {
                    let count = count_both(&here, &self.questions.yes[j]);
                    ones[(i * d + j) * k + class] = count;
                    ones[(j * d + i) * k + class] = count;
                }
            }
        }
        Some(ones)
    }
}

/// A hash of a set of rows.
fn fingerprint(set: &[u64]) -> u128 {
    let half = |seed: u64| set.iter().fold(seed, |state, &word| rng::place(state, word));
    u128::from(half(1)) << 64 | u128::from(half(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::progress::Silent;
    use proptest::prelude::*;

    /// The least cost of all trees, by trying them.
    fn least(rows: &[usize], codes: &[u32], answers: &[Vec<bool>], depth: usize, limits: &BinaryLimits) -> f64 {
        let mut counts = [0u32; 3];
        rows.iter().for_each(|&row| counts[codes[row] as usize] += 1);
        let mut best = errors(&counts);
        for answer in answers.iter().filter(|_| depth > 0) {
            let (a, b): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| answer[row]);
            if a.len().min(b.len()) >= limits.min_samples_leaf {
                let sides = least(&a, codes, answers, depth - 1, limits) + least(&b, codes, answers, depth - 1, limits);
                best = best.min(sides + limits.penalty);
            }
        }
        best
    }

    /// What a tree costs.
    fn cost(tree: &BinaryTree, rows: &[usize], codes: &[u32], answers: &[Vec<bool>], penalty: f64) -> f64 {
        match tree {
            BinaryTree::Leaf => {
                least(rows, codes, answers, 0, &BinaryLimits { max_depth: 0, penalty, min_samples_leaf: 1 })
            }
            BinaryTree::Split(q, yes, no) => {
                let (a, b): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| answers[*q][row]);
                cost(yes, &a, codes, answers, penalty) + cost(no, &b, codes, answers, penalty) + penalty
            }
        }
    }

    proptest! {
        #[test]
        fn no_tree_is_better(
            seed in any::<u64>(), n in 2usize..150, d in 1usize..5, max_depth in 1usize..4, min_samples_leaf in 1usize..4,
            penalty in prop_oneof![Just(0.0), Just(1.5)],
        ) {
            let codes: Vec<u32> = (0..n).map(|row| (rng::place(seed, row as u64) % 3) as u32).collect();
            let answers: Vec<Vec<bool>> =
                (0..d).map(|q| (0..n).map(|row| rng::place(seed ^ (q as u64 + 9), row as u64).is_multiple_of(3)).collect()).collect();
            let limits = BinaryLimits { max_depth, penalty, min_samples_leaf };
            let questions = BinaryFeatures::new(&codes, 3, &answers);
            let found = BinaryTreeSearch::new(&questions, limits, &Patience::new(None, &Silent)).solve_all(f64::INFINITY);
            let rows: Vec<usize> = (0..n).collect();
            prop_assert_eq!(found.cost, least(&rows, &codes, &answers, max_depth, &limits));
            prop_assert_eq!(found.cost, found.bound);
            prop_assert_eq!(found.cost, cost(&found.tree, &rows, &codes, &answers, penalty), "the tree is what was found");
        }
    }
}

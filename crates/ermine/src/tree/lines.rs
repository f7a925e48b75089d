//! Growing a tree on rows that are copied and moved: how forests grow theirs.
//!
//! **Idea.** The bins of a row stand side by side in one line of bytes, with its weight and target at the end. A tree copies the lines of the rows that were drawn for
//! it and moves them at each split, so that the rows of a node always stand together: every pass reads memory in order, whatever the depth.
//! A node adds up the bins of a few columns drawn at random in one pass over its lines and takes the best split (or, in
//! extra-trees, the best of one random split for each column).
//!
//! **Splits.** Of an ordered column: at a cut between bins, half-way between the bins that occur in the node; missing values on the better side. Of a nominal column: categories in
//! order of their mean target, cut in two; the best of all bipartitions for two classes and for numbers (Breiman and others 1984).
//!
//! **Cost.** O(rows * columns drawn) for each level; 64 bytes for each row of a tree that is being grown (more for more than 54 columns).
//! **Reference.** Breiman, Random forests, 2001; Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006.

use super::Tree;
use crate::matrix::Bins;
use crate::matrix::binned::{Binned, Cuts};
use crate::rng::{self, Rng};
use crate::split::Test;
use crate::split::cells::{Item, MAX_BINS, Seen, Statistics, TAIL, bits};
use crate::split::few::{FEW, best_cuts};
use crate::split::test::CodeSet;
use rand::RngExt;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Rows that are laid out together.
const BLOCK: usize = 256;

/// Nodes with at least this many lines go through all bins of a column; smaller ones only through those that occur.
const DENSE: usize = 512;

/// The bins of all rows, row by row, and what they mean.
pub struct Lines<'a> {
    bytes: Vec<u8>,
    stride: usize,
    bins: &'a Bins,
    columns: Vec<LineColumn>,
    /// No column is nominal or has missing values.
    plain: bool,
}

struct LineColumn {
    /// The bin of missing values.
    missing: u8,
    nominal: bool,
}

/// When to stop, and what to try.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Columns tried at each node.
    pub max_features: usize,
    /// Depth, at most.
    pub max_depth: usize,
    /// A node with fewer rows is not split.
    pub min_samples_split: f64,
    /// A side of a split has at least as many rows.
    pub min_samples_leaf: f64,
    /// A side of a split has at least this weight.
    pub min_weight_leaf: f64,
    /// A split gains at least this much score.
    pub min_gain: f64,
    /// Leaves, at most; the best split of all nodes goes first.
    pub max_leaf_nodes: Option<usize>,
    /// One random split for each column, as in extra-trees.
    pub random_splits: bool,
}

/// A tree, what each column gained in it, and the rows that ended in each leaf.
pub struct Grown {
    /// The tree.
    pub tree: Tree,
    /// The gain of the splits of each column, added up.
    pub gains: Vec<f64>,
}

impl Grown {
    fn set_value(&mut self, node: usize, value: &[f64]) {
        let width = self.tree.width;
        self.tree.value[node * width..(node + 1) * width].copy_from_slice(value);
    }
}

impl<'a> Lines<'a> {
    /// Lays out the bins row by row.
    pub fn new(bins: &'a Bins, binned: &Binned, n_rows: usize) -> Lines<'a> {
        let d = binned.columns.len();
        let stride = (d + TAIL).next_multiple_of(64);
        let mut bytes = vec![0u8; n_rows * stride];
        let fill = |(block, lines): (usize, &mut [u8])| {
            for (c, column) in binned.columns.iter().enumerate() {
                let lines = lines.chunks_exact_mut(stride).enumerate();
                lines.for_each(|(i, line)| line[c] = column.codes.get(block * BLOCK + i) as u8);
            }
        };
        bytes.par_chunks_mut(BLOCK * stride).enumerate().for_each(fill);
        let nominal = |cuts: &Cuts| matches!(cuts, Cuts::Categories(_));
        let column = |(column, cuts): (&crate::matrix::binned::BinnedColumn, &Cuts)| LineColumn {
            missing: column.n_bins as u8,
            nominal: nominal(cuts),
        };
        let columns: Vec<LineColumn> = binned.columns.iter().zip(&bins.columns).map(column).collect();
        let is_plain = |line: &[u8]| line.iter().zip(&columns).all(|(&bin, column)| bin != column.missing);
        let plain = columns.iter().all(|c| !c.nominal) && bytes.par_chunks_exact(stride).all(is_plain);
        Lines { bytes, stride, bins, columns, plain }
    }

    /// A copy of the lines of the rows that were drawn, with weight and target.
    fn drawn(&self, drawn: &[u16], target: impl Fn(usize) -> i32) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(drawn.iter().filter(|&&w| w > 0).count() * self.stride);
        for (row, &weight) in drawn.iter().enumerate().filter(|(_, w)| **w > 0) {
            bytes.extend_from_slice(&self.bytes[row * self.stride..(row + 1) * self.stride]);
            let at = bytes.len() - TAIL;
            Item { weight: u32::from(weight), target: target(row), row: row as u32 }.write(&mut bytes[at..]);
        }
        bytes
    }

    /// Grows a tree. `drawn` is how often each row was drawn, `target` what the statistics want to know of a row, `value(items, sums)` what a leaf predicts.
    pub fn grow<S: Statistics>(
        &self,
        statistics: &S,
        drawn: &[u16],
        target: impl Fn(usize) -> i32,
        limits: &Limits,
        rng: Rng,
        value: impl Fn(&mut dyn Iterator<Item = Item>, &[S::Number]) -> Vec<f64>,
    ) -> Grown {
        let mut lines = self.drawn(drawn, target);
        let mut grower = Grower::new(self, statistics, limits, rng);
        let mut all = vec![S::Number::default(); statistics.width()];
        lines.chunks_exact(self.stride).for_each(|line| statistics.add(&mut all, Item::of_line(line)));
        let says = |lines: &[u8], open: &Open<S::Number>| {
            value(
                &mut lines[open.start * self.stride..open.end * self.stride]
                    .chunks_exact(self.stride)
                    .map(Item::of_line),
                &open.all,
            )
        };
        let root = Open { node: 0, start: 0, end: lines.len() / self.stride, depth: 0, all };
        let tree = Tree::leaf(statistics.weight(&root.all), &says(&lines, &root));
        let mut grown = Grown { tree, gains: vec![0.0; self.columns.len()] };
        let nothing = vec![0.0; grown.tree.width];
        let mut queue = Queue::new(limits.max_leaf_nodes);
        if let Ok(found) = grower.try_split(&lines, root) {
            queue.push(found);
        }
        let mut n_leaves = 1;
        while let Some((open, split)) = queue.pop() {
            if limits.max_leaf_nodes.is_some_and(|most| n_leaves >= most) {
                grown.set_value(open.node, &says(&lines, &open));
                continue;
            }
            n_leaves += 1;
            let n_left = grower.partition(&mut lines[open.start * self.stride..open.end * self.stride], &split);
            let children = open.children(grown.tree.n_nodes(), n_left, &split.left, statistics);
            let leaf = |child: &Open<S::Number>| (statistics.weight(&child.all), nothing.clone());
            grown.tree.split(open.node, self.test(&split), &children.each_ref().map(leaf));
            grown.gains[split.feature] += split.gain;
            for child in children {
                match grower.try_split(&lines, child) {
                    Ok(found) => queue.push(found),
                    Err(leaf) => grown.set_value(leaf.node, &says(&lines, &leaf)),
                }
            }
        }
        grown
    }

    /// The question of a split, in the values that the bins stand for.
    fn test<N>(&self, split: &LineSplit<N>) -> Test {
        let (feature, missing_left) = (split.feature as u32, split.missing_left);
        match &self.bins.columns[split.feature] {
            // With no cut above the split, it is between values and missing ones.
            Cuts::Numbers(cuts) => {
                let threshold = cuts.get(split.bin as usize).copied().unwrap_or(f64::INFINITY);
                Test::AtMost { feature, threshold, missing_left }
            }
            Cuts::Categories(bins) => {
                let set = CodeSet::new((0..bins.len()).filter(|&code| split.has(bins[code] as u8)));
                Test::InSet { feature, set, missing_left }
            }
        }
    }
}

/// A node that may be split.
struct Open<N> {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
    all: Vec<N>,
}

impl<N: Copy> Open<N> {
    /// The two sides of a split, the first of which will be node `node`.
    fn children<S: Statistics<Number = N>>(
        &self,
        node: usize,
        n_left: usize,
        left: &[N],
        statistics: &S,
    ) -> [Open<N>; 2] {
        let (middle, depth) = (self.start + n_left, self.depth + 1);
        let mut right = self.all.clone();
        statistics.remove(&mut right, left);
        [
            Open { node, start: self.start, end: middle, depth, all: left.to_vec() },
            Open { node: node + 1, start: middle, end: self.end, depth, all: right },
        ]
    }
}

/// A split of a node.
#[derive(Clone)]
struct LineSplit<N> {
    feature: usize,
    /// Bins up to this one are on the left; for a nominal column `set` decides.
    bin: u8,
    set: Option<Box<Seen>>,
    missing_left: bool,
    missing: u8,
    gain: f64,
    left: Vec<N>,
}

impl<N> LineSplit<N> {
    /// Whether a bin that is not that of missing values goes to the left.
    fn has(&self, bin: u8) -> bool {
        self.set.as_ref().map_or(bin <= self.bin, |set| set[bin as usize / 64] >> (bin % 64) & 1 == 1)
    }

    /// Where each bin goes.
    fn sides(&self) -> [bool; MAX_BINS] {
        std::array::from_fn(|bin| if bin as u8 == self.missing { self.missing_left } else { self.has(bin as u8) })
    }
}

/// A node and its best split.
type Candidate<N> = (Open<N>, LineSplit<N>);

/// The nodes that can be split: the last first, or the best first.
struct Queue<N> {
    stack: Vec<(Open<N>, LineSplit<N>)>,
    heap: Option<BinaryHeap<Ranked>>,
}

/// The gain of a split, the node, and its place in the list.
#[derive(PartialEq)]
struct Ranked(f64, usize, usize);

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl<N> Queue<N> {
    fn new(max_leaf_nodes: Option<usize>) -> Self {
        Queue { stack: Vec::new(), heap: max_leaf_nodes.map(|_| BinaryHeap::new()) }
    }

    fn push(&mut self, found: (Open<N>, LineSplit<N>)) {
        if let Some(heap) = &mut self.heap {
            heap.push(Ranked(found.1.gain, found.0.node, self.stack.len()));
        }
        self.stack.push(found);
    }

    fn pop(&mut self) -> Option<(Open<N>, LineSplit<N>)>
    where
        N: Clone,
    {
        match &mut self.heap {
            None => self.stack.pop(),
            Some(heap) => heap.pop().map(|Ranked(_, _, place)| {
                let (open, split) = &mut self.stack[place];
                let all = std::mem::take(&mut open.all);
                (Open { all, ..*open }, split.clone())
            }),
        }
    }
}

/// What growing needs at hand.
struct Grower<'a, S: Statistics> {
    lines: &'a Lines<'a>,
    statistics: &'a S,
    limits: &'a Limits,
    rng: Rng,
    /// All columns; those that were drawn stand in front.
    order: Vec<u16>,
    cells: Vec<S::Number>,
    /// Which bins occur, for each column drawn.
    seen: Vec<Seen>,
    spare: Vec<u8>,
    scratch: [Vec<S::Number>; 2],
}

impl<'a, S: Statistics> Grower<'a, S> {
    fn new(lines: &'a Lines<'a>, statistics: &'a S, limits: &'a Limits, rng: Rng) -> Self {
        let (d, width) = (lines.columns.len(), statistics.width());
        let tried = limits.max_features.clamp(1, d);
        let scratch = [vec![S::Number::default(); width], vec![S::Number::default(); width]];
        Grower {
            lines,
            statistics,
            limits,
            rng,
            order: (0..d as u16).collect(),
            cells: vec![S::Number::default(); tried * MAX_BINS * width],
            seen: vec![[0; 4]; tried],
            spare: Vec::new(),
            scratch,
        }
    }

    /// The split of a node; the node itself, if it is not to be split.
    fn try_split(&mut self, lines: &[u8], open: Open<S::Number>) -> Result<Candidate<S::Number>, Open<S::Number>> {
        let count = self.statistics.count(&open.all);
        let small = count < self.limits.min_samples_split.max(2.0) || count < 2.0 * self.limits.min_samples_leaf;
        let (stride, n) = (self.lines.stride, open.end - open.start);
        if n < 2 || small || open.depth >= self.limits.max_depth || self.statistics.is_pure(&open.all) {
            return Err(open);
        }
        let lines = &lines[open.start * stride..open.end * stride];
        let first = Item::of_line(&lines[..stride]).target;
        if self.statistics.targets_decide()
            && lines.chunks_exact(stride).all(|line| Item::of_line(line).target == first)
        {
            return Err(open);
        }
        match self.best_split(lines, &open.all) {
            Some(split) => Ok((open, split)),
            None => Err(open),
        }
    }

    /// The best split over columns drawn at random. Where none of them can be split, more are drawn.
    fn best_split(&mut self, lines: &[u8], all: &[S::Number]) -> Option<LineSplit<S::Number>> {
        let d = self.order.len();
        let tried = self.seen.len();
        let own = self.statistics.score(all);
        let few = self.takes_few() && lines.len() / self.lines.stride <= FEW;
        let mut best: Option<LineSplit<S::Number>> = None;
        let mut first = 0;
        while first < d && best.is_none() {
            let last = (first + tried).min(d);
            if last - first < d {
                for i in first..last {
                    let j = i + rng::below(&mut self.rng, d - i);
                    self.order.swap(i, j);
                }
            }
            match self.lines.stride {
                64 if few => self.search_few::<64>(lines, first..last, all, own, &mut best),
                128 if few => self.search_few::<128>(lines, first..last, all, own, &mut best),
                _ => {
                    self.add_up(lines, first, last);
                    for slot in 0..last - first {
                        let feature = self.order[first + slot] as usize;
                        self.search(slot, feature, all, own, &mut best);
                    }
                }
            }
            first = last;
        }
        best.filter(|split| split.gain >= self.limits.min_gain)
    }

    /// Whether small nodes can be searched in all columns at once, and enough columns are tried for that to pay.
    fn takes_few(&self) -> bool {
        let limits = self.limits;
        let free = limits.min_samples_leaf <= 1.0 && limits.min_weight_leaf <= 0.0 && !limits.random_splits;
        free && self.lines.plain && self.statistics.is_one_number() && self.seen.len() >= 12
    }

    /// The best split of a node of few lines over the columns in places `drawn` of the order.
    fn search_few<const STRIDE: usize>(
        &mut self,
        lines: &[u8],
        drawn: std::ops::Range<usize>,
        all: &[S::Number],
        own: f64,
        best: &mut Option<LineSplit<S::Number>>,
    ) {
        let lines = lines.as_chunks::<STRIDE>().0;
        let items: Vec<Item> = lines.iter().map(|line| Item::of_line(line)).collect();
        let total: f64 = items.iter().map(|item| f64::from(item.weight)).sum();
        let sum: f64 = items.iter().map(|item| f64::from(item.weight) * f64::from(item.target)).sum();
        let weight: Vec<f32> = items.iter().map(|item| item.weight as f32).collect();
        let centred = |item: &Item| (f64::from(item.weight) * (f64::from(item.target) - sum / total)) as f32;
        let target: Vec<f32> = items.iter().map(centred).collect();
        let cuts = best_cuts(lines, &target, &weight);
        let columns = self.order[drawn].iter().map(|&c| c as usize).filter(|&c| cuts.gain[c] >= 0.0);
        let Some(feature) = columns.reduce(|best, c| if cuts.gain[c] > cuts.gain[best] { c } else { best }) else {
            return;
        };
        let cut = lines[cuts.row[feature] as usize][feature];
        let (mut before, mut after) = (0, u8::MAX);
        self.scratch[0].fill(S::Number::default());
        for (line, item) in lines.iter().zip(items) {
            if line[feature] <= cut {
                before = before.max(line[feature]);
                self.statistics.add(&mut self.scratch[0], item);
            } else {
                after = after.min(line[feature]);
            }
        }
        self.consider(Place::between(feature, before, after), all, own, best);
    }

    /// Adds up the bins of the columns in places `first..last` of the order.
    fn add_up(&mut self, lines: &[u8], first: usize, last: usize) {
        let (stride, width) = (self.lines.stride, self.statistics.width());
        let columns = &self.order[first..last];
        if lines.len() / stride < DENSE {
            self.statistics.add_up(lines, stride, columns, &mut self.cells, Some(&mut self.seen));
            return;
        }
        self.statistics.add_up(lines, stride, columns, &mut self.cells, None);
        let zero = S::Number::default();
        for slot in 0..columns.len() {
            let cells = self.cells[slot * MAX_BINS * width..(slot + 1) * MAX_BINS * width].chunks_exact(width);
            for (bin, cell) in cells.enumerate() {
                self.seen[slot][bin / 64] |= u64::from(cell.iter().any(|n| *n != zero)) << (bin % 64);
            }
        }
    }

    /// Looks for the best split of one column and clears its cells.
    fn search(
        &mut self,
        slot: usize,
        feature: usize,
        all: &[S::Number],
        own: f64,
        best: &mut Option<LineSplit<S::Number>>,
    ) {
        let column = &self.lines.columns[feature];
        let seen = std::mem::take(&mut self.seen[slot]);
        let has_missing = seen[column.missing as usize / 64] >> (column.missing % 64) & 1 == 1;
        let width = self.statistics.width();
        let base = slot * MAX_BINS * width;
        if seen.iter().map(|w| w.count_ones()).sum::<u32>() > 1 {
            if column.nominal || has_missing {
                self.search_list(slot, feature, &seen, all, own, best);
            } else if self.limits.random_splits {
                let bins: Vec<u8> = bits(&seen).collect();
                let cut = self.random_cut(feature, bins[0], bins[bins.len() - 1]);
                self.scratch[0].fill(S::Number::default());
                for &bin in bins.iter().filter(|&&bin| bin <= cut) {
                    let at = base + bin as usize * width;
                    self.statistics.merge(&mut self.scratch[0], &self.cells[at..at + width]);
                }
                let place = Place { feature, bin: cut, set: None, missing_left: false };
                self.consider(place, all, own, best);
            } else {
                self.sweep(base, feature, &seen, all, own, best);
            }
        }
        for bin in bits(&seen) {
            let at = base + bin as usize * width;
            self.cells[at..at + width].fill(S::Number::default());
        }
    }

    /// Moves the cut up past one bin after the other.
    fn sweep(
        &mut self,
        base: usize,
        feature: usize,
        seen: &Seen,
        all: &[S::Number],
        own: f64,
        best: &mut Option<LineSplit<S::Number>>,
    ) {
        let width = self.statistics.width();
        if self.limits.min_samples_leaf <= 1.0 && self.limits.min_weight_leaf <= 0.0 {
            let bar = best.as_ref().map_or(-1.0, |best| best.gain + own);
            let cells = &self.cells[base..base + MAX_BINS * width];
            if let Some(cut) = self.statistics.best_cut(cells, seen, all, bar) {
                if let Some(cut) = cut {
                    self.scratch[0].fill(S::Number::default());
                    for bin in bits(seen).take_while(|&bin| bin <= cut.before) {
                        let at = base + bin as usize * width;
                        self.statistics.merge(&mut self.scratch[0], &self.cells[at..at + width]);
                    }
                    self.consider(Place::between(feature, cut.before, cut.after), all, own, best);
                }
                return;
            }
        }
        self.scratch[0].fill(S::Number::default());
        let mut before: Option<u8> = None;
        for bin in bits(seen) {
            if let Some(before) = before {
                self.consider(Place::between(feature, before, bin), all, own, best);
            }
            let at = base + bin as usize * width;
            self.statistics.merge(&mut self.scratch[0], &self.cells[at..at + width]);
            before = Some(bin);
        }
    }

    /// The same for a column with missing values, or with categories, which are put in order first.
    fn search_list(
        &mut self,
        slot: usize,
        feature: usize,
        seen: &Seen,
        all: &[S::Number],
        own: f64,
        best: &mut Option<LineSplit<S::Number>>,
    ) {
        let width = self.statistics.width();
        let (missing, nominal) = (self.lines.columns[feature].missing, self.lines.columns[feature].nominal);
        let cell = |bin: u8| (slot * MAX_BINS + bin as usize) * width;
        let mut bins: Vec<u8> = bits(seen).filter(|&bin| bin != missing).collect();
        let has_missing = seen[missing as usize / 64] >> (missing % 64) & 1 == 1;
        if nominal {
            let order = |bin: u8| self.statistics.order(&self.cells[cell(bin)..cell(bin) + width], all);
            bins.sort_by(|&a, &b| order(a).total_cmp(&order(b)).then(a.cmp(&b)));
        }
        let random = self.limits.random_splits && bins.len() > 1;
        // One random place in the list, or all of them.
        let only = random.then(|| match (nominal, bins.first(), bins.last()) {
            (false, Some(&low), Some(&high)) => {
                let cut = self.random_cut(feature, low, high);
                bins.iter().filter(|&&bin| bin <= cut).count()
            }
            _ => 1 + rng::below(&mut self.rng, bins.len() - 1),
        });
        let side = if self.limits.random_splits { rng::below(&mut self.rng, 2) == 1 } else { true };
        let sides: &[bool] = if !has_missing {
            &[false]
        } else if self.limits.random_splits {
            &[side]
        } else {
            &[true, false]
        };
        for &missing_left in sides {
            self.scratch[0].fill(S::Number::default());
            if missing_left {
                self.statistics.merge(&mut self.scratch[0], &self.cells[cell(missing)..cell(missing) + width]);
            }
            let mut set = [0u64; 4];
            for (i, &bin) in bins.iter().enumerate() {
                self.statistics.merge(&mut self.scratch[0], &self.cells[cell(bin)..cell(bin) + width]);
                set[bin as usize / 64] |= 1 << (bin % 64);
                // After the last bin, what is left on the right are missing values.
                let after = bins.get(i + 1).copied();
                if only.is_some_and(|only| only != i + 1) || (after.is_none() && (missing_left || !has_missing)) {
                    continue;
                }
                let cut = after.filter(|_| !nominal).map_or(u8::MAX, |after| bin + (after - bin - 1) / 2);
                let place = Place { feature, bin: cut, set: nominal.then(|| Box::new(set)), missing_left };
                self.consider(place, all, own, best);
            }
        }
    }

    /// Keeps the split whose left side is in `scratch[0]`, if it is allowed and the best so far.
    #[inline(always)]
    fn consider(&mut self, place: Place, all: &[S::Number], own: f64, best: &mut Option<LineSplit<S::Number>>) {
        let [left, right] = &mut self.scratch;
        let score = self.statistics.split_score(all, left, right);
        if best.as_ref().is_some_and(|best| score - own <= best.gain) || !score.is_finite() {
            return;
        }
        right.copy_from_slice(all);
        self.statistics.remove(right, left);
        let fewest = self.statistics.count(left).min(self.statistics.count(right));
        let lightest = self.statistics.weight(left).min(self.statistics.weight(right));
        if fewest < self.limits.min_samples_leaf.max(1.0) || lightest < self.limits.min_weight_leaf {
            return;
        }
        let missing = self.lines.columns[place.feature].missing;
        *best = Some(LineSplit {
            feature: place.feature,
            bin: place.bin,
            set: place.set,
            missing_left: place.missing_left,
            missing,
            gain: score - own,
            left: left.clone(),
        });
    }

    /// A bin to cut after, from a value drawn evenly between the middles of two bins.
    fn random_cut(&mut self, feature: usize, low: u8, high: u8) -> u8 {
        let Cuts::Numbers(cuts) = &self.lines.bins.columns[feature] else { return low };
        let (low_cut, high_cut) = (cuts[low as usize], cuts[high as usize - 1]);
        let drawn = low_cut + self.rng.random::<f64>() * (high_cut - low_cut);
        let bin = cuts.partition_point(|&cut| cut < drawn);
        bin.clamp(low as usize, high as usize - 1) as u8
    }

    /// Moves the lines of a node: left ones to the front, each side in its old order. How many go left.
    fn partition(&mut self, lines: &mut [u8], split: &LineSplit<S::Number>) -> usize {
        let sides = split.sides();
        self.spare.resize(self.spare.len().max(lines.len()), 0);
        match self.lines.stride {
            64 => partition::<64>(lines.as_chunks_mut().0, self.spare.as_chunks_mut().0, split.feature, &sides),
            128 => partition::<128>(lines.as_chunks_mut().0, self.spare.as_chunks_mut().0, split.feature, &sides),
            stride => partition_any(lines, &mut self.spare, stride, split.feature, &sides),
        }
    }
}

/// Every line is written to both sides, so that there is no branch to mispredict; only one of them counts.
fn partition<const STRIDE: usize>(
    lines: &mut [[u8; STRIDE]],
    spare: &mut [[u8; STRIDE]],
    feature: usize,
    sides: &[bool; MAX_BINS],
) -> usize {
    let (mut left, mut right) = (0, 0);
    for i in 0..lines.len() {
        let line = lines[i];
        let goes_left = sides[line[feature] as usize];
        spare[right] = line;
        lines[left] = line;
        left += usize::from(goes_left);
        right += usize::from(!goes_left);
    }
    lines[left..].copy_from_slice(&spare[..right]);
    left
}

/// The same for lines of any length.
fn partition_any(lines: &mut [u8], spare: &mut [u8], stride: usize, feature: usize, sides: &[bool; MAX_BINS]) -> usize {
    let (mut left, mut right) = (0, 0);
    for i in 0..lines.len() / stride {
        let from = i * stride;
        if sides[lines[from + feature] as usize] {
            lines.copy_within(from..from + stride, left * stride);
            left += 1;
        } else {
            spare[right * stride..(right + 1) * stride].copy_from_slice(&lines[from..from + stride]);
            right += 1;
        }
    }
    lines[left * stride..].copy_from_slice(&spare[..right * stride]);
    left
}

/// Where a split is.
struct Place {
    feature: usize,
    bin: u8,
    set: Option<Box<Seen>>,
    missing_left: bool,
}

impl Place {
    /// Half-way between two bins that occur.
    fn between(feature: usize, before: u8, after: u8) -> Place {
        Place { feature, bin: before + (after - before - 1) / 2, set: None, missing_left: false }
    }
}

//! The best split of a node over random columns: by bin statistics or, in extra-trees, by one pass for one random cut per column.

use super::mask_subtree::SubtreeScratch;
use super::sparse::{SparseNode, VaryingColumns};
use super::{BinnedNode, BinnedRows, BinnedSplit, ForestTreeLimits, NodeWithSplit};
use crate::split::bin_ranges::line_ranges;
use crate::split::bin_statistics::{BinSet, BinStatistics, MAX_BINS, SampledRow, bits};
use crate::split::column_lanes::{FEW, best_cuts};
use ermine_core::matrix::binned::Cuts;
use ermine_core::rng::RngExt;
use ermine_core::rng::{self, Rng};

/// Clearing all bins of a column is faster than clearing more than one in this many of them.
const FEW_CELLS: usize = 16;

/// Nodes with at least this many rows scan all bins of a column; smaller nodes only the bins that occur.
const DENSE: usize = 160;

/// The state of a tree builder.
pub(super) struct BinnedTreeBuilder<'a, S: BinStatistics> {
    pub lines: &'a BinnedRows<'a>,
    pub statistics: &'a S,
    pub limits: &'a ForestTreeLimits,
    pub rng: Rng,
    /// All columns; the drawn ones come first.
    pub order: Vec<u32>,
    /// The number of columns that a node considers.
    pub n_tried: usize,
    /// The cells of the columns that are accumulated together.
    pub cells: Vec<S::Number>,
    /// The bins that occur, for each of these columns.
    pub seen: Vec<BinSet>,
    /// Whether all bins of the node are scanned.
    pub dense: bool,
    /// The position of each row among the lines, for rows of mostly zeros.
    pub positions: Vec<u32>,
    /// The columns that vary in a small node, for rows of mostly zeros.
    pub varying: VaryingColumns,
    pub scratch_masks: SubtreeScratch,
    pub scratch: [Vec<S::Number>; 2],
}

impl<'a, S: BinStatistics> BinnedTreeBuilder<'a, S> {
    pub fn new(lines: &'a BinnedRows<'a>, statistics: &'a S, limits: &'a ForestTreeLimits, mut rng: Rng) -> Self {
        let (d, width) = (lines.columns.len(), statistics.width());
        let n_tried = limits.max_features.clamp(1, d);
        // Columns of mostly zeros are accumulated one at a time.
        let together = if lines.sparse.is_some() { 1 } else { n_tried };
        let scratch = [vec![S::Number::default(); width], vec![S::Number::default(); width]];
        let mut order: Vec<u32> = (0..d as u32).collect();
        // Nodes that consider all columns draw none: a random order breaks their ties.
        if n_tried == d {
            rng::shuffle(&mut rng, &mut order);
        }
        BinnedTreeBuilder {
            lines,
            statistics,
            limits,
            rng,
            order,
            n_tried,
            cells: vec![S::Number::default(); together * MAX_BINS * width],
            seen: vec![[0; 4]; together],
            dense: false,
            positions: Vec::new(),
            varying: VaryingColumns::default(),
            scratch_masks: SubtreeScratch::default(),
            scratch,
        }
    }

    /// The split of a node, or the node itself if it becomes a leaf.
    pub fn try_split(
        &mut self,
        lines: &[u8],
        open: BinnedNode<S::Number>,
    ) -> Result<NodeWithSplit<S::Number>, BinnedNode<S::Number>> {
        let count = self.statistics.count(&open.all);
        let small = count < self.limits.min_samples_split.max(2.0) || count < 2.0 * self.limits.min_samples_leaf;
        let (stride, n) = (self.lines.stride, open.end - open.start);
        if n < 2 || small || open.depth >= self.limits.max_depth || self.statistics.is_pure(&open.all) {
            return Err(open);
        }
        let lines = &lines[open.start * stride..open.end * stride];
        let first = SampledRow::of_line(&lines[..stride]).target;
        if self.statistics.targets_decide()
            && lines.chunks_exact(stride).all(|line| SampledRow::of_line(line).target == first)
        {
            return Err(open);
        }
        match self.best_split(lines, &open) {
            Some(split) => Ok((open, split)),
            None => Err(open),
        }
    }

    /// The best split over random columns. If none of them can be split, more are drawn.
    fn best_split(&mut self, lines: &[u8], open: &BinnedNode<S::Number>) -> Option<BinnedSplit<S::Number>> {
        let (d, tried, all, rows) = (self.order.len(), self.n_tried, &open.all, self.lines);
        let own = self.statistics.score(all);
        let few = self.fits_column_lanes() && lines.len() / self.lines.stride <= FEW;
        let mut best: Option<BinnedSplit<S::Number>> = None;
        let mut first = 0;
        while first < d && best.is_none() {
            let last = (first + tried).min(d);
            self.draw(first, last);
            if let Some(sparse) = &rows.sparse {
                let node = SparseNode { lines, start: open.start };
                self.search_sparse(sparse, node, first..last, all, own, &mut best);
                first = last;
                continue;
            }
            match self.lines.stride {
                _ if self.limits.random_splits && self.lines.plain => {
                    self.try_random_cuts(lines, first, last, all, own, &mut best)
                }
                64 if few => self.search_column_lanes::<64>(lines, first..last, all, own, &mut best),
                128 if few => self.search_column_lanes::<128>(lines, first..last, all, own, &mut best),
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

    /// Draws the columns at positions `first..last` of the order.
    pub fn draw(&mut self, first: usize, last: usize) {
        let d = self.order.len();
        if last - first < d {
            for i in first..last {
                let j = i + rng::below(&mut self.rng, d - i);
                self.order.swap(i, j);
            }
        }
    }

    /// The best of one random cut for each of the columns at positions `first..last` of the order, none of which is nominal or has missing values: one pass finds the
    /// range of each column, another accumulates the left side of its cut.
    fn try_random_cuts(
        &mut self,
        lines: &[u8],
        first: usize,
        last: usize,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
        let (stride, width) = (self.lines.stride, self.statistics.width());
        let ranges = line_ranges(lines, stride, &self.order[first..last]);
        let mut cuts = Vec::with_capacity(last - first);
        for (slot, (low, high)) in ranges.into_iter().enumerate().filter(|(_, (low, high))| low < high) {
            let column = self.order[first + slot];
            cuts.push((column, self.random_cut(column as usize, low, high)));
        }
        let mut left = vec![S::Number::default(); cuts.len() * width];
        self.statistics.add_left(lines, stride, &cuts, &mut left);
        for (left, &(column, bin)) in left.chunks_exact(width).zip(&cuts) {
            self.scratch[0].copy_from_slice(left);
            let place = BinSplitPosition { feature: column as usize, bin, set: None, missing_left: false };
            self.consider(place, all, own, best);
        }
    }

    /// Whether small nodes are searched in all columns at once, which pays if enough columns are considered.
    fn fits_column_lanes(&self) -> bool {
        let limits = self.limits;
        let free = limits.min_samples_leaf <= 1.0 && limits.min_weight_leaf <= 0.0 && !limits.random_splits;
        free && self.lines.plain && self.statistics.is_one_number() && self.n_tried >= 12
    }

    /// The best split of a small node over the columns at positions `drawn` of the order.
    fn search_column_lanes<const STRIDE: usize>(
        &mut self,
        lines: &[u8],
        drawn: std::ops::Range<usize>,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
        let lines = lines.as_chunks::<STRIDE>().0;
        let items: Vec<SampledRow> = lines.iter().map(|line| SampledRow::of_line(line)).collect();
        let total: f64 = items.iter().map(|item| f64::from(item.weight)).sum();
        let sum: f64 = items.iter().map(|item| f64::from(item.weight) * f64::from(item.target)).sum();
        let weight: Vec<f32> = items.iter().map(|item| item.weight as f32).collect();
        let centered = |item: &SampledRow| (f64::from(item.weight) * (f64::from(item.target) - sum / total)) as f32;
        let target: Vec<f32> = items.iter().map(centered).collect();
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
        self.consider(BinSplitPosition::between(feature, before, after), all, own, best);
    }

    /// Accumulates the bins of the columns at positions `first..last` of the order.
    fn add_up(&mut self, lines: &[u8], first: usize, last: usize) {
        let columns = &self.order[first..last];
        self.dense = lines.len() / self.lines.stride >= DENSE;
        let seen = (!self.dense).then_some(self.seen.as_mut_slice());
        self.statistics.add_up(lines, self.lines.stride, columns, &mut self.cells, seen);
    }

    /// Searches one column and clears its bins.
    pub fn search(
        &mut self,
        slot: usize,
        feature: usize,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
        let (seen, width) = (self.seen[slot], self.statistics.width());
        let base = slot * MAX_BINS * width;
        self.search_seen(slot, feature, all, own, best);
        // Clear a few bins one by one, many all at once.
        let zero = S::Number::default();
        if self.dense || seen.iter().map(|w| w.count_ones()).sum::<u32>() as usize * FEW_CELLS > MAX_BINS {
            self.cells[base..base + MAX_BINS * width].fill(zero);
        } else {
            bits(&seen).for_each(|bin| self.cells[base + bin as usize * width..][..width].fill(zero));
        }
    }

    /// Searches the bins of a column that occur.
    fn search_seen(
        &mut self,
        slot: usize,
        feature: usize,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
        let (column, width) = (&self.lines.columns[feature], self.statistics.width());
        let base = slot * MAX_BINS * width;
        let mut seen = std::mem::take(&mut self.seen[slot]);
        if self.dense {
            let zero = S::Number::default();
            for (bin, cell) in self.cells[base..base + MAX_BINS * width].chunks_exact(width).enumerate() {
                seen[bin / 64] |= u64::from(cell.iter().any(|n| *n != zero)) << (bin % 64);
            }
        }
        let has_missing = seen[column.missing as usize / 64] >> (column.missing % 64) & 1 == 1;
        if seen.iter().map(|w| w.count_ones()).sum::<u32>() <= 1 {
            return;
        }
        if column.nominal || has_missing || self.limits.random_splits {
            self.search_list(slot, feature, &seen, all, own, best);
        } else {
            self.sweep(base, feature, &seen, all, own, best);
        }
    }

    /// Sweeps the cut over the bins in ascending order.
    fn sweep(
        &mut self,
        base: usize,
        feature: usize,
        seen: &BinSet,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
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
                    self.consider(BinSplitPosition::between(feature, cut.before, cut.after), all, own, best);
                }
                return;
            }
        }
        self.scratch[0].fill(S::Number::default());
        let mut before: Option<u8> = None;
        for bin in bits(seen) {
            if let Some(before) = before {
                self.consider(BinSplitPosition::between(feature, before, bin), all, own, best);
            }
            let at = base + bin as usize * width;
            self.statistics.merge(&mut self.scratch[0], &self.cells[at..at + width]);
            before = Some(bin);
        }
    }

    /// Searches a column with missing values, or a nominal column after ordering its categories.
    fn search_list(
        &mut self,
        slot: usize,
        feature: usize,
        seen: &BinSet,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
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
        // One random position, or all of them.
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
                // After the last bin, only missing values remain on the right.
                let after = bins.get(i + 1).copied();
                if only.is_some_and(|only| only != i + 1) || (after.is_none() && (missing_left || !has_missing)) {
                    continue;
                }
                let cut = after.filter(|_| !nominal).map_or(u8::MAX, |after| bin + (after - bin - 1) / 2);
                let place = BinSplitPosition { feature, bin: cut, set: nominal.then(|| Box::new(set)), missing_left };
                self.consider(place, all, own, best);
            }
        }
    }

    /// Keeps the split with the left side `scratch[0]` if it is allowed and the best so far.
    #[inline(always)]
    pub fn consider(
        &mut self,
        place: BinSplitPosition,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
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
        *best = Some(BinnedSplit {
            feature: place.feature,
            bin: place.bin,
            set: place.set,
            missing_left: place.missing_left,
            missing,
            gain: score - own,
            left: left.clone(),
        });
    }

    /// The last left bin of a random cut, uniform between the edges of two bins.
    pub fn random_cut(&mut self, feature: usize, low: u8, high: u8) -> u8 {
        let Cuts::Numbers(cuts) = &self.lines.bins.columns[feature] else { return low };
        let (low_cut, high_cut) = (cuts[low as usize], cuts[high as usize - 1]);
        let drawn = low_cut + self.rng.random::<f64>() * (high_cut - low_cut);
        let bin = low as usize + cuts[low as usize..high as usize].partition_point(|&cut| cut < drawn);
        bin.min(high as usize - 1) as u8
    }
}

/// The position of a split.
pub(super) struct BinSplitPosition {
    pub feature: usize,
    pub bin: u8,
    pub set: Option<Box<BinSet>>,
    pub missing_left: bool,
}

impl BinSplitPosition {
    /// Halfway between two bins that occur.
    fn between(feature: usize, before: u8, after: u8) -> BinSplitPosition {
        BinSplitPosition { feature, bin: before + (after - before - 1) / 2, set: None, missing_left: false }
    }
}

//! The best cut of a column again and again, while rows are taken away: for trees that are chains.
//!
//! **Idea.** Where every split takes a few rows off the end of a node, what is left is nearly what was there before, and looking at all of it again makes growing quadratic. What a split gains is a convex
//! function of the weight n and the sum s on its left side (the cost of a side is n times a concave function of s / n), and taking rows away only moves the points (n, s) behind them. So
//! a column is kept as a tree of segments: blocks of 64 rows, pairs of blocks, pairs of pairs; each with the convex hull (`hull`) of its cuts, counted from where the segment begins. Taking a row away
//! makes the hulls on its way to the root anew; the best cut is found from the root down, leaving out segments of which no corner gains enough.
//!
//! **Several sums** (classes, numbers). Each has its own plane (n, sum). The gain of a split is at most the sum of what the planes gain: exactly that for Gini, the squared error, the deviance and the absolute error (see
//! [`ClassWeights`](super::classes::ClassWeights), [`Numbers`](super::numbers::Numbers), [`Absolute`](super::absolute::Absolute)), a bound for the entropy. Segments are left out by the sum of the planes' largest gains, each at a cut of its own,
//! and cuts are compared by what they gain.
//!
//! **Cuts** are the ends of runs of equal values, whether or not rows of a run are left: an empty run has the cut of the run before it. **Missing values**: the rows without one stand in segments of their own, without cuts. Put on the left
//! they move all points alike, so that the hulls serve for both sides. **Ties**: missing values on the left before missing values on the right, then the first cut, as in the sweeps.
//!
//! **Rounding.** Bounds and gains are worked out in different ways; [`noise`](NodeCriterion::noise) says how far they may be apart. Sums are taken from the leaves up at every change, never by subtraction:
//! a large number that was taken away leaves no trace.
//!
//! **Cost.** Building O(n p) for p planes; a row taken away O(p (64 + h log n)) and a search as much, with hulls of h corners. Some 20 bytes for each row and column, and 7 for each plane.

use super::exact::Threshold;
use super::hull::Hull;
use super::node::{Best, Limits, NodeCriterion};

/// Rows of a block: a word of bits.
const BLOCK: usize = 64;

/// Planes of a segment, at most.
pub const PLANES: usize = 64;

/// The share of the costs around another point that a cost is at least, where it is taken from them: then no more than two or three digits are lost.
pub const NEAR: f64 = 1e-2;

/// What the rows of a chain add to their sides.
#[derive(Debug, Clone)]
pub struct RowSums {
    heads: Vec<Head>,
    /// `width` for each row.
    parts: Vec<f64>,
    width: usize,
    n_sums: usize,
    /// A row adds the same to all sums from its first on.
    cumulative: bool,
    /// The numbers around which the criterion adds up, where it does.
    pub reference: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    weight: f64,
    target: f64,
    first: u32,
}

impl RowSums {
    /// No rows yet, of those that add to `width` sums side by side, of `n_sums` in all.
    pub fn new(n_sums: usize, width: usize, reference: Vec<f64>) -> RowSums {
        RowSums { heads: Vec::new(), parts: Vec::new(), width, n_sums, cumulative: false, reference }
    }

    /// No rows yet, of those that add one number to all sums from some one on.
    pub fn cumulative(n_sums: usize) -> RowSums {
        RowSums { cumulative: true, ..RowSums::new(n_sums, 1, Vec::new()) }
    }

    /// One more row: its weight, a number that is the same for rows with the same answer, and what it adds to the sums from `first` on.
    pub fn push(&mut self, weight: f64, target: f64, first: usize, parts: impl IntoIterator<Item = f64>) {
        self.heads.push(Head { weight, target, first: first as u32 });
        self.parts.extend(parts);
    }

    #[inline]
    fn add(&self, row: u32, tally: &mut Tally, sums: &mut [f64]) {
        let (row, head) = (row as usize, &self.heads[row as usize]);
        tally.count += 1;
        tally.weight += head.weight;
        tally.low = tally.low.min(head.target);
        tally.high = tally.high.max(head.target);
        let sums = &mut sums[head.first as usize..];
        if self.cumulative {
            let part = self.parts[row];
            return sums.iter_mut().for_each(|sum| *sum += part);
        }
        let parts = &self.parts[row * self.width..(row + 1) * self.width];
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
}

/// What is counted of some rows, beside the sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tally {
    /// How many they are.
    pub count: usize,
    /// Their weight.
    pub weight: f64,
    /// The least number that stands for an answer.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Tally {
    /// That of no rows.
    pub const NONE: Tally = Tally { count: 0, weight: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };

    fn and(&self, other: &Tally) -> Tally {
        Tally {
            count: self.count + other.count,
            weight: self.weight + other.weight,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// A column of rows that are taken away.
#[derive(Debug, Clone)]
pub struct ChainColumn {
    /// The rows in ascending order of their values, those without one in blocks of their own behind them, and the place of each.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Bit i of word b: the row in place 64 b + i is still there.
    here: Vec<u64>,
    /// Bit i of word b: the value after place 64 b + i is another one.
    ends: Vec<u64>,
    /// The first block of rows without a value.
    missing: usize,
    /// The children of segment i are 2 i and 2 i + 1; blocks are the last half.
    tallies: Vec<Tally>,
    /// `n_sums` for each segment.
    sums: Vec<f64>,
    n_sums: usize,
    /// `n_planes` for each segment.
    hulls: Vec<Hull>,
    n_planes: usize,
}

/// Adds the rows of a block to what lies before it, and calls `cut` at the end of each value.
#[inline]
fn walk(
    (order, here, ends): (&[u32], u64, u64),
    rows: &RowSums,
    (tally, sums): (&mut Tally, &mut [f64]),
    mut cut: impl FnMut(&Tally, &[f64]),
) {
    let (mut left, mut is_new) = (here | ends, true);
    while left != 0 {
        let i = left.trailing_zeros();
        left &= left - 1;
        if here >> i & 1 == 1 {
            rows.add(order[i as usize], tally, sums);
            is_new = true;
        }
        if ends >> i & 1 == 1 && is_new {
            cut(tally, sums);
            is_new = false;
        }
    }
}

impl ChainColumn {
    /// A column of rows, numbered from 0: those that have a value in ascending order of it, and the others; `is_end(i)` says whether the value after place i is another one.
    pub fn new<C: NodeCriterion>(
        criterion: &C,
        rows: &RowSums,
        (present, missing): (Vec<u32>, &[u32]),
        is_end: impl Fn(usize) -> bool,
    ) -> ChainColumn {
        let n_present = present.len();
        let first_missing = n_present.div_ceil(BLOCK);
        let mut place = vec![0; n_present + missing.len()];
        let mut order = present;
        order.resize(first_missing * BLOCK, 0);
        order.extend_from_slice(missing);
        let is_here = |at: usize| at < n_present || at >= first_missing * BLOCK && at < order.len();
        (0..order.len()).filter(|&at| is_here(at)).for_each(|at| place[order[at] as usize] = at as u32);
        let n_blocks = order.len().div_ceil(BLOCK).next_power_of_two();
        let word = |holds: &dyn Fn(usize) -> bool, block: usize| {
            (0..BLOCK).fold(0, |word, i| word | u64::from(holds(block * BLOCK + i)) << i)
        };
        let here = (0..n_blocks).map(|block| word(&is_here, block)).collect();
        let ends = (0..n_blocks).map(|block| word(&|at| at < n_present && is_end(at), block)).collect();
        order.resize(n_blocks * BLOCK, 0);
        let (n_sums, n_planes) = (rows.n_sums, criterion.n_planes());
        let mut column = ChainColumn {
            order,
            place,
            here,
            ends,
            missing: first_missing,
            tallies: vec![Tally::NONE; 2 * n_blocks],
            sums: vec![0.0; 2 * n_blocks * n_sums],
            n_sums,
            hulls: vec![Hull::default(); 2 * n_blocks * n_planes],
            n_planes,
        };
        (0..n_blocks).for_each(|block| column.fill(block, criterion, rows));
        for segment in (1..n_blocks).rev() {
            column.join(segment, criterion);
        }
        column
    }

    fn n_blocks(&self) -> usize {
        self.here.len()
    }

    /// What is counted of all rows that are left.
    pub fn total(&self) -> &Tally {
        &self.tallies[1]
    }

    /// What all rows that are left add up to.
    pub fn total_sums(&self) -> &[f64] {
        self.sums_of(1)
    }

    fn sums_of(&self, segment: usize) -> &[f64] {
        &self.sums[segment * self.n_sums..(segment + 1) * self.n_sums]
    }

    fn block(&self, block: usize) -> (&[u32], u64, u64) {
        (&self.order[block * BLOCK..(block + 1) * BLOCK], self.here[block], self.ends[block])
    }

    /// Adds up a block and finds its hulls.
    fn fill<C: NodeCriterion>(&mut self, block: usize, criterion: &C, rows: &RowSums) {
        let segment = self.n_blocks() + block;
        let hulls = &mut self.hulls[segment * self.n_planes..(segment + 1) * self.n_planes];
        hulls.iter_mut().for_each(Hull::clear);
        let sums = &mut self.sums[segment * self.n_sums..(segment + 1) * self.n_sums];
        sums.fill(0.0);
        let mut tally = Tally::NONE;
        let entries = (&self.order[block * BLOCK..(block + 1) * BLOCK], self.here[block], self.ends[block]);
        walk(entries, rows, (&mut tally, sums), |tally, sums| {
            let point = |plane: usize| (tally.weight, criterion.plane(plane, sums));
            hulls.iter_mut().enumerate().for_each(|(plane, hull)| hull.push(point(plane)));
        });
        self.tallies[segment] = tally;
    }

    /// Puts a segment together from its two parts. How many corners they have.
    fn join<C: NodeCriterion>(&mut self, segment: usize, criterion: &C) -> usize {
        let weight = self.tallies[2 * segment].weight;
        self.tallies[segment] = self.tallies[2 * segment].and(&self.tallies[2 * segment + 1]);
        let (above, below) = self.sums.split_at_mut(2 * segment * self.n_sums);
        let (left, right) = below.split_at(self.n_sums);
        let sums = &mut above[segment * self.n_sums..];
        sums.iter_mut().zip(left).zip(right).for_each(|((sum, a), b)| *sum = a + b);
        let (above, below) = self.hulls.split_at_mut(2 * segment * self.n_planes);
        let mut n_corners = 0;
        for k in 0..self.n_planes {
            let (a, b) = (&below[k], &below[self.n_planes + k]);
            above[segment * self.n_planes + k].join(a, b, (weight, criterion.plane(k, left)));
            n_corners += a.len() + b.len();
        }
        n_corners
    }

    /// Takes rows away. How many corners were looked at.
    pub fn remove<C: NodeCriterion>(&mut self, gone: &[u32], criterion: &C, rows: &RowSums) -> usize {
        let mut segments: Vec<usize> = Vec::with_capacity(gone.len());
        for &row in gone {
            let place = self.place[row as usize] as usize;
            self.here[place / BLOCK] &= !(1 << (place % BLOCK));
            segments.push(place / BLOCK);
        }
        segments.sort_unstable();
        segments.dedup();
        for block in &mut segments {
            self.fill(*block, criterion, rows);
            *block += self.here.len();
        }
        let mut n_corners = 0;
        while segments[0] > 1 {
            segments.iter_mut().for_each(|segment| *segment /= 2);
            segments.dedup();
            n_corners += segments.iter().map(|&segment| self.join(segment, criterion)).sum::<usize>();
        }
        n_corners
    }

    /// The place of a row among all that there were.
    pub fn place(&self, row: u32) -> u32 {
        self.place[row as usize]
    }

    /// Whether a row has no value.
    pub fn is_missing(&self, row: u32) -> bool {
        self.place[row as usize] as usize >= self.missing * BLOCK
    }

    /// What the rows without a value add up to.
    fn missing(&self) -> (Tally, Vec<f64>) {
        let mut sums = vec![0.0; self.n_sums];
        let mut tally = Tally::NONE;
        if self.missing == self.n_blocks() {
            return (tally, sums);
        }
        let mut add = |segment: usize| {
            tally = tally.and(&self.tallies[segment]);
            sums.iter_mut().zip(self.sums_of(segment)).for_each(|(sum, more)| *sum += more);
        };
        // All blocks from the first one on: it, and what is right of the way from it to the root.
        let mut segment = self.n_blocks() + self.missing;
        add(segment);
        while segment > 1 {
            if segment.is_multiple_of(2) {
                add(segment + 1);
            }
            segment /= 2;
        }
        (tally, sums)
    }

    /// How many rows have no value.
    pub fn n_missing(&self) -> usize {
        self.missing().0.count
    }

    /// Calls `each(row, is_new)` for rows that are left, from the `from`-th up to the `to`-th in ascending order, those without a value last; `is_new` if the value is not that of the one before.
    pub fn each(&self, from: usize, to: usize, mut each: impl FnMut(u32, bool)) {
        let (mut rank, mut is_new) = (0, true);
        let mut stack = vec![1];
        while let Some(segment) = stack.pop() {
            let count = self.tallies[segment].count;
            if count == 0 || rank + count <= from {
                // What is left out may end a run of equal values.
                is_new |= self.has_end(segment);
                rank += count;
                continue;
            }
            if rank >= to {
                return;
            }
            if segment < self.n_blocks() {
                stack.extend([2 * segment + 1, 2 * segment]);
                continue;
            }
            let (order, here, ends) = self.block(segment - self.n_blocks());
            for (i, &row) in order.iter().enumerate() {
                if here >> i & 1 == 1 {
                    if rank >= from && rank < to {
                        each(row, is_new || rank == from);
                        is_new = false;
                    }
                    rank += 1;
                }
                is_new |= ends >> i & 1 == 1;
            }
        }
    }

    /// Whether a value ends in a segment: every end is a point.
    fn has_end(&self, segment: usize) -> bool {
        self.hulls[segment * self.n_planes].len() > 0
    }

    /// The best cut within the limits on rows and weight that gains more than `floor`, and how many corners and cuts were looked at. Rows without a value are tried on the left, then on the right.
    pub fn best_cut<C: NodeCriterion>(
        &self,
        criterion: &C,
        node: &C::Node,
        rows: &RowSums,
        limits: &Limits,
        floor: f64,
    ) -> (Option<Best>, usize) {
        let (missing, missing_sums) = self.missing();
        let place = Threshold { n_left: 0, missing_left: false };
        let n_slots = self.n_blocks().ilog2() as usize + 2;
        let mut search = Search {
            column: self,
            criterion,
            node,
            rows,
            range: (0, self.total().count.saturating_sub(limits.min_samples.max(1))),
            min_weight: limits.min_weight,
            noise: criterion.noise(node),
            slots: vec![0.0; n_slots * self.n_sums],
            scratch: vec![0.0; self.n_sums],
            best: Best { gain: floor, place },
            n_looked: 0,
        };
        let mut found = None;
        if missing.count > 0 {
            search.slots[..self.n_sums].copy_from_slice(&missing_sums);
            found = search.run(missing, limits.min_samples);
            search.slots[..self.n_sums].fill(0.0);
        }
        search.best.gain = found.map_or(floor, |best| best.gain);
        let later = search.run(Tally::NONE, limits.min_samples);
        (later.or(found), search.n_looked)
    }
}

/// A search for the best cut.
struct Search<'a, C: NodeCriterion> {
    column: &'a ChainColumn,
    criterion: &'a C,
    node: &'a C::Node,
    rows: &'a RowSums,
    /// The fewest and the most rows on the left.
    range: (usize, usize),
    min_weight: f64,
    noise: f64,
    /// The sums left of a segment, for each step down from the root to the right.
    slots: Vec<f64>,
    scratch: Vec<f64>,
    best: Best,
    n_looked: usize,
}

impl<C: NodeCriterion> Search<'_, C> {
    /// The first of the best cuts that gain more than the best so far, with these rows, whose sums are in the first slot, on the left of all.
    fn run(&mut self, before: Tally, min_samples: usize) -> Option<Best> {
        let floor = self.best.gain;
        self.range.0 = min_samples.max(before.count + 1);
        self.best.place = Threshold { n_left: 0, missing_left: before.count > 0 };
        if self.bound(1, &before, 0) > floor {
            // What is most promising comes first; then the first cut that is as good.
            self.dive(before);
            self.best.gain = self.best.gain.next_down().max(floor);
            self.best.place.n_left = 0;
            self.visit(1, before, 0);
        }
        let mut best = self.best;
        best.place.n_left = best.place.n_left.saturating_sub(before.count);
        (best.place.n_left > 0).then_some(best)
    }

    /// No cut of a segment gains more. `before` is what lies left of it.
    fn bound(&mut self, segment: usize, before: &Tally, slot: usize) -> f64 {
        let column = self.column;
        let tally = &column.tallies[segment];
        // A segment without rows may hold the end of a value whose rows are before it.
        let few = before.count + tally.count < self.range.0 || before.count > self.range.1;
        let least = (1.0 - 1e-9) * self.min_weight;
        let light = before.weight + tally.weight < least || column.total().weight - before.weight < least;
        let sums = &self.slots[slot * column.n_sums..(slot + 1) * column.n_sums];
        if few
            || light
            || !column.has_end(segment)
            || !self.criterion.may_gain(self.node, sums, column.sums_of(segment))
        {
            return f64::NEG_INFINITY;
        }
        let hulls = &column.hulls[segment * column.n_planes..(segment + 1) * column.n_planes];
        self.n_looked += hulls.iter().map(Hull::len).sum::<usize>();
        let largest = |(k, hull): (usize, &Hull)| {
            let start = self.criterion.plane(k, sums);
            hull.largest(|(x, y)| self.criterion.plane_gain(self.node, k, before.weight + x, start + y))
        };
        let gain = self.criterion.gain_of_planes(hulls.iter().enumerate().map(largest));
        self.criterion.grid(self.node).round(gain + self.noise)
    }

    /// Writes what lies left of the right half of a segment into the next slot.
    fn step(&mut self, segment: usize, before: &Tally, slot: usize) -> Tally {
        let column = self.column;
        let (here, next) = self.slots[slot * column.n_sums..(slot + 2) * column.n_sums].split_at_mut(column.n_sums);
        let half = column.sums_of(2 * segment);
        next.iter_mut().zip(here).zip(half).for_each(|((next, here), half)| *next = *here + half);
        before.and(&column.tallies[2 * segment])
    }

    /// Goes down to the block with the largest bound and looks at its cuts.
    fn dive(&mut self, mut before: Tally) {
        let (mut segment, mut slot) = (1, 0);
        while segment < self.column.n_blocks() {
            let middle = self.step(segment, &before, slot);
            let left = 2 * segment;
            if self.bound(left + 1, &middle, slot + 1) > self.bound(left, &before, slot) {
                (segment, before, slot) = (left + 1, middle, slot + 1);
            } else {
                segment = left;
            }
        }
        self.scan(segment - self.column.n_blocks(), before, slot);
    }

    /// Looks for better cuts in a segment, from left to right.
    fn visit(&mut self, segment: usize, before: Tally, slot: usize) {
        if self.bound(segment, &before, slot) <= self.best.gain {
            return;
        }
        if segment >= self.column.n_blocks() {
            return self.scan(segment - self.column.n_blocks(), before, slot);
        }
        self.visit(2 * segment, before, slot);
        let middle = self.step(segment, &before, slot);
        self.visit(2 * segment + 1, middle, slot + 1);
    }

    /// Looks at all cuts of a block.
    fn scan(&mut self, block: usize, mut before: Tally, slot: usize) {
        let (column, criterion, node) = (self.column, self.criterion, self.node);
        let (grid, total, range) = (criterion.grid(node), column.total().weight, self.range);
        let (best, n_looked, least) = (&mut self.best, &mut self.n_looked, self.min_weight);
        let sums = &mut self.scratch;
        sums.copy_from_slice(&self.slots[slot * column.n_sums..(slot + 1) * column.n_sums]);
        walk(column.block(block), self.rows, (&mut before, sums), |tally, sums| {
            let allowed = tally.weight >= least && total - tally.weight >= least;
            if tally.count >= range.0 && tally.count <= range.1 && allowed {
                *n_looked += 1;
                let gain = grid.round(criterion.gain_of_sums(node, tally.weight, sums));
                if gain > best.gain {
                    (best.gain, best.place.n_left) = (gain, tally.count);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Impurity;
    use crate::split::absolute::Absolute;
    use crate::split::classes::ClassWeights;
    use crate::split::numbers::{Loss, Numbers};
    use crate::split::two_classes::TwoClassCounts;
    use crate::split::variance::Variance;

    /// Takes what is on the smaller side of the best cut away, again and again; how many corners and cuts were looked at. One row in `lacking` has no value.
    fn work<C: NodeCriterion>(mut criterion: C, n: usize, lacking: usize) -> usize {
        let entries: Vec<u32> = (0..n as u32).map(|row| row | criterion.mark(row as usize)).collect();
        let (_, mut node) = criterion.prepare(&entries, &mut Vec::new());
        let numbers: Vec<u32> = (0..n as u32).collect();
        let rows = criterion.row_sums(&node, &numbers);
        let (missing, present): (Vec<u32>, Vec<u32>) =
            numbers.iter().partition(|&&row| row as usize % lacking == lacking - 1);
        let mut column = ChainColumn::new(&criterion, &rows, (present, &missing), |_| true);
        node = criterion.prepare_sums(&rows, column.total(), column.total_sums(), &mut Vec::new()).unwrap().1;
        let mut work = 0;
        loop {
            let left = column.total().count;
            let (cut, n_looked) = column.best_cut(&criterion, &node, &rows, &Limits::NONE, f64::NEG_INFINITY);
            work += n_looked;
            let Some(cut) = cut else { return work };
            let n_present = left - column.n_missing();
            let n_left = cut.place.n_left + if cut.place.missing_left { left - n_present } else { 0 };
            let few_left = 2 * n_left <= left;
            let few = if few_left { 0..cut.place.n_left } else { cut.place.n_left..n_present };
            let mut gone = Vec::new();
            column.each(few.start, few.end, |row, _| gone.push(row));
            if few_left == cut.place.missing_left {
                column.each(n_present, left, |row, _| gone.push(row));
            }
            work += column.remove(&gone, &criterion, &rows) + BLOCK * gone.len();
            match criterion.prepare_sums(&rows, column.total(), column.total_sums(), &mut Vec::new()) {
                Some((summary, next)) if !summary.pure => node = next,
                _ => return work,
            }
        }
    }

    /// Four times the rows are not much more than four times the work.
    fn check<C: NodeCriterion>(what: &str, lacking: &[usize], criterion: impl Fn(usize) -> C) {
        let n = 1 << 11;
        for &lacking in lacking {
            let (once, four) = (work(criterion(n), n, lacking), work(criterion(4 * n), 4 * n, lacking));
            assert!(once > n && four < 6 * once, "{what}, {lacking}: {once} {four}");
        }
    }

    #[test]
    fn chains_are_not_quadratic() {
        let codes = |n: usize, k: u32| (0..n as u32).map(|i| i % k).collect::<Vec<u32>>();
        let numbers = |n: usize, k: usize| (0..n).map(|i| (i % k) as f64 + 0.25).collect::<Vec<f64>>();
        // Costs with kinks (training and absolute errors) are looked at without missing values only: with them the work of different sizes is not comparable.
        let (none, some) = (&[usize::MAX][..], &[usize::MAX, 10][..]);
        for impurity in [Impurity::Gini, Impurity::Entropy, Impurity::Error] {
            let lacking = if impurity == Impurity::Error { none } else { some };
            check(&format!("two, {impurity:?}"), lacking, |n| TwoClassCounts::new(&codes(n, 2), impurity));
            let classes = |k: usize| move |n: usize| ClassWeights::new(&codes(n, k as u32), None, k, impurity);
            check(&format!("three, {impurity:?}"), lacking, classes(3));
            if impurity != Impurity::Error {
                check(&format!("twelve, {impurity:?}"), lacking, classes(12));
            }
        }
        check("numbers", some, |n| Variance::new(&numbers(n, 2), None));
        check("medians", none, |n| Absolute::new(&numbers(n, 2), 1, None));
        check("medians of five", none, |n| Absolute::new(&numbers(n, 5), 1, None));
        check("counts", some, |n| Numbers::new(&numbers(n, 2), 1, None, Loss::Poisson));
        let two =
            |n: usize| numbers(n, 2).into_iter().zip(numbers(n, 3)).flat_map(|(a, b)| [a, b]).collect::<Vec<f64>>();
        check("two numbers", some, |n| Numbers::new(&two(n), 2, None, Loss::Squared));
        check("two counts", some, |n| Numbers::new(&two(n), 2, None, Loss::Poisson));
    }
}

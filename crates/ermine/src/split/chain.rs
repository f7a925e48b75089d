//! The best cut of a column again and again, while rows are taken away: for trees that are chains.
//!
//! **Idea.** Where every split takes a few rows off the end of a node, what is left is nearly what was there before, and looking at all of it again makes growing quadratic. What a split gains is a convex
//! function of the weight n and the sum s on its left side (the cost of a side is n times a concave function of s / n), and taking rows away only moves the points (n, s) behind them. So
//! a column is kept as a tree of segments: blocks of 64 rows, pairs of blocks, pairs of pairs; each with the convex hull (`hull`) of its cuts, counted from where the segment begins. Taking a row away
//! makes the hulls on its way to the root anew; the best cut is found from the root down, leaving out segments of which no corner gains enough.
//!
//! **Several classes.** Each class has its own plane (n, weight of the class). The gain of a split is at most the sum of what the planes gain (see [`ClassWeights`](super::classes::ClassWeights)): segments
//! are left out by that sum, and cuts are compared by what they gain.
//!
//! **Cuts** are the ends of runs of equal values, whether or not rows of a run are left: an empty run has the cut of the run before it. **Ties**: the first cut, as in the sweeps.
//!
//! **Rounding.** Bounds and gains are worked out in different ways; [`noise`](NodeCriterion::noise) says how far they may be apart. Sums are taken from the leaves up at every change, never by subtraction:
//! a large number that was taken away leaves no trace.
//!
//! **Cost.** Building O(n); a row taken away O(64 + h log n) and a search O(64 + h log n) with hulls of h corners. About 20 bytes for each row and column.

use super::hull::Hull;
use super::node::NodeCriterion;

/// Rows of a block: a word of bits.
const BLOCK: usize = 64;

/// Sums that a split may depend on, at most.
pub const PLANES: usize = 8;

/// What a row adds to its side.
#[derive(Debug, Clone, Copy)]
pub struct RowSums {
    /// Its weight.
    pub weight: f64,
    /// Which sum it adds to.
    pub plane: usize,
    /// How much it adds to that.
    pub sum: f64,
    /// The square of that, divided by the weight.
    pub square: f64,
    /// What is to be predicted, where that is a number.
    pub number: f64,
}

impl RowSums {
    /// Nothing.
    pub const NONE: RowSums = RowSums { weight: 0.0, plane: 0, sum: 0.0, square: 0.0, number: 0.0 };
}

/// What some rows add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// How many they are.
    pub count: usize,
    /// Their weight.
    pub weight: f64,
    /// The sum of each plane.
    pub planes: [f64; PLANES],
    /// The squares of what rows add, divided by their weights.
    pub square: f64,
    /// The numbers times their weights.
    pub number: f64,
    /// The least number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
}

impl Sums {
    /// Those of no rows.
    pub const NONE: Sums = Sums {
        count: 0,
        weight: 0.0,
        planes: [0.0; PLANES],
        square: 0.0,
        number: 0.0,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn add(&mut self, row: &RowSums) {
        self.count += 1;
        self.weight += row.weight;
        self.planes[row.plane % PLANES] += row.sum;
        self.square += row.square;
        self.number += row.weight * row.number;
        self.low = self.low.min(row.number);
        self.high = self.high.max(row.number);
    }

    fn and(&self, other: &Sums) -> Sums {
        Sums {
            count: self.count + other.count,
            weight: self.weight + other.weight,
            planes: std::array::from_fn(|k| self.planes[k] + other.planes[k]),
            square: self.square + other.square,
            number: self.number + other.number,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// A column of rows that are taken away.
#[derive(Debug, Clone)]
pub struct ChainColumn {
    /// The rows in ascending order of their values, and the place of each.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Bit i of word b: the row in place 64 b + i is still there.
    here: Vec<u64>,
    /// Bit i of word b: the value after place 64 b + i is another one.
    ends: Vec<u64>,
    /// The children of segment i are 2 i and 2 i + 1; blocks are the last half.
    sums: Vec<Sums>,
    /// `n_planes` for each segment.
    hulls: Vec<Hull>,
    n_planes: usize,
}

/// The best cut of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// What it gains.
    pub gain: f64,
    /// How many rows are on its left.
    pub n_left: usize,
}

impl ChainColumn {
    /// A column of these rows, numbers from 0 in ascending order of their values; `is_end(i)` says whether the value after place i is another one.
    pub fn new(order: Vec<u32>, is_end: impl Fn(usize) -> bool, rows: &[RowSums], n_planes: usize) -> ChainColumn {
        let n = order.len();
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(i, &row)| place[row as usize] = i as u32);
        let n_blocks = n.div_ceil(BLOCK).next_power_of_two();
        let word = |holds: &dyn Fn(usize) -> bool, block: usize| {
            (0..BLOCK).fold(0, |word, i| {
                let at = block * BLOCK + i;
                word | u64::from(at < n && holds(at)) << i
            })
        };
        let mut column = ChainColumn {
            order,
            place,
            here: (0..n_blocks).map(|block| word(&|_| true, block)).collect(),
            ends: (0..n_blocks).map(|block| word(&is_end, block)).collect(),
            sums: vec![Sums::NONE; 2 * n_blocks],
            hulls: vec![Hull::default(); 2 * n_blocks * n_planes],
            n_planes,
        };
        (0..n_blocks).for_each(|block| column.fill(block, rows));
        for segment in (1..n_blocks).rev() {
            column.join(segment);
        }
        column
    }

    fn n_blocks(&self) -> usize {
        self.here.len()
    }

    /// What all rows that are left add up to.
    pub fn total(&self) -> &Sums {
        &self.sums[1]
    }

    /// Adds up a block and finds its hulls.
    fn fill(&mut self, block: usize, rows: &[RowSums]) {
        let segment = self.n_blocks() + block;
        let hulls = &mut self.hulls[segment * self.n_planes..(segment + 1) * self.n_planes];
        hulls.iter_mut().for_each(Hull::clear);
        let mut sums = Sums::NONE;
        let (mut left, mut is_new) = (self.here[block] | self.ends[block], true);
        while left != 0 {
            let i = left.trailing_zeros();
            left &= left - 1;
            if self.here[block] >> i & 1 == 1 {
                sums.add(&rows[self.order[block * BLOCK + i as usize] as usize]);
                is_new = true;
            }
            if self.ends[block] >> i & 1 == 1 && is_new {
                hulls.iter_mut().zip(sums.planes).for_each(|(hull, sum)| hull.push((sums.weight, sum)));
                is_new = false;
            }
        }
        self.sums[segment] = sums;
    }

    /// Puts a segment together from its two parts. How many corners they have.
    fn join(&mut self, segment: usize) -> usize {
        let (left, right) = (self.sums[2 * segment], self.sums[2 * segment + 1]);
        self.sums[segment] = left.and(&right);
        let (above, below) = self.hulls.split_at_mut(2 * segment * self.n_planes);
        let mut n_corners = 0;
        for k in 0..self.n_planes {
            let (a, b) = (&below[k], &below[self.n_planes + k]);
            above[segment * self.n_planes + k].join(a, b, (left.weight, left.planes[k]));
            n_corners += a.len() + b.len();
        }
        n_corners
    }

    /// Takes rows away. How many corners were looked at.
    pub fn remove(&mut self, gone: &[u32], rows: &[RowSums]) -> usize {
        let mut segments: Vec<usize> = Vec::with_capacity(gone.len());
        for &row in gone {
            let place = self.place[row as usize] as usize;
            self.here[place / BLOCK] &= !(1 << (place % BLOCK));
            segments.push(place / BLOCK);
        }
        segments.sort_unstable();
        segments.dedup();
        for block in &mut segments {
            self.fill(*block, rows);
            *block += self.here.len();
        }
        let mut n_corners = 0;
        while segments[0] > 1 {
            segments.iter_mut().for_each(|segment| *segment /= 2);
            segments.dedup();
            n_corners += segments.iter().map(|&segment| self.join(segment)).sum::<usize>();
        }
        n_corners
    }

    /// The place of a row among all that there were.
    pub fn place(&self, row: u32) -> u32 {
        self.place[row as usize]
    }

    /// Calls `each(row, is_new)` for rows that are left, from the `from`-th up to the `to`-th in ascending order; `is_new` if the value is not that of the one before.
    pub fn each(&self, from: usize, to: usize, mut each: impl FnMut(u32, bool)) {
        let (mut rank, mut is_new) = (0, true);
        let mut stack = vec![1];
        while let Some(segment) = stack.pop() {
            let count = self.sums[segment].count;
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
            let block = segment - self.n_blocks();
            for i in 0..BLOCK {
                if self.here[block] >> i & 1 == 1 {
                    if rank >= from && rank < to {
                        each(self.order[block * BLOCK + i], is_new || rank == from);
                        is_new = false;
                    }
                    rank += 1;
                }
                is_new |= self.ends[block] >> i & 1 == 1;
            }
        }
    }

    /// Whether a value ends in a segment: every end is a point.
    fn has_end(&self, segment: usize) -> bool {
        self.hulls[segment * self.n_planes].len() > 0
    }

    /// The best cut with at least `range.0` and at most `range.1` rows on the left that gains more than `floor`, and how many corners and cuts were looked at.
    pub fn best_cut<C: NodeCriterion>(
        &self,
        criterion: &C,
        node: &C::Node,
        rows: &[RowSums],
        range: (usize, usize),
        floor: f64,
    ) -> (Option<Cut>, usize) {
        let noise = criterion.noise(node);
        let best = Cut { gain: floor, n_left: 0 };
        let mut search = Search { column: self, criterion, node, rows, range, noise, best, n_looked: 0 };
        if search.bound(1, &Sums::NONE) > floor {
            // What is most promising comes first; then the first cut that is as good.
            search.dive();
            search.best = Cut { gain: search.best.gain.next_down().max(floor), n_left: 0 };
            search.visit(1, Sums::NONE);
        }
        ((search.best.n_left > 0).then_some(search.best), search.n_looked)
    }
}

/// A search for the best cut.
struct Search<'a, C: NodeCriterion> {
    column: &'a ChainColumn,
    criterion: &'a C,
    node: &'a C::Node,
    rows: &'a [RowSums],
    range: (usize, usize),
    noise: f64,
    best: Cut,
    n_looked: usize,
}

impl<C: NodeCriterion> Search<'_, C> {
    /// No cut of a segment gains more. `before` is what lies left of it.
    fn bound(&mut self, segment: usize, before: &Sums) -> f64 {
        let column = self.column;
        // A segment without rows may hold the end of a value whose rows are before it.
        if before.count + column.sums[segment].count < self.range.0 || before.count > self.range.1 {
            return f64::NEG_INFINITY;
        }
        let hulls = &column.hulls[segment * column.n_planes..(segment + 1) * column.n_planes];
        self.n_looked += hulls.iter().map(Hull::len).sum::<usize>();
        let largest = |(k, hull): (usize, &Hull)| {
            hull.largest(|(x, y)| self.criterion.plane_gain(self.node, k, before.weight + x, before.planes[k] + y))
        };
        let gain: f64 = hulls.iter().enumerate().map(largest).sum();
        self.criterion.grid(self.node).round(gain + self.noise)
    }

    /// Goes down to the block with the largest bound and looks at its cuts.
    fn dive(&mut self) {
        let (mut segment, mut before) = (1, Sums::NONE);
        while segment < self.column.n_blocks() {
            let (left, middle) = (2 * segment, before.and(&self.column.sums[2 * segment]));
            if self.bound(left + 1, &middle) > self.bound(left, &before) {
                (segment, before) = (left + 1, middle);
            } else {
                segment = left;
            }
        }
        self.scan(segment - self.column.n_blocks(), before);
    }

    /// Looks for better cuts in a segment, from left to right.
    fn visit(&mut self, segment: usize, before: Sums) {
        if self.bound(segment, &before) <= self.best.gain {
            return;
        }
        if segment >= self.column.n_blocks() {
            return self.scan(segment - self.column.n_blocks(), before);
        }
        self.visit(2 * segment, before);
        self.visit(2 * segment + 1, before.and(&self.column.sums[2 * segment]));
    }

    /// Looks at all cuts of a block.
    fn scan(&mut self, block: usize, before: Sums) {
        let column = self.column;
        let grid = self.criterion.grid(self.node);
        let mut sums = before;
        let (mut left, mut is_new) = (column.here[block] | column.ends[block], true);
        while left != 0 {
            let i = left.trailing_zeros();
            left &= left - 1;
            if column.here[block] >> i & 1 == 1 {
                sums.add(&self.rows[column.order[block * BLOCK + i as usize] as usize]);
                is_new = true;
            }
            let is_cut = column.ends[block] >> i & 1 == 1 && is_new;
            if is_cut && sums.count >= self.range.0 && sums.count <= self.range.1 {
                is_new = false;
                self.n_looked += 1;
                let gain = grid.round(self.criterion.gain_of_sums(self.node, &sums));
                if gain > self.best.gain {
                    self.best = Cut { gain, n_left: sums.count };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Impurity;
    use crate::split::two_classes::TwoClassCounts;
    use crate::split::variance::Variance;

    /// Takes what is on the smaller side of the best cut away, again and again; how many corners and cuts were looked at.
    fn work<C: NodeCriterion>(mut criterion: C, n: usize) -> usize {
        let entries: Vec<u32> = (0..n as u32).map(|row| row | criterion.mark(row as usize)).collect();
        let (_, mut node) = criterion.prepare(&entries, &mut Vec::new());
        let reference = criterion.reference(&node);
        let rows: Vec<RowSums> = (0..n).map(|row| criterion.row_sums(reference, row)).collect();
        let mut column = ChainColumn::new((0..n as u32).collect(), |_| true, &rows, criterion.n_planes());
        let mut work = 0;
        loop {
            let left = column.total().count;
            let (cut, n_looked) = column.best_cut(&criterion, &node, &rows, (1, left - 1), f64::NEG_INFINITY);
            work += n_looked;
            let Some(cut) = cut else { return work };
            let few = if 2 * cut.n_left <= left { 0..cut.n_left } else { cut.n_left..left };
            let mut gone = Vec::new();
            column.each(few.start, few.end, |row, _| gone.push(row));
            work += column.remove(&gone, &rows) + BLOCK * gone.len();
            match criterion.prepare_sums(column.total(), &mut Vec::new()) {
                Some((summary, next)) if !summary.pure => node = next,
                _ => return work,
            }
        }
    }

    #[test]
    fn chains_are_not_quadratic() {
        let codes = |n: usize| (0..n as u32).map(|i| i % 2).collect::<Vec<u32>>();
        let numbers = |n: usize| (0..n).map(|i| (i % 2) as f64 + 0.25).collect::<Vec<f64>>();
        for n in [1 << 10, 1 << 12] {
            for impurity in [Impurity::Gini, Impurity::Entropy, Impurity::Error] {
                let by_codes = |n: usize| work(TwoClassCounts::new(&codes(n), impurity), n);
                let (once, four) = (by_codes(n), by_codes(4 * n));
                assert!(four < 6 * once, "{impurity:?}, {n}: {once} {four}");
            }
            let by_numbers = |n: usize| work(Variance::new(&numbers(n), None), n);
            let (once, four) = (by_numbers(n), by_numbers(4 * n));
            assert!(four < 6 * once, "numbers, {n}: {once} {four}");
        }
    }
}

//! Twigs: the last branches of a tree, from a node of at most 64 rows down.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the orders of all columns of 64 rows, as bytes; parting them |
//! | [`counts`] | the best split by Gini impurity of two classes |
//! | [`classes`] | the same for up to eight classes |
//! | [`variance`] | the best split by squared error |
//!
//! **Idea.** Most nodes of a tree that is grown to the end are small, and going through them column by column costs more in housekeeping than in work. 64 rows fit into a byte each and the order of a
//! column into one register: looking up the label of every row, in order, is one permutation; parting the rows of a node is two compressions. A whole subtree is grown in a few kilobytes.
//!
//! **Same bits.** A split is chosen by the same formulas, sums in the same order and ties decided in the same way as in the sweeps for nodes of any size, which machines without AVX-512 use for
//! small nodes too.

pub mod classes;
pub mod counts;
pub mod variance;

/// At most so many rows.
pub const ROWS: usize = 64;

/// The orders of all columns of a twig.
#[derive(Debug, Clone)]
pub struct Twig {
    /// Column after column, [`ROWS`] bytes each: the rows in ascending order of their values. The rows of a node are one range, the same in all columns.
    orders: Vec<u8>,
    /// For columns with equal values the rank of each row's value; nothing for others.
    ranks: Vec<Option<Box<[u8; ROWS]>>>,
    /// What a criterion wants to know of each row.
    pub marks: [u8; ROWS],
}

impl Default for Twig {
    fn default() -> Self {
        Twig { orders: Vec::new(), ranks: Vec::new(), marks: [0; ROWS] }
    }
}

/// A split of a node: the column, what it gains, and how many rows go left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwigSplit {
    /// The column.
    pub column: usize,
    /// What it gains.
    pub gain: f64,
    /// How many rows go left.
    pub n_left: usize,
}

/// A node: its rows are a range of every order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwigNode {
    /// Where the range starts.
    pub start: usize,
    /// How many rows it has.
    pub len: usize,
    /// The fewest and the most rows that may go left.
    pub allowed: (usize, usize),
}

/// Whether this processor has what twigs need.
#[inline]
pub fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    let found = ermine_core::detected!(
        "avx512f",
        "avx512bw",
        "avx512dq",
        "avx512vl",
        "avx512vbmi",
        "avx512vbmi2",
        "avx512vpopcntdq",
        "popcnt"
    );
    #[cfg(not(target_arch = "x86_64"))]
    let found = false;
    found
}

/// The lowest `n` bits, for `n` up to 64.
#[inline(always)]
pub(crate) fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

impl Twig {
    /// Starts over, for rows with these marks.
    pub fn clear(&mut self, marks: [u8; ROWS]) {
        self.orders.clear();
        self.ranks.clear();
        self.marks = marks;
    }

    /// Adds a column: its rows in ascending order, each with whether its value equals the one before. Every row is below 64, and there are at most 64.
    pub fn push(&mut self, entries: impl Iterator<Item = (u8, bool)>) {
        let first = self.ranks.len() * ROWS;
        // Loads of 64 bytes may start anywhere in the last column.
        self.orders.resize(first + 2 * ROWS + 1, 0);
        let mut ranks = [0u8; ROWS];
        let (mut rank, mut tied) = (0, false);
        for (place, (row, is_tied)) in self.orders[first..first + ROWS].iter_mut().zip(entries) {
            rank += u8::from(!is_tied);
            tied |= is_tied;
            *place = row & (ROWS as u8 - 1);
            ranks[row as usize % ROWS] = rank;
        }
        self.ranks.push(tied.then(|| Box::new(ranks)));
    }

    /// How many columns there are.
    pub fn n_columns(&self) -> usize {
        self.ranks.len()
    }

    /// The rows of a node in the order of a column.
    pub fn rows(&self, node: TwigNode, column: usize) -> &[u8] {
        let first = column * ROWS + node.start;
        &self.orders[first..first + node.len]
    }

    /// Whether loads of 64 bytes from this node's places stay inside, in every column.
    fn is_inside(&self, node: TwigNode) -> bool {
        node.start <= ROWS
            && node.len <= ROWS - node.start
            && self.n_columns() > 0
            && self.orders.len() > self.n_columns() * ROWS + ROWS
    }

    /// Puts the left rows of a node before the others in every column, keeping the order of each side. Bit r of `is_left` says where row r goes.
    ///
    /// # Panics
    /// If the node isn't a range of the rows.
    pub fn part(&mut self, node: TwigNode, is_left: u64) {
        assert!(self.is_inside(node), "a node inside its twig");
        #[cfg(target_arch = "x86_64")]
        if available() {
            // SAFETY: the processor has the features, and the node lies inside.
            return unsafe { self.part_avx512(node, is_left) };
        }
        self.part_plain(node, is_left);
    }

    fn part_plain(&mut self, node: TwigNode, is_left: u64) {
        for column in 0..self.n_columns() {
            let rows = self.rows(node, column).to_vec();
            let (left, right): (Vec<u8>, Vec<u8>) = rows.into_iter().partition(|&row| is_left >> row & 1 == 1);
            let first = column * ROWS + node.start;
            self.orders[first..first + left.len()].copy_from_slice(&left);
            self.orders[first + left.len()..first + node.len].copy_from_slice(&right);
        }
    }

    /// # Safety
    /// The processor has the features, and [`is_inside`](Self::is_inside) holds for the node.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    unsafe fn part_avx512(&mut self, node: TwigNode, is_left: u64) {
        use std::arch::x86_64::*;
        let inside = low_bits(node.len);
        let table = _mm512_movm_epi8(is_left);
        for column in 0..self.n_columns() {
            // SAFETY: start + 64 bytes from any column stay inside, as the caller promises; what is written are `len` bytes of the node itself.
            unsafe {
                let at = self.orders.as_mut_ptr().add(column * ROWS + node.start);
                let rows = _mm512_loadu_si512(at.cast());
                let left = _mm512_movepi8_mask(_mm512_permutexvar_epi8(rows, table)) & inside;
                let right = !left & inside;
                let n_left = left.count_ones() as usize;
                _mm512_mask_storeu_epi8(at.cast(), low_bits(n_left), _mm512_mask_compress_epi8(rows, left, rows));
                let n_right = node.len - n_left;
                let after = at.add(n_left).cast();
                _mm512_mask_storeu_epi8(after, low_bits(n_right), _mm512_mask_compress_epi8(rows, right, rows));
            }
        }
    }

    /// Where a column may be cut: bit i is set if i + 1 rows may go left, by value and by the limits of the node.
    ///
    /// # Safety
    /// The processor has the features, and [`is_inside`](Self::is_inside) holds for the node.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    unsafe fn cuts(&self, node: TwigNode, column: usize) -> u64 {
        use std::arch::x86_64::*;
        let (low, high) = node.allowed;
        let allowed = low_bits(high) & !low_bits(low.saturating_sub(1));
        let Some(ranks) = &self.ranks[column] else { return allowed };
        // SAFETY: loads of 64 bytes from start + 1 stay inside; ranks are 64 bytes.
        let (here, next) = unsafe {
            let at = self.orders.as_ptr().add(column * ROWS + node.start);
            let ranks = _mm512_loadu_si512(ranks.as_ptr().cast());
            let rank = |at: *const u8| _mm512_permutexvar_epi8(_mm512_loadu_si512(at.cast()), ranks);
            (rank(at), rank(at.add(1)))
        };
        allowed & _mm512_cmpneq_epi8_mask(here, next)
    }

    /// The cuts of eight columns from `first` on; none for a column that isn't there.
    ///
    /// # Safety
    /// As for [`cuts`](Self::cuts).
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
    unsafe fn cuts_of_eight(&self, node: TwigNode, first: usize) -> [u64; 8] {
        let mut cuts = [0; 8];
        for (column, cuts) in (first..self.n_columns()).zip(&mut cuts) {
            // SAFETY: as the caller promises.
            *cuts = unsafe { self.cuts(node, column) };
        }
        cuts
    }

    /// Eight columns from `first` on, eight places each from `place` on: the bytes of one column in one word. Columns that aren't there repeat the first.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn words(&self, node: TwigNode, first: usize, place: usize) -> [u64; 8] {
        std::array::from_fn(|lane| {
            let column = if first + lane < self.n_columns() { first + lane } else { first };
            let at = column * ROWS + node.start + place;
            self.orders[at..at + 8].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parting_in_registers_is_parting(
            rows in prop::collection::vec(Just((0..64u8).collect::<Vec<_>>()).prop_shuffle(), 1..5),
            is_left in any::<u64>(), start in 0usize..64, len in 1usize..64,
        ) {
            let mut twig = Twig::default();
            rows.iter().for_each(|rows| twig.push(rows.iter().map(|&row| (row, false))));
            let node = TwigNode { start, len: len.min(64 - start), allowed: (1, 1) };
            let mut plain = twig.clone();
            twig.part(node, is_left);
            plain.part_plain(node, is_left);
            prop_assert_eq!(twig.orders, plain.orders);
        }
    }

    fn twig() -> Twig {
        let mut twig = Twig::default();
        (0..3).for_each(|_| twig.push((0..64).map(|row| (row, row % 7 == 1))));
        twig
    }

    #[test]
    #[should_panic(expected = "a node inside its twig")]
    fn a_node_that_begins_behind_all_rows_is_refused() {
        // The start and the length add up to 0.
        twig().part(TwigNode { start: usize::MAX, len: 1, allowed: (1, 1) }, 1);
    }

    #[test]
    #[should_panic(expected = "a node inside its twig")]
    fn a_twig_without_columns_is_refused() {
        Twig::default().part(TwigNode { start: 0, len: 64, allowed: (1, 63) }, 1);
    }

    /// Without the instructions every search panics; with them, nodes that don't lie inside are refused.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn searches_are_refused_where_they_would_go_wrong() {
        use crate::split::node::Grid;
        let refused = |search: &dyn Fn(TwigNode) -> Option<TwigSplit>| {
            let run = |node| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| search(node)));
            assert_eq!(run(TwigNode { start: 0, len: 64, allowed: (1, 63) }).is_ok(), available());
            assert!(run(TwigNode { start: usize::MAX, len: 1, allowed: (1, 1) }).is_err());
            assert!(run(TwigNode { start: 1, len: 64, allowed: (1, 63) }).is_err());
        };
        let (twig, grid) = (twig(), Grid::new(1.0));
        refused(&|node| counts::best(&twig, node, counts::TwoClasses { n: 64.0, p: 9.0 }, |n, p| n * p));
        refused(&|node| classes::best(&twig, node, 64, 10.0, grid));
        refused(&|node| variance::best(&twig, node, &[0.5; ROWS], grid));
    }
}

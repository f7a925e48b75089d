//! Binary codes under the Hamming distance: the number of bits that differ.
//!
//! Codes are kept as 64-bit words, 32 codes side by side: the first word of each, the second word, ... A tile of 6 queries and 32 codes
//! takes, per word, an exclusive or, a count of bits and an addition, eight codes at a time. Codes are compared in the order of their
//! rows, so among equal distances the first found is the one wanted.

use super::aligned::Aligned;
use super::nearest::{Nearest, Neighbors};
use super::scan::tiles::{DistanceFilter, PANEL, ScanProgress, search_tiles};
use ermine_core::error::{Error, Result};
use ermine_core::parallel;
use ermine_core::section::Sections;

/// Queries that are searched together.
const BLOCK: usize = 1024;

/// An index over codes of `n_bytes` bytes each.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeIndex {
    n_rows: usize,
    n_bytes: usize,
    /// Panel after panel of 32 codes: their first words, their second words, ...
    words: Aligned<u64>,
}

impl CodeIndex {
    /// An index over codes that lie one after the other.
    pub fn build(codes: &[u8], n_bytes: usize) -> Result<CodeIndex> {
        let n_rows = check(codes, n_bytes)?;
        if n_rows == 0 {
            return Err(Error::data("the index needs at least one code"));
        }
        let mut index = CodeIndex { n_rows: 0, n_bytes, words: Aligned::filled(0, 0) };
        index.add(codes)?;
        Ok(index)
    }

    /// Appends codes.
    pub fn add(&mut self, codes: &[u8]) -> Result<()> {
        let more = check(codes, self.n_bytes)?;
        let width = self.n_words();
        let first = self.n_rows;
        if first + more > u32::MAX as usize {
            return Err(Error::data(format!("an index can have at most {} rows", u32::MAX)));
        }
        self.n_rows += more;
        self.words.grow(0, self.n_rows.div_ceil(PANEL) * PANEL * width);
        for (row, code) in (first..).zip(codes.chunks_exact(self.n_bytes)) {
            let panel = &mut self.words[row / PANEL * PANEL * width..];
            for (word, bytes) in code.chunks(8).enumerate() {
                panel[word * PANEL + row % PANEL] = word_of(bytes);
            }
        }
        Ok(())
    }

    /// Number of codes.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// Bytes of a code.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Always false: an index contains at least one code.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// The `k` nearest codes of every query.
    pub fn kneighbors(&self, queries: &[u8], k: usize) -> Result<Neighbors> {
        if k == 0 {
            return Err(Error::data("`k` must be at least 1 (got 0)"));
        }
        self.batch(queries, &Nearest::k(k.min(self.n_rows)))
    }

    /// The `k` nearest other codes of every code.
    pub fn own_kneighbors(&self, k: usize) -> Result<Neighbors> {
        Ok(self.batch(&self.all(), &Nearest::k(k.saturating_add(1).min(self.n_rows)))?.without_self(k))
    }

    /// All codes within `radius` bits of every query.
    pub fn radius_neighbors(&self, queries: &[u8], radius: f64) -> Result<Neighbors> {
        self.batch(queries, &Nearest::around(radius)?)
    }

    /// All other codes within `radius` bits of every code.
    pub fn own_radius_neighbors(&self, radius: f64) -> Result<Neighbors> {
        Ok(self.batch(&self.all(), &Nearest::around(radius)?)?.without_self(usize::MAX))
    }

    /// All codes, one after the other.
    fn all(&self) -> Vec<u8> {
        let width = self.n_words();
        let mut codes = Vec::with_capacity(self.n_rows * width * 8);
        for row in 0..self.n_rows {
            let panel = &self.words[row / PANEL * PANEL * width..];
            let bytes = (0..width).flat_map(|word| panel[word * PANEL + row % PANEL].to_le_bytes());
            codes.extend(bytes.take(self.n_bytes));
        }
        codes
    }

    fn batch(&self, queries: &[u8], wanted: &Nearest) -> Result<Neighbors> {
        let n = check(queries, self.n_bytes)?;
        let block = n.div_ceil(16).clamp(1, BLOCK);
        let parts: Vec<Neighbors> = parallel::consume(queries.chunks(block * self.n_bytes), |_, queries| {
            let mut best = vec![wanted.clone(); queries.len() / self.n_bytes];
            let done = search_tiles(&mut CodeFilter::new(self, queries), &mut best, ScanProgress::default());
            debug_assert_eq!(done.points, self.n_rows, "an exact filter reads to the end");
            let mut found = Neighbors::default();
            best.iter_mut().for_each(|best| found.push(best.sorted().iter().copied()));
            found
        });
        let mut all = Neighbors::with_capacity(n, 0);
        parts.iter().for_each(|part| all.append(part));
        Ok(all)
    }

    fn n_words(&self) -> usize {
        self.n_bytes.div_ceil(8)
    }

    /// Writes the index.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        let bytes: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        sections.put_u8s("codes", &bytes);
        sections.put_json("shape", &(self.n_rows, self.n_bytes))
    }

    /// Reads an index.
    pub fn load(sections: &Sections) -> Result<CodeIndex> {
        let (n_rows, n_bytes): (usize, usize) = sections.json("shape")?;
        let words: Vec<u64> = sections.u8s("codes")?.as_chunks().0.iter().map(|&w| u64::from_le_bytes(w)).collect();
        let expected = n_rows.div_ceil(PANEL).checked_mul(PANEL).and_then(|n| n.checked_mul(n_bytes.div_ceil(8)));
        match Aligned::copy(&words) {
            Some(words)
                if expected == Some(words.len()) && n_bytes > 0 && (1..=u32::MAX as usize).contains(&n_rows) =>
            {
                Ok(CodeIndex { n_rows, n_bytes, words })
            }
            _ => Err(Error::model_file("the parts of an index of codes don't fit together")),
        }
    }
}

/// Number of whole codes.
fn check(codes: &[u8], n_bytes: usize) -> Result<usize> {
    if n_bytes == 0 || !codes.len().is_multiple_of(n_bytes) {
        return Err(Error::data(format!("{} bytes are not whole codes of {n_bytes} bytes", codes.len())));
    }
    Ok(codes.len() / n_bytes)
}

fn word_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The exact distances themselves, as a filter.
struct CodeFilter<'a> {
    index: &'a CodeIndex,
    /// Group after group, word after word, the group's queries.
    packed: Vec<u64>,
}

impl<'a> CodeFilter<'a> {
    fn new(index: &'a CodeIndex, queries: &[u8]) -> CodeFilter<'a> {
        let width = index.n_words();
        let n = queries.len() / index.n_bytes;
        let mut packed = vec![0; n.div_ceil(Self::GROUP) * Self::GROUP * width];
        for (i, code) in queries.chunks_exact(index.n_bytes).enumerate() {
            let group = &mut packed[i / Self::GROUP * Self::GROUP * width..];
            for (word, bytes) in code.chunks(8).enumerate() {
                group[word * Self::GROUP + i % Self::GROUP] = word_of(bytes);
            }
        }
        CodeFilter { index, packed }
    }
}

impl DistanceFilter for CodeFilter<'_> {
    const GROUP: usize = 6;
    const YIELDS: bool = false;
    /// Distances below this pass. (The limit itself is only of use to a row with a smaller number, and those came before.)
    type Threshold = u64;

    fn n_points(&self) -> usize {
        self.index.n_rows
    }

    fn load(&mut self, _: usize) {}

    fn threshold(&self, _: usize, limit: f64, full: bool) -> u64 {
        // Saturates at both ends.
        (limit.floor() as u64).saturating_add(u64::from(!full))
    }

    fn tile(&self, panel: usize, group: usize, thresholds: &[u64], masks: &mut [u32]) {
        let width = self.index.n_words();
        let codes = &self.index.words[panel * PANEL * width..][..PANEL * width];
        let queries = &self.packed[group * Self::GROUP * width..][..Self::GROUP * width];
        #[cfg(target_arch = "x86_64")]
        if ermine_core::simd::has(ermine_core::simd::InstructionSet::IceLake) {
            // SAFETY: the machine has both, as just checked.
            unsafe { avx512::tile(codes, queries, thresholds, masks) };
            return;
        }
        plain_tile(codes, queries, thresholds, masks);
    }

    fn distance(&self, query: usize, point: usize) -> f64 {
        let width = self.index.n_words();
        let code = &self.index.words[point / PANEL * PANEL * width + point % PANEL..];
        let query = &self.packed[query / Self::GROUP * Self::GROUP * width + query % Self::GROUP..];
        let bits = |word: usize| (code[word * PANEL] ^ query[word * Self::GROUP]).count_ones();
        f64::from((0..width).map(bits).sum::<u32>())
    }
}

/// A tile, one pair at a time.
fn plain_tile(codes: &[u64], queries: &[u64], thresholds: &[u64], masks: &mut [u32]) {
    let group = thresholds.len();
    for i in 0..group {
        let mut counts = [0u64; PANEL];
        for (codes, queries) in codes.chunks_exact(PANEL).zip(queries.chunks_exact(group)) {
            for p in 0..PANEL {
                counts[p] += u64::from((codes[p] ^ queries[i]).count_ones());
            }
        }
        masks[i] = (0..PANEL).fold(0, |mask, p| mask | u32::from(counts[p] < thresholds[i]) << p);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::PANEL;
    use std::arch::x86_64::*;

    /// A tile with all 24 counts in registers.
    ///
    /// # Safety
    /// The machine has AVX-512F and VPOPCNTDQ.
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(super) unsafe fn tile(codes: &[u64], queries: &[u64], thresholds: &[u64], masks: &mut [u32]) {
        const GROUP: usize = 6;
        const PARTS: usize = PANEL / 8;
        assert!(thresholds.len() == GROUP && masks.len() == GROUP);
        assert!(codes.len() / PANEL == queries.len() / GROUP);
        let mut counts = [[_mm512_setzero_si512(); PARTS]; GROUP];
        for word in 0..codes.len() / PANEL {
            let mut x = [_mm512_setzero_si512(); PARTS];
            for part in 0..PARTS {
                // SAFETY: eight of the 32 codes' words number `word`.
                x[part] = unsafe { _mm512_loadu_si512(codes.as_ptr().add(word * PANEL + part * 8).cast()) };
            }
            for (i, counts) in counts.iter_mut().enumerate() {
                // SAFETY: query i of this word; both counts were checked above.
                let q = _mm512_set1_epi64(unsafe { *queries.get_unchecked(word * GROUP + i) }.cast_signed());
                for part in 0..PARTS {
                    counts[part] = _mm512_add_epi64(counts[part], _mm512_popcnt_epi64(_mm512_xor_si512(x[part], q)));
                }
            }
        }
        for (i, counts) in counts.iter().enumerate() {
            let limit = _mm512_set1_epi64(thresholds[i].min(i64::MAX as u64).cast_signed());
            masks[i] = 0;
            for (part, &count) in counts.iter().enumerate() {
                masks[i] |= u32::from(_mm512_cmplt_epi64_mask(count, limit)) << (part * 8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute(codes: &[u8], n_bytes: usize, query: &[u8]) -> Vec<(f64, u32)> {
        let bits = |code: &[u8]| code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        let mut all: Vec<_> = codes.chunks(n_bytes).zip(0..).map(|(code, row)| (f64::from(bits(code)), row)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn results_equal_brute_force(
            n_bytes in 1usize..40, n in 1usize..150, few in 1u8..=255, k in 1usize..9, radius in 0u32..40, seed: u64,
        ) {
            let mut rng = ermine_core::rng::stream(seed, &[]);
            let mut draw = |n: usize| -> Vec<u8> {
                (0..n * n_bytes).map(|_| ermine_core::rng::below(&mut rng, usize::from(few)) as u8).collect()
            };
            let (codes, queries) = (draw(n), draw(20));
            let split = n / 2 * n_bytes;
            let mut index = CodeIndex::build(&codes[..split.max(n_bytes)], n_bytes).unwrap();
            index.add(&codes[split.max(n_bytes)..]).unwrap();
            let mut sections = Sections::default();
            index.save(&mut sections).unwrap();
            let index = CodeIndex::load(&sections).unwrap();
            let near = index.kneighbors(&queries, k).unwrap();
            let within = index.radius_neighbors(&queries, f64::from(radius)).unwrap();
            prop_assert_eq!(index.own_kneighbors(k).unwrap(), index.kneighbors(&codes, k + 1).unwrap().without_self(k));
            for (i, query) in queries.chunks(n_bytes).enumerate() {
                let expected = brute(&codes, n_bytes, query);
                let pairs = |found: &Neighbors| -> Vec<(f64, u32)> {
                    found.distances(i).iter().copied().zip(found.rows(i).iter().copied()).collect()
                };
                prop_assert_eq!(pairs(&near), &expected[..k.min(n)]);
                let inside: Vec<_> = expected.into_iter().filter(|e| e.0 <= f64::from(radius)).collect();
                prop_assert_eq!(pairs(&within), inside);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// More rows than a filter is given to prove itself, distances that fall from row to row, and k up to all of them.
        #[test]
        fn results_equal_brute_force_if_nearly_everything_passes(
            n_bytes in 1usize..12, n in 4000usize..6500, k in prop_oneof![1usize..9, 200usize..6500], falling: bool, radius in 0u32..90,
            seed: u64,
        ) {
            let mut rng = ermine_core::rng::stream(seed, &[]);
            let bits = n_bytes * 8;
            let mut codes: Vec<u8> = (0..n * n_bytes).map(|_| ermine_core::rng::below(&mut rng, 256) as u8).collect();
            if falling {
                for (i, code) in codes.chunks_mut(n_bytes).enumerate() {
                    let ones = bits - bits * i / n;
                    code.iter_mut().enumerate().for_each(|(b, c)| *c = u8::MAX.checked_shr(8 - ones.saturating_sub(8 * b).min(8) as u32).unwrap_or(0));
                }
            }
            let queries = [vec![0; n_bytes], codes[n_bytes * 7..][..n_bytes].to_vec()].concat();
            let index = CodeIndex::build(&codes, n_bytes).unwrap();
            let (near, within) = (index.kneighbors(&queries, k).unwrap(), index.radius_neighbors(&queries, f64::from(radius)).unwrap());
            for (i, query) in queries.chunks(n_bytes).enumerate() {
                let expected = brute(&codes, n_bytes, query);
                let rows: Vec<u32> = expected.iter().map(|e| e.1).collect();
                prop_assert_eq!(near.rows(i), &rows[..k.min(n)]);
                prop_assert!(near.distances(i).iter().zip(&expected).all(|(d, e)| *d == e.0));
                let inside = expected.iter().filter(|e| e.0 <= f64::from(radius)).count();
                prop_assert_eq!(within.rows(i), &rows[..inside]);
            }
        }
    }

    #[test]
    fn partial_codes_are_errors() {
        assert!(CodeIndex::build(&[1, 2, 3], 2).is_err());
        assert!(CodeIndex::build(&[], 2).is_err());
        assert!(CodeIndex::build(&[1], 0).is_err());
        assert!(CodeIndex::build(&[1, 2], 2).unwrap().kneighbors(&[1, 2], 0).is_err());
    }
}

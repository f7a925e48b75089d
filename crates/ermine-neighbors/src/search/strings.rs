//! An index over strings with the Hamming or edit distance ([`StringMetric`]), by a vantage-point tree.

use super::nearest::{Nearest, Neighbors};
use super::vantage::{MetricSpace, VantageTree};
pub use ermine_core::distance::strings::StringMetric;
use ermine_core::error::{Error, Result};
use ermine_core::parallel;
use ermine_core::section::Sections;

/// Strings added since the tree was built are scanned; above this many, and a sixteenth of the tree, it is rebuilt.
const WAITING: usize = 256;

/// Strings, ready to be searched.
#[derive(Debug, Clone, PartialEq)]
pub struct StringIndex {
    metric: StringMetric,
    texts: Vec<String>,
    /// How many of the texts the tree holds; the rest wait.
    indexed: usize,
    tree: VantageTree,
}

/// The first texts of an index.
struct Texts<'a> {
    metric: StringMetric,
    texts: &'a [String],
}

impl MetricSpace for Texts<'_> {
    type Query = str;

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn between(&self, a: u32, b: u32) -> f64 {
        self.metric.distance(&self.texts[a as usize], &self.texts[b as usize])
    }

    fn to(&self, query: &str, point: u32) -> f64 {
        self.metric.distance(query, &self.texts[point as usize])
    }

    fn slack(&self) -> f64 {
        0.0
    }
}

impl StringIndex {
    /// An index over `texts`.
    pub fn build(texts: Vec<String>, metric: StringMetric) -> Result<StringIndex> {
        if texts.is_empty() || texts.len() > u32::MAX as usize {
            return Err(Error::data(format!("an index can have 1 to {} strings (got {})", u32::MAX, texts.len())));
        }
        let tree = VantageTree::build(&Texts { metric, texts: &texts }, usize::MAX);
        Ok(StringIndex { metric, indexed: texts.len(), texts, tree })
    }

    /// Adds strings; they are numbered after those that are there.
    pub fn add(&mut self, texts: impl IntoIterator<Item = String>) -> Result<()> {
        self.texts.extend(texts);
        if self.texts.len() > u32::MAX as usize {
            self.texts.truncate(u32::MAX as usize);
            return Err(Error::data(format!("an index can have at most {} strings", u32::MAX)));
        }
        if self.texts.len() - self.indexed > WAITING.max(self.indexed / 16) {
            *self = StringIndex::build(std::mem::take(&mut self.texts), self.metric)?;
        }
        Ok(())
    }

    /// The metric.
    pub fn metric(&self) -> StringMetric {
        self.metric
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never: an index holds at least one string.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The `k` nearest strings of every query.
    pub fn kneighbors<S: AsRef<str> + Sync>(&self, queries: &[S], k: usize) -> Result<Neighbors> {
        if k == 0 {
            return Err(Error::data("`k` must be at least 1 (got 0)"));
        }
        Ok(self.batch(queries, &Nearest::k(k.min(self.len()))))
    }

    /// The `k` nearest other strings of every string.
    pub fn own_kneighbors(&self, k: usize) -> Result<Neighbors> {
        Ok(self.batch(&self.texts, &Nearest::k(k.saturating_add(1).min(self.len()))).without_self(k))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(|text| size_of::<String>() + text.len()).sum::<usize>() + self.tree.bytes()
    }

    /// All strings within `radius` of every query.
    pub fn radius_neighbors<S: AsRef<str> + Sync>(&self, queries: &[S], radius: f64) -> Result<Neighbors> {
        Ok(self.batch(queries, &Nearest::around(radius)?))
    }

    /// All other strings within `radius` of every string.
    pub fn own_radius_neighbors(&self, radius: f64) -> Result<Neighbors> {
        Ok(self.batch(&self.texts, &Nearest::around(radius)?).without_self(usize::MAX))
    }

    /// Writes the index.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        self.tree.save(sections);
        sections.put_json("texts", &(self.metric, self.indexed, &self.texts))
    }

    /// Reads an index.
    pub fn load(sections: &Sections) -> Result<StringIndex> {
        let (metric, indexed, texts): (StringMetric, usize, Vec<String>) = sections.json("texts")?;
        if indexed == 0 || indexed > texts.len() || texts.len() > u32::MAX as usize {
            return Err(Error::model_file("the parts of an index of strings don't fit together"));
        }
        Ok(StringIndex { metric, texts, indexed, tree: VantageTree::load(sections, indexed)? })
    }

    fn batch<S: AsRef<str> + Sync>(&self, queries: &[S], wanted: &Nearest) -> Neighbors {
        let space = Texts { metric: self.metric, texts: &self.texts[..self.indexed] };
        let found: Vec<Vec<(f64, u32)>> = parallel::map_items(queries, |query| {
            let (query, mut best) = (query.as_ref(), wanted.clone());
            for (row, text) in self.texts.iter().enumerate().skip(self.indexed) {
                best.offer(self.metric.distance(query, text), row as u32);
            }
            self.tree.search(&space, query, &mut best);
            best.sorted().to_vec()
        });
        let mut all = Neighbors::default();
        found.into_iter().for_each(|one| all.push(one));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_index_is_an_error() {
        assert!(StringIndex::build(vec![], StringMetric::Edit).is_err());
    }

    proptest! {
        #[test]
        fn results_equal_brute_force(
            texts in proptest::collection::vec("[ab]{0,7}", 1..80),
            queries in proptest::collection::vec("[abc]{0,7}", 4),
            (k, radius, metric) in (1usize..7, 0u8..5, prop_oneof![Just(StringMetric::Edit), Just(StringMetric::Hamming)]),
        ) {
            let half = texts.len().div_ceil(2);
            let mut index = StringIndex::build(texts[..half].to_vec(), metric).unwrap();
            index.add(texts[half..].to_vec()).unwrap();
            let mut sections = Sections::default();
            index.save(&mut sections).unwrap();
            let index = StringIndex::load(&sections).unwrap();
            let near = index.kneighbors(&queries, k).unwrap();
            let within = index.radius_neighbors(&queries, f64::from(radius)).unwrap();
            for (i, query) in queries.iter().enumerate() {
                let mut all: Vec<_> = texts.iter().zip(0..).map(|(t, row)| (metric.distance(query, t), row)).collect();
                all.sort_by(|a: &(f64, u32), b| a.partial_cmp(b).unwrap());
                let rows = |found: &[(f64, u32)]| found.iter().map(|f| f.1).collect::<Vec<_>>();
                prop_assert_eq!(near.rows(i), rows(&all[..k.min(texts.len())]));
                all.retain(|f| f.0 <= f64::from(radius));
                prop_assert_eq!(within.rows(i), rows(&all));
            }
        }
    }
}

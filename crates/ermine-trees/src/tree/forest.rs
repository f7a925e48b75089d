//! Many trees in one set of arrays, in memory and in model files.
//!
//! **Idea.** All nodes of all trees are in one list of 16-byte entries, so that a walk touches one cache line per step. Each distinct prediction is stored once in a table: the leaves of a fully grown classifier are
//! pure and share a handful of entries. Child indices refer to the whole list; the children of a node are adjacent and come after it.
//!
//! **Size.** 13 bytes per leaf and 21 per inner node in a file, plus the distinct predictions.

use super::Tree;
use super::engine::PredictionEngine;
use crate::split::Test;
use crate::split::test::CodeSet;
use ermine_core::error::{Error, Result};
use ermine_core::section::Sections;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// Maximum number of distinct predictions that are searched for sharing.
const MAX_SHARED: usize = 4096;

/// A node in 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ForestNode {
    /// The bits of a threshold; the index of a set; or the number of categories and, in the upper half, the prediction of rows that match none.
    pub word: u64,
    /// The first child; for a leaf, the index of its prediction.
    pub child: u32,
    /// The column, and in the top bits the kind.
    feature: u32,
}

/// The kinds of nodes, in the top bits of `feature`.
pub(super) mod kind {
    pub const LEAF: u32 = 0;
    pub const AT_MOST_ELSE_RIGHT: u32 = 1;
    pub const AT_MOST_ELSE_LEFT: u32 = 2;
    pub const EACH: u32 = 3;
    pub const EACH_AND_MISSING: u32 = 4;
    pub const IN_SET_ELSE_RIGHT: u32 = 5;
    pub const IN_SET_ELSE_LEFT: u32 = 6;
}

const KIND_SHIFT: u32 = 29;

impl ForestNode {
    #[inline(always)]
    pub fn feature(&self) -> usize {
        (self.feature & ((1 << KIND_SHIFT) - 1)) as usize
    }

    #[inline(always)]
    pub fn kind(&self) -> u32 {
        self.feature >> KIND_SHIFT
    }

    #[inline(always)]
    pub fn threshold(&self) -> f64 {
        f64::from_bits(self.word)
    }
}

/// A list of trees.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    pub(super) nodes: Vec<ForestNode>,
    pub(super) roots: Vec<u32>,
    /// The weight of the training rows in each node.
    weights: Vec<f32>,
    /// Distinct predictions, `width` numbers each.
    pub(super) values: Vec<f64>,
    pub(super) width: usize,
    pub(super) sets: Vec<CodeSet>,
    /// Whether every test is a threshold.
    pub(super) only_thresholds: bool,
    /// The index of each prediction in `values` while trees are added.
    shared: HashMap<Vec<u64>, u32>,
    /// The prediction engine, created on first use.
    engine: OnceLock<PredictionEngine>,
}

/// The offsets of a forest that is appended to another.
struct NodeRelocation {
    base: u32,
    set_base: u64,
    /// The new index of each of its predictions.
    rows: Vec<u32>,
}

impl NodeRelocation {
    fn of(&self, node: &ForestNode) -> ForestNode {
        match node.kind() {
            kind::LEAF => ForestNode { child: self.rows[node.child as usize], ..*node },
            kind::EACH | kind::EACH_AND_MISSING => {
                let row = self.rows[(node.word >> 32) as usize];
                let word = node.word & u64::from(u32::MAX) | u64::from(row) << 32;
                ForestNode { word, child: node.child + self.base, ..*node }
            }
            kind::IN_SET_ELSE_LEFT | kind::IN_SET_ELSE_RIGHT => {
                ForestNode { word: node.word + self.set_base, child: node.child + self.base, ..*node }
            }
            _ => ForestNode { child: node.child + self.base, ..*node },
        }
    }
}

/// Forests are equal if their trees are; caches are ignored.
impl PartialEq for Forest {
    fn eq(&self, other: &Self) -> bool {
        (&self.nodes, &self.roots, &self.weights, &self.values, self.width, &self.sets)
            == (&other.nodes, &other.roots, &other.weights, &other.values, other.width, &other.sets)
    }
}

impl Forest {
    /// The size of its nodes and predictions in bytes.
    pub fn n_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<ForestNode>() + size_of::<f32>()) + self.values.len() * size_of::<f64>()
    }

    /// An empty forest with `width` outputs.
    pub fn new(width: usize) -> Forest {
        Forest { width, only_thresholds: true, ..Default::default() }
    }

    /// The number of trees.
    pub fn n_trees(&self) -> usize {
        self.roots.len()
    }

    /// The total number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The number of outputs.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The prediction of a node at which a walk ends.
    pub fn value(&self, node: u32) -> &[f64] {
        let node = &self.nodes[node as usize];
        let row = if node.kind() == kind::LEAF { node.child as usize } else { (node.word >> 32) as usize };
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Adds a tree.
    pub fn push(&mut self, tree: &Tree) {
        self.engine = OnceLock::new();
        if self.shared.is_empty() {
            self.share_again();
        }
        let base = self.nodes.len() as u32;
        self.roots.push(base);
        for node in 0..tree.n_nodes() {
            let child = base + tree.child[node];
            let (kind, feature, word, child) = match &tree.test[node] {
                Test::Leaf => (kind::LEAF, 0, 0, self.value_row(tree.value(node))),
                Test::AtMost { feature, threshold, missing_left } => {
                    let kind = if *missing_left { kind::AT_MOST_ELSE_LEFT } else { kind::AT_MOST_ELSE_RIGHT };
                    (kind, *feature, threshold.to_bits(), child)
                }
                Test::InSet { feature, set, missing_left } => {
                    let kind = if *missing_left { kind::IN_SET_ELSE_LEFT } else { kind::IN_SET_ELSE_RIGHT };
                    self.sets.push(set.clone());
                    (kind, *feature, self.sets.len() as u64 - 1, child)
                }
                Test::Each { feature, n_levels, missing } => {
                    let kind = if *missing { kind::EACH_AND_MISSING } else { kind::EACH };
                    let word = u64::from(*n_levels) | u64::from(self.value_row(tree.value(node))) << 32;
                    (kind, *feature, word, child)
                }
            };
            self.only_thresholds &= kind <= kind::AT_MOST_ELSE_LEFT;
            self.nodes.push(ForestNode { word, child, feature: feature | kind << KIND_SHIFT });
            self.weights.push(tree.weight[node] as f32);
        }
    }

    /// A forest of one tree.
    pub fn of(tree: &Tree) -> Forest {
        let mut forest = Forest::new(tree.width);
        forest.push(tree);
        forest
    }

    /// Appends the trees of other forests, in parallel.
    pub fn append(&mut self, others: &[Forest]) {
        self.engine = OnceLock::new();
        if self.shared.is_empty() {
            self.share_again();
        }
        let start = self.nodes.len();
        let mut moves = Vec::with_capacity(others.len());
        let mut base = start as u32;
        for other in others {
            let rows: Vec<u32> = other.values.chunks(self.width.max(1)).map(|value| self.value_row(value)).collect();
            moves.push(NodeRelocation { base, set_base: self.sets.len() as u64, rows });
            self.roots.extend(other.roots.iter().map(|root| root + base));
            self.weights.extend_from_slice(&other.weights);
            self.sets.extend_from_slice(&other.sets);
            self.only_thresholds &= other.only_thresholds;
            base += other.nodes.len() as u32;
        }
        self.nodes.resize(base as usize, ForestNode { word: 0, child: 0, feature: 0 });
        let mut rest = &mut self.nodes[start..];
        let mut places = Vec::with_capacity(others.len());
        for other in others {
            let (place, after) = rest.split_at_mut(other.nodes.len());
            places.push(place);
            rest = after;
        }
        let put = |((place, other), moved): ((&mut [ForestNode], &Forest), NodeRelocation)| {
            place.iter_mut().zip(&other.nodes).for_each(|(to, from)| *to = moved.of(from));
        };
        places.into_par_iter().zip(others).zip(moves).for_each(put);
    }

    /// The index of a prediction in the table; it is added if it isn't there.
    fn value_row(&mut self, value: &[f64]) -> u32 {
        let next = (self.values.len() / self.width.max(1)) as u32;
        if self.width > 1 || self.shared.len() < 64 {
            // Most leaves are pure, and their predictions are among the first.
            let same = |known: &[f64]| known.iter().zip(value).all(|(a, b)| a.to_bits() == b.to_bits());
            if let Some(row) = self.values.chunks_exact(self.width.max(1)).take(4).position(same) {
                return row as u32;
            }
            let bits: Vec<u64> = value.iter().map(|v| v.to_bits()).collect();
            if let Some(&row) = self.shared.get(&bits) {
                return row;
            }
            if self.shared.len() < MAX_SHARED {
                self.shared.insert(bits, next);
            }
        }
        self.values.extend_from_slice(value);
        next
    }

    /// Rebuilds the index of predictions after loading, so that trees can be added.
    fn share_again(&mut self) {
        for (row, value) in self.values.chunks(self.width.max(1)).enumerate() {
            if (self.width > 1 || self.shared.len() < 64) && self.shared.len() < MAX_SHARED {
                self.shared.entry(value.iter().map(|v| v.to_bits()).collect()).or_insert(row as u32);
            }
        }
    }

    /// The prediction engine.
    pub(super) fn engine(&self, n_features: usize) -> &PredictionEngine {
        self.engine.get_or_init(|| PredictionEngine::new(&[self], n_features))
    }

    /// The node indices of a tree.
    pub(super) fn nodes_of(&self, tree: usize) -> Range<usize> {
        self.roots[tree] as usize..self.roots.get(tree + 1).map_or(self.nodes.len(), |&next| next as usize)
    }

    /// A single tree. Inner nodes predict zero unless a row can stop there, as their predictions are not stored.
    pub fn tree(&self, tree: usize) -> Tree {
        let Range { start: base, end } = self.nodes_of(tree);
        let mut made = Tree { width: self.width, ..Default::default() };
        for (i, node) in self.nodes[base..end].iter().enumerate() {
            let value = |row: usize| &self.values[row * self.width..(row + 1) * self.width];
            let feature = node.feature() as u32;
            let missing_left = matches!(node.kind(), kind::AT_MOST_ELSE_LEFT | kind::IN_SET_ELSE_LEFT);
            let zero = vec![0.0; self.width];
            let (test, prediction) = match node.kind() {
                kind::LEAF => (Test::Leaf, value(node.child as usize)),
                kind::EACH | kind::EACH_AND_MISSING => {
                    let missing = node.kind() == kind::EACH_AND_MISSING;
                    (Test::Each { feature, n_levels: node.word as u32, missing }, value((node.word >> 32) as usize))
                }
                kind::IN_SET_ELSE_LEFT | kind::IN_SET_ELSE_RIGHT => {
                    let set = self.sets[node.word as usize].clone();
                    (Test::InSet { feature, set, missing_left }, zero.as_slice())
                }
                _ => (Test::AtMost { feature, threshold: node.threshold(), missing_left }, zero.as_slice()),
            };
            made.child.push(if test == Test::Leaf { 0 } else { node.child - base as u32 });
            made.test.push(test);
            made.value.extend_from_slice(prediction);
            made.weight.push(f64::from(self.weights[base + i]));
        }
        made
    }

    /// Keeps the first trees only.
    pub fn truncate(&mut self, n_trees: usize) {
        if let Some(&end) = self.roots.get(n_trees) {
            self.engine = OnceLock::new();
            self.nodes.truncate(end as usize);
            self.weights.truncate(end as usize);
            self.roots.truncate(n_trees);
        }
    }

    /// Saves the trees.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        let inner = || self.nodes.iter().filter(|node| node.kind() != kind::LEAF);
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        sections.put_u8s("kind", &self.nodes.iter().map(|n| n.kind() as u8).collect::<Vec<_>>());
        sections.put_u32s("child", &self.nodes.iter().map(|n| n.child).collect::<Vec<_>>());
        sections.put_u32s("feature", &inner().map(|n| n.feature() as u32).collect::<Vec<_>>());
        sections.put_u32s("word", &inner().flat_map(|n| halves(n.word)).collect::<Vec<_>>());
        sections.put_u32s("root", &self.roots);
        sections.put_f32s("weight", &self.weights);
        sections.put_f64s("value", &self.values);
        let words: Vec<Vec<u32>> =
            self.sets.iter().map(|s| s.words().iter().flat_map(|&w| halves(w)).collect()).collect();
        sections.put_u32s("set_length", &words.iter().map(|w| w.len() as u32).collect::<Vec<_>>());
        sections.put_u32s("set", &words.concat());
        Ok(())
    }

    /// Loads trees and checks that every walk stays inside its tree and ends.
    pub fn load(sections: &Sections, n_features: usize, width: usize) -> Result<Forest> {
        let (kinds, children, weights) = (sections.u8s("kind")?, sections.u32s("child")?, sections.f32s("weight")?);
        let (features, words) = (sections.u32s("feature")?, sections.u32s("word")?);
        let (roots, values) = (sections.u32s("root")?, sections.f64s("value")?);
        let sets = load_sets(sections)?;
        let wrong = |what: &str| Error::model_file(format!("a forest {what}"));
        let n_inner = kinds.iter().filter(|&&k| u32::from(k) != kind::LEAF).count();
        if children.len() != kinds.len()
            || weights.len() != kinds.len()
            || features.len() != n_inner
            || words.len() != 2 * n_inner
            || width == 0
            || values.len() % width != 0
        {
            return Err(wrong("has arrays of different lengths"));
        }
        if values.iter().any(|v| !v.is_finite()) {
            return Err(wrong("has a prediction that is not finite"));
        }
        if kinds.iter().any(|&k| u32::from(k) > kind::IN_SET_ELSE_LEFT)
            || features.iter().any(|&f| f as usize >= n_features)
        {
            return Err(wrong("has a split of an unknown kind or on a column that the model doesn't have"));
        }
        let only_thresholds = kinds.iter().all(|&k| u32::from(k) <= kind::AT_MOST_ELSE_LEFT);
        let mut inner = features.iter().zip(words.chunks_exact(2));
        let node = |(&kind, &child): (&u8, &u32)| {
            let (feature, word) = if kind == 0 { (0, 0) } else { inner.next().map_or((0, 0), joined) };
            ForestNode { word, child, feature: feature | u32::from(kind) << KIND_SHIFT }
        };
        let nodes: Vec<ForestNode> = kinds.iter().zip(&children).map(node).collect();
        let forest = Forest { nodes, roots, weights, values, width, sets, only_thresholds, ..Default::default() };
        forest.check().map(|()| forest)
    }

    /// Checks that children are within the same tree after their parent, and that predictions exist.
    fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::model_file(format!("a forest {what}")));
        let n_values = self.values.len() / self.width;
        if self.roots.first().is_some_and(|&r| r != 0) || self.roots.is_empty() != self.nodes.is_empty() {
            return wrong("doesn't start with its first tree");
        }
        for (tree, &root) in self.roots.iter().enumerate() {
            let end = self.roots.get(tree + 1).map_or(self.nodes.len(), |&next| next as usize);
            if root as usize >= end || end > self.nodes.len() {
                return wrong("has a tree without nodes");
            }
            for (i, node) in self.nodes.iter().enumerate().take(end).skip(root as usize) {
                let (n_children, fine) = match node.kind() {
                    kind::LEAF => (0, (node.child as usize) < n_values),
                    kind::EACH => (node.word as u32 as usize, ((node.word >> 32) as usize) < n_values),
                    kind::EACH_AND_MISSING => (node.word as u32 as usize + 1, ((node.word >> 32) as usize) < n_values),
                    kind::IN_SET_ELSE_LEFT | kind::IN_SET_ELSE_RIGHT => (2, node.word < self.sets.len() as u64),
                    _ => (2, !node.threshold().is_nan()),
                };
                let first = node.child as usize;
                if !fine || (n_children > 0 && (first <= i || first.saturating_add(n_children) > end)) {
                    return wrong("has a node with an invalid child or prediction index");
                }
            }
        }
        Ok(())
    }
}

fn joined((&feature, word): (&u32, &[u32])) -> (u32, u64) {
    (feature, u64::from(word[0]) | u64::from(word[1]) << 32)
}

fn load_sets(sections: &Sections) -> Result<Vec<CodeSet>> {
    let (lengths, words) = (sections.u32s("set_length")?, sections.u32s("set")?);
    let mut rest = words.as_slice();
    let mut sets = Vec::new();
    for length in lengths {
        let Some((set, after)) = rest.split_at_checked(length as usize).filter(|(set, _)| set.len() % 2 == 0) else {
            return Err(Error::model_file("a forest has a truncated set of categories"));
        };
        rest = after;
        sets.push(CodeSet::from_words(set.chunks_exact(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32)));
    }
    Ok(sets)
}

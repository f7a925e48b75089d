//! The fitted sum of trees: prediction, reading and writing.
//!
//! All trees lie in one list of nodes, tree after tree. Rows are predicted in blocks that stay in the nearest cache while all trees look at them.

use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::section::Sections;
use crate::split::Test;
use crate::tree::Tree;
use rayon::prelude::*;

/// Rows that are predicted together.
const ROWS: usize = 256;

/// A sum of trees.
#[derive(Debug, Clone, PartialEq)]
pub struct Booster {
    /// Where scores start, one for each output.
    start: Vec<f64>,
    /// The nodes of all trees.
    nodes: Tree,
    /// The first node of each tree. Tree i adds to output i modulo the number of outputs.
    roots: Vec<u32>,
}

impl Booster {
    /// Puts trees together, round after round, one for each output.
    pub fn new(start: Vec<f64>, trees: impl IntoIterator<Item = Tree>) -> Booster {
        let mut booster = Booster { start, nodes: Tree { width: 1, ..Default::default() }, roots: Vec::new() };
        trees.into_iter().for_each(|tree| booster.push(tree));
        booster
    }

    fn push(&mut self, tree: Tree) {
        let root = self.nodes.n_nodes() as u32;
        self.roots.push(root);
        self.nodes.child.extend(
            tree.test.iter().zip(&tree.child).map(|(test, &child)| if *test == Test::Leaf { 0 } else { root + child }),
        );
        self.nodes.test.extend(tree.test);
        self.nodes.weight.extend(tree.weight);
        self.nodes.value.extend(tree.value);
    }

    /// How many scores a row has.
    pub fn n_scores(&self) -> usize {
        self.start.len()
    }

    /// How many rounds.
    pub fn n_rounds(&self) -> usize {
        self.roots.len() / self.n_scores().max(1)
    }

    /// Where scores start.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// How many trees: one for each round and output.
    pub fn n_trees(&self) -> usize {
        self.roots.len()
    }

    /// A tree by its number.
    pub fn tree(&self, number: usize) -> Tree {
        let start = self.roots[number] as usize;
        let end = self.roots.get(number + 1).map_or(self.nodes.n_nodes(), |&root| root as usize);
        let child =
            |node: usize| if self.nodes.test[node] == Test::Leaf { 0 } else { self.nodes.child[node] - start as u32 };
        Tree {
            test: self.nodes.test[start..end].to_vec(),
            child: (start..end).map(child).collect(),
            weight: self.nodes.weight[start..end].to_vec(),
            value: self.nodes.value[start..end].to_vec(),
            width: 1,
        }
    }

    /// The scores of each row after `n_rounds` rounds, row by row.
    pub fn scores(&self, features: &Features, n_rounds: usize) -> Vec<f64> {
        let (k, n) = (self.n_scores(), features.n_rows());
        let roots = &self.roots[..(n_rounds * k).min(self.roots.len())];
        let mut scores = vec![0.0; n * k];
        scores.par_chunks_mut(ROWS * k.max(1)).enumerate().for_each(|(block, scores)| {
            let first = block * ROWS;
            let n_rows = scores.len() / k;
            let mut values = vec![0.0; n_rows * features.n_columns()];
            for (j, column) in values.chunks_mut(n_rows).enumerate() {
                column.iter_mut().enumerate().for_each(|(i, x)| *x = features.number(first + i, j));
            }
            scores.chunks_mut(k).for_each(|row| row.copy_from_slice(&self.start));
            for (number, &root) in roots.iter().enumerate() {
                for i in 0..n_rows {
                    let node = self.walk(root as usize, |feature| values[feature * n_rows + i]);
                    scores[i * k + number % k] += self.nodes.value[node];
                }
            }
        });
        scores
    }

    fn walk(&self, root: usize, x: impl Fn(usize) -> f64) -> usize {
        let mut node = root;
        while let Some(feature) = self.nodes.test[node].feature() {
            let Some(branch) = self.nodes.test[node].branch(x(feature)) else { break };
            node = self.nodes.child[node] as usize + branch;
        }
        node
    }

    /// Writes it.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_f64s("start", &self.start);
        sections.put_u32s("root", &self.roots);
        sections.within("nodes", |s| if self.nodes.n_nodes() > 0 { self.nodes.save(s) } else { Ok(()) })
    }

    /// Reads it.
    pub fn load(sections: &Sections, n_features: usize) -> Result<Booster> {
        let (start, roots) = (sections.f64s("start")?, sections.u32s("root")?);
        let nodes = if roots.is_empty() {
            Tree { width: 1, ..Default::default() }
        } else {
            sections.clone().within("nodes", |s| Tree::load(s, n_features, 1))?
        };
        let ascending = roots.windows(2).all(|pair| pair[0] < pair[1]);
        let n_scores = start.len();
        if n_scores == 0
            || !roots.len().is_multiple_of(n_scores)
            || !ascending
            || roots.first().is_some_and(|&first| first != 0)
            || roots.last().is_some_and(|&root| root as usize >= nodes.n_nodes())
            || start.iter().any(|s| !s.is_finite())
        {
            return Err(Error::model_file("its trees don't fit together"));
        }
        let bounds = roots.iter().skip(1).map(|&root| root as usize).chain([nodes.n_nodes()]);
        for (&root, end) in roots.iter().zip(bounds) {
            if (root as usize..end).any(|node| nodes.children(node).end > end) {
                return Err(Error::model_file("a tree reaches into the next"));
            }
        }
        Ok(Booster { start, nodes, roots })
    }
}

//! Readable descriptions of oblique, comparison and quad trees in the units of the data.
//!
//! **Idea.** These trees use encoded features (standardized numbers, one-hot encoded categories). With z = (x - c) / s, the test w'z <= r is equivalent to sum (w_j / s_j) x_j <= r + sum w_j c_j / s_j; it is
//! divided by its first nonzero weight. Rows are decoded back to their original values.

use super::row_tree::RowSpace;
use crate::tree::describe::DescribedTree;
use crate::tree::row_tree::{RowTest, RowTree, cell, dot};
use crate::tree::rules::{self, PathStep};
use ermine_core::chart::text::number;
use ermine_core::distance::metric::Metric;
use ermine_core::matrix::encode::ColumnEncoding;
use ermine_core::matrix::{Encoder, Features, Schema};
use std::ops::Range;

/// Maximum number of columns shown for a row.
const NAMED: usize = 6;

/// A row tree with the meaning of its numbers.
pub(super) struct RowTreeView<'a> {
    tree: &'a RowTree,
    space: &'a RowSpace,
    schema: &'a Schema,
    /// Name, center and scale of each encoded column.
    axes: Vec<(String, f64, f64)>,
}

impl<'a> RowTreeView<'a> {
    /// Describes a tree.
    pub fn new(tree: &'a RowTree, space: &'a RowSpace, schema: &'a Schema) -> RowTreeView<'a> {
        let axes = match space {
            RowSpace::Encoded(encoder, _) => encoded_axes(encoder, schema),
            RowSpace::Strings(_) | RowSpace::Placed(_) => {
                schema.features.iter().map(|feature| (feature.name.clone(), 0.0, 1.0)).collect()
            }
        };
        RowTreeView { tree, space, schema, axes }
    }

    /// One rule per leaf.
    pub fn rules(&self) -> String {
        let conditions = |steps: &[(usize, usize)]| steps.iter().map(|&(node, i)| self.condition(node, i)).collect();
        rules::lines(&rules::rules(self, &[], rules::MOST, conditions), self.tree.n_leaves())
    }

    /// The decision path of a row.
    pub fn explain_row(&self, features: &Features, row: &[f64]) -> String {
        let distance = |a: &[f64], b: &[f64]| self.space.distance(features, a, b);
        rules::reasons_by(self, |node| {
            let test = &self.tree.test[node];
            let fact = match test {
                RowTest::Leaf => String::new(),
                RowTest::Linear { weights, .. } => {
                    let (own, size, shift) = self.own_units(weights);
                    format!("{} = {}", self.format_sum(&own), number(dot(weights, row) / size + shift))
                }
                RowTest::Nearer { a, b } => {
                    format!("distances {} and {}", number(distance(row, a)), number(distance(row, b)))
                }
                RowTest::Corner { point, .. } => self.format_cell(point, cell(row, point)),
            };
            (fact, test.branch(row, distance).map_or(PathStep::Stay, PathStep::Child))
        })
    }

    /// The condition under which a row goes to a child.
    fn condition(&self, node: usize, child: usize) -> String {
        match &self.tree.test[node] {
            RowTest::Leaf => String::new(),
            RowTest::Linear { weights, threshold } => {
                let (own, size, shift) = self.own_units(weights);
                let sign = match (size > 0.0, child == 0) {
                    (true, true) => "<=",
                    (true, false) => ">",
                    (false, true) => ">=",
                    (false, false) => "<",
                };
                format!("{} {sign} {}", self.format_sum(&own), number(threshold / size + shift))
            }
            RowTest::Nearer { a, b } if child == 0 => self.format_comparison(a, b),
            RowTest::Nearer { a, b } => self.format_comparison(b, a),
            RowTest::Corner { point, cells } => self.format_cell(point, cells[child]),
        }
    }

    /// The weights in the units of the data divided by their `size`, the `size`, and the shift of the threshold after the division.
    fn own_units(&self, weights: &[f64]) -> (Vec<f64>, f64, f64) {
        let raw: Vec<f64> = weights.iter().zip(&self.axes).map(|(w, (_, _, scale))| w / scale).collect();
        let size = raw.iter().find(|w| **w != 0.0).copied().unwrap_or(1.0);
        let shift = raw.iter().zip(&self.axes).map(|(w, (_, center, _))| w * center).sum::<f64>() / size;
        (raw.iter().map(|w| w / size).collect(), size, shift)
    }

    fn format_sum(&self, weights: &[f64]) -> String {
        let mut words = String::new();
        for (w, (name, _, _)) in weights.iter().zip(&self.axes).filter(|(w, _)| **w != 0.0) {
            let sign = match (words.is_empty(), *w < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let factor = if w.abs() == 1.0 { String::new() } else { format!("{} ", number(w.abs())) };
            words.push_str(&format!("{sign}{factor}{name}"));
        }
        if words.is_empty() { "0".into() } else { words }
    }

    fn format_comparison(&self, a: &[f64], b: &[f64]) -> String {
        format!("nearer to {} than to {}", self.format_row(a), self.format_row(b))
    }

    /// A row by its decoded values, or by its embedding if the metric uses one.
    fn format_row(&self, row: &[f64]) -> String {
        let plain = |row: &[f64]| {
            let shown: Vec<String> = row.iter().take(NAMED).map(|x| number(*x)).collect();
            format!("({}{})", shown.join(", "), if row.len() > NAMED { ", ..." } else { "" })
        };
        let values: Vec<String> = match self.space {
            RowSpace::Encoded(_, Metric::Mahalanobis(_)) => {
                return format!("{} after whitening", plain(row));
            }
            RowSpace::Encoded(encoder, _) => decoded(encoder, row, self.schema),
            RowSpace::Strings(space) => {
                let value = |(f, x): (usize, &f64)| space.category(f, *x).map_or_else(|| number(*x), str::to_string);
                row.iter().enumerate().map(value).collect()
            }
            RowSpace::Placed(_) => {
                let value =
                    |(x, feature): (&f64, &ermine_core::matrix::FeatureSpec)| match feature.levels.get(*x as usize) {
                        _ if *x < 0.0 && !feature.levels.is_empty() => "missing".to_string(),
                        Some(level) => level.clone(),
                        None => number(*x),
                    };
                row.iter().zip(&self.schema.features).map(value).collect()
            }
        };
        let named = values.iter().zip(&self.schema.features).take(NAMED);
        let named: Vec<String> = named.map(|(value, feature)| format!("{} {value}", feature.name)).collect();
        let more = if values.len() > NAMED { ", ..." } else { "" };
        let words = format!("({}{more})", named.join(", "));
        // Rows are stored as unit vectors.
        if matches!(self.space, RowSpace::Encoded(_, Metric::Cosine)) {
            format!("the direction of {words}")
        } else {
            words
        }
    }

    /// The side of the split point on which a cell lies, for each column.
    fn format_cell(&self, point: &[f64], code: u64) -> String {
        let side = |(j, x): (usize, &f64)| {
            let feature = &self.schema.features[j];
            let above = code >> j & 1 == 1;
            match self.space {
                RowSpace::Placed(places) if !feature.levels.is_empty() && !feature.kind.is_ordered() => {
                    let below = |level: &usize| places.of(j, *level as f64) <= *x;
                    let below: Vec<&str> =
                        (0..feature.levels.len()).filter(below).map(|l| feature.levels[l].as_str()).collect();
                    format!("{} {}in {{{}}}", feature.name, if above { "not " } else { "" }, below.join(", "))
                }
                _ => format!("{} {} {}", feature.name, if above { ">" } else { "<=" }, number(*x)),
            }
        };
        let shown: Vec<String> = point.iter().enumerate().take(NAMED).map(side).collect();
        format!("{}{}", shown.join(", "), if point.len() > NAMED { ", ..." } else { "" })
    }
}

impl DescribedTree for RowTreeView<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }
    fn n_nodes(&self) -> usize {
        self.tree.n_nodes()
    }
    fn children(&self, node: usize) -> Range<usize> {
        self.tree.children(node)
    }
    fn weight(&self, node: usize) -> f64 {
        self.tree.weight[node]
    }
    fn value(&self, node: usize) -> &[f64] {
        self.tree.value(node)
    }
    fn question(&self, node: usize) -> String {
        match &self.tree.test[node] {
            RowTest::Corner { .. } => "cell".into(),
            _ => self.condition(node, 0),
        }
    }
    fn answer(&self, node: usize, child: usize) -> String {
        match &self.tree.test[node] {
            RowTest::Corner { .. } => self.condition(node, child),
            _ => if child == 0 { "yes" } else { "no" }.into(),
        }
    }
    fn staying(&self, node: usize) -> Option<&'static str> {
        let RowTest::Corner { point, cells } = &self.tree.test[node] else { return None };
        let all = point.len() < 32 && cells.len() == 1 << point.len();
        (!all).then_some("other cells")
    }
    fn note(&self) -> Option<&'static str> {
        None
    }
}

/// Name, center and scale of each encoded column.
fn encoded_axes(encoder: &Encoder, schema: &Schema) -> Vec<(String, f64, f64)> {
    let mut axes = Vec::new();
    for (encoding, feature) in encoder.columns().iter().zip(&schema.features) {
        let missing = (format!("[{} is missing]", feature.name), 0.0, 1.0);
        match encoding {
            ColumnEncoding::Number { indicator, center, scale, .. } => {
                axes.push((feature.name.clone(), *center, *scale));
                axes.extend(indicator.then_some(missing));
            }
            ColumnEncoding::OneHot { place, indicator, .. } => {
                let used = feature.levels.iter().zip(place).filter(|(_, place)| place.is_some());
                axes.extend(used.map(|(level, _)| (format!("[{} = {level}]", feature.name), 0.0, 1.0)));
                axes.extend(indicator.then_some(missing));
            }
        }
    }
    axes
}

/// The decoded values of an encoded row.
fn decoded(encoder: &Encoder, row: &[f64], schema: &Schema) -> Vec<String> {
    let (mut values, mut rest) = (Vec::new(), row);
    for (encoding, feature) in encoder.columns().iter().zip(&schema.features) {
        let (own, others) = rest.split_at(encoding.width().min(rest.len()));
        rest = others;
        values.push(match encoding {
            ColumnEncoding::Number { indicator: true, .. } if own.get(1).is_some_and(|x| *x > 0.0) => "missing".into(),
            ColumnEncoding::Number { center, scale, .. } => {
                let x = own.first().map_or(f64::NAN, |z| z * scale + center);
                // A position between two levels has no name.
                let level = feature.levels.get(x.round().max(0.0) as usize).filter(|_| (x - x.round()).abs() < 1e-6);
                level.cloned().unwrap_or_else(|| number(x))
            }
            ColumnEncoding::OneHot { place, .. } => {
                let is_set = |p: &Option<u32>| p.and_then(|p| own.get(p as usize)).is_some_and(|x| *x > 0.0);
                let code = place.iter().position(is_set);
                code.and_then(|code| feature.levels.get(code)).cloned().unwrap_or_else(|| "missing".into())
            }
        });
    }
    values
}

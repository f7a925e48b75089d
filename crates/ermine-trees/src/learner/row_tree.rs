//! Fitted oblique, comparison and quad trees: trees whose tests use a whole row at once.

use super::row_tree_text::RowTreeView;
use crate::split::Impurity;
use crate::split::class_weights::ClassWeightCriterion;
use crate::split::multi_output::{MultiOutputCriterion, TargetLoss};
use crate::split::node::NodeCriterion;
use crate::tree::row_tree::{RowTest, RowTree, RowTreeBuilder};
use crate::tree::{describe, render};
use ermine_core::distance::metric::Metric;
use ermine_core::distance::strings::StringMetric;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Encoder, Features, Schema, Target, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Output, Proof, Status};
use ermine_core::progress::Observer;
use ermine_core::section::Sections;
use ermine_core::table::{Column, ColumnKind};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How a row of features is encoded as numbers, and the distance between two rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowSpace {
    /// Encoded features with a metric.
    Encoded(Encoder, Metric),
    /// Raw values, categories as codes; the distance is the sum of absolute differences of numbers and string distances of category names.
    Strings(StringSpace),
    /// Raw values, nominal categories as positions in an order.
    Placed(CategoryPositions),
}

/// Rows compared by the names of their categories. A category of the training data is represented by its training code, an unseen one by -2 minus its code in the new data, a missing value by -1, so that
/// unseen categories can be compared by name too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StringSpace {
    metric: StringMetric,
    /// The training categories of each column by code; empty for numeric columns.
    names: Vec<Vec<String>>,
}

impl StringSpace {
    /// The categories of the training data.
    pub fn new(metric: StringMetric, features: &Features) -> StringSpace {
        let names = |column: &Column| column.levels().map_or_else(Vec::new, |levels| levels.names().to_vec());
        StringSpace { metric, names: features.columns().iter().map(names).collect() }
    }

    fn rows(&self, features: &Features) -> (Vec<f64>, usize) {
        let number = |(column, names): (&Column, &Vec<String>)| {
            let known: HashMap<&str, usize> =
                names.iter().enumerate().map(|(code, name)| (name.as_str(), code)).collect();
            let place =
                |(code, name): (usize, &String)| known.get(name.as_str()).map_or(-2.0 - code as f64, |&k| k as f64);
            column.levels().map(|levels| levels.names().iter().enumerate().map(place).collect::<Vec<f64>>())
        };
        let numbers: Vec<Option<Vec<f64>>> = features.columns().iter().zip(&self.names).map(number).collect();
        raw(features, |f, x| match &numbers[f] {
            _ if x.is_nan() => -1.0,
            None => x,
            Some(codes) => codes.get(x as usize).copied().unwrap_or(-1.0),
        })
    }

    /// The category name that a number represents; empty if missing.
    fn name<'a>(&'a self, column: usize, of: &'a Column, x: f64) -> &'a str {
        let name = if x >= 0.0 {
            self.names[column].get(x as usize).map(String::as_str)
        } else {
            of.levels().and_then(|levels| levels.name((-2.0 - x) as u32).filter(|_| x <= -2.0))
        };
        name.unwrap_or("")
    }

    fn distance(&self, features: &Features, a: &[f64], b: &[f64]) -> f64 {
        let of_column = |(f, (x, y)): (usize, (&f64, &f64))| {
            let column = &features.columns()[f];
            match column.levels() {
                Some(_) => self.metric.distance(self.name(f, column, *x), self.name(f, column, *y)),
                None => (x - y).abs(),
            }
        };
        a.iter().zip(b).enumerate().map(of_column).sum()
    }

    /// The training category that a number represents; `None` for a numeric column.
    pub fn category(&self, column: usize, x: f64) -> Option<&str> {
        let names = self.names.get(column).filter(|names| !names.is_empty())?;
        Some(if x < 0.0 { "missing" } else { names.get(x as usize).map_or("", String::as_str) })
    }
}

/// Numeric positions for missing values and nominal categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CategoryPositions {
    /// The value imputed for missing values and unseen categories of each column: below all others.
    fill: Vec<f64>,
    /// The position of each category of each nominal column; empty for other columns.
    place: Vec<Vec<f64>>,
}

impl CategoryPositions {
    /// Places missing values below all others and orders nominal categories by their mean target (the proportion of the most frequent class, or the first target).
    pub fn fit(data: &Dataset) -> CategoryPositions {
        let d = data.features().n_columns();
        let response = first_response(data);
        let (mut fill, mut place) = (vec![0.0; d], vec![Vec::new(); d]);
        for f in 0..d {
            let column = &data.features().columns()[f];
            let numbers = data.features().numbers(f);
            if column.kind == ColumnKind::Nominal {
                let n_levels = column.levels().map_or(0, |levels| levels.len());
                place[f] = by_mean_response(&numbers, n_levels, &response, |row| data.row_weight(row));
                fill[f] = -1.0;
                continue;
            }
            let least = numbers.into_iter().filter(|x| !x.is_nan()).fold(f64::INFINITY, f64::min);
            fill[f] = if least.is_finite() { least.clamp(-1e150, 1e150) - 1.0 } else { 0.0 };
        }
        CategoryPositions { fill, place }
    }

    /// The position of a value.
    pub(super) fn of(&self, column: usize, x: f64) -> f64 {
        match &self.place[column][..] {
            _ if x.is_nan() => self.fill[column],
            [] => x,
            places => places.get(x as usize).copied().unwrap_or(self.fill[column]),
        }
    }

    fn is_sound(&self, n_columns: usize) -> bool {
        let finite = self.fill.iter().chain(self.place.iter().flatten()).all(|x| x.is_finite());
        self.fill.len() == n_columns && self.place.len() == n_columns && finite
    }
}

/// The indicator of the most frequent class, or the first target of each row.
fn first_response(data: &Dataset) -> Vec<f64> {
    match data.target() {
        Target::Classes { codes, labels } => {
            let mut weights = vec![0.0; labels.len()];
            codes.iter().enumerate().for_each(|(row, &c)| weights[c as usize] += data.row_weight(row));
            let commonest = (1..weights.len()).fold(0, |best, k| if weights[k] > weights[best] { k } else { best });
            codes.iter().map(|&c| f64::from(u8::from(c as usize == commonest))).collect()
        }
        Target::Values { values, n_outputs } => values.iter().step_by(*n_outputs).copied().collect(),
    }
}

/// The rank of each category by its mean response; -1 for categories without rows.
fn by_mean_response(codes: &[f64], n_levels: usize, response: &[f64], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); n_levels];
    for (row, &code) in codes.iter().enumerate().filter(|(_, code)| !code.is_nan()) {
        let sum = &mut sums[code as usize];
        sum.0 += weight(row);
        sum.1 += weight(row) * response[row];
    }
    let mut order: Vec<usize> = (0..n_levels).filter(|&level| sums[level].0 > 0.0).collect();
    let mean = |level: usize| sums[level].1 / sums[level].0;
    order.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
    let mut places = vec![-1.0; n_levels];
    order.iter().enumerate().for_each(|(place, &level)| places[level] = place as f64);
    places
}

impl RowSpace {
    /// All encoded rows in row-major order, and the number of values per row.
    pub fn rows(&self, features: &Features) -> Result<(Vec<f64>, usize)> {
        Ok(match self {
            RowSpace::Encoded(encoder, metric) => {
                let width = encoder.n_columns();
                encoder.require_dense(features.n_rows())?;
                let mut out = vec![0.0; features.n_rows() * width];
                encoder.encode_rows(features, 0..features.n_rows(), &mut out);
                // Sums and distances must stay finite.
                out.iter_mut().for_each(|x| *x = x.clamp(-1e150, 1e150));
                embedded(metric, out, width)
            }
            RowSpace::Strings(space) => space.rows(features),
            RowSpace::Placed(places) => raw(features, |f, x| places.of(f, x)),
        })
    }

    /// Validates a space read from a model file.
    pub fn check(&self, n_features: usize) -> Result<()> {
        match self {
            RowSpace::Encoded(encoder, metric) if encoder.columns().len() == n_features => metric
                .check(encoder.n_columns())
                .map_err(|_| Error::model_file("the metric of a tree doesn't match its number of columns")),
            RowSpace::Encoded(..) => {
                Err(Error::model_file("the encoder of a tree doesn't match the number of columns"))
            }
            RowSpace::Placed(places) if !places.is_sound(n_features) => {
                Err(Error::model_file("the category positions of a tree don't match the number of columns"))
            }
            RowSpace::Strings(space) if space.names.len() != n_features => {
                Err(Error::model_file("the category names of a tree don't match the number of columns"))
            }
            RowSpace::Strings(_) | RowSpace::Placed(_) => Ok(()),
        }
    }

    /// The number of values per encoded row; `n_features` is the number of columns.
    pub fn width(&self, n_features: usize) -> usize {
        match self {
            RowSpace::Encoded(encoder, metric) => metric.embedded_features(encoder.n_columns()),
            RowSpace::Strings(_) | RowSpace::Placed(_) => n_features,
        }
    }

    /// The distance between two rows; `features` resolves the codes of unseen categories.
    pub fn distance(&self, features: &Features, a: &[f64], b: &[f64]) -> f64 {
        match self {
            RowSpace::Encoded(_, metric) => metric.distance(a, b),
            RowSpace::Placed(_) => Metric::Euclidean.distance(a, b),
            RowSpace::Strings(space) => space.distance(features, a, b),
        }
    }
}

/// Embeds the rows for cosine and Mahalanobis distances, which are Euclidean distances between transformed rows.
fn embedded(metric: &Metric, rows: Vec<f64>, width: usize) -> (Vec<f64>, usize) {
    let own = metric.embedded_features(width);
    if width == 0 || !matches!(metric, Metric::Cosine | Metric::Mahalanobis(_)) {
        return (rows, width);
    }
    let mut out = vec![0.0; rows.len() / width * own];
    out.chunks_mut(own).zip(rows.chunks(width)).for_each(|(out, row)| metric.embed(row, out));
    (out, own)
}

/// All values in row-major order, each mapped by `place(column, value)`.
fn raw(features: &Features, place: impl Fn(usize, f64) -> f64) -> (Vec<f64>, usize) {
    let width = features.n_columns();
    let columns: Vec<Vec<f64>> = (0..width).map(|f| features.numbers(f)).collect();
    let mut rows = Vec::with_capacity(features.n_rows() * width);
    for row in 0..features.n_rows() {
        for (f, column) in columns.iter().enumerate() {
            rows.push(place(f, column[row]).clamp(-1e150, 1e150));
        }
    }
    (rows, width)
}

/// A fitted oblique, comparison or quad tree.
pub struct FittedRowTree {
    tree: RowTree,
    space: RowSpace,
    output: Output,
}

impl FittedRowTree {
    /// A model of a grown tree.
    pub(crate) fn new(tree: RowTree, space: RowSpace, task: Task) -> FittedRowTree {
        let output = if task == Task::Classification { Output::Probabilities } else { Output::Values };
        FittedRowTree { tree, space, output }
    }

    /// The tree.
    pub fn tree(&self) -> &RowTree {
        &self.tree
    }

    fn view<'a>(&'a self, schema: &'a Schema) -> RowTreeView<'a> {
        RowTreeView::new(&self.tree, &self.space, schema)
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let (output, space): (Output, RowSpace) = (sections.json("output")?, sections.json("space")?);
        let tree = RowTree {
            test: sections.json("question")?,
            child: sections.u32s("child")?,
            weight: sections.f64s("weight")?,
            value: sections.f64s("value")?,
            width: output.width(&header.schema),
        };
        let n_features = header.schema.features.len();
        space.check(n_features)?;
        let dimension = space.width(n_features);
        let finite = |row: &[f64]| row.len() == dimension && row.iter().all(|x| x.is_finite());
        let is_valid = |test: &RowTest| match test {
            RowTest::Leaf => true,
            RowTest::Linear { weights, threshold } => finite(weights) && !threshold.is_nan(),
            RowTest::Nearer { a, b } => finite(a) && finite(b),
            RowTest::Corner { point, .. } => finite(point) && dimension <= 64,
        };
        tree.check()?;
        if !tree.test.iter().all(is_valid) {
            return Err(Error::model_file(
                "a test of a row tree has the wrong number of columns or values that are not finite",
            ));
        }
        Ok(Box::new(FittedRowTree { tree, space, output }))
    }
}

impl Fitted for FittedRowTree {
    fn output(&self) -> Output {
        self.output
    }

    fn reads_text(&self) -> bool {
        matches!(self.space, RowSpace::Strings(_))
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let (rows, width) = self.space.rows(features)?;
        if width == 0 {
            return Ok(self.tree.value(0).repeat(features.n_rows()));
        }
        let of_row = |row: &[f64]| {
            let node = self.tree.walk(row, |a, b| self.space.distance(features, a, b));
            self.tree.value(node).to_vec()
        };
        Ok(rows.par_chunks(width).with_min_len(256).flat_map_iter(of_row).collect())
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("space", &self.space)?;
        sections.put_json("question", &self.tree.test)?;
        sections.put_u32s("child", &self.tree.child);
        sections.put_f64s("weight", &self.tree.weight);
        sections.put_f64s("value", &self.tree.value);
        sections.put_json("output", &self.output)
    }

    fn text(&self, schema: &Schema) -> String {
        let tree = &self.tree;
        let head = format!("{} nodes, {} leaves, depth {}\n", tree.n_nodes(), tree.n_leaves(), tree.depth());
        head + &describe::text(&self.view(schema))
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        Some(render::svg(&self.view(schema)))
    }

    fn html(&self, schema: &Schema) -> Option<String> {
        Some(render::html(&self.view(schema)))
    }

    fn dot(&self, schema: &Schema) -> Option<String> {
        Some(render::dot(&self.view(schema)))
    }

    fn rules(&self, schema: &Schema) -> Option<String> {
        Some(self.view(schema).rules())
    }

    fn explain_row(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        let one = features.select(&[row as u32]).ok()?;
        Some(self.view(schema).explain_row(&one, &self.space.rows(&one).ok()?.0))
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        Attribute::tree_size(self.tree.n_leaves(), self.tree.depth()).to_vec()
    }
}

/// Grows a row tree with a given criterion.
pub(super) trait RowTreeGrowth {
    /// Grows the tree.
    fn grow<C: NodeCriterion>(self, criterion: C, observer: &dyn Observer) -> Result<RowTreeBuilder<C>>;
}

/// Grows a tree with the default criterion of the task (Gini impurity or squared error); returns the tree and its mean cost.
pub(super) fn grow_for(data: &Dataset, work: impl RowTreeGrowth, observer: &dyn Observer) -> Result<(RowTree, f64)> {
    fn finish<C: NodeCriterion>(grower: RowTreeBuilder<C>) -> (RowTree, f64) {
        let cost: f64 = grower.tree.leaves().map(|leaf| grower.cost[leaf]).sum();
        let mean = cost / grower.tree.weight[0];
        (grower.tree, mean)
    }
    Ok(match data.target() {
        Target::Classes { codes, labels } => {
            finish(work.grow(ClassWeightCriterion::new(codes, data.weight(), labels.len(), Impurity::Gini), observer)?)
        }
        Target::Values { values, n_outputs } => finish(
            work.grow(MultiOutputCriterion::new(values, *n_outputs, data.weight(), TargetLoss::Squared), observer)?,
        ),
    })
}

/// The certificate of a greedily grown tree.
pub(super) fn greedy_certificate(data: &Dataset, cost: f64) -> Certificate {
    let classes = data.task() == Task::Classification;
    let objective = if classes { "Gini impurity of the leaves" } else { "mean squared error on the training data" };
    let because = "each split was chosen greedily for its node; a greedy tree need not be the best tree";
    Certificate {
        objective: objective.into(),
        value: Some(cost),
        status: Status::Done,
        proofs: vec![Proof::Nothing { because: because.into() }],
        notes: Vec::new(),
    }
}

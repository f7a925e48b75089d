//! The fitted form of trees whose nodes look at whole rows: oblique, comparison and quad trees; and the criterion they share.

use super::row_words::RowView;
use crate::split::Impurity;
use crate::split::classes::ClassWeights;
use crate::split::node::NodeCriterion;
use crate::split::numbers::{Loss, Numbers};
use crate::tree::rows::{RowGrower, RowQuestion, RowTree};
use crate::tree::{draw, picture};
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

/// How a row of features becomes a row of numbers, and how far two of them are apart.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowSpace {
    /// Encoded numbers, with a metric.
    Encoded(Encoder, Metric),
    /// Values as they are, categories as codes; the distance adds up differences of numbers and distances of the categories' names.
    Strings(StringSpace),
    /// Values as they are, nominal categories by their places in an order.
    Placed(Places),
}

/// Rows of strings. A row is numbers: for a category that training had, its code there; for another one, which only the rows at hand have, -2 less its code among
/// theirs; for a missing one -1. So that a string is compared by what it says, whether training had it or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StringSpace {
    metric: StringMetric,
    /// The categories of each column in training, by code; none for numbers.
    names: Vec<Vec<String>>,
}

impl StringSpace {
    /// The strings of the training data.
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

    /// The string that a number stands for; a missing one is empty.
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

    /// The category of training that a number stands for; `None` for a number that stands for itself.
    pub fn category(&self, column: usize, x: f64) -> Option<&str> {
        let names = self.names.get(column).filter(|names| !names.is_empty())?;
        Some(if x < 0.0 { "missing" } else { names.get(x as usize).map_or("", String::as_str) })
    }
}

/// Where values lie that are no numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Places {
    /// For each column what stands for a missing value, or for a category that training didn't have: below all others.
    fill: Vec<f64>,
    /// For each nominal column the place of each category, as training found it; nothing for the others.
    place: Vec<Vec<f64>>,
}

impl Places {
    /// Missing values below all others; nominal categories in ascending order of their mean target: of the share of the commonest class, or of the first number.
    pub fn fit(data: &Dataset) -> Places {
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
        Places { fill, place }
    }

    /// Where a value lies.
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

/// 1 for rows of the commonest class and 0 for others, or the first number of each row.
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

/// The place of each category in ascending order of its mean response; -1 for those without rows.
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
    /// All rows of the features as numbers, row by row, and how many each has.
    pub fn rows(&self, features: &Features) -> Result<(Vec<f64>, usize)> {
        Ok(match self {
            RowSpace::Encoded(encoder, metric) => {
                let width = encoder.n_columns();
                encoder.require_dense(features.n_rows())?;
                let mut out = vec![0.0; features.n_rows() * width];
                encoder.encode_rows(features, 0..features.n_rows(), &mut out);
                // No weighted sum and no distance knows what to do with infinity.
                out.iter_mut().for_each(|x| *x = x.clamp(-1e150, 1e150));
                embedded(metric, out, width)
            }
            RowSpace::Strings(space) => space.rows(features),
            RowSpace::Placed(places) => raw(features, |f, x| places.of(f, x)),
        })
    }

    /// Checks a space that comes from outside.
    pub fn check(&self, n_features: usize) -> Result<()> {
        match self {
            RowSpace::Encoded(encoder, metric) if encoder.columns().len() == n_features => metric
                .check(encoder.n_columns())
                .map_err(|_| Error::model_file("a metric has another number of columns")),
            RowSpace::Encoded(..) => Err(Error::model_file("a tree's encoder has another number of columns")),
            RowSpace::Placed(places) if !places.is_sound(n_features) => {
                Err(Error::model_file("a tree has places for another number of columns"))
            }
            RowSpace::Strings(space) if space.names.len() != n_features => {
                Err(Error::model_file("a tree has strings of another number of columns"))
            }
            RowSpace::Strings(_) | RowSpace::Placed(_) => Ok(()),
        }
    }

    /// How many numbers a row has; `n_features` is the number of columns.
    pub fn width(&self, n_features: usize) -> usize {
        match self {
            RowSpace::Encoded(encoder, metric) => metric.embedded_features(encoder.n_columns()),
            RowSpace::Strings(_) | RowSpace::Placed(_) => n_features,
        }
    }

    /// How far two rows are apart; `features` says what codes stand for.
    pub fn distance(&self, features: &Features, a: &[f64], b: &[f64]) -> f64 {
        match self {
            RowSpace::Encoded(_, metric) => metric.distance(a, b),
            RowSpace::Placed(_) => Metric::Euclidean.distance(a, b),
            RowSpace::Strings(space) => space.distance(features, a, b),
        }
    }
}

/// Rows as the metric measures them: cosine and Mahalanobis distances are Euclidean between other rows.
fn embedded(metric: &Metric, rows: Vec<f64>, width: usize) -> (Vec<f64>, usize) {
    let own = metric.embedded_features(width);
    if width == 0 || !matches!(metric, Metric::Cosine | Metric::Mahalanobis(_)) {
        return (rows, width);
    }
    let mut out = vec![0.0; rows.len() / width * own];
    out.chunks_mut(own).zip(rows.chunks(width)).for_each(|(out, row)| metric.embed(row, out));
    (out, own)
}

/// All values row by row, each as `place(column, value)`.
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

/// A fitted tree of questions about rows.
pub struct FittedRows {
    tree: RowTree,
    space: RowSpace,
    output: Output,
}

impl FittedRows {
    /// A model of a grown tree.
    pub(crate) fn new(tree: RowTree, space: RowSpace, task: Task) -> FittedRows {
        let output = if task == Task::Classification { Output::Probabilities } else { Output::Values };
        FittedRows { tree, space, output }
    }

    /// The tree.
    pub fn tree(&self) -> &RowTree {
        &self.tree
    }

    fn view<'a>(&'a self, schema: &'a Schema) -> RowView<'a> {
        RowView::new(&self.tree, &self.space, schema)
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let (output, space): (Output, RowSpace) = (sections.json("output")?, sections.json("space")?);
        let tree = RowTree {
            question: sections.json("question")?,
            child: sections.u32s("child")?,
            weight: sections.f64s("weight")?,
            value: sections.f64s("value")?,
            width: output.width(&header.schema),
        };
        let n_features = header.schema.features.len();
        space.check(n_features)?;
        let dimension = space.width(n_features);
        let n = tree.question.len();
        let fits = |node: usize| {
            let (first, count) = (tree.child[node] as usize, tree.question[node].n_children());
            let finite = |row: &[f64]| row.len() == dimension && row.iter().all(|x| x.is_finite());
            let question = match &tree.question[node] {
                RowQuestion::Leaf => true,
                RowQuestion::Linear { weights, threshold } => finite(weights) && !threshold.is_nan(),
                RowQuestion::Nearer { a, b } => finite(a) && finite(b),
                RowQuestion::Corner { point, .. } => finite(point) && dimension <= 64,
            };
            question && (count == 0 || first > node && first.saturating_add(count) <= n)
        };
        let lengths =
            tree.child.len() == n && tree.weight.len() == n && tree.value.len() == n.saturating_mul(tree.width);
        if n == 0 || !lengths || !(0..n).all(fits) || tree.value.iter().any(|v| !v.is_finite()) {
            return Err(Error::model_file("a tree of questions about rows doesn't hold together"));
        }
        Ok(Box::new(FittedRows { tree, space, output }))
    }
}

impl Fitted for FittedRows {
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
        sections.put_json("question", &self.tree.question)?;
        sections.put_u32s("child", &self.tree.child);
        sections.put_f64s("weight", &self.tree.weight);
        sections.put_f64s("value", &self.tree.value);
        sections.put_json("output", &self.output)
    }

    fn text(&self, schema: &Schema) -> String {
        let tree = &self.tree;
        let head = format!("{} nodes, {} leaves, depth {}\n", tree.question.len(), tree.n_leaves(), tree.depth());
        head + &draw::text(&self.view(schema))
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        Some(picture::svg(&self.view(schema)))
    }

    fn html(&self, schema: &Schema) -> Option<String> {
        Some(picture::html(&self.view(schema)))
    }

    fn dot(&self, schema: &Schema) -> Option<String> {
        Some(picture::dot(&self.view(schema)))
    }

    fn rules(&self, schema: &Schema) -> Option<String> {
        Some(self.view(schema).rules())
    }

    fn reasons(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        let one = features.select(&[row as u32]).ok()?;
        Some(self.view(schema).reasons(&one, &self.space.rows(&one).ok()?.0))
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        Attribute::tree_size(self.tree.n_leaves(), self.tree.depth()).to_vec()
    }
}

/// Works with the criterion of the data's task: Gini impurity for classes, squared error for numbers.
pub(super) trait WithCriterion {
    /// Grows with this criterion.
    fn grow<C: NodeCriterion>(self, criterion: C, observer: &dyn Observer) -> Result<RowGrower<C>>;
}

/// Grows a tree with the criterion of the data's task; gives back the tree and its mean cost.
pub(super) fn grow_for(data: &Dataset, work: impl WithCriterion, observer: &dyn Observer) -> Result<(RowTree, f64)> {
    fn finish<C: NodeCriterion>(grower: RowGrower<C>) -> (RowTree, f64) {
        let leaves = (0..grower.cost.len()).filter(|&node| grower.tree.question[node].n_children() == 0);
        let cost: f64 = leaves.map(|leaf| grower.cost[leaf]).sum();
        let mean = cost / grower.tree.weight[0];
        (grower.tree, mean)
    }
    Ok(match data.target() {
        Target::Classes { codes, labels } => {
            finish(work.grow(ClassWeights::new(codes, data.weight(), labels.len(), Impurity::Gini), observer)?)
        }
        Target::Values { values, n_outputs } => {
            finish(work.grow(Numbers::new(values, *n_outputs, data.weight(), Loss::Squared), observer)?)
        }
    })
}

/// Nothing is proven about a tree that was chosen split by split.
pub(super) fn greedy_certificate(data: &Dataset, cost: f64) -> Certificate {
    let classes = data.task() == Task::Classification;
    let objective = if classes { "Gini impurity of the leaves" } else { "mean squared error on the training data" };
    let because = "each split was chosen for its node, which doesn't make the tree the best of all trees";
    Certificate {
        objective: objective.into(),
        value: Some(cost),
        status: Status::Done,
        proofs: vec![Proof::Nothing { because: because.into() }],
        notes: Vec::new(),
    }
}

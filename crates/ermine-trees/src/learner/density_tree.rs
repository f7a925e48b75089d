//! Density trees: a density of the features for each class, combined by Bayes' rule.
//!
//! **Idea.** Each class gets a [density tree](crate::tree::density): boxes of constant density that integrate to 1. The class probabilities of a row are proportional to the class priors times the class
//! densities. Unlike other trees, the model also gives the density of a row and the log-likelihood of the data.
//!
//! **Formula.** P(k | x) = pi_k p_k(x) / sum_j pi_j p_j(x); the priors pi if all densities are 0. A missing value of an ordered feature is imputed by the middle of its range; for a nominal feature it is
//! a category of its own. Outliers (values farther from the central 90 % than [`OUTLIER_SPREADS`] times its width) are clipped, so that a single typo doesn't stretch all boxes; the certificate reports
//! them. Categories are ordered by their frequency in the class, each with an interval of length 1.

use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use crate::tree::density::{self, BoxDensity, DensityBox, DensityFrame, DensityLimits};
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, Schema, Task};
use ermine_core::model::{Certificate, Fitted, Header, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;
use ermine_core::section::Sections;
use ermine_core::table::ColumnKind;
use serde::{Deserialize, Serialize};

params! {
    /// A piecewise constant density of the features for each class, combined by Bayes' rule.
    pub struct DensityTree("density-tree") {
        /// Minimum weight of the rows of the class in each box.
        /// Higher values give smoother densities.
        min_samples_leaf: f64 = 5.0, range Range::more_than(0.0), tune Log(1, 100);
        /// Maximum depth of the tree of each class.
        max_depth: usize = 50, range Range::between(0.0, 1000.0), tune Linear(2, 50);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "density-tree",
    summary: "piecewise constant density of the features for each class, combined by Bayes' rule",
    capabilities: Capabilities { tasks: &[Task::Classification], multi_output: false, ..TREE_CAPABILITIES },
    family: Family::Tree,
};

impl Learner for DensityTree {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let (codes, labels) = data.classes()?;
        let d = data.features().n_columns();
        let (axes, far): (Vec<DensityAxis>, Vec<usize>) =
            (0..d).map(|f| DensityAxis::of(data, f)).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let columns = filled(data.features(), &axes);
        let frame = DensityFrame {
            low: axes.iter().map(|axis| axis.low).collect(),
            high: axes.iter().map(|axis| axis.high).collect(),
            step: axes.iter().map(|axis| axis.step).collect(),
        };
        let weight = |row: u32| data.row_weight(row as usize);
        let total: f64 = (0..data.n_rows() as u32).map(weight).sum();
        let limits = DensityLimits { max_depth: self.max_depth, min_weight: self.min_samples_leaf };
        let (mut classes, mut likelihood) = (Vec::new(), 0.0);
        for class in 0..labels.len() {
            let rows: Vec<u32> = (0..data.n_rows() as u32).filter(|&r| codes[r as usize] as usize == class).collect();
            let share = rows.iter().map(|&row| weight(row)).sum::<f64>() / total;
            if rows.is_empty() {
                classes.push(None);
                continue;
            }
            let place: Vec<Vec<u32>> =
                axes.iter().zip(&columns).map(|(axis, column)| axis.places(column, &rows, weight)).collect();
            let x = |row: u32, j: usize| placed(&place[j], columns[j][row as usize]);
            let density = BoxDensity::fit(rows.clone(), x, weight, &frame, limits);
            likelihood += rows.iter().map(|&row| weight(row) * density.log_density(|j| x(row, j))).sum::<f64>();
            classes.push(Some(ClassDensity { share, place, density }));
        }
        let mean = likelihood / total;
        let mut notes = vec![format!("log-likelihood of the training data: {likelihood:.6} ({mean:.6} per row)")];
        for (f, n_far) in far.iter().enumerate().filter(|(_, n_far)| **n_far > 0) {
            let (name, axis) = (&data.features().columns()[f].name, &axes[f]);
            let (low, high) = (number(axis.low), number(axis.high));
            notes.push(format!("column '{name}': {n_far} outliers were clipped to {low} or {high}"));
        }
        let certificate = Certificate {
            objective: "mean negative log-likelihood (nats) of the features, given the class".into(),
            value: Some(-mean),
            status: Status::Done,
            proofs: vec![Proof::Nothing { because: "each split was chosen greedily for its box".into() }],
            notes,
        };
        let fitted = FittedDensity { classes, axes };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The range of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DensityAxis {
    low: f64,
    high: f64,
    /// The resolution of the values; 0 for continuous values.
    step: f64,
    /// Number of categories of a nominal column, including one for missing values if training had some; `None` for an ordered column.
    n_places: Option<u32>,
    /// The value imputed for a missing value.
    fill: f64,
}

impl DensityAxis {
    /// The range of a column with a margin (half a step if values have a resolution), and the number of outliers outside it.
    fn of(data: &Dataset, column: usize) -> Result<(DensityAxis, usize)> {
        let numbers = data.features().numbers(column);
        let column = &data.features().columns()[column];
        if let Some(row) = numbers.iter().position(|x| x.is_infinite()) {
            let (name, value) = (&column.name, numbers[row]);
            return Err(Error::row(row, format!("column '{name}' is {value}; a density tree needs finite values")));
        }
        if let Some(levels) = column.levels() {
            let (n, nominal) = (levels.len().max(1), column.kind == ColumnKind::Nominal);
            let lost = nominal && numbers.iter().any(|x| x.is_nan());
            let (n_places, middle) = (n + usize::from(lost), ((n - 1) / 2) as f64);
            let axis = DensityAxis {
                low: -0.5,
                high: n_places as f64 - 0.5,
                step: 1.0,
                n_places: nominal.then_some(n_places as u32),
                fill: if lost { n as f64 } else { middle },
            };
            return Ok((axis, 0));
        }
        let (low, high) = fences(data, &numbers);
        let n_far = numbers.iter().filter(|x| **x < low || **x > high).count();
        let values: Vec<f64> = numbers.into_iter().filter(|x| !x.is_nan()).map(|x| x.clamp(low, high)).collect();
        let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), &x| (l.min(x), m.max(x)));
        let step = density::step(&values);
        let room = if step > 0.0 { step / 2.0 } else { 0.005 * (most - least) };
        let (low, high) = match least <= most {
            true if least - room < most + room => (least - room, most + room),
            // A constant column: an interval of length 1, or wider if the floating-point resolution requires it.
            true => (least - 0.5f64.max(least.abs() * 1e-9), least + 0.5f64.max(least.abs() * 1e-9)),
            false => (0.0, 1.0),
        };
        Ok((DensityAxis { low, high, step, n_places: None, fill: low / 2.0 + high / 2.0 }, n_far))
    }

    /// The position of each category: the most frequent of these rows first, so that a split separates frequent from rare categories.
    fn places(&self, column: &[f64], rows: &[u32], weight: impl Fn(u32) -> f64) -> Vec<u32> {
        let Some(n) = self.n_places else { return Vec::new() };
        let mut weights = vec![0.0; n as usize];
        rows.iter().for_each(|&row| weights[column[row as usize] as usize] += weight(row));
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let mut places = vec![0; weights.len()];
        order.iter().enumerate().for_each(|(place, &category)| places[category] = place as u32);
        places
    }
}

/// Values farther from the central 90 % of the values than this many times its width are outliers.
pub const OUTLIER_SPREADS: f64 = 2.0;

/// The range of a column without outliers.
fn fences(data: &Dataset, numbers: &[f64]) -> (f64, f64) {
    let mut order: Vec<usize> = (0..numbers.len()).filter(|&row| !numbers[row].is_nan()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let total: f64 = order.iter().map(|&row| data.row_weight(row)).sum();
    let quantile = |share: f64| {
        let mut sum = 0.0;
        let reached = order.iter().find(|&&row| {
            sum += data.row_weight(row);
            sum >= share * total
        });
        reached.or(order.last()).map_or(0.0, |&row| numbers[row])
    };
    let (low, high) = (quantile(0.05), quantile(0.95));
    // Halve first: the difference of very large numbers overflows.
    let reach = OUTLIER_SPREADS * (high / 2.0 - low / 2.0) * 2.0;
    let all = (-1e150, 1e150);
    if reach > 0.0 { ((low - reach).max(all.0), (high + reach).min(all.1)) } else { all }
}

/// A value, or the position of a category.
fn placed(place: &[u32], x: f64) -> f64 {
    place.get(x as usize).map_or(x, |&place| f64::from(place))
}

/// The columns with missing values imputed and values clipped to their ranges.
fn filled(features: &Features, axes: &[DensityAxis]) -> Vec<Vec<f64>> {
    let fill = |(f, axis): (usize, &DensityAxis)| {
        let value = |x: f64| match axis.n_places {
            _ if x.is_nan() => axis.fill,
            // An unseen category is treated as missing.
            Some(n) if x >= f64::from(n) => axis.fill,
            Some(_) => x,
            None => x.clamp(axis.low, axis.high),
        };
        features.numbers(f).into_iter().map(value).collect()
    };
    axes.iter().enumerate().map(fill).collect()
}

/// Prior and density of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassDensity {
    /// Its prior: the weighted fraction of the training rows.
    pub share: f64,
    /// The position of each category of each nominal column; empty for other columns.
    place: Vec<Vec<u32>>,
    /// The density of its rows.
    pub density: BoxDensity,
}

/// A fitted density tree.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedDensity {
    classes: Vec<Option<ClassDensity>>,
    axes: Vec<DensityAxis>,
}

impl FittedDensity {
    /// The densities of the classes; none for a class without training rows.
    pub fn classes(&self) -> &[Option<ClassDensity>] {
        &self.classes
    }

    /// The log of prior times density for each class; `near` moves rows outside the box to its nearest side.
    fn log_joint(&self, columns: &[Vec<f64>], row: usize, near: bool) -> Vec<f64> {
        let log = |class: &Option<ClassDensity>| {
            class.as_ref().map_or(f64::NEG_INFINITY, |class| {
                let x = |j: usize| placed(&class.place[j], columns[j][row]);
                let density = if near { class.density.log_density_near(x) } else { class.density.log_density(x) };
                class.share.ln() + density
            })
        };
        self.classes.iter().map(log).collect()
    }

    /// A readable description of a box.
    fn format_box(&self, class: &ClassDensity, cell: &DensityBox, schema: &Schema) -> String {
        let side = |&(j, low, high): &(usize, f64, f64)| {
            let feature = &schema.features[j];
            if class.place[j].is_empty() {
                return format!("{} {} to {}", feature.name, number(low), number(high));
            }
            let inside = |code: &usize| (low..=high).contains(&f64::from(class.place[j][*code]));
            let names: Vec<&str> = (0..class.place[j].len())
                .filter(inside)
                .map(|code| feature.levels.get(code).map_or("missing", String::as_str))
                .collect();
            format!("{} in {{{}}}", feature.name, names.join(", "))
        };
        let mut sides = cell.sides.clone();
        sides.sort_by_key(|side| side.0);
        let words: Vec<String> = sides.iter().map(side).collect();
        if words.is_empty() { "everywhere".into() } else { words.join(", ") }
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let fitted = FittedDensity { classes: sections.json("classes")?, axes: sections.json("axes")? };
        let d = header.schema.features.len();
        let class =
            |c: &ClassDensity| c.share > 0.0 && c.share <= 1.0 + 1e-9 && c.place.len() == d && c.density.is_sound(d);
        let ranges = fitted.axes.len() == d && fitted.axes.iter().all(|axis| axis.low <= axis.high);
        let some = fitted.classes.iter().flatten().next().is_some();
        if !ranges
            || !some
            || fitted.classes.len() != header.schema.classes.len()
            || !fitted.classes.iter().flatten().all(class)
        {
            return Err(Error::model_file("the densities of the model are inconsistent"));
        }
        Ok(Box::new(fitted))
    }
}

impl Fitted for FittedDensity {
    fn output(&self) -> Output {
        Output::Probabilities
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let columns = filled(features, &self.axes);
        let mut out = Vec::with_capacity(features.n_rows() * self.classes.len());
        let mut add = |row: usize| {
            let logs = self.log_joint(&columns, row, true);
            let most = logs.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            let share = |class: &Option<ClassDensity>| class.as_ref().map_or(0.0, |class| class.share);
            let weights: Vec<f64> = if most == f64::NEG_INFINITY {
                self.classes.iter().map(share).collect()
            } else {
                logs.iter().map(|log| (log - most).exp()).collect()
            };
            let total: f64 = weights.iter().sum();
            out.extend(weights.iter().map(|w| w / total));
        };
        (0..features.n_rows()).for_each(&mut add);
        Ok(out)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("axes", &self.axes)?;
        sections.put_json("classes", &self.classes)
    }

    fn text(&self, schema: &Schema) -> String {
        const SHOWN: usize = 10;
        let mut text = String::new();
        for (name, class) in schema.classes.iter().zip(&self.classes) {
            let Some(class) = class else {
                text.push_str(&format!("{name}: no rows\n"));
                continue;
            };
            let boxes = class.density.boxes();
            text.push_str(&format!("{name}: {:.1}% of the rows, {} boxes\n", 100.0 * class.share, boxes.len()));
            for cell in boxes.iter().take(SHOWN) {
                let (share, density) = (100.0 * cell.mass, number(cell.log_density));
                let words = self.format_box(class, cell, schema);
                text.push_str(&format!("  {share:5.1}% of them: {words}   [log density {density}]\n"));
            }
            if boxes.len() > SHOWN {
                text.push_str(&format!("  ... {} more boxes\n", boxes.len() - SHOWN));
            }
        }
        text
    }

    fn explain_row(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        let columns = filled(&features.select(&[row as u32]).ok()?, &self.axes);
        let mut text = String::new();
        for (name, class) in schema.classes.iter().zip(&self.classes) {
            let Some(class) = class else { continue };
            let x = |j: usize| placed(&class.place[j], columns[j][0]);
            let boxes = class.density.boxes();
            let holds = |cell: &&DensityBox| cell.sides.iter().all(|&(j, low, high)| (low..=high).contains(&x(j)));
            let words = boxes.iter().find(holds).map_or_else(String::new, |cell| self.format_box(class, cell, schema));
            let (share, density) = (100.0 * class.share, number(class.density.log_density_near(x)));
            text.push_str(&format!("{name}: {share:.1}% of the rows, log density {density} in {words}\n"));
        }
        Some(text)
    }

    fn log_density(&self, features: &Features) -> Option<Vec<f64>> {
        let columns: Vec<Vec<f64>> = filled(features, &self.axes);
        let raw: Vec<Vec<f64>> = (0..self.axes.len()).map(|f| features.numbers(f)).collect();
        let outside = |row: usize| {
            self.axes
                .iter()
                .zip(&raw)
                .any(|(axis, x)| axis.n_places.is_none() && (x[row] < axis.low || x[row] > axis.high))
        };
        let of_row = |row: usize| {
            if outside(row) {
                return f64::NEG_INFINITY;
            }
            let logs = self.log_joint(&columns, row, false);
            let most = logs.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            if most == f64::NEG_INFINITY {
                most
            } else {
                most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
            }
        };
        Some((0..features.n_rows()).map(of_row).collect())
    }
}

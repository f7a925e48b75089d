//! Density trees: a density of the features for each class, and the class by Bayes' rule.
//!
//! **Idea.** Each class gets a [density tree](crate::tree::density): boxes with a constant height, which integrate to 1. A new row's class probabilities are the classes' shares times their densities there. The
//! densities themselves are what sets it apart: how likely a row is at all, and the log-likelihood of the data.
//!
//! **Formula.** P(k | x) = pi_k p_k(x) / sum_j pi_j p_j(x). Where all densities are 0, the shares pi. Missing values are put in the middle of their column's range.

use super::{Capabilities, Context, Info, Learner, Trained};
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Features, Schema, Task};
use crate::model::{Certificate, Fitted, Header, Output, Proof, Status};
use crate::param::Range;
use crate::params;
use crate::section::Sections;
use crate::tree::density::{BoxDensity, DensityLimits};
use serde::{Deserialize, Serialize};

params! {
    /// A density of the features for each class, constant on boxes; the class by Bayes' rule.
    pub struct DensityTree("density-tree") {
        /// Every box has at least this many rows of its class, by weight.
        min_samples_leaf: f64 = 5.0, range Range::more_than(0.0), tune Log(1, 100);
        /// No box is cut out by more cuts than this.
        max_depth: usize = 50, range Range::between(0.0, 1000.0), tune Linear(2, 50);
    }
}

static INFO: Info = Info {
    name: "density-tree",
    summary: "a density of the features for each class, constant on boxes and integrating to 1; the class by Bayes' rule",
    capabilities: Capabilities {
        tasks: &[Task::Classification],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: false,
        probabilities: true,
        random: false,
    },
};

impl Learner for DensityTree {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let (codes, labels) = data.classes()?;
        let ranges: Vec<(f64, f64)> = (0..data.features().n_columns()).map(|f| range(data.features(), f)).collect();
        let columns = filled(data.features(), &ranges);
        let (low, high): (Vec<f64>, Vec<f64>) = ranges.iter().copied().unzip();
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
            let x = |row: u32, j: usize| columns[j][row as usize];
            let density = BoxDensity::fit(rows.clone(), x, weight, (low.clone(), high.clone()), limits);
            let of_row = |&row: &u32| weight(row) * density.log_density(|j| columns[j][row as usize]);
            likelihood += rows.iter().map(of_row).sum::<f64>();
            classes.push(Some(ClassDensity { share, density }));
        }
        let mean = likelihood / total;
        let certificate = Certificate {
            objective: "mean negative log-likelihood (nats) of the features, given the class".into(),
            value: Some(-mean),
            status: Status::Done,
            proofs: vec![Proof::Nothing { because: "each cut was chosen for its box".into() }],
            notes: vec![format!("log-likelihood of the training data: {likelihood:.6} ({mean:.6} for each row)")],
        };
        let fitted = FittedDensity { classes, ranges };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The range of a column with some room; for categories an interval of length 1 around each code.
fn range(features: &Features, column: usize) -> (f64, f64) {
    if let Some(levels) = features.columns()[column].levels() {
        return (-0.5, levels.len().max(1) as f64 - 0.5);
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for x in features.numbers(column).into_iter().filter(|x| !x.is_nan()) {
        low = low.min(x.clamp(-1e150, 1e150));
        high = high.max(x.clamp(-1e150, 1e150));
    }
    let room = 0.005 * (high - low);
    match low <= high {
        true if low - room < high + room => (low - room, high + room),
        // One value only: an interval of length 1, or as little as numbers of this size can tell apart.
        true => (low - 0.5f64.max(low.abs() * 1e-9), low + 0.5f64.max(low.abs() * 1e-9)),
        false => (0.0, 1.0),
    }
}

/// The columns with missing values in the middle of their ranges, and all values within them.
fn filled(features: &Features, ranges: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let fill = |(f, &(low, high)): (usize, &(f64, f64))| {
        let middle = low / 2.0 + high / 2.0;
        features.numbers(f).into_iter().map(|x| if x.is_nan() { middle } else { x.clamp(low, high) }).collect()
    };
    ranges.iter().enumerate().map(fill).collect()
}

/// The share and the density of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassDensity {
    /// Its share of the training rows, by weight.
    pub share: f64,
    /// The density of its rows.
    pub density: BoxDensity,
}

/// Fitted densities.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedDensity {
    classes: Vec<Option<ClassDensity>>,
    ranges: Vec<(f64, f64)>,
}

impl FittedDensity {
    /// The densities of the classes; none for a class without training rows.
    pub fn classes(&self) -> &[Option<ClassDensity>] {
        &self.classes
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let fitted = FittedDensity { classes: sections.json("classes")?, ranges: sections.json("ranges")? };
        let d = header.schema.features.len();
        let class = |c: &ClassDensity| c.share > 0.0 && c.share <= 1.0 + 1e-9 && c.density.is_sound(d);
        let ranges = fitted.ranges.len() == d && fitted.ranges.iter().all(|(l, h)| l <= h);
        let some = fitted.classes.iter().flatten().next().is_some();
        if !ranges
            || !some
            || fitted.classes.len() != header.schema.classes.len()
            || !fitted.classes.iter().flatten().all(class)
        {
            return Err(Error::model_file("the densities don't hold together"));
        }
        Ok(Box::new(fitted))
    }
}

impl Fitted for FittedDensity {
    fn output(&self) -> Output {
        Output::Probabilities
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let columns = filled(features, &self.ranges);
        let mut out = Vec::with_capacity(features.n_rows() * self.classes.len());
        let mut add = |row: usize| {
            let log = |class: &Option<ClassDensity>| {
                class.as_ref().map_or(f64::NEG_INFINITY, |class| {
                    class.share.ln() + class.density.log_density_near(|j| columns[j][row])
                })
            };
            let logs: Vec<f64> = self.classes.iter().map(log).collect();
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
        sections.put_json("ranges", &self.ranges)?;
        sections.put_json("classes", &self.classes)
    }

    fn text(&self, schema: &Schema) -> String {
        let line = |(name, class): (&String, &Option<ClassDensity>)| match class {
            Some(class) => {
                format!("{name}: {:.1}% of the rows, {} boxes\n", 100.0 * class.share, class.density.n_cells())
            }
            None => format!("{name}: no rows\n"),
        };
        schema.classes.iter().zip(&self.classes).map(line).collect()
    }
}

//! Nearest neighbours: a row is what the training rows near it are.
//!
//! **Idea.** Keep the training rows. For a new row find the k nearest (or all within a radius): they vote for a class, or their mean is the number. What *near* means
//! is the metric's to say; how much each counts, the weights'; what happens when two classes get equally many votes, the tie rule's.
//!
//! **Formula.** Class c gets `sum_i w_i [y_i = c] / sum_i w_i` over the neighbours i, a number is `sum_i w_i y_i / sum_i w_i`; see [`crate::neighbor`] for metrics, weights and ties.
//! With `max_neighbors` k is chosen by its leave-one-out error, for all k at once.
//!
//! **Cost.** Training builds an index; predicting searches it. The neighbours found are exactly those that comparing all rows finds.
//! **References.** Fix and Hodges (1951); Cover and Hart, Nearest neighbor pattern classification (1967).

mod fitted;

pub use fitted::NeighborModel;

use super::{Capabilities, Context, Info, Learner, Trained};
use crate::error::{Error, Result};
use crate::matrix::{Dataset, EncodeOptions, Encoder, Task};
use crate::model::{Certificate, Proof, Status};
use crate::neighbor::choice::Kind;
use crate::neighbor::condense;
use crate::neighbor::index::Index;
use crate::neighbor::leave_one_out::{best_k, classification_errors, regression_errors};
use crate::neighbor::metric::Metric;
use crate::neighbor::mixed::{Missing, Mixed};
use crate::neighbor::rows::Rows;
use crate::neighbor::vote::{Tie, Vote};
use crate::neighbor::weight::{KernelShape, Weights};
use crate::neighbor::whiten::Whitening;
use crate::param::Range;
use crate::table::ColumnKind;
use crate::{choice, params};
use fitted::{Answers, LeftOut, RowForm, Rules};

choice! {
    /// How far apart two rows are.
    pub enum MetricName {
        /// Straight-line distance.
        Euclidean = "euclidean",
        /// Sum of the absolute differences.
        Manhattan = "manhattan",
        /// Largest absolute difference.
        Chebyshev = "chebyshev",
        /// The p-th root of the sum of p-th powers.
        Minkowski = "minkowski",
        /// One minus the cosine of the angle.
        Cosine = "cosine",
        /// Euclidean after taking out scale and correlation, estimated from the training rows.
        Mahalanobis = "mahalanobis",
        /// Share of the columns that differ.
        Hamming = "hamming",
        /// Gower's: numbers in parts of their range, categories equal or not, missing values left out.
        Mixed = "mixed",
        /// The same, with a missing value as far from everything as can be.
        MixedFar = "mixed_far",
    }
}

choice! {
    /// How much each neighbour counts.
    pub enum WeightName {
        /// All the same.
        Uniform = "uniform",
        /// Inverse distance; an exact hit wins.
        Distance = "distance",
        /// A kernel: `1 - u`.
        Triangular = "triangular",
        /// A kernel: `1 - u^2`.
        Epanechnikov = "epanechnikov",
        /// A kernel: `(1 - u^2)^2`.
        Biweight = "biweight",
        /// A kernel: `(1 - u^2)^3`.
        Triweight = "triweight",
        /// A kernel: `(1 - u^3)^3`.
        Tricube = "tricube",
        /// A kernel: `cos(pi u / 2)`.
        Cosine = "cosine",
        /// A kernel: `exp(-u^2 / 2)`.
        Gaussian = "gaussian",
    }
}

choice! {
    /// What decides between classes with equally many votes.
    pub enum TieName {
        /// The class that comes first.
        First = "first",
        /// The next neighbour votes too, and so on.
        NextPoint = "next_point",
        /// The farthest neighbour is dropped, and so on.
        DropFarthest = "drop_farthest",
        /// The sum of inverse distances.
        Distance = "distance",
        /// The neighbours by another metric.
        OtherMetric = "other_metric",
    }
}

choice! {
    /// The kind of index.
    pub enum Algorithm {
        /// What suits the rows.
        Auto = "auto",
        /// A tree of boxes.
        KdTree = "kd_tree",
        /// A vantage-point tree.
        BallTree = "ball_tree",
        /// Every row is read.
        Brute = "brute",
    }
}

choice! {
    /// Which training rows are kept.
    pub enum Keep {
        /// All of them.
        All = "all",
        /// Hart's condensed set: those needed to classify all others by their nearest neighbour.
        Condensed = "condensed",
        /// Wilson's edited set: those that their neighbours agree with.
        Edited = "edited",
    }
}

params! {
    /// The nearest training rows vote, or their mean is taken.
    pub struct NearestNeighbors("nearest-neighbors") {
        /// How many neighbours count.
        n_neighbors: usize = 5, range Range::at_least(1.0), tune Log(1, 50);
        /// Choose the number of neighbours from 1 to this by leave-one-out error, in place of n_neighbors.
        max_neighbors: Option<usize> = None, range Range::at_least(1.0);
        /// Count all training rows within this distance, in place of the nearest n_neighbors; the nearest alone where there are none.
        radius: Option<f64> = None, range Range::more_than(0.0);
        /// How much each neighbour counts.
        weights: WeightName = WeightName::Uniform, tune Each;
        /// The width of a kernel; without one, the distance of the next neighbour after those that count.
        kernel_width: Option<f64> = None, range Range::more_than(0.0);
        /// How far apart two rows are.
        metric: MetricName = MetricName::Minkowski;
        /// The power of the minkowski metric: 1 is manhattan, 2 is euclidean.
        p: f64 = 2.0, range Range::between(1.0, 1000.0);
        /// Bring numbers to mean 0 and standard deviation 1 first.
        standardize: bool = false, tune Each;
        /// What decides between classes with equally many votes.
        tie: TieName = TieName::First;
        /// The other metric of tie = other_metric.
        tie_metric: MetricName = MetricName::Manhattan;
        /// The kind of index. All give the same neighbours.
        algorithm: Algorithm = Algorithm::Auto;
        /// Which training rows are kept (classification).
        keep: Keep = Keep::All;
    }
}

static INFO: Info = Info {
    name: "nearest-neighbors",
    summary: "the k nearest training rows vote, or their mean is taken; exact search, many metrics",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: true,
        weights: false,
        missing: true,
        nominal: true,
        sparse: false,
        probabilities: true,
        random: false,
    },
};

impl Learner for NearestNeighbors {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let form = self.form(data);
        let (mut values, width) = form.rows(data.features());
        let mut answers = Answers::of(data.target());
        if self.keep != Keep::All {
            let kept = self.kept_rows(&values, width, &answers, data)?;
            values = kept.iter().flat_map(|&r| values[r as usize * width..][..width].to_vec()).collect();
            answers = answers.select(&kept);
        }
        let index = self.index(&values, width, self.metric, data)?;
        let other = match self.tie {
            TieName::OtherMetric => Some(self.index(&values, width, self.tie_metric, data)?),
            _ => None,
        };
        let rules = Rules {
            k: self.n_neighbors.min(index.len()),
            radius: self.radius,
            weights: self.weighting()?,
            tie: self.tie(),
        };
        let mut model = NeighborModel { form, index, other, rules, answers };
        let mut certificate = plain_certificate(&model, data.n_rows());
        if let Some(most) = self.max_neighbors {
            certificate = choose_k(&mut model, &values, width, most)?;
        }
        Ok(Trained { fitted: Box::new(model), certificate })
    }
}

impl NearestNeighbors {
    /// How rows of features become rows of numbers.
    fn form(&self, data: &Dataset) -> RowForm {
        match self.metric {
            MetricName::Mixed | MetricName::MixedFar => RowForm::Raw,
            _ => {
                let options = EncodeOptions { standardize: self.standardize, ..Default::default() };
                RowForm::Encoded(Encoder::fit(data.features(), options))
            }
        }
    }

    fn index(&self, values: &[f64], width: usize, metric: MetricName, data: &Dataset) -> Result<Index> {
        let wish = match self.algorithm {
            Algorithm::Auto => None,
            Algorithm::KdTree => Some(Kind::BoxTree),
            Algorithm::BallTree => Some(Kind::VantageTree),
            Algorithm::Brute => Some(Kind::Scan),
        };
        let rows = Rows::row_major(values, width)?;
        let metric = self.metric_named(metric, &rows, data)?;
        // Half the memory and twice the speed, where single precision holds the very same numbers.
        let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        if narrow.iter().zip(values).all(|(&n, &v)| f64::from(n) == v) {
            return Index::build_as(&Rows::row_major_f32(&narrow, width)?, metric, wish);
        }
        Index::build_as(&rows, metric, wish)
    }

    fn metric_named(&self, name: MetricName, rows: &Rows<'_>, data: &Dataset) -> Result<Metric> {
        let raw = matches!(self.metric, MetricName::Mixed | MetricName::MixedFar);
        if raw != matches!(name, MetricName::Mixed | MetricName::MixedFar) {
            let need =
                format!("metric = {} with tie_metric = {name}: a mixed metric takes rows in another form", self.metric);
            return Err(Error::Unsupported { learner: INFO.name.into(), need });
        }
        let mixed = |missing| {
            let nominal: Vec<bool> = data.features().columns().iter().map(|c| c.kind == ColumnKind::Nominal).collect();
            Mixed::fitted(rows, &nominal, missing).map(Metric::Mixed)
        };
        Ok(match name {
            MetricName::Euclidean => Metric::Euclidean,
            MetricName::Manhattan => Metric::Manhattan,
            MetricName::Chebyshev => Metric::Chebyshev,
            MetricName::Minkowski => Metric::Minkowski { p: self.p },
            MetricName::Cosine => Metric::Cosine,
            MetricName::Mahalanobis => Metric::Mahalanobis(Whitening::estimated(rows)?),
            MetricName::Hamming => Metric::Hamming,
            MetricName::Mixed => mixed(Missing::Skip)?,
            MetricName::MixedFar => mixed(Missing::Far)?,
        })
    }

    fn weighting(&self) -> Result<Weights> {
        let kernel = |shape| Weights::Kernel { shape, width: self.kernel_width };
        let weights = match self.weights {
            WeightName::Uniform => Weights::Uniform,
            WeightName::Distance => Weights::Distance,
            WeightName::Triangular => kernel(KernelShape::Triangular),
            WeightName::Epanechnikov => kernel(KernelShape::Epanechnikov),
            WeightName::Biweight => kernel(KernelShape::Biweight),
            WeightName::Triweight => kernel(KernelShape::Triweight),
            WeightName::Tricube => kernel(KernelShape::Tricube),
            WeightName::Cosine => kernel(KernelShape::Cosine),
            WeightName::Gaussian => kernel(KernelShape::Gaussian),
        };
        weights.check()?;
        Ok(weights)
    }

    fn tie(&self) -> Tie {
        match self.tie {
            TieName::First => Tie::FirstClass,
            TieName::NextPoint => Tie::NextPoint,
            TieName::DropFarthest => Tie::DropFarthest,
            TieName::Distance => Tie::Distance,
            TieName::OtherMetric => Tie::OtherMetric,
        }
    }

    /// The rows of a condensed or edited set.
    fn kept_rows(&self, values: &[f64], width: usize, answers: &Answers, data: &Dataset) -> Result<Vec<u32>> {
        let Answers::Classes { codes, n_classes } = answers else {
            let need = format!("keep = {} for numbers (it is for classes)", self.keep);
            return Err(Error::Unsupported { learner: INFO.name.into(), need });
        };
        let rows = Rows::row_major(values, width)?;
        if self.keep == Keep::Condensed {
            return condense::condensed(&rows, codes, &self.metric_named(self.metric, &rows, data)?);
        }
        let index = self.index(values, width, self.metric, data)?;
        let neighbors = index.kneighbors(&rows, self.n_neighbors.saturating_add(1))?.without_self(self.n_neighbors);
        let kept = condense::edited(&neighbors, codes, *n_classes)?;
        if kept.is_empty() {
            return Err(Error::data("keep = edited: every row is outvoted by its neighbours, so none would be kept"));
        }
        Ok(kept)
    }
}

fn plain_certificate(model: &NeighborModel, n_rows: usize) -> Certificate {
    let because = "the training rows are the model; the search for neighbours is exact".to_string();
    let mut notes = vec![format!("index: {:?}, because {}", model.index.choice().kind, model.index.choice().reason)];
    if model.index.len() < n_rows {
        notes.push(format!("{} of {n_rows} rows are kept", model.index.len()));
    }
    let proofs = vec![Proof::Nothing { because }];
    Certificate { objective: "nothing".into(), value: None, status: Status::Done, proofs, notes }
}

/// Sets k to the best of 1 to `most` by leave-one-out error.
fn choose_k(model: &mut NeighborModel, values: &[f64], width: usize, most: usize) -> Result<Certificate> {
    let most = most.min(model.index.len().saturating_sub(1));
    if most == 0 {
        return Err(Error::data("max_neighbors: leave-one-out needs two rows or more"));
    }
    let rows = Rows::row_major(values, width)?;
    let neighbors = model.index.kneighbors(&rows, most + 2)?.without_self(most + 1);
    let Rules { weights, tie, .. } = &model.rules;
    let (objective, errors) = match &model.answers {
        Answers::Classes { codes, n_classes } => {
            let vote = Vote { classes: codes, n_classes: *n_classes, weights, tie };
            let model = &*model;
            let search = move |i: usize| LeftOut::boxed(model, &values[i * width..][..width], i as u32);
            ("leave-one-out error rate", classification_errors(&neighbors, &vote, most, &search)?)
        }
        Answers::Values { values, n_outputs } => {
            ("leave-one-out mean squared error", regression_errors(&neighbors, weights, values, *n_outputs, most)?)
        }
    };
    model.rules.k = best_k(&errors);
    let mut certificate = Certificate::optimal(
        objective,
        errors[model.rules.k - 1],
        format!("k from 1 to {most} (k = {})", model.rules.k),
    );
    certificate.notes = plain_certificate(model, model.index.len()).notes;
    Ok(certificate)
}

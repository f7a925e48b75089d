//! K-nearest neighbors: predicts from the nearest training rows.
//!
//! **Idea.** Store the training rows. For a new row find the k nearest (or all within a radius): they vote for a class, or their mean is the prediction. The metric defines distances, the weights
//! define how much each neighbor counts, and the tie rule decides between classes with equally many votes.
//!
//! **Formula.** Class c gets `sum_i w_i [y_i = c] / sum_i w_i` over the neighbors i, a number is `sum_i w_i y_i / sum_i w_i`; see [`crate::search`] for metrics, weights and ties.
//! With `max_neighbors` k is chosen by its leave-one-out error, for all k at once.
//!
//! **Cost.** Training builds an index; prediction searches it. The neighbors are exactly those of brute force, unless an approximate index is chosen (`algorithm = hnsw`).
//!
//! **Range.** Numbers above 1e300 in absolute value are treated as 1e300.
//!
//! **References.** Fix and Hodges (1951); Cover and Hart, Nearest neighbor pattern classification (1967).
//!
//! | file | what it holds |
//! |---|---|
//! | [`parameters`] | the parameters, and custom functions |
//! | `space` | conversion of rows to queries, and the index |
//! | `fitted` | the model: neighbors, predictions, adding rows, files |

mod fitted;
mod map;
pub mod parameters;
mod space;

pub use fitted::NeighborModel;
pub use parameters::{
    CustomFunctions, MetricName, NearestNeighbors, PrototypeSelection, SearchAlgorithm, TieName, WeightName,
};

use super::{Capabilities, Context, Family, Learner, LearnerInfo, PathLearner, SplitPredictions, Trained};
use crate::search::condense;
use crate::search::index::Index;
use crate::search::leave_one_out::{best_k, classification_errors, regression_errors};
use crate::search::sparse::SparseIndex;
use crate::search::strings::{StringIndex, StringMetric};
use crate::search::vote::Vote;
use crate::search::weight::NeighborWeights;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::mixed::{Missing, Mixed};
use ermine_core::distance::rows::RowMatrix;
use ermine_core::distance::whiten::Whitening;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, SparseRows, Splits, Task};
use ermine_core::model::{Certificate, Fitted, Output, Proof, Status};
use ermine_core::param::{ParamSpec, Parameters, Value};
use ermine_core::progress::{Event, report};
use ermine_core::table::ColumnKind;
use fitted::{LeaveOneOutNeighbors, StoredTargets, VotingRules};
use parameters::RowForm;
use space::{EncodedRows, NeighborIndex, RowEncoder};

static INFO: LearnerInfo = LearnerInfo {
    name: "nearest-neighbors",
    summary: "majority class or mean of the k nearest training rows; exact search, many metrics",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: true,
        weights: false,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: false,
    },
    family: Family::Neighbors,
};

impl Learner for NearestNeighbors {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        Ok(trained(self.clone().with(CustomFunctions::default()).learn(data)?))
    }

    /// Only if the number of neighbors doesn't affect training. Text and categories are not converted by a schema, so they have no path.
    fn path(&self) -> Option<&dyn PathLearner> {
        let plain = self.radius.is_none() && self.max_neighbors.is_none() && self.keep == PrototypeSelection::All;
        (plain && self.metric.form() == RowForm::Encoded).then_some(self)
    }
}

/// The largest number of neighbors is searched once; smaller numbers use the first of them.
impl PathLearner for NearestNeighbors {
    fn parameter(&self) -> &'static str {
        "n_neighbors"
    }

    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        _: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)> {
        let (model, _) = self.clone().with(CustomFunctions::default()).learn(data)?;
        Ok((model.output(), model.predict_for(&self.numbers_of(values), features)?))
    }

    /// One index over all rows serves all folds: neighbors in a row's own fold are skipped. Not possible if anything is estimated from the training rows (a scale, a covariance), if ties need further
    /// neighbors, if the search is approximate, or if rows are sparse.
    fn predict_splits(
        &self,
        data: &Dataset,
        values: &[Value],
        splits: &Splits,
        context: &Context<'_>,
    ) -> Result<Option<SplitPredictions>> {
        let estimated = self.standardize || (self.metric == MetricName::Mahalanobis && self.covariance.is_none());
        let asks = matches!(self.tie, TieName::NextPoint | TieName::OtherMetric);
        let plain =
            !estimated && !asks && self.algorithm != SearchAlgorithm::Hnsw && !space::has_sparse(data.features());
        let Some((fold, n_folds)) = splits.folds().filter(|_| plain) else {
            return Ok(None);
        };
        let (model, _) = self.clone().with(CustomFunctions::default()).learn(data)?;
        let go_on = || report(context.observer, Event::Step { done: 0, score: None });
        Ok(Some((model.output(), model.predict_folds(&self.numbers_of(values), fold, n_folds, &go_on)?)))
    }
}

impl NearestNeighbors {
    /// The requested numbers of neighbors.
    fn numbers_of(&self, values: &[Value]) -> Vec<usize> {
        values.iter().map(|value| value.number().map_or(self.n_neighbors, |k| k as usize)).collect()
    }
}

/// Nearest neighbors with custom functions ([`NearestNeighbors::with`]).
#[derive(Clone)]
pub struct NearestNeighborsOf {
    params: NearestNeighbors,
    own: CustomFunctions,
}

impl Parameters for NearestNeighborsOf {
    fn owner(&self) -> &'static str {
        self.params.owner()
    }
    fn specs(&self) -> Vec<ParamSpec> {
        self.params.specs()
    }
    fn get(&self, name: &str) -> Option<Value> {
        self.params.get(name)
    }
    fn put(&mut self, name: &str, value: &Value) -> bool {
        self.params.put(name, value)
    }
    fn fits(&self, name: &str, value: &Value) -> bool {
        self.params.fits(name, value)
    }
}

impl Learner for NearestNeighborsOf {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        Ok(trained(self.learn(data)?))
    }
}

fn trained((model, certificate): (NeighborModel, Certificate)) -> Trained {
    Trained { fitted: Box::new(model), certificate }
}

impl NearestNeighborsOf {
    fn learn(&self, data: &Dataset) -> Result<(NeighborModel, Certificate)> {
        let params = &self.params;
        if let (Some(_), Some(most)) = (params.radius, params.max_neighbors) {
            let (owner, name, value) = (INFO.name.into(), "max_neighbors".into(), most.to_string());
            return Err(Error::Param { owner, name, value, allowed: "none if a radius is set".into() });
        }
        let reader = RowEncoder::fit(self.form(), data.features(), params.standardize)?;
        let mut rows = reader.read(data.features())?;
        let mut answers = StoredTargets::of(data.target());
        // The parameters of a metric are estimated from all rows, even if some are dropped later.
        let measure = self.measure(&rows, None, data)?;
        let wanted = (params.tie == TieName::OtherMetric).then_some(params.tie_metric);
        let other = wanted.map(|name| self.measure(&rows, Some(name), data)).transpose()?;
        let kept = self.kept_rows(&rows, &answers, &measure)?;
        if let Some(kept) = &kept {
            rows = rows.select(kept);
            answers = answers.select(kept);
        }
        let place = self.place(&rows, measure)?;
        let other = other.map(|other| self.place(&rows, other)).transpose()?;
        let weights = self.own.weights.clone().map_or_else(|| params.weighting(), NeighborWeights::Own);
        weights.check()?;
        let rules = VotingRules {
            k: params.n_neighbors,
            radius: params.radius,
            weights,
            tie: params.tie_rule(),
            errors: Vec::new(),
        };
        let mut model = NeighborModel { reader, place, other, rules, answers, kept };
        let chosen = params.max_neighbors.map(|most| choose_k(&mut model, &rows, most)).transpose()?;
        let searched = model.k() + usize::from(model.rules.weights.needs_next());
        model.place.state_recall(searched)?;
        let mut certificate = plain_certificate(&model, data.n_rows());
        if let Some(chosen) = chosen {
            // Approximate neighbors prove nothing about k.
            let proofs = if model.place.recall().is_some() { certificate.proofs } else { chosen.proofs };
            certificate = Certificate { proofs, notes: certificate.notes, ..chosen };
        } else if params.radius.is_none() && model.k() < params.n_neighbors {
            let (k, n) = (params.n_neighbors, model.k());
            certificate.notes.push(format!("n_neighbors = {k}, but there are only {n} rows: all of them count"));
        }
        certificate.notes.extend(self.idle_parameters());
        Ok((model, certificate))
    }

    /// Notes on parameters that are set but have no effect.
    fn idle_parameters(&self) -> Vec<String> {
        let NearestNeighbors { metric, p, covariance, weights, kernel_width, .. } = &self.params;
        let own = self.own.metric.is_some();
        let kernel = self.own.weights.is_none() && matches!(self.params.weighting(), NeighborWeights::Kernel { .. });
        let measured = if own { "custom".to_string() } else { metric.to_string() };
        let idle = [
            ("p", *p != 2.0 && (own || *metric != MetricName::Minkowski), format!("metric = {measured}")),
            (
                "covariance",
                covariance.is_some() && (own || *metric != MetricName::Mahalanobis),
                format!("metric = {measured}"),
            ),
            ("kernel_width", kernel_width.is_some() && !kernel, format!("weights = {weights}")),
        ];
        idle.iter()
            .filter(|idle| idle.1)
            .map(|(name, _, why)| format!("{name} is set, but has no effect with {why}"))
            .collect()
    }

    /// The form in which rows are compared.
    fn form(&self) -> RowForm {
        if self.own.metric.is_some() { RowForm::Encoded } else { self.params.metric.form() }
    }

    /// The metric of rows or of text, or another one of the same form.
    fn measure(&self, rows: &EncodedRows, other: Option<MetricName>, data: &Dataset) -> Result<RowMetric> {
        if let Some(other) = other.filter(|other| other.form() != self.form()) {
            let metric = if self.own.metric.is_some() { "custom" } else { self.params.metric.as_str() };
            let need = format!("metric = {metric} with tie_metric = {other}: they compare rows in different forms");
            return Err(Error::Unsupported { learner: INFO.name.into(), need });
        }
        match rows {
            EncodedRows::Texts(_) => self.text_metric(other.unwrap_or(self.params.metric)).map(RowMetric::Text),
            EncodedRows::Rows { values, width } => {
                self.metric(other, &RowMatrix::row_major(values, *width)?, data).map(RowMetric::Rows)
            }
            EncodedRows::Sparse(rows) => self.sparse_metric(other, rows, data).map(RowMetric::Rows),
        }
    }

    /// Builds an index over rows.
    fn place(&self, rows: &EncodedRows, measure: RowMetric) -> Result<NeighborIndex> {
        let (values, width, metric) = match (rows, measure) {
            (EncodedRows::Texts(texts), RowMetric::Text(metric)) => {
                return Ok(NeighborIndex::Texts(StringIndex::build(texts.to_vec(), metric)?));
            }
            (EncodedRows::Sparse(rows), RowMetric::Rows(metric)) => {
                return Ok(NeighborIndex::Sparse(SparseIndex::build(rows.clone(), metric)?));
            }
            (EncodedRows::Rows { values, width }, RowMetric::Rows(metric)) => (values, *width, metric),
            _ => return Err(space::mismatch()),
        };
        let narrow = space::narrowed(values);
        let seen = match &narrow {
            Some(narrow) => RowMatrix::row_major_f32(narrow, width)?,
            None => RowMatrix::row_major(values, width)?,
        };
        Ok(NeighborIndex::Rows(Box::new(Index::build_as(&seen, metric, self.params.wish())?)))
    }

    fn text_metric(&self, name: MetricName) -> Result<StringMetric> {
        let metric = name
            .of_text()
            .filter(|_| matches!(self.params.algorithm, SearchAlgorithm::Auto | SearchAlgorithm::BallTree));
        metric.ok_or_else(|| Error::Unsupported {
            learner: INFO.name.into(),
            need: format!("algorithm = {} for text (it is searched by a ball_tree)", self.params.algorithm),
        })
    }

    /// The metric of sparse rows. An error for metrics that need all columns, or another kind of index.
    fn sparse_metric(&self, other: Option<MetricName>, rows: &SparseRows, data: &Dataset) -> Result<Metric> {
        let refuse = |need: String| Err(Error::Unsupported { learner: INFO.name.into(), need });
        let algorithm = self.params.algorithm;
        if !matches!(algorithm, SearchAlgorithm::Auto | SearchAlgorithm::Brute) {
            return refuse(format!("algorithm = {algorithm} for sparse columns (they are searched by brute)"));
        }
        let name = other.unwrap_or(self.params.metric);
        if other.is_none() && self.own.metric.is_some() || name == MetricName::Mahalanobis {
            let name = if name == MetricName::Mahalanobis { name.as_str() } else { "custom" };
            return refuse(format!("metric = {name} for sparse columns: it needs dense ones"));
        }
        // The other metrics don't use the rows.
        self.metric(other, &RowMatrix::row_major(&[], rows.n_columns.max(1))?, data)
    }

    /// The custom metric, the metric of the parameters, or the second one.
    fn metric(&self, other: Option<MetricName>, rows: &RowMatrix<'_>, data: &Dataset) -> Result<Metric> {
        if let (Some(own), None) = (&self.own.metric, other) {
            return Ok(Metric::Custom(own.clone()));
        }
        let mixed = |missing| {
            let nominal: Vec<bool> = data.features().columns().iter().map(|c| c.kind == ColumnKind::Nominal).collect();
            Mixed::fitted(rows, &nominal, missing).map(Metric::Mixed)
        };
        Ok(match other.unwrap_or(self.params.metric) {
            MetricName::Euclidean => Metric::Euclidean,
            MetricName::Manhattan => Metric::Manhattan,
            MetricName::Chebyshev => Metric::Chebyshev,
            MetricName::Minkowski => Metric::Minkowski { p: self.params.p },
            MetricName::Cosine => Metric::Cosine,
            MetricName::Mahalanobis => Metric::Mahalanobis(match &self.params.covariance {
                Some(covariance) => Whitening::given(covariance, &vec![0.0; rows.n_features()])?,
                None => Whitening::estimated(rows)?,
            }),
            // Text has its own index.
            MetricName::Hamming | MetricName::Edit | MetricName::HammingText => Metric::Hamming,
            MetricName::Mixed => mixed(Missing::Skip)?,
            MetricName::MixedFar => mixed(Missing::Far)?,
        })
    }

    /// The rows of a condensed or edited set, ascending; `None` if all are kept.
    fn kept_rows(&self, rows: &EncodedRows, answers: &StoredTargets, measure: &RowMetric) -> Result<Option<Vec<u32>>> {
        let (keep, k) = (self.params.keep, self.params.n_neighbors);
        if keep == PrototypeSelection::All {
            return Ok(None);
        }
        let unsupported = |need: String| Err(Error::Unsupported { learner: INFO.name.into(), need });
        let StoredTargets::Classes { codes, n_classes } = answers else {
            return unsupported(format!("keep = {keep} for regression (it is for classification)"));
        };
        if keep == PrototypeSelection::Condensed {
            let (EncodedRows::Rows { values, width }, RowMetric::Rows(metric)) = (rows, measure) else {
                return unsupported("keep = condensed for text or sparse columns".into());
            };
            return condense::condensed(&RowMatrix::row_major(values, *width)?, codes, metric).map(Some);
        }
        let neighbors = self.place(rows, measure.clone())?.own_kneighbors(k)?;
        let kept = condense::edited(&neighbors, codes, *n_classes)?;
        if kept.is_empty() {
            return Err(Error::data("keep = edited: every row is outvoted by its neighbors, so none would be kept"));
        }
        Ok(Some(kept))
    }
}

/// How rows of either kind are compared.
#[derive(Clone)]
enum RowMetric {
    Rows(Metric),
    Text(StringMetric),
}

fn plain_certificate(model: &NeighborModel, n_rows: usize) -> Certificate {
    let because = match model.place.recall() {
        None => "the model stores the training rows; the neighbor search is exact".to_string(),
        Some(recall) => format!(
            "the training rows are the model, and the search for neighbors is approximate: it found {:.1}% of the {} nearest of a \
             sample of the rows",
            100.0 * recall,
            model.k()
        ),
    };
    let mut notes = vec![format!("index: {}", model.place.choice())];
    if model.place.len() < n_rows {
        notes.push(format!("{} of {n_rows} rows are kept", model.place.len()));
    }
    let proofs = vec![Proof::Nothing { because }];
    Certificate { objective: "nothing".into(), value: None, status: Status::Done, proofs, notes }
}

/// Chooses k from 1 to `most` by leave-one-out error.
fn choose_k(model: &mut NeighborModel, rows: &EncodedRows, most: usize) -> Result<Certificate> {
    let most = most.min(model.place.len().saturating_sub(1));
    if most == 0 {
        return Err(Error::data("max_neighbors: leave-one-out needs at least two rows"));
    }
    let neighbors = model.place.own_kneighbors(most + 1)?;
    let VotingRules { weights, tie, .. } = &model.rules;
    let (objective, errors) = match &model.answers {
        StoredTargets::Classes { codes, n_classes } => {
            let vote = Vote { classes: codes, n_classes: *n_classes, weights, tie };
            let model = &*model;
            let search = move |i: usize| LeaveOneOutNeighbors::boxed(model, rows, i as u32);
            ("leave-one-out error rate", classification_errors(&neighbors, &vote, most, &search)?)
        }
        StoredTargets::Values { values, n_outputs } => {
            ("leave-one-out mean squared error", regression_errors(&neighbors, weights, values, *n_outputs, most)?)
        }
    };
    let k = best_k(&errors);
    let certificate = Certificate::optimal(objective, errors[k - 1], format!("k from 1 to {most} (k = {k})"));
    (model.rules.k, model.rules.errors) = (k, errors);
    Ok(certificate)
}

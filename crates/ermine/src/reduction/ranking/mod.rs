//! Ranking by a classifier that compares two rows.
//!
//! **Idea.** Every two rows of a query with different grades make a training example: features that compare the two rows, and whether the first one has the higher grade. Any
//! classifier that supports weights learns a preference from these examples; the preference ranks the rows of a new query.
//!
//! | learner | weight of a pair | ranking |
//! |---|---|---|
//! | [`PairwiseRanking`] | equal, by the grades, or by the positions | the sum of all votes for a row: `score_i += F(i, j)`, `score_j -= F(i, j)` |
//! | [`OmegaRanking`] | omega(position of i, position of j) | quicksort with the preference, or the votes of all pairs |
//!
//! | file | contents |
//! |---|---|
//! | this file | the learners |
//! | [`pairs`] | the pairs of rows and their weights |
//! | [`preference`] | features of pairs, and the learned preference |
//! | [`order`] | from preferences to a ranking: votes, quicksort |
//! | [`fitted`] | the fitted model |
//!
//! A linear preference over differences needs no pairs at prediction time: `F(i, j) = w'(x_i - x_j)`, so `w'x` is the score. For a linear score that needs no explicit pairs in
//! training either, see [`rank-svm`](ermine_linear::learner::linear::rank_svm).
//!
//! **Cost.** One fit on two examples per pair (at most `max_pairs` pairs, sampled at random if there are more). Prediction takes n^2 / 2 comparisons with votes, O(n log n) with quicksort.
//!
//! **References.** Cohen, Schapire and Singer, Learning to order things, 1999; Ailon and Mohri, Preference-based learning to rank, 2010.

pub mod fitted;
pub mod order;
pub mod pairs;
pub mod preference;

pub use fitted::FittedRanker;

use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::metric::omega::Omega;
use ermine_core::metric::ranking::{n_different, omega_loss, places};
use ermine_core::model::{Certificate, Fitted, Proof, Status};
use ermine_core::param::Range;
use ermine_core::{choice, params};
use ermine_linear::learner::linear::rank_svm::PairWeight;
use order::RankAggregation;
use pairs::TrainingPairs;
use preference::{PairFeatures, PairwisePreference};

choice! {
    /// How omega-ranking ranks the rows of a query.
    pub enum RankingSort {
        /// Quicksort with random pivots and the preference as comparison.
        Quicksort = "quicksort",
        /// Quicksort with random pivots and random comparisons, drawn by the probability of the preference.
        Probabilistic = "probabilistic",
        /// Votes of all pairs; deterministic.
        Votes = "votes",
    }
}

params! {
    /// Ranking by the votes of a classifier that compares two rows.
    pub struct PairwiseRanking("pairwise-ranking") {
        /// Classifier that compares two rows: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("logistic-regression");
        /// Features of a pair of rows: the differences of their values, or which value is greater.
        /// "greater" does not depend on the units of the columns and is robust to outliers.
        features: PairFeatures = PairFeatures::Difference, tune Each;
        /// Weight of a pair of rows: all equal, by the difference of their relevance grades ("grade"), or of their ideal positions ("rank").
        pair_weight: PairWeight = PairWeight::Equal, tune Each;
        /// Maximum number of training pairs; a random sample is used if there are more.
        /// More pairs are more accurate and slower.
        max_pairs: usize = 100_000, range Range::between(1.0, 1e9);
    }
}

params! {
    /// Ranking by quicksort with a classifier that compares two rows, trained with position-dependent costs.
    pub struct OmegaRanking("omega-ranking") {
        /// Classifier that compares two rows: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("logistic-regression");
        /// Features of a pair of rows: the differences of their values, or which value is greater.
        /// "greater" does not depend on the units of the columns and is robust to outliers.
        features: PairFeatures = PairFeatures::Difference, tune Each;
        /// Cost of swapping two positions: all-pairs, top-K (such as top-10), dcg, or a square matrix of costs, row by row.
        /// top-K and dcg make mistakes at the top of the ranking more expensive.
        omega: Omega = Omega::AllPairs;
        /// How the rows of a query are ranked.
        sort: RankingSort = RankingSort::Quicksort;
        /// Maximum number of training pairs; a random sample is used if there are more.
        /// More pairs are more accurate and slower.
        max_pairs: usize = 100_000, range Range::between(1.0, 1e9);
    }
}

const CAPABILITIES: Capabilities = Capabilities {
    tasks: &[Task::Ranking],
    binary_only: false,
    multi_output: false,
    weights: true,
    missing: true,
    nominal: true,
    // If the base learner does.
    sparse: true,
    probabilities: false,
    random: true,
};

static PAIRWISE: LearnerInfo = LearnerInfo {
    name: "pairwise-ranking",
    summary: "ranking by the votes of a classifier that compares two rows",
    capabilities: CAPABILITIES,
    family: Family::Ranking,
};
static OMEGA: LearnerInfo = LearnerInfo {
    name: "omega-ranking",
    summary: "ranking by quicksort with a classifier that compares two rows, trained with position-dependent costs",
    capabilities: CAPABILITIES,
    family: Family::Ranking,
};

impl Learner for PairwiseRanking {
    fn info(&self) -> &'static LearnerInfo {
        &PAIRWISE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let queries = pairs::queries(data, |grades, weights| {
            let values = self.pair_weight.pair_values(grades, weights);
            move |i: usize, j: usize| values.as_ref().map_or(1.0, |values| values[i] - values[j])
        })?;
        let pairs = TrainingPairs::draw(&queries, self.max_pairs, context.seed);
        let preference = PairwisePreference::train(&self.estimator, self.features, data, &pairs.chosen, context)?;
        let proof = Proof::Nothing { because: NO_PROOF.into() };
        let certificate = certificate(&self.estimator, &pairs, preference.status().clone(), proof);
        Ok(Trained {
            fitted: Box::new(FittedRanker::new(preference, RankAggregation::Votes, context.seed)),
            certificate,
        })
    }
}

const NO_PROOF: &str = "the classifier minimizes its own objective over the pairs";

impl Learner for OmegaRanking {
    fn info(&self) -> &'static LearnerInfo {
        &OMEGA
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let wrong = |why: String| Error::Unsupported { learner: OMEGA.name.into(), need: format!("this omega: {why}") };
        self.omega.check().map_err(wrong)?;
        let queries = pairs::queries(data, |grades, _| {
            let (places, omega) = (places(grades), self.omega.clone());
            move |i: usize, j: usize| omega.cost(places[i], places[j])
        })?;
        let pairs = TrainingPairs::draw(&queries, self.max_pairs, context.seed);
        let preference = PairwisePreference::train(&self.estimator, self.features, data, &pairs.chosen, context)?;
        let aggregation = match self.sort {
            RankingSort::Quicksort => RankAggregation::Quicksort,
            RankingSort::Probabilistic => RankAggregation::Probabilistic,
            RankingSort::Votes => RankAggregation::Votes,
        };
        if aggregation == RankAggregation::Probabilistic && !preference.has_probabilities() {
            let need =
                "sort = probabilistic: it needs a classifier with probabilities (set sort = quicksort or votes)".into();
            return Err(Error::Unsupported { learner: self.estimator.to_string(), need });
        }
        let ranker = FittedRanker::new(preference, aggregation, context.seed);
        let loss = self.training_loss(data, &ranker)?;
        let proof = self.bound(data, &ranker, &pairs, loss.as_ref())?;
        let mut certificate = certificate(&self.estimator, &pairs, ranker.preference().status().clone(), proof);
        if let Some(OmegaLoss { mean, .. }) = loss {
            certificate
                .notes
                .push(format!("omega loss ({}) of the ranking of the training rows: {mean:.6}", self.omega));
        }
        Ok(Trained { fitted: Box::new(ranker), certificate })
    }
}

/// The omega loss over the pairs of all queries.
struct OmegaLoss {
    mean: f64,
    n_pairs: f64,
}

/// With more votes than this, the training loss is not computed for the certificate.
const MAX_VOTES: f64 = 1e8;

impl OmegaRanking {
    /// The omega loss of the ranking of the training rows, over the pairs of all queries. Quicksort needs few comparisons; votes need all.
    fn training_loss(&self, data: &Dataset, ranker: &FittedRanker) -> Result<Option<OmegaLoss>> {
        let n_votes: f64 = data.queries().iter().map(|rows| (rows.len() as f64).powi(2)).sum();
        if self.sort == RankingSort::Votes && ranker.is_relative() && n_votes > MAX_VOTES {
            return Ok(None);
        }
        let grades = data.grades()?;
        let scores = match data.group() {
            Some(group) => ranker.predict_queries(data.features(), group)?,
            None => ranker.predict(data.features())?,
        };
        let (mut lost, mut n_pairs) = (0.0, 0.0);
        for rows in data.queries() {
            let pick = |from: &[f64]| rows.iter().map(|&row| from[row as usize]).collect::<Vec<f64>>();
            let (scores, places) = (pick(&scores), places(&pick(grades)));
            let n = n_different(&places);
            lost += n * omega_loss(&scores, &places, &self.omega);
            n_pairs += n;
        }
        Ok(Some(OmegaLoss { mean: if n_pairs > 0.0 { lost / n_pairs } else { 0.0 }, n_pairs }))
    }

    /// Bounds the expected loss of quicksort with random pivots by twice the loss of the preference (Ailon and Mohri, theorem 2).
    fn bound(
        &self,
        data: &Dataset,
        ranker: &FittedRanker,
        pairs: &TrainingPairs,
        loss: Option<&OmegaLoss>,
    ) -> Result<Proof> {
        let applies = self.sort == RankingSort::Quicksort && pairs.is_complete() && data.weight().is_none();
        let Some(loss) = loss.filter(|_| applies) else {
            return Ok(Proof::Nothing { because: NO_PROOF.into() });
        };
        let misranked = ranker.preference().misranked_pairs(data, &pairs.chosen)?;
        let costs: f64 = misranked.iter().map(|&p| pairs.chosen[p].weight).sum();
        let bound = if loss.n_pairs > 0.0 { 2.0 * costs / loss.n_pairs } else { 0.0 };
        let what = format!("the expected omega loss ({}) of the ranking of the training rows", self.omega);
        Ok(Proof::Bound { what, bound, observed: loss.mean })
    }
}

fn certificate(estimator: &Estimator, pairs: &TrainingPairs, status: Status, proof: Proof) -> Certificate {
    let n = pairs.chosen.len();
    let mut notes = vec![format!("{n} training pairs, each in both directions: {estimator}")];
    if !pairs.is_complete() {
        notes.push(format!("sampled at random from {} pairs (max_pairs)", pairs.n_total));
    }
    let objective = format!("the objective of {} over the training pairs", estimator.name);
    Certificate { objective, value: None, status, proofs: vec![proof], notes }
}

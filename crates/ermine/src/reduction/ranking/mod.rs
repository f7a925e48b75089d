//! An order by a learner that says which of two rows comes first.
//!
//! **Idea.** Every two rows of a query with different grades make an example: what compares the one with the other, and the answer whether the first one is the better. Any learner of two classes
//! that takes weights learns a preference from these; the preference puts the rows of a new query in order.
//!
//! | learner | weight of a pair | order |
//! |---|---|---|
//! | [`PairwiseRanking`] | equal, by the grades, or by the places | the sum of all votes for a row: `score_i += F(i, j)`, `score_j -= F(i, j)` |
//! | [`OmegaRanking`] | omega(place of i, place of j) | quicksort with the preference, with the votes of all pairs as an option |
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the learners |
//! | [`pairs`] | which pairs there are, and how much each counts |
//! | [`preference`] | features of pairs, and the learned preference |
//! | [`order`] | from preferences to an order: votes, quicksort |
//! | [`fitted`] | the fitted form |
//!
//! A linear preference over differences needs no pairs at prediction: `F(i, j) = w'(x_i - x_j)`, so that `w'x` is the score. A linear score that needs none in training either is
//! [`rank-svm`](ermine_linear::learner::linear::rank_svm).
//!
//! **Cost.** A fit on two examples for each pair (at most `max_pairs` pairs, drawn at random from more). A prediction takes n^2 / 2 comparisons by votes, O(n log n) by quicksort.
//!
//! **References.** Cohen, Schapire and Singer, Learning to order things, 1999; Ailon and Mohri, Preference-based learning to rank, 2010.

pub mod fitted;
pub mod order;
pub mod pairs;
pub mod preference;

pub use fitted::Ranker;

use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::metric::omega::Omega;
use ermine_core::metric::ranking::{n_different, omega_loss, places};
use ermine_core::model::{Certificate, Fitted, Proof, Status};
use ermine_core::param::Range;
use ermine_core::{choice, params};
use ermine_linear::learner::linear::rank_svm::PairWeight;
use order::Order;
use pairs::Pairs;
use preference::{Combine, Preference};

choice! {
    /// How an omega-ranking puts rows in order.
    pub enum Sort {
        /// Quicksort with random pivots; a row goes before the pivot where the preference says so.
        Quicksort = "quicksort",
        /// The same, but a row goes before the pivot with the probability that the preference gives.
        Probabilistic = "probabilistic",
        /// By the votes of all pairs, without chance.
        Votes = "votes",
    }
}

params! {
    /// A preference between two rows, learned by any classifier, and the order that its votes give.
    pub struct PairwiseRanking("pairwise-ranking") {
        /// The learner of the preference: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("logistic-regression");
        /// What compares two rows: the differences of their numbers, or which number is greater.
        features: Combine = Combine::Difference, tune Each;
        /// How much a pair of rows counts.
        pair_weight: PairWeight = PairWeight::Equal, tune Each;
        /// Most pairs to learn from; of more, so many are drawn at random.
        max_pairs: usize = 100_000, range Range::between(1.0, 1e9);
    }
}

params! {
    /// A preference between two rows, learned with costs of confusing places, and quicksort by it.
    pub struct OmegaRanking("omega-ranking") {
        /// The learner of the preference: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("logistic-regression");
        /// What compares two rows: the differences of their numbers, or which number is greater.
        features: Combine = Combine::Difference, tune Each;
        /// What it costs to confuse two places: all-pairs, top-K (such as top-10), dcg, or a square table of costs, row by row.
        omega: Omega = Omega::AllPairs;
        /// How rows are put in order.
        sort: Sort = Sort::Quicksort;
        /// Most pairs to learn from; of more, so many are drawn at random.
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
    // As far as the learner below does.
    sparse: true,
    probabilities: false,
    random: true,
};

static PAIRWISE: Info = Info {
    name: "pairwise-ranking",
    summary: "an order by the votes of any classifier that says which of two rows comes first",
    capabilities: CAPABILITIES,
    family: Family::Ranking,
};
static OMEGA: Info = Info {
    name: "omega-ranking",
    summary: "an order by quicksort with any classifier that says which of two rows comes first, trained with costs of confusing places",
    capabilities: CAPABILITIES,
    family: Family::Ranking,
};

impl Learner for PairwiseRanking {
    fn info(&self) -> &'static Info {
        &PAIRWISE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let queries = pairs::queries(data, |grades, weights| {
            let worth = self.pair_weight.worth(grades, weights);
            move |i: usize, j: usize| worth.as_ref().map_or(1.0, |worth| worth[i] - worth[j])
        })?;
        let pairs = Pairs::draw(&queries, self.max_pairs, context.seed);
        let preference = Preference::train(&self.estimator, self.features, data, &pairs.chosen, context)?;
        let proof = Proof::Nothing { because: BECAUSE.into() };
        let certificate = certificate(&self.estimator, &pairs, preference.status().clone(), proof);
        Ok(Trained { fitted: Box::new(Ranker::new(preference, Order::Votes, context.seed)), certificate })
    }
}

const BECAUSE: &str = "the preference minimises its own objective over the pairs";

impl Learner for OmegaRanking {
    fn info(&self) -> &'static Info {
        &OMEGA
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let wrong = |why: String| Error::Unsupported {
            learner: OMEGA.name.into(),
            need: format!("an omega that is no cost of places: {why}"),
        };
        self.omega.check().map_err(wrong)?;
        let queries = pairs::queries(data, |grades, _| {
            let (places, omega) = (places(grades), self.omega.clone());
            move |i: usize, j: usize| omega.cost(places[i], places[j])
        })?;
        let pairs = Pairs::draw(&queries, self.max_pairs, context.seed);
        let preference = Preference::train(&self.estimator, self.features, data, &pairs.chosen, context)?;
        let order = match self.sort {
            Sort::Quicksort => Order::Quicksort,
            Sort::Probabilistic => Order::Probabilistic,
            Sort::Votes => Order::Votes,
        };
        if order == Order::Probabilistic && !preference.gives_probabilities() {
            let need = "probabilities to draw comparisons by (choose another sort)".into();
            return Err(Error::Unsupported { learner: self.estimator.to_string(), need });
        }
        let ranker = Ranker::new(preference, order, context.seed);
        let loss = self.training_loss(data, &ranker)?;
        let proof = self.bound(data, &ranker, &pairs, loss.as_ref())?;
        let mut certificate = certificate(&self.estimator, &pairs, ranker.preference().status().clone(), proof);
        if let Some(Loss { mean, .. }) = loss {
            certificate.notes.push(format!("omega loss ({}) of the order of the training rows: {mean:.6}", self.omega));
        }
        Ok(Trained { fitted: Box::new(ranker), certificate })
    }
}

/// An omega loss over the pairs of all queries.
struct Loss {
    mean: f64,
    n_pairs: f64,
}

/// Votes of more pairs than this are not counted for the certificate alone.
const MOST_VOTES: f64 = 1e8;

impl OmegaRanking {
    /// The omega loss over the pairs of all queries, of the order that the model gives the training rows. Sorting takes few comparisons; votes take all.
    fn training_loss(&self, data: &Dataset, ranker: &Ranker) -> Result<Option<Loss>> {
        let n_votes: f64 = data.queries().iter().map(|rows| (rows.len() as f64).powi(2)).sum();
        if self.sort == Sort::Votes && ranker.is_relative() && n_votes > MOST_VOTES {
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
        Ok(Some(Loss { mean: if n_pairs > 0.0 { lost / n_pairs } else { 0.0 }, n_pairs }))
    }

    /// Sorting at random pivots loses, on average, at most twice what the preference loses (Ailon and Mohri, theorem 2).
    fn bound(&self, data: &Dataset, ranker: &Ranker, pairs: &Pairs, loss: Option<&Loss>) -> Result<Proof> {
        let counts = self.sort == Sort::Quicksort && pairs.are_all() && data.weight().is_none();
        let Some(loss) = loss.filter(|_| counts) else {
            return Ok(Proof::Nothing { because: BECAUSE.into() });
        };
        let lost = ranker.preference().wrong_pairs(data, &pairs.chosen)?;
        let costs: f64 = lost.iter().map(|&p| pairs.chosen[p].weight).sum();
        let bound = if loss.n_pairs > 0.0 { 2.0 * costs / loss.n_pairs } else { 0.0 };
        let what = format!("the expected omega loss ({}) of the order of the training rows", self.omega);
        Ok(Proof::Bound { what, bound, observed: loss.mean })
    }
}

fn certificate(estimator: &Estimator, pairs: &Pairs, status: Status, proof: Proof) -> Certificate {
    let n = pairs.chosen.len();
    let mut notes = vec![format!("{n} pairs of rows, each in both directions: {estimator}")];
    if !pairs.are_all() {
        notes.push(format!("drawn at random from {} pairs (max_pairs)", pairs.n_all));
    }
    let objective = format!("what {} minimises over pairs", estimator.name);
    Certificate { objective, value: None, status, proofs: vec![proof], notes }
}

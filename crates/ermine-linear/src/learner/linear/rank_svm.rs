//! RankSVM: a linear score that ranks the rows of each query by relevance.
//!
//! **Formula.** `min |w|^2 / 2 + C sum c_ij max(0, 1 - w'(x_i - x_j))^2` over the pairs of a query in which row i is more relevant ([`optim::pairwise`](crate::optim::pairwise)): the objective of
//! a linear classifier of differences, without listing the pairs. `c_ij` is 1, the difference of the relevance grades, or that
//! of the positions, times the weights of both rows.
//!
//! **Two classes** can be ranked too (bipartite ranking): rows of the second class before those of the first, which maximizes a surrogate of the area under the ROC curve. The sign of the
//! score then predicts the class, with the threshold that has the fewest training errors.
//!
//! **Cost.** O(n p + n log n) per step, whatever the number of pairs.

use super::fitted::{DEVIATION_1, FitHistory, LinearLink, LinearModel};
use super::prepare::{ObservedClasses, PreparedData, scaled};
use super::report;
use crate::optim::pairwise::{PairRisk, RankedQuery};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::Matrix;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::param::Range;
use ermine_core::{choice, params};

choice! {
    /// Weight of a pair of rows.
    pub enum PairWeight {
        /// All pairs have the same weight.
        Equal = "equal",
        /// Difference of the relevance grades.
        Grade = "grade",
        /// Difference of the positions in the ideal ranking.
        Rank = "rank",
    }
}

impl PairWeight {
    /// For each row of a query, a value that increases with its relevance: the weight of a pair is the difference of the values. `None` if all pairs have the same weight.
    pub fn pair_values(self, grades: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
        match self {
            PairWeight::Equal => None,
            PairWeight::Grade => Some(grades.to_vec()),
            PairWeight::Rank => {
                let mut order: Vec<usize> = (0..grades.len()).collect();
                order.sort_by(|&a, &b| grades[a].total_cmp(&grades[b]));
                let (mut values, mut below) = (vec![0.0; grades.len()], 0.0);
                for tied in order.chunk_by(|&a, &b| grades[a] == grades[b]) {
                    tied.iter().for_each(|&row| values[row] = below);
                    below += tied.iter().map(|&row| weights[row]).sum::<f64>();
                }
                Some(values)
            }
        }
    }
}

params! {
    /// A linear score that ranks the rows of each query by relevance.
    #[allow(non_snake_case)]
    pub struct RankSvm("rank-svm") {
        /// Inverse of the regularization strength: lower values give smaller coefficients.
        /// The loss is a sum over pairs, so good values are smaller than for classification.
        C: f64 = 1.0, range Range::above_to(0.0, 1e12), tune Log(1e-5, 1e2);
        /// Weight of a pair of rows: all equal, by the difference of their relevance grades ("grade"), or of their ideal positions ("rank").
        /// "grade" and "rank" make the model care more about pairs that are far apart.
        pair_weight: PairWeight = PairWeight::Equal, tune Each;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum number of iterations.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 200, range Range::at_least(1.0);
        /// Stopping tolerance: the distance from the minimum, relative to the objective.
        /// The certificate states the bound that was reached. Raise the tolerance to trade accuracy for time.
        tol: f64 = 1e-8, range Range::between(0.0, 1.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "rank-svm",
    summary: "linear ranking of the rows of each query, or of two classes, by the squared hinge loss of all pairs",
    capabilities: Capabilities {
        tasks: &[Task::Ranking, Task::Classification],
        binary_only: true,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: false,
        random: false,
    },
    family: Family::Ranking,
};

/// The relevance grades of the rows: the target for ranking, or 1 for the second of two classes.
fn grades(data: &Dataset) -> Result<Vec<f64>> {
    match data.task() {
        Task::Classification => Ok(ObservedClasses::of(data)?.places.iter().map(|&p| f64::from(p)).collect()),
        _ => data.grades().map(<[f64]>::to_vec),
    }
}

impl Learner for RankSvm {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let grades = grades(data)?;
        let ordered = |rows: &Vec<u32>| rows.iter().any(|&row| grades[row as usize] != grades[rows[0] as usize]);
        if !data.queries().iter().any(ordered) {
            return Err(Error::data(
                "ranking needs a query with at least two different relevance grades: there is nothing to learn",
            ));
        }
        let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, false)?;
        let query = |rows: Vec<u32>| {
            let grades: Vec<f64> = rows.iter().map(|&row| grades[row as usize]).collect();
            let weights: Vec<f64> = rows.iter().map(|&row| data.row_weight(row as usize)).collect();
            let values = self.pair_weight.pair_values(&grades, &weights);
            RankedQuery::new(rows, &grades, weights, values)
        };
        let queries: Vec<RankedQuery> = data.queries().into_iter().map(query).collect();
        let n_queries = queries.len();
        let risk = PairRisk { x, queries, c: self.C };
        let (outcome, mut w) = risk.minimize(self.tol, self.max_iter, context.observer)?;
        let course = FitHistory { n_iter: Some(outcome.n_iterations), ..FitHistory::default() };
        let mut certificate = report::certificate(
            format!(
                "|w|^2 / 2 + {} sum of {} max(0, 1 - w'(x_i - x_j))^2 over the pairs of {n_queries} queries",
                self.C, self.pair_weight
            ),
            &[outcome],
        );
        if let Some(scaling) = scaling {
            certificate.objective += DEVIATION_1;
            scaling.restore(&mut w);
        }
        let (mut used, mut intercept) = (Vec::new(), 0.0);
        if data.task() == Task::Classification {
            used = ObservedClasses::of(data)?.used;
            intercept = -threshold(&prepared.design()?.times(&w, 0.0), &grades, |row| data.row_weight(row));
        }
        drop(risk);
        let coefficients = Matrix::from_fn(1, w.len(), |_, j| w[j]);
        let fitted = LinearModel::new(&prepared, None, coefficients, vec![intercept], course);
        let fitted = fitted.for_classes(LinearLink::Scores, data, used)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The threshold on the score with the fewest classification errors: midway between two scores.
fn threshold(scores: &[f64], second: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    // Below all scores, every row of the first class is an error.
    let mut errors: f64 = (0..scores.len()).filter(|&row| second[row] == 0.0).map(&weight).sum();
    let (mut best, mut least) = (scores[order[0]] - 1.0, errors);
    let mut tied = order.chunk_by(|&a, &b| scores[a] == scores[b]).peekable();
    while let Some(rows) = tied.next() {
        errors += rows.iter().map(|&row| if second[row] == 1.0 { weight(row) } else { -weight(row) }).sum::<f64>();
        if errors < least {
            least = errors;
            best = tied.peek().map_or(scores[rows[0]] + 1.0, |next| scores[rows[0]] / 2.0 + scores[next[0]] / 2.0);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_has_the_fewest_errors() {
        assert_eq!(threshold(&[1.0, 2.0, 3.0, 4.0], &[0.0, 0.0, 1.0, 1.0], |_| 1.0), 2.5);
        assert_eq!(threshold(&[1.0, 2.0, 3.0], &[1.0, 0.0, 1.0], |_| 1.0), 0.0, "of several the lowest");
        assert_eq!(threshold(&[1.0, 2.0, 3.0], &[1.0, 0.0, 1.0], |row| [1.0, 5.0, 1.0][row]), 2.5);
    }

    #[test]
    fn positions_are_weighted() {
        let values = PairWeight::Rank.pair_values(&[2.0, 0.0, 2.0, 5.0], &[1.0, 3.0, 1.0, 1.0]);
        assert_eq!(values, Some(vec![3.0, 0.0, 3.0, 5.0]));
    }
}

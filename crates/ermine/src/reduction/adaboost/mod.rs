//! AdaBoost: a weighted vote of weak learners, each trained on what the ones before it get wrong.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | parameters, the fitted model, the certificate |
//! | [`rounds`] | the formulas of a round, the bound on the training error, tables and pictures |
//! | [`stumps`] | the loop of rounds over exact stumps |
//!
//! **Idea.** Every row has a weight. A round finds the learner with the least weighted error, gives it a vote that is the heavier the less it errs, and shifts
//! weight to the rows it got wrong. The training error falls exponentially as long as every round is a little better than chance. Default are decision stumps,
//! found exactly in every round (see [`crate::split::reweighted`]).
//!
//! **Formula.** In [`rounds`]. The vote for class k is s_k = sum_t alpha_t \[h_t(x) = k\]; probabilities are softmax(2 s), for two classes 1 / (1 + exp(-2 F)) with
//! F = s_1 - s_0: the link under which AdaBoost's exponential loss estimates half the log odds. They are often too sure; calibrate them where that matters.
//!
//! **Reference.** Freund and Schapire, A decision-theoretic generalization of on-line learning and an application to boosting, 1997; Shalev-Shwartz and
//! Ben-David, Understanding Machine Learning, chapter 10; Zhu and others, Multi-class AdaBoost, 2009.

pub mod rounds;
pub mod stumps;

use crate::error::{Error, Result};
use crate::learner::{Capabilities, Context, Info, Learner, Trained};
use crate::matrix::{Dataset, Features, Schema, Task};
use crate::model::{Certificate, Fitted, Header, Output, Proof, Status};
use crate::param::Range;
use crate::params;
use crate::section::Sections;
use crate::split::Impurity;
use crate::split::reweighted::Reweighted;
use crate::tree::{Forest, draw};
use rounds::Rounds;

params! {
    /// A weighted vote of weak learners, each trained on what the ones before it get wrong.
    pub struct AdaBoost("adaboost") {
        /// Rounds, at most. A learner without errors, or one no better than chance, ends the work sooner.
        n_estimators: usize = 50, range Range::between(1.0, 1e6), tune Log(10, 1000);
        /// Shrinks every vote.
        learning_rate: f64 = 1.0, range Range::more_than(0.0), tune Log(0.01, 2);
        /// What a stump minimises: the weighted error, as the theory of AdaBoost asks, or the Gini impurity or entropy of its answers.
        criterion: Impurity = Impurity::Error, tune Each;
        /// Nominal columns with more categories than this are passed over.
        max_categories: usize = 64, range Range::at_least(0.0);
        /// Stop after this many rounds without a lower error on the rows kept for validation, and keep the rounds up to the lowest; none to run all rounds on all rows.
        n_iter_no_change: Option<usize> = None, range Range::at_least(1.0);
        /// The share of the rows kept for validation, where n_iter_no_change is set.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
    }
}

static INFO: Info = Info {
    name: "adaboost",
    summary: "a weighted vote of decision stumps, each trained on what the ones before it get wrong",
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

/// Votes that differ by less than this are equal: it is far below any alpha, and above what rounding makes of a tie.
pub const TIE: f64 = 1e-12;

impl Learner for AdaBoost {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let n_classes = data.classes()?.1.len();
        if n_classes > Reweighted::MAX_CLASSES {
            let need = format!("{n_classes} classes ({} at most)", Reweighted::MAX_CLASSES);
            return Err(Error::Unsupported { learner: INFO.name.into(), need });
        }
        let parts =
            self.n_iter_no_change.map(|_| data.split(1.0 - self.validation_fraction, context.seed)).transpose()?;
        let parts = parts.filter(|(train, rest)| train.n_rows() > 0 && rest.n_rows() > 0);
        let (train, held_out) = parts.as_ref().map_or((data, None), |(train, rest)| (train, Some(rest)));
        let (mut forest, mut rounds) = stumps::boost(self, train, held_out, context)?;
        let n_run = rounds.0.len();
        rounds.0.truncate(rounds.best_length());
        forest.truncate(rounds.0.len());
        let certificate = self.certificate(&rounds, n_run);
        Ok(Trained { fitted: Box::new(Boosted { forest, rounds, n_classes }), certificate })
    }
}

impl AdaBoost {
    fn certificate(&self, rounds: &Rounds, n_run: usize) -> Certificate {
        let (error, bound) = rounds.0.last().map_or((f64::NAN, 1.0), |last| (last.error, last.bound));
        let mut notes = Vec::new();
        match rounds.0.last() {
            None => notes.push("no stump is better than chance: every class is equally likely".to_string()),
            Some(last) if last.z == 0.0 => {
                notes.push(format!("round {} has no errors: its vote outweighs all others", rounds.0.len()));
            }
            Some(_) if n_run < self.n_estimators && n_run == rounds.0.len() => {
                notes.push(format!("no stump is better than chance after round {n_run}"));
            }
            _ => {}
        }
        if rounds.0.len() < n_run {
            notes.push(format!("the validation error was lowest after {} of {n_run} rounds", rounds.0.len()));
        }
        if self.criterion == Impurity::Error && !rounds.0.is_empty() {
            notes.push("every round's stump is the exact minimiser of the weighted error".to_string());
        }
        let what = "the training error, by the product of the normalisers of all rounds,".to_string();
        let proofs = if error.is_nan() {
            vec![Proof::Nothing { because: "there is no round".into() }]
        } else {
            vec![Proof::Bound { what, bound, observed: error }]
        };
        let objective = "exponential loss of the vote (product of the normalisers), one stump at a time";
        Certificate { objective: objective.into(), value: Some(bound), status: Status::Done, proofs, notes }
    }
}

/// The class with the highest score, the first of those that tie.
pub fn heaviest(scores: &[f64]) -> usize {
    let most = scores.iter().fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b));
    scores.iter().position(|&s| s >= most - TIE).unwrap_or(0)
}

/// The probabilities of the classes from the scores of a row.
fn probabilities(scores: &[f64], n_classes: usize, out: &mut Vec<f64>) {
    if n_classes <= 2 {
        let score = if scores[0].abs() <= TIE { 0.0 } else { scores[0] };
        let second = 1.0 / (1.0 + (-2.0 * score).exp());
        let first = 1.0 / (1.0 + (2.0 * score).exp());
        if n_classes == 2 {
            out.extend_from_slice(&[first, second]);
        } else {
            out.push(1.0);
        }
        return;
    }
    let most = scores.iter().fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b));
    let exp = |&s: &f64| if s >= most - TIE { 1.0 } else { (2.0 * (s - most)).exp() };
    let sum: f64 = scores.iter().map(exp).sum();
    out.extend(scores.iter().map(|s| exp(s) / sum));
}

/// The fitted vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosted {
    forest: Forest,
    rounds: Rounds,
    n_classes: usize,
}

impl Boosted {
    /// What happened in each round.
    pub fn rounds(&self) -> &[rounds::Round] {
        &self.rounds.0
    }

    /// The stumps, one tree for each round, whose predictions add up to the scores.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The class that the vote of the first rounds gives each row: after 1 round, after 2, and so on.
    pub fn staged_classes(&self, features: &Features) -> impl Iterator<Item = Vec<usize>> + '_ {
        let width = self.forest.width();
        let mut scores = vec![0.0; features.n_rows() * width];
        let features = features.clone();
        (0..self.forest.n_trees()).map(move |t| {
            let votes = self.forest.sum_of(t..t + 1, &features);
            scores.iter_mut().zip(votes).for_each(|(score, vote)| *score += vote);
            let class = |s: &[f64]| if let &[score] = s { usize::from(score > TIE) } else { heaviest(s) };
            scores.chunks(width).map(class).collect()
        })
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let n_classes = header.schema.classes.len();
        let forest = Forest::load(sections, header.schema.features.len(), stumps::width(n_classes))?;
        let rounds = Rounds::load(sections)?;
        if rounds.0.len() != forest.n_trees() {
            return Err(Error::model_file("boosting has not one tree for each round"));
        }
        Ok(Box::new(Boosted { forest, rounds, n_classes }))
    }
}

impl Fitted for Boosted {
    fn output(&self) -> Output {
        Output::Probabilities
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut out = Vec::with_capacity(features.n_rows() * self.n_classes);
        for scores in self.forest.sum(features).chunks(self.forest.width()) {
            probabilities(scores, self.n_classes, &mut out);
        }
        Ok(out)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.rounds.save(sections);
        self.forest.save(sections)
    }

    fn text(&self, schema: &Schema) -> String {
        const SHOWN: usize = 10;
        let mut text = format!("a weighted vote of {} stumps\n\n{}\n", self.rounds.0.len(), self.rounds.text());
        for (t, round) in self.rounds.0.iter().enumerate().take(SHOWN) {
            let tree = self.forest.tree(t);
            text.push_str(&format!(
                "{:>4}. {:.4} for: {}?\n",
                t + 1,
                round.alpha,
                draw::question(&tree.test[0], schema)
            ));
        }
        text
    }

    fn svg(&self, _: &Schema) -> Option<String> {
        Some(self.rounds.svg())
    }
}

//! AdaBoost: a weighted vote of weak learners, each trained on the mistakes of the ones before it.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | parameters, the fitted model, the certificate |
//! | [`rounds`] | the formulas of a round, the bound on the training error, tables and plots |
//! | [`stumps`] | boosting of exact stumps |
//! | [`members`] | boosting of any learner; AdaBoost.R2 for regression |
//! | [`additive`] | GentleBoost and LogitBoost |
//!
//! **Idea.** Every row has a weight. A round trains a learner on the weighted rows, gives it a vote that grows as its error falls, and shifts weight to the rows it misclassified. The training error
//! falls exponentially as long as every round is slightly better than chance. The default learner is a decision stump, found exactly in every round (see
//! [`ermine_trees::split::reweighted_stumps`]).
//!
//! **Formula.** In [`rounds`]. The vote for class k is s_k = sum_t alpha_t \[h_t(x) = k\]; probabilities are softmax(2 s), for two classes 1 / (1 + exp(-2 F)) with
//! F = s_1 - s_0: the link under which AdaBoost's exponential loss estimates half the log odds. They are often overconfident; calibrate them if that matters.
//!
//! **Reference.** Freund and Schapire, A decision-theoretic generalization of on-line learning and an application to boosting, 1997; Shalev-Shwartz and
//! Ben-David, Understanding Machine Learning, chapter 10; Zhu and others, Multi-class AdaBoost, 2009.

pub mod additive;
pub mod members;
pub mod rounds;
pub mod stumps;

use crate::reduction::committee::{self, LoadFitted, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Link, Output, Proof, Staged, Status, TreeEnsemble};
use ermine_core::param::{ParamType, Range, Value};
use ermine_core::section::Sections;
use ermine_core::{choice, params};
use ermine_trees::ensemble::TreeSum;
use ermine_trees::learner::stump::FittedStump;
use ermine_trees::split::Impurity;
use ermine_trees::split::reweighted_stumps::ReweightedStumpSearch;
use ermine_trees::tree::{Forest, Tree, describe};
use rounds::Rounds;
use std::sync::Arc;

choice! {
    /// Boosting algorithm.
    pub enum AdaBoostAlgorithm {
        /// AdaBoost: SAMME for more than two classes, AdaBoost.R2 for regression.
        Discrete = "discrete",
        /// GentleBoost: Newton steps on the exponential loss. For two classes, with stumps.
        Gentle = "gentle",
        /// LogitBoost: Newton steps on the logistic loss. For two classes, with stumps.
        Logit = "logit",
    }
}

choice! {
    /// Loss of AdaBoost.R2: a function of the absolute error, relative to the largest.
    pub enum RegressionLoss {
        /// The relative error.
        Linear = "linear",
        /// Its square.
        Square = "square",
        /// 1 - exp(-error).
        Exponential = "exponential",
    }
}

params! {
    /// A weighted vote of weak learners, each trained on what the ones before it get wrong.
    pub struct AdaBoost("adaboost") {
        /// Weak learner: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3). A learner that does not support sample weights is trained on rows resampled by weight.
        /// Shallow decision trees are stronger and slower than stumps, for which there is an exact and fast search.
        estimator: Estimator = Estimator::named("decision-stump");
        /// Boosting algorithm.
        /// "discrete" is AdaBoost: SAMME for more than two classes, AdaBoost.R2 for regression. "gentle" (GentleBoost) and "logit" (LogitBoost) take Newton steps on the exponential and the logistic loss; for two classes, with stumps.
        algorithm: AdaBoostAlgorithm = AdaBoostAlgorithm::Discrete, tune Each;
        /// Maximum number of boosting rounds.
        /// Boosting ends earlier if a weak learner makes no mistakes or is no better than chance. More rounds may overfit noisy labels: see `n_iter_no_change`.
        n_estimators: usize = 50, range Range::between(1.0, 1e6), tune Log(10, 1000);
        /// Factor by which the weight of each weak learner is multiplied.
        /// Lower values need more rounds and usually generalize better.
        learning_rate: f64 = 1.0, range Range::more_than(0.0), tune Log(0.01, 2);
        /// Function that stumps minimize: the weighted error rate ("error", as in the theory of AdaBoost), or the Gini impurity or entropy of the branches.
        criterion: Impurity = Impurity::Error, tune Each;
        /// Nominal features with more categories than this are ignored by stumps.
        /// A feature with a category for almost every row, such as an identifier, would fit the training set perfectly and generalize to nothing.
        max_categories: usize = 64, range Range::at_least(0.0);
        /// Loss that updates the weights in regression (AdaBoost.R2): of the absolute errors, relative to the largest.
        /// "square" and "exponential" focus more on the rows with the largest errors.
        loss: RegressionLoss = RegressionLoss::Linear;
        /// Stop after this many rounds without a lower error on a validation set, and keep the rounds up to the lowest error; none to run all rounds on all rows.
        n_iter_no_change: Option<usize> = None, range Range::at_least(1.0);
        /// Fraction of the rows that is held out for early stopping, if `n_iter_no_change` is set and no validation set is given.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "adaboost",
    summary: "a weighted vote of weak learners, each trained on what the ones before it get wrong",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: false,
    },
    family: Family::Ensemble,
};

pub use ermine_core::loss::TIE;

impl Learner for AdaBoost {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn takes_validation(&self) -> bool {
        self.n_iter_no_change.is_some()
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        if data.task() == Task::Regression {
            return self.train_numbers(data, context);
        }
        let n_classes = data.classes()?.1.len();
        self.check(n_classes)?;
        let parts = self.validation_split(data, context)?;
        let (train, held_out) = parts.as_ref().map_or((data, None), |(train, rest)| (train, Some(rest)));
        let (mut parts, mut rounds) = if self.algorithm != AdaBoostAlgorithm::Discrete {
            let (forest, rounds) = additive::boost(self, train, held_out, context)?;
            (VoteMembers::Trees(Arc::new(forest)), rounds)
        } else if self.over_stumps() {
            let (forest, rounds) = stumps::boost(self, train, held_out, context)?;
            (VoteMembers::Trees(Arc::new(forest)), rounds)
        } else {
            let learner = self.estimator.learner(context)?;
            let (members, rounds) = members::boost(self, &*learner, train, held_out, context)?;
            (VoteMembers::Members(members), rounds)
        };
        let n_run = rounds.0.len();
        rounds.0.truncate(rounds.best_length());
        parts.truncate(rounds.0.len());
        let certificate = self.certificate(&rounds, n_run, parts.status());
        Ok(Trained {
            fitted: Box::new(BoostedVote { parts, rounds, n_classes, estimator: self.estimator.clone() }),
            certificate,
        })
    }
}

impl AdaBoost {
    /// The training rows and the validation set, if one is used: the given one, or a sample of the rows if there are enough.
    fn validation_split(&self, data: &Dataset, context: &Context<'_>) -> Result<Option<(Dataset, Dataset)>> {
        if let (Some(_), Some(validation)) = (self.n_iter_no_change, context.validation) {
            return Ok(Some((data.clone(), validation.clone())));
        }
        let parts =
            self.n_iter_no_change.map(|_| data.split(1.0 - self.validation_fraction, context.seed)).transpose()?;
        Ok(parts.filter(|(train, rest)| train.n_rows() > 0 && rest.n_rows() > 0))
    }

    /// Whether the exact stump search is used.
    fn over_stumps(&self) -> bool {
        self.estimator == Estimator::named("decision-stump")
    }

    fn check(&self, n_classes: usize) -> Result<()> {
        let unsupported = |need: String| Err(Error::Unsupported { learner: INFO.name.into(), need });
        if n_classes > ReweightedStumpSearch::MAX_CLASSES {
            return unsupported(format!("{n_classes} classes ({} at most)", ReweightedStumpSearch::MAX_CLASSES));
        }
        if self.algorithm != AdaBoostAlgorithm::Discrete && (n_classes > 2 || !self.over_stumps()) {
            return unsupported(format!(
                "algorithm = {} with {n_classes} classes over {} (it is for two classes, over decision-stump)",
                self.algorithm, self.estimator
            ));
        }
        Ok(())
    }

    /// AdaBoost.R2.
    fn train_numbers(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        if self.algorithm != AdaBoostAlgorithm::Discrete {
            let need = format!("algorithm = {} for regression (it is for two classes)", self.algorithm);
            return Err(Error::Unsupported { learner: INFO.name.into(), need });
        }
        let learner = self.estimator.learner(context)?;
        let parts = self.validation_split(data, context)?;
        let (train, held_out) = parts.as_ref().map_or((data, None), |(train, rest)| (train, Some(rest)));
        let (mut members, mut rounds) = members::boost_numbers(self, &*learner, train, held_out, context)?;
        let n_run = rounds.0.len();
        rounds.0.truncate(rounds.best_length());
        members.truncate(rounds.0.len());
        let mut notes = vec![format!("{} rounds: {}", rounds.0.len(), self.estimator)];
        if rounds.0.len() < n_run {
            notes.push(format!("the validation error was lowest after {} of {n_run} rounds", rounds.0.len()));
        }
        let because = "for numbers, boosting has no bound on the training error".to_string();
        let certificate = Certificate {
            objective: format!("{} loss of each round's learner under its weights", self.loss),
            value: None,
            status: committee::status(&members),
            proofs: vec![Proof::Nothing { because }],
            notes,
        };
        let (parts, estimator) = (VoteMembers::Members(members), self.estimator.clone());
        Ok(Trained { fitted: Box::new(BoostedVote { parts, rounds, n_classes: 0, estimator }), certificate })
    }

    fn certificate(&self, rounds: &Rounds, n_run: usize, status: Status) -> Certificate {
        let discrete = self.algorithm == AdaBoostAlgorithm::Discrete;
        let (error, bound) = rounds.0.last().map_or((f64::NAN, 1.0), |last| (last.error, last.bound));
        let mut notes = Vec::new();
        match rounds.0.last() {
            None => notes.push(format!("no {} is better than chance: every class is equally likely", self.estimator)),
            Some(last) if discrete && last.epsilon <= 0.0 => {
                notes.push(format!("round {} has no errors: its vote outweighs all others", rounds.0.len()));
            }
            Some(_) if discrete && n_run < self.n_estimators && n_run == rounds.0.len() => {
                notes.push(format!("no {} is better than chance after round {n_run}", self.estimator));
            }
            _ => {}
        }
        if rounds.0.len() < n_run {
            notes.push(format!("the validation error was lowest after {} of {n_run} rounds", rounds.0.len()));
        }
        if discrete && self.over_stumps() && self.criterion == Impurity::Error && !rounds.0.is_empty() {
            notes.push("every round's stump is the exact minimizer of the weighted error".to_string());
        }
        let (objective, by) = match self.algorithm {
            AdaBoostAlgorithm::Discrete => {
                ("exponential loss of the vote", "the product of the normalizers of all rounds")
            }
            AdaBoostAlgorithm::Gentle => ("mean exponential loss", "the mean exponential loss"),
            AdaBoostAlgorithm::Logit => ("mean logistic loss in bits", "the mean logistic loss in bits"),
        };
        let overshooting = rounds.0.iter().filter(|round| discrete && round.z > 1.0).count();
        if overshooting > 0 {
            notes.push(format!(
                "{overshooting} rounds raise the exponential loss: learning_rate = {:?} makes votes overshoot",
                self.learning_rate
            ));
        }
        let proofs = if error.is_nan() {
            vec![Proof::Nothing { because: "there is no round".into() }]
        } else if bound >= 1.0 {
            let because =
                format!("the bound on the training error, {by}, is {bound:.6}: a bound of at least 1 is vacuous");
            vec![Proof::Nothing { because }]
        } else {
            vec![Proof::Bound { what: format!("the training error, by {by},"), bound, observed: error }]
        };
        let objective = format!("{objective}, one {} at a time", self.estimator);
        Certificate { objective, value: Some(bound).filter(|b| b.is_finite()), status, proofs, notes }
    }
}

/// The class with the highest score; the first if tied.
pub fn argmax(scores: &[f64]) -> usize {
    let most = scores.iter().fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b));
    scores.iter().position(|&s| s >= most - TIE).unwrap_or(0)
}

/// The members of a boosted model.
enum VoteMembers {
    /// Stumps whose predictions sum to the scores.
    Trees(Arc<Forest>),
    /// Models of any learner, each with the vote of its round.
    Members(Vec<Member>),
}

impl VoteMembers {
    /// How training ended.
    fn status(&self) -> Status {
        match self {
            VoteMembers::Trees(_) => Status::Done,
            VoteMembers::Members(members) => committee::status(members),
        }
    }

    fn truncate(&mut self, n: usize) {
        match self {
            VoteMembers::Trees(forest) => Arc::make_mut(forest).truncate(n),
            VoteMembers::Members(members) => members.truncate(n),
        }
    }
}

/// A fitted AdaBoost model.
pub struct BoostedVote {
    parts: VoteMembers,
    rounds: Rounds,
    /// 0 for regression.
    n_classes: usize,
    estimator: Estimator,
}

impl BoostedVote {
    /// The history of the rounds.
    pub fn rounds(&self) -> &[rounds::Round] {
        &self.rounds.0
    }

    /// The stumps, one tree per round, whose predictions sum to the scores; `None` for other base learners.
    pub fn forest(&self) -> Option<&Forest> {
        if let VoteMembers::Trees(forest) = &self.parts { Some(forest) } else { None }
    }

    /// The contributions of rounds to the scores of each row: one signed number for stumps and two classes, else one per class.
    fn scores(&self, rounds: std::ops::Range<usize>, features: &Features) -> Result<Vec<f64>> {
        match &self.parts {
            VoteMembers::Trees(forest) => Ok(forest.sum_of(rounds, features)),
            VoteMembers::Members(members) => {
                let mut scores = vec![0.0; features.n_rows() * self.n_classes];
                for t in rounds {
                    let predicted = members[t].classes(features, self.n_classes)?;
                    members::add_votes(&mut scores, &predicted, self.rounds.0[t].alpha, self.n_classes);
                }
                Ok(scores)
            }
        }
    }

    /// The share of each column in all votes; a stump splits on one column.
    fn importances(&self, forest: &Forest, n_features: usize) -> Vec<f64> {
        let mut shares = vec![0.0; n_features];
        let total: f64 = self.rounds.0.iter().map(|round| round.alpha).sum();
        for (t, round) in self.rounds.0.iter().enumerate() {
            if let Some(feature) = forest.tree(t).test[0].feature() {
                shares[feature] += round.alpha / total;
            }
        }
        shares
    }

    /// How votes become probabilities.
    fn link(&self) -> Link {
        if self.n_classes == 1 { Link::Certain } else { Link::Vote }
    }

    fn width(&self) -> usize {
        if let VoteMembers::Trees(forest) = &self.parts { forest.width() } else { self.n_classes }
    }

    /// Loads the model from a file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let n_classes = header.schema.classes.len();
        let rounds = Rounds::load(sections)?;
        let over_trees: bool = sections.json("over_trees")?;
        let (parts, n_parts) = if over_trees {
            let forest = Forest::load(sections, header.schema.features.len(), stumps::width(n_classes))?;
            let n_trees = forest.n_trees();
            (VoteMembers::Trees(Arc::new(forest)), n_trees)
        } else {
            let members = committee::load(sections, header, load)?;
            let n_members = members.len();
            (VoteMembers::Members(members), n_members)
        };
        let fits = |member: &Member| (member.output() == Output::Values) == (n_classes == 0);
        let all_fit = match &parts {
            VoteMembers::Trees(_) => n_classes > 0,
            VoteMembers::Members(members) => members.iter().all(fits) && (n_classes > 0 || !members.is_empty()),
        };
        if rounds.0.len() != n_parts || !all_fit {
            return Err(Error::model_file(
                "the number of AdaBoost members differs from the number of rounds, or a member doesn't fit the target",
            ));
        }
        let named = |name: &str| Estimator::from_value(&Value::Text(name.into()));
        let text: String =
            if sections.has("estimator") { sections.json("estimator")? } else { "decision-stump".into() };
        let estimator = named(&text).ok_or_else(|| Error::model_file("the base estimator of AdaBoost is missing"))?;
        Ok(Box::new(BoostedVote { parts, rounds, n_classes, estimator }))
    }
}

/// A round is a stage. The accumulated output is the scores so far for classification, and each member's predictions for regression.
impl Staged for BoostedVote {
    fn n_stages(&self) -> usize {
        self.rounds.0.len()
    }

    fn add_stage(&self, features: &Features, stage: usize, accumulated: &mut Vec<f64>) -> Result<()> {
        if let (0, VoteMembers::Members(members)) = (self.n_classes, &self.parts) {
            accumulated.extend(members[stage].predict(features)?);
            return Ok(());
        }
        accumulated.resize(features.n_rows() * self.width(), 0.0);
        accumulated.iter_mut().zip(self.scores(stage..stage + 1, features)?).for_each(|(score, vote)| *score += vote);
        Ok(())
    }

    fn after(&self, accumulated: &[f64], n_stages: usize) -> Vec<f64> {
        if self.n_classes == 0 {
            let n_rows = accumulated.len() / n_stages.max(1);
            return (0..n_rows)
                .map(|row| members::median_of_row(accumulated, row, &self.rounds.0[..n_stages]))
                .collect();
        }
        self.link().apply(accumulated.to_vec(), self.width())
    }
}

impl Fitted for BoostedVote {
    fn output(&self) -> Output {
        if self.n_classes > 0 { Output::Probabilities } else { Output::Values }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut accumulated = Vec::new();
        if let (VoteMembers::Trees(forest), true) = (&self.parts, self.n_classes > 0) {
            accumulated = forest.sum(features);
        } else {
            (0..self.n_stages()).try_for_each(|t| self.add_stage(features, t, &mut accumulated))?;
            accumulated.resize(accumulated.len().max(features.n_rows() * self.n_classes), 0.0);
        }
        Ok(self.after(&accumulated, self.n_stages()))
    }

    fn n_parts(&self) -> usize {
        self.rounds.0.len()
    }

    fn part(&self, part: usize, header: &Header) -> Result<(Header, Sections)> {
        match &self.parts {
            VoteMembers::Members(members) => members[part].part(header, &self.estimator),
            VoteMembers::Trees(forest) => {
                let votes = forest.tree(part);
                // A stump by itself says the probabilities that its votes stand for.
                let value = self.link().apply(votes.value.clone(), votes.width);
                let tree = Tree { width: self.link().width(votes.width), value, ..votes };
                let mut sections = Sections::default();
                FittedStump::of_tree(tree, Output::Probabilities).save(&mut sections)?;
                let because = format!("it is a part of a model of {}", header.learner);
                let certificate =
                    Certificate { proofs: vec![Proof::Nothing { because }], ..header.certificate.clone() };
                let params = self.estimator.params.iter().cloned().collect();
                Ok((Header { learner: "decision-stump".into(), params, certificate, ..header.clone() }, sections))
            }
        }
    }

    fn staged(&self) -> Option<&dyn Staged> {
        Some(self)
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        let forest = match &self.parts {
            VoteMembers::Trees(forest) => forest.clone(),
            // A leaf of a member votes for its likeliest class. (A median is not a sum.)
            VoteMembers::Members(members) if self.n_classes > 0 => {
                Arc::new(committee::forest(members, |t, values| members::to_vote(values, self.rounds.0[t].alpha))?)
            }
            VoteMembers::Members(_) => return None,
        };
        Some(Box::new(TreeSum::of(forest, 1.0, self.link())))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.rounds.save(sections);
        sections.put_json("over_trees", &matches!(self.parts, VoteMembers::Trees(_)))?;
        match &self.parts {
            VoteMembers::Trees(forest) => forest.save(sections),
            VoteMembers::Members(members) => {
                sections.put_json("estimator", &self.estimator.to_string())?;
                committee::save(members, sections)
            }
        }
    }

    fn text(&self, schema: &Schema) -> String {
        const SHOWN: usize = 10;
        let mut text = format!("a weighted vote of {} rounds\n\n{}\n", self.rounds.0.len(), self.rounds.text());
        if let VoteMembers::Trees(forest) = &self.parts {
            for t in 0..forest.n_trees().min(SHOWN) {
                let question = describe::question(&forest.tree(t).test[0], schema);
                text.push_str(&format!("{:>4}. {:.4} for: {question}?\n", t + 1, self.rounds.0[t].alpha));
            }
        }
        text
    }

    fn svg(&self, _: &Schema) -> Option<String> {
        (self.n_classes > 0).then(|| self.rounds.svg())
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        let rounds = &self.rounds.0;
        let each = |name, of: fn(&rounds::Round) -> f64, doc| {
            Attribute::vector(name, rounds.iter().map(of).collect(), "(n_rounds,)", doc)
        };
        let doc = "Training error after each round; for regression, the mean absolute error.";
        let mut all = vec![
            each("estimator_weights", |round| round.alpha, "Weight of each round in the vote."),
            each(
                "estimator_errors",
                |round| round.epsilon,
                "Weighted error of each round; for regression, its mean loss.",
            ),
            each("train_errors", |round| round.error, doc),
        ];
        if self.n_classes > 0 {
            let doc = "Bound on the training error after each round: the exponential loss of the vote, the product of the normalizers so far.";
            all.extend([
                each("normalizers", |round| round.z, "Normalizer Z of the sample weights in each round."),
                each("train_error_bounds", |round| round.bound, doc),
            ]);
        }
        if rounds.first().is_some_and(|round| !round.validation.is_nan()) {
            let doc = "Error on the validation set after each round, if there is one.";
            all.push(each("validation_errors", |round| round.validation, doc));
        }
        if let VoteMembers::Trees(forest) = &self.parts {
            let values = self.importances(forest, schema.features.len());
            all.push(Attribute::feature_importances(values));
        }
        all
    }
}

//! Voting: the weighted mean, or the majority, of different learners.
//!
//! **Idea.** Every learner is trained on all rows. Numbers and probabilities are averaged (`soft`); with `hard`, each classifier has one vote, and the first of the classes with the most
//! votes wins. Weights count a learner several times.
//!
//! **Cost.** One fit for each learner. **Reference.** Kittler and others, On combining classifiers, 1998; scikit-learn's `VotingClassifier` and `VotingRegressor`.

use super::committee::{self, LoadFitted, Member};
use super::estimator::{Estimator, EstimatorList};
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Task};
use ermine_core::model::{Certificate, Fitted, Header, Output, Proof};
use ermine_core::param::Range;
use ermine_core::progress::{Event, report};
use ermine_core::section::Sections;
use ermine_core::{choice, params};
use serde::{Deserialize, Serialize};

choice! {
    /// How classifiers are combined.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum VotingMethod {
        /// The mean of the probabilities; all learners need them.
        Soft = "soft",
        /// The majority of the predicted classes.
        Hard = "hard",
    }
}

params! {
    /// The weighted mean, or the majority, of different learners.
    pub struct Voting("voting") {
        /// Base learners: their names, with non-default parameters in parentheses.
        /// Learners of different kinds help each other most.
        estimators: EstimatorList = EstimatorList::named(&["random-forest", "extra-trees"]);
        /// How classifiers are combined: the mean of their probabilities (soft) or the majority of their predicted classes (hard).
        /// soft is usually better if the probabilities are calibrated.
        voting: VotingMethod = VotingMethod::Soft;
        /// Weight of each learner; equal if not given.
        weights: Vec<f64> = Vec::new(), range Range::at_least(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "voting",
    summary: "the weighted mean, or the majority, of different learners",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        // If the learners do.
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Ensemble,
};

/// Checks one weight for each of several learners, not all zero, and scales them to a sum of 1.
pub(super) fn shares(weights: &[f64], n: usize, owner: &str) -> Result<Vec<f64>> {
    let total: f64 = weights.iter().sum();
    if !weights.is_empty() && (weights.len() != n || !(total > 0.0 && total.is_finite())) {
        let value = format!("{weights:?}");
        let allowed = format!("one weight for each of the {n} estimators, not all zero");
        return Err(Error::Param { owner: owner.into(), name: "weights".into(), value, allowed });
    }
    Ok((0..n).map(|i| weights.get(i).map_or(1.0 / n as f64, |weight| weight / total)).collect())
}

impl Learner for Voting {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let estimators = &self.estimators.0;
        let shares = shares(&self.weights, estimators.len(), INFO.name)?;
        let learners = estimators.iter().map(|e| e.learner(context)).collect::<Result<Vec<_>>>()?;
        let is_soft = data.task() == Task::Classification && self.voting == VotingMethod::Soft;
        if let Some(learner) = learners.iter().find(|l| is_soft && !l.info().capabilities.probabilities) {
            return Err(needs_probabilities(learner.info().name));
        }
        report(context.observer, Event::Begin { what: "estimators", total: Some(learners.len() as u64) })?;
        let mut members = Vec::with_capacity(learners.len());
        for learner in &learners {
            members.push(Member::train(&**learner, data, None, context.seed, context)?);
            report(context.observer, Event::Step { done: members.len() as u64, score: None })?;
        }
        report(context.observer, Event::End)?;
        let output = match (data.task(), self.voting) {
            (Task::Classification, VotingMethod::Soft) => Output::Probabilities,
            (Task::Classification, VotingMethod::Hard) => Output::Scores,
            _ => Output::Values,
        };
        let names = estimators.iter().map(Estimator::to_string).collect();
        let fitted = FittedVoting::new(members, shares, output, names, &Schema::of(data)).map_err(|error| {
            // What a learner predicts is known only after training.
            if is_soft { needs_probabilities(&self.estimators.to_string()) } else { error }
        })?;
        let certificate = Certificate {
            objective: "the objective of each estimator".into(),
            value: None,
            status: committee::status(&fitted.members),
            proofs: vec![Proof::Nothing { because: "each estimator minimizes its own objective".into() }],
            notes: vec![format!("{} estimators: {}", fitted.members.len(), self.estimators)],
        };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

fn needs_probabilities(name: &str) -> Error {
    let (owner, parameter) = (INFO.name.to_string(), "voting".to_string());
    let allowed = format!("hard, because {name} predicts no probabilities; soft needs them from every estimator");
    Error::Param { owner, name: parameter, value: "soft".into(), allowed }
}

/// Fitted learners that vote.
pub struct FittedVoting {
    members: Vec<Member>,
    /// Their shares of the vote, which add up to 1.
    shares: Vec<f64>,
    output: Output,
    estimators: Vec<String>,
    width: usize,
}

impl FittedVoting {
    fn new(
        members: Vec<Member>,
        shares: Vec<f64>,
        output: Output,
        estimators: Vec<String>,
        schema: &Schema,
    ) -> Result<FittedVoting> {
        let fits = |member: &Member| match output {
            Output::Scores => member.output() != Output::Values,
            output => member.output() == output,
        };
        let n = members.len();
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        if n == 0 || shares.len() != n || estimators.len() != n || output == Output::Margin {
            return Err(Error::model_file("the estimators of the vote don't fit its weights"));
        }
        if !members.iter().all(fits) || !shares.iter().all(is_share) {
            return Err(Error::model_file("the estimators of the vote don't fit the target"));
        }
        Ok(FittedVoting { members, shares, output, estimators, width: output.width(schema) })
    }

    /// Reads the model from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let members = committee::load(sections, header, load)?;
        let (output, estimators): (Output, Vec<String>) = (sections.json("output")?, sections.json("estimators")?);
        estimators.iter().try_for_each(|text| Estimator::written(text).map(drop))?;
        Ok(Box::new(FittedVoting::new(members, sections.f64s("shares")?, output, estimators, &header.schema)?))
    }
}

impl Fitted for FittedVoting {
    fn output(&self) -> Output {
        self.output
    }

    fn reads_text(&self) -> bool {
        self.members.iter().any(Member::reads_text)
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; features.n_rows() * self.width];
        for (member, &share) in self.members.iter().zip(&self.shares) {
            if self.output == Output::Scores {
                let classes = member.classes(features, self.width)?;
                sums.chunks_mut(self.width).zip(classes).for_each(|(sums, class)| sums[class as usize] += share);
            } else {
                sums.iter_mut().zip(member.predict(features)?).for_each(|(sum, number)| *sum += share * number);
            }
        }
        Ok(sums)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("output", &self.output)?;
        sections.put_json("estimators", &self.estimators)?;
        sections.put_f64s("shares", &self.shares);
        committee::save(&self.members, sections)
    }

    fn n_parts(&self) -> usize {
        self.members.len()
    }

    fn part(&self, index: usize, header: &Header) -> Result<(Header, Sections)> {
        self.members[index].part(header, &Estimator::written(&self.estimators[index])?)
    }

    fn text(&self, _schema: &Schema) -> String {
        let what = if self.output == Output::Scores { "the majority" } else { "the weighted mean" };
        let mut text = format!("{what} of {} models\n", self.members.len());
        for (estimator, share) in self.estimators.iter().zip(&self.shares) {
            text += &format!("  {share:.3}  {estimator}\n");
        }
        text
    }
}

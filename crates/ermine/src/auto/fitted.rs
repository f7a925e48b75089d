//! The fitted ensemble of `auto`: members with weights, a temperature, and the record of how they were chosen.

use crate::reduction::calibration::fitted::{log_probabilities, scale_log_probabilities};
use crate::reduction::committee::{self, LoadFitted, Member};
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::learner::estimator::Estimator;
use ermine_core::matrix::{Features, Schema, Task};
use ermine_core::model::{Attribute, Fitted, Header, Output, TreeEnsemble};
use ermine_core::section::Sections;
use serde::{Deserialize, Serialize};

/// A configuration in the ensemble: one model of all rows, or one for each fold.
pub(super) struct MemberGroup {
    pub layout: GroupLayout,
    pub members: Vec<Member>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GroupLayout {
    /// The configuration, as text.
    pub estimator: String,
    /// Its share of the ensemble.
    pub weight: f64,
    /// Its predictions are divided by this before they are averaged: scores of different rankers have different units.
    pub scale: f64,
    /// How many models it has.
    pub n_models: usize,
}

/// A candidate on the leaderboard of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoEntry {
    /// The learner with its parameters.
    pub estimator: String,
    /// Its out-of-fold score; `None` if it was not finished.
    pub score: Option<f64>,
    /// Its weight in the ensemble.
    pub weight: f64,
    /// Why it has no score, or is not in the ensemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The record of a run: what was tried, what was chosen and why, and how good it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoSummary {
    /// The measure that decided.
    pub measure: String,
    /// Whether higher is better.
    pub higher_is_better: bool,
    /// The score of the whole procedure on rows that it has not seen, with a 95 % interval: value, lower end, upper end. `None` with too few rows.
    pub estimate: Option<[f64; 3]>,
    /// How the rows were split.
    pub splits: String,
    /// What was chosen, and why.
    pub choice: String,
    /// All candidates, the best first.
    pub leaderboard: Vec<AutoEntry>,
}

/// The fitted ensemble.
pub struct FittedAuto {
    groups: Vec<MemberGroup>,
    inverse_temperature: Option<f64>,
    output: Output,
    width: usize,
    summary: AutoSummary,
}

impl FittedAuto {
    pub(super) fn new(
        groups: Vec<MemberGroup>,
        inverse_temperature: Option<f64>,
        summary: AutoSummary,
        schema: &Schema,
    ) -> Result<FittedAuto> {
        let output = output_of(schema.task);
        let fits = |group: &MemberGroup| {
            let layout = &group.layout;
            group.members.iter().all(|member| member.output() == output)
                && !group.members.is_empty()
                && group.members.len() == layout.n_models
                && (0.0..=1.0).contains(&layout.weight)
                && layout.scale > 0.0
                && layout.scale.is_finite()
        };
        let is_temperature = |inverse: f64| inverse > 0.0 && inverse.is_finite() && schema.task == Task::Classification;
        if groups.is_empty() || !groups.iter().all(fits) || !inverse_temperature.is_none_or(is_temperature) {
            return Err(Error::model_file("the members of the ensemble don't fit the target"));
        }
        Ok(FittedAuto { groups, inverse_temperature, output, width: output.width(schema), summary })
    }

    /// What was tried and chosen, and how good it is.
    pub fn summary(&self) -> &AutoSummary {
        &self.summary
    }

    /// Reads the model from a model file.
    #[doc(hidden)]
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let layouts: Vec<GroupLayout> = sections.json("groups")?;
        let mut members = committee::load(sections, header, load)?.into_iter();
        let mut groups = Vec::with_capacity(layouts.len());
        for layout in layouts {
            Estimator::written(&layout.estimator)?;
            let own = members.by_ref().take(layout.n_models).collect();
            groups.push(MemberGroup { layout, members: own });
        }
        if members.next().is_some() {
            return Err(Error::model_file("the ensemble has a member without a weight"));
        }
        let (inverse, summary) = (sections.json("inverse_temperature")?, sections.json("summary")?);
        Ok(Box::new(FittedAuto::new(groups, inverse, summary, &header.schema)?))
    }

    fn all_members(&self) -> impl Iterator<Item = (&Member, &GroupLayout)> {
        self.groups.iter().flat_map(|group| group.members.iter().map(move |member| (member, &group.layout)))
    }

    /// The one model that the ensemble is, if it is one.
    fn single_member(&self) -> Option<&Member> {
        let [group] = &self.groups[..] else { return None };
        let [member] = &group.members[..] else { return None };
        (self.inverse_temperature.is_none() && group.layout.scale == 1.0).then_some(member)
    }

    /// The weighted mean of the importances of the members that have such.
    fn importances(&self, schema: &Schema) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; schema.features.len()];
        let mut total = 0.0;
        for (member, layout) in self.all_members() {
            let share = layout.weight / layout.n_models as f64;
            let own = member.fitted().attributes(schema).into_iter().find(|a| a.name == "feature_importances");
            if let Some(own) = own.filter(|own| own.values.len() == sums.len()) {
                sums.iter_mut().zip(&own.values).for_each(|(sum, value)| *sum += share * value);
                total += share;
            }
        }
        (total > 0.0).then(|| sums.iter().map(|sum| sum / total).collect())
    }
}

/// What an ensemble for this task predicts.
pub(super) fn output_of(task: Task) -> Output {
    match task {
        Task::Classification | Task::Multilabel => Output::Probabilities,
        Task::Regression | Task::Ranking => Output::Values,
    }
}

impl Fitted for FittedAuto {
    fn output(&self) -> Output {
        self.output
    }

    fn reads_text(&self) -> bool {
        self.all_members().any(|(member, _)| member.reads_text())
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        if let Some(member) = self.single_member() {
            return member.predict(features);
        }
        let mut sums = vec![0.0; features.n_rows() * self.width];
        for (member, layout) in self.all_members() {
            let share = layout.weight / (layout.n_models as f64 * layout.scale);
            sums.iter_mut().zip(member.predict(features)?).for_each(|(sum, number)| *sum += share * number);
        }
        Ok(match self.inverse_temperature {
            None => sums,
            Some(inverse) => {
                let z = log_probabilities(&sums, self.width, Output::Probabilities);
                scale_log_probabilities(&z, self.width, inverse)
            }
        })
    }

    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        self.single_member().map_or(Ok(None), |member| member.margins(features))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("groups", &self.groups.iter().map(|group| &group.layout).collect::<Vec<_>>())?;
        sections.put_json("inverse_temperature", &self.inverse_temperature)?;
        sections.put_json("summary", &self.summary)?;
        let members: Vec<Member> = self.all_members().map(|(member, _)| member.clone()).collect();
        committee::save(&members, sections)
    }

    fn n_parts(&self) -> usize {
        self.all_members().count()
    }

    fn part(&self, index: usize, header: &Header) -> Result<(Header, Sections)> {
        let out_of_range = || Error::data(format!("member index {index} is out of range"));
        let (member, layout) = self.all_members().nth(index).ok_or_else(out_of_range)?;
        member.part(header, &Estimator::written(&layout.estimator)?)
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        self.single_member()?.fitted().tree_ensemble()
    }

    fn text(&self, _schema: &Schema) -> String {
        let summary = &self.summary;
        let mut text = format!("{}\n", summary.choice);
        text += "  weight  models  learner\n";
        for MemberGroup { layout, .. } in &self.groups {
            text += &format!("  {:>6.3}  {:>6}  {}\n", layout.weight, layout.n_models, layout.estimator);
        }
        if let Some(inverse) = self.inverse_temperature {
            text += &format!("  the mean is calibrated with temperature {}\n", number(1.0 / inverse));
        }
        if let Some([value, low, high]) = summary.estimate {
            text += &format!(
                "estimated {} on new rows: {} (95% interval {} to {}; {})\n",
                summary.measure,
                number(value),
                number(low),
                number(high),
                summary.splits
            );
        }
        text += &format!("leaderboard ({}):\n", summary.measure);
        for entry in &summary.leaderboard {
            let score = entry.score.map_or_else(|| "-".into(), number);
            let note = entry.note.as_ref().map_or_else(String::new, |note| format!("  ({note})"));
            text += &format!("  {score:>10}  {:>6.3}  {}{note}\n", entry.weight, entry.estimator);
        }
        text
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        let weights = self.groups.iter().map(|group| group.layout.weight).collect();
        let doc = "Weights of the configurations in the ensemble.";
        let mut found = vec![Attribute::vector("weights", weights, "(n_configurations,)", doc)];
        if let Some([value, low, high]) = self.summary.estimate {
            let doc = "Estimated score of the ensemble on new rows: each row is scored by models and weights that were chosen without it.";
            found.push(Attribute::number("score_estimate", value, doc));
            let doc = "95 % interval of the estimated score.";
            found.push(Attribute::vector("score_interval", vec![low, high], "(2,)", doc));
        }
        found.extend(self.importances(schema).map(Attribute::feature_importances));
        found
    }
}

//! What a run tells about itself: the leaderboard, what was chosen, and why.

use super::AutoRun;
use super::candidates::{TestedRows, Trials};
use super::estimate::{Combination, EnsembleChoice};
use super::fitted::{AutoEntry, AutoSummary, MemberGroup};
use ermine_core::chart::text::number;

impl AutoRun<'_> {
    pub(super) fn summary(
        &self,
        Trials { tried, failed, .. }: Trials,
        choice: &EnsembleChoice,
        groups: &[MemberGroup],
        tested: &TestedRows,
    ) -> AutoSummary {
        let signed = |loss: f64| if self.measure.higher_is_better() { -loss } else { loss };
        let mut order: Vec<usize> = (0..tried.len()).collect();
        order.sort_by(|&a, &b| tried[a].loss.total_cmp(&tried[b].loss).then(a.cmp(&b)));
        let entry = |&c: &usize| {
            let estimator = tried[c].estimator.to_string();
            let group = groups.iter().find(|group| group.layout.estimator == estimator);
            let score = Some(signed(tried[c].loss)).filter(|score| score.is_finite());
            AutoEntry { estimator, score, weight: group.map_or(0.0, |group| group.layout.weight), note: None }
        };
        let leaderboard = order.iter().map(entry).chain(failed).collect();
        let estimate = choice.estimate.map(|score| [score.value, score.low, score.high]);
        AutoSummary {
            measure: self.measure.title().into(),
            higher_is_better: self.measure.higher_is_better(),
            estimate: estimate.filter(|numbers| numbers.iter().all(|x| x.is_finite())),
            splits: tested.description.clone(),
            choice: self.explanation(choice, groups.len(), tried.len()),
            leaderboard,
        }
    }

    /// What was chosen, and why.
    fn explanation(&self, choice: &EnsembleChoice, n_members: usize, n_tried: usize) -> String {
        let score = |wanted: Combination| {
            let found = choice.considered.iter().find(|(combination, _)| *combination == wanted);
            found.map_or_else(String::new, |(_, score)| number(*score))
        };
        let name = self.measure.title();
        let what = match (choice.combination, n_members) {
            (Combination::First, _) => {
                return format!(
                    "default boosting alone: its out-of-fold {name} of {} is not worse than that of the best weighted mean of {n_tried} candidates ({})",
                    score(Combination::First),
                    score(Combination::Mean)
                );
            }
            (_, 1) => "one model".to_string(),
            (_, n) => format!("the weighted mean of {n} configurations"),
        };
        let kind = choice.combination;
        let against = match score(Combination::First) {
            first if first.is_empty() => String::new(),
            first => format!(", default boosting alone {first}"),
        };
        format!("{what} of {n_tried} candidates: cross-fitted {name} {}{against}", score(kind))
    }
}

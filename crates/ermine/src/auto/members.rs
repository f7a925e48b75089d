//! The models of the chosen configurations, within the limits of size and latency.

use super::candidates::{TestedRows, Tried};
use super::fitted::{GroupLayout, MemberGroup};
use super::{AutoRun, INFO, Until};
use crate::reduction::committee::Member;
use crate::reduction::out_of_fold::out_of_fold;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::progress::{Observer, PartObserver, Silent};
use ermine_core::section::Sections;
use std::time::{Duration, Instant};

/// The part of the time budget after which nothing is trained any more.
const TRAINING_SHARE: f64 = 0.97;

/// Bytes of a model file beside its members.
const FILE_OVERHEAD: usize = 8_192;

impl AutoRun<'_> {
    /// The share of the constraints that a candidate takes.
    pub(super) fn cost(&self, tried: &Tried, tested: &TestedRows) -> f64 {
        let n_models = if self.keeps_folds() { tested.splits.len() as f64 } else { 1.0 };
        let size = self.auto.max_size.map_or(0.0, |most| {
            tried.finished.size as f64 * n_models / most.saturating_sub(FILE_OVERHEAD).max(1) as f64
        });
        let latency = self.auto.max_latency.map_or(0.0, |most| tried.finished.latency * n_models / most);
        size.max(latency)
    }

    pub(super) fn no_candidate_fits(&self, tried: &[Tried]) -> Error {
        let least = |of: &dyn Fn(&Tried) -> f64| tried.iter().map(of).fold(f64::INFINITY, f64::min);
        let size = least(&|tried| tried.finished.size as f64);
        let latency = least(&|tried| tried.finished.latency);
        let too_small = |name: &str, value: String, allowed: String| Error::Param {
            owner: INFO.name.into(),
            name: name.into(),
            value,
            allowed,
        };
        match (self.auto.max_size, self.auto.max_latency) {
            (Some(most), _) if size > most.saturating_sub(FILE_OVERHEAD) as f64 => too_small(
                "max_size",
                most.to_string(),
                format!("at least {:.0} bytes, the size of the smallest candidate", size + FILE_OVERHEAD as f64),
            ),
            (_, most) => too_small(
                "max_latency",
                most.map_or_else(String::new, |most| most.to_string()),
                format!("at least about {latency:.1e} seconds per row, the time of the fastest candidate"),
            ),
        }
    }

    /// The models of the chosen configurations.
    pub(super) fn train_chosen(
        &self,
        tried: &[Tried],
        weights: &[f64],
        tested: &TestedRows,
    ) -> Result<Vec<MemberGroup>> {
        let chosen: Vec<usize> = (0..tried.len()).filter(|&c| weights[c] > 0.0).collect();
        let deadline = self.at(TRAINING_SHARE);
        let stopped = self.options.finish_on_stop && self.is_stopped();
        let mut groups = Vec::with_capacity(chosen.len());
        for &c in &chosen {
            let candidate = &tried[c];
            // A fit on all rows takes a part of the time of all folds; how large a part depends on how well folds ran side by side.
            let expected = candidate.finished.seconds * if tested.splits.len() > 1 { 0.6 } else { 1.3 };
            let has_time =
                deadline.is_none_or(|deadline| Instant::now() + Duration::from_secs_f64(expected.max(0.0)) < deadline);
            let use_folds = !candidate.members.is_empty() && (self.keeps_folds() || stopped || !has_time);
            let members = if use_folds {
                candidate.members.clone()
            } else {
                match self.refit(candidate, tested, deadline, stopped) {
                    Err(Error::Stopped) if !candidate.members.is_empty() && !self.must_stop() => {
                        candidate.members.clone()
                    }
                    members => members?,
                }
            };
            let layout = GroupLayout {
                estimator: candidate.estimator.to_string(),
                weight: weights[c],
                scale: candidate.scale,
                n_models: members.len(),
            };
            groups.push(MemberGroup { layout, members });
        }
        Ok(groups)
    }

    /// Whether the observer ends the run without a result.
    fn must_stop(&self) -> bool {
        !self.options.finish_on_stop && self.is_stopped()
    }

    /// Trains a configuration on all rows, or again on the folds.
    fn refit(
        &self,
        candidate: &Tried,
        tested: &TestedRows,
        deadline: Option<Instant>,
        stopped: bool,
    ) -> Result<Vec<Member>> {
        // Without models of the folds there is nothing to fall back on: a model is trained to its end.
        let has_folds = !candidate.members.is_empty();
        let observer: &dyn Observer = if stopped { &Silent } else { self.context.observer };
        let until = Until { observer, deadline: deadline.filter(|_| has_folds) };
        let context = Context { observer: &until, ..*self.context };
        let learner = candidate.estimator.learner(&context)?;
        if self.keeps_folds() {
            // Their predictions are known already.
            let found =
                out_of_fold(&*learner, self.data, &tested.splits, &context, &|_, rows| Ok(vec![0.0; rows.n_rows()]))?;
            return Ok(found.members);
        }
        let parts = PartObserver(&until);
        let context = Context { observer: &parts, ..context };
        Ok(vec![Member::train(&*learner, self.data, None, self.context.seed, &context)?])
    }

    /// Leaves out the members with the least weight until the rest is small enough.
    pub(super) fn within_size(&self, mut groups: Vec<MemberGroup>) -> Result<Vec<MemberGroup>> {
        let Some(most) = self.auto.max_size else { return Ok(groups) };
        let size = |group: &MemberGroup| group.members.iter().map(size_of).sum::<Result<usize>>();
        loop {
            let total = groups.iter().map(size).sum::<Result<usize>>()? + FILE_OVERHEAD;
            if total <= most {
                break;
            }
            if groups.len() == 1 {
                let (owner, name) = (INFO.name.to_string(), "max_size".to_string());
                let allowed = format!("at least {total} bytes, the size of the smallest model that was found");
                return Err(Error::Param { owner, name, value: most.to_string(), allowed });
            }
            let least = (0..groups.len()).min_by(|&a, &b| groups[a].layout.weight.total_cmp(&groups[b].layout.weight));
            groups.remove(least.unwrap_or(0));
        }
        let total: f64 = groups.iter().map(|group| group.layout.weight).sum();
        groups.iter_mut().for_each(|group| group.layout.weight /= total);
        Ok(groups)
    }
}

/// The bytes of a member in a model file.
pub(super) fn size_of(member: &Member) -> Result<usize> {
    let mut sections = Sections::default();
    member.save(&mut sections)?;
    Ok(sections.to_bytes()?.len())
}

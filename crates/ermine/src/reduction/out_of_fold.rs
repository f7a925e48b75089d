//! Out-of-fold predictions: each row is predicted by a model that was trained without it. Calibration, stacking and `auto` learn from them.

use super::committee::Member;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::{Dataset, Features, Splits};
use ermine_core::parallel;

/// Predictions for held-out rows, and the models that made them.
pub struct OutOfFold {
    /// The numbers of all rows, row by row; NaN for rows that no split tests.
    pub values: Vec<f64>,
    /// How many numbers there are for each row.
    pub width: usize,
    /// The model of each split.
    pub members: Vec<Member>,
}

/// The folds of a reduction that cross-validates its learners: those of the context, or `cv` random folds that keep groups together.
pub fn folds(data: &Dataset, cv: usize, purpose: &str, context: &Context<'_>) -> Result<Splits> {
    match context.folds {
        Some(folds) => Splits::from_folds(data, folds),
        None if data.n_rows() < 2 => {
            Err(Error::data(format!("{purpose} needs at least 2 rows (got n_samples = {})", data.n_rows())))
        }
        None => {
            let n_groups = data.group().map_or(usize::MAX, |group| group.iter().max().map_or(0, |&g| g as usize + 1));
            Splits::k_fold(data, cv.min(data.n_rows()).min(n_groups), context.seed)
        }
    }
}

/// Trains a learner on the training part of each split; `answers` gives the numbers of a model for the test part.
pub fn out_of_fold(
    learner: &dyn Learner,
    data: &Dataset,
    splits: &Splits,
    context: &Context<'_>,
    answers: &(dyn Fn(&Member, &Features) -> Result<Vec<f64>> + Sync),
) -> Result<OutOfFold> {
    let parts = parallel::try_map(splits.len(), |index| {
        let (train, test) = splits.split(index);
        let member = Member::train(learner, &data.select(&train)?, None, context.seed, context)?;
        let numbers = answers(&member, &data.features().select(&test)?)?;
        Ok::<_, Error>((test, numbers, member))
    })?;
    let width = parts.first().map_or(0, |(test, numbers, _)| numbers.len() / test.len().max(1));
    let mut values = vec![f64::NAN; data.n_rows() * width];
    let mut members: Vec<Member> = Vec::with_capacity(parts.len());
    for (test, numbers, member) in parts {
        let alike = members.first().is_none_or(|first| first.output() == member.output());
        if !alike || numbers.len() != test.len() * width {
            return Err(Error::data(format!(
                "{}: the models of different folds predict different things",
                learner.info().name
            )));
        }
        for (&row, numbers) in test.iter().zip(numbers.chunks(width.max(1))) {
            values[row as usize * width..][..width].copy_from_slice(numbers);
        }
        members.push(member);
    }
    Ok(OutOfFold { values, width, members })
}

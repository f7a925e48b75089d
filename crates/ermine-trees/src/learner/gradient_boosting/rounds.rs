//! The number of rounds by early stopping, and the validation sets for it.
//!
//! **Idea.** Small data is divided into [`FOLDS`] folds. Three or four of them are the validation set once while the others are trained on, with early stopping. The mean of their numbers of rounds is
//! that of as many models of all rows, which differ by their random seeds and the growth of their trees; the model is the mean of these, which predicts better than one of them. A mean of sums of trees
//! is a sum of trees with smaller leaves. Of large data one fold is held out, once, and all rows are then trained on for the best number of rounds. Queries are not divided, and folds are
//! stratified by class.
//!
//! **Cost.** Up to eight times that of one run on small data in training, and four times in prediction; twice in training on large data.
//!
//! **Reference.** Breiman, Bagging Predictors, 1996.

use super::fitted::BoostedTrees;
use crate::boost::booster::Booster;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::rng::{self, Purpose};

/// Maximum number of rounds that are tried.
pub(super) const MAX_ROUNDS: usize = 1500;

/// Rounds without improvement after which training stops.
pub(super) const EARLY_STOPPING_ROUNDS: usize = 50;

/// Rounds without early stopping: with too few rows, or with dropout (DART).
pub(super) const DEFAULT_ROUNDS: usize = 100;

/// Folds of small data.
const FOLDS: usize = 5;

/// Models of small data, if they are of so many kinds: so many of the folds choose the number of rounds, and the model is the mean of at most so many models of all rows.
pub(super) fn n_models(n_kinds: usize) -> usize {
    (2 * n_kinds).clamp(3, FOLDS)
}

/// Number of rows below which there is no validation set.
const FEW_ROWS: usize = 40;

/// Rows x columns x scores up to which data is small.
const SMALL: usize = 2_000_000;

/// Training and validation sets, one pair after the other; empty if there are too few rows.
pub(super) fn parts(data: &Dataset, seed: u64) -> Result<Vec<(Dataset, Dataset)>> {
    let scores = data.classes().map_or(1, |(_, labels)| if labels.len() > 2 { labels.len() } else { 1 });
    let (places, n_places) = places(data, seed, Purpose::BoostingFolds);
    if data.n_rows() < FEW_ROWS || n_places < 2 * FOLDS {
        return Ok(Vec::new());
    }
    let n_parts = if data.n_rows() * data.features().n_columns() * scores <= SMALL { FOLDS } else { 1 };
    (0..n_parts).map(|part| divide(data, |row| places[row] % FOLDS == part)).collect()
}

/// A training set, and the given fraction of the rows as validation set.
pub(super) fn validation_split(data: &Dataset, fraction: f64, seed: u64) -> Result<(Dataset, Dataset)> {
    let (places, _) = places(data, seed, Purpose::BoostingValidation);
    let before = |place: usize| (place as f64 * fraction + 0.5).floor();
    let (train, validation) = divide(data, |row| before(places[row] + 1) > before(places[row]))?;
    if train.n_rows() == 0 || validation.n_rows() == 0 {
        let n = data.n_rows();
        return Err(Error::data(format!("{n} rows are too few for early stopping, which needs a validation set")));
    }
    Ok((train, validation))
}

fn divide(data: &Dataset, is_validation: impl Fn(usize) -> bool) -> Result<(Dataset, Dataset)> {
    let rows = 0..data.n_rows() as u32;
    let (validation, train): (Vec<u32>, Vec<u32>) = rows.partition(|&row| is_validation(row as usize));
    Ok((data.select(&train)?, data.select(&validation)?))
}

/// A place for each row in a random order, and how many there are. The rows of a query share one; classes come one after the other, so that every so many places have
/// their share of each.
fn places(data: &Dataset, seed: u64, purpose: Purpose) -> (Vec<usize>, usize) {
    let mut rng = purpose.stream(seed, &[]);
    if let Some(group) = data.group().filter(|_| data.task() == Task::Ranking) {
        let mut queries = group.to_vec();
        queries.sort_unstable();
        queries.dedup();
        let mut order: Vec<usize> = (0..queries.len()).collect();
        rng::shuffle(&mut rng, &mut order);
        let place = |query: &u32| order[queries.binary_search(query).unwrap_or(0)];
        return (group.iter().map(place).collect(), queries.len());
    }
    let mut order: Vec<u32> = (0..data.n_rows() as u32).collect();
    rng::shuffle(&mut rng, &mut order);
    if let Target::Classes { codes, .. } = data.target() {
        order.sort_by_key(|&row| codes[row as usize]);
    }
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| places[row as usize] = place);
    (places, order.len())
}

/// The mean of numbers of rounds, rounded, at least 1.
pub(super) fn mean_count(counts: impl Iterator<Item = usize>) -> usize {
    let (n, sum) = counts.fold((0, 0), |(n, sum), count| (n + 1, sum + count));
    ((2 * sum + n) / (2 * n).max(1)).max(1)
}

/// The mean loss over all folds after each round that all of them have.
pub(super) fn mean_history(histories: &[&[f64]]) -> Vec<f64> {
    let shortest = histories.iter().map(|history| history.len()).min().unwrap_or(0);
    let mean = |round: usize| histories.iter().map(|h| h[round]).sum::<f64>() / histories.len() as f64;
    (0..shortest).map(mean).collect()
}

/// The mean of models as one model: their first rounds one after the other, then their second ones.
pub(super) fn mean(models: &[BoostedTrees]) -> BoostedTrees {
    let (first, share) = (&models[0], 1.0 / models.len() as f64);
    let mean = |part: &dyn Fn(&BoostedTrees) -> Vec<f64>| {
        let mut sum = vec![0.0; part(first).len()];
        models.iter().for_each(|model| sum.iter_mut().zip(part(model)).for_each(|(s, x)| *s += share * x));
        sum
    };
    let k = first.booster.n_scores();
    let longest = models.iter().map(|model| model.booster.n_rounds()).max().unwrap_or(0);
    let rounds = (0..longest)
        .flat_map(|round| models.iter().filter(move |m| round < m.booster.n_rounds()).map(move |m| (m, round)));
    let trees = rounds.flat_map(|(model, round)| (0..k).map(move |output| model.booster.tree(round * k + output)));
    let smaller = trees.map(|mut tree| {
        tree.value.iter_mut().for_each(|value| *value *= share);
        tree
    });
    let start = mean(&|model| model.booster.start().to_vec());
    let importances = mean(&|model| model.importances.clone());
    BoostedTrees { booster: Booster::new(start, smaller), importances, ..first.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::matrix::Features;
    use ermine_core::table::{Column, Table};
    use std::sync::Arc;

    fn dataset(n: usize, target: Target, task: Task) -> Dataset {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let features = Features::new(Arc::new(Table::new(vec![Column::numeric("x", x)]).unwrap()));
        Dataset::from_parts(features, target, task).unwrap()
    }

    #[test]
    fn folds_cover_all_rows_once_and_are_stratified() {
        let codes: Vec<u32> = (0..200).map(|i| u32::from(i % 10 == 0)).collect();
        let labels = ["a".to_string(), "b".to_string()].into();
        let data = dataset(200, Target::Classes { codes, labels }, Task::Classification);
        let parts = parts(&data, 3).unwrap();
        let mut seen: Vec<f64> = parts.iter().flat_map(|(_, validation)| validation.features().numbers(0)).collect();
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, (0..200).map(f64::from).collect::<Vec<_>>());
        for (train, validation) in &parts {
            assert_eq!(train.n_rows() + validation.n_rows(), 200);
            assert_eq!(validation.classes().unwrap().0.iter().filter(|&&c| c == 1).count(), 4);
        }
        let (_, validation) = validation_split(&data, 0.1, 3).unwrap();
        assert_eq!(validation.n_rows(), 20);
    }

    #[test]
    fn queries_stay_together() {
        let target = Target::Values { values: vec![0.0; 300], n_outputs: 1 };
        let groups: Vec<u32> = (0..300).map(|i| i % 30).collect();
        let data = dataset(300, target, Task::Ranking).with_group(Some(groups)).unwrap();
        for (train, validation) in
            parts(&data, 1).unwrap().into_iter().chain([validation_split(&data, 0.2, 1).unwrap()])
        {
            assert!(validation.group().unwrap().iter().all(|query| !train.group().unwrap().contains(query)));
            assert_eq!(validation.n_rows(), 60);
        }
    }

    #[test]
    fn rounds_and_histories_are_averaged() {
        assert_eq!(mean_history(&[&[3.0, 1.0, 2.0, 9.0], &[3.0, 2.0, 0.5]]), [3.0, 1.5, 1.25]);
        assert_eq!(mean_count([3, 4, 4].into_iter()), 4);
        assert_eq!(mean_count([0, 0].into_iter()), 1);
        assert_eq!(mean_count([100].into_iter()), 100);
    }
}

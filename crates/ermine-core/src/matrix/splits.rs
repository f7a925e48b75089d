//! Train/test splits.
//!
//! | method | tested rows |
//! |---|---|
//! | k-fold | each row once, by a model of the other folds |
//! | repeated | k-fold several times, with new random folds |
//! | leave-one-out | each row, by a model of all others; for small data |
//! | time-ordered | each of k later ranges of rows, by a model of all rows before it |
//! | in order | k-fold with contiguous rows, not random |
//! | holdout | a random share of the rows |
//! | given | as the user specifies |
//!
//! Random folds are stratified by class. Rows of one group (a query, a patient) stay together, except in time-ordered splits.

use super::dataset::{Dataset, Target};
use crate::error::{Error, Result};
use crate::rng::{self, Purpose};

/// Train/test splits.
#[derive(Debug, Clone, PartialEq)]
pub struct Splits {
    groups: Vec<SplitGroup>,
    n_rows: usize,
}

/// One or more splits that share a description.
#[derive(Debug, Clone, PartialEq)]
enum SplitGroup {
    /// Each fold is tested once; the fold of each row.
    Folds { fold: Vec<u32>, n_folds: usize },
    /// The rows from `from` to `to` are tested by a model of the rows before them.
    After { from: usize, to: usize },
    /// The rows of this fold are tested.
    Only { fold: Vec<u32>, tested: u32 },
    /// Explicit training and test rows.
    Given { train: Vec<u32>, test: Vec<u32> },
}

fn invalid(name: &str, value: impl ToString, allowed: String) -> Error {
    Error::Param { owner: "cross-validation".into(), name: name.into(), value: value.to_string(), allowed }
}

impl Splits {
    /// K-fold cross-validation.
    pub fn k_fold(data: &Dataset, n_folds: usize, seed: u64) -> Result<Splits> {
        Splits::repeated(data, n_folds, 1, seed)
    }

    /// Repeated k-fold cross-validation.
    pub fn repeated(data: &Dataset, n_folds: usize, times: usize, seed: u64) -> Result<Splits> {
        let n_units = n_units(data);
        if n_folds < 2 || n_folds > n_units {
            return Err(invalid("folds", n_folds, format!("a whole number from 2 to {n_units}")));
        }
        if !(1..=1000).contains(&times) {
            return Err(invalid("repeats", times, "a whole number from 1 to 1000".into()));
        }
        let group = |time: usize| SplitGroup::Folds { fold: assign_folds(data, n_folds, seed, time as u64), n_folds };
        Ok(Splits { groups: (0..times).map(group).collect(), n_rows: data.n_rows() })
    }

    /// K-fold cross-validation without shuffling: contiguous rows, stratified by class as scikit-learn does it.
    pub fn unshuffled_k_fold(data: &Dataset, n_folds: usize) -> Result<Splits> {
        let most = match (data.target(), data.group()) {
            (Target::Classes { codes, labels }, None) => {
                class_sizes(codes, labels.len()).into_iter().max().unwrap_or(0)
            }
            _ => n_units(data),
        };
        if n_folds < 2 || n_folds > most {
            return Err(invalid("folds", n_folds, format!("a whole number from 2 to {most}")));
        }
        Ok(Splits {
            groups: vec![SplitGroup::Folds { fold: assign_contiguous_folds(data, n_folds), n_folds }],
            n_rows: data.n_rows(),
        })
    }

    /// Folds as given; empty folds are skipped.
    pub fn from_folds(data: &Dataset, fold: &[u32]) -> Result<Splits> {
        let mut known = fold.to_vec();
        known.sort_unstable();
        known.dedup();
        if fold.len() != data.n_rows() || known.len() < 2 {
            let (n, k, rows) = (fold.len(), known.len(), data.n_rows());
            return Err(Error::data(format!(
                "got {k} folds for {n} rows; expected at least two folds, for all {rows} rows"
            )));
        }
        let place = |f: &u32| known.binary_search(f).unwrap_or(0) as u32;
        let group = SplitGroup::Folds { fold: fold.iter().map(place).collect(), n_folds: known.len() };
        Ok(Splits { groups: vec![group], n_rows: fold.len() })
    }

    /// Leave-one-out: each row, or group of rows, is tested by itself.
    pub fn leave_one_out(data: &Dataset) -> Result<Splits> {
        let n_units = n_units(data);
        if n_units < 2 {
            return Err(Error::data(format!(
                "leave-one-out needs at least two rows or groups, but there are {n_units}"
            )));
        }
        let fold = match data.group() {
            Some(group) => group.to_vec(),
            None => (0..data.n_rows() as u32).collect(),
        };
        Ok(Splits { groups: vec![SplitGroup::Folds { fold, n_folds: n_units }], n_rows: data.n_rows() })
    }

    /// Time-ordered splits: `n_folds` ranges of equal length at the end are each tested by a model of all rows before them.
    pub fn time_ordered(data: &Dataset, n_folds: usize) -> Result<Splits> {
        let n = data.n_rows();
        if n_folds < 1 || n_folds >= n {
            return Err(invalid("folds", n_folds, format!("a whole number from 1 to {}", n.saturating_sub(1))));
        }
        let length = n / (n_folds + 1);
        let group =
            |i: usize| SplitGroup::After { from: n - (n_folds - i) * length, to: n - (n_folds - i - 1) * length };
        Ok(Splits { groups: (0..n_folds).map(group).collect(), n_rows: n })
    }

    /// Tests a random share of the rows, between 0 and 1.
    pub fn holdout(data: &Dataset, share: f64, seed: u64) -> Result<Splits> {
        let n_units = n_units(data);
        if !(share > 0.0 && share < 1.0) {
            return Err(invalid("holdout", share, "a share between 0 and 1".into()));
        }
        if n_units < 2 {
            return Err(Error::data(format!("a holdout needs at least two rows or groups, but there are {n_units}")));
        }
        let tested = ((share * n_units as f64).round() as usize).clamp(1, n_units - 1);
        // As many folds as there are units, of which the first few are tested; stratified.
        let order = assign_folds(data, n_units, seed, 0);
        let fold = order.iter().map(|&place| u32::from(spread(place as usize, tested, n_units))).collect();
        Ok(Splits { groups: vec![SplitGroup::Only { fold, tested: 1 }], n_rows: data.n_rows() })
    }

    /// Training and test rows as given.
    pub fn from_indices(data: &Dataset, parts: Vec<(Vec<u32>, Vec<u32>)>) -> Result<Splits> {
        let n_rows = data.n_rows();
        for (index, (train, test)) in parts.iter().enumerate() {
            if train.is_empty() || test.is_empty() || train.iter().chain(test).any(|&row| row as usize >= n_rows) {
                let (a, b) = (train.len(), test.len());
                let expected = format!("expected at least one row each, with indices below {n_rows}");
                return Err(Error::data(format!("split {index} has {a} training rows and {b} test rows: {expected}")));
            }
        }
        if parts.is_empty() {
            return Err(Error::data("there are no splits"));
        }
        let groups = match as_folds(&parts, n_rows) {
            Some(fold) => vec![SplitGroup::Folds { fold, n_folds: parts.len() }],
            None => parts.into_iter().map(|(train, test)| SplitGroup::Given { train, test }).collect(),
        };
        Ok(Splits { groups, n_rows })
    }

    /// The fold of each row and the number of folds, if every row is tested once and used for training in all other folds.
    pub fn folds(&self) -> Option<(&[u32], usize)> {
        match &self.groups[..] {
            [SplitGroup::Folds { fold, n_folds }] => Some((fold, *n_folds)),
            _ => None,
        }
    }

    /// Number of splits.
    pub fn len(&self) -> usize {
        self.groups.iter().map(SplitGroup::len).sum()
    }

    /// Whether there are no splits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The splits of each repetition; splits that are not folds form one.
    pub fn rounds(&self) -> Vec<std::ops::Range<usize>> {
        let (mut rounds, mut first, mut last): (Vec<std::ops::Range<usize>>, usize, usize) = (Vec::new(), 0, 0);
        for group in &self.groups {
            let are_folds = matches!(group, SplitGroup::Folds { .. });
            if are_folds && last > first {
                rounds.push(first..last);
                first = last;
            }
            last += group.len();
            if are_folds {
                rounds.push(first..last);
                first = last;
            }
        }
        rounds.extend((last > first).then_some(first..last));
        rounds
    }

    /// Number of rows of the smallest test set.
    pub fn min_test_size(&self) -> usize {
        let tested = |group: &SplitGroup| match group {
            SplitGroup::Folds { fold, n_folds } => class_sizes(fold, *n_folds).into_iter().min().unwrap_or(0),
            SplitGroup::Only { fold, tested } => fold.iter().filter(|f| *f == tested).count(),
            SplitGroup::Given { test, .. } => test.len(),
            SplitGroup::After { from, to } => to - from,
        };
        self.groups.iter().map(tested).min().unwrap_or(0)
    }

    /// Training rows and test rows of a split, in order.
    pub fn split(&self, mut index: usize) -> (Vec<u32>, Vec<u32>) {
        let rows = 0..self.n_rows as u32;
        for group in &self.groups {
            if index < group.len() {
                return match group {
                    SplitGroup::Folds { fold, .. } => rows.partition(|&row| fold[row as usize] as usize != index),
                    SplitGroup::Only { fold, tested } => rows.partition(|&row| fold[row as usize] != *tested),
                    SplitGroup::Given { train, test } => (train.clone(), test.clone()),
                    SplitGroup::After { from, to } => {
                        ((0..*from as u32).collect(), (*from as u32..*to as u32).collect())
                    }
                };
            }
            index -= group.len();
        }
        (rows.collect(), Vec::new())
    }
}

impl SplitGroup {
    fn len(&self) -> usize {
        if let SplitGroup::Folds { n_folds, .. } = self { *n_folds } else { 1 }
    }
}

/// The fold of each row, if the given splits are folds: each row is tested once and used for training in all other splits, in row order.
fn as_folds(parts: &[(Vec<u32>, Vec<u32>)], n_rows: usize) -> Option<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    if parts.len() < 2 || parts.iter().map(|(_, test)| test.len()).sum::<usize>() != n_rows {
        return None;
    }
    let mut fold = vec![NONE; n_rows];
    for (index, (_, test)) in parts.iter().enumerate() {
        test.iter().for_each(|&row| fold[row as usize] = index as u32);
    }
    let rows = |keep: &dyn Fn(u32) -> bool, found: &[u32]| {
        (0..n_rows as u32).filter(|&row| keep(fold[row as usize])).eq(found.iter().copied())
    };
    let is_fold = |(index, (train, test)): (usize, &(Vec<u32>, Vec<u32>))| {
        rows(&|f| f == index as u32, test) && rows(&|f| f != index as u32, train)
    };
    (!fold.contains(&NONE) && parts.iter().enumerate().all(is_fold)).then_some(fold)
}

/// Whether position `place` of `n` is among `tested` evenly spaced ones.
fn spread(place: usize, tested: usize, n: usize) -> bool {
    (place + 1) * tested / n > place * tested / n
}

/// Number of rows or groups.
fn n_units(data: &Dataset) -> usize {
    data.group().map_or(data.n_rows(), |g| g.iter().max().map_or(0, |&m| m as usize + 1))
}

/// Assigns rows to folds at random: stratified by class, groups kept together.
fn assign_folds(data: &Dataset, n_folds: usize, seed: u64, time: u64) -> Vec<u32> {
    let n_units = n_units(data);
    let mut units: Vec<u32> = (0..n_units as u32).collect();
    rng::shuffle(&mut Purpose::Folds.stream(seed, &[time]), &mut units);
    if let (Target::Classes { codes, .. }, None) = (data.target(), data.group()) {
        // A stable sort by class, then round-robin assignment, gives every fold its share of every class.
        units.sort_by_key(|&row| codes[row as usize]);
    }
    let mut fold_of_unit = vec![0u32; n_units];
    units.iter().enumerate().for_each(|(i, &unit)| fold_of_unit[unit as usize] = (i % n_folds) as u32);
    match data.group() {
        Some(group) => group.iter().map(|&g| fold_of_unit[g as usize]).collect(),
        None => fold_of_unit,
    }
}

fn class_sizes(codes: &[u32], n_classes: usize) -> Vec<usize> {
    let mut sizes = vec![0; n_classes];
    codes.iter().for_each(|&code| sizes[code as usize] += 1);
    sizes
}

/// Assigns contiguous rows to folds, such that each fold gets as many rows of each class as in a round-robin assignment of the rows sorted by class.
fn assign_contiguous_folds(data: &Dataset, n_folds: usize) -> Vec<u32> {
    let (Target::Classes { codes, labels }, None) = (data.target(), data.group()) else {
        let n_units = n_units(data);
        // The first folds have one more row if the sizes can't be equal.
        let long = n_units % n_folds * (n_units / n_folds + 1);
        let fold = |unit: usize| {
            let short = n_units / n_folds;
            (if unit < long { unit / (short + 1) } else { n_units % n_folds + (unit - long) / short }) as u32
        };
        return match data.group() {
            Some(group) => group.iter().map(|&g| fold(g as usize)).collect(),
            None => (0..n_units).map(fold).collect(),
        };
    };
    let sizes = class_sizes(codes, labels.len());
    let (mut start, mut begun) = (vec![None; labels.len()], 0);
    for &code in codes {
        if start[code as usize].is_none() {
            start[code as usize] = Some(begun);
            begun += sizes[code as usize];
        }
    }
    // Number of the sorted rows before `end` that are assigned to a fold.
    let are_folds = |end: usize, fold: usize| (end + n_folds - 1 - fold) / n_folds;
    let share = |class: usize, fold: usize| {
        let start = start[class].unwrap_or(0);
        are_folds(start + sizes[class], fold) - are_folds(start, fold)
    };
    // For each class the current fold, and how many rows it still gets.
    let mut filling: Vec<(usize, usize)> = (0..labels.len()).map(|class| (0, share(class, 0))).collect();
    let next = |&code: &u32| {
        let (fold, left) = &mut filling[code as usize];
        while *left == 0 && *fold + 1 < n_folds {
            *fold += 1;
            *left = share(code as usize, *fold);
        }
        *left = left.saturating_sub(1);
        *fold as u32
    };
    codes.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Roles;
    use crate::table::{Column, Table};
    use proptest::prelude::*;

    fn two_classes(n: usize) -> Dataset {
        let names: Vec<Option<&str>> = (0..n).map(|i| Some(if i % 10 == 0 { "rare" } else { "common" })).collect();
        let table = Table::new(vec![Column::numeric("x", vec![0.0; n]), Column::nominal("y", &names)]).unwrap();
        table.dataset("y").unwrap()
    }

    fn in_groups() -> Dataset {
        let rows: Vec<Vec<f64>> = (0..60).map(|i| vec![f64::from(i), f64::from(i % 7), f64::from(i / 6)]).collect();
        let roles = Roles { group: Some("q".into()), ..Roles::target("y") };
        Dataset::new(Table::from_rows(&["x", "y", "q"], &rows).unwrap(), &roles).unwrap()
    }

    #[test]
    fn folds_are_balanced_and_stratified() {
        let data = two_classes(103);
        let splits = Splits::repeated(&data, 5, 2, 1).unwrap();
        let mut seen = vec![0; 103];
        assert_eq!(splits.len(), 10);
        for index in 0..splits.len() {
            let (train, test) = splits.split(index);
            assert_eq!(train.len() + test.len(), 103);
            test.iter().for_each(|&row| seen[row as usize] += 1);
            let rare = test.iter().filter(|&&row| row % 10 == 0).count();
            assert!((2..=3).contains(&rare) && (20..=21).contains(&test.len()));
        }
        assert!(seen.iter().all(|&n| n == 2));
        assert_ne!(splits.split(0), splits.split(5));
        assert!(Splits::k_fold(&data, 1, 1).is_err() && Splits::k_fold(&data, 104, 1).is_err());
    }

    #[test]
    fn groups_stay_together() {
        let data = in_groups();
        for splits in [
            Splits::k_fold(&data, 3, 1).unwrap(),
            Splits::leave_one_out(&data).unwrap(),
            Splits::holdout(&data, 0.3, 1).unwrap(),
        ] {
            for index in 0..splits.len() {
                let (train, test) = splits.split(index);
                assert!(!test.is_empty() && test.iter().all(|t| train.iter().all(|s| s / 6 != t / 6)));
            }
        }
        assert_eq!(Splits::leave_one_out(&data).unwrap().len(), 10);
    }

    #[test]
    fn ordered_folds_equal_those_of_scikit_learn() {
        let numbers = Table::from_rows(&["x", "y"], &(0..7).map(|i| vec![0.0, f64::from(i) + 0.5]).collect::<Vec<_>>());
        let numbers = numbers.unwrap().dataset("y").unwrap();
        assert_eq!(Splits::unshuffled_k_fold(&numbers, 3).unwrap().folds(), Some((&[0, 0, 0, 1, 1, 2, 2][..], 3)));
        // The result of scikit-learn's StratifiedKFold(3) for these labels.
        let names: Vec<Option<&str>> = "b a a b a c c a b a a".split(' ').map(Some).collect();
        let table = Table::new(vec![Column::numeric("x", vec![0.0; 11]), Column::nominal("y", &names)]).unwrap();
        let classes = table.dataset("y").unwrap();
        let splits = Splits::unshuffled_k_fold(&classes, 3).unwrap();
        assert_eq!(splits.folds(), Some((&[0, 0, 0, 1, 1, 0, 1, 1, 2, 2, 2][..], 3)));
        assert!(Splits::unshuffled_k_fold(&classes, 7).is_err() && Splits::unshuffled_k_fold(&classes, 1).is_err());
        assert!(Splits::unshuffled_k_fold(&numbers, 8).is_err());
    }

    #[test]
    fn given_folds_are_used() {
        let data = two_classes(5);
        let splits = Splits::from_folds(&data, &[7, 2, 2, 7, 9]).unwrap();
        assert_eq!(splits.folds(), Some((&[1, 0, 0, 1, 2][..], 3)));
        assert!(Splits::from_folds(&data, &[1; 5]).is_err() && Splits::from_folds(&data, &[0, 1]).is_err());
    }

    proptest! {
        #[test]
        fn ordered_folds_are_balanced_and_contiguous(codes in proptest::collection::vec(0usize..4, 8..80), n_folds in 2usize..6) {
            let names: Vec<Option<&str>> = codes.iter().map(|&c| Some(["p", "q", "r", "s"][c])).collect();
            let table = Table::new(vec![Column::numeric("x", vec![0.0; codes.len()]), Column::nominal("y", &names)]).unwrap();
            let data = table.dataset("y").unwrap();
            let Ok(splits) = Splits::unshuffled_k_fold(&data, n_folds) else { return Ok(()) };
            let (fold, k) = splits.folds().unwrap();
            let count = |f: u32, c: Option<usize>| (0..fold.len()).filter(|&i| fold[i] == f && c.is_none_or(|c| codes[i] == c)).count();
            for class in [None, Some(0), Some(1), Some(2), Some(3)] {
                let counts: Vec<usize> = (0..k as u32).map(|f| count(f, class)).collect();
                prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
                let rows = (0..fold.len()).filter(|&i| class.is_some_and(|c| codes[i] == c));
                prop_assert!(rows.map(|i| fold[i]).is_sorted());
            }
        }

        #[test]
        fn a_holdout_is_stratified(n in 20usize..300, share in 0.1f64..0.9) {
            let data = two_classes(n);
            let (train, test) = Splits::holdout(&data, share, 3).unwrap().split(0);
            prop_assert_eq!(train.len() + test.len(), n);
            prop_assert!((test.len() as f64 - share * n as f64).abs() <= 1.0);
            let rare = test.iter().filter(|&&row| row % 10 == 0).count() as f64;
            prop_assert!((rare - share * n.div_ceil(10) as f64).abs() <= 1.5);
        }

        #[test]
        fn time_ordered_splits_never_train_on_the_future(n in 3usize..200, n_folds in 1usize..10) {
            prop_assume!(n_folds < n);
            let splits = Splits::time_ordered(&two_classes(n), n_folds).unwrap();
            let mut last = 0;
            for index in 0..splits.len() {
                let (train, test) = splits.split(index);
                prop_assert!(!train.is_empty() && !test.is_empty());
                prop_assert!(train.iter().max() < test.iter().min() && test[0] >= last);
                last = test[test.len() - 1];
            }
            prop_assert_eq!(last as usize, n - 1);
        }
    }
}

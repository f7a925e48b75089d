//! From neighbors to a class, to probabilities, to a mean.
//!
//! The k nearest vote with their [`NeighborWeights`]; the share of a class is its probability. When two classes are level, which happens for
//! even k above all, one of these decides ([`TieRule`]):
//! - the class that comes first (what scikit-learn does);
//! - *another point*: the next neighbor votes too, and so on until one class leads;
//! - *drop the farthest* of the k, and so on until one class leads (with one neighbor left, one does);
//! - *weight by distance*: the level classes are compared by the sum of their inverse distances;
//! - *another metric*: the k nearest by another metric vote on the level classes.
//!
//! Should a rule leave classes level (no more points; equal sums), the one with the nearest neighbor wins, and neighbors are ordered by
//! (distance, row): the same data always give the same class.

use super::weight::NeighborWeights;
use ermine_core::error::Result;
use serde::{Deserialize, Serialize};

/// What decides between classes with equally many votes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieRule {
    /// The class with the smallest number.
    #[default]
    FirstClass,
    /// Further neighbors, one by one.
    NextPoint,
    /// Fewer neighbors, one by one.
    DropFarthest,
    /// The sum of inverse distances.
    Distance,
    /// The neighbors by another metric ([`MoreNeighbors::nearest_otherwise`]).
    OtherMetric,
}

impl TieRule {
    /// Description of the rule.
    pub fn description(self) -> &'static str {
        match self {
            TieRule::FirstClass => "the class that comes first",
            TieRule::NextPoint => "further neighbors, one by one",
            TieRule::DropFarthest => "fewer neighbors, one by one",
            TieRule::Distance => "the sum of inverse distances",
            TieRule::OtherMetric => "the neighbors by another metric",
        }
    }
}

/// Finds more neighbors of the current query, if a tie needs them.
pub trait MoreNeighbors {
    /// The `k` nearest rows (or all, where there are fewer) as (distance, row).
    fn nearest(&self, k: usize) -> Result<Vec<(f64, u32)>>;
    /// The same by another metric.
    fn nearest_otherwise(&self, k: usize) -> Result<Vec<(f64, u32)>>;
}

/// Classes of the rows, and the rules of the vote.
#[derive(Debug, Clone, Copy)]
pub struct Vote<'a> {
    /// The class of every row.
    pub classes: &'a [u32],
    /// Number of classes.
    pub n_classes: usize,
    /// How much a neighbor counts.
    pub weights: &'a NeighborWeights,
    /// What decides between level classes.
    pub tie: &'a TieRule,
}

impl Vote<'_> {
    /// The votes per class of the neighbors `rows` at `distances`, as shares that add up to 1.
    pub fn shares(&self, rows: &[u32], distances: &[f64], next: Option<f64>) -> Result<Vec<f64>> {
        let mut votes = self.votes(rows, distances, next)?;
        let total: f64 = votes.iter().sum();
        votes.iter_mut().for_each(|v| *v /= total);
        Ok(votes)
    }

    fn votes(&self, rows: &[u32], distances: &[f64], next: Option<f64>) -> Result<Vec<f64>> {
        let mut weights = Vec::new();
        self.weights.weigh(distances, next, &mut weights)?;
        let mut votes = vec![0.0; self.n_classes];
        for (&row, weight) in rows.iter().zip(weights) {
            votes[self.classes[row as usize] as usize] += weight;
        }
        Ok(votes)
    }

    /// The class that the k neighbors `rows` vote for. There is at least one.
    pub fn class(&self, rows: &[u32], distances: &[f64], next: Option<f64>, search: &dyn MoreNeighbors) -> Result<u32> {
        let level = leaders(&self.votes(rows, distances, next)?);
        if level.len() == 1 {
            return Ok(level[0]);
        }
        let decided = match self.tie {
            TieRule::FirstClass => Some(level[0]),
            TieRule::NextPoint => self.with_more(rows.len(), search)?,
            TieRule::DropFarthest => self.with_fewer(rows, distances)?,
            TieRule::Distance => self.by(&NeighborWeights::Distance, rows, distances, &level)?,
            TieRule::OtherMetric => {
                let (distances, rows): (Vec<f64>, Vec<u32>) = search.nearest_otherwise(rows.len())?.into_iter().unzip();
                self.by(self.weights, &rows, &distances, &level)?
            }
        };
        let nearest = || rows.iter().map(|&row| self.classes[row as usize]).find(|class| level.contains(class));
        Ok(decided.or_else(nearest).unwrap_or(level[0]))
    }

    /// Adds neighbors one by one, fetching twice as many whenever they run out.
    fn with_more(&self, k: usize, search: &dyn MoreNeighbors) -> Result<Option<u32>> {
        let mut wanted = 2 * k + 8;
        loop {
            let found = search.nearest(wanted)?;
            let (distances, rows): (Vec<f64>, Vec<u32>) = found.into_iter().unzip();
            for m in k + 1..=rows.len() {
                let level = leaders(&self.votes(&rows[..m], &distances[..m], distances.get(m).copied())?);
                if level.len() == 1 {
                    return Ok(Some(level[0]));
                }
            }
            if rows.len() < wanted {
                return Ok(None);
            }
            wanted *= 2;
        }
    }

    fn with_fewer(&self, rows: &[u32], distances: &[f64]) -> Result<Option<u32>> {
        for m in (1..rows.len()).rev() {
            let level = leaders(&self.votes(&rows[..m], &distances[..m], Some(distances[m]))?);
            if level.len() == 1 {
                return Ok(Some(level[0]));
            }
        }
        Ok(None)
    }

    /// The one of the `level` classes that other weights or other neighbors prefer.
    fn by(&self, weights: &NeighborWeights, rows: &[u32], distances: &[f64], level: &[u32]) -> Result<Option<u32>> {
        let votes = Vote { weights, ..*self }.votes(rows, distances, None)?;
        let most = level.iter().map(|&class| votes[class as usize]).fold(0.0, f64::max);
        let mut best = level.iter().filter(|&&class| votes[class as usize] == most);
        Ok(best.next().filter(|_| best.next().is_none()).copied())
    }
}

/// The classes with the most votes.
fn leaders(votes: &[f64]) -> Vec<u32> {
    let most = votes.iter().copied().fold(0.0, f64::max);
    (0..).zip(votes).filter(|(_, v)| **v == most).map(|(class, _)| class).collect()
}

/// The weighted mean of the targets of the neighbors, for each of `out.len()` outputs; `targets` holds them row after row.
pub fn mean(
    weights: &NeighborWeights,
    targets: &[f64],
    rows: &[u32],
    distances: &[f64],
    next: Option<f64>,
    out: &mut [f64],
) -> Result<()> {
    let mut weighed = Vec::new();
    weights.weigh(distances, next, &mut weighed)?;
    let total: f64 = weighed.iter().sum();
    out.fill(0.0);
    for (&row, weight) in rows.iter().zip(&weighed) {
        let target = &targets[row as usize * out.len()..][..out.len()];
        out.iter_mut().zip(target).for_each(|(o, t)| *o += weight * t);
    }
    out.iter_mut().for_each(|o| *o /= total);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six points on a line: rows at distances 1 to 6 with the classes below.
    struct VoteCase;
    const CLASSES: [u32; 6] = [1, 0, 1, 0, 2, 0];

    impl MoreNeighbors for VoteCase {
        fn nearest(&self, k: usize) -> Result<Vec<(f64, u32)>> {
            Ok((0..6).map(|row| (f64::from(row) + 1.0, row)).take(k).collect())
        }
        fn nearest_otherwise(&self, k: usize) -> Result<Vec<(f64, u32)>> {
            Ok((0..6).rev().zip(1..).map(|(row, d)| (f64::from(d), row)).take(k).collect())
        }
    }

    fn class(tie: TieRule, k: usize) -> u32 {
        let (distances, rows): (Vec<f64>, Vec<u32>) = VoteCase.nearest(k).unwrap().into_iter().unzip();
        let vote = Vote { classes: &CLASSES, n_classes: 3, weights: &NeighborWeights::Uniform, tie: &tie };
        vote.class(&rows, &distances, None, &VoteCase).unwrap()
    }

    #[test]
    fn every_tie_rule_is_applied() {
        // k = 2 and k = 4: classes 0 and 1 are level.
        assert_eq!([class(TieRule::FirstClass, 2), class(TieRule::FirstClass, 4)], [0, 0]);
        assert_eq!([class(TieRule::NextPoint, 2), class(TieRule::NextPoint, 4)], [1, 0]);
        assert_eq!([class(TieRule::DropFarthest, 2), class(TieRule::DropFarthest, 4)], [1, 1]);
        assert_eq!([class(TieRule::Distance, 2), class(TieRule::Distance, 4)], [1, 1]);
        // By the other metric rows 5 and 4 (classes 0 and 2) are nearest, then 3 and 2 (0 and 1).
        assert_eq!([class(TieRule::OtherMetric, 2), class(TieRule::OtherMetric, 4)], [0, 0]);
        // No tie: every rule says the same.
        for tie in [TieRule::FirstClass, TieRule::NextPoint, TieRule::DropFarthest, TieRule::Distance] {
            assert_eq!([class(tie, 1), class(tie, 3), class(tie, 6)], [1, 1, 0]);
        }
    }

    #[test]
    fn votes_are_shares_and_predictions_are_means() {
        let vote =
            Vote { classes: &CLASSES, n_classes: 3, weights: &NeighborWeights::Distance, tie: &TieRule::FirstClass };
        let shares = vote.shares(&[0, 1, 3], &[1.0, 2.0, 2.0], None).unwrap();
        assert_eq!(shares, [0.5, 0.5, 0.0]);
        let targets = [1.0, 10.0, 2.0, 20.0, 4.0, 40.0];
        let mut out = [0.0; 2];
        mean(&NeighborWeights::Uniform, &targets, &[0, 2], &[1.0, 9.0], None, &mut out).unwrap();
        assert_eq!(out, [2.5, 25.0]);
        mean(&NeighborWeights::Distance, &targets, &[1, 2], &[0.0, 9.0], None, &mut out).unwrap();
        assert_eq!(out, [2.0, 20.0]);
    }
}

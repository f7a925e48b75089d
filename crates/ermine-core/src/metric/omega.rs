//! The cost omega(i, j) of swapping the rows at positions i and j of a ranking.
//!
//! ```text
//! all-pairs   1 if i != j                                every pair in the wrong order costs the same
//! top-K       1 if i != j and min(i, j) <= K             only the top K positions matter
//! dcg         |1 / log2(1 + i) - 1 / log2(1 + j)|        early positions matter more, as in the discounted cumulative gain
//! a table     custom costs, row by row; positions beyond the table count as its last position
//! ```
//! Positions are counted from 1 here and in messages, from 0 in the code.
//!
//! A cost is **valid** if it is symmetric, monotone (i < j < k or i > j > k: omega(i, j) <= omega(i, k)) and obeys the triangle inequality (omega(i, j) + omega(j, k) >= omega(i, k)).
//! Then sorting by a learned preference loses at most twice what the preference loses.
//!
//! **Reference.** Ailon and Mohri, Preference-based learning to rank, Machine Learning 80, 2010.

use crate::error::{Error, Result};
use crate::param::{ParamKind, ParamType, Value};
use std::collections::BTreeSet;
use std::fmt;

/// Maximum number of positions of a table; the check is cubic.
const LARGEST: usize = 256;

/// A cost function over positions.
#[derive(Debug, Clone, PartialEq)]
pub enum Omega {
    /// Every pair costs the same.
    AllPairs,
    /// Pairs with one of the top positions.
    Top(usize),
    /// By the discounts of the positions.
    Dcg,
    /// By a table of costs.
    Table {
        /// Row by row.
        costs: Vec<f64>,
        /// Number of positions.
        n: usize,
    },
}

impl Omega {
    /// A table from a function of two positions, counted from 1; an error if it is not valid.
    pub fn of(n: usize, cost: impl Fn(usize, usize) -> f64) -> Result<Omega> {
        let costs = (0..n * n).map(|at| cost(at / n + 1, at % n + 1)).collect();
        let omega = Omega::Table { costs, n };
        omega.check().map_err(|allowed| Error::data(format!("omega: {allowed}")))?;
        Ok(omega)
    }

    /// The cost of two positions, counted from 0.
    pub fn cost(&self, i: usize, j: usize) -> f64 {
        match self {
            Omega::AllPairs => f64::from(u8::from(i != j)),
            Omega::Top(k) => f64::from(u8::from(i != j && i.min(j) < *k)),
            Omega::Dcg => (discount(i) - discount(j)).abs(),
            Omega::Table { costs, n } => costs[i.min(n - 1) * n + j.min(n - 1)],
        }
    }

    /// The cost of i < j as a sum of products of a function of i and a function of j, which makes the sum over all pairs cheap.
    pub(super) fn products(&self, places: &[usize]) -> Vec<Product> {
        let one = |_: usize| 1.0;
        match self {
            Omega::AllPairs => vec![Product::new(one, one)],
            Omega::Top(k) => {
                let k = *k;
                vec![Product::new(move |i| f64::from(u8::from(i < k)), one)]
            }
            Omega::Dcg => vec![Product::new(discount, one), Product::new(one, |j| -discount(j))],
            Omega::Table { costs, n } => {
                let n = *n;
                let there: BTreeSet<usize> = places.iter().map(|&place| place.min(n - 1)).collect();
                let row = |i: usize| {
                    let costs = costs[i * n..][..n].to_vec();
                    let is_it = move |place: usize| f64::from(u8::from(place.min(n - 1) == i));
                    Product::new(is_it, move |j| costs[j.min(n - 1)])
                };
                there.into_iter().map(row).collect()
            }
        }
    }

    /// The reason why the cost is not valid.
    pub fn check(&self) -> Result<(), String> {
        let Omega::Table { costs, n } = self else { return Ok(()) };
        let n = *n;
        if !(2..=LARGEST).contains(&n) || costs.len() != n * n {
            return Err(format!(
                "a table of 2 to {LARGEST} positions needs a cost for each pair of positions (got {} costs)",
                costs.len()
            ));
        }
        if let Some(at) = costs.iter().position(|c| !c.is_finite() || *c < 0.0) {
            return Err(format!("omega({}, {}) = {}: costs are numbers from 0", at / n + 1, at % n + 1, costs[at]));
        }
        if costs.iter().all(|c| *c == 0.0) {
            return Err("the cost is 0 for all positions".into());
        }
        let cost = |i: usize, j: usize| costs[i * n + j];
        let entry = |i: usize, j: usize| format!("omega({}, {}) = {}", i + 1, j + 1, cost(i, j));
        for i in 0..n {
            for j in 0..n {
                if cost(i, j) != cost(j, i) {
                    return Err(format!("{}, but {}: it must be symmetric", entry(i, j), entry(j, i)));
                }
                // Comparing neighbors is enough.
                if i < j && j + 1 < n && cost(i, j) > cost(i, j + 1) {
                    return Err(format!(
                        "{}, but {}: it must not fall with the distance",
                        entry(i, j),
                        entry(i, j + 1)
                    ));
                }
                if i > j && j > 0 && cost(i, j) > cost(i, j - 1) {
                    return Err(format!(
                        "{}, but {}: it must not fall with the distance",
                        entry(i, j),
                        entry(i, j - 1)
                    ));
                }
            }
        }
        let size = costs.iter().fold(0.0f64, |a, b| a.max(*b));
        for (i, j, k) in (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..n).map(move |k| (i, j, k)))) {
            if cost(i, j) + cost(j, k) < cost(i, k) - 1e-12 * size {
                let sum = format!("{}, {}", entry(i, j), entry(j, k));
                return Err(format!("{sum}, but {}: the triangle inequality must hold", entry(i, k)));
            }
        }
        Ok(())
    }
}

/// The discount of a position in the discounted cumulative gain.
fn discount(place: usize) -> f64 {
    1.0 / (place as f64 + 2.0).log2()
}

/// A term of a cost: a function of the earlier position times a function of the later one.
pub(super) struct Product {
    /// Function of the earlier position.
    pub first: Box<dyn Fn(usize) -> f64>,
    /// Function of the later position.
    pub second: Box<dyn Fn(usize) -> f64>,
}

impl Product {
    fn new(first: impl Fn(usize) -> f64 + 'static, second: impl Fn(usize) -> f64 + 'static) -> Self {
        Product { first: Box::new(first), second: Box::new(second) }
    }
}

impl fmt::Display for Omega {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Omega::AllPairs => f.write_str("all-pairs"),
            Omega::Top(k) => write!(f, "top-{k}"),
            Omega::Dcg => f.write_str("dcg"),
            Omega::Table { n, .. } => write!(f, "a table of {n} positions"),
        }
    }
}

impl ParamType for Omega {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![
            ParamKind::Choice(vec!["all-pairs", "dcg", "top-K, such as top-10"]),
            ParamKind::List(Box::new(ParamKind::Float)),
        ])
    }

    fn to_value(&self) -> Value {
        match self {
            Omega::Table { costs, .. } => costs.to_value(),
            named => Value::Text(named.to_string()),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) => match (word.as_str(), word.strip_prefix("top-")) {
                ("all-pairs", _) => Some(Omega::AllPairs),
                ("dcg", _) => Some(Omega::Dcg),
                (_, Some(k)) => k.parse().ok().filter(|&k| k > 0).map(Omega::Top),
                _ => None,
            },
            Value::List(_) => {
                let costs = Vec::<f64>::from_value(value)?;
                let n = costs.len().isqrt();
                (n >= 2 && n * n == costs.len()).then_some(Omega::Table { costs, n })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A named cost as a table.
    fn table(omega: &Omega, n: usize) -> Omega {
        Omega::Table { costs: (0..n * n).map(|at| omega.cost(at / n, at % n)).collect(), n }
    }

    #[test]
    fn named_costs_are_valid_and_round_trip() {
        for omega in [Omega::AllPairs, Omega::Top(1), Omega::Top(3), Omega::Dcg] {
            assert_eq!(table(&omega, 12).check(), Ok(()), "{omega}");
            assert_eq!(Omega::from_value(&omega.to_value()), Some(omega.clone()));
            let listed = table(&omega, 4);
            assert_eq!(Omega::from_value(&listed.to_value()), Some(listed));
        }
        assert_eq!((Omega::Top(2).cost(1, 5), Omega::Top(2).cost(2, 5), Omega::Top(2).cost(1, 1)), (1.0, 0.0, 0.0));
        for wrong in ["top-0", "top-", "top-x", "", "allpairs"] {
            assert_eq!(Omega::from_value(&Value::Text(wrong.into())), None, "{wrong}");
        }
        assert_eq!(Omega::from_value(&Value::parse("0,1,1")), None, "not a square");
    }

    #[test]
    fn invalid_costs_are_errors() {
        let wrong = |cost: fn(usize, usize) -> f64| Omega::of(4, cost).unwrap_err().to_string();
        assert!(wrong(|i, j| i as f64 - j as f64).contains("costs are numbers from 0"));
        assert!(wrong(|i, j| (2 * i + j) as f64).contains("must be symmetric"));
        assert!(wrong(|i, j| if i == j { 0.0 } else { 1.0 / i.abs_diff(j) as f64 }).contains("must not fall"));
        assert!(wrong(|i, j| (i.abs_diff(j) as f64).powi(2)).contains("the triangle inequality"));
        assert!(wrong(|_, _| f64::NAN).contains("numbers from 0"));
        assert!(Omega::of(1, |_, _| 0.0).is_err() && Omega::of(2, |_, _| 0.0).is_err());
    }

    proptest! {
        /// The check agrees with checking all triples.
        #[test]
        fn the_check_matches_the_definition(raw in prop::collection::vec(0u8..4, 16), symmetric: bool) {
            let cost = |i: usize, j: usize| f64::from(if symmetric && i > j { raw[j * 4 + i] } else { raw[i * 4 + j] });
            let omega = Omega::Table { costs: (0..16).map(|at| cost(at / 4, at % 4)).collect(), n: 4 };
            let mut valid = raw.iter().any(|&c| c > 0) && (0..16).any(|at| cost(at / 4, at % 4) > 0.0);
            for (i, j, k) in (0..64).map(|at| (at / 16, at / 4 % 4, at % 4)) {
                valid &= cost(i, j) == cost(j, i);
                valid &= !((i < j && j < k) || (i > j && j > k)) || cost(i, j) <= cost(i, k);
                valid &= cost(i, j) + cost(j, k) >= cost(i, k);
            }
            prop_assert_eq!(omega.check().is_ok(), valid);
        }
    }
}

//! Polynomial terms: products of columns up to a degree.
//!
//! **Formula.** All products `x_a x_b ...` of the columns `x_1, ..., x_p` with at most `degree` factors, ordered by number of factors, then by columns. There are
//! `C(p + degree, degree) - 1` of them. Powers of 0/1 columns are left out, since they equal the column.
//!
//! **Cost.** One multiplication per term and row: a term is a shorter term times a column.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Maximum number of terms.
const MOST_TERMS: usize = 200_000;

/// Polynomial terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Polynomial {
    n_columns: usize,
    /// The shorter term (`None` for a single column) and the column that it is multiplied by.
    terms: Vec<(Option<u32>, u32)>,
}

impl Polynomial {
    /// All terms of up to `degree` factors. `is_flag` marks columns that contain only zeros and ones; with `interaction_only` no column occurs twice in a term.
    pub fn new(is_flag: &[bool], degree: usize, interaction_only: bool) -> Result<Polynomial> {
        let n_columns = is_flag.len();
        let mut terms: Vec<(Option<u32>, u32)> = (0..n_columns as u32).map(|j| (None, j)).collect();
        let mut longest = 0..terms.len();
        for _ in 1..degree {
            let begin = terms.len();
            for shorter in longest {
                let last = terms[shorter].1;
                let first = last + u32::from(interaction_only || is_flag[last as usize]);
                terms.extend((first..n_columns as u32).map(|j| (Some(shorter as u32), j)));
                if terms.len() > MOST_TERMS {
                    return Err(Error::data(format!(
                        "a polynomial of degree {degree} over {n_columns} columns has more than {MOST_TERMS} terms"
                    )));
                }
            }
            longest = begin..terms.len();
        }
        Ok(Polynomial { n_columns, terms })
    }

    /// Checks terms that were read from a file.
    pub fn check(&self, n_columns: usize) -> Result<()> {
        let fine = |(t, (shorter, j)): (usize, &(Option<u32>, u32))| {
            (*j as usize) < n_columns && shorter.is_none_or(|s| (s as usize) < t)
        };
        if self.n_columns == n_columns && self.terms.iter().enumerate().all(fine) {
            return Ok(());
        }
        Err(Error::model_file("its polynomial doesn't fit its columns"))
    }

    /// The terms: each the product of a shorter one (none for a single column) and a column.
    pub fn terms(&self) -> &[(Option<u32>, u32)] {
        &self.terms
    }

    /// How many terms.
    pub fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// The terms of one row.
    pub fn expand(&self, row: &[f64], out: &mut [f64]) {
        for (t, &(shorter, j)) in self.terms.iter().enumerate() {
            out[t] = row[j as usize] * shorter.map_or(1.0, |s| out[s as usize]);
        }
    }

    /// The names of the terms: `a`, `a^2`, `a b`; names with spaces are in parentheses, `a (b is missing)`.
    pub fn names(&self, columns: &[String]) -> Vec<String> {
        let name = |mut t: usize| {
            let mut factors = vec![self.terms[t].1];
            while let Some(shorter) = self.terms[t].0 {
                t = shorter as usize;
                factors.push(self.terms[t].1);
            }
            let words: Vec<String> = factors
                .chunk_by(|a, b| a == b)
                .rev()
                .map(|same| {
                    let name = &columns[same[0] as usize];
                    let name = if factors.len() > 1 && name.contains(' ') { format!("({name})") } else { name.clone() };
                    if same.len() > 1 { format!("{name}^{}", same.len()) } else { name }
                })
                .collect();
            words.join(" ")
        };
        (0..self.terms.len()).map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(is_flag: &[bool], degree: usize, interaction_only: bool) -> Vec<String> {
        let columns: Vec<String> = ["a", "b", "c", "d"].iter().map(|c| c.to_string()).collect();
        Polynomial::new(is_flag, degree, interaction_only).unwrap().names(&columns)
    }

    #[test]
    fn all_products_up_to_the_degree_are_listed() {
        assert_eq!(names(&[false; 2], 3, false), ["a", "b", "a^2", "a b", "b^2", "a^3", "a^2 b", "a b^2", "b^3"]);
        assert_eq!(names(&[false; 3], 3, true), ["a", "b", "c", "a b", "a c", "b c", "a b c"]);
        assert_eq!(names(&[true, false], 2, false), ["a", "b", "a b", "b^2"]);
        assert_eq!(names(&[false; 4], 3, false).len(), 34, "C(7, 3) - 1");
        let columns = ["a b".to_string(), "c".to_string()];
        let words = Polynomial::new(&[false; 2], 2, false).unwrap().names(&columns);
        assert_eq!(words, ["a b", "c", "(a b)^2", "(a b) c", "c^2"]);
    }

    #[test]
    fn terms_are_products() {
        let polynomial = Polynomial::new(&[false; 2], 3, false).unwrap();
        let mut out = vec![0.0; polynomial.n_terms()];
        polynomial.expand(&[2.0, 3.0], &mut out);
        assert_eq!(out, [2.0, 3.0, 4.0, 6.0, 9.0, 8.0, 12.0, 18.0, 27.0]);
        assert!(Polynomial::new(&[false; 500], 4, false).unwrap_err().to_string().contains("terms"));
        assert!(polynomial.check(2).is_ok() && polynomial.check(3).is_err());
    }
}

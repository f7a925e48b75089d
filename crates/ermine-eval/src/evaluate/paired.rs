//! Paired significance tests over the splits of cross-validation.
//!
//! **Idea.** Both learners are tested on the same splits, so only the differences matter. Models with overlapping training sets are not independent, as the usual t-test assumes; Nadeau and Bengio
//! (2003) add the ratio of test to training rows to its variance:
//! ```text
//! t = mean(d) / sqrt((1/k + n_test/n_train) var(d))      with k - 1 degrees of freedom
//! ```
//! **Outliers.** One split in which a learner fails wildly (a solver that diverges) makes the variance so large that no difference would ever be one. Differences
//! are therefore cut at [`WIDEST`] times their median size, which changes nothing where splits are alike.
//!
//! **Reference.** Nadeau and Bengio, Inference for the Generalization Error, Machine Learning 52, 2003.

use ermine_core::distribution::t_two_sided;
use ermine_core::matrix::Splits;
use serde::Serialize;

/// What the differences say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedTest {
    /// The mean of first minus second.
    pub difference: f64,
    /// The p-value of the difference; 1 if it is undefined.
    pub p_value: f64,
}

/// Differences beyond so many times their median size count as that much.
pub const WIDEST: f64 = 2.0;

/// Compares the scores of two learners on the same splits.
pub fn paired_test(first: &[f64], second: &[f64], splits: &Splits) -> PairedTest {
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let k = differences.len() as f64;
    let difference = differences.iter().sum::<f64>() / k;
    let widest = WIDEST * median_size(&differences);
    let tested: Vec<f64> = differences.iter().map(|d| d.clamp(-widest, widest)).collect();
    let center = tested.iter().sum::<f64>() / k;
    let variance = tested.iter().map(|d| (d - center).powi(2)).sum::<f64>() / (k - 1.0);
    let (train, test) = splits.split(0);
    let spread = ((1.0 / k + test.len() as f64 / train.len() as f64) * variance).sqrt();
    let p_value = match (k > 1.0 && center != 0.0, spread > 0.0) {
        (true, true) => t_two_sided(center / spread, k - 1.0),
        // The same difference in every split.
        (true, false) => 0.0,
        _ => 1.0,
    };
    PairedTest { difference, p_value }
}

/// The median of the absolute values; infinite where most are 0, so that nothing is cut.
fn median_size(differences: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().filter(|&size| size > 0.0).unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::table::Table;

    #[test]
    fn the_test_matches_the_formula_of_the_paper() {
        let rows: Vec<Vec<f64>> = (0..100).map(|i| vec![f64::from(i), f64::from(i % 7)]).collect();
        let data = Table::from_rows(&["x", "y"], &rows).unwrap().dataset("y").unwrap();
        let splits = Splits::k_fold(&data, 5, 0).unwrap();
        let (a, b) = ([0.9, 0.8, 0.85, 0.9, 0.95], [0.8, 0.8, 0.8, 0.85, 0.85]);
        let test = paired_test(&a, &b, &splits);
        // Differences 0.1, 0, 0.05, 0.05, 0.1: mean 0.06, variance 0.00175; t = 0.06 / sqrt((1/5 + 1/4) 0.00175) = 2.1381 with 4 degrees of freedom.
        assert!((test.difference - 0.06).abs() < 1e-12 && (test.p_value - 0.0993).abs() < 2e-4, "{test:?}");
        assert_eq!(paired_test(&a, &a, &splits).p_value, 1.0);
        // A learner that is worse in every split, and wildly so in one.
        let wild = paired_test(&[1.5, 1.4, 1.6, 1.5, 1.5], &[2.5, 2.6, 2.5, 2.4, 600.0], &splits);
        assert!(wild.p_value < 0.05 && wild.difference < -100.0, "{wild:?}");
        assert!((paired_test(&b, &a, &splits).p_value - test.p_value).abs() < 1e-15);
    }
}

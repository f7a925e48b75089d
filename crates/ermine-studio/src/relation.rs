//! How much of the target a column explains by itself.
//!
//! The column is cut into bins (quantiles of numbers, the categories, and one bin for missing values). A random half of the rows gives the mean target of each bin; on the other half these means
//! predict the target; then the halves change places. The strength is the share of the variance that they explain, with classes as 0/1 columns: R² for numbers, Goodman and Kruskal's tau for classes, both on held-out rows,
//! so that a column with another category in every row explains nothing.

use ermine_core::matrix::Target;
use ermine_core::rng;

/// At most so many rows are looked at.
const MOST_ROWS: usize = 20_000;
/// Most bins of numbers, and rows of a bin if there are fewer bins.
const MOST_BINS: usize = 20;
const ROWS_PER_BIN: usize = 40;
/// Bin means are drawn toward the overall mean by so many rows.
const PRIOR_ROWS: f64 = 1.0;
/// Of more classes, only the first are looked at.
const MOST_CLASSES: usize = 50;

/// The share of the target's variance that a column explains by itself on held-out rows, from 0 to 1.
pub fn relation(numbers: &[f64], is_category: bool, target: &Target) -> f64 {
    let rows: Vec<usize> = (0..numbers.len()).step_by(numbers.len().div_ceil(MOST_ROWS).max(1)).collect();
    let values: Vec<f64> = rows.iter().map(|&row| numbers[row]).collect();
    let (bins, n_bins) = bins(&values, is_category);
    let (truth, width) = outputs(target, &rows);
    explained(&bins, n_bins, &truth, width)
}

/// The bin of each value.
fn bins(values: &[f64], is_category: bool) -> (Vec<usize>, usize) {
    if is_category {
        let n = values.iter().filter(|x| !x.is_nan()).map(|&x| x as usize + 1).max().unwrap_or(0);
        return (values.iter().map(|&x| if x.is_nan() { n } else { x as usize }).collect(), n + 1);
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let n_bins = (sorted.len() / ROWS_PER_BIN).clamp(4, MOST_BINS);
    let mut cuts: Vec<f64> = (1..n_bins).filter_map(|k| sorted.get(k * sorted.len() / n_bins).copied()).collect();
    cuts.dedup();
    let n = cuts.len() + 1;
    let bin = |x: f64| if x.is_nan() { n } else { cuts.partition_point(|&cut| cut <= x) };
    (values.iter().map(|&x| bin(x)).collect(), n + 1)
}

/// The target of some rows as numbers, and how many each row has.
fn outputs(target: &Target, rows: &[usize]) -> (Vec<f64>, usize) {
    match target {
        Target::Classes { codes, labels } => {
            let width = labels.len().min(MOST_CLASSES);
            let mut truth = vec![0.0; rows.len() * width];
            for (i, &row) in rows.iter().enumerate() {
                let class = codes[row] as usize;
                if class < width {
                    truth[i * width + class] = 1.0;
                }
            }
            (truth, width)
        }
        Target::Values { values, n_outputs } => {
            let of = |&row: &usize| values[row * n_outputs..][..*n_outputs].iter().copied();
            (rows.iter().flat_map(of).collect(), *n_outputs)
        }
    }
}

fn explained(bins: &[usize], n_bins: usize, truth: &[f64], width: usize) -> f64 {
    // Rows next to each other often belong together, so the halves are drawn at random.
    let mut order: Vec<usize> = (0..bins.len()).collect();
    rng::shuffle(&mut rng::stream(0, &[28, 1]), &mut order);
    let (first, second) = order.split_at(order.len() / 2);
    let (mut left, mut total) = (0.0, 0.0);
    for (train, test) in [(first, second), (second, first)] {
        let means = BinMeans::new(train, bins, n_bins, truth, width);
        for &row in test {
            for k in 0..width {
                let y = truth[row * width + k];
                left += (y - means.predict(bins[row], k)).powi(2);
                total += (y - means.overall[k]).powi(2);
            }
        }
    }
    if total > 0.0 { (1.0 - left / total).clamp(0.0, 1.0) } else { 0.0 }
}

/// The mean target of each bin.
struct BinMeans {
    overall: Vec<f64>,
    sums: Vec<f64>,
    sizes: Vec<f64>,
}

impl BinMeans {
    fn new(rows: &[usize], bins: &[usize], n_bins: usize, truth: &[f64], width: usize) -> BinMeans {
        let n = rows.len().max(1) as f64;
        let mut means =
            BinMeans { overall: vec![0.0; width], sums: vec![0.0; n_bins * width], sizes: vec![0.0; n_bins] };
        for &row in rows {
            means.sizes[bins[row]] += 1.0;
            for k in 0..width {
                means.overall[k] += truth[row * width + k] / n;
                means.sums[bins[row] * width + k] += truth[row * width + k];
            }
        }
        means
    }

    fn predict(&self, bin: usize, k: usize) -> f64 {
        let sum = self.sums[bin * self.overall.len() + k] + PRIOR_ROWS * self.overall[k];
        sum / (self.sizes[bin] + PRIOR_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: Vec<f64>) -> Target {
        Target::Values { values, n_outputs: 1 }
    }

    #[test]
    fn a_column_that_is_the_target_explains_it_and_an_identifier_does_not() {
        let x: Vec<f64> = (0..1000).map(|i| f64::from(i * 7 % 1000)).collect();
        assert!(relation(&x, false, &numbers(x.clone())) > 0.98);
        let noise: Vec<f64> = (0..1000u32).map(|i| f64::from(i.wrapping_mul(2654435761) >> 16)).collect();
        assert!(relation(&noise, false, &numbers(x.clone())) < 0.05);
        let identifier: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!(relation(&identifier, true, &numbers(x)) < 1e-9, "every category is new");
    }

    #[test]
    fn classes_are_explained_by_their_category() {
        let codes: Vec<u32> = (0..400u32).map(|i| i / 3 % 2).collect();
        let column: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
        let target = Target::Classes { codes, labels: vec!["a".to_string(), "b".to_string()].into() };
        assert!(relation(&column, true, &target) > 0.98);
        assert_eq!(relation(&[f64::NAN; 400], false, &target), 0.0);
    }
}

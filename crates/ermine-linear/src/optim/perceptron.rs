//! The perceptron: whenever a row is on the wrong side, add it (times its class) to the weights.
//!
//! **Forms.** *Online*: row after row, each mistake at once. *Batch*: all mistakes of a pass together. *Averaged*: online, but the
//! weights after every row are averaged, which generalizes far better. *Kernel*: the weights are kept as counts of mistakes per
//! row, so any kernel can replace the dot product.
//!
//! **Bound.** If some unit vector separates the rows `[x, 1]` with margin `gamma`, and no row is longer than `R`, the online perceptron
//! makes at most `(R / gamma)^2` mistakes in total, however long it runs.
//!
//! **Reference.** Rosenblatt (1958); Novikoff, "On convergence proofs for perceptrons" (1962); Freund and Schapire, "Large margin
//! classification using the perceptron algorithm" (1999) for averaging and kernels.

use super::row_reader::RowReader;
use ermine_core::error::Result;
use ermine_core::linalg::{Design, lanes};
use ermine_core::progress::{Event, Observer, report};
use ermine_core::rng::{self, Purpose};

/// How mistakes are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateRule {
    /// After each mistake.
    Online,
    /// All of a pass together.
    Batch,
    /// After each mistake; the result is the average over all rows seen.
    Averaged,
}

/// How it is run.
#[derive(Clone, Copy)]
pub struct PerceptronOptions<'a> {
    /// How mistakes are used.
    pub form: UpdateRule,
    /// Whether there is an intercept (a constant 1 at the end of each row).
    pub intercept: bool,
    /// Most passes over the data.
    pub max_passes: usize,
    /// Stop when so many passes made no fewer mistakes than the best before them; `None` for never.
    pub patience: Option<usize>,
    /// Another order of the rows in every pass.
    pub shuffle: bool,
    /// Where the orders come from.
    pub seed: u64,
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// What it learned.
#[derive(Debug, Clone, PartialEq)]
pub struct PerceptronSolution {
    /// Coefficients.
    pub coefficients: Vec<f64>,
    /// Intercept; 0 without.
    pub intercept: f64,
    /// Mistakes of each pass.
    pub mistakes: Vec<u64>,
    /// Whether a whole pass went by without a mistake, so that the last weights separate the data.
    pub separated: bool,
}

impl PerceptronOptions<'_> {
    /// Whether the last passes made no progress.
    fn is_idle(&self, mistakes: &[u64]) -> bool {
        self.patience.is_some_and(|patience| {
            let (before, last) = mistakes.split_at(mistakes.len().saturating_sub(patience.max(1)));
            before.iter().min().is_some_and(|best| last.iter().all(|m| m >= best))
        })
    }
}

/// Learns from rows of classes -1 and +1.
pub fn learn(
    x: &Design,
    y: &[f64],
    weights: Option<&[f64]>,
    options: &PerceptronOptions,
) -> Result<PerceptronSolution> {
    learn_from(None, x, y, weights, options)
}

/// The same from these coefficients and this intercept on; the batch form always begins at zero.
pub fn learn_from(
    start: Option<(&[f64], f64)>,
    x: &Design,
    y: &[f64],
    weights: Option<&[f64]>,
    options: &PerceptronOptions,
) -> Result<PerceptronSolution> {
    if options.form == UpdateRule::Batch {
        return learn_in_batches(x, y, weights, options);
    }
    let (n, p) = (x.n_rows(), x.n_columns());
    let mut rows = RowReader::new(x);
    let (mut w, mut b) = start.map_or_else(|| (vec![0.0; p], 0.0), |(w, b)| (w.to_vec(), b));
    // The average is w - slow / t: each mistake enters `slow` times the number of rows seen before it.
    let (mut slow, mut slow_b, mut seen) = (vec![0.0; p], 0.0, 0.0f64);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let (mut mistakes, mut separated) = (Vec::new(), false);
    for pass in 0..options.max_passes {
        if options.shuffle {
            rng::shuffle(&mut Purpose::PerceptronOrder.stream(options.seed, &[pass as u64]), &mut order);
        }
        let mut wrong = 0;
        for (k, &i) in order.iter().enumerate() {
            rows.prefetch(order.get(k + super::sgd::AHEAD).copied());
            let i = i as usize;
            if y[i] * (rows.dot(i, &w) + b) <= 0.0 {
                wrong += 1;
                let step = y[i] * weights.map_or(1.0, |w| w[i]);
                rows.add(i, step, &mut w);
                b += if options.intercept { step } else { 0.0 };
                if options.form == UpdateRule::Averaged {
                    rows.add(i, step * seen, &mut slow);
                    slow_b += if options.intercept { step * seen } else { 0.0 };
                }
            }
            seen += 1.0;
        }
        mistakes.push(wrong);
        report(options.observer, Event::Step { done: pass as u64 + 1, score: Some(("mistakes", wrong as f64)) })?;
        if wrong == 0 {
            separated = true;
            break;
        }
        if options.is_idle(&mistakes) {
            break;
        }
    }
    if options.form == UpdateRule::Averaged && !separated && seen > 0.0 {
        lanes::axpy(-1.0 / seen, &slow, &mut w);
        b -= slow_b / seen;
    }
    Ok(PerceptronSolution { coefficients: w, intercept: b, mistakes, separated })
}

fn learn_in_batches(
    x: &Design,
    y: &[f64],
    weights: Option<&[f64]>,
    options: &PerceptronOptions,
) -> Result<PerceptronSolution> {
    let (mut w, mut b) = (vec![0.0; x.n_columns()], 0.0);
    let (mut mistakes, mut separated) = (Vec::new(), false);
    for pass in 0..options.max_passes {
        let mut wrong = 0;
        let mut steps = x.times(&w, b);
        for (i, z) in steps.iter_mut().enumerate() {
            let mistaken = y[i] * *z <= 0.0;
            wrong += u64::from(mistaken);
            *z = if mistaken { y[i] * weights.map_or(1.0, |w| w[i]) } else { 0.0 };
        }
        mistakes.push(wrong);
        report(options.observer, Event::Step { done: pass as u64 + 1, score: Some(("mistakes", wrong as f64)) })?;
        if wrong == 0 {
            separated = true;
            break;
        }
        if options.is_idle(&mistakes) {
            break;
        }
        lanes::axpy(1.0, &x.transposed_times(&steps), &mut w);
        b += if options.intercept { steps.iter().sum() } else { 0.0 };
    }
    Ok(PerceptronSolution { coefficients: w, intercept: b, mistakes, separated })
}

/// Learns with a kernel: `kernel(i, out)` writes the kernel values of row `i` with all rows. Returns the signed count of mistakes
/// of each row (the margin of a row is their sum weighted by kernel values), the mistakes of each pass, and whether
/// a whole pass went by without one.
pub fn learn_kernel(
    y: &[f64],
    weights: Option<&[f64]>,
    mut kernel: impl FnMut(usize, &mut [f64]),
    options: &PerceptronOptions,
) -> Result<(Vec<f64>, Vec<u64>, bool)> {
    let n = y.len();
    let (mut counts, mut margins, mut values) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let (mut mistakes, mut slow, mut seen) = (Vec::new(), vec![0.0; n], 0.0f64);
    for pass in 0..options.max_passes {
        if options.shuffle {
            rng::shuffle(&mut Purpose::PerceptronOrder.stream(options.seed, &[pass as u64]), &mut order);
        }
        let mut wrong = 0;
        for &i in &order {
            let i = i as usize;
            if y[i] * margins[i] <= 0.0 {
                wrong += 1;
                let step = y[i] * weights.map_or(1.0, |w| w[i]);
                counts[i] += step;
                slow[i] += step * seen;
                kernel(i, &mut values);
                // The intercept is a constant 1 added to the kernel.
                let constant = if options.intercept { 1.0 } else { 0.0 };
                margins.iter_mut().zip(&values).for_each(|(m, k)| *m += step * (k + constant));
            }
            seen += 1.0;
        }
        mistakes.push(wrong);
        report(options.observer, Event::Step { done: pass as u64 + 1, score: Some(("mistakes", wrong as f64)) })?;
        if wrong == 0 {
            return Ok((counts, mistakes, true));
        }
        if options.is_idle(&mistakes) {
            break;
        }
    }
    if options.form == UpdateRule::Averaged && seen > 0.0 {
        lanes::axpy(-1.0 / seen, &slow, &mut counts);
    }
    Ok((counts, mistakes, false))
}

/// The length of the longest row `[x, 1]` (without the 1 if there is no intercept).
pub fn radius(x: &Design, intercept: bool) -> f64 {
    let mut rows = RowReader::new(x);
    let one = if intercept { 1.0 } else { 0.0 };
    (0..x.n_rows()).map(|i| rows.square_length(i) + one).fold(0.0, f64::max).sqrt()
}

//! The last digits: Newton steps over the variables that are inside their bounds.
//!
//! **Formula.** With `F` the free variables and `r` their pulls, the change `d` solves `K_FF d + e 1 = r`, `sum d = 0`, where `e` is the intercept. A step that would leave a
//! bound is cut there, and the variable that met it is no longer free. Equal rows make `K_FF` singular: a little is added to its diagonal, and further steps mend what that changed.

use super::rows::KernelRowCache;
use super::{SmoState, matrix};
use crate::kernel::{KernelElement, KernelMatrix};
use ermine_core::error::Result;
use ermine_core::linalg::{Cholesky, Matrix};
use ermine_core::progress::Observer;

/// Maximum number of free variables; more would take too long.
const MOST_FREE: usize = 600;
/// Most steps.
const STEPS: usize = 12;
/// What is added to the diagonal, as a share of its largest entry.
const RIDGE: f64 = 1e-12;

/// Improves the free variables as far as rounding allows; leaves the state as it was where that doesn't lower the violation.
pub(super) fn polish<E: KernelElement>(
    gram: &dyn KernelMatrix<E>,
    state: &mut SmoState,
    rows: &mut KernelRowCache<E>,
    observer: &dyn Observer,
) -> Result<()> {
    let mut free: Vec<usize> = (0..state.variables.len()).filter(|&v| state.can_rise(v) && state.can_fall(v)).collect();
    if free.len() < 2 || free.len() > MOST_FREE {
        return Ok(());
    }
    let points: Vec<u32> = free.iter().map(|&v| state.row(v) as u32).collect();
    let all = matrix(gram, &points, observer)?;
    let width = free.len();
    let mut places: Vec<usize> = (0..width).collect();
    for _ in 0..STEPS {
        let before = (state.violation(), state.variables.clone(), state.sums.clone());
        if before.0 == 0.0 || free.len() < 2 {
            return Ok(());
        }
        let kernel = Matrix::from_fn(free.len(), free.len(), |a, b| all[places[a] * width + places[b]].wide());
        let Some(change) = newton_step(state, &free, kernel) else { return Ok(()) };
        let (share, met) = longest(state, &free, &change);
        let mut changes = Vec::with_capacity(free.len());
        for (k, &v) in free.iter().enumerate() {
            let old = state.variables[v];
            let moved = (old + share * change[k]).clamp(state.dual.low[v], state.dual.high[v]);
            state.variables[v] = match met {
                Some(m) if m == k => {
                    if change[k] > 0.0 {
                        state.dual.high[v]
                    } else {
                        state.dual.low[v]
                    }
                }
                _ => moved,
            };
            changes.push((state.row(v) as u32, state.variables[v] - old));
        }
        rows.add(gram, &changes, &mut state.sums, observer)?;
        match met {
            Some(k) => {
                free.remove(k);
                places.remove(k);
            }
            None if state.violation() >= before.0 => {
                (state.variables, state.sums) = (before.1, before.2);
                return Ok(());
            }
            None => {}
        }
    }
    Ok(())
}

/// The change that makes all pulls of the free variables equal.
fn newton_step(state: &SmoState, free: &[usize], mut kernel: Matrix) -> Option<Vec<f64>> {
    let top = kernel.diagonal().iter().fold(0.0f64, |m, d| m.max(d.abs()));
    (0..free.len()).for_each(|k| kernel[(k, k)] += RIDGE * top);
    let factor = Cholesky::new(&kernel, 0.0)?;
    let mut change: Vec<f64> = free.iter().map(|&v| state.pull(v)).collect();
    let mean = change.iter().sum::<f64>() / change.len() as f64;
    change.iter_mut().for_each(|r| *r -= mean);
    let mut unit = vec![1.0; free.len()];
    factor.solve(&mut change);
    factor.solve(&mut unit);
    let level = change.iter().sum::<f64>() / unit.iter().sum::<f64>();
    change.iter_mut().zip(&unit).for_each(|(d, u)| *d -= level * u);
    change.iter().all(|d| d.is_finite()).then_some(change)
}

/// The largest share of a change, at most 1, that leaves no bound, and the variable that meets one.
fn longest(state: &SmoState, free: &[usize], change: &[f64]) -> (f64, Option<usize>) {
    let (mut share, mut met) = (1.0, None);
    for (k, &v) in free.iter().enumerate() {
        let room = if change[k] > 0.0 { state.dual.high[v] } else { state.dual.low[v] } - state.variables[v];
        if change[k] != 0.0 && room / change[k] < share {
            (share, met) = (room / change[k], Some(k));
        }
    }
    (share, met)
}

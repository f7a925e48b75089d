//! Which variables to optimise next: the worst offenders of both kinds, beside the newer half of the set before.
//!
//! Keeping half matters: variables that were moved together interact, and a set of newcomers only would undo them.

use super::State;

/// Replaces the working set by the next, of at most `most` variables.
pub(super) fn choose(state: &State, most: usize, set: &mut Vec<u32>) {
    let m = state.variables.len();
    if m <= most {
        set.clear();
        set.extend(0..m as u32);
        return;
    }
    let half = most / 2;
    if set.len() > half {
        set.drain(..set.len() - half);
    }
    let mut taken = vec![false; m];
    set.iter().for_each(|&v| taken[v as usize] = true);
    let (mut rising, mut falling) = (Vec::with_capacity(m), Vec::with_capacity(m));
    for v in 0..m {
        if !taken[v] {
            let pull = state.pull(v);
            if state.can_rise(v) {
                rising.push((-pull, v as u32));
            }
            if state.can_fall(v) {
                falling.push((pull, v as u32));
            }
        }
    }
    let wanted = most - set.len();
    first(&mut rising, wanted);
    first(&mut falling, wanted);
    // In turns, so that both kinds are there.
    let (mut rising, mut falling) = (rising.into_iter(), falling.into_iter());
    while set.len() < most {
        let pair = [rising.next(), falling.next()];
        if pair.iter().all(Option::is_none) {
            break;
        }
        for (_, v) in pair.into_iter().flatten() {
            if !taken[v as usize] && set.len() < most {
                taken[v as usize] = true;
                set.push(v);
            }
        }
    }
}

/// Keeps the `k` least pairs, in order.
fn first(pairs: &mut Vec<(f64, u32)>, k: usize) {
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if k > 0 && pairs.len() > k {
        pairs.select_nth_unstable_by(k - 1, order);
    }
    pairs.truncate(k);
    pairs.sort_unstable_by(order);
}

//! Selection of the working set: the variables with the largest violations of both kinds, and the newer half of the previous set.
//!
//! Keeping half matters: variables that were moved together interact, and a set of newcomers only would undo them.

use super::SmoState;

/// Replaces the working set by the next, of at most `most` variables.
pub(super) fn choose(state: &SmoState, most: usize, set: &mut Vec<u32>) {
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
    let wanted = most - set.len();
    let open = |v: &usize| !taken[*v];
    let (rising, falling) = rayon::join(
        || first((0..m).filter(open).filter(|&v| state.can_rise(v)).map(|v| (-state.pull(v), v as u32)), wanted),
        || first((0..m).filter(open).filter(|&v| state.can_fall(v)).map(|v| (state.pull(v), v as u32)), wanted),
    );
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

/// The `k` least pairs, in order.
fn first(pairs: impl Iterator<Item = (f64, u32)>, k: usize) -> Vec<(f64, u32)> {
    let mut pairs: Vec<(f64, u32)> = pairs.collect();
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if k > 0 && pairs.len() > k {
        pairs.select_nth_unstable_by(k - 1, order);
    }
    pairs.truncate(k);
    pairs.sort_unstable_by(order);
    pairs
}

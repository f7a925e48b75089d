//! Work on all threads, for pieces that are large: columns, nodes, trees.
//!
//! A parallel iterator is compiled anew for every closure, with all of its machinery for splitting and joining; in code that is generic over criteria that is most of what the compiler makes. Here it is compiled once, and a piece costs a
//! call through a pointer. Loops over rows use the iterators themselves.

use rayon::prelude::*;
use std::sync::Mutex;

/// Calls `work` for each number below `n`.
pub fn for_each(n: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(work);
}

/// Calls `work` for each part.
pub fn for_each_mut<T: Send>(parts: Vec<T>, work: impl Fn(T) + Sync) {
    let parts: Vec<Mutex<Option<T>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    for_each(parts.len(), &|i| {
        if let Some(part) = parts[i].lock().ok().and_then(|mut part| part.take()) {
            work(part);
        }
    });
}

/// What `make` makes of each number below `n`, in order.
pub fn map<T: Send>(n: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut made: Vec<Option<T>> = (0..n).map(|_| None).collect();
    for_each_mut(made.iter_mut().enumerate().collect(), |(i, place)| *place = Some(make(i)));
    made.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_made_once_and_in_order() {
        assert_eq!(map(1000, |i| i * i), (0..1000).map(|i| i * i).collect::<Vec<_>>());
        assert!(map(0, |i| i).is_empty());
        let mut sums = vec![1; 300];
        for_each_mut(sums.chunks_mut(7).enumerate().collect(), |(i, part)| part.iter_mut().for_each(|x| *x += i));
        assert_eq!(sums, (0..300).map(|i| 1 + i / 7).collect::<Vec<_>>());
    }
}

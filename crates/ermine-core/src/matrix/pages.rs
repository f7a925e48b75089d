//! Memory in large pages, where the system has them.
//!
//! **Idea.** A processor finds the place of a 4 KB page in memory through a table, and keeps a few thousand places at hand. Whoever reads single rows out of tens of megabytes asks for another page with almost every row, and
//! waits for the table; in a virtual machine for two of them. Pages of 2 MB are 512 times fewer. The system is asked for them before the memory is first written; where it has none, nothing changes.

/// Smaller memory stays as it is: it would be mostly the ends that don't fill a large page.
const LEAST_BYTES: usize = 4 << 20;

/// So many times this value.
pub fn filled<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut values = with_capacity(n);
    values.resize(n, value);
    values
}

/// Room for so many values.
pub fn with_capacity<T>(n: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(n);
    let room = values.spare_capacity_mut();
    if size_of_val(room) >= LEAST_BYTES {
        ask(room);
    }
    values
}

#[cfg(all(target_os = "linux", not(miri)))]
fn ask<T>(room: &mut [std::mem::MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let first = room.as_mut_ptr().cast::<u8>();
    let before = first.align_offset(PAGE);
    let inside = size_of_val(room).saturating_sub(before) / PAGE * PAGE;
    // SAFETY: the range lies within memory that is ours alone; the advice changes how it is backed, and nothing of what it holds. A refusal is no error: the pages stay small.
    unsafe { libc::madvise(first.wrapping_add(before).cast(), inside, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn ask<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_hold_what_is_put_there() {
        for n in [0, 1, LEAST_BYTES / 8, LEAST_BYTES / 8 + 12_345] {
            let mut numbers = filled(7u64, n);
            assert!(numbers.len() == n && numbers.iter().all(|x| *x == 7));
            numbers.push(1);
            assert_eq!(numbers.iter().sum::<u64>(), 7 * n as u64 + 1);
        }
    }
}

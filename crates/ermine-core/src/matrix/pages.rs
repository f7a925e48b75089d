//! Memory in huge pages, if the system supports them.
//!
//! **Idea.** The processor caches the addresses of a few thousand pages of 4 KB. Reading single rows at random from tens of megabytes misses this cache for almost every row. There are
//! 512 times fewer pages of 2 MB. They are requested before the memory is first written; if there are none, nothing changes.

/// Smaller allocations would consist mostly of ends that don't fill a huge page.
const LEAST_BYTES: usize = 4 << 20;

/// A vector of `n` copies of `value`.
pub fn filled<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut values = with_capacity(n);
    values.resize(n, value);
    values
}

/// An empty vector with room for `n` values.
pub fn with_capacity<T>(n: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(n);
    let room = values.spare_capacity_mut();
    if size_of_val(room) >= LEAST_BYTES {
        advise_huge_pages(room);
    }
    values
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages<T>(room: &mut [std::mem::MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let first = room.as_mut_ptr().cast::<u8>();
    let before = first.align_offset(PAGE);
    let inside = size_of_val(room).saturating_sub(before) / PAGE * PAGE;
    // SAFETY: the range lies within memory that only we use; the advice changes how it is backed, not its contents. A failure is harmless.
    unsafe { libc::madvise(first.wrapping_add(before).cast(), inside, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge_pages<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_store_values() {
        for n in [0, 1, LEAST_BYTES / 8, LEAST_BYTES / 8 + 12_345] {
            let mut numbers = filled(7u64, n);
            assert!(numbers.len() == n && numbers.iter().all(|x| *x == 7));
            numbers.push(1);
            assert_eq!(numbers.iter().sum::<u64>(), 7 * n as u64 + 1);
        }
    }
}

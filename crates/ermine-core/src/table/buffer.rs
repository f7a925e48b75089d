//! Shared, possibly strided, read-only memory.
//!
//! A column may be stored in a `Vec`, in one column of a row-major array, or in a slice of a larger buffer. A [`Buffer`] is a view of such memory together with a reference to its owner, so
//! tables are cheap to clone and arrays from Python are used without a copy.

use crate::error::{Error, Result};
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A read-only view of `len` values, `stride` values apart, that keeps its owner alive.
pub struct Buffer<T> {
    start: *const T,
    len: usize,
    stride: isize,
    owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: a Buffer only ever reads its memory, and its owner is Send + Sync; `T: Sync` makes shared reads sound.
unsafe impl<T: Sync> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Buffer<T> {}

impl<T: Copy + Send + Sync + 'static> Buffer<T> {
    /// A view of memory with another owner.
    ///
    /// # Safety
    /// For every `i < len`, `start + i * stride` must be aligned and readable as a `T` for as long as `owner` lives, and
    /// nobody may write there in that time. The same holds for the memory in between: all of it is part of one array of `T`.
    pub unsafe fn foreign(start: *const T, len: usize, stride: isize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Buffer { start, len, stride, owner }
    }

    /// A view of the values of a shared owner, without a copy: an `Arc<Vec<T>>`, an `Arc<Box<[T]>>`, or an `Arc` of a custom type (a memory-mapped file, a frame of another library) that
    /// provides its values as a slice.
    ///
    /// The slice is taken once. It stays valid, because the buffer shares the owner, so nobody can move, change or drop it.
    pub fn shared<O>(owner: Arc<O>) -> Self
    where
        O: AsRef<[T]> + Send + Sync + ?Sized + 'static,
    {
        let values: &[T] = (*owner).as_ref();
        let (start, len) = (values.as_ptr(), values.len());
        // The slice is borrowed from `*owner`, which neither moves nor changes while the buffer shares it.
        Buffer { start, len, stride: 1, owner: Arc::new(owner) }
    }

    /// Every `stride`-th value of this view, starting at `start`: with the number of columns as `stride`, a column of a row-major array.
    pub fn step_by(&self, start: usize, stride: usize) -> Result<Buffer<T>> {
        if stride == 0 || start > self.len {
            let len = self.len;
            return Err(Error::data(format!(
                "a buffer of {len} values has no steps of {stride} from position {start}"
            )));
        }
        let len = (self.len - start).div_ceil(stride);
        let first = self.start.wrapping_offset(start as isize * self.stride);
        Ok(Buffer { start: first, len, stride: self.stride * stride as isize, owner: self.owner.clone() })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Distance between consecutive values in memory, in values.
    pub fn stride(&self) -> isize {
        self.stride
    }

    /// Pointer to the first value.
    pub fn as_ptr(&self) -> *const T {
        self.start
    }

    /// The value at `i`.
    #[inline]
    pub fn get(&self, i: usize) -> T {
        assert!(i < self.len, "index {i} out of a buffer of {}", self.len);
        // SAFETY: i < len, and every such place is readable (`foreign`, `From<Vec>`).
        unsafe { *self.start.offset(i as isize * self.stride) }
    }

    /// The values as a slice, if they are contiguous.
    pub fn as_slice(&self) -> Option<&[T]> {
        if self.len == 0 {
            return Some(&[]);
        }
        // SAFETY: with stride 1 the `len` readable values are contiguous; the borrow of self keeps the owner alive.
        (self.stride == 1 || self.len == 1).then(|| unsafe { std::slice::from_raw_parts(self.start, self.len) })
    }

    /// The memory from the first value to the last, and the stride; `None` if the stride is negative.
    pub fn span(&self) -> Option<(&[T], usize)> {
        if self.len < 2 {
            return self.as_slice().map(|values| (values, 1));
        }
        let stride = usize::try_from(self.stride).ok().filter(|&stride| stride > 0)?;
        // SAFETY: all memory from the first value to the last is readable (`foreign`); the borrow of self keeps the owner alive.
        Some((unsafe { std::slice::from_raw_parts(self.start, (self.len - 1) * stride + 1) }, stride))
    }

    /// The row-major array with these columns, and its row stride; `None` if the columns are not adjacent or differ in length or stride.
    pub fn rows<'b>(columns: &[&'b Buffer<T>]) -> Option<(&'b [T], usize)> {
        let (first, p) = (*columns.first()?, columns.len());
        let stride = usize::try_from(first.stride).ok().filter(|&stride| stride >= p && stride > 1)?;
        let beside = |(j, column): (usize, &&Buffer<T>)| {
            column.start == first.start.wrapping_add(j) && (column.len, column.stride) == (first.len, first.stride)
        };
        if first.len < 2 || !columns.iter().enumerate().all(beside) {
            return None;
        }
        let len = (first.len - 1) * stride + p;
        // SAFETY: the memory from the first value of each column to its last is readable (`foreign`). As the columns lie side by side, that is all
        // from the first value of the first column to the last value of the last; the borrows keep the owners alive.
        Some((unsafe { std::slice::from_raw_parts(first.start, len) }, stride))
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        // SAFETY: i < len, and every such place is readable.
        (0..self.len).map(|i| unsafe { *self.start.offset(i as isize * self.stride) })
    }

    /// The values of `range` in order.
    pub fn part(&self, range: Range<usize>) -> impl Iterator<Item = T> + '_ {
        assert!(range.start <= range.end && range.end <= self.len, "range {range:?} out of a buffer of {}", self.len);
        // SAFETY: i < len, and every such place is readable.
        range.map(|i| unsafe { *self.start.offset(i as isize * self.stride) })
    }

    /// A view of `range` of this view, sharing memory.
    pub fn slice(&self, range: Range<usize>) -> Buffer<T> {
        assert!(range.start <= range.end && range.end <= self.len, "range {range:?} out of a buffer of {}", self.len);
        let start = self.start.wrapping_offset(range.start as isize * self.stride);
        Buffer { start, len: range.len(), stride: self.stride, owner: self.owner.clone() }
    }
}

impl<T: Copy + Send + Sync + 'static> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        let (start, len) = (values.as_ptr(), values.len());
        // Moving the Vec into the Arc doesn't move its heap memory, and nobody can mutate it any more.
        Buffer { start, len, stride: 1, owner: Arc::new(values) }
    }
}

impl<T: Copy + Send + Sync + 'static> From<Arc<[T]>> for Buffer<T> {
    fn from(values: Arc<[T]>) -> Self {
        Buffer::shared(values)
    }
}

impl<T: Copy + Send + Sync + 'static> From<Arc<Vec<T>>> for Buffer<T> {
    fn from(values: Arc<Vec<T>>) -> Self {
        Buffer::shared(values)
    }
}

impl<T: Copy + Send + Sync + 'static> From<&[T]> for Buffer<T> {
    fn from(values: &[T]) -> Self {
        values.to_vec().into()
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer { start: self.start, len: self.len, stride: self.stride, owner: self.owner.clone() }
    }
}

impl<T: Copy + Send + Sync + fmt::Debug + 'static> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().take(8)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_share_memory_and_outlive_the_original() {
        let whole: Buffer<f32> = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0].into();
        let part = whole.slice(2..5);
        drop(whole);
        assert_eq!(part.as_slice().unwrap(), [2.0, 3.0, 4.0]);
        assert_eq!(part.iter().collect::<Vec<_>>(), [2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_strided_view_reads_a_column_of_a_row_major_array() {
        let rows = Arc::new(vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
        // SAFETY: 3 values, 2 apart, from offset 1 lie inside the Vec that the owner holds and nobody writes to.
        let column = unsafe { Buffer::foreign(rows.as_ptr().add(1), 3, 2, rows.clone()) };
        assert!(column.as_slice().is_none());
        assert_eq!((0..3).map(|i| column.get(i)).collect::<Vec<_>>(), [2.0, 4.0, 6.0]);
        assert_eq!(column.slice(1..3).iter().collect::<Vec<_>>(), [4.0, 6.0]);
        assert_eq!(column.span(), Some((&[2.0, 3.0, 4.0, 5.0, 6.0][..], 2)));
        assert_eq!(column.slice(2..3).span(), Some((&[6.0][..], 1)));
    }

    #[test]
    fn adjacent_columns_form_rows() {
        let array = Arc::new((0..12).map(f64::from).collect::<Vec<_>>());
        // SAFETY: 3 values, 4 apart, from the offsets 0 to 3 lie inside the Vec that the owner holds and nobody writes to.
        let column = |j: usize| unsafe { Buffer::foreign(array.as_ptr().add(j), 3, 4, array.clone()) };
        let (a, b, c) = (column(0), column(1), column(3));
        assert_eq!(Buffer::rows(&[&a, &b]), Some((&array[..10], 4)));
        assert_eq!(Buffer::rows(&[&b]), Some((&array[1..10], 4)));
        assert_eq!(Buffer::rows(&[&a, &c]), None);
        assert_eq!(Buffer::rows(&[&b, &a]), None);
        assert_eq!(Buffer::rows(&[&a, &b.slice(0..2)]), None);
    }

    #[test]
    fn shared_values_are_not_copied() {
        let values: Arc<[f64]> = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0].into();
        let buffer: Buffer<f64> = values.clone().into();
        assert_eq!(buffer.as_ptr(), values.as_ptr());
        let owner = Arc::new(vec![1.0f32, 2.0]);
        assert_eq!(Buffer::from(owner.clone()).as_ptr(), owner.as_ptr());
        drop(values);
        let column = buffer.step_by(1, 2).unwrap();
        drop(buffer);
        assert_eq!(column.iter().collect::<Vec<_>>(), [2.0, 4.0, 6.0]);
        assert_eq!(column.step_by(1, 2).unwrap().iter().collect::<Vec<_>>(), [4.0]);
        assert!(column.step_by(0, 0).is_err() && column.step_by(4, 1).is_err());
        assert!(column.step_by(3, 1).unwrap().is_empty());
    }

    #[test]
    fn an_empty_view_is_an_empty_slice() {
        let none: Buffer<u32> = Vec::new().into();
        assert_eq!(none.as_slice(), Some(&[][..]));
        assert!(none.slice(0..0).is_empty());
    }
}

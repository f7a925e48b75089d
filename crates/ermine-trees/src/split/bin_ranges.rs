//! The range of the bins of each column over the lines of a node.
//!
//! **Idea.** The minimum and maximum of every byte position in one pass: a line is one or two vectors, and the minimum of two vectors is one instruction. The loops are compiled for several instruction
//! sets.

/// The minimum and maximum byte at each of these positions of the lines.
pub fn line_ranges(lines: &[u8], stride: usize, places: &[u32]) -> Vec<(u8, u8)> {
    match stride {
        64 => of_chunks::<64>(lines, places),
        128 => of_chunks::<128>(lines, places),
        _ => {
            let range = |&place: &u32| {
                let bytes = lines.chunks_exact(stride).map(|line| line[place as usize]);
                bytes.fold((u8::MAX, 0), |(low, high), byte| (low.min(byte), high.max(byte)))
            };
            places.iter().map(range).collect()
        }
    }
}

fn of_chunks<const STRIDE: usize>(lines: &[u8], places: &[u32]) -> Vec<(u8, u8)> {
    let (low, high) = ranges(lines.as_chunks::<STRIDE>().0);
    places.iter().map(|&place| (low[place as usize], high[place as usize])).collect()
}

ermine_core::versions! {
    fn ranges<const STRIDE: usize>(lines: &[[u8; STRIDE]]) -> ([u8; STRIDE], [u8; STRIDE]) {
        ranges_plain(lines)
    }
}

#[inline(always)]
fn ranges_plain<const STRIDE: usize>(lines: &[[u8; STRIDE]]) -> ([u8; STRIDE], [u8; STRIDE]) {
    let (mut low, mut high) = ([u8::MAX; STRIDE], [0; STRIDE]);
    for line in lines {
        for place in 0..STRIDE {
            low[place] = low[place].min(line[place]);
            high[place] = high[place].max(line[place]);
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_strides_give_the_same_ranges(bytes in prop::collection::vec(any::<u8>(), 64 * 4..64 * 40), places in prop::collection::vec(0u32..64, 1..9)) {
            let whole = bytes.len() / 128 * 128;
            for stride in [64, 128, 32] {
                let places: Vec<u32> = places.iter().map(|p| p % stride as u32).collect();
                let got = line_ranges(&bytes[..whole], stride, &places);
                for (&place, range) in places.iter().zip(got) {
                    let column: Vec<u8> = bytes[..whole].chunks(stride).map(|line| line[place as usize]).collect();
                    prop_assert_eq!(range, (*column.iter().min().unwrap(), *column.iter().max().unwrap()));
                }
            }
        }
    }
}

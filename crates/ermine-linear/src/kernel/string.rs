//! String kernels: how many substrings or subsequences two strings have in common. Kernel methods need no numeric features, only kernel values of pairs.
//!
//! **Spectrum.** `k(s, t) = sum over all strings u of length p of (times u occurs in s) (times u occurs in t)`.
//!
//! **Subsequences.** Subsequences of `p` characters, with gaps, each weighted by `lambda^(length from its first to its last character)`:
//! `k(s, t) = sum_u sum_{i: s[i] = u} sum_{j: t[j] = u} lambda^(len(i) + len(j))`, by dynamic programming over prefixes.
//!
//! **Cost.** O(|s| log |s|) for the spectrum, O(p |s| |t|) for subsequences.
//!
//! **Reference.** Leslie, Eskin, Noble, "The spectrum kernel" (2002); Lodhi et al., "Text classification using string kernels" (JMLR 2002), section 4.

/// The spectrum kernel of substrings of `p` characters.
pub fn spectrum(s: &str, t: &str, p: usize) -> f64 {
    let (a, b) = (pieces(s, p), pieces(t, p));
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += a[i].1 * b[j].1;
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    sum
}

/// The substrings of `p` characters in sorted order, with their counts.
fn pieces(text: &str, p: usize) -> Vec<(Vec<char>, f64)> {
    let characters: Vec<char> = text.chars().collect();
    let mut all: Vec<&[char]> = if p == 0 { Vec::new() } else { characters.windows(p).collect() };
    all.sort_unstable();
    let mut counted: Vec<(Vec<char>, f64)> = Vec::new();
    for piece in all {
        match counted.last_mut() {
            Some((last, count)) if last == piece => *count += 1.0,
            _ => counted.push((piece.to_vec(), 1.0)),
        }
    }
    counted
}

/// The subsequence kernel of `p` characters; each character from the first to the last of a subsequence contributes a factor `lambda`.
pub fn subsequence(s: &str, t: &str, p: usize, lambda: f64) -> f64 {
    let (s, t): (Vec<char>, Vec<char>) = (s.chars().collect(), t.chars().collect());
    let width = t.len() + 1;
    // open[i][j]: subsequences of the length so far, within the first i and j characters, counted to the ends of both prefixes.
    let mut open = vec![1.0; (s.len() + 1) * width];
    let mut total = 0.0;
    for length in 1..=p {
        let mut next = vec![0.0; open.len()];
        total = 0.0;
        for i in 1..=s.len() {
            // What begins a new last character in this row, counted to the end of the second prefix.
            let mut row = 0.0;
            for j in 1..=t.len() {
                let same = s[i - 1] == t[j - 1];
                let before = open[(i - 1) * width + j - 1];
                row = lambda * row + if same { lambda * lambda * before } else { 0.0 };
                next[i * width + j] = lambda * next[(i - 1) * width + j] + row;
                if same && length == p {
                    total += lambda * lambda * before;
                }
            }
        }
        open = next;
    }
    total
}

/// The normalized kernel `k(s, t) / sqrt(k(s, s) k(t, t))`; 0 if the denominator is 0.
pub fn normalized(kernel: impl Fn(&str, &str) -> f64, s: &str, t: &str) -> f64 {
    let lengths = kernel(s, s) * kernel(t, t);
    if lengths > 0.0 { kernel(s, t) / lengths.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::is_psd;
    use proptest::prelude::*;

    /// All subsequences of `p` places of a text, with the length that each spans.
    fn subsequences(text: &[char], p: usize) -> Vec<(Vec<char>, i32)> {
        fn choose(text: &[char], p: usize, from: usize, places: &mut Vec<usize>, found: &mut Vec<(Vec<char>, i32)>) {
            if places.len() == p {
                let span = places[p - 1] - places[0] + 1;
                found.push((places.iter().map(|&i| text[i]).collect(), span as i32));
                return;
            }
            for i in from..text.len() {
                places.push(i);
                choose(text, p, i + 1, places, found);
                places.pop();
            }
        }
        let mut found = Vec::new();
        choose(text, p, 0, &mut Vec::new(), &mut found);
        found
    }

    proptest! {
        #[test]
        fn subsequence_counts_match_the_definition(s in "[abc]{0,7}", t in "[abc]{0,7}", p in 1usize..4) {
            let lambda = 0.6;
            let (a, b): (Vec<char>, Vec<char>) = (s.chars().collect(), t.chars().collect());
            let mut truth = 0.0;
            for (u, length) in subsequences(&a, p) {
                for (v, other) in subsequences(&b, p) {
                    truth += if u == v { f64::powi(lambda, length + other) } else { 0.0 };
                }
            }
            prop_assert!((subsequence(&s, &t, p, lambda) - truth).abs() < 1e-10, "{} {truth}", subsequence(&s, &t, p, lambda));
        }

        #[test]
        fn string_kernels_are_dot_products(texts in prop::collection::vec("[abc]{0,8}", 1..10)) {
            let n = texts.len();
            for p in 1..3 {
                let of = |kernel: &dyn Fn(&str, &str) -> f64| {
                    let values: Vec<f64> = (0..n * n).map(|k| normalized(kernel, &texts[k / n], &texts[k % n])).collect();
                    is_psd(&values, n).unwrap().psd
                };
                prop_assert!(of(&|s, t| spectrum(s, t, p)));
                prop_assert!(of(&|s, t| subsequence(s, t, p, 0.5)));
            }
        }
    }

    #[test]
    fn substrings_are_counted() {
        assert_eq!(spectrum("banana", "ananas", 3), 5.0);
        assert_eq!(spectrum("a", "banana", 2), 0.0);
        assert_eq!(normalized(|s, t| spectrum(s, t, 2), "abc", "abc"), 1.0);
    }
}

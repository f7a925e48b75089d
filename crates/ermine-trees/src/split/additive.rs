//! Criteria of stumps that follow from sums over rows.
//!
//! **Formula.** A split's cost is the sum of its children's costs; a node's cost is its weight times its impurity (see [`impurity`](super::impurity)), the weight of the other class
//! (fixed polarity), or the squared error sum_i w_i y_i^2 - (sum_i w_i y_i)^2 / W.
//!
//! Costs are weighted, so each child counts by its fraction of the rows.
//!
//! **Cost.** Adding a row is O(1); the cost of a split is O(K) for K classes. Two classes have an implementation without loops.

use super::impurity::Impurity;

/// A criterion that is a function of sums over the rows of each side.
pub trait AdditiveCriterion: Sync {
    /// The sum over rows.
    type Sum: Clone + Send + Sync;

    /// The empty sum.
    fn zero(&self) -> Self::Sum;
    /// Adds a row.
    fn add(&self, sum: &mut Self::Sum, row: usize);
    /// Adds another sum.
    fn merge(&self, sum: &mut Self::Sum, other: &Self::Sum);
    /// Whether the sum has no weight.
    fn is_empty(&self, sum: &Self::Sum) -> bool;
    /// `all - part`.
    fn rest(&self, all: &Self::Sum, part: &Self::Sum) -> Self::Sum;
    /// The cost of a split into `left` and the rest of `all`. Lower is better.
    fn cost(&self, all: &Self::Sum, left: &Self::Sum) -> f64;
    /// A lower bound of the cost of all splits with `left` on the left, `all - left - inside` on the right, and the rows of `inside` distributed between both sides
    /// in any way.
    fn bound(&self, all: &Self::Sum, left: &Self::Sum, inside: &Self::Sum) -> f64;
    /// Decides between splits of equal cost; lower is better.
    fn tie_break(&self, _all: &Self::Sum, _left: &Self::Sum) -> f64 {
        0.0
    }
    /// The cost of a node that is not split.
    fn node_cost(&self, sum: &Self::Sum) -> f64 {
        self.cost(sum, &self.zero())
    }
}

/// Class weights, with any of the impurities, for any number of classes.
pub struct ClassSums<'a> {
    /// The class of each row.
    pub codes: &'a [u32],
    /// The weight of each row; `None` for 1.
    pub weight: Option<&'a [f64]>,
    /// Number of classes.
    pub n_classes: usize,
    /// The impurity of a node.
    pub impurity: Impurity,
}

impl AdditiveCriterion for ClassSums<'_> {
    type Sum = Vec<f64>;

    fn zero(&self) -> Vec<f64> {
        vec![0.0; self.n_classes]
    }

    #[inline]
    fn add(&self, sum: &mut Vec<f64>, row: usize) {
        sum[self.codes[row] as usize] += self.weight.map_or(1.0, |w| w[row]);
    }

    fn merge(&self, sum: &mut Vec<f64>, other: &Vec<f64>) {
        sum.iter_mut().zip(other).for_each(|(a, b)| *a += b);
    }

    fn is_empty(&self, sum: &Vec<f64>) -> bool {
        sum.iter().all(|&w| w <= 0.0)
    }

    fn rest(&self, all: &Vec<f64>, part: &Vec<f64>) -> Vec<f64> {
        all.iter().zip(part).map(|(a, b)| (a - b).max(0.0)).collect()
    }

    #[inline]
    fn cost(&self, all: &Vec<f64>, left: &Vec<f64>) -> f64 {
        self.impurity.cost_of_two(all, left)
    }

    /// The cost is concave in the class weights of the left side, which lie in a box, so its minimum is at a corner. With too many
    /// corners: removing rows never increases a cost, so leaving `inside` out is a lower bound.
    fn bound(&self, all: &Vec<f64>, left: &Vec<f64>, inside: &Vec<f64>) -> f64 {
        const CORNERS_UP_TO: usize = 4;
        if self.n_classes > CORNERS_UP_TO {
            let right: Vec<f64> = all.iter().zip(left).zip(inside).map(|((a, l), i)| (a - l - i).max(0.0)).collect();
            return self.impurity.cost(left) + self.impurity.cost(&right);
        }
        let mut corner = left.clone();
        let mut lowest = f64::INFINITY;
        for chosen in 0..1usize << self.n_classes {
            for (k, place) in corner.iter_mut().enumerate() {
                *place = if chosen >> k & 1 == 1 { left[k] + inside[k] } else { left[k] };
            }
            lowest = lowest.min(self.impurity.cost_of_two(all, &corner));
        }
        lowest
    }

    /// Among splits with the same error, the one with the lower Gini impurity.
    fn tie_break(&self, all: &Vec<f64>, left: &Vec<f64>) -> f64 {
        if self.impurity == Impurity::Error { Impurity::Gini.cost_of_two(all, left) } else { 0.0 }
    }
}

/// [`ClassSums`] for two classes, in registers.
pub struct TwoClassSums<'a> {
    /// The class of each row, 0 or 1.
    pub codes: &'a [u32],
    /// The weight of each row; `None` for 1.
    pub weight: Option<&'a [f64]>,
    /// What a node costs.
    pub impurity: Impurity,
    /// The class that the left side predicts if the polarity is fixed; the right side predicts the other.
    pub left_class: Option<usize>,
}

impl AdditiveCriterion for TwoClassSums<'_> {
    type Sum = [f64; 2];

    fn zero(&self) -> [f64; 2] {
        [0.0; 2]
    }

    #[inline]
    fn add(&self, sum: &mut [f64; 2], row: usize) {
        let weight = self.weight.map_or(1.0, |w| w[row]);
        // Update both sums, so that the compiler needs no branch and no memory.
        let second = f64::from(self.codes[row]) * weight;
        sum[0] += weight - second;
        sum[1] += second;
    }

    fn merge(&self, sum: &mut [f64; 2], other: &[f64; 2]) {
        sum[0] += other[0];
        sum[1] += other[1];
    }

    fn is_empty(&self, sum: &[f64; 2]) -> bool {
        sum[0] <= 0.0 && sum[1] <= 0.0
    }

    fn rest(&self, all: &[f64; 2], part: &[f64; 2]) -> [f64; 2] {
        [(all[0] - part[0]).max(0.0), (all[1] - part[1]).max(0.0)]
    }

    #[inline]
    fn cost(&self, all: &[f64; 2], left: &[f64; 2]) -> f64 {
        match self.left_class {
            Some(class) => left[1 - class] + (all[class] - left[class]).max(0.0),
            None => self.impurity.cost_of_two(all, left),
        }
    }

    /// The cost is concave in the class weights of the left side, which lie in a rectangle, so its minimum is at a corner.
    fn bound(&self, all: &[f64; 2], left: &[f64; 2], inside: &[f64; 2]) -> f64 {
        let (from, to) = (left, [left[0] + inside[0], left[1] + inside[1]]);
        let corners = [[from[0], from[1]], [to[0], from[1]], [from[0], to[1]], to];
        corners.iter().fold(f64::INFINITY, |least, corner| least.min(self.cost(all, corner)))
    }

    /// A node that is not split predicts its majority class, whatever the polarity.
    fn node_cost(&self, sum: &[f64; 2]) -> f64 {
        self.impurity.cost(sum)
    }

    fn tie_break(&self, all: &[f64; 2], left: &[f64; 2]) -> f64 {
        if self.impurity == Impurity::Error { Impurity::Gini.cost_of_two(all, left) } else { 0.0 }
    }
}

/// Numbers: the squared error around the mean of each side. The values should be centered to avoid cancellation.
pub struct SquaredErrorSums<'a> {
    /// The number of each row.
    pub values: &'a [f64],
    /// The weight of each row; `None` for 1.
    pub weight: Option<&'a [f64]>,
}

/// Weight, sum and sum of squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetMoments {
    /// Sum of weights.
    pub weight: f64,
    /// Weighted sum.
    pub sum: f64,
    /// Weighted sum of squares.
    pub squares: f64,
}

impl AdditiveCriterion for SquaredErrorSums<'_> {
    type Sum = TargetMoments;

    fn zero(&self) -> TargetMoments {
        TargetMoments { weight: 0.0, sum: 0.0, squares: 0.0 }
    }

    #[inline]
    fn add(&self, sum: &mut TargetMoments, row: usize) {
        let (weight, y) = (self.weight.map_or(1.0, |w| w[row]), self.values[row]);
        sum.weight += weight;
        sum.sum += weight * y;
        sum.squares += weight * y * y;
    }

    fn merge(&self, sum: &mut TargetMoments, other: &TargetMoments) {
        sum.weight += other.weight;
        sum.sum += other.sum;
        sum.squares += other.squares;
    }

    fn is_empty(&self, sum: &TargetMoments) -> bool {
        sum.weight <= 0.0
    }

    fn rest(&self, all: &TargetMoments, part: &TargetMoments) -> TargetMoments {
        let weight = (all.weight - part.weight).max(0.0);
        TargetMoments { weight, sum: all.sum - part.sum, squares: (all.squares - part.squares).max(0.0) }
    }

    /// The better of two bounds: leaving `inside` out, as for classes; and, since the cost is concave in the weight and sum of the left side, the lowest corner of the
    /// rectangle in which they lie. The sum of rows of weight w and sum of squares q is at most (w q)^(1/2).
    fn bound(&self, all: &TargetMoments, left: &TargetMoments, inside: &TargetMoments) -> f64 {
        let right = self.rest(&self.rest(all, left), inside);
        let apart = |side: &TargetMoments| side.squares - ratio(side.sum * side.sum, side.weight);
        let reach = (inside.weight * inside.squares).sqrt();
        let corner = |weight: f64, sum: f64| {
            let rest = all.weight - weight;
            if weight > 0.0 && rest > 0.0 {
                all.squares - sum * sum / weight - (all.sum - sum) * (all.sum - sum) / rest
            } else {
                f64::NEG_INFINITY
            }
        };
        let (light, heavy) = (left.weight, left.weight + inside.weight);
        let (low, high) = (left.sum - reach, left.sum + reach);
        let lowest = corner(light, low).min(corner(light, high)).min(corner(heavy, low)).min(corner(heavy, high));
        lowest.max(apart(left) + apart(&right))
    }

    #[inline]
    fn cost(&self, all: &TargetMoments, left: &TargetMoments) -> f64 {
        let right = self.rest(all, left);
        all.squares - ratio(left.sum * left.sum, left.weight) - ratio(right.sum * right.sum, right.weight)
    }
}

/// Several numbers for each row: the squared errors around the means of each side, added up over the targets. The values should be centered.
pub struct MultiTargetSums<'a> {
    /// The numbers of each row, one row after the other.
    pub values: &'a [f64],
    /// How many there are for each row.
    pub n_targets: usize,
    /// The weight of each row; `None` for 1.
    pub weight: Option<&'a [f64]>,
}

/// [`TargetMoments`] of several targets: squares are added up over them.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiTargetMoments {
    /// Sum of weights.
    pub weight: f64,
    /// Weighted sum of each target.
    pub sums: Vec<f64>,
    /// Weighted sum of squares of all targets.
    pub squares: f64,
}

impl MultiTargetMoments {
    /// What the squared errors around zero exceed those around the means by.
    fn explained(&self) -> f64 {
        ratio(self.sums.iter().map(|sum| sum * sum).sum(), self.weight)
    }
}

impl AdditiveCriterion for MultiTargetSums<'_> {
    type Sum = MultiTargetMoments;

    fn zero(&self) -> MultiTargetMoments {
        MultiTargetMoments { weight: 0.0, sums: vec![0.0; self.n_targets], squares: 0.0 }
    }

    fn add(&self, sum: &mut MultiTargetMoments, row: usize) {
        let weight = self.weight.map_or(1.0, |w| w[row]);
        sum.weight += weight;
        for (sum_of, y) in sum.sums.iter_mut().zip(&self.values[row * self.n_targets..]) {
            *sum_of += weight * y;
            sum.squares += weight * y * y;
        }
    }

    fn merge(&self, sum: &mut MultiTargetMoments, other: &MultiTargetMoments) {
        sum.weight += other.weight;
        sum.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
        sum.squares += other.squares;
    }

    fn is_empty(&self, sum: &MultiTargetMoments) -> bool {
        sum.weight <= 0.0
    }

    fn rest(&self, all: &MultiTargetMoments, part: &MultiTargetMoments) -> MultiTargetMoments {
        MultiTargetMoments {
            weight: (all.weight - part.weight).max(0.0),
            sums: all.sums.iter().zip(&part.sums).map(|(a, b)| a - b).collect(),
            squares: (all.squares - part.squares).max(0.0),
        }
    }

    /// Removing rows never increases a squared error, so leaving `inside` out is a lower bound.
    fn bound(&self, all: &MultiTargetMoments, left: &MultiTargetMoments, inside: &MultiTargetMoments) -> f64 {
        let right = self.rest(&self.rest(all, left), inside);
        let apart = |side: &MultiTargetMoments| side.squares - side.explained();
        apart(left) + apart(&right)
    }

    fn cost(&self, all: &MultiTargetMoments, left: &MultiTargetMoments) -> f64 {
        all.squares - left.explained() - self.rest(all, left).explained()
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Splits the rows `from..to` in every prefix of every order that a shuffle gives, and compares with the bound.
    fn check_bound<C: AdditiveCriterion>(criterion: &C, n: usize, (from, to): (usize, usize), order: &[u32]) {
        let sum = |rows: &mut dyn Iterator<Item = usize>| {
            let mut sum = criterion.zero();
            rows.for_each(|row| criterion.add(&mut sum, row));
            sum
        };
        let (all, mut left, inside) = (sum(&mut (0..n)), sum(&mut (0..from)), sum(&mut (from..to)));
        let bound = criterion.bound(&all, &left, &inside);
        let mut rows: Vec<usize> = (from..to).collect();
        rows.sort_by_key(|&row| order[row]);
        assert!(bound <= criterion.cost(&all, &left) + 1e-9);
        for row in rows {
            criterion.add(&mut left, row);
            assert!(bound <= criterion.cost(&all, &left) + 1e-9, "{bound} {}", criterion.cost(&all, &left));
        }
    }

    proptest! {
        #[test]
        fn no_split_costs_less_than_its_bound(
            rows in prop::collection::vec((0u32..5, 0.1..4.0f64, -9.0..9.0f64, any::<u32>()), 3..40), cuts in (0.0..1.0f64, 0.0..1.0f64),
        ) {
            let n = rows.len();
            let cut = |share: f64| (share * n as f64) as usize;
            let range = (cut(cuts.0.min(cuts.1)), cut(cuts.0.max(cuts.1)));
            let codes: Vec<u32> = rows.iter().map(|r| r.0).collect();
            let three: Vec<u32> = codes.iter().map(|&c| c.min(2)).collect();
            let two: Vec<u32> = codes.iter().map(|&c| c.min(1)).collect();
            let weight: Vec<f64> = rows.iter().map(|r| r.1).collect();
            let values: Vec<f64> = rows.iter().map(|r| r.2).collect();
            let order: Vec<u32> = rows.iter().map(|r| r.3).collect();
            let weight = Some(&weight[..]);
            for impurity in [Impurity::Error, Impurity::Gini, Impurity::Entropy] {
                check_bound(&ClassSums { codes: &codes, weight, n_classes: 5, impurity }, n, range, &order);
                check_bound(&ClassSums { codes: &three, weight, n_classes: 3, impurity }, n, range, &order);
                for left_class in [None, Some(0), Some(1)] {
                    check_bound(&TwoClassSums { codes: &two, weight, impurity, left_class }, n, range, &order);
                }
            }
            check_bound(&SquaredErrorSums { values: &values, weight }, n, range, &order);
            let pairs: Vec<f64> = rows.iter().flat_map(|r| [r.2, r.2 * r.1 - 2.0 * f64::from(r.0)]).collect();
            check_bound(&MultiTargetSums { values: &pairs, n_targets: 2, weight }, n, range, &order);
        }
    }

    #[test]
    fn the_squared_error_matches_the_textbook() {
        let values = [1.0, 2.0, 6.0];
        let criterion = SquaredErrorSums { values: &values, weight: None };
        let mut all = criterion.zero();
        (0..3).for_each(|row| criterion.add(&mut all, row));
        assert!((criterion.node_cost(&all) - 14.0).abs() < 1e-12);
    }
}

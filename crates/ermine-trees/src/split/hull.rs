//! Convex hulls of points in ascending order of their first coordinate.
//!
//! **Idea.** A convex function over some points is largest at a corner of their hull, wherever the points are moved to together. The corners are therefore all that has to be remembered of them to find the
//! largest value of any convex function, for any move. Corners are few: O(m^(2/3)) for m steps on a lattice (class counts), and about log m where chance has a say.
//!
//! **How.** The upper and the lower side are chains of corners from left to right; a new point on the right takes away the corners that it leaves inside (Andrew's monotone chain). Two hulls side by
//! side are joined by pushing the corners of the right one: O(corners).
//!
//! **Reference.** Andrew, Another efficient algorithm for convex hulls in two dimensions (1979).

/// A point of the plane.
pub(super) type Point = (f64, f64);

/// The corners of a set of points.
#[derive(Debug, Clone, Default)]
pub(super) struct Hull {
    upper: Vec<Point>,
    lower: Vec<Point>,
}

/// Twice the area of a triangle, positive if its corners turn left.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// Adds a point on the right of a chain; `side` is 1 for the upper side, -1 for the lower.
fn push(chain: &mut Vec<Point>, point: Point, side: f64) {
    while let [.., a, b] = chain[..] {
        if side * turn(a, b, point) < 0.0 {
            break;
        }
        chain.pop();
    }
    chain.push(point);
}

impl Hull {
    /// Takes all points away.
    pub fn clear(&mut self) {
        self.upper.clear();
        self.lower.clear();
    }

    /// Adds a point right of all others.
    pub fn push(&mut self, point: Point) {
        push(&mut self.upper, point, 1.0);
        push(&mut self.lower, point, -1.0);
    }

    /// Becomes the hull of one set of points and of another, moved by `by`, on the right of it.
    pub fn join(&mut self, left: &Hull, right: &Hull, by: Point) {
        self.clear();
        self.upper.extend_from_slice(&left.upper);
        self.lower.extend_from_slice(&left.lower);
        let moved = |&(x, y): &Point| (x + by.0, y + by.1);
        right.upper.iter().map(moved).for_each(|point| push(&mut self.upper, point, 1.0));
        right.lower.iter().map(moved).for_each(|point| push(&mut self.lower, point, -1.0));
    }

    /// How many corners there are, those at both ends counted twice.
    pub fn len(&self) -> usize {
        self.upper.len() + self.lower.len()
    }

    /// The largest value of a convex function over the points; minus infinity for none.
    pub fn largest(&self, value: impl Fn(Point) -> f64) -> f64 {
        self.upper.iter().chain(&self.lower).fold(f64::NEG_INFINITY, |largest, &point| largest.max(value(point)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn corners_are_enough(
            steps in prop::collection::vec((1u8..5, -9i8..9), 1..80), cut in 0usize..80, (a, b) in (-9i8..9, -9i8..9), by in (-9i8..9, -9i8..9),
        ) {
            let mut at = (0.0, 0.0);
            let points: Vec<Point> = steps.iter().map(|&(x, y)| {
                at = (at.0 + f64::from(x), at.1 + f64::from(y));
                at
            }).collect();
            let (left, right) = points.split_at(cut.min(points.len()));
            let hull_of = |points: &[Point]| {
                let mut hull = Hull::default();
                points.iter().for_each(|&p| hull.push(p));
                hull
            };
            let by = (f64::from(by.0).abs(), f64::from(by.1));
            let moved: Vec<Point> = right.iter().map(|p| (p.0 + by.0, p.1 + by.1)).collect();
            let mut joined = hull_of(&points);
            joined.join(&hull_of(left), &hull_of(right), by);
            // A line, the square of one, and the larger of two: all convex, and whole numbers.
            let line = |p: Point| f64::from(a) * p.0 + f64::from(b) * p.1;
            let values: [&dyn Fn(Point) -> f64; 3] = [&line, &|p| (line(p) - 40.0).powi(2), &|p| line(p).max(p.1)];
            for value in values {
                let most = left.iter().chain(&moved).fold(f64::NEG_INFINITY, |most, &p| most.max(value(p)));
                prop_assert_eq!(joined.largest(value), most);
            }
            prop_assert!(joined.len() <= 2 * points.len());
        }
    }
}

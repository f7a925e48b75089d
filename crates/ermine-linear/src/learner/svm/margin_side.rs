//! The position of training rows relative to the margin, from their slacks.
//!
//! With `f` the decision value and `y` the class (-1 or +1) of a row, its slack is `max(0, 1 - y f)`: 0 on the correct side of the margin, up to 1 inside the margin, and above 1
//! on the wrong side of the boundary.

/// Position of a training row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginSide {
    /// On the correct side, on or outside the margin: slack 0.
    Outside,
    /// On the correct side, inside the margin: slack above 0, at most 1.
    Within,
    /// On the wrong side: slack above 1.
    Misclassified,
}

impl MarginSide {
    /// The position for a slack; `tolerance` is the tolerance of the solver.
    pub fn of(slack: f64, tolerance: f64) -> MarginSide {
        match slack {
            s if s <= tolerance => MarginSide::Outside,
            s if s <= 1.0 => MarginSide::Within,
            _ => MarginSide::Misclassified,
        }
    }

    /// All positions, in the order of their codes.
    pub const ALL: [MarginSide; 3] = [MarginSide::Outside, MarginSide::Within, MarginSide::Misclassified];

    /// Description.
    pub fn as_str(self) -> &'static str {
        match self {
            MarginSide::Outside => "outside the margin",
            MarginSide::Within => "inside the margin",
            MarginSide::Misclassified => "misclassified",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_classified_by_their_slack() {
        let cases: Vec<MarginSide> = [0.0, 1e-4, 0.5, 1.0, 1.5].iter().map(|&s| MarginSide::of(s, 1e-3)).collect();
        assert_eq!(
            cases,
            [
                MarginSide::Outside,
                MarginSide::Outside,
                MarginSide::Within,
                MarginSide::Within,
                MarginSide::Misclassified
            ]
        );
    }
}

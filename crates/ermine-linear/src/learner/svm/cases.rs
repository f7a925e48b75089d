//! Slacks, and what they say about each training row.
//!
//! With `f` the decision value and `y` the class (-1 or +1) of a row, its slack is `max(0, 1 - y f)`: 0 on or outside the margin on its own side, up to 1 within the margin, and above 1
//! on the wrong side of the boundary.

/// Where a training row lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// On its own side, on or outside the margin: slack 0.
    Outside,
    /// On its own side, within the margin: slack above 0, at most 1.
    Within,
    /// On the wrong side: slack above 1.
    Misclassified,
}

impl Case {
    /// The case of a slack; `tolerance` is what the solver leaves open.
    pub fn of(slack: f64, tolerance: f64) -> Case {
        match slack {
            s if s <= tolerance => Case::Outside,
            s if s <= 1.0 => Case::Within,
            _ => Case::Misclassified,
        }
    }

    /// All cases, in the order of their codes.
    pub const ALL: [Case; 3] = [Case::Outside, Case::Within, Case::Misclassified];

    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Case::Outside => "outside the margin",
            Case::Within => "within the margin",
            Case::Misclassified => "misclassified",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slacks_have_cases() {
        let cases: Vec<Case> = [0.0, 1e-4, 0.5, 1.0, 1.5].iter().map(|&s| Case::of(s, 1e-3)).collect();
        assert_eq!(cases, [Case::Outside, Case::Outside, Case::Within, Case::Within, Case::Misclassified]);
    }
}

//! Weights, bounds and errors of the rounds, and their presentation.
//!
//! **Formula.** With K classes and the weighted error eps_t of round t:
//!
//! ```text
//! alpha_t = rate * (ln((1 - eps_t) / eps_t) + ln(K - 1)) / 2
//! Z_t     = (1 - eps_t) exp(-alpha_t) + eps_t exp(alpha_t)
//! D_{t+1} = D_t exp(alpha_t) / Z_t where h_t is wrong, D_t exp(-alpha_t) / Z_t where it is right
//! ```
//!
//! **Bound.** The vote counts alpha_t for what h_t says. Where the vote is wrong, the rounds that are wrong have at least half of all alpha (some class other
//! than the right one gets no less than it), so that sum_t alpha_t (\[wrong\] - \[right\]) >= 0 and the product of the Z_t times D_{T+1} is at least D_1. Summing over
//! such rows, the training error is at most prod_t Z_t. For two classes and rate 1 this is prod_t 2 sqrt(eps_t (1 - eps_t)), and D_{t+1} gives h_t the error 1/2;
//! for K classes (K - 1)/K. The product is the exponential loss of the vote, the mean of exp(sum_t alpha_t (\[wrong\] - \[right\])), and taken from that sum, so that it is what it
//! says however the weights of a round were rounded.
//!
//! **Reference.** Freund and Schapire 1997; Zhu, Zou, Rosset and Hastie, Multi-class AdaBoost, 2009 (SAMME; their alpha is twice ours).

use ermine_core::chart::svg::{Anchor, Svg};
use ermine_core::chart::text;
use ermine_core::error::{Error, Result};
use ermine_core::section::Sections;

/// One round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The weighted error of the round's learner.
    pub epsilon: f64,
    /// The weight of its vote.
    pub alpha: f64,
    /// The normalizer of the weights: the factor by which the round changes the exponential loss.
    pub z: f64,
    /// The training error of the vote after the round.
    pub error: f64,
    /// The bound on the training error: the exponential loss of the vote, which is the product of the normalizers so far.
    pub bound: f64,
    /// The error of the vote on the validation set; NaN without one.
    pub validation: f64,
}

/// The outcome of a round, given its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RoundStep {
    /// No better than chance: the learner is dropped, and training ends.
    Useless,
    /// Without errors: its vote outweighs all others, and training ends.
    Perfect,
    /// It votes.
    Vote {
        /// The weight of its vote.
        alpha: f64,
    },
}

impl RoundStep {
    /// The step for a learner with weighted error `epsilon` among `n_classes` classes.
    pub fn new(epsilon: f64, n_classes: usize, rate: f64) -> RoundStep {
        if epsilon <= 0.0 {
            return RoundStep::Perfect;
        }
        let alpha = 0.5 * rate * (((1.0 - epsilon) / epsilon).ln() + (n_classes as f64 - 1.0).ln());
        // Chance errs in K - 1 of K rows; rounding may put the sum of weights slightly below.
        let chance = (n_classes as f64 - 1.0) / n_classes as f64;
        if alpha > 0.0 && epsilon < chance * (1.0 - 1e-9) { RoundStep::Vote { alpha } } else { RoundStep::Useless }
    }
}

/// All rounds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rounds(pub Vec<Round>);

impl Rounds {
    /// Adds a round whose errors will be known later, and returns its alpha. The alpha of a learner without errors is infinite in theory; one more than the sum of all others is equivalent.
    pub fn push(&mut self, epsilon: f64, step: RoundStep) -> f64 {
        let alpha = match step {
            RoundStep::Vote { alpha } => alpha,
            RoundStep::Perfect => 1.0 + self.0.iter().map(|round| round.alpha).sum::<f64>(),
            RoundStep::Useless => 0.0,
        };
        let unknown = f64::NAN;
        self.0.push(Round { epsilon, alpha, z: unknown, error: unknown, bound: unknown, validation: unknown });
        alpha
    }

    /// Records the vote after the last round: its training error, and its exponential loss before and after, as logarithms.
    pub fn close(&mut self, error: f64, log_loss_before: f64, log_loss: f64) {
        if let Some(round) = self.0.last_mut() {
            round.error = error;
            round.bound = log_loss.exp();
            round.z = (log_loss - log_loss_before).exp();
        }
    }

    /// The number of rounds up to the lowest validation error; all without a validation set.
    pub fn best_length(&self) -> usize {
        let best = |best: usize, t: usize| if self.0[t].validation < self.0[best].validation { t } else { best };
        if self.0.first().is_none_or(|r| r.validation.is_nan()) {
            self.0.len()
        } else {
            (1..self.0.len()).fold(0, best) + 1
        }
    }

    /// Saves the rounds.
    pub fn save(&self, sections: &mut Sections) {
        let numbers = |get: fn(&Round) -> f64| self.0.iter().map(get).collect::<Vec<f64>>();
        sections.put_f64s("epsilon", &numbers(|r| r.epsilon));
        sections.put_f64s("alpha", &numbers(|r| r.alpha));
        sections.put_f64s("z", &numbers(|r| r.z));
        sections.put_f64s("error", &numbers(|r| r.error));
        sections.put_f64s("bound", &numbers(|r| r.bound));
        sections.put_f64s("validation", &numbers(|r| r.validation));
    }

    /// Loads rounds.
    pub fn load(sections: &Sections) -> Result<Rounds> {
        let names = ["epsilon", "alpha", "z", "error", "bound", "validation"];
        let columns = names.iter().map(|name| sections.f64s(name)).collect::<Result<Vec<_>>>()?;
        let n = columns[0].len();
        if columns.iter().any(|c| c.len() != n) || columns[1].iter().any(|a| !a.is_finite()) {
            return Err(Error::model_file("the rounds of boosting don't fit together"));
        }
        let round = |t: usize| {
            let at = |c: usize| columns[c][t];
            Round { epsilon: at(0), alpha: at(1), z: at(2), error: at(3), bound: at(4), validation: at(5) }
        };
        Ok(Rounds((0..n).map(round).collect()))
    }

    fn points(&self, get: fn(&Round) -> f64) -> Vec<(f64, f64)> {
        self.0.iter().enumerate().map(|(t, round)| ((t + 1) as f64, get(round))).filter(|p| p.1.is_finite()).collect()
    }

    /// A table of the rounds, and a text chart of the training error and its bound.
    pub fn text(&self) -> String {
        const SHOWN: usize = 8;
        let mut lines =
            vec![format!("{:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}", "round", "eps", "alpha", "Z", "error", "bound")];
        let n = self.0.len();
        for (t, r) in self.0.iter().enumerate() {
            if t < SHOWN || t + 2 >= n {
                let (e, a, z) = (r.epsilon, r.alpha, r.z);
                lines.push(format!("{:>5}  {e:>8.5}  {a:>8.5}  {z:>8.5}  {:>8.5}  {:>8.5}", t + 1, r.error, r.bound));
            } else if t == SHOWN {
                lines.push(format!("{:>5}", "..."));
            }
        }
        let mut output = lines.join("\n") + "\n";
        if n > 1 {
            // The training error (o) under its bound (-), on one pair of axes.
            let marks = [(self.points(|r| r.bound), '-'), (self.points(|r| r.error), 'o')];
            output.push('\n');
            output.push_str(&text::curves(&marks, "rounds", "training error (o) under its bound (-)", 60, 12));
        }
        output
    }

    /// A plot of the training error, its bound, and the validation error if there is one.
    pub fn svg(&self) -> String {
        let mut svg = Svg::new(640.0, 360.0);
        svg.text(320.0, 26.0, Anchor::Middle, "title", "training error under its bound");
        let curves = [
            ("bound: product of Z", self.points(|r| r.bound)),
            ("training error", self.points(|r| r.error)),
            ("validation error", self.points(|r| r.validation)),
        ];
        svg.curves(&curves, (80.0, 50.0), (530.0, 250.0), ("rounds", "error"));
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_weights_give_the_learner_the_error_of_chance(epsilon in 1e-6..0.999f64, n_classes in 2usize..9) {
            if let RoundStep::Vote { alpha } = RoundStep::new(epsilon, n_classes, 1.0) {
                let z = (1.0 - epsilon) * (-alpha).exp() + epsilon * alpha.exp();
                let next = epsilon * alpha.exp() / z;
                let chance = (n_classes as f64 - 1.0) / n_classes as f64;
                prop_assert!((next - chance).abs() < 1e-9);
                if n_classes == 2 {
                    prop_assert!((z - 2.0 * (epsilon * (1.0 - epsilon)).sqrt()).abs() < 1e-12 && z < 1.0);
                }
            } else {
                prop_assert!(epsilon >= 1.0 - 1.0 / n_classes as f64);
            }
        }
    }

    #[test]
    fn the_limits_match_theory() {
        assert_eq!(RoundStep::new(0.0, 2, 1.0), RoundStep::Perfect);
        assert_eq!(RoundStep::new(0.5, 2, 1.0), RoundStep::Useless);
        assert_eq!(RoundStep::new(0.7, 2, 1.0), RoundStep::Useless);
        assert!(matches!(RoundStep::new(0.6, 3, 1.0), RoundStep::Vote { .. }), "chance among three classes is 2/3");
    }
}

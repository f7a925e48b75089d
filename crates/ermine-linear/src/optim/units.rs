//! Columns of one size. Linear programs don't care about the units of columns, but the methods that solve them in floating-point numbers do: they compare rows by
//! their lengths. Where sizes differ by much, columns are read multiplied by powers of two, which costs no digit, and coefficients are taken back to the user's units.

use ermine_core::error::Result;
use ermine_core::linalg::Design;

/// What each column is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnUnits(Vec<f64>);

impl ColumnUnits {
    /// Factors that bring columns with these mean squares (0 for a column that doesn't vary) to squares near 1; `None` if they are not far from it.
    pub fn of(squares: &[f64]) -> Option<ColumnUnits> {
        let fine = |square: &f64| *square == 0.0 || (1e-6..=1e6).contains(square);
        if squares.iter().all(fine) {
            return None;
        }
        let factor = |square: &f64| if *square > 0.0 { (-square.log2() / 2.0).round().exp2() } else { 1.0 };
        Some(ColumnUnits(squares.iter().map(factor).collect()))
    }

    /// The same with some columns left out: they are read as zeros, and their coefficients become 0.
    pub fn leaving_out(units: Option<ColumnUnits>, left_out: &[usize], n_columns: usize) -> Option<ColumnUnits> {
        if left_out.is_empty() {
            return units;
        }
        let mut factors = units.map_or_else(|| vec![1.0; n_columns], |units| units.0);
        left_out.iter().for_each(|&j| factors[j] = 0.0);
        Some(ColumnUnits(factors))
    }

    /// The columns, multiplied.
    pub fn apply<'a>(&self, x: &Design<'a>) -> Result<Design<'a>> {
        Ok(match x {
            Design::Dense(x) => x.multiplied(&self.0)?.into(),
            Design::Sparse(x) => x.scaled(&self.0).into(),
        })
    }

    /// Coefficients of multiplied columns become those of the user's.
    pub fn restore(&self, coefficients: &mut [f64]) {
        coefficients.iter_mut().zip(&self.0).for_each(|(b, factor)| *b *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::linalg::Dense;

    #[test]
    fn columns_are_scaled_and_coefficients_are_scaled_back() {
        assert_eq!(ColumnUnits::of(&[1.0, 0.0, 100.0]), None);
        let units = ColumnUnits::of(&[1e24, 1.0, 0.0, 1e-24]).unwrap();
        let numbers = [1e12, 1.0, 5.0, 1e-12];
        let x = Design::from(Dense::rows_f64(&numbers, 1, 4, 4).unwrap());
        let scaled = units.apply(&x).unwrap();
        let mut w = [1.0, 2.0, 3.0, 4.0];
        let before = scaled.times(&w, 0.0);
        for j in [0, 3] {
            let mut unit = [0.0; 4];
            unit[j] = 1.0;
            assert!((0.7..1.5).contains(&scaled.times(&unit, 0.0)[0]));
        }
        units.restore(&mut w);
        assert_eq!(x.times(&w, 0.0), before);
    }
}

//! Train on arrays of the crate `ndarray`.
//!
//! `cargo run --release --features ndarray --example ndarray`

use ermine::prelude::*;
use ndarray::{Array1, Array2};

pub(crate) fn main() -> Result<()> {
    let x = Array2::from_shape_fn((300, 3), |(i, j)| ((i * (j + 3)) % 17) as f64);
    let y: Array1<f64> = x.rows().into_iter().map(|row| row[0] * row[1] - row[2]).collect();
    let (train, test) = Dataset::from_ndarray(x.view(), y.view())?.split(0.8, 0)?;
    println!("{}", RandomForest::default().fit(&train)?.evaluate(&test)?);
    Ok(())
}

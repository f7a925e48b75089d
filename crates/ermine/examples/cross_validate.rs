//! Estimate how well a learner does on new data, by cross-validation.
//!
//! `cargo run --release --example cross_validate`

use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
    let data = Table::read(path)?.dataset("species")?;
    let splits = Splits::repeated(&data, 5, 2, 0)?;
    let measures = [Measure::Accuracy, Measure::LogLoss, Measure::RocAuc];
    let validation = Validation { train_scores: true, ..Validation::new(&splits, &measures) };

    let result = cross_validate(&DecisionTree::default(), &data, &validation, &ermine::context())?;
    println!("{result}");
    for score in &result.scores {
        let train = score.train.as_deref().unwrap_or_default();
        println!("{:<10} on the training rows: {:.3}", score.name, train.iter().sum::<f64>() / train.len() as f64);
    }
    Ok(())
}

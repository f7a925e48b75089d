//! Load a model file and predict: for a table, and for single rows as a service does.
//!
//! `cargo run --release --example load_and_predict`

use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
    let penguins = Table::read(path)?;
    let file = std::env::temp_dir().join("penguins-to-load.ermine");
    RandomForest { n_estimators: 100, ..Default::default() }.fit(&penguins.clone().dataset("species")?)?.save(&file)?;

    let model = ermine::load(&file)?;
    println!(
        "{} with {} features: {:?}",
        model.header().learner,
        model.schema().features.len(),
        model.schema().classes
    );

    // A table: columns are found by name.
    let prediction = model.predict(&penguins)?;
    for row in [0, 160, 300] {
        println!("row {row}: {} with probabilities {:.2?}", prediction.label(row).unwrap_or("?"), prediction.row(row));
    }

    // Single rows: numbers in the order of the schema, a category as its code, NaN for a missing value.
    let predictor = model.predictor()?;
    let row: Vec<f64> = model
        .schema()
        .features
        .iter()
        .map(|feature| match feature.name.as_str() {
            "island" => feature.levels.iter().position(|level| level == "Dream").map_or(f64::NAN, |code| code as f64),
            "bill_length_mm" => 48.5,
            "bill_depth_mm" => 18.1,
            _ => f64::NAN,
        })
        .collect();
    let mut probabilities = vec![0.0; predictor.width()];
    predictor.predict(&row, &mut probabilities)?;
    println!("a penguin of Dream with a long bill: {probabilities:.2?}");
    Ok(())
}

//! Train a model, evaluate it on held-out rows and save it.
//!
//! `cargo run --release --example train_and_save`

use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
    let data = Table::read(path)?.dataset("species")?;
    let (train, test) = data.split(0.8, 7)?;
    println!("{} training rows, {} test rows, task: {}", train.n_rows(), test.n_rows(), data.task());

    let model = GradientBoosting { n_estimators: 100, learning_rate: 0.1, ..Default::default() }.fit(&train)?;
    println!("\n{}", model.evaluate(&test)?);
    println!("{}", model.certificate());

    let file = std::env::temp_dir().join("penguins.ermine");
    model.save(&file)?;
    println!("\nsaved to {}", file.display());
    Ok(())
}

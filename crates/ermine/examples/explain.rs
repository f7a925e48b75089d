//! Explain a model: feature importances, SHAP values and partial dependence.
//!
//! `cargo run --release --example explain`

use ermine::explain::{partial_dependence, permutation_importances};
use ermine::learner::Silent;
use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
    let table = Table::read(path)?;
    let (train, test) = table.clone().dataset("species")?.split(0.8, 7)?;
    let model = GradientBoosting { n_estimators: 50, ..Default::default() }.fit(&train)?;

    println!("permutation importances on the test set (loss of accuracy)");
    for importance in permutation_importances(&model, &test, Measure::Accuracy, 5, 0, &Silent)? {
        println!("  {:<18} {:.3} ± {:.3}", importance.feature, importance.loss, importance.deviation);
    }
    println!("\nmean absolute SHAP values");
    let shap = model.shap_values(&table)?;
    for (feature, importance) in model.schema().features.iter().zip(shap.importances()) {
        println!("  {:<18} {importance:.3}", feature.name);
    }
    println!("\nprobabilities of {:?} by bill length", model.schema().classes);
    let dependence = partial_dependence(&model, &train, "bill_length_mm", 6, 0)?;
    for (value, means) in dependence.values.iter().zip(&dependence.means) {
        println!("  {value:>5.1} mm: {means:.2?}");
    }
    println!("\nwhy the first row gets its prediction");
    println!("{}", model.explain_row(&table, 0)?.unwrap_or_default());
    Ok(())
}

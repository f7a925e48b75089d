//! Train on vectors, slices and shared memory instead of a file.
//!
//! `cargo run --release --example arrays`

use ermine::prelude::*;
use std::sync::Arc;

pub(crate) fn main() -> Result<()> {
    // Rows and a target of numbers: regression.
    let rows: Vec<[f64; 2]> = (0..200).map(|i| [f64::from(i % 20), f64::from(i / 20)]).collect();
    let area: Vec<f64> = rows.iter().map(|[width, height]| width * height).collect();
    let (train, test) = Dataset::from_rows(&rows, &area)?.split(0.75, 0)?;
    println!("regression from rows\n{}", GradientBoosting::default().fit(&train)?.evaluate(&test)?);

    // Columns of any kind and a target of strings: classification.
    let columns = vec![
        Column::numeric("weight", vec![120.0, 150.0, 10.0, 12.0, 130.0, f64::NAN]),
        Column::nominal("color", &[Some("green"), Some("red"), Some("red"), Some("green"), None, Some("red")]),
    ];
    let data = Dataset::from_columns(columns, &["apple", "apple", "grape", "grape", "apple", "grape"])?;
    println!("classification from columns\n{}", DecisionTree::default().fit(&data)?.text());

    // A row-major array that other code owns too: used without a copy.
    let shared: Arc<[f64]> = rows.iter().flatten().copied().collect();
    let large: Vec<bool> = area.iter().map(|&area| area > 60.0).collect();
    let data = Dataset::from_row_major(shared.clone(), 2, &large)?;
    let model = LogisticRegression::default().fit(&data)?;
    println!("{} values shared by {} owners\n{}", shared.len(), Arc::strong_count(&shared), model.text());
    Ok(())
}

//! Compare learners on the same splits, with a test of whether the differences are significant.
//!
//! `cargo run --release --example compare`

use ermine::model_selection::paired_test;
use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
    let data = Table::read(path)?.dataset("species")?;
    let splits = Splits::repeated(&data, 5, 2, 0)?;
    let validation = Validation::new(&splits, &[Measure::LogLoss]);
    let learners: Vec<Box<dyn Learner>> = vec![
        Box::new(Baseline::default()),
        Box::new(LogisticRegression::default()),
        Box::new(NearestNeighbors::default()),
        Box::new(RandomForest { n_estimators: 100, ..Default::default() }),
        Box::new(GradientBoosting { n_estimators: 100, ..Default::default() }),
    ];

    let mut results = Vec::new();
    for learner in &learners {
        let result = cross_validate(&**learner, &data, &validation, &ermine::context())?;
        results.extend(result.scores.into_iter().map(|score| (learner.info().name, score)));
    }
    results.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    println!("{:<22} {:>9} {:>9}  p-value of the difference from the best", "learner", "log loss", "std. dev.");
    for (name, score) in &results {
        let test = paired_test(&score.folds, &results[0].1.folds, &splits);
        println!("{name:<22} {:>9.4} {:>9.4}  {:.3}", score.mean, score.deviation, test.p_value);
    }
    Ok(())
}

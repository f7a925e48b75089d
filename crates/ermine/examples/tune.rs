//! Search for good parameters, then train with the best ones.
//!
//! `cargo run --release --example tune`

use ermine::model_selection::{HyperparameterSearch, Journal, SearchAxis, SearchSpace, Strategy, search, with_setting};
use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
    let (train, test) = Table::read(path)?.dataset("species")?.split(0.8, 7)?;
    let learner = GradientBoosting { n_estimators: 50, ..Default::default() };
    let space = SearchSpace::new(vec![
        SearchAxis::parse(&learner, "learning_rate", "0.01..0.5")?,
        SearchAxis::parse(&learner, "max_depth", "2,3,4,6")?,
    ]);
    let splits = Splits::k_fold(&train, 5, 0)?;
    let task = HyperparameterSearch {
        learner: &learner,
        space: &space,
        strategy: Strategy::Random { trials: 12 },
        splits: &splits,
        measure: Measure::LogLoss,
        pool: true,
    };
    let found = search(&task, &train, &ermine::context(), &mut Journal::none())?;
    for trial in &found.trials {
        println!("log loss {:.4} with {:?}", trial.mean(), trial.setting);
    }
    let Some(best) = found.best.map(|index| &found.trials[index]) else { return Ok(()) };
    let model = with_setting(&learner, &best.setting, &ermine::context())?.fit(&train)?;
    println!("\nthe best on the test set:\n{}", model.evaluate(&test)?);
    Ok(())
}

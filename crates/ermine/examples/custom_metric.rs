//! Cross-validate with a metric of your own: what flight delays cost when connections are planned with the predictions.
//!
//! `cargo run --release --example custom_metric`

use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/flights.csv");
    let roles = Roles { ignore: vec!["date".into()], drop_missing_target: true, ..Roles::target("arrival_delay") };
    let data = Dataset::new(Table::read(path)?, &roles)?;

    // A minute of waiting costs 1, a minute too late costs 5.
    let cost = CustomMetric::of_values("cost per flight", false, |predicted, truth, _weights| {
        let costs = predicted.iter().zip(truth).map(|(p, y)| if y > p { 5.0 * (y - p) } else { p - y });
        costs.sum::<f64>() / truth.len() as f64
    });
    let metrics = [cost];
    let splits = Splits::k_fold(&data, 5, 0)?;
    let validation = Validation::new(&splits, &[Measure::Mae]).with_custom(&metrics);

    let mean = GradientBoosting { n_estimators: 50, ..Default::default() };
    let late = GradientBoosting {
        loss: ermine::ensemble::BoostingLoss::Quantile,
        quantile_alpha: vec![5.0 / 6.0],
        ..mean.clone()
    };
    for (name, learner) in [("squared loss", &mean), ("quantile loss at 5/6", &late)] {
        println!("{name}: {}", cross_validate(learner, &data, &validation, &ermine::context())?);
    }
    Ok(())
}

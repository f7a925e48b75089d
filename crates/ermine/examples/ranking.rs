//! Learn to rank: order the flights of each day by their delay.
//!
//! `cargo run --release --example ranking`

use ermine::prelude::*;

pub(crate) fn main() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/flights.csv");
    let table = Table::read(path)?;
    // The relevance of a flight: 0 on time, up to 4 for more than two hours.
    let delays = table.column("arrival_delay")?.numbers(None);
    let grade = |delay: f64| [15.0, 30.0, 60.0, 120.0].iter().filter(|&&limit| delay > limit).count() as f64;
    let relevance = Column::numeric("relevance", delays.into_iter().map(grade).collect::<Vec<f64>>());
    let mut columns = table.into_columns();
    columns.push(relevance);
    let roles = Roles {
        group: Some("date".into()),
        ignore: vec!["arrival_delay".into()],
        task: Some(Task::Ranking),
        ..Roles::target("relevance")
    };
    let data = Dataset::new(Table::new(columns)?, &roles)?;

    // Whole days are held out: rows of a query stay together.
    let splits = Splits::k_fold(&data, 5, 0)?;
    let (train, test) = splits.split(0);
    let (train, test) = (data.select(&train)?, data.select(&test)?);
    let learners: [Box<dyn Learner>; 2] =
        [Box::new(GradientBoosting { n_estimators: 50, ..Default::default() }), Box::new(RankSvm::default())];
    for learner in learners {
        println!("{}\n{}", learner.info().name, learner.fit(&train)?.evaluate(&test)?);
    }
    Ok(())
}

//! The programs in `examples` run, and don't only compile.

#[path = "../../examples/arrays.rs"]
mod arrays;
#[path = "../../examples/compare.rs"]
mod compare;
#[path = "../../examples/cross_validate.rs"]
mod cross_validate;
#[path = "../../examples/custom_metric.rs"]
mod custom_metric;
#[path = "../../examples/explain.rs"]
mod explain;
#[path = "../../examples/load_and_predict.rs"]
mod load_and_predict;
#[path = "../../examples/ranking.rs"]
mod ranking;
#[path = "../../examples/train_and_save.rs"]
mod train_and_save;
#[path = "../../examples/tune.rs"]
mod tune;

use ermine::Result;
use std::collections::BTreeSet;

type Program = (&'static str, fn() -> Result<()>);

#[test]
fn the_examples_run() {
    let programs: [Program; 9] = [
        ("arrays", arrays::main),
        ("compare", compare::main),
        ("cross_validate", cross_validate::main),
        ("custom_metric", custom_metric::main),
        ("explain", explain::main),
        ("load_and_predict", load_and_predict::main),
        ("ranking", ranking::main),
        ("train_and_save", train_and_save::main),
        ("tune", tune::main),
    ];
    for (name, main) in programs {
        main().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let sources = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap();
    let names: BTreeSet<String> = sources.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let mut tested: BTreeSet<String> = programs.iter().map(|(name, _)| format!("{name}.rs")).collect();
    tested.insert("ndarray.rs".into()); // Needs a feature.
    assert_eq!(names, tested, "add new examples to this test");
}

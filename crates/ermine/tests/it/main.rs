//! One test binary: the contract that every learner keeps, and whole ways through the house.

// A test stops at the first surprise.
#![allow(clippy::unwrap_used)]

mod adaboost;
mod api;
mod audit;
mod auto;
mod bagging;
mod boosting;
mod boosting_given;
mod boosting_golden;
mod boosting_hard;
mod calibration;
mod cancellation;
mod compare;
mod comparison_forest;
mod contract;
mod evaluate;
mod examples;
mod exchange;
mod forest;
mod golden;
mod importance;
mod limits;
mod linear;
mod linear_hard;
mod linear_targets;
mod metrics;
mod model_file;
mod multiclass;
mod multilabel;
mod neighbors;
mod pruning;
mod ranking;
mod reductions;
mod sparse;
mod stacking;
mod stump;
mod svm;
mod tree;
mod tree_golden;
mod tree_words;

/// A learner of the registry with its defaults. `auto` tries two candidates only: with its defaults it trains more models than all other learners together.
fn made(entry: &ermine::registry::RegistryEntry) -> Box<dyn ermine::learner::Learner> {
    let mut learner = (entry.make)();
    if entry.info().name == "auto" {
        learner.set("n_candidates", &ermine::learner::Value::Int(2)).unwrap();
        learner.set("cv", &ermine::learner::Value::Int(2)).unwrap();
    }
    learner
}

/// A data set that ships with the tests.
fn shipped(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A file of the folder that `ERMINE_DATA` names. Without it the running test is recorded as skipped and must return: `make test` lists and counts such tests.
#[track_caller]
fn data_set(name: &str) -> Option<std::path::PathBuf> {
    let reason = match std::env::var_os("ERMINE_DATA").filter(|folder| !folder.is_empty()) {
        None => format!("needs {name}, and ERMINE_DATA names no folder of data sets"),
        Some(folder) => {
            let folder = std::path::PathBuf::from(folder);
            assert!(folder.is_dir(), "ERMINE_DATA is {}, which is not a folder", folder.display());
            let file = folder.join(name);
            if file.is_file() {
                return Some(file);
            }
            format!("needs {name}, which ERMINE_DATA does not have")
        }
    };
    let caller = std::panic::Location::caller();
    let place = format!("{}:{}", caller.file(), caller.line());
    // The thread of a test has its name, unless all tests share one.
    let test = std::thread::current().name().filter(|name| *name != "main").map_or(place, str::to_string);
    let list = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped-tests.txt");
    let mut list = std::fs::OpenOptions::new().create(true).append(true).open(list).unwrap();
    std::io::Write::write_all(&mut list, format!("skipped: {test}: {reason}\n").as_bytes()).unwrap();
    None
}

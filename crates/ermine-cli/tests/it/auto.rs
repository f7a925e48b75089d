//! `ermine auto`, from the table to the explained model.

use crate::{Sandbox, penguins};

#[test]
fn auto_trains_a_model_that_show_explains() {
    let sandbox = Sandbox::new("auto");
    let model = sandbox.path("m.ermine");
    let words = ["auto", &penguins(), "-t", "species", "--trials", "2", "--folds", "2", "-o", &model];
    sandbox.run(&words).succeeds().prints(&[
        "trained auto",
        "candidates",
        "estimated log loss on new rows",
        "leaderboard",
    ]);
    sandbox.run(&["show", &model]).succeeds().prints(&["weight", "gradient-boosting", "leaderboard (log loss)"]);
    sandbox.run(&["evaluate", &model, &penguins()]).succeeds().prints(&["accuracy"]);
    // The same command gives the same file, also from a journal.
    let again = sandbox.path("again.ermine");
    let journal = sandbox.path("run.journal");
    for _ in 0..2 {
        let words = [&words[..8], &["-o", &again, "--journal", &journal, "--json"]].concat();
        let output = sandbox.run(&words).succeeds();
        let result: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(result["auto"]["leaderboard"].as_array().unwrap().len(), 2);
        assert!(std::fs::read(&model).unwrap() == std::fs::read(&again).unwrap());
    }
}

#[test]
fn auto_refuses_what_it_cannot_do() {
    let sandbox = Sandbox::new("auto-mistakes");
    let start = ["auto", &penguins(), "-t", "species", "-o", "m.ermine"];
    let with = |more: &[&str]| sandbox.run(&[&start[..], more].concat());
    with(&["--time", "island"]).fails(1, &["column 'island' is nominal"]);
    with(&["--time", "year_"]).fails(2, &["year_"]);
    with(&["--max-latency", "5"]).fails(2, &["not a time per row"]);
    with(&["--budget", "1ms", "--quiet"]).fails(1, &["too short"]);
    with(&["--measure", "rmse", "--quiet"]).fails(2, &["rmse"]);
    assert!(sandbox.files().is_empty(), "{:?}", sandbox.files());
}

//! Memory that is short: what needs too much of it is an error that prints so, before the system ends the program.

use crate::{RunOutput, Sandbox};
use std::process::Command;

/// It succeeded, or failed because something needs more memory than it may have.
#[track_caller]
fn succeeds_or_needs_memory(output: RunOutput) {
    match output.code {
        Some(0) => drop(output.succeeds()),
        _ => drop(output.fails(1, &["needs", "of the memory limit of", "(change the limit with --max-memory)"])),
    }
}

#[test]
fn a_limit_is_a_number_of_bytes() {
    let sandbox = Sandbox::new("limit");
    for wrong in ["0", "much", "-1", "101%"] {
        sandbox.run(&["learners", &format!("--max-memory={wrong}")]).fails(2, &["--max-memory", "2G, 500M"]);
    }
    sandbox.run(&["learners", "--max-memory", "1.5GiB", "--json"]).succeeds();
    let output = sandbox.command(&["learners"]).env("ERMINE_MAX_MEMORY", "lots").output().unwrap();
    RunOutput::from(&["learners"], output).fails(2, &["ERMINE_MAX_MEMORY must be", "(got lots)"]);
    let output = sandbox.command(&["learners", "--json"]).env("ERMINE_MAX_MEMORY", "1G").output().unwrap();
    RunOutput::from(&["learners"], output).succeeds();
}

/// Dense columns for 20,000 categories would take 3 GB.
#[test]
fn identifiers_as_features_do_not_end_the_program() {
    let sandbox = Sandbox::new("identifiers");
    let rows: String =
        (0..20_000).map(|i| format!("id-{},{},{}\n", i * 7919 % 20_000, i * 37 % 1009, i * 31 % 7 / 4)).collect();
    let file = sandbox.write("ids.csv", &format!("id,number,y\n{rows}"));
    for learner in ["ridge", "linear-svc", "svc", "sgd", "nearest-neighbors", "halfspace", "logistic-regression"] {
        let regression = learner == "ridge";
        let task = if regression { "regression" } else { "classification" };
        let words = ["train", &file, "-t", "y", "--task", task, "--learner", learner];
        let more = ["-o", "m.ermine", "--max-memory", "1G", "--quiet"];
        succeeds_or_needs_memory(sandbox.run(&[&words[..], &more].concat()));
    }
}

#[test]
fn many_classes_are_an_error_at_once_where_they_do_not_fit() {
    let sandbox = Sandbox::new("classes");
    let rows: String = (0..30_000).map(|i| format!("{},{},c{}\n", i % 977, i * 37 % 1009, i % 10_000)).collect();
    let file = sandbox.write("classes.csv", &format!("a,b,y\n{rows}"));
    for learner in ["decision-tree", "random-forest", "extra-trees", "gradient-boosting"] {
        let words = ["train", &file, "-t", "y", "--learner", learner, "-o", "m.ermine", "--max-memory", "2G", "-q"];
        sandbox.run(&words).fails(1, &["needs", "10000 classes", "GiB"]);
    }
}

#[test]
fn a_line_of_libsvm_does_not_become_millions_of_columns() {
    let sandbox = Sandbox::new("libsvm");
    let file = sandbox.write("tiny.libsvm", "1 4194303:1\n0 1:1\n");
    let words = [
        "train",
        &file,
        "-t",
        "label",
        "--task",
        "regression",
        "--learner",
        "ridge",
        "-o",
        "m.ermine",
        "--max-memory",
        "200M",
    ];
    sandbox.run(&words).succeeds();
    assert!(sandbox.read("m.ermine").len() < 10_000, "{} bytes", sandbox.read("m.ermine").len());
    sandbox.run(&["predict", "m.ermine", &file, "--max-memory", "200M"]).succeeds().prints(&["predicted_label"]);
}

#[test]
fn a_parquet_file_of_a_billion_rows_is_refused_at_once() {
    let sandbox = Sandbox::new("billion");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/billion_rows.parquet");
    let words = ["train", file, "-t", "b", "--learner", "ridge", "-o", "m.ermine", "--max-memory", "2G"];
    sandbox.run(&words).fails(1, &["a table of 1000000000 rows and 2 columns needs 14.9 GiB", "--max-memory"]);
    assert!(sandbox.files().is_empty());
}

#[test]
fn what_is_read_in_batches_needs_no_memory_for_all_rows() {
    let sandbox = Sandbox::new("batches");
    // 3,000,000 rows of three numbers are 72 MB.
    let block: String = (0..3_000).map(|i| format!("{},{},{}\n", i % 10, i % 7, i % 7)).collect();
    let file = sandbox.write("long.csv", &format!("a,b,y\n{}", block.repeat(1000)));
    let words = [
        "train",
        &file,
        "-t",
        "y",
        "--task",
        "regression",
        "--learner",
        "sgd",
        "-o",
        "m.ermine",
        "--max-memory",
        "64M",
    ];
    sandbox.run(&words).fails(1, &["a table of", "--max-memory"]);
    let batches = [&words[..], &["--stream", "10000"]].concat();
    sandbox.run(&batches).succeeds().prints(&["3,000,000 rows in 300 batches"]);
}

#[cfg(unix)]
#[test]
fn a_packed_file_of_many_rows_stops_at_the_limit() {
    let sandbox = Sandbox::new("packed");
    let pack = "{ echo a,b; yes 1,2 | head -n 30000000; } | gzip -1 > many.csv.gz";
    assert!(Command::new("sh").args(["-c", pack]).current_dir(&sandbox.0).status().unwrap().success());
    let words = ["train", "many.csv.gz", "-t", "b", "--learner", "ridge", "-o", "m.ermine", "--max-memory", "100M"];
    sandbox.run(&words).fails(1, &["a table of more than", "rows needs", "--max-memory"]);
}

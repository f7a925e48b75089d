//! The shell session of `examples/cli` runs from beginning to end.
#![cfg(unix)]

use crate::Sandbox;
use std::path::Path;
use std::process::Command;

#[test]
fn the_example_session_runs() {
    let sandbox = Sandbox::new("session");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cli/session.sh");
    let mut command = Command::new("bash");
    command.arg(script).arg(&sandbox.0).env("ERMINE", env!("CARGO_BIN_EXE_ermine"));
    let done = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    let wanted = [
        "predictions.csv",
        "report.html",
        "test.csv",
        "train.csv",
        "tree.c",
        "tree.ermine",
        "tree.svg",
        "tuned.ermine",
    ];
    let files = sandbox.files();
    assert!(wanted.iter().all(|name| files.iter().any(|file| file == name)), "{files:?}");
    assert!(out.contains("accuracy") && out.contains("probability_Adelie"), "{out}");
}

//! How the program behaves among others: help, pipes, colors, silence, Ctrl-C.

use crate::{RunOutput, Sandbox, penguins};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const SUBCOMMANDS: [&str; 15] = [
    "describe",
    "split",
    "train",
    "predict",
    "evaluate",
    "cross-validate",
    "compare",
    "auto",
    "tune",
    "show",
    "report",
    "export",
    "import",
    "neighbors",
    "learners",
];

#[test]
fn every_command_has_help() {
    let sandbox = Sandbox::new("help");
    sandbox.run(&["--help"]).succeeds().prints(&SUBCOMMANDS).prints(&[
        "Exit codes: 0 success, 1",
        "2 wrong usage",
        "130",
    ]);
    for command in SUBCOMMANDS {
        sandbox.run(&[command, "--help"]).succeeds().prints(&["Example", &format!("ermine {command} ")]);
    }
    sandbox.run(&["--version"]).succeeds().prints(&["ermine 0."]);
    assert_eq!(sandbox.run(&[]).code, Some(2));
}

#[test]
fn the_help_of_train_shows_the_parameters_of_the_learner() {
    let sandbox = Sandbox::new("train-help");
    let help = sandbox.run(&["train", "--learner", "decision-stump", "--help"]).succeeds().out;
    let parameters = help.split("Parameters of decision-stump:").nth(1).unwrap();
    insta::assert_snapshot!(parameters.split("\n\nExamples").next().unwrap().trim_end());
    let help = sandbox.run(&["train", "--learner=baseline", "--help"]).succeeds().out;
    assert!(!help.contains("--criterion <"), "{help}");
    sandbox.run(&["train", "--learner", "stmp", "--help"]).fails(2, &["no learner named 'stmp'"]);
}

#[test]
fn a_flag_of_another_learner_is_explained() {
    let sandbox = Sandbox::new("other-flag");
    let words =
        ["train", &penguins(), "-t", "species", "-o", "m.ermine", "--learner", "baseline", "--criterion", "gini"];
    sandbox.run(&words).fails(2, &["--criterion is a parameter of decision-stump", "but the learner is baseline"]);
}

#[test]
fn json_and_quiet_output_hold_results_only() {
    let sandbox = Sandbox::new("quiet");
    let (model, p) = (sandbox.model(), penguins());
    for words in [
        vec!["train", &p, "-t", "species", "--learner", "decision-stump", "-o", "m.ermine", "--json"],
        vec!["evaluate", &model, &p, "--json"],
        vec!["compare", &p, "-t", "species", "--json"],
        vec!["show", &model, "--json"],
        vec!["learners", "--json"],
    ] {
        sandbox.run(&words).succeeds().json();
    }
    let words = ["train", &p, "-t", "species", "--learner", "decision-stump", "-o", "m.ermine", "--quiet"];
    assert_eq!(sandbox.run(&words).succeeds().out, "");
    assert_eq!(sandbox.run(&["predict", &model, &p, "-o", "out.csv", "-q"]).succeeds().out, "");
    let quiet = sandbox.run(&["evaluate", &model, &p, "-q"]).succeeds();
    assert!(quiet.out.trim_start().starts_with("score"), "{}", quiet.out);
}

#[test]
fn output_without_a_terminal_has_no_colors_or_wrapping() {
    let sandbox = Sandbox::new("colors");
    let model = sandbox.model();
    for words in [vec!["show", &model], vec!["compare", &penguins(), "-t", "species"], vec!["train"]] {
        let output = sandbox.command(&words).env("CLICOLOR_FORCE", "1").env("COLUMNS", "20").output().unwrap();
        let output = RunOutput::from(&words, output);
        assert!(!format!("{}{}", output.out, output.err).contains('\u{1b}'), "{}{}", output.out, output.err);
        assert!(!output.out.contains('…'), "{}", output.out);
    }
}

#[test]
fn names_in_files_cannot_send_terminal_codes() {
    let sandbox = Sandbox::new("escape");
    let file = sandbox.write("evil.csv", "a\u{1b}[31m,y\u{1b}[2J\n1,p\u{1b}]0;x\u{7}\n2,q\n1,p\u{1b}]0;x\u{7}\n");
    let words = ["train", &file, "-t", "y\u{1b}[2J", "--learner", "decision-stump", "-o", "m.ermine"];
    let output = sandbox.run(&words).succeeds();
    assert!(!output.out.contains('\u{1b}'), "{:?}", output.out);
    let output = sandbox.run(&["show", "m.ermine"]).succeeds();
    assert!(!output.out.contains('\u{1b}'), "{:?}", output.out);
    let output = sandbox.run(&["train", &file, "-t", "y", "-o", "m.ermine"]).fails(2, &["no column named 'y'"]);
    assert!(!output.err.contains('\u{1b}'), "{:?}", output.err);
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let sandbox = Sandbox::new("pipe");
    let model = sandbox.model();
    let rows: String = (0..50_000).map(|i| format!("Dream,40,17,{},4000,MALE\n", 173 + i % 50)).collect();
    let header = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex\n";
    let file = sandbox.write("many.csv", &format!("{header}{rows}"));
    let mut child =
        sandbox.command(&["predict", &model, &file]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "predicted_species\n");
    let output = RunOutput::from(&["predict"], child.wait_with_output().unwrap());
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
}

#[test]
fn a_budget_ends_the_comparison_and_lists_skipped_learners() {
    let sandbox = Sandbox::new("budget");
    let output = sandbox.run(&["compare", &penguins(), "-t", "species", "--budget", "0.000001s", "--quiet"]);
    output.fails(1, &["decision-stump: not tried: the budget of"]);
}

/// Starts `ermine train` on a table that never comes, sends it a signal and returns how it ended.
#[cfg(unix)]
fn stopped_while_reading(sandbox: &Sandbox, signal: &str) -> RunOutput {
    let pipe = sandbox.path("never.csv");
    if !std::path::Path::new(&pipe).exists() {
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    }
    let mut command = sandbox.command(&["train", &pipe, "-t", "y", "-o", "m.ermine"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening waits until the program reads at the other end, which then waits for a line that never comes.
    let writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = RunOutput::from(&["train"], child.wait_with_output().unwrap());
    drop(writer);
    output
}

#[cfg(unix)]
#[test]
fn signals_end_the_program_with_their_code_and_leave_nothing() {
    let sandbox = Sandbox::new("interrupt");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        stopped_while_reading(&sandbox, signal).fails(code, &["stopped; nothing was written"]);
        assert_eq!(sandbox.files(), ["never.csv"]);
    }
}

#[cfg(unix)]
#[test]
fn a_hangup_that_is_to_be_ignored_is_ignored() {
    let script = "trap '' HUP; exec \"$0\" learners --json";
    let ermine = env!("CARGO_BIN_EXE_ermine");
    // The program is hung up while its output waits in a pipe that nobody reads yet.
    let mut command = Command::new("sh");
    let child = command.args(["-c", script, ermine]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let _ = Command::new("kill").args(["-HUP", &child.id().to_string()]).status();
    RunOutput::from(&["learners"], child.wait_with_output().unwrap()).succeeds().json();
}

#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_stderr_does_not_panic() {
    let sandbox = Sandbox::new("full");
    let model = sandbox.model();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (words, code) in [
        (vec!["show", "nothing.ermine"], 1),
        (vec!["train", "--nonsense"], 2),
        (vec!["evaluate", &model, &penguins()], 0),
        (vec!["train", &penguins(), "-t", "species", "-o", "m.ermine"], 0),
    ] {
        let status = sandbox.command(&words).stdout(Stdio::null()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{words:?}");
    }
    let output = RunOutput::from(&["show"], sandbox.command(&["show", &model]).stdout(full()).output().unwrap());
    output.fails(1, &["stdout", "space"]);
}

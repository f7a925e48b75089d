//! How the program behaves among others: help, pipes, colours, silence, Ctrl-C.

use crate::{Place, Said, penguins};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const SUBCOMMANDS: [&str; 12] = [
    "train",
    "predict",
    "evaluate",
    "cross-validate",
    "compare",
    "tune",
    "show",
    "report",
    "export",
    "import",
    "neighbors",
    "learners",
];

#[test]
fn help_is_there_for_everything() {
    let place = Place::new("help");
    place.run(&["--help"]).succeeds().says(&SUBCOMMANDS).says(&["Exit codes: 0 done, 1", "2 wrong usage", "130"]);
    for command in SUBCOMMANDS {
        place.run(&[command, "--help"]).succeeds().says(&["Example", &format!("ermine {command} ")]);
    }
    place.run(&["--version"]).succeeds().says(&["ermine 0."]);
    assert_eq!(place.run(&[]).code, Some(2));
}

#[test]
fn the_help_of_train_shows_the_parameters_of_the_learner() {
    let place = Place::new("train-help");
    let help = place.run(&["train", "--learner", "decision-stump", "--help"]).succeeds().out;
    let parameters = help.split("Parameters of decision-stump:").nth(1).unwrap();
    insta::assert_snapshot!(parameters.split("\n\nExamples").next().unwrap().trim_end());
    let help = place.run(&["train", "--learner=baseline", "--help"]).succeeds().out;
    assert!(!help.contains("--criterion <"), "{help}");
    place.run(&["train", "--learner", "stmp", "--help"]).fails(2, &["no learner named 'stmp'"]);
}

#[test]
fn a_flag_of_another_learner_is_explained() {
    let place = Place::new("other-flag");
    let words =
        ["train", &penguins(), "-t", "species", "-o", "m.ermine", "--learner", "baseline", "--criterion", "gini"];
    place.run(&words).fails(2, &["--criterion is a parameter of decision-stump", "the learner here is baseline"]);
}

#[test]
fn machines_get_json_alone_and_the_quiet_get_results_alone() {
    let place = Place::new("quiet");
    let (model, p) = (place.model(), penguins());
    for words in [
        vec!["train", &p, "-t", "species", "--learner", "decision-stump", "-o", "m.ermine", "--json"],
        vec!["evaluate", &model, &p, "--json"],
        vec!["compare", &p, "-t", "species", "--json"],
        vec!["show", &model, "--json"],
        vec!["learners", "--json"],
    ] {
        place.run(&words).succeeds().json();
    }
    let words = ["train", &p, "-t", "species", "--learner", "decision-stump", "-o", "m.ermine", "--quiet"];
    assert_eq!(place.run(&words).succeeds().out, "");
    assert_eq!(place.run(&["predict", &model, &p, "-o", "out.csv", "-q"]).succeeds().out, "");
    let quiet = place.run(&["evaluate", &model, &p, "-q"]).succeeds();
    assert!(quiet.out.trim_start().starts_with("score"), "{}", quiet.out);
}

#[test]
fn without_a_terminal_there_are_no_colours_and_lines_are_whole() {
    let place = Place::new("colours");
    let model = place.model();
    for words in [vec!["show", &model], vec!["compare", &penguins(), "-t", "species"], vec!["train"]] {
        let output = place.command(&words).env("CLICOLOR_FORCE", "1").env("COLUMNS", "20").output().unwrap();
        let said = Said::from(&words, output);
        assert!(!format!("{}{}", said.out, said.err).contains('\u{1b}'), "{}{}", said.out, said.err);
        assert!(!said.out.contains('…'), "{}", said.out);
    }
}

#[test]
fn names_in_a_file_can_not_write_to_the_terminal() {
    let place = Place::new("escape");
    let file = place.write("evil.csv", "a\u{1b}[31m,y\u{1b}[2J\n1,p\u{1b}]0;x\u{7}\n2,q\n1,p\u{1b}]0;x\u{7}\n");
    let words = ["train", &file, "-t", "y\u{1b}[2J", "--learner", "decision-stump", "-o", "m.ermine"];
    let said = place.run(&words).succeeds();
    assert!(!said.out.contains('\u{1b}'), "{:?}", said.out);
    let said = place.run(&["show", "m.ermine"]).succeeds();
    assert!(!said.out.contains('\u{1b}'), "{:?}", said.out);
    let said = place.run(&["train", &file, "-t", "y", "-o", "m.ermine"]).fails(2, &["no column named 'y'"]);
    assert!(!said.err.contains('\u{1b}'), "{:?}", said.err);
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let place = Place::new("pipe");
    let model = place.model();
    let rows: String = (0..50_000).map(|i| format!("Dream,40,17,{},4000,MALE\n", 170 + i % 60)).collect();
    let header = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex\n";
    let file = place.write("many.csv", &format!("{header}{rows}"));
    let mut child =
        place.command(&["predict", &model, &file]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "predicted_species\n");
    let said = Said::from(&["predict"], child.wait_with_output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}

#[test]
fn a_budget_ends_the_comparison_and_says_what_was_not_tried() {
    let place = Place::new("budget");
    let said = place.run(&["compare", &penguins(), "-t", "species", "--budget", "0.000001s", "--quiet"]);
    said.fails(1, &["decision-stump: not tried: the budget of"]);
}

/// Starts `ermine train` on a table that never comes, sends it a signal and returns how it ended.
#[cfg(unix)]
fn stopped_while_reading(place: &Place, signal: &str) -> Said {
    let pipe = place.path("never.csv");
    if !std::path::Path::new(&pipe).exists() {
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    }
    let mut command = place.command(&["train", &pipe, "-t", "y", "-o", "m.ermine"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening waits until the program reads at the other end, which then waits for a line that never comes.
    let writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let said = Said::from(&["train"], child.wait_with_output().unwrap());
    drop(writer);
    said
}

#[cfg(unix)]
#[test]
fn signals_end_the_program_with_their_code_and_leave_nothing() {
    let place = Place::new("interrupt");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        stopped_while_reading(&place, signal).fails(code, &["stopped; nothing was written"]);
        assert_eq!(place.files(), ["never.csv"]);
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
    Said::from(&["learners"], child.wait_with_output().unwrap()).succeeds().json();
}

#[cfg(target_os = "linux")]
#[test]
fn messages_that_cannot_be_written_are_no_crash() {
    let place = Place::new("full");
    let model = place.model();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (words, code) in [
        (vec!["show", "nothing.ermine"], 1),
        (vec!["train", "--nonsense"], 2),
        (vec!["evaluate", &model, &penguins()], 0),
        (vec!["train", &penguins(), "-t", "species", "-o", "m.ermine"], 0),
    ] {
        let status = place.command(&words).stdout(Stdio::null()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{words:?}");
    }
    let said = Said::from(&["show"], place.command(&["show", &model]).stdout(full()).output().unwrap());
    said.fails(1, &["stdout", "space"]);
}

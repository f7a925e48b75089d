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

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_program_and_leaves_nothing() {
    let place = Place::new("interrupt");
    let pipe = place.path("never.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = place.command(&["train", &pipe, "-t", "y", "-o", "m.ermine"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening waits until the program reads at the other end, which then waits for a line that never comes.
    let writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let said = Said::from(&["train"], child.wait_with_output().unwrap());
    drop(writer);
    said.fails(130, &["stopped; nothing was written"]);
    assert_eq!(place.files(), ["never.csv"]);
}

//! The error messages of the twenty most common mistakes on the command line, as a snapshot.

use crate::{Sandbox, penguins};

/// Arguments that start with others.
fn with<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [first, more].concat()
}

#[test]
fn common_mistakes_are_explained() {
    let sandbox = Sandbox::new("messages");
    let (p, model) = (penguins(), sandbox.model());
    let missing_column = sandbox.write("missing_column.csv", "island,bill_length_mm\nDream,40\n");
    let text_in_numbers = sandbox.write("text_in_numbers.csv", "x,y\n1,a\n2,b\nmany,a\n");
    let ragged = sandbox.write("ragged.csv", "a,b\n1,2\n3\n");
    let open_quote = sandbox.write("open_quote.csv", "a,b\n1,\"x\n2,y\n");
    let empty = sandbox.write("empty.csv", "");
    let same_names = sandbox.write("same_names.csv", "a,a,y\n1,2,3\n");
    let train = ["train", &p, "-o", "m.ermine"];
    let species = with(&train, &["-t", "species"]);
    let mistakes: Vec<Vec<&str>> = vec![
        vec!["trian", &p],
        vec!["train", "nothing.csv", "-t", "y", "-o", "m.ermine"],
        vec!["train", &p, "-t", "species"],
        with(&train, &[]),
        with(&train, &["-t", "specis"]),
        with(&train, &["-t", "sex"]),
        with(&species, &["--learner", "random-forrest"]),
        with(&species, &["--learner", "decision-tree", "--maxdepth", "3"]),
        with(&species, &["--learner", "ridge", "--max-depth", "3"]),
        with(&species, &["--learner", "gradient-boosting", "--learning-rate", "-0.1"]),
        with(&species, &["--learner", "decision-tree", "--criterion", "ginny"]),
        with(&species, &["--task", "regression"]),
        with(&train, &["-t", "body_mass_g", "--task", "ranking", "--drop-missing-target"]),
        vec!["train", &text_in_numbers, "-t", "y", "-o", "m.ermine", "--type", "x=numeric", "--strict"],
        vec!["train", &ragged, "-t", "b", "-o", "m.ermine"],
        vec!["train", &open_quote, "-t", "b", "-o", "m.ermine"],
        vec!["train", &empty, "-t", "b", "-o", "m.ermine"],
        vec!["train", &same_names, "-t", "y", "-o", "m.ermine"],
        vec!["predict", &model, &missing_column],
        vec!["predict", &p, &p],
    ];
    let folder = sandbox.path("");
    let data = p.strip_suffix("penguins.csv").unwrap();
    let shown = |text: &str| text.replace(&folder, "").replace(data, "").replace(folder.trim_end_matches('/'), ".");
    let mut messages = String::new();
    for words in mistakes {
        let output = sandbox.run(&words);
        assert_ne!(output.code, Some(0), "ermine {}", output.words);
        assert_eq!(output.out, "", "ermine {}", output.words);
        messages += &format!("$ ermine {}\n{}\n", shown(&output.words), shown(&output.err));
    }
    insta::assert_snapshot!(messages.trim_end());
}

//! Mistakes of people and in files: each is named, with a way out, and nothing that exists is lost.

use crate::{Sandbox, penguins};

#[test]
fn typos_get_a_suggestion() {
    let sandbox = Sandbox::new("typos");
    let p = penguins();
    let train = |more: &[&str]| sandbox.run(&[&["train", &p, "-o", "m.ermine"], more].concat());
    sandbox.run(&["trian"]).fails(2, &["'trian'", "'train'"]);
    train(&["--target", "specis"]).fails(2, &["no column named 'specis': did you mean 'species'?"]);
    train(&["--taget", "species"]).fails(2, &["'--taget'", "'--target'"]);
    let y = ["--target", "species"];
    let with = |more: &[&str]| train(&[&y, more].concat());
    with(&["--learner", "decision-stmp"]).fails(2, &["did you mean 'decision-stump'?"]);
    with(&["--learner", "decision-stump", "--criteron", "gini"]).fails(2, &["'--criteron'", "'--criterion'"]);
    with(&["--learner", "decision-tree", "--maxdepth", "3"]).fails(2, &["'--max-depth'"]);
    with(&["--learner", "bagging", "--estimator", "decision-tree(max_depth=2"]).fails(2, &["matching brackets"]);
    with(&["--learner", "bagging", "--max-samples", "2.5"])
        .fails(2, &["max_samples must be", "up to 1.0", "(got 2.5)"]);
    with(&["--learner", "decision-stump", "--set", "criteron=gini"]).fails(2, &["did you mean 'criterion'?"]);
    with(&["--learner", "decision-stump", "--criterion", "ginny"])
        .fails(2, &["criterion must be error | gini | entropy (got ginny)"]);
    with(&["--learner", "decision-stump", "--max-categories", "-1"])
        .fails(2, &["max_categories must be a whole number, at least 0 (got -1)"]);
    with(&["--learner", "decision-stump", "--criterion", "gini", "--set", "criterion=error"])
        .fails(2, &["criterion must be given at most once"]);
    with(&["--set", "criterion"]).fails(2, &["NAME=VALUE"]);
    with(&["--type", "sexx=nominal"]).fails(2, &["did you mean 'sex'?"]);
    with(&["--type", "sex=nomial"]).fails(2, &["did you mean 'nominal'?"]);
    with(&["--type", "sex"]).fails(2, &["COLUMN=TYPE"]);
    with(&["--task", "clasification"]).fails(2, &["'classification'"]);
    with(&["--ignore", "Sex"]).fails(2, &["did you mean 'sex'?"]);
    with(&["--weight", "body_mass"]).fails(2, &["did you mean 'body_mass_g'?"]);
    with(&["--weight", "species"]).fails(2, &["'species' is named as both --target and --weight"]);
    with(&["--threads", "0"]).fails(2, &["threads"]);
    with(&["--seed", "-1"]).fails(2, &["seed"]);
    assert!(sandbox.files().is_empty(), "{:?}", sandbox.files());
    sandbox.run(&["learners", "stumpf"]).fails(2, &["baseline, decision-stump"]);
    let compare = |more: &[&str]| sandbox.run(&[&["compare", &p, "-t", "species"], more].concat());
    compare(&["--learners", "baseline,decision-stmp"]).fails(2, &["did you mean 'decision-stump'?"]);
    compare(&["--folds", "1"]).fails(2, &["folds must be a whole number from 2 to 344 (got 1)"]);
    compare(&["--budget", "soon"]).fails(2, &["'soon' is not a duration", "90s"]);
}

#[test]
fn missing_arguments_are_named() {
    let sandbox = Sandbox::new("missing");
    let p = penguins();
    sandbox.run(&["train", &p, "--target", "species"]).fails(2, &["--output <FILE.ermine>"]);
    sandbox.run(&["train", &p, "-o", "m.ermine"]).fails(2, &["pass --target COLUMN"]);
    sandbox.run(&["train", "nothing.csv", "-t", "y", "-o", "m.ermine"]).fails(1, &["nothing.csv: No such file"]);
    sandbox.run(&["show", "nothing.ermine"]).fails(1, &["nothing.ermine: No such file"]);
    sandbox.run(&["train", &p, "-t", "species", "-o", "no/m.ermine"]).fails(1, &["the directory does not exist"]);
    let output = sandbox.run(&["train", &p, "-t", "sex", "-o", "m.ermine"]);
    output.fails(1, &["the target 'sex' is missing in 11 of 344 rows", "--drop-missing-target"]);
    let words = ["train", &p, "-t", "sex", "--learner", "decision-stump", "-o", "m.ermine", "--drop-missing-target"];
    let output = sandbox.run(&words).succeeds();
    output.prints(&["333 rows, without 11 whose target is missing"]);
    let model = sandbox.model();
    let few = sandbox.write("few.csv", "island,bill_length_mm\nDream,40\n");
    sandbox.run(&["predict", &model, &few]).fails(1, &["few.csv: no column named 'bill_depth_mm'"]);
    sandbox.run(&["evaluate", &model, &few]).fails(1, &["few.csv: no column named 'bill_depth_mm'"]);
    sandbox.run(&["predict", &model, &p, "--id", "Island"]).fails(2, &["did you mean 'island'?"]);
}

#[test]
fn data_that_does_not_fit_the_model_is_refused_by_name() {
    let sandbox = Sandbox::new("unfit");
    let p = penguins();
    let model = sandbox.model();
    sandbox
        .run(&["train", &p, "-t", "species", "--task", "regression", "-o", "m.ermine"])
        .fails(1, &["'species' is categorical"]);
    sandbox
        .run(&["train", &p, "-t", "species", "--weight", "island", "-o", "m.ermine"])
        .fails(1, &["'island' is nominal"]);
    sandbox
        .run(&["train", &p, "-t", "species", "--group", "island", "--task", "ranking", "-o", "m.ermine"])
        .fails(1, &["'species'"]);
    let text = std::fs::read_to_string(&p).unwrap().replacen("39.1", "long", 1);
    let words = sandbox.write("words.csv", &text);
    sandbox
        .run(&["predict", &model, &words, "--strict"])
        .fails(1, &["words.csv, line 2, column 'bill_length_mm': 'long' is not a number"]);
    let output = sandbox.run(&["predict", &model, &words, "-o", "lenient.csv"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let expected = "column 'bill_length_mm', line 2: 'long' is not a number and counts as missing";
    assert!(output.err.contains(expected), "{}", output.err);
    let ragged = sandbox.write("ragged.csv", "a,b\n1,2\n3\n");
    sandbox.run(&["train", &ragged, "-t", "b", "-o", "m.ermine"]).fails(1, &["ragged.csv, line 3"]);
    let empty = sandbox.write("empty.csv", "");
    sandbox.run(&["train", &empty, "-t", "b", "-o", "m.ermine"]).fails(1, &["empty.csv"]);
    let no_rows = sandbox.write("no_rows.csv", "a,b\n");
    sandbox.run(&["train", &no_rows, "-t", "b", "-o", "m.ermine"]).fails(1, &["no rows"]);
    let only_target = sandbox.write("only.csv", "b\n1\n2\n");
    sandbox.run(&["train", &only_target, "-t", "b", "-o", "m.ermine"]).fails(1, &["no feature columns"]);
    let new_class = sandbox.write("class.csv", &std::fs::read_to_string(&p).unwrap().replacen("Adelie", "Emperor", 1));
    let output = sandbox.run(&["evaluate", &model, &new_class]);
    assert_eq!(output.code, Some(0));
    assert!(
        output.err.contains("classes that the training data don't have (Emperor): 1 row, counted as wrong"),
        "{}",
        output.err
    );
    let json = sandbox.run(&["evaluate", &model, &new_class, "--json"]).succeeds().json();
    assert_eq!(json["unseen_classes"]["n_rows"], 1);
    let accuracy = |json: &serde_json::Value| json["scores"][0]["score"]["value"].as_f64().unwrap();
    let before = sandbox.run(&["evaluate", &model, &p, "--json"]).succeeds().json();
    assert!((accuracy(&before) - accuracy(&json) - 1.0 / 344.0).abs() < 1e-12, "the row was right and is wrong now");
    sandbox.run(&["report", &model, &new_class]).succeeds().prints(&["Emperor"]);
    let words =
        ["train", &p, "-t", "body_mass_g", "--learner", "decision-stump", "--drop-missing-target", "-o", "mass.ermine"];
    sandbox.run(&words).succeeds();
    sandbox.run(&["predict", "mass.ermine", &p, "--proba"]).fails(2, &["--proba: this model predicts numbers"]);
    assert!(!sandbox.files().contains(&"m.ermine".to_string()));
}

#[test]
fn files_that_are_not_models_are_refused() {
    let sandbox = Sandbox::new("damage");
    let model = sandbox.model();
    let bytes = sandbox.read("species.ermine");
    sandbox.run(&["show", &penguins()]).fails(1, &["penguins.csv: not a readable Ermine model"]);
    std::fs::write(sandbox.path("cut.ermine"), &bytes[..bytes.len() / 2]).unwrap();
    sandbox.run(&["show", "cut.ermine"]).fails(1, &["cut.ermine: not a readable Ermine model"]);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    std::fs::write(sandbox.path("flipped.ermine"), &flipped).unwrap();
    sandbox.run(&["predict", "flipped.ermine", &penguins()]).fails(1, &["checksum"]);
    sandbox.run(&["evaluate", &penguins(), &model]).fails(1, &["not a readable Ermine model"]);
}

#[test]
fn a_failed_run_overwrites_nothing() {
    let sandbox = Sandbox::new("overwrite");
    let p = penguins();
    let model = sandbox.model();
    let before = sandbox.read("species.ermine");
    sandbox.run(&["train", &p, "-t", "sex", "-o", &model]).fails(1, &["missing"]);
    sandbox.run(&["train", &p, "-t", "sepcies", "-o", &model]).fails(2, &["species"]);
    assert_eq!(sandbox.read("species.ermine"), before);
    let out = sandbox.write("out.csv", "precious\n");
    let few = sandbox.write("few.csv", "island\nDream\n");
    sandbox.run(&["predict", &model, &few, "-o", &out]).fails(1, &["few.csv"]);
    assert_eq!(sandbox.read("out.csv"), b"precious\n");
    for words in [
        vec!["train", &few, "-t", "island", "-o", &few],
        vec!["predict", &model, &few, "-o", &few],
        vec!["predict", &model, &few, "-o", &model],
        vec!["show", &model, "--svg", &model],
        vec!["export", &model, "--json", "-o", &model],
    ] {
        sandbox.run(&words).fails(2, &["would be overwritten"]);
    }
    sandbox.run(&["predict", &model, &p, "-o", "out.parquet"]).fails(2, &["written as .csv"]);
    sandbox.run(&["predict", &model, &p, "-o", "/dev/null"]).fails(1, &["not a regular file"]);
    sandbox.run(&["train", &p, "-t", "species", "-o", &sandbox.path("")]).fails(1, &["is a directory"]);
    assert_eq!((sandbox.read("species.ermine"), sandbox.read("few.csv")), (before, b"island\nDream\n".to_vec()));
    assert_eq!(sandbox.files(), ["few.csv", "out.csv", "species.ermine"], "nothing half-written is left");
}

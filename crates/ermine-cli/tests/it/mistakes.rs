//! Mistakes of people and in files: each is named, with a way out, and nothing that exists is lost.

use crate::{Place, penguins};

#[test]
fn a_mistyped_word_is_recognised() {
    let place = Place::new("typos");
    let p = penguins();
    let train = |more: &[&str]| place.run(&[&["train", &p, "-o", "m.ermine"], more].concat());
    place.run(&["trian"]).fails(2, &["'trian'", "'train'"]);
    train(&["--target", "specis"]).fails(2, &["no column named 'specis': did you mean 'species'?"]);
    train(&["--taget", "species"]).fails(2, &["'--taget'", "'--target'"]);
    let y = ["--target", "species"];
    let with = |more: &[&str]| train(&[&y, more].concat());
    with(&["--learner", "decision-stmp"]).fails(2, &["did you mean 'decision-stump'?"]);
    with(&["--learner", "decision-stump", "--criteron", "gini"]).fails(2, &["'--criteron'", "'--criterion'"]);
    with(&["--learner", "decision-tree", "--maxdepth", "3"]).fails(2, &["'--max-depth'"]);
    with(&["--learner", "bagging", "--estimator", "decision-tree(max_depth=2"]).fails(2, &["both brackets"]);
    with(&["--learner", "bagging", "--max-samples", "2.5"]).fails(2, &["max_samples = 2.5", "up to 1.0"]);
    with(&["--learner", "decision-stump", "--set", "criteron=gini"]).fails(2, &["did you mean 'criterion'?"]);
    with(&["--learner", "decision-stump", "--criterion", "ginny"])
        .fails(2, &["criterion = ginny is not allowed", "error | gini | entropy"]);
    with(&["--learner", "decision-stump", "--max-categories", "-1"]).fails(2, &["max_categories = -1", "at least 0"]);
    with(&["--learner", "decision-stump", "--criterion", "gini", "--set", "criterion=error"])
        .fails(2, &["given twice"]);
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
    assert!(place.files().is_empty(), "{:?}", place.files());
    place.run(&["learners", "stumpf"]).fails(2, &["baseline, decision-stump"]);
    let compare = |more: &[&str]| place.run(&[&["compare", &p, "-t", "species"], more].concat());
    compare(&["--learners", "baseline,decision-stmp"]).fails(2, &["did you mean 'decision-stump'?"]);
    compare(&["--folds", "1"]).fails(2, &["folds = 1", "from 2 to 344"]);
    compare(&["--budget", "soon"]).fails(2, &["'soon' is not a time", "90s"]);
}

#[test]
fn what_is_missing_is_said() {
    let place = Place::new("missing");
    let p = penguins();
    place.run(&["train", &p, "--target", "species"]).fails(2, &["--output <FILE.ermine>"]);
    place.run(&["train", &p, "-o", "m.ermine"]).fails(2, &["--target <COLUMN>"]);
    place.run(&["train", "nothing.csv", "-t", "y", "-o", "m.ermine"]).fails(1, &["nothing.csv: No such file"]);
    place.run(&["show", "nothing.ermine"]).fails(1, &["nothing.ermine: No such file"]);
    place.run(&["train", &p, "-t", "species", "-o", "no/m.ermine"]).fails(1, &["no such directory"]);
    let said = place.run(&["train", &p, "-t", "sex", "-o", "m.ermine"]);
    said.fails(1, &["the target 'sex' is missing in 11 of 344 rows", "drop_missing_target"]);
    let words = ["train", &p, "-t", "sex", "--learner", "decision-stump", "-o", "m.ermine", "--drop-missing-target"];
    let said = place.run(&words).succeeds();
    said.says(&["333 rows, without 11 whose target is missing"]);
    let model = place.model();
    let few = place.write("few.csv", "island,bill_length_mm\nDream,40\n");
    place.run(&["predict", &model, &few]).fails(1, &["few.csv: no column named 'bill_depth_mm'"]);
    place.run(&["evaluate", &model, &few]).fails(1, &["few.csv: no column named 'bill_depth_mm'"]);
    place.run(&["predict", &model, &p, "--id", "Island"]).fails(2, &["did you mean 'island'?"]);
}

#[test]
fn data_that_does_not_fit_is_refused_by_name() {
    let place = Place::new("unfit");
    let p = penguins();
    let model = place.model();
    place
        .run(&["train", &p, "-t", "species", "--task", "regression", "-o", "m.ermine"])
        .fails(1, &["'species' has categories"]);
    place
        .run(&["train", &p, "-t", "species", "--weight", "island", "-o", "m.ermine"])
        .fails(1, &["'island' is nominal"]);
    place
        .run(&["train", &p, "-t", "species", "--group", "island", "--task", "ranking", "-o", "m.ermine"])
        .fails(1, &["'species'"]);
    let text = std::fs::read_to_string(&p).unwrap().replacen("39.1", "long", 1);
    let words = place.write("words.csv", &text);
    place.run(&["predict", &model, &words]).fails(1, &["words.csv, line 2, column 'bill_length_mm'", "long"]);
    let ragged = place.write("ragged.csv", "a,b\n1,2\n3\n");
    place.run(&["train", &ragged, "-t", "b", "-o", "m.ermine"]).fails(1, &["ragged.csv, line 3"]);
    let empty = place.write("empty.csv", "");
    place.run(&["train", &empty, "-t", "b", "-o", "m.ermine"]).fails(1, &["empty.csv"]);
    let no_rows = place.write("no_rows.csv", "a,b\n");
    place.run(&["train", &no_rows, "-t", "b", "-o", "m.ermine"]).fails(1, &["no rows"]);
    let only_target = place.write("only.csv", "b\n1\n2\n");
    place.run(&["train", &only_target, "-t", "b", "-o", "m.ermine"]).fails(1, &["no feature columns"]);
    let new_class = place.write("class.csv", &std::fs::read_to_string(&p).unwrap().replacen("Adelie", "Emperor", 1));
    place.run(&["evaluate", &model, &new_class]).fails(1, &["Emperor"]);
    let words =
        ["train", &p, "-t", "body_mass_g", "--learner", "decision-stump", "--drop-missing-target", "-o", "mass.ermine"];
    place.run(&words).succeeds();
    place.run(&["predict", "mass.ermine", &p, "--proba"]).fails(2, &["--proba: this model predicts numbers"]);
    assert!(!place.files().contains(&"m.ermine".to_string()));
}

#[test]
fn files_that_are_no_models_are_refused() {
    let place = Place::new("damage");
    let model = place.model();
    let bytes = place.read("species.ermine");
    place.run(&["show", &penguins()]).fails(1, &["penguins.csv: not a readable Ermine model"]);
    std::fs::write(place.path("cut.ermine"), &bytes[..bytes.len() / 2]).unwrap();
    place.run(&["show", "cut.ermine"]).fails(1, &["cut.ermine: not a readable Ermine model"]);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    std::fs::write(place.path("flipped.ermine"), &flipped).unwrap();
    place.run(&["predict", "flipped.ermine", &penguins()]).fails(1, &["checksum"]);
    place.run(&["evaluate", &penguins(), &model]).fails(1, &["not a readable Ermine model"]);
}

#[test]
fn a_failed_run_overwrites_nothing() {
    let place = Place::new("overwrite");
    let p = penguins();
    let model = place.model();
    let before = place.read("species.ermine");
    place.run(&["train", &p, "-t", "sex", "-o", &model]).fails(1, &["missing"]);
    place.run(&["train", &p, "-t", "sepcies", "-o", &model]).fails(2, &["species"]);
    assert_eq!(place.read("species.ermine"), before);
    let out = place.write("out.csv", "precious\n");
    let few = place.write("few.csv", "island\nDream\n");
    place.run(&["predict", &model, &few, "-o", &out]).fails(1, &["few.csv"]);
    assert_eq!(place.read("out.csv"), b"precious\n");
    for words in [
        vec!["train", &few, "-t", "island", "-o", &few],
        vec!["predict", &model, &few, "-o", &few],
        vec!["predict", &model, &few, "-o", &model],
        vec!["show", &model, "--svg", &model],
        vec!["export", &model, "--json", "-o", &model],
    ] {
        place.run(&words).fails(2, &["would be overwritten"]);
    }
    place.run(&["predict", &model, &p, "-o", "out.parquet"]).fails(2, &["written as .csv"]);
    place.run(&["predict", &model, &p, "-o", "/dev/null"]).fails(1, &["not a regular file"]);
    place.run(&["train", &p, "-t", "species", "-o", &place.path("")]).fails(1, &["is a directory"]);
    assert_eq!((place.read("species.ermine"), place.read("few.csv")), (before, b"island\nDream\n".to_vec()));
    assert_eq!(place.files(), ["few.csv", "out.csv", "species.ermine"], "nothing half-written is left");
}

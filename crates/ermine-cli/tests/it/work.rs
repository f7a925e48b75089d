//! What the program is for: train, predict, evaluate, compare, show, export.

use crate::{Place, penguins};

#[test]
fn a_model_is_trained_shown_evaluated_and_used() {
    let place = Place::new("work");
    let model = place.path("species.ermine");
    let words = ["train", &penguins(), "--target", "species", "--learner", "decision-stump", "-o", &model];
    let said = place.run(&words).succeeds();
    said.says(&[
        "344 rows",
        "classification of 3 classes (Adelie: 152, Gentoo: 124, Chinstrap: 68)",
        "6 (4 numeric, 2 nominal)",
        "19 values (sex 11",
        "trained decision-stump in",
        "proven: optimal over",
        "saved ",
    ]);
    assert_eq!(place.files(), ["species.ermine"]);
    let said = place.run(&["show", &model]).succeeds();
    said.says(&["decision-stump", "flipper_length_mm <= 206.5?", "objective over thresholds", "criterion = error"]);
    let said = place.run(&["evaluate", &model, &penguins()]).succeeds();
    said.says(&["accuracy", "0.7907", "true class", "→ Gentoo"]);
    place.run(&["predict", &model, &penguins(), "-o", "out.csv"]).succeeds().says(&["344 rows"]);
    let predicted = String::from_utf8(place.read("out.csv")).unwrap();
    assert_eq!(predicted.lines().count(), 345);
    assert_eq!(predicted.lines().take(2).collect::<Vec<_>>(), ["predicted_species", "Adelie"]);
}

#[test]
fn a_tree_is_pruned_and_explained() {
    let place = Place::new("tree");
    let model = place.path("tree.ermine");
    let p = penguins();
    let words = ["train", &p, "-t", "species", "-o", &model, "--learner", "decision-tree"];
    let pruned = [&words[..], &["--pruning", "cross_validation"]].concat();
    place.run(&pruned).succeeds().says(&["cross-validation chose ccp_alpha = "]);
    place.run(&["show", &model, "--path"]).succeeds().says(&["from ccp_alpha", "leaves", "impurity"]);
    place.run(&["show", &model, "--rules"]).succeeds().says(&["if ", " then Gentoo", "covers ", "right for "]);
    let said = place.run(&["show", &model, "--reasons", &p, "--row", "1"]).succeeds();
    said.says(&["at first: Adelie", "flipper_length_mm = 181"]);
    place.run(&["show", &model, "--reasons", &p, "--row", "345"]).fails(2, &["has the rows 1 to 344"]);
    place.run(&["show", &model, "--svg", "t.svg", "--html", "t.html", "--dot", "t.dot"]).succeeds();
    for file in ["t.svg", "t.html", "t.dot"] {
        assert!(String::from_utf8(place.read(file)).unwrap().contains("Gentoo"), "{file}");
    }
}

#[test]
fn a_support_vector_machine_is_trained_and_drawn() {
    let place = Place::new("svm");
    let model = place.path("ring.ermine");
    let row = |i: usize| {
        let (angle, radius) = (i as f64 * 0.7, if i.is_multiple_of(2) { 1.0 } else { 2.0 } + 0.02 * (i % 7) as f64);
        format!(
            "{},{},{}\n",
            radius * angle.cos(),
            radius * angle.sin(),
            if i.is_multiple_of(2) { "inner" } else { "outer" }
        )
    };
    let table = place.write("ring.csv", &format!("x,y,ring\n{}", (0..60).map(row).collect::<String>()));
    let words = ["train", &table, "-t", "ring", "--learner", "svc", "-o", &model, "--kernel"];
    let soft = [&words[..], &["poly", "--degree", "2"]].concat();
    place.run(&soft).succeeds().says(&[
        "trained svc with kernel = poly, degree = 2 in",
        "minimised: |w|^2 / 2 + 1 * sum of slacks",
        "proven: the optimum is at least",
    ]);
    place.run(&["show", &model]).succeeds().says(&[
        "polynomials",
        "support vectors of 60 rows",
        "margin 1/|w|",
        "0 misclassified",
    ]);
    place.run(&["show", &model, "--svg", "ring.svg"]).succeeds();
    let drawn = String::from_utf8(place.read("ring.svg")).unwrap();
    assert!(drawn.contains("support vector") && drawn.contains("inner") && drawn.contains("class=\"curve\""));
    let hard = [&words[..], &["linear", "--C", "inf", "--quiet"]].concat();
    place.run(&hard).fails(1, &["can't be separated", "a finite C allows slack"]);
}

#[test]
fn predictions_keep_ids_as_written_and_give_probabilities() {
    let place = Place::new("ids");
    let model = place.model();
    let header = "ring,species,sex,body_mass_g,flipper_length_mm,bill_depth_mm,bill_length_mm,island";
    let rows = "007,?,MALE,4000,190,17,40,Dream\n\"a,b\",?,,,230,,,Atlantis\n";
    let new = place.write("new.csv", &format!("{header}\n{rows}"));
    let said = place.run(&["predict", &model, &new, "--id", "ring", "--proba"]).succeeds();
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[0], "ring,predicted_species,probability_Adelie,probability_Chinstrap,probability_Gentoo");
    assert!(lines[1].starts_with("007,Adelie,0."), "{}", said.out);
    assert!(lines[2].starts_with("\"a,b\",Gentoo,0."), "{}", said.out);
    let without_target =
        place.write("x.csv", "flipper_length_mm,sex,body_mass_g,bill_depth_mm,bill_length_mm,island\n230,,,,,\n");
    let said = place.run(&["predict", &model, &without_target]).succeeds();
    assert_eq!(said.out, "predicted_species\nGentoo\n");
}

#[test]
fn parameters_are_set_by_flag_or_by_name() {
    let place = Place::new("params");
    let penguins = penguins();
    let train = ["train", &penguins, "-t", "species", "-o", "m.ermine", "--json"];
    let stump = ["--learner", "decision-stump"];
    let with = |more: &[&str]| {
        let json = place.run(&[&train[..], &stump, more].concat()).succeeds().json();
        json["params"].clone()
    };
    assert_eq!(with(&[])["criterion"], "error");
    let expected = with(&["--criterion", "gini", "--max-categories", "2"]);
    assert_eq!(expected["criterion"], "gini");
    assert_eq!(expected["max_categories"], 2);
    assert_eq!(with(&["--criterion=gini", "--max_categories=2"]), expected);
    assert_eq!(with(&["--set", "criterion=gini", "--set", "max-categories=2"]), expected);
    let words = ["--learner=decision-stump", "--set", "max_categories=2", "--criterion", "gini"];
    assert_eq!(place.run(&[&train[..], &words].concat()).succeeds().json()["params"], expected);
}

#[test]
fn columns_have_types_and_roles() {
    let place = Place::new("roles");
    let rows: String = (0..60).map(|i| format!("r{i},{},{},{},{}\n", i % 3, i % 2, 1 + i % 2, i % 7)).collect();
    let file = place.write("t.csv", &format!("name,kind,y,w,z\n{rows}"));
    let words =
        ["train", &file, "-t", "y", "--type", "kind=nominal", "--weight", "w", "--id", "name", "-o", "m.ermine"];
    let stump = ["--learner", "decision-stump"];
    let json = place.run(&[&words[..], &stump, &["--json"]].concat()).succeeds().json();
    assert_eq!(json["data"]["task"], "classification", "two whole numbers are classes");
    assert_eq!(json["data"]["features"][0]["kind"], "nominal");
    assert_eq!(json["data"]["features"].as_array().unwrap().len(), 2, "kind and z: {json}");
    assert_eq!(json["data"]["weight"], "w");
    let words = ["train", &file, "-t", "y", "--task", "regression", "-o", "m.ermine"];
    let said = place.run(&[&words[..], &stump].concat()).succeeds();
    said.says(&["regression of a number from 0 to 1", "note: column 'name' has 60 categories", "--id name"]);
    let said = place.run(&[&["train", &file, "-t", "kind", "-o", "m.ermine"][..], &stump].concat()).succeeds();
    said.says(&["only 3 distinct whole numbers", "--task classification"]);
}

#[test]
fn classes_are_read_again_as_they_were_in_training() {
    let place = Place::new("classes");
    let train = place.write("train.csv", "x,y\n1,01\n2,01\n3,02\n4,02\n5,x\n6,x\n");
    // Without the x, the classes would be taken for the numbers 1 and 2.
    let test = place.write("test.csv", "x,y\n1,01\n4,02\n");
    place.run(&["train", &train, "-t", "y", "--learner", "decision-stump", "-o", "m.ermine"]).succeeds();
    let json = place.run(&["evaluate", "m.ermine", &test, "--json"]).succeeds().json();
    assert_eq!(json["n_rows"], 2);
    assert_eq!(json["confusion"]["classes"], serde_json::json!(["01", "02", "x"]));
}

#[test]
fn learners_are_compared_and_the_next_command_works_as_it_is() {
    let place = Place::new("compare");
    std::fs::copy(penguins(), place.path("my penguins.csv")).unwrap();
    let words =
        ["compare", "my penguins.csv", "--target", "species", "--seed", "3", "--learners", "baseline,decision-stump"];
    let said = place.run(&words).succeeds();
    let said = said.says(&["5-fold", "Best: decision-stump", "better than the baseline (p < 0.001)", "Next:"]);
    assert_eq!(place.files(), ["my penguins.csv"], "comparing writes nothing");
    let next = said.out.lines().last().unwrap().trim();
    assert!(next.contains("'my penguins.csv'") && next.contains("--seed 3"), "{next}");
    let shell = std::process::Command::new("sh").args(["-c", next]).current_dir(&place.0).output().unwrap();
    assert!(shell.status.success(), "{next}\n{}", String::from_utf8_lossy(&shell.stderr));
    assert_eq!(place.files(), ["my penguins.csv", "species.ermine"]);

    let json = place.run(&[&words[..], &["--json", "--folds", "3"]].concat()).succeeds().json();
    assert_eq!(json["leaderboard"][0]["learner"], "decision-stump");
    assert_eq!(json["leaderboard"][1]["scores"][0]["folds"].as_array().unwrap().len(), 3);
    let json = place.run(&[&words[..6], &["--json"]].concat()).succeeds().json();
    let plain = |row: &&serde_json::Value| row["setting"].as_object().is_some_and(serde_json::Map::is_empty);
    let n_ranked = json["leaderboard"].as_array().unwrap().iter().filter(plain).count();
    assert!(n_ranked >= 20 && json["absent"].as_array().unwrap().is_empty(), "every learner of classes has its place");
    let names: Vec<&str> =
        json["leaderboard"].as_array().unwrap().iter().filter_map(|r| r["learner"].as_str()).collect();
    assert!(!names.contains(&"calibrated") && !names.contains(&"ridge"), "{names:?}");
}

#[test]
fn who_lacks_the_measure_that_decides_is_not_compared() {
    let place = Place::new("compare-measure");
    let penguins = penguins();
    let words = ["compare", &penguins, "-t", "species", "--measure", "log-loss", "--trials", "0", "--json"];
    let json = place.run(&[&words[..], &["--learners", "svc,decision-tree,baseline"]].concat()).succeeds().json();
    assert_eq!((json["leaderboard"].as_array().unwrap().len(), &json["best"]), (2, &"baseline".into()));
    assert_eq!(json["absent"][0]["learner"], "svc");
    assert!(json["absent"][0]["why"].as_str().unwrap().contains("log loss"), "{}", json["absent"]);
    place.run(&[&words[..], &["--learners", "svc"]].concat()).fails(1, &["svc", "log loss"]);
}

#[test]
fn settings_are_searched_and_a_search_goes_on_from_its_journal() {
    let place = Place::new("tune");
    let penguins = penguins();
    let words = ["tune", &penguins, "-t", "species", "--learner", "decision-tree", "--folds", "3", "--journal", "j"];
    let tried =
        ["--try", "max-depth=1,2,3", "--try", "min_samples_leaf=1..20", "--search", "grid", "-o", "best.ermine"];
    let all = [&words[..], &tried[..]].concat();
    place.run(&all).succeeds().says(&["15 settings tried by 3-fold cross-validation", "Best: max_depth = ", "saved"]);
    place.run(&["evaluate", "best.ermine", &penguins]).succeeds().says(&["ROC AUC"]);
    let again = place.run(&[&all[..], &["--json"]].concat()).succeeds().json();
    assert_eq!((again["from_journal"].as_u64(), again["trials"].as_array().unwrap().len()), (Some(15), 15));
    place.run(&[&all[..], &["--measure", "macro-f1"]].concat()).fails(1, &["another search"]);
    place.run(&[&words[..], &["--try", "max_depth=0", "-o", "x"]].concat()).fails(2, &["max_depth", "at least 1"]);
    place.run(&[&words[..], &["--measure", "rmse", "-o", "x"]].concat()).fails(2, &["rmse", "accuracy"]);
    let nested = ["--trials", "3", "--max-depth", "3", "--nested", "--json", "-o", "nested.ermine"];
    let words = ["tune", &penguins, "-t", "species", "--learner", "decision-tree", "--folds", "3"];
    let json = place.run(&[&words[..], &nested[..]].concat()).succeeds().json();
    assert!(json["nested"]["mean"].as_f64().unwrap() > 0.8);
    assert!(json["trials"].as_array().unwrap().iter().all(|t| t["setting"].get("max_depth").is_none()));
}

#[test]
fn a_model_is_reported_on() {
    let place = Place::new("report");
    let penguins = penguins();
    place.run(&["train", &penguins, "-t", "species", "--learner", "decision-tree", "-o", "m.ermine"]).succeeds();
    place.run(&["report", "m.ermine", &penguins]).succeeds().says(&["Scores", "Classes", "Importances", "Certificate"]);
    place.run(&["report", "m.ermine", &penguins, "-o", "r.html"]).succeeds().says(&["saved"]);
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script"));
    let json = place.run(&["report", "m.ermine", &penguins, "--json"]).succeeds().json();
    assert_eq!(json["learner"], "decision-tree");
    place.run(&["report", "m.ermine", &penguins, "-o", "m.ermine"]).fails(2, &["overwritten"]);
}

#[test]
fn the_same_seed_gives_the_same_file_for_any_number_of_threads() {
    let place = Place::new("threads");
    let penguins = penguins();
    for (threads, name) in [("1", "one.ermine"), ("2", "two.ermine")] {
        let words = ["train", &penguins, "-t", "species", "--seed", "5", "--threads", threads, "-o", name];
        place.run(&words).succeeds();
    }
    assert_eq!(place.read("one.ermine"), place.read("two.ermine"));
}

#[test]
fn a_model_is_drawn_and_exported() {
    let place = Place::new("export");
    let model = place.model();
    place.run(&["show", &model, "--svg", "s.svg"]).succeeds().says(&["drawn s.svg"]);
    assert!(String::from_utf8(place.read("s.svg")).unwrap().starts_with("<svg"));
    let json = place.run(&["show", &model, "--json"]).succeeds().json();
    assert_eq!(json["model"]["learner"], "decision-stump");
    let whole = place.run(&["export", &model, "--json"]).succeeds();
    assert!(whole.json()["sections"].is_object(), "{}", whole.out);
    place.run(&["export", &model, "--json", "-o", "m.json", "--quiet"]).succeeds();
    assert_eq!(String::from_utf8(place.read("m.json")).unwrap(), whole.out);
    let c = place.run(&["export", &model, "--format", "c"]).succeeds();
    assert!(c.out.contains("void ermine_predict"), "{}", c.out);
    place.run(&["export", &model, "--format", "onnx", "-o", "m.onnx"]).succeeds().says(&["exported m.onnx"]);
    // The ending says the format, and one that is none is refused.
    place.run(&["export", &model, "-o", "again.onnx"]).succeeds();
    assert_eq!(place.read("again.onnx"), place.read("m.onnx"));
    place.run(&["export", &model, "-o", "m.py"]).fails(2, &["m.py", "--format onnx, c, rust or json"]);
    place.run(&["show", &model, "--importance", "count"]).succeeds().says(&["splits about each column"]);
}

#[test]
fn a_foreign_model_is_imported_and_predicts() {
    let place = Place::new("import");
    let lines = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\nobjective=regression\nfeature_names=a b\n\n\
        Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=1\nsplit_gain=3\nthreshold=0.5\ndecision_type=10\nleft_child=-1\nright_child=-2\n\
        leaf_value=1.5 2.5\nleaf_count=3 4\ninternal_count=7\n\nend of trees\n";
    let file = place.write("model.txt", lines);
    place.run(&["import", &file, "-o", "m.ermine"]).succeeds().says(&["imported m.ermine", "1 trees over 2 columns"]);
    let rows = place.write("rows.csv", "a,b\n1,0.5\n1,0.6\n1,\n");
    let model = place.path("m.ermine");
    let said = place.run(&["predict", &model, &rows]).succeeds();
    let numbers: Vec<&str> = said.out.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(numbers, ["1.5", "2.5", "1.5"], "{}", said.out);
    place.run(&["show", &model, "--reasons", &rows, "--row", "2"]).succeeds().says(&["b = 0.6"]);
    let wrong = place.write("wrong.txt", "tree\nnum_class=1\n");
    place
        .run(&["import", &wrong, "-o", "n.ermine"])
        .fails(1, &["not a readable LightGBM model", "num_tree_per_iteration"]);
}

#[test]
fn every_learner_is_listed_and_can_be_trained_by_name() {
    let place = Place::new("learners");
    let json = place.run(&["learners", "--json"]).succeeds().json();
    let all = place.run(&["learners"]).succeeds();
    for described in json.as_array().unwrap() {
        let name = described["learner"]["name"].as_str().unwrap();
        assert!(all.out.contains(name), "{name}");
        let one = place.run(&["learners", name]).succeeds();
        let help = place.run(&["train", "--learner", name, "--help"]).succeeds();
        for parameter in described["parameters"].as_array().unwrap() {
            let flag = format!("--{}", parameter["name"].as_str().unwrap().replace('_', "-"));
            assert!(one.out.contains(&flag) && help.out.contains(&flag), "{name} {flag}");
        }
    }
}

#[test]
fn tables_come_in_several_formats() {
    let place = Place::new("formats");
    let model = place.model();
    let text = std::fs::read_to_string(penguins()).unwrap();
    let expected = place.run(&["evaluate", &model, &penguins(), "-q"]).succeeds().out;
    for (name, text) in [("semicolon.csv", text.replace(',', ";")), ("tab.tsv", text.replace(',', "\t"))] {
        let file = place.write(name, &text);
        assert_eq!(place.run(&["evaluate", &model, &file, "-q"]).succeeds().out, expected, "{name}");
    }
    // What is written packed is read packed.
    place.run(&["predict", &model, &penguins(), "--id", "sex", "-o", "out.csv.gz"]).succeeds();
    let words = ["train", "out.csv.gz", "-t", "predicted_species", "--learner", "decision-stump", "-o", "m.ermine"];
    let said = place.run(&words).succeeds();
    said.says(&["344 rows", "2 classes"]);
}

#[test]
fn a_sparse_row_may_leave_out_the_last_columns() {
    let place = Place::new("sparse");
    let train = place.write("a.libsvm", "1 1:2 3:1\n0 1:1\n1 1:3 3:4\n0 2:1\n");
    let test = place.write("b.libsvm", "1 1:3\n0 2:5\n");
    place.run(&["train", &train, "-t", "label", "--learner", "decision-stump", "-o", "m.ermine"]).succeeds();
    assert_eq!(place.run(&["predict", "m.ermine", &test]).succeeds().out, "predicted_label\n1\n0\n");
    place.run(&["evaluate", "m.ermine", &test]).succeeds().says(&["accuracy"]);
}

#[test]
fn neighbours_of_rows_are_found() {
    let place = Place::new("neighbors");
    let train = place.write("train.csv", "x,y,colour\n0,0,red\n3,4,blue\n1,0,red\n6,8,blue\n");
    let learner = ["--learner", "nearest-neighbors", "--n-neighbors", "2"];
    place.run(&[&["train", &train, "-t", "colour", "-o", "m.ermine"][..], &learner].concat()).succeeds();
    let new = place.write("new.csv", "y,x\n0,0\n4,3\n");
    let said = place.run(&["neighbors", "m.ermine", &new]).succeeds();
    assert_eq!(
        said.out,
        "query,rank,row,distance,colour\n1,1,1,0,red\n1,2,3,1,red\n2,1,2,0,blue\n2,2,3,4.47213595499958,red\n"
    );
    let said = place.run(&["neighbors", "m.ermine", &new, "--radius", "1"]).succeeds();
    assert_eq!(said.out.lines().count(), 4);
    place
        .run(&["neighbors", "m.ermine", &new, "-k", "3", "-o", "out.csv"])
        .succeeds()
        .says(&["6 neighbours of 2 rows"]);
    place.run(&["neighbors", "m.ermine", &new, "--radius=-1"]).fails(1, &["radius"]);
    place.run(&["neighbors", "m.ermine", &new, "-k", "2", "--radius", "1"]).fails(2, &["--radius"]);
    // A model of a radius says who is within it; rows have the numbers of the training data, whichever are kept.
    let learner = ["--learner", "nearest-neighbors", "--radius", "2"];
    place.run(&[&["train", &train, "-t", "colour", "-o", "r.ermine"][..], &learner].concat()).succeeds();
    let said = place.run(&["neighbors", "r.ermine", &new]).succeeds();
    assert_eq!(said.out, "query,rank,row,distance,colour\n1,1,1,0,red\n1,2,3,1,red\n2,1,2,0,blue\n");
    let sorted = place.write("sorted.csv", "x,colour\n0,red\n1,red\n2,red\n9,blue\n10,blue\n");
    let learner = ["--learner", "nearest-neighbors", "--keep", "condensed", "--n-neighbors", "1"];
    place.run(&[&["train", &sorted, "-t", "colour", "-o", "c.ermine"][..], &learner].concat()).succeeds();
    let asked = place.write("asked.csv", "x\n8\n");
    let said = place.run(&["neighbors", "c.ermine", &asked]).succeeds();
    assert_eq!(said.out, "query,rank,row,distance,colour\n1,1,4,1,blue\n");
    // Text is compared as text, names that training didn't have too.
    let names = place.write("names.csv", "name,side\nanna,a\nhanna,a\nlotte,b\notto,b\n");
    let learner = ["--learner", "nearest-neighbors", "--metric", "edit", "--n-neighbors", "1"];
    place.run(&[&["train", &names, "-t", "side", "-o", "names.ermine"][..], &learner].concat()).succeeds();
    let new = place.write("new-names.csv", "name\nlotto\nhannah\n");
    let said = place.run(&["neighbors", "names.ermine", &new]).succeeds();
    assert_eq!(said.out, "query,rank,row,distance,side\n1,1,3,1,b\n2,1,2,1,a\n");
    place.run(&["train", &train, "-t", "colour", "--learner", "decision-stump", "-o", "stump.ermine"]).succeeds();
    place.run(&["neighbors", "stump.ermine", &new]).fails(2, &["nearest-neighbors"]);
}

#[test]
fn a_forest_is_grown_in_two_goes_looked_into_and_predicts_quantiles() {
    let place = Place::new("forest");
    let penguins = penguins();
    let train = |more: &[&str]| {
        let base = [
            "train",
            &penguins,
            "-t",
            "body_mass_g",
            "--drop-missing-target",
            "--learner",
            "random-forest",
            "--quantiles",
            "true",
        ];
        place.run(&[&base[..], more].concat()).succeeds()
    };
    train(&["--n-estimators", "5", "--seed", "3", "-o", "half.ermine"]);
    train(&["--n-estimators", "12", "--warm-start", "half.ermine", "-o", "whole.ermine"]);
    train(&["--n-estimators", "12", "--seed", "3", "-o", "once.ermine"]);
    assert!(place.read("whole.ermine") == place.read("once.ermine"), "the seed that it began with goes on");
    place.run(&["show", "whole.ermine"]).succeeds().says(&["the mean of 12 trees", "share of each column"]);
    place.run(&["show", "whole.ermine", "--tree", "0"]).succeeds().says(&["decision-tree", "it is tree 0 of a forest"]);
    place
        .run(&["show", "whole.ermine", "--shap", &penguins])
        .succeeds()
        .says(&["SHAP values on 344 rows", "flipper_length_mm"]);
    let dependence = ["show", "whole.ermine", "--dependence", "flipper_length_mm", "--on", &penguins];
    place
        .run(&[&dependence[..], &["--svg", "d.svg"]].concat())
        .succeeds()
        .says(&["mean prediction over 344 rows", "drawn d.svg"]);
    assert!(String::from_utf8(place.read("d.svg")).unwrap().contains("flipper_length_mm"));
    let values = &place.run(&[&dependence[..], &["--json"]].concat()).succeeds().json()["dependence"];
    let means: Vec<f64> = values["means"].as_array().unwrap().iter().map(|m| m[0].as_f64().unwrap()).collect();
    assert!(means[means.len() - 1] > means[0] + 300.0, "longer flippers, heavier birds: {means:?}");
    place
        .run(&["show", "whole.ermine", "--dependence", "flipper", "--on", &penguins])
        .fails(2, &["no column named 'flipper'", "flipper_length_mm"]);
    place.run(&["show", "whole.ermine", "--dependence", "flipper"]).fails(2, &["--on"]);
    place
        .run(&["show", "whole.ermine", "--tree", "12"])
        .fails(1, &["member index 12 is out of range (the model has 12 members)"]);
    let said = place.run(&["predict", "whole.ermine", &penguins, "--quantiles", "0.1,0.9"]).succeeds();
    assert_eq!(said.out.lines().next(), Some("predicted_body_mass_g,quantile_0.1,quantile_0.9"));
}

#[test]
fn the_training_error_of_adaboost_is_plotted_under_its_bound() {
    let place = Place::new("adaboost");
    place
        .run(&["train", &penguins(), "-t", "sex", "--drop-missing-target", "--learner", "adaboost", "-o", "m.ermine"])
        .succeeds()
        .says(&["the training error"]);
    let said = place.run(&["show", "m.ermine", "--svg", "m.svg"]).succeeds();
    said.says(&["eps", "alpha", "training error (o) under its bound (-)"]);
    assert!(String::from_utf8(place.read("m.svg")).unwrap().contains("bound: product of Z"));
}

#[test]
fn labels_are_learned_from_columns_and_from_lists() {
    let place = Place::new("labels");
    let (mut columns, mut lists) = ("x,sour,sweet\n".to_string(), "x,taste\n".to_string());
    for i in 0..60 {
        let (sour, sweet) = (i % 20 < 10, i % 5 < 2);
        let x = 2 * i32::from(sour) + 4 * i32::from(sweet);
        columns += &format!("{x},{},{}\n", u8::from(sour), u8::from(sweet));
        lists += &format!("{x},{}\n", [["", "sweet"], ["sour", "sour; sweet"]][usize::from(sour)][usize::from(sweet)]);
    }
    let (columns, lists) = (place.write("columns.csv", &columns), place.write("lists.csv", &lists));
    let by_columns = ["train", &columns, "--target", "sour,sweet", "-o", "c.ermine"];
    let said = place.run(&[&by_columns[..], &["--learner", "label-powerset", "--estimator", "decision-tree"]].concat());
    said.succeeds().says(&["multilabel of 2 labels (sour: 30, sweet: 24)", "4 sets of 2 labels as classes"]);
    place.run(&["evaluate", "c.ermine", &columns]).succeeds().says(&["subset accuracy", "Hamming loss", "micro F1"]);
    let said = place.run(&["predict", "c.ermine", &columns, "-q"]).succeeds();
    assert!(said.out.starts_with("predicted_sour,predicted_sweet\n1,1\n1,1\n1,0\n"), "{}", said.out);
    // A learner of classes is reduced by itself, and says so.
    let by_list = ["train", &lists, "--target", "taste", "--task", "multilabel", "--learner", "decision-tree"];
    let said = place.run(&[&by_list[..], &["-o", "l.ermine"]].concat()).succeeds();
    said.says(&["2 labels, each by itself: decision-tree"]);
    place.run(&["show", "l.ermine"]).succeeds().says(&["binary-relevance", "multilabel of 2 labels (sour, sweet)"]);
    let said = place.run(&["predict", "l.ermine", &lists, "-q", "--proba"]).succeeds();
    assert!(
        said.out.starts_with("predicted_taste,probability_sour,probability_sweet\n\"sour;sweet\",1,1\n"),
        "{}",
        said.out
    );
    assert_eq!(
        place.run(&["evaluate", "l.ermine", &lists, "--json"]).succeeds().json()["scores"][0]["score"]["value"],
        1.0
    );
    let strange = place.write("strange.csv", "x,taste\n1,bitter\n");
    place.run(&["evaluate", "l.ermine", &strange]).fails(1, &["bitter"]);
    place
        .run(&["train", &columns, "-t", "sour,x", "--task", "multilabel", "-o", "m.ermine"])
        .fails(1, &["'x' is no label"]);
    place.run(&["train", &columns, "-t", "sour,sour", "-o", "m.ermine"]).fails(2, &["--target twice"]);
}

#[test]
fn rankings_are_learned_within_queries() {
    let place = Place::new("ranking");
    let mut rows = String::new();
    for i in 0..90u32 {
        let (grade, noise) = (i * 7 % 3, i * 13 % 5);
        rows += &format!("{grade} qid:{} 1:{} 2:{noise}\n", i / 9, f64::from(grade) + f64::from(noise) / 10.0);
    }
    let file = place.write("rank.letor", &rows);
    for (learner, says) in [
        ("rank-svm", "over the pairs of 10 queries"),
        ("pairwise-ranking", "pairs of rows, each in both directions: logistic-regression"),
        ("omega-ranking", "the expected omega loss (all-pairs)"),
        ("gradient-boosting", ""),
    ] {
        let words = ["train", &file, "--group", "qid", "--task", "rank", "--learner", learner, "-o", "r.ermine"];
        place.run(&words).succeeds().says(&["label: ranking", "10 queries by qid", says]);
        let said = place.run(&["evaluate", "r.ermine", &file, "--json"]).succeeds().json();
        assert_eq!(said["scores"][0]["name"], "NDCG@10");
        // Few rows for trees with leaves of many.
        let least = if learner == "gradient-boosting" { 0.7 } else { 0.99 };
        assert!(said["scores"][0]["score"]["value"].as_f64().unwrap() > least, "{learner}: {said}");
        let said = place.run(&["predict", "r.ermine", &file, "-q"]).succeeds();
        assert_eq!(said.out.lines().count(), 91);
    }
    let tree = ["--learner", "pairwise-ranking", "--estimator", "decision-tree(max_depth=3)", "-o", "t.ermine"];
    place.run(&[&["train", &file, "--group", "qid"][..], &tree].concat()).succeeds();
    let bare = place.write("bare.csv", "1,2\n1,0\n2,0\n");
    place.run(&["predict", "t.ermine", &bare]).fails(1, &["no column named 'qid'"]);
    let words = [
        "train",
        &file,
        "--group",
        "qid",
        "--learner",
        "omega-ranking",
        "--omega",
        "0,1,2,1,0,1,3,1,0",
        "-q",
        "-o",
        "w.ermine",
    ];
    place.run(&words).fails(2, &["omega", "symmetric"]);
    let csv = place.write("plain.csv", "a,b\n1,2\n");
    place.run(&["train", &csv, "-o", "p.ermine"]).fails(2, &["--target <COLUMN>"]);
}

#[test]
fn what_belongs_is_learned_without_a_target() {
    let place = Place::new("one-class");
    let model = place.path("odd.ermine");
    let row = |i: usize| format!("{},{}\n", (i as f64).sin(), (i as f64 * 1.7).cos());
    let table = place.write("normal.csv", &format!("a,b\n{}", (0..60).map(row).collect::<String>()));
    let words = ["train", &table, "--learner", "one-class-svm", "--nu", "0.1", "-o", &model];
    place.run(&words).succeeds().says(&["none: the learner looks at none", "the share of training rows outside"]);
    let new = place.write("new.csv", &format!("a,b\n{}90,90\n", (0..60).map(row).collect::<String>()));
    place.run(&["predict", &model, &new, "-o", "out.csv"]).succeeds();
    let out = String::from_utf8(place.read("out.csv")).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    let outside = lines[1..61].iter().filter(|line| line.starts_with('-')).count();
    assert!(lines[0] == "predicted_score" && outside <= 6 && lines[61].starts_with('-'), "{out}");
    place.run(&["evaluate", &model, &new]).fails(1, &["no truth to measure"]);
    place.run(&["train", &table, "-o", &model]).fails(2, &["which column is to be learned?"]);
}

#[test]
fn a_learner_of_labels_reads_a_list_of_labels_and_a_reduction_is_named() {
    let place = Place::new("labels");
    let model = place.path("labels.ermine");
    let row = |i: usize| format!("{i},{}\n", ["red;round", "red", "", "round"][i % 4]);
    let table = place.write("labels.csv", &format!("x,labels\n{}", (0..40).map(row).collect::<String>()));
    let words = ["train", &table, "-t", "labels", "-o", &model, "--learner", "classifier-chain"];
    place
        .run(&[&words[..], &["--set", "estimator=decision-stump"]].concat())
        .succeeds()
        .says(&["multilabel of 2 labels"]);
    let words = ["train", &penguins(), "-t", "species", "-o", &model, "--learner", "linear-svc"];
    let said = place.run(&words).succeeds();
    said.says(&["trained linear-svc in"]);
    let words = ["train", &penguins(), "-t", "species", "-o", &model, "--learner", "halfspace"];
    place.run(&words).succeeds().says(&["trained halfspace by one-vs-rest in"]);
}

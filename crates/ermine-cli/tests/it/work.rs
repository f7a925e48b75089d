//! What the program is for: train, predict, evaluate, compare, show, export.

use crate::{Sandbox, penguins};

#[test]
fn a_model_is_trained_shown_evaluated_and_used() {
    let sandbox = Sandbox::new("work");
    let model = sandbox.path("species.ermine");
    let words = ["train", &penguins(), "--target", "species", "--learner", "decision-stump", "-o", &model];
    let output = sandbox.run(&words).succeeds();
    output.prints(&[
        "344 rows",
        "classification of 3 classes (Adelie: 152, Gentoo: 124, Chinstrap: 68)",
        "6 (4 numeric, 2 nominal)",
        "19 values (sex 11",
        "trained decision-stump in",
        "proven: optimal over",
        "saved ",
    ]);
    assert_eq!(sandbox.files(), ["species.ermine"]);
    let output = sandbox.run(&["show", &model]).succeeds();
    output.prints(&["decision-stump", "flipper_length_mm <= 206.5?", "objective over thresholds", "criterion = error"]);
    let output = sandbox.run(&["evaluate", &model, &penguins()]).succeeds();
    output.prints(&["accuracy", "0.7907", "true class", "→ Gentoo"]);
    sandbox.run(&["predict", &model, &penguins(), "-o", "out.csv"]).succeeds().prints(&["344 rows"]);
    let predicted = String::from_utf8(sandbox.read("out.csv")).unwrap();
    assert_eq!(predicted.lines().count(), 345);
    assert_eq!(predicted.lines().take(2).collect::<Vec<_>>(), ["predicted_species", "Adelie"]);
}

#[test]
fn a_model_is_trained_in_batches() {
    let sandbox = Sandbox::new("stream");
    // The second class comes only after the first batch.
    let row =
        |i: usize| format!("{},{},{}\n", i as f64 / 100.0, (i * 7 % 13) as f64, if i < 150 { "low" } else { "high" });
    let text = format!("a,b,size\n{}", (0..300).map(row).collect::<String>());
    let file = sandbox.write("rows.csv", &text);
    let words = ["train", &file, "-t", "size", "-o", "m.ermine", "--stream", "100"];
    let named = [&words[..], &["--learner", "perceptron", "--classes", "low,high"]].concat();
    sandbox.run(&named).succeeds().prints(&[
        "300 rows in 3 batches",
        "trained perceptron",
        "mistakes in one pass, over the 100 rows of the last batch only",
        "trained on 300 rows in batches",
    ]);
    sandbox.run(&["evaluate", "m.ermine", &file]).succeeds().prints(&["accuracy"]);
    let sgd = [&words[..], &["--learner", "sgd"]].concat();
    sandbox.run(&sgd).fails(1, &["class 'low'", "--classes"]);
    let json = sandbox.run(&[&sgd[..], &["--classes", "low,high", "--json"]].concat()).succeeds().json();
    assert_eq!((&json["data"]["n_rows"], &json["data"]["n_batches"]), (&300.into(), &3.into()));
    // Other learners need all rows, and say who doesn't.
    let ridge = [&words[..], &["--learner", "decision-tree"]].concat();
    sandbox.run(&ridge).fails(2, &["does not support --stream", "perceptron, sgd"]);
    // A fault in a later batch has the line of the file.
    let file = sandbox.write("fault.csv", &format!("{text}x,1,low\n"));
    let words = ["train", &file, "-t", "size", "-o", "n.ermine", "--stream", "100", "--strict"];
    sandbox.run(&[&words[..], &["--learner", "sgd", "--classes", "low,high"]].concat()).fails(1, &["line 302", "'x'"]);
}

#[cfg(unix)]
#[test]
fn batches_may_come_from_a_pipe() {
    let sandbox = Sandbox::new("pipe");
    let command = sandbox.command(&[
        "train",
        "/dev/stdin",
        "-t",
        "y",
        "--learner",
        "sgd",
        "--stream",
        "50",
        "-o",
        "m.ermine",
        "--json",
    ]);
    let program = command.get_program().to_string_lossy().into_owned();
    let words: Vec<String> = command.get_args().map(|w| w.to_string_lossy().into_owned()).collect();
    let pipe = format!(
        "{{ echo x,y; i=0; while [ $i -lt 120 ]; do echo \"0.$i,1.$i\"; i=$((i+1)); done; }} | '{program}' {}",
        words.join(" ")
    );
    let output = std::process::Command::new("sh").args(["-c", &pipe]).current_dir(&sandbox.0).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["data"]["n_rows"], &json["data"]["n_batches"]), (&120.into(), &3.into()));
}

#[test]
fn every_family_has_a_picture() {
    let sandbox = Sandbox::new("pictures");
    let row = |i: usize| {
        format!("{},{},{}\n", (i * 7 % 23) as f64 / 3.0, (i * 5 % 19) as f64, ["no", "yes"][i * 7 % 23 / 12])
    };
    let file = sandbox.write("two.csv", &format!("width,height,big\n{}", (0..60).map(row).collect::<String>()));
    for learner in [
        "decision-stump",
        "decision-tree",
        "random-forest",
        "gradient-boosting",
        "logistic-regression",
        "linear-svc",
        "sgd",
        "perceptron",
        "svc",
        "nearest-neighbors",
    ] {
        sandbox.run(&["train", &file, "-t", "big", "--learner", learner, "-o", "m.ermine", "-q"]).succeeds();
        sandbox.run(&["show", "m.ermine", "--svg", "m.svg"]).succeeds();
        let svg = String::from_utf8(sandbox.read("m.svg")).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("width"), "{learner}");
    }
}

#[test]
fn a_tree_is_pruned_and_explained() {
    let sandbox = Sandbox::new("tree");
    let model = sandbox.path("tree.ermine");
    let p = penguins();
    let words = ["train", &p, "-t", "species", "-o", &model, "--learner", "decision-tree"];
    let pruned = [&words[..], &["--pruning", "cross_validation"]].concat();
    sandbox.run(&pruned).succeeds().prints(&["cross-validation chose ccp_alpha = "]);
    sandbox.run(&["show", &model, "--path"]).succeeds().prints(&["from ccp_alpha", "leaves", "impurity"]);
    sandbox.run(&["show", &model, "--rules"]).succeeds().prints(&["if ", " then Gentoo", "coverage ", "precision "]);
    let output = sandbox.run(&["show", &model, "--explain", &p, "--row", "1"]).succeeds();
    output.prints(&["root: Adelie", "flipper_length_mm = 181"]);
    sandbox.run(&["show", &model, "--explain", &p, "--row", "345"]).fails(2, &["has rows 1 to 344"]);
    sandbox.run(&["show", &model, "--svg", "t.svg", "--html", "t.html", "--dot", "t.dot"]).succeeds();
    for file in ["t.svg", "t.html", "t.dot"] {
        assert!(String::from_utf8(sandbox.read(file)).unwrap().contains("Gentoo"), "{file}");
    }
}

#[test]
fn a_support_vector_machine_is_trained_and_drawn() {
    let sandbox = Sandbox::new("svm");
    let model = sandbox.path("ring.ermine");
    let row = |i: usize| {
        let (angle, radius) = (i as f64 * 0.7, if i.is_multiple_of(2) { 1.0 } else { 2.0 } + 0.02 * (i % 7) as f64);
        format!(
            "{},{},{}\n",
            radius * angle.cos(),
            radius * angle.sin(),
            if i.is_multiple_of(2) { "inner" } else { "outer" }
        )
    };
    let table = sandbox.write("ring.csv", &format!("x,y,ring\n{}", (0..60).map(row).collect::<String>()));
    let words = ["train", &table, "-t", "ring", "--learner", "svc", "-o", &model, "--kernel"];
    let soft = [&words[..], &["poly", "--degree", "2"]].concat();
    sandbox.run(&soft).succeeds().prints(&[
        "trained svc with kernel = poly, degree = 2, standardize = true in",
        "minimized: |w|^2 / 2 + 1 * sum of slacks",
        "proven: the optimum is at least",
    ]);
    sandbox.run(&["show", &model]).succeeds().prints(&[
        "polynomials",
        "support vectors (of 60 training rows)",
        "margin 1/|w|",
        "0 misclassified",
    ]);
    sandbox.run(&["show", &model, "--svg", "ring.svg"]).succeeds();
    let drawn = String::from_utf8(sandbox.read("ring.svg")).unwrap();
    assert!(drawn.contains("support vector") && drawn.contains("inner") && drawn.contains("class=\"curve\""));
    let hard = [&words[..], &["linear", "--C", "inf", "--quiet"]].concat();
    sandbox.run(&hard).fails(1, &["can't be separated", "use a finite C"]);
}

#[test]
fn predictions_keep_ids_as_written_and_give_probabilities() {
    let sandbox = Sandbox::new("ids");
    let model = sandbox.model();
    let header = "ring,species,sex,body_mass_g,flipper_length_mm,bill_depth_mm,bill_length_mm,island";
    let rows = "007,?,MALE,4000,190,17,40,Dream\n\"a,b\",?,,,230,,,Atlantis\n";
    let new = sandbox.write("new.csv", &format!("{header}\n{rows}"));
    let output = sandbox.run(&["predict", &model, &new, "--id", "ring", "--proba", "-q"]).succeeds();
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines[0], "ring,predicted_species,probability_Adelie,probability_Chinstrap,probability_Gentoo");
    assert!(lines[1].starts_with("007,Adelie,0."), "{}", output.out);
    assert!(lines[2].starts_with("\"a,b\",Gentoo,0."), "{}", output.out);
    let without_target =
        sandbox.write("x.csv", "flipper_length_mm,sex,body_mass_g,bill_depth_mm,bill_length_mm,island\n230,,,,,\n");
    let output = sandbox.run(&["predict", &model, &without_target]).succeeds();
    assert_eq!(output.out, "predicted_species\nGentoo\n");
}

#[test]
fn parameters_are_set_by_flag_or_by_name() {
    let sandbox = Sandbox::new("params");
    let penguins = penguins();
    let train = ["train", &penguins, "-t", "species", "-o", "m.ermine", "--json"];
    let stump = ["--learner", "decision-stump"];
    let with = |more: &[&str]| {
        let json = sandbox.run(&[&train[..], &stump, more].concat()).succeeds().json();
        json["params"].clone()
    };
    assert_eq!(with(&[])["criterion"], "error");
    let expected = with(&["--criterion", "gini", "--max-categories", "2"]);
    assert_eq!(expected["criterion"], "gini");
    assert_eq!(expected["max_categories"], 2);
    assert_eq!(with(&["--criterion=gini", "--max_categories=2"]), expected);
    assert_eq!(with(&["--set", "criterion=gini", "--set", "max-categories=2"]), expected);
    let words = ["--learner=decision-stump", "--set", "max_categories=2", "--criterion", "gini"];
    assert_eq!(sandbox.run(&[&train[..], &words].concat()).succeeds().json()["params"], expected);
}

#[test]
fn columns_have_types_and_roles() {
    let sandbox = Sandbox::new("roles");
    let rows: String = (0..60).map(|i| format!("r{i},{},{},{},{}\n", i % 3, i % 2, 1 + i % 2, i % 7)).collect();
    let file = sandbox.write("t.csv", &format!("name,kind,y,w,z\n{rows}"));
    let words =
        ["train", &file, "-t", "y", "--type", "kind=nominal", "--weight", "w", "--id", "name", "-o", "m.ermine"];
    let stump = ["--learner", "decision-stump"];
    let json = sandbox.run(&[&words[..], &stump, &["--json"]].concat()).succeeds().json();
    assert_eq!(json["data"]["task"], "classification", "two integers are classes");
    assert_eq!(json["data"]["features"][0]["kind"], "nominal");
    assert_eq!(json["data"]["features"].as_array().unwrap().len(), 2, "kind and z: {json}");
    assert_eq!(json["data"]["weight"], "w");
    let words = ["train", &file, "-t", "y", "--task", "regression", "-o", "m.ermine"];
    let output = sandbox.run(&[&words[..], &stump].concat()).succeeds();
    output.prints(&["regression of a number from 0 to 1", "warning: column 'name' has 60 categories", "--ignore name"]);
    let output = sandbox.run(&[&["train", &file, "-t", "kind", "-o", "m.ermine"][..], &stump].concat()).succeeds();
    output.prints(&["only 3 distinct integers", "--task classification"]);
}

#[test]
fn classes_are_read_again_as_they_were_in_training() {
    let sandbox = Sandbox::new("classes");
    let train = sandbox.write("train.csv", "x,y\n1,01\n2,01\n3,02\n4,02\n5,x\n6,x\n");
    // Without the x, the classes would be taken for the numbers 1 and 2.
    let test = sandbox.write("test.csv", "x,y\n1,01\n4,02\n");
    sandbox.run(&["train", &train, "-t", "y", "--learner", "decision-stump", "-o", "m.ermine"]).succeeds();
    let json = sandbox.run(&["evaluate", "m.ermine", &test, "--json"]).succeeds().json();
    assert_eq!(json["n_rows"], 2);
    assert_eq!(json["confusion"]["classes"], serde_json::json!(["01", "02", "x"]));
}

#[test]
fn learners_are_compared_and_the_next_command_works_as_it_is() {
    let sandbox = Sandbox::new("compare");
    std::fs::copy(penguins(), sandbox.path("my penguins.csv")).unwrap();
    let words =
        ["compare", "my penguins.csv", "--target", "species", "--seed", "3", "--learners", "baseline,decision-stump"];
    let output = sandbox.run(&words).succeeds();
    let output = output.prints(&["5-fold", "Best: decision-stump", "better than the baseline (p < 0.001)", "Next:"]);
    assert_eq!(sandbox.files(), ["my penguins.csv"], "comparing writes nothing");
    let next = output.out.lines().last().unwrap().trim();
    assert!(next.contains("'my penguins.csv'") && next.contains("--seed 3"), "{next}");
    let shell = std::process::Command::new("sh").args(["-c", next]).current_dir(&sandbox.0).output().unwrap();
    assert!(shell.status.success(), "{next}\n{}", String::from_utf8_lossy(&shell.stderr));
    assert_eq!(sandbox.files(), ["my penguins.csv", "species.ermine"]);

    let json = sandbox.run(&[&words[..], &["--json", "--folds", "3"]].concat()).succeeds().json();
    assert_eq!(json["leaderboard"][0]["learner"], "decision-stump");
    assert_eq!(json["leaderboard"][1]["scores"][0]["folds"].as_array().unwrap().len(), 3);
    let json = sandbox.run(&[&words[..6], &["--json"]].concat()).succeeds().json();
    let plain = |row: &&serde_json::Value| row["setting"].as_object().is_some_and(serde_json::Map::is_empty);
    let n_ranked = json["leaderboard"].as_array().unwrap().iter().filter(plain).count();
    assert!(n_ranked >= 20 && json["absent"].as_array().unwrap().is_empty(), "every learner of classes is ranked");
    let names: Vec<&str> =
        json["leaderboard"].as_array().unwrap().iter().filter_map(|r| r["learner"].as_str()).collect();
    assert!(!names.contains(&"calibrated") && !names.contains(&"ridge"), "{names:?}");
}

#[test]
fn learners_without_the_deciding_metric_are_not_compared() {
    let sandbox = Sandbox::new("compare-measure");
    let penguins = penguins();
    let words = ["compare", &penguins, "-t", "species", "--measure", "log-loss", "--trials", "0", "--json"];
    let json = sandbox.run(&[&words[..], &["--learners", "svc,decision-tree,baseline"]].concat()).succeeds().json();
    let compared: Vec<&serde_json::Value> =
        json["leaderboard"].as_array().unwrap().iter().map(|row| &row["learner"]).collect();
    assert!(compared.len() == 2 && compared.iter().all(|name| **name != "svc"), "{compared:?}");
    assert_eq!(json["absent"][0]["learner"], "svc");
    assert!(json["absent"][0]["why"].as_str().unwrap().contains("log loss"), "{}", json["absent"]);
    sandbox.run(&[&words[..], &["--learners", "svc"]].concat()).fails(1, &["svc", "log loss"]);
}

#[test]
fn a_search_resumes_from_its_journal() {
    let sandbox = Sandbox::new("tune");
    let penguins = penguins();
    let words = ["tune", &penguins, "-t", "species", "--learner", "decision-tree", "--folds", "3", "--journal", "j"];
    let tried =
        ["--try", "max-depth=1,2,3", "--try", "min_samples_leaf=1..20", "--search", "grid", "-o", "best.ermine"];
    let all = [&words[..], &tried[..]].concat();
    sandbox.run(&all).succeeds().prints(&[
        "15 settings tried by 3-fold cross-validation",
        "Best: max_depth = ",
        "saved",
    ]);
    sandbox.run(&["evaluate", "best.ermine", &penguins]).succeeds().prints(&["ROC AUC"]);
    let again = sandbox.run(&[&all[..], &["--json"]].concat()).succeeds().json();
    assert_eq!((again["from_journal"].as_u64(), again["trials"].as_array().unwrap().len()), (Some(15), 15));
    sandbox.run(&[&all[..], &["--measure", "macro-f1"]].concat()).fails(1, &["another search"]);
    sandbox.run(&[&words[..], &["--try", "max_depth=0", "-o", "x"]].concat()).fails(2, &["max_depth", "at least 1"]);
    sandbox.run(&[&words[..], &["--measure", "rmse", "-o", "x"]].concat()).fails(2, &["rmse", "accuracy"]);
    let nested = ["--trials", "3", "--max-depth", "3", "--nested", "--json", "-o", "nested.ermine"];
    let words = ["tune", &penguins, "-t", "species", "--learner", "decision-tree", "--folds", "3"];
    let json = sandbox.run(&[&words[..], &nested[..]].concat()).succeeds().json();
    assert!(json["nested"]["mean"].as_f64().unwrap() > 0.8);
    assert!(json["trials"].as_array().unwrap().iter().all(|t| t["setting"].get("max_depth").is_none()));
}

#[test]
fn a_report_is_written() {
    let sandbox = Sandbox::new("report");
    let penguins = penguins();
    sandbox.run(&["train", &penguins, "-t", "species", "--learner", "decision-tree", "-o", "m.ermine"]).succeeds();
    sandbox.run(&["report", "m.ermine", &penguins]).succeeds().prints(&[
        "Scores",
        "Classes",
        "Permutation importances",
        "Certificate",
    ]);
    sandbox.run(&["report", "m.ermine", &penguins, "-o", "r.html"]).succeeds().prints(&["saved"]);
    let page = String::from_utf8(sandbox.read("r.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script"));
    let json = sandbox.run(&["report", "m.ermine", &penguins, "--json"]).succeeds().json();
    assert_eq!(json["learner"], "decision-tree");
    sandbox.run(&["report", "m.ermine", &penguins, "-o", "m.ermine"]).fails(2, &["overwritten"]);
}

#[test]
fn the_same_seed_gives_the_same_file_for_any_number_of_threads() {
    let sandbox = Sandbox::new("threads");
    let penguins = penguins();
    for (threads, name) in [("1", "one.ermine"), ("2", "two.ermine")] {
        let words = ["train", &penguins, "-t", "species", "--seed", "5", "--threads", threads, "-o", name];
        sandbox.run(&words).succeeds();
    }
    assert_eq!(sandbox.read("one.ermine"), sandbox.read("two.ermine"));
}

#[test]
fn a_model_is_drawn_and_exported() {
    let sandbox = Sandbox::new("export");
    let model = sandbox.model();
    sandbox.run(&["show", &model, "--svg", "s.svg"]).succeeds().prints(&["drawn s.svg"]);
    assert!(String::from_utf8(sandbox.read("s.svg")).unwrap().starts_with("<svg"));
    let json = sandbox.run(&["show", &model, "--json"]).succeeds().json();
    assert_eq!(json["model"]["learner"], "decision-stump");
    let whole = sandbox.run(&["export", &model, "--json"]).succeeds();
    assert!(whole.json()["sections"].is_object(), "{}", whole.out);
    sandbox.run(&["export", &model, "--json", "-o", "m.json", "--quiet"]).succeeds();
    assert_eq!(String::from_utf8(sandbox.read("m.json")).unwrap(), whole.out);
    let c = sandbox.run(&["export", &model, "--format", "c"]).succeeds();
    assert!(c.out.contains("void ermine_predict"), "{}", c.out);
    sandbox.run(&["export", &model, "--format", "onnx", "-o", "m.onnx"]).succeeds().prints(&["exported m.onnx"]);
    // The ending prints the format, and one that is none is refused.
    sandbox.run(&["export", &model, "-o", "again.onnx"]).succeeds();
    assert_eq!(sandbox.read("again.onnx"), sandbox.read("m.onnx"));
    sandbox.run(&["export", &model, "-o", "m.py"]).fails(2, &["m.py", "--format onnx, c, rust or json"]);
    sandbox.run(&["show", &model, "--importance", "count"]).succeeds().prints(&["number of splits"]);
}

#[test]
fn a_foreign_model_is_imported_and_predicts() {
    let sandbox = Sandbox::new("import");
    let lines = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\nobjective=regression\nfeature_names=a b\n\n\
        Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=1\nsplit_gain=3\nthreshold=0.5\ndecision_type=10\nleft_child=-1\nright_child=-2\n\
        leaf_value=1.5 2.5\nleaf_count=3 4\ninternal_count=7\n\nend of trees\n";
    let file = sandbox.write("model.txt", lines);
    sandbox.run(&["import", &file, "-o", "m.ermine"]).succeeds().prints(&["imported m.ermine", "1 tree, 2 features"]);
    let rows = sandbox.write("rows.csv", "a,b\n1,0.5\n1,0.6\n1,\n");
    let model = sandbox.path("m.ermine");
    let output = sandbox.run(&["predict", &model, &rows]).succeeds();
    let numbers: Vec<&str> = output.out.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(numbers, ["1.5", "2.5", "1.5"], "{}", output.out);
    sandbox.run(&["show", &model, "--explain", &rows, "--row", "2"]).succeeds().prints(&["b = 0.6"]);
    let wrong = sandbox.write("wrong.txt", "tree\nnum_class=1\n");
    sandbox
        .run(&["import", &wrong, "-o", "n.ermine"])
        .fails(1, &["not a readable LightGBM model", "num_tree_per_iteration"]);
}

#[test]
fn every_learner_is_listed_and_can_be_trained_by_name() {
    let sandbox = Sandbox::new("learners");
    let json = sandbox.run(&["learners", "--json"]).succeeds().json();
    let all = sandbox.run(&["learners"]).succeeds();
    for described in json.as_array().unwrap() {
        let name = described["learner"]["name"].as_str().unwrap();
        assert!(all.out.contains(name), "{name}");
        let one = sandbox.run(&["learners", name]).succeeds();
        let help = sandbox.run(&["train", "--learner", name, "--help"]).succeeds();
        for parameter in described["parameters"].as_array().unwrap() {
            let flag = format!("--{}", parameter["name"].as_str().unwrap().replace('_', "-"));
            assert!(one.out.contains(&flag) && help.out.contains(&flag), "{name} {flag}");
        }
    }
}

#[test]
fn tables_come_in_several_formats() {
    let sandbox = Sandbox::new("formats");
    let model = sandbox.model();
    let text = std::fs::read_to_string(penguins()).unwrap();
    let expected = sandbox.run(&["evaluate", &model, &penguins(), "-q"]).succeeds().out;
    for (name, text) in [("semicolon.csv", text.replace(',', ";")), ("tab.tsv", text.replace(',', "\t"))] {
        let file = sandbox.write(name, &text);
        assert_eq!(sandbox.run(&["evaluate", &model, &file, "-q"]).succeeds().out, expected, "{name}");
    }
    // What is written packed is read packed.
    sandbox.run(&["predict", &model, &penguins(), "--id", "sex", "-o", "out.csv.gz"]).succeeds();
    let words = ["train", "out.csv.gz", "-t", "predicted_species", "--learner", "decision-stump", "-o", "m.ermine"];
    let output = sandbox.run(&words).succeeds();
    output.prints(&["344 rows", "2 classes"]);
}

#[test]
fn a_sparse_row_may_leave_out_the_last_columns() {
    let sandbox = Sandbox::new("sparse");
    let train = sandbox.write("a.libsvm", "1 1:2 3:1\n0 1:1\n1 1:3 3:4\n0 2:1\n");
    let test = sandbox.write("b.libsvm", "1 1:3\n0 2:5\n");
    sandbox.run(&["train", &train, "-t", "label", "--learner", "decision-stump", "-o", "m.ermine"]).succeeds();
    assert_eq!(sandbox.run(&["predict", "m.ermine", &test, "-q"]).succeeds().out, "predicted_label\n1\n0\n");
    sandbox.run(&["evaluate", "m.ermine", &test]).succeeds().prints(&["accuracy"]);
}

#[test]
fn neighbors_of_rows_are_found() {
    let sandbox = Sandbox::new("neighbors");
    let train = sandbox.write("train.csv", "x,y,color\n0,0,red\n3,4,blue\n1,0,red\n6,8,blue\n");
    let learner = ["--learner", "nearest-neighbors", "--n-neighbors", "2", "--standardize", "false"];
    sandbox.run(&[&["train", &train, "-t", "color", "-o", "m.ermine"][..], &learner].concat()).succeeds();
    let new = sandbox.write("new.csv", "y,x\n0,0\n4,3\n");
    let output = sandbox.run(&["neighbors", "m.ermine", &new]).succeeds();
    assert_eq!(
        output.out,
        "query,rank,row,distance,color\n1,1,1,0,red\n1,2,3,1,red\n2,1,2,0,blue\n2,2,3,4.47213595499958,red\n"
    );
    let output = sandbox.run(&["neighbors", "m.ermine", &new, "--radius", "1"]).succeeds();
    assert_eq!(output.out.lines().count(), 4);
    sandbox
        .run(&["neighbors", "m.ermine", &new, "-k", "3", "-o", "out.csv"])
        .succeeds()
        .prints(&["6 neighbors of 2 rows"]);
    sandbox.run(&["neighbors", "m.ermine", &new, "--radius=-1"]).fails(1, &["radius"]);
    sandbox.run(&["neighbors", "m.ermine", &new, "-k", "2", "--radius", "1"]).fails(2, &["--radius"]);
    // A model of a radius prints who is within it; rows have the numbers of the training data, whichever are kept.
    let learner = ["--learner", "nearest-neighbors", "--radius", "2", "--standardize", "false"];
    sandbox.run(&[&["train", &train, "-t", "color", "-o", "r.ermine"][..], &learner].concat()).succeeds();
    let output = sandbox.run(&["neighbors", "r.ermine", &new]).succeeds();
    assert_eq!(output.out, "query,rank,row,distance,color\n1,1,1,0,red\n1,2,3,1,red\n2,1,2,0,blue\n");
    let sorted = sandbox.write("sorted.csv", "x,color\n0,red\n1,red\n2,red\n9,blue\n10,blue\n");
    let learner =
        ["--learner", "nearest-neighbors", "--keep", "condensed", "--n-neighbors", "1", "--standardize=false"];
    sandbox.run(&[&["train", &sorted, "-t", "color", "-o", "c.ermine"][..], &learner].concat()).succeeds();
    let asked = sandbox.write("asked.csv", "x\n8\n");
    let output = sandbox.run(&["neighbors", "c.ermine", &asked]).succeeds();
    assert_eq!(output.out, "query,rank,row,distance,color\n1,1,4,1,blue\n");
    // Text is compared as text, names that training didn't have too.
    let names = sandbox.write("names.csv", "name,side\nanna,a\nhanna,a\nlotte,b\notto,b\n");
    let learner = ["--learner", "nearest-neighbors", "--metric", "edit", "--n-neighbors", "1"];
    sandbox.run(&[&["train", &names, "-t", "side", "-o", "names.ermine"][..], &learner].concat()).succeeds();
    let new = sandbox.write("new-names.csv", "name\nlotto\nhannah\n");
    let output = sandbox.run(&["neighbors", "names.ermine", &new]).succeeds();
    assert_eq!(output.out, "query,rank,row,distance,side\n1,1,3,1,b\n2,1,2,1,a\n");
    sandbox.run(&["train", &train, "-t", "color", "--learner", "decision-stump", "-o", "stump.ermine"]).succeeds();
    sandbox.run(&["neighbors", "stump.ermine", &new]).fails(2, &["nearest-neighbors"]);
}

#[test]
fn a_forest_is_grown_in_two_steps_inspected_and_predicts_quantiles() {
    let sandbox = Sandbox::new("forest");
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
        sandbox.run(&[&base[..], more].concat()).succeeds()
    };
    train(&["--n-estimators", "5", "--seed", "3", "-o", "half.ermine"]);
    train(&["--n-estimators", "12", "--init-model", "half.ermine", "-o", "whole.ermine"]);
    train(&["--n-estimators", "12", "--seed", "3", "-o", "once.ermine"]);
    assert!(sandbox.read("whole.ermine") == sandbox.read("once.ermine"), "continued with the seed it was started with");
    sandbox.run(&["show", "whole.ermine"]).succeeds().prints(&["the average of 12 trees", "feature importances"]);
    sandbox.run(&["show", "whole.ermine", "--tree", "1"]).succeeds().prints(&["species in {Adelie, Chinstrap}?", "→"]);
    sandbox
        .run(&["show", "whole.ermine", "--shap", &penguins])
        .succeeds()
        .prints(&["SHAP values on 344 rows", "flipper_length_mm"]);
    let dependence = ["show", "whole.ermine", "--dependence", "flipper_length_mm", "--on", &penguins];
    sandbox
        .run(&[&dependence[..], &["--svg", "d.svg"]].concat())
        .succeeds()
        .prints(&["mean prediction over 344 rows", "drawn d.svg"]);
    assert!(String::from_utf8(sandbox.read("d.svg")).unwrap().contains("flipper_length_mm"));
    let values = &sandbox.run(&[&dependence[..], &["--json"]].concat()).succeeds().json()["dependence"];
    let means: Vec<f64> = values["means"].as_array().unwrap().iter().map(|m| m[0].as_f64().unwrap()).collect();
    assert!(means[means.len() - 1] > means[0] + 300.0, "longer flippers, heavier birds: {means:?}");
    sandbox
        .run(&["show", "whole.ermine", "--dependence", "flipper", "--on", &penguins])
        .fails(2, &["no column named 'flipper'", "flipper_length_mm"]);
    sandbox.run(&["show", "whole.ermine", "--dependence", "flipper"]).fails(2, &["--on"]);
    sandbox
        .run(&["show", "whole.ermine", "--tree", "13"])
        .fails(2, &["--tree 13 is out of range (the model has members 1 to 12)"]);
    let output = sandbox.run(&["predict", "whole.ermine", &penguins, "--quantiles", "0.1,0.9"]).succeeds();
    assert_eq!(output.out.lines().next(), Some("predicted_body_mass_g,quantile_0.1,quantile_0.9"));
}

#[test]
fn the_training_error_of_adaboost_is_plotted_under_its_bound() {
    let sandbox = Sandbox::new("adaboost");
    sandbox
        .run(&["train", &penguins(), "-t", "sex", "--drop-missing-target", "--learner", "adaboost", "-o", "m.ermine"])
        .succeeds()
        .prints(&["the training error"]);
    let output = sandbox.run(&["show", "m.ermine", "--svg", "m.svg"]).succeeds();
    output.prints(&["eps", "alpha", "training error (o) under its bound (-)"]);
    assert!(String::from_utf8(sandbox.read("m.svg")).unwrap().contains("bound: product of Z"));
}

#[test]
fn labels_are_learned_from_columns_and_from_lists() {
    let sandbox = Sandbox::new("labels");
    let (mut columns, mut lists) = ("x,sour,sweet\n".to_string(), "x,taste\n".to_string());
    for i in 0..60 {
        let (sour, sweet) = (i % 20 < 10, i % 5 < 2);
        let x = 2 * i32::from(sour) + 4 * i32::from(sweet);
        columns += &format!("{x},{},{}\n", u8::from(sour), u8::from(sweet));
        lists += &format!("{x},{}\n", [["", "sweet"], ["sour", "sour; sweet"]][usize::from(sour)][usize::from(sweet)]);
    }
    let (columns, lists) = (sandbox.write("columns.csv", &columns), sandbox.write("lists.csv", &lists));
    let by_columns = ["train", &columns, "--target", "sour,sweet", "-o", "c.ermine"];
    let output =
        sandbox.run(&[&by_columns[..], &["--learner", "label-powerset", "--estimator", "decision-tree"]].concat());
    output.succeeds().prints(&["multilabel of 2 labels (sour: 30, sweet: 24)", "2 labels, 4 label sets as classes"]);
    sandbox.run(&["evaluate", "c.ermine", &columns]).succeeds().prints(&[
        "subset accuracy",
        "Hamming loss",
        "micro F1",
    ]);
    let output = sandbox.run(&["predict", "c.ermine", &columns, "-q"]).succeeds();
    assert!(output.out.starts_with("predicted_sour,predicted_sweet\n1,1\n1,1\n1,0\n"), "{}", output.out);
    // A learner of classes is reduced by itself, and prints so.
    let by_list = ["train", &lists, "--target", "taste", "--task", "multilabel", "--learner", "decision-tree"];
    let output = sandbox.run(&[&by_list[..], &["-o", "l.ermine"]].concat()).succeeds();
    output.prints(&["2 labels, one binary classifier each: decision-tree"]);
    sandbox.run(&["show", "l.ermine"]).succeeds().prints(&["binary-relevance", "multilabel of 2 labels (sour, sweet)"]);
    let output = sandbox.run(&["predict", "l.ermine", &lists, "-q", "--proba"]).succeeds();
    assert!(
        output.out.starts_with("predicted_taste,probability_sour,probability_sweet\n\"sour;sweet\",1,1\n"),
        "{}",
        output.out
    );
    assert_eq!(
        sandbox.run(&["evaluate", "l.ermine", &lists, "--json"]).succeeds().json()["scores"][0]["score"]["value"],
        1.0
    );
    let strange = sandbox.write("strange.csv", "x,taste\n1,bitter\n");
    sandbox.run(&["evaluate", "l.ermine", &strange]).fails(1, &["bitter"]);
    sandbox
        .run(&["train", &columns, "-t", "sour,x", "--task", "multilabel", "-o", "m.ermine"])
        .fails(1, &["'x' is not a label"]);
    sandbox.run(&["train", &columns, "-t", "sour,sour", "-o", "m.ermine"]).fails(2, &["named twice by --target"]);
}

#[test]
fn rankings_are_learned_within_queries() {
    let sandbox = Sandbox::new("ranking");
    let mut rows = String::new();
    for i in 0..90u32 {
        let (grade, noise) = (i * 7 % 3, i * 13 % 5);
        rows += &format!("{grade} qid:{} 1:{} 2:{noise}\n", i / 9, f64::from(grade) + f64::from(noise) / 10.0);
    }
    let file = sandbox.write("rank.letor", &rows);
    for (learner, prints) in [
        ("rank-svm", "over the pairs of 10 queries"),
        ("pairwise-ranking", "training pairs, each in both directions: logistic-regression"),
        ("omega-ranking", "the expected omega loss (all-pairs)"),
        ("gradient-boosting", ""),
    ] {
        let words = ["train", &file, "--group", "qid", "--task", "rank", "--learner", learner, "-o", "r.ermine"];
        sandbox.run(&words).succeeds().prints(&["label: ranking", "10 queries by qid", prints]);
        let output = sandbox.run(&["evaluate", "r.ermine", &file, "--json"]).succeeds().json();
        assert_eq!(output["scores"][0]["name"], "NDCG@10");
        // Few rows for trees with leaves of many.
        let least = if learner == "gradient-boosting" { 0.7 } else { 0.99 };
        assert!(output["scores"][0]["score"]["value"].as_f64().unwrap() > least, "{learner}: {output}");
        let output = sandbox.run(&["predict", "r.ermine", &file, "-q"]).succeeds();
        assert_eq!(output.out.lines().count(), 91);
    }
    let tree = ["--learner", "pairwise-ranking", "--estimator", "decision-tree(max_depth=3)", "-o", "t.ermine"];
    sandbox.run(&[&["train", &file, "--group", "qid"][..], &tree].concat()).succeeds();
    let bare = sandbox.write("bare.csv", "1,2\n1,0\n2,0\n");
    sandbox.run(&["predict", "t.ermine", &bare]).fails(1, &["no column named 'qid'"]);
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
    sandbox.run(&words).fails(2, &["omega", "symmetric"]);
    let csv = sandbox.write("plain.csv", "a,b\n1,2\n");
    sandbox.run(&["train", &csv, "-o", "p.ermine"]).fails(2, &["pass --target COLUMN"]);
}

#[test]
fn one_class_svm_learns_without_a_target() {
    let sandbox = Sandbox::new("one-class");
    let model = sandbox.path("odd.ermine");
    let row = |i: usize| format!("{},{}\n", (i as f64).sin(), (i as f64 * 1.7).cos());
    let table = sandbox.write("normal.csv", &format!("a,b\n{}", (0..60).map(row).collect::<String>()));
    let words = ["train", &table, "--learner", "one-class-svm", "--nu", "0.1", "-o", &model];
    sandbox
        .run(&words)
        .succeeds()
        .prints(&["none (the learner is unsupervised)", "the fraction of training rows outside"]);
    let new = sandbox.write("new.csv", &format!("a,b\n{}90,90\n", (0..60).map(row).collect::<String>()));
    sandbox.run(&["predict", &model, &new, "-o", "out.csv", "-q"]).succeeds();
    let out = String::from_utf8(sandbox.read("out.csv")).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    let outside = lines[1..61].iter().filter(|line| line.starts_with('-')).count();
    assert!(lines[0] == "predicted_score" && outside <= 6 && lines[61].starts_with('-'), "{out}");
    sandbox.run(&["evaluate", &model, &new]).fails(1, &["is unsupervised"]);
    sandbox.run(&["train", &table, "-o", &model]).fails(2, &["the target column is missing", "--target COLUMN"]);
}

#[test]
fn a_learner_of_labels_reads_a_list_of_labels_and_a_reduction_is_named() {
    let sandbox = Sandbox::new("labels");
    let model = sandbox.path("labels.ermine");
    let row = |i: usize| format!("{i},{}\n", ["red;round", "red", "", "round"][i % 4]);
    let table = sandbox.write("labels.csv", &format!("x,labels\n{}", (0..40).map(row).collect::<String>()));
    let words = ["train", &table, "-t", "labels", "-o", &model, "--learner", "classifier-chain"];
    sandbox
        .run(&[&words[..], &["--set", "estimator=decision-stump"]].concat())
        .succeeds()
        .prints(&["multilabel of 2 labels"]);
    let words = ["train", &penguins(), "-t", "species", "-o", &model, "--learner", "linear-svc"];
    let output = sandbox.run(&words).succeeds();
    output.prints(&["trained linear-svc with standardize = true in"]);
    let words = ["train", &penguins(), "-t", "species", "-o", &model, "--learner", "halfspace"];
    sandbox.run(&words).succeeds().prints(&["trained halfspace by one-vs-rest in"]);
}

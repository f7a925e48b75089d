//! Data at the door: how files are read, and what is reported about them.

use crate::{RunOutput, Sandbox, penguins};

/// A table of `n` rows, each made by `row`.
fn table(header: &str, n: usize, row: impl Fn(usize) -> String) -> String {
    format!("{header}\n{}", (0..n).map(|i| row(i) + "\n").collect::<String>())
}

fn features(json: &serde_json::Value) -> Vec<(String, String)> {
    let features = json["data"]["features"].as_array().unwrap().iter();
    features.map(|f| (f["name"].as_str().unwrap().into(), f["kind"].as_str().unwrap().into())).collect()
}

#[test]
fn dates_become_a_time_line_month_weekday_and_hour() {
    let sandbox = Sandbox::new("dates");
    let day = |i: usize| format!("{:02}/{:02}/2017 {:02}:00", i % 28 + 1, i / 28 % 12 + 1, i % 24);
    let file = sandbox.write("bikes.csv", &table("date,y", 400, |i| format!("{},{}", day(i), i % 24)));
    let words = ["train", &file, "-t", "y", "--learner", "decision-tree", "-o", "m.ermine"];
    let json = sandbox.run(&[&words[..], &["--json"]].concat()).succeeds().json();
    let names: Vec<String> = features(&json).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["date", "date.month", "date.weekday", "date.hour"]);
    let scores = sandbox.run(&["evaluate", "m.ermine", &file, "--json"]).succeeds().json();
    assert_eq!(scores["scores"][3]["score"]["value"], 1.0, "the hour explains all: {scores}");
    // One row alone doesn't say whether days or months come first; the model remembers it.
    let one = sandbox.write("one.csv", "date\n03/04/2017 17:00\n");
    let output = sandbox.run(&["predict", "m.ermine", &one]).succeeds();
    assert_eq!(output.out, "predicted_y\n17\n");
    let json = sandbox.run(&[&words[..], &["--json", "--type", "date=nominal"]].concat()).succeeds().json();
    assert_eq!(features(&json), [("date".to_string(), "nominal".to_string())]);
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let sandbox = Sandbox::new("written");
    let text = table("price;rate;size;y", 60, |i| {
        format!("$1,{:03}.50;{},5;{i} %;{}", i * 7, i * 3, if i % 2 == 0 { "a" } else { "b" })
    });
    let file = sandbox.write("prices.csv", &text);
    let words = ["train", &file, "-t", "y", "--learner", "decision-tree", "-o", "m.ermine", "--json"];
    let json = sandbox.run(&words).succeeds().json();
    assert!(features(&json).iter().all(|(_, kind)| kind == "numeric"), "{json}");
    // In a single row, 1,234 is ambiguous; the model knows that the column has decimal commas.
    let one = sandbox.write("one.csv", "price;rate;size\n$1,007.50;1,234;3 %\n");
    let json = sandbox.run(&["predict", "m.ermine", &one, "--json"]).succeeds().json();
    assert_eq!(json["differences"]["n_rows_out_of_range"], 0, "1.234, not 1234: {json}");
}

#[test]
fn a_stray_word_is_missing_with_its_line_or_refused() {
    let sandbox = Sandbox::new("stray");
    let text = table("x,y", 80, |i| if i == 40 { "oops,1".into() } else { format!("{}.5,{}", i, i % 9) });
    let file = sandbox.write("stray.csv", &text);
    let words = ["train", &file, "-t", "y", "--learner", "decision-tree", "-o", "m.ermine"];
    let output = sandbox.run(&words).succeeds();
    output.prints(&["column 'x', line 42: 'oops' is not a number and counts as missing", "1 (1 numeric)"]);
    sandbox.run(&[&words[..], &["--strict"]].concat()).fails(1, &["line 42, column 'x': 'oops' is not a number"]);
    sandbox.run(&[&words[..], &["--na-values", "oops"]].concat()).succeeds().prints(&["1 (1 numeric)"]);
    let few = sandbox.write("few.csv", &table("x,y", 80, |i| format!("{},{i}", ["1", "2", "x"][i % 3])));
    let json = sandbox.run(&["train", &few, "-t", "y", "-o", "m.ermine", "--json"]).succeeds().json();
    assert_eq!(features(&json)[0].1, "nominal", "few numbers and many words are categories");
}

#[test]
fn reading_options_are_applied() {
    let sandbox = Sandbox::new("reading");
    let rows = table("x|größe|y", 40, |i| format!("{i},5|{}|{}", i % 3, if i % 2 == 0 { "ä" } else { "b" }));
    let latin: Vec<u8> = rows.chars().map(|c| c as u32 as u8).collect();
    std::fs::write(sandbox.path("latin.csv"), latin).unwrap();
    let file = sandbox.path("latin.csv");
    let words = ["train", &file, "--delimiter", "|", "--encoding", "latin-1", "--decimal", ",", "-t", "y", "--json"];
    let words = [&words[..], &["--learner", "decision-tree", "-o", "m.ermine"]].concat();
    let json = sandbox.run(&words).succeeds().json();
    assert_eq!(features(&json)[1].0, "größe");
    assert_eq!(json["data"]["classes"][0]["name"], "b");
    let units: Vec<u8> = rows.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(sandbox.path("wide.csv"), [&b"\xff\xfe"[..], &units].concat()).unwrap();
    let wide = sandbox.path("wide.csv");
    let json = sandbox.run(&["describe", &wide, "--delimiter", "|", "--json"]).succeeds().json();
    assert_eq!(json["table"]["columns"][1]["name"], "größe");
    let bare = sandbox.write("bare.csv", &table("0.5,1", 30, |i| format!("{i}.5,{}", i % 7)));
    let json = sandbox.run(&["train", &bare, "--no-header", "-t", "c1", "-o", "m.ermine", "--json"]).succeeds().json();
    assert_eq!((&json["data"]["n_rows"], features(&json)[0].0.as_str()), (&31.into(), "c0"));
    sandbox.run(&["describe", &bare, "--encoding", "ebcdic"]).fails(2, &["no encoding named 'ebcdic'"]);
    sandbox.run(&["describe", &bare, "--delimiter", "ab"]).fails(2, &["one character"]);
}

#[cfg(unix)]
#[test]
fn standard_input_is_a_table() {
    let sandbox = Sandbox::new("stdin");
    let model = sandbox.model();
    let mut command = sandbox.command(&["predict", &model, "-"]);
    let output = command.stdin(std::fs::File::open(penguins()).unwrap()).output().unwrap();
    let output = RunOutput::from(&["predict", "-"], output).succeeds();
    assert_eq!(output.out.lines().count(), 345);
}

#[test]
fn what_differs_from_training_is_reported_at_prediction() {
    let sandbox = Sandbox::new("differences");
    let model = sandbox.model();
    let text = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,extra\n\
                Atlantis,40,17,190,4000,MALE,1\nDream,40,17,900,4000,MALE,1\n";
    let new = sandbox.write("new.csv", text);
    let output = sandbox.run(&["predict", &model, &new, "-o", "out.csv"]);
    assert_eq!(output.code, Some(0));
    for part in ["column 'island'", "1 row with categories", "(such as 'Atlantis')", "1 of 2 rows", "flipper_length_mm"]
    {
        assert!(output.err.contains(part), "{part}: {}", output.err);
    }
    let json = sandbox.run(&["predict", &model, &new, "--json"]).succeeds().json();
    assert_eq!(json["predictions"].as_array().unwrap().len(), 2);
    assert_eq!(json["predictions"][0]["predicted_species"], "Adelie");
    assert_eq!(json["differences"]["extra_columns"][0], "extra");
    assert_eq!(json["differences"]["unknown_categories"][0]["n_rows"], 1);
    let output = sandbox.run(&["predict", &model, &new, "--id", "extra,island", "-q"]).succeeds();
    assert!(output.out.starts_with("extra,island,predicted_species\n1,Atlantis,"), "{}", output.out);
}

#[test]
fn a_table_is_described() {
    let sandbox = Sandbox::new("describe");
    let p = penguins();
    let output = sandbox.run(&["describe", &p]).succeeds();
    output.prints(&["344 rows, 7 columns", "bill_length_mm", "32.1 to 59.6, median 44.45", "Adelie 44%"]);
    let output = sandbox.run(&["describe", &p, "--target", "species"]).succeeds();
    output.prints(&["classification of 3 classes", "distinct"]);
    let json = sandbox.run(&["describe", &p, "--json"]).succeeds().json();
    assert_eq!(json["table"]["columns"].as_array().unwrap().len(), 7);
    let same = sandbox.write("same.csv", &table("copy,x,y", 40, |i| format!("{0},{1},{0}", i % 2, i)));
    let output = sandbox.run(&["describe", &same, "-t", "y"]).succeeds();
    output.prints(&["column 'copy' determines the target 'y' exactly", "--ignore copy"]);
}

#[test]
fn a_table_is_split() {
    let sandbox = Sandbox::new("split");
    let file = sandbox.write("t.csv", &table("id,c", 100, |i| format!("{:03},{}", i, ["a", "a", "a", "NA"][i % 4])));
    sandbox.run(&["split", &file, "--test", "0.2", "--stratify", "idd"]).fails(2, &["did you mean 'id'?"]);
    sandbox.run(&["split", &file, "--test", "0.2", "--seed", "3"]).succeeds().prints(&["80 rows", "20 rows"]);
    let (train, test) = (sandbox.read("t-train.csv"), sandbox.read("t-test.csv"));
    let lines = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8(bytes.to_vec()).unwrap().lines().skip(1).map(String::from).collect()
    };
    let all: Vec<String> = [lines(&train), lines(&test)].concat();
    let mut sorted: Vec<String> = all.clone();
    sorted.sort();
    let expected: Vec<String> = std::fs::read_to_string(&file).unwrap().lines().skip(1).map(String::from).collect();
    assert_eq!(sorted, expected, "each row once, as it was written");
    sandbox.run(&["split", &file, "--test", "1.5"]).fails(2, &["1.5", "a share between 0 and 1"]);
    let grouped = sandbox.write("g.csv", &table("g,x", 100, |i| format!("g{},{i}", i / 10)));
    sandbox.run(&["split", &grouped, "--test", "0.3", "--group", "g"]).succeeds();
    let groups = |name: &str| -> std::collections::BTreeSet<String> {
        let text = String::from_utf8(sandbox.read(name)).unwrap();
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    assert!(groups("g-train.csv").is_disjoint(&groups("g-test.csv")));
}

#[test]
fn several_targets_have_scores_of_their_own() {
    let sandbox = Sandbox::new("targets");
    let file = sandbox.write("two.csv", &table("x,a,b", 60, |i| format!("{i},{},{}", i * 2, (i * 7919) % 1000)));
    sandbox.run(&["train", &file, "-t", "a,b", "--learner", "linear-regression", "-o", "m.ermine"]).succeeds();
    let output = sandbox.run(&["evaluate", "m.ermine", &file]).succeeds();
    output.prints(&["means over 2 targets", "target", "RMSE"]);
    let json = sandbox.run(&["evaluate", "m.ermine", &file, "--json"]).succeeds().json();
    let rmse = |k: usize| json["targets"][k]["rmse"].as_f64().unwrap();
    assert!(rmse(0) < 1e-6 && rmse(1) > 100.0, "{json}");
    assert!((json["scores"][0]["score"]["value"].as_f64().unwrap() - (rmse(0) + rmse(1)) / 2.0).abs() < 1e-9);
}

#[test]
fn test_rows_that_are_training_rows_are_counted() {
    let sandbox = Sandbox::new("shared");
    let text = table("x,y", 60, |i| format!("{i},{}", i % 7));
    let (train, test) = (sandbox.write("train.csv", &text), sandbox.write("test.csv", "x,y\n5,5\n100,2\n6,1\n"));
    let words = ["cross-validate", &train, "-t", "y", "--learner", "decision-tree", "--test", &test];
    let output = sandbox.run(&words);
    assert!(output.err.contains("1 of 3 test rows are also in the training set"), "{}", output.err);
}

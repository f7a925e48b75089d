//! Every golden file says what made it.

use serde_json::Value as Json;
use std::path::Path;

#[test]
fn golden_files_name_their_script_and_the_versions_of_the_libraries() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = root.join("../..");
    let list = std::fs::read_to_string(tools.join("tools/README.md")).unwrap();
    let files = std::fs::read_dir(root.join("tests/golden")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.push(root.join("tests/golden/exchange/cases.json"));
    files.push(root.join("../ermine-core/tests/golden/measures.json"));
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let golden: Json = serde_json::from_str(&text).unwrap();
        let (made_by, file) = (&golden["made_by"], file.display());
        let script = made_by["script"].as_str().unwrap_or_else(|| panic!("{file} has no header"));
        assert!(tools.join(script).is_file(), "{file}: no {script}");
        assert!(list.contains(script.trim_start_matches("tools/")), "tools/README.md does not list {script}");
        let libraries = made_by["libraries"].as_object().unwrap();
        let is_version = |v: &Json| v.as_str().is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()));
        assert!(!libraries.is_empty() && libraries.values().all(is_version), "{file}: {made_by}");
    }
}

/// Models of other libraries are kept as these wrote them; XGBoost's name its version themselves, and `cases.json` names both.
#[test]
fn models_of_other_libraries_are_of_the_versions_that_the_cases_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/exchange");
    let json =
        |name: &str| -> Json { serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap() };
    let cases = json("cases.json");
    let version = cases["made_by"]["libraries"]["xgboost"].as_str().unwrap();
    for case in cases["cases"].as_array().unwrap() {
        let name = case["file"].as_str().unwrap();
        if name.starts_with("xgb") && name.ends_with(".json") {
            let parts: Vec<String> = json(name)["version"].as_array().unwrap().iter().map(Json::to_string).collect();
            assert_eq!(parts.join("."), version, "{name}");
        }
    }
}

//! The plan of the house is kept: dependencies between rooms point one way, the way of the data.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in the order in which data goes through them. A room may use what stands before it.
const WAY: &[&str] = &[
    "error",
    "param",
    "rng",
    "progress",
    "section",
    "chart",
    "distribution",
    "metric",
    "linalg",
    "simd",
    "table",
    "matrix",
    "loss",
    "penalty",
    "kernel",
    "neighbor",
    "split",
    "optim",
    "tree",
    "boost",
    "model",
    "measure",
    "learner",
    "reduction",
    "registry",
    "exchange",
    "evaluate",
    "explain",
    "report",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
}

/// The rooms that a source file names, tests left out.
fn used(text: &str) -> Vec<String> {
    let code: String = text
        .split("#[cfg(test)]")
        .next()
        .unwrap_or("")
        .lines()
        .filter(|l| !l.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + 7..];
        let list = rest.strip_prefix('{').map(|list| list.split('}').next().unwrap_or("")).unwrap_or(rest);
        let words = if rest.starts_with('{') { list.split(',').collect() } else { vec![list] };
        names.extend(
            words.iter().map(|w| w.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()),
        );
    }
    names
}

#[test]
fn rooms_use_only_rooms_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 20, "the sources are where they are looked for");
    let place = |room: &str| WAY.iter().position(|r| *r == room);
    let mut against = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).unwrap();
        let room =
            relative.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_string();
        if room == "lib" {
            continue;
        }
        let here =
            place(&room).unwrap_or_else(|| panic!("room '{room}' has no place on the way of the data: give it one"));
        for name in used(&fs::read_to_string(&file).unwrap()) {
            if place(&name).is_some_and(|there| there > here) {
                against.push(format!("{} uses {name}", relative.display()));
            }
        }
    }
    assert!(against.is_empty(), "against the way of the data:\n{}", against.join("\n"));
}

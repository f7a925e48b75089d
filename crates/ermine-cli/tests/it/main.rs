//! The built program, run as a new user would, mistakes included.

// A test stops at the first surprise.
#![allow(clippy::unwrap_used)]

mod auto;
mod behavior;
mod boosting;
mod door;
mod examples;
mod limits;
mod messages;
mod mistakes;
mod options;
mod select;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod work;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The shipped table.
fn penguins() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/penguins.csv").display().to_string()
}

/// A directory of its own for a test, empty at first.
struct Sandbox(PathBuf);

impl Sandbox {
    fn new(name: &str) -> Sandbox {
        // Two tests may choose the same name; the thread of a test is named after the test.
        let test = std::thread::current().name().unwrap_or("main").replace("::", "-");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{test}-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Sandbox(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }

    /// The names of all files in it.
    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Runs the program here.
    fn run(&self, words: &[&str]) -> RunOutput {
        RunOutput::from(words, self.command(words).output().unwrap())
    }

    /// The program with these arguments and no others.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ermine"));
        command.args(words).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// Trains a stump on the penguins and gives the name of the model file.
    fn model(&self) -> String {
        let path = self.path("species.ermine");
        self.run(&["train", &penguins(), "--target", "species", "--learner", "decision-stump", "-o", &path]).succeeds();
        path
    }
}

/// What the program output and how it ended.
struct RunOutput {
    words: String,
    out: String,
    err: String,
    code: Option<i32>,
}

impl RunOutput {
    fn from(words: &[&str], output: Output) -> RunOutput {
        RunOutput {
            words: words.join(" "),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }

    fn succeeds(self) -> RunOutput {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "ermine {}\n{}", self.words, self.out);
        self
    }

    /// It failed with this exit code, saying these things on stderr and nothing on stdout.
    #[track_caller]
    fn fails(self, code: i32, parts: &[&str]) -> RunOutput {
        assert_eq!(self.code, Some(code), "ermine {}\n{}{}", self.words, self.out, self.err);
        assert!(self.err.starts_with("error: "), "ermine {}\n{}", self.words, self.err);
        for part in parts {
            assert!(self.err.contains(part), "ermine {}\nexpected '{part}' in\n{}", self.words, self.err);
        }
        assert_eq!(self.out, "", "ermine {}", self.words);
        self
    }

    #[track_caller]
    fn prints(self, parts: &[&str]) -> RunOutput {
        for part in parts {
            assert!(self.out.contains(part), "ermine {}\nexpected '{part}' in\n{}", self.words, self.out);
        }
        self
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in\n{}", self.out))
    }
}

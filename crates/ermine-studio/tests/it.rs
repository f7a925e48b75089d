//! The studio over loopback, with a client of a few lines that speaks plain HTTP/1.1.
#![allow(clippy::unwrap_used)]

use ermine::model_selection::{Validation, cross_validate};
use ermine::prelude::*;
use ermine_studio::{Studio, StudioConfig, StudioStopper};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ermine-studio-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(path.join("work")).unwrap();
        let penguins = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/penguins.csv");
        std::fs::copy(penguins, path.join("work/penguins.csv")).unwrap();
        Scratch(path)
    }

    /// The start folder of the studio.
    fn work(&self) -> PathBuf {
        self.0.join("work")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A studio that runs in a thread, and a client that knows its token.
struct Running {
    address: SocketAddr,
    token: String,
    stopper: StudioStopper,
    thread: Option<JoinHandle<()>>,
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v))
    }
}

impl Running {
    fn start(config: &StudioConfig) -> Running {
        let studio = Studio::bind(config).unwrap();
        let url = studio.url();
        let (address, stopper) = (studio.address(), studio.stopper());
        let token = url.rsplit_once('=').unwrap().1.to_string();
        let thread = std::thread::spawn(move || studio.run().unwrap());
        Running { address, token, stopper, thread: Some(thread) }
    }

    fn in_folder(folder: &Path) -> Running {
        Running::start(&StudioConfig::new(folder))
    }

    /// Sends a request as it is.
    fn send(&self, head: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let length = format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(format!("{head}{length}").as_bytes()).unwrap();
        // A refused upload may be answered before all of it is sent.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or_else(|| panic!("{head}: no answer"));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        Reply { status: head[9..12].parse().unwrap(), head, body: bytes[end + 4..].to_vec() }
    }

    fn request(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n", self.address, self.token);
        self.send(&head, body)
    }

    fn get(&self, path: &str) -> Value {
        let reply = self.request("GET", path, b"");
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        reply.json()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.request("POST", path, body.to_string().as_bytes());
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        reply.json()
    }

    /// The status and the message of a request that is refused.
    fn refused(&self, path: &str, body: &Value) -> (u16, String) {
        let reply = self.request("POST", path, body.to_string().as_bytes());
        (reply.status, reply.json()["message"].as_str().unwrap_or_default().to_string())
    }

    fn open_penguins(&self) {
        self.post("/api/open", &json!({ "path": "penguins.csv" }));
        self.post("/api/target", &json!({ "target": "species" }));
    }

    /// The events of a comparison until `enough` is true of one: (name, data).
    fn events(&self, run: u64, enough: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let head = format!(
            "GET /api/runs/{run}/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        let (mut found, mut name) = (Vec::new(), String::new());
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_string();
            } else if let Some(data) = line.strip_prefix("data: ") {
                found.push((name.clone(), serde_json::from_str(data).unwrap()));
                let (name, data) = &found[found.len() - 1];
                if enough(name, data) {
                    return found;
                }
            }
        }
        panic!("the stream ended: {found:?}");
    }

    fn wait_for_run(&self, run: u64) -> Value {
        let is_over = |name: &str, data: &Value| name == "run" && data["status"] != "running";
        self.events(run, is_over).pop().unwrap().1
    }

    fn wait_for_model(&self, id: &Value) -> Value {
        for _ in 0..1200 {
            let model = self.get(&format!("/api/models/{id}"));
            if model["status"] != "training" {
                return model;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the model is never ready");
    }

    fn train(&self, learner: &str) -> Value {
        let model = self.post("/api/models", &json!({ "learner": learner }));
        let model = self.wait_for_model(&model["id"]);
        assert_eq!(model["status"], "ready", "{}", model["message"]);
        model
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn penguins(folder: &Path) -> Dataset {
    let roles = Roles { drop_missing_target: true, ..Roles::target("species") };
    Dataset::new(Table::read(folder.join("penguins.csv")).unwrap(), &roles).unwrap()
}

#[test]
fn requests_need_the_token_and_a_local_host() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    let host = studio.address.to_string();
    let with = |headers: &str| studio.send(&format!("GET /api/session HTTP/1.1\r\n{headers}"), b"").status;
    let bearer = format!("Authorization: Bearer {}\r\n", studio.token);
    assert_eq!(with(&format!("Host: {host}\r\n")), 401);
    assert_eq!(with(&format!("Host: {host}\r\nAuthorization: Bearer {}\r\n", "0".repeat(64))), 401);
    assert_eq!(with(&format!("Host: {host}\r\n{bearer}")), 200);
    assert_eq!(with(&format!("Host: localhost:{}\r\n{bearer}", studio.address.port())), 200);
    // Another name that resolves to this machine, and a page of another site.
    assert_eq!(with(&format!("Host: evil.example:{}\r\n{bearer}", studio.address.port())), 403);
    assert_eq!(with(&format!("Host: {host}\r\nOrigin: http://evil.example\r\n{bearer}")), 403);
    assert_eq!(with(&format!("Host: {host}\r\nOrigin: http://{host}\r\n{bearer}")), 200);
    // The token in the address works for pages, not for the API, and becomes a cookie.
    assert_eq!(
        studio.send(&format!("GET /api/session?token={} HTTP/1.1\r\nHost: {host}\r\n", studio.token), b"").status,
        401
    );
    let entered = studio.send(&format!("GET /?token={} HTTP/1.1\r\nHost: {host}\r\n", studio.token), b"");
    assert_eq!((entered.status, entered.header("location")), (303, Some("/data")));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(with(&format!("Host: {host}\r\nCookie: other=1; {cookie}\r\n")), 200);
    let page = studio.send(&format!("GET /data HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n"), b"");
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(studio.send(&format!("GET /data HTTP/1.1\r\nHost: {host}\r\n"), b"").status, 401);
}

#[test]
fn paths_outside_the_folder_are_refused() {
    let scratch = Scratch::new();
    std::fs::copy(scratch.work().join("penguins.csv"), scratch.0.join("secret.csv")).unwrap();
    std::fs::create_dir(scratch.work().join("inside")).unwrap();
    let studio = Running::in_folder(&scratch.work());
    let absolute = scratch.0.join("secret.csv").display().to_string();
    let mut outside = vec![
        "../secret.csv".to_string(),
        absolute,
        "inside/../../secret.csv".into(),
        "../absent.csv".into(),
        "/etc/passwd".into(),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(scratch.0.join("secret.csv"), scratch.work().join("link.csv")).unwrap();
        std::os::unix::fs::symlink(&scratch.0, scratch.work().join("up")).unwrap();
        outside.extend(["link.csv".to_string(), "up/secret.csv".into()]);
    }
    for path in &outside {
        let (status, message) = studio.refused("/api/open", &json!({ "path": path }));
        assert_eq!(status, 403, "{path}: {message}");
    }
    assert_eq!(studio.request("GET", "/api/files?folder=..", b"").status, 403);
    assert_eq!(studio.refused("/api/open", &json!({ "path": "absent.csv" })).0, 404);
    let inside = scratch.work().join("penguins.csv").canonicalize().unwrap();
    studio.post("/api/open", &json!({ "path": inside }));
    studio.post("/api/target", &json!({ "target": "species" }));
    let model = studio.train("decision-stump");
    let save = format!("/api/models/{}/save", model["id"]);
    for path in ["../m.ermine", "/tmp/m.ermine", "inside/../../m.ermine", ".ermine-studio/m.ermine"] {
        assert_eq!(studio.refused(&save, &json!({ "path": path })).0, 403, "{path}");
    }
    #[cfg(unix)]
    {
        // A link in the folder would be followed and its target replaced.
        std::os::unix::fs::symlink(scratch.0.join("secret.csv"), scratch.work().join("out.ermine")).unwrap();
        assert_eq!(studio.refused(&save, &json!({ "path": "out.ermine", "replace": true })).0, 403);
    }
    assert_eq!(studio.refused(&save, &json!({ "path": "m.exe" })).0, 400);
    studio.post(&save, &json!({ "path": "inside/m.ermine" }));
    assert_eq!(studio.refused(&save, &json!({ "path": "inside/m.ermine" })).0, 409);
    ermine::load(scratch.work().join("inside/m.ermine")).unwrap();
}

#[test]
fn a_bad_file_is_an_error_and_the_open_table_stays() {
    let scratch = Scratch::new();
    std::fs::write(scratch.work().join("bad.csv"), "a,b\n1,2\n3\n\"x,4\n").unwrap();
    std::fs::write(scratch.work().join("empty.csv"), "").unwrap();
    std::fs::write(scratch.work().join("bad.parquet"), b"PAR1 but not really").unwrap();
    let studio = Running::in_folder(&scratch.work());
    assert_eq!(studio.request("GET", "/api/table", b"").status, 409, "nothing is open");
    studio.open_penguins();
    for name in ["bad.csv", "empty.csv", "bad.parquet"] {
        let (status, message) = studio.refused("/api/open", &json!({ "path": name }));
        assert_eq!(status, 422, "{name}: {message}");
        assert!(message.contains(name) && !message.contains(&scratch.work().display().to_string()), "{message}");
    }
    assert_eq!(studio.get("/api/table")["source"]["path"], "penguins.csv");
    let (status, message) = studio.refused("/api/target", &json!({ "target": "spezies" }));
    assert_eq!(status, 422);
    assert!(message.contains("spezies") && message.contains("species"), "{message}");
    assert_eq!(studio.refused("/api/target", &json!({ "target": "species", "weight": "species" })).0, 400);
    assert_eq!(studio.refused("/api/runs", &json!({ "folds": 1 })).0, 400);
    assert_eq!(studio.refused("/api/open", &json!([1, 2])).0, 400);
    assert_eq!(studio.request("GET", "/api/models/99", b"").status, 404);
}

#[test]
fn uploads_are_limited_and_named_safely() {
    let scratch = Scratch::new();
    let config = StudioConfig { max_upload: 20_000, ..StudioConfig::new(scratch.work()) };
    let studio = Running::start(&config);
    let table = std::fs::read(scratch.work().join("penguins.csv")).unwrap();
    assert!(table.len() < 20_000);
    assert_eq!(studio.request("POST", "/api/upload?name=..%2F..%2Fx.csv", &table).status, 200);
    assert_eq!(studio.get("/api/table")["source"]["path"], ".ermine-studio/uploads/x.csv");
    assert_eq!(std::fs::read(scratch.work().join(".ermine-studio/uploads/x.csv")).unwrap(), table);
    assert_eq!(studio.request("POST", "/api/upload?name=x.sh", &table).status, 400);
    assert_eq!(studio.request("POST", "/api/upload?name=large.csv", &[b'1'; 20_001]).status, 413);
    let left: Vec<_> = std::fs::read_dir(scratch.work().join(".ermine-studio/uploads")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn the_overview_equals_the_summary_of_the_command_line() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    studio.open_penguins();
    let overview = &studio.get("/api/table")["overview"];
    let table = Table::read(scratch.work().join("penguins.csv")).unwrap();
    let summary = ermine_eval::describe::TableSummary::new(&table);
    assert_eq!(overview["n_rows"], summary.n_rows);
    for (shown, known) in overview["columns"].as_array().unwrap().iter().zip(&summary.columns) {
        assert_eq!(shown["name"], known.name);
        assert_eq!(
            (&shown["n_missing"], &shown["n_distinct"]),
            (&json!(known.n_missing), &json!(known.n_distinct)),
            "{}",
            known.name
        );
        let counts = shown["bars"]["counts"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>();
        assert_eq!(counts as usize + known.n_missing, summary.n_rows, "{}", known.name);
        if let Some(numbers) = known.numbers {
            assert_eq!(shown["numbers"]["min"], json!(numbers.quartiles[0]));
            assert_eq!(shown["numbers"]["max"], json!(numbers.quartiles[4]));
        }
    }
    let target = studio.get("/api/target");
    let relations = target["overview"]["relations"].as_array().unwrap();
    let strength = |name: &str| relations.iter().find(|r| r["name"] == name).unwrap()["strength"].as_f64().unwrap();
    assert!((0.45..0.65).contains(&strength("flipper_length_mm")) && strength("sex") < 0.1, "{relations:?}");
    // Other types are read again, and the roles stay.
    studio.post("/api/open", &json!({ "path": "penguins.csv", "types": { "flipper_length_mm": "nominal" } }));
    assert_eq!(studio.get("/api/table")["overview"]["columns"][4]["kind"], "nominal");
    assert_eq!(studio.get("/api/target")["choice"]["target"], "species");
    assert_eq!(studio.refused("/api/open", &json!({ "path": "penguins.csv", "types": { "sex": "colour" } })).0, 422);
}

#[test]
fn entries_of_a_comparison_arrive_as_events_with_the_scores_of_cross_validation() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    assert_eq!(studio.refused("/api/runs", &json!({})).0, 409, "there is no target");
    studio.open_penguins();
    let learners = ["baseline", "decision-stump", "decision-tree", "nearest-neighbors"];
    let run = studio.post("/api/runs", &json!({ "folds": 4, "seed": 3, "learners": learners }));
    let events = studio.events(run["id"].as_u64().unwrap(), |name, data| name == "run" && data["status"] == "finished");
    let n: Vec<usize> = events
        .iter()
        .filter(|(name, _)| name == "run")
        .map(|(_, data)| data["entries"].as_array().unwrap().len())
        .collect();
    assert!(n.is_sorted() && n.last() == Some(&4), "{n:?}");
    let entries = events.last().unwrap().1["entries"].as_array().unwrap();
    let data = penguins(&scratch.work());
    let splits = Splits::k_fold(&data, 4, 3).unwrap();
    let measures = Measure::headline(data.task(), None);
    let context = Context { seed: 3, ..ermine::context() };
    for entry in entries.iter().filter(|entry| entry["learner"] != "nearest-neighbors") {
        let learner = ermine::registry::learner(entry["learner"].as_str().unwrap()).unwrap();
        let alone = cross_validate(&*learner, &data, &Validation::new(&splits, &measures), &context).unwrap();
        assert_eq!(entry["scores"][0]["folds"], json!(alone.scores[0].folds), "{}", entry["learner"]);
    }
    let means: Vec<f64> = entries.iter().map(|entry| entry["scores"][0]["mean"].as_f64().unwrap()).collect();
    let better = entries[0]["scores"][0]["higher_is_better"].as_bool().unwrap();
    assert!(if better { means.is_sorted_by(|a, b| a >= b) } else { means.is_sorted() }, "{means:?}");
    // A stream that begins later has everything.
    let late = studio.events(run["id"].as_u64().unwrap(), |_, _| true);
    assert_eq!(late[0].1["entries"].as_array().unwrap().len(), 4);
    let curve = studio.get(&format!("/api/runs/{}/entries/0/curve", run["id"]));
    assert_eq!(curve["points"].as_array().unwrap().len(), 5);
    let code = studio.get(&format!("/api/runs/{}/code", run["id"]));
    assert!(code["shell"].as_str().unwrap().starts_with("ermine compare penguins.csv --target species"), "{code}");
}

#[test]
fn a_stopped_comparison_continues_where_it_was() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    studio.open_penguins();
    let run = studio.post("/api/runs", &json!({ "folds": 5, "trials": 0 }))["id"].as_u64().unwrap();
    assert_eq!(studio.refused("/api/runs", &json!({})).0, 409, "one at a time");
    studio.events(run, |name, data| name == "run" && !data["entries"].as_array().unwrap().is_empty());
    studio.post(&format!("/api/runs/{run}/stop"), &json!({}));
    let stopped = studio.wait_for_run(run);
    assert_eq!(stopped["status"], "stopped");
    let before: Vec<Value> =
        stopped["entries"].as_array().unwrap().iter().map(|e| json!([e["title"], e["seconds"]])).collect();
    assert!(!stopped["skipped"].as_array().unwrap().is_empty());
    studio.post(&format!("/api/runs/{run}/continue"), &json!({}));
    let whole = studio.wait_for_run(run);
    assert_eq!(whole["status"], "finished");
    let after: Vec<Value> =
        whole["entries"].as_array().unwrap().iter().map(|e| json!([e["title"], e["seconds"]])).collect();
    assert!(after.len() > before.len());
    // The same time to the last digit: they were not computed again.
    assert!(before.iter().all(|entry| after.contains(entry)), "{before:?} {after:?}");
    // Other data under the same name is not mixed in.
    let text = std::fs::read_to_string(scratch.work().join("penguins.csv")).unwrap();
    std::fs::write(scratch.work().join("penguins.csv"), text.replace("3750", "3751")).unwrap();
    studio.post("/api/open", &json!({ "path": "penguins.csv" }));
    let (status, message) = studio.refused(&format!("/api/runs/{run}/continue"), &json!({}));
    assert_eq!(status, 409);
    assert!(message.contains("has changed"), "{message}");
}

#[test]
fn the_journal_brings_everything_back() {
    let scratch = Scratch::new();
    let journal = scratch.work().join(".ermine-studio/journal.jsonl");
    let (model, entries);
    {
        let studio = Running::in_folder(&scratch.work());
        // Only one studio at a time.
        let second = Studio::bind(&StudioConfig::new(scratch.work()));
        assert!(second.err().unwrap().to_string().contains("another studio"));
        studio.open_penguins();
        let run = studio.post("/api/runs", &json!({ "learners": ["baseline", "decision-stump"] }));
        entries = studio.wait_for_run(run["id"].as_u64().unwrap())["entries"].clone();
        model = studio.train("decision-tree");
    }
    // As after kill -9: a line that was being written, a run without its end, a model without its files.
    let mut text = std::fs::read_to_string(&journal).unwrap();
    let started = text.lines().find(|line| line.contains("run_started")).unwrap().replace("\"run\":1", "\"run\":2");
    let model_started =
        text.lines().find(|line| line.contains("model_started")).unwrap().replace("\"model\":1", "\"model\":2");
    text += &format!("{started}\n{model_started}\n{{\"event\":\"entry\",\"ru");
    std::fs::write(&journal, &text).unwrap();
    let studio = Running::in_folder(&scratch.work());
    let session = studio.get("/api/session");
    assert_eq!(session["source"]["path"], "penguins.csv");
    assert_eq!(session["choice"]["target"], "species");
    let statuses: Vec<&Value> = session["runs"].as_array().unwrap().iter().map(|run| &run["status"]).collect();
    assert_eq!(statuses, ["finished", "interrupted"]);
    let without_p = |entries: &Value| {
        entries.as_array().unwrap().iter().map(|e| json!([e["title"], e["scores"], e["seconds"]])).collect::<Vec<_>>()
    };
    assert_eq!(without_p(&studio.get("/api/runs/1")["entries"]), without_p(&entries));
    let statuses: Vec<&Value> = session["models"].as_array().unwrap().iter().map(|model| &model["status"]).collect();
    assert_eq!(statuses, ["ready", "interrupted"]);
    assert_eq!(studio.get("/api/models/1")["facts"], model["facts"]);
    studio.post("/api/models/1/what-if", &json!({ "values": {} }));
    // The interrupted run continues, and new models have new numbers.
    studio.post("/api/runs/2/continue", &json!({}));
    assert_eq!(studio.wait_for_run(2)["entries"].as_array().unwrap().len(), 2);
    assert_eq!(studio.train("decision-stump")["id"], 3);
    assert!(!std::fs::read_to_string(&journal).unwrap().contains("\"ru{"), "the torn line is gone");
}

#[test]
fn a_damaged_journal_is_an_error_with_its_line() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.work().join(".ermine-studio")).unwrap();
    std::fs::write(scratch.work().join(".ermine-studio/journal.jsonl"), "{\"event\":\"opened\"}\n").unwrap();
    let error = Studio::bind(&StudioConfig::new(scratch.work())).err().unwrap().to_string();
    assert!(error.contains("line 1"), "{error}");
}

#[test]
fn a_model_is_evaluated_on_rows_it_has_not_seen_and_kept_as_trained_on_all() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    studio.open_penguins();
    let model = studio.train("random-forest");
    let data = penguins(&scratch.work());
    let (train, test) = Splits::holdout(&data, 0.2, 0).unwrap().split(0);
    let (train, test) = (data.select(&train).unwrap(), data.select(&test).unwrap());
    let score = RandomForest::default().fit(&train).unwrap().evaluate(&test).unwrap().scores[0].score.value;
    assert_eq!(model["facts"]["report"]["evaluation"]["scores"][0]["score"]["value"], json!(score));
    let differences = model["facts"]["report"]["differences"].to_string();
    assert!(differences.contains(&format!("of {} rows", test.n_rows())), "only held-out rows count: {differences}");
    let all = RandomForest::default().fit(&data).unwrap();
    let exported = studio.request("GET", &format!("/api/models/{}/export/ermine", model["id"]), b"");
    assert_eq!(exported.body, all.to_loadable_bytes().unwrap());
    assert!(exported.header("content-disposition").unwrap().contains("species.ermine"));
    let onnx = studio.request("GET", "/api/models/1/export/onnx", b"");
    assert_eq!(onnx.body, ermine::export(&all, ermine::exchange::ExportFormat::Onnx).unwrap());
    assert_eq!(studio.request("GET", "/api/models/1/export/pdf", b"").status, 400);
    let report = studio.request("GET", "/api/models/1/report", b"");
    assert!(String::from_utf8_lossy(&report.body).contains("<html"));
    assert_eq!(studio.request("DELETE", "/api/models/1", b"").status, 200);
    assert_eq!(studio.request("GET", "/api/models/1", b"").status, 404);
}

#[test]
fn what_if_gives_the_prediction_of_the_model_and_contributions_that_add_up() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    studio.open_penguins();
    let data = penguins(&scratch.work());
    for (learner, is_exact) in [("random-forest", true), ("logistic-regression", false)] {
        let id = studio.train(learner)["id"].clone();
        let row = studio.get(&format!("/api/models/{id}/rows/7"));
        let answer = studio.post(&format!("/api/models/{id}/what-if"), &json!({ "values": row["values"] }));
        let model = ermine::load(scratch.work().join(format!(".ermine-studio/models/{id}-model.ermine"))).unwrap();
        let known = model.predict_data(&data.select(&[6]).unwrap()).unwrap();
        assert_eq!(answer["prediction"]["values"], json!(known.row(0)), "{learner}");
        assert_eq!(answer["contributions"]["method"], if is_exact { "exact" } else { "sampled" });
        for k in 0..3 {
            let number = |value: &Value| value.as_f64().unwrap();
            let columns = answer["contributions"]["columns"].as_array().unwrap();
            let sum: f64 = columns.iter().map(|column| number(&column["values"][k])).sum();
            let total = number(&answer["contributions"]["expected"][k]) + sum;
            // A forest averages probabilities, so its scale before the link is that of probabilities.
            assert!((total - known.row(0)[k]).abs() < 1e-9, "{learner}: {total} {}", known.row(0)[k]);
        }
        assert_eq!(answer["nearest"][0]["row"], 7, "the row itself is nearest");
        assert_eq!(answer["nearest"][0]["distance"], 0.0);
        let wrong =
            |values: Value| studio.refused(&format!("/api/models/{id}/what-if"), &json!({ "values": values })).0;
        assert_eq!(wrong(json!({ "wingspan": 1 })), 400);
        assert_eq!(wrong(json!({ "body_mass_g": "heavy" })), 400);
        assert_eq!(studio.request("GET", &format!("/api/models/{id}/rows/100000"), b"").status, 404);
    }
}

#[test]
fn a_model_can_be_served() {
    let scratch = Scratch::new();
    let studio = Running::in_folder(&scratch.work());
    studio.open_penguins();
    studio.train("decision-tree");
    let served = studio.post("/api/models/1/serve", &json!({}));
    let address = served["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    let body = json!({ "rows": [{ "bill_length_mm": 39.1, "bill_depth_mm": 18.7, "flipper_length_mm": 181, "body_mass_g": 3750, "island": "Torgersen", "sex": "MALE" }] }).to_string();
    let head = format!(
        "POST /models/1-model/predict HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("Adelie"), "{reply}");
    assert_eq!(studio.request("DELETE", "/api/models/1/serve", b"").status, 200);
}

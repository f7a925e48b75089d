//! The server over loopback, with a client of a few lines that speaks plain HTTP/1.1.
#![allow(clippy::unwrap_used)]

mod errors;
mod limits;
mod models;
mod operation;
mod protocols;
mod rows;
mod tables;

use ermine::prelude::*;
use ermine_core::rng::{Rng, below, stream};
use ermine_core::table::ColumnKind;
use ermine_server::testing::ErrorBody;
use ermine_server::{Config, LogLevel, Server, Stopper};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ermine-server-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// 300 rows: two numbers, colors, truth values; classes that depend on them.
fn table(seed: u64) -> Table {
    let mut rng: Rng = stream(seed, &[27]);
    let n = 300;
    let x: Vec<f64> = (0..n).map(|_| below(&mut rng, 1000) as f64 / 100.0).collect();
    let y: Vec<f64> = (0..n).map(|i| if i % 17 == 0 { f64::NAN } else { below(&mut rng, 50) as f64 }).collect();
    let colors: Vec<Option<&str>> = (0..n).map(|_| Some(["red", "green", "blue"][below(&mut rng, 3)])).collect();
    let truths: Vec<Option<bool>> = (0..n).map(|_| Some(below(&mut rng, 2) == 1)).collect();
    let class = |i: usize| Some(if x[i] + (colors[i] == Some("red")) as u8 as f64 * 4.0 > 6.0 { "yes" } else { "no" });
    let classes: Vec<Option<&str>> = (0..n).map(class).collect();
    let amount: Vec<f64> = (0..n).map(|i| x[i] * 2.0 + if y[i].is_nan() { 0.0 } else { y[i] }).collect();
    Table::new(vec![
        Column::numeric("x", x),
        Column::numeric("y", y),
        Column::nominal("color", &colors),
        Column::boolean("flag", &truths),
        Column::nominal("class", &classes),
        Column::numeric("amount", amount),
    ])
    .unwrap()
}

fn without(table: &Table, name: &str) -> Table {
    Table::new(table.columns().iter().filter(|column| column.name != name).cloned().collect()).unwrap()
}

fn classifier(seed: u64) -> Model {
    let data = without(&table(seed), "amount").dataset("class").unwrap();
    GradientBoosting { n_estimators: 20, ..Default::default() }.fit(&data).unwrap()
}

fn regressor() -> Model {
    let data = without(&table(1), "class").dataset("amount").unwrap();
    RandomForest { n_estimators: 10, quantiles: true, ..Default::default() }.fit(&data).unwrap()
}

fn neighbors() -> Model {
    let columns = table(1).columns().iter().filter(|c| ["x", "class"].contains(&c.name.as_str())).cloned().collect();
    NearestNeighbors::default().fit(&Table::new(columns).unwrap().dataset("class").unwrap()).unwrap()
}

/// A running server.
struct Running {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<ermine::Result<()>>>,
    scratch: Scratch,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

fn start(change: impl FnOnce(&mut Config, &Scratch)) -> Running {
    let scratch = Scratch::new();
    classifier(1).save(scratch.path("class.ermine")).unwrap();
    regressor().save(scratch.path("amount.ermine")).unwrap();
    neighbors().save(scratch.path("neighbors.ermine")).unwrap();
    let mut config = Config {
        models: vec![scratch.0.clone()],
        address: "127.0.0.1:0".parse().unwrap(),
        reload_interval: Some(Duration::from_millis(20)),
        log: LogLevel::Off,
        threads: Some(2),
        ..Config::default()
    };
    change(&mut config, &scratch);
    let server = Server::bind(config).unwrap();
    let (address, stopper) = (server.address(), server.stopper());
    let thread = Some(std::thread::spawn(move || server.run(std::future::pending())));
    Running { address, stopper, thread, scratch }
}

/// A response: status, head and body.
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn of(bytes: &[u8]) -> Reply {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a response with a head");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_lowercase(), body: bytes[end + 4..].to_vec() }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    /// An error has a body of a known form.
    fn error(&self) -> (u16, String) {
        let body: ErrorBody = serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()));
        assert!(!body.error.is_empty());
        (self.status, body.kind)
    }
}

fn request(method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

impl Running {
    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // A server that refuses a body may close before all of it is sent.
        let _ = stream.write_all(&request(method, path, headers, body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Reply::of(&answer)
    }

    fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", b"")
    }

    fn post(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, "content-type: application/json\r\n", body.as_bytes())
    }

    fn csv(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, "content-type: text/csv\r\n", body.as_bytes())
    }
}

/// Rows of the table as JSON objects, without the targets.
fn json_rows(table: &Table, n: usize) -> Vec<Value> {
    let cell = |column: &Column, row: usize| match (column.kind, column.number(row)) {
        (_, number) if number.is_nan() => Value::Null,
        (ColumnKind::Numeric, number) => json!(number),
        (ColumnKind::Boolean, number) => json!(number == 1.0),
        _ => json!(column.text(row)),
    };
    let inputs: Vec<&Column> =
        table.columns().iter().filter(|column| !["class", "amount"].contains(&column.name.as_str())).collect();
    (0..n)
        .map(|row| inputs.iter().map(|c| (c.name.clone(), cell(c, row))).collect::<serde_json::Map<_, _>>().into())
        .collect()
}

/// Waits for something that the server does on its own.
fn eventually(mut is_so: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it never was");
}

//! `ermine serve` as a process: its log, its limits of memory, its end, and mistakes on its command line.

use crate::{Sandbox, penguins};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A server on a port of its own, and the lines of its log.
struct Served {
    child: Child,
    address: String,
    log: Receiver<Value>,
}

impl Served {
    fn start(sandbox: &Sandbox, words: &[&str]) -> Served {
        let words = [&["serve"], words, &["--port", "0"]].concat();
        let mut command = sandbox.command(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, log) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line}"));
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving on http://").unwrap_or_else(|| panic!("{line}")).to_string();
        Served { child, address, log }
    }

    /// The next line of the log of this kind.
    fn event(&self, name: &str) -> Value {
        loop {
            let event = self.log.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("no event {name}"));
            if event["event"] == name {
                return event;
            }
        }
    }

    /// Status, head and body of the answer.
    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_string())
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_log_is_json_with_a_line_for_each_event_and_request() {
    let sandbox = Sandbox::new("log");
    sandbox.model();
    let mut served = Served::start(&sandbox, &["species.ermine", "--log", "requests", "--reload", "1"]);
    let loaded = served.event("model_loaded");
    assert_eq!((&loaded["model"], &loaded["version"]), (&"species".into(), &"1".into()));
    let listening = served.event("listening");
    assert!(served.address.starts_with("127.0.0.1:"), "it listens on localhost by default: {}", served.address);
    assert_eq!(listening["address"], format!("http://{}", served.address));
    assert_eq!(listening["models"], serde_json::json!(["species"]));
    let time = listening["time"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z') && time.contains('T'), "{time}");
    let path = "/models/species/predict";
    let (status, head, _) = served.send("POST", path, "x-request-id: mine-7\r\n", b"[{\"island\": \"Biscoe\"}]");
    assert!(status == 200 && head.contains("x-request-id: mine-7"), "{head}");
    let line = served.event("request");
    assert_eq!(
        (&line["request_id"], &line["method"], &line["path"], &line["status"]),
        (&"mine-7".into(), &"POST".into(), &path.into(), &200.into())
    );
    assert!(line["milliseconds"].as_f64().is_some_and(|time| time > 0.0) && line["error"].is_null(), "{line}");
    // An id is made where none is sent; the error has its type; a name can't break the line.
    let (status, head, _) = served.send("POST", "/models/spe%0Acies%22/predict", "", b"[{}]");
    let line = served.event("request");
    assert_eq!((status, &line["status"], &line["error"]), (404, &404.into(), &"unknown_model".into()));
    assert!(head.contains(&format!("x-request-id: {}", line["request_id"].as_str().unwrap())), "{head}\n{line}");
    std::fs::write(sandbox.path("new"), b"damaged").unwrap();
    std::fs::rename(sandbox.path("new"), sandbox.path("species.ermine")).unwrap();
    let failed = served.event("model_load_failed");
    assert!(failed["model"] == "species" && failed["error"].as_str().is_some_and(|e| !e.is_empty()), "{failed}");
    served.signal("-TERM");
    served.event("stopping");
    served.event("stopped");
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_empty_directory_is_served_once_a_model_is_there() {
    let sandbox = Sandbox::new("empty");
    std::fs::create_dir(sandbox.path("models")).unwrap();
    let served = Served::start(&sandbox, &["models"]);
    let (status, _, text) = served.send("GET", "/models/species", "", b"");
    assert!(status == 404 && text.contains("the server has no models yet"), "{status} {text}");
    assert_eq!(served.send("GET", "/v2/health/ready", "", b"").0, 503);
    std::fs::rename(sandbox.model(), sandbox.path("models/species.ermine")).unwrap();
    served.event("model_loaded");
    // The event comes just before the model is served.
    while served.send("GET", "/v2/health/ready", "", b"").0 == 503 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(served.send("GET", "/models/species", "", b"").0, 200);
}

#[test]
fn requests_that_need_too_much_memory_are_refused_and_the_server_goes_on() {
    let sandbox = Sandbox::new("memory");
    sandbox.model();
    let words = ["species.ermine", "--max-memory", "150M", "--max-body", "1G", "--log", "off"];
    let served = Served::start(&sandbox, &words);
    // Rows of three bytes become far longer, and so do their answers.
    let body = format!("[{}]", vec!["{}"; 2_000_000].join(","));
    let (status, _, text) = served.send("POST", "/models/species/predict?probabilities=true", "", body.as_bytes());
    assert!(status == 413 && text.contains("\"type\":\"out_of_memory\""), "{status} {text}");
    // A body that is itself more than there is memory for.
    let (status, head, text) = served.send("POST", "/models/species/predict", "", &vec![b' '; 300 << 20]);
    assert!(status == 503 && text.contains("no memory left for the body"), "{status} {text}");
    assert!(head.contains("retry-after: 1"), "{head}");
    let (status, _, _) = served.send("POST", "/models/species/predict", "", b"[{\"island\": \"Biscoe\"}]");
    assert_eq!(status, 200);
}

#[test]
fn mistakes_are_named_before_anything_is_served() {
    let sandbox = Sandbox::new("mistakes");
    sandbox.model();
    sandbox.write("empty.txt", "\n");
    sandbox.write("bad.pem", "no certificate");
    sandbox.run(&["serve"]).fails(2, &["<MODEL>"]);
    sandbox.run(&["serve", "none.ermine"]).fails(1, &["none.ermine"]);
    sandbox.run(&["serve", &penguins()]).fails(1, &["penguins.csv", "not a readable Ermine model"]);
    sandbox.run(&["serve", "species.ermine", "--token-file", "none.txt"]).fails(1, &["none.txt"]);
    sandbox.run(&["serve", "species.ermine", "--token-file", "empty.txt"]).fails(2, &["the bearer token is empty"]);
    sandbox.run(&["serve", "species.ermine", "--tls-cert", "bad.pem"]).fails(2, &["--tls-key"]);
    let tls = ["serve", "species.ermine", "--tls-cert", "bad.pem", "--tls-key", "bad.pem"];
    sandbox.run(&tls).fails(1, &["bad.pem", "PEM"]);
    sandbox.run(&["serve", "species.ermine", "--host", "example.org"]).fails(2, &["--host", "an IP address"]);
    sandbox.run(&["serve", "species.ermine", "--timeout", "0"]).fails(2, &["--timeout"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    sandbox.run(&["serve", "species.ermine", "--port", &port]).fails(1, &["cannot listen on 127.0.0.1:", "in use"]);
    // These are found after a model was read, which is in the log.
    for (words, part) in
        [(["--cors", "a\nb"], "no origin"), (["./species.ermine", "--port=0"], "another file for version 1")]
    {
        let run = sandbox.run(&[&["serve", "species.ermine"], &words[..]].concat());
        assert!(run.code == Some(1) && run.err.contains("\nerror: ") && run.err.contains(part), "{}", run.err);
    }
}

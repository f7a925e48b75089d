//! Too much, too slow: what is refused, and what is given up.

use crate::{Reply, Running, eventually, request, start};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn too_many_requests_get_503_with_the_time_to_wait() {
    let server = start(|config, _| config.limits.max_in_flight = 2);
    // Two requests whose bodies don't arrive hold all places.
    let held: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream
                .write_all(b"POST /models/class/predict HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\n[")
                .unwrap();
            stream
        })
        .collect();
    eventually(|| server.get("/models").status == 503);
    let refused = server.post("/models/class/predict", "[{\"x\": 1}]");
    assert_eq!(refused.error(), (503, "overloaded".into()));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(server.get("/v2/health/live").status, 200);
    drop(held);
    eventually(|| server.get("/models").status == 200);
}

#[test]
fn a_body_that_does_not_arrive_times_out() {
    let server = start(|config, _| config.limits.request_timeout = Duration::from_millis(200));
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(
            b"POST /models/class/predict HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 100\r\n\r\n[",
        )
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(Reply::of(&answer).error(), (408, "timeout".into()));
}

/// A request without its end.
fn unfinished(server: &Running, text: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(text).unwrap();
    stream
}

/// Whether the server closed the connection; false if it is still open after a while.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    !matches!(stream.read(&mut [0; 100]), Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()))
}

#[test]
fn a_head_that_does_not_arrive_and_an_idle_connection_are_closed() {
    let server = start(|config, _| config.limits.header_timeout = Duration::from_millis(100));
    assert!(is_closed(&mut unfinished(&server, b"")));
    assert!(is_closed(&mut unfinished(&server, b"GET /models HTTP/1.1\r\nhost: te")));
    let mut idle = unfinished(&server, b"GET /v2/health/live HTTP/1.1\r\nhost: test\r\n\r\n");
    let mut answer = Vec::new();
    idle.read_to_end(&mut answer).unwrap();
    assert_eq!(Reply::of(&answer).status, 200, "the answer, then the end of the connection");
}

#[test]
fn a_stream_that_drips_times_out() {
    let server = start(|config, _| config.limits.request_timeout = Duration::from_millis(300));
    let head = b"POST /models/class/predict HTTP/1.1\r\nhost: test\r\ncontent-type: text/csv\r\ncontent-length: 1000000\r\n\r\nx\n";
    let mut stream = unfinished(&server, head);
    // Never a long pause, but far too slow on the whole.
    let mut sender = stream.try_clone().unwrap();
    let drip = std::thread::spawn(move || {
        while sender.write_all(b"1").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    drop(stream);
    drip.join().unwrap();
}

#[test]
fn a_client_that_does_not_take_its_answer_is_given_up() {
    let server = start(|config, _| config.limits.request_timeout = Duration::from_secs(3));
    let n_open = || {
        let text = server.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix("ermine_connections ")).unwrap();
        line.parse::<usize>().unwrap()
    };
    // Answers that no buffer of the system can hold, to a client that reads nothing.
    let body = format!("[{}]", vec!["{}"; 300_000].join(","));
    let head = format!(
        "POST /models/class/predict?unknown=warn&probabilities=true HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let stream = unfinished(&server, &[head.as_bytes(), body.as_bytes()].concat());
    eventually(|| {
        server.get("/metrics").text().contains("ermine_predictions_total{model=\"class\",protocol=\"rows\"} 1")
    });
    eventually(|| n_open() == 1);
    drop(stream);
}

#[test]
fn connections_beyond_the_limit_wait_for_a_place() {
    let server = start(|config, _| config.limits.max_connections = 1);
    let ask = b"GET /v2/health/live HTTP/1.1\r\nhost: test\r\n\r\n";
    let mut first = unfinished(&server, ask);
    assert!(first.read(&mut [0; 1000]).unwrap() > 0);
    let mut second = unfinished(&server, ask);
    second.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(second.read(&mut [0; 1000]).is_err(), "the only place is taken");
    drop(first);
    second.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert!(second.read(&mut [0; 1000]).unwrap() > 0);
}

#[test]
fn jobs_beyond_the_queue_get_503_with_the_time_to_wait() {
    let server = start(|config, _| config.limits.max_queue = 0);
    let rows = vec![r#"{"x": 1, "y": 2, "color": "red", "flag": true}"#; 2000].join(",");
    let (body, n_refused) = (format!("[{rows}]"), AtomicUsize::new(0));
    // As many workers as there are cores: a few more clients than that find all of them busy.
    let n_clients = 2 + 2 * std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_clients {
            scope.spawn(|| {
                while n_refused.load(Ordering::Relaxed) == 0 {
                    let reply = server.post("/models/amount/predict?contributions=true", &body);
                    if reply.status != 200 {
                        assert_eq!(reply.error(), (503, "overloaded".into()));
                        assert_eq!(reply.header("retry-after"), Some("1"));
                        n_refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    eventually(|| server.post("/models/amount/predict?contributions=true", &body).status == 200);
    assert!(server.get("/metrics").text().contains("ermine_errors_total{type=\"overloaded\"}"));
}

#[test]
fn a_client_that_is_still_sending_gets_the_answer() {
    let server = start(|config, _| config.token = Some("secret".into()));
    let body = vec![b' '; 8 << 20];
    for (headers, status) in [("", 401), ("authorization: Bearer secret\r\n", 404)] {
        for _ in 0..10 {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(&request("POST", "/models/none/predict", headers, &body)).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            assert_eq!(Reply::of(&answer).status, status);
        }
    }
}

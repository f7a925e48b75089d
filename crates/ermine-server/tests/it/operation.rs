//! What happens around requests: token, origins, ids, counters, TLS, the end of the server.

use crate::{Reply, eventually, request, start};
use ermine_server::TlsFiles;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

#[test]
fn a_token_is_required_where_one_is_set_and_health_is_open() {
    let server = start(|config, _| config.token = Some("secret".into()));
    assert_eq!(server.get("/models").error(), (401, "unauthorized".into()));
    assert_eq!(server.send("GET", "/models", "authorization: Bearer wrong!\r\n", b"").status, 401);
    assert_eq!(server.send("GET", "/models", "authorization: Bearer secret\r\n", b"").status, 200);
    assert_eq!(server.get("/v2/health/ready").status, 200);
    assert_eq!(server.get("/metrics").status, 401);
    assert_eq!(server.get("/").status, 200, "the page has a field for the token");
    assert_eq!(server.get("/openapi.json").status, 200);
}

#[test]
fn cross_origin_requests_are_allowed_only_where_set() {
    let closed = start(|_, _| {});
    let origin = "origin: https://example.org\r\naccess-control-request-method: POST\r\n";
    assert_eq!(
        closed.send("OPTIONS", "/models/class/predict", origin, b"").header("access-control-allow-origin"),
        None
    );
    let open = start(|config, _| config.cors_origins = vec!["https://example.org".into()]);
    let allowed = open.send("OPTIONS", "/models/class/predict", origin, b"");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://example.org"), "{}", allowed.head);
    // A browser sends the token only if the server lists its header.
    assert!(allowed.header("access-control-allow-headers").unwrap().contains("authorization"), "{}", allowed.head);
    let other = open.send("OPTIONS", "/models/class/predict", "origin: https://other.org\r\n", b"");
    assert_ne!(other.header("access-control-allow-origin"), Some("https://other.org"));
}

#[test]
fn request_ids_come_back_and_requests_are_counted() {
    let server = start(|_, _| {});
    let reply = server.send("POST", "/models/class/predict", "x-request-id: mine-7\r\n", b"[{\"x\": 1}, {\"x\": 2}]");
    assert_eq!(reply.header("x-request-id"), Some("mine-7"));
    assert!(server.get("/models").header("x-request-id").is_some_and(|id| !id.is_empty()));
    server.post("/models/class/predict", "[{\"z\": 1}]");
    let text = server.get("/metrics").text();
    for line in [
        "ermine_predictions_total{model=\"class\",protocol=\"rows\"} 1",
        "ermine_rows_total{model=\"class\"} 2",
        "ermine_errors_total{type=\"unknown_column\"} 1",
        "ermine_http_responses_total{status=\"400\"} 1",
        "ermine_prediction_seconds_count{model=\"class\",protocol=\"rows\"} 1",
        "ermine_model_version{model=\"class\",version=\"1\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn requests_in_progress_finish_when_the_server_stops() {
    let mut server = start(|_, _| {});
    let body = b"[{\"x\": 1}]";
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /models/class/predict HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body[..3]).unwrap();
    // The request is in progress once it is counted; the one that asks is the second.
    eventually(|| server.get("/metrics").text().contains("ermine_in_flight 2"));
    server.stopper.stop();
    eventually(|| TcpStream::connect(server.address).is_err());
    stream.write_all(&body[3..]).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(Reply::of(&answer).status, 200);
    server.thread.take().unwrap().join().unwrap().unwrap();
}

#[test]
fn tls_is_spoken_where_a_certificate_is_given() {
    use rustls::pki_types::pem::PemObject;
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).unwrap();
    let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let server = start(|config, scratch| {
        let files = TlsFiles { certificate: scratch.path("cert.pem"), key: scratch.path("key.pem") };
        std::fs::write(&files.certificate, &certificate).unwrap();
        std::fs::write(&files.key, &key).unwrap();
        config.tls = Some(files);
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let mut client = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let mut socket = TcpStream::connect(server.address).unwrap();
    let mut stream = rustls::Stream::new(&mut client, &mut socket);
    stream.write_all(&request("GET", "/v2/health/live", "", b"")).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(Reply::of(&answer).status, 200);
}

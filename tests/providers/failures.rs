//! Every way in which a server fails, each with its clear error or its recovery.

use super::ask::{Watched, opened, options, request, settings, story, told};
use super::server::{Reply, Server, events, response};
use peak::provider::{AskError, MAX_COMPLETION_BYTES, MAX_RESPONSE_BYTES, MAX_TRIES, ProviderError, open};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(60);

fn good() -> Reply {
    events(&[r#"{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}"#, "[DONE]"])
}

fn error(status: &str, headers: &[(&str, &str)], message: &str) -> Reply {
    response(status, headers, &format!(r#"{{"error":{{"message":"{message}"}}}}"#))
}

/// An answer that begins and does not end.
fn cut() -> Reply {
    response("200 OK", &[("content-length", "9999")], "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n")
}

/// Bytes of an answer's text in one event.
fn long(bytes: usize) -> Reply {
    events(&[&format!(r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(bytes)), "[DONE]"])
}

/// Name and script, of the `openai` kind.
fn scripts() -> Vec<(&'static str, Vec<Reply>)> {
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\ndata: {\"choices\":[{\"del";
    vec![
        ("401", vec![error("401 Unauthorized", &[], "Incorrect API key provided")]),
        ("403, and no JSON", vec![response("403 Forbidden", &[], "<html>\n<b>no\u{1b}[31m way</b>")]),
        ("404", vec![error("404 Not Found", &[], "no such model")]),
        (
            "429 with Retry-After, then success",
            vec![error("429 Too Many", &[("retry-after", "7")], "slow down"), good()],
        ),
        ("429 without, then success", vec![error("429 Too Many", &[], "slow down"), good()]),
        ("429 with a long Retry-After", vec![error("429 Too Many", &[("retry-after", "3600")], "tomorrow")]),
        ("429 for ever", vec![error("429 Too Many", &[("retry-after", "1")], "slow down")]),
        (
            "429 for a quota",
            vec![response("429 Too Many", &[], r#"{"error":{"message":"pay first","code":"insufficient_quota"}}"#)],
        ),
        ("500, then success", vec![error("500 Oops", &[], "it broke"), good()]),
        ("503 twice, then success", vec![error("503 Busy", &[], ""), response("503 Busy", &[], ""), good()]),
        ("501", vec![error("501 Not Implemented", &[], "never")]),
        ("a stream cut in the middle, then success", vec![cut(), good()]),
        ("a stream cut every time", vec![cut()]),
        ("a stream that ends in the middle of an event", vec![response("200 OK", &[], half), good()]),
        ("a hangup, then success", vec![Reply::Hangup, good()]),
        ("malformed JSON", vec![events(&["{\"choices\": nonsense}"])]),
        ("another kind of text", vec![response("200 OK", &[], "<!doctype html><p>log in</p>")]),
        ("JSON of another form", vec![response("200 OK", &[], "{\"hello\": 1}")]),
        ("no HTTP", vec![Reply::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec())]),
        (
            "an empty answer",
            vec![events(&[r#"{"choices":[{"delta":{"content":" \n"},"finish_reason":"stop"}]}"#, "[DONE]"])],
        ),
        ("no answer at all", vec![events(&["[DONE]"])]),
        ("an answer of 5 MB", vec![long(5 << 20)]),
        (
            "an error in the stream, then success",
            vec![events(&[r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#]), good()],
        ),
        (
            "an error in the stream that stays",
            vec![events(&[r#"{"error":{"type":"invalid_request_error","message":"too many tokens"}}"#])],
        ),
        (
            "a redirect",
            vec![response("307 Temporary Redirect", &[("location", "https://elsewhere.example/v1/x?key=1#y")], "")],
        ),
        ("a byte at a time, in time", vec![dripping(Duration::from_micros(100))]),
    ]
}

fn dripping(pause: Duration) -> Reply {
    match good() {
        Reply::Bytes(bytes) => Reply::Drip(bytes, pause),
        other => other,
    }
}

#[test]
fn each_failure_has_its_clear_error_or_recovery() {
    let told = scripts().into_iter().map(|(name, script)| {
        let server = Server::start(script);
        format!("{name}\n{}", story("openai", &server, TIMEOUT))
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_server_that_is_slow_or_silent_runs_into_the_time_out() {
    for reply in [dripping(Duration::from_secs(1)), Reply::Silence] {
        let started = Instant::now();
        let server = Server::start(vec![reply]);
        let told = story("openai", &server, Duration::from_secs(1));
        assert!(told.contains("peak::provider-timeout") && told.contains("not done after 1 s"), "{told}");
        assert!(told.contains("requests: 1"), "what was late is not asked again: {told}");
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    }
}

#[test]
fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let provider = opened("openai", &url, Watched::default().conduct(TIMEOUT)).expect("it opens");
    let Err(ProviderError::Ask(error)) = provider.complete(&request("p")) else { panic!("nobody is there") };
    assert!(matches!(&*error, AskError::Unreachable { reason, .. } if reason.contains("refused")), "{error}");
    let provider = opened("openai", "http://no-such-host.invalid", Watched::default().conduct(TIMEOUT));
    let Err(ProviderError::Ask(error)) = provider.expect("it opens").complete(&request("p")) else { panic!("nobody") };
    assert!(matches!(*error, AskError::Unreachable { .. }), "{error}");
}

#[test]
fn a_certificate_that_nobody_knows_is_refused_and_one_that_is_named_is_trusted() {
    let (server, pem) = Server::start_tls(vec![good()]);
    let url = format!("https://localhost:{}", server.address.port());
    let asked = |url: &str, certificates: Option<std::path::PathBuf>| {
        let settings = peak::preferences::ProviderSettings { certificates, ..settings(url) };
        open(options("openai", settings, Watched::default().conduct(TIMEOUT)))?.complete(&request("p"))
    };
    let refused = told(&asked(&url, None)).replace(&server.address.port().to_string(), "PORT");
    insta::assert_snapshot!("tls_unknown_certificate", refused);
    assert!(server.requests().is_empty(), "no prompt goes to a server that is not known");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("server.pem");
    std::fs::write(&file, pem).expect("written");
    assert_eq!(asked(&url, Some(file.clone())).expect("answered").text, "hello");
    // The certificate is not for this name.
    let other = asked(&url.replace("localhost", "127.0.0.1"), Some(file.clone()));
    assert!(told(&other).contains("peak::provider-tls"), "{}", told(&other));
    std::fs::write(&file, "no certificate").expect("written");
    assert!(told(&asked(&url, Some(file))).contains("hold none"));
    // A server that speaks no TLS.
    let plain = Server::start(vec![Reply::Greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]);
    let spoken = told(&asked(&format!("https://localhost:{}", plain.address.port()), None));
    assert!(spoken.contains("peak::provider-tls"), "{spoken}");
}

#[test]
fn pauses_are_those_that_were_asked_for_and_bounded_in_number() {
    let server = Server::start(vec![error("429 Too Many", &[("retry-after", "7")], "slow down")]);
    let watched = Watched::default();
    let provider = opened("openai", &server.url(), watched.conduct(TIMEOUT)).expect("it opens");
    assert!(provider.complete(&request("p")).is_err());
    let tries = usize::try_from(MAX_TRIES).expect("a small number");
    assert_eq!((server.requests().len(), watched.paused().as_secs()), (tries, 7 * (u64::from(MAX_TRIES) - 1)));
}

#[test]
fn a_stop_ends_a_pause_and_an_answer_under_way() {
    for reply in [Reply::Silence, error("503 Busy", &[("retry-after", "100")], "later")] {
        let server = Server::start(vec![reply]);
        let mut conduct = Watched::default().conduct(Duration::from_secs(60));
        conduct.pauses = std::sync::Arc::new(std::thread::sleep);
        let stop = std::sync::Arc::clone(&conduct.stop);
        let provider = opened("openai", &server.url(), conduct).expect("it opens");
        let started = Instant::now();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        let Err(ProviderError::Ask(error)) = provider.complete(&request("p")) else { panic!("it was stopped") };
        assert!(matches!(*error, AskError::Stopped { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
        stopper.join().expect("it ends");
    }
}

#[test]
fn a_flood_is_not_held() {
    // Reasoning and framing count as well; what is past the limit is never read.
    const { assert!(MAX_COMPLETION_BYTES < MAX_RESPONSE_BYTES) };
    let noise = format!(": {}\n", "x".repeat(1 << 20)).repeat((MAX_RESPONSE_BYTES >> 20) + 1);
    let server = Server::start(vec![response("200 OK", &[], &noise)]);
    // What bounds it is its size, however slow the machine is.
    let told = story("openai", &server, Duration::from_secs(300));
    assert!(told.contains("peak::completion-too-long"), "{told}");
}

#[test]
fn what_is_lacking_is_said_before_anybody_is_asked() {
    let settings = |url: &str| peak::preferences::ProviderSettings { model: None, ..settings(url) };
    let lacking = |kind: &str, settings| {
        let opened = open(options(kind, settings, Watched::default().conduct(TIMEOUT)));
        told(&opened.map(|_| panic!("it lacks something")))
    };
    let mut without_key = super::ask::settings("https://api.anthropic.com/v1");
    without_key.key_variable = None;
    let all = [
        ("no model", lacking("openai", settings("http://localhost:1/v1"))),
        ("no key for the maker's own service", lacking("anthropic", without_key)),
        ("no address", lacking("gemini", super::ask::settings("localhost:80"))),
        ("a password in the address", lacking("openai", super::ask::settings("http://me:secret-word@localhost/v1"))),
        ("no program", lacking("command", settings("http://localhost:1/v1"))),
    ];
    insta::assert_snapshot!(all.map(|(name, told)| format!("{name}\n{told}\n")).join("\n"));
}

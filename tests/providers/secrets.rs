//! A key goes to its server and nowhere else: not into an error, an answer, a recording, a report.

use super::ask::{KEY, Watched, opened, request, told};
use super::server::{Server, events, response};
use peak::provider::{FolderSource, Provider, Record, RecordingSource, Scrubber};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn a_server_that_echoes_the_key_in_its_error_does_not_spread_it() {
    let echo = format!("your key {KEY}, at http://user:{KEY}@proxy.example/ or http://me:hidden-word@x, is wrong");
    let json = format!(r#"{{"error":{{"message":"{echo}"}}}}"#);
    for kind in ["anthropic", "gemini", "openai"] {
        for status in ["400 Bad", "401 No", "403 No", "404 No", "429 Busy", "500 Oops", "302 Found"] {
            for body in [&json, &echo] {
                let location = format!("https://user:{KEY}@elsewhere.example/{KEY}?key={KEY}");
                let server = Server::start(vec![response(status, &[("location", &location)], body)]);
                let watched = Watched::default();
                let provider = opened(kind, &server.url(), watched.conduct(TIMEOUT)).expect("it opens");
                let outcome = provider.complete(&request("p"));
                let all = format!("{}\n{outcome:?}\n{:?}\n{}", told(&outcome), watched.heard, provider.about());
                assert!(!all.contains(KEY), "{kind}, {status}: {all}");
                assert!(!all.contains("hidden-word"), "{kind}, {status}: {all}");
                assert!(server.requests().iter().all(|sent| sent.contains(KEY)), "the key is sent in a header");
                let lines = server.requests().join("\n");
                assert!(!lines.lines().any(|line| line.starts_with("POST") && line.contains(KEY)), "never in a line");
            }
        }
    }
}

#[test]
fn a_server_that_echoes_the_key_in_its_answer_does_not_spread_it() {
    let content = format!(r#"{{"choices":[{{"delta":{{"content":"key {KEY}"}},"finish_reason":"stop"}}]}}"#);
    let server = Server::start(vec![events(&[&content, "[DONE]"])]);
    let provider = opened("openai", &server.url(), Watched::default().conduct(TIMEOUT)).expect("it opens");
    let (folder, prompts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let record = Record::new(provider, folder.path(), Scrubber::default()).with_prompts(prompts.path());
    assert_eq!(record.complete(&request("p")).expect("answered").text, "key [secret removed]");
    let source = FolderSource::new(folder.path());
    let written = source.list("matmul-f32/hlsl");
    assert_eq!(written.len(), 1);
    assert!(!source.read(&written[0]).expect("readable").contains(KEY));
    // Nor does malformed JSON with the key in it.
    let server = Server::start(vec![response("200 OK", &[], &format!("{KEY} is no JSON"))]);
    let provider = opened("openai", &server.url(), Watched::default().conduct(TIMEOUT)).expect("it opens");
    let outcome = told(&provider.complete(&request("p")));
    assert!(outcome.contains("peak::provider-malformed") && !outcome.contains(KEY), "{outcome}");
}

#[test]
fn addresses_lose_names_and_passwords_and_nothing_else() {
    let scrub = |text: &str| Scrubber::default().scrub(text).0;
    assert_eq!(scrub("at https://me:pass@host:1/x@y?z and more"), "at https://[secret removed]@host:1/x@y?z and more");
    assert_eq!(scrub("http://a:b@c, ftp://d:e@f"), "http://[secret removed]@c, ftp://[secret removed]@f");
    for plain in ["https://host/x:y@z", "ssh://git@host/x", "a :// b @ c", "std::map<int> a; // x@y:z", "://", "é://ü"]
    {
        assert_eq!(scrub(plain), plain);
    }
    let line = Scrubber::default().line(&format!("one\n\u{1b}[2Jtwo\t{}", "x".repeat(1000)));
    assert!(line.starts_with("one [2Jtwo xxx") && line.len() < 320, "{line}");
}

//! What each interface sends, in its own words, and what is made of it: text, apart from reasoning and refusals.

use super::ask::{KEY, Watched, opened, request, story};
use super::server::{Reply, Server, events, response};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Name, kind, script.
fn scripts() -> Vec<(&'static str, &'static str, Reply)> {
    vec![
        (
            "openai: a stream",
            "openai",
            events(&[
                r#"{"model":"model-1-2026","choices":[{"delta":{"role":"assistant","content":""}}]}"#,
                r#"{"choices":[{"delta":{"content":"hello "}}]}"#,
                r#"{"choices":[{"delta":{"content":"world"}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}"#,
                "[DONE]",
            ]),
        ),
        (
            "openai: all at once",
            "openai",
            response(
                "200 OK",
                &[("content-type", "application/json")],
                r#"{"model":"m","choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            ),
        ),
        (
            "openai: reasoning in a channel of its own",
            "openai",
            events(&[
                r#"{"choices":[{"delta":{"reasoning_content":"let me think"}}]}"#,
                r#"{"choices":[{"delta":{"reasoning":"a bit more","content":null}}]}"#,
                r#"{"choices":[{"delta":{"content":"done"},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ]),
        ),
        (
            "openai: nothing but reasoning",
            "openai",
            events(&[
                r#"{"choices":[{"delta":{"reasoning_content":"let me think"}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
                "[DONE]",
            ]),
        ),
        (
            "openai: a refusal",
            "openai",
            events(&[
                r#"{"choices":[{"delta":{"refusal":"I can't help "}}]}"#,
                r#"{"choices":[{"delta":{"refusal":"with that."},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ]),
        ),
        (
            "openai: a content filter",
            "openai",
            events(&[r#"{"choices":[{"delta":{"content":"so"},"finish_reason":"content_filter"}]}"#, "[DONE]"]),
        ),
        (
            "anthropic: a stream with thinking",
            "anthropic",
            events(&[
                r#"{"type":"message_start","message":{"model":"model-1-x","usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                r#"{"type":"ping"}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hello"}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" world"}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}"#,
                r#"{"type":"message_stop"}"#,
            ]),
        ),
        (
            "anthropic: a refusal",
            "anthropic",
            events(&[
                r#"{"type":"message_start","message":{"model":"m"}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
                r#"{"type":"message_stop"}"#,
            ]),
        ),
        (
            "anthropic: all at once",
            "anthropic",
            response(
                "200 OK",
                &[],
                r#"{"type":"message","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":4,"output_tokens":2}}"#,
            ),
        ),
        (
            "gemini: a stream with thoughts",
            "gemini",
            events(&[
                r#"{"modelVersion":"model-1-001","candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":"hello "},{"text":"world"}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":2,"thoughtsTokenCount":40}}"#,
            ]),
        ),
        ("gemini: a blocked prompt", "gemini", events(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#])),
        (
            "gemini: all at once",
            "gemini",
            response(
                "200 OK",
                &[],
                r#"[{"candidates":[{"content":{"parts":[{"text":"hello"}]},"finishReason":"STOP"}]}]"#,
            ),
        ),
    ]
}

#[test]
fn each_interface_is_read_in_its_own_words() {
    let told = scripts().into_iter().map(|(name, kind, reply)| {
        let server = Server::start(vec![reply]);
        format!("{name}\n{}", story(kind, &server, TIMEOUT))
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn each_interface_is_asked_in_its_own_words() {
    let mut told = String::new();
    for kind in ["anthropic", "gemini", "openai"] {
        let server = Server::start(vec![response("404 Not Found", &[], "")]);
        let url = format!("{}/below/v1/", server.url());
        let provider = opened(kind, &url, Watched::default().conduct(TIMEOUT)).expect("it opens");
        assert!(provider.complete(&request("the \"prompt\"")).is_err());
        let sent = server.requests().remove(0);
        let (head, body) = sent.split_once("\r\n\r\n").expect("a head and a body");
        let wanted = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            line.starts_with("POST")
                || ["authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "content-type"]
                    .contains(&name.as_str())
        };
        let head: Vec<&str> = head.lines().filter(wanted).collect();
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        told += &format!("{kind}\n  {}\n  {body}\n\n", head.join("\n  ").replace(KEY, "KEY"));
    }
    insta::assert_snapshot!(told);
}

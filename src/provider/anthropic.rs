//! `anthropic`: Anthropic's messages. Thinking is no part of the answer.

use super::http::{self, Asked, Dialect, Gathered, Post, text_at, tokens_at};
use super::{Provider, ProviderError, ProviderOptions};
use serde_json::{Value, json};

/// Tokens of an answer where nothing is said: the interface wants a number.
const MAX_OUTPUT_TOKENS: u64 = 32_000;

/// The version of the interface that this file is written for.
const VERSION: &str = "2023-06-01";

pub(super) fn open(options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    http::open(Anthropic, options)
}

struct Anthropic;

impl Dialect for Anthropic {
    fn usual_url(&self) -> &'static str {
        "https://api.anthropic.com/v1"
    }

    fn usual_key_variable(&self) -> &'static str {
        "ANTHROPIC_API_KEY"
    }

    fn post(&self, asked: &Asked<'_>) -> Post {
        let body = json!({
            "model": asked.model,
            "max_tokens": asked.max_output_tokens.unwrap_or(MAX_OUTPUT_TOKENS),
            "messages": [{"role": "user", "content": asked.prompt}],
            "stream": true,
        });
        let mut headers = vec![("anthropic-version", VERSION.to_owned())];
        headers.extend(asked.key.map(|key| ("x-api-key", key.to_owned())));
        Post { path: "/messages".to_owned(), headers, body }
    }

    fn take(&self, event: &Value, into: &mut Gathered) {
        match text_at(event, "/type").unwrap_or_default() {
            "message_start" => {
                into.is_by(text_at(event, "/message/model"));
                into.took(prompt_tokens(event, "/message/usage"), tokens_at(event, "/message/usage/output_tokens"));
            }
            "content_block_start" => into.answers(text_at(event, "/content_block/text").unwrap_or_default()),
            "content_block_delta" => {
                into.answers(text_at(event, "/delta/text").unwrap_or_default());
                into.reasons(text_at(event, "/delta/thinking").unwrap_or_default());
            }
            "message_delta" => {
                into.took(None, tokens_at(event, "/usage/output_tokens"));
                stopped(text_at(event, "/delta/stop_reason"), into);
            }
            "message_stop" => into.ended(None),
            // The whole answer at once.
            "message" => {
                into.is_by(text_at(event, "/model"));
                into.took(prompt_tokens(event, "/usage"), tokens_at(event, "/usage/output_tokens"));
                for block in event.get("content").and_then(Value::as_array).into_iter().flatten() {
                    into.answers(text_at(block, "/text").unwrap_or_default());
                    into.reasons(text_at(block, "/thinking").unwrap_or_default());
                }
                stopped(text_at(event, "/stop_reason"), into);
                into.ended(None);
            }
            _ => {}
        }
    }
}

/// Tokens of the prompt, those that were cached too.
fn prompt_tokens(event: &Value, usage: &str) -> Option<u64> {
    let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let counts = parts.iter().filter_map(|part| tokens_at(event, &format!("{usage}/{part}")));
    counts.reduce(|a, b| a + b)
}

fn stopped(why: Option<&str>, into: &mut Gathered) {
    let Some(why) = why else { return };
    into.ended(Some(why));
    if why == "refusal" {
        into.refuses("its maker's safety rules stopped it");
    }
}

//! `gemini`: Google's Gemini. Thoughts are no part of the answer.

use super::http::{self, Asked, Dialect, Gathered, Post, text_at, tokens_at};
use super::{Provider, ProviderError, ProviderOptions};
use serde_json::{Value, json};

/// Reasons to end that are refusals.
const REFUSALS: [&str; 6] = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"];

pub(super) fn open(options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    http::open(Gemini, options)
}

struct Gemini;

impl Dialect for Gemini {
    fn usual_url(&self) -> &'static str {
        "https://generativelanguage.googleapis.com/v1beta"
    }

    fn usual_key_variable(&self) -> &'static str {
        "GEMINI_API_KEY"
    }

    fn post(&self, asked: &Asked<'_>) -> Post {
        let mut body = json!({"contents": [{"role": "user", "parts": [{"text": asked.prompt}]}]});
        if let Some(limit) = asked.max_output_tokens {
            body["generationConfig"] = json!({"maxOutputTokens": limit});
        }
        // A header: an address may be written into a log on the way.
        let headers = asked.key.map(|key| ("x-goog-api-key", key.to_owned()));
        let folder = if asked.model.contains('/') { "" } else { "models/" };
        let path = format!("/{folder}{}:streamGenerateContent?alt=sse", asked.model);
        Post { path, headers: headers.into_iter().collect(), body }
    }

    fn take(&self, event: &Value, into: &mut Gathered) {
        // Where the stream is no events, it is an array of them.
        if let Value::Array(events) = event {
            events.iter().for_each(|event| self.take(event, into));
            return;
        }
        into.is_by(text_at(event, "/modelVersion"));
        let written = tokens_at(event, "/usageMetadata/candidatesTokenCount");
        let thought = tokens_at(event, "/usageMetadata/thoughtsTokenCount");
        let tokens_out = written.map(|written| written + thought.unwrap_or(0)).or(thought);
        into.took(tokens_at(event, "/usageMetadata/promptTokenCount"), tokens_out);
        for part in event.pointer("/candidates/0/content/parts").and_then(Value::as_array).into_iter().flatten() {
            let text = text_at(part, "/text").unwrap_or_default();
            match part.get("thought").and_then(Value::as_bool) {
                Some(true) => into.reasons(text),
                _ => into.answers(text),
            }
        }
        if let Some(why) = text_at(event, "/promptFeedback/blockReason") {
            into.refuses(&format!("the prompt was blocked ({why})"));
            into.ended(Some(why));
        }
        if let Some(why) = text_at(event, "/candidates/0/finishReason") {
            into.ended(Some(why));
            if REFUSALS.contains(&why) {
                into.refuses(&format!("it was stopped for {why}"));
            }
        }
    }
}

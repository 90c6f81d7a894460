//! `openai`: any server that speaks OpenAI's chat completions: its own, or a local one (vLLM, llama.cpp, Ollama, LM
//! Studio). Reasoning that comes in a channel of its own is no part of the answer.

use super::http::{self, Asked, Dialect, Gathered, Post, text_at, tokens_at};
use super::{Provider, ProviderError, ProviderOptions};
use serde_json::{Value, json};

pub(super) fn open(options: ProviderOptions) -> Result<Box<dyn Provider>, ProviderError> {
    http::open(OpenAi, options)
}

struct OpenAi;

impl Dialect for OpenAi {
    fn usual_url(&self) -> &'static str {
        "https://api.openai.com/v1"
    }

    fn usual_key_variable(&self) -> &'static str {
        "OPENAI_API_KEY"
    }

    fn post(&self, asked: &Asked<'_>) -> Post {
        let mut body = json!({
            "model": asked.model,
            "messages": [{"role": "user", "content": asked.prompt}],
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if let Some(limit) = asked.max_output_tokens {
            // Others know the older name alone.
            let name = if asked.usual_service { "max_completion_tokens" } else { "max_tokens" };
            body[name] = json!(limit);
        }
        let headers = asked.key.map(|key| ("authorization", format!("Bearer {key}")));
        Post { path: "/chat/completions".to_owned(), headers: headers.into_iter().collect(), body }
    }

    fn take(&self, event: &Value, into: &mut Gathered) {
        into.is_by(text_at(event, "/model"));
        into.took(tokens_at(event, "/usage/prompt_tokens"), tokens_at(event, "/usage/completion_tokens"));
        // `delta` in a stream, `message` where the answer came at once.
        for part in ["/choices/0/delta", "/choices/0/message"] {
            let Some(part) = event.pointer(part) else { continue };
            into.answers(text_at(part, "/content").unwrap_or_default());
            let reasoning = text_at(part, "/reasoning_content").or(text_at(part, "/reasoning"));
            into.reasons(reasoning.unwrap_or_default());
            if let Some(words) = text_at(part, "/refusal") {
                into.refuses(words);
            }
        }
        if let Some(why) = text_at(event, "/choices/0/finish_reason") {
            into.ended(Some(why));
            if why == "content_filter" {
                into.refuses("the provider's content filter stopped it");
            }
        }
    }
}

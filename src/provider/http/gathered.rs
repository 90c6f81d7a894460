//! An answer as it is put together from the events of a stream: the text apart from reasoning and refusal. Judges
//! nothing.

use crate::provider::Usage;
use serde_json::Value;

/// What came so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    text: String,
    reasoning_bytes: usize,
    refusal: Option<String>,
    finish: Option<String>,
    over: bool,
    model: Option<String>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
}

impl Gathered {
    /// More of the answer's text.
    pub fn answers(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// More of what the model thinks, which is no part of its answer.
    pub fn reasons(&mut self, text: &str) {
        self.reasoning_bytes += text.len();
    }

    /// The model, or its maker, declines.
    pub fn refuses(&mut self, words: &str) {
        self.refusal.get_or_insert_default().push_str(words);
    }

    /// The answer is over, and why.
    pub fn ended(&mut self, why: Option<&str>) {
        self.over = true;
        if let Some(why) = why {
            self.finish = Some(why.to_owned());
        }
    }

    /// Who answers.
    pub fn is_by(&mut self, model: Option<&str>) {
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
    }

    /// Tokens of the prompt and of the answer so far; later words replace earlier ones.
    pub fn took(&mut self, tokens_in: Option<u64>, tokens_out: Option<u64>) {
        self.tokens_in = tokens_in.or(self.tokens_in);
        self.tokens_out = tokens_out.or(self.tokens_out);
    }

    /// The answer's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The answer's text, byte for byte.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Whether the end was seen: a stream without it was cut.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Why there is no answer, where the model declined.
    pub fn refusal(&self) -> Option<String> {
        let words = self.refusal.as_ref()?;
        let words = if words.trim().is_empty() { "it gave no reason" } else { words };
        Some(words.to_owned())
    }

    /// What may have kept the text away.
    pub fn why_empty(&self) -> String {
        let reasoning = match self.reasoning_bytes {
            0 => None,
            bytes => Some(format!("{bytes} bytes of reasoning came before it")),
        };
        let finish = self.finish.as_ref().map(|finish| format!("ended by `{finish}`"));
        finish.into_iter().chain(reasoning).collect::<Vec<_>>().join("; ")
    }

    /// Who answered.
    pub fn model(&self) -> Option<String> {
        self.model.clone()
    }

    /// What it took, where the server said.
    pub fn usage(&self) -> Option<Usage> {
        let said = self.tokens_in.is_some() || self.tokens_out.is_some();
        said.then(|| Usage {
            tokens_in: self.tokens_in.unwrap_or(0),
            tokens_out: self.tokens_out.unwrap_or(0),
            money_millionths: None,
        })
    }
}

/// The text at a JSON pointer.
pub fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The count at a JSON pointer.
pub fn tokens_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

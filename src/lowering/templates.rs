//! Prompt templates: files, rendered by minijinja. A project may replace any of them.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The template that is rendered; it includes the others.
pub(super) const ROOT: &str = "region.md.j2";

/// The template of a choice among transformations.
const CHOICE: &str = "choose.md.j2";

/// Templates by name.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
}

/// Why templates cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum TemplateError {
    /// A folder or file that cannot be read.
    #[error("cannot read the prompt templates in {folder}: {reason}")]
    #[diagnostic(code("peak::prompt-templates-unreadable"), help("name a folder that holds `region.md.j2`"))]
    Unreadable {
        /// Where.
        folder: String,
        /// What the system said.
        reason: String,
    },
    /// A template that does not parse, or asks for what a prompt does not offer.
    #[error("the prompt template `{template}` is wrong in line {line}: {reason}")]
    #[diagnostic(
        code("peak::prompt-template-wrong"),
        help("compare it with the standard library's `prompts/{template}`")
    )]
    Wrong {
        /// Its name.
        template: String,
        /// The line, from 1; 0 where unknown.
        line: usize,
        /// What minijinja said.
        reason: String,
    },
}

impl Templates {
    /// Templates by file name (`region.md.j2`, ...); a later one replaces an earlier one of its name. Files of other
    /// endings, such as a README beside them, are left out.
    ///
    /// # Errors
    /// A template that does not parse.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Result<Templates, TemplateError> {
        let mut environment = Environment::new();
        // A name that a template asks for and that is not there is an error, never an empty piece of prompt.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(block_lines());
        environment.add_filter("fence", fence);
        for (name, text) in files.into_iter().filter(|(name, _)| name.ends_with(".j2")) {
            environment.add_template_owned(name.clone(), text).map_err(|error| wrong(&name, &error))?;
        }
        Ok(Templates { environment })
    }

    /// The `.j2` files of a folder.
    ///
    /// # Errors
    /// A folder that cannot be read, a template that does not parse.
    pub fn from_folder(folder: &Path) -> Result<Templates, TemplateError> {
        let unreadable = |error: std::io::Error| TemplateError::Unreadable {
            folder: folder.display().to_string(),
            reason: error.to_string(),
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if name.ends_with(".j2") {
                let text = std::fs::read_to_string(&path).map_err(unreadable)?;
                files.push((name, text));
            }
        }
        Templates::new(files)
    }

    pub(super) fn render(&self, values: &serde_json::Value) -> Result<String, TemplateError> {
        self.render_from(ROOT, values)
    }

    pub(super) fn render_choice(&self, values: &serde_json::Value) -> Result<String, TemplateError> {
        self.render_from(CHOICE, values)
    }

    fn render_from(&self, root: &str, values: &serde_json::Value) -> Result<String, TemplateError> {
        let rendered = self.environment.get_template(root).and_then(|template| template.render(converted(values)));
        rendered.map_err(|error| wrong(root, &error))
    }
}

/// Lines that hold only a block tag leave nothing behind.
fn block_lines() -> SyntaxConfig {
    let built = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    // The default delimiters are a valid choice, so the default stands in for what cannot happen.
    built.unwrap_or_default()
}

fn converted(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(flag) => Value::from(*flag),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => items.iter().map(converted).collect(),
        serde_json::Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), converted(value))).collect::<BTreeMap<_, _>>().into()
        }
    }
}

fn wrong(template: &str, error: &minijinja::Error) -> TemplateError {
    TemplateError::Wrong {
        template: error.name().unwrap_or(template).to_owned(),
        line: error.line().unwrap_or(0),
        reason: error.to_string(),
    }
}

/// Text in a fence that nothing in it can close: kernel sources are data, and may hold fences of their own.
fn fence(text: String, language: String) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{marks}{language}\n{text}{end}{marks}")
}

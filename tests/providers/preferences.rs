//! `peak.toml`: the user's and the project's, what each may say, and what is wrong with one.

use peak::preferences::{Budget, Preferences, PreferencesError, Price};
use std::path::Path;

/// Reads a user's and a project's text.
fn load(user: &str, project: &str) -> Result<Preferences, PreferencesError> {
    let folder = tempfile::tempdir().expect("a folder");
    let (own, at) = (folder.path().join("own.toml"), folder.path().join("project"));
    std::fs::create_dir(&at).expect("a folder");
    std::fs::write(&own, user.replace("PROJECT", &at.display().to_string())).expect("written");
    std::fs::write(at.join("peak.toml"), project).expect("written");
    Preferences::load_from(Some(&own), &at).map_err(|error| named(error, folder.path()))
}

/// The error without the folder's name, which differs from run to run.
fn named(error: PreferencesError, folder: &Path) -> PreferencesError {
    let real = folder.canonicalize().expect("it is there").display().to_string();
    let clean = |text: String| text.replace(&folder.display().to_string(), "FOLDER").replace(&real, "FOLDER");
    match error {
        PreferencesError::Unreadable { path, reason } => PreferencesError::Unreadable { path: clean(path), reason },
        PreferencesError::Malformed { path, line, problem } => {
            PreferencesError::Malformed { path: clean(path), line, problem }
        }
        PreferencesError::Secret { path, field } => PreferencesError::Secret { path: clean(path), field },
        PreferencesError::Untrusted { path, field, user, project } => {
            PreferencesError::Untrusted { path: clean(path), field, user: clean(user), project: clean(project) }
        }
    }
}

#[test]
fn what_the_project_says_stands_over_what_the_user_says() {
    let user = r#"
provider = "anthropic"
[providers.openai]
url = "http://localhost:8080/v1"
model = "small"
price = { input = 1, output = 2.5 }
[providers.local]
kind = "openai"
[budget]
calls = 10
money = 5
"#;
    let project = "provider = \"openai\"\n[providers.openai]\nmodel = \"large\"\nbody = { reasoning_effort = \"high\" }\n[budget]\ncalls = 3\n";
    let both = load(user, project).expect("both are right");
    let openai = both.settings("openai");
    assert_eq!((both.provider.as_deref(), openai.model.as_deref()), (Some("openai"), Some("large")));
    assert_eq!(openai.url.as_deref(), Some("http://localhost:8080/v1"));
    assert_eq!(openai.price, Some(Price { input: 1.0, output: 2.5 }));
    assert_eq!(both.settings("local").kind.as_deref(), Some("openai"));
    assert_eq!(both.budget, Budget { calls: Some(3), money: Some(5.0), ..Budget::default() });
    let none = tempfile::tempdir().expect("a folder");
    assert_eq!(Preferences::load_from(None, none.path()).expect("nothing is right too"), Preferences::default());
}

#[test]
fn what_is_wrong_with_a_file_is_told_without_its_values() {
    let files = [
        ("a word that is none", "", "[providers.openai]\nmodle = \"m\"\n"),
        ("no TOML", "", "provider = \"openai\n"),
        ("another type", "", "[budget]\ncalls = \"sk-secret-value\"\n"),
        ("no number of money", "", "[budget]\nmoney = -1.0\n"),
        ("a price that is none", "[providers.openai]\nprice = { input = nan, output = 1 }\n", ""),
        ("a key", "", "[providers.openai]\napi_key = \"sk-secret-value\"\n"),
        ("a key in the user's own", "key = \"sk-secret-value\"\n", ""),
        ("a key in the body", "[providers.openai.body]\nauthorization = \"sk-secret-value\"\n", ""),
        ("a project's address", "", "[providers.openai]\nurl = \"http://evil.example\"\n"),
        ("a project's program", "", "[providers.command]\nprogram = [\"rm\"]\n"),
        ("a project's key variable", "", "[providers.openai]\nkey-variable = \"AWS_SECRET_ACCESS_KEY\"\n"),
    ];
    let told = files.map(|(name, user, project)| {
        let error = load(user, project).expect_err("it is wrong");
        format!("{name}\n{}", super::ask::told_of(&error))
    });
    let told = told.join("\n\n");
    assert!(!told.contains("sk-secret-value"), "{told}");
    insta::assert_snapshot!(told);
}

#[test]
fn a_project_that_is_trusted_may_say_all() {
    let project = "[providers.openai]\nurl = \"http://localhost:1/v1\"\n";
    assert!(load("", project).is_err());
    let trusted = load("trusted-projects = [\"PROJECT\"]\n", project).expect("it is trusted");
    assert_eq!(trusted.settings("openai").url.as_deref(), Some("http://localhost:1/v1"));
    // A project does not trust itself.
    let itself = format!("trusted-projects = [\".\", \"/\"]\n{project}");
    assert!(load("", &itself).is_err());
}

//! Mechanical steps as a file writes them, on code as kernels hold it: the cases of `tests/suite/rewrite/*.md`, each in
//! every language that it names.

use super::fixture::matmul;
use peak::context::KernelContext;
use peak::edit::{EditError, mechanical};
use peak_grammar::ir::{Region, Step};
use peak_grammar::{SourceFile, load};

/// Cases at least, so that a reader which finds none is noticed.
const MIN_CASES: usize = 40;

#[derive(Default)]
struct Case {
    name: String,
    languages: Vec<String>,
    step: String,
    before: String,
    after: Option<String>,
    error: Option<String>,
}

/// The cases of a file: a heading `## NAME (LANGUAGE, ...)`, then fences `step`, `before` and `after` or `error`. A
/// fence ends at a line of three backticks at the margin.
fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for line in text.lines() {
        match &mut fence {
            Some((kind, body)) if line == "```" => {
                let case = cases.last_mut().expect("a heading comes first");
                match kind.as_str() {
                    "step" => case.step.clone_from(body),
                    "before" => case.before.clone_from(body),
                    "after" => case.after = Some(body.clone()),
                    "error" => case.error = Some(body.trim().to_owned()),
                    other => panic!("a fence is step, before, after or error, not {other}"),
                }
                fence = None;
            }
            Some((_, body)) => {
                body.push_str(line);
                body.push('\n');
            }
            None => {
                if let Some(heading) = line.strip_prefix("## ") {
                    let (name, languages) = heading.strip_suffix(')').and_then(|h| h.split_once(" (")).expect(heading);
                    let languages = languages.split(", ").map(str::to_owned).collect();
                    cases.push(Case { name: name.to_owned(), languages, ..Case::default() });
                } else if let Some(kind) = line.strip_prefix("```") {
                    fence = Some((kind.to_owned(), String::new()));
                }
            }
        }
    }
    assert!(fence.is_none(), "a fence is not closed");
    cases
}

/// The steps as the front end reads them.
pub fn steps(text: &str) -> Vec<Step> {
    let indented: String = text.lines().map(|line| format!("      {line}\n")).collect();
    let file = format!("transformation t\n  pass p\n    in device code\n{indented}");
    let (library, found) = load(&[SourceFile::new("t.peak", &file)]);
    assert!(found.is_empty(), "{file}\n{found:#?}");
    library.transformations["t"].passes[0].steps.clone()
}

/// A context of one language with this device code and no macros.
pub fn context(language: &str, code: &str) -> KernelContext {
    let mut context = matmul();
    context.backend = language.to_owned();
    context.regions.device_code = code.to_owned();
    context
}

/// The device code after the steps.
pub fn carried_out(context: &KernelContext, steps: &[Step]) -> Result<String, EditError> {
    let mut context = context.clone();
    for step in steps {
        for script in mechanical(&context, step.region, &step.action, &|_| None)? {
            let text = script.apply(context.regions.get(script.region))?;
            *context.regions.get_mut(script.region) = text;
        }
    }
    Ok(context.regions.device_code)
}

/// What is wrong with a case in a language, if anything.
fn complaint(case: &Case, language: &str) -> Option<String> {
    let outcome = carried_out(&context(language, &case.before), &steps(&case.step));
    let told = outcome.map_err(|error| {
        let code = miette::Diagnostic::code(&error).expect("a code").to_string();
        format!("{code}: {error}")
    });
    let right = match (&told, &case.after, &case.error) {
        (Ok(text), Some(after), None) => text == after,
        (Err(error), None, Some(wanted)) => error.starts_with(wanted.as_str()),
        _ => false,
    };
    let wanted = case.after.as_ref().or(case.error.as_ref()).expect("a case has an outcome");
    (!right).then(|| {
        format!("`{}` in {language}\n--- wanted\n{wanted}\n--- got\n{}", case.name, told.unwrap_or_else(|e| e))
    })
}

#[test]
fn every_case_of_the_suite_comes_to_what_it_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/rewrite");
    let mut count = 0;
    let mut complaints = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the suite") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file of cases");
        for case in cases(&text) {
            count += 1;
            assert!(!case.languages.is_empty() && !case.step.is_empty(), "{}", case.name);
            complaints.extend(case.languages.iter().filter_map(|language| complaint(&case, language)));
        }
    }
    assert!(count >= MIN_CASES, "only {count} cases were found");
    assert!(complaints.is_empty(), "{} complaints\n\n{}", complaints.len(), complaints.join("\n\n"));
}

#[test]
fn an_entry_is_renamed_where_it_is_launched_and_in_macros() {
    let mut before = matmul();
    before.regions.macros = "#define ENTRY matmul\n".to_owned();
    let rename = peak_grammar::ir::Action::Rename { from: "matmul".to_owned(), to: "product".to_owned() };
    for region in [Region::DeviceCode, Region::HostCode] {
        let scripts = mechanical(&before, region, &rename, &|_| None).expect("renames");
        let mut after = before.clone();
        for script in &scripts {
            *after.regions.get_mut(script.region) = script.apply(after.regions.get(script.region)).expect("applies");
        }
        assert_eq!(after.regions.macros, "#define ENTRY product\n");
        assert!(after.regions.host_code.starts_with("launch product\n"), "{}", after.regions.host_code);
        assert!(after.regions.device_code.contains("void product("), "{}", after.regions.device_code);
    }
}

#[test]
fn names_of_the_launch_plan_that_others_read_stay() {
    let mut context = matmul();
    context.regions.host_code.insert_str(0, "let part = n / 4\n");
    let part = peak_grammar::ir::Expr::Name("part".to_owned());
    context
        .plan
        .statements
        .insert(0, peak_grammar::ir::PlanStatement::Let { name: "part".to_owned(), value: part.clone() });
    let rename = |context: &KernelContext, from: &str| {
        let action = peak_grammar::ir::Action::Rename { from: from.to_owned(), to: "piece".to_owned() };
        mechanical(context, Region::HostCode, &action, &|_| None)
    };
    let scripts = rename(&context, "part").expect("a let is the plan's own");
    assert_eq!((scripts.len(), scripts[0].edits().len()), (1, 1));
    assert!(matches!(rename(&context, "n"), Err(EditError::NameIsFixed { .. })), "an argument");
    let positive = peak_grammar::ir::Condition::Compare(
        peak_grammar::ir::CompareOp::Greater,
        part,
        peak_grammar::ir::Expr::Integer(0),
    );
    let name = "positive".to_owned();
    context.requirements.push(peak_grammar::ir::Requirement { name, condition: positive, added_by: None });
    assert!(matches!(rename(&context, "part"), Err(EditError::NameIsFixed { .. })), "a requirement reads it");
}

#[test]
fn line_ends_stay_as_they_are() {
    let code = "void f() {\r\n  x = load(a);\r\n  barrier();\r\n}\r\n";
    let rewritten = carried_out(&context("cuda", code), &steps("rewrite `load($A)` to `fetch($A)`")).expect("rewrites");
    assert_eq!(rewritten, code.replace("load", "fetch"));
    let insert = "insert after `barrier();`\n  ```\n  a();\n  b();\n  ```";
    let inserted = carried_out(&context("hlsl", code), &steps(insert)).expect("inserts");
    assert_eq!(inserted, code.replace("  barrier();\r\n", "  barrier();\r\n  a();\r\n  b();\r\n"));
    let removed = carried_out(&context("hip", code), &steps("rewrite `barrier();` to nothing")).expect("rewrites");
    assert_eq!(removed, code.replace("  barrier();\r\n", ""));
}

#[test]
fn one_of_several_that_fails_leaves_everything_alone() {
    let both = steps("rewrite `a` to `b`\nrewrite `missing($X)` to `c`");
    let context = context("cuda", "void f() { x = a; }\n");
    assert!(matches!(carried_out(&context, &both), Err(EditError::NotFound { .. })));
    assert_eq!(context.regions.device_code, "void f() { x = a; }\n");
}

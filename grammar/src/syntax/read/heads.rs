//! Which form a line can only have, by its first word: parsing that form alone saves trying all others before it.
//!
//! Decides nothing. Where the form does not match the whole line, or the word is not here, the line is parsed as any of
//! its block's forms, and what is wrong is told from that.

use super::clause::Rule;

/// The form that a line of a block opens with, where its first word leaves only one.
pub(super) fn form(lines: Rule, line: &str) -> Option<Rule> {
    let end = line.bytes().position(|byte| byte == b' ').unwrap_or(line.len());
    let word = line.get(..end)?;
    match lines {
        Rule::file_line => file(word),
        Rule::kernel_line => kernel(word),
        Rule::plan_line => plan(word),
        Rule::launch_line => launch(word),
        Rule::transformation_line => transformation(word),
        Rule::pass_line => pass(word),
        Rule::step_line => step(word),
        Rule::device_line => device(word),
        Rule::pack_line => pack(word),
        Rule::specialize_line => specialize(word),
        Rule::workflow_line | Rule::workflow_step_line => workflow(word),
        _ => None,
    }
}

fn file(word: &str) -> Option<Rule> {
    Some(match word {
        "build" | "device" | "kernel" | "pack" | "transformation" | "utility" | "workflow" => Rule::declaration,
        "use" => Rule::use_file,
        _ => return None,
    })
}

fn kernel(word: &str) -> Option<Rule> {
    Some(match word {
        "accumulate" | "element" => Rule::elements,
        "computes" => Rule::computes,
        "device" | "macros" => Rule::source,
        "host" => Rule::host_code,
        "inout" | "input" | "output" => Rule::argument,
        "require" => Rule::require,
        "tolerance" => Rule::tolerance,
        "tune" => Rule::tune,
        _ => return None,
    })
}

fn plan(word: &str) -> Option<Rule> {
    Some(match word {
        "fill" => Rule::fill,
        "launch" => Rule::launch,
        "let" => Rule::let_name,
        "reject" => Rule::reject,
        "repeat" => Rule::repeat_plan,
        "scratch" => Rule::scratch,
        "tensor" => Rule::tensor_map,
        _ => return None,
    })
}

fn launch(word: &str) -> Option<Rule> {
    Some(match word {
        "arguments" => Rule::arguments,
        "block" => Rule::block,
        "cluster" => Rule::cluster,
        "grid" => Rule::grid,
        "shared" => Rule::shared,
        _ => return None,
    })
}

fn transformation(word: &str) -> Option<Rule> {
    Some(match word {
        "after" => Rule::after,
        "because" => Rule::because,
        "conflicts" => Rule::conflicts,
        "expects" => Rule::expects,
        "for" => Rule::for_kernels,
        "introduces" => Rule::introduces,
        "known" => Rule::known_failures,
        "needs" => Rule::needs,
        "on" => Rule::on_languages,
        "pass" => Rule::pass,
        "requires" => Rule::requires,
        "takes" => Rule::takes,
        _ => return None,
    })
}

fn pass(word: &str) -> Option<Rule> {
    Some(match word {
        "checks" => Rule::checks,
        "in" => Rule::in_region,
        "keeps" => Rule::keeps_results,
        "may" => Rule::may_break,
        "replace" => Rule::replace_requirement,
        "retire" => Rule::retire,
        _ => return None,
    })
}

fn step(word: &str) -> Option<Rule> {
    Some(match word {
        "insert" => Rule::insert,
        "rename" => Rule::rename,
        "rewrite" => Rule::rewrite,
        "set" => Rule::set,
        _ => return None,
    })
}

fn device(word: &str) -> Option<Rule> {
    Some(match word {
        "has" => Rule::has,
        "knows" => Rule::knows,
        "matches" => Rule::matches,
        "peaks" => Rule::peaks,
        "speaks" => Rule::speaks,
        _ => return None,
    })
}

fn pack(word: &str) -> Option<Rule> {
    Some(match word {
        "extends" => Rule::extends,
        "for" => Rule::for_devices,
        "has" => Rule::has,
        "knows" => Rule::knows,
        "specialize" => Rule::specialize,
        "transformation" | "workflow" => Rule::nested,
        _ => return None,
    })
}

fn specialize(word: &str) -> Option<Rule> {
    Some(match word {
        "introduces" => Rule::introduces,
        "knows" => Rule::knows,
        "replace" => Rule::replace_pass,
        "requires" => Rule::requires,
        "takes" => Rule::takes,
        _ => return None,
    })
}

fn workflow(word: &str) -> Option<Rule> {
    Some(match word {
        "apply" => Rule::apply,
        "checkpoint" => Rule::checkpoint,
        "choose" => Rule::choose,
        "compare" => Rule::compare,
        "keep" => Rule::keep_best,
        "let" => Rule::let_model,
        "repeat" => Rule::repeat,
        "restore" => Rule::restore,
        "search" => Rule::search,
        "try" => Rule::attempt,
        _ => return None,
    })
}

//! A repair for every class of failure: the next prompt says what kind of failure it was, with its message and its facts,
//! and the attempt keeps them.

use super::fixture::{
    Log, Scripted, ScriptedJudge, facts, hlsl_answer, lowering, matmul, planned, split_code, templates, tiling,
};
use peak::lowering::apply_transformation;
use peak::runner::{Failure, FailureClass};

/// What the prompt says of a class.
fn words(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Apply => "could not be applied",
        FailureClass::Compile => "does not compile",
        FailureClass::Launch => "the device refuses to launch it",
        FailureClass::Results => "gives wrong results",
        FailureClass::Sanitizer => "a checker stopped it for a defect",
        FailureClass::Timeout => "did not finish in time",
        FailureClass::Crash => "crashed the device",
        FailureClass::Provider => "no class of an answer",
    }
}

#[test]
fn every_class_of_failure_is_repaired_with_its_facts() {
    use FailureClass::{Apply, Compile, Crash, Launch, Results, Sanitizer, Timeout};
    for class in [Apply, Compile, Launch, Results, Sanitizer, Timeout, Crash] {
        let failure = Failure::new(class, format!("the message of {class}"))
            .with_fact(format!("the first fact of {class}"))
            .with_fact("seen at n = 64 with BLOCK_X = 8".to_owned());
        // The same answer a second time: what it is judged by is the script's.
        let right = hlsl_answer(&split_code());
        let (provider, templates, facts) = (Scripted::new(&[right.clone(), right]), templates(), facts());
        let (mut judge, mut log) = (ScriptedJudge::default(), Log::default());
        match class {
            Compile | Launch => judge.compiles.push(failure.clone()),
            _ => judge.validates.push(failure.clone()),
        }
        let context = matmul();
        let plan = planned(&context, &tiling());
        let applied =
            apply_transformation(&context, &plan, &mut lowering(&provider, &templates, &facts, &mut judge, &mut log));
        let attempts = applied.unwrap_or_else(|rejected| panic!("{class}: {rejected}")).attempts;
        assert_eq!((attempts.len(), attempts[0].class, attempts[1].class), (2, Some(class), None));
        assert_eq!(
            (attempts[0].message.as_deref(), &attempts[0].facts),
            (Some(failure.message.as_str()), &failure.facts)
        );
        let seen = provider.seen.lock().expect("no test panics while it holds this");
        let (_, repair) = seen[1].prompt.split_once("# An earlier answer failed").expect("the second is a repair");
        let told = [words(class), &failure.message, &failure.facts[0], &failure.facts[1], "forgets `k0`"];
        for piece in told {
            assert!(repair.contains(piece), "{class}: no {piece} in\n{repair}");
        }
        assert!(repair.contains("for (uint k0 = 0; k0 < n; k0 += TILE_K_SIZE)"), "{class}: the answer is shown again");
        assert_ne!(seen[0].key, seen[1].key);
    }
}

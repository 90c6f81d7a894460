//! A MatMul context, a tiling transformation, and scripted partners. What is scripted stands in for a model and a
//! device, so that the driver's own behaviour can be tested; nothing outside tests knows it.

use indexmap::IndexMap;
use peak::context::scope::Facts;
use peak::context::{CONTEXT_VERSION, KernelContext, Regions};
use peak::lowering::{AnswerFormat, Event, Judge, Lowering, MAX_REPAIRS, Observer, Surroundings, Templates};
use peak::plan::{PlanInputs, TransformationPlan};
use peak::provider::{Completion, CompletionRequest, Provider, ProviderError};
use peak::runner::Failure;
use peak_backend_api::Spelling;
use peak_grammar::ir::{
    Action, Application, Argument, ArgumentKind, Assignment, BinaryOp, Check, CompareOp, Computes, Condition,
    Direction, Effect, ElementType, Expr, Initializer, Kernel, KernelSelector, Launch, LaunchPlan, Origin, Pass,
    PlanStatement, Prose, ReduceOp, Region, Requirement, Segment, Step, Tolerance, Transformation, TuningParameter,
    Utility, Value, ValueOp, Values,
};
use peak_grammar::specialize::Knowledge;
use std::sync::Mutex;

pub const HOST: &str =
    "launch matmul\n  grid n / BLOCK_X, n / BLOCK_Y\n  block BLOCK_X, BLOCK_Y\n  arguments A, B, C, n\n";

pub static HLSL: Spelling = Spelling {
    fence: "hlsl",
    terms: &[
        ("thread index in the block", "`uint3 thread : SV_GroupThreadID`"),
        ("block index", "`uint3 block : SV_GroupID`"),
        ("barrier of the block", "`GroupMemoryBarrierWithGroupSync()`"),
        ("shared memory", "`groupshared ELEMENT tile[ROWS][COLUMNS];` at global scope"),
    ],
    notes: &["A groupshared array needs a size that is known when it is compiled."],
    barrier: "GroupMemoryBarrierWithGroupSync()",
    known_capitals: &["SV_GROUPID"],
    banned: &[
        ("#include", "a kernel reads no file"),
        ("printf", "nobody reads it"),
        ("vk::ReadClock", "a kernel does not look at the clock"),
    ],
};

pub fn data(path: &str) -> String {
    let path = format!("{}/tests/suite/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn templates() -> Templates {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/stdlib/prompts");
    Templates::from_folder(folder.as_ref()).expect("the library's templates parse")
}

pub fn name(name: &str) -> Expr {
    Expr::Name(name.to_owned())
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn divides(what: &str, by: &str) -> Condition {
    Condition::Compare(CompareOp::Equal, binary(BinaryOp::Mod, name(what), name(by)), Expr::Integer(0))
}

fn requirement(title: &str, condition: Condition) -> Requirement {
    Requirement { name: title.to_owned(), condition, added_by: None }
}

fn parameter(title: &str, values: Values, start: Option<i64>) -> TuningParameter {
    TuningParameter { name: title.to_owned(), values, start, introduced_by: None }
}

fn array(title: &str, direction: Direction) -> Argument {
    let kind = ArgumentKind::Array {
        shape: vec![name("n"), name("n")],
        element: ElementType::F32,
        initializer: Initializer::Uniform { low: -1.0, high: 1.0 },
    };
    Argument { name: title.to_owned(), direction, kind }
}

fn element(array: &str, row: &str, column: &str) -> Value {
    Value::Element { array: array.to_owned(), indices: vec![name(row), name(column)] }
}

fn product(out: &str, left: &str, right: &str, extent: &str) -> Computes {
    let body = Value::Binary(ValueOp::Mul, Box::new(element(left, "i", "k")), Box::new(element(right, "k", "j")));
    let value = Value::Reduce {
        op: ReduceOp::Sum,
        variable: "k".to_owned(),
        low: Expr::Integer(0),
        high: name(extent),
        filter: None,
        body: Box::new(body),
    };
    let (target, indices) = (out.to_owned(), vec!["i".into(), "j".into()]);
    Computes { statements: vec![Assignment { target, indices, extents: Vec::new(), value }] }
}

pub fn launch_plan() -> LaunchPlan {
    let over = |block: &str| binary(BinaryOp::Div, name("n"), name(block));
    let launch = Launch {
        kernel: "matmul".to_owned(),
        grid: vec![over("BLOCK_X"), over("BLOCK_Y")],
        block: vec![name("BLOCK_X"), name("BLOCK_Y")],
        shared: None,
        cluster: None,
        cooperative: false,
        arguments: ["A", "B", "C", "n"].map(str::to_owned).to_vec(),
    };
    LaunchPlan { statements: vec![PlanStatement::Launch(launch)] }
}

fn kernel() -> Kernel {
    let n = Argument {
        name: "n".to_owned(),
        direction: Direction::Input,
        kind: ArgumentKind::Scalar { element: ElementType::I32, values: vec![2048, 4096], checked: vec![64, 128] },
    };
    Kernel {
        name: "matmul-f32".to_owned(),
        title: Some("C = A x B, square, row-major, single precision".to_owned()),
        computes: Some(product("C", "A", "B", "n")),
        element: ElementType::F32,
        accumulator: ElementType::F32,
        arguments: vec![n, array("A", Direction::Input), array("B", Direction::Input), array("C", Direction::Output)],
        tolerance: Tolerance::SumLength,
        tuning: vec![
            parameter("BLOCK_X", Values::PowersOf { base: 2, low: 8, high: 64 }, None),
            parameter("BLOCK_Y", Values::PowersOf { base: 2, low: 1, high: 32 }, None),
        ],
        requirements: vec![requirement(
            "requirement-1",
            Condition::And(vec![divides("n", "BLOCK_X"), divides("n", "BLOCK_Y")]),
        )],
        code: IndexMap::new(),
        host_code: HOST.to_owned(),
        launch: launch_plan(),
        origin: Origin::default(),
    }
}

/// The naive kernel in HLSL.
pub fn matmul() -> KernelContext {
    let kernel = kernel();
    KernelContext {
        version: CONTEXT_VERSION,
        backend: "hlsl".to_owned(),
        regions: Regions {
            macros: String::new(),
            device_code: data("lowering/matmul.hlsl"),
            host_code: HOST.to_owned(),
        },
        plan: launch_plan(),
        tuning: kernel.tuning.clone(),
        requirements: kernel.requirements.clone(),
        applied: Vec::new(),
        kernel,
    }
}

pub fn prose(parts: &[&str]) -> Prose {
    let segment = |part: &&str| match part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(reference) => Segment::Reference(reference.to_owned()),
        None => Segment::Text((*part).to_owned()),
    };
    Prose { segments: parts.iter().map(segment).collect() }
}

pub fn step(region: Region, action: Action) -> Step {
    Step { region, on: Vec::new(), action }
}

pub fn words(region: Region, parts: &[&str]) -> Step {
    step(region, Action::Prose(prose(parts)))
}

pub fn pass(title: &str, steps: Vec<Step>, effect: Effect) -> Pass {
    Pass {
        name: title.to_owned(),
        title: None,
        steps,
        effect,
        checks: Vec::new(),
        replaces: Vec::new(),
        retires: Vec::new(),
        origin: Origin::default(),
    }
}

/// One pass on the device code, that splits the loop over k.
pub fn tiling() -> Transformation {
    let split = Pass {
        title: Some("Split the loop over k".to_owned()),
        checks: vec![
            Check::Mentions { region: Region::DeviceCode, name: "TILE_K_SIZE".to_owned() },
            Check::NestedLoops { region: Region::DeviceCode, depth: 2 },
        ],
        ..pass(
            "split-k-loop",
            vec![words(
                Region::DeviceCode,
                &[
                    "Replace the loop over `k` by an outer loop whose variable `k0` advances by ",
                    "{TILE_K_SIZE}",
                    " and an\ninner loop over the values from `k0`. ",
                    "{OUT}",
                    " is the same.\n",
                ],
            )],
            Effect::KeepsResults,
        )
    };
    Transformation {
        name: "split-loop".to_owned(),
        title: Some("Split the loop over k into tiles".to_owned()),
        kernels: KernelSelector::Computing(product("OUT", "LEFT", "RIGHT", "K")),
        on: vec!["cuda".to_owned(), "hip".to_owned(), "hlsl".to_owned()],
        needs_tuning: vec!["BLOCK_X".to_owned()],
        needs_lets: Vec::new(),
        after: Vec::new(),
        conflicts_with: Vec::new(),
        because: prose(&["Tiles of ", "{LEFT}", " and ", "{RIGHT}", " can then be staged.\n"]),
        settings: Vec::new(),
        introduces: vec![parameter("TILE_K_SIZE", Values::List(vec![8, 16, 32, 64]), Some(16))],
        requires: vec![requirement("whole-tiles", divides("K", "TILE_K_SIZE"))],
        expects: Vec::new(),
        passes: vec![split],
        known_failures: prose(&["The inner loop starts at zero and forgets `k0`.\n"]),
        origin: Origin::default(),
    }
}

pub fn plain_application(transformation: &str) -> Application {
    Application {
        transformation: transformation.to_owned(),
        ranges: IndexMap::new(),
        settings: IndexMap::new(),
        renames: IndexMap::new(),
    }
}

pub fn facts() -> Facts {
    let facts = [("max_threads_per_block", 1024), ("shared_memory_per_block", 32768), ("warp", 8)];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub fn planned(context: &KernelContext, transformation: &Transformation) -> TransformationPlan {
    let knowledge = [Knowledge {
        source: "device llvmpipe".to_owned(),
        prose: prose(&["A software device: threads of a block run one by one.\n"]),
        specific: false,
    }];
    let (utilities, application, facts) =
        (IndexMap::<String, Utility>::new(), plain_application(&transformation.name), facts());
    let inputs = PlanInputs {
        transformation,
        knowledge: &knowledge,
        utilities: &utilities,
        application: &application,
        facts: &facts,
    };
    peak::plan::plan(context, &inputs).expect("the transformation applies")
}

pub fn hlsl_answer(code: &str) -> String {
    format!("```hlsl\n{code}```\n")
}

/// A right answer to `split-k-loop`.
pub fn split_code() -> String {
    let split = "for (uint k0 = 0; k0 < n; k0 += TILE_K_SIZE) {\n        for (uint k = k0; k < k0 + TILE_K_SIZE; ++k) {\n            sum += A[id.y * n + k] * B[k * n + id.x];\n        }\n    }";
    let old = "for (uint k = 0; k < n; ++k) {\n        sum += A[id.y * n + k] * B[k * n + id.x];\n    }";
    let naive = data("lowering/matmul.hlsl");
    assert!(naive.contains(old), "the naive kernel holds the loop");
    naive.replace(old, split)
}

/// Answers in order, and the requests that it saw.
pub struct Scripted {
    answers: Mutex<Vec<String>>,
    pub seen: Mutex<Vec<CompletionRequest>>,
}

impl Scripted {
    pub fn new(answers: &[String]) -> Scripted {
        Scripted { answers: Mutex::new(answers.iter().rev().cloned().collect()), seen: Mutex::new(Vec::new()) }
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        self.seen.lock().expect("no test panics while it holds this").push(request.clone());
        let next = self.answers.lock().expect("no test panics while it holds this").pop();
        match next {
            Some(text) => Ok(Completion { text, model: Some("scripted-1".to_owned()), usage: None }),
            None => Err(ProviderError::MailboxTimeout { seconds: 0, path: "no answer left".to_owned() }),
        }
    }
}

/// Verdicts in order; `Ok` when they are used up.
#[derive(Default)]
pub struct ScriptedJudge {
    pub compiles: Vec<Failure>,
    pub validates: Vec<Failure>,
    pub calls: Vec<&'static str>,
    pub known: Vec<String>,
}

impl Judge for ScriptedJudge {
    fn compile(&mut self, _context: &KernelContext) -> Result<(), Failure> {
        self.calls.push("compile");
        self.compiles.pop().map_or(Ok(()), Err)
    }

    fn validate(&mut self, _context: &KernelContext) -> Result<(), Failure> {
        self.calls.push("validate");
        self.validates.pop().map_or(Ok(()), Err)
    }

    fn known(&self) -> Vec<String> {
        self.known.clone()
    }
}

/// Keeps a word on each event.
#[derive(Default)]
pub struct Log(pub Vec<String>);

impl Observer for Log {
    fn event(&mut self, event: &Event<'_>) {
        self.0.push(match event {
            Event::Pass { name, index, of } => format!("pass {name} {}/{of}", index + 1),
            Event::Asked { region, attempt, .. } => format!("asked {region} {attempt}"),
            Event::Answered { region, attempt, .. } => format!("answered {region} {attempt}"),
            Event::Failed { class, message, .. } => format!("failed {class}: {message}"),
            Event::Compiled { .. } => "compiled".to_owned(),
            Event::Validated { .. } => "validated".to_owned(),
            Event::GroupRestarted { pass } => format!("restarted at {pass}"),
        });
    }
}

/// Lowers with scripted partners.
pub fn lowering<'a>(
    provider: &'a Scripted,
    templates: &'a Templates,
    facts: &'a Facts,
    judge: &'a mut ScriptedJudge,
    observer: &'a mut Log,
) -> Lowering<'a> {
    let surroundings = Surroundings { spelling: &HLSL, device: None, facts };
    let format = AnswerFormat::default();
    Lowering { provider, templates, surroundings, judge, observer, repairs: MAX_REPAIRS, format }
}

//! What a launch plan has beside grids and blocks: tensor maps and cooperation in concrete numbers, and CUDA's kernels for
//! them on the simulator.

#[path = "../../backends/cuda/tests/launches/cases.rs"]
mod cases;

use super::build::{array, context, int, name, scalar};
use cases::{CASES, Case, REFUSED};
use peak::backends::{backend, runtimes};
use peak::context::launch::{ConcretePlan, Invalid, concrete_plan};
use peak::context::scope::Facts;
use peak::context::source::{compile_request, prelude_spec};
use peak::context::{Configuration, ExecutionParameters, Inputs, KernelContext};
use peak_backend_api::*;
use peak_grammar::ir::{Direction, ElementType, Expr, Launch, PlanStatement};

fn map(over: &str, sides: &[Expr], swizzle: u32) -> PlanStatement {
    PlanStatement::TensorMap {
        name: format!("{over}_map").to_lowercase(),
        array: over.to_owned(),
        box_shape: sides.to_vec(),
        swizzle,
    }
}

fn launch(arguments: &[&str]) -> PlanStatement {
    PlanStatement::Launch(Launch {
        kernel: "k".to_owned(),
        grid: vec![int(4)],
        block: vec![int(64)],
        shared: None,
        cluster: Some(vec![int(2)]),
        cooperative: true,
        arguments: arguments.iter().map(ToString::to_string).collect(),
    })
}

fn plan_of(statements: Vec<PlanStatement>) -> (KernelContext, Result<ConcretePlan, Invalid>) {
    let arguments = vec![
        scalar("n"),
        array("A", Direction::Input, &[int(3), name("n"), name("n")]),
        array("C", Direction::Output, &[name("n")]),
    ];
    let context = context("cuda", "", arguments, statements);
    let inputs = Inputs::from([("n".to_owned(), 64)]);
    let parameters = ExecutionParameters { inputs, ..ExecutionParameters::default() };
    let plan = concrete_plan(&context, &parameters, &Facts::new());
    (context, plan)
}

#[test]
fn a_tensor_map_and_cooperation_become_numbers() {
    let scratch =
        PlanStatement::Scratch { name: "S".to_owned(), shape: vec![int(8), int(32)], element: ElementType::F16 };
    let statements = vec![
        scratch,
        map("A", &[int(1), int(8), int(32)], 128),
        map("S", &[int(8), int(16)], 32),
        launch(&["a_map", "s_map", "C", "n"]),
    ];
    let (context, plan) = plan_of(statements);
    let plan = plan.expect("it is valid");
    let [LaunchStep::Launch { cluster, cooperative, arguments, .. }] = plan.sequence.steps.as_slice() else {
        panic!("{plan:?}")
    };
    assert_eq!((*cluster, *cooperative), (Some([2, 1, 1]), true));
    let a = TensorMap {
        buffer: "A".to_owned(),
        element: TensorElement::F32,
        extents: vec![3, 64, 64],
        strides: vec![64 * 64 * 4, 64 * 4],
        box_extents: vec![1, 8, 32],
        swizzle: 128,
    };
    let s = TensorMap::dense("S", TensorElement::F16, &[8, 32], &[8, 16], 32);
    let found: Vec<_> = arguments.iter().map(|argument| (argument.name.as_str(), argument.value.clone())).collect();
    let expected = [
        ("a_map", ArgumentValue::TensorMap(a)),
        ("s_map", ArgumentValue::TensorMap(s)),
        ("C", ArgumentValue::Buffer("C".to_owned())),
        ("n", ArgumentValue::Bytes(vec![64, 0, 0, 0])),
    ];
    assert_eq!(found, expected);

    let types = prelude_spec(&context, &Configuration::new(), &plan).argument_types;
    let of = |name: &str| types.iter().find(|(known, _)| known == name).map(|(_, of)| of.as_str());
    assert_eq!((of("a_map"), of("s_map"), of("S")), (Some(TENSOR_MAP_TYPE), Some(TENSOR_MAP_TYPE), Some("f16")));
    let cuda = backend("cuda").expect("this build has it");
    let request = compile_request(&context, &Configuration::new(), &plan, cuda.as_ref(), "sm_90a", &Facts::new());
    let kinds: Vec<_> = request.entries[0].arguments.iter().map(|argument| argument.kind).collect();
    assert_eq!(kinds[..2], [EntryArgumentKind::TensorMap; 2]);
    assert!(matches!(
        kinds[2..],
        [EntryArgumentKind::Array { writable: true, .. }, EntryArgumentKind::Scalar { bytes: 4 }]
    ));
    assert!(request.pieces[0].text.contains("#define a_map_T CUtensorMap\n"), "{}", request.pieces[0].text);
    let json = serde_json::to_string(&plan).expect("plain data");
    assert_eq!(serde_json::from_str::<ConcretePlan>(&json).expect("it reads back"), plan);
}

#[test]
fn a_tensor_map_that_no_device_takes_is_invalid() {
    for (sides, swizzle, word) in [
        (vec![int(1), int(8), int(64)], 128, "rows of 256 bytes, and a swizzle of 128"),
        (vec![int(1), int(512), int(4)], 0, "a side of 512 elements; 1 to 256"),
        (vec![int(1), int(8), int(3)], 0, "rows of 12 bytes"),
        (vec![int(1), int(8), Expr::Negate(Box::new(int(1)))], 0, "a side of -1"),
        (vec![int(8), int(8)], 0, "a box of 2 sides over 3 dimensions"),
    ] {
        let (_, plan) = plan_of(vec![map("A", &sides, swizzle), launch(&["a_map", "C"])]);
        let invalid = plan.expect_err("it is refused");
        assert!(matches!(&invalid, Invalid::TensorMap { name, .. } if name == "a_map"), "{invalid:?}");
        assert!(invalid.to_string().contains(word), "{invalid}");
        assert_eq!(invalid.reason(), "tensor map a_map");
    }
    let six = PlanStatement::Scratch { name: "S".to_owned(), shape: vec![int(4); 6], element: ElementType::F32 };
    let (_, plan) = plan_of(vec![six, map("S", &vec![int(4); 6], 0), launch(&["s_map", "C"])]);
    assert!(plan.expect_err("it is refused").to_string().contains("6 dimensions; a tensor map has 1 to 5"));
}

/// What a body declares ends with it.
#[test]
fn a_tensor_map_of_a_body_is_made_anew_each_time() {
    let body = vec![map("A", &[int(1), int(8), int(32)], 0), launch(&["a_map", "C"])];
    let (_, plan) = plan_of(vec![PlanStatement::Repeat { count: int(3), body }]);
    let steps = plan.expect("it is valid").sequence.steps;
    assert!(steps.len() == 3 && steps.iter().all(|step| *step == steps[0]), "{steps:?}");
}

/// The simulator, which every build has with CUDA.
fn simulator() -> Box<dyn Device> {
    let cuda = backend("cuda").expect("this build has it");
    let all = runtimes(cuda.as_ref());
    let simulator = all.iter().find(|runtime| runtime.name() == "sim").expect("this build has it");
    simulator.open(0).expect("it is always there")
}

/// Compiles a case as PTX and loads it with its buffers; `None` where NVRTC is missing.
fn load(case: &Case, device: &mut dyn Device) -> Option<Result<(cases::Work, ProgramId), RuntimeError>> {
    let cuda = backend("cuda").expect("this build has it");
    let work = (case.work)(device.info());
    let target = device.info().target.clone().unwrap_or_default();
    let artifact = match cuda.compile(&case.request(|spec| cuda.prelude(spec), &work, &target)) {
        Err(CompileError::Toolchain { name, .. }) => {
            let required = std::env::var("PEAK_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "cuda"), "PEAK_REQUIRE names cuda: {name} is missing");
            eprintln!("skipped (1): {name} is missing");
            return None;
        }
        result => result.unwrap_or_else(|error| panic!("{}: {error}", case.name)),
    };
    device.free_all();
    for (name, bytes) in &work.buffers {
        device.allocate(name, bytes.len() as u64).expect("a small buffer");
        device.write(name, bytes).expect("it was made with this size");
    }
    Some(device.load(&artifact).map(|program| (work, program)))
}

#[test]
fn launches_of_cuda_run_on_the_simulator() {
    let mut device = simulator();
    let mut ran = 0;
    let able: Vec<&Case> = CASES.iter().filter(|case| case.lack(device.info()).is_none()).collect();
    for case in able {
        let Some(loaded) = load(case, device.as_mut()) else { return };
        let (work, program) = loaded.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        device.run(program, &work.sequence).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        for (name, expected) in &work.expected {
            assert!(device.read(name).expect("a buffer") == *expected, "{}: `{name}`", case.name);
        }
        device.unload(program);
        ran += 1;
    }
    assert_eq!(ran, 5, "all but the tensor maps");
    for (case, word) in REFUSED {
        let Some(loaded) = load(case, device.as_mut()) else { return };
        let (work, program) = loaded.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let refused = device.run(program, &work.sequence).expect_err("it is refused");
        assert!(matches!(&refused, RuntimeError::Launch(words) if words.contains(word)), "{}: {refused}", case.name);
    }
}

#[test]
fn tensor_maps_are_refused_on_the_simulator_with_what_is_missing() {
    let mut device = simulator();
    let case = CASES.iter().find(|case| case.name == "tensor_copy").expect("it is a case");
    let Some(loaded) = load(case, device.as_mut()) else { return };
    let refused = loaded.map(|_| ()).expect_err("it has no bulk copies").to_string();
    assert!(refused.contains("is not modelled") && refused.contains("`mbarrier.init"), "{refused}");
}

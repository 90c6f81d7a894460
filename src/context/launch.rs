//! A launch plan in concrete numbers: buffers and a sequence of launches, or the word why the parameters are invalid.

use super::scope::{ContextScope, Facts};
use super::{ExecutionParameters, KernelContext, tensor_map};
use indexmap::IndexMap;
use peak_backend_api::{ArgumentValue, LaunchArgument, LaunchSequence, LaunchStep, TensorMap};
use peak_grammar::ir::{
    ArgumentKind, Direction, ElementType, EvalError, Expr, Initializer, Launch, PlanStatement, Requirement, Scope,
};
use serde::{Deserialize, Serialize};

/// Launches at most in one plan, `repeat` unrolled.
pub const MAX_LAUNCHES: usize = 4096;

/// What a context comes to for one choice of execution parameters on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConcretePlan {
    /// Arguments first, then scratch.
    pub buffers: Vec<BufferSpec>,
    /// What runs.
    pub sequence: LaunchSequence,
}

/// One buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferSpec {
    /// Its name in the source.
    pub name: String,
    /// Element type.
    pub element: ElementType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// What it is for.
    pub role: BufferRole,
}

impl ConcretePlan {
    /// The same launches of buffers that have other names on the device.
    #[must_use]
    pub fn on_buffers(&self, name: impl Fn(&str) -> String) -> LaunchSequence {
        let mut sequence = self.sequence.clone();
        for step in &mut sequence.steps {
            match step {
                LaunchStep::Fill { buffer, .. } => *buffer = name(buffer),
                LaunchStep::Launch { arguments, .. } => {
                    for argument in arguments {
                        match &mut argument.value {
                            ArgumentValue::Buffer(buffer) | ArgumentValue::TensorMap(TensorMap { buffer, .. }) => {
                                *buffer = name(buffer);
                            }
                            ArgumentValue::Bytes(_) => {}
                        }
                    }
                }
            }
        }
        sequence
    }
}

/// What a buffer is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferRole {
    /// Filled before a run, and unchanged by it.
    Input(Initializer),
    /// Poisoned before a run.
    Output,
    /// Filled before every run, and changed by it.
    InOut(Initializer),
    /// Poisoned before a run; nobody reads it afterwards.
    Scratch,
}

impl BufferSpec {
    /// Elements in all.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes in all.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.elements() * self.element.bytes()
    }
}

/// Why execution parameters are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invalid {
    /// A requirement does not hold.
    #[error("requirement `{name}` does not hold: {condition}")]
    Requirement {
        /// Its name.
        name: String,
        /// Its text.
        condition: String,
    },
    /// `reject when` holds.
    #[error("rejected by the host code: {0}")]
    Rejected(String),
    /// An expression has no value.
    #[error("{place}: {error}")]
    Expression {
        /// Where it stands.
        place: String,
        /// Why it has none.
        error: EvalError,
    },
    /// A tensor map that no device takes.
    #[error("tensor map {name}: {problem}")]
    TensorMap {
        /// Its name in the source.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A grid, block or shape outside what any device takes.
    #[error("{0}")]
    Range(String),
}

impl Invalid {
    /// A short stable name of what excluded the parameters, for counting.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Invalid::Requirement { name, .. } => format!("requirement {name}"),
            Invalid::Rejected(why) => format!("reject: {why}"),
            Invalid::Expression { place, .. } => format!("{place} is not a whole number"),
            Invalid::TensorMap { name, .. } => format!("tensor map {name}"),
            Invalid::Range(_) => "grid, block or shape out of range".to_owned(),
        }
    }
}

/// Checks every requirement.
///
/// # Errors
/// The first that does not hold. One over a fact that the device does not state is taken to hold: the compiled
/// artifact's resources decide.
pub fn check_requirements(
    context: &KernelContext,
    parameters: &ExecutionParameters,
    facts: &Facts,
) -> Result<(), Invalid> {
    let scope = ContextScope::new(context, parameters, facts);
    context.requirements.iter().try_for_each(|requirement| check_requirement(requirement, &scope))
}

/// Checks one requirement, whose names all have values in `scope`.
///
/// # Errors
/// As [`check_requirements`].
pub fn check_requirement(requirement: &Requirement, scope: &ContextScope<'_>) -> Result<(), Invalid> {
    let held = match requirement.condition.evaluate(scope) {
        Ok(held) => held,
        Err(EvalError::UnknownFact(_)) => true,
        Err(EvalError::NotExact { .. } | EvalError::DivisionByZero(_)) => false,
        Err(error) => {
            let error = scope.let_error().map_or(error, |(_, error)| error.clone());
            return Err(Invalid::Expression { place: format!("requirement {}", requirement.name), error });
        }
    };
    if held {
        return Ok(());
    }
    Err(Invalid::Requirement { name: requirement.name.clone(), condition: requirement.condition.to_string() })
}

/// Evaluates the launch plan; requirements are checked first.
///
/// # Errors
/// The first word why the parameters are invalid.
pub fn concrete_plan(
    context: &KernelContext,
    parameters: &ExecutionParameters,
    facts: &Facts,
) -> Result<ConcretePlan, Invalid> {
    check_requirements(context, parameters, facts)?;
    let scope = ContextScope::new(context, parameters, facts);
    let mut plan = ConcretePlan { buffers: argument_buffers(context, &scope)?, sequence: LaunchSequence::default() };
    run_statements(&context.plan.statements, context, &scope, &mut Maps::new(), &mut plan)?;
    Ok(plan)
}

fn argument_buffers(context: &KernelContext, scope: &dyn Scope) -> Result<Vec<BufferSpec>, Invalid> {
    let mut buffers = Vec::new();
    for argument in &context.kernel.arguments {
        if let ArgumentKind::Array { shape, element, initializer } = &argument.kind {
            let role = match argument.direction {
                Direction::Input => BufferRole::Input(initializer.clone()),
                Direction::Output => BufferRole::Output,
                Direction::InOut => BufferRole::InOut(initializer.clone()),
            };
            let shape = extents(&argument.name, shape, scope)?;
            buffers.push(BufferSpec { name: argument.name.clone(), element: *element, shape, role });
        }
    }
    Ok(buffers)
}

fn extents(name: &str, shape: &[Expr], scope: &dyn Scope) -> Result<Vec<usize>, Invalid> {
    shape
        .iter()
        .map(|extent| {
            let value = evaluate(&format!("the shape of {name}"), extent, scope)?;
            usize::try_from(value)
                .ok()
                .filter(|extent| *extent > 0)
                .ok_or_else(|| Invalid::Range(format!("the shape of {name} has an extent of {value}")))
        })
        .collect()
}

pub(super) fn evaluate(place: &str, expr: &Expr, scope: &dyn Scope) -> Result<i64, Invalid> {
    expr.evaluate(scope).map_err(|error| Invalid::Expression { place: place.to_owned(), error })
}

/// Tensor maps by name, as far as the plan has declared them.
type Maps = IndexMap<String, TensorMap>;

fn run_statements(
    statements: &[PlanStatement],
    context: &KernelContext,
    scope: &ContextScope<'_>,
    maps: &mut Maps,
    plan: &mut ConcretePlan,
) -> Result<(), Invalid> {
    for statement in statements {
        match statement {
            PlanStatement::Let { name, value } => {
                evaluate(&format!("let {name}"), value, scope)?;
            }
            PlanStatement::Scratch { name, shape, element } => {
                let shape = extents(name, shape, scope)?;
                plan.buffers.push(BufferSpec {
                    name: name.clone(),
                    element: *element,
                    shape,
                    role: BufferRole::Scratch,
                });
            }
            PlanStatement::Fill { name, value } => {
                let element = element_of(name, plan)?;
                plan.sequence.steps.push(LaunchStep::Fill { buffer: name.clone(), pattern: pattern(element, *value) });
            }
            PlanStatement::TensorMap { name, array, box_shape, swizzle } => {
                let statement = tensor_map::Statement { name, array, box_shape, swizzle: *swizzle };
                maps.insert(name.clone(), tensor_map::concrete(&statement, scope, plan)?);
            }
            PlanStatement::Launch(launch) => {
                let step = launch_step(launch, context, scope, maps, plan)?;
                plan.sequence.steps.push(step);
            }
            PlanStatement::Repeat { count, body } => {
                for _ in 0..evaluate("repeat", count, scope)? {
                    // What a body declares ends with it.
                    run_statements(body, context, scope, &mut maps.clone(), plan)?;
                }
            }
            PlanStatement::Reject { when, why } => match when.evaluate(scope) {
                Ok(true) => return Err(Invalid::Rejected(why.clone())),
                Ok(false) => {}
                Err(error) => return Err(Invalid::Expression { place: "reject when".to_owned(), error }),
            },
        }
        if plan.sequence.steps.len() > MAX_LAUNCHES {
            return Err(Invalid::Range(format!("more than {MAX_LAUNCHES} launches in one plan")));
        }
    }
    Ok(())
}

fn element_of(name: &str, plan: &ConcretePlan) -> Result<ElementType, Invalid> {
    let buffer = plan.buffers.iter().find(|buffer| buffer.name == name);
    buffer.map(|buffer| buffer.element).ok_or_else(|| Invalid::Range(format!("`{name}` is no array of this plan")))
}

/// The four-byte pattern of a value in an element type; narrower types repeat it.
fn pattern(element: ElementType, value: f64) -> [u8; 4] {
    let bytes = encode(element, value);
    std::array::from_fn(|index| bytes[index % bytes.len()])
}

/// A value in an element type, little endian.
#[must_use]
pub fn encode(element: ElementType, value: f64) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation, reason = "conversion to the element type is what is asked for")]
    match element {
        ElementType::F16 => half::f16::from_f64(value).to_le_bytes().to_vec(),
        ElementType::Bf16 => half::bf16::from_f64(value).to_le_bytes().to_vec(),
        ElementType::F32 => (value as f32).to_le_bytes().to_vec(),
        ElementType::F64 => value.to_le_bytes().to_vec(),
        ElementType::I8 => (value as i8).to_le_bytes().to_vec(),
        ElementType::U8 => (value as u8).to_le_bytes().to_vec(),
        ElementType::I32 => (value as i32).to_le_bytes().to_vec(),
        ElementType::U32 => (value as u32).to_le_bytes().to_vec(),
        ElementType::I64 => (value as i64).to_le_bytes().to_vec(),
        ElementType::U64 => (value as u64).to_le_bytes().to_vec(),
    }
}

fn launch_step(
    launch: &Launch,
    context: &KernelContext,
    scope: &ContextScope<'_>,
    maps: &Maps,
    plan: &ConcretePlan,
) -> Result<LaunchStep, Invalid> {
    let name = &launch.kernel;
    let shared = launch.shared.as_ref().map(|bytes| evaluate("shared", bytes, scope)).transpose()?.unwrap_or(0);
    let cluster = launch.cluster.as_ref().map(|extents| triple(name, "cluster", extents, scope)).transpose()?;
    Ok(LaunchStep::Launch {
        entry: name.clone(),
        grid: triple(name, "grid", &launch.grid, scope)?,
        block: triple(name, "block", &launch.block, scope)?,
        shared_bytes: u32::try_from(shared)
            .map_err(|_| Invalid::Range(format!("launch {name}: {shared} bytes of shared memory")))?,
        cluster,
        cooperative: launch.cooperative,
        arguments: launch
            .arguments
            .iter()
            .map(|argument| launch_argument(argument, context, scope, maps, plan))
            .collect::<Result<_, _>>()?,
    })
}

fn launch_argument(
    name: &str,
    context: &KernelContext,
    scope: &ContextScope<'_>,
    maps: &Maps,
    plan: &ConcretePlan,
) -> Result<LaunchArgument, Invalid> {
    let value = if plan.buffers.iter().any(|buffer| buffer.name == name) {
        ArgumentValue::Buffer(name.to_owned())
    } else if let Some(map) = maps.get(name) {
        ArgumentValue::TensorMap(map.clone())
    } else {
        let value = scope.value(name).ok_or_else(|| Invalid::Expression {
            place: format!("argument {name}"),
            error: EvalError::UnknownName(name.to_owned()),
        })?;
        #[allow(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
        ArgumentValue::Bytes(encode(scalar_element(context, name), value as f64))
    };
    Ok(LaunchArgument { name: name.to_owned(), value })
}

/// The type of a scalar argument; lets are `i32`.
#[must_use]
pub fn scalar_element(context: &KernelContext, name: &str) -> ElementType {
    let found = context.kernel.arguments.iter().find(|argument| argument.name == name);
    match found.map(|argument| &argument.kind) {
        Some(ArgumentKind::Scalar { element, .. }) => *element,
        _ => ElementType::I32,
    }
}

fn triple(launch: &str, clause: &str, extents: &[Expr], scope: &dyn Scope) -> Result<[u32; 3], Invalid> {
    let mut values = [1u32; 3];
    for (slot, extent) in values.iter_mut().zip(extents) {
        let value = evaluate(&format!("{clause} of {launch}"), extent, scope)?;
        *slot = u32::try_from(value)
            .ok()
            .filter(|value| *value > 0)
            .ok_or_else(|| Invalid::Range(format!("launch {launch}: {clause} has an extent of {value}")))?;
    }
    Ok(values)
}

//! Names and their values for one choice of execution parameters on one device.

use super::{ExecutionParameters, KernelContext};
use indexmap::IndexMap;
use peak_grammar::ir::{ArgumentKind, EvalError, PlanStatement, Scope};

/// Device facts in force, by name.
pub type Facts = IndexMap<String, i64>;

/// Inputs, tuning parameters, lets, facts and sizes, in one scope.
#[derive(Debug)]
pub struct ContextScope<'a> {
    context: &'a KernelContext,
    parameters: &'a ExecutionParameters,
    facts: &'a Facts,
    lets: IndexMap<String, Result<i64, EvalError>>,
}

impl<'a> ContextScope<'a> {
    /// The scope, with every top-level `let` that has a value.
    #[must_use]
    pub fn new(context: &'a KernelContext, parameters: &'a ExecutionParameters, facts: &'a Facts) -> Self {
        let mut scope = ContextScope { context, parameters, facts, lets: IndexMap::new() };
        for statement in &context.plan.statements {
            if let PlanStatement::Let { name, value } = statement {
                let value = value.evaluate(&scope);
                scope.lets.insert(name.clone(), value);
            }
        }
        scope
    }

    /// Why a `let` has no value, if that is so: requirements that read it report this rather than an unknown name.
    #[must_use]
    pub fn let_error(&self) -> Option<(&str, &EvalError)> {
        self.lets.iter().find_map(|(name, value)| value.as_ref().err().map(|error| (name.as_str(), error)))
    }
}

impl Scope for ContextScope<'_> {
    fn value(&self, name: &str) -> Option<i64> {
        let parameters = self.parameters;
        let found = parameters.inputs.get(name).or_else(|| parameters.configuration.get(name)).copied();
        found.or_else(|| self.lets.get(name)?.as_ref().ok().copied())
    }

    fn fact(&self, name: &str) -> Option<i64> {
        self.facts.get(name).copied()
    }

    fn size_of(&self, what: &str) -> Option<i64> {
        let kernel = &self.context.kernel;
        let element = match what {
            "element" => kernel.element,
            "accumulator" => kernel.accumulator,
            _ => {
                kernel.arguments.iter().find(|argument| argument.name == what).map(|argument| match &argument.kind {
                    ArgumentKind::Array { element, .. } | ArgumentKind::Scalar { element, .. } => *element,
                })?
            }
        };
        i64::try_from(element.bytes()).ok()
    }
}

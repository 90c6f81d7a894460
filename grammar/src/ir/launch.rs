//! The launch plan: the host side, in one small typed language for all backends.

use super::{Condition, ElementType, Expr};
use serde::{Deserialize, Serialize};

/// `host code`: statements in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// The statements.
    pub statements: Vec<PlanStatement>,
}

/// One statement of a launch plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatement {
    /// `let NAME = EXPR`: seen by everything below it, and by requirements.
    Let {
        /// `snake_case` name.
        name: String,
        /// Its value.
        value: Expr,
    },
    /// `scratch NAME: array[SHAPE] of TYPE`: device memory that lives for the plan.
    Scratch {
        /// Its name in the source.
        name: String,
        /// Extents.
        shape: Vec<Expr>,
        /// Element type.
        element: ElementType,
    },
    /// `fill NAME with VALUE`.
    Fill {
        /// An array argument or scratch.
        name: String,
        /// The value, converted to the element type.
        value: f64,
    },
    /// `tensor map NAME over ARRAY box (...) swizzle N`.
    TensorMap {
        /// Its name in the source.
        name: String,
        /// The array it describes.
        array: String,
        /// Box extents in elements.
        box_shape: Vec<Expr>,
        /// Swizzle in bytes: 0 (none), 32, 64 or 128.
        swizzle: u32,
    },
    /// `launch KERNEL` and its clauses.
    Launch(Launch),
    /// `repeat COUNT times` and the statements below it.
    Repeat {
        /// How often.
        count: Expr,
        /// What.
        body: Vec<PlanStatement>,
    },
    /// `reject when CONDITION "why"`: the execution parameters are invalid.
    Reject {
        /// When.
        when: Condition,
        /// Why, for people.
        why: String,
    },
}

/// `launch KERNEL`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The entry point in the device code.
    pub kernel: String,
    /// Blocks in x, y, z; one to three.
    pub grid: Vec<Expr>,
    /// Threads a block in x, y, z; one to three.
    pub block: Vec<Expr>,
    /// `shared EXPR bytes`: dynamic shared memory.
    pub shared: Option<Expr>,
    /// `cluster`: blocks a cluster in x, y, z.
    pub cluster: Option<Vec<Expr>>,
    /// `cooperative`: all blocks are on the device at once, and may wait for each other.
    #[serde(default)]
    pub cooperative: bool,
    /// Names of arrays, scratch, scalars, lets and tensor maps, in the entry's order.
    pub arguments: Vec<String>,
}

impl LaunchPlan {
    /// Every launch, `repeat` bodies included, in order of the text.
    #[must_use]
    pub fn launches(&self) -> Vec<&Launch> {
        fn walk<'a>(statements: &'a [PlanStatement], found: &mut Vec<&'a Launch>) {
            for statement in statements {
                match statement {
                    PlanStatement::Launch(launch) => found.push(launch),
                    PlanStatement::Repeat { body, .. } => walk(body, found),
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.statements, &mut found);
        found
    }

    /// Every top-level `let`, in order.
    pub fn lets(&self) -> impl Iterator<Item = (&str, &Expr)> {
        self.statements.iter().filter_map(|statement| match statement {
            PlanStatement::Let { name, value } => Some((name.as_str(), value)),
            _ => None,
        })
    }
}

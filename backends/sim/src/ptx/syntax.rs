//! The syntax tree: statements as written, names not looked up.

/// A module.
#[derive(Debug, Default)]
pub(crate) struct Tree<'t> {
    /// `.target`, as `sm_90`.
    pub target: Option<&'t str>,
    /// `.file` index and name.
    pub files: Vec<(u32, &'t str)>,
    /// Module-scope variables.
    pub variables: Vec<VariableSyntax<'t>>,
    /// Entries and functions, prototypes among them (those have no body).
    pub functions: Vec<FunctionSyntax<'t>>,
}

/// An entry or a function.
#[derive(Debug)]
pub(crate) struct FunctionSyntax<'t> {
    pub name: &'t str,
    pub line: u32,
    pub is_entry: bool,
    pub returns: Vec<VariableSyntax<'t>>,
    pub parameters: Vec<VariableSyntax<'t>>,
    /// `.maxntid`, `.reqntid`, ...: name and numbers.
    pub directives: Vec<(&'t str, Vec<i64>)>,
    /// `None` for a prototype.
    pub body: Option<Vec<Statement<'t>>>,
}

/// A statement of a body.
#[derive(Debug)]
pub(crate) struct Statement<'t> {
    /// Its line in the PTX text.
    pub line: u32,
    pub kind: StatementKind<'t>,
}

/// What a statement is.
#[derive(Debug)]
pub(crate) enum StatementKind<'t> {
    Open,
    Close,
    Label(&'t str),
    /// The labels of a `.branchtargets`, which has a label of its own before it.
    Targets(Vec<&'t str>),
    Variable(VariableSyntax<'t>),
    /// Source file and line of what follows; and those of the place where it was inlined.
    Location((u32, u32), Option<(u32, u32)>),
    Instruction(InstructionSyntax<'t>),
    /// A statement that the grammar does not hold: an error of its function alone.
    Unread(&'t str),
}

/// A declaration: `.shared .align 4 .b8 tile[1024]`.
#[derive(Debug)]
pub(crate) struct VariableSyntax<'t> {
    pub line: u32,
    /// `.reg`, `.shared`, `.f32`, `.v2`, ... in order, without the dot.
    pub words: Vec<&'t str>,
    pub align: Option<i64>,
    pub declarators: Vec<Declarator<'t>>,
    pub values: Option<Vec<OperandSyntax<'t>>>,
}

/// One name of a declaration.
#[derive(Debug)]
pub(crate) struct Declarator<'t> {
    pub name: &'t str,
    /// `%r<10>`.
    pub count: Option<i64>,
    /// `[1024]`; `None` within for `[]`.
    pub extents: Vec<Option<i64>>,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct InstructionSyntax<'t> {
    /// Register, and whether it is negated.
    pub guard: Option<(&'t str, bool)>,
    /// With all modifiers: `ld.global.f32`.
    pub opcode: &'t str,
    pub operands: Vec<OperandSyntax<'t>>,
}

/// An operand.
#[derive(Clone, Debug)]
pub(crate) enum OperandSyntax<'t> {
    Name(&'t str),
    /// `%tid.x`.
    Component(&'t str),
    Integer(i64),
    Single(u32),
    Double(u64),
    /// `!%p1`.
    Not(&'t str),
    /// `name+4`.
    Symbol(&'t str, i64),
    /// `[name+4]`.
    Address(&'t str, i64),
    /// `[16]`.
    Absolute(i64),
    /// `%r1|%p1`.
    Pair(&'t str, &'t str),
    Vector(Vec<OperandSyntax<'t>>),
    List(Vec<OperandSyntax<'t>>),
}

//! The coordinator's side: starts workers, gives them deadlines, and turns what they say or how they die into results.
//!
//! Loads no candidate and no driver into this process.

mod compile_pool;
mod device_lock;
mod device_worker;
mod error;
mod gate;
mod inventory;
mod link;
mod program;
mod select;
mod words;

pub use compile_pool::{PoolOptions, WorkerPool};
pub use device_worker::{DeviceOptions, DeviceWorker};
pub use error::RunnerError;
pub use gate::Gate;
pub use inventory::{BackendInventory, Inventory, MissingRuntime, inventory};
pub use program::{WorkerProgram, default_limits};
pub use select::{SelectionError, select};
pub use words::{MEND, is_environment};

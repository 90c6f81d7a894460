//! Workers, the pool, devices and tuning, with a backend of the tests' own and with a real one.

mod build;
mod device;
mod hlsl;
mod host;
mod launches;
mod pool;
mod space;
mod tuning;
mod work;
mod worker;

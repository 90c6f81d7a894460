//! x
fn main(){ for a in std::env::args().skip(1) { let t=std::fs::read_to_string(&a).unwrap(); let s=std::time::Instant::now(); let r=peak_backend_sim::parse_check(&t); println!("{a} {:?} {:?}", r, s.elapsed()); } }

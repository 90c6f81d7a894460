//! The worker by itself, over its pipes: how it greets, and how it ends when nobody is left to answer.

use super::{build, host};
use peak::context::ExecutionParameters;
use peak::context::launch::concrete_plan;
use peak::context::scope::Facts;
use peak::runner::artifact_file;
use peak::runner::protocol::{Envelope, PROTOCOL_VERSION, Request, WireJob, read_line, write_message};
use peak::runner::worker::{DeviceAddress, Mode};
use peak::runner::{Distribution, Fill, default_limits};
use peak_backend_api::{Artifact, ArtifactKind, Resources};
use std::io::{BufReader, Read};
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

fn start() -> (Child, BufReader<ChildStdout>) {
    let address = DeviceAddress { backend: "host".to_owned(), runtime: "memory".to_owned(), index: 0 };
    let mut child = host::program().command(&Mode::Device(address)).spawn().expect("the suite starts as a worker");
    let stdout = child.stdout.take().expect("a pipe");
    (child, BufReader::new(stdout))
}

fn ask(child: &mut Child, id: u64, body: Request) {
    write_message(child.stdin.as_mut().expect("a pipe"), &Envelope { id, body }).expect("it reads");
}

/// The next line that is JSON.
fn answer(from: &mut BufReader<ChildStdout>) -> serde_json::Value {
    loop {
        let line = read_line(from).expect("the pipe works").expect("the worker lives");
        if let Ok(value) = serde_json::from_slice::<serde_json::Value>(&line)
            && value.is_object()
        {
            return value;
        }
    }
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if child.try_wait().expect("it is our child").is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[test]
fn another_version_is_refused_and_nonsense_is_answered() {
    let (mut child, mut from) = start();
    ask(&mut child, 1, Request::Hello { version: PROTOCOL_VERSION + 1, limits: default_limits() });
    let refusal = answer(&mut from);
    assert_eq!((&refusal["id"], &refusal["body"]["fault"]["kind"]), (&1.into(), &"protocol".into()));
    std::io::Write::write_all(child.stdin.as_mut().expect("a pipe"), b"{\"id\": 2}\n").expect("it reads");
    assert_eq!(answer(&mut from)["id"], 0);
    ask(&mut child, 3, Request::Quit);
    assert_eq!(answer(&mut from)["body"]["answer"], "bye");
    assert!(ends_within(&mut child, Duration::from_secs(5)));
}

#[test]
fn a_worker_ends_with_its_coordinator_even_in_the_middle_of_a_hang() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let artifact = Artifact {
        kind: ArtifactKind::LlvmIr,
        bytes: b"hang".to_vec(),
        entries: Vec::new(),
        resources: Resources::default(),
        compiler: "test".to_owned(),
    };
    let artifact_file = folder.path().join("hang.artifact");
    artifact_file::write(&artifact_file, &artifact).expect("a file");
    let inputs = [("n".to_owned(), 4)].into_iter().collect();
    let parameters = ExecutionParameters { inputs, ..Default::default() };
    let plan = concrete_plan(&build::vectors("hang"), &parameters, &Facts::new()).expect("it is valid");
    let fill = Fill { seed: 1, distribution: Distribution::Declared };

    let (mut child, mut from) = start();
    ask(&mut child, 1, Request::Hello { version: PROTOCOL_VERSION, limits: default_limits() });
    assert_eq!(answer(&mut from)["body"]["device"]["name"], "Host software");
    let job = WireJob { artifact: "hang".to_owned(), artifact_file, plan, fill };
    ask(&mut child, 2, Request::Run { job, folder: folder.path().to_owned() });
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().expect("it is our child").is_none(), "it hangs");
    // What the system does to the pipe when the coordinator dies.
    drop(child.stdin.take());
    assert!(ends_within(&mut child, Duration::from_secs(5)));
    let mut rest = Vec::new();
    from.read_to_end(&mut rest).expect("the pipe is closed");
}

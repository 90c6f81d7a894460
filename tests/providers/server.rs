//! A server that answers each connection with the next piece of its script, and keeps what it was sent.

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What one connection gets.
#[derive(Clone)]
pub enum Reply {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes one by one, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// These bytes before anything was asked, then the end.
    Greeting(Vec<u8>),
    /// Nothing, and the connection stays open.
    Silence,
    /// The end, before any byte.
    Hangup,
}

/// A server. It ends with the test's process.
pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Follows the script; its last piece again and again.
    pub fn start(script: Vec<Reply>) -> Server {
        Server::with(script, None)
    }

    /// As [`Server::start`], over TLS, with a certificate that nobody knows; gives it in PEM.
    pub fn start_tls(script: Vec<Reply>) -> (Server, String) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("known versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a certificate and its key");
        (Server::with(script, Some(Arc::new(config))), made.cert.pem())
    }

    fn with(script: Vec<Reply>, tls: Option<Arc<rustls::ServerConfig>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(stream) = stream else { return };
                let reply = script[number.min(script.len() - 1)].clone();
                let (kept, tls) = (Arc::clone(&kept), tls.clone());
                // A client that goes away is no failure of the server's.
                std::thread::spawn(move || serve(stream, &reply, tls, &kept));
            }
        });
        Server { address, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was sent, head and body, oldest first.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no thread panics while it holds this").clone()
    }
}

fn serve(
    mut stream: TcpStream,
    reply: &Reply,
    tls: Option<Arc<rustls::ServerConfig>>,
    kept: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    if let Reply::Greeting(bytes) = reply {
        return stream.write_all(bytes);
    }
    let Some(tls) = tls else { return answer(&mut stream, reply, kept) };
    let mut connection = rustls::ServerConnection::new(tls).map_err(std::io::Error::other)?;
    let mut secure = rustls::Stream::new(&mut connection, &mut stream);
    answer(&mut secure, reply, kept)?;
    connection.send_close_notify();
    connection.complete_io(&mut stream).map(|_| ())
}

fn answer(stream: &mut (impl Read + Write), reply: &Reply, kept: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let request = request(stream)?;
    kept.lock().expect("no thread panics while it holds this").push(request);
    match reply {
        Reply::Bytes(bytes) => stream.write_all(bytes)?,
        Reply::Drip(bytes, pause) => {
            for byte in bytes {
                stream.write_all(&[*byte])?;
                stream.flush()?;
                std::thread::sleep(*pause);
            }
        }
        Reply::Silence => std::thread::sleep(Duration::from_secs(30)),
        Reply::Hangup | Reply::Greeting(_) => {}
    }
    stream.flush()
}

/// Reads a request whole: its head, and as many bytes as that says.
fn request(stream: &mut impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length:").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.and_then(|length| length.trim().parse().ok()).unwrap_or(0) {
                return Ok(text);
            }
        }
        if count == 0 {
            return Ok(text);
        }
    }
}

/// A response with a head and a body.
pub fn response(status: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    Reply::Bytes(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n{body}").into_bytes())
}

/// A response whose body is a stream of events.
pub fn events(data: &[&str]) -> Reply {
    let body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    response("200 OK", &[("content-type", "text/event-stream")], &body)
}

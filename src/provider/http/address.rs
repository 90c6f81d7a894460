//! The address of a server: checked once, and shown without what may be secret. Sends nothing.

use crate::provider::{AskError, Scrubber};
use ureq::http::Uri;

/// An address that requests go below.
#[derive(Clone, Debug)]
pub struct Address {
    base: String,
    query: Option<String>,
    host: String,
}

impl Address {
    /// Checks an address. One that holds a name and a password is none: keys do not stand in files.
    ///
    /// # Errors
    /// [`AskError::NotReady`], with what is wrong.
    pub fn parse(url: &str, provider: &str, scrubber: &Scrubber) -> Result<Address, AskError> {
        let wrong = |lacks: String| AskError::NotReady {
            provider: provider.to_owned(),
            lacks,
            mend: "an address is such as http://localhost:8080/v1; a key stands in a variable of the environment"
                .to_owned(),
        };
        let shown = scrubber.line(url);
        let uri: Uri = url.parse().map_err(|_| wrong(format!("`{shown}` is no address")))?;
        let authority = uri.authority().ok_or_else(|| wrong(format!("`{shown}` names no server")))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong(format!("`{shown}` begins with neither http:// nor https://")));
        }
        if authority.as_str().contains('@') {
            return Err(wrong("its address holds a name or a password".to_owned()));
        }
        let scheme = uri.scheme_str().unwrap_or("https");
        let base = format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/'));
        Ok(Address { base, query: uri.query().map(str::to_owned), host: authority.to_string() })
    }

    /// A path below it; the address's own query comes after the path's.
    pub fn below(&self, path: &str) -> String {
        let url = format!("{}{path}", self.base);
        match &self.query {
            Some(query) if path.contains('?') => format!("{url}&{query}"),
            Some(query) => format!("{url}?{query}"),
            None => url,
        }
    }

    /// The server's name and port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the server is this machine: no proxy stands between.
    pub fn is_here(&self) -> bool {
        let name = self.host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let name = name.map_or(self.host.as_str(), |(name, _)| name).trim_matches(['[', ']']);
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// For people: without the query, which may hold a key.
    pub fn shown(&self) -> &str {
        &self.base
    }
}

/// Somebody else's address, for a message: server and path alone.
pub fn shown(url: &str, scrubber: &Scrubber) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or_default();
    scrubber.line(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_below_and_a_query_stays_at_the_end() {
        let parse = |url| Address::parse(url, "x", &Scrubber::default());
        let plain = parse("http://localhost:8080/v1/").expect("an address");
        assert_eq!(
            (plain.below("/chat"), plain.host()),
            ("http://localhost:8080/v1/chat".to_owned(), "localhost:8080")
        );
        let versioned = parse("https://a.example/x?version=1").expect("an address");
        assert_eq!(versioned.below("/y?alt=sse"), "https://a.example/x/y?alt=sse&version=1");
        assert_eq!(versioned.shown(), "https://a.example/x");
        let is_here = |url| parse(url).expect("an address").is_here();
        assert!(["http://localhost", "http://127.0.0.1:80/x", "https://[::1]:9"].into_iter().all(is_here));
        assert!(!["http://10.0.0.1", "https://localhost.example:80"].into_iter().any(is_here));
        for wrong in ["", "localhost", "ftp://a/b", "https://user:secret-word@a/b", "http://"] {
            let error = parse(wrong).expect_err("no address").to_string();
            assert!(!error.contains("secret-word"), "{error}");
        }
    }
}

//! NVRTC, loaded once at run time: text in, PTX and machine code or the compiler's words out. It needs no driver.
//!
//! The library is loaded from a path of our choice. cudarc's loader knows only bare names on the system's library path,
//! and panics where there is none: so its bindings serve for the driver, and these dozen functions are bound here.

use crate::error;
use crate::places::{self, MEND, Place};
use libloading::Library;
use peak_backend_api::{CompileError, Toolchain};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

/// Stack of the thread that NVRTC runs on, in bytes: deep expressions and large unrolled loops recurse.
const STACK_BYTES: usize = 256 << 20;

/// The source's name where no `#line` gives another.
const SOURCE: &CStr = c"source";

/// The oldest NVRTC that is used: since then it tells its architectures and takes every flag of ours.
const OLDEST: (c_int, c_int) = (12, 0);
/// The newest one whose answers are known. A newer one is used, and is named where it fails.
const NEWEST_KNOWN: c_int = 13;

const SUCCESS: c_int = 0;
const COMPILATION: c_int = 6;
const BUILTINS: c_int = 7;

/// What NVRTC made of a source.
pub(crate) enum Outcome {
    /// It compiled.
    Code(Code),
    /// It refused, with these words.
    Rejected(String),
}

/// Compiled code, twice.
pub(crate) struct Code {
    /// As PTX, which tells the parameters.
    pub ptx: String,
    /// As machine code.
    pub cubin: Vec<u8>,
    /// Warnings, and what the assembler says of resources.
    pub log: String,
}

/// A loaded NVRTC.
pub(crate) struct Nvrtc {
    functions: Functions,
    /// Where it lies, and its headers.
    pub place: Place,
    /// `13.0`.
    pub version: String,
    /// Architectures that it compiles for, as 90 for `sm_90`.
    pub architectures: Vec<u32>,
}

/// NVRTC, if it is there.
///
/// # Errors
/// [`CompileError::Toolchain`], with what was tried.
pub(crate) fn loaded() -> Result<&'static Nvrtc, CompileError> {
    first().map_err(|missing| CompileError::Toolchain {
        name: "nvrtc".to_owned(),
        reason: format!("looked in {}: {}", missing.place(), missing.absent.join("; ")),
        mend: MEND.to_owned(),
    })
}

/// Why there is no NVRTC.
struct Missing {
    /// What the loader said of libraries that are not there.
    absent: Vec<String>,
    /// Why libraries that are there are not used.
    refused: Vec<String>,
}

impl Missing {
    /// Where it was looked for, and what was found there and is not used.
    fn place(&self) -> String {
        let found = if self.refused.is_empty() { "" } else { "; there is one that can't be used: " };
        format!("{}{found}{}", places::looked_at(), self.refused.join("; "))
    }
}

fn first() -> Result<&'static Nvrtc, &'static Missing> {
    static NVRTC: OnceLock<Result<Nvrtc, Missing>> = OnceLock::new();
    NVRTC.get_or_init(load).as_ref()
}

/// The lines of `peak doctor`: the compiler, and the headers of its types.
pub(crate) fn toolchains() -> Vec<Toolchain> {
    let line = |name: &str, found, version, place| Toolchain {
        name: name.to_owned(),
        found,
        version,
        place,
        mend: MEND.to_owned(),
    };
    match first() {
        Ok(nvrtc) => {
            let headers = nvrtc.place.includes.first().map(|folder| folder.display().to_string());
            let version = headers.is_some().then(|| nvrtc.version.clone());
            vec![
                line("nvrtc", true, Some(nvrtc.version.clone()), nvrtc.place.library.display().to_string()),
                line("headers", headers.is_some(), version, headers.unwrap_or_else(places::looked_at)),
            ]
        }
        Err(missing) => vec![line("nvrtc", false, None, missing.place())],
    }
}

fn load() -> Result<Nvrtc, Missing> {
    let mut missing = Missing { absent: Vec::new(), refused: Vec::new() };
    for place in places::candidates() {
        let is_there = place.library.is_file();
        match Nvrtc::open(place) {
            Ok(nvrtc) => return Ok(nvrtc),
            Err(reason) if is_there => missing.refused.push(reason),
            Err(reason) => missing.absent.push(reason),
        }
    }
    Err(missing)
}

impl Nvrtc {
    fn open(place: Place) -> Result<Nvrtc, String> {
        open_builtins(&place);
        // SAFETY: NVRTC's initializers have no preconditions; it is never unloaded.
        let library = unsafe { Library::new(&place.library) }.map_err(|error| {
            // The loader's own words are the source.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            format!("{}: {why}", place.library.display())
        })?;
        let shown = place.library.display();
        // Before all other functions, some of which an old one lacks.
        let Some((major, minor)) = version(&library) else { return Err(format!("{shown} does not tell its version")) };
        if (major, minor) < OLDEST {
            let (oldest, at_least) = OLDEST;
            return Err(format!("{shown} is NVRTC {major}.{minor}, and {oldest}.{at_least} or newer is needed"));
        }
        let functions = Functions::of(library).map_err(|error| format!("NVRTC {major}.{minor}: {error}"))?;
        let mut count = 0;
        // SAFETY: a live integer.
        let counted = unsafe { (functions.architecture_count)(&mut count) } == SUCCESS;
        let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the array is as long as NVRTC said it must be.
        let listed = counted && unsafe { (functions.architectures)(architectures.as_mut_ptr()) } == SUCCESS;
        let architectures = architectures.into_iter().filter(|_| listed).filter_map(|it| u32::try_from(it).ok());
        let untried = if major > NEWEST_KNOWN { ", newer than Peak was tried with" } else { "" };
        let (architectures, version) = (architectures.collect(), format!("{major}.{minor}{untried}"));
        Ok(Nvrtc { functions, place, version, architectures })
    }

    /// Compiles on a thread of its own with a large stack; options are whole words.
    ///
    /// # Errors
    /// NVRTC fails without a word about the source.
    pub fn compile(&self, source: &str, options: &[String]) -> Result<Outcome, CompileError> {
        let internal = |message: &str| error::internal("nvrtc", message);
        let source = CString::new(source).map_err(|_| internal("the source holds a NUL byte"))?;
        let options: Result<Vec<CString>, _> = options.iter().map(|option| CString::new(option.as_str())).collect();
        let options = options.map_err(|_| internal("an option holds a NUL byte"))?;
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("nvrtc".to_owned()).stack_size(STACK_BYTES);
            let thread = builder.spawn_scoped(scope, || self.compile_here(&source, &options));
            let thread = thread.map_err(|error| internal(&format!("no thread for it: {error}")))?;
            thread.join().unwrap_or_else(|_| Err(internal("it gave neither code nor a message")))
        })
    }

    fn compile_here(&self, source: &CStr, options: &[CString]) -> Result<Outcome, CompileError> {
        let program = Program::new(&self.functions, source)?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(options.len()).unwrap_or(0);
        // SAFETY: the program is live, and the options are `count` strings that outlive the call.
        let code = unsafe { (self.functions.compile)(program.handle, count, options.as_ptr()) };
        let log = program.text("nvrtcGetProgramLog", self.functions.log_size, self.functions.log)?;
        match code {
            SUCCESS => Ok(Outcome::Code(Code {
                ptx: program.text("nvrtcGetPTX", self.functions.ptx_size, self.functions.ptx)?,
                cubin: program.bytes("nvrtcGetCUBIN", self.functions.cubin_size, self.functions.cubin)?,
                log,
            })),
            COMPILATION => Ok(Outcome::Rejected(log)),
            BUILTINS => Err(CompileError::Toolchain {
                name: "nvrtc-builtins".to_owned(),
                reason: format!("NVRTC needs it beside {}: {}", self.place.library.display(), log.trim()),
                mend: MEND.to_owned(),
            }),
            other => Err(self.functions.failure("nvrtcCompileProgram", other, &log)),
        }
    }
}

/// What a library says of its version.
fn version(library: &Library) -> Option<(c_int, c_int)> {
    // SAFETY: the type is that of nvrtc.h, in all versions.
    let function = unsafe { library.get::<Version>(b"nvrtcVersion") }.ok()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both are live integers.
    (unsafe { function(&mut major, &mut minor) } == SUCCESS).then_some((major, minor))
}

/// NVRTC opens its library of intrinsics by its bare name: one that is loaded already is found whatever the path.
fn open_builtins(place: &Place) {
    let Some(folder) = place.library.parent() else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("libnvrtc-builtins.so.") {
            // SAFETY: a library of data, without initializers that need anything.
            if let Ok(library) = unsafe { Library::new(entry.path()) } {
                std::mem::forget(library);
            }
        }
    }
}

type Handle = *mut c_void;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;
type Create = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;

/// NVRTC's functions, as its header declares them; results are plain integers, since a newer one may know more codes.
struct Functions {
    architecture_count: unsafe extern "C" fn(*mut c_int) -> c_int,
    architectures: unsafe extern "C" fn(*mut c_int) -> c_int,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
    create: Create,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    log_size: Size,
    log: Get,
    ptx_size: Size,
    ptx: Get,
    cubin_size: Size,
    cubin: Get,
    // Never unloaded before its functions.
    _library: Library,
}

impl Functions {
    fn of(library: Library) -> Result<Functions, libloading::Error> {
        /// # Safety
        /// `F` is the type of the function of that name.
        unsafe fn get<F: Copy>(library: &Library, name: &str) -> Result<F, libloading::Error> {
            // SAFETY: the caller's promise.
            unsafe { library.get::<F>(name.as_bytes()) }.map(|symbol| *symbol)
        }
        // SAFETY: the types are those of nvrtc.h, in all versions since 11.2, which [`OLDEST`] is after.
        unsafe {
            Ok(Functions {
                architecture_count: get(&library, "nvrtcGetNumSupportedArchs")?,
                architectures: get(&library, "nvrtcGetSupportedArchs")?,
                error_text: get(&library, "nvrtcGetErrorString")?,
                create: get(&library, "nvrtcCreateProgram")?,
                destroy: get(&library, "nvrtcDestroyProgram")?,
                compile: get(&library, "nvrtcCompileProgram")?,
                log_size: get(&library, "nvrtcGetProgramLogSize")?,
                log: get(&library, "nvrtcGetProgramLog")?,
                ptx_size: get(&library, "nvrtcGetPTXSize")?,
                ptx: get(&library, "nvrtcGetPTX")?,
                cubin_size: get(&library, "nvrtcGetCUBINSize")?,
                cubin: get(&library, "nvrtcGetCUBIN")?,
                _library: library,
            })
        }
    }

    fn failure(&self, call: &str, code: c_int, log: &str) -> CompileError {
        // SAFETY: any code may be asked for; the text is static.
        let text = unsafe { (self.error_text)(code) };
        let text = if text.is_null() {
            code.to_string()
        } else {
            // SAFETY: a static, terminated string.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        error::internal("nvrtc", &format!("{call}: {text}; {log}"))
    }
}

/// A program of NVRTC's, destroyed with this.
struct Program<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl<'a> Program<'a> {
    fn new(functions: &'a Functions, source: &CStr) -> Result<Program<'a>, CompileError> {
        let mut handle = std::ptr::null_mut();
        let (none, names) = (std::ptr::null(), SOURCE.as_ptr());
        // SAFETY: both texts are terminated and copied; there are no headers in memory.
        match unsafe { (functions.create)(&mut handle, source.as_ptr(), names, 0, none, none) } {
            SUCCESS => Ok(Program { functions, handle }),
            code => Err(functions.failure("nvrtcCreateProgram", code, "")),
        }
    }

    fn bytes(&self, call: &str, size: Size, get: Get) -> Result<Vec<u8>, CompileError> {
        let mut bytes = 0;
        // SAFETY: the program is live.
        let code = unsafe { size(self.handle, &mut bytes) };
        if code != SUCCESS {
            return Err(self.functions.failure(call, code, ""));
        }
        let mut content = vec![0u8; bytes];
        // SAFETY: the space is as large as NVRTC said it must be.
        match unsafe { get(self.handle, content.as_mut_ptr().cast()) } {
            SUCCESS => Ok(content),
            code => Err(self.functions.failure(call, code, "")),
        }
    }

    /// Lossy: NVRTC quotes lines of source, and cuts them anywhere.
    fn text(&self, call: &str, size: Size, get: Get) -> Result<String, CompileError> {
        let bytes = self.bytes(call, size, get)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and goes once.
        unsafe { (self.functions.destroy)(&mut self.handle) };
    }
}

//! libsframe's functions, as the headers `sframe-api.h` of binutils 2.40, 2.44 and 2.47.50 declare them.
//!
//! This is the only unsafe code of this crate. Malicious sections may crash libsframe and thus this process, which is
//! acceptable. Here, it must be ensured that its functions are called as declared, with pointers that live long enough.

use std::ffi::{OsStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

type Context = c_void;
type Row = [u32; ENTRY_WORDS];

/// The number of words in the buffer for a row: three times the need of the largest row that a byte can count.
const ENTRY_WORDS: usize = 48;
/// The value that fills the part of the buffer to which libsframe must not write.
const UNTOUCHED: u32 = 0xa5a5_a5a5;

/// Which functions a library has, and their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// `libsframe.so.0`, binutils 2.40: version 1.
    First = 1,
    /// `libsframe.so.1`, binutils 2.41 to 2.44: also version 2.
    Second,
    /// `libsframe.so.3`, since binutils 2.46: versions 2 and 3, and PCs of 64 bits.
    Third,
}

impl Api {
    /// The number of bytes of words that fit in a row.
    const fn words(self) -> usize {
        match self {
            Api::First | Api::Second => 12,
            Api::Third => 24,
        }
    }
}

type Decode = unsafe extern "C" fn(*const c_char, usize, *mut c_int) -> *mut Context;
type Free = unsafe extern "C" fn(*mut *mut Context);
type Byte = unsafe extern "C" fn(*mut Context) -> u8;
type Count = unsafe extern "C" fn(*mut Context) -> u32;
type Function1 =
    unsafe extern "C" fn(*mut Context, c_uint, *mut u32, *mut u32, *mut i32, *mut u8) -> c_int;
type Function2 = unsafe extern "C" fn(
    *mut Context,
    c_uint,
    *mut u32,
    *mut u32,
    *mut i32,
    *mut u8,
    *mut u8,
) -> c_int;
type Function3 = unsafe extern "C" fn(
    *mut Context,
    c_uint,
    *mut u32,
    *mut u32,
    *mut i64,
    *mut u8,
    *mut u8,
    *mut u8,
) -> c_int;
type GetRow = unsafe extern "C" fn(*mut Context, c_uint, c_uint, *mut Row) -> c_int;
type Find32 = unsafe extern "C" fn(*mut Context, i32, *mut Row) -> c_int;
type Find64 = unsafe extern "C" fn(*mut Context, i64, *mut Row) -> c_int;
type Base = unsafe extern "C" fn(*mut Row, *mut c_int) -> u8;
type Offset = unsafe extern "C" fn(*mut Context, *mut Row, *mut c_int) -> i32;
type OffsetByType = unsafe extern "C" fn(*mut Context, *mut Row, u32, *mut c_int) -> i32;
type Flag = unsafe extern "C" fn(*mut Context, *mut Row, *mut c_int) -> bool;

/// The library.
pub(crate) struct Library {
    library: libloading::Library,
    api: Api,
}

/// A section that libsframe has accepted.
pub(crate) struct Decoder<'a> {
    library: &'a Library,
    context: NonNull<Context>,
    // libsframe may keep a pointer to the section.
    section: PhantomData<&'a [u8]>,
}

/// The fields of the header.
pub(crate) struct Header {
    pub(crate) abi: u8,
    pub(crate) fixed_fp: i8,
    pub(crate) fixed_ra: i8,
    pub(crate) functions: u32,
}

/// The fields of the function table and the attributes. `info2` and `rep_size` are 0 in versions without them.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) start: i64,
    pub(crate) size: u32,
    pub(crate) rows: u32,
    pub(crate) info: u8,
    pub(crate) info2: u8,
    pub(crate) rep_size: u8,
}

/// A row as libsframe stores it in memory.
pub(crate) struct Entry {
    row: Row,
    api: Api,
}

/// The meaning of a row according to libsframe; `None` if libsframe reports that there is none.
pub(crate) struct Meaning {
    pub(crate) base: Option<i64>,
    pub(crate) cfa: Option<i64>,
    pub(crate) fp: Option<i64>,
    pub(crate) ra: Option<i64>,
    pub(crate) mangled: bool,
    pub(crate) undefined: bool,
}

impl Library {
    /// Loads a library, and determines its kind.
    pub(crate) fn open(path: &OsStr) -> Result<Library, String> {
        // SAFETY: libsframe has no initialisers with preconditions.
        let library = unsafe { libloading::Library::new(path) }.map_err(|e| e.to_string())?;
        // SAFETY: the symbols are only looked up, not used.
        let has = |name: &str| unsafe { library.get::<*const c_void>(name) }.is_ok();
        let functions = ["funcdesc", "funcdesc_v2", "funcdesc_v3"]
            .map(|name| has(&format!("sframe_decoder_get_{name}")));
        let api = match functions {
            [true, false, false] => Api::First,
            [true, true, false] => Api::Second,
            [false, true, true] => Api::Third,
            _ => return Err("a libsframe with other functions than 2.40, 2.44 or 2.47.50".into()),
        };
        Ok(Library { library, api })
    }

    pub(crate) const fn api(&self) -> Api {
        self.api
    }

    /// A function by its name.
    ///
    /// # Safety
    /// `T` is the function's type.
    unsafe fn get<T: Copy>(&self, name: &str) -> T {
        // SAFETY: ensured by the caller. Libraries of every kind that `open` accepts have the function.
        *unsafe { self.library.get::<T>(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Decodes a section. The error is libsframe's code.
    pub(crate) fn decode<'a>(&'a self, section: &'a [u8]) -> Result<Decoder<'a>, c_int> {
        let mut error = 0;
        // SAFETY: the type is as declared, and the bytes live as long as the decoder.
        let context = unsafe {
            self.get::<Decode>("sframe_decode")(section.as_ptr().cast(), section.len(), &mut error)
        };
        let context = NonNull::new(context).ok_or(error)?;
        Ok(Decoder { library: self, context, section: PhantomData })
    }
}

impl Decoder<'_> {
    const fn context(&self) -> *mut Context {
        self.context.as_ptr()
    }

    pub(crate) fn header(&self) -> Header {
        // SAFETY: the types are as declared, and the context is libsframe's own and alive.
        unsafe {
            let byte = |name: &str| self.library.get::<Byte>(&format!("sframe_decoder_get_{name}"));
            Header {
                abi: byte("abi_arch")(self.context()),
                fixed_fp: byte("fixed_fp_offset")(self.context()).cast_signed(),
                fixed_ra: byte("fixed_ra_offset")(self.context()).cast_signed(),
                functions: self.library.get::<Count>("sframe_decoder_get_num_fidx")(self.context()),
            }
        }
    }

    fn version(&self) -> u8 {
        match self.library.api {
            Api::First => 1,
            // SAFETY: as in `header`.
            _ => unsafe { self.library.get::<Byte>("sframe_decoder_get_version")(self.context()) },
        }
    }

    pub(crate) fn function(&self, index: u32) -> Result<Function, c_int> {
        let context = self.context();
        let mut found = Function::default();
        let Function { start, size, rows, info, info2, rep_size } = &mut found;
        let mut short = 0;
        // SAFETY: the types are as declared, and the pointers are to variables that outlive the call.
        let code = unsafe {
            match self.version() {
                1 => self.library.get::<Function1>("sframe_decoder_get_funcdesc")(
                    context, index, rows, size, &mut short, info,
                ),
                2 => self.library.get::<Function2>("sframe_decoder_get_funcdesc_v2")(
                    context, index, rows, size, &mut short, info, rep_size,
                ),
                _ => self.library.get::<Function3>("sframe_decoder_get_funcdesc_v3")(
                    context, index, rows, size, start, info, info2, rep_size,
                ),
            }
        };
        if self.version() < 3 {
            found.start = short.into();
        }
        if code == 0 { Ok(found) } else { Err(code) }
    }

    pub(crate) fn row(&self, function: u32, row: u32) -> Result<Entry, c_int> {
        let mut entry = Entry::new(self.library.api);
        // SAFETY: the type is as declared, and the buffer for the row is larger than anything that libsframe writes.
        let code = unsafe {
            self.library.get::<GetRow>("sframe_decoder_get_fre")(
                self.context(),
                function,
                row,
                &mut entry.row,
            )
        };
        if code == 0 { Ok(entry) } else { Err(code) }
    }

    /// The row at a PC, which is relative to the section's start.
    pub(crate) fn find(&self, pc: i64) -> Result<Entry, c_int> {
        let mut entry = Entry::new(self.library.api);
        // SAFETY: the types are as declared, and the buffer for the row is larger than anything that libsframe writes.
        let code = unsafe {
            match (self.library.api, i32::try_from(pc)) {
                (Api::Third, _) => self.library.get::<Find64>("sframe_find_fre")(
                    self.context(),
                    pc,
                    &mut entry.row,
                ),
                (_, Ok(pc)) => self.library.get::<Find32>("sframe_find_fre")(
                    self.context(),
                    pc,
                    &mut entry.row,
                ),
                (_, Err(_)) => -1,
            }
        };
        if code == 0 { Ok(entry) } else { Err(code) }
    }

    pub(crate) fn meaning(&self, entry: &Entry, fde_type: u32) -> Meaning {
        let context = self.context();
        // This is a copy because the older headers do not guarantee that the row is not modified.
        let mut row = entry.row;
        let row: *mut Row = &mut row;
        let defined = |(value, error): (i64, c_int)| (error == 0).then_some(value);
        // SAFETY: the types are as declared, and the pointers are to variables that outlive the calls.
        unsafe {
            let offset = |name: &str| {
                let name = format!("sframe_fre_get_{name}_offset");
                let mut error = 0;
                let value = match self.library.api {
                    Api::Third => {
                        self.library.get::<OffsetByType>(&name)(context, row, fde_type, &mut error)
                    }
                    _ => self.library.get::<Offset>(&name)(context, row, &mut error),
                };
                defined((value.into(), error))
            };
            let flag = |name: &str| {
                self.library.get::<Flag>(&format!("sframe_fre_get_{name}"))(context, row, &mut 0)
            };
            let mut error = 0;
            let base = self.library.get::<Base>("sframe_fre_get_base_reg_id")(row, &mut error);
            Meaning {
                base: defined((base.into(), error)),
                cfa: offset("cfa"),
                fp: offset("fp"),
                ra: offset("ra"),
                mangled: flag("ra_mangled_p"),
                undefined: self.library.api == Api::Third && flag("ra_undefined_p"),
            }
        }
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        let mut context = self.context();
        // SAFETY: the type is as declared, and nobody else has the context.
        unsafe { self.library.get::<Free>("sframe_decoder_free")(&mut context) };
        debug_assert_eq!(context, null_mut());
    }
}

impl Entry {
    const fn new(api: Api) -> Entry {
        Entry { row: [UNTOUCHED; ENTRY_WORDS], api }
    }

    pub(crate) const fn start(&self) -> u32 {
        self.row[0]
    }

    fn bytes(&self) -> Vec<u8> {
        self.row[1..].iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    pub(crate) fn info(&self) -> u8 {
        self.bytes()[self.api.words()]
    }

    /// The bytes of the words that the info byte counts, as far as they fit in the buffer.
    pub(crate) fn words(&self) -> Vec<u8> {
        let size = 1 << (self.info() >> 5 & 3);
        let count = usize::from(self.info() >> 1 & 0xf);
        let mut bytes = self.bytes();
        bytes.truncate((size * count).min(self.api.words()));
        bytes
    }

    /// Whether libsframe has written past the end of the row.
    pub(crate) fn overrun(&self) -> bool {
        // The info byte, padded to a word, is the last part of the row.
        self.row[1 + self.api.words() / 4 + 1..].iter().any(|word| *word != UNTOUCHED)
    }
}

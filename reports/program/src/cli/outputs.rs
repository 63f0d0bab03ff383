//! Where the results of a scan are written: standard output, and files.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::StripStream;
use sframe_history::Root;
use sframe_html::Report;

use super::args::output::When;
use super::args::policy::{GateArgs, PolicyArgs};
use super::args::{Format, OutputArgs};
use super::output_file::{Content, OutputFile, OutputFiles};
use super::policy::{new_baseline, policy_files, root};
use super::{pager, stdout, styled_stdout, terminal_width};
use sframe_record::SymbolNames;
use sframe_render::report::{
    BaselineWriter, Display as Terminal, Github, Grouped, Html, JsonDocument, JsonLines, Junit,
    Markdown, Renderer, Sarif, Several, Statistics, Text, TextOptions,
};

/// Where the records of a scan are written.
#[derive(Clone, Copy)]
pub(super) struct Outputs<'o> {
    pub(super) output: &'o OutputArgs,
    pub(super) gates: &'o GateArgs,
    /// What findings count; `None` without findings.
    pub(super) policy: Option<&'o PolicyArgs>,
    pub(super) shown: Shown,
    /// The inputs that the command line names.
    pub(super) inputs: &'o [OsString],
}

/// Which findings are shown, and how.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    /// All findings, not the first few.
    pub(super) all: bool,
    /// Cases of known defects like other findings.
    pub(super) known: bool,
    /// Findings were looked for, so that the summary says if there are none.
    pub(super) findings: bool,
}

impl Outputs<'_> {
    /// A renderer for all of them, and the files that it writes.
    ///
    /// # Errors
    /// Returns an error if a file cannot be created.
    pub(super) fn renderer(
        self,
        display: Option<&Terminal>,
    ) -> io::Result<(Box<dyn Renderer>, Vec<OutputFile>)> {
        self.with(renderer(self.output, self.shown, &self.root()?, display)?)
    }

    /// A renderer for the files, and the one to standard output.
    ///
    /// # Errors
    /// Returns an error if a file cannot be created.
    pub(super) fn with(
        self,
        first: Box<dyn Renderer>,
    ) -> io::Result<(Box<dyn Renderer>, Vec<OutputFile>)> {
        let root = self.root()?;
        let mut outputs = OutputFiles::of(self.inputs()?);
        let (mut renderers, mut files) = (vec![first], Vec::new());
        for to_file in &self.output.output {
            let (file, out) = outputs.create(&to_file.path, Content::Report)?;
            files.push(file);
            renderers.push(self.to_file(to_file.format, &root, out)?);
        }
        if let Some((path, policy)) = self.baseline().zip(self.policy) {
            let (file, out) = outputs.create(path, Content::Report)?;
            files.push(file);
            renderers.push(Box::new(BaselineWriter::new(out, new_baseline(policy, path)?)));
        }
        let only = if renderers.len() == 1 { renderers.pop() } else { None };
        Ok((only.unwrap_or_else(|| Box::new(Several::new(renderers))), files))
    }

    /// The baseline that is written.
    fn baseline(&self) -> Option<&Path> {
        self.gates.write_baseline.as_deref().map(Path::new)
    }

    fn root(self) -> io::Result<Root> {
        let root = self.policy.map(|policy| root(policy, self.baseline())).transpose()?;
        Ok(root.unwrap_or_default())
    }

    /// The files that the command line names as inputs. Those in folders are not known yet.
    fn inputs(self) -> io::Result<impl Iterator<Item = PathBuf>> {
        let files = self.policy.map(policy_files).transpose()?;
        Ok(self.inputs.iter().map(PathBuf::from).chain(files.into_iter().flatten()))
    }

    fn to_file(
        self,
        format: Format,
        root: &Root,
        out: BufWriter<File>,
    ) -> io::Result<Box<dyn Renderer>> {
        let out: Box<dyn Write> = Box::new(out);
        let out = match format {
            Format::Text => Box::new(StripStream::new(out)),
            _ => out,
        };
        of_format(format, out, (self.output, root), self.shown, None)
    }
}

/// A renderer to standard output, which may be the terminal that shows `display`.
pub(super) fn renderer(
    output: &OutputArgs,
    shown: Shown,
    root: &Root,
    display: Option<&Terminal>,
) -> io::Result<Box<dyn Renderer>> {
    let out: Box<dyn Write> = match output.format {
        Format::Text => Box::new(styled_stdout()),
        _ => Box::new(stdout()),
    };
    let is_above = |display: &&Terminal| io::stdout().is_terminal() && !pager::replaces(display);
    let out = match display.filter(is_above) {
        Some(display) => Box::new(display.above(out)),
        None => out,
    };
    of_format(output.format, out, (output, root), shown, terminal_width())
}

/// A renderer of a format; `width` is that of the terminal, if there is one.
fn of_format(
    format: Format,
    out: Box<dyn Write>,
    (output, root): (&OutputArgs, &Root),
    Shown { all, known, findings }: Shown,
    width: Option<usize>,
) -> io::Result<Box<dyn Renderer>> {
    let out = BufWriter::with_capacity(1 << 16, out);
    let pages = || output.pages.clone();
    let &OutputArgs { verbose, by_file, coverage, quiet, statistics, .. } = output;
    let names = match output.demangle {
        When::Auto if width.is_none() => SymbolNames::Mangled,
        When::Auto | When::Always => SymbolNames::Demangled,
        When::Never => SymbolNames::Mangled,
    };
    Ok(match format {
        Format::Text => {
            let options = TextOptions {
                verbose,
                all,
                coverage,
                summary: !quiet,
                findings,
                known,
                names,
                width,
            };
            match (statistics && findings, by_file || verbose || all) {
                (true, _) => Box::new(Statistics::new(out, options)),
                (false, true) => Box::new(Text::new(out, options)),
                (false, false) => Box::new(Grouped::new(out, options)),
            }
        }
        Format::Json => Box::new(JsonDocument::new(out, pages())),
        Format::Ndjson => Box::new(JsonLines::new(out, pages())),
        Format::Html => {
            let mut report = Report::default();
            report.set_pages(pages());
            Box::new(Html::new(out, report))
        }
        Format::Sarif => {
            let sarif = Sarif::new(out, root.clone(), pages());
            Box::new(if output.sarif_suppressed { sarif.with_suppressed() } else { sarif })
        }
        Format::Junit => Box::new(Junit::new(out)),
        Format::Github => Box::new(Github::new(out)),
        Format::Markdown => Box::new(Markdown::new(out, pages())),
    })
}

//! The field that each byte of a section belongs to.

use sframe_validator::Section;
use sframe_validator::section::{FieldPlace, Function, FunctionField, field};

/// The specification's name for the field of each byte.
pub(super) fn field_names(section: &Section<'_>) -> Vec<String> {
    let mut names = vec!["(no field)".to_owned(); section.data().len()];
    let header = [
        field::MAGIC,
        field::VERSION,
        field::FLAGS,
        field::ABI_ARCH,
        field::FIXED_FP,
        field::FIXED_RA,
        field::AUXHDR_LEN,
        field::NUM_FDES,
        field::NUM_FRES,
        field::FRE_LEN,
        field::FDEOFF,
        field::FREOFF,
    ];
    for place in header {
        name(&mut names, place);
    }
    for function in section.functions().flatten() {
        // In reverse order: the offset of a field that a version lacks is that of an earlier field.
        for field in [
            FunctionField::Padding,
            FunctionField::RepSize,
            FunctionField::Info2,
            FunctionField::Info,
            FunctionField::NumFres,
            FunctionField::FreOffset,
            FunctionField::Size,
            FunctionField::Start,
        ] {
            name(&mut names, function.entry().field(field));
        }
        rows(&mut names, &function);
    }
    names
}

fn rows(names: &mut [String], function: &Function<'_>) {
    let kind = if function.is_flexible() { "flexible" } else { "default" };
    let Ok(rows) = function.frame_row_entries() else { return };
    for row in rows.map_while(Result::ok) {
        let width = row.fre_type.width() as u64;
        name(names, FieldPlace { offset: row.offset, size: width, name: "sfre_start_address" });
        name(names, FieldPlace { offset: row.info_offset(), size: 1, name: "sfre_info" });
        for index in 0..row.words.count() {
            let size = usize::from(row.words.size());
            let start = row.word_offset(index) as usize;
            for byte in names.iter_mut().skip(start).take(size) {
                *byte = format!("{kind} data word {}", index + 1);
            }
        }
    }
}

fn name(names: &mut [String], place: FieldPlace) {
    for byte in names.iter_mut().skip(place.offset as usize).take(place.size as usize) {
        place.name.clone_into(byte);
    }
}

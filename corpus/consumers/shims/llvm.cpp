// LLVM's SFrameParser, which llvm-readobj prints with. It lists functions and rows, and looks up no PCs.

#include <llvm/Object/SFrameParser.h>

#include <cstring>
#include <string>

#include "protocol.h"

using namespace llvm;
using llvm::object::SFrameParser;

namespace {

// The largest counts that are listed.
constexpr unsigned MostFunctions = 4096, MostRows = 10000;

// As text in JSON.
std::string quoted(Error error) {
  std::string text;
  for (char letter : toString(std::move(error)))
    text += letter == '"' || letter == '\\' ? '\'' : letter;
  return text;
}

template <endianness E> class Reader {
  using Parser = SFrameParser<E>;
  const Parser &parser;
  unsigned rows = 0;

  void put_row(const typename Parser::FrameRowEntry &row, bool is_first) {
    char slot[48];
    put("%s{\"start\": %u", is_first ? "" : ", ", row.StartAddress);
    if (std::optional<int32_t> offset = parser.getCFAOffset(row)) {
      bool is_sp = row.Info.getBaseRegister() == sframe::BaseReg::SP;
      write_base(slot, is_sp ? stack_pointer() : frame_pointer(), *offset);
      put(", \"cfa\": \"%s\"", slot);
    }
    put_slot("ra", parser.getRAOffset(row));
    put_slot("fp", parser.getFPOffset(row));
    put(", \"signed\": %s}", row.Info.isReturnAddressSigned() ? "true" : "false");
  }

  void put_slot(const char *name, std::optional<int32_t> offset) {
    char slot[48];
    if (offset)
      write_slot(slot, *offset);
    else
      write_unchanged(slot);
    put(", \"%s\": \"%s\"", name, slot);
  }

  void put_function(const sframe::FuncDescEntry<E> *function) {
    bool is_block = function->Info.getFDEType() == sframe::FDEType::PCMask, is_first = true;
    put("{\"start\": \"%#llx\", \"size\": %u", (unsigned long long)parser.getAbsoluteStartAddress(function),
        (unsigned)function->Size);
    put(", \"repeat\": %u, \"key\": \"%c\", \"rows\": [", is_block ? (unsigned)function->RepSize : 0,
        function->Info.getPAuthKey() ? 'b' : 'a');
    Error error = Error::success();
    for (const typename Parser::FrameRowEntry &row : parser.fres(*function, error)) {
      if (rows++ < MostRows)
        put_row(row, is_first);
      is_first = false;
    }
    put("]");
    if (error)
      put(", \"error\": \"%s\"", quoted(std::move(error)).c_str());
    put("}");
  }

public:
  explicit Reader(const Parser &parser) : parser(parser) {}

  void answer() {
    const sframe::Header<E> &header = parser.getHeader();
    Expected<typename Parser::FDERange> functions = parser.fdes();
    if (!functions) {
      answer_refused(1, nullptr, quoted(functions.takeError()).c_str());
      return;
    }
    put("{\"opened\": {\"header\": {\"version\": %u, \"flags\": %u", (unsigned)header.Preamble.Version.value(),
        (unsigned)header.Preamble.Flags.value());
    put(", \"abi_arch\": %u, \"cfa_fixed_fp_offset\": %d", (unsigned)header.ABIArch.value(), (int)header.CFAFixedFPOffset);
    put(", \"cfa_fixed_ra_offset\": %d", (int)header.CFAFixedRAOffset);
    put(", \"num_fdes\": %u}, \"functions\": [", (unsigned)header.NumFDEs);
    unsigned index = 0;
    for (auto function = functions->begin(); function != functions->end() && index < MostFunctions; ++function) {
      put("%s", index++ ? ", " : "");
      put_function(function);
    }
    put("]}}");
    end_answer();
  }
};

template <endianness E> void open() {
  ArrayRef<uint8_t> bytes(section.bytes, section.length);
  Expected<SFrameParser<E>> parser = SFrameParser<E>::create(bytes, section.address);
  if (parser)
    Reader<E>(*parser).answer();
  else
    answer_refused(1, nullptr, quoted(parser.takeError()).c_str());
}

} // namespace

// The parser knows no s390x.
extern "C" bool consumer_reads(unsigned version, unsigned) {
  return version == 2 && strcmp(section.machine, "s390x") != 0;
}

extern "C" void consumer_open(const struct section *) {
  if (is_little_endian())
    open<endianness::little>();
  else
    open<endianness::big>();
}

extern "C" void consumer_lookup(uint64_t) { answer_unsupported("lookups"); }

extern "C" void consumer_walk(const struct walk *) { answer_unsupported("walks"); }

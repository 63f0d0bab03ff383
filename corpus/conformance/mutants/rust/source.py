"""Rust source as tokens, and the changes that mistakes of a reader would be."""

import re

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)|(?P<string>b?"(?:[^"\\]|\\.)*")|(?P<lifetime>'\w+(?!'))|(?P<char>'(?:[^'\\]|\\.)')"""
    r"""|(?P<number>0x[0-9a-fA-F_]+|\d[\d_]*)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<sign>\.\.=|\.\.|->|=>|::|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|[-+*/%&|^!<>=?.,;:#@$(){}\[\]])""",
    re.VERBOSE,
)
OPENING, CLOSING = "([{", ")]}"
# Words of which one is mistaken for the other.
SWAPPED = [
    ("wrong byte order", "from_le_bytes", "from_be_bytes"),
    ("wrong base", "sp", "fp"),
    ("wrong base", "fixed_ra", "fixed_fp"),
    ("wrong base", "cfa_fixed_ra_offset", "cfa_fixed_fp_offset"),
    ("wrong base", "fdeoff", "freoff"),
    ("wrong base", "second", "third"),
    ("wrong base", "fde_table_start", "fde_table_end"),
    ("wrong base", "fre_start", "fde_table_start"),
    ("wrong sign", "wrapping_add", "wrapping_sub"),
    ("wrong sign", "saturating_add", "saturating_sub"),
    ("wrong order", "min", "max"),
    ("wrong condition", "V1", "V2"),
    ("wrong condition", "V2", "V3"),
]
# A method that is another one by mistake, if it is called.
CALLED = [("wrong sign", "i32", "u32"), ("wrong width", "u16", "u8"), ("wrong width", "u32", "u16")]
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
EQUALITIES = {"==": "!=", "!=": "=="}
SIGNS = {"+": "-", "-": "+", "*": "/", "%": "/", "<<": ">>", ">>": "<<", "&": "|"}
DROPPED = {
    "+": "wrong base", "-": "wrong base", "*": "missing scaling", "%": "missing scaling",
    "&": "missing mask", "<<": "swapped bits", ">>": "swapped bits",
}


class Token:
    def __init__(self, match):
        self.kind, self.text = match.lastgroup, match.group()
        self.start, self.end = match.span()


def tokens(text):
    return [token for token in map(Token, TOKEN.finditer(text)) if token.kind != "comment"]


def places(found):
    """The name of the function or constant around each token."""
    names, depth, stack, pending = [], 0, [], None
    for index, token in enumerate(found):
        before = found[index - 1].text if index else ""
        if token.kind == "name" and (before == "fn" or before == "const" and token.text != "fn"):
            pending = token.text
        names.append(stack[-1][0] if stack else pending or "-")
        if token.text in OPENING:
            depth += 1
            if token.text == "{" and pending:
                stack.append((pending, depth))
                pending = None
        elif token.text in CLOSING:
            if stack and stack[-1][1] == depth:
                stack.pop()
            depth -= 1
        elif token.text == ";" and pending and depth == (stack[-1][1] if stack else 0):
            pending = None
    return names


def matching(found, index):
    """The index of the bracket that closes the one at `index`."""
    depth = 0
    for place in range(index, len(found)):
        depth += (found[place].text in OPENING) - (found[place].text in CLOSING)
        if depth == 0:
            return place
    raise ValueError("unbalanced")


def operand(found, index):
    """The index of the last token of the operand that begins at `index`: a name or a group, with what is applied to it."""
    while found[index].text in ("-", "!", "*"):
        index += 1
    if found[index].text in OPENING:
        index = matching(found, index)
    while index + 1 < len(found):
        following = found[index + 1].text
        if following in ("(", "["):
            index = matching(found, index + 1)
        elif following in (".", "::", "as"):
            index += 2
        elif following == "?":
            index += 1
        else:
            break
    return index


def is_binary(text, token):
    """Whether an operator has two operands: then rustfmt puts a space on either side of it."""
    return text[token.start - 1].isspace() and text[token.end].isspace()


def of_number(found, index):
    token, before = found[index], found[index - 1].text
    if before in (".", "-"):
        return
    value, is_bits = int(token.text.replace("_", ""), 0), before in ("&", "<<", ">>")
    kind = "swapped bits" if is_bits else "off by one"
    changes = [value + 1, value - 1]
    if token.text.startswith("0x") and value:
        kind, changes = "swapped bits", [value << 1, value >> 1]
    for change in changes:
        if change >= 0:
            yield kind, token.start, token.end, hex(change) if token.text.startswith("0x") else str(change)


def of_name(found, index):
    token, before = found[index], found[index - 1].text
    after = found[index + 1].text if index + 1 < len(found) else ""
    if before in ("fn", "let", "mod", "use", "struct", "enum"):
        return
    for kind, one, other in SWAPPED:
        for old, new in ((one, other), (other, one)):
            if token.text == old and after != ":":
                yield kind, token.start, token.end, new
    for kind, old, new in CALLED:
        if token.text == old and before == "." and after == "(":
            yield kind, token.start, token.end, new
    if token.text in ("Little", "Big") and before == "::":
        yield "wrong byte order", token.start, token.end, {"Little": "Big", "Big": "Little"}[token.text]
    if token.text in ("true", "false"):
        yield "wrong condition", token.start, token.end, {"true": "false", "false": "true"}[token.text]
    if token.text in ("cast_signed", "rev", "take", "skip_while") and before == "." and after == "(":
        kind = "wrong sign" if token.text == "cast_signed" else "wrong order"
        yield kind, found[index - 1].start, found[matching(found, index + 1)].end, ""
    if token.text == "if" and after != "let":
        end = index + 1
        while found[end].text not in ("{", "=>"):
            end = matching(found, end) + 1 if found[end].text in OPENING else end + 1
        for value in ("false", "true"):
            yield "missing check", found[index + 1].start, found[end - 1].end, value


def of_sign(text, found, index):
    token = found[index]
    if token.text == "!" and found[index + 1].kind in ("name", "sign") and found[index - 1].kind != "name":
        yield "wrong condition", token.start, token.end, ""
    if not is_binary(text, token) or found[index + 1].kind == "lifetime":
        return
    if token.text in COMPARISONS:
        yield "off by one", token.start, token.end, COMPARISONS[token.text]
    if token.text in EQUALITIES:
        yield "wrong condition", token.start, token.end, EQUALITIES[token.text]
    if token.text in ("&&", "||"):
        yield "wrong condition", token.start, token.end, {"&&": "||", "||": "&&"}[token.text]
    if token.text in SIGNS:
        kind = "wrong sign" if token.text in "+-" else "missing scaling" if token.text in "*%" else "swapped bits"
        yield kind, token.start, token.end, SIGNS[token.text]
    if token.text in DROPPED:
        end = found[operand(found, index + 1)].end
        yield DROPPED[token.text], found[index - 1].end, end, ""


def changes(text):
    """Each change: its kind, the function around it, and where which text replaces which."""
    found = tokens(text.split("#[cfg(test)]\nmod tests {")[0])
    names = places(found)
    for index in range(1, len(found) - 1):
        of = {"number": of_number, "name": of_name}.get(found[index].kind)
        choices = of(found, index) if of else ()
        if found[index].kind == "sign":
            choices = of_sign(text, found, index)
        for kind, start, end, new in choices:
            yield kind, names[index], start, end, new

"""Prints the calls of the C and C++ files of a checkout as libclang resolves them; the form is that of gold.go."""
import os
import subprocess
import sys

from clang.cindex import Cursor, CursorKind, Index, conf

conf.lib.clang_getSpecializedCursorTemplate.argtypes = [Cursor]
conf.lib.clang_getSpecializedCursorTemplate.restype = Cursor
conf.lib.clang_getSpecializedCursorTemplate.errcheck = Cursor.from_cursor_result

root = os.path.realpath(sys.argv[1])
listed = subprocess.check_output(["git", "-C", root, "ls-files"], text=True).split("\n")
sources = [name for name in listed if name.endswith((".c", ".cc", ".cpp"))]
headers = {os.path.dirname(name) for name in listed if name.endswith((".h", ".hpp"))}
folders = sorted(headers, key=lambda folder: (folder.count("/"), folder))[:60]
arguments = ["-I" + os.path.join(root, folder) for folder in folders] + ["-ferror-limit=0"]
index = Index.create()
definitions = {}  # USR -> places
calls = {}  # (path, line, name) -> USR or None
dispatched = set()
walked = set()
real = {}
DEFINITIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.FIELD_DECL,
    CursorKind.VAR_DECL,
}


def place(location):
    name = location.file.name if location.file else ""
    if name not in real:
        real[name] = os.path.relpath(os.path.realpath(name), root) if name else ".."
    return real[name], location.line


def walk_unit(cursor, text):
    """Headers are walked in the first unit that includes them."""
    seen_here = set()
    for node in cursor.get_children():
        name = node.location.file.name if node.location.file else None
        if name is None or (name in walked and name not in seen_here):
            continue
        seen_here.add(name)
        walked.add(name)
        if place(node.location)[0].startswith(".."):
            continue
        record(node)
        walk(node, text)


def record(node):
    if node.kind in DEFINITIONS and node.is_definition():
        definitions.setdefault(node.canonical.get_usr(), set()).add(place(node.location))


def written(target):
    """The template that a function is an instance of; else the function itself."""
    for _ in range(5):
        template = conf.lib.clang_getSpecializedCursorTemplate(target)
        if template is None or template.kind == CursorKind.NO_DECL_FOUND or template.kind.is_invalid():
            break
        target = template
    return target.canonical


def walk(cursor, text):
    for node in cursor.get_children():
        record(node)
        if node.kind == CursorKind.CALL_EXPR and node.referenced is not None and node.spelling:
            target = node.referenced
            name_at = end_of_callee(node)
            if name_at:
                at, line, offset = name_at
                spelled = text(at)[offset:offset + len(target.spelling.encode())]
                # What a macro expands to is not written there.
                if spelled == target.spelling.encode():
                    calls.setdefault((at, line, target.spelling), written(target).get_usr())
                    if target.kind == CursorKind.CXX_METHOD and target.is_virtual_method():
                        dispatched.add((at, line, target.spelling))
        walk(node, text)


def end_of_callee(node):
    children = list(node.get_children())
    if not children:
        return None
    callee = children[0]
    while callee.kind == CursorKind.UNEXPOSED_EXPR:
        inner = list(callee.get_children())
        if not inner:
            break
        callee = inner[0]
    if callee.kind not in (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR):
        return None
    where = callee.location
    path, line = place(where)
    return None if path.startswith("..") else (path, line, where.offset)


texts = {}


def text(path):
    if path not in texts:
        with open(os.path.join(root, path), "rb") as opened:
            texts[path] = opened.read()
    return texts[path]


for source in sources:
    own = ["-x", "c"] if source.endswith(".c") else ["-x", "c++", "-std=c++17"]
    try:
        unit = index.parse(os.path.join(root, source), args=own + arguments)
    except Exception as error:
        print(source, error, file=sys.stderr)
        continue
    walk_unit(unit.cursor, text)

for (path, line, name), usr in calls.items():
    places = definitions.get(usr, set())
    if (path, line, name) in dispatched:
        print(path, line, name, "dispatch", 0, sep="\t")
    elif not places:
        print(path, line, name, "-", 0, sep="\t")
    for to, at in sorted(places):
        print(path, line, name, to, at, sep="\t")

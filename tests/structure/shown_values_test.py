"""What Cairn shows passes one door for each medium, so that no value can be forgotten.

`cairn bench`: HTML is made by fill() from a literal of the code, and only terminal.py prints. The
command: print() and tell() make each value printable; text/output.cc writes, and makes JSON. The
library and the adapters: cairn_show_line() and engine::log(). Both tables of hidden characters are
the same."""

import ast
import re

import structure

PACKAGE = "bench/python/cairn_bench/"
# Makes HTML of texts, and prints.
DOORS = {"markup": PACKAGE + "page/markup.py", "terminal": PACKAGE + "terminal.py"}
PAGE = ("page.py", "charts.py", "details.py", "overview.py", "sections.py", "strips.py",
        "tables.py", "top.py", "umami.py")
PRINTS = re.compile(r"\bsys\.(stdout|stderr)\.(write|buffer|flush)|\bos\.write\([12],")
TAG = re.compile(r"</?[a-z][a-z0-9]*[ >/]|</?[a-z][a-z0-9]*$")


def is_literal(node):
    """A text of the code, perhaps by the name of a constant."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.Name) and node.id.isupper()


def name_of(call):
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def problems_of_call(node, path):
    name = name_of(node)
    if name == "fill" and not (node.args and is_literal(node.args[0])):
        yield "fill() of a text that is not a literal"
    if name == "Markup":
        yield "Markup() outside markup.py: use fill()"
    if name == "escape" and path.endswith(PAGE):
        yield "escape(): fill() escapes each value"
    if name == "print" and not isinstance(node.func, ast.Attribute):
        yield "print() outside terminal.py: use say() or tell()"
    if name == "ArgumentParser":
        yield "ArgumentParser: its errors show words of others; use terminal.Parser"




def check(path, text):
    if path in DOORS.values():
        return []
    tree = ast.parse(text)
    found = [(node.lineno, problem) for node in ast.walk(tree) if isinstance(node, ast.Call)
             for problem in problems_of_call(node, path)]
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.Constant) and TAG.search(part.value):
                    found.append((node.lineno, "a tag in an f-string: use fill()"))
    found += [(text[:match.start()].count("\n") + 1, "writes past terminal.py")
              for match in PRINTS.finditer(text)]
    return [f"{path}:{line}: {problem}" for line, problem in sorted(set(found))]


# A call that writes to a terminal, in C++ without comments and texts.
WRITES = re.compile(
    r"\b(?:std::)?(?:fprintf|fputs|fputc|putc|fwrite|vfprintf)\s*\([^;]*\bstd(?:err|out)\b|"
    r"\b(?:std::)?(?:printf|puts|putchar|perror)\s*\(|\bstd::(?:cout|cerr|clog)\b|"
    r"\bdprintf\s*\(\s*(?:1|2|STD\w+)\b|\bwrite\s*\(\s*(?:1|2|STD\w+)\s*,|"
    r"\bSYS_write\s*,\s*[12]\b|\bfmt::print\s*\(")
JSON = re.compile(r"\.dump\(")
CPP_DOORS = ("cli/text/output.cc", "adapters/engine/log.cc", "include/cairn/adapter/printable.h")
# Write JSON to files, where UTF-8 stays.
JSON_FILES = ("cli/ckpt/export_rendezvous.cc",)
# `cairn cat`: the bytes of a file are what was asked for.
CONTENT = "write(STDOUT_FILENO, buffer.data()"
# Lines that the writer has composed. Texts in them are printable(), or cells of a Table.
COMPOSED = re.compile(r"\b(?:print|tell)_lines\(")
COMPOSERS = ("cli/ckpt/", "cli/commands/", "cli/program/", "cli/text/output.h")


def check_cpp(path, text):
    if path in CPP_DOORS:
        return []
    code = structure.without_comments(text).replace(CONTENT, " " * len(CONTENT))
    looks = [(WRITES, "writes past cli/text/output.h or cairn/adapter/printable.h")]
    if path.startswith("cli/") and path not in JSON_FILES:
        looks.append((JSON, "JSON: use print_json() or json_line()"))
    if path.startswith("cli/") and not path.startswith(COMPOSERS):
        looks.append((COMPOSED, "composed lines: use print() or tell(), which escape each value"))
    return [f"{path}:{code[:match.start()].count(chr(10)) + 1}: {what}"
            for pattern, what in looks for match in pattern.finditer(code)]


def ranges(text):
    """The table of hidden characters in C or Python."""
    table = re.search(r"\b(?:HIDDEN|hidden\[\]\[2\]) = [({](.*?)\n\s*(?:\)|\};)", text, re.S)
    return re.findall(r"[({](0x\w+), (0x\w+)[)}]", table.group(1).lower()) if table else []


structure.must_find(check_cpp, [
    ("cli/runs/a.cc", 'std::fputs(text, stderr);'),
    ("cli/runs/a.cc", 'dprintf(STDERR_FILENO, "%s", name);'),
    ("cli/runs/a.cc", 'std::cout << name;'),
    ("adapters/mpiio/a.cc", 'fprintf(stderr, "%s", name);'),
    ("src/cluster/mpi/a.cc", 'std::fprintf(stderr, "%s", name);'),
    ("cli/commands/a.cc", 'tell(json.dump());'),
    ("cli/runs/a.cc", 'tell_lines(name);'),
])
structure.must_accept(check_cpp, [
    ("cli/runs/a.cc", 'print("{}", name); tell("{}", name); fprintf(file, "%s", name);'),
    ("src/a.cc", 'cairn_show_line(stderr, "%s", name);  // not fprintf(stderr'),
])
structure.must_find(check, [
    (PACKAGE + "page.py", 'x = fill(f"<p>{text}</p>")'),
    (PACKAGE + "page.py", "x = fill(text)"),
    (PACKAGE + "page.py", "x = Markup(text)"),
    (PACKAGE + "page.py", 'x = f"<p>{text}</p>"'),
    (PACKAGE + "charts.py", "x = html.escape(text)"),
    (PACKAGE + "command_line.py", "print(text)"),
    (PACKAGE + "progress.py", "sys.stderr.write(text)"),
    (PACKAGE + "command_line.py", "argparse.ArgumentParser()"),
])
structure.must_accept(check, [
    (PACKAGE + "page.py", 'x = fill("<p>{}</p>", f"{text} < 3")\ny = fill(HEAD, title=title)'),
    (PACKAGE + "page.py", 'x = f"ratio<{bound}"'),
    (PACKAGE + "progress.py", "self.rich.console.print(printable(text))"),
])

files = [n.as_posix() for n in structure.files(".py") if n.as_posix().startswith(PACKAGE)]
problems = [problem for name in files for problem in check(name, structure.text(name))]
sources = [n.as_posix() for n in structure.files(".cc", ".h")
           if n.parts[0] in ("cli", "src", "adapters", "include")
           and not n.name.endswith(("_test.cc", "_program.cc"))]
problems += [problem for name in sources for problem in check_cpp(name, structure.text(name))]
tables = [ranges(structure.text(name)) for name in (DOORS["terminal"], CPP_DOORS[-1])]
if not tables[0] or tables[0] != tables[1]:
    problems.append(f"{DOORS['terminal']} and {CPP_DOORS[-1]} have other hidden characters")
structure.verdict(problems, f"{len(files)} modules, {len(sources)} sources")

"""What `cairn bench` shows passes one door for each medium: HTML is made by fill() from a literal
of the code, and only terminal.py prints. A value of a record cannot be forgotten."""

import ast
import re

import house

PACKAGE = "bench/python/cairn_bench/"
# Makes HTML of texts, and prints.
DOORS = {"markup": PACKAGE + "markup.py", "terminal": PACKAGE + "terminal.py"}
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
    if name == "escape" and path.endswith(("page.py", "charts.py", "strips.py", "umami.py")):
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


house.must_find(check, [
    (PACKAGE + "page.py", 'x = fill(f"<p>{text}</p>")'),
    (PACKAGE + "page.py", "x = fill(text)"),
    (PACKAGE + "page.py", "x = Markup(text)"),
    (PACKAGE + "page.py", 'x = f"<p>{text}</p>"'),
    (PACKAGE + "charts.py", "x = html.escape(text)"),
    (PACKAGE + "command_line.py", "print(text)"),
    (PACKAGE + "progress.py", "sys.stderr.write(text)"),
    (PACKAGE + "command_line.py", "argparse.ArgumentParser()"),
])
house.must_accept(check, [
    (PACKAGE + "page.py", 'x = fill("<p>{}</p>", f"{text} < 3")\ny = fill(HEAD, title=title)'),
    (PACKAGE + "page.py", 'x = f"ratio<{bound}"'),
    (PACKAGE + "progress.py", "self.rich.console.print(printable(text))"),
])

files = [n.as_posix() for n in house.files(".py") if n.as_posix().startswith(PACKAGE)]
house.verdict([problem for name in files for problem in check(name, house.text(name))],
              f"{len(files)} modules")

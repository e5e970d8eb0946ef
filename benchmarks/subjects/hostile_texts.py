"""Texts that no person would write, each by its size: made to take a reader long, or to break it.

What they have in common: one thing again and again, inside itself or in a row, closed or not.
"""

from __future__ import annotations

from collections.abc import Callable

HEAD = "import tensorflow as tf\n"
TEXTS: dict[str, Callable[[int], str]] = {
    "comments_cont": lambda n: "# c\n\\\n" * n,
    "cont_ind": lambda n: "def f():\n" + "    # c\n   \\\n" * n + "    tf.abs(1)\n",
    "cont_in_br": lambda n: "x = (\n" + "# c\n\\\n" * n + ")\n",
    "blank_lines": lambda n: "\n" * n * 4 + "tf.abs(1)\n",
    "ws_lines": lambda n: "   \n" * n + "tf.abs(1)\n",
    "formfeeds": lambda n: "\f\n" * n + "tf.abs(1)\n",
    "crlf_cont": lambda n: "\\\r\n" * n + "tf.abs(1)\n",
    "one_line_comment": lambda n: "if x:\n" + "  # c\n # d\n" * n + "  tf.abs(1)\n",
    "unclosed_quote": lambda n: "tf.abs('" + "a' b" * n + "\n",
    "unclosed_dq": lambda n: ('tf.abs("' * n) + "\n",
    "backslash_quotes": lambda n: "tf.abs(" + "\\'" * n + ")\n",
    "triple_open": lambda n: 'tf.abs("""' * n + "\n",
    "triple_lines": lambda n: 'tf.abs("""\n' * n + "\n",
    "triple_bs": lambda n: 'tf.abs("""' + "\\" * n + '\n"""' * 3 + ")\n",
    "triple_esc": lambda n: 'tf.abs("""' + '\\"""' * n + ")\n",
    "triple_defs": lambda n: 'x = """\ndef f(x):\n    pass\n' * n,
    "parens": lambda n: "(" * n + "tf.abs(1)" + ")" * n + "\n",
    "dicts": lambda n: "x = " + "{1:" * n + "1" + "}" * n + "\n",
    "open_only": lambda n: "x = " + "(" * n + "\n",
    "close_only": lambda n: "x = " + ")" * n + "\n",
    "mismatch": lambda n: "x = " + "(]" * n + "\n",
    "mismatch_deep": lambda n: "x = " + "(" * n + "]" * n + "\n",
    "open_lines": lambda n: "x = (\n" * n,
    "open_def": lambda n: "def f(x:\n    tf.abs(x\n" * n,
    "open_class": lambda n: "class A(\n    def f(self:\n        tf.abs(self\n" * n,
    "open_indent": lambda n: "class A:\n" + "    x = (\n" * n,
    "plus": lambda n: "x = " + "1 + " * n + "1\n",
    "pow": lambda n: "x = " + "2 ** " * n + "1\n",
    "neg": lambda n: "x = " + "-" * n + "1\n",
    "nots": lambda n: "x = " + "not " * n + "1\n",
    "ands": lambda n: "x = " + "a and " * n + "1\n",
    "andor": lambda n: "x = " + "a and b or " * n + "1\n",
    "ternary": lambda n: "x = " + "1 if a else " * n + "1\n",
    "lambdas": lambda n: "x = " + "lambda a: " * n + "tf.abs(a)\n",
    "attrs": lambda n: "x = tf" + ".a" * n + "\n",
    "attrcalls": lambda n: "x = tf" + ".a(1)" * n + "\n",
    "dschain": lambda n: "x = tf.data.Dataset.range(3)" + ".map(lambda v: tf.abs(v))" * n + "\n",
    "subs": lambda n: "x = a" + "[0]" * n + "\n",
    "decorators": lambda n: "@tf.function\n" * n + "def f(x):\n    return tf.abs(x)\nf(1)\n",
    "fstr": lambda n: "x = " + "f'{" * n + "1" + "}'" * n + "\n",
    "fstr2": lambda n: "x = f'" + "{tf.abs(1)}" * n + "'\n",
    "fstr_spec": lambda n: "x = f'{a:" + "{b:" * n + "}" * n + "}'\n",
    "fstr_open": lambda n: "x = f'{" * n + "\n",
    "bigdict": lambda n: "x = {" + "".join(f"'k{i}': tf.abs({i}), " for i in range(n)) + "}\n",
    "biglist": lambda n: "x = [" + "1, " * n + "]\n" + "tf.constant(x)\n",
    "bigtuple_t": lambda n: "".join(f"a{i}, " for i in range(n)) + " = x\n",
    "chain_assign": lambda n: "".join(f"a{i} = " for i in range(n)) + "tf.abs(1)\n",
    "names_line": lambda n: "x = " + " ".join(f"n{i}" for i in range(n)) + "\n",
    "names_comma": lambda n: "x = " + ", ".join(f"n{i}" for i in range(n)) + "\n",
    "semis": lambda n: "tf.abs(1);" * n + "\n",
    "semis_assign": lambda n: "".join(f"a{i}=tf.abs(1);" for i in range(n)) + "\n",
    "annots": lambda n: "".join(f"a{i}: tf.Tensor = tf.abs(1)\n" for i in range(n)),
    "annot_nest": lambda n: "def f(x: " + "List[" * n + "int" + "]" * n + "):\n    return tf.abs(x)\nf(1)\n",
    "annot_or": lambda n: "def f(x: " + "int | " * n + "int):\n    return tf.abs(x)\nf(1)\n",
    "params": lambda n: (
        "def f(" + ", ".join(f"a{i}" for i in range(n)) + "):\n    return tf.abs(a0)\nf(" + "1, " * n + ")\n"
    ),
    "kwparams": lambda n: (
        "def f(" + ", ".join(f"a{i}=tf.abs(1)" for i in range(n)) + "):\n    return tf.abs(a0)\nf()\n"
    ),
    "kwargs": lambda n: "tf.abs(" + ", ".join(f"a{i}={i}" for i in range(n)) + ")\n",
    "stars": lambda n: "tf.abs(" + "*a, " * n + "**b)\n",
    "compr": lambda n: "x = " + "[" * n + "1" + " for a in b]" * n + "\n",
    "compr_for": lambda n: "x = [tf.abs(1) " + "for a in b " * n + "]\n",
    "compr_if": lambda n: "x = [tf.abs(1) for a in b " + "if a " * n + "]\n",
    "nest_def": lambda n: "".join(" " * i + f"def f{i}():\n" for i in range(n)) + " " * n + "tf.abs(1)\n",
    "nest_class": lambda n: (
        "".join(" " * i + f"class C{i}:\n" for i in range(n)) + " " * n + "x = tf.abs(1)\n"
    ),
    "nest_for": lambda n: "".join(" " * i + f"for i{i} in x:\n" for i in range(n)) + " " * n + "tf.abs(1)\n",
    "nest_try": lambda n: "".join(" " * i + "try:\n" for i in range(n)) + " " * n + "tf.abs(1)\n",
    "nest_match": lambda n: (
        "".join(" " * (2 * i) + "match x:\n" + " " * (2 * i + 1) + "case 1:\n" for i in range(n))
        + " " * (2 * n)
        + "tf.abs(1)\n"
    ),
    "nest_oneline": lambda n: "if a: " * n + "tf.abs(1)\n",
    "elses": lambda n: "if a:\n  pass\n" + "else: pass\n" * n,
    "cases": lambda n: "match x:\n" + "".join(f"    case {i}:\n        tf.abs({i})\n" for i in range(n)),
    "caseor": lambda n: (
        "match x:\n    case " + " | ".join(f"{i}" for i in range(n)) + ":\n        tf.abs(1)\n"
    ),
    "casenest": lambda n: "match x:\n    case " + "[" * n + "a" + "]" * n + ":\n        tf.abs(1)\n",
    "caseclass": lambda n: "match x:\n    case " + "A(" * n + "a" + ")" * n + ":\n        tf.abs(1)\n",
    "excepts": lambda n: (
        "try:\n    tf.abs(1)\n" + "".join(f"except E{i}:\n    tf.abs({i})\n" for i in range(n))
    ),
    "withitems": lambda n: "with " + ", ".join(f"a{i}() as b{i}" for i in range(n)) + ":\n    tf.abs(1)\n",
    "smallfuncs": lambda n: (
        "".join(
            f"def f{i}(x):\n    return f{(i * 7 + 1) % n}(x) + f{(i * 13 + 5) % n}(tf.abs(x))\n"
            for i in range(n)
        )
        + "f0(1)\n"
    ),
    "mutual": lambda n: (
        "".join(f"def f{i}(g):\n    return g(f{(i + 1) % n}, f{(i + 2) % n})\n" for i in range(n))
        + "f0(f1)\n"
    ),
    "hof": lambda n: (
        "def a(f, x):\n    return f(f, x)\n"
        + "".join(f"def g{i}(f, x):\n    return a(g{(i + 1) % n}, tf.abs(x))\n" for i in range(n))
        + "g0(g1, 1)\n"
    ),
    "selfattr": lambda n: (
        "class A:\n"
        + "".join(
            f"    def m{i}(self):\n        self.a{i} = self.m{(i + 1) % n}()\n        return tf.abs(self.a{(i + 3) % n})\n"
            for i in range(n)
        )
        + "A().m0()\n"
    ),
    "manyclasses": lambda n: (
        "".join(
            f"class A{i}(tf.keras.layers.Layer):\n    def call(self, x):\n        return tf.abs(x)\n"
            for i in range(n)
        )
        + "x=1\n"
        + "".join(f"x=A{i}()(x)\n" for i in range(n))
    ),
    "reassign": lambda n: "x = tf.ones(1)\n" + "x = tf.abs(x) + x\n" * n,
    "unions": lambda n: "".join(
        f"if a{i}:\n    f = tf.abs\nelse:\n    f = tf.square\nf(1)\n" for i in range(n)
    ),
    "dimports": lambda n: "".join(f"import a{i}.b.c as d{i}\n" for i in range(n)),
    "star_imports": lambda n: "from tensorflow import *\n" * n + "abs(1)\n",
    "importlist": lambda n: (
        "from tensorflow import (" + ", ".join(f"abs as a{i}" for i in range(n)) + ")\n" + "a0(1)\n"
    ),
    "dotted": lambda n: "import a" + ".b" * n + "\n",
    "globals1": lambda n: (
        "def f():\n    global " + ", ".join(f"g{i}" for i in range(n)) + "\n    g0 = tf.abs(1)\n"
    ),
    "longname": lambda n: "x" * n + " = tf.abs(1)\n",
    "longstr": lambda n: "x = '" + "a" * n + "'\ntf.abs(x)\n",
    "strconcat": lambda n: "x = " + "'a' " * n + "\ntf.abs(x)\n",
    "longint": lambda n: "x = " + "9" * n + "\ntf.abs(x)\n",
    "longhex": lambda n: "x = 0x" + "f" * n + "\ntf.abs(x)\n",
    "mulint": lambda n: "x = 10\n" + "x = x * x\n" * n + "tf.abs(x)\n",
    "powint": lambda n: "x = 10 ** 10 ** 10\n" * n + "tf.abs(x)\n",
    "shifts": lambda n: "x = 1 << 10000000000\n" * n + "tf.abs(x)\n",
    "strmul": lambda n: "x = 'a' * 10**10\ny = [0] * 10**10\n" * n + "tf.abs(x)\n",
    "rangebig": lambda n: (
        "for i in range(10**18):\n    tf.abs(i)\nx = [tf.abs(i) for i in range(10**9)]\n" * n
    ),
    "listgrow": lambda n: "x = []\n" + "x = [x, x]\n" * n + "tf.abs(x)\n",
    "ortwice": lambda n: (
        "a = tf.ones(2)\nb = 1\n" + "a = a or (a, b)\nb = b and [b, a]\n" * n + "tf.abs(a)\n"
    ),
    "iftwice": lambda n: (
        "a = 1\n" + "if tf.abs(1):\n    a = (a, 1)\nelse:\n    a = [a, 2]\n" * n + "tf.abs(a)\n"
    ),
    "looptwice": lambda n: (
        "def f(a):\n    for i in range(3):\n" + "        a = (a, tf.abs(a)) if i else [a]\n" * n + "f(1)\n"
    ),
    "appendself": lambda n: "a = []\n" + "a.append((a, tf.abs(1)))\n" * n + "for b in a:\n    tf.abs(b)\n",
    "dictself": lambda n: "d = {}\n" + "".join(f"d['{i}'] = [d, d]\n" for i in range(n)) + "tf.abs(d)\n",
    "attrself": lambda n: (
        "class A:\n    def __init__(self, x):\n        self.x = (x, [x])\na = A(1)\n"
        + "a = A((a, a.x))\n" * n
        + "tf.abs(a.x)\n"
    ),
    "calltwice": lambda n: (
        "def f0(x):\n    return tf.abs(x)\n"
        + "".join(f"def f{i}(x):\n    return (f{i - 1}(x), f{i - 1}((x, {i})))\n" for i in range(1, n))
        + f"f{n - 1}(1)\n"
    ),
    "comprtwice": lambda n: (
        "x = " + "[" * n + "tf.abs(1)" + "".join(f" for a{i} in range(3)]" for i in range(n)) + "\n"
    ),
    "strgrow": lambda n: "x = 'aaaa'\n" + "x = x + x\n" * n + "tf.abs(x)\n",
    "closures": lambda n: (
        "def f(x):\n    def g(y):\n        return x(y)\n    return g\nh = tf.abs\n"
        + "h = f(h)\n" * n
        + "h(1)\n"
    ),
    "partials": lambda n: (
        "from functools import partial\nh = tf.abs\n" + "h = partial(h, 1)\n" * n + "h(1)\n"
    ),
    "lambdachain": lambda n: "h = tf.abs\n" + "h = (lambda h: lambda x: h(h(x)))(h)\n" * n + "h(1)\n",
    "seqmodel": lambda n: (
        "m = tf.keras.Sequential([" + "tf.keras.layers.Dense(4), " * n + "])\nm.compile()\nm.fit(x, y)\n"
    ),
    "functional": lambda n: (
        "x = i = tf.keras.Input((4,))\n"
        + "x = tf.keras.layers.Dense(4)(x)\n" * n
        + "m = tf.keras.Model(i, x)\nm.compile()\nm.fit(x, y)\n"
    ),
    "funcdiamond": lambda n: (
        "x = i = tf.keras.Input((4,))\n"
        + "x = tf.keras.layers.Add()([x, x])\n" * n
        + "m = tf.keras.Model(i, x)\nm.compile()\nm.fit(x, y)\n"
    ),
    "shapes": lambda n: "x = tf.ones((4, 4))\n" + "x = tf.reshape(tf.transpose(x), (4, 4)) @ x\n" * n,
    "einsums": lambda n: "x = tf.einsum('" + "a" * n + "->a', y)\n",
    "walrus": lambda n: "".join(f"(a{i} := " for i in range(n)) + "tf.abs(1)" + ")" * n + "\n",
    "awaits": lambda n: "async def f():\n    x = " + "await " * n + "tf.abs(1)\n",
    "yields": lambda n: "def f():\n    x = " + "(yield " * n + "tf.abs(1)" + ")" * n + "\n",
    "slices": lambda n: "x = a[" + "::, " * n + "]\n",
    "unicode_names": lambda n: "".join(f"é{i} = tf.abs(1)\n" for i in range(n)),
    "tabs": lambda n: "if x:\n\ttf.abs(1)\n        tf.abs(2)\n" * n,
    "badindent": lambda n: "".join("def f():\n" + " " * (i % 37) + "tf.abs(1)\n" for i in range(n)),
    "indents": lambda n: "".join(" " * i + "tf.abs(1)\n" for i in range(n)),
    "garbage": lambda n: "$?!`" * n + "\n",
    "garbage_lines": lambda n: "$ ? tf.abs(1) ! `\n" * n,
    "cr": lambda n: "\r" * n + "\ntf.abs(1)\n",
    "crlines": lambda n: "tf.abs(1)\r" * n,
    "ats": lambda n: "@" * n + "\n",
    "defs_broken": lambda n: "def \n" * n,
    "def_incomplete": lambda n: "def f(\n" * n,
    "ifs_nobody": lambda n: "if x:\n" * n,
    "elifs_noif": lambda n: "elif x:\n    tf.abs(1)\n" * n,
    "excepts_notry": lambda n: "except:\n    tf.abs(1)\n" * n,
    "dots": lambda n: "." * n + "\n",
    "stars_only": lambda n: "*" * n + "\n",
    "print_redir": lambda n: "print " * n + "\n",
    "exec": lambda n: "exec 'a' in " * n + "\n",
    "types": lambda n: "".join(f"type T{i}[A] = list[A]\n" for i in range(n)),
    "ignores": lambda n: "tf.abs(1)  # energy: ignore[a]\n" * n,
    "ignores2": lambda n: "tf.abs(1)  # energy: ignore[" + "a, " * n + "]\n",
    "gen_nested_calls": lambda n: "tf.abs(" * n + "\n",
    "ruleful": lambda n: (
        "def f(x):\n" + "    y = tf.reduce_sum(tf.square(tf.math.sqrt(tf.pow(x, 2) + 1)))\n" * n
    ),
    "loops_calls": lambda n: "for i in range(3):\n" + "    y = tf.concat([y, tf.constant([i])], 0)\n" * n,
    "loopnest_rule": lambda n: (
        "def f(m):\n" + "    for i in range(3):\n        m.predict(i)\n        m = tf.keras.Model()\n" * n
    ),
    "deep_methods": lambda n: (
        "class A(tf.keras.Model):\n"
        + "".join(
            f"    def m{i}(self, x):\n        self.v{i} = tf.Variable(x)\n"
            f"        return self.m{i + 1}(tf.matmul(x, self.v{i}))\n"
            for i in range(n)
        )
    ),
    "tapes": lambda n: "".join(
        f"with tf.GradientTape(persistent=True) as t{i}:\n    y = tf.abs(t{i})\nt{i}.gradient(y, x)\n"
        for i in range(n)
    ),
}
"""What follows the head."""


def hostile(name: str, size: int) -> str:
    """A text of about so many characters."""
    make = TEXTS[name]
    count = low = 4
    while len(make(count)) < size:  # nested blocks grow with the square of their number
        low, count = count, 2 * count
    while low + 1 < count:
        middle = (low + count) // 2
        low, count = (middle, count) if len(make(middle)) < size else (low, middle)
    return HEAD + make(count)

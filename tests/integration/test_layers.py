# SPDX-License-Identifier: MIT
"""The rules of the house that a compiler does not know: floors, limits, forbidden calls."""
import functools
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FLOORS = {"config": {"config"}, "probes": {"config", "probes"},
          "runner": {"config", "probes", "runner"}}
SOURCE_LINES, HEADER_LINES = 400, 100
# A file over the limit says why in a comment that begins with these words.
EXCEPTION = "Longer than the limit: "
LIBRARIES = ("libcurl yaml-0.1 libpcre2-8 jansson libcares libmicrohttpd libsystemd "
             "openssl cmocka").split()

# Word -> the files that may use it. What blocks the loop or takes libev's children is nowhere.
CALLS = {
    r"getaddrinfo|gethostbyname\w*|getnameinfo": (),
    # `probity status --watch` has no loop.
    r"sleep|usleep|nanosleep|clock_nanosleep|pause": ("runner/status.c",),
    r"system|popen": (),
    r"wait|waitpid|waitid|wait3|wait4": ("probes/child*.c",),
    r"fork|vfork|clone|clone3|posix_spawnp?": ("probes/child*.c",),
    r"execve?|execvp?e?|execlp?e?|fexecve|execveat": ("probes/child*.c",),
    # With no time to wait they only look; at exit there is no loop left to block.
    r"(?:poll|ppoll)(?!\([^;]*, 0\))|select|pselect": ("probes/child_end.c",),
    r"ev_now|ev_time|ev_sleep|ev_signal_set_signalfd": (),
    r"gettimeofday|clock_gettime": ("probes/clock.c", "probes/match.c"),
    # Most of its calls wait for the bus.
    r"sd_bus_\w+": ("runner/unit_state.c",),
    # It blocks where the service manager does not read.
    r"sd_(?:pid_)?notify\w*": (),
    r"time|localtime|gmtime|strftime": ("runner/log.c",),
    r"strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof": (),
    r"malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf": ("config/arena.c",),
}


def files(pattern, folders=FLOORS):
    found = [path for folder in folders for path in sorted((TOP / folder).rglob(pattern))]
    assert found
    return found


def name(path):
    return str(path.relative_to(TOP))


@functools.cache
def code(path):
    """The text without comments and strings, lines kept."""
    def blank(match):
        text = match.group(0)
        return text if text[0] not in "/\"'" else "\n" * text.count("\n") + " "
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank,
                  path.read_text(), flags=re.S)


def includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)


def test_includes_go_one_way():
    wrong = [f"{name(path)} includes {target}" for path in files("*.[ch]")
             for target in includes(path)
             if target.split("/")[0] not in FLOORS[path.relative_to(TOP).parts[0]]]
    assert not wrong, "\n".join(wrong)


def test_headers_have_no_circles():
    graph = {name(path): includes(path) for path in files("*.h")}
    done = set()

    def walk(header, trail):
        assert header not in trail, " -> ".join([*trail, header])
        if header not in done:
            for target in graph.get(header, ()):
                walk(target, [*trail, header])
            done.add(header)
    for header in graph:
        walk(header, [])


def test_headers_compile_alone():
    flags = subprocess.run(["pkg-config", "--cflags", *LIBRARIES], capture_output=True,
                           text=True, check=True).stdout.split()
    done = subprocess.run(
        ["gcc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-D_GNU_SOURCE", "-DEV_COMPAT3=0", f"-I{TOP}", *flags, "-x", "c",
         *map(str, files("*.h"))], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def test_files_are_short():
    limits = [(path, SOURCE_LINES) for path in files("*.c")]
    limits += [(path, SOURCE_LINES) for path in files("*.c", ["tests"])]
    limits += [(path, HEADER_LINES) for path in files("*.h")]
    long = [f"{name(path)}: {lines} lines, {limit} allowed" for path, limit in limits
            if (lines := len(path.read_text().splitlines())) > limit
            and EXCEPTION not in path.read_text()]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("words", CALLS)
def test_forbidden_calls(words):
    wrong = []
    for path in files("*.c"):
        if any(path.match(allowed) for allowed in CALLS[words]):
            continue
        for number, line in enumerate(code(path).split("\n"), 1):
            if re.search(rf"(?<![\w.>])(?:{words})\s*\(", line):
                wrong.append(f"{name(path)}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_one_file_knows_both_curl_multi_and_the_loop():
    both = [name(path) for path in files("*.c")
            if re.search(r"\bcurl_multi_\w+\s*\(", code(path))
            and re.search(r"\bev_(io|timer)_\w+\s*\(", code(path))]
    assert set(both) <= {"probes/curlev.c"}


def test_files_begin_with_licence_and_purpose():
    wrong = []
    for path in files("*.[ch]", [*FLOORS, "tests"]):
        lines = path.read_text().split("\n")
        if "SPDX-License-Identifier: MIT" not in lines[0] or not lines[1].startswith("/*"):
            wrong.append(name(path))
    assert not wrong, "\n".join(wrong)


def test_only_leaves_that_may_log_do():
    wrong = [name(path) for path in files("*.c", ["config", "probes"])
             if re.search(r"(?<![\w.>])(?:printf|vprintf|puts|perror|syslog|sd_journal_\w+)\s*\(",
                          code(path))]
    assert not wrong, "\n".join(wrong)


def test_every_test_is_registered():
    cmake = "".join(path.read_text() for path in files("*.cmake", ["tests"]))
    wrong = []
    for kind, pattern in (("unit", "test_*.c"), ("integration", "test_*.py")):
        for path in files(pattern, [f"tests/{kind}"]):
            short = path.stem[len("test_"):]
            if not re.search(rf"probity_{kind}_test\(\s*{short}\b", cmake):
                wrong.append(name(path))
    assert not wrong, "\n".join(wrong)

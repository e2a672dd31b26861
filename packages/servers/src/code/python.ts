/** The program that keeps a Python interpreter for a session. It asks nothing of Python but 3.8. */

/**
 * Takes a call as a line of JSON on descriptor 5: `{ code, files: { path: base64 }, mark, maxBytes }`. When it has run,
 * writes `mark` to stdout and stderr, and on descriptor 4 a line `{ returncode, files: { path: base64 } }`: those
 * that are new or changed, as many as fit into `maxBytes`.
 */
export const PYTHON_DRIVER = `
import base64, json, linecache, os, stat, sys, traceback, types

asked, told = os.fdopen(5, "r", encoding="utf-8"), os.fdopen(4, "w", encoding="utf-8")
os.set_inheritable(5, False)
os.set_inheritable(4, False)
main = types.ModuleType("__main__")
sys.modules["__main__"] = main
sys.argv = [""]
known = {}

def look():
    found = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            try:
                of = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(of.st_mode):
                found[path[2:]] = (of.st_mtime_ns, of.st_size)
    return found

def changed(room):
    global known
    found, files = look(), {}
    for path, state in found.items():
        if known.get(path) == state or state[1] > room:
            continue
        try:
            with open(path, "rb") as file:
                content = file.read(room + 1)
        except OSError:
            continue
        if len(content) <= room:
            room -= len(content)
            files[path] = base64.b64encode(content).decode()
    known = found
    return files

def run(code, name):
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        exec(compile(code, name, "exec"), main.__dict__)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 255
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        kind, value, trace = sys.exc_info()
        traceback.print_exception(kind, value, trace.tb_next)
        return 1
    return 0

calls = 0
for line in asked:
    call = json.loads(line)
    calls += 1
    for path, content in call["files"].items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content))
    known = look()
    returncode = run(call["code"], "<call %d>" % calls)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    files = changed(call["maxBytes"])
    for descriptor in (1, 2):
        os.write(descriptor, call["mark"].encode())
    print(json.dumps({"returncode": returncode, "files": files}), file=told, flush=True)
`;

/** The program that keeps a Python interpreter for a session. It asks nothing of Python but 3.8. */

/**
 * Takes a call as a line of JSON on descriptor 5: `{ code, files: { path: base64 }, mark, maxBytes, maxFiles }`. When it has
 * run, writes `mark` to stdout and stderr, and on descriptor 4 a line `{ returncode, files: { path: base64 }, left }`:
 * those that are new or changed in the folder that it began in, as far as the bounds go, and how many are left out.
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
base = os.getcwd()

def look():
    found = {}
    for folder, _, names in os.walk(base):
        for name in names:
            path = os.path.join(folder, name)
            try:
                of = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(of.st_mode):
                found[os.path.relpath(path, base)] = (of.st_mtime_ns, of.st_size)
    return found

def changed(room, most):
    global known
    found, files, left = look(), {}, 0
    for path, state in found.items():
        if known.get(path) == state:
            continue
        if state[1] > room or len(files) >= most:
            left += 1
            continue
        try:
            with open(os.path.join(base, path), "rb") as file:
                content = file.read(room + 1)
        except OSError:
            continue
        if len(content) <= room:
            room -= len(content)
            files[path] = base64.b64encode(content).decode()
        else:
            left += 1
    known = found
    return files, left

def bring(files):
    for name, content in files.items():
        path = os.path.join(base, name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(base64.b64decode(content))
        except OSError as error:
            print("%s cannot be written: %s" % (name, error.strerror), file=sys.stderr)
            return False
    return True

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
    whole = bring(call["files"])
    known = look()
    returncode = run(call["code"], "<call %d>" % calls) if whole else 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    files, left = changed(call["maxBytes"], call["maxFiles"])
    for descriptor in (1, 2):
        os.write(descriptor, call["mark"].encode())
    print(json.dumps({"returncode": returncode, "files": files, "left": left}), file=told, flush=True)
`;

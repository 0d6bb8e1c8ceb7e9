/** Modules of the languages' standard libraries. Their names mean no definition of a repository. */
import { wordSet } from "../../lib/word-set.ts";
import { isPython, isScript } from "./modules.ts";
import type { Meaning } from "./types.ts";

/** Modules of Node.js that can be imported without `node:`. */
const NODE = wordSet(
  `assert async_hooks buffer child_process cluster crypto dgram dns events fs http http2 https module net os path
   perf_hooks process querystring readline stream string_decoder timers tls tty url util v8 vm worker_threads zlib`,
);

/** Top-level modules of Python, without rarely imported ones. */
const PYTHON = wordSet(
  `abc argparse array ast asyncio atexit base64 binascii bisect builtins bz2 calendar cmath codecs collections
   concurrent configparser contextlib contextvars copy csv ctypes dataclasses datetime decimal difflib dis email enum
   errno fcntl fileinput fnmatch fractions ftplib functools gc getpass gettext glob gzip hashlib heapq hmac html http
   imaplib importlib inspect io ipaddress itertools json keyword locale logging lzma marshal math mimetypes mmap
   multiprocessing numbers operator os pathlib pdb pickle pkgutil platform pprint pwd queue random re readline resource
   sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat
   statistics string struct subprocess sys sysconfig tarfile tempfile termios textwrap threading time timeit tkinter
   token tokenize traceback tracemalloc tty types typing unicodedata unittest urllib uuid warnings wave weakref
   webbrowser xml xmlrpc zipfile zipimport zlib zoneinfo`,
);

/** Functions and classes of Python that have their names in all files. */
const PYTHON_BUILT_IN = wordSet(
  `ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
   BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
   ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError Exception ExceptionGroup
   FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning
   IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
   ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError
   PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning
   RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit
   TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
   UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError abs aiter all anext any ascii
   bin bool breakpoint bytearray bytes callable chr classmethod compile complex delattr dict dir divmod enumerate eval
   exec filter float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter
   len list locals map max memoryview min next object oct open ord pow print property range repr reversed round set
   setattr slice sorted staticmethod str sum super tuple type vars zip __import__`,
);

/** First path segments of Go's packages. */
const GO = wordSet(
  `archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag fmt go
   hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv
   strings structs sync syscall testing text time unicode unique unsafe weak`,
);

/** First names of packages of Kotlin and Java. */
const JVM = wordSet("java javax kotlin kotlinx");

const RUST = wordSet("alloc core std");

/** Whether a name that a file neither binds nor takes from a module is one of its language. */
export const isBuiltIn = (path: string, name: string): boolean => isPython(path) && PYTHON_BUILT_IN.has(name);

/** Whether a file imports a module of its language's standard library. The repository may still have a module of that name. */
export function isStandardModule(path: string, module: string): boolean {
  if (isPython(path)) return PYTHON.has(module.split(".", 1)[0] ?? "");
  if (/\.kts?$/.test(path)) return JVM.has(module.split(".", 1)[0] ?? "");
  if (path.endsWith(".go")) return GO.has(module.split("/", 1)[0] ?? "");
  if (path.endsWith(".rs")) return RUST.has(module.split("::", 1)[0] ?? "");
  if (isScript(path)) return module.startsWith("node:") || NODE.has(module.split("/", 1)[0] ?? "");
  return false;
}

/**
 * Whether a meaning that resolves to `outside` is a name of the standard library or a member of it: `JSON.parse`, `os.path.join`. False for
 * what a call of one returns, which may be of any type.
 */
export function isOfStandardLibrary(path: string, meaning: Meaning): boolean {
  let of = meaning;
  // What else a name may mean was looked up before.
  while (of.to === "member" || of.to === "super" || of.to === "first") of = of.to === "first" ? of.otherwise : of.of;
  return of.to === "import" && isStandardModule(path, of.module);
}

/** Uses of Go that lead out of the repository: names of the language, packages of others, types of the standard library. */
import { wordSet } from "../../lib/word-set.ts";
import { findMember } from "./members.ts";
import { folderOf } from "./modules.ts";
import type { Follower, Place } from "./resolved.ts";
import type { Meaning } from "./types.ts";

/** Types of the standard library that are no interfaces, as far as they are common: a call of a method of one calls nothing of a repository. */
const CONCRETE = wordSet(
  `bufio.ReadWriter bufio.Reader bufio.Scanner bufio.Writer bytes.Buffer bytes.Reader container/list.Element
   container/list.List encoding/json.Decoder encoding/json.Encoder flag.FlagSet html/template.Template log.Logger
   log/slog.Attr log/slog.Logger log/slog.Record log/slog.Value math/big.Float math/big.Int math/big.Rat
   math/rand.Rand net.IP net.IPNet net.TCPAddr net.TCPConn net.UDPConn net.Dialer net/http.Client net/http.Cookie
   net/http.Header net/http.Request net/http.Response net/http.ServeMux net/http.Server net/http.Transport
   net/http/httptest.ResponseRecorder net/http/httptest.Server net/url.URL net/url.Userinfo net/url.Values os.File
   os.Process os.ProcessState os/exec.Cmd reflect.StructField reflect.Value regexp.Regexp strings.Builder
   strings.Reader strings.Replacer sync.Cond sync.Map sync.Mutex sync.Once sync.Pool sync.RWMutex sync.WaitGroup
   sync/atomic.Bool sync/atomic.Int32 sync/atomic.Int64 sync/atomic.Pointer sync/atomic.Uint32 sync/atomic.Uint64
   sync/atomic.Value testing.B testing.F testing.M testing.T text/tabwriter.Writer text/template.Template
   time.Duration time.Location time.Month time.Ticker time.Time time.Timer time.Weekday`,
);

/** Functions and types that all files have. */
const BUILT_IN = wordSet(
  `any append bool byte cap clear close comparable complex complex128 complex64 copy delete error float32 float64 imag
   int int16 int32 int64 int8 len make max min new panic print println real recover rune string uint uint16 uint32
   uint64 uint8 uintptr`,
);

/**
 * Whether what a use of Go means, which no package of the repository defines, is in none: a name of the language, of a package that is in none
 * of its modules, or a method of a type of the standard library. A method of another value may be one of the repository's, as of an interface.
 */
export async function leavesRepository(follow: Follower, path: string, meaning: Meaning): Promise<boolean> {
  if (meaning.to === "import") return meaning.module === "" && BUILT_IN.has(meaning.name);
  if (meaning.to !== "member") return false;
  const { of, name } = meaning;
  if (of.to === "import") return of.name === "*" && isElsewhere(follow, path, of.module, name);
  return of.to === "member" ? isLibraryField(follow, path, of) : isOfLibraryType(of);
}

async function isElsewhere(follow: Follower, path: string, module: string, name: string): Promise<boolean> {
  const modules = await follow.files.goModules(path);
  // Functions of C are imported from a package of this name.
  if (module === "C" || modules.isEmpty || modules.isOwn(module)) return false;
  // A copy of the package has its path as that of its folder.
  const named = await follow.files.definitions(name, path);
  return !named.some((each) => folderOf(each.path).endsWith(module));
}

async function isLibraryField(
  follow: Follower,
  path: string,
  { of, name }: Extract<Meaning, { to: "member" }>,
): Promise<boolean> {
  const owner = await follow.receiverOf(path, of);
  if (typeof owner === "string" || owner.line === undefined || owner.wrapping?.length) return false;
  const field = await findMember(follow, { path: owner.path, line: owner.line }, name);
  return typeof field !== "string" && field.type !== undefined && isOfLibraryType(field.type);
}

/** Types that embed each other that are followed. */
const MAX_EMBEDDED = 8;

/**
 * Whether a member that the types of the repository do not have is of a type of the standard library that its receiver embeds, and of nothing
 * else: `s.Lock()` of a structure with a `sync.Mutex`.
 */
export async function isOfEmbeddedLibrary(follow: Follower, path: string, meaning: Meaning): Promise<boolean> {
  if (meaning.to !== "member") return false;
  const owner = await follow.receiverOf(path, meaning.of);
  if (typeof owner === "string" || owner.line === undefined || owner.wrapping?.length) return false;
  return embedsOnlyLibrary(follow, { path: owner.path, line: owner.line });
}

async function embedsOnlyLibrary(follow: Follower, of: Place, depth = 0): Promise<boolean> {
  const bases = depth > MAX_EMBEDDED ? [] : ((await follow.classAt(of))?.bases ?? []);
  let isKnown = bases.length > 0;
  for (const base of bases) {
    if (isConcrete(base)) continue;
    const at = await follow.resolve(of.path, base);
    // What embeds nothing has no other members than its own.
    const isOwn = typeof at !== "string" && at.line !== undefined && !at.wrapping?.length;
    isKnown &&= isOwn && (await addsNothing(follow, { path: at.path, line: at.line as number }, depth + 1));
  }
  return isKnown;
}

/** Whether a type embeds nothing, or nothing but types of the standard library. */
async function addsNothing(follow: Follower, of: Place, depth: number): Promise<boolean> {
  const own = await follow.classAt(of);
  return own !== undefined && (own.bases.length === 0 || embedsOnlyLibrary(follow, of, depth));
}

/** Whether a value is of a type of the standard library that is no interface, as it is declared: `*testing.T`. */
function isOfLibraryType(value: Meaning): boolean {
  return value.to === "instance" && isConcrete(value.of);
}

function isConcrete(type: Meaning): boolean {
  if (type.to !== "member") return false;
  const { of, name } = type;
  return of.to === "import" && of.name === "*" && CONCRETE.has(`${of.module}.${name}`);
}

import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES: Record<string, string> = {
  "app/Dep.java": `package app;
class Dep {
  void ping() {}
  static Dep create() {
    return new Dep();
  }
}
`,
  "app/Use.java": `package app;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;
class Other { void ping() {} }
record Pair(Dep dep, int n) {}
class Use {
  private final Map<String, Dep> byName = new HashMap<>();
  private final List<Dep> list = new ArrayList<>();
  Optional<Dep> opt; Dep[] arr; Supplier<Dep> sup; Map<String, List<Dep>> multi;
  void run(String k, Object o, Pair pair, Iterator<Dep> it) {
    byName.get(k).ping(); // 1
    for (Dep d : byName.values()) d.ping(); // 2
    for (var d : list) d.ping(); // 3
    for (var e : byName.entrySet()) e.getValue().ping(); // 4
    for (Map.Entry<String, Dep> e : byName.entrySet()) e.getValue().ping(); // 5
    byName.forEach((a, b) -> b.ping()); // 6
    list.stream().filter(x -> x != null).forEach(x -> x.ping()); // 7
    list.stream().map(x -> x).forEach(x -> x.ping()); // 8
    list.forEach(Dep::ping); // 9
    opt.ifPresent(x -> x.ping()); // 10
    opt.get().ping(); // 11
    opt.orElseGet(Dep::create).ping(); // 12
    arr[0].ping(); // 13
    sup.get().ping(); // 14
    pair.dep().ping(); // 15
    if (o instanceof Dep dd) dd.ping(); // 16
    switch (o) { case Dep sw -> sw.ping(); default -> {} } // 17
    byName.computeIfAbsent(k, x -> new Dep()).ping(); // 18
    var v = list.get(0); v.ping(); // 19
    it.next().ping(); // 20
    multi.get(k).get(0).ping(); // 21
    multi.values().stream().flatMap(List::stream).forEach(x -> x.ping()); // 22
    list.stream().findFirst().get().ping(); // 23
    list.stream().collect(Collectors.toList()).get(0).ping(); // 24
    Stream.of(new Dep()).forEach(x -> x.ping()); // 25
    List.of(new Dep()).get(0).ping(); // 26
    Arrays.asList(arr).get(0).ping(); // 27
    ((Dep) o).ping(); // 28
    (k == null ? new Dep() : Dep.create()).ping(); // 29
    Dep t = k == null ? null : list.get(0); t.ping(); // 30
    var q = k == null ? new Dep() : list.get(0); q.ping(); // 31
    list.iterator().next().ping(); // 32
    Objects.requireNonNull(v).ping(); // 33
    new ArrayList<>(list).get(0).ping(); // 34
    for (Dep d : arr) d.ping(); // 35
    Function<Dep, Dep> fn = x -> { x.ping(); return x; }; // 36
    fn.apply(v).ping(); // 37
    list.sort((x, y) -> { x.ping(); return 0; }); // 38
    list.stream().sorted(Comparator.comparing(x -> 1)).toList().get(0).ping(); // 39
    list.removeIf(x -> { x.ping(); return true; }); // 40
    try (var res = make()) { } catch (Exception e) { }
  }
  AutoCloseable make() { return null; }
}
`,
  "app/More.java": `package app;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import java.util.stream.*;
import lombok.Getter;

interface Handler {
  void handle(Dep dep, int n);
}
interface Customizer<T> {
  void customize(T t);
}
enum Kind { A, B;
  void ping() {}
}
class Route {
  void each(Consumer<Dep> c) {}
  void on(Handler h) {}
  Route with(Customizer<Dep> c) { return this; }
  Route and(BiFunction<String, ? super Dep, Integer> c) { return this; }
  Dep dep() { return null; }
}
class Made {
  Made(Consumer<Dep> c) {}
}
@Getter
class Lom {
  private Dep dep;
  private List<Dep> deps;
}
record Rec(
  Dep dep,
  List<Dep> deps
) {}
class More {
  void run(Route r, List<Route> routes, Lom l, Rec rec, Map<String, Dep> m, ExecutorService ex) throws Exception {
    r.each(d -> d.ping()); // 41
    r.on((d, n) -> d.ping()); // 42
    r.with(d -> d.ping()); // 43
    r.and((s, d) -> { d.ping(); return 1; }); // 44
    new Made(d -> d.ping()); // 45
    l.getDep().ping(); // 46
    l.getDeps().get(0).ping(); // 47
    rec.dep().ping(); // 48
    rec.deps().get(0).ping(); // 49
    routes.stream().map(Route::dep).forEach(d -> d.ping()); // 50
    routes.stream().map(x -> x.dep()).filter(d -> d != null).findFirst().get().ping(); // 51
    for (Dep d : routes.stream().map(x -> x.dep()).collect(Collectors.toList())) d.ping(); // 52
    routes.stream().collect(Collectors.toMap(x -> "", x -> x.dep())).get("").ping(); // 53
    m.values().stream().collect(Collectors.groupingBy(d -> 1)).get(1).get(0).ping(); // 54
    CompletableFuture<Dep> f = CompletableFuture.supplyAsync(() -> r.dep());
    f.thenAccept(d -> d.ping()); // 55
    f.join().ping(); // 56
    f.thenApply(d -> d).get().ping(); // 57
    CompletableFuture.supplyAsync(() -> r.dep()).thenAccept(d -> d.ping()); // 58
    var same = r.dep(); var also = same; also.ping(); // 59
    var t = m.isEmpty() ? r.dep() : null; t.ping(); // 60
    Handler h = (d, n) -> d.ping(); // 61
    Optional.of(r).map(Route::dep).orElse(null).ping(); // 62
    List.of(r.dep(), rec.dep()).get(0).ping(); // 63
    Objects.requireNonNull(r.dep()).ping(); // 64
    Callable<Dep> call = () -> null; call.call().ping(); // 65
    new ArrayList<>(m.values()).get(0).ping(); // 66
    Stream.of("a").map(s -> new Dep()).forEach(d -> d.ping()); // 67
    m.entrySet().stream().map(Map.Entry::getValue).forEach(d -> d.ping()); // 68
    m.entrySet().stream().map(e -> e.getValue()).forEach(d -> d.ping()); // 69
    routes.forEach(x -> x.dep().ping()); // 70
    Optional<Dep> o = routes.stream().map(Route::dep).findAny(); o.get().ping(); // 71
    for (Kind k : Kind.values()) k.ping(); // Kind
    Kind.valueOf("A").ping(); // Kind
    Arrays.stream(Kind.values()).forEach(k -> k.ping()); // Kind
  }
}
`,
};

/** The numbers at the ends of the lines that surely call the method. */
async function certain(name: string): Promise<number[]> {
  const lines = (await callersOf(FILES, name)).filter((each) => each.endsWith(" certain"));
  const numbers = lines.map((each) => {
    const [path = "", line] = each.replace(" certain", "").split(":");
    return Number(/\d+$/.exec(FILES[path]?.split("\n")[Number(line) - 1] ?? "")?.[0] ?? 0);
  });
  return numbers.toSorted((one, other) => one - other);
}

it("values of Java are followed through containers, streams, functions, futures, records and getters", async () => {
  const numbers = Array.from({ length: 71 }, (_, i) => i + 1);
  // A generic array is taken for the list that it may be; `Map.Entry` is no class of the repository.
  const unknown = new Set([27, 68]);
  expect(await certain("Dep.ping")).toEqual(numbers.filter((each) => !unknown.has(each)));
});

it("constants of enumerations are given by values() and valueOf()", async () => {
  expect(await certain("Kind.ping")).toHaveLength(3);
});

it("a type of the repository's own with the name of a container is none", async () => {
  const files = {
    "app/Dep.java": FILES["app/Dep.java"] ?? "",
    "app/List.java": `package app;
class List<T> {
  Other get(int at) {
    return null;
  }
  List<T> map(java.util.function.Function<T, T> by) {
    return this;
  }
}
`,
    "app/Run.java": `package app;
class Other {
  void ping() {}
}
class Run {
  void run(List<Dep> list) {
    list.get(0).ping();
    list.map(x -> new Dep()).get(1).ping();
  }
}
`,
  };
  expect(await callersOf(files, "Dep.ping")).toEqual([]);
  expect(await callersOf(files, "Other.ping")).toEqual(["app/Run.java:7 certain", "app/Run.java:8 certain"]);
});

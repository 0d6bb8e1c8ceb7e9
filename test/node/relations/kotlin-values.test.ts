import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES: Record<string, string> = {
  "app/Dep.kt": `package app
class Other {
  fun ping() {}
}
class Dep {
  fun ping() {}
  companion object {
    fun create(): Dep = Dep()
    fun of(n: Int) = Dep()
  }
}
data class Pair2(
  val dep: Dep,
  val n: Int
)
sealed class Res<out T> {
  data class Ok<T>(val value: T) : Res<T>()
  object Err : Res<Nothing>()
}
`,
  "app/Use.kt": `package app
class Use(private val list: List<Dep>, val byName: MutableMap<String, Dep>) {
  private val lazyDep by lazy { Dep() }
  lateinit var late: Dep
  var opt: Dep? = null
  val items = mutableListOf<Dep>()
  val made = listOf(Dep())
  val index = HashMap<String, Dep>()
  val paired = mapOf("a" to Dep())
  val get: Dep get() = late
  fun find(): Dep? = opt
  fun all() = list.filter { it != null }
  fun block(): Dep { return late }
  suspend fun load(): Dep = late
  fun each(f: (Dep) -> Unit) {}
  fun build(f: Dep.() -> Unit) {}
  fun run(k: String, o: Any, pair: Pair2, f: () -> Dep, seq: Sequence<Dep>, res: Res<Dep>) {
    byName[k]?.ping() // 1
    byName.getValue(k).ping() // 2
    for (d in list) d.ping() // 3
    for ((key, v) in byName) v.ping() // 4
    byName.forEach { (_, v) -> v.ping() } // 5
    byName.values.forEach { it.ping() } // 6
    list.filter { it != null }.forEach { it.ping() } // 7
    list.map { it }.first().ping() // 8
    list.forEach(Dep::ping) // 9
    opt?.let { it.ping() } // 10
    opt?.also { it.ping() }?.ping() // 11
    (opt ?: Dep()).ping() // 12
    val e = opt ?: return
    e.ping() // 13
    f().ping() // 14
    val (dep, n) = pair
    dep.ping() // 15
    if (o is Dep) o.ping() // 16
    when (o) { is Dep -> o.ping() } // 17
    byName.getOrPut(k) { Dep() }.ping() // 18
    val v = list[0]
    v.ping() // 19
    list.firstOrNull()?.ping() // 20
    list.first { it != null }.ping() // 21
    list.sortedBy { it.hashCode() }.last().ping() // 22
    list.associateBy { it.hashCode() }[1]?.ping() // 23
    list.groupBy { it.hashCode() }[1]!!.first().ping() // 24
    with(late) { ping() } // 25
    late.apply { ping() } // 26
    late.run { ping() } // 27
    val made2 = if (k == "") Dep() else Dep.create()
    made2.ping() // 28
    val chosen = when (k) { "a" -> Dep(); else -> Dep.create() }
    chosen.ping() // 29
    (o as Dep).ping() // 30
    (o as? Dep)?.ping() // 31
    lazyDep.ping() // 32
    items.first().ping() // 33
    made[0].ping() // 34
    index["a"]!!.ping() // 35
    paired["a"]!!.ping() // 36
    get.ping() // 37
    find()!!.ping() // 38
    all().first().ping() // 39
    block().ping() // 40
    each { it.ping() } // 41
    each { d -> d.ping() } // 42
    build { ping() } // 43
    Dep.of(1).ping() // 44
    listOf(Dep(), Dep()).forEach { it.ping() } // 45
    list.mapNotNull { it }.first().ping() // 46
    list.flatMap { listOf(it) }.first().ping() // 47
    list.zip(list).first().first.ping() // 48
    seq.toList().first().ping() // 49
    list.withIndex().forEach { (i, d) -> d.ping() } // 50
    list.forEachIndexed { i, d -> d.ping() } // 51
    list.maxByOrNull { 1 }?.ping() // 52
    requireNotNull(opt).ping() // 53
    checkNotNull(opt).ping() // 54
    runCatching { Dep() }.getOrNull()?.ping() // 55
    opt?.takeIf { true }?.ping() // 56
    val x = try { Dep() } catch (e: Exception) { return }
    x.ping() // 57
    arrayOf(Dep())[0].ping() // 58
    buildList { add(Dep()) }.first().ping() // 59
    list.map { pair.dep }.first().ping() // 60
    list.map { Pair2(it, 1) }.first().dep.ping() // 61
    pair.copy(n = 2).dep.ping() // 62
    pair.component1().ping() // 63
    when (res) { is Res.Ok -> res.value.ping(); else -> {} } // 64
    byName.entries.first().value.ping() // 65
    byName.map { it.value }.first().ping() // 66
    byName.mapValues { it.value }[k]?.ping() // 67
    byName.filterKeys { true }.values.first().ping() // 68
    list.any { it.ping(); true } // 69
    list.partition { true }.first.first().ping() // 70
    list.drop(1).take(1).single().ping() // 71
    list.plus(Dep()).first().ping() // 72
    list.getOrNull(1)?.ping() // 73
    list.getOrElse(1) { Dep() }.ping() // 74
    list.toMutableList().removeAt(0).ping() // 75
    list.onEach { it.ping() } // 76
    list.fold(1) { a, d -> d.ping(); a } // 77
    list.chunked(2).first().first().ping() // 78
    object { val d = Dep() }.d.ping() // 79
    opt!!.ping() // 80
  }
}
`,
};

it("values of Kotlin are followed through containers, scope functions, branches and destructuring", async () => {
  const lines = (await callersOf(FILES, "Dep.ping")).filter((each) => each.endsWith(" likely"));
  const text = (FILES["app/Use.kt"] ?? "").split("\n");
  const found = lines.map((each) => Number(/\d+$/.exec(text[Number(/:(\d+)/.exec(each)?.[1]) - 1] ?? "")?.[0]));
  // Pairs, builders, smart casts of generic types and members of anonymous objects are not followed.
  const unknown = new Set([48, 59, 64, 70, 79]);
  const numbers = Array.from({ length: 80 }, (_, i) => i + 1).filter((each) => !unknown.has(each));
  expect(found.toSorted((one, other) => one - other)).toEqual(numbers);
});

it("branches that give different types are not followed, nor what a block of several statements gives", async () => {
  const text = `package app
class Other {
  fun ping() {}
}
fun run(isFirst: Boolean) {
  val one = if (isFirst) Dep() else Other()
  one.ping()
  val two = if (isFirst) {
    val dep = Other()
    dep
  } else {
    Dep()
  }
  two.ping()
  val dep = Dep()
  val three = isFirst.let {
    val dep = Other()
    dep
  }
  three.ping()
}
`;
  const lines = await callersOf({ "app/Dep.kt": FILES["app/Dep.kt"] ?? "", "app/run.kt": text }, "Other.ping");
  expect(lines.filter((each) => each.endsWith(" likely"))).toEqual([]);
});

import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES: Record<string, string> = {
  "go.mod": "module example.com/app\n",
  "dep.go": `package app

import (
	"iter"
	"sync"
)

type Other struct{}

func (o *Other) Ping() {}

type Dep struct{}

func (d *Dep) Ping() {}

func NewDep() *Dep { return &Dep{} }

func Load() (*Dep, error) { return &Dep{}, nil }

type Box[T any] struct {
	item T
	all  []T
}

func (b *Box[T]) Get() T { return b.item }

func (b *Box[T]) Same() *Box[T] { return b }

func (b *Box[T]) All() []T { return b.all }

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func Map[T, U any](in []T, f func(T) U) []U { return nil }

func First[T any](in []T) T { return in[0] }

func NewBox[T any](v T) *Box[T] { return &Box[T]{item: v} }

type Handler func(d *Dep)

type Repo struct {
	deps  []*Dep
	named map[string]*Dep
	nest  map[string][]*Dep
	ch    chan *Dep
	make  func() *Dep
	once  sync.Once
}

func (r *Repo) Each(f func(*Dep)) {}

func (r *Repo) Find() (*Dep, bool) { return nil, false }

func (r *Repo) Seq() iter.Seq[*Dep] { return nil }
`,
  "use.go": `package app

import (
	"sync"
	"slices"
	"maps"
	"sync/atomic"
)

func use(r *Repo, b *Box[*Dep], p Pair[string, *Dep], f func() *Dep, h Handler, x any, list []*Dep) {
	r.deps[0].Ping() // 1
	for _, d := range r.deps { d.Ping() } // 2
	for _, d := range r.named { d.Ping() } // 3
	r.named["a"].Ping() // 4
	if d, ok := r.named["a"]; ok { d.Ping() } // 5
	r.nest["a"][0].Ping() // 6
	d7 := <-r.ch
	d7.Ping() // 7
	for d := range r.ch { d.Ping() } // 8
	r.make().Ping() // 9
	r.Each(func(d *Dep) { d.Ping() }) // 10
	if d, ok := r.Find(); ok { d.Ping() } // 11
	d12, err := Load()
	_ = err
	d12.Ping() // 12
	NewDep().Ping() // 13
	b.item.Ping() // 14
	b.Get().Ping() // 15
	b.all[0].Ping() // 16
	b.Same().Get().Ping() // 17
	for _, d := range b.All() { d.Ping() } // 18
	p.Val.Ping() // 19
	f().Ping() // 20
	d21 := f()
	d21.Ping() // 21
	if d, ok := x.(*Dep); ok { d.Ping() } // 22
	switch v := x.(type) { case *Dep: v.Ping() } // 23
	First(list).Ping() // 24
	NewBox(&Dep{}).Get().Ping() // 25
	bb := Box[*Dep]{}
	bb.Get().Ping() // 26
	(&Dep{}).Ping() // 27
	var d28 Dep
	d28.Ping() // 28
	var d29 *Dep = NewDep()
	d29.Ping() // 29
	new(Dep).Ping() // 30
	s := struct{ d *Dep }{d: NewDep()}
	s.d.Ping() // 31
	arr := []*Dep{{}, {}}
	arr[0].Ping() // 32
	m := map[string]*Dep{"a": {}}
	m["a"].Ping() // 33
	for _, d := range []*Dep{NewDep()} { d.Ping() } // 34
	list[len(list)-1].Ping() // 35
	list[1:][0].Ping() // 36
	mk := func() *Dep { return &Dep{} }
	mk().Ping() // 37
	defer NewDep().Ping() // 38
	go NewDep().Ping() // 39
	var once sync.Once
	once.Do(func() { d28.Ping() }) // 40
	slices.SortFunc(list, func(a, b *Dep) int { a.Ping(); return 0 }) // 41
	for _, d := range slices.Sorted(maps.Values(r.named)) { d.Ping() } // 42
	for d := range r.Seq() { d.Ping() } // 43
	ptr := &list[0]
	(*ptr).Ping() // 44
	if d := NewDep(); d != nil { d.Ping() } // 45
	table := []struct{ name string; dep *Dep }{{"a", NewDep()}}
	for _, tc := range table { tc.dep.Ping() } // 46
	d47 := Map(list, func(d *Dep) *Dep { return d })[0]
	d47.Ping() // 47
	hh := Handler(func(d *Dep) { d.Ping() }) // 48
	hh(nil)
	a, c := NewDep(), NewDep()
	a.Ping() // 49
	c.Ping() // 50
	slices.Clone(list)[0].Ping() // 51
	min := func(d *Dep) *Dep { return d }(NewDep())
	min.Ping() // 52
	var iface interface{ Ping() } = NewDep()
	iface.Ping()
	var atom atomic.Pointer[Dep]
	atom.Load().Ping() // 53
	pool := sync.Pool{New: func() any { return NewDep() }}
	pool.Get().(*Dep).Ping() // 54
}
`,
};

it("values of Go go through generic types, functions, anonymous structures and the library", async () => {
  const lines = (await callersOf(FILES, "Dep.Ping")).filter((each) => each.endsWith(" certain"));
  const text = (FILES["use.go"] ?? "").split("\n");
  const found = lines.map((each) => Number(/\d+$/.exec(text[Number(/:(\d+)/.exec(each)?.[1]) - 1] ?? "")?.[0]));
  // What a function gives whose type parameters follow from its arguments is not known.
  const unknown = new Set([24, 25, 47]);
  const numbers = Array.from({ length: 54 }, (_, i) => i + 1).filter((each) => !unknown.has(each));
  expect(found.toSorted((one, other) => one - other)).toEqual(numbers);
});

it("a type parameter of a receiver is that of the type, whatever its name", async () => {
  const files = {
    ...FILES,
    "two.go": `package app

type Two[A, B any] struct {
	first  A
	second B
}

func (t *Two[X, Y]) First() X  { return t.first }
func (t *Two[X, Y]) Second() Y { return t.second }

func two(t *Two[*Other, *Dep]) {
	t.First().Ping()
	t.Second().Ping()
	t.second.Ping()
}
`,
  };
  const lines = (await callersOf(files, "Dep.Ping")).filter((each) => each.startsWith("two.go"));
  expect(lines).toEqual(["two.go:13 certain", "two.go:14 certain"]);
});

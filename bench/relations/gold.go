// Prints the calls of a checkout as go/types resolves them: path, line, name, path and line of the definition; tabs between.
// "dispatch" instead of a definition: the method of an interface. "-": not a definition of the checkout.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	pathpkg "path"
	"path/filepath"
	"sort"
	"strings"
)

var root string

// Folders of modules, by the paths that their go.mod states.
var modules = map[string]string{}
var fset = token.NewFileSet()
var known = map[string]*types.Package{}
var standard = importer.ForCompiler(fset, "source", nil)
var out = bufio.NewWriter(os.Stdout)

type own struct{}

func (own) Import(path string) (*types.Package, error) {
	for prefix := path; prefix != "."; prefix = pathpkg.Dir(prefix) {
		if folder, isOwn := modules[prefix]; isOwn {
			if p := known[path]; p != nil {
				return p, nil
			}
			return check(filepath.Join(folder, strings.TrimPrefix(path, prefix)), path, false), nil
		}
	}
	if strings.Contains(strings.Split(path, "/")[0], ".") {
		return nil, fmt.Errorf("not here: %s", path)
	}
	return standard.Import(path)
}

func place(pos token.Pos) (string, int) {
	p := fset.Position(pos)
	rel, _ := filepath.Rel(root, p.Filename)
	return rel, p.Line
}

// check reads the files of a folder that go build would take; with tests, also those.
func check(dir, path string, tests bool) *types.Package {
	pkgs := map[string][]*ast.File{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || (!tests && strings.HasSuffix(e.Name(), "_test.go")) {
			continue
		}
		if ok, err := build.Default.MatchFile(dir, e.Name()); err != nil || !ok {
			continue
		}
		f, _ := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if f != nil {
			pkgs[f.Name.Name] = append(pkgs[f.Name.Name], f)
		}
	}
	var names []string
	for name := range pkgs {
		names = append(names, name)
	}
	sort.Strings(names)
	var first *types.Package
	for _, name := range names {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: own{}, Error: func(error) {}, FakeImportC: true}
		own := path
		if strings.HasSuffix(name, "_test") {
			own = path + "_test"
		}
		p, _ := config.Check(own, fset, pkgs[name], info)
		if !tests && !strings.HasSuffix(name, "_test") && name != "main" || first == nil {
			first = p
		}
		if tests {
			for _, f := range pkgs[name] {
				calls(f, info)
			}
		}
	}
	if !tests {
		known[path] = first
	}
	return first
}

func calls(f *ast.File, info *types.Info) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun := call.Fun
		for {
			switch x := fun.(type) {
			case *ast.ParenExpr:
				fun = x.X
				continue
			case *ast.IndexExpr:
				fun = x.X
				continue
			case *ast.IndexListExpr:
				fun = x.X
				continue
			}
			break
		}
		var id *ast.Ident
		switch x := fun.(type) {
		case *ast.Ident:
			id = x
		case *ast.SelectorExpr:
			id = x.Sel
		}
		if id == nil {
			return true
		}
		at, line := place(id.Pos())
		to := "-\t0"
		obj := info.Uses[id]
		if obj == nil {
			return true
		}
		if obj.Pos().IsValid() {
			rel, l := place(obj.Pos())
			if !strings.HasPrefix(rel, "..") {
				to = fmt.Sprintf("%s\t%d", rel, l)
			}
		}
		if v, ok := obj.(*types.Var); ok && !v.IsField() && v.Parent() != nil && v.Pkg() != nil && v.Parent() != v.Pkg().Scope() {
			to = "-\t0"
		}
		if fn, ok := obj.(*types.Func); ok {
			if recv := fn.Type().(*types.Signature).Recv(); recv != nil && types.IsInterface(recv.Type()) {
				to = "dispatch\t0"
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%s\t%s\n", at, line, id.Name, to)
		return true
	})
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	defer out.Flush()
	folders := []string{}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.IsDir() {
			return nil
		}
		if name := info.Name(); path != root && (strings.HasPrefix(name, ".") || name == "vendor" || name == "testdata") {
			return filepath.SkipDir
		}
		folders = append(folders, path)
		data, _ := os.ReadFile(filepath.Join(path, "go.mod"))
		for _, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "module ") {
				modules[strings.Trim(strings.TrimSpace(line[7:]), "\"")] = path
			}
		}
		return nil
	})
	for _, folder := range folders {
		check(folder, packagePath(folder), true)
	}
}

// packagePath is the path by which the package of a folder is imported: that of the nearest module above it, and the folders between.
func packagePath(folder string) string {
	best, path := "", ""
	for module, at := range modules {
		if (folder == at || strings.HasPrefix(folder, at+string(filepath.Separator))) && len(at) >= len(best) {
			best, path = at, module+filepath.ToSlash(strings.TrimPrefix(folder, at))
		}
	}
	if path == "" {
		rel, _ := filepath.Rel(root, folder)
		return filepath.ToSlash(rel)
	}
	return path
}

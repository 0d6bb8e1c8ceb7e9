import { describe, expect, it } from "vitest";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { indexOf } from "./support.ts";

async function importers(files: Readonly<Record<string, string>>, path: string): Promise<string[]> {
  const found = await importersOf(await indexOf(files), path);
  return found.map(({ path: own, line, certainty }) => `${own}:${line} ${certainty}`);
}

describe("importers of a file that imports do not name from where they stand", () => {
  it("are found for headers of C and C++, the nearest of those with the path", async () => {
    const files = {
      "include/fmt/format.h": "int format(void);\n",
      "src/a.cc": '#include "fmt/format.h"\n#include <vector>\nint a;\n',
      "src/format.h": "int other(void);\n",
      "src/b.c": '#include "format.h"\n',
      "test/c.c": '#include "../src/format.h"\n',
      "deps/x/format.h": "int x(void);\n",
      "deps/x/src/d.c": '#include "format.h"\n#include <time.h>\n',
      "compat/time.h": "",
      "compat/e.c": '#include "time.h"\n',
    };
    expect(await importers(files, "include/fmt/format.h")).toEqual(["src/a.cc:1 likely"]);
    expect(await importers(files, "src/format.h")).toEqual(["src/b.c:1 certain", "test/c.c:1 certain"]);
    expect(await importers(files, "compat/time.h")).toEqual(["compat/e.c:1 certain"]);
    expect(await importers(files, "deps/x/format.h")).toEqual(["deps/x/src/d.c:1 likely"]);
  });

  it("are found for scripts of Ruby, PHP, Lua, shell, Dart and Zig", async () => {
    const ruby = {
      "lib/rack/utils.rb": "module Rack\nend\n",
      "lib/rack/a.rb": 'require_relative "utils"\nrequire "json"\n',
      "lib/rack/json.rb": "module Rack\nend\n",
      "lib/rack.rb": 'require "rack/utils"\nrequire "json"\nautoload :Utils, "rack/utils"\n',
      "other/utils.rb": "",
    };
    expect(await importers(ruby, "lib/rack/utils.rb")).toEqual([
      "lib/rack.rb:1 likely",
      "lib/rack.rb:3 likely",
      "lib/rack/a.rb:1 certain",
    ]);
    expect(await importers(ruby, "lib/rack/json.rb")).toEqual([]);
    const others = {
      "lib/x.php": "<?php\nfunction x() {}\n",
      "src/a.php": "<?php\nrequire __DIR__ . '/../lib/x.php';\n",
      "lua/tool/init.lua": "return {}\n",
      "lua/b.lua": 'local tool = require "tool"\nlocal other = require "other.tool"\n',
      "bin/run.sh": '. "$DIR/common.sh"\nsource "$(dirname "$0")/common.sh"\n. /etc/common.sh.d/x\n',
      "bin/common.sh": "say() { echo; }\n",
      "pkgs/http/lib/http.dart": "export 'src/client.dart';\n",
      "pkgs/http/lib/src/client.dart":
        "import '../http.dart';\nimport 'package:http/http.dart' as http;\nimport 'package:other/http.dart';\n",
      "zig/a.zig": 'const std = @import("std");\nconst b = @import("in/b.zig");\n',
      "zig/in/b.zig": "pub fn b() void {}\n",
    };
    expect(await importers(others, "lib/x.php")).toEqual(["src/a.php:2 certain"]);
    expect(await importers(others, "lua/tool/init.lua")).toEqual(["lua/b.lua:1 likely"]);
    expect(await importers(others, "bin/common.sh")).toEqual(["bin/run.sh:1 likely", "bin/run.sh:2 likely"]);
    expect(await importers(others, "pkgs/http/lib/src/client.dart")).toEqual(["pkgs/http/lib/http.dart:1 certain"]);
    expect(await importers(others, "pkgs/http/lib/http.dart")).toEqual([
      "pkgs/http/lib/src/client.dart:1 certain",
      "pkgs/http/lib/src/client.dart:2 likely",
    ]);
    const dart = { "lib/a.dart": "", "bin/b.dart": "import 'package:own/a.dart';\nimport 'package:own/b.dart';\n" };
    expect(await importers(dart, "lib/a.dart")).toEqual(["bin/b.dart:1 likely"]);
    expect(await importers(others, "zig/in/b.zig")).toEqual(["zig/a.zig:2 certain"]);
  });

  it("are found by the names of modules and classes of Elixir and Scala", async () => {
    const files = {
      "lib/shop/http_server.ex": "defmodule Shop.HTTPServer do\nend\n",
      "lib/shop.ex": "defmodule Shop do\n  alias Shop.HTTPServer\n  alias Shop.{Other, HTTPServer}\nend\n",
      "test/a_test.exs": "defmodule ATest do\n  alias HTTPServer\nend\n",
      "core/src/main/scala/org/shop/Cart.scala": "package org.shop\nclass Cart\n",
      "cli/src/main/scala/org/Main.scala":
        "package org\nimport org.shop.{Cart, Item}\nimport org.shop.Item\nobject Main\n",
    };
    expect(await importers(files, "lib/shop/http_server.ex")).toEqual(["lib/shop.ex:2 likely", "lib/shop.ex:3 likely"]);
    expect(await importers(files, "core/src/main/scala/org/shop/Cart.scala")).toEqual([
      "cli/src/main/scala/org/Main.scala:2 likely",
    ]);
  });

  it("are found by the packages of Java, Kotlin, C#, PHP and Go; whole packages only where the file's names are used", async () => {
    const files = {
      "jvm/a/b/Pool.java": "package a.b;\npublic class Pool {\n  public static class Inner {}\n}\n",
      "jvm/c/One.java": "package c;\nimport a.b.Pool;\nimport a.b.Pool.Inner;\nimport other.Pool;\nclass One {}\n",
      "jvm/c/Two.kt": "package c\nimport a.b.*\nclass Two(val pool: Pool)\n",
      "jvm/c/Three.kt": "package c\nimport a.b.*\nclass Three\n",
      "net/Store.cs": "namespace Shop.Data { public class Store {} }\n",
      "net/Use.cs": "using Shop.Data;\nnamespace Shop { class Use { Store store; } }\n",
      "net/None.cs": "using Shop.Data;\nnamespace Shop { class None { } }\n",
      "php/Utils.php": "<?php\nnamespace Guzzle;\nclass Utils {}\n",
      "php/A.php": "<?php\nnamespace Guzzle\\A;\nuse Guzzle\\Utils;\nuse Other\\Utils as Others;\n",
      "doc/man.go": "package doc\nfunc GenMan() {}\n",
      "main.go": 'package main\nimport "github.com/o/cobra/doc"\nfunc main() { doc.GenMan() }\n',
    };
    expect(await importers(files, "jvm/a/b/Pool.java")).toEqual([
      "jvm/c/One.java:2 certain",
      "jvm/c/One.java:3 certain",
      "jvm/c/Two.kt:2 likely",
    ]);
    expect(await importers(files, "net/Store.cs")).toEqual(["net/Use.cs:1 likely"]);
    expect(await importers(files, "php/Utils.php")).toEqual(["php/A.php:3 certain"]);
    expect(await importers(files, "doc/man.go")).toEqual(["main.go:2 likely"]);
  });
});

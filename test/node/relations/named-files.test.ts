import { expect, it } from "vitest";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { namesFile } from "../../../src/interface/questions/relations/named-files.ts";
import { indexOf } from "./support.ts";

const FILES = {
  "app/views/items/_item.html.erb": "<b></b>\n",
  "app/views/items/index.html.erb": '<%= render "items/item" %>\n<%= render "others/item" %>\n',
  "app/controllers/items.rb": 'render partial: "items/item"\nrender "items/items"\n',
  "resources/views/shop/price.blade.php": "<b></b>\n",
  "app/shop.php": "<?php\nview('shop.price');\nview('shop.prices');\n",
  "templates/shop/list.html": "<b></b>\n",
  "templates/shop/page.html": '{% include "shop/list.html" %}\n{% include "list.html" %}\n',
  "scripts/build.sh": "echo\n",
  ".github/workflows/ci.yml": "run: ./scripts/build.sh --all\n",
  "README.md": "Run `build.sh`, or scripts/build.sh.\nDo not rebuild.sh\n",
  "modules/network/main.tf": 'resource "a" "b" {}\n',
  "examples/full/main.tf": 'module "n" {\n  source = "../../modules/network"\n  other  = "network"\n}\n',
  "roles/etcd/tasks/main.yml": "- name: etcd\n",
  "cluster.yml":
    "- roles:\n    - { role: etcd, tags: etcd }\n    - etcd\n- include_role:\n    name: etcd\n- name: etcd\n",
  "a/data.json": "{}\n",
  "b/data.json": "{}\n",
  "a/read.py": 'open("data.json")\nopen("b/data.json")\n',
};

it.each([
  ["app/views/items/_item.html.erb", ["app/controllers/items.rb:1", "app/views/items/index.html.erb:1"]],
  ["resources/views/shop/price.blade.php", ["app/shop.php:2"]],
  ["templates/shop/list.html", ["templates/shop/page.html:1", "templates/shop/page.html:2"]],
  ["scripts/build.sh", [".github/workflows/ci.yml:1", "README.md:1"]],
  ["modules/network", ["examples/full/main.tf:2"]],
  ["roles/etcd", ["cluster.yml:2", "cluster.yml:3"]],
  ["a/data.json", ["a/read.py:1"]],
  ["b/data.json", ["a/read.py:2"]],
])("%s is named by its path", async (path, lines) => {
  const found = await importersOf(await indexOf(FILES), path);
  expect(found.map((use) => `${use.path}:${use.line}`).sort()).toEqual(lines);
  expect(found.every(({ certainty }) => certainty === "name")).toBe(true);
});

it("is looked for in linear time", () => {
  for (const text of ["item".repeat(20_000), "item/".repeat(20_000), "item.".repeat(20_000)])
    expect(namesFile(text, "item", { path: "a/item.html", isBare: true })).toBe(false);
});

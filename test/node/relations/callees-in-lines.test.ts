import { expect, it } from "vitest";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { callersIn, indexOf } from "./support.ts";

async function calleesOf(files: Record<string, string>, name: string, depth = 1): Promise<string[]> {
  const uses = await indexOf(files);
  const definitions = await uses.described(await uses.definitions(name));
  const found = await new CalleesFinder(uses).find(definitions, depth);
  return found.map(
    ({ line, certainty, target, distance }) => `${line} ${certainty} ${target?.qualifiedName ?? "?"} ${distance}`,
  );
}

it("callees in languages without a grammar are what the lines of a definition name", async () => {
  const haskell = {
    "A.hs":
      'module A where\n\n-- | Calls parseLine.\nrunAll :: Int -> Int\nrunAll n = do\n  -- readFile comes first\n  show (parseLine n) `seq` size "formatLine"\n\nparseLine :: Int -> Int\nparseLine n = formatLine n\n',
    "B.hs": "module B where\n\nformatLine :: Int -> Int\nformatLine n = n\n\nsize :: Int -> Int\nsize n = n\n",
  };
  expect(await calleesOf(haskell, "runAll", 2)).toEqual([
    "7 likely parseLine 1",
    "7 name ? 1",
    "10 likely formatLine 2",
  ]);
  const lisp = {
    "a.el": "(defun shop-open (x)\n  (shop-check x)\n  (message x))\n",
    "b.el": "(defun shop-check (x) x)\n",
  };
  expect(await calleesOf(lisp, "shop-open")).toEqual(["2 likely shop-check 1"]);
  const sql = {
    "m.sql":
      "{% macro cents_of(a) %}\n  {{ round_up(a) }}\n{% endmacro %}\n\n{% macro round_up(a) %}\n{% endmacro %}\n",
  };
  expect(await calleesOf(sql, "cents_of")).toEqual(["2 name ? 1"]);
});

it("callees of data are an error that says so", async () => {
  await expect(calleesOf({ "a.yaml": "key: 1\n" }, "key")).rejects.toThrow(
    /relation: callees are those of code: a.yaml is yaml/,
  );
});

it("callees of a name that a heading has too are those of the code", async () => {
  const files = {
    "README.md": "# pay_all\n",
    "a.sql": "create procedure pay_all() begin\n  call pay_one(1);\nend;\ncreate procedure pay_one(a int) select 1;\n",
  };
  expect(await calleesOf(files, "pay_all")).toEqual(["2 name ? 1"]);
});

it("types of GraphQL and Protocol Buffers have the lines that use them", async () => {
  const files = {
    "a.graphql":
      "interface Node { id: ID! }\ntype UserItem implements Node {\n  friends: [UserItem!]!\n}\nunion Any = UserItem | Other\n# UserItem: not\nquery Q {\n  any {\n    ...on UserItem { id }\n    ...userFields\n  }\n}\nfragment userFields on UserItem {\n  UserItem\n}\n",
    "b.proto":
      "message OrderLine {}\nmessage Order {\n  repeated OrderLine lines = 1; // OrderLine\n  map<string, OrderLine> by_id = 2;\n  string OrderLine = 3;\n}\nservice S {\n  rpc Get(stream OrderLine) returns (Order);\n}\n",
  };
  expect(await callersIn(files, ["Node", "UserItem", "userFields", "OrderLine"])).toEqual({
    Node: ["a.graphql:2 name"],
    UserItem: ["a.graphql:13 likely", "a.graphql:3 likely", "a.graphql:5 likely", "a.graphql:9 likely"],
    userFields: ["a.graphql:10 likely"],
    OrderLine: ["b.proto:3 likely", "b.proto:4 likely", "b.proto:8 likely"],
  });
});

it("names of Terraform are those of their folder, but for outputs of modules", async () => {
  const files = {
    "main.tf":
      'variable "name" {}\nresource "aws_vpc" "this" {\n  tags = var.name\n}\nlocals {\n  id = module.net.id\n}\n',
    "net/main.tf":
      'variable "name" {}\nresource "aws_vpc" "this" {\n  tags = var.name\n}\noutput "id" {\n  value = aws_vpc.this.id\n}\n',
    "net/tests/a.tftest.hcl": "run a {\n  assert {\n    condition = var.name == 1\n  }\n}\n",
    "empty/main.tf": "locals {\n  n = var.name\n}\n",
  };
  expect(await callersIn(files, ["name", "aws_vpc.this", "id"])).toEqual({
    name: ["main.tf:3 likely", "net/main.tf:3 likely", "net/tests/a.tftest.hcl:3 likely"],
    "aws_vpc.this": ["net/main.tf:6 likely"],
    id: ["main.tf:6 name"],
  });
  const vpcs = await calleesOf({ "main.tf": files["main.tf"], "net/main.tf": files["net/main.tf"] }, "this");
  expect(vpcs).toEqual(["3 likely name 1", "3 likely name 1"]);
});

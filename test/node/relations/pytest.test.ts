import { describe, expect, it } from "vitest";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { callsIn, indexOf } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

const KIT = lines(
  "class Client:", // 1
  "    def get(self): pass",
  "class Server:",
  "    def get(self): pass",
);
const CONFTEST = lines(
  "import pytest", // 1
  "from typing import Iterator",
  "from kit import Client, Server",
  "@pytest.fixture",
  "def client(server) -> Client:", // 5
  "    return Client()",
  "@pytest.fixture(scope='session', name='server')",
  "def _server() -> Iterator[Server]:", // 8
  "    yield Server()",
  "@pytest.fixture()",
  "def plain():", // 11
  "    yield Client()",
);

const files = (test: string, more: Record<string, string> = {}): Record<string, string> => ({
  "kit.py": KIT,
  "tests/conftest.py": CONFTEST,
  "tests/sub/test_app.py": test,
  ...more,
});

const uses = (test: string, more?: Record<string, string>): Promise<string[]> =>
  callsIn(files(test, more), "tests/sub/test_app.py");

describe("fixtures of pytest", () => {
  it("leads parameters of tests and fixtures to the nearest fixture, and their members to its value", async () => {
    expect(
      await uses(
        lines(
          "def test_a(client, server, plain, request, *args, **server_):",
          "    client.get()",
          "    server.get()",
          "    plain.get()",
          "    request.get()",
          "def helper(client): client.get()",
          "def test_b(client: Other, server=None): client.get()",
        ),
      ),
    ).toEqual([
      "client@1 → tests/conftest.py:5",
      "server@1 → tests/conftest.py:8",
      "plain@1 → tests/conftest.py:11",
      "request@1 → none",
      "get@2 → kit.py:2",
      "get@3 → kit.py:4",
      "get@4 → kit.py:2",
      "get@5 → unknown",
      "get@6 → unknown",
      "client@7 → tests/conftest.py:5",
      "get@7 → unknown",
    ]);
    expect(await callsIn(files(""), "tests/conftest.py")).toContain("server@5 → tests/conftest.py:8");
  });

  it("takes fixtures of a class and its bases, of the file, and of what it imports before those of conftest.py", async () => {
    const text = lines(
      "from pytest import fixture", // 1
      "from more import client, plain as other",
      "class Base:",
      "    @fixture",
      "    def server(self, server): return server",
      "class TestA(Base):",
      "    def test_a(self, server, client): pass", // 7
      "    @staticmethod",
      "    def test_b(other): pass",
      "class Other:",
      "    def test_a(self, server): pass",
      "class SharedTests:",
      "    def test_a(self, server): pass",
      "@fixture",
      "def plain(plain): return plain", // 15
      "def test_c(plain, server): pass",
      "def outer():",
      "    def test_d(plain): pass",
    );
    const more = { "tests/sub/more.py": "import pytest\n@pytest.fixture\ndef client(): pass\ndef plain(): pass\n" };
    const found = await uses(text, more);
    expect(found.filter((each) => !/^(?:fixture|Base|staticmethod)@/.test(each))).toEqual([
      "server@5 → tests/conftest.py:8",
      "server@7 → tests/sub/test_app.py:5",
      "client@7 → tests/sub/more.py:3",
      "other@9 → none",
      "server@13 → tests/conftest.py:8",
      "plain@15 → tests/conftest.py:11",
      "plain@16 → tests/sub/test_app.py:15",
      "server@16 → tests/conftest.py:8",
    ]);
  });

  it("leaves out parameters that decorators give values", async () => {
    const text = lines(
      "import pytest",
      "from unittest import mock",
      "@pytest.mark.parametrize('client, plain', [(1, 2)])",
      "def test_a(client, plain, server): pass",
      "@pytest.mark.parametrize(['client'], [1], indirect=True)",
      "def test_b(client): pass",
      "@pytest.mark.parametrize(NAMES, [1])",
      "def test_c(client): pass",
      "@mock.patch('kit.Client')",
      "def test_d(client, plain): pass",
      "@given(client=1)",
      "def test_e(client, plain): pass",
      "@pytest.mark.parametrize(('client', 'server'), [])",
      "class TestA:",
      "    def test_f(self, client, plain): pass",
    );
    const found = await uses(text);
    expect(found.filter((each) => /^(?:client|server|plain)@/.test(each))).toEqual([
      "server@4 → tests/conftest.py:8",
      "client@6 → tests/conftest.py:5",
      "plain@10 → tests/conftest.py:11",
      "plain@12 → tests/conftest.py:11",
      "plain@15 → tests/conftest.py:11",
    ]);
  });

  it("knows fixtures that are named in strings, and those of plugins", async () => {
    const text = lines(
      "import pytest",
      "@pytest.mark.usefixtures('client', 'there')",
      "def test_a(request, there):",
      "    request.getfixturevalue('server')",
      "    there.get()",
    );
    const more = {
      "conftest.py": "pytest_plugins = ['plug.in']\n",
      "plug/in.py": "import pytest\nfrom kit import Client\n@pytest.fixture\ndef there() -> Client: pass\n",
    };
    const found = await uses(text, more);
    expect(found.filter((each) => !/^(?:usefixtures|getfixturevalue)@/.test(each))).toEqual([
      "client@2 → tests/conftest.py:5",
      "there@2 → plug/in.py:4",
      "request@3 → none",
      "there@3 → plug/in.py:4",
      "server@4 → tests/conftest.py:8",
      "get@5 → kit.py:2",
    ]);
  });

  it("names the tests that get a fixture as its callers, also by another name", async () => {
    const index = await indexOf(files("def test_a(server, client): pass\n"));
    const [server] = await index.definitions("_server");
    const [client] = await index.definitions("client");
    const finder = new UsesFinder(index, "callers");
    const found = await finder.find(
      [server, client].flatMap((each) => each ?? []),
      2,
    );
    expect(found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`).sort()).toEqual([
      "tests/conftest.py:5 certain",
      "tests/sub/test_app.py:1 certain",
      "tests/sub/test_app.py:1 certain",
    ]);
  });
});

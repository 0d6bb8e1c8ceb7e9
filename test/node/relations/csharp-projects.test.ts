import { describe, expect, it } from "vitest";
import { globalUsings, KnownProjects } from "../../../src/engines/relations/csharp-projects.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { indexOf } from "./support.ts";

const CORE = "namespace Acme.Core;\npublic class Client {\n  public void Send() { }\n}\n";
/** Without a directive of its own. */
const USER = "namespace Acme.App;\npublic class User {\n  public void Run(Client client) { client.Send(); }\n}\n";

async function callersOfSend(files: Record<string, string>): Promise<string[]> {
  const index = await indexOf({ "core/Client.cs": CORE, "core/Core.csproj": "<Project />", ...files });
  const found = await new UsesFinder(index, "callers").find(await index.definitions("Send"), 1);
  return found.map(({ path, certainty }) => `${path} ${certainty}`);
}

describe("the namespaces that a project of C# uses", () => {
  it.each([
    ["a `global using`", { "app/GlobalUsings.cs": "global using System;\nglobal using global::Acme.Core;\n" }],
    [
      "`Using` in the project",
      {
        "app/App.csproj":
          '<Project><ItemGroup>\n<Using Include="System; Acme.Core" />\n<Using Remove="X" /></ItemGroup></Project>',
      },
    ],
    [
      "`Using` in a file of the folders above",
      { "Directory.Build.props": '<Project><Using Include="Acme.Core" /></Project>' },
    ],
  ])("are known by %s", async (_, files: Record<string, string>) => {
    expect(await callersOfSend({ "app/src/User.cs": USER, "app/App.csproj": "<Project />", ...files })).toEqual([
      "app/src/User.cs certain",
    ]);
  });

  it("are not those of other projects, of types, or of files without a project", async () => {
    const files = {
      "app/User.cs": USER,
      "app/App.csproj": '<Project><Using Include="Acme.Core" Static="true" /></Project>',
    };
    const byName = ["app/User.cs name"];
    expect(await callersOfSend(files)).toEqual(byName);
    expect(await callersOfSend({ ...files, "app/GlobalUsings.cs": "using Acme.Core;\n" })).toEqual(byName);
    expect(
      await callersOfSend({
        ...files,
        "app/inner/In.csproj": "<Project />",
        "app/inner/Usings.cs": "global using Acme.Core;\n",
      }),
    ).toEqual(byName);
    expect(await callersOfSend({ "app/User.cs": USER, "app/Usings.cs": "global using Acme.Core;\n" })).toEqual(byName);
  });

  it("are read once for a project, and of hostile files in bounded time", async () => {
    let reads = 0;
    const text = `${"<Using ".repeat(20_000)}<Using Include="${"A;".repeat(2_000)}B"/>`;
    const files = {
      paths: ["a/a.csproj"],
      has: () => false,
      textsOf: (paths: readonly string[]) => {
        reads++;
        return Promise.resolve(paths.map(() => text));
      },
      uses: () => Promise.resolve(undefined),
    };
    const known = new KnownProjects();
    for (const path of ["a/b.cs", "a/c/d.cs"]) expect(await globalUsings(files, known, path)).toEqual(["A", "B"]);
    expect(reads).toBe(1);
  });
});

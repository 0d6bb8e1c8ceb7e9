import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fetchClient, isClientAddress } from "../../../src/service/oauth/client-metadata.ts";
import { serverMetadata } from "../../../src/service/oauth/addresses.ts";

const ID = "https://agent.example.com/client.json";
const ENV = { GIT_ALLOW_LOCAL: "false", GIT_HOSTS: "" };
const DESCRIPTION = { client_id: ID, client_name: "Agent", redirect_uris: ["https://agent.example.com/callback"] };

/** Answers every address with `answer` and notes which were asked for. */
function network(answer: () => Response): { asked: string[]; fetcher: typeof fetch } {
  const asked: string[] = [];
  const fetcher: typeof fetch = async (input) => {
    asked.push(input instanceof Request ? input.url : input.toString());
    return answer();
  };
  return { asked, fetcher };
}

const described = (more: object = {}) => network(() => Response.json({ ...DESCRIPTION, ...more }));

describe("descriptions of clients", () => {
  it("make a public client", async () => {
    expect(await fetchClient(ID, ENV, described().fetcher)).toMatchObject({
      clientId: ID,
      clientName: "Agent",
      redirectUris: DESCRIPTION.redirect_uris,
      tokenEndpointAuthMethod: "none",
    });
    const methods = { token_endpoint_auth_methods_supported: ["private_key_jwt", "none"] };
    expect(await fetchClient(ID, ENV, described(methods).fetcher)).not.toBeNull();
  });

  it.each([
    "http://agent.example.com/client.json",
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://2130706433/client.json",
    "https://0x7f.1/client.json",
    "https://localhost/client.json",
    "https://metadata.google.internal/client.json",
    "https://10.0.0.1.nip.io/client.json",
    "https://agent.example.com:8443/client.json",
    "https://user:secret@agent.example.com/client.json",
    "https://agent.example.com/client.json#part",
    "https://agent.example.com/",
    "https://agent.example.com/a/../client.json",
    "https://AGENT.example.com/client.json",
    `https://agent.example.com/${"x".repeat(2_000)}`,
  ])("are not fetched from %s", async (id) => {
    const { asked, fetcher } = described({ client_id: id });
    expect(await fetchClient(id, ENV, fetcher)).toBeNull();
    expect(asked).toEqual([]);
  });

  it("are not fetched at all where only listed hosts may be reached, and are not offered there", async () => {
    const env = { ...ENV, GIT_HOSTS: "git.example.com" };
    const { asked, fetcher } = described();
    expect(await fetchClient(ID, env, fetcher)).toBeNull();
    expect(asked).toEqual([]);
    expect(serverMetadata("https://code.example.com", env)["client_id_metadata_document_supported"]).toBe(false);
    expect(serverMetadata("https://code.example.com", ENV)["client_id_metadata_document_supported"]).toBe(true);
  });

  it.each<[string, () => Response]>([
    ["of another client", () => Response.json({ ...DESCRIPTION, client_id: `${ID}x` })],
    ["without a name", () => Response.json({ ...DESCRIPTION, client_name: " " })],
    ["without redirects", () => Response.json({ ...DESCRIPTION, redirect_uris: [] })],
    [
      "with too many redirects",
      () => Response.json({ ...DESCRIPTION, redirect_uris: Array(51).fill("https://a.example/") }),
    ],
    [
      "of a client with a secret",
      () => Response.json({ ...DESCRIPTION, token_endpoint_auth_method: "private_key_jwt" }),
    ],
    ["that is too large", () => Response.json({ ...DESCRIPTION, padding: "x".repeat(20_000) })],
    ["that is no JSON", () => new Response("<html>")],
    ["that is no UTF-8", () => new Response(new Uint8Array([0x22, 0xff, 0x22]))],
    ["at another address", () => new Response(null, { status: 302, headers: { Location: "https://10.0.0.1/" } })],
    ["that is missing", () => new Response("{}", { status: 404 })],
  ])("are refused: one %s", async (_name, answer) => {
    const { asked, fetcher } = network(answer);
    expect(await fetchClient(ID, ENV, fetcher)).toBeNull();
    expect(asked).toEqual([ID]);
  });

  it("of any content never throw", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string(), async (value, id) => {
        const { fetcher } = network(() => Response.json(value));
        expect(await fetchClient(ID, ENV, fetcher)).toBeNull();
        expect(isClientAddress(id) ? await fetchClient(id, ENV, fetcher) : null).toBeNull();
      }),
      { numRuns: 100 },
    );
  });
});

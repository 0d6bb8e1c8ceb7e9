/** Git's post-receive hook of `push-server.ts`: reports each pushed ref to the hook whose settings the first argument names. */
import { readFileSync } from "node:fs";
import { PAYLOADS, signHook } from "./hook-payloads.ts";
import type { HookTarget } from "./push-server.ts";

const { provider, url, secret } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as HookTarget;
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [before = "", after = "", ref = ""] = line.split(" ");
  const { headers, body } = PAYLOADS[provider]({ ref, before, after });
  const text = JSON.stringify(body);
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, ...signHook(provider, secret, text) },
    body: text,
  });
  if (!response.ok) console.error(`the hook answered ${response.status}: ${await response.text()}`);
}

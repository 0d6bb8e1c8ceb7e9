import { pkt } from "../../../src/engines/git/wire/pkt-line.ts";

export const ADVERTISEMENT = "application/x-git-upload-pack-advertisement";
const RESULT = "application/x-git-upload-pack-result";

export type Answer = {
  status?: number;
  type?: string;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream | undefined;
  headers?: Record<string, string>;
};

/** A server in a function: what it says to `GET info/refs` and to each POST. */
export function fakeFetch(refs: Answer, post: (body: string, n: number) => Answer | Promise<Answer>): typeof fetch {
  let posts = 0;
  return async (_input, init) => {
    const isPost = init?.method === "POST";
    const body = init?.body instanceof Uint8Array ? Buffer.from(init.body).toString("latin1") : "";
    const answer = isPost ? await post(body, posts++) : refs;
    return new Response(answer.body ?? null, {
      status: answer.status ?? 200,
      headers: { "content-type": answer.type ?? (isPost ? RESULT : ADVERTISEMENT), ...answer.headers },
    });
  };
}

export const V2: Answer = { body: `${pkt("version 2\n")}${pkt("ls-refs\n")}${pkt("fetch=shallow filter\n")}0000` };
export const URL = "https://git.example.com/r";
/** One attempt, and waits that no machine is too slow for: nothing here is meant to run into them. */
export const quick = { attempts: 1, idleMs: 20_000, headersMs: 20_000, wallMs: 25_000 };

/** Sign-in at the fake GitHub: OAuth's web flow with PKCE, for one client. */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { components } from "@octokit/openapi-types";

type Email = components["schemas"]["email"];

export class FakeSignIns {
  readonly client = { id: "Iv1.0123456789abcdef", secret: "oauth-client-secret-0123456789" };
  /** Addresses of the person who signs in next. */
  emailsOfPerson: Email[] = [];
  readonly #secrets: string[];
  readonly #codes = new Map<string, { challenge: string; redirect: string; emails: Email[] }>();
  readonly #people = new Map<string, Email[]>();

  /** `secrets`: gets every token that is given out. */
  constructor(secrets: string[]) {
    this.#secrets = secrets;
  }

  /** The page on which a person allows it, and does. */
  authorize(query: URLSearchParams): [number, unknown] {
    const redirect = new URL(query.get("redirect_uri") ?? "");
    const challenge = query.get("code_challenge") ?? "";
    if (query.get("client_id") !== this.client.id || query.get("code_challenge_method") !== "S256" || challenge === "")
      return [404, { message: "Not Found" }];
    const code = randomBytes(10).toString("hex");
    this.#codes.set(code, { challenge, redirect: redirect.href, emails: this.emailsOfPerson });
    redirect.searchParams.set("code", code);
    redirect.searchParams.set("state", query.get("state") ?? "");
    return [302, redirect.href];
  }

  /** Exchanges a code, once. Errors have status 200, as at GitHub. */
  exchange({ headers }: IncomingMessage, body: string): [number, unknown] {
    const sent = headers["content-type"]?.startsWith("application/json")
      ? (JSON.parse(body) as Record<string, string>)
      : Object.fromEntries(new URLSearchParams(body));
    const signIn = this.#codes.get(sent["code"] ?? "");
    this.#codes.delete(sent["code"] ?? "");
    const challenge = createHash("sha256")
      .update(sent["code_verifier"] ?? "")
      .digest("base64url");
    if (sent["client_id"] !== this.client.id || sent["client_secret"] !== this.client.secret)
      return [200, { error: "incorrect_client_credentials" }];
    if (!signIn || signIn.challenge !== challenge || signIn.redirect !== sent["redirect_uri"])
      return [200, { error: "bad_verification_code" }];
    const token = `gho_${randomBytes(18).toString("hex")}`;
    this.#secrets.push(token);
    this.#people.set(token, signIn.emails);
    return [200, { access_token: token, scope: "user:email", token_type: "bearer" }];
  }

  emails(bearer: string): [number, unknown] {
    const emails = this.#people.get(bearer);
    return emails ? [200, emails] : [401, { message: "Bad credentials" }];
  }
}

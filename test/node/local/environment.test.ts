import { describe, expect, it } from "vitest";
import { rejectArguments } from "../../../src/tooling/local/commands/main.ts";
import { OperatorError } from "../../../src/tooling/errors.ts";
import { DEVELOPMENT_VARS, readEnvironment } from "../../../src/tooling/local/stack/environment.ts";

describe("the environment of npm start", () => {
  it("listens on this machine only, unless HOST names another address", () => {
    expect(readEnvironment({})).toMatchObject({ host: "127.0.0.1", publicApiUrl: undefined });
    expect(readEnvironment({ HOST: "0.0.0.0" }).host).toBe("0.0.0.0");
    for (const HOST of ["localhost", "::", "0.0.0.0:80"])
      expect(() => readEnvironment({ HOST })).toThrow("HOST: expected");
  });

  it("takes the public address of the api without a path", () => {
    expect(readEnvironment({ API_URL: "https://code.example.com/" }).publicApiUrl).toBe("https://code.example.com");
    for (const API_URL of ["code.example.com", "https://code.example.com/api", "ftp://code.example.com"]) {
      expect(() => readEnvironment({ API_URL })).toThrow("API_URL must be");
    }
  });

  it("keeps sources of this machine and sign-up closed, unless asked, and names what it cannot read", () => {
    expect(readEnvironment({}).vars).toEqual({});
    expect(readEnvironment({}, DEVELOPMENT_VARS).vars).toEqual({ SIGN_UP: "open", GIT_ALLOW_LOCAL: "true" });
    const given = { SIGN_UP: "example.com", GIT_ALLOW_LOCAL: "false", TRUSTED_PROXIES: "10.0.0.0/8" };
    expect(readEnvironment(given, DEVELOPMENT_VARS).vars).toEqual(given);
    expect(readEnvironment({ SITE_URL: "https://Code.example.com:443/" }).publicSiteUrl).toBe(
      "https://code.example.com",
    );
    for (const [name, value] of [
      ["SITE_URL", "https://user:password@code.example.com"],
      ["SITE_URL", "https://code.example.com/app"],
      ["SIGN_UP", "everyone"],
      ["TRUSTED_PROXIES", "nginx"],
      ["GIT_ALLOW_LOCAL", "maybe"],
    ] as const) {
      expect(() => readEnvironment({ [name]: value })).toThrow(name);
    }
  });

  it("says what it expects in one line, which npm start prints", () => {
    for (const [name, value, message] of [
      ["PORT", "many", "PORT: expected a port"],
      ["RATE_LIMITS", "{", "RATE_LIMITS: expected JSON"],
      ["SIGN_UP", "everyone", "SIGN_UP: expected open"],
      ["SITE_URL", "code.example.com", "SITE_URL must be"],
      ["DATABASE_URL", "mysql://x", "DATABASE_URL: expected postgres"],
    ] as const) {
      const error = thrownBy(() => readEnvironment({ [name]: value }));
      expect(error).toBeInstanceOf(OperatorError);
      expect(error.message).toContain(message);
      expect(error.message).not.toContain("\n");
    }
  });

  it("takes no arguments: an option that does nothing would be a trap", () => {
    expect(() => rejectArguments([])).not.toThrow();
    expect(() => rejectArguments(["--port", "9000"])).toThrow('unexpected argument "--port": settings are environment');
  });
});

function thrownBy(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  return expect.fail("nothing was thrown");
}

import { describe, expect, it } from "vitest";
import { rejectArguments } from "../../../src/local/commands/main.ts";
import { readEnvironment } from "../../../src/local/stack/environment.ts";

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
      expect(() => readEnvironment({ API_URL })).toThrow("API_URL: expected");
    }
  });

  it("takes no arguments: an option that does nothing would be a trap", () => {
    expect(() => rejectArguments([])).not.toThrow();
    expect(() => rejectArguments(["--port", "9000"])).toThrow('unexpected argument "--port": settings are environment');
  });
});

import { describe, expect, test } from "vitest";
import { checkRemoteUrl, checkRepositoryUrl, GitError, readGitHosts } from "../../../src/engines/git/index.ts";
import { makeScrub } from "../../../src/engines/git/errors.ts";

describe("GIT_HOSTS", () => {
  const hosts = readGitHosts(" github.com, *.example.org,git.corp:8443 ");

  test.each([
    ["https://github.com/o/r", true],
    ["https://GitHub.com:443/o/r", true],
    ["https://gitlab.com/o/r", false],
    ["https://evilgithub.com/o/r", false],
    ["https://git.example.org/o/r", true],
    ["https://example.org/o/r", false],
    ["https://notexample.org/o/r", false],
    ["https://git.corp:8443/o/r", true],
    ["https://git.corp/o/r", false],
    ["https://github.com:8443/o/r", false],
    ["http://github.com/o/r", false],
    ["https://10.0.0.1/o/r", false],
  ])("%s: %s", (url, allowed) => {
    const check = () => checkRemoteUrl(url, { allowLocal: false, hosts });
    if (allowed) expect(check().protocol).toBe("https:");
    else expect(check).toThrow(expect.objectContaining({ code: "URL_FORBIDDEN" }));
  });

  test("is empty for any public name, and refuses what is no name", () => {
    expect(readGitHosts(" ")).toBeUndefined();
    expect(readGitHosts(undefined)).toBeUndefined();
    expect(() => readGitHosts("github.com, https://gitlab.com")).toThrow(/GIT_HOSTS.*https:/);
  });
});

describe("checkRemoteUrl", () => {
  test.each([
    "https://github.com/o/r",
    "https://git.example.co.uk:443/a/b.git",
    "https://xn--bcher-kva.example/r",
    "https://git-1-2-3-4.example.org/r",
    "https://v10.0.example.org/r",
    "https://gitlab-17-10-0-1.example.org/r",
  ])("allows %s", (url) => {
    expect(checkRemoteUrl(url, { allowLocal: false }).protocol).toBe("https:");
  });

  test.each([
    "http://github.com/o/r",
    "ssh://git@github.com/o/r",
    "git@github.com:o/r",
    "file:///etc/passwd",
    "",
    "https://user:pw@github.com/o/r",
    "https://token@github.com/o/r",
    "https://127.0.0.1/r",
    "https://2130706433/r",
    "https://0x7f000001/r",
    "https://0x7f.1/r",
    "https://0177.0.0.1/r",
    "https://127.1/r",
    "https://8.8.8.8/r",
    "https://8.8.8.8./r",
    "https://[::1]/r",
    "https://[::ffff:169.254.169.254]/r",
    "https://１２７.０.０.１/r",
    "https://localhost/r",
    "https://LOCALHOST./r",
    "https://foo.localhost/r",
    "https://printer.local/r",
    "https://metadata.google.internal/r",
    "https://intranet/r",
    "https://git.lan/r",
    "https://127.0.0.1.nip.io/r",
    "https://localtest.me/r",
    "https://10.0.0.1.traefik.me/r",
    "https://7f000001.c0a80001.rbndr.us/r",
    "https://make-127.0.0.1-rebind-169.254.169.254-rr.1u.ms/r",
    "https://git-10-1-2-3.new-zone.example/r",
    "https://www.192.168.0.1.new-zone.example/r",
    "https://172-31-0-1.new-zone.example/r",
    "https://gitea.tools.svc/r",
    "https://gitea.tools.svc.cluster.local/r",
    "https://vault.service.consul/r",
    "https://metadata.goog/r",
    "https://github.com:8443/o/r",
    "https://github.com/o/r#x",
    "http://127.0.0.1/r",
    "http://localhost:8080/r",
  ])("refuses %s", (url) => {
    expect(() => checkRemoteUrl(url, { allowLocal: false })).toThrow(
      expect.objectContaining({ code: "URL_FORBIDDEN" }),
    );
  });

  test("allows the local host over http only when told so, and nothing else with it", () => {
    expect(checkRemoteUrl("http://127.0.0.1:1234/r", { allowLocal: true }).port).toBe("1234");
    expect(checkRemoteUrl("http://localhost:1234/r", { allowLocal: true }).port).toBe("1234");
    for (const url of [
      "https://127.0.0.1/r",
      "http://127.0.0.2/r",
      "http://[::1]/r",
      "http://10.0.0.1/r",
      "http://u@localhost/",
    ]) {
      expect(() => checkRemoteUrl(url, { allowLocal: true })).toThrow(GitError);
    }
  });
});

test("checkRepositoryUrl takes what checkRemoteUrl takes, except an address with a query", () => {
  expect(checkRepositoryUrl("https://github.com/o/r", { allowLocal: false }).pathname).toBe("/o/r");
  const check = (url: string) => () => checkRepositoryUrl(url, { allowLocal: false });
  expect(check("https://github.com/o/r?x=1")).toThrow("it must not have a query");
  expect(check("https://localhost/r")).toThrow(GitError);
});

describe("scrub", () => {
  test("blanks the token in every form, credentials in URLs and control characters", () => {
    const scrub = makeScrub({ token: "s3cr/et", username: "me" });
    const basic = Buffer.from("me:s3cr/et").toString("base64");
    const text = scrub(`a s3cr/et b s3cr%2Fet c ${basic} d https://x:y@host/ \u001b[31m\r\nz`);
    expect(text).toBe("a *** b *** c *** d https://***@host/ [31m\nz");
    expect(scrub("x".repeat(100_000)).length).toBeLessThan(5000);
  });
});

import { describe, expect, it } from "vitest";
import { lastPart, nameParts } from "../../../src/engines/search/names.ts";

describe("parts of a qualified name", () => {
  it.each([
    ["Sinatra::Base", ["Sinatra", "Base"]],
    ["Plug.Builder", ["Plug", "Builder"]],
    ["Foo#bar", ["Foo", "bar"]],
    ["a/b", ["a", "b"]],
    ["x->y", ["x", "y"]],
    ["Cart::", ["Cart"]],
    ["Shop::Cart:", ["Shop", "Cart"]],
  ])("of %s", (name, parts) => {
    expect(nameParts(name)).toEqual(parts);
  });

  it("of a selector of Objective-C are those before its first colon", () => {
    expect(nameParts("store:forKey:completion:")).toEqual(["store"]);
    expect(lastPart("Cache.store:forKey:")).toBe("store");
  });
});

import { defineConfig } from "vitest/config";

/** What a release tries beyond the tests: the built package in a Worker and in a browser. `npm run release` runs it. */
export default defineConfig({
  test: { include: ["test/release/**/*.test.ts"], environment: "node", testTimeout: 120_000, hookTimeout: 180_000 },
});

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/**/*.test.{ts,tsx}"], environment: "node", restoreMocks: true, testTimeout: 20_000 },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    setupFiles: ["test/setup.ts"],
    environment: "node",
    restoreMocks: true,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});

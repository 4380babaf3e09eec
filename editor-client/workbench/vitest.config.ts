import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["workbench/**/*.test.ts"],
    globalSetup: ["workbench/setup.ts"],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 120_000,
    reporters: ["verbose"],
  },
});

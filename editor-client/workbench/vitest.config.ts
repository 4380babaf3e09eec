import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["workbench/**/*.test.ts"],
    globalSetup: ["workbench/setup.ts"],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 600_000,
    reporters: ["verbose"],
  },
});

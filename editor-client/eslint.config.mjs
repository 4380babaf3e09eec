import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "src/protocol/types.ts", "**/*.mjs", "**/*.cjs", "media/"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ["tsconfig.json", "webview/tsconfig.json", "test/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/consistent-type-assertions": ["error", { assertionStyle: "never" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "no-console": "error",
      "max-lines": ["error", 400],
      "eqeqeq": "error",
    },
  },
  {
    // A table of words is as long as it is.
    files: ["src/languages/*/*.ts"],
    rules: { "max-lines": "off" },
  },
  {
    files: ["test/**", "workbench/**"],
    rules: {
      "@typescript-eslint/consistent-type-assertions": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-lines": "off",
    },
  },
);

// A busy machine takes its time: what is waited for comes, or the test ends.
if (typeof document !== "undefined") {
  const { configure } = await import("@testing-library/preact");
  configure({ asyncUtilTimeout: 150_000 });
}
export {};

// How the panel looks; the pictures are for people.
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench({ window: { files: { "src/app.py": "def greet(name):\n    return 'hello ' + name\n" } } });
const THEMES = {
  "dark": "Default Dark Modern",
  "light": "Default Light Modern",
  "high-contrast": "Default High Contrast",
  "high-contrast-light": "Default High Contrast Light",
};
const ANSWER = `## What I did

I changed \`src/app.py:2\` so that it is **polite**, see [the file](src/app.py#L1-L2).

1. read the file
2. edited it
   - only one line

| before | after |
|---|---|
| hello | good day |

\`\`\`python
def greet(name: str) -> str:
    """Polite."""
    return f"good day {name}"  # no more hello
\`\`\`

> It is the second time.
`;

test("the panel is at home in dark, light and high contrast, and in a narrow view", async () => {
  const { window, workbench, vendor } = at();
  const todo = [
    { content: "Read the file", status: "completed" },
    { content: "Make it polite", status: "in_progress" },
    { content: "Test it", status: "pending" },
  ];
  const edit = { path: "src/app.py", old_string: "'hello '", new_string: "'good day '" };
  await vendor.play([
    call("The user wants a polite greeting. I note what is to be done.", "TodoWrite", { todos: todo }),
    call("I read the file first.", "Read", { path: "src/app.py" }),
    call("One line is enough.", "Edit", edit),
    finish(ANSWER),
    call("run", "Bash", { command: "python -m pytest -q && echo fine" }),
    finish("Never mind."),
  ]);
  await window.openFile("app.py");
  await window.say("Greet politely in @src/app.py");
  await window.allow();
  const turn = await window.ended();
  await window.shot("folded");
  await turn.locator(".steps-line").click();
  await turn.locator(".call").last().locator("summary, button").first().click();
  await window.shot("answer");
  await window.say("Test it");
  await window.approval.waitFor();
  const colours = new Set<string>();
  for (const [name, theme] of Object.entries(THEMES)) {
    workbench.set({ "workbench.colorTheme": theme });
    await window.panel.locator(`body[data-vscode-theme-kind="vscode-${name}"]`).waitFor();
    await window.shot(`theme-${name}`);
    colours.add(
      await window.panel
        .locator("main")
        .evaluate((main) => getComputedStyle(main).color + getComputedStyle(main.ownerDocument.body).backgroundColor),
    );
  }
  expect(colours.size, "the colours follow the theme").toBeGreaterThan(2);

  const body = window.panel.locator("body");
  const wide = await body.evaluate((one) => one.clientWidth);
  await window.page.setViewportSize({ width: 520, height: 700 });
  await eventually("the panel is narrow", () => body.evaluate((one, wide) => one.clientWidth < wide, wide));
  await eventually("nothing sticks out sideways", () => body.evaluate((one) => one.scrollWidth - one.clientWidth <= 1));
  await window.shot("narrow");
});

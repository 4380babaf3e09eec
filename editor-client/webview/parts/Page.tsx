import "../style/permissions.css";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { useHands } from "../hands";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { t } from "../language";

interface PageProps {
  /** Its heading and its name for those who do not see it. */
  readonly name: string;
  /** The heading, which takes the focus first. */
  readonly title: RefObject<HTMLHeadingElement>;
  readonly children: ComponentChildren;
}

/** A page in the place of the chat, left by its button or by Escape. */
export function Page({ name, title, children }: PageProps) {
  const { panel } = useHands();

  useEffect(() => title.current?.focus(), [title]);

  const back = (): void => {
    panel.dispatch({ kind: "page", page: "chat" });
    focusComposer();
  };

  return (
    <section
      class="permissions"
      aria-label={name}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) back();
      }}
    >
      <header class="permissions-head">
        <button type="button" class="icon-button" aria-label={t.backToChat} title={t.backKey} onClick={back}>
          <Icon name="back" />
        </button>
        <h1 ref={title} tabIndex={-1}>
          {name}
        </h1>
      </header>
      {children}
    </section>
  );
}

import "../style/visible.css";
import { pieces } from "../text/visible";

/** A text whose invisible and direction-changing characters are shown by their code, each isolated from the rest. */
export function Visible({ text }: { text: string }) {
  return (
    <bdi>
      {pieces(text).map((piece, index) =>
        piece.hidden === undefined ? (
          piece.text
        ) : (
          <bdi key={index} class="hidden-character" dir="ltr" title={piece.hidden}>
            {piece.hidden.split(" ", 1)}
          </bdi>
        ),
      )}
    </bdi>
  );
}

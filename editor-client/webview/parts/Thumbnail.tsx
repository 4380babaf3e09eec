import { useEffect, useRef } from "preact/hooks";
import type { Attachment } from "../../src/messages";
import { blobOf } from "../text/pictures";

const SIDE = 32;

/** A small picture, drawn: the page loads no images (its content security policy allows none). */
export function Thumbnail({ picture }: { picture: NonNullable<Attachment["picture"]> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let gone = false;
    const draw = async (): Promise<void> => {
      const bitmap = await createImageBitmap(blobOf(picture));
      const at = canvas.current;
      if (!gone && at !== null) {
        const scale = Math.min(SIDE / bitmap.width, SIDE / bitmap.height);
        const [width, height] = [bitmap.width * scale, bitmap.height * scale];
        at.getContext("2d")?.drawImage(bitmap, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
      }
      bitmap.close();
    };
    // What cannot be drawn, the server refuses with a reason.
    draw().catch(() => undefined);
    return () => {
      gone = true;
    };
  }, [picture]);
  return <canvas ref={canvas} class="attachment-picture" width={SIDE} height={SIDE} aria-hidden="true" />;
}

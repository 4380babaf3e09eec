import "../style/pictures.css";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageImage } from "../../src/protocol/types";
import { useHands } from "../hands";
import { blobOf } from "../text/pictures";
import { t } from "../language";

/** Pictures of one result that are shown. */
const MOST = 5;
/** Bytes of one. */
const MOST_BYTES = 5 * 1024 * 1024;
/** Pixels of the longer side, as it is drawn. */
const SIDE = 640;

/** The pictures that a result came with; their bytes are read when the row is unfolded. */
export function ResultPictures({ callId }: { callId: string }) {
  const { panel } = useHands();
  const { chat } = panel.state();
  const images = chat?.pictures?.get(callId) ?? [];
  if (chat === null || images.length === 0) return null;
  return (
    <div class="result-pictures">
      {images.slice(0, MOST).map((image, place) => (
        <ResultPicture key={`${image.digest} ${String(place)}`} chatId={chat.chat.id} image={image} />
      ))}
      {images.length > MOST && <p class="hint">{t.morePictures(images.length - MOST)}</p>}
    </div>
  );
}

function ResultPicture({ chatId, image }: { chatId: string; image: MessageImage }) {
  const { panel } = useHands();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [failed, setFailed] = useState(false);
  const { digest, size } = image;
  const scale = Math.min(1, SIDE / Math.max(image.width, image.height, 1));
  const [width, height] = [image.width, image.height].map((side) => Math.max(1, Math.round(side * scale)));
  useEffect(() => {
    let gone = false;
    const draw = async (): Promise<void> => {
      const picture = await panel.request("codelaw/chat/picture", { chatId, digest });
      // Drawn, and not loaded: the page's content security policy allows no images.
      const bitmap = await createImageBitmap(blobOf(picture));
      const at = canvas.current;
      if (!gone && at !== null) at.getContext("2d")?.drawImage(bitmap, 0, 0, at.width, at.height);
      bitmap.close();
    };
    if (size > MOST_BYTES) setFailed(true);
    else
      draw().catch(() => {
        if (!gone) setFailed(true);
      });
    return () => {
      gone = true;
    };
  }, [panel, chatId, digest, size]);
  const words = t.pictureOf(image.width, image.height);
  if (failed) return <p class="hint">{t.pictureUnshown(words)}</p>;
  return <canvas ref={canvas} role="img" aria-label={words} title={words} width={width} height={height} />;
}

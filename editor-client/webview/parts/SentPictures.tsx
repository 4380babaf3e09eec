import { useEffect, useState } from "preact/hooks";
import type { MessageImage, PictureData } from "../../src/protocol/types";
import { useHands } from "../hands";
import { Thumbnail } from "./Thumbnail";
import { t } from "../language";

/** The pictures of a message, small; their bytes are read when they are shown. */
export function SentPictures({ chatId, images }: { chatId: string; images: readonly MessageImage[] }) {
  return (
    <ul class="mentions" aria-label={t.pictures}>
      {images.map((image, index) => (
        <li key={`${String(index)}-${image.digest}`}>
          <Sent chatId={chatId} image={image} />
        </li>
      ))}
    </ul>
  );
}

function Sent({ chatId, image }: { chatId: string; image: MessageImage }) {
  const { actions } = useHands();
  const [picture, setPicture] = useState<PictureData | null>(null);
  const { digest } = image;

  useEffect(() => {
    let here = true;
    void actions.picture(chatId, image).then((found) => here && setPicture(found));
    return () => {
      here = false;
    };
    // The digest says it all: a state that is read again has other objects.
  }, [actions, chatId, digest]);

  return (
    <span class="mention" title={t.pictureOf(image.width, image.height)}>
      {picture !== null && <Thumbnail picture={picture} />} {t.pictureOf(image.width, image.height)}
    </span>
  );
}

// Pictures that are pasted or dropped, on their way to the server (M-6).
import type { Attachment } from "../../src/messages";

/** Bytes of one picture that the server takes, pictures of one message, and bytes of all of them. */
const MOST_BYTES = 5 * 1024 * 1024;
const MOST = 5;
const MOST_TOGETHER = 10 * 1024 * 1024;
const TAKEN: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export interface ReadPictures {
  attachments: Attachment[];
  /** Some were of another kind, or too large. */
  left: boolean;
}

/** The pictures among what was pasted or dropped. */
export const picturesIn = (data: DataTransfer): File[] =>
  [...data.files].filter((file) => file.type.startsWith("image/"));

/** Read pictures; each is told from others by its bytes, so that the same one twice is one. */
export async function readPictures(files: readonly File[]): Promise<ReadPictures> {
  const taken = files.filter(({ type, size }) => TAKEN.includes(type) && size <= MOST_BYTES);
  const attachments = await Promise.all(
    taken.map(async (file): Promise<Attachment> => {
      const data = await encoded(file);
      const uri = `picture:${String(data.length)}-${String(sum(data))}`;
      return { uri, label: file.name === "" ? "image" : file.name, picture: { mediaType: file.type, data } };
    }),
  );
  return { attachments, left: taken.length < files.length };
}

/** The first of `added` that go along with one message beside what is attached already; the others make it too much. */
export function fitting(attached: readonly Attachment[], added: readonly Attachment[]): Attachment[] {
  const pictures = attached.filter(({ picture }) => picture !== undefined);
  const known = new Set(pictures.map(({ uri }) => uri));
  let count = pictures.length;
  let size = pictures.reduce((sum, one) => sum + bytesOf(one), 0);
  return added.filter((one) => {
    if (known.has(one.uri)) return true;
    if (count >= MOST || size + bytesOf(one) > MOST_TOGETHER) return false;
    known.add(one.uri);
    count += 1;
    size += bytesOf(one);
    return true;
  });
}

/** The bytes that the base64 of a picture stands for. */
function bytesOf({ picture }: Attachment): number {
  const data = picture?.data ?? "";
  return Math.floor((data.replace(/=+$/, "").length * 3) / 4);
}

/** The bytes of a picture, to be drawn. */
export function blobOf({ mediaType, data }: NonNullable<Attachment["picture"]>): Blob {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return new Blob([bytes], { type: mediaType });
}

/** The bytes of a file in base64: what stands behind the comma of its `data:` address. */
function encoded(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const address = typeof reader.result === "string" ? reader.result : "";
      resolve(address.slice(address.indexOf(",") + 1));
    };
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
}

function sum(text: string): number {
  let found = 7;
  for (let at = 0; at < text.length; at += 1) found = (found * 31 + text.charCodeAt(at)) % 0x7fffffff;
  return found;
}

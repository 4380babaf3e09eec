// Ids of elements, each of them once in the page: those that preact makes can come twice after parts were drawn anew.
import { useState } from "preact/hooks";

let last = 0;

/** An id that stays as long as the component is there. */
export const useId = (): string => useState(() => `id-${(last += 1)}`)[0];

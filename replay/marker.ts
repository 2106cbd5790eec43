import { compact } from "./compact.ts";
/**
 * The marker by which a request chooses its fixture: `[[fx:NAME?PARAMS#NONCE]]` in the text of its
 * last turn. It is in the text because every gateway forwards text, while headers and model names
 * may change.
 */

export interface Marker {
  /** The whole marker, brackets included. */
  readonly text: string;
  /** Name of a fixture or of a registered script. */
  readonly name: string;
  /** Parameters after "?"; the value of a parameter without one is "". */
  readonly params: Readonly<Record<string, string>>;
  /**
   * Identifies the request in the log, and counts its arrivals; absent when the marker has none.
   */
  readonly nonce?: string;
}

const MARKER = /\[\[fx:([\w.\/-]+)(?:\?([^\]#]*))?(?:#([^\]]*))?\]\]/g;

/** The last marker in a text, or undefined. */
export function findMarker(text: string): Marker | undefined {
  if (!text.includes("[[fx:")) return undefined;
  const found = [...text.matchAll(MARKER)].at(-1);
  if (found === undefined) return undefined;
  const [whole, name = "", params = "", nonce] = found;
  return {
    text: whole,
    name,
    params: Object.fromEntries(new URLSearchParams(params)),
    ...compact({ nonce }),
  };
}

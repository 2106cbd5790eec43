/**
 * The marker by which a request chooses its fixture: `[[fx:NAME?PARAMS#NONCE]]` in the text of its last turn. Text is the
 * only thing that every gateway forwards, whatever it does to headers and model names.
 */

/** A marker as found. */
export interface Marker {
  /** The whole marker, brackets included. */
  readonly text: string;
  /** Name of the fixture or of a script that was registered. */
  readonly name: string;
  /** Parameters after "?"; one without a value is "". */
  readonly params: Readonly<Record<string, string>>;
  /** What joins the caller's exchange with the journal entry; absent when not given. */
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
    ...(nonce === undefined ? {} : { nonce }),
  };
}

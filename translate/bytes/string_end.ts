const BACKSLASH = 0x5c;

/** The position after the closing quote of the JSON string that opens at `start`. */
export function stringEnd(chars: string, start: number): number {
  let quote = chars.indexOf('"', start + 1);
  while (quote >= 0) {
    let backslashes = 0;
    while (chars.charCodeAt(quote - 1 - backslashes) === BACKSLASH) {
      backslashes++;
    }
    if (backslashes % 2 === 0) return quote + 1;
    quote = chars.indexOf('"', quote + 1);
  }
  return chars.length;
}

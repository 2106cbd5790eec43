/** Reads the upstream's event stream with any line ends, splits, comments and byte order marks. */

/** The data of each frame, and a JSON text without a field name after the last one. */
export async function* framesIn(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = "";
  let data: string[] = [];
  const bare: string[] = [];
  const take = function* (final: boolean): Generator<string> {
    // A CR at the end may be the first half of a CR LF.
    const usable = !final && held.endsWith("\r")
      ? held.length - 1
      : held.length;
    const lines = held.slice(0, usable).split(/\r\n|\n|\r/);
    held = (lines.pop() ?? "") + held.slice(usable);
    for (const line of lines) {
      if (line === "" && data.length > 0) {
        yield data.join("\n");
        data = [];
      } else if (line.startsWith("data:")) {
        data.push(line.slice(line[5] === " " ? 6 : 5));
      } else if (/^\s*[{}"[\]]/.test(line)) bare.push(line);
    }
  };
  for await (const piece of bytes) {
    held += decoder.decode(piece, { stream: true });
    yield* take(false);
  }
  held += decoder.decode() + "\n";
  yield* take(true);
  // One vendor writes an error without a field name.
  if (bare.length > 0) yield bare.join("\n");
}

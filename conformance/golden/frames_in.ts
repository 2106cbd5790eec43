/** Reads the upstream's event stream: data of each frame, whatever the line ends, cuts, comments and marks. */

/** The data of each frame, and a bare JSON text after the last one. */
export async function* framesIn(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = "";
  let data: string[] = [];
  const bare: string[] = [];
  const take = function* (final: boolean): Generator<string> {
    // A CR at the end may be half of a CR LF.
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
  // An error that a vendor writes without a field name.
  if (bare.length > 0) yield bare.join("\n");
}

/**
 * Reads replies whose size the gateway does not control, such as a host's list of models.
 */

/**
 * The text of a body; undefined if it has more bytes than that: the rest is not read.
 *
 * @throws what reading the body throws
 */
export async function limitedText(
  { body }: Response,
  maxBytes: number,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

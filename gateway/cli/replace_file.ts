/**
 * Replaces a file so that a reader sees the old text or the new one, never a part.
 */

/**
 * Writes a file beside the one it replaces, and renames it. A symbolic link is kept and its target
 * replaced; an existing file keeps its permissions.
 *
 * @throws the runtime's error, with nothing changed
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await Deno.realPath(path).catch(() => path);
  const mode = await Deno.stat(target).then((info) => info.mode, () => null);
  const beside = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(beside, text, { createNew: true });
    using written = await Deno.open(beside);
    await written.sync();
    if (mode !== null) await Deno.chmod(beside, mode & 0o777);
    await Deno.rename(beside, target);
  } catch (error) {
    await Deno.remove(beside).catch(() => {});
    throw error;
  }
}

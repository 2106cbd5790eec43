/**
 * Notices that files have changed, by looking at them at intervals: this also works for files that
 * are replaced by renaming, and for mounted volumes that send no notifications.
 */

/** How often the files are looked at, in milliseconds. */
export const LOOK_MS = 2_000;

/** The version while a file cannot be looked at. */
const ABSENT = "absent";

/** The state of files between looks. */
export class FileWatch {
  readonly #version: () => Promise<string>;
  readonly #onChange: () => void;
  #known: string | undefined;
  #last: string | undefined;
  #isLooking = false;

  /** `version` gives a text that changes with the files; it rejects while one is not accessible. */
  constructor(version: () => Promise<string>, onChange: () => void) {
    this.#version = version;
    this.#onChange = onChange;
  }

  /**
   * Looks once. Reports a change when two looks have seen the same version, because a file may be
   * in the middle of being written, or absent for a moment while it is replaced. Never rejects.
   */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const version = await this.#version().catch(() => ABSENT);
      this.#known ??= version;
      if (version !== this.#known && version === this.#last) {
        this.#known = version;
        this.#onChange();
      }
      this.#last = version;
    } finally {
      this.#isLooking = false;
    }
  }
}

/** A version from a file's times and size, for {@linkcode FileWatch}. */
export async function fileVersion(path: string): Promise<string> {
  const { mtime, size, ino } = await Deno.stat(path);
  return `${mtime?.getTime()} ${size} ${ino}`;
}

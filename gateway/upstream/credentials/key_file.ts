/**
 * A key in a file, which may change while the gateway runs.
 */
import type { CredentialContext, CredentialState } from "./credential.ts";
import { KEY_TEXT } from "./key_text.ts";

/** Reads files while the gateway runs. */
export interface Files {
  /** A file's text; rejects with the system's error. */
  text(path: string): Promise<string>;
  /** A number that changes when the file is written, such as its modification time. */
  version(path: string): Promise<number>;
}

/** How long the file is not looked at again, in milliseconds. */
const LOOK_MS = 5_000;

/** The key of a file, read again after the file's modification time has changed. */
export class KeyFile {
  /** For reports. */
  readonly path: string;
  readonly #files: Files;
  readonly #context: Pick<CredentialContext, "now" | "onChange">;
  #key: string;
  #previous: string | undefined;
  #lookedAtMs: number;
  #version: number | undefined;
  #look: Promise<void> | undefined;
  #unreadableSinceMs: number | undefined;

  /** `key` is the text at the start. */
  constructor(
    path: string,
    key: string,
    files: Files,
    context: Pick<CredentialContext, "now" | "onChange">,
  ) {
    this.path = path;
    this.#key = key;
    this.#files = files;
    this.#context = context;
    this.#lookedAtMs = -Infinity;
  }

  /** The last key that could be read. Looks at the file in the background if it is time. */
  key(): string {
    const nowMs = this.#context.now();
    if (nowMs - this.#lookedAtMs >= LOOK_MS && this.#look === undefined) {
      void this.lookAgain(false);
    }
    return this.#key;
  }

  /** Looks at the file now; reads it if it has changed, or in any case. Never rejects. */
  lookAgain(readsAnyway: boolean): Promise<void> {
    // A look that has begun may have seen the file before its change.
    if (this.#look !== undefined) {
      return this.#look.then(() => this.lookAgain(readsAnyway));
    }
    this.#look = this.#read(readsAnyway).finally(() => this.#look = undefined);
    return this.#look;
  }

  /** The current key and the one before it. */
  secrets(): readonly string[] {
    return this.#previous === undefined
      ? [this.#key]
      : [this.#key, this.#previous];
  }

  /** Failing while the file is unreadable or holds no key; the last key stays in use. */
  state(): CredentialState {
    const sinceMs = this.#unreadableSinceMs;
    return sinceMs === undefined ? { usable: true } : {
      usable: true,
      failure: {
        sinceMs,
        reason:
          `no key could be read from ${this.path}; the last one is in use`,
      },
    };
  }

  async #read(readsAnyway: boolean): Promise<void> {
    this.#lookedAtMs = this.#context.now();
    try {
      const version = await this.#files.version(this.path);
      if (version === this.#version && !readsAnyway) return;
      const key = (await this.#files.text(this.path)).trim();
      // An empty file is one that is being written: it is read again at the next look.
      if (!KEY_TEXT.test(key)) throw new TypeError("no key");
      this.#version = version;
      if (this.#unreadableSinceMs !== undefined) {
        this.#unreadableSinceMs = undefined;
        this.#context.onChange?.(this.state());
      }
      if (key === this.#key) return;
      this.#previous = this.#key;
      this.#key = key;
    } catch {
      this.#version = undefined;
      if (this.#unreadableSinceMs !== undefined) return;
      this.#unreadableSinceMs = this.#context.now();
      this.#context.onChange?.(this.state());
    }
  }
}

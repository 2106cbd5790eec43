/**
 * A new credential, shown in one reply only.
 */
import type { Children, JSX } from "../jsx.d.ts";

/** The credential with a copy button, and what to do with it. */
export function NewSecret(
  { text, noun, done, about, children }: {
    /** Absent: the form was sent twice; the credential was in the first reply. */
    readonly text: string | undefined;
    readonly noun: string;
    /** The page to go on to. */
    readonly done: string;
    /** Who may have it, and for what; absent: the programs that use it. */
    readonly about?: JSX.Element;
    readonly children?: Children;
  },
): JSX.Element {
  if (text === undefined) {
    return (
      <section class="card">
        <p class="note warn">
          This {noun}{" "}
          was made and shown before. It is not stored and cannot be shown again;
          if it was lost, revoke it and make another.
        </p>
        <a class="button" href={done}>Done</a>
      </section>
    );
  }
  return (
    <section class="card">
      <p class="note">
        This is the only time that the {noun} is shown.{" "}
        {about ?? "Store it now, where only its programs can read it."}
      </p>
      <p class="secret">
        <input
          id="secret"
          class="mono"
          readOnly
          value={text}
          aria-label={`The new ${noun}`}
        />
        <button class="main" type="button" data-copy="secret" hidden>
          Copy
        </button>
      </p>
      {children}
      <p>
        <a class="button" href={done}>
          {about === undefined ? "I have stored it: Done" : "Done"}
        </a>
      </p>
    </section>
  );
}

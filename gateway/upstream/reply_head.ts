/**
 * The headers of an upstream's reply.
 *
 * @module
 */

/** A reply's headers; as an object of the platform's only where somebody wants that. */
export class ReplyHead {
  readonly #fields: Readonly<Record<string, string | string[] | undefined>>;

  /** As the client gives them: names in small letters, a list where one was sent more than once. */
  constructor(
    fields: Readonly<Record<string, string | string[] | undefined>>,
  ) {
    this.#fields = fields;
  }

  /** One by its name in small letters; undefined where it was not sent. */
  header(name: string): string | undefined {
    const value = this.#fields[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** All of them, but for malformed ones. */
  headers(): Headers {
    const read = new Headers();
    for (const [name, value] of Object.entries(this.#fields)) {
      for (const one of [value ?? []].flat()) {
        try {
          read.append(name, one);
        } catch {
          // A header that no HTTP library would write says nothing that is needed.
        }
      }
    }
    return read;
  }
}

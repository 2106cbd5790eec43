/**
 * The headers of an upstream's response.
 */

/** A response's headers. The platform's `Headers` object is created only on demand. */
export class ResponseHead {
  readonly #fields: Readonly<Record<string, string | string[] | undefined>>;

  /** As undici passes them: lower-case names, a list if a header was sent more than once. */
  constructor(
    fields: Readonly<Record<string, string | string[] | undefined>>,
  ) {
    this.#fields = fields;
  }

  /** A header by its lower-case name; undefined if absent. */
  header(name: string): string | undefined {
    const value = this.#fields[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** All headers except malformed ones. */
  headers(): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.#fields)) {
      for (const one of [value ?? []].flat()) {
        try {
          headers.append(name, one);
        } catch {
          // Skips a malformed header.
        }
      }
    }
    return headers;
  }
}

/** A copy with the results of `change` as values. */
export function mapValues<From, To>(
  object: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> {
  const entries = Object.entries(object);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, change(value, key)]),
  );
}

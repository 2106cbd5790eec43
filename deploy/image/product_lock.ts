interface LockedPackage {
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

/** The members of a lock file. */
export interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, LockedPackage>>;
  readonly workspace: { readonly dependencies: readonly string[] };
}

/**
 * The lock of the packages that `wanted` names, such as `npm:zod@4.6.7`, and of what they depend
 * on.
 */
export function productLock(lock: Lock, wanted: readonly string[]): Lock {
  const specifiers: Record<string, string> = {};
  const kept = new Set<string>();
  const keep = (id: string): void => {
    const key = keyOf(lock, id);
    if (kept.has(key)) return;
    kept.add(key);
    const { dependencies = [], optionalDependencies = [] } = lock.npm[key] ??
      { integrity: "" };
    for (const one of [...dependencies, ...optionalDependencies]) keep(one);
  };
  for (const specifier of wanted) {
    const version = lock.specifiers[specifier];
    if (version === undefined) throw new Error(`no lock for ${specifier}`);
    specifiers[specifier] = version;
    keep(`${/^npm:(@?[^@]+)/.exec(specifier)?.[1]}@${version}`);
  }
  return {
    version: lock.version,
    specifiers,
    npm: Object.fromEntries(
      Object.entries(lock.npm).filter(([key]) => kept.has(key)),
    ),
    workspace: { dependencies: wanted },
  };
}

/**
 * The lock's key of a dependency. Deno names a dependency without its version, or without its
 * peers, where the lock has only one such package.
 */
export function keyOf({ npm }: Lock, id: string): string {
  if (id in npm) return id;
  const [key, ...others] = Object.keys(npm).filter((key) =>
    key.startsWith(`${id}@`) || key.startsWith(`${id}_`)
  );
  if (key === undefined || others.length > 0) {
    throw new Error(`the lock has ${others.length + 1} packages ${id}`);
  }
  return key;
}

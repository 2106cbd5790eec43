/**
 * Detects environment variables that are misspelt settings: those that begin like a setting, and
 * those within a few edits of a vendor's setting. Variables of other programs and those named by
 * the overrides file are ignored.
 */
import leven, { closestMatch } from "leven";
import { VENDORS } from "../upstream/catalogue/vendors.ts";

/** Variables that a container platform sets for a service named `gateway` or `vendora`. */
const SERVICE_LINK =
  /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** Largest edit distance at which a name counts as a misspelling. */
const MAX_EDITS = 2;

/** The prefixes that only the gateway's own settings have. */
const OWN_PREFIX = new RegExp(
  `^(?:GATEWAY|${VENDORS.map(({ name }) => name.toUpperCase()).join("|")})_`,
);

/** One line per misspelt variable; `named` are the variables that the overrides file names. */
export function misspeltSettings(
  env: Readonly<Record<string, string>>,
  settings: readonly string[],
  named: ReadonlySet<string>,
): readonly string[] {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (settings.includes(name) || named.has(name)) continue;
    if (SERVICE_LINK.test(name) || SERVICE_ADDRESS.test(value)) continue;
    const suggestion = vendorSetting(name) ??
      (OWN_PREFIX.test(name) ? nearestSetting(name, settings) : undefined);
    if (suggestion !== undefined) {
      problems.push(`${name}: no such setting; did you mean ${suggestion}?`);
    } else if (OWN_PREFIX.test(name)) {
      problems.push(`${name}: no such setting`);
    }
  }
  return problems;
}

/**
 * Common variants of the vendors' settings, as {@linkcode normalizeName} returns them; the first of
 * each is the setting itself.
 */
const VENDOR_SPELLINGS: readonly {
  readonly setting: string;
  readonly spellings: readonly string[];
}[] = VENDORS.flatMap(({ name, keySetting, baseUrlSetting }) => {
  const vendor = normalizeName(name);
  return [
    {
      setting: keySetting,
      spellings: ["APIKEY", "KEY", "TOKEN", "APITOKEN", "SECRET"],
    },
    {
      setting: baseUrlSetting,
      spellings: ["BASEURL", "URL", "URI", "ENDPOINT", "APIBASE"],
    },
  ].map(({ setting, spellings }) => ({
    setting,
    spellings: spellings.map((word) => vendor + word),
  }));
});

/** The vendor's setting that a name misspells; the nearest if there are several. */
function vendorSetting(name: string): string | undefined {
  const text = normalizeName(name);
  let best: { readonly setting: string; readonly edits: number } | undefined;
  for (const { setting, spellings } of VENDOR_SPELLINGS) {
    for (const [at, spelling] of spellings.entries()) {
      if (Math.abs(text.length - spelling.length) > MAX_EDITS) continue;
      const edits = leven(text, spelling, { maxDistance: MAX_EDITS + 1 });
      if (edits > MAX_EDITS || edits >= (best?.edits ?? Infinity)) continue;
      if (isMisspelling(text, spelling, edits, at === 0)) {
        best = { setting, edits };
      }
    }
  }
  return best?.setting;
}

/**
 * Two edits count only if they swap or replace letters of the setting itself. A letter missing from
 * a variant makes another program's name: `VENDOR_URL` is in the os-release of some systems.
 */
function isMisspelling(
  text: string,
  spelling: string,
  edits: number,
  isSetting: boolean,
): boolean {
  if (edits === 2) return isSetting && text.length === spelling.length;
  return isSetting || text.length >= spelling.length;
}

function normalizeName(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/**
 * The name without `GATEWAY_` if that is a setting, else a setting within `MAX_EDITS`, else the
 * nearest setting that shares all words of the shorter name.
 */
function nearestSetting(
  name: string,
  settings: readonly string[],
): string | undefined {
  const bare = name.replace(/^GATEWAY_/, "");
  if (settings.includes(bare)) return bare;
  const near = closestMatch(name, [...settings], { maxDistance: MAX_EDITS });
  if (near !== undefined) return near;
  const words = name.split("_");
  return closestMatch(
    name,
    settings.filter((setting) => {
      const others = setting.split("_");
      const [few, many] = words.length < others.length
        ? [words, others]
        : [others, words];
      return few.every((word) => many.includes(word));
    }),
  );
}

/**
 * Explains to the operator why an upstream's certificate was refused. Deno has no codes for this,
 * only rustls' texts.
 */

const FAULTS: readonly (readonly [RegExp, string])[] = [
  [
    /UnknownIssuer/,
    "is signed by an unknown authority; DENO_CERT or DENO_TLS_CA_STORE=system makes one known",
  ],
  [/certificate expired/, "has expired"],
  [/not valid yet/, "is not valid yet"],
  [
    /not valid for name|NotValidForName/,
    "is for another name than that of the vendor's base address",
  ],
  [/Revoked/i, "is revoked"],
];

/** The explanation for the log; undefined for any other error. */
export function certificateFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!error.message.includes("invalid peer certificate")) return undefined;
  const fault = FAULTS.find(([pattern]) => pattern.test(error.message));
  return `the upstream's certificate ${fault?.[1] ?? "is not valid"}`;
}

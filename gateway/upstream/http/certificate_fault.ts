/**
 * Explains to the operator why a certificate was refused, that of the server or ours. Deno has
 * rustls' texts for it, and some codes of `node:tls`.
 */

/** Faults of the server's certificate. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [
    /UnknownIssuer/,
    "is signed by an unknown authority; SSL_CERT_FILE, DENO_CERT, DENO_TLS_CA_STORE=system or a vendor's tls.ca makes one known",
  ],
  [
    /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
    "is signed by an unknown authority, which a vendor's tls.ca makes known, or has expired",
  ],
  [/certificate expired/, "has expired"],
  [/not valid yet/, "is not valid yet"],
  [
    /not valid for name|NotValidForName|ERR_TLS_CERT_ALTNAME_INVALID/,
    "is for another name than that of its address",
  ],
  [/Revoked/i, "is revoked"],
];

/** Alerts by which a server ends a handshake (RFC 8446, section 6). */
const ALERTS: readonly (readonly [RegExp, string])[] = [
  [
    /ProtocolVersion|protocol version/i,
    "offers no version of TLS that is allowed (1.2 or 1.3; a vendor's tls.min_version)",
  ],
  [
    /CertificateRequired|certificate required/i,
    "asks for a client certificate (a vendor's tls.cert and tls.key)",
  ],
  [
    /BadCertificate|CertificateUnknown|CertificateExpired|CertificateRevoked|UnknownCA|AccessDenied|DecryptError/i,
    "does not accept the client certificate (a vendor's tls.cert)",
  ],
];

/** The explanation for the log about `who`, such as the upstream; undefined for any other error. */
export function certificateFault(
  error: unknown,
  who: string,
): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? String(error.code) : "";
  const text = `${error.message} ${code}`;
  const alert = /fatal alert/.test(text)
    ? ALERTS.find(([pattern]) => pattern.test(text))
    : undefined;
  if (alert !== undefined) return `${who} ${alert[1]}`;
  const fault = FAULTS.find(([pattern]) => pattern.test(text));
  if (fault === undefined && !text.includes("invalid peer certificate")) {
    return undefined;
  }
  return `${who}'s certificate ${fault?.[1] ?? "is not valid"}`;
}

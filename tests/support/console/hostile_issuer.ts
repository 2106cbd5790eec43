/**
 * An issuer of OpenID Connect that lies where the test wants it to, and a sign-in at it. Everything
 * that the test leaves alone is right.
 */
import { Buffer } from "node:buffer";
import { serveLoopback } from "../serve_loopback.ts";
import type { TestGateway } from "../test_gateway.ts";
import { type Page, walker } from "./issuer.ts";

type Json = Record<string, unknown>;

/** Where it lies. */
export interface Lies {
  /** Changes what it states of itself. */
  readonly metadata?: (metadata: Json, url: string) => void;
  /** Changes the ID token's header and claims before it is signed. */
  readonly token?: (header: Json, claims: Json) => void;
  /** The signature in base64url; absent: right. */
  readonly signature?: (text: string) => string | Promise<string>;
  /** Its answers in place of the right ones. */
  readonly keys?: () => Response;
  readonly tokens?: () => Response;
  readonly userInfo?: () => Response;
  /** What another host of its company answers. */
  readonly graph?: (request: Request) => Response;
  /** Changes the query of the way back. */
  readonly back?: (query: URLSearchParams) => void;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNING = { name: "ECDSA", hash: "SHA-256" } as const;
const PAIR = await crypto.subtle.generateKey(ALGORITHM, true, [
  "sign",
  "verify",
]);
/** Its public key, as it publishes it. */
export const PUBLIC_KEY: JsonWebKey & { readonly kid: string } = {
  ...await crypto.subtle.exportKey("jwk", PAIR.publicKey),
  kid: "k",
};

const base64url = (data: string | ArrayBuffer): string =>
  (typeof data === "string" ? Buffer.from(data) : Buffer.from(data))
    .toString("base64url");

/** Signs with a key; absent: the issuer's own. */
export async function signed(
  text: string,
  key: CryptoKey = PAIR.privateKey,
): Promise<string> {
  return base64url(
    await crypto.subtle.sign(SIGNING, key, new TextEncoder().encode(text)),
  );
}

/** A running issuer. */
export interface HostileIssuer extends AsyncDisposable {
  /** Its address, as it states it. */
  readonly url: string;
  readonly port: number;
  /** Makes it that of an address which leads to it, from now on. */
  become(url: string): void;
  /** A person's browser is at its page. */
  visit(address: URL): void;
  /** Chooses its lies from now on. */
  lie(lies: Lies): void;
}

/** Starts an issuer on this machine; with `tls`, over https. */
export function startHostileIssuer(
  tls?: { readonly cert: string; readonly key: string },
): HostileIssuer {
  let lies: Lies = {};
  let nonce = "";
  const idToken = async (): Promise<string> => {
    const header: Json = { alg: "ES256", kid: "k" };
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims: Json = {
      iss: url,
      aud: "console",
      sub: "ada",
      nonce,
      iat: nowSeconds,
      exp: nowSeconds + 60,
      groups: ["team-a"],
    };
    lies.token?.(header, claims);
    const text = [header, claims]
      .map((part) => base64url(JSON.stringify(part))).join(".");
    return `${text}.${await (lies.signature ?? signed)(text)}`;
  };
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, host } = new URL(request.url);
    const own = new URL(url);
    if (host !== own.host) {
      return lies.graph?.(request) ?? new Response(null, { status: 404 });
    }
    switch (pathname.slice(own.pathname === "/" ? 0 : own.pathname.length)) {
      case "/.well-known/openid-configuration": {
        const metadata: Json = {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          userinfo_endpoint: `${url}/userinfo`,
          jwks_uri: `${url}/keys`,
          authorization_response_iss_parameter_supported: true,
          id_token_signing_alg_values_supported: ["ES256"],
        };
        lies.metadata?.(metadata, url);
        return Response.json(metadata);
      }
      case "/keys":
        return lies.keys?.() ?? Response.json({ keys: [PUBLIC_KEY] });
      case "/token":
        return lies.tokens?.() ?? Response.json({
          access_token: "a",
          token_type: "bearer",
          id_token: await idToken(),
        });
      case "/userinfo":
        return lies.userInfo?.() ?? Response.json({ sub: "ada" });
    }
    return new Response(null, { status: 404 });
  };
  const server = tls === undefined ? serveLoopback(answer) : Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls },
    answer,
  );
  let url = `http://127.0.0.1:${server.addr.port}`;
  return {
    get url() {
      return url;
    },
    port: server.addr.port,
    become(address) {
      url = address;
    },
    visit({ searchParams }) {
      nonce = searchParams.get("nonce") ?? "";
    },
    lie: (given) => void (lies = given),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The last page of the way, and what it gave. */
export interface SignInResult extends Page {
  /** Whether the console gave a session. */
  readonly isIn: boolean;
}

/** Signs in at the issuer, with these lies from the beginning to the end. */
export async function signInWith(
  gateway: Pick<TestGateway, "url">,
  issuer: HostileIssuer,
  lies: Lies,
): Promise<SignInResult> {
  issuer.lie(lies);
  const person = walker();
  const result = (page: Page): SignInResult => ({
    ...page,
    isIn: person.cookies.has(`${gateway.url} console`),
  });
  const departure = await person.ask(
    `${gateway.url}/console/company-sign-in?door=account`,
  );
  const there = departure.headers.get("location");
  if (there === null) return result(departure);
  const at = new URL(there);
  issuer.visit(at);
  const asked = at.searchParams;
  const query = new URLSearchParams({
    code: "c",
    state: asked.get("state") ?? "",
    iss: issuer.url,
  });
  lies.back?.(query);
  return result(
    await person.ask(`${asked.get("redirect_uri") ?? ""}?${query}`),
  );
}

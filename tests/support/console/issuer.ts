/**
 * A company's issuer of OpenID Connect for tests, and a person who signs in there without a
 * browser.
 */
import assert from "node:assert/strict";
import { OIDC_PROVIDER } from "../../packages/oidc_provider.ts";

const PROGRAM = new URL("./issuer_program.js", import.meta.url);

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  /** Changes it: `claims/NAME`, `console`, `clock`; see the program. */
  set(what: string, value: unknown): Promise<void>;
}

/** Starts an issuer in a process of its own. */
export async function startIssuer(): Promise<Issuer> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-config",
      "--no-lock",
      "--node-modules-dir=none",
      "--quiet",
      "--allow-all",
      PROGRAM.pathname,
      OIDC_PROVIDER,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  let text = "";
  while (!/^http:.*\n/m.test(text)) {
    const { value, done } = await reader.read();
    assert.ok(!done, "the issuer did not start");
    text += new TextDecoder().decode(value);
  }
  const url = /^http:.*$/m.exec(text)?.[0] ?? "";
  return {
    url,
    async set(what, value) {
      const response = await fetch(`${url}/test/${what}`, {
        method: "PUT",
        body: JSON.stringify(value),
      });
      await response.body?.cancel();
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
    },
  };
}

/** A reply, read to its end. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser without pages: keeps cookies of each origin, and follows redirects by hand. */
export interface Walker {
  /** By origin and name, with a blank between. */
  readonly cookies: Map<string, string>;
  ask(url: string, form?: Readonly<Record<string, string>>): Promise<Page>;
  /** Signs in as `name` at the issuer, from its page on; the address that it leads back to. */
  signInAt(issuer: Issuer, url: string, name: string): Promise<string>;
}

export function walker(): Walker {
  const cookies = new Map<string, string>();
  const ask = async (
    url: string,
    form?: Readonly<Record<string, string>>,
  ): Promise<Page> => {
    const { origin } = new URL(url);
    const own = [...cookies].filter(([name]) => name.startsWith(`${origin} `));
    const response = await fetch(url, {
      redirect: "manual",
      headers: {
        "sec-fetch-site": "same-origin",
        cookie: own.map(([name, value]) => `${name.split(" ")[1]}=${value}`)
          .join("; "),
      },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const [name = "", ...value] = pair.split("=");
      cookies.set(`${origin} ${name}`, value.join("="));
    }
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  };
  return {
    cookies,
    ask,
    async signInAt(issuer, start, name) {
      let url = start;
      for (let step = 0; step < 20; step++) {
        if (!url.startsWith(issuer.url)) return url;
        const { headers, text: page } = await ask(url);
        const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
        const to = headers.get("location");
        if (to !== null) {
          url = new URL(to, url).href;
          continue;
        }
        assert.ok(action !== undefined, `no form at ${url}: ${page}`);
        const sent = await ask(new URL(action, url).href, {
          prompt: page.includes('value="login"') ? "login" : "consent",
          login: name,
          password: "any",
        });
        url = new URL(sent.headers.get("location") ?? "", url).href;
      }
      throw new Error("the issuer led in circles");
    },
  };
}

/**
 * Renders a kustomization as `kubectl kustomize` does, as far as `deploy/kubernetes/` uses it:
 * resources, namespace, images, strategic merge patches and JSON patches that add. Anything else is
 * an error. Debian has no kustomize that knows these fields.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";

export interface Resource extends JsonObject {
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string };
}

export async function readDocuments(path: string): Promise<JsonObject[]> {
  return documentsOf(await Deno.readTextFile(path), path);
}

/** By YAML 1.1, as programs in Go read numbers such as 0440. */
function documentsOf(text: string, path: string): JsonObject[] {
  return parseAllDocuments(text, { version: "1.1" }).map((document) => {
    assert.deepEqual(document.errors, [], path);
    return document.toJS();
  });
}

/** The objects of the kustomization in a folder. */
export async function render(folder: string): Promise<Resource[]> {
  const [given = {}] = await readDocuments(join(folder, "kustomization.yaml"));
  const { apiVersion, kind, ...fields } = given;
  assert.equal(apiVersion, "kustomize.config.k8s.io/v1beta1");
  assert.equal(kind, "Kustomization");
  for (const field of Object.keys(fields)) {
    assert.ok(
      ["resources", "namespace", "images", "patches"].includes(field),
      `${folder}: ${field}`,
    );
  }
  let found: Resource[] = [];
  for (const name of listOf(given["resources"])) {
    const path = join(folder, String(name));
    const isFolder = (await Deno.stat(path)).isDirectory;
    found.push(
      ...(isFolder
        ? await render(path)
        : await readDocuments(path) as Resource[]),
    );
  }
  for (const patch of listOf(given["patches"])) {
    found = await patched(found, folder, patch as JsonObject);
  }
  const { namespace } = given;
  return found.map((one) => ({
    ...withImages(one, listOf(given["images"])) as Resource,
    ...(namespace === undefined || one.kind === "Namespace"
      ? {}
      : { metadata: { ...one.metadata, namespace } }),
  }));
}

/** What `kubectl` renders; undefined without one that has kustomize 5. */
export const kubectlRender: undefined | ((folder: string) => Resource[]) =
  hasKustomize()
    ? (folder) =>
      documentsOf(kubectl("kustomize", folder), folder) as Resource[]
    : undefined;

function hasKustomize(): boolean {
  try {
    return /"kustomizeVersion": "v5\./.test(
      kubectl("version", "--client", "--output=json"),
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function kubectl(...args: readonly string[]): string {
  const { stdout, stderr } = new Deno.Command("kubectl", { args: [...args] })
    .outputSync();
  const decoder = new TextDecoder();
  return decoder.decode(stdout) || decoder.decode(stderr);
}

async function patched(
  given: readonly Resource[],
  folder: string,
  { path, target, ...others }: JsonObject,
): Promise<Resource[]> {
  assert.deepEqual(others, {});
  let found = [...given];
  const patches = await readDocuments(join(folder, String(path)));
  assert.ok(
    patches.length === 1 || !patches.some((one) => one["$patch"] === "delete"),
    `${path}: kustomize 5 ends with a panic at a file that deletes one object of several`,
  );
  for (const patch of patches) {
    const wanted = (target ?? {
      kind: patch["kind"],
      name: (patch["metadata"] as JsonObject)["name"],
    }) as JsonObject;
    const at = found.findIndex(({ kind, metadata }) =>
      kind === wanted["kind"] && metadata.name === wanted["name"]
    );
    const one = found[at];
    assert.ok(one !== undefined, `${path} changes nothing`);
    if (patch["$patch"] === "delete") found = found.toSpliced(at, 1);
    else {
      found[at] = Array.isArray(patch)
        ? patch.reduce(added, structuredClone(one))
        : merged(one, patch) as Resource;
    }
  }
  return found;
}

/** A JSON patch's operation: `add` at the end of a list. */
function added(one: Resource, operation: JsonObject): Resource {
  const { op, path, value } = operation;
  assert.equal(op, "add");
  const steps = String(path).split("/").slice(1);
  assert.equal(steps.pop(), "-");
  const list = steps.reduce<unknown>(
    (inner, step) => (inner as JsonObject)[step],
    one,
  );
  assert.ok(Array.isArray(list), String(path));
  list.push(value);
  return one;
}

/**
 * A strategic merge: named items are merged, new ones first, other lists replaced; null removes.
 */
function merged(base: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) {
    if (!Array.isArray(base) || !patch.every((one) => nameOf(one))) {
      return patch;
    }
    const names = new Set(patch.map(nameOf));
    return [
      ...[...names].filter((name) => !base.some((one) => nameOf(one) === name))
        .map((name) => patch.find((one) => nameOf(one) === name)),
      ...base.map((one) => {
        const own = patch.find((other) => nameOf(other) === nameOf(one));
        return own === undefined ? one : merged(one, own);
      }),
    ];
  }
  if (!isObject(patch) || !isObject(base)) return patch;
  const result: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(base[name], value);
  }
  return result;
}

function nameOf(value: unknown): unknown {
  return isObject(value) ? value["name"] : undefined;
}

function withImages(value: unknown, images: readonly unknown[]): unknown {
  if (Array.isArray(value)) return value.map((one) => withImages(one, images));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const image = images.find((one) =>
        name === "image" && nameOf(one) === inner
      ) as JsonObject | undefined;
      return [
        name,
        image === undefined
          ? withImages(inner, images)
          : `${image["newName"]}:${image["newTag"]}`,
      ];
    }),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

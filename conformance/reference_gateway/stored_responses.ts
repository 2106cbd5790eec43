/** The replies of the Responses format that the reference gateway keeps, in memory. */
import { textAt } from "../evidence/json_path.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { invalid, Refused } from "./part.ts";
import { problemOf } from "./problems.ts";

interface Stored {
  /** The key that received the reply; no other key finds it. */
  readonly owner: string;
  readonly reply: JsonObject;
  /** The whole conversation before the reply. */
  readonly input: readonly Json[];
}

export class StoredResponses {
  readonly #stored = new Map<string, Stored>();

  /** The items of `input`; a string is one message of the user. */
  static itemsOf(input: Json | undefined): readonly Json[] {
    return typeof input === "string"
      ? [{ type: "message", role: "user", content: input }]
      : arrayOf(input);
  }

  /**
   * The body with the items of the earlier replies that it refers to.
   * @throws {Refused} when a reply or an item is unknown
   */
  expand(body: JsonObject, owner: string): JsonObject {
    const previous = textAt(body, "previous_response_id");
    if (previous !== "" && body["conversation"]) {
      throw invalid("conversation", "excludes previous_response_id");
    }
    const found = this.#find(previous, owner);
    if (previous !== "" && found === undefined) {
      throw new Refused(problemOf(400, `There is no response ${previous}`, {
        code: "previous_response_not_found",
        param: "previous_response_id",
      }));
    }
    if (!Array.isArray(body["input"]) && found === undefined) return body;
    const known = [...this.#stored.values()].flatMap((stored) =>
      stored.owner === owner
        ? [...stored.input, ...arrayOf(stored.reply["output"])]
        : []
    );
    const items = StoredResponses.itemsOf(body["input"]).map((item, index) => {
      if (textAt(item, "type") !== "item_reference") return item;
      const wanted = known.find((each) =>
        textAt(each, "id") === textAt(item, "id")
      );
      if (wanted !== undefined) return wanted;
      throw invalid(`input[${index}]`, "there is no such item");
    });
    const before = found === undefined
      ? []
      : [...found.input, ...arrayOf(found.reply["output"])];
    return { ...body, input: [...before, ...items] };
  }

  /** Keeps a reply to an expanded body. */
  keep(asked: JsonObject, reply: JsonObject, owner: string): void {
    if (reply["store"] === false) return;
    const input = StoredResponses.itemsOf(asked["input"]).map((item, index) =>
      textAt(item, "id") === ""
        ? { ...objectOf(item), id: `in_${textAt(reply, "id")}${index}` }
        : item
    );
    this.#stored.set(textAt(reply, "id"), { owner, reply, input });
  }

  #find(id: string, owner: string): Stored | undefined {
    const found = this.#stored.get(id);
    return found?.owner === owner ? found : undefined;
  }

  /**
   * Answers `GET` and `DELETE` of a path below `/v1/responses/`.
   * @throws {Refused} 404 for an unknown reply
   */
  answer(method: string, path: string, owner: string): JsonObject {
    const [, id = "", below] =
      /^\/v1\/responses\/([^/]+)(\/input_items)?$/.exec(path) ?? [];
    const found = this.#find(id, owner);
    if (found === undefined) {
      throw new Refused(problemOf(404, `There is no response ${id}`));
    }
    if (method === "DELETE") {
      this.#stored.delete(id);
      return { id, object: "response", deleted: true };
    }
    if (below === undefined) return found.reply;
    const data = [...found.input].reverse();
    return {
      object: "list",
      data,
      first_id: textAt(data[0], "id"),
      last_id: textAt(data.at(-1), "id"),
      has_more: false,
    };
  }
}

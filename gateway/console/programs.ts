/**
 * Programs that can use the gateway, with the lines that connect them: the source of the page
 * *Connect* and of `docs/clients.md`. Tests parse the lines, and run some in the program itself.
 */

/** What the lines are filled with. */
export interface Connection {
  /** The gateway's address, without a slash at the end. */
  readonly url: string;
  /** A model that may be called. */
  readonly model: string;
  /** A small and cheap one, for background requests. */
  readonly smallModel: string;
  /** Size of the model's context, in tokens. */
  readonly contextTokens: number;
  /** The longest reply of the model, in tokens. */
  readonly outputTokens: number;
  /** A model that makes embeddings; absent: none may be called. */
  readonly embeddingModel?: string;
  /** Endpoints that the operator has opened beside those of the formats, with a model for each. */
  readonly passed: readonly {
    readonly endpoint: string;
    readonly model: string;
  }[];
  /** Whether the Responses format is served over web sockets. */
  readonly hasWebSockets: boolean;
  /** Ids of models that may be called and that {@linkcode isInPicker} accepts. */
  readonly pickerIds: readonly string[];
}

/**
 * Whether the picker of Claude Code shows a model of `GET /v1/models`
 * (code.claude.com/docs/en/llm-gateway-protocol).
 */
export function isInPicker(id: string): boolean {
  return /^(?:claude|anthropic)/.test(id);
}

/** How one program is connected. */
interface Program {
  /** Part of the page's address. */
  readonly id: string;
  /** Its own name. */
  readonly name: string;
  /** Where the lines belong. */
  readonly place: string;
  /** What the lines are; `fields`: what is entered into a form. */
  readonly form:
    | "sh"
    | "json"
    | "toml"
    | "yaml"
    | "fields"
    | "py"
    | "js";
  /** True where it offers only ids that {@linkcode isInPicker} accepts. */
  readonly hasPicker?: true;
  /** The lines; the key is in the environment variable GATEWAY_KEY, or the text sk-…. */
  lines(connection: Connection): string;
}

/** A call of each endpoint. */
function curlLines(
  { url, model, embeddingModel, passed, hasWebSockets }: Connection,
): string {
  const messages = `"messages": [{"role": "user", "content": "Hello"}]`;
  const post = (
    name: string,
    path: string,
    body: string,
    header = "authorization: Bearer",
  ): string =>
    `# ${name}
curl ${url}${path} -H "${header} $GATEWAY_KEY" -H 'content-type: application/json' \\
  -d '${body}'`;
  return [
    post(
      "Messages",
      "/v1/messages",
      `{"model": "${model}", "max_tokens": 100, ${messages}}`,
      "x-api-key:",
    ),
    post(
      "Chat completions",
      "/v1/chat/completions",
      `{"model": "${model}", ${messages}}`,
    ),
    post(
      "Responses",
      "/v1/responses",
      `{"model": "${model}", "input": "Hello"}`,
    ),
    ...(hasWebSockets
      ? [`# Responses over a web socket; each message is a request
npx -y wscat -c ${
        url.replace(/^http/, "ws")
      }/v1/responses -H "authorization: Bearer $GATEWAY_KEY" -w 5 \\
  -x '{"type": "response.create", "model": "${model}", "input": "Hello"}'`]
      : []),
    post(
      "Generate content",
      `/v1beta/models/${model}:generateContent`,
      `{"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}`,
      "x-goog-api-key:",
    ),
    ...(embeddingModel === undefined ? [] : [
      post(
        "Embeddings",
        "/v1/embeddings",
        `{"model": "${embeddingModel}", "input": "Hello"}`,
      ),
    ]),
    post(
      "Tokens of a prompt, without a call and without charge",
      "/v1/messages/count_tokens",
      `{"model": "${model}", ${messages}}`,
      "x-api-key:",
    ),
    ...passed.map(({ endpoint, model }) =>
      post(
        "Opened by the operator; the body is the vendor's",
        endpoint,
        `{"model": "${model}"}`,
      )
    ),
  ].join("\n\n");
}

const SHELL = "In a terminal, with the key in GATEWAY_KEY";

/** The lines of a program that is configured by its environment. */
function exportLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables).map(([name, value]) =>
    `export ${name}=${value}\n`
  ).join("");
}

/**
 * The environment of Claude Code, also inside an editor. The small model has an older name in old
 * versions; subagents and the picker name the models of the other variables.
 */
function claudeCode(
  { url, model, smallModel, contextTokens, pickerIds }: Connection,
  key: string,
): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_FABLE_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel,
    ANTHROPIC_SMALL_FAST_MODEL: smallModel,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextTokens),
    ...(pickerIds.length === 0
      ? {}
      : { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: "1" }),
  };
}

function jsonLines(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** The configuration of OpenCode and of what is made of it. */
function openCode(
  { url, model, contextTokens, outputTokens }: Connection,
): Readonly<Record<string, unknown>> {
  return {
    model: `gateway/${model}`,
    provider: {
      gateway: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: "{env:GATEWAY_KEY}" },
        models: {
          // Without limits it never compacts a conversation.
          [model]: { limit: { context: contextTokens, output: outputTokens } },
        },
      },
    },
  };
}

/** All programs, in the order of the page. */
export const PROGRAMS: readonly Program[] = [
  {
    id: "curl",
    name: "curl",
    place: SHELL,
    form: "sh",
    lines: curlLines,
  },
  {
    id: "claude-code",
    name: "Claude Code",
    place: "In a terminal",
    form: "sh",
    hasPicker: true,
    lines: (connection) =>
      `${exportLines(claudeCode(connection, '"$GATEWAY_KEY"'))}claude`,
  },
  {
    id: "acp",
    name: "Claude Code in Zed and other ACP editors",
    place: "In settings.json of Zed; other editors take the same command",
    form: "json",
    lines: (connection) =>
      jsonLines({
        agent_servers: {
          "Claude Code": {
            type: "custom",
            command: "npx",
            args: ["-y", "@agentclientprotocol/claude-agent-acp"],
            env: claudeCode(connection, "sk-…"),
          },
        },
      }),
  },
  {
    id: "codex",
    name: "Codex CLI",
    place: "In ~/.codex/config.toml",
    form: "toml",
    lines: ({ url, model, contextTokens, hasWebSockets }) =>
      `model = "${model}"
model_provider = "gateway"
model_context_window = ${contextTokens}

[model_providers.gateway]
name = "Model Gateway"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"${hasWebSockets ? "\nsupports_websockets = true" : ""}`,
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    place: SHELL,
    form: "sh",
    lines: ({ url, model }) =>
      `export GOOGLE_GEMINI_BASE_URL=${url}
export GEMINI_API_KEY="$GATEWAY_KEY"
# ~/.gemini/settings.json, else it asks: {"security": {"auth": {"selectedType": "gemini-api-key"}}}
gemini --model ${model}`,
  },
  {
    id: "opencode",
    name: "OpenCode",
    place: "In opencode.json",
    form: "json",
    lines: (connection) => jsonLines(openCode(connection)),
  },
  {
    id: "kilo",
    name: "Kilo CLI",
    place:
      "In kilo.json; without its snapshots, which ask a question where git is slow",
    form: "json",
    lines: (connection) =>
      jsonLines({ ...openCode(connection), snapshot: false }),
  },
  {
    id: "copilot-cli",
    name: "GitHub Copilot CLI",
    place: SHELL,
    form: "sh",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      `${
        exportLines({
          COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
          COPILOT_PROVIDER_API_KEY: '"$GATEWAY_KEY"',
          COPILOT_MODEL: model,
          COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(contextTokens),
          COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(outputTokens),
        })
      }copilot`,
  },
  {
    id: "qwen-code",
    name: "Qwen Code",
    place: SHELL,
    form: "sh",
    lines: ({ url, model, contextTokens }) =>
      `export OPENAI_BASE_URL=${url}/v1
export OPENAI_API_KEY="$GATEWAY_KEY"
export OPENAI_MODEL=${model}
# ~/.qwen/settings.json: {"model": {"generationConfig": {"contextWindowSize": ${contextTokens}}}}
qwen --auth-type openai`,
  },
  {
    id: "droid",
    name: "Droid",
    place: "In ~/.factory/settings.json",
    form: "json",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      jsonLines({
        customModels: [{
          displayName: model,
          model,
          baseUrl: `${url}/v1`,
          apiKey: "${GATEWAY_KEY}",
          provider: "generic-chat-completion-api",
          maxContextLimit: contextTokens,
          maxOutputTokens: outputTokens,
        }],
      }),
  },
  {
    id: "pi",
    name: "pi",
    place: "In ~/.pi/agent/models.json",
    form: "json",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      jsonLines({
        providers: {
          gateway: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: "sk-…",
            models: [{
              id: model,
              contextWindow: contextTokens,
              maxTokens: outputTokens,
            }],
          },
        },
      }),
  },
  {
    id: "aider",
    name: "Aider",
    place: "In a terminal",
    form: "sh",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      `export OPENAI_API_BASE=${url}/v1
export OPENAI_API_KEY="$GATEWAY_KEY"
cat > .aider.model.metadata.json <<'END'
{"openai/${model}": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": ${contextTokens}, "max_output_tokens": ${outputTokens}}}
END
aider --model openai/${model}`,
  },
  {
    id: "continue",
    name: "Continue",
    place: "In ~/.continue/config.yaml",
    form: "yaml",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      `name: Model Gateway
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${url}/v1
    apiKey: sk-…
    defaultCompletionOptions:
      contextLength: ${contextTokens}
      maxTokens: ${outputTokens}`,
  },
  {
    id: "cline",
    name: "Cline",
    place: "In its settings, with the provider OpenAI Compatible",
    form: "fields",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      `Base URL: ${url}/v1
API Key: sk-…
Model ID: ${model}
Context Window Size: ${contextTokens}
Max Output Tokens: ${outputTokens}`,
  },
  {
    id: "zed",
    name: "Zed",
    place: "In settings.json; the key goes into the settings of its assistant",
    form: "json",
    lines: ({ url, model, contextTokens, outputTokens }) =>
      jsonLines({
        language_models: {
          openai_compatible: {
            Gateway: {
              api_url: `${url}/v1`,
              available_models: [{
                name: model,
                max_tokens: contextTokens,
                max_output_tokens: outputTokens,
              }],
            },
          },
        },
      }),
  },
  {
    id: "open-webui",
    name: "Open WebUI",
    place: SHELL,
    form: "sh",
    lines: ({ url }) =>
      `docker run -d -p 3000:8080 -e OPENAI_API_BASE_URL=${url}/v1 \\
  -e OPENAI_API_KEY="$GATEWAY_KEY" ghcr.io/open-webui/open-webui:main`,
  },
  {
    id: "openai-python",
    name: "OpenAI, Python",
    place: "pip install openai",
    form: "py",
    lines: ({ url, model }) =>
      `import os
from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=os.environ["GATEWAY_KEY"])
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)`,
  },
  {
    id: "openai-javascript",
    name: "OpenAI, JavaScript",
    place: "npm install openai",
    form: "js",
    lines: ({ url, model }) =>
      `import { env } from "node:process";
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${url}/v1",
  apiKey: env.GATEWAY_KEY,
});
const reply = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(reply.choices[0].message.content);`,
  },
  {
    id: "anthropic-python",
    name: "Anthropic, Python",
    place: "pip install anthropic",
    form: "py",
    lines: ({ url, model }) =>
      `import os
from anthropic import Anthropic

client = Anthropic(base_url="${url}", api_key=os.environ["GATEWAY_KEY"])
reply = client.messages.create(
    model="${model}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.content[0].text)`,
  },
  {
    id: "anthropic-javascript",
    name: "Anthropic, JavaScript",
    place: "npm install @anthropic-ai/sdk",
    form: "js",
    lines: ({ url, model }) =>
      `import { env } from "node:process";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: "${url}",
  apiKey: env.GATEWAY_KEY,
});
const reply = await client.messages.create({
  model: "${model}",
  max_tokens: 200,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(reply.content);`,
  },
  {
    id: "google-genai",
    name: "@google/genai",
    place: "In JavaScript",
    form: "js",
    lines: ({ url, model }) =>
      `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: "sk-…",
  httpOptions: { baseUrl: "${url}" },
});
const reply = await client.models.generateContent({
  model: "${model}",
  contents: "Hello",
});`,
  },
  {
    id: "ai-sdk",
    name: "Vercel AI SDK",
    place: "npm install ai @ai-sdk/openai",
    form: "js",
    lines: ({ url, model }) =>
      `import { env } from "node:process";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const gateway = createOpenAI({
  baseURL: "${url}/v1",
  apiKey: env.GATEWAY_KEY,
});
const { text } = await generateText({
  model: gateway.chat("${model}"),
  prompt: "Hello",
});
console.log(text);`,
  },
  {
    id: "langchain",
    name: "LangChain, Python",
    place: "pip install langchain-openai",
    form: "py",
    lines: ({ url, model }) =>
      `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${model}",
    base_url="${url}/v1",
    api_key=os.environ["GATEWAY_KEY"],
)
print(model.invoke("Hello").content)`,
  },
  {
    id: "llamaindex",
    name: "LlamaIndex, Python",
    place: "pip install llama-index-llms-openai-like",
    form: "py",
    lines: ({ url, model, contextTokens }) =>
      `import os
from llama_index.llms.openai_like import OpenAILike

model = OpenAILike(
    model="${model}",
    api_base="${url}/v1",
    api_key=os.environ["GATEWAY_KEY"],
    is_chat_model=True,
    context_window=${contextTokens},
)
print(model.complete("Hello"))`,
  },
];

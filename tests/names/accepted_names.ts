/**
 * Declared names that the product's code need not use, with the reasons. A name that is neither
 * used nor accepted is new: read about it, then translate it or add it here.
 */

/** Names that one reason accepts. Patterns match whole texts. */
export interface Accepted {
  readonly reason: string;
  /** Everything that these files declare. */
  readonly files?: RegExp;
  /** Everything that these declarations contain; a leading `Beta` is left out. */
  readonly declarations?: RegExp;
  /** These names, wherever they are declared: separated by spaces, or by a pattern. */
  readonly names?: string | RegExp;
}

const MODEL_IDS =
  "models come from the vendors' lists, the catalogue and the configuration file";
const OTHER_ENDPOINTS =
  "endpoints that the gateway does not have, or whose bodies it reads only in part";
const VENDOR_TOOLS =
  "tools that vendors run or define: passed in the same format; elsewhere refused by kind, and passed over in replies";
const VENDOR_SETTINGS =
  "settings of one vendor: passed in the same format, dropped and named elsewhere";
const VENDOR_REPORTS =
  "what a vendor reports beside its reply: passed in the same format, without a place elsewhere";
const VENDOR_TIERS =
  "tiers and speeds: any word has the price of its row, or none";
const LIBRARY = "the library's own, not on the wire";

export const ANTHROPIC: readonly Accepted[] = [
  {
    reason: OTHER_ENDPOINTS,
    files:
      /resources\/(?:beta\/)?(?:organization|sessions|agents|environments|memory-stores|vaults|tunnels|skills|files|user-profiles|webhooks|deployments|deployment-runs|dreams|compliance)(?:\/.*|\.d\.ts)|resources\/(?:beta\/)?messages\/batches\.d\.ts/,
  },
  { reason: MODEL_IDS, declarations: /Model|ModelLine/ },
  {
    reason: VENDOR_TOOLS,
    declarations:
      /(?:Browser|Computer|ToolComputerUse|ToolBash|ToolTextEditor|MemoryTool|Advisor|CodeExecution|BashCodeExecution|TextEditorCodeExecution|EncryptedCodeExecution|WebSearch|WebFetch|ToolSearch|MCP|RequestMCP|ServerTool|UserLocation|ToolChangeMCP|ResponseToolChangeMCP|ContainerSkill|SkillParams|AgentMemory).*/,
  },
  {
    reason:
      "codes of errors reach clients as they are; the code has only those that the gateway acts on",
    declarations:
      /.*(?:Error|ErrorDetails|ErrorObject|ErrorType)|ThreadUnsupported.*/,
  },
  {
    reason:
      "`translate/model/betas.ts` has the names without their dates, which a test compares",
    declarations: /AnthropicBeta/,
  },
  {
    reason: "places inside documents, which no other format's citations have",
    declarations: /Citation.*/,
  },
  {
    reason: VENDOR_REPORTS,
    declarations:
      /CacheMiss.*|Diagnostics|Fallback.*|RefusalStopDetails|Thinking(?:Dropped|MismatchAllowed).*|ContextManagementResponse|CountTokensContextManagementResponse|.*EditResponse/,
    names: "input_transformations",
  },
  {
    reason: VENDOR_SETTINGS,
    declarations:
      /Clear(?:Thinking|ToolUses)\d+Edit|Compact\d+Edit|Compaction.*|SummarizeCompaction|ContextManagement.*|ThinkingBlockBinding|ThinkingPrefixMismatchBehavior|ThinkingTurns|ToolUses(?:Keep|Trigger)|ImageTransformationsParam|DiagnosticsParam|Thread(?:Continue|Create)Params|TokenTaskBudget/,
    names:
      "transformations block_binding workspace_id input_examples fallback_credit_token updates eager_input_streaming task_budget skills expires_at",
  },
  { reason: VENDOR_TIERS, names: "fast priority batch" },
  {
    reason: "a header of the wire, which `translate/model/betas.ts` reads",
    names: "betas",
  },
  {
    reason: "money of organizations, no part of replies",
    declarations: /Currency|MonetaryAmount/,
  },
  {
    reason: LIBRARY + ": a header of the wire",
    names: "user_profile_id",
  },
  {
    reason: VENDOR_TOOLS,
    names: /code_execution(?:_\d+)?|toolset_name/,
  },
  {
    reason: "who pays at the vendor, which only its own clients may choose",
    names: "user_profile",
  },
];

export const OPENAI: readonly Accepted[] = [
  {
    reason: OTHER_ENDPOINTS,
    files:
      /resources\/(?:admin|audio|beta|chat\/completions\/messages|completions|containers|conversations|evals|fine-tuning|graders|live|realtime|safety|skills|uploads|vector-stores|webhooks|images|videos|batches|moderations|files|content-provenance-checks|decisions|embeddings)(?:\/.*)?(?:\.d\.ts)?/,
    declarations:
      /ChatCompletion(?:Deleted|StoreMessage|ListParams)|ModelDeleted|InputItemListParams|Compacted.*|ResponseCompactParams.*|InputTokenCount.*|ResponseRetrieveParams.*|OAuthErrorCode|Decision(?:Input|Question).*/,
  },
  {
    reason: "steering over WebSocket, which is refused with its code",
    files: /resources\/responses\/(?:ws|ws-base|internal-base)\.d\.ts/,
    declarations: /ResponseSteer.*|Responses(?:Client|Server)Event.*/,
  },
  {
    reason: MODEL_IDS,
    declarations: /AllModels|ChatModel|ResponsesModel|Model/,
  },
  {
    reason: VENDOR_TOOLS,
    declarations:
      /(?:ApplyPatch|Computer|Container|FileSearch|InlineSkill|LocalSkill|SkillReference|McpToolCall|ToolSearch|WebSearch|ResponseApplyPatch|ResponseCodeInterpreter|ResponseComputer|ResponseContainer|ResponseFileSearch|ResponseFunctionShell|ResponseFunctionWebSearch|ResponseImageGen|ResponseMcp|ResponseShellCall|ResponseToolSearch|ResponseWebSearch|ResponseLocal|ComparisonFilter|ToolChoiceTypes|ToolChoiceApplyPatch).*|Tool\..*|Response(?:Input|Output)?Item\..*|ChatCompletionCreateParams\.WebSearchOptions.*/,
    names:
      "async output_schema programmatic caller_id allowed_callers direct caller skills server_label filters",
  },
  {
    reason:
      "what sources have beside address, title and quotation, and other annotations",
    declarations:
      /ChatCompletionMessage\.Annotation.*|ResponseOutputText(?:AnnotationAddedEvent)?(?:\..*)?/,
  },
  {
    reason:
      "sound: a modality is passed in the same format and refused elsewhere, whatever its settings",
    declarations:
      /ChatCompletionAudio.*|ChatCompletionChunk\.Choice\.Delta\.Audio|Response(?:Input)?Audio.*|ResponseOutputAudio/,
  },
  {
    reason: VENDOR_REPORTS,
    declarations:
      /ChatCompletion(?:Chunk)?\.Moderation.*|Response\.(?:AccessPrograms|Cache|ComparisonResponse|InputTransformation|ToolUsage|Image|Moderation).*|ResponseError\.Misalignment|ErrorObject\.Misalignment|ChatCompletionTokenLogprob.*|ResponseCompactionCompactingEvent/,
    names:
      "input_transformations prompt_cache_diagnostics created_by commentary final_answer moderation misalignment",
  },
  {
    reason: "the code composes these names of parts",
    names: /response\.reasoning_text\.(?:delta|done)/,
  },
  {
    reason: VENDOR_SETTINGS,
    declarations:
      /ChatCompletionCreateParams\.Moderation.*|ResponseCreateParams\.(?:AccessPrograms|ContextManagement|Image|Moderation).*|ResponseIncludable|CustomToolInputFormat.*|ChatCompletionCustomTool.*|Reasoning|ResponsePrompt|ResponseFormatTextPython/,
    names: "in_memory 24h context_management include_obfuscation original",
  },
  {
    reason: "settings of replies in the background, which are refused",
    declarations: /ResponseCreateParams\.BackgroundOptions/,
    names: "background_options",
  },
  { reason: VENDOR_TIERS, names: "flex fast ultrafast scale priority" },
  { reason: LIBRARY, declarations: /Parsed.*/ },
];

export const GENAI: readonly Accepted[] = [
  {
    reason:
      "everything but replies and counts: other endpoints have names only where the gateway reads or sends them",
    declarations:
      /(?!(?:GenerateContent(?!Batch)|Candidate|Content$|Part$|PartialArg|UsageMetadata|FinishReason|BlockedReason|Function(?:Call|Declaration|Response)|ThinkingConfig|ThinkingLevel|ToolConfig|Tool$|Blob$|FileData$|CodeExecutionResult$|ExecutableCode$|Language$|Outcome$|TrafficType|ServiceTier|Grounding|Citation|Url|Safety|Harm|Logprobs|Model(?:Stage|Status)|ModalityTokenCount|MediaModality|CountTokens|Behavior|Schema$|Type$|PartMediaResolution|VideoMetadata|Segment$|RetrievalMetadata|SearchEntryPoint|ToolCall|ToolResponse|ToolType)).*/,
  },
  {
    reason: LIBRARY,
    names:
      "abortSignal sdkHttpResponse automaticFunctionCalling automaticFunctionCallingHistory automaticContinuation",
  },
  {
    reason: "the value that stands for none",
    names: /\w*UNSPECIFIED/,
  },
  {
    reason: VENDOR_TOOLS,
    declarations:
      /Tool|ToolCall|ToolResponse|ToolType|CodeExecutionResult|ExecutableCode|Language|Outcome/,
    names: "retrievalConfig includeServerSideToolInvocations",
  },
  {
    reason:
      "ratings of a reply, and what its sources have beside address, title and quotation",
    declarations:
      /Grounding.*|Citation.*|Url.*|Safety.*|Harm.*|Logprobs.*|Model(?:Stage|Status)|Segment|RetrievalMetadata|SearchEntryPoint|GenerateContentResponsePromptFeedback/,
    names: "safetyRatings avgLogprobs modelStatus createTime",
  },
  {
    reason:
      "media that only this format has: passed in the same format, without a place elsewhere",
    declarations: /PartMediaResolution.*|VideoMetadata|MediaModality/,
    names: "audioTranscription",
  },
  {
    reason:
      "settings of this format alone, and how functions run at the vendor: passed in the same format",
    declarations: /Behavior|FunctionResponseScheduling/,
    names:
      "behavior scheduling streamFunctionCallArguments safetySettings speechConfig audioTimestamp audioTranscriptionConfig imageConfig enableEnhancedCivicAnswers modelArmorConfig generationOutputConfig initialPromptTokenCount",
  },
  { reason: VENDOR_TIERS, declarations: /TrafficType|ServiceTier(?:_\d)?/ },
  { reason: LIBRARY, names: "httpOptions" },
  { reason: VENDOR_SETTINGS, names: "labels store" },
  {
    reason: "every reason to block is a refusal",
    declarations: /BlockedReason/,
  },
  {
    reason: "sums that other counts contain",
    names: "totalTokens responseTokenCount responseTokensDetails",
  },
  {
    reason: "a null among partial arguments is known by its field",
    names: "NULL_VALUE",
  },
];

export const BEDROCK: readonly Accepted[] = [
  {
    reason: OTHER_ENDPOINTS,
    declarations:
      /.*AsyncInvo.*|SortOrder|ResponseStream\..*|InvokeModel.*|InvokeGuardrail.*|ApplyGuardrail.*|GuardrailChecks.*|CountTokens.*/,
  },
  {
    reason:
      "guardrails: an operator's, by the model's settings; what they found is no part of a reply",
    declarations:
      /(?:Applied)?Guardrail(?!Checks).*|Converse(?:Stream)?Trace|Trace/,
    names: "guardContent guardrailConfig trace",
  },
  {
    reason: "every word that the codec does not know is a failure",
    names: "malformed_model_output malformed_tool_use",
  },
  { reason: VENDOR_TIERS, names: "flex priority reserved optimized" },
  {
    reason: VENDOR_TOOLS,
    declarations: /ToolReference|SearchResultLocation/,
    names: "systemTool searchResult",
  },
  {
    reason: "places inside documents, which no other format's citations have",
    declarations:
      /Document(?:Char|Page|Chunk)Location|CitationLocation\..*|CitationsConfig/,
    names: "domain",
  },
  {
    reason:
      "media that no other format has in this form, or that clients cannot give: sound, video, the operator's storage",
    declarations:
      /AudioFormat|VideoFormat|S3Location|(?:Audio|Document|Image|Video)Source\..*/,
  },
  {
    reason: "models differ in it: a forced tool binds each of them to a schema",
    declarations: /Output(?:Config|Format.*)/,
    names: "outputConfig",
  },
  {
    reason: VENDOR_SETTINGS,
    names:
      "promptVariables additionalModelResponseFieldPaths requestMetadata toolAddition toolRemoval",
  },
  {
    reason: VENDOR_REPORTS,
    declarations: /PromptRouterTrace|Converse(?:Stream)?Metrics/,
    names: "metrics additionalModelResponseFields",
  },
  { reason: "sums that other counts contain", names: "totalTokens" },
  { reason: "what absence means", names: "success auto" },
  {
    reason: "errors in streams are known by a header, in another spelling",
    declarations: /ConverseStreamOutput\..*/,
  },
  { reason: "part of the address", names: "modelId" },
  { reason: LIBRARY, names: "$unknown stream" },
];

/**
 * The words of upstreams' errors: what hosts write of requests, limits, credentials and their own
 * failures. A request may have any others.
 */
import { KNOWN_KEYS } from "../bytes/key_spelling.ts";

/** Base forms; {@linkcode isErrorWord} accepts their inflections. */
const WORDS: ReadonlySet<string> = new Set(
  `
  a aadsts abort about above abuse accept access accessible account achieve action activate active
  actual add additional administrator after again against age agent agreement all allocate allow
  already also alternate alternative always an and another any api app appear appid application
  apply approve are argument arn array as ask assistant assume at attach attempt audience audio
  auth authenticate authentication author authority authorization authorize auto availability
  available avoid await aws azure back background backend bad badly balance base based basic batch be bearer
  because become been before begin behalf behind being below beta better between beyond big bill
  billing bill bio bit block body bool boolean both bound break broke broken budget buffer bug
  build burst busy but by byte cache cached calculate call callable can cancel cannot cap capability
  capacity card case category cause caution certificate chain change channel char character charge
  chat check choice choose chunk circuit claim class clear client close closed cloud code collect column
  combine combination come command comma common compatible complete completion compress compute concurrency
  concurrent condition confidence config configuration configure conflict connect connection consecutive consider
  consist constraint construct consume consumption contact contain container content context continue
  control conversation convert cool correct corrupt corrupted cost could count country create
  creation credential credit criteria cross current customer cut cyber daily data database date day
  dead deactivate deadline decimal declare decline decode decompress dedicate deep default defer define
  definition degrade delay delete delimiter delta deny depend deploy deployment deprecate deprecated
  depth describe description design desired destination detail detect determine developer device did differ
  different digit dimension direct directory disable disallow disconnect discontinue do document documentation
  doc does domain done doubt down download due duplicate duration during dynamic each early edit
  effect effort either element else email embed embedding empty enable encode encoding encounter
  encrypt encrypted end endpoint engine enough ensure enter entire entitle entitlement entity entry enum environment
  equal error escape establish estimate etc evaluate even event every exact example exceed exceedingly except
  exception exclude exclusive execute exhaust exhausted exist existing expect expensive experience experiment experimental
  expiration expire expired explicit export expose express extend extension external extra extract fail failed
  failure fair fall false far fast fatal fault feature fee fell fetch few fewer field file fill
  filter final finally find fine fine-tune finish first fit fix flag flex float follow for forbid
  forbidden force foreign form format found fraction frame free frequency from full function
  functionality further future gateway general generate generation generic get give given global
  go good grant great group guardrail guide guideline had half handle handler hard harm harmful has
  hash have header health heavy help hence here high higher hint hit hold host hour how however
  http https id idempotency identifier identity idle if ignore image immediate immutable impersonate implement
  import impossible improper in inaccessible inactive include inclusive incompatible incomplete inconsistent
  incorrect increase index indicate individual inference info inform information initial initialize initiate inline inner
  input insert inside instance instant instead instruction insufficient integer integrate intend interactive
  interface internal interrupt interval into invalid inspect invoice invocation invoke invokemodel involve is
  isn issue issuer it item iteration its itself job json just keep key keyword kind know known label lack language large
  larger last late latency later latest launch layer leak learn least leave left legacy length less
  let letter level license lifecycle like likely limit limited line link list literal little live load loading local
  locate location lock log logprob long longer look loop lost low lower machine made main maintain maintenance
  make malform malformed manage manager mandatory manual many map mark marketplace mask match max maximum may mb mean
  mechanism media medium member memory mention merge message metadata method metric might mime
  min minimal minimum minute misalignment mismatch miss missing mistake mix mode model moderate moderation modify moment monetary
  month monthly more most move much multimodal multiple must mutually name near necessary need negative neither nest nested
  network never new newer next no node none nonexistent normal not note nothing notice now null number numeric
  object obtain occur of off offset often old older on once one online only op open operate operation
  operator oops option optional or order org organization organisation origin original other otherwise ought our out outage outcome outer output outside over
  overload overloaded overridden override own owner package pad page pair parallel param parameter parent parse parsing
  part partial particular party pass past path pattern pause pay payload payment peer pending per percent percentage period
  permanent permission permit permitted pixel place plain plan platform please plus point policy pool
  portion position positive possible post potential preceding precise predict prediction prefer prefill prefix
  premium present preset preview previous price primary principal prior priority privacy private privilege probability
  problem proceed process processing processor produce product profile program progress project prohibit
  prohibited promote prompt proper property protect protocol prove provide provided provider provision provisioned
  proxy public publisher purchase purpose put qualify quality query question queue quick quota random range rate ratio raw reach
  reached read ready real realtime reason reasoning receive recent recharge recognize recognise recommend reconnect record recover redirect reduce refer reference refill refresh
  refuse refusal regard region regional register reject relate release reload remain remote remove renew repeat
  replace replica reply report represent request require required requirement reserve reset residency resolution resolve resource
  respond response responsible responsibleai rest restart restore restrict restriction result resume retire retrieve retry
  return review revoke rewrite right role root route router routing row rule run runtime safe safety same sample sampling say
  scale schedule schema scope screen script search second section secure security see seed select self
  send sent sentence separate sequence serialize series serve server serverless service session set setting settle several severity
  shape share shared short shorter should shut shutdown sign signature silent similar simple simultaneous since single
  site size skip sleep slow slowdown small smaller so socket soft some something soon sorry source space span specific
  specify specified spec speed spend spending spent ssl stage stale standard start starter state statement status stay step
  still stop storage store stream streaming strict string structure structured style sub subject submit subscribe
  subscription subset succeed success such sufficient suffix suggest suitable sum summary supply support supported suppress
  sure suspend switch sync syntax system tab table tag take tamper target task team technical temperature template
  temporary tenant term terminate test text than that the them themselves then there therefore these they thinking third this
  those thought thread three threshold throttle throttling through throughput throw thus tier time timed timeout timestamp tls to today
  together token tokenize too took tool top topup total tpm rpm rpd tpd trace traffic trailing train transaction transfer transform transient translate transport
  traverse treat trial trigger true truncate trust try turn twice two type typical ultimate unable unauthenticated unauthorized unauthorised unavailable unbalanced unclosed undefined
  under undergo underlying unencrypted unexpected unhandled unhealthy unicode union unique unit unknown unless unlimited unlock unmatched unpaid unprocessable unreachable unrecognized
  unrecognised unresolved unsafe unset unspecified unsupported unterminated until unusable unused up upcoming update upgrade upload upper upstream uri url us usable usage use user usual utf uuid valid
  validate validation value variable variant various vary vector vendor verb verify version very via video view violate violation virtual vision visit visual voice void volume wait want warm warn was way we web webhook
  week well were what when where whether which while whitelist whole whose why wide width will window with within
  without won word work worker workspace would write wrong year yes yet you your zero zone
  x adjust overflow shorten decrease increase draft decoder attention enforce middle fault idempotency reuse steer websocket management reformat consumer non on perform greater corresponding correspond callable null whitespace extra extraneous although jinja oneof fraction ask asked answer reach unreadable
  conjunction assertion grammar regex regexp recursion recursive openai anthropic gemini bedrock vertex google claude gpt foundry mistral openrouter together fireworks groq deepseek
  converse converse-stream sagemaker iam sts oauth jwt jws cors dns tcp udp html xml yaml csv pdf png jpeg jpg gif webp mp mpeg wav flac ogg
  kb kib mib gb gib ms sec secs min mins hr hrs usd dollar dollars cent ok
  doesn don didn isn aren wasn weren couldn shouldn wouldn hasn haven hadn mustn needn ll re ve
  low high minimal xhigh auto required ephemeral developer enabled disabled adaptive flex scale standard
  finetune finetuned quantization tokenizer logit bias penalty beam eos bos vllm sglang llama ollama triton cuda gpu oom tensor rope kv slot
  `.trim().split(/\s+/),
);

const ENDINGS: readonly (readonly [ending: RegExp, base: string])[] = [
  [/s$/, ""],
  [/es$/, ""],
  [/ies$/, "y"],
  [/d$/, ""],
  [/ed$/, ""],
  [/ied$/, "y"],
  [/(.)\1ed$/, "$1"],
  [/ing$/, ""],
  [/ing$/, "e"],
  [/(.)\1ing$/, "$1"],
  [/ly$/, ""],
];

/** Whether errors of upstreams use a word, in any case. */
export function isErrorWord(word: string): boolean {
  const lower = word.toLowerCase();
  return WORDS.has(lower) ||
    ENDINGS.some(([ending, base]) =>
      ending.test(lower) && WORDS.has(lower.replace(ending, base))
    );
}

/** Whether a name is one of the formats' fields, or is composed of words of errors. */
export function isErrorName(name: string): boolean {
  return KNOWN_KEYS.has(name) ||
    (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)?.every(isErrorWord) ?? true);
}

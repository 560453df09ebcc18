// What servers of the chat completions protocol do differently, as tables: names of endings, of fields, of counts.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type { Ending } from './event.ts';

/** Endings by the servers' words, in lower case. With any other word, a reply counts as incomplete. */
export const CHAT_ENDINGS: Readonly<Record<string, Ending>> = {
  stop: 'stop',
  // Text Generation Inference and xAI.
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  // Gateways in front of Anthropic, Google and Cohere.
  end_turn: 'stop',
  complete: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  // Mistral.
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool-calls',
  tool_call: 'tool-calls',
  function_call: 'tool-calls',
  tool_use: 'tool-calls',
  content_filter: 'content-filter',
  // Zhipu, Google.
  sensitive: 'content-filter',
  safety: 'content-filter',
  recitation: 'content-filter',
  prohibited_content: 'content-filter',
  blocklist: 'content-filter',
  // Gateways to Bedrock.
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
  spii: 'content-filter',
  refusal: 'content-filter',
};

/** Fields of a delta that carry thinking: DeepSeek, llama.cpp, SGLang, LM Studio; vLLM, Ollama, OpenRouter, Groq. */
export const THINKING_FIELDS = ['reasoning_content', 'reasoning'] as const;

/**
 * Lists that a server wants back with the next call as it sent them: OpenRouter's, LiteLLM's. With the fields of their items
 * that arrive in pieces and are put together.
 */
export const KEPT_LISTS: Readonly<Record<string, readonly string[]>> = {
  reasoning_details: ['text', 'summary'],
  thinking_blocks: ['thinking'],
};

type Count = number | undefined;

/** Where a chunk has its counts: in its own field; Moonshot, in the choice; Groq. */
const USAGE_PLACES: readonly ((chunk: JsonObject, choice: JsonObject | undefined) => JsonValue | undefined)[] = [
  (chunk) => chunk['usage'],
  (_chunk, choice) => choice?.['usage'],
  (chunk) => (isJsonObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined),
];

/** Cached input: OpenAI, DeepSeek, Moonshot, gateways to Anthropic. */
const CACHE_READS: readonly ((usage: JsonObject) => Count)[] = [
  (usage) => countIn(usage['prompt_tokens_details'], 'cached_tokens'),
  (usage) => countIn(usage, 'prompt_cache_hit_tokens'),
  (usage) => countIn(usage, 'cached_tokens'),
  (usage) => countIn(usage, 'cache_read_input_tokens'),
];
const CACHE_WRITES: readonly ((usage: JsonObject) => Count)[] = [
  (usage) => countIn(usage['prompt_tokens_details'], 'cache_write_tokens'),
  (usage) => countIn(usage, 'cache_creation_input_tokens'),
];

/** The counts of a chunk, as far as it has any; null when it has none. */
export function chatUsage(chunk: JsonObject, choice: JsonObject | undefined): Partial<Usage> | null {
  for (const place of USAGE_PLACES) {
    const usage = place(chunk, choice);
    if (isJsonObject(usage)) return countsOf(usage);
  }
  const { timings } = chunk;
  return isJsonObject(timings) ? timingCounts(timings) : null;
}

function countsOf(usage: JsonObject): Partial<Usage> {
  return withoutGaps({
    inputTokens: countIn(usage, 'prompt_tokens'),
    outputTokens: countIn(usage, 'completion_tokens'),
    cacheReadTokens: firstOf(CACHE_READS, usage),
    cacheWriteTokens: firstOf(CACHE_WRITES, usage),
  });
}

/** llama.cpp counts in its timings, also where it was not asked for `usage`. */
function timingCounts(timings: JsonObject): Partial<Usage> {
  const cached = countIn(timings, 'cache_n') ?? 0;
  const fresh = countIn(timings, 'prompt_n');
  return withoutGaps({
    inputTokens: fresh === undefined ? undefined : fresh + cached,
    outputTokens: countIn(timings, 'predicted_n'),
    cacheReadTokens: cached,
  });
}

function firstOf(readers: readonly ((usage: JsonObject) => Count)[], usage: JsonObject): Count {
  for (const read of readers) {
    const count = read(usage);
    if (count !== undefined) return count;
  }
  return undefined;
}

/** A count of an object; undefined for anything that is no whole number of tokens. */
export function countIn(value: JsonValue | undefined, name: string): Count {
  const count = isJsonObject(value) ? value[name] : undefined;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const satisfies (keyof Usage)[];

/** The counts that are there. */
export function withoutGaps(counts: Readonly<Partial<Record<keyof Usage, Count>>>): Partial<Usage> {
  const known: Partial<Record<keyof Usage, number>> = {};
  for (const name of COUNTS) if (counts[name] !== undefined) known[name] = counts[name];
  return known;
}

// Asks a model endpoint which models it has.
import { request } from 'undici';
import { MB } from '../../domain/byte-units.ts';
import { codeOf, messageOf } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { UNTRUSTED } from '../../outbound/ways/missing-issuer.ts';
import { openOwnAgent } from '../../outbound/ways/own-agent.ts';
import { WayError } from '../../outbound/ways/way-error.ts';
import type { ModelGrant } from '../port/grants.ts';
import { dressOf } from './dress-call.ts';
import { ANTHROPIC_VERSION } from './anthropic-messages.ts';
import { normalizeBaseUrl } from './open-model.ts';
import { countIn } from './server-quirks.ts';

const MAX_BYTES = 4 * MB;

/** A model as its endpoint lists it. `window`: tokens of its context; null when the endpoint doesn't say. */
export interface ListedModel {
  readonly name: string;
  readonly window: number | null;
}

/** Where servers say how much a call can take: vLLM and SGLang; llama.cpp; OpenRouter. */
const WINDOWS: readonly ((model: JsonObject) => number | undefined)[] = [
  (model) => countIn(model, 'max_model_len'),
  (model) => countIn(model['meta'], 'n_ctx'),
  (model) => countIn(model, 'context_length'),
];

/** How an endpoint answered: with its models, in another way, or not at all. */
export type EndpointAnswer =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[] }
  | { readonly kind: 'answered'; readonly status: number }
  /** `isUntrusted`: the issuer of its certificate is missing here. */
  | { readonly kind: 'unreachable'; readonly why: string; readonly isUntrusted: boolean };

/** The endpoint's models; null when it does not report them. Never rejects. */
export async function listModels(grant: ModelGrant, timeoutMs: number): Promise<readonly ListedModel[] | null> {
  const answer = await askEndpoint(grant, timeoutMs);
  return answer.kind === 'listed' ? answer.models : null;
}

/** Asks an endpoint for its models. Never rejects. */
export async function askEndpoint(grant: ModelGrant, timeoutMs: number): Promise<EndpointAnswer> {
  const { kind, apiKey, baseUrl, caFile } = grant;
  const key: Record<string, string> =
    kind === 'anthropic'
      ? { 'anthropic-version': ANTHROPIC_VERSION, ...(apiKey !== null && { 'x-api-key': apiKey }) }
      : { ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) };
  const dispatcher = await openOwnAgent({ caFile, connectTimeoutMs: timeoutMs });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const dress = dressOf(grant);
    const address = dress.address(`${normalizeBaseUrl(baseUrl)}/models`);
    const { statusCode, body } = await request(address, { headers: dress.headers(key), signal, dispatcher });
    if (statusCode !== 200) {
      await body.dump();
      return { kind: 'answered', status: statusCode };
    }
    const models = modelsIn(await readText(body));
    return models === null ? { kind: 'answered', status: statusCode } : { kind: 'listed', models };
  } catch (error) {
    const why = error instanceof WayError ? error.message.replace(/\.$/, '') : (codeOf(error) ?? messageOf(error));
    return { kind: 'unreachable', why, isUntrusted: UNTRUSTED.has(codeOf(error) ?? '') };
  } finally {
    void dispatcher.destroy();
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('The list of models is too long.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

function modelsIn(text: string): readonly ListedModel[] | null {
  const list = parsed(text);
  if (!isJsonObject(list) || !Array.isArray(list['data'])) return null;
  return list['data'].flatMap((model): ListedModel[] =>
    isJsonObject(model) && typeof model['id'] === 'string' ? [{ name: model['id'], window: windowOf(model) }] : [],
  );
}

function windowOf(model: JsonObject): number | null {
  for (const read of WINDOWS) {
    const window = read(model);
    if (window !== undefined && window > 0) return window;
  }
  return null;
}

/** Null for text that isn't JSON, such as the page of a proxy. */
function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

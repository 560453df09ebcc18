// The Messages protocol's request and reply (§2.4, §4.3).
import { unprocessable } from '../../domain/errors.ts';
import { messageIdOf } from '../../domain/ids.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { OUTPUT_SCHEMA_FIELDS } from '../../domain/output-schema.ts';
import type { Run } from '../../domain/run.ts';
import type { Usage } from '../../domain/usage.ts';
import type { MessageWire, UsageWire } from '../../wire/messages/message.ts';
import { type ContentParts, MESSAGES_BLOCKS } from './content-wire.ts';
import {
  oneOf,
  optional,
  type Reader,
  readArray,
  readBase64,
  readBoolean,
  readInteger,
  readNumber,
  readObject,
  readString,
} from '../frame/fields.ts';
import { readSchema } from './output-schema-wire.ts';
import type { TurnInput } from '../../operations/turns/turn.ts';
import {
  NO_HEADERS,
  readIdempotencyKey,
  readModel,
  readSessionId,
  readUserContent,
  type TurnHeaders,
  type TurnRequest,
} from './turn-wire.ts';

const MAX_PAYLOAD_CHARACTERS = 8_192;

/** Fields that are taken for compatibility: their form is checked, their value is not used. */
const UNUSED_FIELDS: Readonly<Record<string, Reader<unknown>>> = {
  max_tokens: readInteger,
  temperature: readNumber,
  top_p: readNumber,
  top_k: readNumber,
  stop_sequences: (value, path) => readArray(value, path).map((entry, index) => readString(entry, `${path}[${index}]`)),
  system: (value, path) => {
    if (typeof value !== 'string' && !Array.isArray(value)) throw unprocessable(path, 'must be a string or an array');
  },
};

/** The turn a Messages request asks for. Throws `unprocessable`, or `too_large` for an attachment or for its text. */
export async function parseMessagesRequest(
  body: JsonObject,
  parts: ContentParts,
  headers: TurnHeaders = NO_HEADERS,
): Promise<TurnRequest> {
  const model = readModel(body);
  const stream = optional(body['stream'], 'stream', readBoolean) ?? false;
  const sessionId = readSessionId(body, headers);
  const idempotencyKey =
    optional(body['idempotency_key'], 'idempotency_key', readIdempotencyKey) ?? headers.idempotencyKey;
  const background = readBackground(body, { stream, idempotencyKey });
  for (const [field, read] of Object.entries(UNUSED_FIELDS)) optional(body[field], field, read);
  const outputSchema = optional(body['output_format'], 'output_format', readOutputFormat);
  const content = await readUserContent(body, MESSAGES_BLOCKS, parts);
  return {
    stream,
    input: {
      protocol: 'messages',
      model,
      content,
      sessionId,
      idempotencyKey,
      background,
      includeUsage: false,
      outputSchema,
    },
  };
}

/** The schema of `{type: "json_schema", schema}` (§4.4). */
function readOutputFormat(value: JsonValue | undefined, path: string): JsonObject {
  const format = readObject(value, path);
  oneOf(['json_schema'])(format['type'], `${path}.type`);
  return readSchema(format['schema'], OUTPUT_SCHEMA_FIELDS.messages);
}

interface BackgroundPlace {
  readonly stream: boolean;
  readonly idempotencyKey: string | null;
}

/** What makes a background run (§4.3 rule 4). The payload is checked in any case, and used only there (D5). */
function readBackground(body: JsonObject, { stream, idempotencyKey }: BackgroundPlace): TurnInput['background'] {
  const background = optional(body['background'], 'background', readBoolean) ?? false;
  const payload = optional(body['background_payload'], 'background_payload', readBackgroundPayload);
  if (!background) return null;
  if (stream) throw unprocessable('stream', 'must be false for a background run');
  if (idempotencyKey === null) throw unprocessable('idempotency_key', 'is required for a background run');
  return { payload };
}

const readBackgroundPayload: Reader<string> = (value, path) => {
  if (typeof value === 'string' && value.length > MAX_PAYLOAD_CHARACTERS)
    throw unprocessable(path, `must be at most ${MAX_PAYLOAD_CHARACTERS} characters`);
  readBase64(value, path);
  return readString(value, path);
};

/** A completed run as a Message. */
export function renderMessage(run: Run): MessageWire {
  return {
    id: messageIdOf(run.id),
    type: 'message',
    role: 'assistant',
    model: run.requestedModel,
    content: run.answer === null || run.answer === '' ? [] : [{ type: 'text', text: run.answer }],
    stop_reason: run.stopReason,
    stop_sequence: null,
    usage: renderUsage(run.usage),
    // Present exactly when a schema was given; `null` is a result like any other.
    ...(run.wantsStructured ? { structured_output: run.structuredOutput?.value ?? null } : {}),
  };
}

/** Token counts in this protocol's sense: `input_tokens` are those neither read from nor written to a cache. */
export function renderUsage(usage: Usage): UsageWire {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens),
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
  };
}

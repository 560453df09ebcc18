// Reads the messages of steps that earlier releases recorded, in the AI SDK's form.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import type { Recorded, RecordedPart } from './recorded-form.ts';

/** A message of the earlier form; null for anything else. Its texts are whole, or have only their length. */
export function readEarlier({ assistant, finishReason, faults }: JsonObject): Recorded | null {
  if (!isJsonObject(assistant)) return null;
  const { content } = assistant;
  return {
    model: null,
    ending: typeof finishReason === 'string' ? finishReason : 'stop',
    parts: Array.isArray(content) ? content.filter(isJsonObject).flatMap(partOf) : [],
    faults: isJsonObject(faults) ? (faults as Record<string, string>) : {},
  };
}

function partOf({ type, text, characters, toolCallId: id, providerOptions: options }: JsonObject): RecordedPart[] {
  if (type === 'text' && typeof text === 'string') return [{ type, text }];
  if (type === 'text' && typeof characters === 'number') return [{ type, characters }];
  if (type === 'tool-call' && typeof id === 'string') return [{ type: 'call', id, ...callProof(options) }];
  if (type === 'reasoning' && typeof text === 'string') return [{ type: 'thinking', text, ...thinkingProof(options) }];
  return [];
}

function thinkingProof(options: JsonValue | undefined): { proof?: JsonObject } {
  const [signature, data] = [optionIn(options, 'signature'), optionIn(options, 'redactedData')];
  if (signature !== undefined) return { proof: { signature } };
  return data === undefined ? {} : { proof: { data } };
}

function callProof(options: JsonValue | undefined): { proof?: JsonObject } {
  const signature = optionIn(options, 'thoughtSignature');
  return signature === undefined ? {} : { proof: { extra_content: { google: { thought_signature: signature } } } };
}

/** An option by its name, whichever provider it was for. */
function optionIn(options: JsonValue | undefined, name: string): string | undefined {
  const all = isJsonObject(options) ? Object.values(options).filter(isJsonObject) : [];
  return all.map((one) => one[name]).find((value) => typeof value === 'string');
}

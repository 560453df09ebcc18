// Reads replies from bytes, and the parts that are expected of them.
import { ANTHROPIC_MESSAGES } from '../../../src/agent/models/anthropic-messages.ts';
import { OPENAI_CHAT } from '../../../src/agent/models/openai-chat.ts';
import { makeByteReader } from '../../../src/agent/models/read-reply.ts';
import { makeReplyCollector, type Reply } from '../../../src/agent/models/reply.ts';
import { UpstreamFault } from '../../../src/agent/models/upstream-fault.ts';

const PROTOCOLS = { openai: OPENAI_CHAT, anthropic: ANTHROPIC_MESSAGES };
export type Kind = keyof typeof PROTOCOLS;

/** What was read, and why no more. */
export interface Read {
  readonly reply: Reply;
  readonly fault: UpstreamFault | null;
}

/** Reads a reply whose bytes arrive in pieces. */
export function read(bytes: Buffer, kind: Kind, pieceBytes: number, maxBytes = 100_000): Read {
  const collector = makeReplyCollector();
  const reader = makeByteReader(PROTOCOLS[kind], maxBytes, collector.take);
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (reader.take(bytes.subarray(at, at + pieceBytes))) return { reply: collector.reply(), fault: null };
    }
    reader.end();
    return { reply: collector.reply(), fault: null };
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    return { reply: collector.reply(), fault: error };
  }
}

export const text = (words: string) => ({ type: 'text', text: words });
export const call = (id: string, name: string, json: string) => ({ type: 'call', id, name, json });
export const tides = (id: string, port: string, space = '') => call(id, 'get_tides', `{"port":${space}"${port}"}`);
export const thinking = (words: string, proof: object) => ({ type: 'thinking', text: words, proof });
export const usage = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
});
export const NONE = usage(0, 0);

// The result of an MCP server's tool, as text for the model.
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../domain/json.ts';
import type { ToolResult } from '../port/protocol.ts';

type Content = CallToolResult['content'][number];
type Words = { readonly [T in Content['type']]: (content: Extract<Content, { type: T }>) => string };

/** Text as it is; other content is named with its type and size. */
const WORDS: Words = {
  text: ({ text }) => text,
  image: ({ mimeType, data }) => `[an image (${mimeType}, ${sizeOf(data)}), which is not shown here]`,
  audio: ({ mimeType, data }) => `[a sound (${mimeType}, ${sizeOf(data)}), which is not played here]`,
  resource: ({ resource }) => {
    const type = resource.mimeType ?? 'unknown type';
    if ('text' in resource) return `[${resource.uri} (${type})]\n${resource.text}`;
    return `[${resource.uri} (${type}, ${sizeOf(resource.blob)}), whose content is not shown here]`;
  },
  resource_link: ({ uri, name, mimeType }) => `[a link to ${uri} ("${name}", ${mimeType ?? 'unknown type'})]`,
};

/** The reply as a tool's result. The structured part is used when there is no text. */
export function resultOf({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const words = content.map((one) => (WORDS[one.type] as (content: Content) => string)(one));
  const hasText = content.some(({ type }) => type === 'text');
  if (!hasText && structuredContent !== undefined) words.push(structureOf(structuredContent));
  const output = words.join('\n');
  return { ok: isError !== true, output: output === '' ? 'The tool returned nothing.' : output };
}

function structureOf(value: unknown): string {
  if (isDeeperThan(value, MAX_JSON_DEPTH)) return `[data nested deeper than ${MAX_JSON_DEPTH} levels, not shown here]`;
  return JSON.stringify(value);
}

function sizeOf(base64: string): string {
  return `${Math.floor((base64.replace(/=+$/, '').length * 3) / 4)} bytes`;
}

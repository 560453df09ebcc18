// The messages between the agent and its model, in neither protocol's words.
import type { JsonObject } from '../../domain/json.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Set on a quote of what was said elsewhere, which may be cut (M1). */
  readonly quoted?: true;
}

/** A file that the model is shown as it is. */
export interface FilePart {
  readonly type: 'file';
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
  readonly name?: string;
}

/** What a model thought. `proof`: what its server wants back with it, in the server's own form. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly text: string;
  readonly proof?: JsonObject;
}

/** A tool call. `proof`: see `ThinkingPart`. */
export interface CallPart {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly proof?: JsonObject;
}

/** The result of a call, as the text that the model reads. */
export interface ResultPart {
  readonly type: 'result';
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly parts: readonly (TextPart | FilePart)[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly parts: readonly (TextPart | ThinkingPart | CallPart)[];
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly parts: readonly ResultPart[];
}

export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;
export type MessagePart = ModelMessage['parts'][number];

/** A tool as a model is offered it. The input's schema is JSON Schema Draft-07 with an object root. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** All that a model is asked with. */
export interface Prompt {
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly maxOutputTokens: number;
  /** The reply has to be JSON that fits it, and calls no tools. */
  readonly replySchema?: JsonObject;
}
